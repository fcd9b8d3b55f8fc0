"""Counts of words in texts, counts of co-occurrences within a window, and their PPMI.

    folder                    each file is a document, and its sub-folder is the metadata "group"
    csv, tsv, parquet, xlsx   each row is a document
    other files               each line is a document

    count_texts           n_xy = occurrences of word y in document x
    count_cooccurrences   n_xy = number of pairs of tokens s, t of one document with word x at s,
                                 word y at t and 0 < |s - t| <= window
    ppmi                  max(0, log2(n_xy n / (n_x n_y)))

The second table is symmetric. Two occurrences of the same word within a window count twice on the
diagonal, once from each side. Omitted words still contribute to the distance between their
neighbours (the "clean" windows of O. Levy, Y. Goldberg & I. Dagan 2015, TACL 3, section 3.1). The
table of a smaller vocabulary is therefore a submatrix of the table of a larger vocabulary.

scikit-learn's CountVectorizer splits texts into words and counts them. Texts are converted to
Unicode's composed form (NFC) first, in which equal words consist of equal characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.count_values import metadata_array, numbered
from manymaps.data.counts import Counts, empty_notes
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import index_labels
from manymaps.data.pair_rules import Rules
from manymaps.data.tables import as_pandas, cell_label, is_missing, names_of, place, source_of
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.associations import associate
from manymaps.io.columns import find, is_text
from manymaps.io.files import decoded, is_binary, read_bytes, suffix_of
from manymaps.io.frames import SHEETS, described, read_frame
from manymaps.io.matrices import matrix_from
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

TextSource: TypeAlias = "str | PathLike[str] | pd.DataFrame | Mapping[Any, str] | Iterable[str]"

TEXT = ("text", "texts", "content", "body", "document", "message", "post", "article", "abstract")
# In a table of texts, a column "label" usually contains the class of a text, not its name.
LABEL = ("id", "docid", "documentid", "textid", "postid", "name", "filename", "file", "path")
TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", *SHEETS)
# Longer values are texts and not metadata, because an array of texts has the width of its longest
# element.
LONGEST_VALUE = 200
# English contractions are single words, because their parts ("don" and "t") mean nothing. They are
# also function words, which scikit-learn's list omits.
CONTRACTION = r"'(?i:d|ll|m|re|t|ve)\b"


@cache
def word_pattern() -> str:
    """Return the regular expression of a word.

    A word has at least two letters, combining marks or digits, with underscores and joiners only
    between them. Apostrophes separate words, as in French and Italian ("l'homme") and before the
    genitive s, except in contractions.
    """
    # The class \w does not contain the marks that follow letters in Hindi, Tamil, Thai, vocalized
    # Arabic and others. There are none outside of the two ranges.
    points = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = "".join(chr(p) for p in points if unicodedata.category(chr(p))[0] == "M")
    # The lookahead saves four fifths of the time, because the class of marks is slow.
    beyond = rf"(?![\x00-\u02ff])(?:[{marks}]|[\u200c\u200d][^\W_])"
    return rf"[^\W_](?:_*[^\W_]|{CONTRACTION}|{beyond})+"


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
        Words to omit regardless of their frequency, before `skip_words` is applied: scikit-learn's
        list of English function words with contractions (the default), or the listed words
        (ignoring case if `lowercase` is true). None omits no words.
    lowercase : bool
        Whether to convert texts to lower case. The default is true.
    token_pattern : str, optional
        Regular expression that matches a word, or whose only group matches the word. By default, a
        word consists of two or more letters with their combining marks, or digits, perhaps with
        underscores between them. English contractions ("don't", "we'll") are single words with a
        straight apostrophe.
    tokenizer : callable, optional
        Function that splits a text into words, used instead of `token_pattern`. It is needed for
        languages without spaces between words.
    vocabulary : sequence of str, optional
        Words to count, in this order, even if they are stop words. Pass the `column_labels` of an
        earlier table to count new documents in the same way.

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
    stop_words: str | Sequence[str] | None = "english"
    lowercase: bool = True
    token_pattern: str | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None
    vocabulary: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.max_words is not None:
            check_whole("max_words", self.max_words)
        check_whole("skip_words", self.skip_words, 0)
        check_whole("min_documents", self.min_documents)
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            fault = "is not a known list; pass 'english', a list of words or None"
            raise ParameterError(fault, name="stop_words", value=self.stop_words)
        try:
            is_usable = re.compile(self.token_pattern or "").groups < 2
        except re.error:
            is_usable = False
        if not is_usable:
            fault = "is not a regular expression with at most one group"
            raise ParameterError(fault, name="token_pattern", value=self.token_pattern)
        if self.vocabulary is not None:
            words = {_prepared(self, str(word)) for word in self.vocabulary} - {""}
            selects = (self.max_words, self.skip_words, self.min_documents) != (None, 0, 1)
            is_list = not isinstance(self.vocabulary, str)
            if not words or len(words) < len(self.vocabulary) or not is_list or selects:
                raise ParameterError(
                    "vocabulary must be a list of different words, which are all counted: omit "
                    "max_words, skip_words and min_documents"
                )


def count_texts(
    source: TextSource,
    words: Words | None = None,
    *,
    column: str | None = None,
    label_column: str | None = None,
) -> Counts:
    """Count the words of each document.

    Parameters
    ----------
    source : path, frame, mapping of str to str, or iterable of str
        Texts. Each file of a folder is a document, labelled by its path, and its sub-folder is the
        metadata "group". Each row of a table (CSV, TSV, Parquet, a spreadsheet or a frame) is a
        document, and further columns are metadata. Each line of any other file is a document. A
        mapping or a pandas Series contains texts by label, and other texts in memory are numbered
        from 0.
    words : Words, optional
        Selection of words. By default, all words are counted except English function words.
    column : str, optional
        Column of the texts. By default, common names are recognized, such as text, content, body,
        document and message.
    label_column : str, optional
        Column of the labels. By default, it is the index of a frame, or a column id, doc_id, name,
        file or path. If there is no such column, documents are numbered from 0.

    Returns
    -------
    Counts of kinds ("document", "word"), shape (n_documents, n_words)
        Word counts. Words are in alphabetical order or in the order of the vocabulary. A document
        without counted words has an empty row. Repeated labels are numbered " (2)", " (3)", ...
        The report lists omitted function words, and omitted, empty and renamed documents.

    Raises
    ------
    DataError
        If the texts cannot be used, or if no words remain.

    See Also
    --------
    count_cooccurrences, read_counts, Words

    Examples
    --------
    >>> from manymaps import Words, count_texts
    >>> counts = count_texts(["bow tie", "tie the knot", "the bow and the knot"])
    >>> counts.column_labels
    ('bow', 'knot', 'tie')
    >>> counts.values.toarray()[2].tolist()
    [1.0, 1.0, 0.0]
    >>> count_texts({"a": "tie", "b": "the tie"}, Words(stop_words=None)).column_labels
    ('the', 'tie')
    """
    documents = read_documents(source, column, label_column)
    _, names, values, notes = _counted(documents, words or Words())
    kinds = ("document", "word")
    return _reported(
        Counts(values, documents.labels, names, kinds, documents.metadata), documents, notes
    )


def count_cooccurrences(
    source: TextSource,
    words: Words | None = None,
    *,
    window: int = 5,
    column: str | None = None,
    label_column: str | None = None,
) -> Counts:
    """Count how often words occur near one another within a document.

    Parameters
    ----------
    source, words
        See `count_texts`.
    window : int
        Maximum distance between two words, in words. The default is 5.
    column, label_column
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
        If the window is not an integer of at least 1.

    See Also
    --------
    count_texts, Words

    Examples
    --------
    >>> from manymaps import Words, count_cooccurrences
    >>> texts, words = ["tie the knot", "tie bow"], Words(stop_words=None)
    >>> counts = count_cooccurrences(texts, words, window=2)
    >>> counts.column_labels
    ('bow', 'knot', 'the', 'tie')
    >>> counts.values.toarray()[3].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    check_whole("window", window)
    words, documents = words or Words(), read_documents(source, column, label_column)
    tokens, names, _, notes = _counted(documents, words)
    column_of = {_prepared(words, name): c for c, name in enumerate(names)}
    columns = np.array([column_of.get(word, -1) for row in tokens for word in row])
    lengths = list(map(len, tokens))
    order = np.repeat(np.arange(len(lengths)), lengths)
    values = sparse.csr_array((len(names), len(names)))
    for distance in range(1, min(window + 1, max(lengths))):
        left, right = columns[:-distance], columns[distance:]
        is_pair = (order[:-distance] == order[distance:]) & (left >= 0) & (right >= 0)
        cells = (left[is_pair], right[is_pair])
        ones = sparse.coo_array((np.ones(cells[0].size), cells), shape=values.shape)
        values = values + sparse.csr_array(ones)
    values = sparse.csr_array(values + values.T)
    return _reported(Counts(values, names, names, ("word", "context")), documents, notes)


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
    >>> from manymaps import Words, count_cooccurrences, ppmi
    >>> texts, every = ["bow tie", "tie the knot", "the rope"], Words(stop_words=None)
    >>> words = ppmi(count_cooccurrences(texts, every, window=1), rows="keep")
    >>> words.labels
    ('bow', 'knot', 'rope', 'the', 'tie')
    >>> words.strengths.toarray()[3].round(3).tolist()  # log2(1 * 8 / (3 * 1)) for rope and knot
    [0.0, 1.415, 1.415, 0.0, 0.415]
    """
    matrix = matrix_from(counts, None)
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
    return associate(matrix._replace(values=values, notes=()), Rules("drop", rows, "drop"))


def _prepared(words: Words, text: str) -> str:
    """Convert a text to composed characters, straight apostrophes and, if asked, lower case."""
    text = unicodedata.normalize("NFC", text.lower() if words.lowercase else text)
    return text if words.token_pattern else text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _counted(
    documents: Documents, words: Words
) -> tuple[list[list[str]], list[str], sparse.csr_array, tuple[str, ...]]:
    """Return the words of each text, the counted words, their counts, and notes."""
    from sklearn.feature_extraction.text import CountVectorizer

    split = CountVectorizer(
        lowercase=False,
        preprocessor=partial(_prepared, words),
        tokenizer=words.tokenizer,
        token_pattern=None if words.tokenizer else words.token_pattern or word_pattern(),
    ).build_analyzer()
    known: dict[str, str] = {}  # one copy of each word
    tokens = [[known.setdefault(word, word) for word in split(text)] for text in documents.texts]
    source = f"{documents.report.source}, {len(tokens):,} documents"
    if not known:
        raise DataError(f"{source}: the texts contain no words")
    if "" in known:
        raise ParameterError("the pattern or tokenizer returns empty words; exclude them")
    names = [_prepared(words, word) for word in words.vocabulary or sorted(known)]
    count = CountVectorizer(analyzer=list, lowercase=False, vocabulary=names, dtype=np.float64)
    table = sparse.csr_array(count.transform(tokens))
    if words.vocabulary is not None:
        if not table.nnz:
            raise DataError(f"{source}: no word of the vocabulary occurs in the texts")
        return tokens, list(words.vocabulary), table, ()
    chosen, notes = _chosen(names, table, words, source)
    return tokens, [names[c] for c in chosen], table[:, chosen], notes


def _chosen(
    names: Sequence[str], table: sparse.csr_array, words: Words, source: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the positions of the words to count in alphabetical order, and notes."""
    totals, n_documents = table.sum(axis=0), np.bincount(table.indices, minlength=len(names))
    omitted = _stop_words(words, names)
    ranked = [c for c in np.argsort(-totals, kind="stable") if names[c] not in omitted]
    frequent = [c for c in ranked if n_documents[c] >= words.min_documents]
    chosen = np.sort(frequent[words.skip_words :][: words.max_words])
    if not chosen.size:
        raise DataError(
            f"{source}: no word is left of {len(names):,}; {len(omitted):,} are stop words, "
            f"{len(frequent):,} others occur in at least {words.min_documents} documents, and "
            f"{setting('skip_words', words.skip_words)} omits the most frequent of these"
        )
    share = f"{totals[chosen].sum() / totals.sum():.1%} of {totals.sum():,.0f} in the text"
    notes = [f"{chosen.size:,} of {len(names):,} different words are counted, {share}"]
    if omitted:
        notes.append(
            f"function words left out: {len(omitted):,} ({listed(sorted(omitted), 3)}); use "
            f"{setting('stop_words', None)} to count them"
        )
    return chosen, tuple(notes)


def _stop_words(words: Words, names: Sequence[str]) -> set[str]:
    """Return the words that are stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if words.stop_words == "english":
        contraction = re.compile(CONTRACTION)
        return {x for x in names if x in ENGLISH_STOP_WORDS or contraction.search(x)}
    return {_prepared(words, word) for word in words.stop_words or ()}.intersection(names)


def _reported(counts: Counts, documents: Documents, notes: tuple[str, ...]) -> Counts:
    """Add the report on the documents, the words and those without counts."""
    notes = (*documents.report.notes, *notes, *empty_notes(counts, "kept"))
    return replace(counts, report=replace(documents.report, notes=notes))


class Documents(NamedTuple):
    """Texts with labels and metadata."""

    texts: list[str]
    labels: list[str]
    metadata: dict[str, np.ndarray]
    report: ReadReport


def read_documents(source: TextSource, column: str | None, label_column: str | None) -> Documents:
    """Read the texts of a file, a folder or an object in memory.

    Raises
    ------
    DataError
        If there are no texts, or if a text or a label cannot be used.
    """
    frame = _frame_of(source)
    name, notes = source_of(frame), frame.attrs.get("notes", ())
    if not len(frame):
        raise DataError("; ".join([f"{name} contains no texts", *notes]))
    names = names_of(frame)
    text = find(frame, "column", column, usual=TEXT)
    text = 0 if text is None and len(names) == 1 else text
    if text is None:
        raise DataError(
            f"{name} has no column of texts with a usual name; its columns are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    texts = ["" if is_missing(cell) else cell for cell in frame.iloc[:, text]]
    for row, cell in enumerate(texts):
        if not isinstance(cell, str):
            raise DataError(
                f"{place(frame, row)}: the text is {cell!r:.60} of type {type(cell).__name__}; "
                f"expected a text, or another column as {setting('column')}"
            )
    labels = None if is_text(frame) else index_labels(frame)
    label = None
    if labels is None or label_column is not None:
        label = find(frame, "label_column", label_column, [text], usual=LABEL)
    if label is not None:
        labels = list(map(cell_label, frame.iloc[:, label]))
        if "" in labels:
            raise DataError(
                f"{place(frame, labels.index(''))}: the label in the column {names[label]!r} "
                f"is missing; fill it in, or select another column with {setting('label_column')}"
            )
    unique, renamed = numbered(labels or [str(row) for row in range(len(texts))], "document")
    others = [c for c in range(len(names)) if c not in (text, label)]
    values = [c for c in others if all(map(_is_value, frame.iloc[:, c]))]
    metadata = {names[c]: metadata_array(frame.iloc[:, c].to_numpy()) for c in values}
    left_out = [names[c] for c in others if c not in values]
    notes = (*notes, *renamed)
    if left_out:
        notes += (f"columns with lists or long texts, which are not metadata: {listed(left_out)}",)
    return Documents(texts, unique, metadata, ReadReport(name, len(texts), notes=notes))


def _frame_of(source: TextSource) -> pd.DataFrame:
    """Return a table with a row per text, whose index may contain labels."""
    import pandas as pd

    if is_frame(source):
        return as_pandas(source)
    if not isinstance(source, str | PathLike):
        pairs = dict(source.items()) if isinstance(source, Mapping) else source
        texts = pd.Series(pairs if hasattr(pairs, "items") else list(pairs), dtype=object)
        return described(texts.to_frame("text"), "texts in memory")
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if suffix_of(path) in TABLES:
        return read_frame(path, "a table of texts")
    text, notes = decoded(read_bytes(path, "texts"), str(path))
    frame = pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=object)
    return described(frame, str(path), notes=notes)


def _folder(root: Path) -> pd.DataFrame:
    """Read the files of a folder and its sub-folders in the order of their paths."""
    import pandas as pd

    texts: dict[str, str] = {}
    left_out = []
    for path in sorted(path for path in root.rglob("*") if not path.is_dir()):
        name = path.relative_to(root).as_posix()
        data = path.read_bytes() if path.is_file() and "/." not in f"/{name}" else b"\0"
        if is_binary(data):
            left_out.append(name)
        else:
            texts[name] = decoded(data, str(path))[0]
    frame = pd.Series(texts, dtype=object).to_frame("text")
    groups = [name.rpartition("/")[0] for name in texts]
    frame = frame.assign(group=groups) if any(groups) else frame
    note = f"hidden or not text: {len(left_out):,} ({listed(left_out, 3)})"
    return described(frame, str(root), notes=(note,) if left_out else ())


def _is_value(cell: Any) -> bool:
    """Return whether a cell can be metadata, which excludes lists and long texts."""
    is_scalar = not isinstance(cell, list | dict | bytes) and not hasattr(cell, "shape")
    return is_scalar and len(str(cell)) <= LONGEST_VALUE
