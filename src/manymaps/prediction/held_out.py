"""Held-out associations: splits of norms, and how well a model foresees what was held out.

    error of a part = (1 / N) sum_(i, j) in part  p_ij log(p_ij / q(j|i))

(van der Maaten & Hinton 2009, section 5.) p holds the full data's rows, each of which sums to 1
over training, validation and test part together; N is the number of cues with mass; q(.|i) sums to
1 over all objects j != i. So the parts add up to the mean KL divergence of the whole.

A model is read through one function: `probabilities(rows)` gives q(j|i) of some cues i, an array
(len(rows), n) whose rows sum to 1 and hold 0 at the cue itself. It is asked for a few cues at a
time, so that n x n numbers are never held.

Ranking measures speak of one (cue, held-out associate) at a time: its rank among all objects but
the cue and the cue's other known associates, those of training and those held out. Objects of equal
probability share their places: an associate tied with t others is ranked in their middle, and
counts to the top k by the chance of standing there under a random order of the tied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_whole
from manymaps.data.associations import Associations
from manymaps.data.trials import as_associations
from manymaps.data.vectors import checked_table
from manymaps.errors import DataError, ParameterError
from manymaps.seeds import drawn_generator

__all__ = [
    "Ranking", "Split", "checked_part", "conditional_probabilities", "prediction_error",
    "rank_held_out", "score_split", "split_associations", "uniform_errors", "word_errors",
]  # fmt: skip

Probabilities = Callable[[np.ndarray], np.ndarray]
Unit = Literal["pair", "row"]

PARTS = ("train", "validation", "test")
# Cues of like size among which parts are drawn: with 80/10/10 each class has two of either small
# part.
_CLASS = 20
# Rows of 256 cues to all objects: bounds memory.
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Split:
    """Associations in three parts that add up to p.

    Attributes
    ----------
    train, validation, test : csr_array of shape (n, n), float64
        p_ij of the full data where pair (i, j) is in the part.
    n_cues : int
        N, the cues with mass.
    without_training : ndarray of int
        Cues none of whose associations are in the training part. They weigh nothing in a fit, and
        a model knows of them only as responses.
    notes : tuple of str
        What deserves saying, such as how many cues those are.

    See Also
    --------
    split_associations

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
        """The parts by name: "train", "validation", "test"."""
        return {name: getattr(self, name) for name in PARTS}


@dataclass(frozen=True, eq=False)
class Ranking:
    """Where held-out associates stand.

    Attributes
    ----------
    ranks : ndarray of shape (n_pairs,)
        Rank of each held-out pair in row-major order, from 1; a half where it is tied.
    recall : dict of int to float
        For each k, the share of held-out pairs among the k most probable.
    mean_reciprocal_rank : float
        Mean of 1 / rank.

    See Also
    --------
    rank_held_out

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.prediction import rank_held_out
    >>> q = np.array([[0, 0.5, 0.3, 0.2], [0] * 4, [0] * 4, [0] * 4])
    >>> held = sparse.csr_array(([1.0], ([0], [2])), shape=(4, 4))
    >>> found = rank_held_out(lambda rows: q[rows], held, sparse.csr_array((4, 4)), ks=(1, 2))
    >>> found.ranks.tolist(), found.recall
    ([2.0], {1: 0.0, 2: 1.0})
    """

    ranks: np.ndarray
    recall: dict[int, float]
    mean_reciprocal_rank: float


def conditional_probabilities(norms: Associations | sparse.sparray) -> sparse.csr_array:
    """Divide the strengths of each cue by their sum; self pairs are left out.

        p_ij = s_ij / sum_j s_ij

    Parameters
    ----------
    norms : Associations, or sparse array of shape (n, n)
        Strengths.

    Returns
    -------
    csr_array of shape (n, n)
        A row without mass stays empty.

    Raises
    ------
    DataError
        Where no pair of different objects has a positive strength, or some cells are missing: a
        pair that is held out is foreseen among all others, which must be known.

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
            f"{norms.report.source}: {norms.n_missing:,} cells are missing, and held-out pairs are "
            "foreseen among all others; fill the cells (0 where there is no similarity)"
        )
    strengths = norms.strengths if isinstance(norms, Associations) else norms
    return conditional_target(strengths).values


def split_associations(
    norms: Associations | sparse.sparray,
    *,
    by: Unit = "pair",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    stratified: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Split:
    """Part associations into training, validation and test.

    Parameters
    ----------
    norms : Associations or sparse array of shape (n, n)
    by : {"pair", "row"}
        "pair" draws unordered pairs: both directions of a pair fall into one part. "row" draws
        cues, and each falls with all that it recalls into one part: how well is a cue foreseen of
        which only what recalls it is known? There the two directions of a pair may part.
    fractions : three positive numbers that sum to 1
        Shares of training, validation and test among the pairs (or cues).
    stratified : bool
        Keep the fractions for each cue as well as whole pairs allow: the pairs are dealt out in
        rounds, each going to the part that its two cues lack most. By row, the cues are dealt
        within runs of twenty cues of like many associates.
    random_state : int, Generator or None
        None draws a seed from NumPy's global state, once.

    Returns
    -------
    Split

    Raises
    ------
    DataError
        For norms with too few pairs (or cues) to give every part one.
    ParameterError
        For other values of the options.

    See Also
    --------
    Split, predict_associations, sweep

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import split_associations
    >>> ring = sparse.diags_array([1.0] * 19, offsets=1, shape=(20, 20)).tocsr()
    >>> split = split_associations(ring, random_state=0)
    >>> [part.nnz for part in split.parts.values()], split.n_cues
    ([15, 2, 2], 19)
    """
    shares = _checked_fractions(fractions)
    check_choice("by", by, ("pair", "row"))
    p = conditional_probabilities(norms)
    rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    if by == "pair":
        low, high = np.minimum(rows, p.indices), np.maximum(rows, p.indices)
        keys, unit = np.unique(low.astype(np.int64) * p.shape[0] + high, return_inverse=True)
        ends = np.stack([keys // p.shape[0], keys % p.shape[0]])
    else:
        keys, unit = np.unique(rows, return_inverse=True)
    if len(keys) < len(PARTS):
        what = "pair" if by == "pair" else "cue"
        raise DataError(
            f"{len(keys)} {what}{'' if len(keys) == 1 else 's'} cannot be split into training, "
            f"validation and test; norms need at least {len(PARTS)}"
        )
    generator = drawn_generator(random_state)
    if not stratified:
        part = _dealt(len(keys), shares, generator)
    elif by == "pair":
        part = _dealt_to_cues(ends, p.shape[0], shares, generator)
    else:
        part = _dealt_in_classes(np.diff(p.indptr)[keys], shares, generator)
    return _split(p, rows, part[unit])


def _split(p: sparse.csr_array, rows: np.ndarray, part: np.ndarray) -> Split:
    """The three tables of a part for each stored pair, and what deserves saying of them."""
    tables = []
    for k in range(len(PARTS)):
        kept = part == k
        counts = np.bincount(rows[kept], minlength=p.shape[0])
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(p.indptr.dtype)
        tables.append(sparse.csr_array((p.data[kept], p.indices[kept], indptr), shape=p.shape))
    cues = np.diff(p.indptr) > 0
    lost = np.flatnonzero(cues & (np.diff(tables[0].indptr) == 0))
    untested = cues & (np.diff(tables[2].indptr) == np.diff(p.indptr))
    notes = []
    if len(lost):
        notes.append(
            f"{len(lost)} of {int(cues.sum())} cues have no association in the training part, "
            f"{int(untested.sum())} of them all in the test part"
        )
    train, validation, test = tables
    return Split(train, validation, test, int(cues.sum()), lost, tuple(notes))


def _checked_fractions(fractions: Sequence[float]) -> np.ndarray:
    shares = np.asarray(fractions, float)
    if shares.shape != (3,) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(
            "must be three positive numbers that sum to 1",
            name="fractions",
            value=tuple(fractions),
        )
    return shares


def _sizes(n: int, shares: np.ndarray) -> np.ndarray:
    """How many of n go to each part: the rounded shares, none of them empty."""
    held = np.maximum(1, np.floor(n * shares[1:] + 0.5)).astype(int)
    while held.sum() >= n:
        held[np.argmax(held)] -= 1
    return np.array([n - held.sum(), *held])


def _dealt(n: int, shares: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return generator.permutation(np.repeat(np.arange(len(shares)), _sizes(n, shares)))


def _dealt_in_classes(
    sizes: np.ndarray, shares: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """A part for each cue, in the same shares among cues of like many associates."""
    order = np.lexsort((generator.random(len(sizes)), sizes))
    part = np.empty(len(sizes), int)
    # Systematic places along the order, so that every run of it has the shares; within each run of
    # so many places who gets which is drawn by lot.
    places = _along(len(sizes), shares, generator)
    for start in range(0, len(sizes), _CLASS):
        run = slice(start, start + _CLASS)
        part[order[run]] = generator.permutation(places[run])
    return part


def _along(n: int, shares: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Parts in an even order: at every place the part that is furthest behind its share."""
    left = _sizes(n, shares)
    goal, given, parts = left / n, generator.random(3) * 1e-3, np.empty(n, int)
    for k in range(n):
        part = int(np.argmax(np.where(left > 0, goal * (k + 1) - given, -np.inf)))
        parts[k] = part
        given[part] += 1
        left[part] -= 1
    return parts


def _dealt_to_cues(
    ends: np.ndarray, n: int, shares: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """A part for each pair so that both of its ends keep the shares, and all pairs the sizes."""
    left = _sizes(ends.shape[1], shares).astype(float)
    lacking = np.outer(np.bincount(ends.ravel(), minlength=n), shares)
    part = np.empty(ends.shape[1], int)
    jitter = generator.random((ends.shape[1], len(shares))) * 0.5
    for k in generator.permutation(ends.shape[1]):
        i, j = ends[0, k], ends[1, k]
        want = (lacking[i] + lacking[j]) / shares + jitter[k]
        chosen = int(np.argmax(np.where(left > 0, want, -np.inf)))
        part[k] = chosen
        lacking[i, chosen] -= 1
        lacking[j, chosen] -= 1
        left[chosen] -= 1
    return part


def checked_part(part: sparse.sparray, name: str) -> sparse.csr_array:
    """A part as a float64 CSR array of its own, without explicit zeros.

    Parameters
    ----------
    part : sparse array of shape (n, n)
        Its rows sum to 1 at most.
    name : str
        What errors call it.

    Returns
    -------
    csr_array of shape (n, n)
        A copy.

    Raises
    ------
    DataError
        For a table that is not square or smaller than 3 x 3, holds nothing, has values that are
        negative, not finite or of an object with itself, or rows that sum to more than 1. It calls
        the part by its `name`.

    See Also
    --------
    conditional_probabilities, manymaps.AssociationPredictor

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps.prediction import checked_part
    >>> checked_part(sparse.csr_array([[0, 1], [1, 0]]), "test")
    Traceback (most recent call last):
    manymaps.errors.DataError: the test part has the shape (2, 2); it must be square, 3 or more
    """
    table = checked_table(part, f"the values of the {name} part")
    part = sparse.csr_array(table, dtype=np.float64, copy=True)
    part.sum_duplicates()
    part.eliminate_zeros()
    n_rows, n = part.shape
    if n_rows != n or n < 3:
        raise DataError(f"the {name} part has the shape {part.shape}; it must be square, 3 or more")
    if part.nnz == 0:
        raise DataError(f"the {name} part holds no association; take another split or more data")
    rows = np.repeat(np.arange(n), np.diff(part.indptr))
    if not np.isfinite(part.data).all() or (part.data < 0).any() or (rows == part.indices).any():
        raise DataError(f"the {name} part must hold finite positive p_ij of different objects")
    highest = int(np.argmax(part.sum(axis=1)))
    mass = float(part.data[slice(*part.indptr[highest : highest + 2])].sum())
    if mass > 1 + 1e-6:
        raise DataError(
            f"row {highest} of the {name} part sums to {mass:g}; rows of p sum to 1 at most "
            "(split_associations gives such parts)"
        )
    return part


def uniform_errors(split: Split) -> dict[str, float]:
    """The errors of the model that knows nothing, `q(j|i) = 1 / (n - 1)`.

    Parameters
    ----------
    split : Split
        All parts.

    Returns
    -------
    dict of str to float
        "train", "valid", "test".

    See Also
    --------
    manymaps.prediction_error, word_errors

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
    """Cues with something in one of the parts, some at a time, and their q."""
    n = parts[0].shape[1]
    cues = np.flatnonzero(np.any([np.diff(part.indptr) > 0 for part in parts], axis=0))
    for start in range(0, len(cues), _ROWS_AT_ONCE):
        rows = cues[start : start + _ROWS_AT_ONCE]
        q = np.asarray(probabilities_of(rows))
        if q.shape != (len(rows), n):
            raise ParameterError(
                f"the probabilities of {len(rows)} rows have the shape {q.shape}; "
                f"{(len(rows), n)} is needed"
            )
        yield rows, q


def _measure_errors(
    errors: np.ndarray, rows: np.ndarray, q: np.ndarray, part: sparse.csr_array
) -> None:
    """Fill in the errors of some cues."""
    for i, row in enumerate(rows):
        stored = slice(*part.indptr[row : row + 2])
        p = part.data[stored]
        with np.errstate(divide="ignore"):
            errors[row] = p @ (np.log(p) - np.log(q[i, part.indices[stored]]))


def word_errors(probabilities_of: Probabilities, part: sparse.csr_array) -> np.ndarray:
    """Error of a model for each cue, over the pairs of a part.

        sum_j p_ij log(p_ij / q(j|i))

    Parameters
    ----------
    probabilities_of : callable
        As in `prediction_error`.
    part : csr_array of shape (n, n)
        The pairs that count.

    Returns
    -------
    ndarray of shape (n,)
        In nats; infinite where the model gives a held-out associate no probability.

    See Also
    --------
    manymaps.prediction_error, uniform_errors

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.prediction import word_errors
    >>> part = sparse.csr_array([[0, 0.5, 0.5], [1, 0, 0], [0, 0, 0]])
    >>> even = (1 - np.eye(3)) / 2
    >>> word_errors(lambda rows: even[rows], part).round(3).tolist()
    [0.0, 0.693, 0.0]
    """
    part = sparse.csr_array(part)
    errors = np.zeros(part.shape[0])
    for rows, q in _blocks(probabilities_of, part):
        _measure_errors(errors, rows, q, part)
    return errors


def prediction_error(
    probabilities_of: Probabilities, part: sparse.csr_array, n_cues: int | None = None
) -> float:
    """(1 / N) sum of p_ij log(p_ij / q(j|i)) over the pairs of a part.

    Parameters
    ----------
    probabilities_of : callable
        rows (k,) -> q(j|i), shape (k, n); each row sums to 1 and holds 0 at its own cue.
    part : csr_array of shape (n, n)
        One part of a `Split`.
    n_cues : int, optional
        N; the cues of the part by default. Give `Split.n_cues`, so that the parts add up.

    Returns
    -------
    float
        Infinite where the model gives an associate no probability.

    See Also
    --------
    prediction.word_errors, prediction.uniform_errors

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import prediction_error
    >>> part = sparse.csr_array([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]])
    >>> def uniform(rows):
    ...     return (1 - np.eye(3)[rows]) / 2
    >>> prediction_error(uniform, part)
    0.0
    """
    part = sparse.csr_array(part)
    count = int((np.diff(part.indptr) > 0).sum()) if n_cues is None else n_cues
    if count == 0:
        raise DataError("the part holds no association; there is nothing to measure")
    return float(word_errors(probabilities_of, part).sum() / count)


def rank_held_out(
    probabilities_of: Probabilities,
    part: sparse.csr_array,
    known: sparse.csr_array,
    ks: Sequence[int] = (1, 10, 100),
) -> Ranking:
    """Ranks of held-out associates among all objects that are not known associates.

    Parameters
    ----------
    probabilities_of : callable
        As in `prediction_error`.
    part : csr_array of shape (n, n)
        The held-out pairs.
    known : csr_array of shape (n, n)
        Pairs that are left out of the ranking: the training part, or training and validation.
    ks : sequence of int
        Depths of the recall.

    Returns
    -------
    Ranking

    Raises
    ------
    DataError
        Where nothing is held out.

    See Also
    --------
    Ranking, score_split

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.prediction import rank_held_out
    >>> q = np.array([[0, 0.5, 0.3, 0.2], [0] * 4, [0] * 4, [0] * 4])
    >>> held = sparse.csr_array(([1.0], ([0], [2])), shape=(4, 4))
    >>> known = sparse.csr_array(([1.0], ([0], [1])), shape=(4, 4))
    >>> rank_held_out(lambda rows: q[rows], held, known).ranks.tolist()
    [1.0]
    """
    places = _Places(sparse.csr_array(part), sparse.csr_array(known), ks)
    for rows, q in _blocks(probabilities_of, places.part):
        places.measure(rows, q)
    return places.ranking()


def score_split(
    probabilities_of: Probabilities, split: Split, ks: Sequence[int] = (1, 10, 100)
) -> tuple[dict[str, np.ndarray], Ranking]:
    """`word_errors` of each part and the ranks of the test part, with each q asked for once.

    The ranking leaves out the associates of training and validation.

    Parameters
    ----------
    probabilities_of : callable
        As in `prediction_error`.
    split : Split
        All parts.
    ks : sequence of int
        Depths of the recall.

    Returns
    -------
    errors : dict of str to ndarray of shape (n,)
        Of each part.
    ranking : Ranking
        Of the test part.

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
    parts = split.parts
    errors = {name: np.zeros(part.shape[0]) for name, part in parts.items()}
    places = _Places(split.test, sparse.csr_array(split.train + split.validation), ks)
    for rows, q in _blocks(probabilities_of, *parts.values()):
        for name, part in parts.items():
            _measure_errors(errors[name], rows, q, part)
        places.measure(rows, q)
    return errors, places.ranking()


class _Places:
    """How many objects stand above held-out associates, and how many beside them."""

    def __init__(self, part: sparse.csr_array, known: sparse.csr_array, ks: Sequence[int]):
        if part.nnz == 0:
            raise DataError("the part holds no association; there is nothing to rank")
        for k in ks:
            check_whole("ks", k)
        self.part, self.known, self.ks = part, known, ks
        self.above, self.tied = np.empty(part.nnz), np.empty(part.nnz)

    def measure(self, rows: np.ndarray, q: np.ndarray) -> None:
        """Rank the associates of some cues."""
        part, known = self.part, self.known
        for i, row in enumerate(rows):
            stored = slice(*part.indptr[row : row + 2])
            own = part.indices[stored]
            if len(own) == 0:
                continue
            others = q[i].copy()
            others[row] = -np.inf
            others[known.indices[slice(*known.indptr[row : row + 2])]] = -np.inf
            others[own] = -np.inf
            others.sort()
            left = np.searchsorted(others, q[i, own], side="left")
            right = np.searchsorted(others, q[i, own], side="right")
            self.above[stored], self.tied[stored] = len(others) - right, right - left

    def ranking(self) -> Ranking:
        """Ranks and recall; of the 1 + tied places after `above` each is equally likely."""
        ranks = self.above + 1 + self.tied / 2
        within = {int(k): np.clip((k - self.above) / (1 + self.tied), 0, 1).mean() for k in self.ks}
        recall = {k: float(share) for k, share in within.items()}
        return Ranking(ranks, recall, float((1 / ranks).mean()))
