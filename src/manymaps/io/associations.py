"""Readers that convert similarity data in common formats to `Associations`.

    edge list     cue, response, strength (or count) on each row: text, Parquet, frame
    trials        a participant, a cue and the answers on each row (`manymaps.io.trials`), counted
    matrix        a square table: labelled text, NPY, NPZ, MatrixMarket, array, frame
    graph         nodes and weighted edges (`manymaps.io.graphs`): GraphML, networkx

The rules for dropping, merging and scaling pairs are the same for all formats and are described in
`manymaps.data.pair_rules`. The module `manymaps.io.tables` splits text into rows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.data.counts import Counts
from manymaps.data.pair_rules import Rules, split_responses
from manymaps.data.tables import is_number, place
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    COUNT,
    GROUP_SIZE,
    PAIR_ROLES,
    STRENGTH,
    ColumnNames,
    find_roles,
    folded,
    has_pair_header,
    usual_column,
)
from manymaps.io.files import PAIRS, sampled
from manymaps.io.frames import usual_header
from manymaps.io.graphs import graph_pairs, is_graph, read_graphml
from manymaps.io.kinds import PAIR_FORMATS, asked_format
from manymaps.io.matrices import (
    LabelledMatrix,
    ValueRule,
    is_matrix,
    labelled_matrix,
    matrix_of_counts,
    read_array,
    read_labels,
    read_text_matrix,
)
from manymaps.io.pairs import Pairs, associate, associate_matrix, named_by
from manymaps.io.tables import RULE_OF, Table, frame_table, read_table
from manymaps.io.trial_columns import TrialNames
from manymaps.io.trials import Balance, has_trials, table_trials
from manymaps.labels import listed

ARRAYS = ("npy", "npz", "mtx")
CONTAINERS = (*ARRAYS, "parquet", "graphml")
# Columns of the cue, response and strength, and notes.
PairColumns: TypeAlias = tuple[tuple[int, int, int | None], tuple[str, ...]]
UNWEIGHTED = "no column of strengths: every pair counts one"
NO_FRAME = (
    "cannot make associations from an object of type {}; pass a data frame of pairs, a graph of "
    "networkx, or a square matrix (use read_associations for a file)"
)


def read_associations(
    path: str | os.PathLike[str],
    *,
    cue: str | None = None,
    response: str | None = None,
    strength: str | None = None,
    format: str | None = None,
    responses: str = "drop",
    rows: str = "renormalize",
    self_pairs: str = "drop",
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    balance: Balance = None,
    missing: str | Sequence[str] | None = None,
) -> Associations:
    """Read associations from an edge list, a graph, a square matrix, or raw trials.

    The format is inferred from the content of the file:

    - An edge list is text or Parquet, with or without a header. Text is split at commas,
      semicolons, tabs or vertical bars, depending on its content. Each pair without a strength has
      a count of 1.
    - A graph is a GraphML file. An undirected edge becomes a pair in both directions.
    - A matrix is CSV or TSV with labels in the first row and column, NPY, NPZ (of
      `scipy.sparse.save_npz`, or of `numpy.savez` with `strengths` and `labels`) or MatrixMarket.
      An empty cell, ".", NA or NaN represents a pair that was not judged (`Associations.missing`).
    - Raw trials have one row per participant and cue, with the answers in columns such as R1, R2
      and R3 (`read_trials`). The answers are counted.

    Text and MatrixMarket files may be compressed (.gz, .bz2, .xz or .zip). Text is encoded in
    UTF-8, in UTF-16 with a byte order mark, or in Windows-1252. Words are read exactly as written,
    without surrounding white space. NA, NAN, NULL and TRUE are words.

    Parameters
    ----------
    path : path
        File to read.
    cue, response, strength : str, optional
        Column names. By default, common names are recognized, ignoring case. The column of cues is
        "cue", "source", "from" or "word1", and the column of responses is "response", "target",
        "to" or "word2". Strengths are in "strength", "FSG", "R123.Strength", "weight", "value" or
        "similarity", or as counts in "count", "#P" or "R123". For trials, `response` may list
        several columns ("R1,R2,R3"). For GraphML, `strength` is the edge attribute that contains
        the weights.
    format : {"edges", "matrix", "trials", "csv", "tsv", "parquet", "npy", "npz", "mtx", \
    "graphml"}, optional
        Format of the file. By default, the name, first bytes and header determine it.
    responses : {"drop", "keep", "keep:N"}
        Treatment of responses that are never cues. "drop" drops them, "keep" keeps them as objects
        with empty rows, and "keep:5" keeps responses that at least 5 different cues evoke. For the
        USF norms, "drop" removes an eighth of the pairs. For trials, "R1", "R12" or "R123" (the
        default) selects the answers to count, and can be combined with a rule, as in "R1,keep:5".
        For strengths of Small World of Words, it selects the column.
    rows : {"renormalize", "keep"}
        Scaling of rows. "renormalize" scales each row to sum to 1. With "keep", the missing mass
        remains missing. Strengths are then unchanged, whereas counts and rows that sum to more than
        1 are divided by the cue's total, including dropped responses. Values of a matrix are
        unchanged, as required for a joint model of symmetric similarities.
    self_pairs : {"drop", "error"}
        Whether to drop pairs of a word with itself (the diagonal of a matrix) or to raise an error.
    labels : path or sequence of str, optional
        Labels of a matrix, or a file with one label per line. The default labels are "0", "1", ...
        If labels are passed for a list of number pairs, the numbers are positions of labels, which
        start at 0 if a 0 occurs, and at 1 otherwise.
    participant : str, optional
        Column of participants, if its name is not recognized (trials only).
    fold : bool
        Whether to ignore case and repeated spaces in labels. If true, labels are converted to lower
        case.
    where : str, optional
        Condition on participants, for example `age < 30 and gender == "Fe"` (see `Trials.where`;
        trials only).
    balance : int or "least", optional
        Number of participants to draw per cue with seed 0 (see `Trials.balanced`; trials only).
    missing : str or sequence of str, optional
        Responses to drop as missing answers, as a list or a text with commas such as "none,?". The
        word "usual" stands for a list with "n/a", "don't know" and others, which the report
        contains. By default, no responses are dropped, and the report counts those in this list.

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
    first, rule = split_responses(responses)
    rules = Rules(rule, rows, self_pairs)
    trial_names = TrialNames(cue, response, participant)
    named = ColumnNames(cue, response, strength)
    table = _opened(path, named, format)
    of_trials: dict[str, Any] = {"participant": participant, "where": where, "balance": balance}
    may_be = table is not None and strength is None and labels is None
    if may_be and format not in ("edges", "matrix"):
        assert table is not None
        if format == "trials" or trial_names.of_trials or has_trials(table, trial_names):
            trials = table_trials(table, trial_names, fold, where, balance, missing)
            return trials.associations(responses, rows=rows, self_pairs=self_pairs)
    for name, value in of_trials.items():
        if value is not None:
            raise ParameterError(
                f"applies to trials only, and {path} does not have a row per participant and cue, "
                "with columns such as participantID, cue, R1, R2 and R3",
                name=name,
                value=value,
            )
    # Files of strengths by Small World of Words have a column for each number of answers.
    if first is not None and strength is None:
        strength = f"R{'123456789'[:first]}.Strength"
        if table is None or folded(strength) not in map(folded, table.names):
            raise ParameterError(
                f"selects answers of trials, and {path} has neither trials (a row per participant "
                f"and cue, with R1, R2, ...) nor a column {strength!r}",
                name="responses",
                value=responses,
            )
        named = ColumnNames(cue, response, strength)
    entries = _entries(path, table, named, format, labels)
    if isinstance(entries, LabelledMatrix):
        if missing is not None:
            raise ParameterError(
                f"applies to lists of responses, and {path} is a matrix",
                name="missing",
                value=missing,
            )
        return associate_matrix(entries, rules)
    if not entries.similarities:
        entries = entries.without_missing(missing)
    return associate(entries.folded() if fold else entries, rules)


def _opened(path: str | os.PathLike[str], names: ColumnNames, format: str | None) -> Table | None:
    """Read the table in a file, or return None for an array, a graph or an annotated matrix."""
    asked_format(format, PAIR_FORMATS)
    sample = sampled(path)
    kind = format if format in CONTAINERS else sample.container()
    if kind not in (None, "parquet"):
        return None

    def is_header(first: Sequence[str]) -> bool:
        # Two words without a known name are a pair.
        is_known = names.any_given or has_pair_header(first, names)
        return is_known or (len(first) != 2 and usual_header(first))

    return read_table(sample, PAIRS, is_header=is_header)


def read_entries(
    path: str | os.PathLike[str],
    names: ColumnNames,
    *,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    rule: ValueRule = "strengths",
) -> LabelledMatrix | Pairs:
    """Read the matrix or the list of pairs in a file, before pair rules are applied.

    The parameters and errors are the same as for `read_associations`. The parameter `rule`
    determines the allowed range of matrix values (see `manymaps.io.matrices`).
    """
    return _entries(path, _opened(path, names, format), names, format, labels, rule)


def _entries(
    path: str | os.PathLike[str],
    table: Table | None,
    names: ColumnNames,
    format: str | None,
    labels: Sequence[str] | str | os.PathLike[str] | None,
    rule: ValueRule = "strengths",
) -> LabelledMatrix | Pairs:
    """Return the matrix or the list of pairs in a table, or else in another file."""
    object_labels = None if labels is None else read_labels(labels)
    if table is not None:
        is_list = format == "edges" or not table.is_text
        if format == "matrix" or not (
            is_list or names.any_given or not _is_matrix(table, object_labels)
        ):
            return read_text_matrix(table, object_labels, rule)
        pairs = table_pairs(table, names)
        return pairs if object_labels is None else named_by(pairs, object_labels)
    sample = sampled(path)
    kind = format if format in CONTAINERS else sample.container()
    if kind == "graphml":
        _check_graph_options(names, object_labels, str(sample))
        return read_graphml(sample.path, names.strength)
    if kind in ARRAYS:
        return read_array(sample.path, str(kind), object_labels, rule)
    article, contents = ("an", "vectors or counts") if kind == "h5ad" else ("a", "counts")
    raise DataError(
        f"{sample} is {article} .{kind} file; expected {PAIRS} (.{kind} files contain {contents})"
    )


def response_columns(
    path: str | os.PathLike[str], names: ColumnNames, format: str | None = None
) -> tuple[str | None, str | None]:
    """Return the columns of counts and of group sizes in an edge list that also has strengths.

    The first name is None if counts are the only numbers of the pairs. Group sizes, such as "#G" in
    the USF norms, are the numbers of participants or responses per cue.
    """
    table = _opened(path, names, format)
    if table is None or not has_pair_header(table.names, names):
        return None, None
    head = table.names
    count, size = usual_column(head, COUNT), usual_column(head, GROUP_SIZE)
    if usual_column(head, STRENGTH) is None:
        count = None
    # A column such as "group" may also contain the names of groups.
    if size is not None and not table.numeric[size]:
        size = None
    return None if count is None else head[count], None if size is None else head[size]


def read_group_sizes(
    path: str | os.PathLike[str],
    names: ColumnNames,
    *,
    format: str | None = None,
    fold: bool = False,
) -> dict[str, int]:
    """Read the group size of each cue from the column `names.strength` of an edge list.

    Raises
    ------
    DataError
        If a group size is not a whole number of at least 1, or if the rows of a cue have different
        group sizes.
    """
    pairs = read_entries(path, names, format=format)
    assert isinstance(pairs, Pairs)
    cells = (pairs.folded() if fold else pairs).cells
    values, cues = cells.checked(RULE_OF["group size"]), cells.columns[0]
    by_cue: dict[str, int] = {}
    for k in np.flatnonzero(~cells.unnamed).tolist():
        cue, size = cues.texts[cues.codes[k]], int(values[k])
        if by_cue.setdefault(cue, size) != size:
            raise DataError(
                f"{cells.where(k)}: the group size of {cue[:60]!r} is {size:,}, but "
                f"{by_cue[cue]:,} in an earlier row; correct the column {names.strength!r}, or use "
                f"{setting('n_responses')} to ignore it"
            )
    return by_cue


def _check_graph_options(names: ColumnNames, labels: Sequence[str] | None, source: str) -> None:
    """Raise a ParameterError for options that do not apply to graphs."""
    if names.cue is not None or names.response is not None:
        raise ParameterError(
            f"{setting('cue')} and {setting('response')} name columns, but {source} is a graph; "
            f"omit them ({setting('strength')} names the attribute of the weights)"
        )
    if labels is not None:
        raise ParameterError(
            f"{setting('labels')} applies to matrices, but {source} is a graph with labels; omit it"
        )


def _is_matrix(table: Table, labels: Sequence[str] | None) -> bool:
    """Return whether a table is a matrix, rather than pairs or positions of `labels`."""
    if labels is None:
        return is_matrix(table)
    are_positions = all(
        len(row) in (2, 3) and row[0].isdecimal() and row[1].isdecimal() for row in table.head
    )
    return not are_positions or len(table) == len(table.names)


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
) -> Associations:
    """Create associations from a data frame, a graph or a matrix in memory.

    Parameters
    ----------
    data : frame, graph, matrix, Counts or Trials
        Data to convert. A pandas, polars or pyarrow frame contains pairs, with columns as for
        `read_associations`, or raw trials, which are counted (`trials_from` can select trials
        first). A matrix is a square dense or sparse array, `Counts` of co-occurrences, or a pandas
        frame with the same labels in its index and columns. In a networkx graph, an undirected edge
        becomes a pair in both directions, and an edge without a weight has weight 1.
    cue, response, strength : str, optional
        Column names. For a graph, `strength` is the edge attribute that contains the weights.
    responses, rows, self_pairs, labels
        See `read_associations`. An undirected graph is treated like a matrix.

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
    if isinstance(data, Trials):
        return data.associations(responses, rows=rows, self_pairs=self_pairs)
    rules = Rules(split_responses(responses)[1], rows, self_pairs)
    names = ColumnNames(cue, response, strength)
    object_labels = None if labels is None else read_labels(labels)
    if sparse.issparse(data) or isinstance(data, np.ndarray | list | tuple):
        return associate_matrix(labelled_matrix(data, object_labels, "the matrix"), rules)
    if isinstance(data, Counts):
        return associate_matrix(matrix_of_counts(data, object_labels), rules)
    if object_labels is not None:
        raise ParameterError(
            f"{setting('labels')} applies to matrices; omit it, because graphs and frames have "
            "labels"
        )
    if is_graph(data):
        return associate(graph_pairs(data, strength), rules)
    if not names.any_given and _is_square_frame(data):
        index = [str(label).strip() for label in data.index]
        return associate_matrix(labelled_matrix(data.to_numpy(), index, "the frame"), rules)
    table = frame_table(data, NO_FRAME)
    if table.is_text and not names.any_given and is_matrix(table):
        return associate_matrix(read_text_matrix(table), rules)
    # A frame contains pairs if the user names a column of strengths, even if it has participants.
    trial_names = TrialNames(cue, response)
    if strength is None and has_trials(table, trial_names):
        trials = table_trials(table, trial_names)
        return trials.associations(responses, rows=rows, self_pairs=self_pairs)
    return associate(table_pairs(table, names), rules)


def table_pairs(table: Table, names: ColumnNames) -> Pairs:
    """Return the pairs of a table, with or without a header."""
    (cue, response, strength), notes = _pair_columns(table, names)
    cells = table.read((cue, response), strength)
    notes += table.notes
    if cells.n_headers:
        notes += (f"{cells.n_headers} repeated headers left out",)
    return Pairs(cells, table.source, notes=notes)


def _pair_columns(table: Table, names: ColumnNames) -> PairColumns:
    """Find the columns of pairs by name or by order."""
    first = table.head[0]
    if table.header:
        return _columns_under_header(table, names)
    where = place(table.frame, 0)
    if len(first) == 2:
        pair = f"{first[0][:60]!r} and {first[1][:60]!r}"
        return (0, 1, None), (UNWEIGHTED, f"no header: the first row, {pair}, was read as a pair")
    if len(first) > 2 and is_number(first[2]):
        return (0, 1, 2), ("no header: columns read as cue, response, strength",)
    raise DataError(
        f"{where}: the file has no header, and its third column contains {first[-1][:60]!r} "
        "instead of a strength; add a header such as cue,response,strength"
    )


def _columns_under_header(table: Table, names: ColumnNames) -> PairColumns:
    """Find the columns of pairs by name.

    If a numeric column has an unknown name, it may or may not contain strengths, and the user must
    decide.
    """
    header = table.head[0]
    cue, response, strength = find_roles(header, PAIR_ROLES, vars(names), table.source)
    assert cue is not None
    assert response is not None
    if strength is not None:
        return (cue, response, strength), ()
    spare = [
        name
        for c, (name, is_numeric) in enumerate(zip(header, table.numeric, strict=True))
        # pandas writes row numbers in a column with an empty name.
        if is_numeric and name and c not in (cue, response)
    ]
    if spare:
        raise DataError(
            f"{table.source} has no column of strengths; its columns are {listed(header)}. Name "
            f"one as {setting('strength')} (perhaps {spare[0][:60]!r}), or omit columns of numbers "
            "to count every pair once"
        )
    return (cue, response, None), (UNWEIGHTED,)


def _is_square_frame(data: Any) -> bool:
    """Return whether the rows and columns of a pandas frame have the same labels."""
    if not hasattr(data, "iloc") or data.shape != (len(data), len(data)) or len(data) < 2:
        return False
    return list(map(str, data.index)) == list(map(str, data.columns))
