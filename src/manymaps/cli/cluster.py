"""The command `cluster`, which finds overlapping features in a table of similarities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, next_step, note, shown, tell, write_rows
from manymaps.cli.options import (
    Running,
    Width,
    check_width,
    output_names,
    refuse,
    width_option,
)
from manymaps.cli.record import argument, chosen, command, flag, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile, figure_file, positive
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

    from manymaps.clustering.paths import ClusterPath
    from manymaps.clustering.stability import ClusterStability

SOLVERS = ("annealing", "gibbs")
CONSTANTS: Mapping[str, str | bool] = {"free": "free", "nonnegative": "nonnegative", "none": False}
# Number of members per row of a table in a terminal.
MOST_LISTED = 12
# With --choose, the fits for each number of clusters also start from the clusters of neighbouring
# numbers, so that three starts suffice.
RESTARTS, RESTARTS_TO_CHOOSE = 10, 3
# As in `cluster_path`. The refits take about as long as the fits.
BOOTSTRAPS_TO_CHOOSE = 20


def cluster_range(value: str) -> range:
    """Parse a range such as 2-10, which includes the last number."""
    first, dash, last = value.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise click.BadParameter(f"{value!r} is not a range of numbers of clusters such as 2-10")
    return range(int(first), int(last) + 1)


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Options of the command `cluster`."""

    file: Path = argument("FILE", InputFile())
    clusters: int | None = option(
        positive, "Number of clusters to find.", metavar="K", sets="n_clusters"
    )
    choose: range | None = option(
        cluster_range,
        "Compare these numbers of clusters with no cluster and with one cluster.",
        metavar="2-10",
    )
    output: Path | None = output_option(
        "OUT.csv",
        OutputFile(".csv"),
        "Write the memberships to this file, with one row per object.",
        required=False,
    )
    plot: Path | None = option(
        figure_file, "Draw the clusters over a map and save the figure.", metavar="OUT.png"
    )
    width: Width | None = width_option()
    dissimilarities: bool = flag("Read the values of FILE as dissimilarities.", sets="kind")
    absent: str | None = option(
        ["zero", "missing"],
        "Treat pairs that are not in the list as zero or as missing (lists of pairs only).  "
        "[default: zero; missing for dissimilarities]",
    )
    strict: bool = flag("Exit with an error if the table is asymmetric.")
    solver: str | None = option(
        SOLVERS,
        "Algorithm that finds the memberships.  [default: annealing up to 400 objects times "
        "clusters, gibbs above]",
    )
    restarts: int | None = option(
        positive,
        "Number of random starts; the best solution is used.  [default: 10; 3 with --choose]",
        sets="n_init",
    )
    bootstraps: int | None = option(
        positive,
        "Report how often each cluster recurs in N refits to resampled pairs, e.g. 100.  [default: "
        "20 with --choose]",
    )
    constant: str = option(
        list(CONSTANTS),
        "Constraint on the additive constant, the similarity that all objects share.",
        default="free",
    )
    running: Running = group(Running)


@command(ClusterOptions)
def cluster(options: ClusterOptions) -> None:
    """Find overlapping clusters in the similarities in FILE.

    The weights of the clusters that two objects share add up to their similarity.

    FILE is a square table with labels in its first row and column, or a list of pairs: object,
    other object, similarity. Empty cells of a table are missing values. The diagonal is ignored.

    \b
    Examples:  manymaps cluster judged.csv --clusters 8
               manymaps cluster judged.csv --choose 2-10
               manymaps cluster judged.csv --clusters 5 --bootstraps 100
               manymaps cluster judged.csv --clusters 8 -o members.csv --plot clusters.png
               manymaps cluster distances.csv --clusters 5 --dissimilarities --json
    """
    _check(options)
    table = _read(options)
    if options.choose is not None:
        _choose(table, options.choose, options)
        return
    n_clusters = options.clusters or 0
    estimator = _estimator(n_clusters, options)
    # Objects that cannot be drawn are reported before the clusters are found.
    atlas = _map(table, options) if options.plot is not None else None
    starts = plural("start", estimator.n_init)
    with work(f"finding {n_clusters:,} clusters of {options.file} from {starts}"):
        estimator.fit(table)
    stability = _stability(estimator, options)
    figure = None
    if atlas is not None:
        figure = mm.plot_features(atlas, estimator, stability=stability,
                                  width=options.width)  # fmt: skip
    if options.output is not None:
        header = [f"{k + 1} ({c.weight:.3g})" for k, c in enumerate(estimator.clusters_)]
        rows = zip(estimator.labels_names_, estimator.memberships_.tolist(), strict=True)
        write_rows(options.output, [["label", *header], *([label, *row] for label, row in rows)])
    if figure is not None and options.plot is not None:
        mm.save_figure(figure, options.plot)
    record = _record(estimator, stability, table, options)
    tell(
        lambda: record,
        lambda: _report(record, stability),
        files=(options.output, options.plot),
        summary=True,
    )


def _check(options: ClusterOptions) -> None:
    choosing = options.choose is not None
    check_width(options)
    refuse(
        ((options.clusters is None) != choosing,
         "use either --clusters K, or --choose 2-10 to compare numbers of clusters"),
        (choosing and (options.output or options.plot),
         "-o and --plot require --clusters, because --choose only compares numbers"),
    )  # fmt: skip


def _read(options: ClusterOptions) -> pd.DataFrame:
    from manymaps.cli.reading import load_similarities

    absent = options.absent or ("missing" if options.dissimilarities else "zero")
    table = load_similarities(options.file, absent)
    note(*table.attrs["notes"])
    return table


def _estimator(n_clusters: int, options: ClusterOptions) -> mm.AdditiveClustering:
    usual = RESTARTS if options.choose is None else RESTARTS_TO_CHOOSE
    return mm.AdditiveClustering(
        n_clusters,
        **chosen(options, "solver", "strict"),
        **chosen(options.running, "seed"),
        constant=CONSTANTS[options.constant],
        n_init=options.restarts or usual,
        kind="dissimilarity" if options.dissimilarities else "similarity",
        n_jobs=options.running.jobs or -1,
    )


def _stability(
    estimator: mm.AdditiveClustering, options: ClusterOptions
) -> ClusterStability | None:
    """Measure how often the clusters recur, if --bootstraps is passed."""
    if (count := options.bootstraps) is None:
        return None
    with work(f"refitting {count:,} times"):
        return mm.cluster_stability(
            estimator,
            n_bootstraps=count,
            random_state=options.running.seed,
            n_jobs=options.running.jobs or -1,
        )


def _map(table: pd.DataFrame, options: ClusterOptions) -> mm.Atlas:
    """Return the map to draw clusters on, a two-dimensional scaling of the similarities."""
    similar = -table.values if options.dissimilarities else table.values
    return mm.similarity_map(similar, list(table.index))


def _record(
    estimator: mm.AdditiveClustering,
    stability: ClusterStability | None,
    table: pd.DataFrame,
    options: ClusterOptions,
) -> dict[str, Any]:
    import numpy as np

    n = len(table)
    n_pairs = int(np.isfinite(table.to_numpy()[np.triu_indices(n, 1)]).sum())
    clusters: list[dict[str, Any]] = [
        {"weight": c.weight, "members": list(c.members)} for c in estimator.clusters_
    ]
    if stability is not None:
        figures = (stability.jaccard, stability.recurrence, stability.by_chance)
        for one, jaccard, recurrence, chance in zip(clusters, *figures, strict=True):
            one["jaccard"], one["recurrence"] = float(jaccard), float(recurrence)
            one["jaccard_by_chance"] = float(chance)
    return {
        "variance_accounted_for": estimator.variance_accounted_for_,
        "constant": estimator.constant_,
        "clusters": clusters,
        "n_bootstraps": options.bootstraps,
        "n_objects": n,
        "n_pairs": n_pairs,
        "n_missing": n * (n - 1) // 2 - n_pairs,
        # A perfect fit has an infinite value, which JSON represents as null.
        "log_likelihood": estimator.log_likelihood_,
        "solver": options.solver,
        "seed": options.running.seed,
        "solutions": estimator.solutions_.tolist(),
        "iterations": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "seconds": elapsed(),
        **output_names(options, "output", "plot"),
    }


def _report(record: dict[str, Any], stability: ClusterStability | None) -> str:
    """Report the variance explained, the clusters, and the agreement of starts and refits."""
    n, solutions = len(record["clusters"]), record["solutions"]
    head = (
        f"{n:,} cluster{'s account' if n != 1 else ' accounts'} for "
        f"{record['variance_accounted_for']:.2%} of the variance of {record['n_pairs']:,} "
        f"similarities of {record['n_objects']:,} objects, in {record['seconds']:.1f} s"
    )
    n_best = _n_best(solutions)
    lines = [f"starts: {n_best} of {len(solutions)} reached the best solution"]
    if n_best < len(solutions):
        lines[0] += f"; the others account for at least {min(solutions):.2%}"
    if stability is not None:
        lines.append(
            f"refits: {stability.n_bootstraps:,}, each without a quarter of the pairs; a cluster "
            "recurs if its Jaccard index is at least 0.75"
        )
    rows = _rows(record, with_recurrence=stability is not None)
    return "\n".join([head, grid(rows), *lines])


def _n_best(solutions: Sequence[float]) -> int:
    """Count the starts that reached the best solution."""
    return sum(one >= max(solutions) - 1e-9 for one in solutions)


def _rows(record: dict[str, Any], *, with_recurrence: bool) -> Iterator[tuple[str, ...]]:
    if with_recurrence:
        yield "", "weight", "jaccard", "by chance", "recurs", "members"
    for k, one in enumerate(record["clusters"]):
        listed = ", ".join(map(shown, one["members"][:MOST_LISTED]))
        more = len(one["members"]) - MOST_LISTED
        listed += f" and {more:,} more" if more > 0 else ""
        recurrence: tuple[str, ...] = ()
        if with_recurrence:
            jaccard, by_chance = one["jaccard"], one["jaccard_by_chance"]
            recurrence = f"{jaccard:.2f}", f"{by_chance:.2f}", f"{one['recurrence']:.0%}"
        yield f"{k + 1}", f"{one['weight']:.3f}", *recurrence, listed or "(nobody)"
    blank = ("",) * 3 if with_recurrence else ()
    yield "", f"{record['constant']:.3f}", *blank, "(all)"


def _choose(table: pd.DataFrame, numbers: range, options: ClusterOptions) -> None:
    """Compare numbers of clusters, and suggest one number."""
    from manymaps.clustering.problem import similarities_from

    kind = "dissimilarity" if options.dissimilarities else "similarity"
    similarities = similarities_from(table, kind=kind, strict=options.strict)
    with work(f"finding {numbers[0]} to {numbers[-1]} clusters of {options.file}"):
        path = mm.cluster_path(
            similarities,
            numbers,
            estimator=_estimator(numbers[0], options),
            n_bootstraps=options.bootstraps or BOOTSTRAPS_TO_CHOOSE,
            random_state=options.running.seed,
        )
    record = {**_path_record(path), "seconds": elapsed()}
    tell(lambda: record, lambda: _path_report(record, options.file), summary=True)


def _path_record(path: ClusterPath) -> dict[str, Any]:
    errors, spreads = path.held_out_error, path.held_out_standard_error
    return {
        "n_clusters": [int(k) for k in path.n_clusters],
        "variance_accounted_for": path.vaf.tolist(),
        "description_length": path.description_length.tolist(),
        "held_out_error": None if errors is None else errors.tolist(),
        "held_out_standard_error": None if spreads is None else spreads.tolist(),
        "fewest_by_held_out": path.fewest_by_held_out,
        "recurrence": [one.tolist() for one in path.recurrence or ()],
        "solutions": [one.solutions_.tolist() for one in path.estimators],
        "suggestion": path.suggestion,
        "structure_found": path.has_structure,
        "constant_description_length": path.constant_length,
    }


def _path_report(record: dict[str, Any], file: Path) -> str:
    from manymaps.clustering.paths import RECURS

    errors, spreads = record["held_out_error"], record["held_out_standard_error"]
    header = ("clusters", "variance", "length", "recur", "least often", "starts")
    rows = [(*header, *(["held-out error"] * bool(errors)))]
    for at, k in enumerate(record["n_clusters"]):
        error = (f"{errors[at]:.4g} ± {spreads[at]:.2g}",) if errors else ()
        length = record["description_length"][at]
        share = record["variance_accounted_for"][at]
        recurrence = record["recurrence"][at]
        stable = f"{sum(one >= RECURS for one in recurrence)} of {k}", f"{min(recurrence):.0%}"
        solutions = record["solutions"][at]
        starts = f"{_n_best(solutions)} of {len(solutions)}"
        measures = f"{k}", f"{share:.2%}", f"{length:.1f}"
        rows.append((*measures, *stable, starts, *error))
    constant = f"length without clusters: {record['constant_description_length']:.1f}"
    if not record["structure_found"]:
        return f"{grid(rows)}\nno structure found\n{constant}"
    again = next_step("manymaps", "cluster", file, "--clusters", record["suggestion"])
    return f"{grid(rows)}\nsuggested: {record['suggestion']}\n{constant}\n{again}"
