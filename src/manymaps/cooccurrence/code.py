"""CODE: joint embedding of rows and columns from their co-occurrence counts.

The counts divided by their total define a joint distribution p(x, y) with marginals p(x) and p(y).
The model assigns a point phi_x to every row x and a point psi_y to every column y (Globerson,
Chechik, Pereira & Tishby 2004):

    conditional, given rows      p(y|x)  = p(y) exp(-|phi_x - psi_y|^2) / Z_x           eq. 1
    conditional, given columns   p(x|y)  = p(x) exp(-|phi_x - psi_y|^2) / Z_y
    joint                        p(x, y) = p(x) p(y) exp(-|phi_x - psi_y|^2) / Z        section 3

It maximizes the sum over x and y of p(x, y) times the log of the model probability.
`marginals=False` omits the factors p(x) and p(y). With several maps, the similarity is a sum over
maps with mixing proportions for rows and for columns:

    exp(-|phi_x - psi_y|^2)   ->   sum_m pi_x^m pi_y^m exp(-|phi_x^m - psi_y^m|^2)

In the conditional model, p(y|x) as a function of phi_x is a log-linear model, because |phi_x|^2
cancels. The position of a row among fixed columns is therefore the solution of a concave problem.
`transform` uses this property to position new rows, and rows whose solution is at infinity are
detected.

Shapes: row_embedding_ (n_rows, n_components), column_embedding_ (n_columns, n_components) for one
map; maps_ (n_maps, n_rows + n_columns, n_components), with rows before columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import threads
from manymaps.constraints import (
    ARRAY,
    CALLBACKS,
    FLAG,
    N_JOBS,
    N_MAPS,
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
from manymaps.cooccurrence.checks import check_size, warn_of_empty
from manymaps.cooccurrence.likelihood import (
    log_likelihood,
    mean_log_likelihood,
    place_rows,
)
from manymaps.cooccurrence.matching import (
    joined_metadata,
    matched,
    objects_of,
)
from manymaps.cooccurrence.runaways import warn_of_runaways
from manymaps.cooccurrence.starts import INITS, Starts, start_parameters, usual_steps
from manymaps.data.counts import Counts, looks_transposed
from manymaps.data.validation import same_rows, validated
from manymaps.errors import DataError, DataWarning, setting
from manymaps.io.counts import counts_from
from manymaps.labels import plural
from manymaps.maps.fitted import Callback, FittedMaps, atlas_of, order_of_maps
from manymaps.model.choice import CHOICES, ChoiceModel
from manymaps.model.choice import CODE as CODE_MODEL
from manymaps.model.objective import TOLERANCE, Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import count_target
from manymaps.optimizers.line_search import LBFGS
from manymaps.optimizers.loop import Descent, Start, best_of, descend
from manymaps.optimizers.momentum import OPTIMIZER, Optimizer
from manymaps.progress import shows_progress
from manymaps.seeds import drawn_seed

__all__ = ["CODE"]

# Without a size penalty, many points of sparse tables diverge. The value was chosen on three tables
# of vegan. In each of five splits, a fifth of the counts was held out at random. The columns list
# the mean log-likelihood of held-out counts in nats per count, and the last one that of the column
# frequencies alone. Points are far out beyond four times the median distance from the middle.
#
#     penalty                  0       0.001    0.01     0.1      frequencies
#     dune                     -2.764  -2.651   -2.655   -2.659   -3.110
#     dune, far out of 49      6.0     1.4      0        0
#     mite                     -2.230  -2.229   -2.229   -2.239   -2.653
#     BCI                      -4.152  -4.150   -4.146   -4.153   -4.273
#
# Two splits of other tables, at 0 and 0.01: 300 newsgroup posts and 600 words -5.966 and -5.948 (42
# and 2 of 898 far out); 1,740 NIPS papers and 2,000 words -6.8391 and -6.8393. Fits of three maps
# need it more: dune -5.186 and -2.677, mite -2.341 and -2.133, posts -7.820 and -6.021, but 250
# NIPS authors and 300 words -5.244 and -5.252.
_PENALTY = 0.01


def _is_pair(init: Any) -> bool:
    return isinstance(init, tuple | list) and len(init) == 2 and all(map(ARRAY.allows, init))


class CODE(
    FittedMaps, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CheckedParameters, BaseEstimator
):
    """Euclidean embedding of co-occurrence data in one or several maps.

    Parameters
    ----------
    n_components : int, default 2
        Number of dimensions of each map.
    normalization : {"conditional", "joint"}, default "conditional"
        "conditional" models the choice of a column given a row, or of a row given a column. "joint"
        models all pairs of rows and columns together.
    given : {"rows", "columns"}, default "rows"
        Conditioning variable of the conditional normalization.
    marginals : bool, default True
        Whether the margins of the table are fixed factors of the model.
    n_maps : int, default 1
        Number of maps, from 1 to 4,096. With several maps, every row and column has a position and
        a mixing proportion in each map.
    penalty : float, default 0.01
        Strength of the size penalty `(penalty / 2) sum |y|^2` over all rows and columns, at least
        0, in nats per squared distance. It is added to a cost in which an average row has weight 1
        (an average column if columns choose). A factor of all counts therefore has no effect. Any
        value above 0 keeps all points at a finite distance. Use 0 for the model of the paper, in
        which the best positions of some points are often at infinity.
    init : {"auto", "ca", "random"}, pair of arrays, or Atlas, default "auto"
        Starting positions. "ca" starts from correspondence analysis, and "auto" uses it for a
        single map with fewer dimensions than the table has. A pair of arrays has shapes (n_rows,
        n_components) and (n_columns, n_components), or the same with a leading map axis. An atlas
        of an earlier fit is also accepted.
    n_init : int, default 1
        Number of runs from different starts. The run with the lowest cost is selected. All runs
        except the first start at random positions.
    max_iter : int, default 1000
        Maximum number of iterations per run.
    optimizer : Optimizer, optional
        Optimization algorithm. The default is `LBFGS()`, which lowers the cost in every step.
        `ConjugateGradient()` and `Momentum()` are alternatives.
    tolerance : float, default 0.005
        Target relative error of the repulsive forces. If it is 0, sums are exact. An optimizer with
        a line search uses a hundredth of this value.
    callback : callable or list of callable, optional
        Functions called after every iteration with the iteration, the cost and a function that
        returns the current atlas. If one of them returns a true value, the run stops.
    random_state : int, RandomState or None, default None
        Seed of the fit. If it is None, a seed is drawn once from NumPy's global state. If it is a
        `RandomState`, the seed is drawn from that object.
    n_jobs : int, optional
        Number of threads.
    verbose : bool, default False
        Whether to show progress: a bar on a terminal or in a notebook, and elsewhere one line per
        minute. See `show_progress`.

    Attributes
    ----------
    row_embedding_ : ndarray of shape (n_rows, n_components)
        Coordinates of the rows. With several maps, the shape is (n_rows, n_maps * n_components).
        Rows without counts are at the mean position of all other rows, weighted by counts.
    column_embedding_ : ndarray of shape (n_columns, n_components)
        Coordinates of the columns, in the same format.
    atlas_ : Atlas
        Atlas of the nonempty rows, followed by the nonempty columns. `atlas_.kinds` contains the
        kind of each object. Maps are numbered as in `MultipleMapsTSNE`.
    maps_ : ndarray of shape (n_maps, n_objects, n_components)
        Coordinates of the objects in the atlas.
    proportions_ : ndarray of shape (n_maps, n_objects)
        Mixing proportions of the objects in the atlas. They sum to 1 over maps for each object.
    log_likelihood_ : float
        Mean log probability per count in nats. Depending on the model, the probability is p(y|x),
        p(x|y) or p(x, y).
    kl_divergence_ : float
        KL divergence in nats: the highest log-likelihood that any distribution of this type can
        have, minus `log_likelihood_`.
    empty_rows_, empty_columns_ : ndarray of int
        Indices of rows and columns without counts, which are not fitted.
    n_iter_ : int
        Number of iterations of the selected run.
    converged_ : bool
        Whether the selected run converged.
    history_ : dict of str to ndarray
        Optimization history of the selected run, for example its "cost".

    See Also
    --------
    SemidefiniteCODE, correspondence_analysis, insert_rows, plot_map, evaluate

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

    _fitted: Counts

    method: ClassVar[str] = "code"
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
        "n_init": [Whole(1)],
        "max_iter": [Whole(1)],
        "optimizer": OPTIMIZER,
        "tolerance": TOLERANCE,
        "callback": CALLBACKS,
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
        penalty: float = _PENALTY,
        init: str | Starts | Atlas = "auto",
        n_init: int = 1,
        max_iter: int = 1000,
        optimizer: Optimizer | None = None,
        tolerance: float = 5e-3,
        callback: Callback | Sequence[Callback] | None = None,
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
        self.n_init = n_init
        self.max_iter = max_iter
        self.optimizer = optimizer
        self.tolerance = tolerance
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def globerson_2004(cls, n_components: int = 2) -> Self:
        """Return the model of Globerson et al. (2004).

        The model is equation 1 of the paper: the conditional model of columns given rows with the
        factor p(y), in one map and without a size penalty. Figures 2 to 4 show two dimensions. The
        optimizer and the start are the defaults of this class.

        Parameters
        ----------
        n_components : int, default 2
            Number of dimensions.

        Returns
        -------
        CODE
            Estimator with these settings.

        Examples
        --------
        >>> from manymaps import CODE
        >>> paper = CODE.globerson_2004()
        >>> paper.penalty, paper.normalization, paper.marginals
        (0.0, 'conditional', True)
        """
        return cls(
            n_components,
            normalization="conditional",
            given="rows",
            marginals=True,
            n_maps=1,
            penalty=0.0,
        )

    @shows_progress
    def fit(
        self,
        X: Any,
        y: None = None,
    ) -> Self:
        """Fit the positions of rows and columns.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Finite, nonnegative counts or other weights.
        y : None
            Ignored.

        Returns
        -------
        CODE
            Fitted estimator.

        Raises
        ------
        DataError
            If counts are negative, non-finite or all 0, or if there are fewer than two rows or
            columns.
        ParameterError
            If a parameter is out of range.
        DivergedError
            If the cost becomes non-finite. The fitted attributes then describe the last maps with a
            finite cost.

        Warns
        -----
        DataWarning
            If rows or columns are empty, if there are more dimensions than objects on the smaller
            side. If the penalty is 0 and the best positions of some points are at infinity.
        """
        self._validate_params()
        counts = self._validated(X, reset=True)
        nonempty = self._nonempty(counts)
        with threads(self.n_jobs):
            objective, optimizer = self._objective(nonempty), self.optimizer or LBFGS()
            entropy = np.random.RandomState(drawn_seed(self.random_state)).randint(2**31 - 1)
            starts = [
                self._start(objective, nonempty, seed, k == 0)
                for k, seed in enumerate(np.random.SeedSequence(int(entropy)).spawn(self.n_init))
            ]
            labels, kinds = objects_of(nonempty)

            def atlas_so_far(run: Descent) -> Atlas:
                factors = self._factors(nonempty)
                return atlas_of(run, objective, self, labels, kinds=kinds, factors=factors)

            def watch(run: Descent) -> bool:
                return stops(self.callback, run.n_iter, run.cost, partial(atlas_so_far, run))

            best, _ = best_of(
                starts,
                lambda start: descend(objective, optimizer, start, self.max_iter, watch),
                in_order=self.callback is not None,
            )
            self.log_likelihood_ = log_likelihood(objective.target, best.kl)
            self._keep(best, atlas_so_far(best), nonempty, counts)
        if best.failure:
            raise best.failure
        return self

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Fit the model and return the row embedding.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Counts as for `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_maps * n_components)
            Coordinates of the rows.
        """
        return self.fit(X, y).row_embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Position new rows among the fitted columns as supplementary points.

        A row that is equal to a fitted row receives the position of that row. The position of any
        other row minimizes the cost of this row, independently of other new rows. With several
        maps, the mixing proportions of the row are fitted as well. The cost is -log p(y|x) of the
        counts plus the size penalty of an average row. Other normalizations use the implied p(y|x),
        which is b_y exp(-d2) divided by its sum. Counts and data frames are matched to the fitted
        columns by label.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (k, n_columns)
            Counts of the k new rows.

        Returns
        -------
        ndarray of shape (k, n_maps * n_components)
            Coordinates of the new rows.

        Warns
        -----
        DataWarning
            If a row has no counts of fitted columns. Such rows receive the mean position of the
            fitted rows.
        """
        check_is_fitted(self, "atlas_")
        table = self._validated(X, reset=False).values
        fitted = self._fitted.values
        matches = same_rows(table, fitted)
        positions = self.row_embedding_[matches].copy()
        known = table[:, self._columns]
        totals = np.asarray(known.sum(axis=1)).ravel()
        empty = (matches < 0) & (totals == 0)
        if empty.any():
            warnings.warn(
                f"{plural('row', int(empty.sum()))} (row {np.flatnonzero(empty)[0]} first) without "
                "counts of fitted columns; using the mean position of the fitted rows",
                DataWarning,
                stacklevel=2,
            )
            fitted_totals = np.asarray(fitted.sum(axis=1)).ravel()
            positions[empty] = np.average(self.row_embedding_, axis=0, weights=fitted_totals)
        fresh = np.flatnonzero((matches < 0) & ~empty)
        if len(fresh):
            with threads(self.n_jobs):
                maps, _ = place_rows(self.atlas_, known[fresh])
            positions[fresh] = maps.transpose(1, 0, 2).reshape(len(fresh), -1)
        return positions

    def score(self, X: Any, y: None = None) -> float:
        """Compute the mean log-likelihood per count of new counts of the fitted objects.

        Rows or columns without counts in the fitted table are omitted with a warning, because the
        model has no positions for them.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Counts of the fitted rows and columns.
        y : None
            Ignored.

        Returns
        -------
        float
            Mean log-likelihood per count in nats.
        """
        check_is_fitted(self, "atlas_")
        counts = matched(self._validated(X, reset=False), self._fitted, 0)
        if counts.n_rows != self._fitted.n_rows:
            raise DataError(
                f"X has {counts.n_rows} rows; expected {self._fitted.n_rows} as in the fitted table"
            )
        table = counts.values
        known = table[self._rows][:, self._columns]
        _check_known(counts, known)
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
        """Convert X to counts and set or check `n_features_in_`."""
        is_table = hasattr(X, "columns") or hasattr(X, "obs_names")
        counts = X if isinstance(X, Counts) else counts_from(X) if is_table else None
        if counts is not None and not reset:
            counts = matched(counts, self._fitted, 1)
        table = X
        # A data frame that contains only counts provides the feature names that scikit-learn
        # compares.
        if counts is not None and (isinstance(X, Counts) or X.shape != counts.shape):
            table = counts.values
        values = validated(self, table, reset=reset, accept_sparse="csr", dtype=np.float64)
        return _as_counts(values) if counts is None else counts

    def _nonempty(self, counts: Counts) -> Counts:
        """Return the nonempty part of a table, and warn about the table."""
        self._rows = np.flatnonzero(counts.row_totals > 0)
        self._columns = np.flatnonzero(counts.column_totals > 0)
        self.empty_rows_ = np.flatnonzero(counts.row_totals == 0)
        self.empty_columns_ = np.flatnonzero(counts.column_totals == 0)
        hint = looks_transposed(counts) if self.given == "rows" else None
        if hint:
            advice = f"use {setting('given', 'columns')}, or transpose the table"
            warnings.warn(f"{hint}; {advice}", DataWarning, stacklevel=3)
        nonempty = counts.without_empty()
        warn_of_empty(counts)
        check_size(nonempty, self.n_components, self.n_maps)
        return nonempty

    def _objective(self, nonempty: Counts) -> Objective:
        """Return the cost of a table without empty rows or columns."""
        values = nonempty.values
        if self._model.given == "columns":
            values = sparse.csr_array(values.T)
        margins = [np.asarray(values.sum(axis=axis)).ravel() / nonempty.n_counts for axis in (1, 0)]
        tolerance = (self.optimizer or LBFGS()).force_tolerance(self.tolerance)
        return Objective(
            count_target(values, self.normalization), self._model, self.penalty, tolerance,
            row_factors=margins[0] if self.marginals else None,
            column_factors=margins[1] if self.marginals else None,
        )  # fmt: skip

    def _start(
        self, objective: Objective, nonempty: Counts, seed: np.random.SeedSequence, first: bool
    ) -> Start:
        """Return the start of a run; the runs after the first start at random."""
        generator = np.random.default_rng(seed)
        init, size = self.init if first else "random", (self.n_maps, self.n_components)
        fitted = self._rows, self._columns
        start = start_parameters(nonempty, init, size, generator, fitted=fitted)
        if self._model.given == "columns":
            start = Parameters(start.positions[::-1], start.weights[::-1])
        units = usual_steps(objective.target.masses, start)
        return Start(start, int(generator.integers(2**31)), units)

    def _factors(self, nonempty: Counts) -> np.ndarray | None:
        """Return the factors a_i and b_j of the atlas, where Bayes' rule requires both."""
        rows, columns = nonempty.row_totals, nonempty.column_totals
        rows, columns = rows / nonempty.n_counts, columns / nonempty.n_counts
        if not self.marginals:
            if self.normalization == "joint":
                return None
            if self.given == "rows":
                columns = np.ones_like(columns)
            else:
                rows = np.ones_like(rows)
        return np.concatenate([rows, columns])

    def _keep(self, run: Descent, atlas: Atlas, nonempty: Counts, counts: Counts) -> None:
        """Set the fitted attributes."""
        if isinstance(self.init, str):
            sides = np.split(atlas.proportions, [nonempty.n_rows], axis=1)
            atlas = atlas.renumbered(order_of_maps(nonempty.values, *sides))
        self.atlas_ = replace(atlas, metadata={**atlas.metadata, **joined_metadata(nonempty)})
        self.kl_divergence_ = run.kl
        self.n_iter_ = run.n_iter
        self.converged_ = run.converged
        self._fitted = counts
        rows = self.atlas_.choices.is_row
        self.row_embedding_ = _side_by_side(
            self.atlas_.maps[:, rows], nonempty.row_totals, self._rows, counts.n_rows
        )
        self.column_embedding_ = _side_by_side(
            self.atlas_.maps[:, ~rows], nonempty.column_totals, self._columns, counts.n_columns
        )
        if self.penalty == 0 and not run.failure:
            warn_of_runaways(self.atlas_, nonempty.values, _PENALTY)


def _check_known(counts: Counts, known: sparse.csr_array) -> None:
    """Warn about counts of objects that are not fitted; raise an error if there are no others."""
    total = counts.values.sum()
    lost = float(total - known.sum())
    if lost > 0:
        warnings.warn(
            f"{lost:,.6g} of {total:,.6g} counts belong to rows or columns that have no counts in "
            "the fitted table; they are omitted",
            DataWarning,
            stacklevel=3,
        )
    if known.sum() == 0:
        raise DataError("X has no counts of fitted rows and columns")


def _as_counts(values: np.ndarray | sparse.csr_array) -> Counts:
    """Convert a plain table to counts, with errors in scikit-learn's wording."""
    numbers = np.asarray(values.data if isinstance(values, sparse.csr_array) else values)
    try:
        return Counts(values)
    except DataError as error:
        if not np.isfinite(numbers).all():
            raise DataError(f"X contains NaN or infinity: {error}") from error
        if (numbers < 0).any():
            raise DataError(f"Negative values in data passed to CODE: {error}") from error
        raise


def _side_by_side(maps: np.ndarray, totals: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Join maps to positions (n, n_maps * d), with the weighted mean for objects without counts."""
    flat = maps.transpose(1, 0, 2).reshape(maps.shape[1], -1)
    embedding = np.empty((n, flat.shape[1]), np.float32)
    embedding[:] = np.average(flat, axis=0, weights=totals)
    embedding[indices] = flat
    return embedding
