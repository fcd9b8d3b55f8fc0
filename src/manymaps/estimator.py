"""What all map estimators share: validation, the fit, and what it leaves.

    X -> target P -> objective(model, penalty) -> optimizer -> atlas

A subclass is thin: it says which model it is and which defaults it has (`manymaps.multiple_maps`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from manymaps.affinities import perplexity_affinities
from manymaps.associations import Associations
from manymaps.atlas import Atlas
from manymaps.compute.jit import threads
from manymaps.errors import DataError, ParameterError
from manymaps.fitting import Fit
from manymaps.model import ChoiceModel
from manymaps.objective import Objective
from manymaps.optimizers import Optimizer
from manymaps.parameters import Parameters, weights_from_proportions
from manymaps.penalties import check_strength
from manymaps.target import Target, conditional_target, joint_target

__all__ = ["MapEstimator"]

_START_SPREAD = 0.01
_FOR_LINE_SEARCH = 0.01


class MapEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the estimators that fit maps to similarities.

    Subclasses have the parameters of `manymaps.multiple_maps.MultipleMapsTSNE`, or some of them,
    and name their `ChoiceModel` and default optimizer.
    """

    n_maps: int
    n_components: int
    penalty: float
    affinity: str
    perplexity: float
    init: str | np.ndarray | Atlas
    max_iter: int
    optimizer: Optimizer | None
    tolerance: float
    callback: Callable[[int, float, Callable[[], Atlas]], object] | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None

    method: str

    @abstractmethod
    def _model(self) -> ChoiceModel:
        """The model that is fitted."""

    @abstractmethod
    def _default_optimizer(self) -> Optimizer:
        """The optimizer for `optimizer=None`."""

    def fit(
        self,
        X: Associations | np.ndarray | sparse.sparray,
        y: None = None,
        *,
        checkpoint: str | None = None,
        resume: str | None = None,
    ) -> Self:
        """Fit the maps.

        Parameters
        ----------
        X : Associations, or array or sparse array of shape (n, n) or (n, n_features)
            Associations; similarities with `affinity="precomputed"`; else vectors.
        y : None
            Ignored.
        checkpoint : path, optional
            Where to keep the state of the run: written every half minute, when the run is
            interrupted, and at its end.
        resume : path, optional
            A checkpoint of the same data and settings, from which to go on.

        Returns
        -------
        self

        Raises
        ------
        DataError
            For data that cannot be fitted, or a checkpoint of other data.
        ParameterError
            For a parameter out of its range.
        """
        self._check_parameters()
        labels, target = self._target(X)
        n = target.values.shape[0]
        if self.n_maps > n:
            raise ParameterError(
                f"n_maps={self.n_maps} is more than the {n} objects; give at most {n}"
            )
        with threads(self.n_jobs):
            optimizer = self.optimizer or self._default_optimizer()
            tolerance = self.tolerance * (1 if optimizer.bears_noise else _FOR_LINE_SEARCH)
            fit = Fit(
                objective=Objective(target, self._model(), self.penalty, tolerance),
                optimizer=optimizer,
                max_iter=self.max_iter,
                labels=labels,
                method=self.method,
                settings=self._settings(),
            )
            fit.run(self._start(n), self._seed(), self.callback, checkpoint, resume)
        self.atlas_ = fit.atlas()
        self.kl_divergence_ = fit.kl
        self.n_iter_ = fit.state.iteration
        self.converged_ = fit.converged
        return self

    def fit_transform(
        self, X: Associations | np.ndarray | sparse.sparray, y: None = None, **fit_params: Any
    ) -> np.ndarray:
        """Fit, and give the positions of all maps side by side.

        Returns
        -------
        ndarray of shape (n, n_maps * n_components)
        """
        maps = self.fit(X, y, **fit_params).maps_
        return np.ascontiguousarray(maps.transpose(1, 0, 2).reshape(maps.shape[1], -1))

    @property
    def maps_(self) -> np.ndarray:
        """Positions, shape (n_maps, n, n_components)."""
        check_is_fitted(self, "atlas_")
        return self.atlas_.maps

    @property
    def proportions_(self) -> np.ndarray:
        """Mixing proportions, shape (n_maps, n)."""
        check_is_fitted(self, "atlas_")
        return self.atlas_.proportions

    @property
    def history_(self) -> dict[str, np.ndarray]:
        """The run: "iteration", "cost" and "kl" where they were computed."""
        check_is_fitted(self, "atlas_")
        return dict(self.atlas_.history)

    @property
    def _n_features_out(self) -> int:
        return self.atlas_.n_maps * self.atlas_.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.positive_only = self.affinity == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        for name in ("n_maps", "n_components", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(f"{name}={value!r} must be a whole number of at least 1")
        if self.affinity not in ("auto", "precomputed"):
            raise ParameterError(f"affinity={self.affinity!r} is not one of auto, precomputed")
        if not 0 <= self.tolerance <= 0.1:
            raise ParameterError(f"tolerance={self.tolerance!r} must lie between 0 and 0.1")
        check_strength(self.penalty)

    def _target(
        self, X: Associations | np.ndarray | sparse.sparray
    ) -> tuple[tuple[str, ...], Target]:
        """Labels and P."""
        keep_missing_mass = isinstance(X, Associations)
        if isinstance(X, Associations):
            labels, strengths = tuple(X.labels), X.strengths
            self.n_features_in_ = X.n_objects
        else:
            X = validate_data(
                self, X, accept_sparse="csr", ensure_min_samples=2, dtype=[np.float64, np.float32],
                # Associations names the row of a similarity that is not finite.
                ensure_all_finite=self.affinity != "precomputed",
            )  # fmt: skip
            labels = tuple(str(i) for i in range(X.shape[0]))
            if self.affinity == "precomputed":
                if X.shape[0] != X.shape[1]:
                    raise DataError(
                        f"X has {X.shape[0]} rows and {X.shape[1]} columns; "
                        'affinity="precomputed" needs a square matrix of similarities'
                    )
                strengths = Associations(labels, sparse.csr_array(X)).strengths
            else:
                strengths = perplexity_affinities(X, self.perplexity)
        if self._model().normalization == "joint":
            return labels, joint_target(strengths)
        return labels, conditional_target(strengths, keep_missing_mass=keep_missing_mass)

    def _settings(self) -> dict[str, Any]:
        """The parameters as plain values, for the atlas and the checkpoint."""
        plain = int | float | str | bool | None
        return {
            key: value if isinstance(value, plain) else repr(value)[:200]
            for key, value in self.get_params(deep=False).items()
            if key not in ("callback", "n_jobs", "init")
        }

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _start(self, n: int) -> Parameters:
        """Positions and weights to start from, in float32."""
        shape = (self.n_maps, n, self.n_components)
        generator = np.random.default_rng(self._seed())
        weights = generator.normal(0, _START_SPREAD, shape[:2])
        if isinstance(self.init, str):
            if self.init != "random":
                raise ParameterError(
                    f"init={self.init!r} is not one of random, an array of shape {shape}, an Atlas"
                )
            positions = generator.normal(0, _START_SPREAD, shape)
        elif isinstance(self.init, Atlas):
            positions = self.init.maps
            weights = weights_from_proportions(self.init.proportions)
        else:
            positions = np.asarray(self.init)
        if positions.shape != shape or weights.shape != shape[:2]:
            raise ParameterError(f"init has shape {positions.shape}; the fit needs {shape}")
        if not np.isfinite(positions).all():
            raise ParameterError("init holds a value that is not finite")
        if self._model().mixing == "fixed" and not isinstance(self.init, Atlas):
            weights = np.zeros(shape[:2])
        return Parameters((positions.astype(np.float32),), (weights.astype(np.float32),))
