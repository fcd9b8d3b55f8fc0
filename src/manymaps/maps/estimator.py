"""What all map estimators share: validation, the fit, and what it leaves.

    X -> target P -> objective(model, penalty) -> optimizer -> atlas

A subclass is thin: it says which model it is and which defaults it has
(`manymaps.maps.multiple_maps`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.affinities import PERPLEXITY, Affinity, GaussianAffinity
from manymaps.affinity.distances import METRIC, check_finite, known_distances
from manymaps.affinity.neighbors import NeighborGraph, NeighborPair, NeighborSearch, as_graph
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import threads
from manymaps.constraints import (
    ARRAY,
    FUNCTION,
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
from manymaps.data.validation import same_rows, validated
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.maps.insertion import Refinement, insert
from manymaps.maps.map_order import order_of_maps
from manymaps.maps.personas import persona_start
from manymaps.maps.pinned_start import pinned_start, random_start, ties_of
from manymaps.maps.pins import PIN, Pin, Pins, pins_of
from manymaps.maps.restarts import Restart, best_run, derived_seeds
from manymaps.maps.run import Plan, Run
from manymaps.maps.starts import STARTS, separated, start_positions
from manymaps.model.choice import ChoiceModel
from manymaps.model.cost import Cost
from manymaps.model.objective import TOLERANCE, Objective
from manymaps.model.observed import ObservedObjective, objective_of
from manymaps.model.parameters import FARTHEST, Parameters, weights_from_proportions
from manymaps.model.target import Target, conditional_target, joint_target
from manymaps.optimizers.descent import OPTIMIZER, Optimizer
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed

__all__ = ["FittedMaps", "MapEstimator", "plain_value"]

Data: TypeAlias = (
    Associations | Judgements | Vectors | NeighborGraph | NeighborPair | np.ndarray | sparse.sparray
)

AFFINITIES = ("auto", "precomputed")

# A line search does not bear forces that do not belong to the cost: it gets a hundredth of the
# tolerance.
_LINE_SEARCH = 0.01
# Fewer objects fit the cache in any order.
_LEAST_TO_ORDER = 2000
# A tenth of the distance at which a run counts as diverged, so that a start has room.
_FARTHEST_START = FARTHEST / 10
# Neighbours of fewer objects say little of groups.
_LEAST_TO_SPLIT = 100


class FittedMaps:
    """What an estimator with a fitted `atlas_` says of it."""

    atlas_: Atlas

    @property
    def maps_(self) -> np.ndarray:
        """Positions, shape (n_maps, n_objects, n_components)."""
        check_is_fitted(self, "atlas_")
        return self.atlas_.maps

    @property
    def proportions_(self) -> np.ndarray:
        """Mixing proportions, shape (n_maps, n_objects)."""
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


@dataclass(eq=False, repr=False, kw_only=True)
class MapEstimator(
    FittedMaps,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CheckedParameters,
    BaseEstimator,
    ABC,
):
    """Base of the estimators that fit maps to similarities.

    The parameters are the fields of a dataclass, which makes the constructor that scikit-learn
    reads; a subclass lists the fields that it adds and those whose default differs. It names its
    `ChoiceModel` and default optimizer.
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
        "pin": PIN,
        "n_init": [Whole(1)],
        "max_iter": [Whole(1)],
        "optimizer": OPTIMIZER,
        "tolerance": TOLERANCE,
        "callback": [FUNCTION, NONE],
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
    pin: Pin | None = None
    n_init: int = 1
    max_iter: int = 1000
    optimizer: Optimizer | None = None
    tolerance: float = 5e-3
    callback: Callable[[int, float, Callable[[], Atlas]], object] | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: bool = False

    method: ClassVar[str]
    _start_spread = 0.01

    @abstractmethod
    def _model(self) -> ChoiceModel:
        """The model that is fitted."""

    @abstractmethod
    def _default_optimizer(self) -> Optimizer:
        """The optimizer for `optimizer=None`."""

    def _objective(self, forward: Objective | ObservedObjective) -> Cost:
        """What is minimized: KL(P || Q), unless the estimator has another choice."""
        return forward

    @shows_progress
    def fit(
        self,
        X: Data,
        y: None = None,
        *,
        checkpoint: str | None = None,
        resume: str | None = None,
    ) -> Self:
        """Fit the maps.

        Parameters
        ----------
        X : Associations, Judgements, Vectors, NeighborGraph, (sparse) array or frame
            Of shape (n, n) or (n, n_features). An array or frame holds similarities with
            `affinity="precomputed"`, distances with `metric="precomputed"`, else vectors; `Trials`
            are counted, and of `Judgements` the average is fitted. The index of a frame, or else
            its one column of text, gives the labels of the atlas. Of sparse distances those that
            are stored count: a pair that is not stored is no pair of neighbours, as in
            scikit-learn, so that a distance of zero has to be stored; where every pair is, the map
            is that of the same table dense.
            A similarity that is NaN, or one of the `missing` of associations, was not judged: the
            pair does not count in the cost (`manymaps.model.observed`; up to 2,000 objects).
            Neighbours may also be a pair of arrays, (indices, distances) or (distances, indices),
            as other libraries give them (`manymaps.affinity.neighbors.as_graph`).
        y : None
            Ignored.
        checkpoint : path, optional
            Where to keep the state of the run: written every half minute, when the run is
            interrupted, and at its end. Of several runs (`n_init`) it holds all: those that have
            ended are not made again.
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
        DivergedError
            Where the cost does not stay finite. The fitted attributes are then those of the last
            maps whose cost was.
        """
        self._validate_params()
        X = as_graph(X if isinstance(X, Judgements) else as_associations(X))
        seeds = self._seeds()
        labels, data, target = self._read(X, _number_from(seeds[0]))
        n = target.values.shape[0]
        if self.n_maps > n:
            raise ParameterError(
                f"is more than the {n} objects; give at most {n}", name="n_maps", value=self.n_maps
            )
        pins = None
        if self.pin is not None:
            pins = pins_of(self.pin, labels, self.n_maps, self.n_components)
        similar = data is None and not isinstance(X, NeighborGraph)
        associations = strongest_associations(target.values) if similar else None
        with threads(self.n_jobs):
            optimizer = self.optimizer or self._default_optimizer()
            tolerance = self.tolerance * (1 if optimizer.tolerates_approximation else _LINE_SEARCH)
            order = target.neighborly_order() if n > _LEAST_TO_ORDER else None
            ordered = target if order is None else target.reordered(order)
            forward = objective_of(ordered, self._model(), self.penalty, tolerance)
            plan = Plan(
                objective=self._objective(forward),
                optimizer=optimizer,
                max_iter=self.max_iter,
                labels=labels,
                method=self.method,
                settings=self._settings(),
                order=order,
                forward=forward,
                pins=pins,
            )
            self.restarts_: tuple[Restart, ...]
            if self.n_init == 1:
                run = Run(plan, *self._start(data, target, pins, 0, seeds[0]))
                run.optimize(self.callback, checkpoint, resume)
                self.restarts_ = (Restart.of(run, seeds[0]),)
            else:
                start_of = partial(self._start, data, target, pins)
                how = self.callback, checkpoint, resume
                run, self.restarts_ = best_run(plan, start_of, seeds, *how)
        atlas = run.atlas()
        if isinstance(self.init, str) and pins is None:
            proportions = atlas.proportions if order is None else atlas.proportions[:, order]
            atlas = atlas.renumbered(order_of_maps(ordered.values, proportions))
        if self.n_init > 1:
            ends = [plain_value(list(asdict(one).values())[:3]) for one in self.restarts_]
            atlas = replace(atlas, parameters={**atlas.parameters, "restarts": ends})
        vectors = None if self._metric_name == "precomputed" else data
        self.atlas_ = replace(atlas, vectors=vectors, associations=associations)
        self.kl_divergence_ = run.kl
        self.n_iter_ = run.state.iteration
        self.converged_ = run.converged
        if run.failure:
            raise run.failure
        return self

    def fit_transform(self, X: Data, y: None = None, **fit_params: Any) -> np.ndarray:
        """Fit, and give the positions of all maps side by side.

        Returns
        -------
        ndarray of shape (n, n_maps * n_components)
        """
        maps = self.fit(X, y, **fit_params).maps_
        return np.ascontiguousarray(maps.transpose(1, 0, 2).reshape(maps.shape[1], -1))

    def transform(self, X: Vectors | np.ndarray | sparse.sparray) -> np.ndarray:
        """Places of new objects in the fitted maps, which stay as they are.

        A row that was fitted keeps its place; of fitted rows that are equal, but stand apart in the
        maps, it is that of the first, unless X is all that was fitted. Others are inserted at the
        weighted geometric median of their neighbours and then refined (`manymaps.maps.insertion`),
        each as if it were alone; `insert` also says which resemble nothing that was fitted.

        Parameters
        ----------
        X : Vectors, (sparse) array or frame of shape (k, n_features) or (k, n)
            What `fit` was given: vectors, or with `affinity="precomputed"` similarities to the n
            fitted objects.

        Returns
        -------
        ndarray of shape (k, n_maps * n_components)

        Raises
        ------
        DataError
            For rows that cannot be compared with the fitted ones.
        ParameterError
            Where distances, neighbours or associations were fitted, of which no rows are kept that
            new ones could be compared with.
        """
        check_is_fitted(self, "atlas_")
        similar = self._affinity_name == "precomputed"
        known = self._fitted_rows if similar else self.atlas_.vectors
        if known is None:
            raise ParameterError(
                "transform needs fitted vectors, or an array of similarities that was fitted with "
                "affinity='precomputed'; "
                "insert(atlas, {label: {known label: similarity}}) takes similarities to any atlas"
            )
        rows = validated(self, labelled_values(X)[1], reset=False, accept_sparse="csr")
        fitted = same_rows(rows, known)
        fresh = np.flatnonzero(fitted < 0)
        # A fitted row may have missing values; a new one with some has no defined position.
        check_finite(rows if (fitted < 0).all() else rows[fresh])
        places = self.maps_[:, fitted]
        if len(fresh):
            with threads(self.n_jobs), warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                inserted = insert(
                    self.atlas_,
                    rows[fresh],
                    labels=_free_labels(fresh, self.atlas_.labels),
                    similarity="precomputed" if similar else self.metric,
                    refine=Refinement(metric=self.metric),
                )
            places[:, fresh] = inserted.maps
        return np.ascontiguousarray(places.transpose(1, 0, 2).reshape(rows.shape[0], -1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (self._affinity_name, self._metric_name)
        tags.input_tags.positive_only = tags.input_tags.pairwise
        tags.input_tags.allow_nan = self._affinity_name == "precomputed"
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = []  # maps are float32, whatever X is
        return tags

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_init > 1 and not isinstance(self.init, str):
            raise ParameterError(
                f"needs a start by name, such as {setting('init', 'random')}; an array or an atlas "
                "is the same in every run",
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
        """Labels, the vectors or distances if there are any, and P."""
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
        own_labels, values = labelled_values(X, square=precomputed)
        if self._metric_name == "precomputed" and self._affinity_name != "precomputed":
            values = known_distances(values)
        data = validated(self, values, accept_sparse="csr", ensure_min_samples=2)
        labels = own_labels or tuple(str(i) for i in range(data.shape[0]))
        if precomputed and data.shape[0] != data.shape[1]:
            what = "similarities" if self._affinity_name == "precomputed" else "distances"
            raise DataError(
                f"X has {data.shape[0]} rows and {data.shape[1]} columns; "
                f"a table of {what} must be square"
            )
        if self._affinity_name == "precomputed":
            self._fitted_rows = data
            judged = associations_of(labels, data)
            return labels, None, self._target(judged.strengths, observed=_judged(judged))
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
        """The parameters as plain values, for the atlas and the checkpoint.

        The perplexity is the one in use: that of an affinity that has its own.
        """
        settings = {
            key: plain_value(value)
            for key, value in self.get_params(deep=False).items()
            if key not in ("callback", "n_jobs", "verbose", "init", "pin")
        }
        perplexity = getattr(self.affinity, "perplexity", None)
        if perplexity is None:
            return settings
        return settings | {"perplexity": plain_value(perplexity)}

    def _seeds(self) -> list[int]:
        """The seed of each run; that of the first is the seed of the whole."""
        first = drawn_seed(self.random_state)
        return [first, *derived_seeds(first, self.n_init - 1)]

    def _start(
        self, data: Any, target: Target, pins: Pins | None, k: int, seed: int
    ) -> tuple[Parameters, int]:
        """Positions and weights from which run k starts, in float32, and the seed of its noise."""
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
        elif pins is not None:
            at_random = self.init == "random" or k > 0
            positions, proportions = self._pinned_start(target, pins, spread, generator, at_random)
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
        if not isinstance(self.init, str | Atlas) and pins is None:
            positions = separated(positions, generator)
        if self._model().mixing == "fixed" and pins is None and not isinstance(self.init, Atlas):
            weights = np.zeros(shape[:2])
        if pins is not None:
            positions, weights = pins.placed(positions, weights)
        # Optimizers step along flat views, so the arrays are contiguous, unlike parts of an atlas.
        flat = [np.array(values, np.float32, order="C") for values in (positions, weights)]
        return Parameters((flat[0],), (flat[1],)), noise

    @staticmethod
    def _check_start(
        positions: np.ndarray, weights: np.ndarray, shape: tuple[int, int, int]
    ) -> None:
        if positions.shape != shape or weights.shape != shape[:2]:
            raise ParameterError(f"init has shape {positions.shape}; the fit needs {shape}")
        if not np.isfinite(positions).all():
            raise ParameterError("init holds a value that is not finite")
        reach = np.abs(positions).max()
        if reach > _FARTHEST_START:
            raise ParameterError(
                f"init has points {reach:g} from the origin; start at most {_FARTHEST_START:g} away"
            )

    def _pinned_start(
        self,
        target: Target,
        pins: Pins,
        spread: float,
        generator: np.random.Generator,
        at_random: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions and proportions of a start around pins."""
        if self.init not in ("auto", "random"):
            raise ParameterError(
                "has axes of its own, and the pins have theirs; with pins give 'auto' (beside the "
                "partners), 'random', an array or an Atlas",
                name="init",
                value=self.init,
            )
        if at_random:
            return random_start(pins, spread, generator)
        return pinned_start(ties_of(target.values), pins, spread, generator)

    def _named_start(
        self, name: str, data: Any, target: Target, spread: float, generator: np.random.Generator
    ) -> np.ndarray:
        """The start of that name, shape (n_maps, n, n_components)."""
        shape = (self.n_maps, target.values.shape[0], self.n_components)
        if self.n_maps == 1 and name != "random":
            return start_positions(
                name, data, target, self.n_components,
                metric=self.metric, spread=spread, generator=generator,
            )[None]  # fmt: skip
        if name not in ("auto", "random"):
            raise ParameterError(
                f"is not one of auto, personas, random, an array of shape {shape}, an Atlas; "
                "other starts are for one map",
                name="init",
                value=self.init,
            )
        return generator.normal(0, spread, shape)


def _judged(data: Associations) -> np.ndarray | None:
    """Which pairs were judged, where some were not; an object without any is refused."""
    observed = data.observed
    if observed is not None:
        alone = np.flatnonzero(~(observed.any(axis=0) | observed.any(axis=1)))
        if len(alone):
            more = f", nor have {len(alone) - 1:,} more" if len(alone) > 1 else ""
            raise DataError(
                f"object {alone[0]} ({data.labels[alone[0]]!r}) has no known similarity to any "
                f"other{more}; leave such objects out"
            )
    return observed


def _number_from(seed: int) -> int:
    """A number that follows from a seed."""
    return int(np.random.RandomState(seed).randint(2**31 - 1))


def plain_value(value: Any) -> Any:
    """A parameter as JSON takes it; what has numbers to come says nothing of those that came."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float | str | bool | None):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [plain_value(part) for part in value]
    if isinstance(value, np.random.RandomState):
        return None
    return value.written() if isinstance(value, Affinity) else repr(value)


def _free_labels(rows: np.ndarray, taken: Sequence[str]) -> list[str]:
    """Names of new rows by their numbers, none of which is taken."""
    known, labels = set(taken), []
    for row in rows:
        label = f"new {row}"
        while label in known:
            label += "'"
        labels.append(label)
    return labels
