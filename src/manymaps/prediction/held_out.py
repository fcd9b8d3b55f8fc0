"""Splits of association norms, and errors and ranks of predictions on held-out associations.

    error of a part = (1 / N) sum_(i, j) in part  p_ij log(p_ij / q(j|i))

(van der Maaten & Hinton 2009, section 5.) Each row of p in the full data sums to 1 over the
training, validation and test parts together. N is the number of cues with mass, and q(.|i) sums to
1 over all objects j != i. The errors of the parts therefore add up to the mean KL divergence of the
full data.

A model provides one function: `probabilities(rows)` returns q(j|i) for the given cues i as an array
of shape (len(rows), n). Each row of the array sums to 1 and is 0 at the cue itself. The function is
called for a few cues at a time, so an n x n array is never stored.

Ranking measures refer to one (cue, held-out associate) pair at a time. The associate is ranked
among all objects except the cue and its other known associates, both in training and held out.
Objects with equal probability have tied ranks. An associate that is tied with t other objects has
the mean rank of the tied objects. Its contribution to the top k is the probability that it is among
them in a random order of the tied objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.data.associations import Associations
from manymaps.data.trials import as_associations
from manymaps.data.vectors import checked_table
from manymaps.errors import DataError, ParameterError
from manymaps.labels import plural
from manymaps.seeds import drawn_generator

Probabilities = Callable[[np.ndarray], np.ndarray]
Unit = Literal["pair", "row"]

PARTS = ("train", "validation", "test")
#: Numbers of the most probable objects among which an associate is recalled.
DEPTHS = (1, 10, 100)
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
# Blocks of 256 cues by all objects limit the memory requirement.
_ROWS_AT_ONCE = 256


class Predictor(Protocol):
    """Protocol of a fitted predictor, which provides q(j|i).

    See Also
    --------
    manymaps.AssociationPredictor, score_predictor

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
    >>> result = score_predictor(Even(), mm.split_associations(ring, random_state=0))
    >>> round(result.test / 0.1, 1)
    2.0
    """

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Return `q(j|i)`, the probability of each object as an associate of the given cues.

        Parameters
        ----------
        rows : array of int
            Indices of the cues.

        Returns
        -------
        ndarray of shape (len(rows), n)
            Probabilities. Each row sums to 1 and is 0 at its own cue.
        """


@dataclass(frozen=True, eq=False)
class Split:
    """Associations in three parts that add up to p.

    Attributes
    ----------
    train, validation, test : csr_array of shape (n, n), float64
        Values p_ij of the full data for the pairs (i, j) in each part.
    n_cues : int
        Number of cues with mass, N.
    without_training : ndarray of int
        Indices of cues without associations in the training part. These cues do not contribute to
        the training cost, and a model has information about them only as responses.
    notes : tuple of str
        Notes on the split, for example the number of cues without training associations.

    See Also
    --------
    manymaps.split_associations

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import split_associations
    >>> ring = sparse.diags_array([1.0] * 19, offsets=1, shape=(20, 20)).tocsr()
    >>> split = split_associations(ring, random_state=0)
    >>> {name: part.nnz for name, part in split.parts.items()}
    {'train': 15, 'validation': 2, 'test': 2}
    """

    train: sparse.csr_array
    validation: sparse.csr_array
    test: sparse.csr_array
    n_cues: int
    without_training: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, sparse.csr_array]:
        """Parts by name: "train", "validation", "test"."""
        return {name: getattr(self, name) for name in PARTS}


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of held-out associates.

    Attributes
    ----------
    ranks : ndarray of shape (n_pairs,)
        Rank of each held-out pair, from 1, in row-major order of the pairs. Tied ranks are
        multiples of 0.5.
    recall : dict of int to float
        Proportion of held-out pairs whose associate is among the k most probable objects, for each
        k.
    mean_reciprocal_rank : float
        Mean of 1 / rank, greater than 0 and at most 1.

    See Also
    --------
    score_split

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.prediction import Split
    >>> from manymaps.prediction import score_split
    >>> q = np.array([[0, 0.5, 0.3, 0.2], [0] * 4, [0] * 4, [0] * 4])
    >>> none, held_out = sparse.csr_array((4, 4)), sparse.csr_array(([1.0], ([0], [2])), (4, 4))
    >>> _, ranking = score_split(lambda rows: q[rows], Split(none, none, held_out, 1, []))
    >>> ranking.ranks.tolist(), ranking.recall
    ([2.0], {1: 0.0, 10: 1.0, 100: 1.0})
    """

    ranks: np.ndarray
    recall: dict[int, float]
    mean_reciprocal_rank: float


def conditional_probabilities(norms: Associations | sparse.sparray) -> sparse.csr_array:
    """Divide the strengths of each cue by their sum, without self-pairs.

        p_ij = s_ij / sum_j s_ij

    Parameters
    ----------
    norms : Associations, or sparse array of shape (n, n)
        Association strengths, at least 0.

    Returns
    -------
    csr_array of shape (n, n)
        Conditional probabilities. Rows without mass remain empty.

    Raises
    ------
    DataError
        If no pair of different objects has a positive strength, or if cells are missing. All cells
        must be known because held-out associates are ranked among all other objects.

    See Also
    --------
    manymaps.split_associations, checked_part

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps.prediction import conditional_probabilities
    >>> conditional_probabilities(sparse.csr_array([[0, 3, 1], [2, 0, 0], [0, 0, 0]])).toarray()
    array([[0.  , 0.75, 0.25],
           [1.  , 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    from manymaps.model.target import conditional_target

    norms = as_associations(norms)
    if isinstance(norms, Associations) and norms.n_missing:
        raise DataError(
            f"{norms.report.source}: {norms.n_missing:,} cells are missing, but prediction "
            "requires all cells; fill them (with 0 if there is no similarity)"
        )
    strengths = norms.strengths if isinstance(norms, Associations) else norms
    return conditional_target(strengths).values


def split_associations(
    norms: Associations | sparse.sparray,
    *,
    by: Unit = "pair",
    random_state: int | np.random.Generator | None = None,
) -> Split:
    """Split associations into 80 % for training, 10 % for validation and 10 % for the test.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
        Association norms.
    by : {"pair", "row"}, default "pair"
        The option "pair" assigns unordered pairs, so both directions of a pair are in the same
        part. The option "row" assigns each cue with all its responses to one part. This option
        tests predictions for cues that are known only as responses. The two directions of a pair
        can then be in different parts.
    random_state : int, Generator or None, default None
        Seed of the split. If it is None, a seed is drawn once from NumPy's global state.

    Returns
    -------
    Split
        The three parts.

    Raises
    ------
    DataError
        If there are too few pairs (or cues) for three nonempty parts.
    ParameterError
        If an option is invalid.

    See Also
    --------
    prediction.Split, prediction.predict_associations, sweep

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import split_associations
    >>> ring = sparse.diags_array([1.0] * 19, offsets=1, shape=(20, 20)).tocsr()
    >>> split = split_associations(ring, random_state=0)
    >>> [part.nnz for part in split.parts.values()], split.n_cues
    ([15, 2, 2], 19)
    """
    check_choice("by", by, ("pair", "row"))
    p = conditional_probabilities(norms)
    rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    if by == "pair":
        low, high = np.minimum(rows, p.indices), np.maximum(rows, p.indices)
        keys, unit = np.unique(low.astype(np.int64) * p.shape[0] + high, return_inverse=True)
    else:
        keys, unit = np.unique(rows, return_inverse=True)
    if len(keys) < len(PARTS):
        units = plural("pair" if by == "pair" else "cue", len(keys))
        raise DataError(
            f"{units} cannot be split into training, validation and test; norms must have at "
            f"least {len(PARTS)}"
        )
    n_held_out = max(1, int(len(keys) / 10 + 0.5))
    sizes = [len(keys) - 2 * n_held_out, n_held_out, n_held_out]
    part = drawn_generator(random_state).permutation(np.repeat(np.arange(len(PARTS)), sizes))
    return _split(p, rows, part[unit])


def _split(p: sparse.csr_array, rows: np.ndarray, part: np.ndarray) -> Split:
    """Return the split that assigns each stored pair to its part, with notes."""
    tables = [
        sparse.csr_array((p.data[mask], (rows[mask], p.indices[mask])), shape=p.shape)
        for mask in (part == k for k in range(len(PARTS)))
    ]
    cues = np.diff(p.indptr) > 0
    untrained = np.flatnonzero(cues & (np.diff(tables[0].indptr) == 0))
    untested = cues & (np.diff(tables[2].indptr) == np.diff(p.indptr))
    notes = []
    if len(untrained):
        notes.append(
            f"{len(untrained)} of {int(cues.sum())} cues have no associations in the training "
            f"part; {int(untested.sum())} of these have all associations in the test part"
        )
    train, validation, test = tables
    return Split(train, validation, test, int(cues.sum()), untrained, tuple(notes))


def checked_part(part: sparse.sparray, name: str) -> sparse.csr_array:
    """Return a part as a validated float64 CSR array without explicit zeros.

    Parameters
    ----------
    part : sparse array of shape (n, n)
        Part of p, whose rows sum to at most 1.
    name : str
        Name of the part in error messages.

    Returns
    -------
    csr_array of shape (n, n)
        Validated copy.

    Raises
    ------
    DataError
        If the table is not square, smaller than 3 x 3 or empty, or if it contains invalid values.
        Values must be finite, nonnegative and off the diagonal, and each row must sum to at most 1.

    See Also
    --------
    conditional_probabilities, manymaps.AssociationPredictor

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps.prediction import checked_part
    >>> checked_part(sparse.csr_array([[0, 1], [1, 0]]), "test")
    Traceback (most recent call last):
    manymaps.errors.DataError: the test part has shape (2, 2); it must be square, at least 3 x 3
    """
    table = checked_table(part, f"the values of the {name} part")
    part = sparse.csr_array(table, dtype=np.float64, copy=True)
    part.sum_duplicates()
    part.eliminate_zeros()
    n_rows, n = part.shape
    if n_rows != n or n < 3:
        raise DataError(
            f"the {name} part has shape {part.shape}; it must be square, at least 3 x 3"
        )
    if part.nnz == 0:
        raise DataError(f"the {name} part has no associations; use another split or more data")
    rows = np.repeat(np.arange(n), np.diff(part.indptr))
    if not np.isfinite(part.data).all() or (part.data < 0).any() or (rows == part.indices).any():
        raise DataError(f"the {name} part must contain finite, positive p_ij of different objects")
    highest = int(np.argmax(part.sum(axis=1)))
    mass = float(part.data[slice(*part.indptr[highest : highest + 2])].sum())
    if mass > 1 + 1e-6:
        raise DataError(
            f"row {highest} of the {name} part sums to {mass:g}; rows of p must sum to at most 1 "
            "(as from split_associations)"
        )
    return part


def uniform_errors(split: Split) -> dict[str, float]:
    """Compute the errors of the uniform model, `q(j|i) = 1 / (n - 1)`.

    Parameters
    ----------
    split : Split
        Split with all parts.

    Returns
    -------
    dict of str to float
        Errors of "train", "valid" and "test" in nats per cue.

    See Also
    --------
    prediction_error

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import split_associations
    >>> from manymaps.prediction import uniform_errors
    >>> ring = sparse.diags_array([1.0] * 2, offsets=[-1, 1], shape=(9, 9)).tocsr()
    >>> errors = uniform_errors(split_associations(ring, random_state=0))
    >>> round(sum(errors.values()), 4), round(float(np.log(8) - 7 / 9 * np.log(2)), 4)
    (1.5403, 1.5403)
    """
    n = split.train.shape[0]
    parts = {"train": split.train, "valid": split.validation, "test": split.test}
    return {
        name: float(part.data @ np.log(part.data * (n - 1))) / split.n_cues
        for name, part in parts.items()
    }


def _blocks(
    probabilities_of: Probabilities, *parts: sparse.csr_array
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of cues that occur in at least one part, with their q."""
    n = parts[0].shape[1]
    cues = np.flatnonzero(np.any([np.diff(part.indptr) > 0 for part in parts], axis=0))
    for start in range(0, len(cues), _ROWS_AT_ONCE):
        rows = cues[start : start + _ROWS_AT_ONCE]
        q = np.asarray(probabilities_of(rows))
        if q.shape != (len(rows), n):
            raise ParameterError(
                f"the probabilities of {len(rows)} rows have shape {q.shape}; "
                f"expected {(len(rows), n)}"
            )
        yield rows, q


def _errors(q: np.ndarray, rows: np.ndarray, part: sparse.csr_array) -> np.ndarray:
    """Return sum_j p_ij log(p_ij / q(j|i)) over the pairs of a part, for the given cues i."""
    pairs = part[rows]
    owners = np.repeat(np.arange(len(rows)), np.diff(pairs.indptr))
    with np.errstate(divide="ignore"):
        terms = pairs.data * (np.log(pairs.data) - np.log(q[owners, pairs.indices]))
    return np.bincount(owners, terms, minlength=len(rows))


def prediction_error(
    probabilities_of: Probabilities, part: sparse.csr_array, n_cues: int | None = None
) -> float:
    """Compute the error (1 / N) sum p_ij log(p_ij / q(j|i)) over the pairs of a part.

    Parameters
    ----------
    probabilities_of : callable
        Function that maps cue indices (k,) to q(j|i), shape (k, n). Each row sums to 1 and is 0 at
        its own cue.
    part : csr_array of shape (n, n)
        Part of a `Split`.
    n_cues : int, optional
        Number of cues N. The default is the number of cues in the part. Pass `Split.n_cues` so that
        the errors of the parts add up.

    Returns
    -------
    float
        Error in nats per cue, which is infinite if an associate in the part has zero probability.

    Raises
    ------
    DataError
        If the part has no associations.

    See Also
    --------
    score_split, uniform_errors

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.prediction import prediction_error
    >>> part = sparse.csr_array([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]])
    >>> def uniform(rows):
    ...     return (1 - np.eye(3)[rows]) / 2
    >>> prediction_error(uniform, part)
    0.0
    """
    part = sparse.csr_array(part)
    count = int((np.diff(part.indptr) > 0).sum()) if n_cues is None else n_cues
    if count == 0:
        raise DataError("the part has no associations; errors require at least one")
    blocks = _blocks(probabilities_of, part)
    return float(sum(_errors(q, rows, part).sum() for rows, q in blocks) / count)


def score_split(
    probabilities_of: Probabilities, split: Split
) -> tuple[dict[str, np.ndarray], Ranking]:
    """Compute the errors of each cue on each part, and the ranks of the test part, in one pass.

    The error of a cue i on a part is sum_j p_ij log(p_ij / q(j|i)) over the pairs of the part. The
    ranking excludes the associates in the training and validation parts.

    Parameters
    ----------
    probabilities_of : callable
        Function as in `prediction_error`.
    split : Split
        Split with all parts.

    Returns
    -------
    errors : dict of str to ndarray of shape (n,)
        Errors of each part per cue, in nats.
    ranking : Ranking
        Ranks and recall of the test part.

    Raises
    ------
    DataError
        If the test part has no associations.

    See Also
    --------
    score_predictor, Ranking

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import split_associations
    >>> from manymaps.prediction import score_split
    >>> ring = sparse.diags_array([0.5, 0.5], offsets=[-1, 1], shape=(20, 20)).tocsr()
    >>> even = (1 - np.eye(20)) / 19
    >>> split = split_associations(ring, random_state=0)
    >>> errors, ranking = score_split(lambda rows: even[rows], split)
    >>> sorted(errors), ranking.recall[10] > 0.4
    (['test', 'train', 'validation'], True)
    """
    parts, test = split.parts, split.test
    known = sparse.csr_array(split.train + split.validation)
    if test.nnz == 0:
        raise DataError("the test part has no associations; ranks require at least one")
    errors = {name: np.zeros(len(part.indptr) - 1) for name, part in parts.items()}
    above, tied = np.empty(test.nnz), np.empty(test.nnz)
    for rows, q in _blocks(probabilities_of, *parts.values()):
        for name, part in parts.items():
            errors[name][rows] = _errors(q, rows, part)
        for i, row in enumerate(rows):
            stored = slice(*test.indptr[row : row + 2])
            associates = test.indices[stored]
            others = np.ones(len(q[i]), bool)
            others[[row, *associates, *known.indices[slice(*known.indptr[row : row + 2])]]] = False
            rivals = np.sort(q[i, others])
            first, last = (np.searchsorted(rivals, q[i, associates], side) for side in _SIDES)
            above[stored], tied[stored] = len(rivals) - last, last - first
    ranks = above + 1 + tied / 2
    # The 1 + tied ranks of an associate are equally probable.
    recall = {k: float(np.clip((k - above) / (1 + tied), 0, 1).mean()) for k in DEPTHS}
    return errors, Ranking(ranks, recall, float((1 / ranks).mean()))
