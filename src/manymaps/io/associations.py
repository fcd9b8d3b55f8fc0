"""Readers that convert similarity data in common formats to `Associations`.

    edge list     cue, response, strength (or count) on each row: text, Parquet, frame
    matrix        a square table: labelled text, NPY, NPZ, MatrixMarket, array, frame
    graph         nodes and weighted edges: GraphML, networkx

In a matrix, cell (i, j) is the similarity of objects i and j, or the strength of the association
from i to j. In a graph, a directed edge is a pair from its source to its target, and an undirected
edge is a pair in both directions. The rules for dropping, merging and scaling pairs are the same
for all formats (`manymaps.data.pair_rules`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_cells, check_labels
from manymaps.data.associations import Associations, known_pairs
from manymaps.data.count_values import check_agreement, checked_table
from manymaps.data.counts import Counts
from manymaps.data.frames import cell_label
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    NAMES,
    RULE_OF,
    checked_frame,
    described,
    find,
    folded,
    has_pair_header,
    is_text,
    labels_of,
    needed,
    numbers_of,
    numeric_columns,
    place,
)
from manymaps.io.containers import Table, opened
from manymaps.io.frames import read_labels, without_header
from manymaps.io.trials import ROW_NUMBERS, USUAL, missing_answers
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

# The sum of 10 million such counts is exact in float64.
MOST_COUNTED = 2**29
# Usual names of the values of pairs.
STRENGTHS = dict.fromkeys(("strength", "similarity"), NAMES["strength"] + NAMES["count"])
STRENGTHS["rating"] = (*NAMES["rating"], *NAMES["strength"], "mean", "average")
# The rule for the cells of a matrix (`RULE_OF`), which are NaN if missing.
CELLS = {"strength": "value", "similarity": "similarity"}
TRIALS = ", or use read_trials for the answers of participants"
UNWEIGHTED = "no column of strengths: every pair counts one"
RAW_COUNTS = (
    "warning: raw counts are used as similarities, which the most frequent objects dominate; "
    "convert them by ppmi, or read texts with --set window=5"
)


def read_associations(path: str | os.PathLike[str], **options: Any) -> Associations:
    """Read associations from an edge list, a graph or a square matrix.

    The suffix of the file and the names of its columns determine how it is read:

    - An edge list is text or Parquet, with or without a header. Text is split at commas,
      semicolons, tabs or vertical bars, depending on its content. Each pair without a strength has
      a count of 1.
    - A graph is a GraphML file. An undirected edge becomes a pair in both directions.
    - A matrix is CSV or TSV with labels in the first row and column, NPY, NPZ (of
      `scipy.sparse.save_npz`, or of `numpy.savez` with `strengths` and `labels`) or MatrixMarket.
      An empty cell, ".", NA or NaN represents a pair that was not judged (`Associations.missing`).

    Raw trials, with the answers of a participant in columns such as R1, R2 and R3, are read by
    `read_trials` and counted by `Trials.associations`.

    Text and MatrixMarket files may be compressed (.gz, .bz2, .xz or .zip). Text is encoded in
    UTF-8, in UTF-16 with a byte order mark, or in Windows-1252. Words are read exactly as written,
    without surrounding white space. NA, NAN, NULL and TRUE are words.

    Parameters
    ----------
    path : path
        File to read.
    **options
        Names of columns and rules for pairs: the keyword parameters of `associations_from`.

    Returns
    -------
    Associations
        Associations, in which `report` lists the numbers of pairs that were read, merged and
        dropped. For counts, `n_responses` contains the number of responses per cue that were kept,
        or of all responses with rows="keep".

    Raises
    ------
    DataError
        If the file cannot be used. The message contains the file name, the line and the value.
    ParameterError
        If an option has an unknown value or does not apply to the file.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If Parquet is read without pyarrow, or GraphML without networkx.

    See Also
    --------
    associations_from, read_trials, read_similarities, Associations

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps import read_associations
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "norms.csv")
    ...     _ = file.write_text("cue,response,count\\ntie,knot,6\\ntie,suit,2\\nknot,tie,5\\n")
    ...     norms = read_associations(file, responses="keep")
    >>> norms.labels
    ('tie', 'knot', 'suit')
    >>> norms.strengths.toarray()[0].tolist()
    [0.0, 0.75, 0.25]
    """
    return associations_from(opened(path, "associations"), **options)


def associations_from(
    data: Any,
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    responses: str = "drop",
    rows: str = "renormalize",
    self_pairs: str = "drop",
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    fold: bool = False,
    missing: str | Sequence[str] | None = None,
) -> Associations:
    """Create associations from a data frame, a graph or a matrix in memory.

    Parameters
    ----------
    data : frame, graph, matrix or Counts
        Data to convert. A pandas, polars or pyarrow frame contains pairs. A matrix is a square
        dense or sparse array, `Counts` of co-occurrences, or a pandas frame with the same labels in
        its index and columns. In a networkx graph, an undirected edge becomes a pair in both
        directions, and an edge without a weight has weight 1.
    cue, response, strength : str, optional
        Column names. By default, common names are recognized, ignoring case. The column of cues is
        "cue", "source", "from" or "word1", and the column of responses is "response", "target",
        "to" or "word2". Strengths are in "strength", "FSG", "R123.Strength", "weight", "value" or
        "similarity", or as counts in "count", "#P" or "R123". For a graph, `strength` is the edge
        attribute that contains the weights.
    responses : {"drop", "keep", "keep:N"}
        Treatment of responses that are never cues. "drop" drops them, "keep" keeps them as objects
        with empty rows, and "keep:5" keeps responses that at least 5 different cues evoke. For the
        USF norms, "drop" removes an eighth of the pairs.
    rows : {"renormalize", "keep"}
        Scaling of rows. "renormalize" scales each row to sum to 1. With "keep", the missing mass
        remains missing. Strengths are then unchanged, whereas counts and rows that sum to more than
        1 are divided by the cue's total, including dropped responses. Values of a matrix or
        an undirected graph are unchanged, as a joint model of symmetric similarities requires.
    self_pairs : {"drop", "error"}
        Whether to drop pairs of a word with itself (the diagonal of a matrix) or to raise an error.
    labels : path or sequence of str, optional
        Labels of a matrix, or a file with one label per line. The default labels are "0", "1", ...
    fold : bool
        Whether to ignore case and repeated spaces in labels. If true, labels are converted to lower
        case.
    missing : str or sequence of str, optional
        Responses to drop as missing answers, as a list or a text with commas such as "none,?". The
        word "usual" stands for a list with "n/a", "don't know" and others, which the report
        contains. By default, no responses are dropped, and the report counts those in this list.

    Returns
    -------
    Associations
        Associations, with a `report` on the pairs that were read, merged and dropped.

    Raises
    ------
    DataError, ParameterError
        As for `read_associations`.

    See Also
    --------
    read_associations, Associations

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import associations_from
    >>> similarity = np.array([[1, .5, .5], [.5, 1, 0], [.5, 0, 1]])
    >>> associations_from(similarity, labels=["tie", "knot", "suit"], rows="keep").is_symmetric
    True
    """
    rules = Rules(responses, rows, self_pairs)
    columns = {"cue": cue, "response": response, "strength": strength}
    entries = entries_in(data, columns, labels, fold=fold, missing=missing)
    return associate(entries, rules) if isinstance(entries, Table) else apply_rules(entries, rules)


def entries_in(
    data: Any,
    columns: Mapping[str, str | None],
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    *,
    rule: str = "strength",
    fold: bool = False,
    missing: str | Sequence[str] | None = None,
) -> Table | NumberedPairs:
    """Return the matrix or the pairs in an object, before pair rules are applied.

    Parameters
    ----------
    data : object
        Frame, graph or matrix.
    columns : mapping of str to str or None
        Names of the columns "cue", "response" and "strength" from the user.
    labels, fold, missing
        See `associations_from`.
    rule : {"strength", "similarity"}
        Allowed values.
    """
    names = None if labels is None else read_labels(labels)
    data = edges_of(data) if hasattr(data, "is_directed") else data
    if not (isinstance(data, Table | Counts | np.ndarray | list | tuple) or sparse.issparse(data)):
        data = checked_frame(data, "a frame of pairs, a square matrix, or a graph")
        are_named = any(columns.values())
        if names is not None and (are_named or has_pair_header(data.columns)):
            message = f"applies to matrices, and {data.attrs['source']} is a list of pairs"
            raise ParameterError(message, name="labels", value=labels)
        if names is None and (are_named or square_part(data) is None):
            return pairs_in(data, columns, rule=rule, fold=fold, missing=missing)
        data = _table_in(data, CELLS[rule])
    matrix = matrix_from(data, names, CELLS[rule])
    if missing is not None:
        raise ParameterError(
            f"applies to lists of responses, and {matrix.source} is a matrix",
            name="missing",
            value=missing,
        )
    return matrix


def pairs_in(
    frame: pd.DataFrame,
    columns: Mapping[str, str | None],
    *,
    rule: str = "strength",
    fold: bool = False,
    missing: str | Sequence[str] | None = None,
) -> NumberedPairs:
    """Return the pairs in a frame, with objects in the order of their first appearance.

    The parameters are those of `entries_in`. Rows without a label are left out, or an error for
    similarities.
    """
    import pandas as pd

    frame, ends = pair_columns(frame, columns)
    weight, notes = _weight(frame, ends, columns["strength"], rule)
    notes += frame.attrs["notes"]
    if weight is None:
        values = np.ones(len(frame))
    else:
        values = numbers_of(frame, [weight], rule, ends)[:, 0]
    cues, responses = (labels_of(frame, c, fold) for c in ends)
    is_named = (cues != "") & (responses != "")
    left_out = {"empty label": int(np.count_nonzero(~is_named))}
    if left_out["empty label"] and rule == "similarity":
        where = place(frame, int(np.argmin(is_named)))
        raise DataError(f"{where}: a label is empty; fill it in")
    if rule == "strength" and "objects" not in frame.attrs:
        # Strengths are not counts, and larger numbers could overflow.
        are_counts = (np.floor(values) == values) & (np.abs(values) < MOST_COUNTED)
        codes, answers = pd.factorize(responses)
        counts = np.bincount(codes, values if are_counts.all() else None, len(answers))
        dropped, found = missing_answers(answers, counts.astype(np.int64), missing)
        notes += found
        left_out["missing answer"] = int(np.count_nonzero(is_named & dropped[codes]))
        is_named &= ~dropped[codes]
    rows, objects = np.flatnonzero(is_named), frame.attrs.get("objects", ())
    codes, distinct = pd.factorize(np.array([*objects, *cues[rows], *responses[rows]], object))
    codes = codes.astype(np.int32)[len(objects) :]
    cue, response = np.split(codes, 2)
    return NumberedPairs(
        labels=tuple(distinct.tolist()),
        n_cues=max(len(objects), int(cue.max(initial=-1)) + 1),
        cue=cue,
        response=response,
        values=values[rows],
        source=frame.attrs["source"],
        where=lambda k: place(frame, int(rows[k])),
        similarities=bool(objects),
        n_read=len(frame),
        left_out={reason: n for reason, n in left_out.items() if n},
        notes=notes,
    )


def pair_columns(
    frame: pd.DataFrame, columns: Mapping[str, str | None]
) -> tuple[pd.DataFrame, tuple[int, int]]:
    """Return a frame with the positions of its cues and responses.

    Without a header, these are the first two columns. Two words without a usual name are a pair.
    """
    names = list(frame.columns)
    is_pair = is_text(frame) and len(names) == 2 and not any(columns.values())
    if is_pair and frame.attrs["header"] and not has_pair_header(names):
        frame = without_header(frame)
    if not frame.attrs["header"]:
        return frame, (0, 1)
    cue = needed(frame, "cue", columns["cue"])
    # A single answer of a participant is a response, too.
    single = () if "r2" in map(folded, names) else ("r1",)
    usual = (*NAMES["response"], *single)
    return frame, (
        cue,
        needed(frame, "response", columns["response"], [cue], usual=usual, hint=TRIALS),
    )


def _weight(
    frame: pd.DataFrame, ends: tuple[int, int], name: str | None, rule: str
) -> tuple[int | None, tuple[str, ...]]:
    """Return the column of the values of pairs, with a note if it has no name or does not exist."""
    numbers = [c for c, is_numeric in enumerate(numeric_columns(frame)) if is_numeric]
    numbers = [c for c in numbers if c not in ends]
    if not frame.attrs["header"]:
        first = [cell_label(cell)[:60] for cell in frame.iloc[0]]
        if numbers:
            return numbers[0], (f"no header: columns read as cue, response, {rule}",)
        if len(first) == 2 and rule != "rating":
            pair = f"{first[0]!r} and {first[1]!r}"
            return None, (UNWEIGHTED, f"no header: the first row, {pair}, was read as a pair")
        raise DataError(
            f"{place(frame, 0)}: the file has no header, and its first row contains "
            f"{listed(first)} without a {rule}; add a header such as cue,response,{rule}"
        )
    weight, names = find(frame, "strength", name, ends, usual=STRENGTHS[rule]), list(frame.columns)
    no_values = {*ROW_NUMBERS, *USUAL["participant"]}
    spare = [names[c] for c in numbers if folded(names[c]) not in no_values]
    if weight is None and (spare or rule != "strength") and "objects" not in frame.attrs:
        raise DataError(
            f"{frame.attrs['source']} has no column of values ({rule}); its columns are "
            f"{listed(names)}. Name one as {setting('strength')}"
            f"{f' (perhaps {spare[0][:60]!r})' if spare else ''}, omit columns of numbers to "
            f"count every pair once{TRIALS}"
        )
    return weight, (UNWEIGHTED,) if weight is None else ()


def edges_of(graph: Any) -> pd.DataFrame:
    """Return two columns of labels and a column for each attribute of the edges of a graph.

    The weight is the attribute named by the user, then "weight", then an attribute with a usual
    name of strengths. An edge without this attribute has weight 1.

    Raises
    ------
    DataError
        If two nodes have the same label.
    """
    import networkx

    labels = {node: cell_label(node) for node in graph.nodes}
    source = graph.graph.get("source", "the graph")
    check_labels(list(labels.values()), len(labels), "node", source=source)
    both_ways = graph if graph.is_directed() else graph.to_directed()
    # Attributes have other names.
    frame = networkx.to_pandas_edgelist(both_ways, source=" cue", target=" response")
    for end in (0, 1):
        frame.isetitem(end, frame.iloc[:, end].map(labels))
    frame = frame.fillna(dict.fromkeys(frame, 1) | graph.graph.get("edge_default", {}))
    return described(frame, source, objects=() if graph.is_directed() else tuple(labels.values()))


def matrix_from(data: Any, labels: Sequence[str] | None = None, rule: str = "value") -> Table:
    """Return a square matrix as checked sparse values with NaN for missing values, and labels.

    Parameters
    ----------
    data : Table, Counts, array or sparse array
        Matrix, with its diagonal.
    labels : sequence of str, optional
        Labels that replace those of the rows. Objects without labels are "0", "1", ...
    rule : {"value", "similarity"}
        Allowed values: finite numbers of at least 0, or any finite numbers.

    Raises
    ------
    DataError
        If the values are not a square matrix of such numbers, or if the labels do not match the
        matrix, or differ between rows and columns.
    """
    if isinstance(data, Counts):
        sides = (data.row_labels, data.column_labels)
        data = Table(data.values, *sides, data.report.source, notes=(RAW_COUNTS,))
    table = data if isinstance(data, Table) else Table(data, source="the matrix")
    source, values = table.source, checked_table(table.values, table.source)
    n, n_columns = values.shape
    if n != n_columns:
        raise DataError(
            f"{source}: the matrix is not square ({n:,} x {n_columns:,}); similarities need one "
            "row and one column per object"
        )
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    rows, columns = (side and list(map(str, side)) for side in (table.labels, table.columns))
    check_agreement(rows or (), columns or (), f"{source}: ")
    names = list(labels or rows or columns or map(str, range(n)))
    check_labels(names, n, "object", source=source, named=True)
    check_cells(matrix, *RULE_OF[rule], source=source, labels=(names, names))
    matrix.eliminate_zeros()
    return replace(table, values=matrix, labels=names)


def _table_in(frame: pd.DataFrame, rule: str) -> Table:
    """Return the square table in a frame, with labels in its first row and column or without."""
    has_header = frame.attrs["header"]
    label, blank = square_part(frame) or (0 if has_header and is_text(frame) else None, None)
    at = [] if label is None else [label]
    columns = range(len(at), frame.shape[1])
    values = numbers_of(frame, columns, rule, at)
    if blank is not None:
        values = np.insert(values, blank, np.nan, axis=0)
    rows = None if label is None else labels_of(frame, label).tolist()
    names = [frame.columns[c] for c in columns] if has_header else None
    return Table(values, rows, names, frame.attrs["source"], notes=frame.attrs["notes"])


def square_part(frame: pd.DataFrame) -> tuple[int | None, int | None] | None:
    """Return the column of labels and the blank row of a square table, or None for another table.

    Each is None if the table does not have it. In a square table, rows and columns have most labels
    in common, or there are as many numbers in each row as rows. The first header cell may be empty,
    contain a word, or be missing (as in files from R), and the column of labels may be missing. The
    first or last row of a triangle without diagonal is blank.
    """
    (n, width), names, has_header = frame.shape, list(frame.columns), frame.attrs["header"]
    if not is_text(frame) and list(map(cell_label, frame.index)) == names:
        return None, None
    if has_header:
        rows = labels_of(frame, 0).tolist()
        if rows == names[1:] and width > 2:
            return 0, None
        if has_pair_header(names):
            return None
        if 2 * len(set(rows) & set(names[1:])) >= n > 1:
            return 0, None
    if width not in (n, n + 1) or width < (3 if has_header else 4):
        return None
    values = numbers_of(frame, range(width))
    if np.isinf(values).any():
        return None
    if width == n:
        return None, None
    known = (~np.isnan(values)).sum(axis=1).tolist()
    triangle = list(range(1, width))
    if has_header and known in (triangle, triangle[::-1]):
        return None, 0 if known == triangle else n
    return None


def associate(matrix: Table, rules: Rules) -> Associations:
    """Apply pair rules to a square matrix, whose diagonal contains self-pairs."""
    labels, notes = tuple(matrix.labels or ()), matrix.notes
    values, missing = known_pairs(matrix.values)
    cells, n = values.tocoo(), len(labels)
    if missing is not None:
        notes += (
            f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: these pairs are unknown and do "
            "not count in a fit (write 0 for a pair without any similarity)",
        )
    pairs = NumberedPairs(
        labels=labels,
        n_cues=n,
        cue=cells.row,
        response=cells.col,
        values=cells.data,
        source=matrix.source,
        where=lambda k: f"{matrix.source}, row {cells.row[k] + 1}",
        similarities=True,
        n_read=int(cells.nnz),
        notes=notes,
    )
    return replace(apply_rules(pairs, rules), missing=missing)
