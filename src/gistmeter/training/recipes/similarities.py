"""Teach an encoder the token similarities of a larger one, by low-rank updates of its layers."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import normalize

from gistmeter.core.errors import BadModel, DataError, UsageError
from gistmeter.core.options import options_from
from gistmeter.models.encode.encoder import Encoder
from gistmeter.models.encode.updated import save_updated
from gistmeter.models.files.adapted import adapted_encoder, trainee_from
from gistmeter.models.run.batching import mask, pad
from gistmeter.models.run.runtime import Runtime
from gistmeter.models.run.tokens import tokenize
from gistmeter.models.run.types import Model, Tokenizer
from gistmeter.text.sentences import split_sentences
from gistmeter.training.batches import Batches
from gistmeter.training.loop import kept, train, trainable_weights
from gistmeter.training.queries import MODEL
from gistmeter.training.recipe import Recipe
from gistmeter.training.texts import TextPair, read_pairs

BEST = 2.0
"""Weight of the error of each token's highest similarity, which BERTScore and the simplicity metric read."""
RANDOM = 0.2
"""Share of the sentences of a document that are paired with a random sentence of the other document."""
Texts = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SimilarityModel:
    """Section `model` of a recipe.

    Args:
        teacher: Encoder name for `find_model`; it must split words into the same tokens.
        teacher_layer: Layer of the teacher whose states are compared.
        base: Name of the encoder that learns.
        layers: Number of its layers to keep, from the bottom; the states of the last one are compared.
        rank: Rank of the updates.
        start: Model to start from; empty for the encoder without updates.
    """

    teacher: str
    teacher_layer: int
    base: str = "minilm"
    layers: int = 6
    rank: int = 32
    start: str = ""


@dataclass(frozen=True, slots=True)
class SimilarityData:
    """Section `data` of a recipe, without `folder` and `sets`.

    Args:
        batch: Pairs of texts per step.
        window: Maximum number of tokens of a text; longer texts are truncated.
        validation: Maximum number of validation pairs.
    """

    batch: int = 24
    window: int = 64
    validation: int = 400

    def __post_init__(self) -> None:
        for name, least in (("batch", 1), ("window", 4), ("validation", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"data.{name}={getattr(self, name)}: give at least {least}")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Cosine similarities of the tokens of both texts of B pairs; N is the number of tokens of both together.

    Args:
        all: (B, N, N).
        best: The highest similarity of each token with those of the other text, (B, N).
        tokens: True for tokens, False for padding, (B, N).
    """

    all: torch.Tensor
    best: torch.Tensor
    tokens: torch.Tensor


class SimilarityTask:
    """The loss is the mean squared error of the student's similarities; see `Compared`.

    Only similarities are compared, so the vectors may have other dimensions ("relational knowledge
    distillation", Park et al. 2019, arXiv 1904.05068).

    Args:
        model: Student, from `adapted_encoder`.
        tokenizer: Its tokenizer.
        teacher: Encoder to learn from.
        pairs: Training pairs and validation pairs of texts.
        options: See `SimilarityData`.
        seed: Seed of the batches.
    """

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        teacher: Encoder,
        pairs: tuple[Sequence[Texts], Sequence[Texts]],
        options: SimilarityData,
        *,
        seed: int,
    ) -> None:
        self.model, self.tokenizer, self.teacher, self.window = model, tokenizer, teacher, options.window
        self.training, self.held_out = pairs
        self.batches = Batches(len(self.training), options.batch, seed)

    def parameters(self) -> Iterable[Mapping[str, Any]]:
        """Return the updates."""
        return [{"params": trainable_weights(self.model)}]

    def loss(self, step: int) -> torch.Tensor:
        """Return the error on a batch of pairs."""
        every, best = self._errors([self.training[row] for row in self.batches.rows_of(step)])
        return every + BEST * best

    def validate(self) -> dict[str, float]:
        """Return the loss on the validation pairs, and the root mean square of both errors."""
        found = []
        for start in range(0, len(self.held_out), self.batches.size):
            some = self.held_out[start : start + self.batches.size]
            found.append(torch.stack([*self._errors(some), torch.tensor(1.0)]) * len(some))
        every, best, count = torch.stack(found).sum(dim=0).tolist()
        every, best = every / count, best / count
        return {"loss": every + BEST * best, "similarity_error": every**0.5, "best_error": best**0.5}

    def _errors(self, pairs: Sequence[Texts]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mean squared errors of all similarities, and of the highest ones."""
        student, teacher = self._student(pairs), self._teacher(pairs)
        if student.tokens.shape != teacher.tokens.shape or (student.tokens != teacher.tokens).any():
            raise BadModel(
                f"{self.teacher.name} splits words into other tokens than the model; give another teacher"
            )
        on = student.tokens.float()
        both = on[:, :, None] * on[:, None, :]
        every = ((student.all - teacher.all).square() * both).sum() / both.sum()
        best = ((student.best - teacher.best).square() * on).sum() / on.sum()
        return every, best

    def _student(self, pairs: Sequence[Texts]) -> Compared:
        device = next(self.model.parameters()).device
        sides = []
        for texts in zip(*pairs, strict=True):
            rows = [tokens.ids for tokens in tokenize(self.tokenizer, texts, self.window)]
            attention = mask(rows, device)
            ids = pad(rows, self.tokenizer.pad_token_id, device)
            states = self.model(input_ids=ids, attention_mask=attention).last_hidden_state
            sides.append((normalize(states.float(), dim=-1), attention.bool()))
        return compared(*sides)

    def _teacher(self, pairs: Sequence[Texts]) -> Compared:
        device = next(self.model.parameters()).device
        sides = []
        for texts in zip(*pairs, strict=True):
            vectors = [
                torch.from_numpy(own[: self.window]) for _, own in self.teacher.embed_tokens(list(texts))
            ]
            rows = [(1,) * len(own) for own in vectors]
            padded = torch.nn.utils.rnn.pad_sequence(vectors, batch_first=True).to(device)
            sides.append((padded, mask(rows, device).bool()))
        return compared(*sides)


def compared(*sides: tuple[torch.Tensor, torch.Tensor]) -> Compared:
    """Compare the tokens of pairs of texts.

    Args:
        sides: For the first and the second texts: unit vectors, (B, T, d), and True for tokens, (B, T).
    """
    vectors, tokens = (torch.cat(parts, dim=1) for parts in zip(*sides, strict=True))
    side = torch.tensor([at for at, (_, own) in enumerate(sides) for _ in range(own.shape[1])])
    other = (side[:, None] != side[None, :]).to(vectors.device)
    every = vectors @ vectors.transpose(1, 2)
    best = every.masked_fill(~(other & tokens[:, None, :]), -1.0).amax(dim=2)
    return Compared(every, best, tokens)


def train_similarities(
    recipe: Recipe, data: Path, folder: Path, *, progress: bool = True
) -> dict[str, float]:
    """Train the encoder of a recipe and save its updates.

    Args:
        recipe: Recipe with `data.sets` (see `read_pairs`; `sentences = true` means that source and candidate
            are documents, whose sentences are paired), and tables as in `SimilarityData` and
            `SimilarityModel`.
        data: Data folder.
        folder: Output folder; the model is saved in its subfolder `model`.
        progress: Whether to show a progress bar on standard error.

    Returns:
        The metrics of the validation whose weights were kept, and the number of pairs.

    Raises:
        DataError: If a data file is missing, or there are no training or no validation pairs.
        UsageError: If the recipe is invalid.
        ModelError: If a model is missing or cannot be loaded.
    """
    if not {"teacher", "teacher_layer"} <= recipe.model.keys() or not recipe.data.get("sets"):
        raise UsageError(
            f"{recipe.name}: add teacher and teacher_layer to [model], and file to [[data.sets]]"
        )
    options = options_from(
        SimilarityData, {name: value for name, value in recipe.data.items() if name not in ("folder", "sets")}
    )
    wanted, settings = options_from(SimilarityModel, recipe.model), recipe.training
    start = {"start": wanted.start} if wanted.start else {}
    trainee = trainee_from(
        {"base": wanted.base, "rank": wanted.rank, **start},
        partial(adapted_encoder, num_hidden_layers=wanted.layers),
        seed=settings.seed,
    )
    runtime = Runtime(dtype=settings.precision, backend="torch", progress=False, cache_mb=0)
    teacher = Encoder.load(wanted.teacher, runtime, layers=wanted.teacher_layer)
    training, held = read_texts(data, recipe.data["sets"], settings.seed)
    held = random.Random(settings.seed).sample(held, min(options.validation, len(held)))
    task = SimilarityTask(
        trainee.model, trainee.tokenizer, teacher, (training, held), options, seed=settings.seed
    )
    counted = recipe.counted(len(task.batches))
    history = train(task, counted, folder, progress=progress)
    save_updated(trainee.model, trainee.base, trainee.rank, folder / MODEL)
    return {**kept(history["validations"], counted.select), "pairs": float(len(training))}


def read_texts(folder: Path, sets: Sequence[Mapping[str, Any]], seed: int) -> tuple[list[Texts], list[Texts]]:
    """Read pairs of texts and hold out a tenth of the sources.

    Args:
        folder: Data folder.
        sets: See `read_pairs`, and `sentences` for documents.
        seed: Seed of the random partners of sentences.

    Raises:
        DataError: If a file is missing, or there are no training or no validation pairs.
    """
    found: tuple[list[Texts], list[Texts]] = ([], [])
    for chosen in sets:
        for side, pairs in zip(found, read_pairs(folder, [chosen]), strict=True):
            for pair in pairs:
                side.extend(_sentences(pair, seed) if chosen.get("sentences") else [_texts(pair)])
    if not all(found):
        raise DataError("no pair is left for training or validation; provide more pairs")
    return found


def _texts(pair: TextPair) -> Texts:
    return pair.source, pair.candidate


def _sentences(pair: TextPair, seed: int) -> Iterator[Texts]:
    """Pair each sentence of the candidate with the one of the source that has the most words in common."""
    sources = [pair.source[start:end] for start, end in split_sentences(pair.source)]
    bags = [set(text.lower().split()) for text in sources]
    draw = random.Random(f"{seed}/{pair.source}")
    for start, end in split_sentences(pair.candidate):
        candidate = pair.candidate[start:end]
        words = set(candidate.lower().split())
        closest = max(range(len(bags)), key=lambda at: len(words & bags[at]) / len(words | bags[at]))
        yield sources[draw.randrange(len(sources)) if draw.random() < RANDOM else closest], candidate
