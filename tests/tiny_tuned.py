"""A tiny random encoder with a classification head, in the format of the included one."""

from pathlib import Path

import torch

from gistmeter.models.encode.tuned import KIND, TunedEncoder
from gistmeter.models.files.adapters import save_tuned
from gistmeter.models.files.find import find_model
from gistmeter.models.files.load import load_tokenizer, load_weights
from tests.tiny_models import SEED, save_bert


def save_tuned_encoder(folder: Path) -> Path:
    """Save one whose base, a tiny BERT, lies in a folder within its own."""
    base = folder / "base"
    save_bert(base)
    files = find_model(str(base))
    encoder = load_weights(files, "AutoModel", load_tokenizer(files))
    torch.manual_seed(SEED)
    tuned = TunedEncoder(encoder, layer=2, layers=1)
    tuned.cut(2)
    save_tuned(tuned, str(base), folder, kind=KIND, facts={"layer": 2, "layers": 1})
    return folder
