"""The command `cluster`: overlapping features behind a table of similarities."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    elapsed,
    note,
    plain_table,
    quiet_option,
    refuse_overwriting,
    rendered,
    shown,
    tell,
)
from manymaps.cli.options import carried, combined, jobs_option, json_option, seed_option
from manymaps.cli.types import InputFile, Number, OutputFile, Range, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas
    from manymaps.clustering.additive import AdditiveClustering
    from manymaps.clustering.paths import ClusterPath
    from manymaps.clustering.stability import ClusterStability
    from manymaps.io.similarities import SimilarityTable

__all__ = ["cluster"]

SOLVERS = ("auto", "gibbs", "annealing", "mean-field", "exact-em", "enumeration")
CONSTANTS: Mapping[str, str | bool] = {"free": "free", "nonnegative": "nonnegative", "none": False}
MOST_LISTED = 12
RESTARTS, RESTARTS_TO_CHOOSE = 10, 3


reading_similarities = combined(
    click.option("--dissimilarities", is_flag=True, help="FILE says how different objects are."),
    click.option("--cue", metavar="COLUMN", help="Of a list of pairs, where not recognized."),
    click.option("--response", metavar="COLUMN", help="Column of the other object."),
    click.option("--strength", metavar="COLUMN", help="Column of similarities."),
    click.option("--format", metavar="NAME", help="How to read FILE, if not by its suffix."),
    click.option("--labels", type=InputFile(), help="Labels of a matrix, one a line."),
    click.option(
        "--absent",
        type=click.Choice(["zero", "missing"]),
        help="What pairs are that a list lacks.  [default: zero; missing of dissimilarities]",
    ),
    click.option("--strict", is_flag=True, help="Refuse an asymmetric table."),
)


@click.command(cls=Command)
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option("--clusters", type=positive, metavar="K", help="How many to find.")
@click.option(
    "--choose",
    type=Range("numbers of clusters"),
    metavar="2-10",
    help="Compare these numbers of clusters, one cluster, and none.",
)
@click.option(
    "--precision",
    type=Number(),
    metavar="S",
    help="With --choose: standard error of a similarity.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(".csv"),
    metavar="OUT.csv",
    help="Memberships, a row for each object.",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Draw the clusters over a map.",
)
@click.option(
    "--atlas",
    type=InputFile(),
    metavar="ATLAS",
    help="That map.  [default: the similarities, scaled to two dimensions]",
)
@click.option("--map", type=click.IntRange(min=0), metavar="M", default=0, help="Of several.")
@reading_similarities
@click.option("--solver", type=click.Choice(SOLVERS), default="auto", show_default=True)
@click.option(
    "--restarts",
    type=positive,
    metavar="N",
    help="Random starts, the best of which is kept.  [default: 10; 3 with --choose]",
)
@click.option(
    "--bootstraps",
    type=positive,
    metavar="N",
    help="Say how often each cluster comes back in so many refits of resampled pairs, e.g. 100.",
)
@click.option(
    "--constant",
    type=click.Choice(list(CONSTANTS)),
    default="free",
    show_default=True,
    help="The similarity that all objects share.",
)
@seed_option
@jobs_option
@worker_options
@quiet_option
@json_option
@click.pass_context
def cluster(ctx: click.Context, file: Path, as_json: bool, **options: Any) -> None:
    """Find overlapping clusters whose weights add up to the similarities in FILE.

    FILE is a square table with labels in its first row and column, where empty cells are missing,
    or a list of pairs: object, other object, similarity. The diagonal is not looked at.

    \b
    Examples:  manymaps cluster judged.csv --clusters 8
               manymaps cluster judged.csv --choose 2-10
               manymaps cluster judged.csv --clusters 5 --bootstraps 100
               manymaps cluster judged.csv --clusters 8 -o members.csv --plot clusters.png
               manymaps cluster distances.csv --clusters 5 --dissimilarities --json
    """
    _check(ctx, file, options)
    check_workers(ctx, options)
    table = _read(file, options)
    if options["choose"] is not None:
        with on_workers(options):
            _choose(file, table, as_json, options)
        return
    estimator = _estimator(options["clusters"], options)
    n_starts = estimator.n_init
    starts = "one start" if n_starts == 1 else f"{n_starts:,} starts"
    # What cannot be drawn is told before the clusters are found, and nothing is written then.
    atlas = _map(table, options) if options["plot"] is not None else None
    with on_workers(options):
        with work(f"finding {options['clusters']:,} clusters of {file} from {starts}"):
            estimator.fit(table.values, labels=table.labels)
        stability = _stability(estimator, options)
    figure = None
    if atlas is not None:
        from manymaps.figures.features import plot_features

        figure = plot_features(atlas, estimator, map=options["map"], stability=stability)
    if options["output"] is not None:
        _write_memberships(estimator, options["output"])
    if figure is not None:
        from manymaps import save_figure

        save_figure(figure, options["plot"])
    seconds = elapsed()
    tell(
        lambda: _record(estimator, stability, table, options, seconds),
        lambda: _report(estimator, stability, table, seconds),
        as_json=as_json,
        files=(options["output"], options["plot"]),
        summary=True,
    )


def _check(ctx: click.Context, file: Path, options: Mapping[str, Any]) -> None:
    if (options["clusters"] is None) == (options["choose"] is None):
        raise click.UsageError(
            "give --clusters K, or --choose 2-10 to compare numbers of clusters", ctx
        )
    if options["choose"] is not None and (options["output"] or options["plot"]):
        raise click.UsageError("-o and --plot need --clusters; --choose only compares", ctx)
    if options["choose"] is not None and options["bootstraps"] is not None:
        raise click.UsageError("--bootstraps needs --clusters; --choose only compares", ctx)
    if options["precision"] is not None and options["choose"] is None:
        raise click.UsageError("--precision needs --choose", ctx)
    if options["atlas"] is not None and options["plot"] is None:
        raise click.UsageError("--atlas needs --plot OUT.png", ctx)
    if options["map"] and options["atlas"] is None:
        raise click.UsageError("--map needs --atlas", ctx)
    refuse_overwriting(
        {"-o": options["output"], "--plot": options["plot"]},
        {"FILE": file, "--atlas": options["atlas"], "--labels": options["labels"]},
    )


def _read(file: Path, options: Mapping[str, Any]) -> SimilarityTable:
    from manymaps.cli.reading import reasoned
    from manymaps.io.similarities import read_similarities

    absent = options["absent"] or ("missing" if options["dissimilarities"] else "zero")
    chosen = {name: options[name] for name in ("cue", "response", "strength", "format", "labels")}
    with work(f"reading {file}"), reasoned(file, options):
        table = read_similarities(file, **chosen, absent=absent)
    for line in table.notes:
        note(line)
    return table


def _estimator(n_clusters: int, options: Mapping[str, Any]) -> AdditiveClustering:
    from manymaps.clustering.additive import AdditiveClustering

    usual = RESTARTS if options["choose"] is None else RESTARTS_TO_CHOOSE
    return AdditiveClustering(
        n_clusters,
        solver=options["solver"],
        constant=CONSTANTS[options["constant"]],
        n_init=options["restarts"] or usual,
        kind="dissimilarity" if options["dissimilarities"] else "similarity",
        strict=options["strict"],
        random_state=options["seed"],
        n_jobs=options["jobs"] or -1,
    )


def _stability(
    estimator: AdditiveClustering, options: Mapping[str, Any]
) -> ClusterStability | None:
    """How well clusters come back, where that is asked for."""
    count = options["bootstraps"]
    if count is None:
        return None
    from manymaps.clustering.stability import cluster_stability

    with work(f"refitting {count:,} times"):
        return cluster_stability(
            estimator,
            n_bootstraps=count,
            random_state=options["seed"],
            n_jobs=options["jobs"] or -1,
        )


def _write_memberships(estimator: AdditiveClustering, path: Path) -> None:
    """Objects by clusters, 0 and 1, with the clusters' weights in the header."""
    from manymaps.archive import written_whole
    from manymaps.data.csv_cells import write_csv

    header = [f"{k + 1} ({c.weight:.3g})" for k, c in enumerate(estimator.clusters_)]
    with (
        written_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as out,
    ):
        rows = zip(estimator.labels_names_, estimator.memberships_.tolist(), strict=True)
        write_csv(out, [["label", *header], *([label, *row] for label, row in rows)])


def _map(table: SimilarityTable, options: Mapping[str, Any]) -> Atlas:
    """The map to draw clusters on: that of --atlas, or one of the similarities."""
    from manymaps import load_atlas
    from manymaps.clustering.scaling import similarity_map

    if options["atlas"] is not None:
        return load_atlas(options["atlas"])
    similar = -table.values if options["dissimilarities"] else table.values
    return similarity_map(similar, table.labels)


def _record(
    estimator: AdditiveClustering,
    stability: ClusterStability | None,
    table: SimilarityTable,
    options: Mapping[str, Any],
    seconds: float,
) -> dict[str, Any]:
    n = table.n_objects
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
        "n_bootstraps": options["bootstraps"],
        "n_objects": n,
        "n_pairs": table.n_pairs,
        "n_missing": n * (n - 1) // 2 - table.n_pairs,
        # Of a perfect fit it is infinite, for which JSON has null.
        "log_likelihood": estimator.log_likelihood_,
        "solver": options["solver"],
        "seed": options["seed"],
        "solutions": estimator.solutions_.tolist(),
        "iterations": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "seconds": seconds,
        "output": None if options["output"] is None else str(options["output"]),
        "plot": None if options["plot"] is None else str(options["plot"]),
    }


def _report(
    estimator: AdditiveClustering,
    stability: ClusterStability | None,
    table: SimilarityTable,
    seconds: float,
) -> str:
    """What a person reads: how good, the clusters, how they come back, how the starts agreed."""
    grid = plain_table()
    if stability is not None:
        grid.add_row("", "weight", "jaccard", "by chance", "recurs", "members")
    for k, one in enumerate(estimator.clusters_):
        members = [shown(label) for label in one.members[:MOST_LISTED]]
        more = len(one.members) - len(members)
        listed = ", ".join(members) + (f" and {more:,} more" if more else "")
        grid.add_row(f"{k + 1}", f"{one.weight:.3f}", *_returns(stability, k), listed or "(nobody)")
    blank = [""] * (0 if stability is None else 3)
    grid.add_row("", f"{estimator.constant_:.3f}", *blank, "(all)")
    n = len(estimator.clusters_)
    head = (
        f"{n:,} cluster{'s account' if n != 1 else ' accounts'} for "
        f"{estimator.variance_accounted_for_:.2%} of the variance of {table.n_pairs:,} "
        f"similarities of {table.n_objects:,} objects, in {seconds:.1f} s"
    )
    found = estimator.solutions_
    n_best = int((found >= found.max() - 1e-9).sum())
    spread = f"starts: {n_best} of {len(found)} found the best"
    if n_best < len(found):
        spread += f", the others {found.min():.2%} and more"
    if stability is not None:
        spread += (
            f"\nrefits: {stability.n_bootstraps:,}, each without a quarter of the pairs; a cluster "
            f"recurs with a Jaccard index of {stability.threshold:g} or more"
        )
    return f"{head}\n{rendered(grid)}\n{spread}"


def _returns(stability: ClusterStability | None, k: int) -> list[str]:
    """How a cluster comes back, in the columns of the table."""
    if stability is None:
        return []
    jaccard, chance = stability.jaccard[k], stability.by_chance[k]
    return [f"{jaccard:.2f}", f"{chance:.2f}", f"{stability.recurrence[k]:.0%}"]


def _choose(file: Path, table: SimilarityTable, as_json: bool, options: Mapping[str, Any]) -> None:
    """Compare numbers of clusters, and suggest one with its reasons."""
    from manymaps.clustering.paths import cluster_path
    from manymaps.clustering.problem import similarities_from

    kind = "dissimilarity" if options["dissimilarities"] else "similarity"
    similarities = similarities_from(
        table.values, kind=kind, strict=options["strict"], labels=table.labels
    )
    numbers = options["choose"]
    with work(f"finding {numbers[0]} to {numbers[-1]} clusters of {file}"):
        path = cluster_path(
            similarities,
            numbers,
            estimator=_estimator(numbers[0], options),
            precision=options["precision"],
            random_state=options["seed"],
        )
    tell(
        lambda: {**_path_record(path), "seconds": elapsed()},
        lambda: _path_report(path, file),
        as_json=as_json,
        summary=True,
    )


def _path_record(path: ClusterPath) -> dict[str, Any]:
    pairs, errors, spreads = path.held_out, path.held_out_error, path.held_out_standard_error
    return {
        "n_clusters": [int(k) for k in path.n_clusters],
        "variance_accounted_for": path.vaf.tolist(),
        "bic": path.bic.tolist(),
        "description_length": path.description_length.tolist(),
        "held_out": None if pairs is None else pairs.mean(axis=1).tolist(),
        "held_out_error": None if errors is None else errors.tolist(),
        "held_out_standard_error": None if spreads is None else spreads.tolist(),
        "fewest_by_held_out": path.fewest_by_held_out,
        "suggestion": path.suggestion,
        "structure_found": path.has_structure,
        "constant_description_length": path.constant_length,
        "reasons": list(path.reasons),
    }


def _path_report(path: ClusterPath, file: Path) -> str:
    grid = plain_table()
    header = ["clusters", "variance", "length", "BIC"]
    errors, spreads = path.held_out_error, path.held_out_standard_error
    if errors is not None:
        header.append("error of hidden pairs")
    grid.add_row(*header)
    for at, k in enumerate(path.n_clusters):
        cells = [
            f"{k}",
            f"{path.vaf[at]:.2%}",
            f"{path.description_length[at]:.1f}",
            f"{path.bic[at]:.1f}",
        ]
        if errors is not None and spreads is not None:
            cells.append(f"{errors[at]:.4g} ± {spreads[at]:.2g}")
        grid.add_row(*cells)
    reasons = "".join(f"\n  {reason}" for reason in path.reasons)
    if not path.has_structure:
        return f"{rendered(grid)}\nno structure found{reasons}"
    further = ["manymaps", "cluster", str(file), "--clusters", str(path.suggestion)]
    further += carried(cluster, but=("clusters", "choose", "precision"))
    return f"{rendered(grid)}\nsuggested: {path.suggestion}{reasons}\nnext: {shlex.join(further)}"
