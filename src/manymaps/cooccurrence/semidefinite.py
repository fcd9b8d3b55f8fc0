"""The semidefinite form of CODE: the same models over all Gram matrices at once.

CODE (`manymaps.cooccurrence.code`) climbs over positions in a given dimension and can stop at a
local optimum; over the Gram matrix of all points the problem is convex, and the rank of the optimum
is the dimension (Globerson, Chechik, Pereira & Tishby 2004, section 4). It serves the model whose
p(x), p(y) are its own marginals (section 6) and takes constraints on distances. The programs stand
in `manymaps.cooccurrence.programs`, the trace path in `manymaps.cooccurrence.solutions`.

    counts -> p(x,y) -> optimal G -> eigendecomposition -> points of rows and columns

It is for small tables. Measured on one core, for one optimum; a path takes 11 to 15:

    objects        20 + 20   30 + 30   40 + 40   60 + 60
    Clarabel         1.8 s       7 s      50 s             time grows as N^5 to N^6
    SCS                2 s      10 s      20 s      50 s   time grows as rows x columns

**Without constraints and with trace_penalty=0 every model here fits the table exactly** (the
programs module says why), so this choice only asks which points of least spread do. What has
something to say is a penalty or the path. The optimum of a path is shrunk by the penalty: on random
12 x 15 tables its log-likelihood per count was 1 to 11 % below that of the best of ten ascents in
two dimensions, after the refit 0.2 to 3.5 % (joint models: below 2 %), and polished by `CODE` less
than 0.1 %. So the path chooses a good start; it does not replace the ascent.

Shapes: gram_ (N, N) with N = n_rows + n_columns, rows first.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_number, check_whole
from manymaps.constraints import (
    FLAG,
    NONE,
    VERBOSE,
    Allowed,
    CheckedParameters,
    Choice,
    Kind,
    Number,
    Whole,
    instance,
)
from manymaps.cooccurrence.checks import warn_of_empty
from manymaps.cooccurrence.programs import (
    FORMS,
    MOST_POINTS_FOR_CLARABEL,
    DistanceLimit,
    Program,
    SolverError,
    SolverSettings,
    squared_distances,
)
from manymaps.cooccurrence.solutions import (
    PathPoint,
    SemidefiniteSolution,
    embedding_of,
    log_likelihood,
    numerical_rank,
    refit,
    solve,
    trace_path,
)
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.io.counts import counts_from
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import CODE as CODE_MODEL

__all__ = ["DistanceConstraint", "SemidefiniteCODE", "SemidefiniteSolution", "SolverError"]

# Up to 60 + 60 objects a fit takes a minute; beyond 40,000 pairs no solver here gets anywhere.
MOST_WITHOUT_WARNING = 60
# Two sides of 200 objects; time and memory grow faster than the pairs.
MOST_PAIRS = 40_000
# Programs that a path of trace penalties solves, for the estimate of its time.
_PATH_LENGTH = 15

Place = tuple[str, str | int]


@dataclass(frozen=True)
class DistanceConstraint:
    """A limit on the distance of two objects.

    Parameters
    ----------
    a, b : pair of (kind, label or index)
        The kind is "row", "column" or the table's own name for it; a text is a label, a whole
        number an index.
    at_most, at_least : float >= 0, optional
        At least one of the two; the same value twice fixes the distance.

    Raises
    ------
    ParameterError
        Where there is no limit, a negative one, or at_least is above at_most.

    See Also
    --------
    SemidefiniteCODE

    Examples
    --------
    >>> from manymaps import DistanceConstraint
    >>> DistanceConstraint(("row", "oak"), ("column", 0), at_most=1.5).at_most
    1.5
    """

    a: Place
    b: Place
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if self.at_most is None and self.at_least is None:
            raise ParameterError(f"{self} limits nothing; give at_most, at_least or both")
        for name in ("at_most", "at_least"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value, least=0)
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ParameterError(
                f"is above at_most={self.at_most}", name="at_least", value=self.at_least
            )


def _are_constraints(given: Any) -> bool:
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    return listed and all(isinstance(one, DistanceConstraint) for one in given)


class SemidefiniteCODE(CheckedParameters, BaseEstimator):
    """CODE as a convex program over Gram matrices, for small tables.

    Parameters
    ----------
    n_components : int or None
        Dimensions of the embedding: the leading eigenvectors of the Gram matrix. None keeps all.
    form : {"conditional", "joint", "own-marginals"}
        The model: problem (6) of the paper, problem (5), or that of section 6, whose p(x) and p(y)
        are its own marginals.
    given : {"rows", "columns"}
        What a conditional model is given.
    marginals : bool
        Whether the empirical marginals are factors of the model.
    trace_penalty : float >= 0, or "path"
        Weight of the trace of the Gram matrix, beside the log-likelihood per count. "path" raises
        it until the rank is `n_components`, and then fits the subspace found anew without it
        (not where there are constraints, which hold for the optimum of the path).
    constraints : sequence of DistanceConstraint
        Limits on distances, of objects of one kind or of both. They hold for `gram_`, and for the
        embedding where it keeps all of the trace.
    polish : bool
        Whether `CODE`, the gradient form, goes on from the embedding. Not for "own-marginals", nor
        with constraints: it knows neither.
    solver : {None, "CLARABEL", "SCS"}
        None takes Clarabel for up to 60 objects, SCS beyond, and SCS where Clarabel fails.
    solver_options : mapping, optional
        Options of the solver, such as {"max_iter": 500} for Clarabel, {"max_iters": 500000} for
        SCS.
    verbose : bool
        Whether the solver prints what it does.

    Attributes
    ----------
    gram_ : ndarray of shape (N, N)
        The optimal Gram matrix, rows first, centred; rows and columns without counts are 0 in it.
    row_embedding_, column_embedding_ : ndarray of shape (n_rows, d), (n_columns, d)
        By falling variance; in each component the coordinate of largest size is positive. Rows
        and columns without counts stand at 0, the mean of all others.
    trace_share_ : float
        How much of the trace of `gram_` its `n_components` leading eigenvectors keep.
    log_likelihood_ : float
        Of the optimum, in nats per count: the mean of log q(y|x), log q(x|y) or log q(x,y). That
        of "own-marginals" is normalized over the table.
    embedding_log_likelihood_ : float
        The same of the embedding.
    stages_ : dict of str to float
        The log-likelihood of the embedding as it came to be: "eigenvectors" of the optimum,
        "refit" after a path, "polished".
    rank_ : int
        Of `gram_`: eigenvalues above 1e-5 of the largest.
    path_ : tuple of PathPoint
        The penalties tried by a trace path, with rank, log-likelihood and trace; else empty.
    marginal_error_ : float
        Largest relative error of the marginals that the program constrains, at the optimum; near 0
        they are tight. The joint program constrains none: there it tells how far its marginals are
        from the data's.
    solution_ : SemidefiniteSolution
        All of the optimum without empty rows and columns, a(x) and each marginal among it.
    status_ : str
        What the solver said.
    n_iter_ : int
        Its iterations.
    atlas_ : Atlas
        The embedding with the labels of both kinds, without the empty ones.
    empty_rows_, empty_columns_ : ndarray of int
    n_features_in_ : int

    See Also
    --------
    CODE, DistanceConstraint

    References
    ----------
    Globerson, Chechik, Pereira & Tishby (2004), Euclidean embedding of co-occurrence data, NIPS 17;
    (2007) JMLR 8, 2265-2295.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Counts, SemidefiniteCODE
    >>> visits = Counts(np.array([[9, 5, 1], [6, 9, 2], [1, 2, 9]]), ["oak", "ash", "reed"],
    ...                 ["jay", "tit", "coot"], kinds=("site", "bird"))
    >>> fit = SemidefiniteCODE(1, trace_penalty="path").fit(visits)
    >>> fit.row_embedding_.shape, fit.rank_
    ((3, 1), 1)
    >>> fit.atlas_.neighbors("reed", n_neighbors=1)[0].label
    'coot'
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        "n_components": [Whole(1), NONE],
        "form": [Choice(FORMS)],
        "given": [Choice(("rows", "columns"))],
        "marginals": [FLAG],
        "trace_penalty": [Choice(("path",)), Number(least=0)],
        "constraints": [Kind("a sequence of DistanceConstraint", _are_constraints)],
        "polish": [FLAG],
        "solver": [instance("the name of a solver", str), NONE],
        "solver_options": [instance("a mapping", Mapping), NONE],
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        form: Literal["conditional", "joint", "own-marginals"] = "conditional",
        given: Literal["rows", "columns"] = "rows",
        marginals: bool = True,
        trace_penalty: float | str = 0.0,
        constraints: Sequence[DistanceConstraint] = (),
        polish: bool = False,
        solver: str | None = None,
        solver_options: Mapping[str, Any] | None = None,
        verbose: bool = False,
    ):
        self.n_components = n_components
        self.form = form
        self.given = given
        self.marginals = marginals
        self.trace_penalty = trace_penalty
        self.constraints = constraints
        self.polish = polish
        self.solver = solver
        self.solver_options = solver_options
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the optimal Gram matrix and its embedding.

        Parameters
        ----------
        X : Counts, array, sparse array or data frame of shape (n_rows, n_columns)
            Counts or other weights: finite and not negative.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        DataError
            For counts that are negative, not finite or all 0, or a table beyond any solver.
        ParameterError
            For a parameter out of its range, constraints that cannot all hold, or where cvxpy is
            not installed.
        SolverError
            Where the solver fails or stalls.

        Warns
        -----
        DataWarning
            For a large table, before the solver starts; for empty rows and columns; where cells
            without counts send the optimum to infinity, or a path does not reach its rank.
        """
        self._validate_params()
        counts = X if isinstance(X, Counts) else counts_from(X)
        program = self._checked(counts)
        rows, columns = (np.flatnonzero(x > 0) for x in (counts.row_totals, counts.column_totals))
        self.empty_rows_ = np.flatnonzero(counts.row_totals == 0)
        self.empty_columns_ = np.flatnonzero(counts.column_totals == 0)
        kept = counts.without_empty()
        warn_of_empty(counts)
        places = np.concatenate([rows, counts.n_rows + columns])
        limits = [_limit(constraint, counts, places) for constraint in self.constraints]
        self._check_size(kept)
        joint = kept.values.toarray() / kept.n_counts
        settings = SolverSettings(self.solver, dict(self.solver_options or {}), self.verbose)
        solution = self._optimum(joint, program, limits, settings)
        points = self._embed(joint, program, solution, settings)
        if self.polish:
            points = self._polished(kept, joint, program, points)
        self._keep(solution, places, sum(counts.shape))
        self.row_embedding_ = _placed(points[: kept.n_rows], rows, counts.n_rows)
        self.column_embedding_ = _placed(points[kept.n_rows :], columns, counts.n_columns)
        self.embedding_log_likelihood_ = list(self.stages_.values())[-1]
        self.atlas_ = self._atlas(kept, points)
        self.n_features_in_ = counts.n_columns
        return self

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Fit, and give the row embedding.

        Parameters
        ----------
        X : Counts, array or sparse array
            As for `fit`.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Where the rows stand.
        """
        return self.fit(X).row_embedding_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _checked(self, counts: Counts) -> Program:
        """The program, after a look at the parameters that need no solver."""
        program = Program(self.form, self.given, self.marginals)
        n_points = sum(counts.shape)
        d = self.n_components
        if d is not None:
            check_whole("n_components", d, 1, n_points, why=", the rows and columns, or None")
        elif self.trace_penalty == "path":
            raise ParameterError(
                "a trace path needs n_components, the rank that it should come down to"
            )
        if self.polish and (self.form == "own-marginals" or len(self.constraints)):
            raise ParameterError(
                "polish=True goes on with CODE, which knows neither form='own-marginals' nor "
                "constraints; leave it out"
            )
        return program

    def _check_size(self, kept: Counts) -> None:
        """Refuse a table beyond the solvers, and say what a large one will take."""
        pairs = kept.n_rows * kept.n_columns
        size = f"{kept.n_rows:,} x {kept.n_columns:,}"
        if pairs > MOST_PAIRS or sum(kept.shape) > 2 * MOST_PAIRS**0.5:
            raise DataError(
                f"the table is {size}; the semidefinite form takes up to {MOST_PAIRS:,} pairs of "
                "200 + 200 objects, and is meant for 60 + 60. Fit CODE, the gradient form, or keep "
                "the most frequent rows and columns"
            )
        if max(kept.shape) > MOST_WITHOUT_WARNING:
            seconds, memory = _expected_cost(kept.shape, self.solver)
            seconds *= _PATH_LENGTH if self.trace_penalty == "path" else 1
            warnings.warn(
                f"the table is {size} and the semidefinite form is meant for up to 60 x 60: expect "
                f"some {_duration(seconds)} and {memory / 2**30:.1f} GiB of memory. CODE, the "
                "gradient form, fits such a table in seconds",
                DataWarning,
                stacklevel=3,
            )

    def _optimum(
        self,
        joint: np.ndarray,
        program: Program,
        limits: Sequence[DistanceLimit],
        settings: SolverSettings,
    ) -> SemidefiniteSolution:
        self.path_: tuple[PathPoint, ...] = ()
        if self.trace_penalty != "path":
            return solve(
                joint, program, float(self.trace_penalty), limits=limits, settings=settings
            )
        assert self.n_components is not None
        path = trace_path(joint, program, self.n_components, limits=limits, settings=settings)
        self.path_ = path.points
        return path.solution

    def _embed(
        self,
        joint: np.ndarray,
        program: Program,
        solution: SemidefiniteSolution,
        settings: SolverSettings,
    ) -> np.ndarray:
        """Points of the optimum, refitted after a path; sets `stages_` and `trace_share_`."""
        rank = numerical_rank(solution.gram)
        d = self.n_components or max(rank, 1)
        points, self.trace_share_ = embedding_of(solution.gram, d)
        self.stages_ = {"eigenvectors": _likelihood(joint, points, program)}
        if self.trace_penalty == "path" and not self.constraints and rank:
            again = refit(joint, program, solution.gram, min(d, rank), settings=settings)
            points, _ = embedding_of(again.gram, d)
            self.stages_["refit"] = _likelihood(joint, points, program)
        return points

    def _polished(
        self, kept: Counts, joint: np.ndarray, program: Program, points: np.ndarray
    ) -> np.ndarray:
        """Where the gradient form ends from some points."""
        from manymaps.cooccurrence.code import CODE

        gradient = CODE(
            points.shape[1],
            normalization="joint" if self.form == "joint" else "conditional",
            given=self.given,
            marginals=self.marginals,
            init=(points[: kept.n_rows], points[kept.n_rows :]),
            tolerance=0,
        ).fit(kept)
        points = np.vstack([gradient.row_embedding_, gradient.column_embedding_])
        points, _ = embedding_of(_centred_gram(points.astype(np.float64)), points.shape[1])
        self.stages_["polished"] = _likelihood(joint, points, program)
        return points

    def _keep(self, solution: SemidefiniteSolution, places: np.ndarray, n_points: int) -> None:
        """Set what the optimum says."""
        self.solution_ = solution
        self.gram_ = np.zeros((n_points, n_points))
        self.gram_[np.ix_(places, places)] = solution.gram
        self.rank_ = numerical_rank(solution.gram)
        self.log_likelihood_ = solution.log_likelihood
        self.marginal_error_ = solution.marginal_error
        self.status_ = solution.status
        self.n_iter_ = solution.n_iter

    def _atlas(self, kept: Counts, points: np.ndarray) -> Atlas:
        conditional = self.form == "conditional"
        shares = np.concatenate([kept.row_totals, kept.column_totals]) / kept.n_counts
        factors = shares if self.marginals else np.ones(len(shares))
        squared = squared_distances(points @ points.T, kept.shape)
        logs = np.log(factors)
        log_v = logs[: kept.n_rows, None] + logs[kept.n_rows :] - squared
        return Atlas(
            labels=(*(kept.row_labels or ()), *(kept.column_labels or ())),
            maps=points[None].astype(np.float32),
            proportions=np.ones((1, len(points)), dtype=np.float32),
            model=replace(
                CODE_MODEL,
                normalization="conditional" if conditional else "joint",
                given=self.given if conditional else "rows",
            ),
            method="semidefinite-code",
            log_normalizer=None if conditional else float(logsumexp(log_v)),
            kinds=(kept.kinds[0],) * kept.n_rows + (kept.kinds[1],) * kept.n_columns,
            factors=factors,
        )


def _likelihood(joint: np.ndarray, points: np.ndarray, program: Program) -> float:
    return log_likelihood(joint, squared_distances(points @ points.T, joint.shape), program)


def _centred_gram(points: np.ndarray) -> np.ndarray:
    points = points - points.mean(axis=0)
    return points @ points.T


def _placed(points: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    """Points at their places among n, the others at 0."""
    everywhere = np.zeros((n, points.shape[1]))
    everywhere[places] = points
    return everywhere


def _limit(constraint: DistanceConstraint, counts: Counts, places: np.ndarray) -> DistanceLimit:
    """A constraint by the numbers of its points among those that are fitted."""
    a, b = (_point(place, counts, places) for place in (constraint.a, constraint.b))
    if a == b:
        raise ParameterError(f"{constraint} is about one object alone; name two")
    least, most = (
        x if x is None else float(x) ** 2 for x in (constraint.at_least, constraint.at_most)
    )
    return DistanceLimit(a, b, at_least=least, at_most=most)


def _point(place: Place, counts: Counts, places: np.ndarray) -> int:
    """The number of an object among the fitted ones, rows first."""
    try:
        kind, name = place
    except (TypeError, ValueError):
        raise ParameterError(
            f"{place!r} in a constraint must be a pair of a kind and a label or an index, such as "
            f"({counts.kinds[0]!r}, 0)"
        ) from None
    names = {"row": 0, "column": 1} | {kind: side for side, kind in enumerate(counts.kinds)}
    if kind not in names:
        raise ParameterError(f"{kind!r} in a constraint is not one of {', '.join(names)}")
    side = names[kind]
    if isinstance(name, str):
        try:
            index = counts.column_index(name) if side else counts.row_index(name)
        except UnknownLabelError as error:
            raise ParameterError(
                f"a constraint names an unknown {counts.kinds[side]}: {error}"
            ) from error
    elif isinstance(name, int | np.integer) and 0 <= name < counts.shape[side]:
        index = int(name)
    else:
        raise ParameterError(
            f"{name!r} in a constraint is no {counts.kinds[side]}; indices go from 0 to "
            f"{counts.shape[side] - 1}"
        )
    found = np.flatnonzero(places == index + side * counts.n_rows)
    if not found.size:
        raise ParameterError(
            f"a constraint names the {counts.kinds[side]} {name!r}, which has no counts and is not "
            "fitted"
        )
    return int(found[0])


def _expected_cost(shape: tuple[int, int], solver: str | None) -> tuple[float, float]:
    """Seconds and bytes for one optimum: powers through the table in the module docstring."""
    n_points, pairs = sum(shape), shape[0] * shape[1]
    interior = solver is not None and solver.upper() == "CLARABEL"
    if interior or (solver is None and n_points <= MOST_POINTS_FOR_CLARABEL):
        return 7.0 * (n_points / 60) ** 6, 2.0**28 * (n_points / 60) ** 4
    return 50.0 * (pairs / 3600) ** 1.2, 2.0**28 * pairs / 3600


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.0f} hours"
