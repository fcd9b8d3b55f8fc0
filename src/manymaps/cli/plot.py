"""The command `plot`, which draws an atlas as a figure in a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

import manymaps as mm
from manymaps.cli.contract import note
from manymaps.cli.options import Width, atlas_argument, refuse, width_option
from manymaps.cli.record import chosen, command, option, output_option
from manymaps.cli.types import InputFile, Number, Several, Whole, figure_file

map_numbers = Several(Whole(0), "map number; use numbers such as 3,7", distinct=False)


@dataclass(frozen=True, kw_only=True)
class PlotOptions:
    """Options of the command `plot`."""

    atlas: Path = atlas_argument()
    output: Path = output_option(
        "OUT.png", figure_file, "Write the figure to this file (.png, .svg, .pdf)."
    )
    maps: tuple[int, ...] | None = option(
        map_numbers, "Draw only these maps.", "--map", metavar="3,7"
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
    maps, words, kind = options.maps, options.words, options.kind
    refuse(
        (maps is not None and words, "--map and --word cannot be combined"),
        (not (kind is None or words), "--kind requires --word"),
        (words and options.label is not None, "--label cannot be combined with --word"),
    )
    atlas = mm.load_atlas(options.atlas)
    one_map = atlas.n_maps == 1 if maps is None else len(maps) == 1
    if options.metadata is not None:
        from manymaps.cli.reading import with_columns

        atlas = with_columns(atlas, options.metadata, [options.color] if options.color else [])
    _check_known("color", "column", options.color, atlas.columns)
    _check_known("label", "kind", options.label, dict.fromkeys(atlas.kinds or ()))

    style = chosen(options, "min_weight", "size", "max_labels", "font_size", "color")
    first = maps[0] if maps else 0
    if words:
        if atlas.kinds is not None or kind is not None:
            from manymaps.cli.reading import kind_of_word

            for word in words:
                kind_of_word(atlas, word, kind, None)
        figure = mm.plot_senses(atlas, words, kind=kind, width=options.width, **style)
    elif one_map:
        figure = mm.plot_map(atlas, first, label=options.label, width=options.width, **style)
    else:
        figure = mm.plot_atlas(atlas, maps=maps, label=options.label, width=options.width, **style)
    mm.save_figure(figure, options.output)
    note(f"{options.output}")


def _check_known(option: str, what: str, value: str | None, known: Iterable[str]) -> None:
    """Reject a column or kind that the atlas does not contain."""
    if value is not None and value not in known:
        there = f"it has {', '.join(known)}" if list(known) else "it has no such names"
        raise click.BadParameter(
            f"the atlas has no {what} {value!r}; {there}", param_hint=f"--{option}"
        )
