"""Test scoring from several threads, and in processes that were forked after scoring."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch

from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.run import cpu
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.vocabulary import Vocabulary
from tests.tiny_models import SENTENCES, wordpiece

THREADS = 8


def settings() -> tuple[object, ...]:
    """Return PyTorch's settings of the whole process that scoring changes for a while."""
    kernels: Any = torch.backends.cuda  # its functions have no types; processors use the same settings
    asked = (kernels.flash_sdp_enabled, kernels.math_sdp_enabled, kernels.mem_efficient_sdp_enabled)
    return (cpu.oneDNN.matmul.fp32_precision, *(ask() for ask in asked))


@pytest.mark.skipif(not hasattr(cpu.oneDNN, "matmul"), reason="this PyTorch has no such setting")
def test_eight_threads_leave_pytorch_as_it_was(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_is_exact", lambda: True)  # the route is taken on every processor
    runtime = Runtime(device="cpu", cache_mb=0, batch_tokens=64)
    encoders = [Encoder.load(str(tiny_bert), runtime) for _ in range(THREADS)]
    texts = [
        [SENTENCES[at % 5], "rain " * 80, *SENTENCES[: at % 5]] for at in range(THREADS)
    ]  # short and long
    alone = [encoder.embed(mine).vectors for encoder, mine in zip(encoders, texts, strict=True)]
    before, start = settings(), Barrier(THREADS)

    def work(at: int) -> list[Any]:
        start.wait()
        return [encoders[at].embed(texts[at]).vectors for _ in range(10)]

    with ThreadPoolExecutor(THREADS) as pool:
        for at, found in enumerate(pool.map(work, range(THREADS))):
            assert all((vectors == alone[at]).all() for vectors in found)
    assert settings() == before


@pytest.mark.skipif(not hasattr(cpu.oneDNN, "matmul"), reason="this PyTorch has no such setting")
def test_the_route_is_measured_once_by_eight_threads() -> None:
    before, start = settings(), Barrier(THREADS)

    def ask(_: int) -> bool:
        start.wait()
        return cpu.is_exact()

    for _ in range(5):
        cpu._is_exact.cache_clear()
        with ThreadPoolExecutor(THREADS) as pool:
            assert len(set(pool.map(ask, range(THREADS)))) == 1
        assert cpu._is_exact.cache_info().misses == 1
        assert settings() == before


FORKING = """
import multiprocessing, sys, torch
torch.set_num_threads(2)
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.run.runtime import Runtime

def work(found):
    again = Encoder.load(sys.argv[1], runtime)  # loading copies weights, on several threads
    found.put([encoder.embed(texts).vectors.tolist() for encoder in (first, again)])

runtime = Runtime(device="cpu", backend="torch", cache_mb=0)
texts = ["rain " * count for count in range(1, 60)]
first = Encoder.load(sys.argv[1], runtime)
ours = first.embed(texts).vectors
context = multiprocessing.get_context("fork")
found = context.Queue()
child = context.Process(target=work, args=(found,), daemon=True)
child.start()
one, two = found.get(timeout=100)
child.join()
assert one == two and abs(torch.tensor(one) - torch.tensor(ours)).max() < 1e-6
assert torch.get_num_threads() == 2
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_process_forked_after_scoring_scores_too(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    from tests.tiny_models import SIZE, wordpiece

    tokenizer = wordpiece()
    torch.manual_seed(0)
    # Wide enough for products on several threads.
    wide = {**SIZE, "hidden_size": 256, "intermediate_size": 1024}
    BertModel(BertConfig(vocab_size=len(tokenizer), **wide)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    command = [sys.executable, "-W", "ignore", "-c", FORKING, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=environment)
    assert done.stdout == "done\n", done.stderr


def test_threads_share_a_tokenizer() -> None:
    vocabulary = Vocabulary(wordpiece())
    text = "The [MASK] ferry [SEP] left"
    [expected] = vocabulary.tokenize([text])
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda at: vocabulary.tokenize([text] * (at % 3 + 1))[0], range(2000)))
    finally:
        sys.setswitchinterval(interval)
    assert {tokens.ids for tokens in found} == {expected.ids}
    assert vocabulary.backend.encode_special_tokens is False
