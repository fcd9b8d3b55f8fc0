"""Conversion of documents to a temporary file of word numbers, from which words are counted.

    documents -> words -> numbers 0, 1, ... in order of appearance -> file

scikit-learn's CountVectorizer splits texts into words. Each document is read once, so the source
may be an iterator. The numbers (4 bytes per word) are written to a memory-mapped temporary file in
the folder TMPDIR. Only the distinct words, the labels and metadata of the documents, and a batch of
documents are in memory, so a corpus may be larger than memory.

Batches of documents are split into words concurrently if joblib's context allows this. Each batch
uses its own word numbers. These are converted batch by batch to the numbers of the corpus, which
therefore do not depend on the workers.
"""

from __future__ import annotations

import os
import re
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, starmap
from typing import IO, Any

import numpy as np

from manymaps.checks import check_whole
from manymaps.compute.tasks import is_spread, run_tasks
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import numbered
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.documents import Document, MetadataColumns
from manymaps.io.tables import LabelCodes
from manymaps.io.texts import Reading, Texts

# A word has at least two letters or digits, with underscores only between them. English
# contractions are single words, because their parts ("don" and "t") mean nothing. Apostrophes
# elsewhere separate words, as in French and Italian ("l'homme"), and before the genitive s.
WORD_PATTERN = r"[^\W_](?:_*[^\W_]|'(?i:d|ll|m|re|t|ve)\b)+"
TYPOGRAPHIC = "\N{RIGHT SINGLE QUOTATION MARK}"  # the apostrophe of typeset texts
# Contractions of the English stop words, which scikit-learn's list omits.
AUXILIARIES = (
    "ai are ca could did do does had has have is might must need sha should was were wo would"
)
PRONOUNS = "he i it she that there they we what who you"
CONTRACTIONS = frozenset(
    [f"{verb}n't" for verb in AUXILIARIES.split()]
    + [f"{pronoun}'{end}" for pronoun in PRONOUNS.split() for end in ("d", "ll", "m", "re", "ve")]
)
# Number of tokens that are counted together (1 MiB).
PIECE = 2**18
# The words of a longer document are processed one by one, because a list of them would need ten
# times the memory of the document.
LONG_DOCUMENT = 2**20
# Number of characters in a batch of documents, large enough to justify sending a task to a worker.
BATCH = 2**19
# Characters that are added to the length of each document, to account for the memory of its object.
# Without this addition, the peak for 1.2 million documents of two characters was 0.56 GiB, which
# exceeds the limit in the tests.
OVERHEAD = 2**8

TextSource = str | os.PathLike[str] | Texts | Mapping[Any, str] | Iterable[str | Document]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Words:
    r"""Selection of the words to count.

    Parameters
    ----------
    max_words : int, optional
        Maximum number of words to count, in order of decreasing frequency. By default, all words
        are counted. Equally frequent words are selected in alphabetical order.
    skip_words : int
        Number of most frequent words to omit before `max_words` is applied. The default is 0.
    min_documents : int
        Minimum number of documents in which a word must occur. The default is 1.
    stop_words : "english" or sequence of str, optional
        Words to omit regardless of their frequency: scikit-learn's English list with contractions,
        or the listed words (ignoring case if `lowercase` is true). They are omitted before
        `skip_words` is applied.
    lowercase : bool
        Whether to convert texts to lower case. The default is true.
    token_pattern : str
        Regular expression that matches a word, or whose only group matches the word. By default, a
        word consists of two or more letters or digits, perhaps with underscores between them.
        English contractions ("don't", "we'll") are single words with a straight apostrophe.
    tokenizer : callable, optional
        Function that splits a text into words, used instead of `token_pattern`.
    vocabulary : sequence of str, optional
        Words to count, in this order. Pass the `column_labels` of an earlier table to count new
        documents in the same way.

    Raises
    ------
    ParameterError
        If a value is invalid, or if a vocabulary is combined with an option that selects words.

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
    token_pattern: str = WORD_PATTERN
    tokenizer: Callable[[str], Iterable[str]] | None = None
    vocabulary: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.max_words is not None:
            check_whole("max_words", self.max_words)
        check_whole("skip_words", self.skip_words, 0)
        check_whole("min_documents", self.min_documents)
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ParameterError(
                "is not a known list; pass 'english' or a list of words",
                name="stop_words",
                value=self.stop_words,
            )
        try:
            n_groups = re.compile(self.token_pattern).groups
            fault = f"has {n_groups} groups; use at most one, and (?:...) for the others"
        except re.error as error:
            n_groups, fault = 2, f"is not a valid regular expression: {error}"
        if n_groups > 1:
            raise ParameterError(fault, name="token_pattern", value=self.token_pattern)
        if self.vocabulary is not None:
            self._check_vocabulary(self.vocabulary)

    def _check_vocabulary(self, vocabulary: Sequence[str]) -> None:
        if isinstance(vocabulary, str) or not len(vocabulary):
            raise ParameterError("vocabulary must be a list of at least one word")
        seen: set[str] = set()
        for word in vocabulary:
            if not isinstance(word, str) or not word:
                raise ParameterError(f"vocabulary contains {word!r}, which is not a word")
            if word in seen:
                raise ParameterError(f"vocabulary contains {word[:60]!r} twice; words must differ")
            seen.add(word)
        for name in ("max_words", "skip_words", "min_documents", "stop_words"):
            if getattr(self, name) != Words.__dataclass_fields__[name].default:
                raise ParameterError(
                    f"{setting(name, getattr(self, name))} cannot be combined with a vocabulary, "
                    "whose words are all counted; pass one of them"
                )


@dataclass
class Corpus:
    """Documents as sequences of word numbers.

    Attributes
    ----------
    words : Words
        Selection of words.
    tokens : ndarray of int32, shape (n_tokens,)
        Number of each word in the order of the text, or -1 for a word outside the vocabulary.
    names : list of str
        Word for each number.
    ends : ndarray of int, shape (n_documents + 1,)
        End index of each document in `tokens`, preceded by 0.
    labels : list of str
        Labels of the documents.
    metadata : dict of str to ndarray, shape (n_documents,)
        Metadata of the documents.
    report : ReadReport
        Report on the source.
    """

    words: Words
    tokens: np.ndarray
    names: list[str]
    ends: np.ndarray
    labels: list[str]
    metadata: dict[str, np.ndarray]
    report: ReadReport

    def totals(self) -> np.ndarray:
        """Count the occurrences of each word in the whole corpus."""
        totals = np.zeros(len(self.names), np.int64)
        for start in range(0, self.tokens.size, PIECE):
            tokens = self.tokens[start : start + PIECE]
            totals += np.bincount(tokens[tokens >= 0], minlength=totals.size)
        return totals

    def pieces(self, ahead: int = 0) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the size of each piece, with its tokens and documents and those `ahead` of it."""
        n_tokens = self.tokens.size
        for start in range(0, n_tokens, PIECE):
            tokens = np.array(self.tokens[start : start + PIECE + ahead])
            indices = np.arange(start, start + tokens.size)
            documents = np.searchsorted(self.ends, indices, side="right") - 1
            yield min(PIECE, n_tokens - start), tokens, documents


def read_corpus(source: TextSource, words: Words, file: IO[bytes], progress: Progress) -> Corpus:
    """Read all documents and write their word numbers to a file.

    Raises
    ------
    DataError
        If there are no documents or words, or if there are too many.
    ParameterError
        If the tokenizer returns empty words.
    """
    documents, report = _opened(source)
    codes: dict[str, int] = LabelCodes()
    if words.vocabulary is not None:
        codes = _Vocabulary(zip(words.vocabulary, count(), strict=False))
    labels: list[str] = []
    ends = array("q", [0])
    metadata = MetadataColumns()
    batches: deque[list[Document]] = deque()

    def tasks() -> Iterator[tuple[Words, list[str]]]:
        for batch in _batches(documents):
            batches.append(batch)
            yield replace(words, vocabulary=None), [document.text for document in batch]

    for names, tokens, lengths in spread(_split, tasks(), "batch"):
        file.write(np.array([codes[name] for name in names], np.int32)[tokens].tobytes())
        for document, length in zip(batches.popleft(), lengths, strict=True):
            metadata.add(len(labels), document.metadata)
            labels.append(document.label)
            ends.append(ends[-1] + length)
            progress(f"{len(labels):,} documents, {ends[-1]:,} words read")
    if not labels:
        raise DataError("there are no texts to count; pass at least one document")
    if not ends[-1]:
        raise DataError(
            f"no word in {len(labels):,} documents: nothing in them matches the pattern "
            f"{words.token_pattern!r}"
        )
    if "" in codes:
        raise ParameterError(
            "the pattern or tokenizer returns empty words; words must have at least one character"
        )
    file.flush()
    unique, notes = numbered(labels, "document")
    source_report = report()
    return Corpus(
        words,
        np.memmap(file, np.int32, mode="r"),
        list(codes),
        np.array(ends),
        unique,
        metadata.arrays(len(labels)),
        replace(
            source_report,
            n_read=len(labels),
            notes=source_report.notes + notes + metadata.notes(),
        ),
    )


def spread(
    function: Callable[..., Any], tasks: Iterator[tuple[Any, ...]], what: str
) -> Iterator[Any]:
    """Yield the results of tasks in order, running tasks concurrently if joblib allows this.

    At most 32 results are in memory at a time.
    """
    if not is_spread():
        yield from starmap(function, tasks)
        return
    while some := list(islice(tasks, 32)):
        yield from run_tasks(function, some, what)


class _Vocabulary(dict[str, int]):
    """Numbers of known words, with -1 for all other words."""

    def __missing__(self, word: str) -> int:
        return -1


def _opened(source: TextSource) -> tuple[Iterator[Document], Callable[[], ReadReport]]:
    """Return the documents of a source, and a function that reports on them afterwards."""
    if isinstance(source, str | os.PathLike):
        try:
            source = Texts(source)
        except OSError as error:
            # The value may be a long text, which would make the message unreadable.
            raise type(error)(
                f"{str(source)[:200]}: cannot read a file or folder of texts here "
                f"({error.strerror}); pass texts in memory as a list"
            ) from error
    documents = iter(source) if isinstance(source, Texts) else source
    if isinstance(documents, Reading):
        return documents, lambda: documents.report
    return _in_memory(documents), lambda: ReadReport("texts in memory")


def _in_memory(source: Any) -> Iterator[Document]:
    labelled = source.items() if hasattr(source, "items") else enumerate(source)
    for label, text in labelled:
        document = text if isinstance(text, Document) else Document(str(label), text)
        if not isinstance(document.text, str):
            raise DataError(
                f"document {document.label[:60]!r} is of type {type(document.text).__name__}, not "
                "a text; pass texts, or Documents that contain texts"
            )
        yield document


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """Yield the documents in batches of similar size."""
    batch, size = [], 0
    for document in documents:
        batch.append(document)
        size += len(document.text) + OVERHEAD
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def word_splitter(words: Words) -> tuple[Callable[[str], Iterable[str]], frozenset[str]]:
    """Return a function that splits a text into words, and the stop words."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        lowercase=words.lowercase,
        token_pattern=words.token_pattern,
        tokenizer=words.tokenizer,
        stop_words=words.stop_words if isinstance(words.stop_words, str) else None,
    )
    prepared, tokenized = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    pattern = re.compile(words.token_pattern)

    def split(text: str) -> Iterable[str]:
        text = prepared(text)
        if words.token_pattern == WORD_PATTERN and words.tokenizer is None:
            text = text.replace(TYPOGRAPHIC, "'")
        if words.tokenizer is not None or len(text) < LONG_DOCUMENT:
            return tokenized(text)
        return (match.group(pattern.groups) for match in pattern.finditer(text))

    english = vectorizer.get_stop_words()
    if english:
        return split, frozenset(english) | CONTRACTIONS
    listed = (prepared(word).replace(TYPOGRAPHIC, "'") for word in words.stop_words or ())
    return split, frozenset(listed)


def _split(words: Words, texts: Sequence[str]) -> tuple[list[str], np.ndarray, list[int]]:
    """Return the distinct words of a batch, the numbers of all words, and the text lengths."""
    split, _ = word_splitter(words)
    codes = LabelCodes()
    tokens, ends = array("i"), [0]
    for text in texts:
        tokens.extend(map(codes.__getitem__, split(text)))
        ends.append(len(tokens))
    return list(codes), np.array(tokens, np.int32), np.diff(ends).tolist()
