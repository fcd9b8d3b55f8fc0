"""Where the rows and columns of a count table start, and how long a usual step of each is.

"ca" starts at the axes of correspondence analysis, map m at the axes m d to (m + 1) d - 1. To first
order p(x, y) / p(x) p(y) = 1 + sum_k s_k u_xk v_yk with the standard coordinates u, v and the
singular values s, and exp(2 phi . psi) = 1 + 2 phi . psi, so that

    phi = sqrt(s / 2) u,    psi = sqrt(s / 2) v

Rare objects lie far out on those axes; they are brought nearer.

Shapes: positions (n_maps, n, n_components), weights (n_maps, n); rows before columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.cooccurrence.correspondence import correspondence_analysis
from manymaps.cooccurrence.matching import aligned_atlas
from manymaps.data.counts import Counts
from manymaps.errors import ParameterError
from manymaps.maps.pinned_start import pinned_start, random_start, ties_between
from manymaps.maps.pins import Pins
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import Target

__all__ = ["INITS", "Starts", "start_parameters", "usual_steps"]

INITS = ("auto", "ca", "random")
# Within a tenth of the kernel's width all objects still see one another.
_RANDOM_SPREAD = 0.1
# Breaks the tie between equal maps without favouring one.
_WEIGHT_SPREAD = 0.01
# Rare objects lie far out on axes of correspondence analysis, where a Gaussian kernel has no slope
# left.
_FARTHEST = 2.0
# Farther positions lose float32's digits for the distances between neighbours.
_TOO_FAR = 1e6
# Objects with next to no counts would otherwise take the longest steps.
_LEAST_MASS = 1e-3

Starts = tuple[np.ndarray, np.ndarray]


def start_parameters(
    kept: Counts,
    init: str | Starts | Atlas,
    size: tuple[int, int],
    generator: np.random.Generator,
    *,
    fitted: tuple[np.ndarray, np.ndarray],
    pins: Pins | None = None,
) -> Parameters:
    """Positions and weights to start from, in float32.

    Parameters
    ----------
    kept : Counts
        The rows and columns that are fitted.
    init : one of `INITS`, pair of arrays, or Atlas
        "auto" is "ca" where the table has so many axes.
    size : tuple of int
        Maps, and dimensions of each.
    generator : Generator
    fitted : pair of ndarray of int
        Which rows and columns of the whole table these are; a pair of arrays may be of the whole.
    pins : Pins, optional
        What is held of rows and columns. What a named start makes of the rest stands among them.

    Raises
    ------
    ParameterError
        For positions of another shape, or that are not finite.
    """
    n_maps, n_components = size
    shapes = [(n_maps, n, n_components) for n in kept.shape]
    spread = _WEIGHT_SPREAD if n_maps > 1 else 0.0
    weights = [generator.normal(0, spread, shape[:2]) for shape in shapes]
    n_axes = n_maps * n_components
    if isinstance(init, Atlas):
        init = aligned_atlas(init, kept)
        rows = init.choices.is_row
        positions = [init.maps[:, side] for side in (rows, ~rows)]
        weights = [weights_from_proportions(init.proportions[:, side]) for side in (rows, ~rows)]
    elif not isinstance(init, str):
        positions = _given(init, kept, fitted)
    elif pins is not None:
        positions, weights = _around(pins, kept, init, generator)
    elif init == "random" or (init == "auto" and n_axes >= min(kept.shape)):
        positions = [generator.normal(0, _RANDOM_SPREAD, shape) for shape in shapes]
    else:
        axes = correspondence_analysis(kept.values, n_axes)
        scale = np.sqrt(axes.singular_values / 2)
        positions = [
            _by_map(side * scale, n_maps) for side in (axes.row_standard, axes.column_standard)
        ]
    for side, shape in zip(positions, shapes, strict=True):
        if side.shape != shape or not (np.abs(side) < _TOO_FAR).all():
            raise ParameterError(
                f"init has positions of shape {side.shape}; the fit needs ones of shape {shape}, "
                f"none of them {_TOO_FAR:g} or more away"
            )
    if pins is not None:
        whole = pins.placed(np.concatenate(positions, axis=1), np.concatenate(weights, axis=1))
        positions, weights = (np.split(part, [kept.n_rows], axis=1) for part in whole)
    return Parameters(
        tuple(np.ascontiguousarray(part, np.float32) for part in positions),
        tuple(np.ascontiguousarray(part, np.float32) for part in weights),
    )


def _around(
    pins: Pins, kept: Counts, init: str, generator: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Positions and weights of rows and of columns around what is held of them."""
    if init == "ca":
        raise ParameterError(
            "has axes of its own, and the pins have theirs; with pins give 'auto' (beside the "
            "partners), 'random', positions or an Atlas",
            name="init",
            value=init,
        )
    if init == "random":
        positions, proportions = random_start(pins, _RANDOM_SPREAD, generator)
    else:
        ties = ties_between(kept.values)
        positions, proportions = pinned_start(ties, pins, _RANDOM_SPREAD, generator)
    weights = weights_from_proportions(proportions)
    return (
        np.split(positions, [kept.n_rows], axis=1),
        np.split(weights, [kept.n_rows], axis=1),
    )


def _given(init: Any, kept: Counts, fitted: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise ParameterError("init must be a pair: positions of the rows and of the columns")
    sides = []
    for part, n, own in zip(init, kept.shape, fitted, strict=True):
        side = np.asarray(part, np.float64)
        if side.ndim == 2:
            side = side[None]
        of_the_whole = side.ndim == 3 and side.shape[1] != n and side.shape[1] > own.max()
        sides.append(side[:, own] if of_the_whole else side)
    return sides


def _by_map(coordinates: np.ndarray, n_maps: int) -> np.ndarray:
    """Axes shared out over maps, (n_maps, n, d), each point brought within reach of the others."""
    maps = coordinates.reshape(len(coordinates), n_maps, -1).transpose(1, 0, 2)
    lengths = np.linalg.norm(maps, axis=2, keepdims=True)
    return maps * np.minimum(1, _FARTHEST / np.maximum(lengths, 1e-12))


def usual_steps(target: Target, start: Parameters) -> Parameters:
    """The length of a usual step of each parameter: the curvature grows with an object's mass."""
    lengths = [
        1 / np.sqrt(np.maximum(mass * target.scale, _LEAST_MASS))
        for mass in (target.row_mass, target.column_mass)
    ]
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
