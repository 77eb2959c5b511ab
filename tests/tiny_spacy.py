"""A spaCy pipeline (tagger, attribute ruler, parser, entity recogniser) trained on a handful of sentences.

It knows these sentences by heart and little else; its guesses about others are arbitrary, but no text
makes it fail. `from tests.tiny_spacy import tiny_pipeline`
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.training import Example

# word/part of speech/head counted from 0/dependency, and /entity where the word is part of one
SENTENCES = (
    "Anna/PROPN/1/compound/B-PERSON Berg/PROPN/2/nsubj/I-PERSON sold/VERB/2/ROOT the/DET/5/det "
    "red/ADJ/5/amod boat/NOUN/2/dobj in/ADP/2/prep Oslo/PROPN/6/pobj/B-GPE ./PUNCT/2/punct",
    "The/DET/1/det mayor/NOUN/4/nsubj of/ADP/1/prep Oslo/PROPN/2/pobj/B-GPE opened/VERB/4/ROOT "
    "two/NUM/7/nummod/B-CARDINAL new/ADJ/7/amod schools/NOUN/4/dobj on/ADP/4/prep Monday/PROPN/8/pobj/B-DATE "
    "./PUNCT/4/punct",
    "On/ADP/3/prep Monday/PROPN/0/pobj/B-DATE she/PRON/3/nsubj sold/VERB/3/ROOT the/DET/6/det old/ADJ/6/amod "
    "school/NOUN/3/dobj ./PUNCT/3/punct",
    "She/PRON/1/nsubj thanked/VERB/1/ROOT her/PRON/3/poss brother/NOUN/1/dobj ./PUNCT/1/punct",
    "It/PRON/3/nsubj did/AUX/3/aux n't/PART/3/neg rain/VERB/3/ROOT in/ADP/3/prep the/DET/7/det "
    "small/ADJ/7/amod town/NOUN/4/pobj ./PUNCT/3/punct",
    "Karl/PROPN/1/compound/B-PERSON Lund/PROPN/3/poss/I-PERSON 's/PART/1/case sister/NOUN/4/nsubj "
    "lives/VERB/4/ROOT near/ADP/4/prep Bergen/PROPN/5/pobj/B-GPE ./PUNCT/4/punct",
    "the/DET/1/det mayor/NOUN/2/nsubj thanked/VERB/2/ROOT karl/PROPN/4/compound/B-PERSON "
    "lund/PROPN/2/dobj/I-PERSON ./PUNCT/2/punct",
)
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 200,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
STEPS = 60


@cache
def tiny_pipeline() -> "Language":
    """Train the pipeline, once a process; the same weights every time."""
    import spacy
    from thinc.api import fix_random_seed

    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger", config={"model": {"tok2vec": TOK2VEC}})
    nlp.add_pipe("attribute_ruler")
    nlp.add_pipe("parser", config={"model": {"tok2vec": TOK2VEC}, "min_action_freq": 1})
    nlp.add_pipe("ner", config={"model": {"tok2vec": TOK2VEC}})
    examples = [_example(nlp, sentence) for sentence in SENTENCES]
    optimizer = nlp.initialize(lambda: examples)
    for tag in sorted({token.tag_ for example in examples for token in example.reference}):
        nlp.get_pipe("attribute_ruler").add([[{"TAG": tag}]], {"POS": tag})  # type: ignore[attr-defined]
    for _ in range(STEPS):
        nlp.update(examples, sgd=optimizer)
    return nlp


def _example(nlp: "Language", sentence: str) -> "Example":
    from spacy.tokens import Doc
    from spacy.training import Example

    rows = [[*word.split("/"), "O"] for word in sentence.split()]
    words = [row[0] for row in rows]
    gold = Doc(
        nlp.vocab,
        words=words,
        spaces=[after not in {".", "n't", "'s"} for after in (*words[1:], ".")],
        tags=[row[1] for row in rows],
        heads=[int(row[2]) for row in rows],
        deps=[row[3] for row in rows],
        ents=[row[4] for row in rows],
    )
    return Example(nlp.make_doc(gold.text), gold)
