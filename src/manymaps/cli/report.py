"""Texts of records, and the record and the notes on the data in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import manymaps as mm
from manymaps.cli.contract import cell, grid, next_step, shown
from manymaps.data.counts import looks_transposed
from manymaps.data.pair_rules import NEVER_A_CUE
from manymaps.errors import setting
from manymaps.labels import fold, listed

if TYPE_CHECKING:
    from manymaps.cli.reading import Loaded, PairData
    from manymaps.data.associations import ReadReport

# --fold is recommended if more than this share of the objects differ from another object only in
# case or spaces.
_FEW_ALIKE = 0.02
# Names of numeric columns in tables of sites that are not counts.
MEASURES = frozenset((
    "year", "month", "day", "latitude", "longitude", "lat", "lon", "lng", "easting", "northing",
    "elevation", "altitude", "depth", "temperature",
))  # fmt: skip
# Entries of every record, with null if the data do not have them.
ALWAYS = ("kind", "n_objects", "n_features", "n_pairs", "symmetric", "n_components")


def record_text(record: Mapping[str, Any]) -> str:
    """Format a record as a grid with a row per number and a row per element of a list."""
    rows: list[tuple[str, str]] = []
    for key, value in record.items():
        name = key.removeprefix("n_").replace("_", " ")
        if isinstance(value, Mapping):
            value = ", ".join(f"{part}: {cell(number)}" for part, number in value.items())
        parts = value if isinstance(value, list | tuple) else [value]
        rows += [(name, cell(one)) for one in parts if one not in (None, "")]
    return grid(rows)


def fit_step(file: Path, *settings: object) -> str:
    """Return the line with the command that fits a file."""
    stem = file.name.split(".")[0] or "out"
    return next_step("fit", file, "-o", f"{stem}.atlas", *settings)


def report_of(loaded: Loaded, file: Path) -> tuple[dict[str, Any], str]:
    """Return the record and the text that `read` prints; `file` is read by the next command."""
    data = loaded.fitted
    report, further = data.report, fit_step(file)
    if isinstance(data, mm.Counts):
        record, labels = _of_counts(data), [*(data.row_labels or ())]
        further = fit_step(file, "--method", "code")
    elif isinstance(data, mm.Vectors):
        record, labels = _of_vectors(data), list(data.labels)
        further = fit_step(file, "--method", "tsne")
    else:
        record, labels = _of_associations(data), list(data.labels)
    notes = reading_notes(data)[1:]
    if isinstance(data, mm.Counts) and (hint := looks_transposed(data)):
        notes.append(hint)
        further += " --set given=columns"
    record |= {
        "merged": report.merged,
        "dropped": report.n_dropped,
        "dropped_by_reason": report.dropped,
        "notes": notes,
    }
    record = dict.fromkeys(ALWAYS) | record
    text = dict(record)
    if isinstance(loaded.data, mm.Trials):
        trials = _of_trials(loaded.data)
        text = trials | {"columns": list(loaded.data.describe_columns())} | record
        record |= trials
    first = {"labels": ", ".join([*map(shown, labels[:5]), *["..."] * (len(labels) > 5)])}
    return record, f"{record_text(first | text)}\n{further}"


def _of_associations(data: mm.Associations) -> dict[str, Any]:
    return {
        "kind": "associations",
        "n_objects": data.n_objects,
        "n_pairs": data.n_pairs,
        "n_missing": data.n_missing,
        "symmetric": data.is_symmetric,
        "n_components": data.n_components,
    }


def _of_vectors(data: mm.Vectors) -> dict[str, Any]:
    data.check_finite()
    return {
        "kind": "vectors",
        "n_objects": len(data),
        "n_features": data.n_features,
        "sparse": sparse.issparse(data.values),
        "zero_vectors": int((abs(data.values).sum(axis=1) == 0).sum()),
    }


def _of_counts(data: mm.Counts) -> dict[str, Any]:
    from scipy.sparse import csgraph

    values = data.without_empty().values
    links = sparse.block_array([[None, values], [values.T, None]], format="csr")
    return {
        "kind": "counts",
        "n_objects": data.n_rows + data.n_columns,
        "n_pairs": data.n_pairs,
        "n_components": int(csgraph.connected_components(links, directed=False)[0]),
        "kinds": list(data.kinds),
        "n_rows": data.n_rows,
        "n_columns": data.n_columns,
        "n_counts": int(data.n_counts) if data.n_counts.is_integer() else data.n_counts,
        "empty_rows": int((data.row_totals == 0).sum()),
        "empty_columns": int((data.column_totals == 0).sum()),
        "row_metadata": list(data.row_metadata),
        "column_metadata": list(data.column_metadata),
    }


def _of_trials(trials: mm.Trials) -> dict[str, Any]:
    lacking = trials.n_without()
    return {
        "n_trials": trials.n_trials,
        "n_participants": trials.n_participants,
        "n_cues": int(np.unique(trials.cue).size),
        "answers_of_a_trial": trials.given.shape[1],
        "n_answers": trials.given.size - sum(lacking.values()),
        "answers_lacking": lacking,
        "trials_left_out": dict(trials.report.dropped),
        "columns": list(trials.columns),
    }


def reading_notes(data: PairData | mm.Counts | mm.Trials) -> list[str]:
    """List the lines that are printed about the data before a fit, with advice.

    The first line describes the data. The others are the reader's notes, and advice if spellings
    differ or most responses are dropped.
    """
    line = repr(data).strip("<>")
    if data.report.merged:
        line += f"; {data.report.merged:,} repeated pairs merged"
    if data.report.n_dropped:
        line += f"; dropped {dropped(data.report)}"
    # The fit itself reports rows and columns without counts, and `read` counts them.
    notes = [line, *(text for text in data.report.notes if " without counts kept" not in text)]
    if isinstance(data, mm.Counts) and (odd := _measures(data)):
        notes.append(
            f"{listed(odd)} look like years or coordinates, but are read as counts; remove these "
            "columns if they do not count anything"
        )
    if not isinstance(data, mm.Associations):
        return notes
    alike = data.n_objects - len({fold(label) for label in data.labels})
    if alike > _FEW_ALIKE * data.n_objects:
        notes.append(
            f"{alike:,} of {data.n_objects:,} objects differ from another only in case or spaces; "
            f"use {setting('fold', True)} to merge them"
        )
    never = data.report.dropped.get(NEVER_A_CUE, 0)
    if never > data.report.n_read / 2:
        notes.append(
            f"{never / data.report.n_read:.0%} of the responses are never a cue and are left out; "
            f"use {setting('responses', 'keep:5')} to keep those given to at least 5 cues"
        )
    return notes


def _measures(counts: mm.Counts) -> list[str]:
    """List the columns with the name of a measure, or with a year in each row."""
    table = counts.values.tocsc()
    lowest, highest = (getattr(table, end)(axis=0).toarray().ravel() for end in ("min", "max"))
    are_years = (lowest >= 1500) & (highest <= 2100)
    named = zip(counts.column_labels or (), are_years, strict=True)
    return [name for name, is_year in named if is_year or name.strip().casefold() in MEASURES]


def dropped(report: ReadReport) -> str:
    """Format the number of dropped rows with the reasons."""
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in report.dropped.items())
    return f"{report.n_dropped:,}" + (f" ({reasons})" if reasons else "")
