"""Prediction of held-out associations by maps that are fitted to a training part.

    C = sum_(i, j) in training  p_ij log(p_ij / q(j|i))

(van der Maaten & Hinton 2009, eq. 11.) The values p are rows of the full norms. The training mass
R_i of a row is therefore at most 1. This mass is the weight of the cue in the gradient. The
probabilities q are normalized over all objects, including held-out associates.
`manymaps.model.rows` defines the cost, the gradient and the penalties. The error on the validation
part determines when to stop, and the best state is selected.

Several maps also learn from a teacher, a single map fitted to the same training part (see
`manymaps.prediction.distillation`). `manymaps.prediction.charts` defines their starting positions.

    AssociationPredictor      maps fitted by passes of stochastic steps or by momentum
    score_predictor           errors and ranks of any predictor on the parts of a split
    predict_associations      split, fit, score

A predictor is any object with `fit(train, ...)` and `probabilities(rows)`. See
`manymaps.prediction.held_out`.

Shapes: positions (n_maps, n, n_components), weights (n_maps, n), biases (n,).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from manymaps.affinity.network import spectral_directions
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import one_blas_thread, threads
from manymaps.constraints import (
    CALLBACKS,
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
    stops,
)
from manymaps.data.associations import Associations
from manymaps.data.frame_labels import labelled_values
from manymaps.data.trials import as_associations
from manymaps.errors import DataError, DataWarning, DivergedError, ParameterError, setting
from manymaps.model.choice import CHOICES, ChoiceModel, Kernel
from manymaps.model.parameters import log_softmin
from manymaps.model.rows import ChoiceMaps, RowCost
from manymaps.optimizers.momentum import Momentum, Schedule, Steps
from manymaps.optimizers.rows import RowDescent
from manymaps.prediction.charts import local_charts
from manymaps.prediction.distillation import SoftTarget
from manymaps.prediction.held_out import (
    Predictor,
    Ranking,
    Split,
    checked_part,
    score_split,
    split_associations,
)
from manymaps.progress import Work, shows_progress, work
from manymaps.seeds import drawn_seed

# Directions are unit vectors, so unrelated objects start 2.8 kernel widths apart. With starts that
# are half or twice as wide, errors differ by at most 0.004.
_SPREAD, _NOISE = 2.0, 0.01
# This limits the time for computing eigenvectors. The value is not tuned.
_MOST_DIRECTIONS = 300
# Responses that do not occur in the training part may occur in the test part.
_UNSEEN = 0.01
_PENALTY = Number(least=0, most=1e6, why=", for fits are in single precision")
# The validation error requires an additional pass over its rows. The value is not tuned.
_FULL_EVERY = 10
# Smaller relative gains of the validation error are noise of stochastic steps and would prolong a
# fit.
_LEAST_GAIN = 3e-4
#: Number of dimensions of the teacher, which is a single map, and the number of its passes if there
#: is no validation part.
_TEACHER_DIMENSIONS, _TEACHER_PASSES = 70, 8
# With teacher weights of 0.5, 0.8, 0.9 and 1, the errors on held-out pairs are 0.364, 0.361, 0.361
# and 0.362.
_TEACHER_SHARE = 0.9
# This value equals the number of dimensions of the teacher.
_CHART_DIRECTIONS = 70
#: Unlike eigenvectors, charts are not near a good solution, so they require longer steps. This
#: rate applies to each of two coordinates. It decreases with the number of coordinates, so that
#: points move equally far.
_CHART_RATE, _CHART_DECAY = 0.06, 0.9

#: Training error in nats per cue above that of the uniform model, from which a fit has diverged.
#: Noise of the steps and few iterations lead to errors up to about 2 nats above it.
_DIVERGED = 10.0

Callback = Callable[[int, float, float], object]


@dataclass
class _EarlyStopping:
    """Errors during a fit, and the maps of the lowest validation error."""

    train: sparse.csr_array
    validation: sparse.csr_array | None
    patience: int
    callback: Callback | Sequence[Callback] | None
    show_progress: Work
    patient_until: int = 0
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"iteration": [], "train": [], "validation": []}
    )
    n_iter: int = 0
    n_cues: int = 0
    best: ChoiceMaps | None = None
    best_iteration: int = 0
    _lowest: float = np.inf
    _goal: float = np.inf
    _n_without_gain: int = 0

    def __post_init__(self) -> None:
        parts = self.train, self.train if self.validation is None else self.validation
        marks = parts[0].astype(bool).astype(np.int8) + 2 * parts[1].astype(bool).astype(np.int8)
        self._known = self.train if self.validation is None else sparse.csr_array(sum(parts))
        self._is_held_out = marks.data == 2
        self.n_cues = int((np.diff(self._known.indptr) > 0).sum())

    def see(self, iteration: int, maps: ChoiceMaps) -> bool:
        """Evaluate the maps and return whether to stop."""
        self.n_iter = iteration
        p = self._known.data
        errors = p * (np.log(p) - maps.log_probabilities(self._known)) / self.n_cues
        train = float(errors[~self._is_held_out].sum())
        error = float(errors[self._is_held_out].sum()) if self.validation is not None else np.nan
        is_lower = self.validation is None or error < self._lowest
        if np.isfinite(errors).all():
            for name, value in zip(self.history, (iteration, train, error), strict=True):
                self.history[name].append(value)
            if is_lower:
                self.best, self.best_iteration, self._lowest = maps.copy(), iteration, error
        if self.validation is None or error < self._goal:
            self._goal, self._n_without_gain = error - _LEAST_GAIN * abs(error), 0
        elif iteration > self.patient_until:
            self._n_without_gain += 1
        self.show_progress(iteration, f"validation {error:.4f}")
        is_stopped = stops(self.callback, iteration, train, error)
        return is_stopped or self._n_without_gain >= self.patience


@dataclass(eq=False, repr=False, kw_only=True)
class AssociationPredictor(CheckedParameters, BaseEstimator):
    """Maps fitted to a training part of norms, with early stopping on a validation part.

    `q(j|i) ~ exp(beta_j) sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2),   j != i`

    Parameters
    ----------
    n_maps : int, default 2
        Number of maps.
    n_components : int, default 35
        Number of dimensions of each map.
    kernel : {"gaussian", "cauchy"}, default "gaussian"
        Kernel K of the similarities in a map.
    init : {"spectral", "charts", "random"}, optional
        Starting positions. The choice "spectral" uses the leading eigenvectors of the network of
        training associations (`manymaps.affinity.network`), with a random rotation for each of
        several maps. With "charts", each map shows a neighbourhood in the space of these
        eigenvectors by its principal axes (`manymaps.prediction.charts`). The mixing proportions of
        an object depend on its distance from each neighbourhood. The choice "random" starts all
        objects close together. The default is "spectral" for one map and "charts" for several maps.
        A fit with early stopping stays near its start. Starts from eigenvectors reduce overfitting
        because the eigenvectors contain information on indirect neighbours. With a random start, a
        single map requires a learning rate of about 0.04 and a penalty of about 0.8.
    distillation : float, optional
        Weight of the teacher's predictions in the target, from 0 to 1. The training part has the
        remaining weight (`manymaps.prediction.distillation`). The default is 0.9 for several maps
        fitted by passes, and 0 for a single map or `Momentum`.
    teacher : Predictor, optional
        Model fitted only to the same training part. The validation part may be used for early
        stopping. By default, a single map of 70 dimensions is fitted first.
    penalty : float, default 0.1
        Strength of `penalty / 2 sum |y|^2` relative to the cost summed over cues, at least 0. Many
        small maps with a teacher require a smaller value of about 0.005.
    bias_penalty : float or None, default 0.5
        Strength of the penalty on beta_j, at least 0. The bias beta_j is the overall tendency of j
        to be a response. If it is None, beta is omitted, as in the 2009 report.
    optimizer : RowDescent or Momentum, optional
        Optimization algorithm. The default is `RowDescent()`, with longer steps for charts.
        `Momentum` evaluates all cues at each iteration.
    max_iter : int, default 300
        Maximum number of passes over the cues, or of iterations of `Momentum`.
    patience : int, default 5
        Number of evaluations without sufficient progress after which a fit stops. Progress is
        sufficient if the validation error decreases by at least 0.03 % in total. The error is
        evaluated after each pass, or after every ten iterations of `Momentum`, for which
        early stopping starts after its exaggeration has ended.
    callback : callable or list of callable, optional
        Functions called as callback(iteration, train, validation), where `train` and `validation`
        are the errors. If one of them returns a true value, the fit stops.
    random_state : int, RandomState or None, default None
        Seed of the fit. On one machine, the same seed leads to bit-identical results with any
        number of threads. If it is None, a seed is drawn once from NumPy's global state. If it is a
        `RandomState`, the seed is drawn from that object.
    n_jobs : int, optional
        Number of threads. If it is None, the current number is used. The value -1 selects all
        threads.
    verbose : bool, default False
        Whether to show progress: a bar on a terminal or in a notebook, and elsewhere one line per
        minute. See `show_progress`.

    Attributes
    ----------
    atlas_ : Atlas
        Fitted maps. Objects have the labels passed to `fit`. Without labels, the indices of the
        objects are used. A learned beta is stored as metadata "bias".
    history_ : dict of str to ndarray
        Arrays "iteration", "train" and "validation", with errors in nats per cue.
    teacher_ : Predictor or None
        Teacher from which the maps learned, or None if there was no teacher.
    n_iter_ : int
        Number of iterations.
    best_iteration_ : int
        Iteration whose maps were selected.

    See Also
    --------
    prediction.predict_associations, sweep, split_associations

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
        "bias_penalty": [_PENALTY, NONE],
        "optimizer": [instance("RowDescent() or Momentum()", RowDescent, Momentum), NONE],
        "max_iter": [Whole(1)],
        "patience": [Whole(1)],
        "callback": CALLBACKS,
        "random_state": [Whole(0), *RANDOM_STATE[1:]],  # a generator accepts any number
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }

    n_maps: int = field(default=2, kw_only=False)
    n_components: int = field(default=35, kw_only=False)
    kernel: Kernel = "gaussian"
    init: Literal["spectral", "charts", "random"] | None = None
    distillation: float | None = None
    teacher: Predictor | None = None
    penalty: float = 0.1
    bias_penalty: float | None = 0.5
    optimizer: RowDescent | Momentum | None = None
    max_iter: int = 300
    patience: int = 5
    callback: Callback | Sequence[Callback] | None = None
    random_state: int | None = None
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def van_der_maaten_2009(cls, n_maps: int = 2, n_components: int = 35) -> Self:
        """Return the model and the optimizer of the predictions in the 2009 report.

        The model has a Gaussian kernel and neither biases, penalties nor a teacher (equations 8 to
        11). Gradient descent with gains starts at random positions. The momentum is 0.5 and the
        exaggeration 4 for 250 iterations, and 0.8 and 1 afterwards (section 5). A tenth of the
        associations determines the iteration whose maps are selected.

        The report does not print the learning rate. The rate of 0.02, for the cost summed over
        cues, was chosen by validation (`examples/prediction_2009.py --as-in-2009 --rates ...`). The
        report does not print the patience either. The lowest errors occur before iteration 250, so
        that the patience has no effect.

        Parameters
        ----------
        n_maps : int, default 2
            Number of maps.
        n_components : int, default 35
            Number of dimensions of each map.

        Returns
        -------
        AssociationPredictor
            Estimator with these settings.

        References
        ----------
        L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps,
        EWI-ICT TR 2009-001, Delft University of Technology.

        Examples
        --------
        >>> from manymaps import AssociationPredictor
        >>> paper = AssociationPredictor.van_der_maaten_2009()
        >>> paper.n_maps, paper.n_components, paper.optimizer.learning_rate, paper.bias_penalty
        (2, 35, 0.02, None)
        """
        optimizer = Momentum(
            learning_rate=0.02,
            weight_rate=1.0,
            hold_weights=0,
            momentum=Schedule(((0, 0.5), (250, 0.8))),
            exaggeration=Schedule(((0, 4.0), (250, 1.0))),
            exact=True,
        )
        return cls(
            n_maps,
            n_components,
            kernel="gaussian",
            init="random",
            distillation=0.0,
            penalty=0.0,
            bias_penalty=None,
            optimizer=optimizer,
            max_iter=2000,
        )

    @shows_progress
    def fit(
        self,
        train: Associations | sparse.csr_array | Any,
        validation: Associations | sparse.csr_array | Any = None,
        *,
        random_state: int | None = None,
    ) -> Self:
        """Fit the maps to the training part.

        Parameters
        ----------
        train : csr_array, Associations or data frame of shape (n, n)
            Values p_ij of the full data for the pairs in the training part. The atlas `atlas_` uses
            the labels of Associations or of a square data frame.
        validation : csr_array, Associations or data frame of shape (n, n), optional
            Values p_ij for the pairs in the validation part. The sum of each row over both parts is
            at most 1. Without validation, the fit runs for `max_iter` iterations.
        random_state : int, optional
            Seed that replaces the estimator's `random_state`.

        Returns
        -------
        AssociationPredictor
            Fitted estimator.

        Raises
        ------
        DataError
            If a part has no associations, or if a row of p sums to more than 1.
        ParameterError
            If a parameter is out of range.
        DivergedError
            If the errors become non-finite, or if the training error ends more than ten nats per
            cue above that of the uniform model (without a teacher). `history_` then contains all
            finite errors, and the maps are those that were best before.
        """
        self._validate_params()
        self._warn_of_contradictions()
        names, train = _labelled_part(train)
        train, validation = self._checked(train, _labelled_part(validation)[1])
        self._labels = names or tuple(map(str, range(train.shape[0])))
        seed = drawn_seed(self.random_state if random_state is None else random_state)
        generator = np.random.default_rng(seed)
        init = self.init or ("charts" if self.n_maps > 1 else "spectral")
        optimizer = self.optimizer or self._usual_steps(init)
        share = self._teacher_share(optimizer)
        maps = self._start(init, train, generator)
        cost = RowCost(train, self.penalty, self.bias_penalty)
        failure = None
        with threads(self.n_jobs):
            self.teacher_ = self._fitted_teacher(train, validation, seed) if share else None
            soft = SoftTarget(train, self.teacher_, share) if self.teacher_ is not None else None
            with work("iteration", total=self.max_iter) as show_progress:
                stopping = _EarlyStopping(
                    train, validation, self.patience, self.callback, show_progress
                )
                try:
                    if isinstance(optimizer, RowDescent):
                        self._run_passes(optimizer, maps, cost, soft, stopping, generator)
                    else:
                        self._run_iterations(optimizer, maps, cost, stopping, seed)
                except DivergedError as error:
                    failure = error
        self.n_iter_, self.best_iteration_ = stopping.n_iter, stopping.best_iteration
        self.history_ = {name: np.array(values) for name, values in stopping.history.items()}
        if stopping.best is not None:
            self.maps_ = stopping.best
        if failure or stopping.best is None:
            raise failure or DivergedError(
                "the fit diverged: all errors are non-finite with "
                f"{setting('penalty', self.penalty)} and {optimizer!r}; reduce the penalties or "
                "the learning rate"
            )
        p, last = train.data, self.history_["train"][-1]
        uniform = float(p @ np.log(p * (train.shape[0] - 1))) / stopping.n_cues
        if soft is None and last > uniform + _DIVERGED:
            raise DivergedError(
                f"the fit diverged: the training error is {last:,.4g} after iteration "
                f"{self.n_iter_}, and that of the uniform model {uniform:.4g}; lower the learning "
                f"rate (now {optimizer.learning_rate})"
            )
        return self

    def probabilities(self, rows: np.ndarray | Sequence[int]) -> np.ndarray:
        """Return `q(j|i)`, the probability of each object as an associate of the given cues.

        Parameters
        ----------
        rows : array of int
            Indices of the cues.

        Returns
        -------
        ndarray of shape (len(rows), n), float64
            Probabilities. Each row sums to 1 and is 0 at its own cue.
        """
        check_is_fitted(self, "maps_")
        rows = np.asarray(rows, np.int64)
        with one_blas_thread():
            return self.maps_.probabilities(rows)

    @property
    def atlas_(self) -> Atlas:
        """Fitted maps, labelled by the labels passed to `fit`, or by indices (see `atlas`)."""
        check_is_fitted(self, "maps_")
        return self.atlas(self._labels)

    def atlas(self, labels: Sequence[str]) -> Atlas:
        """Return the maps as an atlas with the given labels.

        Parameters
        ----------
        labels : sequence of str, length n
            Labels of the objects.

        Returns
        -------
        Atlas
            Fitted maps, each centred at its weighted mean.
        """
        check_is_fitted(self, "maps_")
        proportions = np.exp(log_softmin(self.maps_.weights))
        shares = proportions / proportions.sum(axis=1, keepdims=True)
        centres = np.einsum("mn,mnd->md", shares, self.maps_.positions.astype(np.float64))
        settings = ("init", "distillation", "penalty", "bias_penalty", "max_iter", "patience")
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

    def _warn_of_contradictions(self) -> None:
        """Warn if settings contradict the report whose optimizer is used."""
        paper = AssociationPredictor.van_der_maaten_2009()
        if self.optimizer not in (paper.optimizer, Momentum.van_der_maaten_2009()):
            return
        names = ("optimizer", "init", "penalty", "bias_penalty")
        contradictions = [n for n in names if getattr(self, n) != getattr(paper, n)]
        if contradictions:
            warnings.warn(
                "the optimizer is that of the 2009 report, but other settings differ from its "
                f"predictions: {', '.join(contradictions)}; use "
                "AssociationPredictor.van_der_maaten_2009",
                DataWarning,
                stacklevel=4,
            )

    def _checked(
        self, train: sparse.csr_array, validation: sparse.csr_array | None
    ) -> tuple[sparse.csr_array, sparse.csr_array | None]:
        train = checked_part(train, "training")
        if validation is not None:
            validation = checked_part(validation, "validation")
            if validation.shape != train.shape:
                raise DataError(
                    f"the parts must have the same shape; got {train.shape} for training and "
                    f"{validation.shape} for validation"
                )
        if self.n_maps > train.shape[0]:
            raise ParameterError(
                f"exceeds the number of objects, {train.shape[0]}", name="n_maps", value=self.n_maps
            )
        return train, validation

    def _usual_steps(self, init: str) -> RowDescent:
        if init != "charts":
            return RowDescent()
        rate = _CHART_RATE * (2 / self.n_components) ** 0.5
        return RowDescent(learning_rate=rate, decay=_CHART_DECAY)

    def _teacher_share(self, optimizer: RowDescent | Momentum) -> float:
        by_passes = isinstance(optimizer, RowDescent)
        if self.distillation is None:
            several = self.n_maps > 1 or self.teacher is not None
            return _TEACHER_SHARE if several and by_passes else 0.0
        if self.distillation and not by_passes:
            raise ParameterError(
                "requires optimizer=RowDescent(...), because its target is sampled in each pass",
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
                raise DataError(
                    f"the teacher has {width:,} objects; expected {n:,} as in the training part"
                )
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
            n_available = min(self.n_maps * self.n_components, _MOST_DIRECTIONS)
            n_directions = min(_CHART_DIRECTIONS, n) if init == "charts" else n_available
            seed = int(generator.integers(2**31))
            directions = spectral_directions(train, n_directions, seed=seed)
        if init == "spectral":
            with one_blas_thread():
                positions += _SPREAD * _rotated_directions(directions, positions.shape, generator)
        elif init == "charts":
            charts, log_pi = local_charts(directions, self.n_maps, self.n_components, generator)
            positions += charts
        biases = np.zeros(n)
        if self.bias_penalty is not None:
            biases = np.log(np.asarray(train.sum(axis=0)).ravel() + _UNSEEN)
        return ChoiceMaps(
            np.ascontiguousarray(positions, np.float32),
            (generator.normal(0, _NOISE, (self.n_maps, n)) - log_pi).astype(np.float32),
            (biases - biases.mean()).astype(np.float32),
            self.kernel,
        )

    def _run_passes(
        self,
        steps: RowDescent,
        maps: ChoiceMaps,
        cost: RowCost,
        soft: SoftTarget | None,
        stopping: _EarlyStopping,
        generator: np.random.Generator,
    ) -> None:
        """Fit the maps by passes of stochastic steps, each to a new sample of a soft target."""
        passes = steps.start(maps, cost, int(generator.integers(2**31)))
        targets = soft.samples(generator) if soft is not None else None
        for iteration in range(1, self.max_iter + 1):
            if targets is not None:
                passes.aim_at(next(targets))
            passes.step()
            if stopping.see(iteration, maps):
                break

    def _run_iterations(
        self, optimizer: Momentum, maps: ChoiceMaps, cost: RowCost, stopping: _EarlyStopping,
        seed: int,
    ) -> None:  # fmt: skip
        """Fit the maps by steps with momentum, each of which evaluates all cues."""
        mass = np.asarray(cost.p.sum(axis=1) + cost.p.sum(axis=0)).ravel()
        learns_biases = cost.bias_penalty is not None
        stopping.patient_until = optimizer.exaggeration.settled_at
        at = maps.parameters(learns_biases)
        steps = Steps(optimizer, at, seed, stopping.n_cues, [mass])
        for iteration in range(1, self.max_iter + 1):
            stopping.n_iter = iteration
            # A diverging run raises DivergedError instead of floating-point warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                _, slopes = cost.whole(maps.at(at), steps.exaggeration(iteration - 1))
                gradient = ChoiceMaps(slopes[0], slopes[1], slopes[2]).parameters(learns_biases)
                steps.move(gradient, iteration - 1)
            if iteration % _FULL_EVERY == 0 or iteration == self.max_iter:
                steps.check(iteration)
                if stopping.see(iteration, maps.at(at)):
                    break


def _labelled_part(part: Any) -> tuple[tuple[str, ...] | None, Any]:
    """Return the labels of a part, or None if it has no labels, and its table."""
    part = as_associations(part)
    if isinstance(part, Associations):
        return tuple(part.labels), part.strengths
    return labelled_values(part, square=True)


def _rotated_directions(
    directions: np.ndarray, shape: tuple[int, ...], generator: np.random.Generator
) -> np.ndarray:
    """Return unit vectors for each map, (n_maps, n, n_components), from random rotations."""
    n_maps, n, d = shape
    if n_maps == 1:  # without a rotation
        units = np.zeros(shape)
        units[0, :, : directions.shape[1]] = directions
        return units
    size = directions.shape[1]
    turns = [
        np.linalg.qr(generator.normal(size=(size, size)))[0] for _ in range(-(-n_maps * d // size))
    ]
    mixed = directions @ np.hstack(turns)[:, : n_maps * d]
    units = mixed.reshape(n, n_maps, d).transpose(1, 0, 2)
    lengths = np.linalg.norm(units, axis=2, keepdims=True)
    return units / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class PredictionResult:
    """Errors and ranks of a predictor on a split.

    Attributes
    ----------
    train, validation, test : float
        (1 / N) sum p log(p / q) over each part, in nats per cue. The parts have different sizes, so
        these sums can be compared between models but not between parts. See `per_response` for a
        comparison between parts.
    n_iterations : int
        Number of iterations, or 0 for a predictor without iterations.
    seconds : float
        Duration of the fit in seconds.
    ranking : Ranking
        Ranks of the associates in the test part. Associates in the training and validation parts
        are excluded from the ranking.
    per_word : ndarray of shape (n,)
        Error sum_j p_ij log(p_ij / q(j|i)) over the test part for each cue, in nats.
    split : Split
        Split that was scored.
    predictor : Predictor
        Fitted predictor.

    See Also
    --------
    predict_associations, score_predictor

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps.prediction import predict_associations, uniform_errors
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> result = predict_associations(ring, 1, 4, penalty=0.1, random_state=0)
    >>> bool(result.test < uniform_errors(result.split)["test"])
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
        """Proportion of all responses in each part: "train", "valid" and "test"."""
        parts = {"train": self.split.train, "valid": self.split.validation, "test": self.split.test}
        return {name: float(part.sum()) / self.split.n_cues for name, part in parts.items()}

    @property
    def per_response(self) -> dict[str, float]:
        """Errors per response, sum p log(p / q) / sum p, which are comparable between parts."""
        errors = {"train": self.train, "valid": self.validation, "test": self.test}
        return {name: errors[name] / share for name, share in self.shares.items()}

    @property
    def recall(self) -> dict[int, float]:
        """Recall at each depth, from 0 to 1."""
        return self.ranking.recall

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain values.

        Returns
        -------
        dict
            Values of train, valid, test, n_iterations, seconds, recall at each depth and
            mean_reciprocal_rank.
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
    predictor: Predictor, split: Split, *, seconds: float = 0.0
) -> PredictionResult:
    """Compute errors and ranks of a fitted predictor on the parts of a split.

    Parameters
    ----------
    predictor : Predictor
        Predictor fitted to the training part.
    split : Split
        Split with all parts.
    seconds : float, default 0.0
        Duration of the fit in seconds, which is stored in the result.

    Returns
    -------
    PredictionResult
        Errors and ranks.

    See Also
    --------
    PredictionResult, predict_associations

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
    errors, ranking = score_split(predictor.probabilities, split)
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
        Association norms.
    n_maps : int, default 2
        Number of maps.
    n_components : int, default 35
        Number of dimensions of each map.
    split : Split, optional
        Split of the norms. By default, unordered pairs are split 80/10/10, with the seed
        `random_state`.
    random_state : int, RandomState or None, default None
        Seed of the split and of the fit. If it is None, a seed is drawn once from NumPy's global
        state. If it is a `RandomState`, the seed is drawn from that object.
    **settings
        Other parameters of `AssociationPredictor`.

    Returns
    -------
    PredictionResult
        Errors and ranks on all parts.

    See Also
    --------
    PredictionResult, manymaps.AssociationPredictor, manymaps.split_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps.prediction import predict_associations
    >>> ring = sparse.diags_array([1.0] * 4, offsets=[-2, -1, 1, 2], shape=(30, 30)).tocsr()
    >>> result = predict_associations(ring, 1, 4, penalty=0.1, random_state=0)
    >>> bool(result.test < 0.1 * 3.37)
    True
    """
    seed = drawn_seed(random_state)
    split = split or split_associations(norms, random_state=seed)
    predictor = AssociationPredictor(n_maps, n_components, random_state=seed, **settings)
    started = time.perf_counter()
    predictor.fit(split.train, split.validation)
    seconds = time.perf_counter() - started
    with work("computing predictions"):
        return score_predictor(predictor, split, seconds=seconds)
