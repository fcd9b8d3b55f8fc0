"""Norms of the same study made once more: a bootstrap of responses, or of participants.

How far a result depends on who happened to answer is seen by drawing again (Efron 1979). Of norms
alone, responses are drawn: those of cue i are n_i draws from its observed proportions,

    (n_i1, n_i2, ...) ~ Multinomial(n_i, p_i),        p*_ij = n_ij / n_i

independently of other cues. Where a row sums to less than 1, the missing mass is an answer of its
own that is left out again. A response that was given once is lost with probability near 1 / e; none
is gained, so that samples have fewer pairs than the data.

Where the trials are known, so is whose they are. A study samples people: of G participants G are
drawn with replacement, each with all trials, so that the answers of one person, which hang
together, stay together (the cluster bootstrap, Davison & Hinkley 1997, section 3.8), and the number
of trials of a cue varies as it would. Or the trials of each cue are drawn among themselves, each
with all its answers, as if each were of another person.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979).
A. C. Davison & D. V. Hinkley, "Bootstrap methods and their application" (1997).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.data.associations import Associations
from manymaps.data.pair_rules import ROUNDING
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError, ParameterError
from manymaps.seeds import drawn_generator

__all__ = ["N_RESPONSES", "Unit", "check_unit", "counted_responses", "resampled"]

#: What is drawn again.
Unit = Literal["participants", "responses"]

#: Responses of a cue where nothing is known of their number; norms have some 100 to 150 people.
N_RESPONSES = 100


@overload
def resampled(
    norms: Associations,
    random_state: int | np.random.Generator | None = None,
    *,
    by: Unit | None = None,
    n_responses: int | ArrayLike | None = None,
) -> Associations: ...


@overload
def resampled(
    norms: Trials,
    random_state: int | np.random.Generator | None = None,
    *,
    by: Unit | None = None,
    n_responses: int | ArrayLike | None = None,
) -> Trials: ...


def resampled(
    norms: Associations | Trials,
    random_state: int | np.random.Generator | None = None,
    *,
    by: Unit | None = None,
    n_responses: int | ArrayLike | None = None,
) -> Associations | Trials:
    """The responses to each cue, or the participants with their trials, drawn once more.

    Parameters
    ----------
    norms : Associations or Trials
        Proportions of responses, rows that sum to at most 1; or counts, whole numbers; or trials.
    random_state : int, Generator or None
        None draws a seed from NumPy's global state, once.
    by : {"participants", "responses"}, optional
        What is drawn: by default participants of trials that say who they are, else responses. Of
        trials by responses, each cue's trials are drawn, with all their answers.
    n_responses : int or array of int, shape (n_objects,), optional
        Of norms: how many responses each cue has, at least 1. By default those that are known, from
        counts that were read (`norms.n_responses`) or that the rows hold; else 100 (`N_RESPONSES`),
        as of norms in which 100 people answer each cue.

    Returns
    -------
    Associations or Trials
        Of norms proportions or counts, as given, of the same labels, with the numbers of responses;
        pairs that were not drawn are left out, and `pair_senses` are those of the others. A cue
        whose draws all fall to the missing mass has an empty row. Of trials as many participants
        (each who is drawn again counts as another person), or as many trials of each cue.

    Raises
    ------
    DataError
        Where rows sum to more than 1 and are no counts, as of judged similarities; of no trials.
    ParameterError
        Where the numbers of responses do not fit; for participants of norms, or of trials that do
        not say who answered.

    See Also
    --------
    repeat_fits, intervals

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, resampled
    >>> ties = sparse.csr_array([[0, .75, .25], [1, 0, 0], [1, 0, 0]])
    >>> norms = Associations(["tie", "knot", "suit"], ties)
    >>> resampled(norms, 2, n_responses=8).strengths.toarray()[0].tolist()
    [0.0, 0.875, 0.125]
    """
    check_norms("norms", norms)
    by = check_unit(norms, by)
    rng = drawn_generator(random_state)
    if isinstance(norms, Associations):
        return _responses_again(norms, rng, n_responses)
    if n_responses is not None:
        raise ParameterError("n_responses is of norms; trials know how many answers they have")
    if norms.n_trials == 0:
        raise DataError(f"{norms.report.source} has no trials, of which any could be drawn")
    sample = _people_again(norms, rng) if by == "participants" else _trials_again(norms, rng)
    notes = (*norms.report.notes, f"{by} drawn once more")
    return replace(sample, report=replace(norms.report, notes=notes))


def check_unit(data: object, by: str | None, name: str = "by") -> Unit:
    """What is drawn of the data: what is asked for, where they know it; else what they know.

    Raises
    ------
    ParameterError
        For another name, or participants of data that do not say who answered; it names `name`.
    """
    people = isinstance(data, Trials) and data.participant is not None
    if by is None:
        return "participants" if people else "responses"
    check_choice(name, by, get_args(Unit))
    if by == "responses":
        return "responses"
    if people:
        return "participants"
    lacks = (
        "needs trials that say who answered, and these do not; name their column of participants"
        if isinstance(data, Trials)
        else "needs trials, one row for each participant and cue, and norms are counts of them; "
        "give trials"
    )
    raise ParameterError(f"{lacks}, or draw responses", name=name, value=by)


def counted_responses(
    norms: Associations, n_responses: int | ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How many responses each stored pair stands for, and how many each cue has.

    Parameters
    ----------
    norms, n_responses
        As for `resampled`.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Not whole where strengths are rounded.
    ndarray of int, shape (n_objects,)
        0 of what is no cue.

    Raises
    ------
    DataError, ParameterError
        As for `resampled`.
    """
    shares, numbers, _ = _shares_and_numbers(norms, n_responses)
    return shares * np.repeat(numbers, np.diff(norms.strengths.indptr)), numbers


def _shares_and_numbers(
    norms: Associations, n_responses: int | ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Each pair's share of its cue's responses, how many these are, and whether counts were given.

    The shares of a cue sum to 1, or to less where a part of its responses is in no pair.
    """
    sums = np.asarray(norms.strengths.sum(axis=1)).ravel()
    counted = _are_counts(norms, sums)
    numbers = _numbers(n_responses, norms, sums if counted else None)
    wholes = np.repeat(np.maximum(sums, 1), np.diff(norms.strengths.indptr))
    return norms.strengths.data / wholes, numbers, counted


def _people_again(trials: Trials, rng: np.random.Generator) -> Trials:
    """As many participants as there are, with replacement, each draw a person of its own."""
    assert trials.participant is not None
    order = np.argsort(trials.participant, kind="stable")
    sizes = np.bincount(trials.participant, minlength=len(trials.participants))
    starts = np.cumsum(sizes) - sizes
    there = np.flatnonzero(sizes)
    people = np.sort(there[rng.integers(len(there), size=len(there))])
    counts = sizes[people]
    draw = np.repeat(np.arange(len(people)), counts)
    ranks = np.arange(len(draw)) - (np.cumsum(counts) - counts)[draw]
    sample = trials.take(order[starts[people][draw] + ranks])
    times = np.arange(len(people)) - np.searchsorted(people, people)
    names = [
        trials.participants[i] if k == 0 else f"{trials.participants[i]} ({k + 1})"
        for i, k in zip(people.tolist(), times.tolist(), strict=True)
    ]
    return replace(sample, participant=draw, participants=names)


def _trials_again(trials: Trials, rng: np.random.Generator) -> Trials:
    """As many trials of each cue as there are, drawn among these with replacement."""
    order = np.argsort(trials.cue, kind="stable")
    sizes = np.bincount(trials.cue, minlength=len(trials.cues))
    cue = trials.cue[order]
    starts = np.cumsum(sizes) - sizes
    return trials.take(order[starts[cue] + rng.integers(sizes[cue])])


def _responses_again(
    norms: Associations, rng: np.random.Generator, n_responses: int | ArrayLike | None
) -> Associations:
    strengths = norms.strengths
    shares, numbers, counted = _shares_and_numbers(norms, n_responses)
    drawn = np.zeros(strengths.nnz, dtype=np.int64)
    for i in np.flatnonzero(numbers):
        row = slice(strengths.indptr[i], strengths.indptr[i + 1])
        rest = max(0.0, 1 - shares[row].sum())
        drawn[row] = rng.multinomial(numbers[i], [*shares[row], rest])[:-1]
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
    if (sums <= 1 + ROUNDING).all():
        return False
    if (norms.strengths.data % 1 == 0).all():
        return True
    i = int(sums.argmax())
    raise DataError(
        f"the strengths of cue {norms.labels[i][:60]!r} sum to {sums[i]:.3g} and are no whole "
        "numbers; responses are drawn from proportions, rows that sum to at most 1, or from counts"
    )


def _numbers(
    n_responses: int | ArrayLike | None, norms: Associations, counts: np.ndarray | None
) -> np.ndarray:
    """How many responses each cue has, shape (n_objects,)."""
    n = norms.n_objects
    if n_responses is None:
        n_responses = counts if norms.n_responses is None else norms.n_responses
    if n_responses is None:
        n_responses = N_RESPONSES
    numbers = np.asarray(n_responses)
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
