"""The command `plot`: an atlas as a figure in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import Command, note, quiet_option
from manymaps.cli.options import atlas_argument
from manymaps.cli.types import Number, OutputFile, Several

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Atlas

__all__ = ["plot"]

map_numbers = Several(
    click.IntRange(min=0), "number of a map; give some such as 3,7", distinct=False
)


@click.command(cls=Command)
@atlas_argument
@click.option(
    "-o", "--output", type=OutputFile(".png", ".svg", ".pdf"), required=True, metavar="OUT.png"
)
@click.option("--map", "maps", type=map_numbers, metavar="3,7", help="These maps alone.")
@click.option(
    "--word", "words", multiple=True, help="The senses of this word, side by side; also of several."
)
@click.option("--kind", metavar="NAME", help="Of two kinds of object, that of --word.")
@click.option(
    "--min-recall",
    "--min-proportion",
    "min_recall",
    type=Number(0, 1),
    metavar="X",
    default=0.1,
    show_default=True,
    help="Leave out objects to whose recall the map gives less; both names say the same.",
)
@click.option(
    "--max-labels",
    type=click.IntRange(min=0),
    metavar="N",
    help="No more labels a map.  [default: all of 40 dots or fewer, else those with room]",
)
@click.option(
    "--font-size",
    type=Number(1, 200),
    metavar="POINTS",
    help="Of the largest labels; smaller ones keep their ratio.",
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
    maps: Sequence[int] | None,
    words: Sequence[str],
    kind: str | None,
    zoom: str | None,
    **style: Any,
) -> None:
    """Draw an atlas as PNG, SVG or PDF.

    \b
    Examples:  manymaps plot norms.atlas -o norms.png
               manymaps plot norms.atlas -o two.svg --map 3,7
               manymaps plot norms.atlas -o tie.pdf --word tie --word bow
               manymaps plot posts.atlas -o posts.png --color group --zoom
    """
    if maps is not None and words:
        raise click.UsageError("give --map or --word, not both")
    if kind is not None and not words:
        raise click.UsageError("--kind needs --word")
    if words and (zoom is not None or style["label"] is not None):
        raise click.UsageError("--zoom and --label do not go with --word")
    if zoom is not None and maps is not None and len(maps) > 1:
        raise click.UsageError("--zoom is of one map; give one number after --map")
    from manymaps.atlas.atlas import load_atlas

    loaded = load_atlas(atlas)
    if zoom is not None and loaded.kinds is None:
        raise click.UsageError("--zoom is for atlases of two kinds of object; this one has one")
    _check_color(loaded, style["color"])
    if style["label"] is not None and style["label"] not in (loaded.kinds or ()):
        there = f"its kinds are {' and '.join(dict.fromkeys(loaded.kinds or ()))}"
        raise click.BadParameter(
            f"the atlas has no kind {style['label']!r}; "
            f"{there if loaded.kinds else 'its objects are all of one kind'}",
            param_hint="--label",
        )
    from manymaps import plot_atlas, plot_map, plot_senses, plot_zooms, save_figure

    if words:
        if loaded.kinds is not None or kind is not None:
            from manymaps.cli.reading import kind_of_word

            for word in words:
                kind_of_word(loaded, word, kind, None)
        del style["label"]
        figure = plot_senses(loaded, words, kind=kind, **style)
    elif zoom is not None:
        places = [place.strip() for place in zoom.split(",") if place.strip()]
        figure = plot_zooms(loaded, places or None, map=maps[0] if maps else 0, **style)
    elif loaded.n_maps == 1 or (maps is not None and len(maps) == 1):
        figure = plot_map(loaded, maps[0] if maps else 0, **style)
    else:
        figure = plot_atlas(loaded, maps=maps, **style)
    save_figure(figure, output)
    note(f"{output}")


def _check_color(atlas: Atlas, color: str | None) -> None:
    if color is not None and color not in atlas.columns:
        there = f"it has {', '.join(atlas.columns)}" if atlas.columns else "it has no metadata"
        raise click.BadParameter(
            f"the atlas has no column {color!r}; {there}", param_hint="--color"
        )
