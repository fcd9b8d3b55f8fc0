"""Texts -> counts: of words in documents, and of words near words.

    count_texts           n_xy = occurrences of word y in document x
    count_cooccurrences   n_xy = sum over pairs of places s, t of one document with word x at s,
                                 word y at t and 0 < |s - t| <= window, of w(|s - t|)

with w = 1 ("flat") or w(k) = 1 / k ("harmonic": J. Pennington, R. Socher & C. Manning 2014, GloVe,
EMNLP, section 4.2). The second table is symmetric; two occurrences of a word near one another count
twice on its diagonal, once from each side. A word that is not counted keeps its place between its
neighbours (the "clean" windows of O. Levy, Y. Goldberg & I. Dagan 2015, TACL 3, section 3.1), so
that the table of fewer words is a part of that of more words.

`manymaps.io.corpus` reads the documents; here the words are chosen and the numbers of words in its
file are summed piece by piece, so that a corpus may be larger than memory: what is held besides is
the table itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, starmap
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_whole
from manymaps.compute.tasks import is_spread, run_tasks
from manymaps.data.counts import Counts
from manymaps.errors import DataError, setting
from manymaps.io.corpus import (
    PIECE,
    Corpus,
    Progress,
    TextSource,
    TokenFile,
    Words,
    read_corpus,
)
from manymaps.labels import listed
from manymaps.progress import work

__all__ = ["Words", "count_cooccurrences", "count_texts"]

WEIGHTINGS = ("flat", "harmonic")
IN_MEMORY = 2**26
MOST_PAIRS = 2**21
_AT_A_TIME = 32


def count_texts(
    source: TextSource, words: Words | None = None, *, progress: Progress | None = None
) -> Counts:
    """Count the words of each document.

    Parameters
    ----------
    source : path, Texts, mapping of str to str, or iterable of str or Document
        A folder or file read with the usual settings, or `Texts` with others; texts by label (a
        pandas Series among them); or texts in memory, labelled by their place from 0. An iterator
        is read once.
    words : Words, optional
        Which words are counted; all without it.
    progress : callable, optional
        Told in words what goes on, after each document and each piece.

    Returns
    -------
    Counts of kinds ("document", "word"), shape (n_documents, n_words)
        Words in alphabetical order, or in that of the vocabulary. A document without a counted
        word is an empty row. A label that repeats gets " (2)", " (3)", ...; metadata of numbers
        stays numbers (NaN where it is missing), and the rest is text ("" where it is missing).
        The report says what was left out, empty or renamed.

    Raises
    ------
    DataError
        Where the texts cannot be used, or no word is left.

    See Also
    --------
    count_cooccurrences, read_counts, Texts, Words

    Examples
    --------
    >>> from manymaps import Words, count_texts
    >>> counts = count_texts(["bow tie", "tie the knot", "the bow and the knot"])
    >>> counts.column_labels
    ('and', 'bow', 'knot', 'the', 'tie')
    >>> counts.values.toarray()[2].tolist()
    [1.0, 1.0, 1.0, 2.0, 0.0]
    >>> count_texts({"a": "tie", "b": "the tie"}, Words(skip_words=1)).column_labels
    ('the',)
    """
    with (
        _telling(progress) as tell,
        tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file,
    ):
        corpus = read_corpus(source, words or Words(), TokenFile(file), tell)
        chosen, notes = _choose(corpus)
        values = _document_word(corpus, chosen, tell)
    empty = np.flatnonzero(np.diff(values.indptr) == 0)
    if empty.size:
        first = listed([corpus.labels[row] for row in empty], most=3)
        notes += (f"documents without a counted word, with empty rows: {empty.size:,} ({first})",)
    return Counts(
        values=values,
        row_labels=tuple(corpus.labels),
        column_labels=tuple(corpus.names[word] for word in chosen),
        kinds=("document", "word"),
        row_metadata=corpus.metadata,
        report=replace(corpus.report, notes=corpus.report.notes + notes),
    )


def count_cooccurrences(
    source: TextSource,
    words: Words | None = None,
    *,
    window: int = 5,
    weighting: str = "flat",
    progress: Progress | None = None,
) -> Counts:
    """Count how often words stand near words, never across the border of a document.

    Parameters
    ----------
    source, words
        As for `count_texts`.
    window : int
        How many places away a word may stand, on either side.
    weighting : {"flat", "harmonic"}
        Whether a pair k places apart counts 1, or 1 / k.
    progress : callable, optional
        As for `count_texts`.

    Returns
    -------
    Counts of kinds ("word", "context"), shape (n_words, n_words)
        Symmetric, with the same words in the same order on both sides.

    Raises
    ------
    DataError
        As for `count_texts`.
    ParameterError
        Where the window or the weighting makes no sense.

    See Also
    --------
    count_texts, Texts, Words

    Examples
    --------
    >>> from manymaps import count_cooccurrences
    >>> counts = count_cooccurrences(["tie the knot", "tie bow"], window=2, weighting="harmonic")
    >>> counts.column_labels
    ('bow', 'knot', 'the', 'tie')
    >>> counts.values.toarray()[3].tolist()
    [1.0, 0.5, 1.0, 0.0]
    """
    check_whole("window", window)
    check_choice("weighting", weighting, WEIGHTINGS)
    with (
        _telling(progress) as tell,
        tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file,
    ):
        corpus = read_corpus(source, words or Words(), TokenFile(file), tell)
        chosen, notes = _choose(corpus)
        values = _word_context(
            corpus, chosen, window, harmonic=weighting == "harmonic", progress=tell
        )
    alone = np.flatnonzero(np.diff(values.indptr) == 0)
    labels = tuple(corpus.names[word] for word in chosen)
    if alone.size:
        first = listed([labels[row] for row in alone], most=3)
        notes += (f"words without a neighbour, with empty rows: {alone.size:,} ({first})",)
    return Counts(
        values=values,
        row_labels=labels,
        column_labels=labels,
        kinds=("word", "context"),
        report=replace(corpus.report, notes=corpus.report.notes + notes),
    )


def _choose(corpus: Corpus) -> tuple[list[int], tuple[str, ...]]:
    """Numbers of the words to count, in the order of the columns, and what to note."""
    words, names = corpus.words, corpus.names
    totals, documents = corpus.totals.tolist(), corpus.documents.tolist()
    if words.vocabulary is not None:
        return list(range(len(names))), _absent(names, totals, words)
    ranked = [word for word in range(len(names)) if documents[word] >= words.min_documents]
    n_frequent = len(ranked)
    if words.skip_words or words.max_words is not None:
        ranked.sort(key=lambda word: (-totals[word], names[word]))
        end = None if words.max_words is None else words.skip_words + words.max_words
        ranked = ranked[words.skip_words : end]
    if not ranked:
        raise DataError(
            f"no word is left of {len(names):,}: {n_frequent:,} stand in min_documents="
            f"{words.min_documents} documents or more, and "
            f"{setting('skip_words', words.skip_words)} of these "
            f"are left out; there are {len(corpus.labels):,} documents"
        )
    kept = sum(totals[word] for word in ranked)
    notes = (
        f"{len(ranked):,} of {len(names):,} different words are counted, "
        f"{kept / corpus.tokens.n_tokens:.1%} of {corpus.tokens.n_tokens:,} in the text",
    )
    return sorted(ranked, key=names.__getitem__), notes


def _absent(names: Sequence[str], totals: Sequence[int], words: Words) -> tuple[str, ...]:
    """What to note on a vocabulary that the texts lack in part."""
    absent = [name for name, total in zip(names, totals, strict=True) if not total]
    if len(absent) == len(names):
        raise DataError(
            f"none of the {len(names):,} words of the vocabulary is in the texts; it begins with "
            f"{listed(names[:3])}" + _case_hint(absent, words)
        )
    if not absent:
        return ()
    return (
        f"words of the vocabulary that are not in the texts: {len(absent):,} of {len(names):,} "
        f"({listed(absent, most=3)})" + _case_hint(absent, words),
    )


def _case_hint(absent: Sequence[str], words: Words) -> str:
    capitals = words.lowercase and any(word != word.lower() for word in absent)
    return "; the texts are read in lower case, and it has capitals" if capitals else ""


def _document_word(corpus: Corpus, chosen: Sequence[int], progress: Progress) -> sparse.csr_array:
    """Counts (n_documents, n_words), piece by piece."""
    column_of, n_columns, n_rows = _columns(corpus, chosen), len(chosen), len(corpus.labels)
    sizes = np.zeros(n_rows, np.int64)
    indices: list[np.ndarray] = [np.zeros(0, np.int32)]
    data: list[np.ndarray] = [np.zeros(0)]
    for start, size, tokens in corpus.tokens.pieces():
        columns = column_of[tokens]
        known = columns >= 0
        rows = _documents_of(corpus.ends, start, size)[known]
        pairs, numbers = np.unique(rows * n_columns + columns[known], return_counts=True)
        rows, columns = np.divmod(pairs, n_columns)
        sizes += np.bincount(rows, minlength=n_rows)
        indices.append(columns.astype(np.int32))
        data.append(numbers.astype(np.float64))
        progress(f"counting, {(start + size) / corpus.tokens.n_tokens:.0%}")
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    table = sparse.csr_array(
        (np.concatenate(data), np.concatenate(indices), indptr), shape=(n_rows, n_columns)
    )
    # A document that lies in two pieces has some words twice.
    table.sum_duplicates()
    return table


def _word_context(
    corpus: Corpus, chosen: Sequence[int], window: int, *, harmonic: bool, progress: Progress
) -> sparse.csr_array:
    """Weighted pairs within the window, (n_words, n_words), piece by piece.

    The pairs of a word and a later one are summed; the rest is the transpose.
    """
    column_of, n_columns = _columns(corpus, chosen), len(chosen)
    longest = int(np.diff(corpus.ends).max())
    window = min(window, longest - 1)
    sums = _Sums(n_columns)

    def tasks() -> Iterator[tuple[Any, ...]]:
        for start, size, tokens in corpus.tokens.pieces(ahead=window):
            rows = _documents_of(corpus.ends, start, len(tokens))
            columns = column_of[tokens].astype(np.int32)
            yield columns, (rows - rows[0]).astype(np.int32), size, window, harmonic, n_columns

    # Each piece has a sum of its own, whether others are summed beside it or not.
    n_done = 0
    whole = corpus.tokens.n_tokens
    for pairs in _piece_by_piece(tasks()):
        sums.merge(pairs)
        n_done += PIECE
        progress(f"counting, {min(n_done, whole) / whole:.0%}")
    forward = sums.total()
    return sparse.csr_array(forward + forward.T)


def _piece_by_piece(tasks: Iterator[tuple[Any, ...]]) -> Iterator[sparse.csr_array]:
    """The pairs of each piece; several at a time where joblib's context says so."""
    if not is_spread():
        yield from starmap(_pairs_of_piece, tasks)
        return
    while some := list(islice(tasks, _AT_A_TIME)):
        yield from run_tasks(_pairs_of_piece, some, "piece")


def _pairs_of_piece(
    columns: np.ndarray, rows: np.ndarray, size: int, window: int, harmonic: bool, n_columns: int
) -> sparse.csr_array:
    """Weighted pairs of a piece's places with later ones, (n_columns, n_columns)."""
    sums = _Sums(n_columns)
    for k in range(1, min(window, len(columns) - 1) + 1):
        stop = min(size, len(columns) - k)
        left, right = columns[:stop], columns[k : k + stop]
        paired = (rows[:stop] == rows[k : k + stop]) & (left >= 0) & (right >= 0)
        if paired.any():
            sums.add(left[paired], right[paired], 1 / k if harmonic else 1.0)
    return sums.total()


def _columns(corpus: Corpus, chosen: Sequence[int]) -> np.ndarray:
    """The column of each word's number, -1 where it has none; the last one is that of -1."""
    column_of = np.full(len(corpus.names) + 1, -1, np.int64)
    column_of[np.array(chosen)] = np.arange(len(chosen))
    return column_of


def _documents_of(ends: np.ndarray, start: int, size: int) -> np.ndarray:
    """The document of each place of a piece."""
    return np.searchsorted(ends, np.arange(start, start + size), side="right") - 1


class _Sums:
    """A sparse sum of many pairs: blocks of pairs, merged whenever two are of one size.

    So each pair is copied a logarithmic number of times, where adding every block to the whole
    table would copy the table as often as there are blocks.
    """

    def __init__(self, n: int):
        self._n = n
        self._pending: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._n_pending = 0
        self._merged: list[sparse.csr_array] = []

    def add(self, rows: np.ndarray, columns: np.ndarray, weight: float) -> None:
        self._pending.append((rows, columns, np.full(rows.size, weight)))
        self._n_pending += rows.size
        if self._n_pending >= MOST_PAIRS:
            self._flush()

    def total(self) -> sparse.csr_array:
        if self._pending or not self._merged:
            self._flush()
        while len(self._merged) > 1:
            self._merge_last()
        return self._merged[0]

    def merge(self, pairs: sparse.csr_array) -> None:
        """Add pairs that are summed already."""
        self._merged.append(pairs)
        while len(self._merged) > 1 and self._merged[-2].nnz <= 2 * self._merged[-1].nnz:
            self._merge_last()

    def _flush(self) -> None:
        rows, columns, weights = (
            np.concatenate([part[i] for part in self._pending] or [np.zeros(0, np.int64)])
            for i in range(3)
        )
        self._pending, self._n_pending = [], 0
        pairs = (weights.astype(np.float64), (rows, columns))
        self.merge(sparse.csr_array(sparse.coo_array(pairs, shape=(self._n, self._n))))

    def _merge_last(self) -> None:
        last = self._merged.pop()
        self._merged[-1] = sparse.csr_array(self._merged[-1] + last)


@contextmanager
def _telling(progress: Progress | None) -> Iterator[Progress]:
    """What tells in words how far it is: those who look, and the one who is given."""
    with work("counting") as at:

        def tell(message: str) -> None:
            at(told=message)
            if progress is not None:
                progress(message)

        yield tell
