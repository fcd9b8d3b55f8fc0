"""CODE: two kinds of object in one space, from counts of how often they met.

Of a table of counts with shares p(x, y) and margins p(x), p(y), every row x gets a point phi_x and
every column y a point psi_y (Globerson, Chechik, Pereira & Tishby 2004):

    conditional, given rows      p(y|x)  = p(y) exp(-|phi_x - psi_y|^2) / Z_x           eq. 1
    conditional, given columns   p(x|y)  = p(x) exp(-|phi_x - psi_y|^2) / Z_y
    joint                        p(x, y) = p(x) p(y) exp(-|phi_x - psi_y|^2) / Z        section 3

and maximizes sum_xy p(x, y) log of it; `marginals=False` leaves the factors p(x), p(y) out. With
several maps the similarity is a sum over them, with mixing proportions for rows and for columns:

    exp(-|phi_x - psi_y|^2)   ->   sum_m pi_x^m pi_y^m exp(-|phi_x^m - psi_y^m|^2)

Of the conditional model, p(y|x) as a function of phi_x alone is a log-linear model, for |phi_x|^2
cancels from it: the place of a row among given columns is a concave problem with one solution.
That is how new rows are placed, and how rows are noticed whose solution lies at infinity.

Shapes: row_embedding_ (n_rows, n_components), column_embedding_ (n_columns, n_components) for one
map; maps_ (n_maps, n_rows + n_columns, n_components), rows first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manymaps.atlas.atlas import Atlas
from manymaps.compute.tasks import run_tasks
from manymaps.compute.threads import threads
from manymaps.constraints import (
    ARRAY,
    FLAG,
    FUNCTION,
    N_JOBS,
    N_MAPS,
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
from manymaps.cooccurrence.checks import check_size, warn_of_empty
from manymaps.cooccurrence.likelihood import (
    log_likelihood,
    mean_log_likelihood,
    place_rows,
)
from manymaps.cooccurrence.matching import matched, objects_of, within_kind_order
from manymaps.cooccurrence.runaways import runaway_note
from manymaps.cooccurrence.starts import INITS, Starts, start_parameters, usual_steps
from manymaps.data.counts import Counts, looks_transposed
from manymaps.data.frames import end_to_end
from manymaps.data.validation import same_rows, validated
from manymaps.errors import DataError, DataWarning, ParameterError, setting
from manymaps.io.counts import counts_from
from manymaps.labels import plural
from manymaps.maps.estimator import FittedMaps, plain_value
from manymaps.maps.map_order import order_of_maps
from manymaps.maps.pins import pins_of
from manymaps.maps.restarts import rejoined, without_plan
from manymaps.maps.run import Plan, Run
from manymaps.model.choice import CHOICES, ChoiceModel
from manymaps.model.choice import CODE as CODE_MODEL
from manymaps.model.combined import CombinedObjective, WithinKind, within_kind_target
from manymaps.model.cost import Cost
from manymaps.model.objective import TOLERANCE, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import count_target
from manymaps.optimizers.descent import LBFGS, OPTIMIZER, Optimizer
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed

__all__ = ["CODE"]

# A line search does not bear forces that do not belong to the cost: it gets a hundredth of the
# tolerance.
_FOR_LINE_SEARCH = 0.01


def _is_pair(init: Any) -> bool:
    return isinstance(init, tuple | list) and len(init) == 2 and all(map(ARRAY.allows, init))


class CODE(
    FittedMaps, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CheckedParameters, BaseEstimator
):
    """Euclidean embedding of co-occurrence data, in one map or in many.

    Parameters
    ----------
    n_components : int
        Dimensions of each map.
    normalization : {"conditional", "joint"}
        Whether each object of one kind chooses among those of the other, or the model one pair out
        of all.
    given : {"rows", "columns"}
        Which kind chooses, under the conditional normalization.
    marginals : bool
        Whether the margins of the table are fixed factors of the model.
    n_maps : int from 1 to 4,096
        With more than one, every row and column has a place and a mixing proportion in each.
    penalty : float >= 0
        Strength of the size penalty `(penalty / 2) sum |y|^2`, beside a cost in which a usual row
        weighs 1. Above 0 no point can run away.
    init : {"auto", "ca", "random"}, pair of arrays, or Atlas
        Where the points start: "ca" at the axes of correspondence analysis, which "auto" takes for
        one map of fewer dimensions than the table has; a pair of shapes (n_rows, n_components) and
        (n_columns, n_components), or with a map axis before these; the atlas of an earlier fit.
        With `pin`, "auto" puts what is free beside its partners.
    pin : Atlas, or mapping of labels to positions, optional
        Rows and columns that are held where they are, as for `TSNE`. Rows of an atlas are matched
        with rows and columns with columns, those of an atlas of one kind with either: with
        `pin=old.subset(old.of_kind("word"))` documents are arranged around words. A mapping may
        have (label, kind) in place of a label.
    n_init : int
        Runs from different starts, of which the one with the least cost is kept. All but the
        first start at random.
    max_iter : int
        Iterations of each run, fewer where it converges.
    optimizer : Optimizer, optional
        `LBFGS()` by default, for which every step lowers the cost; or `ConjugateGradient()`,
        `Momentum()`.
    tolerance : float
        Aimed relative error of the repulsive forces; 0 sums exactly. An optimizer with a line
        search gets a hundredth of it.
    row_weight, column_weight : float >= 0
        What similarities within a kind weigh beside the counts, where `fit` is given some.
    callback : callable, optional
        Called with (iteration, cost, function that gives the atlas so far) after every iteration;
        stops the run by returning True.
    random_state : int, RandomState or None
        None draws a number from NumPy's global state, once, and a `RandomState` from itself: the
        fit is that of this number.
    n_jobs : int, optional
        Threads.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.

    Attributes
    ----------
    row_embedding_ : ndarray of shape (n_rows, n_components)
        With several maps (n_rows, n_maps * n_components). A row without counts stands in the mean
        of all others.
    column_embedding_ : ndarray of shape (n_columns, n_components)
    atlas_ : Atlas
        Both kinds, rows first, without the empty ones; `atlas_.kinds` says which is which. Maps
        are numbered as those of `MultipleMapsTSNE`.
    maps_, proportions_ : ndarray
        Those of the atlas: (n_maps, n_objects, n_components) and (n_maps, n_objects).
    log_likelihood_ : float
        Mean log p of a count in nats, of p(y|x), p(x|y) or p(x, y).
    kl_divergence_ : float
        What it falls short of the best that any model of its kind could have.
    empty_rows_, empty_columns_ : ndarray of int
        Rows and columns without counts, which are not fitted.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray

    See Also
    --------
    SemidefiniteCODE, correspondence_analysis, insert_rows, plot_zooms, evaluate

    References
    ----------
    Globerson, Chechik, Pereira & Tishby (2004), Euclidean embedding of co-occurrence data, NIPS 17;
    (2007) JMLR 8, 2265-2295.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import CODE, Counts
    >>> visits = Counts(np.array([[9, 5, 1], [6, 9, 2], [1, 2, 9]]), ["oak", "ash", "reed"],
    ...                 ["jay", "tit", "coot"], kinds=("site", "bird"))
    >>> fit = CODE(random_state=0).fit(visits)
    >>> fit.row_embedding_.shape, fit.column_embedding_.shape
    ((3, 2), (3, 2))
    >>> fit.atlas_.neighbors("reed", n_neighbors=1)[0].label
    'coot'
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_components": [Whole(1)],
        "normalization": CHOICES["normalization"],
        "given": [Choice(("rows", "columns"))],
        "marginals": [FLAG],
        "n_maps": N_MAPS,
        "penalty": [Number(least=0)],
        "init": [
            Choice(INITS),
            Kind("a pair of arrays", _is_pair),
            instance("an Atlas", Atlas),
        ],
        "pin": [
            instance("an Atlas", Atlas),
            instance("a mapping of labels to positions", Mapping),
            NONE,
        ],
        "n_init": [Whole(1)],
        "max_iter": [Whole(1)],
        "optimizer": OPTIMIZER,
        "tolerance": TOLERANCE,
        "row_weight": [Number(least=0)],
        "column_weight": [Number(least=0)],
        "callback": [FUNCTION, NONE],
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        normalization: Literal["conditional", "joint"] = "conditional",
        given: Literal["rows", "columns"] = "rows",
        marginals: bool = True,
        n_maps: int = 1,
        penalty: float = 0.0,
        init: str | Starts | Atlas = "auto",
        pin: Atlas | Mapping[Any, Any] | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        optimizer: Optimizer | None = None,
        tolerance: float = 5e-3,
        row_weight: float = 1.0,
        column_weight: float = 1.0,
        callback: Callable[[int, float, Callable[[], Atlas]], object] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.n_components = n_components
        self.normalization = normalization
        self.given = given
        self.marginals = marginals
        self.n_maps = n_maps
        self.penalty = penalty
        self.init = init
        self.pin = pin
        self.n_init = n_init
        self.max_iter = max_iter
        self.optimizer = optimizer
        self.tolerance = tolerance
        self.row_weight = row_weight
        self.column_weight = column_weight
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @shows_progress
    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        row_similarities: Any = None,
        column_similarities: Any = None,
        checkpoint: str | None = None,
        resume: str | None = None,
    ) -> Self:
        """Fit rows and columns.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Counts or other weights: finite and not negative.
        y : None
            Ignored.
        row_similarities, column_similarities : (sparse) array or frame (n, n), optional
            Similarities within one kind, not negative, of a frame by its labels: each of its
            objects also chooses others of its kind, as in SNE, and the cost of that is added with
            `row_weight` or `column_weight`.
        checkpoint, resume : path, optional
            As for the other estimators; for one run (`n_init=1`).

        Returns
        -------
        self

        Raises
        ------
        DataError
            For counts that are negative, not finite or all 0; fewer than two rows or columns.
        ParameterError
            For a parameter out of its range.
        DivergedError
            Where the cost does not stay finite. The fitted attributes are then those of the last
            maps whose cost was.

        Warns
        -----
        DataWarning
            For empty rows and columns, more dimensions than the smaller side, and points whose best
            place lies at infinity.
        """
        self._validate_params()
        if self.n_init > 1 and not (checkpoint is None and resume is None):
            raise ParameterError(
                "goes without a checkpoint, which is of one run", name="n_init", value=self.n_init
            )
        counts = self._validated(X, reset=True)
        self._rows = np.flatnonzero(counts.row_totals > 0)
        self._columns = np.flatnonzero(counts.column_totals > 0)
        self.empty_rows_ = np.flatnonzero(counts.row_totals == 0)
        self.empty_columns_ = np.flatnonzero(counts.column_totals == 0)
        hint = looks_transposed(counts) if self.given == "rows" else None
        if hint:
            advice = f"use {setting('given', 'columns')}, or transpose the table"
            warnings.warn(f"{hint}; {advice}", DataWarning, stacklevel=2)
        kept = counts.without_empty()
        warn_of_empty(counts)
        check_size(kept, self.n_components, self.n_maps)
        objective = self._objective(counts, kept, row_similarities, column_similarities)
        with threads(self.n_jobs):
            plan = self._plan(kept, objective)
            if self.n_init == 1:
                best = self._run(plan, kept, *self._seeds())
                best.optimize(self.callback, checkpoint, resume)
            else:
                best = self._best_run(plan, kept)
        self._keep(best, kept, counts)
        if best.failure:
            raise best.failure
        return self

    def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> np.ndarray:
        """Fit, and give the row embedding.

        Parameters
        ----------
        X : Counts, array or sparse array
            As for `fit`.
        y : None
            Not used.
        **fit_params : dict
            None are known.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Where the rows stand.
        """
        return self.fit(X, y, **fit_params).row_embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Places of new rows among the fitted columns (supplementary points).

        A row that was fitted keeps its place. Another one takes the place, and with several maps
        the proportions, of the least cost: -log p(y|x) of its counts and the size penalty of a
        usual row, each row as if it were alone. Under the other normalizations p(y|x) is what
        they say of columns, b_y exp(-d2) over its sum. Counts and frames with labels are matched
        to the fitted columns by label.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (k, n_columns)

        Returns
        -------
        ndarray of shape (k, n_maps * n_components)

        Warns
        -----
        DataWarning
            For rows without a count of a fitted column: they get the mean of the fitted rows.
        """
        check_is_fitted(self, "atlas_")
        table = self._validated(X, reset=False).values
        fitted = self._fitted.values
        return self._placed(table, fitted, self.row_embedding_, self._columns, "row")

    def transform_columns(self, X: Any) -> np.ndarray:
        """Places of new columns among the fitted rows; as `transform`.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, k)

        Returns
        -------
        ndarray of shape (k, n_maps * n_components)
        """
        check_is_fitted(self, "atlas_")
        counts = matched(X if isinstance(X, Counts) else counts_from(X), self._fitted, 0)
        self._check_rows(counts)
        return self._placed(
            sparse.csr_array(counts.values.T), sparse.csr_array(self._fitted.values.T),
            self.column_embedding_, self._rows, "column",
        )  # fmt: skip

    def score(self, X: Any, y: None = None) -> float:
        """Mean log-likelihood per count, in nats, of other counts of the same rows and columns.

        Counts of rows or columns that had none in the fitted table are left out with a warning,
        for the model gives them no place.

        Parameters
        ----------
        X : Counts, array or sparse array
            Of the same rows and columns.
        y : None
            Not used.

        Returns
        -------
        float
            In nats.
        """
        check_is_fitted(self, "atlas_")
        counts = matched(self._validated(X, reset=False), self._fitted, 0)
        self._check_rows(counts)
        table = counts.values
        known = table[self._rows][:, self._columns]
        lost = float(table.sum() - known.sum())
        if lost > 0:
            warnings.warn(
                f"{lost:,.6g} of {table.sum():,.6g} counts are of rows or columns without counts "
                "in the fitted table; they are left out",
                DataWarning,
                stacklevel=2,
            )
        if known.sum() == 0:
            raise DataError("X holds no count of a fitted row and column")
        with threads(self.n_jobs):
            return mean_log_likelihood(self.atlas_, known)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        assert tags.transformer_tags is not None
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _model(self) -> ChoiceModel:
        return replace(
            CODE_MODEL,
            normalization=self.normalization,
            given=self.given if self.normalization == "conditional" else "rows",
            mixing="learned" if self.n_maps > 1 else "fixed",
        )

    def _validated(self, X: Any, *, reset: bool) -> Counts:
        """X as counts; sets or checks `n_features_in_`."""
        is_table = hasattr(X, "columns") or hasattr(X, "obs_names")
        counts = X if isinstance(X, Counts) else counts_from(X) if is_table else None
        if counts is not None and not reset:
            counts = matched(counts, self._fitted, 1)
        table = X
        # A frame of nothing but counts names the features that scikit-learn compares.
        if counts is not None and (isinstance(X, Counts) or X.shape != counts.shape):
            table = counts.values
        values = validated(self, table, reset=reset, accept_sparse="csr", dtype=np.float64)
        return _as_counts(values) if counts is None else counts

    def _check_rows(self, counts: Counts) -> None:
        if counts.n_rows != self._fitted.n_rows:
            raise DataError(
                f"X has {counts.n_rows} rows; the fitted table has {self._fitted.n_rows}"
            )

    def _objective(
        self, counts: Counts, kept: Counts, row_similarities: Any, column_similarities: Any
    ) -> Cost:
        rows_first = self._model.given == "rows"
        values = kept.values if rows_first else sparse.csr_array(kept.values.T)
        optimizer = self.optimizer or LBFGS()
        tolerance = self.tolerance * (1 if optimizer.tolerates_approximation else _FOR_LINE_SEARCH)
        target = count_target(values, self.normalization)
        margins = [np.asarray(values.sum(axis=axis)).ravel() / kept.n_counts for axis in (1, 0)]
        between = Objective(
            target, self._model, self.penalty, tolerance,
            row_factors=margins[0] if self.marginals else None,
            column_factors=margins[1] if self.marginals else None,
        )  # fmt: skip
        within = []
        for is_rows, table, totals, weight in (
            (True, row_similarities, counts.row_totals, self.row_weight),
            (False, column_similarities, counts.column_totals, self.column_weight),
        ):
            if table is None or weight == 0:
                continue
            name = "row_similarities" if is_rows else "column_similarities"
            table = within_kind_order(name, table, counts, 0 if is_rows else 1)
            own = within_kind_target(name, table, totals > 0)
            model = replace(self._model, given=None, normalization="conditional")
            side = 0 if is_rows == rows_first else 1
            within.append(WithinKind(side, weight, Objective(own, model, 0.0, tolerance)))
        return CombinedObjective(between, tuple(within)) if within else between

    def _seeds(self) -> list[np.random.SeedSequence]:
        seed = np.random.RandomState(drawn_seed(self.random_state)).randint(2**31 - 1)
        return np.random.SeedSequence(int(seed)).spawn(self.n_init)

    def _plan(self, kept: Counts, objective: Cost) -> Plan:
        """What all runs share."""
        labels, kinds = objects_of(kept)
        pins = None
        if self.pin is not None:
            pins = pins_of(self.pin, labels, self.n_maps, self.n_components, kinds)
        return Plan(
            objective=objective,
            optimizer=self.optimizer or LBFGS(),
            max_iter=self.max_iter,
            labels=labels,
            method="code",
            settings=self._settings(),
            kinds=kinds,
            factors=self._factors(kept),
            pins=pins,
        )

    def _best_run(self, plan: Plan, kept: Counts) -> Run:
        """The best of several runs, spread over processes if joblib's context says so."""
        tasks = [(self, plan, kept, seed, k == 0) for k, seed in enumerate(self._seeds())]
        # A callback is called in this process.
        backend = None if self.callback is None else "sequential"
        runs = run_tasks(_ended, tasks, "start", backend=backend)
        best = min(runs, key=lambda run: np.inf if run.failure else run.history["cost"][-1])
        return rejoined(best, plan)

    def _run(
        self, plan: Plan, kept: Counts, seed: np.random.SeedSequence, *, first: bool = True
    ) -> Run:
        """A run at its start."""
        generator = np.random.default_rng(seed)
        start = start_parameters(
            kept,
            self.init if first else "random",
            (self.n_maps, self.n_components),
            generator,
            fitted=(self._rows, self._columns),
            pins=plan.pins,
        )
        if self._model.given == "columns":
            start = Parameters(start.positions[::-1], start.weights[::-1])
        units = usual_steps(plan.objective.target, start)
        return Run(plan, start, int(generator.integers(2**31)), units)

    def _factors(self, kept: Counts) -> np.ndarray | None:
        """a_i and b_j as the atlas has them: those of the choosing kind serve Bayes' rule too."""
        rows, columns = kept.row_totals / kept.n_counts, kept.column_totals / kept.n_counts
        if not self.marginals:
            if self.normalization == "joint":
                return None
            ones = np.ones_like
            rows, columns = (rows, ones(columns)) if self.given == "rows" else (ones(rows), columns)
        return np.concatenate([rows, columns])

    def _settings(self) -> dict[str, Any]:
        """The parameters as plain values, for the atlas and the checkpoint."""
        return {
            key: plain_value(value)
            for key, value in self.get_params(deep=False).items()
            if key not in ("callback", "n_jobs", "verbose", "init", "pin")
        }

    def _keep(self, run: Run, kept: Counts, counts: Counts) -> None:
        """Set the fitted attributes."""
        atlas = run.atlas()
        if isinstance(self.init, str) and self.pin is None:
            held = atlas.proportions
            order = order_of_maps(kept.values, held[:, : kept.n_rows], held[:, kept.n_rows :])
            atlas = atlas.renumbered(order)
        self.atlas_ = replace(atlas, metadata={**atlas.metadata, **_metadata(kept)})
        self.kl_divergence_ = run.kl
        self.log_likelihood_ = log_likelihood(run.plan.objective.target, run.kl)
        self.n_iter_ = run.state.iteration
        self.converged_ = run.converged
        self._fitted = counts
        rows = self.atlas_.choices.is_row
        self.row_embedding_ = _side_by_side(
            self.atlas_.maps[:, rows], kept.row_totals, self._rows, counts.n_rows
        )
        self.column_embedding_ = _side_by_side(
            self.atlas_.maps[:, ~rows], kept.column_totals, self._columns, counts.n_columns
        )
        looked_at = self.penalty == 0 and not run.failure
        note = runaway_note(self.atlas_, kept.values, run.kl) if looked_at else ""
        if note:
            warnings.warn(
                f"{note}; give a size penalty, such as {setting('penalty', 0.01)}, or "
                "smooth the counts",
                DataWarning,
                stacklevel=3,
            )

    def _placed(
        self,
        table: sparse.csr_array,
        fitted: sparse.csr_array,
        embedding: np.ndarray,
        others: np.ndarray,
        kind: str,
    ) -> np.ndarray:
        """Places of the rows of a table: those of equal fitted rows, else new ones."""
        found = same_rows(table, fitted)
        places = embedding[found].copy()
        known = table[:, others]
        totals = np.asarray(known.sum(axis=1)).ravel()
        empty = (found < 0) & (totals == 0)
        if empty.any():
            warnings.warn(
                f"{plural(kind, int(empty.sum()))} ({kind} {np.flatnonzero(empty)[0]} first) "
                "without a count of anything that was fitted: placed in the mean of the fitted",
                DataWarning,
                stacklevel=3,
            )
            fitted_totals = np.asarray(fitted.sum(axis=1)).ravel()
            places[empty] = np.average(embedding, axis=0, weights=fitted_totals)
        fresh = np.flatnonzero((found < 0) & ~empty)
        if len(fresh):
            with threads(self.n_jobs):
                maps, _ = place_rows(self.atlas_, known[fresh], columns=kind == "column")
            places[fresh] = maps.transpose(1, 0, 2).reshape(len(fresh), -1)
        return places


def _ended(
    estimator: CODE, plan: Plan, kept: Counts, seed: np.random.SeedSequence, first: bool
) -> Run:
    run = estimator._run(plan, kept, seed, first=first)
    run.optimize(estimator.callback)
    return without_plan(run)


def _as_counts(values: np.ndarray | sparse.csr_array) -> Counts:
    """A plain table as counts; what is wrong with it is also said in scikit-learn's words."""
    numbers = np.asarray(values.data if isinstance(values, sparse.csr_array) else values)
    try:
        return Counts(values)
    except DataError as error:
        if not np.isfinite(numbers).all():
            raise DataError(f"X contains NaN or infinity: {error}") from error
        if (numbers < 0).any():
            raise DataError(f"Negative values in data passed to CODE: {error}") from error
        raise


def _metadata(kept: Counts) -> dict[str, np.ndarray]:
    """The metadata of rows and columns, one column for both."""
    names = dict.fromkeys([*kept.row_metadata, *kept.column_metadata])
    parts = (kept.row_metadata, kept.n_rows), (kept.column_metadata, kept.n_columns)
    return {name: end_to_end(*((side.get(name), n) for side, n in parts)) for name in names}


def _side_by_side(maps: np.ndarray, totals: np.ndarray, kept: np.ndarray, n: int) -> np.ndarray:
    """Positions of one kind, (n, n_maps * d); an object without counts stands in the mean."""
    flat = maps.transpose(1, 0, 2).reshape(maps.shape[1], -1)
    embedding = np.empty((n, flat.shape[1]), np.float32)
    embedding[:] = np.average(flat, axis=0, weights=totals)
    embedding[kept] = flat
    return embedding
