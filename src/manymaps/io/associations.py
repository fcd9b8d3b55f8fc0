"""Similarity data as people have it -> `Associations`.

    edge list     cue, response, strength (or count) on each row: text, Parquet, frame
    trials        a person, a cue and the answers on each row (`manymaps.io.trials`), counted
    matrix        a square table: labelled text, NPY, NPZ, MatrixMarket, array, frame
    graph         nodes and weighted edges (`manymaps.io.graphs`): GraphML, networkx, igraph

What becomes of the pairs (dropped, merged, scaled) is the same for all and stands in
`manymaps.data.pair_rules`; how text is split into rows stands in `manymaps.io.tables`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reader
from manymaps.data.associations import Associations
from manymaps.data.pair_rules import Rules, split_responses
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import ColumnNames, Columns, find_columns, folded, has_pair_header
from manymaps.io.files import PAIRS, Sample, sampled, suffix_of
from manymaps.io.graphs import graph_pairs, is_graph, is_spaced, read_graphml, with_tabs
from manymaps.io.kinds import PAIR_FORMATS, asked_format
from manymaps.io.matrices import (
    LabelledMatrix,
    ValueRule,
    labelled_matrix,
    looks_like_matrix,
    read_array,
    read_labels,
    read_text_matrix,
)
from manymaps.io.pairs import Pairs, associate, associate_matrix, named_by
from manymaps.io.tables import (
    FrameTable,
    Layout,
    Table,
    TextTable,
    frame_table,
    is_number,
    parquet_table,
    read_text,
)
from manymaps.io.trial_columns import TrialNames
from manymaps.io.trials import Balance, holds_trials, is_trial_frame, read_trials, trials_from
from manymaps.labels import listed

__all__ = ["associations_from", "read_associations", "read_entries"]

ARRAYS = ("npy", "npz", "mtx")
# Indices of two objects, and perhaps a number, with spaces between them, on the first two lines.
SPACED = re.compile(rb"(\s*\d+ +\d+( +[-+.\deE]+)?[ \r]*(\n|$)){2}")
CONTAINERS = (*ARRAYS, "parquet", "graphml")
UNWEIGHTED = "no column of strengths: every pair counts one"
NO_FRAME = (
    "associations cannot be made from an object of type {}; give a data frame of pairs, a graph of "
    "networkx or igraph, or a square matrix (for a file there is read_associations)"
)


@reader("associations")
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
) -> Associations:
    """Read associations from an edge list, a graph, a square matrix, or raw trials.

    Edge lists are CSV, TSV or TXT (split at commas, semicolons, tabs or bars, found by content)
    or Parquet, with or without a header; pairs without a strength count one each. Files that end in
    .edgelist or .ncol are split at spaces, as networkx and igraph write them. GraphML is read with
    edges of either kind, an undirected one as a pair in both directions. Matrices are
    CSV or TSV with labels in the first row and column, NPY, NPZ (of `scipy.sparse.save_npz`, or
    of `numpy.savez` with `labels`) or MatrixMarket; a cell that is empty, a point, NA or NaN is a
    pair that was not judged (`Associations.missing`). Trials have a row for each person and cue,
    with the answers in columns such as R1, R2 and R3 (`read_trials`); they are counted. Any of
    them may be packed by gzip, bzip2 or xz. Text is UTF-8 (or UTF-16 with its mark). Words are kept
    as they are written but for surrounding white space; NA, NAN, NULL and TRUE are words.

    Parameters
    ----------
    path : path
    cue, response, strength : str, optional
        Column names. Without them the usual names are found in any case: cue, source, from,
        word1; response, target, to, word2; strength, FSG, R123.Strength, weight, value,
        similarity; then count, #P, R123. Strengths win over counts. Of trials `response` may name
        several columns, "R1,R2,R3"; of GraphML `strength` is the attribute of the edges that holds
        their weights.
    format : {"edges", "matrix", "trials", "csv", "tsv", "parquet", "npy", "npz", "mtx", \
    "graphml", "edgelist"}, optional
        Overrides what the name and the content of the file say.
    responses : {"drop", "keep", "keep:N"}
        Responses that are never cues are left out, or become objects with empty rows; with "keep:5"
        those that at least 5 different cues gave. Of the USF norms "drop" leaves an eighth of
        the pairs out. Of trials also which answers count, "R1", "R12" or "R123" (all, as without),
        by itself or before a comma, "R1,keep:5"; of strengths by both, as SWOW has them, which.
    rows : {"renormalize", "keep"}
        Rows are scaled to sum to 1; or they keep their missing mass: strengths stay as they are,
        counts are divided by the cue's total (dropped responses included), and so are rows that
        sum to more than 1. The values of a matrix are kept untouched, as a joint model of a
        symmetric similarity needs them.
    self_pairs : {"drop", "error"}
        Pairs of a word with itself (a matrix's diagonal) are left out, or refused.
    labels : path or sequence of str, optional
        A file of one label a line, or the labels. Of a matrix ("0", "1", ... without), or of a list
        of pairs of numbers, which are then places among the labels: from 0 where one is 0, else
        from 1.
    participant : str, optional
        Of trials: the column of who answered, where it is not found by its name.
    fold : bool
        Whether labels are the same in any case and with any space; they are then in lower case.
    where : str, optional
        Of trials: whose, such as `age < 30 and gender == Fe` (`Trials.where`).
    balance : int or "least", optional
        Of trials: how many participants each cue has (`Trials.balanced`, with the seed 0).

    Returns
    -------
    Associations
        Its `report` says what was read, merged and dropped; of counts its `n_responses` how many
        responses of each cue were kept (with rows="keep" how many it has in all).

    Raises
    ------
    DataError
        Where the file cannot be used; the message names file, line and value.
    ParameterError
        Where an option has an unknown value.
    FileNotFoundError
        Where there is no such file.
    ImportError
        If Parquet is read without pyarrow, or GraphML without networkx.

    See Also
    --------
    associations_from, read_trials, read_similarities, Associations

    Notes
    -----
    A file holds at most 10 million different words; a line of a text has at most 16 MiB and a cell
    131,072 characters.

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
    first, kept = split_responses(responses)
    rules = Rules(kept, rows, self_pairs)
    names = TrialNames(cue, response, participant)
    sample = sampled(path)
    if strength is None and labels is None and holds_trials(sample, names, format):
        trials = read_trials(
            sample,
            cue=cue,
            response=response,
            participant=participant,
            format=format,
            fold=fold,
            where=where,
            balance=balance,
        )
        return trials.associations(responses, rows=rows, self_pairs=self_pairs)
    _refuse_of_pairs(str(path), participant=participant, where=where, balance=balance)
    if first is not None and strength is None:
        strength = _strengths_of(sample, responses, first)
    columns = ColumnNames(cue, response, strength)
    entries = read_entries(sample, columns, format=format, labels=labels)
    if isinstance(entries, LabelledMatrix):
        return associate_matrix(entries, rules)
    return associate(entries.folded() if fold else entries, rules)


def _strengths_of(sample: Sample, responses: str, first: int) -> str:
    """The column of strengths over the first answers, as SWOW calls it, of a file that has one."""
    column = f"R{'123456789'[:first]}.Strength"
    if sample.container() == "parquet":
        return column  # its reader names the columns that there are
    head = sample.lines.split(b"\n")[0].decode("utf-8", "replace")
    if folded(column) not in map(folded, re.split("[\t,;|]", head.replace('"', ""))):
        raise ParameterError(
            f"says which answers of a trial count, and {sample} has neither trials (a row for each "
            f"person and cue, with R1, R2, ...) nor a column {column!r}",
            name="responses",
            value=responses,
        )
    return column


def _refuse_of_pairs(source: str, **options: Any) -> None:
    """Refuse what is only known of trials."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"is of trials, and {source} has no row for each person and cue, with columns such "
                "as participantID, cue, R1, R2 and R3",
                name=name,
                value=value,
            )


def read_entries(
    path: str | os.PathLike[str],
    names: ColumnNames,
    *,
    format: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    rule: ValueRule = "strengths",
) -> LabelledMatrix | Pairs:
    """What a file holds, a matrix or a list of pairs, before any rule on pairs.

    Parameters and errors are those of `read_associations`; the rule says what the values of a
    matrix may be (`manymaps.io.matrices`).
    """
    asked_format(format, PAIR_FORMATS)
    sample = sampled(path)
    source, file = str(sample), sample.path
    kind = format if format in CONTAINERS else sample.container()
    object_labels = None if labels is None else read_labels(labels)
    if kind in ARRAYS:
        return read_array(file, kind, object_labels, rule)
    if kind == "h5ad":
        raise DataError(
            f"{source} is an .h5ad file, from which vectors and counts are read, not similarities"
        )
    if kind == "graphml":
        _refuse_for_graphs(names, object_labels, source)
        return read_graphml(file, names.strength)
    table: Table
    if kind == "parquet":
        table = parquet_table(sample)
    else:
        is_spaced_list = is_spaced(suffix_of(file), format)
        table = read_text(
            sample, _layout(names, is_spaced_list), "tsv" if is_spaced_list else format
        )
        is_list = is_spaced_list or format == "edges" or names.any_given
        if format == "matrix" or (not is_list and _looks_like_matrix(table, object_labels)):
            return read_text_matrix(table, object_labels, rule)
    pairs = table_pairs(table, names)
    return pairs if object_labels is None else named_by(pairs, object_labels)


def _layout(names: ColumnNames, is_spaced_list: bool) -> Layout:
    """A text of pairs or of a matrix."""
    return Layout(
        PAIRS,
        "Separate cue, response and strength by tabs or commas",
        lambda table: has_pair_header(table.head[0], names) or looks_like_matrix(table.head),
        SPACED.match,
        with_tabs if is_spaced_list else bytes,
    )


def _refuse_for_graphs(names: ColumnNames, given: Sequence[str] | None, source: str) -> None:
    """Refuse what names columns or objects that a graph has names for."""
    if names.cue is not None or names.response is not None:
        raise ParameterError(
            f"{setting('cue')} and {setting('response')} name columns, and {source} is a "
            "graph, whose edges have "
            f"their own ends; {setting('strength')} names the attribute of their weights"
        )
    if given is not None:
        raise ParameterError(
            f"{setting('labels')} is for a matrix, and {source} is a graph with its own"
        )


def _looks_like_matrix(table: TextTable, given: Sequence[str] | None) -> bool:
    """Whether the first rows are those of a matrix; beside labels, of what is no list of places."""
    head = table.head
    if given is None:
        return looks_like_matrix(head)
    of_places = all(
        len(row) in (2, 3) and row[0].isdecimal() and row[1].isdecimal() for row in head
    )
    return not of_places or len(head) == len(head[0])


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
    """Associations from a data frame, a graph or a matrix in memory.

    Parameters
    ----------
    data : frame, graph, matrix or Trials
        A pandas, polars or pyarrow frame of pairs, with columns as for `read_associations`, or of
        trials (`trials_from` filters them before they are counted); a pandas frame whose index and
        columns are the same labels; a graph of networkx or igraph (each undirected edge counts in
        both directions; an edge without a weight counts 1; of igraph the attribute "name", "label"
        or "word" gives the labels); or a square array, dense or sparse.
    cue, response, strength : str, optional
        Column names; for a graph, `strength` is the edge attribute.
    responses, rows, self_pairs, labels
        As for `read_associations`; an undirected graph is treated like a matrix.

    Returns
    -------
    Associations

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
    given = None if labels is None else read_labels(labels)
    if sparse.issparse(data) or isinstance(data, np.ndarray | list | tuple):
        return associate_matrix(labelled_matrix(data, given, "the matrix"), rules)
    if given is not None:
        raise ParameterError(
            f"{setting('labels')} is for a matrix; graphs and frames have their own"
        )
    if is_graph(data):
        return associate(graph_pairs(data, strength), rules)
    if not names.any_given and _is_square_frame(data):
        index = [str(label).strip() for label in data.index]
        return associate_matrix(labelled_matrix(data.to_numpy(), index, "the frame"), rules)
    if strength is None and is_trial_frame(data, TrialNames(cue, response)):
        trials = trials_from(data, cue=cue, response=response)
        return trials.associations(responses, rows=rows, self_pairs=self_pairs)
    return associate(table_pairs(frame_table(data, "the frame", NO_FRAME), names), rules)


def table_pairs(table: Table, names: ColumnNames) -> Pairs:
    """The pairs of a table, with or without a header."""
    try:
        columns, header, notes = _pair_columns(table, names)
    except DataError:
        # A name that cannot be decoded is not found either, however it is typed.
        if isinstance(table, TextTable):
            table.check_decoded(table.first_line, *table.head[0])
        raise
    needed = max(columns.cue, columns.response, columns.strength or 0) + 1
    ends = (columns.cue, columns.response)
    cells = table.read(ends, columns.strength, header=header, needed=needed)
    if cells.n_headers:
        notes += (f"{cells.n_headers} repeated headers left out",)
    return Pairs(cells, table.source, notes=notes)


def _pair_columns(table: Table, names: ColumnNames) -> tuple[Columns, bool, tuple[str, ...]]:
    """Columns of a table of pairs, whether its first row is a header, and what to note."""
    first = table.head[0]
    if isinstance(table, FrameTable) or names.any_given or has_pair_header(first, names):
        # pandas numbers the rows under an empty name.
        numeric = [name != "" and number for name, number in zip(first, table.numeric, strict=True)]
        columns, notes = _named_columns(first, numeric, names, table.source)
        return columns, True, notes
    place = f"{table.source}, line {table.first_line}"
    if len(first) < 2:
        raise DataError(
            f"{place} holds {first[0][:60]!r} alone where later lines have several columns; take "
            "titles and comments above the header out"
        )
    if len(first) == 2:
        note = (
            f"no header: the first row, {first[0][:60]!r} and {first[1][:60]!r}, was read as a pair"
        )
        return Columns(0, 1, None), False, (UNWEIGHTED, note)
    if is_number(first[2]):
        return Columns(0, 1, 2), False, ("no header: columns read as cue, response, strength",)
    if any(map(is_number, first)):
        raise DataError(
            f"{place}: the file has no header, and its third column holds {first[2][:60]!r}, not a "
            "strength; add a header such as cue,response,strength"
        )
    return find_columns(first, names, table.source), True, ()


def _named_columns(
    header: Sequence[str], numeric: Sequence[bool], names: ColumnNames, source: str
) -> tuple[Columns, tuple[str, ...]]:
    """The columns of pairs under a header, and what to note where there are no strengths.

    A column of numbers under an unknown name may be the strengths; guess neither way.
    """
    columns = find_columns(header, names, source)
    if columns.strength is not None:
        return columns, ()
    spare = [
        name
        for i, (name, is_numeric) in enumerate(zip(header, numeric, strict=False))
        if is_numeric and i not in (columns.cue, columns.response)
    ]
    if spare:
        raise DataError(
            f"{source} has no column of strengths; its columns are {listed(header)}. Name one as "
            f"{setting('strength')} (perhaps {spare[0][:60]!r}), or leave columns of "
            "numbers out to count "
            "every pair once"
        )
    return columns, (UNWEIGHTED,)


def _is_square_frame(data: Any) -> bool:
    """Whether a pandas frame has the same labels on its rows and columns."""
    if not hasattr(data, "iloc") or data.shape != (len(data), len(data)) or len(data) < 2:
        return False
    return list(map(str, data.index)) == list(map(str, data.columns))
