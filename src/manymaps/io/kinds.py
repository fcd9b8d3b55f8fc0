"""Detection of the kind of data in a file, by its suffix and the names of its columns.

    a cue and answers in their order, or one answer and a participant               trials
    two columns of words, or a usual header of cue and response                     associations
    equal numbers of rows and columns, with the same labels                         associations
    columns of observations and features, or a first column of observations         counts
    a first column "word", "label", ... or without a name, and numbers              vectors
    two words and a rating under a name that only ratings have                      ratings

A container format is recognized by its first bytes (see `manymaps.io.files`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from manymaps.data.counts import VERSION_KEY
from manymaps.errors import DataError, ParameterError, setting
from manymaps.io.annotated import first_numbers
from manymaps.io.columns import (
    RATED,
    ColumnNames,
    folded,
    has_pair_header,
    is_long_header,
    known_kind,
    usual_column,
)
from manymaps.io.files import SPARSE_PARTS, array_heads, read_arrays, sampled
from manymaps.io.frames import LABEL_NAMES, usual_header
from manymaps.io.matrices import is_matrix, square_part
from manymaps.io.packing import unpacked
from manymaps.io.tables import Table, head_table
from manymaps.io.trial_columns import TrialNames, find_trial_columns
from manymaps.io.word2vec import word_format

Kind: TypeAlias = Literal["associations", "trials", "counts", "vectors", "ratings"]

COUNT_FORMATS = ("edges", "matrix", "csv", "tsv", "parquet", "npy", "npz", "mtx", "h5ad", "biom")
PAIR_FORMATS = (*COUNT_FORMATS[:2], "trials", *COUNT_FORMATS[2:-2], "graphml")
CONTAINERS = ("npy", "npz", "mtx", "h5ad", "biom", "graphml", "parquet")
# Number of values that are tested for being integers, because a table may be larger than memory.
MOST_NUMBERS = 2**16


def asked_format(
    format: str | None, formats: Sequence[str], keyed: Collection[str] = ()
) -> tuple[str | None, str | None]:
    """Split the format named by the user into the format and an optional table name after a colon.

    >>> asked_format("h5ad:raw", COUNT_FORMATS, ("h5ad",)), asked_format(None, PAIR_FORMATS)
    (('h5ad', 'raw'), (None, None))
    """
    if format is None:
        return None, None
    name, colon, key = format.partition(":")
    if name not in formats or (colon and (name not in keyed or not key)):
        such = " or ".join(f"'{each}:NAME'" for each in keyed)
        raise ParameterError(
            f"{setting('format', format)} is not one of {', '.join(map(repr, formats))}"
            + (f", nor of the form {such}" if such else "")
            + "; omit it to infer the format from the name and the content of the file"
        )
    return name, key or None


def kind_of(path: str | os.PathLike[str], format: str | None = None) -> Kind:
    """Return the kind of data in a file.

    Parameters
    ----------
    path : path
    format : str, optional
        Format specified by the user. The result follows from the format if only one kind has it.

    Raises
    ------
    DataError
        If the suffix and the names of the columns do not determine the kind.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manymaps.io.kinds import kind_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairs, counts = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
    ...     _ = pairs.write_text("cue,response,strength\\ntie,knot,.6\\nknot,tie,1\\n")
    ...     _ = counts.write_text("document,word,count\\nd1,tie,2\\nd1,knot,1\\n")
    ...     kind_of(pairs), kind_of(counts)
    ('associations', 'counts')
    """
    name = format or ""
    if name in ("trials", "ratings"):
        return "trials" if name == "trials" else "ratings"
    sample = sampled(path)
    kind = name if name in CONTAINERS else sample.container("vectors") or word_format(sample)
    if kind in ("npy", "npz"):
        return _array_kind(sample.path, kind)
    if kind == "mtx":
        return "counts" if _is_wide_market(sample.path) else "associations"
    if kind == "h5ad":
        return "counts" if _has_integers(sample.path) else "vectors"
    if kind in ("graphml", "biom"):
        return "associations" if kind == "graphml" else "counts"
    if kind in ("text", "binary"):
        return "vectors"
    found = table_kind(head_table(sample, is_header=_is_header), is_list=name == "edges")
    if name in ("edges", "matrix") and found != "counts":
        return "associations"
    if found is None:
        raise DataError(
            f"cannot tell what {path} contains; use manymaps read {path} --kind associations -o "
            "OUT.npz (or --kind counts, vectors, trials), or name its first column 'word' "
            "(vectors), 'site' (counts) or 'cue' (associations)"
        )
    return found


def table_kind(table: Table, *, is_list: bool = False) -> Kind | None:
    """Return the kind of data in a table, or None if its column names do not determine it."""
    first, body = table.head[0], table.head[1:]
    if not table.header:
        return _headerless_kind(table)
    if find_trial_columns(first, body, TrialNames(), table.source) is not None:
        return "trials"
    if usual_column([name.lstrip("# ") for name in first], RATED) is not None:
        return "ratings"
    if has_pair_header(first, ColumnNames()):
        return "associations"
    if is_long_header(first, table.numeric):
        return "counts"
    n_numbers = sum(table.numeric)
    if is_list or table.nested:
        return "vectors" if table.nested else None
    if is_matrix(table):
        return "associations"
    corner = folded(first[0])
    if known_kind(first[0]) is not None and corner not in ("word", "term", "token"):
        return "counts" if n_numbers else None
    has_labels = corner in LABEL_NAMES or (not table.is_text and n_numbers >= len(first) - 1)
    # R and pandas write counts and vectors without a name above the labels.
    is_unclear = corner in ("", "unnamed:0") and not all(name[-1:].isdigit() for name in first[1:])
    return "vectors" if has_labels and n_numbers > 1 and not is_unclear else None


def _headerless_kind(table: Table) -> Kind | None:
    """Return the kind of data in a table without column names: pairs, a matrix or vectors."""
    numeric = table.numeric
    if len(numeric) == 2 or (len(numeric) > 2 and numeric[2] and not numeric[1]):
        return "associations"
    if len(numeric) == 3 or square_part(table) is not None:
        return "vectors" if numeric[1:] == [True, True] and not numeric[0] else "associations"
    return "vectors" if all(numeric[1:]) else None


def _is_header(first: Sequence[str]) -> bool:
    """Return whether a first row is a header; two words without a known name are a pair."""
    is_known = has_pair_header(first, ColumnNames()) or is_long_header(first, [False] * len(first))
    # Files of ratings number the judges.
    is_known |= usual_column(first, RATED) is not None
    return is_known or (usual_header(first) and len(first) != 2)


def _array_kind(path: Path, kind: str) -> Kind:
    """Return the kind of data in an array file, by the names and shapes of its arrays."""
    heads = array_heads(path, kind)
    if VERSION_KEY in heads or "counts" in heads:
        return "counts"
    is_sparse = set(heads) >= SPARSE_PARTS
    if is_sparse:
        shapes = [tuple(read_arrays(path, ["shape"])["shape"].tolist())]
    else:
        shapes = [head.shape for head in heads.values() if len(head.shape) == 2]
    if not shapes or any(shape[0] == shape[1] for shape in shapes):
        return "associations"
    return "counts" if is_sparse and heads["data"].dtype.kind in "iu" else "vectors"


def _is_wide_market(path: Path) -> bool:
    """Return whether a MatrixMarket table is not square, which only the count reader accepts."""
    with unpacked(path) as file:
        lines = (x for x in islice(file, 1000) if x.strip() and not x.startswith(b"%"))
        sizes = next(lines, b"").split()
    return len(sizes) >= 2 and sizes[0] != sizes[1]


def _has_integers(path: Path) -> bool:
    """Return whether the table of an .h5ad file begins with nonnegative integers."""
    numbers = first_numbers(path, MOST_NUMBERS)
    if numbers is None or numbers.dtype.kind not in "buif" or not numbers.size:
        return False  # if the extra is missing, the reader that is selected later names it
    return bool(np.all(numbers == np.rint(numbers)) and numbers.min() >= 0)
