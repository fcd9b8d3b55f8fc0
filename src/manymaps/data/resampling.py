"""Bootstrap samples of norms, by responses or by participants.

Resampling shows how much a result depends on the particular respondents (Efron 1979). For norms,
responses are resampled. The responses to cue i are n_i draws from its observed proportions,

    (n_i1, n_i2, ...) ~ Multinomial(n_i, p_i),        p*_ij = n_ij / n_i

independently of other cues. If a row sums to less than 1, the missing mass is treated as an
additional response that is then dropped. A response that occurred once is lost with a probability
of about 1 / e, and new responses cannot appear. Samples therefore have fewer pairs than the data.

If trials with participants are available, participants can be resampled, because a study samples
participants. From G participants, G are drawn with replacement, each with all trials. The dependent
answers of a participant therefore stay together (the cluster bootstrap, Davison & Hinkley 1997,
section 3.8), and the number of trials per cue varies accordingly. If participants are unknown, each
trial counts as a different participant.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979). A. C.
Davison & D. V. Hinkley, "Bootstrap methods and their application" (1997).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeVar, cast, get_args

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_whole
from manymaps.data.associations import Associations
from manymaps.data.pair_rules import ROUNDING
from manymaps.data.trials import Trials, check_norms
from manymaps.errors import DataError, ParameterError
from manymaps.labels import numbered_labels
from manymaps.seeds import drawn_generator

Norms = TypeVar("Norms", bound=Associations | Trials)

#: Units that can be resampled.
Unit = Literal["participants", "responses"]

#: Number of responses to each cue if it is unknown. Norms have about 100 to 150 participants.
N_RESPONSES = 100


def resampled(
    norms: Norms,
    random_state: int | np.random.Generator | None = None,
) -> Norms:
    """Resample the responses to each cue of norms, or the participants of trials.

    Parameters
    ----------
    norms : Associations or Trials
        Proportions of responses (rows that sum to at most 1), counts (integers) or trials. The
        numbers of responses to the cues are taken from counts that were read (`n_responses`) or
        from counts in the rows. If they are unknown, 100 responses per cue are assumed
        (`N_RESPONSES`), as in norms with 100 participants per cue.
    random_state : int, Generator or None, default None
        Seed of the sample. None draws a seed once from NumPy's global state.

    Returns
    -------
    Associations or Trials
        Sample in the format of the input. Norms keep their labels and their scale (proportions or
        counts), and include the numbers of responses. A cue whose draws all belong to the missing
        mass has an empty row. Trials keep the number of participants, and a participant who is
        drawn again counts as another participant.

    Raises
    ------
    DataError
        If rows sum to more than 1 and are not counts, as in judged similarities, or if there are no
        trials.

    See Also
    --------
    repeat_fits, intervals

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, resampled
    >>> ties = sparse.csr_array([[0, .75, .25], [1, 0, 0], [1, 0, 0]])
    >>> norms = Associations(["tie", "knot", "suit"], ties, n_responses=[8, 8, 8])
    >>> resampled(norms, 2).strengths.toarray()[0].tolist()
    [0.0, 0.875, 0.125]
    """
    check_norms("norms", norms)
    rng = drawn_generator(random_state)
    if isinstance(norms, Associations):
        return cast(Norms, _resampled_responses(norms, rng))
    if norms.n_trials == 0:
        raise DataError(f"{norms.report.source} has no trials; resampling requires at least one")
    return cast(Norms, _resampled_participants(norms, rng))


def check_unit(data: object, by: str | None, name: str = "by") -> Unit:
    """Return the requested sampling unit if the data have it, or the default unit.

    Raises
    ------
    ParameterError
        If the unit is unknown, or if participants are requested but unknown. The message contains
        `name`.
    """
    has_people = isinstance(data, Trials) and data.participant is not None
    if by is None:
        return "participants" if has_people else "responses"
    check_choice(name, by, get_args(Unit))
    if by == "participants" and not has_people:
        raise ParameterError(
            "requires trials with a column of participants; pass them, or use 'responses'",
            name=name,
            value=by,
        )
    return cast(Unit, by)


def counted_responses(
    norms: Associations, n_responses: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of responses of each stored pair and of each cue.

    Parameters
    ----------
    norms : Associations
        Proportions of responses, or counts.
    n_responses : int, optional
        Number of responses to each cue. By default, it is determined as in `resampled`.

    Returns
    -------
    counts : ndarray of shape (n_pairs,)
        Number of responses per pair, which is not an integer if strengths are rounded.
    numbers : ndarray of int, shape (n_objects,)
        Number of responses per cue, or 0 for objects that are not cues.

    Raises
    ------
    DataError, ParameterError
        If `resampled` would raise them.
    """
    shares, numbers, _ = _shares_and_numbers(norms, n_responses)
    return shares * np.repeat(numbers, np.diff(norms.strengths.indptr)), numbers


def _shares_and_numbers(
    norms: Associations, n_responses: int | None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return response shares per pair, numbers per cue, and whether the strengths are counts."""
    strengths = norms.strengths
    sums, n_pairs = strengths.sum(axis=1), np.diff(strengths.indptr)
    are_counts = not (sums <= 1 + ROUNDING).all()
    if are_counts and (strengths.data % 1 != 0).any():
        i = int(sums.argmax())
        raise DataError(
            f"the strengths of cue {norms.labels[i][:60]!r} sum to {sums[i]:.3g} and are not whole "
            "numbers; resampling requires proportions, whose rows sum to at most 1, or counts"
        )
    if n_responses is not None:
        check_whole("n_responses", n_responses)
        numbers = np.asarray(n_responses)
    elif norms.n_responses is not None:
        numbers = np.asarray(norms.n_responses)
    else:
        numbers = sums if are_counts else np.asarray(N_RESPONSES)
    # A label that is not a cue has no responses to count.
    numbers = np.where(n_pairs > 0, numbers, 0)
    if not ((numbers >= (n_pairs > 0)) & (numbers % 1 == 0)).all():
        raise DataError(f"{norms.report.source}: n_responses must be whole numbers of at least 1")
    # Proportions that sum to less than 1 stay as they are: other responses belong to no pair.
    shares = strengths.data / np.repeat(np.maximum(sums, 1), n_pairs)
    return shares, numbers.astype(np.int64), are_counts


def _resampled_participants(trials: Trials, rng: np.random.Generator) -> Trials:
    """Draw participants with replacement, each draw as a separate participant."""
    known = trials.participant is not None
    owner = np.arange(trials.n_trials) if trials.participant is None else trials.participant
    order, sizes = np.argsort(owner, kind="stable"), np.bincount(owner)
    trials_of = np.split(order, np.cumsum(sizes)[:-1])
    active = np.flatnonzero(sizes)
    people = np.sort(active[rng.integers(len(active), size=len(active))])
    sample = trials.take(np.concatenate([trials_of[i] for i in people]))
    notes = (*trials.report.notes, f"{'participants' if known else 'trials'} resampled")
    sample = replace(sample, report=replace(trials.report, notes=notes))
    if not known:
        return sample
    names, _ = numbered_labels([trials.participants[i] for i in people])
    draws = np.repeat(np.arange(len(people)), sizes[people])
    return replace(sample, participant=draws, participants=names)


def _resampled_responses(norms: Associations, rng: np.random.Generator) -> Associations:
    strengths = norms.strengths
    shares, numbers, counted = _shares_and_numbers(norms, None)
    drawn = np.zeros(strengths.nnz, dtype=np.int64)
    for i in np.flatnonzero(numbers):
        row = slice(strengths.indptr[i], strengths.indptr[i + 1])
        rest = max(0.0, 1 - shares[row].sum())
        drawn[row] = rng.multinomial(numbers[i], [*shares[row], rest])[:-1]
    is_drawn = drawn > 0
    cues = np.repeat(np.arange(norms.n_objects), np.diff(strengths.indptr))[is_drawn]
    values = drawn[is_drawn] if counted else drawn[is_drawn] / numbers[cues]
    sample = sparse.csr_array((values, (cues, strengths.indices[is_drawn])), shape=strengths.shape)
    lost = int(strengths.nnz - is_drawn.sum())
    report = replace(
        norms.report,
        dropped={**norms.report.dropped, "not drawn": lost},
        notes=(*norms.report.notes, "responses resampled"),
    )
    return Associations(norms.labels, sample, report, n_responses=numbers)
