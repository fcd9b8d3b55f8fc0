"""Starting positions and typical step lengths of rows and columns.

"ca" starts from correspondence analysis, where map m uses axes m d to (m + 1) d - 1. Let u, v be
the standard coordinates and s the singular values. To first order, p(x, y) / p(x) p(y) = 1 + sum_k
s_k u_xk v_yk and exp(2 phi . psi) = 1 + 2 phi . psi. Therefore

    phi = sqrt(s / 2) u,    psi = sqrt(s / 2) v

Rare objects are far from the origin on these axes. Their starting positions are closer to it.

Shapes: positions (n_maps, n, n_components), weights (n_maps, n), with rows before columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.correspondence import correspondence_analysis
from manymaps.cooccurrence.matching import aligned_atlas
from manymaps.data.counts import Counts
from manymaps.errors import ParameterError
from manymaps.maps.starts import spread_out
from manymaps.model.parameters import Parameters, weights_from_proportions

__all__ = ["INITS", "Starts", "start_parameters", "usual_steps"]

INITS = ("auto", "ca", "random")
# Within a tenth of the kernel's width, all objects are within reach of one another.
_RANDOM_SPREAD = 0.1
# This spread breaks the tie between equal maps without favouring one.
_WEIGHT_SPREAD = 0.01
# Rare objects are far from the origin on axes of correspondence analysis, where a Gaussian kernel
# has almost zero slope.
_FARTHEST = 2.0
# Larger coordinates lose the float32 digits that distances between neighbours require.
_TOO_FAR = 1e6
# Without this minimum, objects with almost no counts would have the longest steps.
_LEAST_MASS = 1e-3

Starts = tuple[np.ndarray, np.ndarray]


def start_parameters(
    counts: Counts,
    init: str | Starts | Atlas,
    size: tuple[int, int],
    generator: np.random.Generator,
    *,
    fitted: tuple[np.ndarray, np.ndarray],
) -> Parameters:
    """Return initial positions and weights in float32.

    Parameters
    ----------
    counts : Counts
        Rows and columns to fit.
    init : one of `INITS`, pair of arrays, or Atlas
        Type of start, or initial positions. "auto" selects "ca" if the table has enough axes.
    size : tuple of int
        Number of maps and number of dimensions per map.
    generator : Generator
        Random generator.
    fitted : pair of ndarray of int
        Indices of the rows and columns of `counts` in the whole table. A pair of arrays in `init`
        may refer to the whole table.

    Returns
    -------
    Parameters
        Initial positions and weights of rows and columns.

    Raises
    ------
    ParameterError
        If positions have the wrong shape, are too large or are not finite.
    """
    n_maps, n_components = size
    shapes = [(n_maps, n, n_components) for n in counts.shape]
    spread = _WEIGHT_SPREAD if n_maps > 1 else 0.0
    weights = [generator.normal(0, spread, shape[:2]) for shape in shapes]
    n_axes = n_maps * n_components
    if isinstance(init, Atlas):
        init = aligned_atlas(init, counts)
        rows = init.choices.is_row
        positions = [init.maps[:, side] for side in (rows, ~rows)]
        weights = [weights_from_proportions(init.proportions[:, side]) for side in (rows, ~rows)]
    elif not isinstance(init, str):
        positions = _given(init, counts, fitted)
    elif init == "random" or (init == "auto" and n_axes >= min(counts.shape)):
        positions = [generator.normal(0, _RANDOM_SPREAD, shape) for shape in shapes]
    else:
        axes = correspondence_analysis(counts.values, n_axes)
        scale = np.sqrt(axes.singular_values / 2)
        positions = [
            _by_map(side * scale, n_maps) for side in (axes.row_standard, axes.column_standard)
        ]
    for side, shape in zip(positions, shapes, strict=True):
        if side.shape != shape or not (np.abs(side) < _TOO_FAR).all():
            raise ParameterError(
                f"init has positions of shape {side.shape}; expected shape {shape} and finite "
                f"coordinates of less than {_TOO_FAR:g} in absolute value"
            )
    if not isinstance(init, str | Atlas):
        moved = spread_out(np.concatenate(positions, axis=1), generator, _RANDOM_SPREAD)
        positions = np.split(moved, [counts.n_rows], axis=1)
    return Parameters(
        tuple(np.ascontiguousarray(part, np.float32) for part in positions),
        tuple(np.ascontiguousarray(part, np.float32) for part in weights),
    )


def _given(init: Any, counts: Counts, fitted: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise ParameterError("init must be a pair with positions of the rows and of the columns")
    sides = []
    for part, n, indices in zip(init, counts.shape, fitted, strict=True):
        side = np.asarray(part, np.float64)
        if side.ndim == 2:
            side = side[None]
        is_whole = side.ndim == 3 and side.shape[1] != n and side.shape[1] > indices.max()
        sides.append(side[:, indices] if is_whole else side)
    return sides


def _by_map(coordinates: np.ndarray, n_maps: int) -> np.ndarray:
    """Assign axes to maps, (n_maps, n, d), and limit the distance from the origin."""
    maps = coordinates.reshape(len(coordinates), n_maps, -1).transpose(1, 0, 2)
    lengths = np.linalg.norm(maps, axis=2, keepdims=True)
    return maps * np.minimum(1, _FARTHEST / np.maximum(lengths, 1e-12))


def usual_steps(masses: Sequence[np.ndarray], start: Parameters) -> Parameters:
    """Return a typical step length for each parameter.

    The curvature increases with the mass of an object, so the step is inversely proportional to the
    square root of the mass.
    """
    lengths = [1 / np.sqrt(np.maximum(mass, _LEAST_MASS)) for mass in masses]
    return Parameters(
        tuple(
            np.broadcast_to(unit[:, None], part.shape)
            for unit, part in zip(lengths, start.positions, strict=True)
        ),
        tuple(
            np.broadcast_to(unit, part.shape)
            for unit, part in zip(lengths, start.weights, strict=True)
        ),
    )
