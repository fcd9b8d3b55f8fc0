"""Reader for metadata tables with one row per label."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manymaps.data.csv_cells import unguarded
from manymaps.data.frames import KEYS
from manymaps.data.tables import MISSING
from manymaps.errors import DataError
from manymaps.io.annotated import gene_columns, open_annotated
from manymaps.io.files import suffix_of
from manymaps.io.frames import read_frame
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd

# Longer cells are not treated as numbers, because 64-bit numbers have fewer digits, and because
# Python does not convert thousands of digits.
LONGEST_NUMBER = 400


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
        If `read_frame` raises it, or if the file has no rows or two columns of one name.
    """
    path = Path(path)
    if suffix_of(path) == ".h5ad":
        return _annotated_columns(path, genes)
    frame = read_frame(path, "a header and one row per label")
    if frame.columns[0] == 0:
        raise DataError(
            f"{path}: the first row contains a number and is therefore not a header; name the "
            "column of labels 'label'"
        )
    if not len(frame):
        raise DataError(f"{path} has a header and no rows; expected one row per label")
    frame.columns = [unguarded(str(name)) for name in frame.columns]
    repeated = repeated_label(list(frame.columns))
    if repeated is not None:
        raise DataError(f"{path}: duplicate column {repeated[0]!r}; names must be unique")
    if frame.index.name != "line":
        return frame
    # Labels such as 1984 are names, not numbers.
    keys = [name for name in frame if name.strip().casefold() in KEYS] or [frame.columns[0]]
    for name in frame.columns:
        cells = [unguarded(cell.strip()) for cell in frame[name]]
        frame[name] = _column(cells if name in keys else _numbers_if_all(cells), frame)
    return frame.reset_index(drop=True)


def _column(cells: list[Any], frame: pd.DataFrame) -> pd.Series:
    import pandas as pd

    return pd.Series(cells, index=frame.index, dtype=object)


def _annotated_columns(path: Path, genes: Sequence[str]) -> pd.DataFrame:
    """Return obs and some genes of an .h5ad file, with the names of observations as the index."""
    with open_annotated(path) as data:
        chosen = [gene for gene in genes if gene not in data.obs and gene in data.var_names]
        return data.obs.assign(**gene_columns(data, chosen))


def _numbers_if_all(cells: Sequence[str]) -> list[Any]:
    """Convert cells to numbers if all are numbers, and leave integers beyond 64 bits as names."""
    texts = [cell or None for cell in cells]
    values = [None if cell.lower() in MISSING else cell for cell in cells]
    known = [value for value in values if value is not None]
    # float() also accepts digits with underscores in between, but these are names, not numbers.
    if not known or any("_" in value or len(value) > LONGEST_NUMBER for value in known):
        return texts
    with suppress(ValueError):
        whole = [None if value is None else int(value) for value in values]
        return texts if any(abs(v) >= 2**63 for v in whole if v is not None) else whole
    with suppress(ValueError):
        return [None if value is None else float(value) for value in values]
    return texts
