"""Counts of words in documents, counts of co-occurrences within a window, and their PPMI.

    count_texts           n_xy = occurrences of word y in document x
    count_cooccurrences   n_xy = sum of w(|s - t|) over pairs of tokens s, t of one document with
                                 word x at s, word y at t and 0 < |s - t| <= window
    ppmi                  max(0, log2(n_xy n / (n_x n_y)))

with w = 1 ("flat") or w(k) = 1 / k ("harmonic": J. Pennington, R. Socher & C. Manning 2014, GloVe,
EMNLP, section 4.2). The second table is symmetric. Two occurrences of the same word within a window
count twice on the diagonal, once from each side. Omitted words still contribute to the distance
between their neighbours (the "clean" windows of O. Levy, Y. Goldberg & I. Dagan 2015, TACL 3,
section 3.1). The table of a smaller vocabulary is therefore a submatrix of the table of a larger
vocabulary.

`manymaps.io.corpus` reads the documents. This module selects the words and counts them piece by
piece, so that a corpus may be larger than memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_whole
from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.pair_rules import Rules
from manymaps.errors import DataError, setting
from manymaps.io.corpus import (
    Corpus,
    Progress,
    TextSource,
    Words,
    read_corpus,
    spread,
    word_splitter,
)
from manymaps.io.matrices import matrix_of_counts
from manymaps.io.pairs import associate_matrix
from manymaps.labels import listed
from manymaps.progress import work

WEIGHTINGS = ("flat", "harmonic")
# Number of pairs that are summed together (32 MiB with their weights).
MOST_PAIRS = 2**21


def count_texts(
    source: TextSource, words: Words | None = None, *, progress: Progress | None = None
) -> Counts:
    """Count the words of each document.

    Parameters
    ----------
    source : path, Texts, mapping of str to str, or iterable of str or Document
        Source of the texts: a folder or file, `Texts` with settings, a mapping (or pandas Series)
        of labels to texts, or texts in memory. Texts in memory are numbered from 0. An iterator is
        read once.
    words : Words, optional
        Selection of words. By default, all words are counted.
    progress : callable, optional
        Function that is called with a message after each document and each part of the corpus.

    Returns
    -------
    Counts of kinds ("document", "word"), shape (n_documents, n_words)
        Word counts. Words are in alphabetical order or in the order of the vocabulary. A document
        without counted words has an empty row. Repeated labels are numbered " (2)", " (3)", ...
        Numeric metadata remain numbers (NaN if missing), and other metadata become texts ("" if
        missing). The report lists omitted, empty and renamed documents.

    Raises
    ------
    DataError
        If the texts cannot be used, or if no words remain.

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
    with _corpus_of(source, words, progress) as (corpus, report):
        chosen, notes = _choose(corpus)
        values = _document_word(corpus, chosen, report)
    labels = [corpus.names[word] for word in chosen]
    notes += _empty_note(values, corpus.labels, "documents without a counted word")
    read = replace(corpus.report, notes=corpus.report.notes + notes)
    kinds = ("document", "word")
    return Counts(values, corpus.labels, labels, kinds, corpus.metadata, report=read)


def count_cooccurrences(
    source: TextSource,
    words: Words | None = None,
    *,
    window: int = 5,
    weighting: str = "flat",
    progress: Progress | None = None,
) -> Counts:
    """Count how often words occur near one another within a document.

    Parameters
    ----------
    source, words
        See `count_texts`.
    window : int
        Maximum distance between two words, in words. The default is 5.
    weighting : {"flat", "harmonic"}
        Weight of a pair at distance k, which is 1 for "flat" and 1 / k for "harmonic".
    progress : callable, optional
        See `count_texts`.

    Returns
    -------
    Counts of kinds ("word", "context"), shape (n_words, n_words)
        Symmetric counts, with the same words in the same order in rows and columns.

    Raises
    ------
    DataError
        As for `count_texts`.
    ParameterError
        If the window is not an integer of at least 1, or if the weighting is unknown.

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
    with _corpus_of(source, words, progress) as (corpus, report):
        chosen, notes = _choose(corpus)
        values = _word_context(corpus, chosen, window, weighting == "harmonic", report)
    labels = [corpus.names[word] for word in chosen]
    notes += _empty_note(values, labels, "words without a neighbour")
    read = replace(corpus.report, notes=corpus.report.notes + notes)
    return Counts(values, labels, labels, ("word", "context"), report=read)


def ppmi(counts: Counts, *, rows: str = "renormalize") -> Associations:
    """Convert counts of co-occurrences to associations by positive pointwise mutual information.

    The most frequent words co-occur with all others, so that raw counts are poor similarities. The
    PPMI of two words is above 0 if they co-occur more often than independent words would.

    Parameters
    ----------
    counts : Counts
        Counts of co-occurrences with the same labels in rows and columns.
    rows : {"renormalize", "keep"}
        Whether to scale each row to a sum of 1, as conditional models require, or to keep the PPMI
        in bits.

    Returns
    -------
    Associations
        Associations between the words that have a PPMI above 0 with another word.

    Raises
    ------
    DataError
        If rows and columns have different labels, or if no two words co-occur more often than
        independent words would.

    See Also
    --------
    count_cooccurrences, associations_from

    References
    ----------
    K. W. Church & P. Hanks (1990). Word association norms, mutual information, and lexicography.
    Computational Linguistics 16, 22-29.

    Examples
    --------
    >>> from manymaps import count_cooccurrences, ppmi
    >>> counts = count_cooccurrences(["bow tie", "tie the knot", "the rope"], window=1)
    >>> words = ppmi(counts, rows="keep")
    >>> words.labels
    ('bow', 'knot', 'rope', 'the', 'tie')
    >>> words.strengths.toarray()[3].round(3).tolist()  # log2(1 * 8 / (3 * 1)) for rope and knot
    [0.0, 1.415, 1.415, 0.0, 0.415]
    """
    matrix = matrix_of_counts(counts, None)
    cells = matrix.values.tocoo()
    totals = (counts.row_totals[cells.row], counts.column_totals[cells.col])
    # A sum of logarithms does not overflow, as opposed to the product of the totals.
    bits = np.log2(cells.data) + np.log2(counts.n_counts) - np.log2(totals[0]) - np.log2(totals[1])
    is_positive = (bits > 0) & (cells.row != cells.col)
    if not is_positive.any():
        raise DataError(
            f"{matrix.source}: no two words co-occur more often than independent words would; "
            "count more texts, or use a shorter window"
        )
    pairs = (bits[is_positive], (cells.row[is_positive], cells.col[is_positive]))
    values = sparse.csr_array(sparse.coo_array(pairs, shape=counts.shape))
    return associate_matrix(replace(matrix, values=values, notes=()), Rules("drop", rows, "drop"))


@contextmanager
def _corpus_of(
    source: TextSource, words: Words | None, progress: Progress | None
) -> Iterator[tuple[Corpus, Progress]]:
    """Read a corpus, and yield it with a function that reports progress."""
    with work("counting") as at, tempfile.TemporaryFile() as file:

        def report(message: str) -> None:
            at(told=message)
            if progress is not None:
                progress(message)

        yield read_corpus(source, words or Words(), file, report), report


def _empty_note(values: sparse.csr_array, labels: Sequence[str], what: str) -> tuple[str, ...]:
    """Return a note on empty rows."""
    empty = np.flatnonzero(np.diff(values.indptr) == 0)
    if not empty.size:
        return ()
    first = listed([labels[row] for row in empty.tolist()], most=3)
    return (f"{what}, with empty rows: {empty.size:,} ({first})",)


def _choose(corpus: Corpus) -> tuple[list[int], tuple[str, ...]]:
    """Return the numbers of the words to count in the order of the columns, and a note."""
    words, names, totals = corpus.words, corpus.names, corpus.totals()
    if words.vocabulary is not None:
        return list(range(len(names))), _absent(names, totals, words)
    _, stop_words = word_splitter(words)
    candidates = [number for number, name in enumerate(names) if name not in stop_words]
    frequent = candidates
    if words.min_documents > 1:
        table = _document_word(corpus, range(len(names)))
        n_documents = np.bincount(table.indices, minlength=len(names))
        frequent = [number for number in candidates if n_documents[number] >= words.min_documents]
    ranked = frequent
    if words.skip_words or words.max_words is not None:
        ranked = sorted(frequent, key=lambda number: (-totals[number], names[number]))
        end = None if words.max_words is None else words.skip_words + words.max_words
        ranked = ranked[words.skip_words : end]
    if not ranked:
        raise DataError(
            f"no word is left of {len(candidates):,}: {len(frequent):,} occur in at least "
            f"min_documents={words.min_documents} documents, and "
            f"{setting('skip_words', words.skip_words)} omits the most frequent of these; there "
            f"are {len(corpus.labels):,} documents"
        )
    n_tokens = corpus.tokens.size
    notes = (
        f"{len(ranked):,} of {len(candidates):,} different words are counted, "
        f"{totals[ranked].sum() / n_tokens:.1%} of {n_tokens:,} in the text",
    )
    return sorted(ranked, key=names.__getitem__), notes


def _absent(names: Sequence[str], totals: np.ndarray, words: Words) -> tuple[str, ...]:
    """Return a note on vocabulary words that do not occur in the corpus."""
    absent = [name for name, total in zip(names, totals.tolist(), strict=True) if not total]
    capitals = words.lowercase and any(word != word.lower() for word in absent)
    hint = "; the texts are read in lower case, but it has capitals" if capitals else ""
    if len(absent) == len(names):
        raise DataError(
            f"none of the {len(names):,} words of the vocabulary occurs in the texts; it begins "
            f"with {listed(names[:3])}{hint}"
        )
    if not absent:
        return ()
    return (
        f"words of the vocabulary that do not occur in the texts: {len(absent):,} of "
        f"{len(names):,} ({listed(absent, most=3)}){hint}",
    )


def _columns(corpus: Corpus, chosen: Sequence[int]) -> np.ndarray:
    """Return the column of each word, or -1 if the word is omitted.

    The additional last element maps the word number -1 to -1.
    """
    column_of = np.full(len(corpus.names) + 1, -1, np.int32)
    column_of[np.array(chosen)] = np.arange(len(chosen))
    return column_of


def _document_word(
    corpus: Corpus, chosen: Sequence[int], report: Progress = lambda message: None
) -> sparse.csr_array:
    """Count words in documents, (n_documents, n_words), piece by piece."""
    column_of, n_columns, n_rows = _columns(corpus, chosen), len(chosen), len(corpus.labels)
    sizes, n_done = np.zeros(n_rows, np.int64), 0
    parts = [(np.zeros(0), np.zeros(0, np.int32))]
    for size, tokens, documents in corpus.pieces():
        columns = column_of[tokens]
        is_counted = columns >= 0
        pairs = documents[is_counted] * n_columns + columns[is_counted]
        pairs, counts = np.unique(pairs, return_counts=True)
        rows, columns = np.divmod(pairs, n_columns)
        sizes += np.bincount(rows, minlength=n_rows)
        parts.append((counts.astype(np.float64), columns.astype(np.int32)))
        n_done += size
        report(f"counting, {n_done / corpus.tokens.size:.0%}")
    data, indices = (np.concatenate(column) for column in zip(*parts, strict=True))
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    table = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
    # A document that is divided between two pieces may have two entries for the same word.
    table.sum_duplicates()
    return table


def _word_context(
    corpus: Corpus, chosen: Sequence[int], window: int, harmonic: bool, report: Progress
) -> sparse.csr_array:
    """Sum weighted pairs within the window, (n_words, n_words), piece by piece.

    Only pairs of a word with a later word are summed, and the transpose is then added.
    """
    column_of = _columns(corpus, chosen)
    window = min(window, int(np.diff(corpus.ends).max()) - 1)

    def tasks() -> Iterator[tuple[Any, ...]]:
        n_done = 0
        for size, tokens, documents in corpus.pieces(ahead=window):
            rows = (documents - documents[0]).astype(np.int32)
            yield column_of[tokens], rows, size, window, harmonic, len(chosen)
            n_done += size
            report(f"counting, {n_done / corpus.tokens.size:.0%}")

    forward = _sum(spread(_pairs_of_piece, tasks(), "piece"))
    return sparse.csr_array(forward + forward.T)


def _pairs_of_piece(
    columns: np.ndarray, rows: np.ndarray, size: int, window: int, harmonic: bool, n_columns: int
) -> sparse.csr_array:
    """Sum the weighted pairs of a piece's tokens with later tokens, (n_columns, n_columns)."""

    def tables() -> Iterator[sparse.csr_array]:
        pending: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for k in range(1, min(window, len(columns) - 1) + 1):
            stop = min(size, len(columns) - k)
            left, right = columns[:stop], columns[k : k + stop]
            is_pair = (rows[:stop] == rows[k : k + stop]) & (left >= 0) & (right >= 0)
            weights = np.full(np.count_nonzero(is_pair), 1 / k if harmonic else 1.0)
            pending.append((weights, left[is_pair], right[is_pair]))
            if sum(weights.size for weights, _, _ in pending) >= MOST_PAIRS:
                yield _table_of_pairs(pending, n_columns)
                pending = []
        yield _table_of_pairs(pending, n_columns)

    return _sum(tables())


def _table_of_pairs(
    pending: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], n: int
) -> sparse.csr_array:
    """Sum weighted pairs, (n, n)."""
    if not pending:
        return sparse.csr_array((n, n))
    weights, left, right = (np.concatenate(column) for column in zip(*pending, strict=True))
    return sparse.csr_array(sparse.coo_array((weights, (left, right)), shape=(n, n)))


def _sum(tables: Iterable[sparse.csr_array]) -> sparse.csr_array:
    """Sum sparse tables by adding tables of similar sizes.

    Each pair is therefore copied a logarithmic number of times. If each table were added to the
    total, the total would be copied once per table.
    """
    stack: list[sparse.csr_array] = []

    def add_last() -> None:
        last = stack.pop()
        stack[-1] = sparse.csr_array(stack[-1] + last)

    for table in tables:
        stack.append(table)
        while len(stack) > 1 and stack[-2].nnz <= 2 * stack[-1].nnz:
            add_last()
    while len(stack) > 1:
        add_last()
    return stack[0]
