"""Other models of meaning as models of association, for comparison with maps.

    model                    what it uses of a cue                           source
    Uniform                  nothing                                         -
    Popularity               how often each word is a response to any cue    -
    SpreadingActivation      where activation spreads in a few steps         Collins & Loftus 1975

`lib.topics` contains topic models, and `lib.spaces` models with a position for each word. All of
them predict

    q(j|i) = (1 - smoothing) a_ij b_j^popularity / sum_k a_ik b_k^popularity
             + smoothing ((1 - uniform) b_j / sum_{k != i} b_k + uniform / (n - 1)),     j != i

from the model's own activation a_ij >= 0 and the popularity b_j = sum_i p_ij of the training part,
to which a small number is added. Every held-out associate has some probability, and a cue without
activation has the second line only. `tune` chooses parameters by the validation part.

**Held-out pairs are never known pairs.** Probability on the training part counts as an error, like
probability on unrelated words. Activation that leaves out direct associates (`first_step=2`) can
therefore gain up to log(1 / 0.2) nats on each held-out pair, and a model fitted to the training
part cannot. Ranks do not depend on it, because they leave out known associates.

Shapes: train (n, n) sparse, row i the responses to cue i, with a sum of at most 1; activation
(len(rows), n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.network import association_network
from manymaps.checks import check_whole
from manymaps.constraints import Allowed, CheckedParameters, Number, Whole
from manymaps.errors import DataError
from manymaps.prediction.held_out import Predictor, Split, checked_part, prediction_error
from manymaps.seeds import drawn_seed

__all__ = [
    "NOT_NEGATIVE", "POSITIVE", "SHARE", "AssociationModel", "Averaged", "GridPoint", "Popularity",
    "SpreadingActivation", "Uniform", "tune",
]  # fmt: skip

# Responses that do not occur in the training part may occur in the test part.
_UNSEEN = 0.01
SHARE = Number(least=0, most=1)
POSITIVE = Number(above=0)
NOT_NEGATIVE = Number(least=0)

Model = TypeVar("Model", bound="AssociationModel")


class AssociationModel(CheckedParameters, BaseEstimator, ABC):
    """Base of the models: popularity, smoothing, normalization and checks.

    A subclass defines how it is fitted and how much a cue activates each object.
    """

    #: Parameters that are used after the fit only, so that another value needs no new fit.
    reading: ClassVar[frozenset[str]] = frozenset({"smoothing", "uniform", "popularity"})

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "smoothing": [SHARE],
        "uniform": [SHARE],
        "popularity": [Number()],
    }

    smoothing: float
    uniform: float = 0.1
    popularity: float = 0.0

    @abstractmethod
    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        """Learn from a checked training part."""

    @abstractmethod
    def _activation(self, rows: np.ndarray) -> np.ndarray:
        """Compute a new array (len(rows), n), at least 0, of any scale per row."""

    def fit(self, train: sparse.csr_array, *, random_state: int | None = None) -> Self:
        """Fit to the training part: p of the full data for the pairs that are in it.

        If `random_state` is None, a model that draws takes one seed from NumPy's global state.

        Raises
        ------
        DataError
            If the table is empty or not square, has negative or non-finite values or self pairs, or
            has rows that sum to more than 1.
        ParameterError
            If a parameter is out of its range.
        """
        self._validate_params()
        train = checked_part(train, "training")
        self.popularity_ = np.asarray(train.sum(axis=0)).ravel() + _UNSEEN
        self._fit(train, random_state)
        return self

    def probabilities(self, rows: np.ndarray | Sequence[int]) -> np.ndarray:
        """Compute q(j|i) of cues, shape (len(rows), n); rows sum to 1 and are 0 at their cue."""
        check_is_fitted(self, "popularity_")
        self._validate_params()
        rows = np.asarray(rows, np.int64)
        at, b = np.arange(len(rows)), self.popularity_
        floor = np.tile((1 - self.uniform) * b, (len(rows), 1)) / (b.sum() - b[rows])[:, None]
        floor += self.uniform / (len(b) - 1)
        floor[at, rows] = 0.0
        q = np.asarray(self._activation(rows), np.float64)
        if self.popularity:
            q *= b**self.popularity
        q[at, rows] = 0.0
        sums = q.sum(axis=1, keepdims=True)
        known = sums > 0
        q *= np.where(known, (1 - self.smoothing) / np.where(known, sums, 1.0), 0.0)
        q += np.where(known, self.smoothing, 1.0) * floor
        return q

    def _check_counts(self, n_objects: int, **least: int) -> None:
        """Check that each parameter is an integer from its minimum to the number of objects - 1."""
        for name, low in least.items():
            why = f", for there are {n_objects:,} objects"
            check_whole(name, getattr(self, name), low, n_objects - 1, why=why)


class Uniform(AssociationModel):
    """The same probability for every object: q(j|i) = 1 / (n - 1).

    Examples
    --------
    >>> Uniform().fit(sparse.csr_array([[0, 1, 0], [1, 0, 0], [0, 1, 0]])).probabilities([1])
    array([[0.5, 0. , 0.5]])
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {}

    smoothing = 1.0
    uniform = 1.0

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        pass

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        return np.zeros((len(rows), len(self.popularity_)))


class Popularity(AssociationModel):
    """The same prediction for every cue: how often j is a response in the training part.

    Parameters
    ----------
    uniform : float in [0, 1]
        Weight of the uniform model.

    Examples
    --------
    >>> ties = sparse.csr_array([[0, 1, 0], [1, 0, 0], [0, 1, 0]])
    >>> Popularity(uniform=0).fit(ties).probabilities([0]).round(3)
    array([[0.   , 0.995, 0.005]])
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {"uniform": [SHARE]}

    smoothing = 1.0

    def __init__(self, *, uniform: float = 0.1):
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        pass

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        return np.zeros((len(rows), len(self.popularity_)))


class SpreadingActivation(AssociationModel):
    """Activation that spreads from a cue over the known associations.

        a_i = sum_{t = first_step}^{steps}  decay^t  e_i W^t
        W_ij ~ (1 - backward) p_ij^power + backward p_ji^power,     rows normalized

    (Collins & Loftus 1975; the form of Nelson, McEvoy & Pointek 2003 has two steps of spread.)

    Parameters
    ----------
    steps, first_step : int
        Lengths of the walks that count. From 2 on, direct associates do not count, because
        held-out associates are never known ones (see the module). With 1, q describes all
        associates.
    decay : float > 0
        Weight of each further step.
    backward : float in [0, 1]
        Weight of associations against their direction.
    power : float > 0
        Exponent of the strengths; below 1, weak ones count nearly as much as strong ones.
    popularity : float
        Exponent of an associate's popularity.
    smoothing, uniform : float in [0, 1]
        See the module.

    Examples
    --------
    >>> chain = sparse.csr_array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0.0]])
    >>> model = SpreadingActivation(backward=0, steps=2, popularity=0, smoothing=0).fit(chain)
    >>> model.probabilities([0])
    array([[0., 0., 1., 0.]])
    """

    reading = AssociationModel.reading | {"steps", "first_step", "decay"}
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **AssociationModel._parameter_constraints,
        "steps": [Whole(1)],
        "first_step": [Whole(1)],
        "decay": [POSITIVE],
        "backward": [SHARE],
        "power": [POSITIVE],
    }

    def __init__(
        self,
        *,
        steps: int = 4,
        first_step: int = 2,
        decay: float = 0.2,
        backward: float = 0.35,
        power: float = 0.65,
        popularity: float = 0.25,
        smoothing: float = 0.02,
        uniform: float = 0.1,
    ):
        self.steps = steps
        self.first_step = first_step
        self.decay = decay
        self.backward = backward
        self.power = power
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        network = association_network(train, power=self.power, backward=self.backward)
        self.network_ = normalize(network, "l1")

    def _validate_params(self) -> None:
        super()._validate_params()
        check_whole("steps", self.steps, self.first_step)

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        back = sparse.csr_array(self.network_.T)
        now = self.network_[rows].toarray().T
        total = now.copy() if self.first_step == 1 else np.zeros_like(now)
        for step in range(2, self.steps + 1):
            now = back @ now
            if step >= self.first_step:
                total += self.decay ** (step - self.first_step) * now
        return np.ascontiguousarray(total.T)


@dataclass(frozen=True)
class GridPoint:
    """One choice of parameters and its error on the validation part.

    Attributes
    ----------
    parameters : dict of str to value
    validation : float
        Error on the validation part; infinite if the point failed.
    failure : str
        Why it failed; empty if it did not.
    """

    parameters: dict[str, Any]
    validation: float
    failure: str = ""


def tune(
    model_class: type[Model],
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    split: Split,
    random_state: int | None = None,
) -> tuple[Model, tuple[GridPoint, ...]]:
    """Choose parameters by the validation part; the test part is not used.

    Parameters
    ----------
    model_class : subclass of AssociationModel
    grid : mapping of parameter to values, or several such mappings
        Every combination is tried. Points that differ only in parameters used after the fit share
        one fit.
    split : Split
    random_state : int, RandomState or None
        Seed of each fit; drawn once, from NumPy's global state for None.

    Returns
    -------
    best : fitted model
        The model of the lowest validation error, the first among equals.
    table : tuple of GridPoint
        In the order of the grid. A point that fails is recorded, and the others go on.

    Raises
    ------
    DataError
        If the validation part is empty, or if every point failed.

    Examples
    --------
    >>> from manymaps.prediction.held_out import split_associations
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> split = split_associations(ring, random_state=0)
    >>> best, table = tune(SpreadingActivation, {"steps": [2, 3], "decay": [0.5, -1]}, split)
    >>> best.decay, len(table), [point.failure for point in table if point.failure][0]
    (0.5, 4, 'decay=-1 must be a finite number above 0')
    """
    from sklearn.model_selection import ParameterGrid

    if split.validation.nnz == 0:
        raise DataError("the validation part holds no association; nothing can be tuned by it")
    points = list(ParameterGrid(grid))
    seed = drawn_seed(random_state)
    order = sorted(range(len(points)), key=lambda k: _fit_key(model_class, points[k]))
    table: dict[int, GridPoint] = {}
    best, lowest, fitted, key = None, (np.inf, -1), None, None
    for k in order:
        try:
            if fitted is None or _fit_key(model_class, points[k]) != key:
                fitted, key = None, _fit_key(model_class, points[k])
                fitted = model_class(**points[k]).fit(split.train, random_state=seed)
            model = _with_parameters(fitted, points[k])
            error = prediction_error(model.probabilities, split.validation, split.n_cues)
        except (ArithmeticError, MemoryError, RuntimeError, TypeError, ValueError) as problem:
            table[k] = GridPoint(points[k], np.inf, str(problem) or type(problem).__name__)
            continue
        table[k] = GridPoint(points[k], error)
        if np.isfinite(error) and (best is None or (error, k) < lowest):
            best, lowest = model, (error, k)
    if best is None:
        raise DataError(
            f"none of the {len(points)} points of the grid has a finite validation error; the "
            f"first: {table[0].failure or 'an associate without probability'}"
        )
    return best, tuple(table[k] for k in range(len(points)))


def _fit_key(model_class: type[AssociationModel], point: Mapping[str, Any]) -> str:
    """Return a key that points with the same fit share."""
    return repr([item for item in sorted(point.items()) if item[0] not in model_class.reading])


def _with_parameters(fitted: Model, point: Mapping[str, Any]) -> Model:
    """Copy the fitted attributes, with the parameters of the point."""
    model = type(fitted)(**point)
    for name, value in vars(fitted).items():
        if name.endswith("_"):
            setattr(model, name, value)
    return model


@dataclass(frozen=True, eq=False)
class Averaged:
    """Mean of the probabilities of fitted predictors."""

    predictors: Sequence[Predictor]

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Return the mean of `q(j|i)` over the predictors."""
        return np.mean([predictor.probabilities(rows) for predictor in self.predictors], axis=0)
