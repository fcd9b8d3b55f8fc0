"""The command line: the group, and `manymaps demo | inspect | senses | plot | export`.

`manymaps.cli.contract` states the streams and exit codes; what a command needs is imported when it
runs, so that `manymaps --help` is quick.
"""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.cluster import cluster
from manymaps.cli.contract import (
    Commands,
    InputFile,
    OutputFile,
    as_options,
    check_folder,
    emit,
    emit_json,
    note,
    quiet_option,
)
from manymaps.cli.count import count
from manymaps.cli.diagnose import diagnose
from manymaps.cli.evaluate import evaluate
from manymaps.cli.fit import build, fit, fit_record, run_fit
from manymaps.cli.insert import insert
from manymaps.cli.options import (
    atlas_argument,
    jobs_option,
    json_option,
    positive,
    reading_options,
    refuse_given,
    seed_option,
)
from manymaps.cli.predict import predict
from manymaps.cli.stability import stability
from manymaps.cli.sweep import sweep
from manymaps.cli.view import view

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas

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
                     manymaps diagnose norms.csv
                     manymaps fit norms.csv -o norms.atlas
                     manymaps senses norms.atlas tie
                     manymaps view norms.atlas -o norms.html
    How many maps:   manymaps predict norms.csv --maps 2 --dims 35
                     manymaps sweep norms.csv --maps 1,2,5 --dims 2,10,35 -o sweep.csv
    With vectors:    manymaps fit glove.txt -o words.atlas --method tsne --words nouns.txt
                     manymaps insert words.atlas new.txt -o more.atlas
                     manymaps evaluate more.atlas glove.txt
    With texts:      manymaps count posts.jsonl -o counts.npz --max-words 2000
                     manymaps fit counts.npz -o posts.atlas --method code
    With judgements: manymaps cluster judged.csv --clusters 8
    """
    ctx.meta["manymaps.started"] = time.perf_counter()


DEMO_WORD = "play"


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

    Writes DIR/demo.atlas, DIR/demo.html (the page to look words up in) and DIR/demo.png in about a
    minute, without a network.

    \b
    Example:  manymaps demo -o first-look
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder)
    except OSError as error:
        raise click.BadParameter(f"{folder}: cannot be written: {error.strerror}") from error
    from manymaps import load_word_relations, plot_senses, save_figure, write_page

    data = load_word_relations()
    note(f"the embedded word relations: {data.n_pairs:,} pairs of {data.n_objects:,} words")
    options = {"maps": 20, "seed": seed, "jobs": jobs, "iterations": 500}
    estimator = build("mm-tsne", options)
    n_pairs = run_fit(estimator, data, ctx)
    output, page, figure = (folder / f"demo.{suffix}" for suffix in ("atlas", "html", "png"))
    estimator.atlas_.save(output)
    write_page(estimator.atlas_, page, title="Relations of English words")
    save_figure(plot_senses(estimator.atlas_, DEMO_WORD), figure)
    if as_json:
        record = fit_record(ctx, estimator, n_pairs, "mm-tsne", output)
        emit_json({**record, "page": str(page), "figure": str(figure)})
        return
    emit(f"{output}  the atlas\n{figure}    the maps of the word {DEMO_WORD}")
    emit(f"{page}   the page: open it in a browser and look up {DEMO_WORD}")
    emit(f"next: manymaps senses {output} bank\n      manymaps plot {output} -o {folder}/all.png")


@cli.command(name="inspect")
@click.argument("file", type=InputFile(), metavar="FILE")
@reading_options
@quiet_option
@json_option
def inspect_(file: Path, as_json: bool, **reading: Any) -> None:
    """Show what a fit would read from FILE.

    Associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue, response and
    strength; a square matrix of similarities; vectors (word2vec, GloVe, fastText, NPY, NPZ, tables
    with a column of labels, .h5ad); or counts of two kinds of object (document, word, count; a
    table of sites and species; NPZ, MatrixMarket, .h5ad).

    \b
    Examples:  manymaps inspect norms.tsv.gz
               manymaps inspect visits.csv --rows site --columns bird --count seen
    """
    from manymaps.cli.reading import holds_counts, read_data
    from manymaps.cli.report import inspection, inspection_record, vector_inspection
    from manymaps.data.associations import Associations

    if holds_counts(file, reading):
        _inspect_counts(file, as_json, reading)
        return
    data = read_data(file, reading)
    if as_json:
        emit_json(inspection_record(data))
    elif isinstance(data, Associations):
        as_written = read_data(file, {**reading, "rows": "keep"})
        assert isinstance(as_written, Associations)
        emit(inspection(data, as_written, file))
    else:
        emit(vector_inspection(data, file))


def _inspect_counts(file: Path, as_json: bool, reading: dict[str, Any]) -> None:
    from manymaps.cli.reading import read_count_table
    from manymaps.cli.report import count_inspection, inspection_record
    from manymaps.data.counts import looks_transposed

    refuse_given(
        click.get_current_context(), ("cue", "response", "strength", "labels", "responses"),
        f"the counts of {file}",
    )  # fmt: skip
    counts = read_count_table(file, reading)
    hint = looks_transposed(counts)
    if as_json:
        emit_json(inspection_record(counts, hint))
        return
    stem = file.name.split(".")[0] or "out"
    further = ["manymaps", "fit", str(file), "-o", f"{stem}.atlas", "--method", "code"]
    for name in ("format", "rows", "columns", "count"):
        if reading[name] is not None:
            further += [f"--{name}", reading[name]]
    if hint is not None:
        further += ["--given", "columns"]
    emit(count_inspection(counts, further, None if hint is None else as_options(hint)))


cli.add_command(diagnose)
cli.add_command(predict)
cli.add_command(sweep)
cli.add_command(count)
cli.add_command(fit)


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
@click.option("--kind", metavar="NAME", help="Of two kinds of object, that of WORD.")
@click.option(
    "--neighbor-kind",
    metavar="NAME",
    help="That of the neighbours.  [default: the other than WORD's]",
)
@quiet_option
@json_option
def senses(
    atlas: Path,
    word: str,
    neighbors: int,
    min_proportion: float,
    kind: str | None,
    neighbor_kind: str | None,
    as_json: bool,
) -> None:
    """List the maps of WORD, its share in each, and its neighbours there.

    Of an atlas that `manymaps stability` wrote, also how many of the fits have each sense, and the
    senses that other fits found.

    \b
    Examples:  manymaps senses norms.atlas tie
               manymaps senses posts.atlas orbit --neighbor-kind word
    """
    loaded = _load(atlas)
    kind = _kind_of_word(loaded, word, kind, neighbor_kind)
    found = loaded.senses(
        word,
        n_neighbors=neighbors,
        min_proportion=min_proportion,
        kind=kind,
        neighbor_kind=neighbor_kind,
    )
    from manymaps.cli.report import senses_record, senses_table

    label = loaded.labels[loaded.index(word, kind=kind)]
    elsewhere = loaded.senses_elsewhere(word, kind=kind)
    n_fits = None if loaded.consensus is None else loaded.consensus.n_fits
    if as_json:
        emit_json(senses_record(label, found, kind, elsewhere, n_fits))
    else:
        emit(senses_table(label, found, elsewhere, n_fits))


def _kind_of_word(
    atlas: Atlas, word: str, kind: str | None, neighbor_kind: str | None = None
) -> str | None:
    """The kind of object that is meant; None where all are of one kind."""
    if atlas.kinds is None and kind is None and neighbor_kind is None:
        return None
    from manymaps.cli.reading import kind_of_word

    return kind_of_word(atlas, word, kind, neighbor_kind)


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
@click.option("--kind", metavar="NAME", help="Of two kinds of object, that of --word.")
@click.option(
    "--min-proportion",
    type=click.FloatRange(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out objects with less of them in the map.",
)
@click.option("--color", metavar="COLUMN", help="Colour by a column of the metadata.")
@click.option("--label", metavar="KIND", help="Of two kinds of object, the one that has labels.")
@click.option(
    "--zoom",
    is_flag=False,
    flag_value="",
    metavar="[WORD,...]",
    help="Of two kinds of object: enlarge what is round these (crowded places by themselves).",
)
@quiet_option
def plot(
    atlas: Path,
    output: Path,
    maps: list[int] | None,
    word: str | None,
    kind: str | None,
    zoom: str | None,
    **style: Any,
) -> None:
    """Draw an atlas as PNG, SVG or PDF.

    \b
    Examples:  manymaps plot norms.atlas -o norms.png
               manymaps plot norms.atlas -o two.svg --map 3,7
               manymaps plot norms.atlas -o tie.pdf --word tie
               manymaps plot posts.atlas -o posts.png --color group --zoom
    """
    if maps is not None and word is not None:
        raise click.UsageError("give --map or --word, not both")
    if kind is not None and word is None:
        raise click.UsageError("--kind needs --word")
    if word is not None and (zoom is not None or style["label"] is not None):
        raise click.UsageError("--zoom and --label do not go with --word")
    if zoom is not None and maps is not None and len(maps) > 1:
        raise click.UsageError("--zoom is of one map; give one number after --map")
    loaded = _load(atlas)
    _check_plot(loaded, maps, style["color"])
    if style["label"] is not None and style["label"] not in (loaded.kinds or ()):
        there = f"its kinds are {' and '.join(dict.fromkeys(loaded.kinds or ()))}"
        raise click.BadParameter(
            f"the atlas has no kind {style['label']!r}; "
            f"{there if loaded.kinds else 'its objects are all of one kind'}",
            param_hint="--label",
        )
    from manymaps import plot_atlas, plot_map, plot_senses, plot_zooms, save_figure

    if word is not None:
        kind = _kind_of_word(loaded, word, kind)
        del style["label"]
        figure = plot_senses(loaded, word, kind=kind, **style)
    elif zoom is not None:
        places = [place.strip() for place in zoom.split(",") if place.strip()]
        figure = plot_zooms(loaded, places or None, map=maps[0] if maps else 0, **style)
    elif loaded.n_maps == 1 or (maps is not None and len(maps) == 1):
        figure = plot_map(loaded, maps[0] if maps else 0, **style)
    else:
        figure = plot_atlas(loaded, maps=maps, **style)
    save_figure(figure, output)
    note(f"{output}")


cli.add_command(insert)
cli.add_command(evaluate)
cli.add_command(cluster)
cli.add_command(stability)
cli.add_command(view)


def _check_plot(atlas: Atlas, maps: list[int] | None, color: str | None) -> None:
    for number in maps or ():
        if number >= atlas.n_maps:
            raise click.BadParameter(
                f"there is no map {number}; maps are 0 to {atlas.n_maps - 1}", param_hint="--map"
            )
    if color is not None and color not in atlas.columns:
        there = f"it has {', '.join(atlas.columns)}" if atlas.columns else "it has no metadata"
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
    from manymaps.atlas.export import export_atlas

    export_atlas(_load(atlas), output)
    note(f"{output}")
