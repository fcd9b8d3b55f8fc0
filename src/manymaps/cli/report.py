"""How the commands tell a person what they found: tables of plain text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.cli.contract import plain_table, rendered, shown
from manymaps.cli.options import carried
from manymaps.data.counts import Counts
from manymaps.data.pair_rules import NEVER_A_CUE
from manymaps.data.trials import Trials
from manymaps.data.vectors import Vectors
from manymaps.labels import plain_spelling, plural

if TYPE_CHECKING:
    from manymaps.analysis.agreement import Agreement
    from manymaps.analysis.evaluation import CountEvaluation, Evaluation
    from manymaps.analysis.intervals import Interval
    from manymaps.analysis.rating_evaluation import RatingEvaluation
    from manymaps.analysis.triplet_evaluation import TripletEvaluation
    from manymaps.cli.reading import PairData
    from manymaps.data.associations import Associations
    from manymaps.metrics import Measure
    from manymaps.metrics.groups import GroupMeasure

__all__ = [
    "agreement_table",
    "count_evaluation_table",
    "count_inspection",
    "evaluation_table",
    "inspection",
    "inspection_record",
    "rating_evaluation_table",
    "reading_notes",
    "trial_record",
    "triplet_evaluation_table",
    "vector_inspection",
]

_ROWS = 1 << 14
_MOST_SHARES = 8
# Of all objects, that differ from others in case or spaces alone.
_FEW_ALIKE = 0.02
# A perplexity of 30 takes 90 neighbours.
_ENOUGH_FOR_30 = 90


def inspection_record(data: PairData | Counts, hint: str | None = None) -> dict[str, Any]:
    """What `inspect --json` prints; null stands for what vectors or counts do not have."""
    if isinstance(data, Counts):
        return _count_record(data, hint)
    if isinstance(data, Vectors):
        lengths = _lengths(data)
        return {
            "kind": "vectors",
            "n_objects": len(data),
            "n_features": data.n_features,
            "n_pairs": None,
            "symmetric": None,
            "n_components": None,
            "merged": 0,
            "dropped": data.report.n_dropped,
            "dropped_by_reason": data.report.dropped,
            "sparse": sparse.issparse(data.values),
            "zero_vectors": int((lengths == 0).sum()),
            "notes": list(data.report.notes),
        }
    return {
        "kind": "associations",
        "n_objects": data.n_objects,
        "n_features": None,
        "n_pairs": data.n_pairs,
        "n_missing": data.n_missing,
        "symmetric": data.is_symmetric,
        "n_components": data.n_components,
        "merged": data.report.merged,
        "dropped": data.report.n_dropped,
        "dropped_by_reason": data.report.dropped,
        "largest_component": int(component_sizes(data)[0]),
        "notes": list(data.report.notes),
    }


def _count_record(data: Counts, hint: str | None) -> dict[str, Any]:
    whole = data.n_counts.is_integer()
    return {
        "kind": "counts",
        "n_objects": data.n_rows + data.n_columns,
        "n_features": None,
        "n_pairs": data.n_pairs,
        "symmetric": None,
        "n_components": len(_groups_of_counts(data)),
        "merged": data.report.merged,
        "dropped": data.report.n_dropped,
        "dropped_by_reason": data.report.dropped,
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
        "notes": list(data.report.notes),
    }


def _groups_of_counts(data: Counts) -> np.ndarray:
    """Numbers of rows and columns in the groups without counts between them, the largest first."""
    from scipy.sparse import csgraph

    values = data.without_empty().values
    graph = sparse.block_array([[None, values], [values.T, None]], format="csr")
    _, group = csgraph.connected_components(graph, directed=False)
    return np.sort(np.bincount(group))[::-1]


def component_sizes(data: Associations) -> np.ndarray:
    """Numbers of objects in the connected groups, the largest first."""
    from scipy.sparse import csgraph

    _, group = csgraph.connected_components(data.strengths, directed=False)
    return np.sort(np.bincount(group))[::-1]


def trial_record(trials: Trials) -> dict[str, Any]:
    """What `inspect --json` prints of trials beside the associations that they make."""
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
    """What `inspect` says of trials before what it says of any associations."""
    of = f" of {trials.n_participants:,} participants" if trials.participant is not None else ""
    lacking = trials.n_without()
    n_given = trials.given.size - sum(lacking.values())
    why = ", ".join(f"{reason} {count:,}" for reason, count in lacking.items())
    rows = [
        ("trials", f"{trials.n_trials:,}{of}, up to {trials.n_answers} answers of each"),
        ("answers", f"{n_given:,}" + (f" ({why})" if why else "")),
    ]
    return rows + [("column", text) for text in trials.describe_columns()]


def inspection(
    data: Associations, as_written: Associations, file: Path, trials: Trials | None = None
) -> str:
    """What `inspect` prints for a person.

    Parameters
    ----------
    data : Associations
        What a fit would use.
    as_written : Associations
        The same before rows were renormalized.
    file : Path
    trials : Trials, optional
        What they were counted from.
    """
    sizes = component_sizes(data)
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
        ("merged", f"{data.report.merged:,}"),
        ("dropped", _dropped(data)),
        *(("note", text) for text in _notes(data)),
    ]
    table = plain_table()
    for name, value in rows:
        table.add_row(name, value)
    return f"{rendered(table)}\nnext: {suggested_fit(data, file)}"


def vector_inspection(data: Vectors, file: Path) -> str:
    """What `inspect` prints of vectors for a person."""
    lengths = _lengths(data)
    zero = int((lengths == 0).sum())
    stored = ""
    if isinstance(data.values, sparse.csr_array):
        filled = data.values.nnz / (len(data) * data.n_features)
        stored = f", sparse ({filled:.2%} filled)"
    first = ", ".join(shown(label) for label in data.labels[:5])
    rows = [
        ("objects", f"{len(data):,}"),
        ("numbers of each", f"{data.n_features:,}{stored}"),
        ("labels", first + (", ..." if len(data) > 5 else "")),
        ("lengths", _spread(lengths, "{:.3g}")),
        ("zero vectors", f"{zero:,}" + ("; they have no cosine with any other" if zero else "")),
        *(("dropped", _dropped(data)) for _ in range(data.report.n_dropped > 0)),
        *(("note", text) for text in data.report.notes),
    ]
    table = plain_table()
    for name, value in rows:
        table.add_row(name, value)
    return f"{rendered(table)}\nnext: {suggested_fit(data, file)}"


def count_inspection(data: Counts, command: Sequence[str], hint: str | None) -> str:
    """What `inspect` prints of counts for a person.

    Parameters
    ----------
    data : Counts
    command : sequence of str
        That would fit them.
    hint : str or None
        That rows and columns look swapped.
    """
    kinds, sizes = data.kinds, _groups_of_counts(data)
    totals = (data.row_totals, data.column_totals)
    labels = (data.row_labels or (), data.column_labels or ())
    empty = [int((side == 0).sum()) for side in totals]
    fractional = f"; {data.n_fractional:,} are no whole numbers" if data.n_fractional else ""
    pairs = f"{data.n_counts:,.10g} in {data.n_pairs:,} pairs"
    rows = [
        ("rows", plural(kinds[0], data.n_rows)),
        ("columns", plural(kinds[1], data.n_columns)),
        ("counts", f"{pairs} ({_share(data.n_pairs, data)} of the table){fractional}"),
        *(
            (f"counts of a {kind}", _spread(side[side > 0], "{:,.10g}"))
            for kind, side in zip(kinds, totals, strict=True)
        ),
        ("without counts", ", ".join(map(plural, kinds, empty)) if any(empty) else "none"),
        ("groups", _connected(sizes)),
        (f"most frequent {plural(kinds[1])}", _largest(labels[1], totals[1])),
        (f"fullest {plural(kinds[0])}", _largest(labels[0], totals[0])),
        *(
            ("metadata", f"of {plural(kind)}: {', '.join(map(shown, columns))}")
            for kind, columns in zip(kinds, (data.row_metadata, data.column_metadata), strict=True)
            if columns
        ),
        ("merged", f"{data.report.merged:,}"),
        ("dropped", _dropped(data)),
        *(("note", text) for text in data.report.notes),
        *(("note", text) for text in (hint,) if text),
    ]
    table = plain_table()
    for name, value in rows:
        table.add_row(name, value)
    return f"{rendered(table)}\nnext: {shlex.join(command)}"


def _connected(sizes: np.ndarray) -> str:
    if len(sizes) == 1:
        return "1; counts connect all"
    return (
        f"{len(sizes):,} without counts between them, the largest of {sizes[0]:,} rows and "
        "columns; they drift apart in a fit without --penalty"
    )


def _share(n_pairs: int, data: Counts) -> str:
    return f"{n_pairs / (data.n_rows * data.n_columns):.2%}"


def _largest(labels: Sequence[str], totals: np.ndarray, count: int = 5) -> str:
    order = np.argsort(-totals, kind="stable")[:count]
    return ", ".join(f"{shown(labels[i])} {totals[i]:,.10g}" for i in order if totals[i] > 0)


def _lengths(data: Vectors) -> np.ndarray:
    """Euclidean lengths, block by block; refuses NaN and infinity."""
    data.check_finite()
    lengths = np.empty(len(data))
    for start in range(0, len(data), _ROWS):
        block: Any = data.values[start : start + _ROWS]
        squares = abs(block.astype(np.float64)) ** 2
        lengths[start : start + _ROWS] = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    return lengths


def suggested_fit(data: PairData, file: Path) -> str:
    """The command that would fit this file, read as it was read here."""
    from manymaps.cli.fit import fit

    stem = file.name.split(".")[0] or "out"
    command = ["manymaps", "fit", str(file), "-o", f"{stem}.atlas"]
    if isinstance(data, Vectors):
        command += ["--method", "tsne"]
        if len(data) <= _ENOUGH_FOR_30:
            command += ["--perplexity", str(max(1, (len(data) - 1) // 3))]
    elif data.n_objects < 400:
        command += ["--maps", str(min(data.n_objects, max(2, data.n_objects // 10)))]
    return shlex.join([*command, *carried(fit)])


def reading_notes(data: PairData | Counts) -> list[str]:
    """What deserves saying about the data before a fit."""
    if isinstance(data, Counts):
        rows, columns = map(plural, data.kinds, data.shape)
        line = f"{data.n_counts:,.10g} counts of {rows} and {columns} in {data.n_pairs:,} pairs"
        if data.report.merged:
            line += f"; {data.report.merged:,} repeated pairs merged"
        if data.report.n_dropped:
            line += f"; dropped {_dropped(data)}"
        # Of rows and columns without counts the fit says that it leaves them out.
        kept = " without counts kept"
        return [line, *(text for text in data.report.notes if kept not in text)]
    if isinstance(data, Vectors):
        line = f"{len(data):,} vectors of {data.n_features:,} numbers"
        if data.report.n_dropped:
            line += f"; left out {_dropped(data)}"
        return [line, *data.report.notes]
    lines = [f"{data.n_pairs:,} pairs of {data.n_objects:,} objects"]
    if data.report.merged:
        lines[0] += f"; {data.report.merged:,} repeated pairs merged"
    if data.report.n_dropped:
        lines[0] += f"; dropped {_dropped(data)}"
    return [*lines, *_notes(data)]


def _notes(data: Associations) -> list[str]:
    """What the reader noted, and how to join spellings, or to keep answers of which most go."""
    notes = list(data.report.notes)
    alike = data.n_objects - len({plain_spelling(label) for label in data.labels})
    if alike > _FEW_ALIKE * data.n_objects:
        notes.append(
            f"{alike:,} of {data.n_objects:,} objects differ from another in case or spaces alone; "
            "--fold joins them"
        )
    never = data.report.dropped.get(NEVER_A_CUE, 0)
    if never > data.report.n_read / 2:
        notes.append(
            f"{never / data.report.n_read:.0%} of the responses are never a cue and left out; "
            "--responses keep:5 keeps those that at least 5 cues were given"
        )
    return notes


def agreement_table(found: Agreement) -> str:
    """What `fit` prints of several judges."""
    table = plain_table()
    maps = [] if found.shares is None else [f"map {m}" for m in range(found.shares.shape[1])]
    few = maps if len(maps) <= _MOST_SHARES else []
    table.add_row("judge", "pairs", "with the others", "with the fit", *few)
    for k, judge in enumerate(found.judges):
        cells = [shown(judge), f"{found.n_pairs[k]:,}", _agreed(found.with_others[k])]
        cells.append("" if found.with_fit is None else _agreed(found.with_fit[k]))
        if few and found.shares is not None:
            cells += [f"{share:.0%}" for share in found.shares[k]]
        table.add_row(*cells)
    return rendered(table)


def _agreed(correlation: float) -> str:
    return "none" if np.isnan(correlation) else f"{correlation:.2f}"


def _dropped(data: PairData | Counts) -> str:
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in data.report.dropped.items())
    return f"{data.report.n_dropped:,}" + (f" ({reasons})" if reasons else "")


def _symmetry(data: Associations) -> str:
    if data.is_symmetric:
        return "yes"
    there = data.strengths.astype(bool)
    answered = (there * there.T).nnz / max(data.n_pairs, 1)
    return f"no ({answered:.0%} of the pairs stand in both directions)"


def _spread(values: np.ndarray, pattern: str) -> str:
    some = values[values > 0]
    if not len(some):
        return "none"
    low, middle, high = (pattern.format(v) for v in (some.min(), np.median(some), some.max()))
    empty = len(values) - len(some)
    return f"{low} to {high}, median {middle}" + (f"; {empty:,} objects have none" if empty else "")


def _row_sums(data: Associations, as_written: Associations) -> str:
    sums = as_written.strengths.sum(axis=1)
    changed = abs(sums - data.strengths.sum(axis=1)).max() > 1e-9
    return _spread(sums, "{:.3g}") + ("; renormalized to 1" if changed else "")


def _strongest_pairs(data: Associations, count: int = 5) -> str:
    pairs = data.strengths.tocoo()
    order = np.argsort(-pairs.data, kind="stable")[:count]
    return ", ".join(
        f"{shown(data.labels[pairs.row[k]])} → {shown(data.labels[pairs.col[k]])} "
        f"{pairs.data[k]:.3g}"
        for k in order
    )


def _most_central(data: Associations, count: int = 5) -> str:
    cues = np.bincount(data.strengths.indices, minlength=data.n_objects)
    received = data.strengths.sum(axis=0)
    order = np.lexsort((-received, -cues))[:count]
    # Every object of a full matrix is a response of every cue: there the sums tell.
    dense = cues.min() == cues.max()
    return ", ".join(
        f"{shown(data.labels[j])} "
        + (f"(receives {received[j]:.3g})" if dense else f"(of {cues[j]:,} cues)")
        for j in order
        if cues[j] > 0
    )


def evaluation_table(found: Evaluation, name: str) -> str:
    """What `evaluate` prints for a person."""
    k = found.neighbors
    measured = ""
    if found.n_measured < found.n_objects:
        measured = f" ({found.n_measured:,} of them drawn by lot)"
    rows = [
        ("KL divergence", f"{found.kl_divergence:.4f}", "of the data from the maps"),
        ("local", _with_error(found.local), f"of the {k} nearest, those near in the maps"),
        ("global", _with_error(found.overall), "rank correlation of all distances"),
        ("recall at 10", f"{found.recall:.4f}", "nearest or strongest among the 10 likeliest"),
        ("trustworthiness", _with_error(found.trust), f"of the {k} nearest in the maps"),
        ("continuity", _with_error(found.continuity), f"of the {k} nearest in the data"),
    ]
    table = plain_table()
    for row in rows:
        table.add_row(*row)
    return f"{name}: {found.n_objects:,} objects{measured}\n{rendered(table)}"


def count_evaluation_table(found: CountEvaluation, name: str) -> str:
    """What `evaluate` prints of counts for a person."""
    kind, other = found.kinds
    rows = [
        ("log-likelihood", f"{found.log_likelihood:.4f}", "nats per count"),
        ("KL divergence", f"{found.kl_divergence:.4f}", "of the counts from the maps"),
    ]
    if found.purity is not None and found.lift is not None:
        near = f"nearest {plural(kind)} of the same {shown(found.groups or '')}"
        words = f"how much likelier the nearest {plural(other)} are in it"
        rows += [
            ("purity", _with_error(found.purity), f"{near}; by lot {found.chance:.4f}"),
            ("lift", _with_error(found.lift), words),
        ]
    table = plain_table()
    for row in rows:
        table.add_row(*row)
    lot = ""
    if found.purity is not None and found.n_measured < found.n_rows:
        lot = f" ({plural(kind, found.n_measured)} measured by group)"
    sizes = f"{plural(kind, found.n_rows)} and {plural(other, found.n_columns)}"
    return f"{name}: {found.n_counts:,.10g} counts of {sizes}{lot}\n{rendered(table)}"


def rating_evaluation_table(found: RatingEvaluation, name: str) -> str:
    """What `evaluate` prints of ratings: correlations, and how much more the atlas has."""
    table = plain_table()
    beside = len(found.pearson) > 1
    more = ["atlas has more by"] if beside else []
    table.add_row("", "Spearman", "95 %", *more, "Pearson", "95 %", *more)
    if found.alone is not None:
        cells = [_signed(found.alone[1]), _interval(found.alone[1]), *[""] * beside]
        cells += [_signed(found.alone[0]), _interval(found.alone[0]), *[""] * beside]
        table.add_row(f"atlas, its {found.n_known:,} pairs", *cells)
    for measure in found.pearson:
        cells = []
        for all_of, gain in (
            (found.spearman, found.spearman_gain),
            (found.pearson, found.pearson_gain),
        ):
            cells += [_signed(all_of[measure]), _interval(all_of[measure])]
            if beside:
                more_of = gain.get(measure)
                told = "" if more_of is None else f"{_signed(more_of)} ({_interval(more_of)})"
                cells.append(told)
        table.add_row(MEASURES_OF_RATINGS.get(measure, measure), *cells)
    pairs = f"{found.n_compared:,} of {found.n_pairs:,} rated pairs"
    return f"{name}: correlation with {pairs}\n{rendered(table)}"


def triplet_evaluation_table(found: TripletEvaluation, name: str) -> str:
    """What `evaluate` prints of triplets: who foresees how many, and the ceiling."""
    table = plain_table()
    table.add_row("", "foreseen", "95 %", "atlas has more by")
    for measure, accuracy in found.accuracy.items():
        more = found.gain.get(measure)
        told = "" if more is None else f"{_signed(more)} ({_interval(more)})"
        table.add_row(measure, _signed(accuracy), _interval(accuracy), told)
    table.add_row("chance", f"{found.chance:.3f}")
    if found.ceiling is not None:
        often = found.ceiling.n_answers / found.ceiling.n_repeated
        bounds = f"at least {found.ceiling.at_least:.3f}, at most {found.ceiling.at_most:.3f}"
        repeated = f"{plural('triplet', found.ceiling.n_repeated)} asked {often:.1f} times each"
        table.add_row("ceiling", "", "", f"{bounds} ({repeated})")
    triplets = f"{found.n_known:,} of {found.n_triplets:,} triplets"
    return f"{name}: {triplets}\n{rendered(table)}"


MEASURES_OF_RATINGS = {
    "ppmi_cosine": "PPMI cosine",
    "katz_walk": "Katz walk",
    "vectors": "vectors' cosine",
}


def _signed(found: Interval) -> str:
    return f"{found.value:.3f}"


def _interval(found: Interval) -> str:
    return f"{found.low:.3f} to {found.high:.3f}"


def _with_error(measure: Measure | GroupMeasure) -> str:
    error = measure.standard_error
    return f"{measure.mean:.4f}" + (f" ± {error:.4f}" if np.isfinite(error) else "")
