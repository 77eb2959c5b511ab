"use strict";
(() => {
  const SIDES = ["candidate", "source", "reference"];
  const PIECE = 20; // rows drawn at once
  const HELP = "Keyboard: Tab moves to a text, ← and → to its spans, Home and End to the first and last; "
    + "j and k move to the next and previous row; Escape hides a note.";

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function figure(value) {
    if (value === null || value === undefined) return "—";
    return value !== 0 && Math.abs(value) < 0.0005 ? value.toExponential(1) : value.toFixed(3);
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function spanOf(fields) {
    const [side, index, start, end, value, weight, note, evidence] = fields;
    return { side, index, start, end, value, weight, note, evidence };
  }

  /* Which of the five colours a span has: "v0" (low) to "v4", "d0" to "d4" for differences, or none. */
  function shade(span, scale) {
    if (span.value === null) return "none";
    const difference = !span.weight;
    const cuts = difference ? scale.differences : scale.cuts;
    if (!cuts) return "none";
    return (difference ? "d" : "v") + cuts.filter((cut) => span.value >= cut).length;
  }

  /* A note that starts with an arrow says what the model would have written instead. */
  function suggests(span) {
    return span.note.startsWith("→ ");
  }

  class Tooltip {
    constructor(root) {
      this.box = make("div", { class: "gm-tooltip", role: "status", "aria-live": "polite", hidden: "" });
      this.root = root;
      root.append(this.box);
    }

    show(mark, span, text) {
      const value = span.value === null ? "no value" : figure(span.value);
      const weight = span.weight ? "" : span.value === null ? "" : " · not part of the mean";
      this.box.replaceChildren(make("strong", {}, value), make("span", { class: "gm-small" }, weight));
      if (span.note) this.box.append(make("p", {}, span.note));
      if (span.evidence.length) this.box.append(make("p", { class: "gm-small" }, "Evidence is outlined in the other text."));
      this.box.append(make("span", { class: "gm-hidden" }, ` ${text}`));
      this.box.hidden = false;
      const frame = this.root.getBoundingClientRect();
      const whole = mark.getBoundingClientRect();
      const first = mark.getClientRects()[0] || whole;
      const fits = whole.bottom + this.box.offsetHeight + 6 <= window.innerHeight;
      const below = fits ? whole : first; // below a long span it might not be seen
      const most = frame.width - this.box.offsetWidth - 8;
      this.box.style.left = `${Math.max(4, Math.min(first.left - frame.left, most))}px`;
      this.box.style.top = `${below.bottom - frame.top + 6}px`;
    }

    hide() {
      this.box.hidden = true;
    }
  }

  /* Cuts a text at every end of a span and of what was left out; each piece belongs to the shortest span about it. */
  class TextBox {
    constructor(view, article, side, index, text) {
      Object.assign(this, { view, article, side, index });
      this.points = Array.from(text); // offsets count characters, not UTF-16 units
      this.box = make("div", { class: "gm-text", dir: "auto" });
      this.marks = [];
    }

    draw(spans, cut, scale, sentences) {
      const end = this.points.length;
      const inside = spans.filter((span) => span.start < span.end && span.end <= end);
      const edges = new Set([0, end, cut ?? 0]);
      for (const span of inside) edges.add(span.start).add(span.end);
      for (const [start, stop] of sentences) edges.add(start).add(stop);
      const sorted = [...edges].filter((edge) => edge >= 0 && edge <= end).sort((a, b) => a - b);
      const innermost = [...inside].sort((a, b) => a.end - a.start - (b.end - b.start));
      this.marks = [];
      this.box.replaceChildren();
      const lowest = Math.min(...sentences.map(([, , value]) => value ?? Infinity));
      let current = null;
      let home = this.box;
      let sentence = null;
      sorted.slice(0, -1).forEach((start, at) => {
        const stop = sorted[at + 1];
        const next = sentences.find(([from, to]) => from <= start && stop <= to) || null;
        if (next && next !== sentence) {
          home = this.sentence(next, scale, sentences.length > 1 && next[2] === lowest);
          current = null;
        }
        sentence = next || sentence; // white space after a sentence stays with it
        const span = innermost.find((each) => each.start <= start && stop <= each.end) || null;
        let target = home;
        if (span && (this.points.slice(start, stop).join("").trim() || span.start === start)) {
          if (!current || current.span !== span) current = this.mark(span, scale, home);
          target = current.element;
        } else current = null;
        this.piece(target, start, stop, cut);
      });
      const labelled = `${this.name()}, ${new Set(this.marks.map((mark) => mark.span)).size} spans`;
      if (!this.marks.length) return;
      this.box.setAttribute("role", "group");
      this.box.setAttribute("aria-label", labelled);
      this.marks[0].element.tabIndex = 0;
    }

    name() {
      return this.side === 2 ? `reference ${this.index}` : SIDES[this.side];
    }

    piece(target, start, stop, cut) {
      const text = this.points.slice(start, stop).join("");
      if (cut === null || start < cut) return target.append(text);
      return target.append(make("span", { class: "gm-cut", title: "not read by the metric (estimated)" }, text));
    }

    /* A sentence stands on a line of its own, with its value and the colour of the value in the margin. */
    sentence([, , value], scale, lowest) {
      const step = value === null ? "none" : shade({ value, weight: 1 }, scale);
      const element = make("span", {
        class: `gm-sentence gm-s-${step}${lowest ? " gm-lowest" : ""}`,
        "data-value": value === null ? "" : figure(value),
      });
      this.box.append(element);
      return element;
    }

    mark(span, scale, home) {
      const element = make("span", { class: `gm-span gm-${shade(span, scale)}${suggests(span) ? " gm-suggests" : ""}`, tabindex: "-1" });
      const mark = { span, element };
      const on = () => this.view.light(this, mark);
      element.addEventListener("mouseenter", on);
      element.addEventListener("focus", () => { this.rove(mark); on(); });
      element.addEventListener("mouseleave", () => this.view.unlight(this.article));
      element.addEventListener("blur", () => this.view.unlight(this.article));
      element.addEventListener("keydown", (event) => this.key(event, mark));
      home.append(element);
      this.marks.push(mark);
      return mark;
    }

    rove(mark) {
      for (const each of this.marks) each.element.tabIndex = each === mark ? 0 : -1;
    }

    key(event, mark) {
      const at = this.marks.indexOf(mark);
      const last = this.marks.length - 1;
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      if (event.key === "Escape") this.view.unlight(this.article);
      if (next === undefined) return;
      event.preventDefault();
      this.marks[Math.max(0, Math.min(last, next))].element.focus();
    }

    /* Outlines places without drawing the spans anew, so that focus stays where it is. */
    lightUp(places) {
      for (const old of this.box.querySelectorAll(".gm-lit")) old.replaceWith(...old.childNodes);
      this.box.normalize();
      for (const [, , from, to] of places) this.wrap(from, to);
      const first = this.box.querySelector(".gm-lit");
      if (!first || this.box.scrollHeight <= this.box.clientHeight) return;
      // scrollIntoView would move the whole page under the pointer.
      const away = first.getBoundingClientRect().top - this.box.getBoundingClientRect().top;
      if (away < 0 || away > this.box.clientHeight - 40) this.box.scrollTop += away - 40;
    }

    wrap(from, to) {
      const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT);
      const nodes = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      let at = 0;
      for (const node of nodes) {
        const points = Array.from(node.data);
        const start = Math.max(from - at, 0);
        const stop = Math.min(to - at, points.length);
        at += points.length;
        if (start >= stop) continue;
        const cut = (number) => points.slice(0, number).join("").length;
        const range = document.createRange();
        range.setStart(node, cut(start));
        range.setEnd(node, cut(stop));
        range.surroundContents(make("span", { class: "gm-lit" }));
      }
    }
  }

  class View {
    constructor(root, data) {
      Object.assign(this, { root, data, drawn: 0, boxes: new Map() });
      this.detail = root.querySelector(".gm-detail");
      this.tooltip = new Tooltip(root);
      this.controls = this.makeControls();
      this.legend = make("div", { class: "gm-legend" });
      this.count = make("p", { class: "gm-count", role: "status", "aria-live": "polite" });
      this.list = make("div", { class: "gm-rows" });
      this.more = make("button", { type: "button", class: "gm-more" });
      this.more.addEventListener("click", () => this.drawMore());
      this.detail.replaceChildren(this.controls, this.legend, this.count, this.list, this.more, make("p", { class: "gm-help gm-small" }, HELP));
      root.addEventListener("keydown", (event) => this.key(event));
      window.addEventListener("beforeprint", () => this.drawAll());
      this.refresh();
    }

    choice(label, name, options) {
      const select = make("select", { name }, ...options.map(([value, text]) => make("option", { value }, text)));
      select.addEventListener("change", () => this.refresh());
      this[name] = select;
      return make("label", {}, make("span", {}, label), select);
    }

    number(label, name) {
      const input = make("input", { type: "number", step: "any", name, size: "6" });
      input.addEventListener("input", () => this.refresh());
      this[name] = input;
      return make("label", {}, make("span", {}, label), input);
    }

    makeControls() {
      const { rows, metrics } = this.data;
      const unique = (values) => [...new Set(values.filter((value) => value !== null))].sort();
      const systems = unique(rows.map((row) => row.system)).map((name) => [name, name]);
      const flags = unique(rows.flatMap((row) => row.scores.flatMap((score) => score.flags.map((flag) => flag.name))));
      const withSpans = metrics.findIndex((_, at) => rows.some((row) => row.scores[at].spans.length));
      const form = make("form", { class: "gm-controls", "aria-label": "Which rows are shown" },
        this.choice("Metric", "metric", metrics.map((metric, at) => [at, metric.label])),
        systems.length > 1 ? this.choice("System", "system", [["", "all"], ...systems]) : null,
        this.choice("Flags", "flag", [["", "all rows"], [":any", "with a flag"], [":problem", "without a value"], ...flags.map((name) => [`=${name}`, name])]),
        this.number("Value from", "low"), this.number("to", "high"),
        this.choice("Sort by", "sort", [["", "order of the file"], ["up", "value, lowest first"], ["down", "value, highest first"], ["id", "id"], ["system", "system"]]));
      this.metric.value = Math.max(withSpans, 0);
      if (rows.length === 1) { // nothing to filter or to sort
        for (const label of [...form.children].slice(1)) label.hidden = true;
        form.hidden = metrics.length === 1;
      }
      form.addEventListener("submit", (event) => event.preventDefault());
      return form;
    }

    get at() {
      return Number(this.metric.value);
    }

    chosen() {
      const low = this.low.value === "" ? -Infinity : Number(this.low.value);
      const high = this.high.value === "" ? Infinity : Number(this.high.value);
      const bounded = low > -Infinity || high < Infinity;
      const flag = this.flag.value;
      const rows = this.data.rows.filter((row) => {
        const score = row.scores[this.at];
        if (this.system?.value && row.system !== this.system.value) return false;
        if (bounded && (score.value === null || score.value < low || score.value > high)) return false;
        if (flag === ":any") return score.flags.length > 0;
        if (flag === ":problem") return score.value === null;
        return !flag || score.flags.some((each) => `=${each.name}` === flag);
      });
      return this.sorted(rows);
    }

    sorted(rows) {
      const kind = this.sort.value;
      const value = (row) => row.scores[this.at].value;
      const text = (one, other) => String(one ?? "").localeCompare(String(other ?? ""), undefined, { numeric: true });
      if (kind === "id") return rows.sort((a, b) => text(a.id, b.id));
      if (kind === "system") return rows.sort((a, b) => text(a.system, b.system));
      if (!kind) return rows;
      const sign = kind === "up" ? 1 : -1;
      return rows.sort((a, b) => {
        if (value(a) === null || value(b) === null) return (value(a) === null) - (value(b) === null);
        return sign * (value(a) - value(b));
      });
    }

    refresh() {
      this.tooltip.hide();
      this.found = this.chosen();
      this.drawn = 0;
      this.boxes.clear();
      this.list.replaceChildren();
      this.drawLegend();
      this.count.hidden = this.data.rows.length === 1;
      this.count.textContent = `${this.found.length.toLocaleString("en")} of ${this.data.rows.length.toLocaleString("en")} rows`;
      this.drawMore();
    }

    drawMore() {
      const before = this.drawn;
      const next = this.found.slice(this.drawn, this.drawn + PIECE);
      this.list.append(...next.map((row) => this.article(row)));
      this.drawn += next.length;
      const left = this.found.length - this.drawn;
      this.more.hidden = !left;
      this.more.textContent = `Show ${Math.min(left, PIECE)} more of ${left.toLocaleString("en")} rows`;
      if (before && document.activeElement === this.more) this.list.children[before].focus();
    }

    drawAll() {
      while (this.drawn < this.found.length) this.drawMore();
    }

    drawLegend() {
      const scale = this.data.metrics[this.at];
      const scores = this.found.map((row) => row.scores[this.at]);
      const spans = scores.flatMap((score) => score.spans.map(spanOf));
      const items = [];
      const add = (kind, text) => items.push(make("span", { class: "gm-key" }, make("span", { class: kind.startsWith("gm-c") || kind === "gm-lit" ? kind : `gm-span gm-${kind}` }, "abc"), ` ${text}`));
      const ranges = (letter, cuts) => {
        for (let step = 0; step < 5; step += 1) {
          const text = step === 0 ? `below ${cuts[0]}` : step === 4 ? `${cuts[3]} and more` : `${cuts[step - 1]} to ${cuts[step]}`;
          add(letter + step, text);
        }
      };
      if (spans.some((span) => span.weight)) ranges("v", scale.cuts);
      if (scale.differences) {
        items.push(make("span", { class: "gm-key gm-small" }, "Differences, not part of the mean:"));
        ranges("d", scale.differences);
      }
      if (spans.some((span) => shade(span, scale) === "none")) add("none", "no value, or not part of the mean");
      if (spans.some(suggests)) add("none gm-suggests", "the model suggests other words");
      if (scores.some((score) => score.flags.some((flag) => flag.cut))) add("gm-cut", "not read (estimated)");
      if (spans.some((span) => span.evidence.length)) add("gm-lit", "evidence");
      if (!spans.length) items.push(make("span", { class: "gm-small" }, "This metric marks no spans."));
      this.legend.replaceChildren(make("strong", {}, "Legend"), ...items);
    }

    article(row) {
      const score = row.scores[this.at];
      const scale = this.data.metrics[this.at];
      const article = make("article", { tabindex: "-1", "aria-label": `Row ${row.id}` });
      article.append(this.head(row, score));
      if (score.problem) article.append(make("p", { class: "gm-problem" }, score.problem));
      const spans = score.spans.map(spanOf);
      const sides = [make("div", { class: "gm-side" }), make("div", { class: "gm-side" })];
      const boxes = row.texts.map(([side, index, text]) => {
        const box = new TextBox(this, article, side, index, this.data.texts[text]);
        const mine = spans.filter((span) => span.side === side && span.index === index);
        const cut = score.flags.find((flag) => flag.cut && flag.cut[0] === side && flag.cut[1] === index);
        box.draw(mine, cut ? cut.cut[2] : null, scale, side ? [] : score.sentences);
        sides[side ? 1 : 0].append(make("h3", {}, box.name()), box.box);
        return box;
      });
      this.boxes.set(article, boxes);
      if (!boxes.length) article.append(make("p", { class: "gm-small" }, "The texts of this row were not given."));
      else article.append(make("div", { class: "gm-sides" }, ...sides.filter((side) => side.children.length)));
      const noted = spans.filter((span) => span.note && ["v0", "d0"].includes(shade(span, scale))).slice(0, 8);
      article.append(this.notes(noted, boxes));
      return article;
    }

    head(row, score) {
      const others = row.scores.map((each, at) => [this.data.metrics[at].label, each.value]).filter((_, at) => at !== this.at);
      const parts = [...Object.entries(score.parts)].map(([name, value]) => `${name} ${figure(value)}`);
      const human = Object.entries(row.human).map(([name, value]) => `${name} ${value}`);
      const small = (name, texts) => texts.length ? make("p", { class: "gm-small" }, make("b", {}, `${name}: `), texts.join(" · ")) : null;
      return make("header", {},
        make("h2", {}, make("span", { class: "gm-value" }, figure(score.value)), make("span", { class: "gm-id" }, row.id)),
        make("p", { class: "gm-tags" },
          row.system === null ? null : make("span", { class: "gm-tag" }, row.system),
          row.doc === null ? null : make("span", { class: "gm-tag gm-pale" }, row.doc),
          ...score.flags.map((flag) => make("span", { class: "gm-tag gm-flag" }, `⚑ ${flag.text}`))),
        make("div", { class: "gm-figures" },
          small("Standing", score.standing ? [score.standing, `means there: ${this.data.metrics[this.at].anchors}`] : []),
          small("People", human),
          small("Parts", parts),
          small("Other metrics", others.map(([label, value]) => `${label} ${figure(value)}`))));
    }

    /* Paper has no hovering: the notes of the lowest spans are printed below the texts. */
    notes(spans, boxes) {
      const lines = spans.map((span) => {
        const box = boxes.find((each) => each.side === span.side && each.index === span.index);
        const text = box ? box.points.slice(span.start, span.end).join("") : "";
        return make("li", {}, `${figure(span.value)} “${text}”: ${span.note}`);
      });
      return make("ul", { class: "gm-print" }, ...lines);
    }

    light(box, mark) {
      const { span } = mark;
      for (const other of this.boxes.get(box.article)) {
        other.lightUp(span.evidence.filter(([side, index]) => side === other.side && index === other.index));
      }
      this.tooltip.show(mark.element, span, mark.element.textContent);
    }

    unlight(article) {
      this.tooltip.hide();
      for (const box of this.boxes.get(article) || []) box.lightUp([]);
    }

    key(event) {
      const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !["j", "k"].includes(event.key)) return;
      const articles = [...this.list.children];
      const here = articles.indexOf(event.target.closest("article"));
      const next = articles[Math.max(0, here + (event.key === "j" ? 1 : -1))];
      event.preventDefault();
      event.stopPropagation();
      if (next) next.focus();
      else if (!this.more.hidden) this.drawMore();
    }
  }

  async function start(root) {
    root.dataset.ready = "yes";
    try {
      new View(root, await unpack(root.querySelector(".gm-data").textContent));
    } catch (error) {
      root.querySelector(".gm-detail").prepend(make("p", { class: "gm-problem" }, `The rows cannot be shown here: ${error.message}`));
    }
  }

  const startAll = () => {
    for (const root of document.querySelectorAll(".gistmeter-report:not([data-ready])")) start(root);
  };
  startAll();
  document.addEventListener("gistmeter-report-added", startAll); // a page may add reports later
})();
