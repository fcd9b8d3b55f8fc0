"""Insertion of the rows of an NPY file in batches, for `insert --batch`.

The positions are written to a memory-mapped file next to the output, in which unfinished rows are
NaN. The name of this file depends on all inputs and options, so that the same command resumes it.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import manymaps as mm
from manymaps.cli.contract import Interrupted
from manymaps.errors import DataError, DataWarning
from manymaps.progress import work

if TYPE_CHECKING:
    import numpy as np

    from manymaps.maps.blocks import RowBlocks


def insert_batches(
    atlas: mm.Atlas, new: Path, output: Path, size: int, settings: Mapping[str, Any], inputs: tuple
) -> tuple[int, int]:
    """Insert all rows of an NPY file and write their positions.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    new, output : path
        NPY files of the vectors and of the positions.
    size : int
        Number of rows per batch.
    settings : mapping
        Arguments of `insert`. "vectors" contains the vectors of the atlas.
    inputs : tuple
        Values that identify the result, together with `new` and `size`.

    Returns
    -------
    tuple of int
        Number of inserted rows, and number of rows that are equal to rows of the atlas.
    """
    import numpy as np

    from manymaps.archive.arrays import read_npy
    from manymaps.data.validation import same_rows_of
    from manymaps.maps.blocks import RowBlocks, insert_blocks

    rows, known = read_npy(new), settings["vectors"]
    is_table = rows.ndim == 2 and len(rows) and rows.dtype.kind in "fiu"
    if not is_table or rows.shape[1] != known.shape[1]:
        raise DataError(
            f"{new}: got an array of shape {rows.shape} and type {rows.dtype}; expected one row of "
            f"{known.shape[1]} numbers per object, as in the atlas"
        )
    blocks = RowBlocks(rows, np.asarray, size)
    with work(f"reading {new}"):
        blocks.check_finite(np.ones(len(rows), bool))
        fitted = same_rows_of(blocks, known)
    path = output.with_name(f"{output.name}.{_digest(new, size, inputs)}.part")
    table = _opened(path, (len(rows), _coordinates(atlas.maps, atlas.proportions).shape[1]))
    old = np.flatnonzero(fitted >= 0)
    table[old] = _coordinates(atlas.maps[:, fitted[old]], atlas.proportions[:, fitted[old]])
    unfinished = _unfinished(table, blocks) & (fitted < 0)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* resemble nothing in the atlas", DataWarning)
            n_new = int((fitted < 0).sum())
            for numbers, found in insert_blocks(atlas, blocks, unfinished, settings, n_new):
                table[numbers] = _coordinates(*found[:2])
                table.flush()
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; finished batches are in {path}; to resume, repeat the command"
        ) from error
    del table  # Windows does not rename open files
    path.replace(output)
    return len(rows) - len(old), len(old)


def _coordinates(maps: np.ndarray, proportions: np.ndarray) -> np.ndarray:
    """Return the coordinates of all maps and, for several maps, the proportions, side by side."""
    import numpy as np

    coordinates = maps.transpose(1, 0, 2).reshape(maps.shape[1], -1)
    return coordinates if len(maps) == 1 else np.hstack([coordinates, proportions.T])


def _digest(new: Path, size: int, inputs: tuple) -> str:
    files = [one.resolve() if isinstance(one, Path) else one for one in (new, size, *inputs)]
    times = [(one.stat().st_size, one.stat().st_mtime_ns) for one in files if isinstance(one, Path)]
    return hashlib.sha256(repr((mm.__version__, files, times)).encode()).hexdigest()[:12]


def _opened(path: Path, shape: tuple[int, int]) -> np.memmap:
    """Open the file of unfinished positions, or create it with NaN in all rows."""
    import numpy as np

    from manymaps.archive import written_whole

    if not path.exists():
        with written_whole(path) as temporary:
            table = np.lib.format.open_memmap(temporary, "w+", np.float32, shape)
            table[:] = np.nan
            table.flush()
    return np.lib.format.open_memmap(path, "r+")


def _unfinished(table: np.ndarray, blocks: RowBlocks) -> np.ndarray:
    """Return the mask of all rows of the blocks that have missing positions."""
    import numpy as np

    missing = np.isnan(table).any(axis=1)
    for k in range(len(blocks)):
        missing[blocks.numbers(k)] = missing[blocks.numbers(k)].any()
    return missing
