"""Reader for metadata tables with one row per label."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.csv_cells import unguarded
from manymaps.data.frames import KEYS, cell_label
from manymaps.errors import DataError
from manymaps.io.annotated import gene_columns, read_annotated
from manymaps.io.columns import is_text, numbers_of
from manymaps.io.frames import read_frame, suffix_of
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd

# Float64 cannot represent every integer above this value. Such integers are names.
MOST = 2**53


def read_columns(path: str | os.PathLike[str], genes: Sequence[str] = ()) -> pd.DataFrame:
    """Read metadata from a table of any format that `read_frame` reads, or from .h5ad.

    In text files, columns named "label", "word" or "id" are texts, or else the first column. Any
    other column is converted to numbers if all its cells are numbers or missing. Empty cells become
    None. The apostrophe that guards a cell from spreadsheets (`manymaps.data.csv_cells`) is
    removed. The columns of an .h5ad file are those of its obs, and the values in X of the `genes`
    that are variables of the file but not columns of obs.

    Raises
    ------
    DataError
        If `read_frame` raises it, or if the file has no header, no rows or two columns of one name.
    """
    path = Path(path)
    if suffix_of(path) == ".h5ad":
        data = read_annotated(path)
        chosen = [gene for gene in genes if gene not in data.obs and gene in data.var_names]
        return data.obs.assign(**gene_columns(data, chosen))
    frame = read_frame(path)
    if not frame.attrs["header"] or not len(frame):
        raise DataError(
            f"{path} has no header (its first row contains a number) or no rows below it; name the "
            "column of labels 'label'"
        )
    names = [unguarded(str(name)) for name in frame.columns]
    repeated = repeated_label(names)
    if repeated is not None:
        raise DataError(f"{path}: duplicate column {repeated[0]!r}; names must be unique")
    frame.columns = names
    if not is_text(frame):
        return frame
    # Labels such as 1984 are names, not numbers.
    keys = [name for name in names if name.strip().casefold() in KEYS] or names[:1]
    columns: dict[str, Any] = {}
    for c, name in enumerate(names):
        values = numbers_of(frame, [c])[:, 0]
        known = values[~np.isnan(values)]
        if name in keys or not known.size or (abs(known) >= MOST).any():
            columns[name] = [unguarded(cell_label(cell)) or None for cell in frame[name]]
        else:
            are_whole = known.size == values.size and (values % 1 == 0).all()
            columns[name] = values.astype(np.int64) if are_whole else values
    return type(frame)(columns)
