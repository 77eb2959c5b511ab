"""Compare T5's submodules with the library's, for every member of the family."""

import pytest
import torch
from transformers import (
    MT5Config,
    MT5ForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
    UMT5Config,
    UMT5ForConditionalGeneration,
)

from gistmeter.models.fill.t5_submodules import T5Decoder, T5Encoder
from gistmeter.models.run.types import Model
from tests.tiny_fillers import T5_SIZE

FAMILY = {
    "T5": (T5Config, T5ForConditionalGeneration),
    "mT5": (MT5Config, MT5ForConditionalGeneration),  # a gate in its feed-forward layers
    "UMT5": (UMT5Config, UMT5ForConditionalGeneration),  # distances of its own in each layer
}
LENGTHS = (150, 7, 1)  # distances beyond the last bucket, and padding
TOKENS = 60


@pytest.fixture(params=FAMILY)
def model(request: pytest.FixtureRequest) -> Model:
    """Return a tiny random model, whose distances matter."""
    config, kind = FAMILY[request.param]
    torch.manual_seed(0)
    made = kind(config(vocab_size=TOKENS, **T5_SIZE)).eval()
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if "relative_attention_bias" in name:
                weight.normal_(std=2)
    return made


def padded(*lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and their attention mask."""
    attention = torch.tensor([[1] * length + [0] * (max(lengths) - length) for length in lengths])
    return torch.randint(1, TOKENS, attention.shape, generator=torch.Generator().manual_seed(2)), attention


def test_the_encoder_is_the_librarys(model: Model) -> None:
    ids, attention = padded(*LENGTHS)
    with torch.inference_mode():
        ours = T5Encoder(model.get_encoder())(ids, attention)
        theirs = model.get_encoder()(input_ids=ids, attention_mask=attention).last_hidden_state
    assert torch.allclose(ours[attention == 1], theirs[attention == 1], atol=1e-5)


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_the_decoder_is_the_librarys(model: Model, spread: float) -> None:
    _, attention = padded(11, 7, 1)
    generator = torch.Generator().manual_seed(2)
    states = torch.randn(*attention.shape, model.config.d_model, generator=generator) * spread
    ids, _ = padded(140, 140, 140)
    with torch.inference_mode():
        ours = T5Decoder(model.get_decoder())(ids, states, attention)
        theirs = model.get_decoder()(
            input_ids=ids, encoder_hidden_states=states, encoder_attention_mask=attention
        ).last_hidden_state
    assert torch.allclose(ours, theirs, atol=1e-4)
