"""Readers that convert similarity data in common formats to `Associations`.

    edge list     cue, response, strength (or count) on each row: text, Parquet, frame
    trials        a participant, a cue and the answers on each row (`manymaps.io.trials`), counted
    matrix        a square table: labelled text, NPY, NPZ, MatrixMarket, array, frame
    graph         nodes and weighted edges (`manymaps.io.graphs`): GraphML, networkx

A file is opened as a frame, a graph or a matrix, and then read like an object in memory. The rules
for dropping, merging and scaling pairs are the same for all formats (`manymaps.data.pair_rules`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.checks import check_labels
from manymaps.data.associations import Associations, known_pairs
from manymaps.data.counts import Counts
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules, split_responses
from manymaps.data.tables import Labels, is_number, names_of, place, source_of
from manymaps.data.trials import Trials
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.columns import (
    NAMES,
    RULE_OF,
    checked_frame,
    find,
    find_needed,
    folded,
    has_pair_header,
    head_of,
    is_text,
    labels_of,
    numbers_of,
    numeric_columns,
)
from manymaps.io.files import CONTAINERS, PAIRS, read_labels, suffix_of
from manymaps.io.frames import read_frame, without_header
from manymaps.io.graphs import edges_of, is_graph, read_graphml
from manymaps.io.matrices import (
    LabelledMatrix,
    is_matrix,
    matrix_from,
    matrix_in,
    read_array,
)
from manymaps.io.missing_answers import missing_answers
from manymaps.io.trial_columns import has_trials
from manymaps.io.trials import trials_from
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

# The sum of 10 million such counts is exact in float64.
MOST_COUNTED = 2**29
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
    responses: str = "drop",
    rows: str = "renormalize",
    self_pairs: str = "drop",
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    missing: str | Sequence[str] | None = None,
) -> Associations:
    """Read associations from an edge list, a graph, a square matrix, or raw trials.

    The suffix of the file and the names of its columns determine how it is read:

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
    return associations_from(
        opened(path, labels),
        cue=cue,
        response=response,
        strength=strength,
        responses=responses,
        rows=rows,
        self_pairs=self_pairs,
        labels=labels,
        participant=participant,
        fold=fold,
        where=where,
        missing=missing,
    )


def opened(
    path: str | os.PathLike[str],
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    rule: str = "strength",
) -> Any:
    """Return the frame, the graph or the matrix in a file."""
    path = Path(path)
    kind = CONTAINERS.get(suffix_of(path))
    if kind == "graphml":
        return read_graphml(path)
    if kind in ("npy", "npz", "mtx"):
        return read_array(path, kind, None if labels is None else read_labels(labels), rule)
    return read_frame(path, PAIRS)


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
    participant: str | None = None,
    fold: bool = False,
    where: str | None = None,
    missing: str | Sequence[str] | None = None,
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
    responses, rows, self_pairs, labels, participant, fold, where, missing
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
    of_trials: dict[str, Any] = {"participant": participant, "where": where}
    if isinstance(data, Trials):
        given = (cue, response, strength, labels, missing, *of_trials.values())
        if fold or any(value is not None for value in given):
            raise ParameterError(
                "options of reading do not apply to Trials; pass them to read_trials or trials_from"
            )
        return data.associations(responses, rows=rows, self_pairs=self_pairs)
    first, rule = split_responses(responses)
    rules = Rules(rule, rows, self_pairs)
    is_table = not is_square(data)
    if is_table:
        data = checked_frame(data, NO_FRAME)
        # A frame contains pairs if the user names a column of strengths.
        if strength is None and labels is None and has_trials(data, cue, response, participant):
            of_trials |= {"cue": cue, "response": response, "fold": fold, "missing": missing}
            trials = trials_from(data, **of_trials)
            return trials.associations(responses, rows=rows, self_pairs=self_pairs)
    if first is not None:
        # Files of strengths by Small World of Words have a column for each number of answers.
        strength = f"R{'123456789'[:first]}.Strength"
        has_column = is_table and folded(strength) in map(folded, names_of(data))
        of_trials["responses"] = None if has_column else responses
    for name, value in of_trials.items():
        if value is not None:
            raise ParameterError(
                f"applies to trials only, and {_source(data)} does not have a row per participant "
                "and cue, with columns such as participantID, cue, R1, R2 and R3",
                name=name,
                value=value,
            )
    columns = {"cue": cue, "response": response, "strength": strength}
    return associate(entries_in(data, columns, labels, fold=fold, missing=missing), rules)


def is_square(data: Any) -> bool:
    """Return whether an object is a matrix or a graph, and not a frame of pairs."""
    kinds = (LabelledMatrix, Counts, np.ndarray, list, tuple)
    return isinstance(data, kinds) or sparse.issparse(data) or is_graph(data)


def _source(data: Any) -> str:
    """Return the name of the file of a frame or a matrix."""
    return source_of(data) if hasattr(data, "attrs") else getattr(data, "source", "the data")


def entries_in(
    data: Any,
    columns: Mapping[str, str | None],
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    *,
    rule: str = "strength",
    fold: bool = False,
    missing: str | Sequence[str] | None = None,
) -> LabelledMatrix | NumberedPairs:
    """Return the matrix or the pairs in an object, before pair rules are applied.

    Parameters
    ----------
    data : object
        Frame, graph or matrix.
    columns : mapping of str to str or None
        Names of the columns "cue", "response" and "strength" from the user.
    labels, fold, missing
        See `read_associations`.
    rule : {"strength", "similarity"}
        Allowed values.
    """
    object_labels = None if labels is None else read_labels(labels)
    data = edges_of(data) if is_graph(data) else data
    if is_square(data):
        matrix = matrix_from(data, object_labels, rule)
    elif any(columns.values()) or not is_matrix(data, object_labels):
        return pairs_in(data, columns, object_labels, rule=rule, fold=fold, missing=missing)
    else:
        matrix = matrix_in(data, object_labels, rule)
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
    labels: Sequence[str] | None = None,
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

    frame, ends, weight, notes = _pair_columns(frame, columns)
    notes += tuple(frame.attrs.get("notes", ()))
    objects = frame.attrs.get("objects") or ()
    values = np.ones(len(frame))
    if weight is not None:
        values = numbers_of(frame, [weight], RULE_OF[rule], ends)[:, 0]
    words = [labels_of(frame, c) for c in ends]
    if labels is not None:
        words, note = _named_by(words, labels, frame)
        notes += (note,)
    if fold:
        words = [column.folded() for column in words]
    is_named = words[0].mask(bool) & words[1].mask(bool)
    left_out = {"empty label": int(np.count_nonzero(~is_named))}
    if left_out["empty label"] and rule == "similarity":
        where = place(frame, int(np.argmin(is_named)))
        raise DataError(f"{where}: a label is empty; fill it in")
    if rule == "strength" and frame.attrs.get("objects") is None:
        answers, codes = words[1]
        # Strengths are not counts, and larger numbers could overflow.
        are_counts = (np.floor(values) == values) & (np.abs(values) < MOST_COUNTED)
        weights = values if are_counts.all() else None
        counts = np.bincount(codes, weights, len(answers)).astype(np.int64)
        dropped, found = missing_answers(answers, counts, missing)
        notes += found
        if dropped.any():
            left_out["missing answer"] = int(np.count_nonzero(is_named & dropped[codes]))
            is_named &= ~dropped[codes]
    rows = np.flatnonzero(is_named)
    known = np.array(objects, object)
    cells = [np.array(column.texts, object)[column.codes[rows]] for column in words]
    codes, distinct = pd.factorize(np.concatenate([known, *cells]))
    cue, response = np.split(codes[len(known) :].astype(np.int32), 2)
    return NumberedPairs(
        labels=tuple(distinct.tolist()),
        n_cues=int(codes[: len(known) + len(rows)].max(initial=-1)) + 1,
        cue=cue,
        response=response,
        values=values[rows],
        source=source_of(frame),
        where=lambda k: place(frame, int(rows[k])),
        similarities=bool(objects),
        n_read=len(frame),
        left_out={reason: n for reason, n in left_out.items() if n},
        notes=notes,
    )


def _pair_columns(
    frame: pd.DataFrame, columns: Mapping[str, str | None]
) -> tuple[pd.DataFrame, tuple[int, int], int | None, tuple[str, ...]]:
    """Return a frame with the positions of the cue, response and strength, and notes."""
    # Two words without a usual name are a pair.
    is_pair = is_text(frame) and frame.shape[1] == 2 and not any(columns.values())
    if is_pair and frame.attrs["header"] and not has_pair_header(names_of(frame)):
        frame = without_header(frame)
    if not frame.attrs.get("header", True):
        first = head_of(frame)[0]
        if len(first) == 2:
            pair = f"{first[0][:60]!r} and {first[1][:60]!r}"
            note = f"no header: the first row, {pair}, was read as a pair"
            return frame, (0, 1), None, (UNWEIGHTED, note)
        if is_number(first[2]):
            return frame, (0, 1), 2, ("no header: columns read as cue, response, strength",)
        raise DataError(
            f"{place(frame, 0)}: the file has no header, and its third column contains "
            f"{first[2][:60]!r} instead of a strength; add a header such as cue,response,strength"
        )
    cue = find_needed(frame, "cue", columns["cue"])
    ends = (cue, find_needed(frame, "response", columns["response"], [cue]))
    usual = NAMES["strength"] + NAMES["count"]
    weight = find(frame, "strength", columns["strength"], ends, usual=usual)
    if weight is not None:
        return frame, ends, weight, ()
    # pandas writes row numbers in a column with an empty name.
    numeric = zip(names_of(frame), numeric_columns(frame), strict=True)
    spare = [name for c, (name, is_one) in enumerate(numeric) if is_one and name and c not in ends]
    if spare and "objects" not in frame.attrs:
        raise DataError(
            f"{source_of(frame)} has no column of strengths; its columns are "
            f"{listed(names_of(frame))}. Name one as {setting('strength')} (perhaps "
            f"{spare[0][:60]!r}), or omit columns of numbers to count every pair once"
        )
    return frame, ends, None, (UNWEIGHTED,)


def _named_by(
    words: Sequence[Labels], labels: Sequence[str], frame: pd.DataFrame
) -> tuple[list[Labels], str]:
    """Replace numbers in pairs by the labels at these positions, which start at 0 or 1.

    Raises
    ------
    DataError
        If a number is not the position of a label, or if a label occurs twice.
    ParameterError
        If the pairs contain words.
    """
    check_labels(labels, len(labels), "object", source=source_of(frame))
    texts = {text for column in words for text in column.texts}
    if not is_text(frame) or not any(map(str.isdecimal, texts)):
        raise ParameterError(
            f"{setting('labels')} applies to matrices and to pairs of whole numbers, but "
            f"{source_of(frame)} is a list of pairs of words"
        )
    # Programs count from 0 or from 1. If position 0 occurs, counting starts at 0.
    start = 0 if "0" in texts else 1
    label_at = {str(i): label for i, label in enumerate(labels, start)}
    for column in words:
        wrong = np.flatnonzero(column.mask(lambda text: text not in label_at))
        if wrong.size:
            raise DataError(
                f"{place(frame, wrong[0])}: {column.cells()[wrong[0]][:60]!r} is not the position "
                f"of a label; with {setting('labels')}, pairs must be whole numbers, here from "
                f"{start} to {len(labels) - 1 + start}"
            )
    note = f"numbers from {start} were replaced by the {len(labels):,} labels at these positions"
    return [Labels([label_at[text] for text in c.texts], c.codes) for c in words], note


def associate(entries: LabelledMatrix | NumberedPairs, rules: Rules) -> Associations:
    """Apply pair rules to pairs, or to a square matrix, whose diagonal contains self-pairs."""
    if isinstance(entries, NumberedPairs):
        return apply_rules(entries, rules)
    values, missing = known_pairs(entries.values)
    cells, n, notes = values.tocoo(), len(entries.labels), entries.notes
    if missing is not None:
        notes += (
            f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: these pairs are unknown and do "
            "not count in a fit (write 0 for a pair without any similarity)",
        )
    pairs = NumberedPairs(
        labels=entries.labels,
        n_cues=n,
        cue=cells.row,
        response=cells.col,
        values=cells.data,
        source=entries.source,
        where=lambda k: f"{entries.source}, row {cells.row[k] + 1}",
        similarities=True,
        n_read=int(cells.nnz),
        notes=notes,
    )
    return replace(apply_rules(pairs, rules), missing=missing)
