"""Conversion of numbered pairs to `Associations`, with rules for dropping, merging and scaling.

Every pair is stored, merged with an earlier one, or dropped for a reason. The report counts them:

    n_read = n_pairs + merged + n_dropped

With original strengths s_ij, the row of cue i becomes

    rows="renormalize"    s_ij / sum_kept s_ij             every row sums to 1
    rows="keep"           s_ij / max(1, sum_all s_ij)      dropped mass remains missing

Here, sum_all includes all responses, even those that are dropped, so that counts become proportions
of all responses. Similarities (a matrix or an undirected graph) are not proportions, and
rows="keep" leaves them unchanged.

A response that is never a cue is dropped, or kept as an object with an empty row. With
responses="keep:N", the response is kept if at least N different cues evoked it. Rare responses
provide little information about their positions, but dropping all responses that are never cues
removes an eighth to a quarter of the pairs in norms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice
from manymaps.data.associations import Associations, ReadReport, is_symmetric
from manymaps.errors import DataError, ParameterError, setting

# Published strengths are rounded to three decimals, and some rows contain dozens of strengths.
ROUNDING = 5e-3
NO_LONGER_SYMMETRIC = (
    "the values are symmetric, but the renormalized rows are not; keep the rows as they are if "
    "they should be"
)
# Float64 cannot represent all larger integers, so sums above this value are not exact counts.
_WHOLE_IN_FLOATS = 2**53
_RULE = re.compile(r"(drop)|keep(?::([1-9]\d*))?")
NEVER_A_CUE = "response is never a cue"


@dataclass(frozen=True)
class Rules:
    """Rules for responses that are never cues, for row sums and for self-pairs.

    Attributes
    ----------
    responses : str
        "drop", "keep" or "keep:N" (see `cues_needed`).
    rows : str
        "renormalize" or "keep".
    self_pairs : str
        "drop" or "error".
    """

    responses: str = "drop"
    rows: str = "renormalize"
    self_pairs: str = "drop"

    def __post_init__(self) -> None:
        cues_needed(self.responses)
        check_choice("rows", self.rows, ("renormalize", "keep"))
        check_choice("self_pairs", self.self_pairs, ("drop", "error"))


def cues_needed(responses: str) -> float:
    """Return the number of cues that must evoke a response that is never a cue to keep it.

    >>> [cues_needed(rule) for rule in ("drop", "keep", "keep:5")]
    [inf, 0.0, 5.0]

    Raises
    ------
    ParameterError
        If the rule is unknown.
    """
    rule = _RULE.fullmatch(str(responses))
    if rule is None:
        raise ParameterError(
            f"responses is {responses!r}; it must be 'drop', 'keep' or 'keep:N' with a number of "
            "cues, at least 1, such as 'keep:5'"
        )
    return math.inf if rule[1] else float(rule[2] or 0)


def split_responses(responses: str) -> tuple[int | None, str]:
    """Split a rule for trials into the number of responses per trial and the rule for non-cues.

    >>> split_responses("R1,keep:5"), split_responses("keep"), split_responses("R123")
    ((1, 'keep:5'), (None, 'keep'), (3, 'drop'))

    Raises
    ------
    ParameterError
        If a part of the rule is unknown.
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
                "of cues, at least 1, such as 'keep:5', or for trials also 'R1', 'R12' or 'R123', "
                "by itself or before these with a comma, such as 'R1,keep:5'"
            )
    return first, rule or "drop"


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs of object indices, where cue[k] evokes response[k].

    Attributes
    ----------
    labels : tuple of str
        Labels of the objects. The first `n_cues` objects have a row.
    n_cues : int
        Number of cues.
    cue, response : ndarray of int, shape (n,)
        Indices of the objects of each pair.
    values : ndarray of shape (n,)
        Finite strengths, at least 0.
    source : str
        Name of the source for error messages.
    where : callable
        Function that describes the location of the k-th pair for error messages.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves unchanged.
    n_read : int
        Number of pairs in the source, including pairs that were omitted earlier.
    left_out : mapping of str to int
        Number of pairs that were omitted earlier, by reason.
    notes : tuple of str
        Notes for the report.
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
    """Convert pairs to associations according to the rules."""
    passes, dropped, index = _select(entries, rules)
    n = int((index >= 0).sum())
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
        (entries.values[passes], (entries.cue[passes], index[entries.response[passes]])),
        shape=(n, n),
    ).tocsr()
    merged = int(passes.sum()) - raw.nnz
    scaled = _scale(raw, totals, entries, rules)
    vanished = int(np.count_nonzero(scaled.data == 0))
    if vanished:
        dropped["strength too small compared with its row"] = vanished
        scaled.eliminate_zeros()
    report = ReadReport(
        entries.source,
        entries.n_read,
        merged,
        dropped,
        (*entries.notes, *_notes(raw, scaled, totals, entries, rules)),
    )
    labels = [label for label, i in zip(entries.labels, index, strict=True) if i >= 0]
    return Associations(
        labels,
        scaled,
        report,
        n_responses=_n_responses(raw, totals, entries, rules),
        row_sums=_lost_sums(raw, scaled),
        covered=None if entries.similarities else _covered(raw, totals),
    )


def _covered(raw: sparse.csr_array, totals: np.ndarray) -> np.ndarray:
    """Return the kept part of the responses to each cue, and NaN without responses."""
    # The order of the sums differs, so a whole row can exceed its total by a rounding error.
    kept = np.minimum(raw.sum(axis=1), totals)
    return np.divide(kept, totals, out=np.full(len(kept), np.nan), where=totals > 0)


def _lost_sums(raw: sparse.csr_array, scaled: sparse.csr_array) -> np.ndarray | None:
    """Return the row sums of symmetric values that scaling made asymmetric, and None otherwise."""
    if raw.nnz != scaled.nnz or not is_symmetric(raw) or is_symmetric(scaled):
        return None
    raw_sums, scaled_sums = (np.asarray(table.sum(axis=1)).ravel() for table in (raw, scaled))
    return np.divide(raw_sums, scaled_sums, out=np.ones_like(raw_sums), where=scaled_sums > 0)


def _n_responses(
    raw: sparse.csr_array, totals: np.ndarray, entries: NumberedPairs, rules: Rules
) -> np.ndarray | None:
    """Return the number of responses in each row if counts were read, and None otherwise."""
    whole = bool((entries.values % 1 == 0).all()) and totals.max() < _WHOLE_IN_FLOATS
    if entries.similarities or not whole or np.median(totals[totals > 0]) <= 1 + ROUNDING:
        return None
    sums = np.asarray(raw.sum(axis=1)).ravel()
    return (sums if rules.rows == "renormalize" else totals).astype(np.int64)


def _select(entries: NumberedPairs, rules: Rules) -> tuple[np.ndarray, dict[str, int], np.ndarray]:
    """Return a mask of the entries to keep, dropped entries by reason, and indices of objects."""
    to_self = entries.cue == entries.response
    if rules.self_pairs == "error" and to_self.any():
        k = int(np.flatnonzero(to_self)[0])
        label = entries.labels[entries.cue[k]]
        raise DataError(
            f"{entries.where(k)}: {label[:60]!r} is paired with itself; remove self-pairs from "
            f"the data, or use {setting('self_pairs', 'drop')}"
        )
    passes = np.ones(entries.values.size, dtype=bool)
    dropped = dict(entries.left_out)
    needed = cues_needed(rules.responses)
    is_kept = np.arange(len(entries.labels)) < entries.n_cues
    if np.isfinite(needed):
        is_kept |= _n_givers(entries, (entries.values > 0) & ~to_self) >= needed
    rare = f" and of fewer than {needed:.0f} cues" if np.isfinite(needed) else ""
    reasons = {
        "zero strength": entries.values == 0,
        "self pair": to_self,
        f"{NEVER_A_CUE}{rare}": ~is_kept[entries.response],
    }
    for reason, out in reasons.items():
        # An entry counts for the first reason only, so that the counts add up.
        count = int(np.count_nonzero(passes & out))
        if count:
            dropped[reason] = count
        passes &= ~out
    return passes, dropped, np.where(is_kept, np.cumsum(is_kept) - 1, -1)


def _n_givers(entries: NumberedPairs, counted: np.ndarray) -> np.ndarray:
    """Count the distinct cues that evoke each object in the counted entries, shape (n_labels,)."""
    n = len(entries.labels)
    pairs = np.unique(entries.cue[counted].astype(np.int64) * n + entries.response[counted])
    return np.bincount(pairs % n, minlength=n)


def _nothing_left(entries: NumberedPairs, dropped: dict[str, int]) -> str:
    """Return the error message for data from which all pairs were dropped."""
    if entries.n_read == 0 and entries.similarities:
        return f"{entries.source} has no values above 0"
    if entries.n_read == 0:
        return f"{entries.source} has no pairs; expected cue, response, strength in each row"
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in dropped.items())
    message = f"{entries.source}: none of {entries.n_read:,} pairs remain ({reasons})"
    if len(entries.labels) == 1:
        return f"{message}; expected at least two words, got only {entries.labels[0][:60]!r}"
    if any(reason.startswith(NEVER_A_CUE) for reason in dropped):
        return f"{message}; use {setting('responses', 'keep')} to keep all responses as objects"
    return f"{message}; a pair requires two different words and a strength above 0"


def _scale(
    raw: sparse.csr_array, totals: np.ndarray, entries: NumberedPairs, rules: Rules
) -> sparse.csr_array:
    """Scale the rows according to the rule."""
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
    """Return notes on the rows."""
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
            notes.append("rows sum to more than 1; read as counts, each row divided by its total")
    empty = np.flatnonzero(np.diff(scaled.indptr)[: entries.n_cues] == 0)
    if empty.size:
        names = _some([repr(entries.labels[i][:60]) for i in empty])
        notes.append(f"no responses remain for {empty.size:,} of {entries.n_cues:,} cues: {names}")
    return notes


def _some(names: Sequence[str], most: int = 5) -> str:
    """Join names with commas for display, and truncate a long list."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
