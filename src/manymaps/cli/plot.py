"""The command `plot`, which draws an atlas as a figure in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import manymaps as mm
from manymaps.cli.contract import note
from manymaps.cli.options import Width, atlas_argument, opened_atlas, refuse, width_option
from manymaps.cli.record import chosen, command, option, output_option
from manymaps.cli.types import InputFile, Several, Whole, figure_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    word: str | None = option("WORD", "Draw the senses of a word side by side.")
    kind: str | None = option(
        "NAME", "Kind of the objects in --word, such as document (bipartite atlases only)."
    )
    color: str | None = option("COLUMN", "Metadata column or gene that colours the dots.")
    metadata: Path | None = option(
        InputFile(),
        "Add the columns of this table for --color, matched by label; an .h5ad file also provides "
        "genes.",
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
    atlas, maps, word = opened_atlas(options), options.maps, options.word
    refuse(
        (maps is not None and word, "--map and --word cannot be combined"),
        (options.kind is not None and not word, "--kind requires --word"),
    )
    style = chosen(options, "color", "width")
    figure: Figure | list[Figure]
    if word:
        figure = mm.plot_senses(atlas, word, kind=options.kind, **style)
    elif len(maps or range(atlas.n_maps)) == 1:
        figure = mm.plot_map(atlas, maps[0] if maps else 0, **style)
    else:
        figure = mm.plot_atlas(atlas, maps=maps, **style)
    for path in mm.save_figure(figure, options.output):
        note(f"{path}")
