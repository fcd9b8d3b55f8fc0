"""The command `stability`: which senses survive a new seed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
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
    refuse_to_replace,
    rendered,
    shown,
    tell,
)
from manymaps.cli.fit import (
    OF_COUNTS,
    USUAL_METHOD,
    build,
    check_method,
    count_options,
    model_options,
    vector_options,
)
from manymaps.cli.options import ROW_SUMS, json_option, reading_options, refuse_given
from manymaps.cli.types import InputFile, Number, OutputFile, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.stability import Stability
    from manymaps.atlas.atlas import Atlas

__all__ = ["stability"]

# What is said of the comparison and its outputs. Every other option is of a fit, and does not apply
# to finished atlases.
OF_ATLASES = {
    "files", "output", "threshold", "neighbors", "min_recall", "plot", "words_shown", "seed",
    "drop_vectors", "quiet", "as_json",
}  # fmt: skip
FEWEST_FITS, LISTED = 2, 8
UNITS = ("participants", "responses")


@click.command(cls=Command)
@click.argument("files", type=InputFile(), metavar="FILE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="OUT.atlas",
    help="Write the fit that is most like the others; not needed to compare atlases.",
)
@click.option(
    "--fits",
    type=click.IntRange(min=FEWEST_FITS),
    metavar="N",
    default=5,
    show_default=True,
    help="From so many seeds.",
)
@click.option(
    "--bootstrap",
    type=click.Choice(UNITS),
    help="One fit is of the data, the others of data in which these were drawn again; participants "
    "need trials.",
)
@click.option(
    "--threshold",
    type=Number(0, 1, min_open=True),
    metavar="X",
    default=0.5,
    show_default=True,
    help="Senses are the same where so much of their neighbours' weight is.",
)
@click.option(
    "--neighbors",
    type=positive,
    metavar="N",
    default=10,
    show_default=True,
    help="Neighbours that make a sense.",
)
@click.option(
    "--min-recall",
    type=Number(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Where no associations are known: leave out maps that recall less.",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Draw the senses of some words over the fits.",
)
@click.option("--word", "words_shown", multiple=True, metavar="WORD", help="With --plot: these.")
@model_options
@count_options
@vector_options
@reading_options
@worker_options
@quiet_option
@json_option
@click.pass_context
def stability(ctx: click.Context, files: Sequence[Path], as_json: bool, **options: Any) -> None:
    """Fit FILE from several seeds, and say which senses recur.

    Or compare several .atlas files of the same objects. OUT.atlas is the fit that is most like the
    others, and `manymaps senses` then says of each sense in how many fits it was found. Options of
    the model are those of `manymaps fit`; --jobs is the number of fits at a time.

    New seeds say what a fit leaves open. What other people might have answered is seen by
    --bootstrap: the first fit is of FILE, and is what is written; the others are of responses, or
    of participants with all their trials, drawn again.

    \b
    Examples:  manymaps stability norms.csv -o stable.atlas --fits 5 --maps 20
               manymaps stability trials.csv -o stable.atlas --bootstrap participants
               manymaps stability a.atlas b.atlas
               manymaps stability a.atlas b.atlas c.atlas -o stable.atlas
               manymaps stability norms.csv -o stable.atlas --plot senses.png --word tie
    """
    _check(ctx, files, options)
    finished = [file for file in files if file.suffix == ".atlas"]
    atlases = _load(finished) if finished else _fits(ctx, files[0], options)
    with work(f"comparing {len(atlases)} fits"):
        from manymaps.analysis.stability import stability as compare

        found = compare(
            atlases,
            n_neighbors=options["neighbors"],
            min_recall=options["min_recall"],
            threshold=options["threshold"],
            reference=None if options["bootstrap"] is None else 0,
            random_state=options["seed"],
        )
        figure = None
        if options["plot"] is not None:
            from manymaps.figures.stability import plot_stability

            figure = plot_stability(found, options["words_shown"] or None)
    if options["output"] is not None:
        found.attach().save(options["output"], vectors=not options["drop_vectors"])
    if figure is not None:
        from manymaps.figures.maps import save_figure

        save_figure(figure, options["plot"])
    seconds = elapsed()
    tell(
        lambda: _record(found, options, seconds),
        lambda: _report(found, options, seconds),
        as_json=as_json,
        files=(options["plot"],),
        summary=True,
    )


def _check(ctx: click.Context, files: Sequence[Path], options: Mapping[str, Any]) -> None:
    finished = [file for file in files if file.suffix == ".atlas"]
    if finished and len(finished) < len(files):
        raise click.UsageError("give one file of data, or .atlas files alone", ctx)
    if len(files) > 1 and not finished:
        raise click.UsageError(
            "give one file of data, or several .atlas files to compare; "
            f"{files[1]} is none",
            ctx,
        )  # fmt: skip
    if len(finished) == 1:
        raise click.UsageError(
            f"{finished[0]} is one fit alone; give the data to fit anew, or several atlases", ctx
        )
    if finished:
        names = [option.name for option in ctx.command.params if option.name]
        refuse_given(ctx, [name for name in names if name not in OF_ATLASES], "finished atlases")
    if options["words_shown"] and options["plot"] is None:
        raise click.UsageError("--word needs --plot OUT.png", ctx)
    if options["output"] is None and not finished:
        raise click.UsageError("give -o OUT.atlas, which the fits are for", ctx)
    if isinstance(options["init"], Path):
        raise click.UsageError("--init with an atlas would start all fits alike; leave it out", ctx)
    refuse_to_replace("-o", options["output"])
    outputs = {"-o": options["output"], "--plot": options["plot"]}
    for file in files:
        others = {"--labels": options["labels"], "--words": options["words"]}
        refuse_overwriting(outputs, {"FILE": file, **others})


def _load(files: Sequence[Path]) -> list[Atlas]:
    from manymaps.atlas.atlas import load_atlas

    return [load_atlas(file) for file in files]


def _fits(ctx: click.Context, file: Path, options: dict[str, Any]) -> list[Atlas]:
    """The fits of a file from several seeds."""
    from manymaps.analysis.stability import refit

    check_method(ctx, file, options)
    check_workers(ctx, options)
    method = options["method"] or USUAL_METHOD
    # Neither the seed nor the threads of one fit are those of all.
    estimator = build(method, {**options, "seed": None, "jobs": None})
    data, rules = _data(file, method, options)
    n_fits = options["fits"]
    with on_workers(options), work(f"fitting {file} {n_fits} times"):
        return refit(
            estimator,
            data,
            n_fits,
            bootstrap=options["bootstrap"],
            **rules,
            random_state=options["seed"],
            n_jobs=options["jobs"] or -1,
        )


def _data(file: Path, method: str, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What is fitted, which is told; and of trials, which are drawn again, how they are counted."""
    from manymaps.cli.reading import counted, read_count_table, read_data, read_trials_or_none
    from manymaps.cli.report import reading_notes

    trials = None
    if method == OF_COUNTS:
        data: Any = read_count_table(file, options)
    else:
        # For new seeds alone norms are enough.
        trials = read_trials_or_none(file, options) if options["bootstrap"] else None
        data = read_data(file, options) if trials is None else counted(trials, options)
    for line in reading_notes(data):
        note(line)
    if trials is None:
        return data, {}
    return trials, {"responses": options["responses"], "rows": options["rows"] or ROW_SUMS[0]}


def _record(found: Stability, options: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    levels = {
        "observed": found.observed,
        "by_other_words": found.by_other_words,
        "by_dealing": found.by_dealing,
    }
    trust = found.trust()
    return {
        "n_fits": found.n_fits,
        "n_objects": found.atlases[0].n_objects,
        "n_senses": sum(len(one.maps) for one in found.senses),
        "reference": found.reference,
        "bootstrap": options["bootstrap"],
        "recurrence": {name: level.recurrence for name, level in levels.items()},
        "overlap": {name: level.overlap for name, level in levels.items()},
        "map_similarity": found.map_similarity,
        "map_similarity_by_chance": found.map_similarity_by_chance,
        "explained": _mean(trust.explained),
        "recurring": _mean(trust.recurring),
        "words": dict(zip(found.atlases[0].labels, found.word_recurrence.tolist(), strict=True)),
        "threshold": found.threshold,
        "seed": options["seed"],
        "seconds": seconds,
        "output": None if options["output"] is None else str(options["output"]),
        "plot": None if options["plot"] is None else str(options["plot"]),
    }  # fmt: skip


def _mean(shares: Any) -> float | None:
    """Of those that are known."""
    import numpy as np

    return float(np.nanmean(shares)) if np.isfinite(shares).any() else None


def _report(found: Stability, options: Mapping[str, Any], seconds: float) -> str:
    """What a person reads: how much recurs, what chance gives, and where it is best and worst."""
    output: Path | None = options["output"]
    table = plain_table()
    n_senses = sum(len(one.maps) for one in found.senses)
    for name, level, words in (
        ("senses that recur", found.observed, "in another fit, on average"),
        ("  of other words", found.by_other_words, "by chance: senses of words drawn by lot"),
        (
            "  dealt by lot",
            found.by_dealing,
            "by chance: a word's own neighbours, shuffled",
        ),
    ):
        table.add_row(name, f"{level.recurrence:.1%}", f"overlap {level.overlap:.3f}", words)
    table.add_row(
        "maps",
        "",
        f"overlap {found.map_similarity:.3f}",
        f"with the map that is matched; by chance {found.map_similarity_by_chance:.3f}",
    )
    trust = found.trust()
    if (recurring := _mean(trust.recurring)) is not None:
        nearest = f"of the {trust.n_neighbors} nearest are so in another fit"
        words = f"{nearest}; by chance {trust.by_chance:.1%}"
        table.add_row("neighbours", f"{recurring:.1%}", "", words)
    if (explained := _mean(trust.explained)) is not None:
        words = "of what was fitted of an object, by its places"
        table.add_row("explained", f"{explained:.1%}", "", words)
    best, worst = _extremes(found)
    if best:
        table.add_row("steadiest words", "", "", ", ".join(best))
        table.add_row("least steady", "", "", ", ".join(worst))
    atlas = found.atlases[0]
    told = f"{n_senses:,} senses of {atlas.n_objects:,} objects in {seconds:.0f} s"
    if output is None:
        return f"{found.n_fits} fits: {told}\n{rendered(table)}"
    others = found.n_fits - 1
    which = f"fit {found.reference} of {found.n_fits}, the one most like the others"
    if options["bootstrap"] is not None:
        which = f"the fit of the data, beside {others} of {options['bootstrap']} drawn again"
    further = shlex.join(["manymaps", "senses", str(output), best[0] if best else atlas.labels[0]])
    return f"{output}: {which}; {told}\n{rendered(table)}\nnext: {further}"


def _extremes(found: Stability) -> tuple[list[str], list[str]]:
    """Words of several senses whose senses overlap most and least over the fits."""
    import numpy as np

    several = np.flatnonzero(np.diff(found.senses[found.reference].offsets) > 1)
    order = several[np.argsort(-found.word_overlap[several], kind="stable")]
    labels = [shown(found.atlases[0].labels[i]) for i in order]
    count = min(LISTED, len(labels) // 2)
    return labels[:count], labels[::-1][:count]
