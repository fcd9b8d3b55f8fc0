"""From numbered pairs to `Associations`: drop, merge, scale, report.

Every pair that is read is stored, merged into an earlier one, or dropped for a reason that the
report counts:

    n_read = n_pairs + merged + n_dropped

With strengths s_ij as read, the row of cue i becomes

    rows="renormalize"    s_ij / sum_kept s_ij             every row sums to 1
    rows="keep"           s_ij / max(1, sum_all s_ij)      the missing mass stays missing

where sum_all runs over all responses that were read, those that are dropped among them, so that
counts become proportions of what was answered. Similarities (a matrix, an undirected graph) are no
proportions: rows="keep" leaves their values as they are.

A response that is never a cue is dropped, kept as an object with an empty row, or with
responses="keep:N" kept where at least N different cues gave it: a rare answer says little of where
it belongs, while dropping all of them takes an eighth to a quarter of the pairs of norms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from manymaps.data.associations import Associations, ReadReport, is_symmetric
from manymaps.errors import DataError, ParameterError, setting

__all__ = [
    "NEVER_A_CUE", "NO_LONGER_SYMMETRIC", "NumberedPairs", "Rules", "apply_rules", "cues_needed",
    "split_responses",
]  # fmt: skip

# Published strengths are rounded to three decimals, and some rows hold dozens of them.
ROUNDING = 5e-3
NO_LONGER_SYMMETRIC = (
    "the values are symmetric, the renormalized rows are not; keep rows as they are if they "
    "should be"
)
# Beyond it float64 skips whole numbers, so that sums are no counts.
_WHOLE_IN_FLOATS = 2**53
_RULE = re.compile(r"(drop)|keep(?::([1-9]\d*))?")
NEVER_A_CUE = "response is never a cue"


@dataclass(frozen=True)
class Rules:
    """What to do with responses that are never cues, with row sums and with self pairs.

    `responses` is "drop", "keep" or "keep:N" (`cues_needed`).
    """

    responses: str = "drop"
    rows: str = "renormalize"
    self_pairs: str = "drop"

    def __post_init__(self) -> None:
        cues_needed(self.responses)
        choices = {
            "rows": ("renormalize", "keep"),
            "self_pairs": ("drop", "error"),
        }
        for name, (first, second) in choices.items():
            if getattr(self, name) not in (first, second):
                raise ParameterError(
                    f"{name} is {getattr(self, name)!r}; it must be {first!r} or {second!r}"
                )


def cues_needed(responses: str) -> float:
    """How many cues must give a response that is never a cue, for it to be an object.

    >>> [cues_needed(rule) for rule in ("drop", "keep", "keep:5")]
    [inf, 0.0, 5.0]

    Raises
    ------
    ParameterError
        For what is none of these.
    """
    rule = _RULE.fullmatch(str(responses))
    if rule is None:
        raise ParameterError(
            f"responses is {responses!r}; it must be 'drop', 'keep' or 'keep:N' with a number of "
            "cues, at least 1, such as 'keep:5'"
        )
    return math.inf if rule[1] else float(rule[2] or 0)


def split_responses(responses: str) -> tuple[int | None, str]:
    """Of trials: how many answers of each count, and the rule for those that are never cues.

    >>> split_responses("R1,keep:5"), split_responses("keep"), split_responses("R123")
    ((1, 'keep:5'), (None, 'keep'), (3, 'drop'))

    Raises
    ------
    ParameterError
        For what is neither.
    """
    first, rule = None, None
    for part in (part.strip() for part in str(responses).split(",")):
        counted = re.fullmatch(r"[Rr](1\d*)", part)
        if counted and "123456789".startswith(counted[1]) and first is None:
            first = len(counted[1])
        elif _RULE.fullmatch(part) and rule is None:
            rule = part
        else:
            raise ParameterError(
                f"responses is {responses!r}; it must be 'drop', 'keep' or 'keep:N' with a number "
                "of cues, at least 1, such as 'keep:5'; of trials also 'R1', 'R12' or 'R123', by "
                "itself or with a comma before these, such as 'R1,keep:5'"
            )
    return first, rule or "drop"


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs in numbers: entry k says that object cue[k] recalls object response[k].

    Attributes
    ----------
    labels : tuple of str
        The objects, those with a row of their own (`n_cues`) first.
    n_cues : int
    cue, response : ndarray of int, shape (n,)
    values : ndarray of shape (n,)
        Finite, at least 0.
    source : str
    where : callable
        The place of the k-th pair, for messages.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves as they are.
    n_read : int
        Pairs in the source, those that were left out among them.
    left_out : mapping of str to int
        Pairs that were left out before, by reason.
    notes : tuple of str
    """

    labels: tuple[str, ...]
    n_cues: int
    cue: np.ndarray
    response: np.ndarray
    values: np.ndarray
    source: str
    where: Callable[[int], str]
    similarities: bool
    n_read: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def apply_rules(entries: NumberedPairs, rules: Rules) -> Associations:
    """The one way from pairs to associations."""
    passes, dropped, place = _select(entries, rules)
    n = int((place >= 0).sum())
    if not passes.any():
        raise DataError(_nothing_left(entries, dropped))
    with np.errstate(over="ignore"):
        totals = np.bincount(entries.cue, weights=entries.values, minlength=n)
    if not np.isfinite(totals).all():
        label = entries.labels[int(np.flatnonzero(~np.isfinite(totals))[0])]
        raise DataError(
            f"{entries.source}: the strengths of cue {label[:60]!r} are too large to be added; "
            "divide them by a constant"
        )
    raw = sparse.coo_array(
        (entries.values[passes], (entries.cue[passes], place[entries.response[passes]])),
        shape=(n, n),
    ).tocsr()
    merged = int(passes.sum()) - raw.nnz
    scaled = _scale(raw, totals, entries, rules)
    vanished = int(np.count_nonzero(scaled.data == 0))
    if vanished:
        dropped["strength too small beside its row"] = vanished
        scaled.eliminate_zeros()
    report = ReadReport(
        entries.source,
        entries.n_read,
        merged,
        dropped,
        (*entries.notes, *_notes(raw, scaled, totals, entries, rules)),
    )
    labels = [label for label, at in zip(entries.labels, place, strict=True) if at >= 0]
    return Associations(
        labels,
        scaled,
        report,
        n_responses=_n_responses(raw, totals, entries, rules),
        row_sums=_lost_sums(raw, scaled),
    )


def _lost_sums(raw: sparse.csr_array, scaled: sparse.csr_array) -> np.ndarray | None:
    """The row sums of values that were the same both ways, and as rows are not."""
    if raw.nnz != scaled.nnz or not is_symmetric(raw) or is_symmetric(scaled):
        return None
    read, now = (np.asarray(table.sum(axis=1)).ravel() for table in (raw, scaled))
    return np.divide(read, now, out=np.ones_like(read), where=now > 0)


def _n_responses(
    raw: sparse.csr_array, totals: np.ndarray, entries: NumberedPairs, rules: Rules
) -> np.ndarray | None:
    """How many responses each row holds the proportions of, where counts were read."""
    whole = bool((entries.values % 1 == 0).all()) and totals.max() < _WHOLE_IN_FLOATS
    if entries.similarities or not whole or np.median(totals[totals > 0]) <= 1 + ROUNDING:
        return None
    sums = np.asarray(raw.sum(axis=1)).ravel()
    return (sums if rules.rows == "renormalize" else totals).astype(np.int64)


def _select(entries: NumberedPairs, rules: Rules) -> tuple[np.ndarray, dict[str, int], np.ndarray]:
    """Select the entries to keep, and number the objects.

    Also counts the dropped entries per reason (the first that applies). The number of a dropped
    object is -1.
    """
    to_self = entries.cue == entries.response
    if rules.self_pairs == "error" and to_self.any():
        k = int(np.flatnonzero(to_self)[0])
        label = entries.labels[entries.cue[k]]
        raise DataError(
            f"{entries.where(k)}: {label[:60]!r} is paired with itself; take self pairs out of "
            f"the data, or read with {setting('self_pairs', 'drop')}"
        )
    passes = np.ones(entries.values.size, dtype=bool)
    dropped = dict(entries.left_out)
    needed = cues_needed(rules.responses)
    stays = np.arange(len(entries.labels)) < entries.n_cues
    if np.isfinite(needed):
        stays |= _n_givers(entries, (entries.values > 0) & ~to_self) >= needed
    rare = f" and of fewer than {needed:.0f} cues" if np.isfinite(needed) else ""
    reasons = {
        "zero strength": entries.values == 0,
        "self pair": to_self,
        f"{NEVER_A_CUE}{rare}": ~stays[entries.response],
    }
    for reason, out in reasons.items():
        count = int(np.count_nonzero(passes & out))
        if count:
            dropped[reason] = count
        passes &= ~out
    return passes, dropped, np.where(stays, np.cumsum(stays) - 1, -1)


def _n_givers(entries: NumberedPairs, counted: np.ndarray) -> np.ndarray:
    """How many different cues give each object, by the entries that count; shape (n_labels,)."""
    n = len(entries.labels)
    pairs = np.unique(entries.cue[counted].astype(np.int64) * n + entries.response[counted])
    return np.bincount(pairs % n, minlength=n)


def _nothing_left(entries: NumberedPairs, dropped: dict[str, int]) -> str:
    """What to say where no pair is left."""
    if entries.n_read == 0 and entries.similarities:
        return f"{entries.source} holds no value above 0"
    if entries.n_read == 0:
        return f"{entries.source} holds no pairs; expected cue, response, strength on each row"
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in dropped.items())
    message = f"{entries.source}: no pairs are left of {entries.n_read:,} read ({reasons})"
    if len(entries.labels) == 1:
        return f"{message}; there is a single word, {entries.labels[0][:60]!r}, and it takes two"
    if any(reason.startswith(NEVER_A_CUE) for reason in dropped):
        return (
            f"{message}; read with {setting('responses', 'keep')} to make objects of all responses"
        )
    return f"{message}; pairs need two different words and a strength above 0"


def _scale(
    raw: sparse.csr_array, totals: np.ndarray, entries: NumberedPairs, rules: Rules
) -> sparse.csr_array:
    """Rows as the rule wants them."""
    if rules.rows == "renormalize":
        divisor = np.asarray(raw.sum(axis=1)).ravel()
    elif entries.similarities:
        return raw.copy()
    else:
        divisor = np.maximum(totals, 1)
    scaled = raw.copy()
    scaled.data = raw.data / np.repeat(divisor, np.diff(raw.indptr))
    return scaled


def _notes(
    raw: sparse.csr_array,
    scaled: sparse.csr_array,
    totals: np.ndarray,
    entries: NumberedPairs,
    rules: Rules,
) -> list[str]:
    """What else deserves saying about the rows."""
    notes = []
    if entries.similarities:
        if rules.rows == "renormalize" and is_symmetric(raw) and not is_symmetric(scaled):
            notes.append(NO_LONGER_SYMMETRIC)
    else:
        above = totals > 1 + ROUNDING
        if np.median(totals[totals > 0]) <= 1 + ROUNDING:
            if above.any():
                worst = [f"{entries.labels[i]!r} ({totals[i]:.3f})" for i in np.flatnonzero(above)]
                notes.append(f"strengths sum to more than 1 for {_some(worst)}; scaled to 1")
        elif rules.rows == "keep":
            notes.append("rows sum to more than 1: read as counts, each row divided by its total")
    empty = np.flatnonzero(np.diff(scaled.indptr)[: entries.n_cues] == 0)
    if empty.size:
        names = _some([repr(entries.labels[i][:60]) for i in empty])
        notes.append(f"no response is left for {empty.size:,} of {entries.n_cues:,} cues: {names}")
    return notes


def _some(names: Sequence[str], most: int = 5) -> str:
    """A list for reading, cut where it is long."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
