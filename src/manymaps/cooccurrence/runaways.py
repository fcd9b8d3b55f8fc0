"""Warning about points whose best position is at infinity.

Without a size penalty, the likelihood of counts with zeros often has no maximum. An example is a
document that consists of one rare word on the rim of the map, which moves away until no word is
within reach. Groups of rows and columns without counts between them drift apart.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataWarning, setting
from manymaps.labels import first_of

__all__ = ["out_of_reach", "warn_of_runaways"]

# exp(-30) is a millionth of the resolution of float32.
_OUT_OF_REACH = -30.0


def warn_of_runaways(atlas: Atlas, values: sparse.csr_array, penalty: float) -> None:
    """Warn about rows and columns that move away without limit, and suggest a size penalty.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas, fitted without a size penalty.
    values : sparse array of shape (n_rows, n_columns)
        Fitted counts without empty rows or columns.
    penalty : float
        Suggested size penalty.
    """
    _, groups = connected_components(sparse.block_array([[None, values], [values.T, None]]))
    is_runaway = out_of_reach(atlas) | (groups != np.bincount(groups).argmax())
    if is_runaway.any():
        named = [atlas.labels[int(i)] for i in np.flatnonzero(is_runaway)]
        warnings.warn(
            f"the best positions of {len(named):,} of {atlas.n_objects:,} objects appear to be at "
            f"infinity: {first_of(named)}; use a size penalty, such as "
            f"{setting('penalty', penalty)}, or smooth the counts",
            DataWarning,
            stacklevel=5,
        )


def out_of_reach(atlas: Atlas) -> np.ndarray:
    """Return a mask of objects whose total similarity to the other kind is near 0, (n,)."""
    isolated = np.zeros(atlas.n_objects, bool)
    for given in ("rows", "columns"):
        turned = replace(atlas.choices, model=replace(atlas.model, given=given))
        isolated[turned.is_chooser] = turned.log_normalizers < _OUT_OF_REACH
    return isolated
