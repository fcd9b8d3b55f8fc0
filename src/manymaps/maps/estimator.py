"""Base class of the map estimators, with validation, `fit` and the fitted attributes.

    X -> target P -> objective(model, penalty) -> optimizer -> atlas

A subclass only defines its model and its defaults (`manymaps.maps.multiple_maps`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, metadata_routing
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.affinities import PERPLEXITY, Affinity, GaussianAffinity
from manymaps.affinity.distances import METRIC, known_distances
from manymaps.affinity.neighbors import NeighborGraph, NeighborPair, NeighborSearch, as_graph
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.atlas import Atlas
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
)
from manymaps.data.associations import Associations, associations_of
from manymaps.data.frame_labels import labelled_values
from manymaps.data.judgements import Judgements
from manymaps.data.trials import as_associations
from manymaps.data.validation import same_rows_of, validated
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.maps.blocks import RowBlocks, insert_blocks
from manymaps.maps.insertion import Refinement
from manymaps.maps.map_order import order_of_maps
from manymaps.maps.personas import persona_start
from manymaps.maps.restarts import Restart, best_run, derived_seeds
from manymaps.maps.run import Callback, Plan, Run
from manymaps.maps.starts import STARTS, separated, spread_out, start_positions
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import TOLERANCE
from manymaps.model.observed import objective_of
from manymaps.model.parameters import FARTHEST, Parameters, weights_from_proportions
from manymaps.model.target import Target, conditional_target, joint_target
from manymaps.optimizers.descent import OPTIMIZER, Optimizer
from manymaps.progress import shows_progress, work
from manymaps.seeds import drawn_seed

__all__ = ["FittedMaps", "MapEstimator", "as_data", "plain_value"]

Data: TypeAlias = (
    Associations | Judgements | Vectors | NeighborGraph | NeighborPair | np.ndarray | sparse.sparray
)

AFFINITIES = ("auto", "precomputed")

# A line search fails if the forces are not the gradient of the cost, so it uses a hundredth of the
# tolerance.
_LINE_SEARCH = 0.01
# With fewer objects, all data fit into the cache regardless of their order.
_LEAST_TO_ORDER = 2000
# A tenth of the distance at which a run is considered diverged, so that the points can still move
# outwards.
_FARTHEST_START = FARTHEST / 10
# With fewer objects, the neighbours contain too little information about groups.
_LEAST_TO_SPLIT = 100
# Parameters of scikit-learn, openTSNE and UMAP that have another name here, or no counterpart.
_ELSEWHERE = {
    "n_iter": "use max_iter, which includes the iterations of early exaggeration",
    "early_exaggeration_iter": "use early_exaggeration_iter of TSNE",
    "exaggeration": "use late_exaggeration of TSNE",
    "method": "omit it; use tolerance=0 for exact sums",
    "negative_gradient_method": "omit it; use tolerance=0 for exact sums",
    "angle": "use tolerance, the relative error of approximate sums",
    "theta": "use tolerance, the relative error of approximate sums",
    "callbacks": "use callback, a function or a list of functions",
    "initialization": "use init",
    "n_neighbors": "use perplexity, the effective number of neighbours",
    "min_dist": "omit it; it has no counterpart",
}


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


class _ParameterNames:
    """Check of parameter names.

    It is a base class of `MapEstimator`, because `inspect.signature` prefers a constructor
    `__new__` over an `__init__` of the same class.
    """

    def __new__(cls, *_values: Any, **settings: Any) -> Self:
        """Reject parameters of other programs with the name of the counterpart."""
        known = {one.name for one in fields(cast(Any, cls))}
        for name in settings:
            if name in _ELSEWHERE and name not in known:
                raise TypeError(f"{cls.__name__} has no parameter {name!r}; {_ELSEWHERE[name]}")
        return super().__new__(cls)


@dataclass(eq=False, repr=False, kw_only=True)
class MapEstimator(
    FittedMaps,
    _ParameterNames,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CheckedParameters,
    BaseEstimator,
    ABC,
):
    """Base class of the estimators that fit maps to similarities.

    The parameters are the fields of a dataclass, which generates the constructor that scikit-learn
    inspects. A subclass lists additional fields and fields with a different default. It also
    defines its `ChoiceModel` and its default optimizer.
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
    _start_spread = 0.01

    @abstractmethod
    def _model(self) -> ChoiceModel:
        """Return the model to fit."""

    @abstractmethod
    def _default_optimizer(self, n_objects: int) -> Optimizer:
        """Return the optimizer used if `optimizer` is None."""

    def _factors(self, target: Target) -> np.ndarray | None:
        """Return the fixed factors b_j of the model, if any, shape (n,)."""
        return None

    @shows_progress
    def fit(
        self,
        X: Data,
        y: None = None,
    ) -> Self:
        """Fit the maps.

        Parameters
        ----------
        X : Associations, Judgements, Vectors, NeighborGraph, (sparse) array or frame
            The data, of shape (n, n) or (n, n_features). An array or frame contains similarities
            with `affinity="precomputed"`, distances with `metric="precomputed"`, and vectors
            otherwise. `Trials` are counted, and `Judgements` are averaged. If X is a frame, the
            labels of the atlas are its index or, if it has a default index, its only text column.
            In a sparse table of distances, only stored entries are used, as in scikit-learn. Pairs
            without an entry are not neighbours, so distances of zero must be stored explicitly. If
            every pair is stored, the map is the same as for the dense table. A similarity that is
            NaN, or listed in `missing` of the associations, was not judged and is excluded from the
            cost (`manymaps.model.observed`; up to 2,000 objects). Neighbours may also be passed as
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
        X = as_data(X)
        seeds = self._seeds()
        labels, data, target = self._read(X, _number_from(seeds[0]))
        n = target.values.shape[0]
        if self.n_maps > n:
            raise ParameterError(
                f"must be at most {n}, the number of objects", name="n_maps", value=self.n_maps
            )
        similar = data is None and not isinstance(X, NeighborGraph)
        associations = stored_associations(target.values) if similar else None
        with threads(self.n_jobs):
            # A start and a run need memory of their own, so each has only one copy of P beside it.
            start = self._start(data, target, 0, seeds[0]) if self.n_init == 1 else None
            order = target.neighborly_order() if n > _LEAST_TO_ORDER else None
            factors, single = self._factors(target), start is not None
            ordered = target if order is None else target.reordered(order, consumed=single)
            plan = self._plan(labels, ordered, order, factors)
            self.restarts_: tuple[Restart, ...]
            if start is not None:
                del target
                run = Run(plan, *start)
                run.optimize(self.callback)
                self.restarts_ = (Restart.of(run, seeds[0]),)
            else:
                start_of = partial(self._start, data, target)
                run, self.restarts_ = best_run(plan, start_of, seeds, self.callback)
        atlas = run.atlas()
        if isinstance(self.init, str):
            proportions = atlas.proportions if order is None else atlas.proportions[:, order]
            with work("numbering the maps"):
                atlas = atlas.renumbered(order_of_maps(ordered.values, proportions))
        if self.n_init > 1:
            ends = [plain_value(list(asdict(one).values())[:3]) for one in self.restarts_]
            atlas = replace(atlas, parameters={**atlas.parameters, "restarts": ends})
        vectors = None if self._metric_name == "precomputed" else data
        covered = X.covered if isinstance(X, Associations) else None
        self.atlas_ = replace(atlas, vectors=vectors, associations=associations, covered=covered)
        self.kl_divergence_ = run.kl
        self.n_iter_ = run.state.iteration
        self.converged_ = run.converged
        if run.failure:
            raise run.failure
        return self

    def _plan(
        self,
        labels: tuple[str, ...],
        ordered: Target,
        order: np.ndarray | None,
        factors: np.ndarray | None,
    ) -> Plan:
        """Return the settings of all runs for a target in this order of the objects."""
        optimizer = self.optimizer or self._default_optimizer(len(labels))
        tolerance = self.tolerance * (1 if optimizer.tolerates_approximation else _LINE_SEARCH)
        placed = factors if factors is None or order is None else factors[order]
        objective = objective_of(ordered, self._model(), self.penalty, tolerance, placed)
        return Plan(
            objective=objective,
            optimizer=optimizer,
            max_iter=self.max_iter,
            labels=labels,
            method=self.method,
            settings=self._settings(),
            order=order,
            factors=factors,
        )

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

        The rows are inserted in blocks of 4,096. A memory-mapped array (`numpy.load` with
        `mmap_mode="r"`) is read block by block. Apart from the result, the memory therefore depends
        only on the fitted data.

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
        similar = self._affinity_name == "precomputed"
        known = self._fitted_rows if similar else self.atlas_.vectors
        if known is None:
            raise ParameterError(
                "transform needs fitted vectors, or an array of similarities that was fitted "
                "with affinity='precomputed'; for any atlas use insert(atlas, {label: {known "
                "label: similarity}})"
            )
        rows = labelled_values(X)[1]
        # The rows of a memory-mapped file are validated when their block is read.
        read = partial(validated, self, reset=False) if isinstance(rows, np.memmap) else None
        if read is None or rows.ndim != 2 or len(rows) == 0:
            rows, read = validated(self, rows, reset=False, accept_sparse="csr"), None
        blocks = RowBlocks(rows, read)
        fitted = same_rows_of(blocks, known)
        blocks.check_finite(fitted < 0)
        places = self.maps_[:, fitted]
        how = refine or Refinement()
        settings = {
            "similarity": "precomputed" if similar else self.metric,
            "refine": replace(how, metric=self.metric) if how.metric is None else how,
        }
        with threads(self.n_jobs), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            for numbers, positions in insert_blocks(self.atlas_, blocks, fitted < 0, settings):
                places[:, numbers] = positions
        return np.ascontiguousarray(places.transpose(1, 0, 2).reshape(rows.shape[0], -1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (self._affinity_name, self._metric_name)
        tags.input_tags.positive_only = tags.input_tags.pairwise
        tags.input_tags.allow_nan = self._affinity_name == "precomputed"
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

    @property
    def _affinity_name(self) -> str:
        return self.affinity if isinstance(self.affinity, str) else ""

    @property
    def _metric_name(self) -> str:
        return self.metric if isinstance(self.metric, str) else ""

    def _read(self, X: Data, seed: int) -> tuple[tuple[str, ...], Any, Target]:
        """Read the labels, the vectors or distances (if any), and P."""
        self._fitted_rows: Any = None
        if isinstance(X, Associations | Judgements):
            self.n_features_in_ = X.n_objects
            norms = X if isinstance(X, Associations) else X.associations()
            target = self._target(
                norms.strengths, keep_missing_mass=norms is X, observed=_judged(norms)
            )
            return tuple(X.labels), None, target
        if isinstance(X, NeighborGraph):
            self.n_features_in_ = len(X.indices)
            labels = tuple(str(i) for i in range(len(X.indices)))
            return labels, None, self._from_affinity(X, seed)
        precomputed = "precomputed" in (self._affinity_name, self._metric_name)
        attrs: Any = getattr(X, "attrs", {})
        if "n_absent" in attrs and not precomputed:  # a frame of read_similarities
            raise DataError(
                f"X contains similarities of pairs ({attrs['source']}); use "
                f"{setting('affinity', 'precomputed')}, or pass vectors"
            )
        own_labels, values = labelled_values(X, square=precomputed)
        if self._metric_name == "precomputed" and self._affinity_name != "precomputed":
            values = known_distances(values)
        data = validated(self, values, accept_sparse="csr", ensure_min_samples=2)
        labels = own_labels or tuple(str(i) for i in range(data.shape[0]))
        if precomputed and data.shape[0] != data.shape[1]:
            what = "similarities" if self._affinity_name == "precomputed" else "distances"
            raise DataError(
                f"X has {data.shape[0]} rows and {data.shape[1]} columns; a table of {what} must "
                "be square"
            )
        if self._affinity_name == "precomputed":
            self._fitted_rows = data
            judged = associations_of(labels, data)
            target = self._target(judged.strengths, observed=_judged(judged))
            return labels, None, target
        return labels, data, self._from_affinity(data, seed)

    def _from_affinity(self, data: Any, seed: int) -> Target:
        affinity = self.affinity
        if not isinstance(affinity, Affinity):
            affinity = GaussianAffinity(self.perplexity)
        with threads(self.n_jobs):
            similarities = affinity.similarities(
                data,
                metric=self.metric,
                search=self.neighbors or NeighborSearch(),
                seed=seed,
            )
        return self._target(similarities, average=not affinity.joint)

    def _target(
        self,
        similarities: sparse.sparray,
        *,
        keep_missing_mass: bool = False,
        average: bool = True,
        observed: np.ndarray | None = None,
    ) -> Target:
        if self._model().normalization == "joint":
            return joint_target(similarities, average=average, observed=observed)
        return conditional_target(
            similarities, keep_missing_mass=keep_missing_mass, observed=observed
        )

    def _settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for the atlas.

        The perplexity is the value in use, which may be defined by the affinity.
        """
        settings = {
            key: plain_value(value)
            for key, value in self.get_params(deep=False).items()
            if key not in ("callback", "n_jobs", "verbose", "init")
        }
        perplexity = getattr(self.affinity, "perplexity", None)
        if perplexity is None:
            return settings
        return settings | {"perplexity": plain_value(perplexity)}

    def _seeds(self) -> list[int]:
        """Return the seed of each run; the first run uses the seed of the whole fit."""
        first = drawn_seed(self.random_state)
        return [first, *derived_seeds(first, self.n_init - 1)]

    def _start(self, data: Any, target: Target, k: int, seed: int) -> tuple[Parameters, int]:
        """Return starting positions and weights of run k in float32, and the seed of its noise."""
        noise, n = _number_from(seed), target.values.shape[0]
        shape = (self.n_maps, n, self.n_components)
        generator = np.random.default_rng(noise)
        stated = None if self.optimizer is None else self.optimizer.start_spread
        spread, weight_spread = stated or (self._start_spread, self._start_spread)
        weights, proportions = generator.normal(0, weight_spread, shape[:2]), None
        if isinstance(self.init, Atlas):
            positions, proportions = self.init.maps, self.init.proportions
        elif not isinstance(self.init, str):
            positions = np.asarray(self.init)
            positions = positions[None] if positions.ndim == 2 else positions
        else:
            name = "random" if self.init == "auto" and stated is not None else self.init
            by_itself = name == "auto" and self.n_maps > 1 and n >= _LEAST_TO_SPLIT
            if name == "personas" or by_itself:
                positions, proportions = persona_start(
                    target.values, self.n_maps, self.n_components, generator
                )
            else:
                name = name if k == 0 else "random"
                positions = self._named_start(name, data, target, spread, generator)
        if proportions is not None:
            weights = weights_from_proportions(proportions)
        self._check_start(positions, weights, shape)
        if not isinstance(self.init, str | Atlas):
            positions = separated(spread_out(positions, generator), generator)
        if self._model().mixing == "fixed" and not isinstance(self.init, Atlas):
            weights = np.zeros(shape[:2])
        # Optimizers work on flat views, so the arrays must be contiguous, which slices of an atlas
        # are not.
        flat = [np.array(values, np.float32, order="C") for values in (positions, weights)]
        return Parameters((flat[0],), (flat[1],)), noise

    @staticmethod
    def _check_start(
        positions: np.ndarray, weights: np.ndarray, shape: tuple[int, int, int]
    ) -> None:
        if positions.shape != shape or weights.shape != shape[:2]:
            raise ParameterError(f"init has shape {positions.shape}; expected {shape}")
        if not np.isfinite(positions).all():
            raise ParameterError("init contains a value that is not finite")
        reach = np.abs(positions).max()
        if reach > _FARTHEST_START:
            raise ParameterError(
                f"init has points {reach:g} from the origin; expected at most {_FARTHEST_START:g}"
            )

    def _named_start(
        self, name: str, data: Any, target: Target, spread: float, generator: np.random.Generator
    ) -> np.ndarray:
        """Compute the named start, of shape (n_maps, n, n_components)."""
        shape = (self.n_maps, target.values.shape[0], self.n_components)
        if self.n_maps == 1 and name != "random":
            return start_positions(
                name, data, target, self.n_components,
                metric=self.metric, spread=spread, generator=generator,
            )[None]  # fmt: skip
        if name not in ("auto", "random"):
            raise ParameterError(
                f"must be 'auto', 'personas', 'random', an array of shape {shape} or an Atlas; "
                "the other starts are for one map",
                name="init",
                value=self.init,
            )
        return generator.normal(0, spread, shape)


def _judged(data: Associations) -> np.ndarray | None:
    """Mark the judged pairs (None if all are judged); raise if an object has no judged pair."""
    observed = data.observed
    if observed is not None:
        alone = np.flatnonzero(~(observed.any(axis=0) | observed.any(axis=1)))
        if len(alone):
            more = f", and the same applies to {len(alone) - 1:,} more" if len(alone) > 1 else ""
            raise DataError(
                f"object {alone[0]} ({data.labels[alone[0]]!r}) has no known similarity to any "
                f"other object{more}; remove such objects"
            )
    return observed


def _number_from(seed: int) -> int:
    """Derive a number from a seed."""
    return int(np.random.RandomState(seed).randint(2**31 - 1))


def as_data(X: Any) -> Any:
    """Convert trials to associations, and pairs of arrays to graphs of neighbours."""
    return as_graph(X if isinstance(X, Judgements) else as_associations(X))


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
    return value.written() if isinstance(value, Affinity) else repr(value)
