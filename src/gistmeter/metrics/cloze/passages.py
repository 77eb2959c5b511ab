"""Select the sentences of the document that a question can be answered from."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.run.tokens import Tokens
from gistmeter.text.sentences import split_sentences

Ids = tuple[int, ...]
Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A source text.

    Args:
        text: Words separated by single spaces.
        tokens: Its tokens.
    """

    text: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Passages:
    """Selects the document sentences that are most similar to one of some texts.

    Args:
        retriever: Encoder whose cosine similarity ranks the sentences.
        most: Maximum number of tokens of a passage. The most similar sentence is used in any case; it is
            truncated if it is longer.
    """

    retriever: Encoder
    most: int

    def select(self, groups: Sequence[tuple[Texts, Document]]) -> list[Ids]:
        """Return the passage of each group of texts: sentences in the order of the document.

        A document of at most `most` tokens is its own passage.
        """
        long = [(texts, document) for texts, document in groups if len(document.tokens.ids) > self.most]
        documents = {document.text: document for _, document in long}
        sentences = {text: _sentences(document) for text, document in documents.items()}
        unique = dict.fromkeys(text for texts, _ in long for text in texts)
        unique |= dict.fromkeys(sentence for own in sentences.values() for sentence, _ in own)
        vectors = dict(zip(unique, self.retriever.embed(list(unique)).vectors, strict=True)) if unique else {}
        passages = []
        for texts, document in groups:
            own = sentences.get(document.text)
            if not own:  # it fits, or has no sentence
                passages.append(document.tokens.ids[: self.most])
                continue
            ours = np.stack([vectors[text] for text in texts])
            closest = (ours @ np.stack([vectors[sentence] for sentence, _ in own]).T).max(axis=0)
            passages.append(_fill([ids for _, ids in own], closest, self.most))
        return passages


def _sentences(document: Document) -> list[tuple[str, Ids]]:
    """Return each sentence and its tokens; a token belongs to the sentence in which it starts."""
    text, tokens = document.text, document.tokens
    cuts = split_sentences(text) if tokens.ids else []
    first = np.searchsorted(tokens.offsets.reshape(-1, 2)[:, 0], [start for start, _ in cuts]).tolist()
    bounds = [0, *first[1:], len(tokens.ids)]
    return [
        (text[a:b], tokens.ids[low:high]) for (a, b), (low, high) in zip(cuts, pairwise(bounds), strict=False)
    ]


def _fill(sentences: Sequence[Ids], cosines: NDArray[np.float32], most: int) -> Ids:
    """Add sentences, the most similar first, as long as they fit; ties in the order of the text."""
    chosen: list[int] = []
    room = most
    for at in np.argsort(-cosines, kind="stable").tolist():
        if not chosen or len(sentences[at]) <= room:
            chosen.append(at)
            room -= len(sentences[at])
    return tuple(token for at in sorted(chosen) for token in sentences[at])[: max(most, 1)]
