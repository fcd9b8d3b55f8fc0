"""The command line: `manymaps demo | inspect | fit | senses | plot | export`.

`manymaps.cli_contract` states the streams and exit codes; what a command needs is imported when it
runs, so that `manymaps --help` is quick.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli_contract import (
    Commands,
    InputFile,
    NotConverged,
    OutputFile,
    check_folder,
    emit,
    emit_json,
    note,
    quiet_option,
    shown,
)
from manymaps.cli_fit import METHODS, build, finite, run_fit, threads

if TYPE_CHECKING:
    from manymaps.associations import Associations
    from manymaps.atlas import Atlas

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line."""
    # Threads that wait by spinning lose a whole time slice at every barrier when another program
    # has their core. OpenMP reads this when it is loaded, so it is set before anything else.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal's encoding lacks is shown escaped instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="manymaps")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="manymaps", prog_name="manymaps", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Maps of similarities that no single map can hold.

    \b
    A first look:    manymaps demo
    With your data:  manymaps inspect norms.csv
                     manymaps fit norms.csv -o norms.atlas
                     manymaps senses norms.atlas tie
    """
    ctx.meta["manymaps.started"] = time.perf_counter()


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


READING = ("cue", "response", "strength", "format", "labels", "responses", "rows")

reading_options = _options(
    click.option("--cue", metavar="COLUMN", help="Column of cues, where not recognized."),
    click.option("--response", metavar="COLUMN", help="Column of responses."),
    click.option("--strength", metavar="COLUMN", help="Column of strengths or counts."),
    click.option("--format", metavar="NAME", help="How to read FILE, if not by its suffix."),
    click.option("--labels", type=InputFile(), help="Labels of a matrix, one a line."),
    click.option(
        "--responses",
        type=click.Choice(["drop", "keep"]),
        default="drop",
        show_default=True,
        help="Responses that are never cues.",
    ),
    click.option(
        "--rows",
        type=click.Choice(["renormalize", "keep"]),
        default="renormalize",
        show_default=True,
        help="Rows that do not sum to 1.",
    ),
)

positive = click.IntRange(min=1)

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    callback=threads,
    metavar="N",
    help="Threads; -1 for all.  [default: all]",
)

seed_option = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True
)

model_options = _options(
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="mm-tsne",
        show_default=True,
        help="The model.",
    ),
    click.option(
        "--maps", type=positive, metavar="N", help="Number of maps.  [default: 40; aspect-maps: 50]"
    ),
    click.option(
        "--dims", type=positive, metavar="N", help="Dimensions of each map.  [default: 2]"
    ),
    click.option(
        "--normalization",
        type=click.Choice(["conditional", "joint"]),
        help="Over each row, or over all pairs.",
    ),
    click.option(
        "--penalty",
        type=click.FloatRange(min=0),
        metavar="X",
        callback=finite,
        help="Weight of the maps' size; 0 lets them spread.",
    ),
    click.option(
        "--background",
        type=click.FloatRange(min=0, max=1, max_open=True),
        metavar="X",
        callback=finite,
        help="Share of similarity spread evenly.",
    ),
    click.option(
        "--perplexity",
        type=click.FloatRange(min=1),
        metavar="X",
        callback=finite,
        help="Neighbours of a vector; associations need none.",
    ),
    click.option("--iterations", type=positive, metavar="N", help="At most so many."),
    click.option(
        "--tolerance",
        type=click.FloatRange(min=0, min_open=True),
        metavar="X",
        callback=finite,
        help="Error allowed in the sums.",
    ),
    seed_option,
    jobs_option,
)

DEMO_WORD = "play"

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")

atlas_argument = click.argument("atlas", type=InputFile(), metavar="ATLAS")


@cli.command()
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("manymaps-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the results; made where it is missing.",
)
@seed_option
@jobs_option
@quiet_option
@json_option
@click.pass_context
def demo(ctx: click.Context, folder: Path, seed: int, jobs: int | None, as_json: bool) -> None:
    """Fit the word relations that come with the package.

    Writes DIR/demo.atlas and DIR/demo.png in about a minute, without a network.

    \b
    Example:  manymaps demo -o first-look
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder)
    except OSError as error:
        raise click.BadParameter(f"{folder}: cannot be written: {error.strerror}") from error
    from manymaps import load_word_relations, plot_senses, save_figure

    data = load_word_relations()
    note(f"the embedded word relations: {data.n_pairs:,} pairs of {data.n_objects:,} words")
    options = {"maps": 20, "seed": seed, "jobs": jobs, "iterations": 500}
    estimator = _run(build("mm-tsne", options), data, ctx)
    output, figure = folder / "demo.atlas", folder / "demo.png"
    estimator.atlas_.save(output)
    save_figure(plot_senses(estimator.atlas_, DEMO_WORD), figure)
    if as_json:
        emit_json({**_fit_record(ctx, estimator, data, "mm-tsne", output), "figure": str(figure)})
        return
    emit(f"{output}  the atlas\n{figure}    the maps of the word {DEMO_WORD}")
    emit(f"next: manymaps senses {output} bank\n      manymaps plot {output} -o {folder}/all.png")


@cli.command(name="inspect")
@click.argument("file", type=InputFile(), metavar="FILE")
@reading_options
@quiet_option
@json_option
def inspect_(file: Path, as_json: bool, **reading: Any) -> None:
    """Show what a fit would read from FILE.

    Associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue, response and
    strength, or a square matrix of similarities.

    \b
    Example:  manymaps inspect norms.tsv.gz
    """
    from manymaps.cli_report import inspection, inspection_record

    data = _read(file, reading)
    if as_json:
        emit_json(inspection_record(data))
    else:
        emit(inspection(data, _read(file, {**reading, "rows": "keep"}), file))


@cli.command()
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option("-o", "--output", type=OutputFile(), required=True, metavar="OUT.atlas")
@model_options
@reading_options
@click.option("--metadata", type=InputFile(), help="Table whose columns are joined by label.")
@click.option("--checkpoint", type=OutputFile(), help="Keep the state of the fit in this file.")
@click.option("--resume", type=InputFile(), help="Go on from a checkpoint.")
@click.option("--strict", is_flag=True, help="Exit with 4 where the fit has not converged.")
@quiet_option
@json_option
@click.pass_context
def fit(ctx: click.Context, file: Path, output: Path, as_json: bool, **options: Any) -> None:
    """Fit maps to FILE and write them to OUT.atlas.

    \b
    Examples:  manymaps fit norms.csv -o norms.atlas
               manymaps fit norms.csv -o norms.atlas --maps 20 --checkpoint norms.state
               manymaps fit norms.csv -o aspects.atlas --method aspect-maps
    """
    _refuse_overwriting({"FILE": file, "--metadata": options["metadata"]}, output, options)
    from manymaps.cli_report import reading_notes

    data = _read(file, {name: options[name] for name in READING})
    for line in reading_notes(data):
        note(line)
    metadata = _matching_metadata(options["metadata"], data)
    if options["perplexity"] is not None:
        note("--perplexity has no effect on associations")
    estimator = _run(build(options["method"], options), data, ctx)
    atlas: Atlas = estimator.atlas_
    if metadata is not None:
        atlas = atlas.add_metadata(metadata)
    atlas.save(output)
    record = _fit_record(ctx, estimator, data, options["method"], output)
    if as_json:
        emit_json(record)
    elif not ctx.meta["manymaps.quiet"]:
        emit(_fit_summary(record, _telling_word(atlas, data)))
    if options["strict"] and not estimator.converged_:
        raise NotConverged(
            f"not converged after {estimator.n_iter_} iterations; the atlas is in {output}; "
            "give more --iterations"
        )


def _read(file: Path, reading: dict[str, Any]) -> Associations:
    from manymaps import read_associations

    return read_associations(file, **reading)


def _refuse_overwriting(
    inputs: dict[str, Path | None], output: Path, options: dict[str, Any]
) -> None:
    outputs = {"-o": output, "--checkpoint": options["checkpoint"]}
    named = [(name, path.resolve()) for name, path in outputs.items() if path is not None]
    for name, path in named:
        for source, read in inputs.items():
            if read is not None and path == read.resolve():
                raise click.UsageError(f"{name} would overwrite {source}, {read}")
    if len({path for _, path in named}) < len(named):
        raise click.UsageError(f"-o and --checkpoint are the same file, {output}")


def _matching_metadata(path: Path | None, data: Associations) -> Any:
    """The table of a metadata file, once some of its labels are known to match."""
    if path is None:
        return None
    from manymaps.errors import DataError
    from manymaps.frames import join_columns, read_columns

    columns = read_columns(path)
    try:
        _, _, n_without = join_columns(data.labels, columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if n_without:
        note(f"{path}: {n_without:,} of {data.n_objects:,} objects have no row")
    return columns


def _run(estimator: Any, data: Associations, ctx: click.Context) -> Any:
    return run_fit(
        estimator,
        data,
        checkpoint=ctx.params.get("checkpoint"),
        resume=ctx.params.get("resume"),
        quiet=ctx.meta["manymaps.quiet"],
    )


def _fit_record(
    ctx: click.Context, estimator: Any, data: Associations, method: str, output: Path
) -> dict[str, Any]:
    atlas: Atlas = estimator.atlas_
    return {
        "method": method,
        "n_objects": data.n_objects,
        "n_pairs": data.n_pairs,
        "n_maps": atlas.n_maps,
        "n_components": atlas.n_components,
        "n_iterations": int(estimator.n_iter_),
        "kl_divergence": float(estimator.kl_divergence_),
        "converged": bool(estimator.converged_),
        "seconds": round(time.perf_counter() - ctx.meta["manymaps.started"], 3),
        "output": str(output),
    }


def _fit_summary(record: dict[str, Any], word: str) -> str:
    return (
        f"{record['output']}: {record['n_maps']} maps of {record['n_objects']:,} objects, "
        f"KL divergence {record['kl_divergence']:.4f} after {record['n_iterations']:,} iterations "
        f"in {record['seconds']:.0f} s\n"
        f"next: {shlex.join(['manymaps', 'senses', record['output'], word])}"
    )


def _telling_word(atlas: Atlas, data: Associations) -> str:
    """Of the words that are recalled most, the one that lives in most maps."""
    recalled = (-data.strengths.sum(axis=0)).argsort(kind="stable")[:50]
    plain = [i for i in recalled if shown(atlas.labels[i]) == atlas.labels[i]]
    n_maps = (atlas.proportions >= 0.1).sum(axis=0)
    return atlas.labels[max(plain or recalled, key=lambda i: n_maps[i])]


def _load(path: Path) -> Atlas:
    from manymaps import load_atlas

    return load_atlas(path)


@cli.command()
@atlas_argument
@click.argument("word")
@click.option(
    "--neighbors", type=positive, metavar="N", default=8, show_default=True, help="Listed per map."
)
@click.option(
    "--min-proportion",
    type=click.FloatRange(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out maps with less of the word.",
)
@json_option
def senses(atlas: Path, word: str, neighbors: int, min_proportion: float, as_json: bool) -> None:
    """List the maps of WORD, its share in each, and its neighbours there.

    \b
    Example:  manymaps senses norms.atlas tie
    """
    loaded = _load(atlas)
    found = loaded.senses(word, n_neighbors=neighbors, min_proportion=min_proportion)
    from manymaps.cli_report import senses_record, senses_table

    label = loaded.labels[loaded.index(word)]
    if as_json:
        emit_json(senses_record(label, found))
    else:
        emit(senses_table(label, found))


class MapNumbers(click.ParamType):
    """Map numbers with commas between them: 3,7."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        """The numbers, each at least 0."""
        parts = str(value).split(",")
        if not all(part.strip().isdecimal() for part in parts):
            self.fail(f"{value!r} is no list of map numbers such as 3,7", param, ctx)
        return [int(part) for part in parts]


@cli.command()
@atlas_argument
@click.option(
    "-o", "--output", type=OutputFile(".png", ".svg", ".pdf"), required=True, metavar="FILE"
)
@click.option("--map", "maps", type=MapNumbers(), metavar="3,7", help="These maps alone.")
@click.option("--word", help="The maps of this word, side by side.")
@click.option(
    "--min-proportion",
    type=click.FloatRange(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out objects with less of them in the map.",
)
@click.option("--color", metavar="COLUMN", help="Colour by a column of the metadata.")
@quiet_option
def plot(atlas: Path, output: Path, maps: list[int] | None, word: str | None, **style: Any) -> None:
    """Draw an atlas as PNG, SVG or PDF.

    \b
    Examples:  manymaps plot norms.atlas -o norms.png
               manymaps plot norms.atlas -o two.svg --map 3,7
               manymaps plot norms.atlas -o tie.pdf --word tie
    """
    if maps is not None and word is not None:
        raise click.UsageError("give --map or --word, not both")
    loaded = _load(atlas)
    _check_plot(loaded, maps, style["color"])
    from manymaps import plot_atlas, plot_map, plot_senses, save_figure

    if word is not None:
        figure = plot_senses(loaded, word, **style)
    elif maps is not None and len(maps) == 1:
        figure = plot_map(loaded, maps[0], **style)
    else:
        figure = plot_atlas(loaded, maps=maps, **style)
    save_figure(figure, output)
    note(f"{output}")


def _check_plot(atlas: Atlas, maps: list[int] | None, color: str | None) -> None:
    for number in maps or ():
        if number >= atlas.n_maps:
            raise click.BadParameter(
                f"there is no map {number}; maps are 0 to {atlas.n_maps - 1}", param_hint="--map"
            )
    if color is not None and color not in atlas.metadata:
        there = f"it has {', '.join(atlas.metadata)}" if atlas.metadata else "it has no metadata"
        raise click.BadParameter(
            f"the atlas has no column {color!r}; {there}", param_hint="--color"
        )


@cli.command()
@atlas_argument
@click.option(
    "-o",
    "--output",
    type=OutputFile(".csv", ".parquet", ".graphml"),
    required=True,
    metavar="FILE",
)
@quiet_option
def export(atlas: Path, output: Path) -> None:
    """Write an atlas as a table (CSV, Parquet) or a graph (GraphML).

    The table has a row per object and map; the graph an edge from each object to the ten most
    similar ones.

    \b
    Example:  manymaps export norms.atlas -o norms.csv
    """
    from manymaps.export import export_atlas

    export_atlas(_load(atlas), output)
    note(f"{output}")
