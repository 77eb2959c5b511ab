"""Make fluent unsupported claims: a filler that does not see the document replaces a phrase."""

import random
import re
from collections.abc import Sequence

from gistmeter.models.fill.protocol import Filler, Query
from gistmeter.training.recipes.entailment.edits import Case, Edited, other_thing, replaceable
from gistmeter.training.recipes.entailment.made import claims_of, wrong
from gistmeter.training.recipes.entailment.parsed import Document, Part, content
from gistmeter.training.recipes.entailment.rows import Labelled
from gistmeter.training.recipes.factors import place

KIND = "filler"
SAYABLE = re.compile(r"(?:[^\W_][\w'’.&-]* )*\w{3}[\w'’.&-]*")
"""Predictions of whole words; others are repeated punctuation or truncated words, and are discarded."""


def filled(documents: Sequence[Document], filler: Filler, rng: random.Random) -> list[Labelled]:
    """Make at most one unsupported claim per document; all blanks are filled in one call."""
    chosen = [found for document in documents if (found := _chosen(document, rng)) is not None]
    tokens = filler.tokenize([case.sentence.text for case, _ in chosen])
    asked = [
        (case, part, Query(own.ids, (blank,)))
        for (case, part), own in zip(chosen, tokens, strict=True)
        if (blank := place(part, own)) is not None
    ]
    fills = filler.fill([query for _, _, query in asked])
    made = []
    for (case, part, _), (fill,) in zip(asked, fills, strict=True):
        edited = None if fill.matches else _edit(case, part, filler.decode(fill.predicted))
        if edited is not None:
            made.append(wrong(KIND, case, edited, rng))
    return made


def _chosen(document: Document, rng: random.Random) -> tuple[Case, Part] | None:
    """Choose a phrase in a supported claim or in a sentence of the document."""
    said = [sentence for sentence in document.sentences if sentence.sound]
    own = claims_of(document) or said
    if not own:
        return None
    sentence = rng.choice(own if rng.random() < 0.7 else said or own)
    parts = [part for part in replaceable(sentence) if part.start]
    return (Case(sentence, document, document), rng.choice(parts)) if parts else None


def _edit(case: Case, part: Part, said: str) -> Edited | None:
    """Return the sentence with the prediction filled in, or None if the document may support it."""
    text = " ".join(said.split())
    if not SAYABLE.fullmatch(text) or not other_thing(case.sentence, text):
        return None
    if not content(text).isdisjoint(case.document.stems) or (
        part.named and len(content(text)) < len(text.split())
    ):
        return None
    if part.named and part.text[:1].isupper():  # the filler may predict lower-cased text
        text = " ".join(word[:1].upper() + word[1:] for word in text.split())
    return Edited(case.sentence.with_part(part.start, part.end, text), part.text)
