"""The command `cluster`, which finds overlapping features in a table of similarities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, next_step, note, tell
from manymaps.cli.options import (
    Running,
    Width,
    as_in_option,
    estimator_from,
    output_names,
    refuse,
    setting_option,
    width_option,
)
from manymaps.cli.record import argument, chosen, command, flag, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile, figure_file, positive
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

# With --choose, the fits for each number of clusters also start from the clusters of neighbouring
# numbers, so that three starts suffice.
RESTARTS_TO_CHOOSE = 3
# As in `cluster_path`. The refits take about as long as the fits.
BOOTSTRAPS_TO_CHOOSE = 20


def cluster_range(value: str) -> range:
    """Parse a range such as 2-10, which includes the last number."""
    first, _, last = value.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
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
        OutputFile(".csv", ".md"),
        "Write the weights and members of the clusters, their recurrence (with --bootstraps), the "
        "constant and the variance accounted for to this file (.csv or .md).",
        required=False,
    )
    plot: Path | None = option(
        figure_file, "Draw the clusters over a map and save the figure.", metavar="OUT.png"
    )
    width: Width | None = width_option()
    dissimilarities: bool = flag("Read the values of FILE as dissimilarities.", sets="kind")
    as_in: str | None = as_in_option()
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
    set: tuple[tuple[str, Any], ...] = setting_option(
        "Set any parameter of AdditiveClustering, such as solver=gibbs or constant=nonnegative; "
        "can be repeated."
    )
    running: Running = group(Running)


@command(ClusterOptions)
def cluster(options: ClusterOptions) -> None:
    """Find overlapping clusters in the similarities in FILE.

    The weights of the clusters that two objects share add up to their similarity.

    FILE is a square table with labels in its first row and column, or a list of pairs: object,
    other object, similarity. Empty cells of a table are missing values. The diagonal is ignored.
    `manymaps read` averages the judgements of several judges.

    \b
    Examples:  manymaps cluster judged.csv --clusters 8
               manymaps cluster judged.csv --choose 2-10
               manymaps cluster judged.csv --clusters 5 --bootstraps 100
               manymaps cluster judged.csv --clusters 8 -o clusters.md --plot clusters.png
               manymaps cluster distances.csv --clusters 5 --dissimilarities --json
    """
    choosing = options.choose is not None
    refuse(
        ((options.clusters is None) != choosing,
         "use either --clusters K, or --choose 2-10 to compare numbers of clusters"),
        (choosing and (options.output or options.plot),
         "-o and --plot require --clusters, because --choose only compares numbers"),
        (options.width is not None and options.plot is None, "--width requires --plot OUT.png"),
        ("n_clusters" in dict(options.set), "use --clusters instead of --set"),
    )  # fmt: skip
    from manymaps.cli.reading import opened_similarities

    absent = "missing" if options.dissimilarities else "zero"
    table = opened_similarities(options.file, absent)
    note(*table.attrs["notes"])
    if options.choose is not None:
        _choose(table, options.choose, options)
    else:
        _cluster(table, options)


def _cluster(table: pd.DataFrame, options: ClusterOptions) -> None:
    """Find one number of clusters; print, write and draw them."""
    estimator = _estimator(options.clusters, options)
    # Objects that cannot be drawn are reported before the clusters are found.
    atlas = figure = stability = None
    if options.plot is not None:
        values = -table.values if options.dissimilarities else table.values
        atlas = mm.similarity_map(values, list(table.index))
    starts = plural("start", estimator.n_init)
    with work(f"finding {options.clusters:,} clusters of {options.file} from {starts}"):
        estimator.fit(table)
    if options.bootstraps is not None:
        with work(f"refitting {options.bootstraps:,} times"):
            stability = mm.cluster_stability(
                estimator, n_bootstraps=options.bootstraps, **chosen(options.running)
            )
    if atlas is not None:
        figure = mm.plot_features(atlas, estimator, width=options.width)
    clusters = estimator.to_frame(None if stability is None else stability.recurrence)
    if options.output is not None:
        _write_table(clusters, options.output)
    if figure is not None and options.plot is not None:
        mm.save_figure(figure, options.plot)
    record = _record(estimator, stability, table, options)
    files = (options.output, options.plot)
    tell(lambda: record, lambda: _report(record, clusters), files=files, summary=True)


def _write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV, or as a Markdown table with numbers of three decimals."""
    from manymaps.archive.archives import written_whole

    if path.suffix.lower() == ".csv":
        text = table.to_csv(lineterminator="\n")
    else:
        cells = table.map(lambda one: f"{one:.3f}" if isinstance(one, float) else one)
        rows = cells.where(table.notna(), "").reset_index().replace(r"\|", r"\\|", regex=True)
        lines = [rows.columns, ["---"] * len(rows.columns), *rows.to_numpy().tolist()]
        text = "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _estimator(n_clusters: int | None, options: ClusterOptions) -> Any:
    settings = chosen(options, "restarts", "as_in", "set") | {
        "n_clusters": n_clusters,
        "kind": "dissimilarity" if options.dissimilarities else None,
    }
    if options.choose is not None:
        settings["n_init"] = options.restarts or RESTARTS_TO_CHOOSE
    return estimator_from("AdditiveClustering", "cluster", options.running, **settings)


def _record(
    estimator: Any, stability: Any, table: pd.DataFrame, options: ClusterOptions
) -> dict[str, Any]:
    import numpy as np

    n = len(table)
    n_pairs = int(np.isfinite(table.to_numpy()[np.triu_indices(n, 1)]).sum())
    clusters: list[dict[str, Any]] = [
        {"weight": c.weight, "members": list(c.members)} for c in estimator.clusters_
    ]
    if stability is not None:
        rows = (stability.jaccard, stability.recurrence, stability.by_chance)
        names = ("jaccard", "recurrence", "jaccard_by_chance")
        for one, *numbers in zip(clusters, *rows, strict=True):
            one |= zip(names, map(float, numbers), strict=True)
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
        "solver": dict(options.set).get("solver"),
        "seed": options.running.seed,
        "solutions": estimator.solutions_.tolist(),
        "iterations": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "seconds": elapsed(),
        **output_names(options, "output", "plot"),
    }


def _report(record: dict[str, Any], clusters: pd.DataFrame) -> str:
    """Report the clusters, and the agreement of starts and refits."""
    solutions, cells = record["solutions"], clusters.astype(object).where(clusters.notna(), None)
    best = sum(one >= max(solutions) - 1e-9 for one in solutions)
    lines = [
        f"{record['n_pairs']:,} similarities of {record['n_objects']:,} objects, in "
        f"{record['seconds']:.1f} s",
        grid([["", *cells.columns], *cells.reset_index().to_numpy().tolist()]),
        f"starts: {best} of {len(solutions)} reached the best value found",
    ]
    if record["n_bootstraps"]:
        lines.append(
            f"refits: {record['n_bootstraps']:,}, each without a quarter of the pairs; a cluster "
            "recurs if its Jaccard index is at least 0.75"
        )
    return "\n".join(lines)


def _choose(table: pd.DataFrame, numbers: range, options: ClusterOptions) -> None:
    """Compare numbers of clusters, and suggest one number."""
    with work(f"finding {numbers[0]} to {numbers[-1]} clusters of {options.file}"):
        path = mm.cluster_path(
            table,
            numbers,
            estimator=_estimator(numbers[0], options),
            n_bootstraps=options.bootstraps or BOOTSTRAPS_TO_CHOOSE,
            random_state=options.running.seed,
        )
    rows = path.to_frame().reset_index().to_dict("records")
    names = ("suggestion", "fewest_by_held_out", "constant_length")
    record = {"rows": rows, **{name: getattr(path, name) for name in names}, "seconds": elapsed()}
    again = next_step("cluster", options.file, "--clusters", path.suggestion)
    text = f"{path}\n{again}" if path.has_structure else f"{path}"
    tell(lambda: record, lambda: text, summary=True)
