"""The results of a fit: the atlas of a descent, the order of its maps, the summary of each run.

Maps with related content get consecutive numbers.

    L_ab  =  sum_ij pi_i^a p_ij pi_j^b  sum_ij p_ij  /  (sum_ij pi_i^a p_ij  sum_ij p_ij pi_j^b)

is the lift of two maps. It is the total strength of the data between the content of map a and the
content of map b, relative to its value if the maps were independent. A lift of 1 is the chance
level. The similarity of the maps is (L + L^T) / 2, and average linkage converts it to a tree. The
leaves of the tree can be arranged in many orders. The optimal leaf ordering (Bar-Joseph, Gifford &
Jaakkola 2001) maximizes the sum of similarities between adjacent maps. An order and its reverse
have the same sum, so the end with more mass comes first. The order therefore depends only on the
data and the maps, and not on their previous numbers.

Shapes: p (n_rows, n_columns) sparse, proportions (n_maps, n_objects), similarities of maps (n_maps,
n_maps).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import one_blas_thread
from manymaps.model.parameters import log_softmin
from manymaps.model.target import Target
from manymaps.optimizers.loop import Cost, Descent
from manymaps.progress import work

#: Function of the iteration, the cost and a function that returns the atlas so far.
Callback = Callable[[int, float, Callable[[], Atlas]], object]


@dataclass(frozen=True)
class Restart:
    """Summary of one of several runs.

    Attributes
    ----------
    seed : int
        Seed of the run. An estimator that starts in the same way and has this seed as its
        `random_state` repeats only this run.
    cost : float
        The minimized cost, including the penalty. It is infinite for a run that diverged. The run
        with the lowest cost is kept.
    kl_divergence : float
        KL(P || Q) at the end, in nats.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the run ended because the cost stopped decreasing.
    """

    seed: int
    cost: float
    kl_divergence: float
    n_iter: int
    converged: bool

    @classmethod
    def of(cls, run: Descent, seed: int) -> Restart:
        """Summarize a run that has ended."""
        return cls(seed, run.cost, run.kl, run.n_iter, run.converged)


class FittedMaps:
    """Attributes of a fitted estimator that are read from its `atlas_`."""

    atlas_: Atlas

    @property
    def maps_(self) -> np.ndarray:
        """Positions, of shape (n_maps, n_objects, n_components)."""
        check_is_fitted(self, "atlas_")
        return self.atlas_.maps

    @property
    def proportions_(self) -> np.ndarray:
        """Mixing proportions, of shape (n_maps, n_objects)."""
        check_is_fitted(self, "atlas_")
        return self.atlas_.proportions

    @property
    def history_(self) -> dict[str, np.ndarray]:
        """Values recorded at selected iterations of the run: "iteration", "cost" and "kl"."""
        check_is_fitted(self, "atlas_")
        return dict(self.atlas_.history)

    @property
    def _n_features_out(self) -> int:
        return self.atlas_.n_maps * self.atlas_.n_components


def atlas_of(
    run: Descent,
    objective: Cost,
    estimator: Any,
    labels: tuple[str, ...],
    *,
    kinds: tuple[str, ...] | None = None,
    factors: np.ndarray | None = None,
) -> Atlas:
    """Create the atlas of the current maps, each centred at its weighted mean.

    Parameters
    ----------
    run : Descent
        State or result of a run.
    objective : Objective or DenseObjective
        Minimized cost.
    estimator : estimator
        Estimator whose method and parameters the atlas stores.
    labels : tuple of str
        Labels of the objects.
    kinds : tuple of str, optional
        Kinds of the objects if there are two sets of objects, rows first.
    factors : ndarray, optional
        Fixed factors of the objects, in the order of the labels.

    Returns
    -------
    Atlas
        The maps.
    """
    # The choosers come first in the parameters, and rows in the atlas.
    rows_first = slice(None, None, -1 if objective.model.given == "columns" else 1)
    maps = np.concatenate(run.parameters.positions[rows_first], axis=1).astype(np.float64)
    proportions = np.exp(log_softmin(np.concatenate(run.parameters.weights[rows_first], axis=1)))
    centres = np.einsum("mn,mnd->md", proportions / proportions.sum(axis=1, keepdims=True), maps)
    maps = maps - centres[:, None]
    order = objective.target.order
    if order is not None:
        rank = np.argsort(order)
        maps, proportions = maps[:, rank], proportions[:, rank]
    return Atlas(
        labels=labels,
        maps=maps.astype(np.float32),
        proportions=proportions.astype(np.float32),
        model=objective.model,
        method=estimator.method,
        parameters=settings_of(estimator) | {"kl_divergence": run.kl, "converged": run.converged},
        history={key: np.array(values) for key, values in run.history.items()},
        log_normalizer=run.log_normalizer,
        kinds=kinds,
        factors=factors,
    )


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters as plain values; the perplexity may be defined by the affinity."""
    settings = {
        key: plain_value(value)
        for key, value in estimator.get_params(deep=False).items()
        if key not in ("callback", "n_jobs", "verbose", "init")
    }
    perplexity = getattr(getattr(estimator, "affinity", None), "perplexity", None)
    if perplexity is not None:
        settings["perplexity"] = plain_value(perplexity)
    return settings


def plain_value(value: Any) -> Any:
    """Convert a parameter to a value for JSON; a random generator becomes None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float | str | bool | None):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [plain_value(part) for part in value]
    if isinstance(value, np.random.RandomState):
        return None
    return repr(value)


def map_likeness(
    p: sparse.csr_array, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Compute how much more than chance the data relate the contents of each pair of maps.

    Parameters
    ----------
    p : sparse array of shape (n_rows, n_columns)
        Similarities or counts, at least 0.
    rows : ndarray of shape (n_maps, n_rows)
        Mixing proportions of the rows.
    columns : ndarray of shape (n_maps, n_columns), optional
        Mixing proportions of the columns, if the columns are different objects from the rows.

    Returns
    -------
    ndarray of shape (n_maps, n_maps)
        Similarities of the maps. The matrix is symmetric and at least 0; entries of a map without
        related objects are 0.

    Examples
    --------
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1.0], [1, 0]]))
    >>> map_likeness(pairs, np.array([[1, 1, 0, 0.0], [0, 0, 1, 1]])).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    rows = rows.astype(np.float64)
    columns = rows if columns is None else columns.astype(np.float64)
    # Products of huge counts would overflow. A power of two does not change the digits of the lift.
    scaled = np.ldexp(p.data, -np.frexp(p.data.max(initial=0))[1])
    p = sparse.csr_array((scaled, p.indices, p.indptr), shape=p.shape)
    with one_blas_thread():
        lifts = (p.T @ rows.T).T @ columns.T
        from_rows = rows @ np.asarray(p.sum(axis=1)).ravel()
        to_columns = columns @ np.asarray(p.sum(axis=0)).ravel()
    by_chance = np.outer(from_rows, to_columns)
    lift = np.divide(lifts * p.sum(), by_chance, out=np.zeros_like(lifts), where=by_chance > 0)
    return np.asarray(lift + lift.T) / 2


def order_of_maps(
    p: sparse.csr_array, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Compute the order in which adjacent maps are similar, (n_maps,).

    The parameters are those of `map_likeness`. If there are fewer than three maps, they keep their
    order.

    Examples
    --------
    >>> chain = sparse.csr_array(np.diag([1.0, 5, 1], 1))
    >>> order_of_maps(chain, np.eye(4)[[2, 0, 3, 1]]).tolist()
    [2, 0, 3, 1]
    """
    n_maps = len(rows)
    if n_maps < 3:
        return np.arange(n_maps)
    likeness = map_likeness(p, rows, columns)
    distances = squareform(likeness.max() - likeness, checks=False)
    order = leaves_list(optimal_leaf_ordering(linkage(distances, "average"), distances))
    mass = rows.sum(axis=1) if columns is None else rows.sum(axis=1) + columns.sum(axis=1)
    return np.asarray(order if mass[order[0]] >= mass[order[-1]] else order[::-1], np.intp)


def in_order_of_maps(atlas: Atlas, target: Target) -> Atlas:
    """Number the maps of a fit of one set of objects so that adjacent maps are similar."""
    proportions = atlas.proportions
    if target.order is not None:
        proportions = proportions[:, target.order]
    with work("numbering the maps"):
        return atlas.renumbered(order_of_maps(target.values, proportions))
