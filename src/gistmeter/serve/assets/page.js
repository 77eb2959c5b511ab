const one = (id) => document.getElementById(id);
const [form, state, problem, result, said, progress] = ["form", "state", "problem", "result", "said", "progress"].map(one);
const TYPES = { jsonl: "application/x-ndjson", csv: "text/csv", tsv: "text/tab-separated-values" };
const EXAMPLE = {
  source: "The council of Aldermoor voted on Tuesday evening to close the town's swimming pool for two years. "
    + "Engineers found in March that its roof, built in 1968, is held up by beams that have begun to rot. "
    + "Repairs would cost four million euros, twice what had been set aside. About sixty swimmers protested "
    + "outside the town hall. The mayor, Ines Korda, said that the nearest pool, in Brenwick, would offer "
    + "cheaper tickets until the work is done.",
  candidate: "The council of Aldermoor voted to close the swimming pool for two years. Its roof is held up by "
    + "beams that have begun to rot. The mayor has resigned and moved to Spain.",
};
let file = null;
let running = null;
let timer = 0;
let known = ""; // the metrics that the form shows

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function headers(more = {}) {
  const token = one("token").value.trim();
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/* The state of the service: asked often while models load, then seldom. */
async function watch() {
  let pause = 700;
  try {
    const response = await fetch("/v1/metrics", { headers: headers() });
    if (!response.ok) throw new Error((await response.json()).detail);
    const service = await response.json();
    const names = service.metrics.map((each) => each.metric);
    const left = service.metrics.filter((each) => !each.ready).map((each) => each.metric);
    if (known !== names.join()) showMetrics(service.metrics);
    known = names.join();
    state.dataset.state = service.ready ? "ready" : "loading";
    tell(state, service.ready ? `Ready: ${names.length} metric${names.length === 1 ? "" : "s"}` : `Loading ${left[0] ?? "…"} (${names.length - left.length} of ${names.length})`);
    one("score").disabled = !service.ready || running !== null;
    if (service.ready) pause = 20000;
  } catch (error) {
    state.dataset.state = "down";
    tell(state, error instanceof TypeError ? "The service does not answer" : error.message);
    pause = 3000;
  }
  clearTimeout(timer);
  timer = setTimeout(watch, pause);
}

/* Screen readers say a text again whenever it is set. */
function tell(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showMetrics(metrics) {
  one("metrics").replaceChildren(...metrics.map(({ metric, question }) => {
    const box = make("input", { type: "checkbox", name: "metric", value: metric });
    box.checked = true;
    return make("label", { class: "metric" }, box, make("span", {}, metric), make("small", {}, question ?? ""));
  }));
}

function body() {
  if (file) return { type: TYPES[file.name.split(".").pop().toLowerCase()], data: file };
  const row = { id: "your text", candidate: one("candidate").value };
  if (one("source").value.trim()) row.source = one("source").value;
  if (one("reference").value.trim()) row.references = [one("reference").value];
  return { type: "application/json", data: JSON.stringify(row) };
}

function busy(controller) {
  running = controller;
  one("score").disabled = controller !== null;
  one("cancel").hidden = progress.hidden = controller === null;
  result.setAttribute("aria-busy", String(controller !== null));
  if (controller) progress.removeAttribute("value");
}

async function score(event) {
  event.preventDefault();
  if (running) return;
  problem.textContent = "";
  const { type, data } = body();
  const labels = [...form.querySelectorAll("[name=metric]:checked")].map((box) => box.value);
  if (!file && !one("candidate").value.trim()) return refuse("Paste a candidate to score, or drop a file.", one("candidate"));
  if (!type) return refuse("The file must end in .jsonl, .csv or .tsv.", one("file"));
  if (!labels.length) return refuse("Choose at least one metric.", form.querySelector("[name=metric]"));
  const query = new URLSearchParams(labels.map((label) => ["metric", label]));
  busy(new AbortController());
  said.textContent = "Waiting…";
  try {
    const response = await fetch(`/view?${query}`, { method: "POST", body: data, headers: headers({ "Content-Type": type }), signal: running.signal });
    if (!response.ok) throw new Error((await response.json()).detail);
    for await (const [name, value] of events(response.body)) handlers[name](value);
  } catch (error) {
    if (error.name === "AbortError") said.textContent = "Cancelled.";
    else refuse(error instanceof TypeError ? "The service does not answer." : error.message);
  } finally {
    busy(null);
  }
}

function refuse(text, field = null) {
  said.textContent = "";
  problem.textContent = text;
  if (field) field.focus();
}

const handlers = {
  progress({ done, total }) {
    progress.max = total;
    progress.value = done;
    said.textContent = `${done} of ${total} scores`;
  },
  view({ html }) {
    // The service escapes every text; the policy of this page runs no script in it anyhow.
    const parsed = new DOMParser().parseFromString(html, "text/html");
    result.replaceChildren(...parsed.body.children);
    document.dispatchEvent(new Event("gistmeter-report-added"));
    said.textContent = "Done.";
    result.scrollIntoView({ block: "start" });
    result.focus({ preventScroll: true });
  },
  problem({ detail }) {
    refuse(detail);
  },
};

/* Reads server-sent events from the answer to a POST, which EventSource cannot make. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [event, data] = block.split("\n");
      yield [event.slice(7), JSON.parse(data.slice(6))];
    }
  }
}

function choose(chosen) {
  file = chosen;
  one("texts").hidden = file !== null;
  form.querySelector(".more").hidden = file !== null;
  one("chosen").hidden = file === null;
  one("chosen-name").textContent = file?.name ?? "";
  if (!file) one("file").value = "";
}

form.addEventListener("submit", score);
one("cancel").addEventListener("click", () => running?.abort());
one("file").addEventListener("change", (event) => choose(event.target.files[0] ?? null));
one("forget").addEventListener("click", () => { choose(null); one("file").focus(); });
one("token").addEventListener("change", watch);
one("example").addEventListener("click", () => {
  choose(null);
  for (const [name, text] of Object.entries(EXAMPLE)) one(name).value = text;
  one("score").focus();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !one("score").disabled) form.requestSubmit();
});
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    one("drop").classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) choose(event.dataTransfer.files[0]);
  });
}
watch();
