"""Associations of the same people asked once more: a bootstrap of responses.

How far a result depends on who happened to answer is seen by drawing the answers again (Efron
1979). The responses of cue i are n_i draws from its observed proportions,

    (n_i1, n_i2, ...) ~ Multinomial(n_i, p_i),        p*_ij = n_ij / n_i

independently of other cues. Where a row sums to less than 1, the missing mass is an answer of its
own that is left out again. A response that was given once is lost with probability near 1 / e; none
is gained, so that samples have fewer pairs than the data.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from manymaps.data.associations import Associations
from manymaps.errors import DataError, ParameterError
from manymaps.seeds import drawn_generator

__all__ = ["N_RESPONSES", "resampled"]

#: Responses of a cue where nothing is known of their number; norms have some 100 to 150 people.
N_RESPONSES = 100
# Published strengths are rounded to three decimals, so that a row may sum to a little more than 1.
_ROUNDING = 5e-3


def resampled(
    norms: Associations,
    random_state: int | np.random.Generator | None = None,
    *,
    n_responses: int | ArrayLike | None = None,
) -> Associations:
    """The responses of each cue drawn once more from those observed.

    Parameters
    ----------
    norms : Associations
        Proportions of responses, rows that sum to at most 1; or counts, whole numbers.
    random_state : int, Generator or None
        None draws a seed from NumPy's global state, once.
    n_responses : int or array of int, shape (n_objects,), optional
        How many responses each cue has, at least 1. By default those that are known, from counts
        that were read (`norms.n_responses`) or that the rows hold; else 100 (`N_RESPONSES`), as
        of norms in which 100 people answer each cue.

    Returns
    -------
    Associations
        Proportions or counts, as given, of the same labels, with the numbers of responses; pairs
        that were not drawn are left out, and `pair_senses` are those of the others. A cue whose
        draws all fall to the missing mass has an empty row.

    Raises
    ------
    DataError
        Where rows sum to more than 1 and are no counts, as of judged similarities.
    ParameterError
        Where the numbers of responses do not fit.

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, resampled
    >>> ties = sparse.csr_array([[0, .75, .25], [1, 0, 0], [1, 0, 0]])
    >>> norms = Associations(["tie", "knot", "suit"], ties)
    >>> resampled(norms, 2, n_responses=8).strengths.toarray()[0].tolist()
    [0.0, 0.875, 0.125]
    """
    strengths = norms.strengths
    sums = np.asarray(strengths.sum(axis=1)).ravel()
    counted = _are_counts(norms, sums)
    numbers = _numbers(n_responses, norms, sums if counted else None)
    rng = drawn_generator(random_state)
    wholes = np.maximum(sums, 1)
    drawn = np.zeros(strengths.nnz, dtype=np.int64)
    for i in np.flatnonzero(sums):
        row = slice(strengths.indptr[i], strengths.indptr[i + 1])
        shares = strengths.data[row] / wholes[i]
        drawn[row] = rng.multinomial(numbers[i], [*shares, max(0.0, 1 - shares.sum())])[:-1]
    there = drawn > 0
    cues = np.repeat(np.arange(norms.n_objects), np.diff(strengths.indptr))[there]
    values = drawn[there] if counted else drawn[there] / numbers[cues]
    senses = None if norms.pair_senses is None else norms.pair_senses[there]
    sample = sparse.csr_array((values, (cues, strengths.indices[there])), shape=strengths.shape)
    lost = int(strengths.nnz - there.sum())
    report = replace(
        norms.report,
        dropped={**norms.report.dropped, "not drawn again": lost},
        notes=(*norms.report.notes, "responses drawn once more"),
    )
    return Associations(norms.labels, sample, report, senses, numbers)


def _are_counts(norms: Associations, sums: np.ndarray) -> bool:
    """Whether the strengths count responses; else they must be proportions of them."""
    if (sums <= 1 + _ROUNDING).all():
        return False
    if (norms.strengths.data % 1 == 0).all():
        return True
    i = int(sums.argmax())
    raise DataError(
        f"the strengths of cue {norms.labels[i][:60]!r} sum to {sums[i]:.3g} and are no whole "
        "numbers; responses are drawn from proportions, rows that sum to at most 1, or from counts"
    )


def _numbers(
    given: int | ArrayLike | None, norms: Associations, counts: np.ndarray | None
) -> np.ndarray:
    """How many responses each cue has, shape (n_objects,)."""
    n = norms.n_objects
    if given is None:
        given = counts if norms.n_responses is None else norms.n_responses
    if given is None:
        given = N_RESPONSES
    numbers = np.asarray(given)
    if numbers.shape not in ((), (n,)):
        raise ParameterError(
            f"n_responses has the shape {numbers.shape} for {n} objects; give one number, or one "
            "for each object"
        )
    numbers = np.broadcast_to(numbers, (n,))
    # A label that is no cue has no responses to count.
    is_cue = np.diff(norms.strengths.indptr) > 0
    asked = numbers[is_cue]
    if numbers.dtype.kind not in "iuf" or not ((asked >= 1) & (asked % 1 == 0)).all():
        raise ParameterError("n_responses must be whole numbers of at least 1")
    return np.where(is_cue, numbers, 0).astype(np.int64)
