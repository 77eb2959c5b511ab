"""Let a larger filler teach: its distribution over the vocabulary at each blanked token."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from gistmeter.core.errors import BadModel
from gistmeter.models.files.families import JOINT_INFILLER, family_of
from gistmeter.models.files.find import find_model
from gistmeter.models.fill.copy_head import mixed_probabilities
from gistmeter.models.fill.joint_copy import JointCopyFiller
from gistmeter.models.fill.protocol import Query
from gistmeter.models.run.runtime import Dtype, Runtime
from gistmeter.models.run.vocabulary import Vocabulary


class FillTeacher:
    """A filler that reads both texts jointly, and knows every token of its student.

    Args:
        filler: The teacher.
        student: The vocabulary of the student.

    Raises:
        BadModel: If the teacher's vocabulary lacks a token of the student's.
    """

    def __init__(self, filler: JointCopyFiller, student: Vocabulary) -> None:
        self.filler = filler
        ours: dict[str, int] = student.backend.get_vocab()
        theirs: dict[str, int] = filler.vocabulary.backend.get_vocab()
        lacking = [token for token, at in ours.items() if token not in theirs and at not in student.special]
        if lacking:
            raise BadModel(
                f"model.teacher {filler.vocabulary.name} does not know the student's token {lacking[0]!r}; "
                "give a filler with the same vocabulary"
            )
        unknown = int(filler.vocabulary.tokenizer.unk_token_id)
        known = {at: theirs.get(token, unknown) for token, at in ours.items()}
        self.theirs = [known[at] for at in range(len(known))]
        self.columns = torch.tensor(self.theirs, device=filler.device)

    def probabilities(self, queries: Sequence[Query]) -> torch.Tensor:
        """Return the distribution at each blanked token, shape (N, V), in the student's vocabulary."""
        with torch.no_grad():
            states, memory, batch = self.filler.read([self._translated(query) for query in queries])
            logits, choices = self.filler.point(states, memory, batch)
            said = mixed_probabilities(logits, choices, batch.context[batch.sources])
            return said[:, self.columns]

    def room(self) -> int | None:
        """Return the maximum number of tokens of a text and its context; None if there is none."""
        window = self.filler.window
        return None if window is None else window - self.filler.overhead(1)

    def _translated(self, query: Query) -> Query:
        text, context = (tuple(self.theirs[at] for at in ids) for ids in (query.text, query.context))
        return replace(query, text=text, context=context)


def load_teacher(name: str, student: Vocabulary, *, dtype: Dtype) -> FillTeacher:
    """Load a teacher by name: a folder, or `gistmeter/fill-base`.

    Args:
        name: The teacher.
        student: The vocabulary of the student.
        dtype: Precision in which the teacher runs.

    Raises:
        ModelError: If the teacher, or its base model, is missing or damaged, or of another kind.
    """
    files = find_model(name)
    if family_of(files)[0] != JOINT_INFILLER:
        raise BadModel(f"model.teacher={name} does not read both texts jointly; give gistmeter/fill-base")
    runtime = Runtime(dtype=dtype, backend="torch", progress=False)
    return FillTeacher(JointCopyFiller.of(files, runtime), student)
