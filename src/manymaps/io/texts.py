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
Unicode's composed form (NFC) first, in which equal words consist of equal characters, and to
straight apostrophes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.checks import check_whole
from manymaps.data.associations import Associations, ReadReport
from manymaps.data.count_values import numbered
from manymaps.data.counts import Counts, empty_notes
from manymaps.data.frame_labels import is_frame
from manymaps.data.frames import as_column, as_pandas, cell_label, index_labels, is_missing
from manymaps.data.pair_rules import Rules
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.associations import associate, matrix_from
from manymaps.io.columns import described, find, is_text, place
from manymaps.io.frames import TABLES, decoded, read_bytes, read_frame, suffix_of
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

TextSource: TypeAlias = "str | PathLike[str] | pd.DataFrame | Mapping[Any, str] | Iterable[str]"

TEXT = ("text", "texts", "content", "body", "document", "message", "post", "article", "abstract")
# In a table of texts, a column "label" usually contains the class of a text, not its name.
LABEL = ("id", "docid", "documentid", "textid", "postid", "name", "filename", "file", "path")
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
    # Arabic and others. All of them are in the two ranges.
    points = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = "".join(chr(p) for p in points if unicodedata.category(chr(p))[0] == "M")
    # The lookahead saves four fifths of the time, because the class of marks is slow.
    beyond = rf"(?![\x00-\u02ff])(?:[{marks}]|[\u200c\u200d][^\W_])"
    return rf"[^\W_](?:_*[^\W_]|{CONTRACTION}|{beyond})+"


def count_texts(
    source: TextSource,
    *,
    column: str | None = None,
    stop_words: str | Sequence[str] | None = "english",
    max_features: int | None = None,
    min_df: float = 1,
    max_df: float = 1.0,
    token_pattern: str | None = None,
) -> Counts:
    r"""Count the words of each document.

    The parameters from `stop_words` are those of scikit-learn's CountVectorizer.

    Parameters
    ----------
    source : path, frame, mapping of str to str, or iterable of str
        Texts. Each file of a folder is a document, labelled by its path, and its sub-folder is the
        metadata "group". Each row of a table (CSV, TSV, Parquet, a spreadsheet or a frame) is a
        document, and further columns are metadata. Each line of any other file is a document. A
        mapping or a pandas Series contains texts by label, and other texts in memory are numbered
        from 0.
    column : str, optional
        Column of the texts. By default, common names are recognized, such as text, content, body,
        document and message. The labels of documents are the index of a frame, or a column id,
        doc_id, name, file or path. If the table has no such column, documents are numbered from 0.
    stop_words : "english" or sequence of str, optional
        Words to omit: scikit-learn's list of English function words with contractions (the
        default), or the listed words. None omits no words.
    max_features : int, optional
        Maximum number of words to count, in order of decreasing frequency. By default, all words
        are counted. Equally frequent words are selected in alphabetical order.
    min_df, max_df : int or float
        Minimum and maximum number of documents (int) or share of all documents (float) in which a
        word must occur. By default, there are no limits.
    token_pattern : str, optional
        Regular expression that matches a word, or whose only group matches the word. By default, a
        word consists of two or more letters with their combining marks, or digits, perhaps with
        underscores between them. English contractions ("don't", "we'll") are single words. For
        languages without spaces between words, separate the words by spaces and pass ``r"\S+"``.

    Returns
    -------
    Counts of kinds ("document", "word"), shape (n_documents, n_words)
        Word counts. Words are in lower case and in alphabetical order. A document without counted
        words has an empty row. Repeated labels are numbered " (2)", " (3)", ... The report lists
        omitted function words, and omitted, empty and renamed documents.

    Raises
    ------
    DataError
        If the texts cannot be used or contain no words to count, or if scikit-learn rejects
        `min_df` or `max_df`.
    ParameterError
        If another value is invalid.

    See Also
    --------
    count_cooccurrences, read_counts

    Examples
    --------
    >>> from manymaps import count_texts
    >>> counts = count_texts(["bow tie", "tie the knot", "the bow and the knot"])
    >>> counts.column_labels
    ('bow', 'knot', 'tie')
    >>> counts.values.toarray()[2].tolist()
    [1.0, 1.0, 0.0]
    >>> count_texts({"a": "tie", "b": "the tie"}, stop_words=None).column_labels
    ('the', 'tie')
    """
    documents = read_documents(source, column)
    limits = {"min_df": min_df, "max_df": max_df, "token_pattern": token_pattern}
    _, words, values, notes = _counted(documents, stop_words, max_features, **limits)
    counts = Counts(values, documents.labels, words, ("document", "word"), documents.metadata)
    return _reported(counts, documents, notes)


def count_cooccurrences(
    source: TextSource,
    *,
    window: int = 5,
    column: str | None = None,
    stop_words: str | Sequence[str] | None = "english",
    max_features: int | None = None,
    min_df: float = 1,
    max_df: float = 1.0,
    token_pattern: str | None = None,
) -> Counts:
    """Count how often words occur near one another within a document.

    Parameters
    ----------
    source
        See `count_texts`.
    window : int
        Maximum distance between two words, in words. The default is 5.
    column, stop_words, max_features, min_df, max_df, token_pattern
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
        As for `count_texts`, or if the window is not an integer of at least 1.

    See Also
    --------
    count_texts, ppmi

    Examples
    --------
    >>> from manymaps import count_cooccurrences
    >>> counts = count_cooccurrences(["tie the knot", "tie bow"], stop_words=None, window=2)
    >>> counts.column_labels
    ('bow', 'knot', 'the', 'tie')
    >>> counts.values.toarray()[3].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    check_whole("window", window)
    documents = read_documents(source, column)
    limits = {"min_df": min_df, "max_df": max_df, "token_pattern": token_pattern}
    split, words, _, notes = _counted(documents, stop_words, max_features, **limits)
    place_of = {word: c for c, word in enumerate(words)}
    texts = [[place_of.get(word, -1) for word in split(text)] for text in documents.texts]
    places = np.array([place for text in texts for place in text])
    lengths = list(map(len, texts))
    order = np.repeat(np.arange(len(lengths)), lengths)
    values = sparse.csr_array((len(words), len(words)))
    for distance in range(1, min(window + 1, max(lengths))):
        left, right = places[:-distance], places[distance:]
        is_pair = (order[:-distance] == order[distance:]) & (left >= 0) & (right >= 0)
        cells = (left[is_pair], right[is_pair])
        ones = sparse.coo_array((np.ones(cells[0].size), cells), shape=values.shape)
        values = values + sparse.csr_array(ones)
    values = sparse.csr_array(values + values.T)
    return _reported(Counts(values, words, words, ("word", "context")), documents, notes)


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
    >>> texts = ["bow tie", "tie the knot", "the rope"]
    >>> words = ppmi(count_cooccurrences(texts, stop_words=None, window=1), rows="keep")
    >>> words.labels
    ('bow', 'knot', 'rope', 'the', 'tie')
    >>> words.strengths.toarray()[3].round(3).tolist()  # log2(1 * 8 / (3 * 1)) for rope and knot
    [0.0, 1.415, 1.415, 0.0, 0.415]
    """
    if not isinstance(counts, Counts):
        raise DataError(f"expected Counts of words, but got an object of {type(counts)}")
    matrix = matrix_from(counts)
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
    return associate(replace(matrix, values=values, notes=()), Rules("drop", rows, "drop"))


def _prepared(text: str) -> str:
    """Convert a text to lower case, composed characters and straight apostrophes."""
    text = unicodedata.normalize("NFC", text.lower())
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _counted(
    documents: Documents,
    stop_words: str | Sequence[str] | None,
    max_features: int | None,
    **settings: Any,
) -> tuple[Callable[[str], list[str]], list[str], sparse.csr_array, list[str]]:
    """Return the function that splits texts, the counted words, their counts, and notes."""
    from sklearn.feature_extraction.text import CountVectorizer

    if max_features is not None:
        check_whole("max_features", max_features)
    pattern = settings.pop("token_pattern") or word_pattern()
    # Stop words count in distances, so they are omitted after counting.
    counter = CountVectorizer(
        preprocessor=_prepared, token_pattern=pattern, dtype=np.float64, **settings
    )
    try:
        split = counter.build_analyzer()
        omitted = CountVectorizer(stop_words=stop_words).get_stop_words() or ()
    except (ValueError, re.error) as error:
        names = f"{setting('token_pattern')} or {setting('stop_words')}"
        raise ParameterError(f"{names} cannot be used: {error}") from error
    source = f"{documents.report.source}, {len(documents.texts):,} documents"
    try:
        table = sparse.csr_array(counter.fit_transform(documents.texts))
    except ValueError as error:
        raise DataError(f"{source}: the words cannot be counted: {error}") from error
    words = counter.get_feature_names_out().tolist()
    omitted = set(map(_prepared, omitted)).intersection(words)
    if stop_words == "english":
        omitted.update(filter(re.compile(CONTRACTION).search, words))
    # scikit-learn's max_features selects any of equally frequent words.
    ranked = np.argsort(-table.sum(axis=0), kind="stable")
    columns = sorted([c for c in ranked if words[c] and words[c] not in omitted][:max_features])
    table = table[:, columns]
    if not table.nnz:
        raise DataError(f"{source}: the texts contain no word that is counted")
    note = (
        f"function words left out: {len(omitted):,} ({listed(sorted(omitted), 3)}); use "
        f"{setting('stop_words', None)} to count them"
    )
    return split, [words[c] for c in columns], table, [note] if omitted else []


def _reported(counts: Counts, documents: Documents, notes: Sequence[str]) -> Counts:
    """Add the report on the documents, the words and those without counts."""
    notes = (*documents.report.notes, *notes, *empty_notes(counts, "kept"))
    return replace(counts, report=replace(documents.report, notes=notes))


class Documents(NamedTuple):
    """Texts with labels and metadata."""

    texts: list[str]
    labels: list[str]
    metadata: dict[str, np.ndarray]
    report: ReadReport


def read_documents(data: TextSource, column: str | None) -> Documents:
    """Read the texts of a file, a folder or an object in memory.

    Raises
    ------
    DataError
        If there are no texts.
    """
    frame = _frame_of(data)
    source, notes = frame.attrs["source"], frame.attrs["notes"]
    if not len(frame):
        raise DataError("; ".join([f"{source} contains no texts", *notes]))
    names = list(frame.columns)
    text = find(frame, "column", column, usual=TEXT)
    text = 0 if text is None and len(names) == 1 else text
    if text is None:
        raise DataError(
            f"{source} has no column of texts with a usual name; its columns are {listed(names)}. "
            f"Name one of them as {setting('column')}"
        )
    texts = ["" if is_missing(cell) else cell for cell in frame.iloc[:, text]]
    wrong = next((row for row, cell in enumerate(texts) if not isinstance(cell, str)), None)
    if wrong is not None:
        raise DataError(
            f"{place(frame, wrong)}: the text is {texts[wrong]!r:.60}; expected a text, or another "
            f"column as {setting('column')}"
        )
    labels = None if is_text(frame) else index_labels(frame)
    label = find(frame, "labels", but=[text], usual=LABEL) if labels is None else None
    if label is not None:
        labels = [cell_label(cell) or str(row) for row, cell in enumerate(frame.iloc[:, label])]
    unique, renamed = numbered(labels or [str(row) for row in range(len(texts))], "document")
    metadata = {}
    for c, name in enumerate(names):
        if c not in (text, label) and max(map(len, map(str, frame.iloc[:, c]))) <= LONGEST_VALUE:
            metadata[name] = as_column(frame.iloc[:, c].to_numpy())
    report = ReadReport(source, len(texts), notes=(*notes, *renamed))
    return Documents(texts, unique, metadata, report)


def _frame_of(source: TextSource) -> pd.DataFrame:
    """Return a table with a row per text, whose index may contain labels."""
    import pandas as pd

    if is_frame(source):
        return described(as_pandas(source))
    if not isinstance(source, str | PathLike):
        pairs = dict(source.items()) if isinstance(source, Mapping) else source
        texts = pd.Series(pairs if hasattr(pairs, "items") else list(pairs), dtype=object)
        return described(texts.to_frame("text"), "texts in memory")
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if suffix_of(path) in TABLES:
        return read_frame(path)
    text, notes = decoded(read_bytes(path), str(path))
    frame = pd.DataFrame({"text": text.removesuffix("\n").split("\n")}, dtype=object)
    return described(frame, str(path), notes=notes)


def _folder(root: Path) -> pd.DataFrame:
    """Read the files of a folder and its sub-folders in the order of their paths."""
    import pandas as pd

    texts: dict[str, str] = {}
    left_out = []
    for path in sorted(path for path in root.rglob("*") if not path.is_dir()):
        name = path.relative_to(root).as_posix()
        try:
            if "/." in f"/{name}" or not path.is_file():
                raise DataError(f"{path} is hidden or not a file")
            texts[name], _ = decoded(path.read_bytes(), str(path))
        except DataError:
            left_out.append(name)
    frame = pd.Series(texts, dtype=object).to_frame("text")
    groups = [name.rpartition("/")[0] for name in texts]
    frame = frame.assign(group=groups) if any(groups) else frame
    note = f"hidden or not text: {len(left_out):,} ({listed(left_out, 3)})"
    return described(frame, str(root), notes=(note,) if left_out else ())
