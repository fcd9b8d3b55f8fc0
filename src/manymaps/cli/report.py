"""Reports of the commands on the content of a file and the quality of an atlas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import manymaps as mm
from manymaps.cli.contract import grid, next_step, shown
from manymaps.cli.options import fit_command
from manymaps.data.counts import Counts, looks_transposed
from manymaps.data.judgements import Judgements
from manymaps.data.pair_rules import NEVER_A_CUE
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.labels import fold, plural

if TYPE_CHECKING:
    from manymaps.analysis.evaluation import CountEvaluation
    from manymaps.cli.reading import Loaded, PairData
    from manymaps.data.associations import ReadReport

# Lengths are computed in blocks, because vectors may be a memory-mapped file.
_ROWS = 1 << 14
# --fold is recommended if more than this share of the objects differ from another object only in
# case or spaces.
_FEW_ALIKE = 0.02


def report_of(
    loaded: Loaded, file: Path, as_written: mm.Associations | None
) -> tuple[dict[str, Any], str]:
    """Return the record and the text that `read` prints.

    Parameters
    ----------
    loaded : Loaded
        The data.
    file : path
        The file that the next command reads.
    as_written : Associations, optional
        The same associations without renormalized rows.
    """
    data, given = loaded.fitted, loaded.data
    if isinstance(data, Counts):
        hint = looks_transposed(data)
        further = [*fit_command(file, "--method", "code"),
                   *(["--set", "given=columns"] if hint else [])]  # fmt: skip
        return inspection_record(data, hint), count_inspection(data, further, hint)
    record = inspection_record(data)
    if isinstance(data, Vectors):
        return record, vector_inspection(data, file)
    trials = given if isinstance(given, Trials) else None
    text = inspection(data, as_written or data, file, trials)
    if trials is not None:
        record |= trial_record(trials)
    if isinstance(given, Judgements):
        columns = (given.judges or (), given.n_pairs.tolist(), given.with_others.tolist())
        names = ("judge", "n_pairs", "with_others")
        record["judges"] = [
            dict(zip(names, one, strict=True)) for one in zip(*columns, strict=True)
        ]
        text = f"{judge_table(record['judges'])}\n{text}"
    return record, text


def inspection_record(data: PairData | Counts, hint: str | None = None) -> dict[str, Any]:
    """Return the record of `read --json`; values that the data do not have are null."""
    record: dict[str, Any] = {
        "kind": "vectors",
        "n_objects": 0,
        "n_features": None,
        "n_pairs": None,
        "symmetric": None,
        "n_components": None,
        "merged": data.report.merged,
        "dropped": data.report.n_dropped,
        "dropped_by_reason": data.report.dropped,
        "notes": list(data.report.notes),
    }
    if isinstance(data, Counts):
        whole = data.n_counts.is_integer()
        return record | {
            "kind": "counts",
            "n_objects": data.n_rows + data.n_columns,
            "n_pairs": data.n_pairs,
            "n_components": len(_groups_of_counts(data)),
            "n_rows": data.n_rows,
            "n_columns": data.n_columns,
            "kinds": list(data.kinds),
            "n_counts": int(data.n_counts) if whole else data.n_counts,
            "fractional": data.n_fractional,
            "empty_rows": int((data.row_totals == 0).sum()),
            "empty_columns": int((data.column_totals == 0).sum()),
            "row_metadata": list(data.row_metadata),
            "column_metadata": list(data.column_metadata),
            "looks_transposed": hint is not None,
        }
    if isinstance(data, Vectors):
        return record | {
            "n_objects": len(data),
            "n_features": data.n_features,
            "merged": 0,
            "sparse": sparse.issparse(data.values),
            "zero_vectors": int((_lengths(data) == 0).sum()),
        }
    return record | {
        "kind": "associations",
        "n_objects": data.n_objects,
        "n_pairs": data.n_pairs,
        "n_missing": data.n_missing,
        "symmetric": data.is_symmetric,
        "n_components": data.n_components,
        "largest_component": int(component_sizes(data.strengths)[0]),
    }


def _groups_of_counts(data: Counts) -> np.ndarray:
    """Return the sizes of groups of rows and columns with no counts in common, largest first."""
    values = data.without_empty().values
    return component_sizes(sparse.block_array([[None, values], [values.T, None]], format="csr"))


def component_sizes(graph: sparse.sparray) -> np.ndarray:
    """Return the sizes of the connected groups, largest first."""
    from scipy.sparse import csgraph

    _, group = csgraph.connected_components(graph, directed=False)
    return np.sort(np.bincount(group))[::-1]


def trial_record(trials: Trials) -> dict[str, Any]:
    """Return the record of trials that `read --json` adds to the record of associations."""
    lacking = trials.n_without()
    return {
        "n_trials": trials.n_trials,
        "n_participants": trials.n_participants,
        "n_cues": int(np.unique(trials.cue).size),
        "answers_of_a_trial": trials.n_answers,
        "n_answers": trials.given.size - sum(lacking.values()),
        "answers_lacking": lacking,
        "trials_left_out": dict(trials.report.dropped),
        "columns": list(trials.columns),
    }


def _trial_rows(trials: Trials) -> list[tuple[str, str]]:
    """Return the rows on trials, which `read` prints before the rows on associations."""
    of = f" of {trials.n_participants:,} participants" if trials.participant is not None else ""
    record = trial_record(trials)
    why = ", ".join(f"{reason} {n:,}" for reason, n in record["answers_lacking"].items())
    rows = [
        ("trials", f"{trials.n_trials:,}{of}, up to {trials.n_answers} responses each"),
        ("responses", f"{record['n_answers']:,}" + (f" ({why})" if why else "")),
    ]
    return rows + [("column", text) for text in trials.describe_columns()]


def inspection(
    data: mm.Associations, as_written: mm.Associations, file: Path, trials: Trials | None = None
) -> str:
    """Format the report of `read` on associations.

    Parameters
    ----------
    data : Associations
        The associations that a fit would use.
    as_written : Associations
        The same associations without renormalized rows.
    file : path
        The file.
    trials : Trials, optional
        The trials from which the associations were counted.

    Returns
    -------
    str
        The report.
    """
    sizes = component_sizes(data.strengths)
    largest = f" (the largest of {sizes[0]:,} objects)" if len(sizes) > 1 else ""
    rows = [
        *(() if trials is None else _trial_rows(trials)),
        ("objects", f"{data.n_objects:,}"),
        ("pairs", f"{data.n_pairs:,}"),
        ("symmetric", _symmetry(data)),
        ("components", f"{len(sizes):,}{largest}"),
        ("responses per cue", _spread(np.diff(data.strengths.indptr), "{:,.0f}")),
        ("row sums", _row_sums(data, as_written)),
        ("strongest pairs", _strongest_pairs(as_written)),
        ("most central", _most_central(as_written)),
    ]
    return _inspection(rows, data, _notes(data), fit_command(file))


def _inspection(
    rows: list[tuple[str, str]],
    data: PairData | Counts,
    notes: Iterable[str],
    further: Sequence[str],
) -> str:
    """Join rows with the rows common to all kinds of data, and the next command."""
    rows += [("merged", f"{data.report.merged:,}"), ("dropped", dropped(data.report))]
    rows += [("note", text) for text in notes]
    return f"{grid(rows)}\n{next_step(*further)}"


def vector_inspection(data: Vectors, file: Path) -> str:
    """Format the report of `read` on vectors."""
    lengths = _lengths(data)
    zero = int((lengths == 0).sum())
    stored = ""
    if isinstance(data.values, sparse.csr_array):
        filled = data.values.nnz / (len(data) * data.n_features)
        stored = f", sparse ({filled:.2%} filled)"
    first = ", ".join(shown(label) for label in data.labels[:5])
    rows = [
        ("objects", f"{len(data):,}"),
        ("dimensions", f"{data.n_features:,}{stored}"),
        ("labels", first + (", ..." if len(data) > 5 else "")),
        ("lengths", _spread(lengths, "{:.3g}")),
        ("zero vectors", f"{zero:,}" + ("; their cosine is undefined" if zero else "")),
    ]
    notes = list(data.report.notes)
    sample: Any = data.values[:_ROWS]
    numbers = sample if isinstance(sample, np.ndarray) else sample.data
    if (numbers >= 0).all() and (numbers == np.rint(numbers)).all():
        notes.append(
            "the numbers are whole and at least 0; if they are counts, use --method code to map "
            "rows and columns together"
        )
    return _inspection(rows, data, notes, fit_command(file, "--method", "tsne"))


def count_inspection(data: Counts, command: Sequence[str], hint: str | None) -> str:
    """Format the report of `read` on counts.

    Parameters
    ----------
    data : Counts
        The counts.
    command : sequence of str
        The command that fits them.
    hint : str or None
        The note that rows and columns seem to be swapped, if applicable.

    Returns
    -------
    str
        The report.
    """
    kinds, sizes = data.kinds, _groups_of_counts(data)
    totals = (data.row_totals, data.column_totals)
    labels = (data.row_labels or (), data.column_labels or ())
    empty = [int((side == 0).sum()) for side in totals]
    fractional = f"; {data.n_fractional:,} are not whole numbers" if data.n_fractional else ""
    filled = data.n_pairs / (data.n_rows * data.n_columns)
    pairs = f"{data.n_counts:,.10g} in {data.n_pairs:,} pairs"
    rows = [
        ("rows", plural(kinds[0], data.n_rows)),
        ("columns", plural(kinds[1], data.n_columns)),
        ("counts", f"{pairs} ({filled:.2%} of the table){fractional}"),
        *(
            (f"counts per {kind}", _spread(side[side > 0], "{:,.10g}"))
            for kind, side in zip(kinds, totals, strict=True)
        ),
        ("without counts", ", ".join(map(plural, kinds, empty)) if any(empty) else "none"),
        ("groups", _connected(sizes)),
        (f"most frequent {plural(kinds[1])}", _largest(labels[1], totals[1])),
        (f"largest {plural(kinds[0])}", _largest(labels[0], totals[0])),
        *(
            ("metadata", f"of {plural(kind)}: {', '.join(map(shown, columns))}")
            for kind, columns in zip(kinds, (data.row_metadata, data.column_metadata), strict=True)
            if columns
        ),
    ]
    return _inspection(rows, data, [*data.report.notes, *filter(None, [hint])], command)


def _connected(sizes: np.ndarray) -> str:
    if len(sizes) == 1:
        return "1 (all are connected)"
    return (
        f"{len(sizes):,} without counts in common, the largest with {sizes[0]:,} rows and "
        "columns; only the size penalty determines the distances between groups"
    )


def _largest(labels: Sequence[str], totals: np.ndarray, count: int = 5) -> str:
    order = np.argsort(-totals, kind="stable")[:count]
    return ", ".join(f"{shown(labels[i])} {totals[i]:,.10g}" for i in order if totals[i] > 0)


def _lengths(data: Vectors) -> np.ndarray:
    """Compute Euclidean lengths in blocks; reject NaN and infinity."""
    data.check_finite()
    lengths = np.empty(len(data))
    for start in range(0, len(data), _ROWS):
        block: Any = data.values[start : start + _ROWS]
        squares = abs(block.astype(np.float64)) ** 2
        lengths[start : start + _ROWS] = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    return lengths


def reading_notes(data: PairData | Counts) -> list[str]:
    """List the lines that are printed about the data before a fit."""
    notes, lost = list(data.report.notes), "dropped"
    if isinstance(data, Counts):
        rows, columns = map(plural, data.kinds, data.shape)
        line = f"{data.n_counts:,.10g} counts of {rows} and {columns} in {data.n_pairs:,} pairs"
        # The fit itself reports rows and columns without counts.
        notes = [text for text in notes if " without counts kept" not in text]
    elif isinstance(data, Vectors):
        line, lost = f"{len(data):,} vectors of {data.n_features:,} numbers", "left out"
    else:
        line, notes = f"{data.n_pairs:,} pairs of {data.n_objects:,} objects", _notes(data)
    if data.report.merged:
        line += f"; {data.report.merged:,} repeated pairs merged"
    if data.report.n_dropped:
        line += f"; {lost} {dropped(data.report)}"
    return [line, *notes]


def _notes(data: mm.Associations) -> list[str]:
    """List the reader's notes, with advice if spellings differ or most responses are dropped."""
    notes = list(data.report.notes)
    alike = data.n_objects - len({fold(label) for label in data.labels})
    if alike > _FEW_ALIKE * data.n_objects:
        notes.append(
            f"{alike:,} of {data.n_objects:,} objects differ from another only in case or spaces; "
            "use --fold to merge them"
        )
    never = data.report.dropped.get(NEVER_A_CUE, 0)
    if never > data.report.n_read / 2:
        notes.append(
            f"{never / data.report.n_read:.0%} of the responses are never a cue and are left out; "
            "use --responses keep:5 to keep those given to at least 5 cues"
        )
    return notes


def judge_table(judges: Sequence[Mapping[str, Any]]) -> str:
    """Format the table on several judges that `fit` prints."""
    rows = [["judge", "pairs", "with the others"]]
    for one in judges:
        agreed = "none" if np.isnan(one["with_others"]) else f"{one['with_others']:.2f}"
        rows.append([shown(one["judge"]), f"{one['n_pairs']:,}", agreed])
    return grid(rows)


def dropped(report: ReadReport) -> str:
    """Format the number of dropped rows with the reasons."""
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in report.dropped.items())
    return f"{report.n_dropped:,}" + (f" ({reasons})" if reasons else "")


def _symmetry(data: mm.Associations) -> str:
    if data.is_symmetric:
        return "yes"
    there = data.strengths.astype(bool)
    answered = (there * there.T).nnz / max(data.n_pairs, 1)
    return f"no ({answered:.0%} of the pairs occur in both directions)"


def _spread(values: np.ndarray, pattern: str) -> str:
    some = values[values > 0]
    if not len(some):
        return "none"
    low, middle, high = (pattern.format(v) for v in (some.min(), np.median(some), some.max()))
    empty = len(values) - len(some)
    return f"{low} to {high}, median {middle}" + (f"; {empty:,} objects have none" if empty else "")


def _row_sums(data: mm.Associations, as_written: mm.Associations) -> str:
    sums = as_written.strengths.sum(axis=1)
    changed = abs(sums - data.strengths.sum(axis=1)).max() > 1e-9
    return _spread(sums, "{:.3g}") + ("; renormalized to 1" if changed else "")


def _strongest_pairs(data: mm.Associations) -> str:
    pairs = data.strengths.tocoo()
    order = np.argsort(-pairs.data, kind="stable")[:5]
    return ", ".join(
        f"{shown(data.labels[pairs.row[k]])} → {shown(data.labels[pairs.col[k]])} "
        f"{pairs.data[k]:.3g}"
        for k in order
    )


def _most_central(data: mm.Associations) -> str:
    cues = np.bincount(data.strengths.indices, minlength=data.n_objects)
    received = data.strengths.sum(axis=0)
    order = np.lexsort((-received, -cues))[:5]
    # In a full matrix, every object is a response to every cue, so the sums are compared.
    dense = cues.min() == cues.max()
    return ", ".join(
        f"{shown(data.labels[j])} "
        + (f"(receives {received[j]:.3g})" if dense else f"(from {cues[j]:,} cues)")
        for j in order
        if cues[j] > 0
    )


MEASURES = (
    ("kl_divergence", "KL divergence", "between the data and the maps"),
    ("mu_local", "local", "share of the {neighbors} nearest that are also nearest in the maps"),
    ("mu_global", "global", "rank correlation of all distances"),
    ("nearest_among_10", "nearest among 10", "how often the nearest is one of the 10 most similar"),
    ("trustworthiness", "trustworthiness", "of the {neighbors} nearest neighbours in the maps"),
    ("continuity", "continuity", "of the {neighbors} nearest neighbours in the data"),
)
MEASURES_OF_COUNTS = (
    ("log_likelihood", "log-likelihood", "nats per count"),
    ("kl_divergence", "KL divergence", "between the counts and the maps"),
    (
        "purity",
        "purity",
        "share of nearest {kind} in the same {groups}; by chance {purity_by_lot:.4f}",
    ),
    ("lift", "lift", "how much more likely the nearest {other} are in it"),
)


def _measures(
    record: dict[str, Any], measures: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield the known measures of a record, with their standard errors and meanings."""
    for key, title, meaning in measures:
        if record[key] is not None:
            error = record.get(f"{key}_se") or np.nan
            more = f" ± {error:.4f}" if np.isfinite(error) else ""
            yield title, f"{record[key]:.4f}{more}", meaning.format_map(record)


def evaluation_table(found: mm.Evaluation, name: str) -> str:
    """Format the report of `evaluate` on associations or vectors."""
    measured = ""
    if found.n_measured < found.n_objects:
        measured = f" ({found.n_measured:,} of them drawn at random)"
    rows = _measures(found.record(), MEASURES)
    return f"{name}: {found.n_objects:,} objects{measured}\n{grid(rows)}"


def count_evaluation_table(found: CountEvaluation, name: str) -> str:
    """Format the report of `evaluate` on counts."""
    kind, other = found.kinds
    measured = ""
    if found.purity is not None and found.n_measured < found.n_rows:
        measured = f" ({plural(kind, found.n_measured)} measured by group)"
    sizes = f"{plural(kind, found.n_rows)} and {plural(other, found.n_columns)}"
    named = {"kind": plural(kind), "other": plural(other), "groups": shown(found.groups or "")}
    rows = _measures(found.record() | named, MEASURES_OF_COUNTS)
    return f"{name}: {found.n_counts:,.10g} counts of {sizes}{measured}\n{grid(rows)}"


def rating_evaluation_table(found: mm.RatingEvaluation, name: str) -> str:
    """Format the report of `evaluate` on ratings."""
    value, low, high = found.spearman
    pairs = f"{found.n_known:,} of {found.n_pairs:,} rated pairs"
    return f"{name}: Spearman {value:.3f} (95 % {low:.3f} to {high:.3f}) with {pairs}"
