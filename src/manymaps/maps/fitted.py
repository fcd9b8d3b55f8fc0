"""The results of a fit: the atlas of a descent, and the summary of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manymaps.atlas.atlas import Atlas
from manymaps.constraints import stops
from manymaps.model.parameters import log_softmin
from manymaps.optimizers.loop import Cost, Descent

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


def watching(
    callback: Callback | Sequence[Callback] | None, atlas: Callable[[Descent], Atlas]
) -> Callable[[Descent], bool] | None:
    """Return the callback of a descent, which passes iteration, cost and the atlas so far."""
    if callback is None:
        return None
    return lambda run: stops(callback, run.n_iter, run.cost, partial(atlas, run))


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
