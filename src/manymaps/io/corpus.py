"""Documents -> the numbers of their words, in a file, from which counts are summed.

    documents -> words -> numbers 0, 1, ... in order of appearance (-1: never counted) -> file

What a word is, scikit-learn's CountVectorizer says. Each document is read once, so that an iterator
will do. The file (4 bytes a word, on disk beyond 64 MiB, where TMPDIR says) is read back in pieces.
What is held are the different words, the labels and metadata of the documents, and one document.

Where joblib's context says that tasks run beside one another, documents are taken apart in batches,
each with numbers of its own, which become those of the whole batch by batch: the same numbers, by
order of appearance. Of the documents 32 Mi characters are held then.
"""

from __future__ import annotations

import os
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, takewhile
from typing import IO, Any

import numpy as np

from manymaps.archive.door import MOST_LABELS
from manymaps.checks import check_whole
from manymaps.compute.tasks import is_spread, run_tasks
from manymaps.data.associations import ReadReport
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.documents import Document, MetadataColumns
from manymaps.io.texts import Reading, Texts
from manymaps.labels import listed, numbered_labels

__all__ = ["PIECE", "Corpus", "Progress", "TextSource", "TokenFile", "Words"]
__all__ += ["read_corpus"]

PIECE = 2**18
# The words of a longer document are taken one by one: as a list they would need ten times its size.
LONG_DOCUMENT = 2**20
# Documents that are taken apart elsewhere: characters of a batch at least, and batches at a time.
_BATCH, _BATCHES = 2**19, 64

TextSource = str | os.PathLike[str] | Texts | Mapping[Any, str] | Iterable[str | Document]
Progress = Callable[[str], None]
Numbered = Iterator[tuple[Document, Iterable[int]]]


@dataclass(frozen=True)
class Words:
    r"""Which words are counted.

    Parameters
    ----------
    max_words : int, optional
        Count the most frequent so many alone; of words equally frequent the alphabetically first.
    skip_words : int
        Leave out the most frequent so many before that.
    min_documents : int
        Leave out words of fewer documents.
    stop_words : "english" or sequence of str, optional
        Words that are not counted, whatever their frequency: scikit-learn's English list, or these
        (in lower case where `lowercase` is true). They are left out before `skip_words` is applied.
    lowercase : bool
        Whether "Tie" is the word "tie".
    token_pattern : str
        A regular expression; what it matches (or its only group) is a word. By default two
        letters, digits or underscores and more.
    tokenizer : callable, optional
        From a text to its words, in place of `token_pattern`.
    vocabulary : sequence of str, optional
        Count these words, in this order, and no others: for new documents those of an earlier
        table, `counts.column_labels`.

    Raises
    ------
    ParameterError
        Where a value makes no sense, or a vocabulary meets an option that chooses words.

    See Also
    --------
    count_texts, count_cooccurrences

    Examples
    --------
    >>> from manymaps import Words
    >>> Words(max_words=2000, skip_words=100).max_words
    2000
    """

    max_words: int | None = None
    skip_words: int = 0
    min_documents: int = 1
    stop_words: str | Sequence[str] | None = None
    lowercase: bool = True
    token_pattern: str = r"\b\w\w+\b"
    tokenizer: Callable[[str], Iterable[str]] | None = None
    vocabulary: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.max_words is not None:
            check_whole("max_words", self.max_words)
        check_whole("skip_words", self.skip_words, 0)
        check_whole("min_documents", self.min_documents)
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ParameterError(
                f"{setting('stop_words', self.stop_words)} is not a known list; pass "
                "'english' or the "
                "words themselves"
            )
        _check_pattern(self.token_pattern)
        if self.vocabulary is not None:
            self._check_vocabulary(self.vocabulary)

    def _check_vocabulary(self, vocabulary: Sequence[str]) -> None:
        if isinstance(vocabulary, str) or not len(vocabulary):
            raise ParameterError("vocabulary must be a list of one word at least")
        seen: set[str] = set()
        for word in vocabulary:
            if not isinstance(word, str) or not word:
                raise ParameterError(f"vocabulary holds {word!r}, which is no word")
            if word in seen:
                raise ParameterError(f"vocabulary holds {word[:60]!r} twice; words must differ")
            seen.add(word)
        choosing = {
            "max_words": self.max_words is not None,
            "skip_words": self.skip_words > 0,
            "min_documents": self.min_documents > 1,
            "stop_words": self.stop_words is not None,
        }
        for name, is_given in choosing.items():
            if is_given:
                raise ParameterError(
                    f"{setting(name, getattr(self, name))} would choose among the words of the "
                    "vocabulary; give either, and take words out of the vocabulary yourself"
                )


class TokenFile:
    """The numbers of the words of a corpus, one after the other, as int32 in a file."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.n_tokens = 0

    def append(self, tokens: array[int]) -> None:
        self._file.write(tokens.tobytes())
        self.n_tokens += len(tokens)

    def pieces(self, *, ahead: int = 0) -> Iterator[tuple[int, int, np.ndarray]]:
        """First place, number of places, and the tokens there, with `ahead` more."""
        for start in range(0, self.n_tokens, PIECE):
            size = min(PIECE, self.n_tokens - start)
            self._file.seek(4 * start)
            stored = self._file.read(4 * (size + ahead))
            yield start, size, np.frombuffer(stored, np.int32)


@dataclass
class Corpus:
    """Documents as numbers of words; number -1 is a word that is never counted.

    `ends` (n_documents + 1,) says where each document ends in the file; `totals` and `documents`
    (n_words,) how often and in how many documents each word occurs; `names` is the word of each.
    """

    words: Words
    tokens: TokenFile
    names: list[str]
    ends: np.ndarray
    totals: np.ndarray
    documents: np.ndarray
    labels: list[str]
    metadata: dict[str, np.ndarray]
    report: ReadReport


@dataclass
class _Tally:
    """Totals and numbers of documents of each word, block by block."""

    totals: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    documents: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, tokens: array[int], lengths: Sequence[int], n_words: int) -> None:
        new = n_words - self.totals.size
        self.totals = np.pad(self.totals, (0, new))
        self.documents = np.pad(self.documents, (0, new))
        numbers = np.asarray(tokens)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        known = numbers >= 0
        self.totals += np.bincount(numbers[known], minlength=n_words)
        pairs = np.sort(rows[known] * n_words + numbers[known])
        once = pairs[np.diff(pairs, prepend=-1) > 0]
        self.documents += np.bincount(once % max(n_words, 1), minlength=n_words)


def read_corpus(source: TextSource, words: Words, tokens: TokenFile, progress: Progress) -> Corpus:
    """Read and number all documents."""
    documents, report = _opened(source)
    index, numbered = _numbering(words)
    labels: list[str] = []
    ends = array("q", [0])
    metadata = MetadataColumns()
    tally = _Tally()
    block, first = array("i"), 0
    for document, tokens_of in numbered(documents):
        if len(labels) == MOST_LABELS:
            raise DataError(
                f"there are more than {MOST_LABELS:,} documents; count them in several parts, or "
                "join the short ones"
            )
        block.extend(tokens_of)
        metadata.add(len(labels), document.metadata)
        labels.append(document.label)
        ends.append(tokens.n_tokens + len(block))
        if len(block) >= PIECE:
            tally.add(block, np.diff(ends[first:]).tolist(), _n_words(index))
            tokens.append(block)
            block, first = array("i"), len(labels)
        progress(f"{len(labels):,} documents, {ends[-1]:,} words read")
    tally.add(block, np.diff(ends[first:]).tolist(), _n_words(index))
    tokens.append(block)
    if not labels:
        raise DataError("there are no texts to count; give one document at least")
    if not tokens.n_tokens:
        raise DataError(
            f"no word in {len(labels):,} documents: nothing in them matches the pattern "
            f"{words.token_pattern!r}"
        )
    if "" in index:
        raise ParameterError(
            "the pattern or tokenizer gives empty words; let each word have one character at least"
        )
    names, changed = numbered_labels(labels)
    told = f"documents that repeat a label and got a number: {len(changed):,}"
    notes = (f"{told} ({listed(changed, most=3)})",) if changed else ()
    found = report()
    return Corpus(
        words,
        tokens,
        [word for word, number in index.items() if number >= 0],
        np.array(ends),
        tally.totals,
        tally.documents,
        names,
        metadata.arrays(len(labels)),
        replace(found, n_read=len(labels), notes=found.notes + notes + metadata.notes()),
    )


def _opened(source: TextSource) -> tuple[Iterator[Document], Callable[[], ReadReport]]:
    """The documents of a source, and what will have been read of them."""
    if isinstance(source, str | os.PathLike):
        try:
            source = Texts(source)
        except OSError as error:
            # A text given for a path is long, and makes a message that nobody can read.
            raise type(error)(
                f"{str(source)[:200]}: no file or folder of texts can be read here "
                f"({error.strerror}); texts in memory are given as a list"
            ) from error
    if isinstance(source, Texts):
        source = iter(source)
    if isinstance(source, Reading):
        reading = source
        return reading, lambda: reading.report
    return _in_memory(source), lambda: ReadReport("texts in memory")


def _in_memory(source: Any) -> Iterator[Document]:
    labelled = source.items() if hasattr(source, "items") else enumerate(source)
    for label, given in labelled:
        document = given if isinstance(given, Document) else Document(str(label), given)
        if not isinstance(document.text, str):
            raise DataError(
                f"document {document.label[:60]!r} is of type {type(document.text).__name__}, not "
                "a text; give texts, or Documents with a text each"
            )
        yield document


def _numbering(words: Words) -> tuple[dict[str, int], Callable[[Iterator[Document]], Numbered]]:
    """Numbers of words, and what finds those of each document's."""
    split, index = _splitter(words)

    def here(documents: Iterator[Document]) -> Numbered:
        for document in documents:
            yield document, map(index.__getitem__, split(document.text))

    def afar(documents: Iterator[Document]) -> Numbered:
        plain = replace(words, vocabulary=None, max_words=None)
        while batches := _batches(documents):
            tasks = [(plain, [document.text for document in batch]) for batch in batches]
            for batch, (names, tokens, ends) in zip(
                batches, run_tasks(_taken_apart, tasks, "batch"), strict=True
            ):
                # The last one is for -1, which words that are never counted have there.
                numbers = np.array([*map(index.__getitem__, names), -1], np.int32)[tokens]
                for document, own in zip(batch, np.split(numbers, ends[:-1]), strict=True):
                    yield document, array("i", own.tobytes())

    return index, afar if is_spread() else here


def _batches(documents: Iterator[Document]) -> list[list[Document]]:
    """The next documents, as many as there is room for, in batches of about one size."""
    batches: list[list[Document]] = []
    for _ in range(_BATCHES):
        batch, size = [], 0
        while size < _BATCH and (document := next(documents, None)) is not None:
            batch.append(document)
            size += len(document.text)
        if not batch:
            break
        batches.append(batch)
    return batches


def _taken_apart(words: Words, texts: Sequence[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Different words in order of appearance, their numbers place by place, and where texts end."""
    split, index = _splitter(words)
    tokens, ends = array("i"), []
    for text in texts:
        tokens.extend(map(index.__getitem__, split(text)))
        ends.append(len(tokens))
    names = [word for word, number in index.items() if number >= 0]
    return names, np.array(tokens, np.int32), np.array(ends)


def _splitter(words: Words) -> tuple[Callable[[str], Iterable[str]], dict[str, int]]:
    """From a text to its words, and from a word to its number."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        lowercase=words.lowercase,
        token_pattern=words.token_pattern,
        tokenizer=words.tokenizer,
        stop_words=words.stop_words if isinstance(words.stop_words, str) else None,
    )
    prepared, whole = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    pattern = re.compile(words.token_pattern)

    def split(text: str) -> Iterable[str]:
        text = prepared(text)
        if words.tokenizer is not None or len(text) < LONG_DOCUMENT:
            return whole(text)
        return (match.group(pattern.groups) for match in pattern.finditer(text))

    if words.vocabulary is not None:
        return split, _Known(zip(words.vocabulary, count(), strict=False))
    index: dict[str, int] = defaultdict(partial(_next_number, count()))
    stop = vectorizer.get_stop_words()
    if stop is None and words.stop_words is not None:
        stop = map(prepared, words.stop_words)
    index.update(dict.fromkeys(stop or (), -1))
    return split, index


def _next_number(numbers: Iterator[int]) -> int:
    """The number of a new word."""
    number = next(numbers)
    if number == MOST_LABELS:
        raise DataError(
            f"there are more than {MOST_LABELS:,} different words; is this text, and does the "
            "pattern of words fit it?"
        )
    return number


class _Known(dict[str, int]):
    """Numbers of known words; any other has the number -1."""

    def __missing__(self, word: str) -> int:
        return -1


def _n_words(index: Mapping[str, int]) -> int:
    """Numbers that are given; the stop words, which have none, were put in first."""
    return len(index) - sum(1 for _ in takewhile(lambda number: number < 0, index.values()))


def _check_pattern(pattern: str) -> None:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ParameterError(
            f"{setting('token_pattern', pattern)} is not a valid regular expression: {error}"
        ) from error
    if groups > 1:
        raise ParameterError(
            f"{setting('token_pattern', pattern)} has {groups} groups; mark the word with "
            "one at most, and "
            "write the others as (?:...)"
        )
