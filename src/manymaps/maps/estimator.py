"""Base class of the map estimators: `fit` leads from data to an atlas in eight steps.

    1. read        labels with vectors, distances, similarities or neighbours     `read_input`
    2. model       kernel, normalization, mixing, background                      `_model`
    3. target      P: similarities of vectors (`Affinity`), normalized            `_target`
    4. starts      positions and weights of each run (personas, PCA, random)      `_start`
    5. objective   KL(P || Q) and its gradient: attraction and repulsion          `Objective`
    6. descent     gradient steps with momentum and gains         `descend`, restarts: `best_of`
    7. stop        after `max_iter` iterations, when the cost falls by less than 1e-5 of its value
                   in 50 iterations, or when the callback returns True
    8. atlas       centred maps, numbered so that neighbours are similar          `atlas_of`

A subclass only defines its model and its defaults (`manymaps.maps.multiple_maps`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, metadata_routing
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.affinities import PERPLEXITY, Affinity, GaussianAffinity
from manymaps.affinity.distances import METRIC
from manymaps.affinity.neighbors import NeighborGraph, NeighborPair, NeighborSearch
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_cells, not_finite
from manymaps.compute.threads import threads
from manymaps.constraints import (
    ARRAY,
    CALLBACKS,
    N_JOBS,
    NONE,
    RANDOM_STATE,
    VERBOSE,
    Allowed,
    CheckedParameters,
    Choice,
    Whole,
    instance,
    stops,
)
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.validation import same_rows, validated
from manymaps.data.vectors import Vectors
from manymaps.errors import DataWarning, ParameterError, setting
from manymaps.maps.fitted import Callback, FittedMaps, Restart, atlas_of, in_order_of_maps
from manymaps.maps.input import Input, read_input
from manymaps.maps.insertion import Refinement, insert_into
from manymaps.maps.personas import persona_start
from manymaps.maps.starts import STARTS, check_start, separated, spread_out, start_positions
from manymaps.model.choice import CHOICES, ChoiceModel
from manymaps.model.dense import objective_of
from manymaps.model.objective import TOLERANCE
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import Target, conditional_target, joint_target
from manymaps.optimizers.loop import Descent, Start, best_of, descend
from manymaps.optimizers.momentum import OPTIMIZER, Optimizer
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed, run_seeds

__all__ = ["MapEstimator"]

Data: TypeAlias = (
    Associations | Vectors | NeighborGraph | NeighborPair | np.ndarray | sparse.sparray
)

AFFINITIES = ("auto", "precomputed")

# With fewer objects, the neighbours contain too little information about groups.
_LEAST_TO_SPLIT = 100


@dataclass(eq=False, repr=False, kw_only=True)
class MapEstimator(
    FittedMaps,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CheckedParameters,
    BaseEstimator,
    ABC,
):
    """Base class of the estimators that fit maps to similarities.

    The parameters are the fields of a dataclass, which generates the constructor that scikit-learn
    inspects. A subclass lists additional fields and fields with a different default. It also
    defines its `ChoiceModel` (`_preset`) and its default optimizer.
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_components": [Whole(1)],
        "perplexity": PERPLEXITY,
        "metric": METRIC,
        "affinity": [
            Choice(AFFINITIES),
            instance("an Affinity such as GaussianAffinity(perplexity=30)", Affinity),
        ],
        "neighbors": [instance("a NeighborSearch", NeighborSearch), NONE],
        "init": [Choice(STARTS), ARRAY, instance("an Atlas", Atlas)],
        "n_init": [Whole(1)],
        "max_iter": [Whole(1)],
        "optimizer": OPTIMIZER,
        "tolerance": TOLERANCE,
        "callback": CALLBACKS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }

    n_maps: int = field(default=1, init=False)
    n_components: int = field(default=2, kw_only=False)
    penalty: float = field(default=0.0, init=False)
    perplexity: float | Sequence[float] = 30.0
    metric: str | Callable = "euclidean"
    affinity: str | Affinity = "auto"
    neighbors: NeighborSearch | None = None
    init: str | np.ndarray | Atlas = "auto"
    n_init: int = 1
    max_iter: int = 1000
    optimizer: Optimizer | None = None
    tolerance: float = 5e-3
    callback: Callback | Sequence[Callback] | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: bool = False

    __metadata_request__transform: ClassVar[dict[str, str]] = {"refine": metadata_routing.UNUSED}
    method: ClassVar[str]
    _preset: ClassVar[ChoiceModel]
    marginals = False
    _start_spread = 0.01

    def _model(self) -> ChoiceModel:
        """Return the model, whose options may be parameters of the estimator."""
        options = {name: getattr(self, name) for name in CHOICES if hasattr(self, name)}
        return replace(self._preset, **options)

    @abstractmethod
    def _default_optimizer(self, n_objects: int) -> Optimizer:
        """Return the optimizer used if `optimizer` is None."""

    @shows_progress
    def fit(
        self,
        X: Data,
        y: None = None,
    ) -> Self:
        """Fit the maps.

        Parameters
        ----------
        X : Associations, Vectors, NeighborGraph, (sparse) array or frame
            The data, of shape (n, n) or (n, n_features). An array or frame contains similarities
            with `affinity="precomputed"`, distances with `metric="precomputed"`, and vectors
            otherwise. `Trials` are counted. If X is a frame, the labels of the atlas are its index
            or, if it has a default index, its only text column.
            In a sparse table of distances, only stored entries are used, as in scikit-learn. Pairs
            without an entry are not neighbours, so distances of zero must be stored explicitly. If
            every pair is stored, the map is the same as for the dense table. A similarity that is
            NaN, or listed in `missing` of the associations, was not judged and is excluded from the
            cost (`manymaps.model.dense`; up to 2,000 objects). Neighbours may also be passed as
            a pair of arrays, (indices, distances) or (distances, indices), as returned by other
            libraries (`manymaps.affinity.neighbors.as_graph`).
        y : None
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        DataError
            If the data cannot be fitted.
        ParameterError
            If a parameter is out of its range.
        DivergedError
            If the cost becomes non-finite. The fitted attributes then describe the last maps with a
            finite cost.
        """
        self._validate_params()
        data, seeds = read_input(X, self), run_seeds(self.random_state, self.n_init)
        model = self._model()
        optimizer = self.optimizer or self._default_optimizer(len(data.labels))
        with threads(self.n_jobs):
            target = self._target(data, model, seeds[0])
            start = partial(self._start, data, target, model)
            starts = list(map(start, range(self.n_init), seeds))
            factors = target.marginal_factors() if self.marginals else None
            associations = None if data.strengths is None else stored_associations(target.values)
            tolerance = optimizer.force_tolerance(self.tolerance)
            objective = objective_of(target.ordered(), model, self.penalty, tolerance, factors)

            def atlas(run: Descent) -> Atlas:
                return atlas_of(run, objective, self, data.labels, factors=factors)

            def watch(run: Descent) -> bool:
                return stops(self.callback, run.n_iter, run.cost, partial(atlas, run))

            best, runs = best_of(
                starts,
                lambda start: descend(objective, optimizer, start, self.max_iter, watch),
                in_order=self.callback is not None,
            )
        fitted = atlas(best)
        if isinstance(self.init, str):
            fitted = in_order_of_maps(fitted, objective.target)
        stored = {"vectors": data.vectors, "associations": associations, "covered": data.covered}
        self._keep(replace(fitted, **stored), best, list(map(Restart.of, runs, seeds)), data)
        return self

    def fit_transform(self, X: Data, y: None = None) -> np.ndarray:
        """Fit the maps and return the coordinates of all maps side by side.

        Returns
        -------
        ndarray of shape (n, n_maps * n_components)
            Coordinates of the objects; the coordinates of each map are in adjacent columns.
        """
        maps = self.fit(X, y).maps_
        return np.ascontiguousarray(maps.transpose(1, 0, 2).reshape(maps.shape[1], -1))

    def transform(
        self, X: Vectors | np.ndarray | sparse.sparray, refine: Refinement | None = None
    ) -> np.ndarray:
        """Compute the coordinates of new objects in the fitted maps without changing the maps.

        A row that was fitted keeps its coordinates. If several fitted rows are equal but have
        different coordinates, the coordinates of the first of them are returned, unless X is
        exactly the fitted data. Each other row is inserted at the weighted geometric median of its
        neighbours and then refined (`manymaps.maps.insertion`), independently of the remaining
        rows. `insert` also reports which new objects do not resemble any fitted object.

        The rows are inserted in blocks of 4,096. For a memory-mapped array (`numpy.load` with
        `mmap_mode="r"`), the memory therefore depends only on the fitted data and the result.

        Parameters
        ----------
        X : Vectors, (sparse) array or frame of shape (k, n_features) or (k, n)
            New rows in the form that was fitted: vectors or, with `affinity="precomputed"`,
            similarities to the n fitted objects.
        refine : Refinement, optional
            Settings of the refinement. The metric is that of the fit, unless `refine` defines one.

        Returns
        -------
        ndarray of shape (k, n_maps * n_components)
            Coordinates of the new objects; the coordinates of each map are in adjacent columns.

        Raises
        ------
        DataError
            If the new rows cannot be compared with the fitted rows.
        ParameterError
            If distances, neighbours or associations were fitted, because the estimator then stores
            no rows with which new rows could be compared.
        """
        check_is_fitted(self, "atlas_")
        similar = self.affinity == "precomputed"
        known = self._fitted_rows if similar else self.atlas_.vectors
        if known is None:
            raise ParameterError(
                "transform needs fitted vectors, or an array of similarities that was fitted "
                "with affinity='precomputed'; for any atlas use insert(atlas, {label: {known "
                "label: similarity}})"
            )
        rows = validated(self, labelled_values(X)[1], reset=False, accept_sparse="csr")
        fitted = same_rows(rows, known)
        new = np.flatnonzero(fitted < 0)
        if similar:  # cells of fitted similarities may be missing
            check_cells(rows[new], not_finite, "fill in such cells", numbers=new)
        how = refine or Refinement()
        settings = {
            "similarity": "precomputed" if similar else self.metric,
            "refine": replace(how, metric=self.metric) if how.metric is None else how,
        }
        places = self.maps_[:, fitted]
        with threads(self.n_jobs), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            insert_into(places, self.atlas_, rows, new, **settings)
        return np.ascontiguousarray(places.transpose(1, 0, 2).reshape(rows.shape[0], -1))

    def _keep(self, atlas: Atlas, best: Descent, restarts: list[Restart], data: Input) -> None:
        """Set the fitted attributes, and raise the error of a run that diverged."""
        if self.n_init > 1:
            ends = [[one.seed, one.cost, one.kl_divergence] for one in restarts]
            atlas = replace(atlas, parameters={**atlas.parameters, "restarts": ends})
        self.atlas_, self.restarts_, self._fitted_rows = atlas, tuple(restarts), data.table
        self.kl_divergence_, self.n_iter_, self.converged_ = best.kl, best.n_iter, best.converged
        if best.failure:
            raise best.failure

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (self.affinity, self.metric)
        tags.input_tags.positive_only = tags.input_tags.pairwise
        tags.input_tags.allow_nan = self.affinity == "precomputed"
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = []  # maps are float32, regardless of the type of X
        return tags

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_init > 1 and not isinstance(self.init, str):
            raise ParameterError(
                "must be 1 if init is an array or an atlas, because every run would start from "
                f"it; use a named start such as {setting('init', 'random')}",
                name="n_init",
                value=self.n_init,
            )

    def _target(self, data: Input, model: ChoiceModel, seed: int) -> Target:
        """Compute P, from the similarities or by the affinity."""
        strengths, average = data.strengths, True
        if strengths is None:
            affinity = self.affinity
            if not isinstance(affinity, Affinity):
                affinity = GaussianAffinity(self.perplexity)
            strengths = affinity.similarities(
                data.points if data.graph is None else data.graph, metric=self.metric,
                search=self.neighbors or NeighborSearch(),
                seed=drawn_seed(np.random.RandomState(seed)),
            )  # fmt: skip
            average = not affinity.joint
        if model.normalization == "joint":
            return joint_target(strengths, average=average, observed=data.observed)
        return conditional_target(
            strengths, keep_missing_mass=data.lacks_mass, observed=data.observed
        )

    def _start(self, data: Input, target: Target, model: ChoiceModel, k: int, seed: int) -> Start:
        """Return starting positions and weights of run k in float32, and the seed of its noise."""
        noise, n = drawn_seed(np.random.RandomState(seed)), len(data.labels)
        if self.n_maps > n:
            raise ParameterError(
                f"must be at most {n}, the number of objects", name="n_maps", value=self.n_maps
            )
        shape = (self.n_maps, n, self.n_components)
        generator = np.random.default_rng(noise)
        stated = None if self.optimizer is None else self.optimizer.start_spread
        spread, weight_spread = stated or (self._start_spread, self._start_spread)
        weights, proportions = generator.normal(0, weight_spread, shape[:2]), None
        name = self.init if isinstance(self.init, str) else ""
        if name == "auto" and stated is not None:
            name = "random"
        if isinstance(self.init, Atlas):
            positions, proportions = self.init.maps, self.init.proportions
        elif not name:
            positions = np.asarray(self.init)
            positions = positions[None] if positions.ndim == 2 else positions
        elif name == "personas" or (name == "auto" and self.n_maps > 1 and n >= _LEAST_TO_SPLIT):
            positions, proportions = persona_start(target.values, *shape[::2], generator)
        elif self.n_maps == 1 and name != "random" and k == 0:
            positions = start_positions(
                name, data.points, n, self.n_components,
                metric=self.metric, spread=spread, generator=generator,
            )[None]  # fmt: skip
        elif name in ("auto", "random") or k > 0:
            positions = generator.normal(0, spread, shape)
        else:
            raise ParameterError(
                f"must be 'auto', 'personas', 'random', an array of shape {shape} or an Atlas; "
                "the other starts are for one map",
                name="init",
                value=self.init,
            )
        if proportions is not None:
            weights = weights_from_proportions(proportions)
        check_start(positions, weights, shape)
        if not name and proportions is None:
            positions = separated(spread_out(positions, generator), generator)
        if model.mixing == "fixed" and not isinstance(self.init, Atlas):
            weights = np.zeros(shape[:2])
        # Optimizers work on flat views, so the arrays must be contiguous, which slices of an atlas
        # are not.
        flat = [np.array(values, np.float32, order="C") for values in (positions, weights)]
        return Start(Parameters((flat[0],), (flat[1],)), noise)
