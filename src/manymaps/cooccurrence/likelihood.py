"""Likelihood of counts under a fitted bipartite atlas, and positions of new rows.

    log-likelihood per count     sum_xy n_xy log q(y|x) / sum_xy n_xy     or with q(x, y), q(x|y)

The position of a new row x maximizes sum_y n_xy log q(y|x) with fixed columns, independently of
other new rows. With one map, q(y|x) ~ b_y exp(-|phi|^2 + 2 phi . psi_y - |psi_y|^2) is a log-linear
model in phi. The problem is therefore concave, and the optimization starts at the mean of the row's
columns.

Tables have the same rows and columns as the atlas, in the same order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError
from manymaps.maps.refinement import refine_rows
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import Target, count_target

__all__ = ["atlas_parameters", "count_objective", "mean_log_likelihood", "place_rows"]

# With one map, the problem of a new row is concave, so a few steps are sufficient. The number is
# not tuned.
_STEPS = 60
# Tolerance of the fields of a likelihood.
_TOLERANCE = 5e-5


def atlas_parameters(atlas: Atlas) -> Parameters:
    """Return positions and weights of both sides, with the conditioning side first."""
    rows = atlas.choices.is_chooser
    sides = (rows, ~rows)
    return Parameters(
        tuple(np.ascontiguousarray(atlas.maps[:, side], np.float32) for side in sides),
        tuple(
            weights_from_proportions(atlas.proportions[:, side]).astype(np.float32)
            for side in sides
        ),
    )


def count_objective(atlas: Atlas, values: sparse.sparray) -> Objective:
    """Return the cost of an atlas for a table of counts (n_rows, n_columns)."""
    choosers = atlas.choices.is_chooser
    factors = np.ones(atlas.n_objects) if atlas.factors is None else atlas.factors
    table = values if atlas.model.given == "rows" else values.T
    return Objective(
        count_target(table, atlas.model.normalization),
        atlas.model,
        tolerance=_TOLERANCE,
        row_factors=factors[choosers],
        column_factors=factors[~choosers],
    )


def log_likelihood(target: Target, kl: float) -> float:
    """Return the mean log q per count from the KL divergence (`objective.Evaluation.kl`)."""
    rows = 1 if target.is_joint else target.n_rows_with_mass
    return target.negative_entropy / rows - kl


def mean_log_likelihood(atlas: Atlas, values: sparse.sparray) -> float:
    """Compute the mean log-likelihood per count in nats.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas of rows and columns.
    values : sparse array of shape (n_rows, n_columns)
        Counts, which must not all be 0.

    Returns
    -------
    float
        Mean log-likelihood per count in nats.
    """
    objective = count_objective(atlas, values)
    return log_likelihood(objective.target, objective.evaluate(atlas_parameters(atlas)).kl)


def place_rows(atlas: Atlas, values: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Position new rows among the columns.

    Parameters
    ----------
    atlas : Atlas
        Bipartite atlas with a Gaussian kernel.
    values : sparse array of shape (k, n_columns)
        Counts without empty rows.

    Returns
    -------
    positions : ndarray of shape (n_maps, k, n_components)
        Coordinates of the new rows.
    proportions : ndarray of shape (n_maps, k)
        Mixing proportions of the new rows, which sum to 1 over maps.

    Raises
    ------
    DataError
        If the table has the wrong number of columns.
    """
    columns = ~atlas.choices.is_row
    if values.shape[1] != int(columns.sum()):
        raise DataError(f"new rows have {values.shape[1]} counts; expected {columns.sum()}")
    known = replace(
        atlas.subset(columns),
        model=replace(atlas.model, given=None, normalization="conditional"),
        factors=None if atlas.factors is None else atlas.factors[columns],
    )
    totals = np.asarray(values.sum(axis=1)).ravel()
    target = sparse.csr_array(values, dtype=np.float64, copy=True)
    target.data /= np.repeat(totals, np.diff(target.indptr))
    proportions = np.stack([target @ share for share in known.proportions.astype(np.float64)])
    positions = np.stack(
        [
            (target @ (share[:, None] * points)) / np.maximum(mean, 1e-12)[:, None]
            for points, share, mean in zip(
                known.maps.astype(np.float64), known.proportions, proportions, strict=True
            )
        ]
    )
    return refine_rows(
        known, target, positions, proportions / proportions.sum(axis=0),
        max_iter=_STEPS, min_proportion=0.0,
    )  # fmt: skip
