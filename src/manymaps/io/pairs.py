"""From pairs or cells as they were read to `Associations`: drop, merge, scale, report.

Every pair that is read is stored, merged into an earlier one, or dropped for a reason that the
report counts:

    n_read = n_pairs + merged + n_dropped

With strengths s_ij as read, the row of cue i becomes

    rows="renormalize"    s_ij / sum_kept s_ij             every row sums to 1
    rows="keep"           s_ij / max(1, sum_all s_ij)      the missing mass stays missing

A response that is never a cue is dropped, kept as an object with an empty row, or with
responses="keep:N" kept where at least N different cues gave it: a rare answer says little of where
it belongs, while dropping all of them takes an eighth to a quarter of the pairs of norms.

where sum_all runs over all responses that were read, those that are dropped among them, so that
counts become proportions of what was answered. Matrices and undirected graphs hold similarities,
not proportions: rows="keep" leaves their values as they are. A cell of a matrix that is empty or
NaN is a missing pair (`manymaps.data.associations.known_pairs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import MOST_LABELS
from manymaps.data.associations import SYMMETRIC, Associations, ReadReport, known_pairs
from manymaps.errors import DataError, ParameterError
from manymaps.io.coded_cells import CodedColumn, LabelCodes
from manymaps.io.matrices import LabelledMatrix
from manymaps.io.tables import known_number

__all__ = [
    "NO_LONGER_SYMMETRIC",
    "Pairs",
    "Rules",
    "associate",
    "associate_matrix",
    "coded_pairs",
    "cues_needed",
]

# Published strengths are rounded to three decimals, and some rows hold dozens of them.
ROUNDING = 5e-3
NO_LONGER_SYMMETRIC = (
    "the values are symmetric, the renormalized rows are not; "
    "rows='keep' keeps the values as they are"
)
_WHOLE_IN_FLOATS = 2**53
_NEVER_A_CUE = "response is never a cue"


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
    found = re.fullmatch(r"(drop)|keep(?::([1-9]\d*))?", str(responses))
    if found is None:
        raise ParameterError(
            f"responses is {responses!r}; it must be 'drop', 'keep' or 'keep:N' with a number of "
            "cues, at least 1, such as 'keep:5'"
        )
    return math.inf if found[1] else float(found[2] or 0)


@dataclass(frozen=True)
class Pairs:
    """Pairs as they were read, before any rule; pair k stands between two of the labels.

    Attributes
    ----------
    cues, responses : CodedColumn of n cells
        An empty label is that of no object.
    values : ndarray of shape (n,), or None
        As `known_number` reads them; None where every pair counts one.
    source : str
    where : callable
        The place of the k-th pair, for messages.
    written : callable
        The k-th value as it was written.
    objects : tuple of str
        Objects known beforehand; they count as cues.
    similarities : bool
        Whether the values are similarities, which rows="keep" leaves as they are.
    notes : tuple of str
    """

    cues: CodedColumn
    responses: CodedColumn
    values: np.ndarray | None
    source: str
    where: Callable[[int], str]
    written: Callable[[int], Any]
    objects: tuple[str, ...] = ()
    similarities: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return self.cues.codes.size

    def ends(self, k: int) -> tuple[str, str]:
        """The labels of the k-th pair."""
        return (
            self.cues.texts[self.cues.codes[k]],
            self.responses.texts[self.responses.codes[k]],
        )

    def numbered(
        self, kept: np.ndarray | None = None
    ) -> tuple[list[str], int, np.ndarray, np.ndarray]:
        """The objects of all pairs, or of some, in the order in which they first appear.

        Parameters
        ----------
        kept : ndarray of int, optional
            The pairs.

        Returns
        -------
        labels : list of str
            Those known beforehand, then the cues, then what is a response alone.
        n_cues : int
            How many labels the first two of these are.
        cue, response : ndarray of int32, shape (n_kept,)
            The numbers of the ends of each pair.
        """
        place = {label: i for i, label in enumerate(self.objects)}
        columns = []
        n_cues = 0
        for column in (self.cues, self.responses):
            codes = column.codes if kept is None else column.codes[kept]
            number = np.full(len(column.texts), -1, dtype=np.int32)
            for code in _first_seen(codes, len(column.texts)).tolist():
                number[code] = place.setdefault(column.texts[code], len(place))
            columns.append(number[codes])
            n_cues = n_cues or len(place)
        if len(place) > MOST_LABELS:
            raise DataError(
                f"{self.source} has more than {MOST_LABELS:,} different labels, and no more "
                "objects are read; take out the rare ones"
            )
        return list(place), n_cues, columns[0], columns[1]


def coded_pairs(
    cues: Sequence[str],
    responses: Sequence[str],
    values: Sequence[Any] | None,
    source: str,
    where: Callable[[int], str],
    **other: Any,
) -> Pairs:
    """Pairs of cells in memory."""
    columns = []
    for cells in (cues, responses):
        codes = LabelCodes()
        places = codes.of(cells, len(cells))
        columns.append(CodedColumn(list(codes), places))
    numbers = None
    if values is not None:
        numbers = np.fromiter(map(known_number, values), np.float64, len(values))
    written = (lambda k: 1) if values is None else values.__getitem__
    return Pairs(columns[0], columns[1], numbers, source, where, written, **other)


def _first_seen(codes: np.ndarray, n: int) -> np.ndarray:
    """The codes that occur, by their first places."""
    first = np.full(n, codes.size, dtype=np.int64)
    # Of several values for one place the last is kept.
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < codes.size)]


@dataclass(frozen=True)
class _Entries:
    """Pairs in numbers: entry k says that object cue[k] recalls object response[k]."""

    labels: tuple[str, ...]
    n_cues: int
    cue: np.ndarray
    response: np.ndarray
    values: np.ndarray
    source: str
    where: Callable[[int], str]
    similarities: bool
    n_read: int
    unnamed: int = 0
    notes: tuple[str, ...] = ()


def associate(pairs: Pairs, rules: Rules) -> Associations:
    """Associations from pairs; the objects stand in the order in which they first appear."""
    named = np.flatnonzero(_is_named(pairs.cues) & _is_named(pairs.responses))
    labels, n_cues, cue, response = pairs.numbered(None if len(named) == len(pairs) else named)
    entries = _Entries(
        labels=tuple(labels),
        n_cues=n_cues,
        cue=cue,
        response=response,
        values=_numbers(pairs, named),
        source=pairs.source,
        where=lambda k: pairs.where(int(named[k])),
        similarities=pairs.similarities,
        n_read=len(pairs),
        unnamed=len(pairs) - len(named),
        notes=pairs.notes,
    )
    return _build(entries, rules)


def _is_named(column: CodedColumn) -> np.ndarray:
    """Which cells hold a label."""
    return np.array([bool(text) for text in column.texts], dtype=bool)[column.codes]


def associate_matrix(matrix: LabelledMatrix, rules: Rules) -> Associations:
    """Associations from a square matrix; every row is an object, its diagonal holds self pairs."""
    values, missing = known_pairs(matrix.values)
    cells = values.tocoo()
    entries = _Entries(
        labels=matrix.labels,
        n_cues=len(matrix.labels),
        cue=cells.row,
        response=cells.col,
        values=cells.data,
        source=matrix.source,
        where=lambda k: f"{matrix.source}, row {cells.row[k] + 1}",
        similarities=True,
        n_read=int(cells.nnz),
        notes=_of_missing(missing),
    )
    found = _build(entries, rules)
    return found if missing is None else replace(found, missing=missing)


def _of_missing(missing: sparse.csr_array | None) -> tuple[str, ...]:
    """What deserves saying of missing pairs."""
    if missing is None:
        return ()
    n = missing.shape[0]
    return (
        f"{missing.nnz:,} of {n * (n - 1):,} cells are empty: nothing is known of these pairs, and "
        "they do not count in a fit (a pair without any similarity is 0)",
    )


def _numbers(pairs: Pairs, named: np.ndarray) -> np.ndarray:
    """The strengths of the named pairs; the first that is none is an error with its place."""
    if pairs.values is None:
        return np.ones(len(named))
    values = pairs.values if len(named) == len(pairs) else pairs.values[named]
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        k = int(named[bad[0]])
        value = pairs.written(k)
        shown = "missing" if value is None or value == "" else repr(value)[:60]
        hint = " (write decimals with a point)" if "," in shown else ""
        cue, response = pairs.ends(k)
        raise DataError(
            f"{pairs.where(k)}: the strength of {cue[:60]!r} - {response[:60]!r} is {shown}; "
            f"strengths must be finite numbers of at least 0{hint}"
        )
    return values


def _build(entries: _Entries, rules: Rules) -> Associations:
    """The one way from entries to associations."""
    kept, dropped, place = _select(entries, rules)
    n = int((place >= 0).sum())
    if not kept.any():
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
        (entries.values[kept], (entries.cue[kept], place[entries.response[kept]])), shape=(n, n)
    ).tocsr()
    merged = int(kept.sum()) - raw.nnz
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
    if raw.nnz != scaled.nnz or not _is_symmetric(raw) or _is_symmetric(scaled):
        return None
    read, now = (np.asarray(table.sum(axis=1)).ravel() for table in (raw, scaled))
    return np.divide(read, now, out=np.ones_like(read), where=now > 0)


def _n_responses(
    raw: sparse.csr_array, totals: np.ndarray, entries: _Entries, rules: Rules
) -> np.ndarray | None:
    """How many responses each row holds the proportions of, where counts were read."""
    whole = bool((entries.values % 1 == 0).all()) and totals.max() < _WHOLE_IN_FLOATS
    if entries.similarities or not whole or np.median(totals[totals > 0]) <= 1 + ROUNDING:
        return None
    kept = np.asarray(raw.sum(axis=1)).ravel()
    return (kept if rules.rows == "renormalize" else totals).astype(np.int64)


def _select(entries: _Entries, rules: Rules) -> tuple[np.ndarray, dict[str, int], np.ndarray]:
    """Which entries stay, how many go for which reason (the first that applies), and the number of
    each object; -1 where it is none."""
    to_self = entries.cue == entries.response
    if rules.self_pairs == "error" and to_self.any():
        k = int(np.flatnonzero(to_self)[0])
        label = entries.labels[entries.cue[k]]
        raise DataError(
            f"{entries.where(k)}: {label[:60]!r} is paired with itself; take self pairs out of "
            "the data, or read with self_pairs='drop'"
        )
    kept = np.ones(entries.values.size, dtype=bool)
    dropped = {"empty label": entries.unnamed} if entries.unnamed else {}
    needed = cues_needed(rules.responses)
    stays = np.arange(len(entries.labels)) < entries.n_cues
    if np.isfinite(needed):
        stays |= _n_givers(entries, (entries.values > 0) & ~to_self) >= needed
    rare = f" and of fewer than {needed:.0f} cues" if np.isfinite(needed) else ""
    reasons = {
        "zero strength": entries.values == 0,
        "self pair": to_self,
        f"{_NEVER_A_CUE}{rare}": ~stays[entries.response],
    }
    for reason, out in reasons.items():
        count = int(np.count_nonzero(kept & out))
        if count:
            dropped[reason] = count
        kept &= ~out
    return kept, dropped, np.where(stays, np.cumsum(stays) - 1, -1)


def _n_givers(entries: _Entries, counted: np.ndarray) -> np.ndarray:
    """How many different cues give each object, by the entries that count; shape (n_labels,)."""
    n = len(entries.labels)
    pairs = np.unique(entries.cue[counted].astype(np.int64) * n + entries.response[counted])
    return np.bincount(pairs % n, minlength=n)


def _nothing_left(entries: _Entries, dropped: dict[str, int]) -> str:
    """What to say where no pair is left."""
    if entries.n_read == 0 and entries.similarities:
        return f"{entries.source} holds no value above 0"
    if entries.n_read == 0:
        return f"{entries.source} holds no pairs; expected cue, response, strength on each row"
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in dropped.items())
    message = f"{entries.source}: no pairs are left of {entries.n_read:,} read ({reasons})"
    if len(entries.labels) == 1:
        return f"{message}; there is a single word, {entries.labels[0][:60]!r}, and it takes two"
    if any(reason.startswith(_NEVER_A_CUE) for reason in dropped):
        return f"{message}; read with responses='keep' to make objects of all responses"
    return f"{message}; pairs need two different words and a strength above 0"


def _scale(
    raw: sparse.csr_array, totals: np.ndarray, entries: _Entries, rules: Rules
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
    entries: _Entries,
    rules: Rules,
) -> list[str]:
    """What else deserves saying about the rows."""
    notes = []
    if entries.similarities:
        if rules.rows == "renormalize" and _is_symmetric(raw) and not _is_symmetric(scaled):
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


def _is_symmetric(values: sparse.csr_array) -> bool:
    difference = abs(values - values.T)
    return difference.nnz == 0 or bool(difference.max() <= SYMMETRIC * values.max())


def _some(names: Sequence[str], most: int = 5) -> str:
    """A list for reading, cut where it is long."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
