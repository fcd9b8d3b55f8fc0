"""Many maps as a model of association: fitted to some pairs of norms, asked for the others.

    C = sum_(i, j) in training  p_ij log(p_ij / q(j|i))

(van der Maaten & Hinton 2009, eq. 11.) p are rows of the full norms, so that a row's training mass
R_i is at most 1 and weighs its cue in the gradient; q is normalized over all objects, held-out ones
among them. Cost, gradient and penalties are those of `manymaps.model.rows`. The error on the
validation part decides when to stop, and the best state is kept.

Several maps learn also what one map makes of the same training part: see
`manymaps.prediction.distillation`, and `manymaps.prediction.charts` for where they start.

    AssociationPredictor      the maps, fitted by passes of stochastic steps or by any optimizer
    PAPER_2009                the optimizer of the report
    AveragedPredictor         the mean of several
    score_predictor           errors and ranks of any predictor on the parts of a split
    predict_associations      split, fit, score

A predictor is anything with `fit(train, ...)` and `probabilities(rows)`; see
`manymaps.prediction.held_out`.

Shapes: positions (n_maps, n, n_components), weights (n_maps, n), biases (n,).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.network import popularity, spectral_directions
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import one_blas_thread, threads
from manymaps.constraints import (
    FUNCTION,
    N_JOBS,
    NONE,
    RANDOM_STATE,
    VERBOSE,
    Allowed,
    CheckedParameters,
    Choice,
    Kind,
    Number,
    Whole,
    instance,
)
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.errors import DataError, DivergedError, ParameterError, setting
from manymaps.model.choice import CHOICES, ChoiceModel, Kernel
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.rows import ChoiceMaps, RowCost
from manymaps.optimizers.descent import Momentum, Optimizer, State, shorter_steps
from manymaps.optimizers.rows import RowDescent
from manymaps.optimizers.schedules import Switch
from manymaps.prediction.charts import local_charts
from manymaps.prediction.distillation import SoftTarget
from manymaps.prediction.held_out import (
    Ranking,
    Split,
    checked_part,
    score_split,
    split_associations,
)
from manymaps.progress import Work, shows_progress, work
from manymaps.seeds import drawn_seed

__all__ = [
    "PAPER_2009", "AssociationPredictor", "AveragedPredictor", "PredictionResult", "Predictor",
    "predict_associations", "score_predictor",
]  # fmt: skip

#: Rate 1,000 for the cost averaged over the 5,018 cues of the norms, which is 0.2 on our scale, the
#: cost summed over cues; no decay of any kind (van der Maaten & Hinton 2009, section 5).
PAPER_2009 = Momentum(
    learning_rate=1000 / 5018,
    weight_rate=1.0,
    hold_weights=0,
    momentum=Switch(0.5, 250, 0.8),
    exaggeration=Switch(4.0, 250, 1.0),
)

# Directions are unit vectors: unrelated ones start 2.8 kernel widths apart. Starts half and twice
# as wide end within .004.
_SPREAD, _NOISE = 2.0, 0.01
# Bounds the time of the eigenvectors; not tuned.
_MOST_DIRECTIONS = 300
_PENALTY = Number(least=0, most=1e6, why=", for fits are in single precision")
# The validation error takes a pass over rows of its own; not tuned.
_FULL_EVERY = 10
# Smaller relative gains of the validation error are noise of stochastic steps, and would prolong a
# fit.
_LEAST_GAIN = 3e-4
#: The single map of which several learn, its passes without a validation part, and their share.
_TEACHER_DIMENSIONS, _TEACHER_PASSES = 70, 8
# Shares of .5, .8, .9 and 1 err by .364, .361, .361 and .362 on held-out pairs.
_TEACHER_SHARE = 0.9
# As many as the teacher has dimensions.
_CHART_DIRECTIONS = 70
#: Charts are no solution to stay near, as the eigenvectors are, and want longer steps: this rate
#: for each of two coordinates, and less for each of more, so that points move as far.
_CHART_RATE, _CHART_DECAY = 0.06, 0.9

Callback = Callable[[int, float, float], object]


class Predictor(Protocol):
    """What can be scored: fitted to a training part, it gives q(j|i).

    See Also
    --------
    manymaps.AssociationPredictor, AveragedPredictor, score_predictor

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> import manymaps as mm
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> from manymaps.prediction import score_predictor
    >>> class Even:
    ...     def probabilities(self, rows):
    ...         return (1 - np.eye(30)[rows]) / 29
    >>> found = score_predictor(Even(), mm.split_associations(ring, random_state=0))
    >>> round(found.test / 0.1, 1)
    2.0
    """

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Give `q(j|i)`, how likely each object is as an associate of some cues.

        Parameters
        ----------
        rows : array of int
            Numbers of the cues.

        Returns
        -------
        ndarray of shape (len(rows), n)
            Rows sum to 1 and hold 0 at their own cue.
        """


@dataclass
class _EarlyStopping:
    """The errors so far, and the best state of the maps."""

    train: sparse.csr_array
    validation: sparse.csr_array | None
    n_cues: int
    patience: int
    callback: Callback | None
    at: Work = field(default_factory=lambda: Work("iteration"))
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"iteration": [], "train": [], "validation": []}
    )
    patient_until: int = 0
    best: ChoiceMaps | None = None
    best_iteration: int = 0
    failure: DivergedError | None = None
    _lowest: float = np.inf
    _goal: float = np.inf
    _since: int = 0

    def see(self, iteration: int, train: float | None, maps: ChoiceMaps) -> bool:
        """Measure the maps as they stand; whether to stop. None: the training error too."""
        if train is None:
            train, error = self._errors(maps)
        else:
            error = np.nan if self.validation is None else self._error(self.validation, maps)
        told = np.isfinite(train) and (self.validation is None or np.isfinite(error))
        if told:
            self.history["iteration"].append(iteration)
            self.history["train"].append(train)
            self.history["validation"].append(error)
        if told and (self.validation is None or error < self._lowest):
            self.best, self.best_iteration, self._lowest = maps.copy(), iteration, error
        if self.validation is None or error < self._goal:
            self._goal, self._since = error - _LEAST_GAIN * abs(error), 0
        elif iteration > self.patient_until:
            self._since += 1
        self.at(iteration, f"validation {error:.4f}")
        stop = bool(self.callback and self.callback(iteration, train, error))
        return stop or self._since >= self.patience

    def _error(self, part: sparse.csr_array, maps: ChoiceMaps) -> float:
        p = part.data
        return float(p @ (np.log(p) - maps.log_probabilities(part))) / self.n_cues

    def _errors(self, maps: ChoiceMaps) -> tuple[float, float]:
        """Errors on both parts, for which each row is normalized once."""
        if self.validation is None:
            return self._error(self.train, maps), np.nan
        both, held_out = self._both
        errors = both.data * (np.log(both.data) - maps.log_probabilities(both)) / self.n_cues
        return float(errors[~held_out].sum()), float(errors[held_out].sum())

    @cached_property
    def _both(self) -> tuple[sparse.csr_array, np.ndarray]:
        """The two parts in one table, and which of its pairs are of the second."""
        assert self.validation is not None
        marks = (self.train > 0).astype(np.int8) + 2 * (self.validation > 0).astype(np.int8)
        return sparse.csr_array(self.train + self.validation), marks.data == 2


class AssociationPredictor(CheckedParameters, BaseEstimator):
    """Maps fitted to the training part of norms, stopped early by the validation part.

    `q(j|i) ~ exp(beta_j) sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2),   j != i`

    Parameters
    ----------
    n_maps, n_components : int
        Maps and their dimensions.
    kernel : {"gaussian", "cauchy"} or float of at least 1
    init : {"spectral", "charts", "random"}, optional
        Where maps start. "spectral": positions along the leading eigenvectors of the network of
        training associations (`manymaps.affinity.network`); each of several maps has a random
        turn of the same eigenvectors. "charts": each map shows a neighbourhood in the space of
        these eigenvectors, by its own principal axes, with proportions by nearness
        (`manymaps.prediction.charts`). "random": all but together. By default one map starts
        spectrally and several as charts. Stopped early, a fit stays near its start, and what the
        eigenvectors know of the neighbours of neighbours guards against overfitting. A random start
        of one map wants a learning rate of about 0.04 and a penalty of about 0.8.
    distillation : float in [0, 1], optional
        The share of what is fitted that a teacher gives, the rest being the training part itself
        (`manymaps.prediction.distillation`). By default 0.9 for several maps fitted by passes, and
        0 for one map or another optimizer.
    teacher : Predictor, optional
        A model fitted to the same training part, and to nothing else but for early stopping. By
        default a single map of 70 dimensions is fitted first.
    penalty : float >= 0
        `penalty / 2 sum |y|^2` on the cost summed over cues. Many small maps with a teacher want
        less, about 0.005.
    weight_penalty : float >= 0
        The same for the mixing weights.
    bias_penalty : float >= 0 or None
        Learn beta_j, how readily j is recalled by anything, under this penalty. None is the model
        of the 2009 report, which has no beta.
    optimizer : RowDescent or Optimizer, optional
        By default `RowDescent()`, from charts with longer steps. `PAPER_2009`, another `Momentum`
        or `LBFGS` evaluates all cues at each iteration. The report's fit has also init="random",
        penalty=0 and bias_penalty=None.
    max_iter : int
        Passes over the cues, or iterations of another optimizer.
    patience : int
        Evaluations before a fit ends in which the validation error did not fall by 0.03 % in all.
        There is one after each pass, or after ten iterations of another optimizer, whose
        exaggeration is waited for.
    callback : callable, optional
        Called as callback(iteration, train, validation) with both errors; a true answer stops.
    random_state : int, RandomState or None
        The same seed gives the same bits at any number of threads on one machine. None draws a
        number from NumPy's global state, once, and a `RandomState` from itself: the fit is that of
        this number.
    n_jobs : int, optional
        Threads; None keeps the present number, -1 takes all.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.

    Attributes
    ----------
    atlas_ : Atlas
        Objects are named by their numbers; a learned beta is metadata "bias".
    history_ : dict of str to ndarray
        "iteration", "train", "validation": errors in nats per cue. That of training is as met on
        the way, but with a teacher as at the end of a pass.
    teacher_ : Predictor or None
        What the maps learned of beside the training part.
    n_iter_ : int
        Iterations made; `best_iteration_` is the one that was kept.

    See Also
    --------
    predict_associations, sweep, split_associations, prediction.AveragedPredictor

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import AssociationPredictor, split_associations
    >>> ring = sparse.diags_array([1.0, 1.0, 1.0, 1.0], offsets=[-2, -1, 1, 2], shape=(30, 30))
    >>> split = split_associations(ring.tocsr(), random_state=0)
    >>> model = AssociationPredictor(1, 4, penalty=0.1, random_state=0)
    >>> q = model.fit(split.train, split.validation).probabilities([3, 4])
    >>> q.shape, q.sum(axis=1).round(12).tolist(), float(q[0, 3])
    ((2, 30), [1.0, 1.0], 0.0)
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_maps": [Whole(1)],
        "n_components": [Whole(1)],
        "kernel": CHOICES["kernel"],
        "init": [Choice(("spectral", "charts", "random")), NONE],
        "distillation": [Number(least=0, most=1), NONE],
        "teacher": [
            Kind("a predictor", lambda value: callable(getattr(value, "probabilities", None))),
            NONE,
        ],
        "penalty": [_PENALTY],
        "weight_penalty": [_PENALTY],
        "bias_penalty": [_PENALTY, NONE],
        "optimizer": [
            instance("RowDescent() or another optimizer", RowDescent, Optimizer),
            NONE,
        ],
        "max_iter": [Whole(1)],
        "patience": [Whole(1)],
        "callback": [FUNCTION, NONE],
        "random_state": [Whole(0), *RANDOM_STATE[1:]],  # a generator takes any number
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        n_maps: int = 2,
        n_components: int = 35,
        *,
        kernel: Kernel = "gaussian",
        init: Literal["spectral", "charts", "random"] | None = None,
        distillation: float | None = None,
        teacher: Predictor | None = None,
        penalty: float = 0.1,
        weight_penalty: float = 0.0,
        bias_penalty: float | None = 0.5,
        optimizer: RowDescent | Optimizer | None = None,
        max_iter: int = 300,
        patience: int = 5,
        callback: Callback | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.n_maps = n_maps
        self.n_components = n_components
        self.kernel = kernel
        self.init = init
        self.distillation = distillation
        self.teacher = teacher
        self.penalty = penalty
        self.weight_penalty = weight_penalty
        self.bias_penalty = bias_penalty
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.patience = patience
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @shows_progress
    def fit(
        self,
        train: Associations | sparse.csr_array | Any,
        validation: Associations | sparse.csr_array | Any = None,
        *,
        random_state: int | None = None,
    ) -> Self:
        """Fit to the training part.

        Parameters
        ----------
        train, validation : csr_array, Associations or frame of shape (n, n)
            p of the full data where pair (i, j) is in the part; rows of both sum to 1 at most.
            Without validation the fit takes `max_iter` iterations. The labels of associations and
            of a square frame are those of `atlas_`.
        random_state : int, optional
            In place of the estimator's own.

        Returns
        -------
        AssociationPredictor
            Itself.

        Raises
        ------
        DataError
            Where a part holds nothing, or a row of p sums to more than 1.
        ParameterError
            For a parameter out of its range.
        DivergedError
            Where the errors do not stay numbers. `history_` and, where any error was a number, the
            maps are those up to there.
        """
        self._validate_params()
        names, train = _labelled_part(train)
        train, validation = self._checked(train, _labelled_part(validation)[1])
        self._labels = names or tuple(map(str, range(train.shape[0])))
        seed = drawn_seed(self.random_state if random_state is None else random_state)
        generator = np.random.default_rng(seed)
        known = train if validation is None else train + validation
        n_cues = int((np.diff(known.indptr) > 0).sum())
        init = self.init or ("charts" if self.n_maps > 1 else "spectral")
        optimizer = self.optimizer or self._usual_steps(init)
        share = self._teacher_share(optimizer)
        maps = self._start(init, train, generator)
        cost = RowCost(train, self.penalty, self.weight_penalty, self.bias_penalty)
        with threads(self.n_jobs):
            self.teacher_ = self._fitted_teacher(train, validation, seed) if share else None
            soft = SoftTarget(train, self.teacher_, share) if self.teacher_ is not None else None
            with work("iteration", total=self.max_iter) as at:
                stopping = _EarlyStopping(
                    train, validation, n_cues, self.patience, self.callback, at
                )
                if isinstance(optimizer, RowDescent):
                    self.n_iter_ = self._by_passes(optimizer, maps, cost, soft, stopping, generator)
                else:
                    self.n_iter_ = self._by_iterations(optimizer, maps, cost, stopping)
        self.best_iteration_ = stopping.best_iteration
        self.history_ = {name: np.array(values) for name, values in stopping.history.items()}
        if stopping.best is not None:
            self.maps_ = stopping.best
        if stopping.failure or stopping.best is None:
            raise stopping.failure or DivergedError(
                "the fit diverged: no error was a number, with "
                f"{setting('penalty', self.penalty)} and {optimizer!r}; lower penalties or "
                "learning rate"
            )
        return self

    def probabilities(self, rows: np.ndarray | Sequence[int]) -> np.ndarray:
        """Give `q(j|i)`, how likely each object is as an associate of some cues.

        Parameters
        ----------
        rows : array of int
            Numbers of the cues.

        Returns
        -------
        ndarray of shape (len(rows), n), float64
            Rows sum to 1 and hold 0 at their cue.
        """
        check_is_fitted(self, "maps_")
        rows = np.asarray(rows, np.int64)
        with one_blas_thread():
            return self.maps_.probabilities(rows)

    @property
    def atlas_(self) -> Atlas:
        """The maps, with the labels that `fit` was given, else numbers; see `atlas`."""
        check_is_fitted(self, "maps_")
        return self.atlas(self._labels)

    def atlas(self, labels: Sequence[str]) -> Atlas:
        """The maps of objects with these names.

        Parameters
        ----------
        labels : sequence of str, length n
            Their names.

        Returns
        -------
        Atlas
        """
        check_is_fitted(self, "maps_")
        proportions = np.exp(log_softmin(self.maps_.weights))
        shares = proportions / proportions.sum(axis=1, keepdims=True)
        centres = np.einsum("mn,mnd->md", shares, self.maps_.positions.astype(np.float64))
        settings = (
            "init", "distillation", "penalty", "weight_penalty", "bias_penalty", "max_iter",
            "patience",
        )  # fmt: skip
        return Atlas(
            labels=tuple(labels),
            maps=(self.maps_.positions - centres[:, None]).astype(np.float32),
            proportions=proportions.astype(np.float32),
            model=ChoiceModel(self.kernel, "conditional", "learned"),
            method="association-predictor",
            parameters={name: getattr(self, name) for name in settings},
            history=dict(self.history_),
            metadata={} if self.bias_penalty is None else {"bias": self.maps_.biases},
        )

    def _checked(
        self, train: sparse.csr_array, validation: sparse.csr_array | None
    ) -> tuple[sparse.csr_array, sparse.csr_array | None]:
        train = checked_part(train, "training")
        if validation is not None:
            validation = checked_part(validation, "validation")
            if validation.shape != train.shape:
                raise DataError(
                    f"the parts differ in shape: {train.shape} for training, "
                    f"{validation.shape} for validation"
                )
        if self.n_maps > train.shape[0]:
            raise ParameterError(
                f"is more than the {train.shape[0]} objects", name="n_maps", value=self.n_maps
            )
        return train, validation

    def _usual_steps(self, init: str) -> RowDescent:
        if init != "charts":
            return RowDescent()
        rate = _CHART_RATE * (2 / self.n_components) ** 0.5
        return RowDescent(learning_rate=rate, decay=_CHART_DECAY)

    def _teacher_share(self, optimizer: RowDescent | Optimizer) -> float:
        by_passes = isinstance(optimizer, RowDescent)
        if self.distillation is None:
            several = self.n_maps > 1 or self.teacher is not None
            return _TEACHER_SHARE if several and by_passes else 0.0
        if self.distillation and not by_passes:
            raise ParameterError(
                "wants optimizer=RowDescent(...), for its target is drawn anew at each pass",
                name="distillation",
                value=self.distillation,
            )
        return self.distillation

    def _fitted_teacher(
        self, train: sparse.csr_array, validation: sparse.csr_array | None, seed: int
    ) -> Predictor:
        n = train.shape[0]
        if self.teacher is not None:
            width = np.shape(self.teacher.probabilities(np.array([0])))[1]
            if width != n:
                raise DataError(f"the teacher knows {width:,} objects, and the training part {n:,}")
            return self.teacher
        teacher = AssociationPredictor(
            1,
            min(_TEACHER_DIMENSIONS, max(n - 1, 1)),
            bias_penalty=self.bias_penalty,
            max_iter=self.max_iter if validation is not None else _TEACHER_PASSES,
            random_state=seed,
        )
        with work("fitting the teacher"):
            return teacher.fit(train, validation)

    def _start(
        self, init: str, train: sparse.csr_array, generator: np.random.Generator
    ) -> ChoiceMaps:
        n = train.shape[0]
        positions = generator.normal(0, _NOISE, (self.n_maps, n, self.n_components))
        log_pi = np.zeros((self.n_maps, n))
        if init != "random":
            every = min(self.n_maps * self.n_components, _MOST_DIRECTIONS)
            wanted = min(_CHART_DIRECTIONS, n) if init == "charts" else every
            seed = int(generator.integers(2**31))
            directions = spectral_directions(train, wanted, seed=seed)
        if init == "spectral":
            with one_blas_thread():
                positions += _SPREAD * _dealt(directions, positions.shape, generator)
        elif init == "charts":
            charts, log_pi = local_charts(directions, self.n_maps, self.n_components, generator)
            positions += charts
        biases = np.zeros(n)
        if self.bias_penalty is not None:
            biases = np.log(popularity(train))
        return ChoiceMaps(
            np.ascontiguousarray(positions, np.float32),
            (generator.normal(0, _NOISE, (self.n_maps, n)) - log_pi).astype(np.float32),
            (biases - biases.mean()).astype(np.float32),
            self.kernel,
        )

    def _by_passes(
        self,
        settings: RowDescent,
        maps: ChoiceMaps,
        cost: RowCost,
        soft: SoftTarget | None,
        stopping: _EarlyStopping,
        generator: np.random.Generator,
    ) -> int:
        passes = settings.start(maps, cost, int(generator.integers(2**31)))
        negative_entropy = float(cost.p.data @ np.log(cost.p.data))
        for iteration in range(1, self.max_iter + 1):
            if soft is None:
                train = (passes.step() + negative_entropy) / stopping.n_cues
            else:
                passes.aim_at(soft.draw(generator))
                passes.step()
                train = None
            if stopping.see(iteration, train, maps):
                break
        return iteration

    def _by_iterations(
        self, optimizer: Optimizer, maps: ChoiceMaps, cost: RowCost, stopping: _EarlyStopping
    ) -> int:
        """A run of an optimizer that takes all cues at once."""
        mass = np.asarray(cost.p.sum(axis=1) + cost.p.sum(axis=0)).ravel()
        shorter = shorter_steps(mass)[:, None]
        negative_entropy = float(cost.p.data @ np.log(cost.p.data))
        stopping.patient_until = optimizer.exaggeration.settled_at
        error, learns_biases = np.nan, cost.bias_penalty is not None

        def evaluate(parameters: Parameters, iteration: int) -> tuple[float, Parameters]:
            nonlocal error
            at = maps.at(parameters)
            fit, slopes = cost.whole(at, optimizer.exaggeration(iteration))
            error = (fit + negative_entropy) / stopping.n_cues
            if optimizer.tolerates_approximation:
                slopes[0][...] *= shorter
            biases = slopes[2] if learns_biases else maps.biases
            gradient = ChoiceMaps(slopes[0], slopes[1], biases).parameters(learns_biases)
            return fit + cost.penalties(at), gradient

        def watch(state: State) -> bool:
            if state.iteration % _FULL_EVERY and state.iteration < self.max_iter:
                return False
            now = maps.at(state.parameters)
            return stopping.see(state.iteration, error, now)

        state = State(maps.parameters(learns_biases), n_summed=stopping.n_cues)
        try:
            optimizer.minimize(evaluate, state, self.max_iter, watch)
        except DivergedError as failure:
            stopping.failure = failure
            return state.iteration
        if stopping.best is None or stopping.history["iteration"][-1] != state.iteration:
            now = maps.at(state.parameters)
            stopping.see(state.iteration, error, now)
        return state.iteration


def _labelled_part(part: Any) -> tuple[tuple[str, ...] | None, Any]:
    """The labels of a part that has some, and its table."""
    part = as_associations(part)
    if isinstance(part, Associations):
        return tuple(part.labels), part.strengths
    return labelled_values(part, square=True)


def _dealt(
    directions: np.ndarray, shape: tuple[int, ...], generator: np.random.Generator
) -> np.ndarray:
    """Unit vectors for each map, (n_maps, n, n_components): its share of random turns of all.

    A single map takes them as they are.
    """
    n_maps, n, d = shape
    if n_maps == 1:
        found = np.zeros(shape)
        found[0, :, : directions.shape[1]] = directions
        return found
    size = directions.shape[1]
    turns = [
        np.linalg.qr(generator.normal(size=(size, size)))[0] for _ in range(-(-n_maps * d // size))
    ]
    mixed = directions @ np.hstack(turns)[:, : n_maps * d]
    found = mixed.reshape(n, n_maps, d).transpose(1, 0, 2)
    lengths = np.linalg.norm(found, axis=2, keepdims=True)
    return found / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class AveragedPredictor:
    """The mean of the probabilities of fitted predictors: of several seeds, or of several kinds.

    Parameters
    ----------
    predictors : sequence of Predictor

    See Also
    --------
    manymaps.AssociationPredictor

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import AssociationPredictor
    >>> from manymaps.prediction import AveragedPredictor
    >>> ring = sparse.diags_array([0.5, 0.5], offsets=[-1, 1], shape=(20, 20)).tocsr()
    >>> fits = [AssociationPredictor(1, 2, max_iter=5, random_state=k).fit(ring) for k in (0, 1)]
    >>> AveragedPredictor(fits).probabilities([0, 7]).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """

    predictors: Sequence[Predictor]

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Give the mean of all their `q(j|i)`.

        Parameters
        ----------
        rows : array of int
            Numbers of the cues.

        Returns
        -------
        ndarray of shape (len(rows), n)
        """
        total = self.predictors[0].probabilities(rows)
        for predictor in self.predictors[1:]:
            total = total + predictor.probabilities(rows)
        return total / len(self.predictors)


@dataclass(frozen=True, eq=False)
class PredictionResult:
    """What a predictor comes to on a split.

    Attributes
    ----------
    train, validation, test : float
        (1 / N) sum p log(p / q) over each part: sums over parts of different sizes, which compare
        models and not parts; see `per_response`.
    n_iterations : int
        0 for a predictor without iterations.
    seconds : float
        Time of the fit.
    ranking : Ranking
        Of the test part's associates, those of training and validation left out.
    per_word : ndarray of shape (n,)
        sum_j p_ij log(p_ij / q(j|i)) over the test part, for each cue.
    split : Split
    predictor : Predictor

    See Also
    --------
    manymaps.predict_associations, score_predictor

    Examples
    --------
    >>> from scipy import sparse
    >>> import manymaps as mm
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> from manymaps.prediction import uniform_errors
    >>> found = mm.predict_associations(ring, 1, 4, penalty=0.1, random_state=0)
    >>> bool(found.test < uniform_errors(found.split)["test"])
    True
    """

    train: float
    validation: float
    test: float
    n_iterations: int
    seconds: float
    ranking: Ranking
    per_word: np.ndarray
    split: Split
    predictor: Predictor

    @property
    def shares(self) -> dict[str, float]:
        """The share of all responses that each part holds: "train", "valid" and "test"."""
        parts = {"train": self.split.train, "valid": self.split.validation, "test": self.split.test}
        return {name: float(part.sum()) / self.split.n_cues for name, part in parts.items()}

    @property
    def per_response(self) -> dict[str, float]:
        """The errors per response, sum p log(p / q) / sum p, by which parts can be compared."""
        errors = {"train": self.train, "valid": self.validation, "test": self.test}
        return {name: errors[name] / share for name, share in self.shares.items()}

    @property
    def recall(self) -> dict[int, float]:
        """Recall at each depth."""
        return self.ranking.recall

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values: train, valid, test, n_iterations, seconds and ranks.

        Returns
        -------
        dict
        """
        ranks = {f"recall_at_{k}": value for k, value in self.recall.items()}
        return {
            "train": self.train,
            "valid": self.validation,
            "test": self.test,
            "n_iterations": self.n_iterations,
            "seconds": self.seconds,
            **ranks,
            "mean_reciprocal_rank": self.ranking.mean_reciprocal_rank,
        }


def score_predictor(
    predictor: Predictor, split: Split, *, seconds: float = 0.0, ks: Sequence[int] = (1, 10, 100)
) -> PredictionResult:
    """Errors and ranks of a fitted predictor on the parts of a split.

    Parameters
    ----------
    predictor : Predictor
        Fitted to the training part.
    split : Split
        All parts.
    seconds : float
        What the fit took, to be told.
    ks : sequence of int
        Depths of the recall.

    Returns
    -------
    PredictionResult

    See Also
    --------
    PredictionResult, manymaps.predict_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> import manymaps as mm
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> from manymaps.prediction import score_predictor
    >>> split = mm.split_associations(ring, random_state=0)
    >>> model = mm.AssociationPredictor(1, 4, random_state=0).fit(split.train, split.validation)
    >>> score_predictor(model, split).ranking.recall[10] > 0.5
    True
    """
    errors, ranking = score_split(predictor.probabilities, split, ks)
    return PredictionResult(
        **{name: float(words.sum()) / split.n_cues for name, words in errors.items()},
        n_iterations=int(getattr(predictor, "n_iter_", 0)),
        seconds=seconds,
        ranking=ranking,
        per_word=errors["test"],
        split=split,
        predictor=predictor,
    )


def predict_associations(
    norms: Associations | sparse.sparray,
    n_maps: int = 2,
    n_components: int = 35,
    *,
    split: Split | None = None,
    random_state: int | None = None,
    **settings: Any,
) -> PredictionResult:
    """Split norms, fit maps to the training part, and score them on all parts.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
    n_maps, n_components : int
    split : Split, optional
        80/10/10 by unordered pair with the seed `random_state` by default.
    random_state : int, RandomState or None
        Seed of the split and of the fit; drawn once, from NumPy's global state for None.
    **settings
        Other parameters of `AssociationPredictor`.

    Returns
    -------
    PredictionResult

    See Also
    --------
    AssociationPredictor, split_associations, prediction.PredictionResult

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import predict_associations
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> result = predict_associations(ring, 1, 4, penalty=0.1, random_state=0)
    >>> bool(result.test < 0.1 * 3.37)
    True
    """
    seed = drawn_seed(random_state)
    split = split or split_associations(norms, random_state=seed)
    predictor = AssociationPredictor(n_maps, n_components, random_state=seed, **settings)
    begun = time.perf_counter()
    predictor.fit(split.train, split.validation)
    return score_predictor(predictor, split, seconds=time.perf_counter() - begun)
