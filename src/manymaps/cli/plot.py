"""The command `plot`, which draws an atlas as a figure in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import note
from manymaps.cli.options import Width, atlas_argument, refuse, width_option
from manymaps.cli.record import chosen, command, option, output_option
from manymaps.cli.types import InputFile, Number, Several, Whole, figure_file


@dataclass(frozen=True, kw_only=True)
class PlotOptions:
    """Options of the command `plot`."""

    atlas: Path = atlas_argument()
    output: Path = output_option(
        "OUT.png", figure_file, "Write the figure to this file (.png, .svg, .pdf)."
    )
    maps: tuple[int, ...] | None = option(
        Several(Whole(0)), "Draw only these maps.", "--map", metavar="3,7"
    )
    words: tuple[str, ...] = option(
        "WORD", "Draw the senses of a word side by side; can be repeated.", "--word", multiple=True
    )
    kind: str | None = option(
        "NAME",
        "Kind of the objects in --word, such as document (bipartite atlases only).",
    )
    min_weight: float = option(
        Number(0, 1),
        "Omit an object from maps in which the quantity of --size is smaller.",
        default=0.1,
    )
    size: str = option(
        ["weight", "proportion"],
        "Draw the map weight or the mixing proportion of an object as the area of its dot.",
        default="weight",
    )
    max_labels: int | None = option(
        Whole(0),
        "Maximum number of labels per map.  [default: all labels of up to 40 dots, else those "
        "that fit]",
    )
    font_size: float | None = option(
        Number(1, 200), "Font size of the largest labels; smaller labels are scaled in proportion.",
        metavar="POINTS",
    )  # fmt: skip
    color: str | None = option("COLUMN", "Metadata column or gene that colours the dots.")
    metadata: Path | None = option(
        InputFile(),
        "Add the columns of this table for --color, matched by label; an .h5ad file also provides "
        "genes.",
    )
    label: str | None = option(
        "KIND", "Label only objects of this kind, such as word (bipartite atlases only)."
    )
    width: Width | None = width_option()


@command(PlotOptions, json=False)
def plot(options: PlotOptions) -> None:
    """Draw an atlas as PNG, SVG or PDF.

    \b
    Examples:  manymaps plot norms.atlas -o norms.png
               manymaps plot norms.atlas -o two.svg --map 3,7
               manymaps plot norms.atlas -o tie.pdf --word tie --width column
               manymaps plot posts.atlas -o posts.png --color group

    \b
    Other data: manymaps plot cells.atlas -o cells.png --metadata cells.h5ad --color CD8A
    """
    atlas, maps, words = mm.load_atlas(options.atlas), options.maps, options.words
    refuse(
        (maps is not None and words, "--map and --word cannot be combined"),
        (options.kind is not None and not words, "--kind requires --word"),
        (words and options.label is not None, "--label cannot be combined with --word"),
    )
    if options.metadata is not None:
        from manymaps.io.metadata import read_columns

        genes = [] if options.color is None else [options.color]
        atlas = atlas.add_metadata(read_columns(options.metadata, genes))
    style = chosen(options, "min_weight", "max_labels", "font_size", "color", "size", "width")
    if words:
        figure = mm.plot_senses(atlas, words, kind=options.kind, **style)
    elif len(maps or range(atlas.n_maps)) == 1:
        figure = mm.plot_map(atlas, maps[0] if maps else 0, label=options.label, **style)
    else:
        figure = mm.plot_atlas(atlas, maps=maps, label=options.label, **style)
    mm.save_figure(figure, options.output)
    note(f"{options.output}")
