"""A tiny pipeline of the form of `en_core_web_trf`: a transformer that all other components listen to.

The weights are random, so what it finds is arbitrary, but always the same.
`from tests.tiny_trf import tiny_trf_pipeline`
"""

import string
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.tiny_spacy import SENTENCES, _example

if TYPE_CHECKING:
    from spacy.language import Language

WIDTH = 16
CHARACTERS = string.ascii_letters + string.digits
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *CHARACTERS,
    *string.punctuation,
    *(f"##{c}" for c in CHARACTERS),
]


@cache
def tiny_trf_pipeline() -> "Language":
    """Build the pipeline, once a process; requires the package spacy-curated-transformers."""
    import spacy
    import torch
    from thinc.api import fix_random_seed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package uses torch.jit.script
        from curated_tokenizers import WordPieceProcessor
        from spacy_curated_transformers import models  # noqa: F401

        fix_random_seed(1)
        torch.manual_seed(1)
        nlp = spacy.blank("en")
        nlp.add_pipe("curated_transformer", name="transformer", config={"model": _transformer()})
        for name in ("tagger", "attribute_ruler", "parser", "ner"):
            nlp.add_pipe(
                name, config={} if name == "attribute_ruler" else {"model": {"tok2vec": _listener()}}
            )
        transformer: Any = nlp.get_pipe("transformer")
        encoder = transformer.model.get_ref("piece_encoder")
        encoder.attrs["wordpiece_processor"] = WordPieceProcessor(PIECES)
        examples = [_example(nlp, sentence) for sentence in SENTENCES]
        nlp.initialize(lambda: examples)
        for tag in sorted({token.tag_ for example in examples for token in example.reference}):
            nlp.get_pipe("attribute_ruler").add([[{"TAG": tag}]], {"POS": tag})  # type: ignore[attr-defined]
    return nlp


def _transformer() -> dict[str, object]:
    return {
        "@architectures": "spacy-curated-transformers.BertTransformer.v1",
        "vocab_size": len(PIECES),
        "hidden_width": WIDTH,
        "intermediate_width": WIDTH,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "max_position_embeddings": 64,
        "model_max_length": 64,
        "piece_encoder": {"@architectures": "spacy-curated-transformers.BertWordpieceEncoder.v1"},
        "with_spans": {
            "@architectures": "spacy-curated-transformers.WithStridedSpans.v1",
            "stride": 24,
            "window": 32,
        },
    }


def _listener() -> dict[str, object]:
    return {
        "@architectures": "spacy-curated-transformers.LastTransformerLayerListener.v1",
        "width": WIDTH,
        "upstream": "transformer",
        "pooling": {"@layers": "reduce_mean.v1"},
    }
