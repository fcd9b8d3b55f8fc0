"""The command `spread`: where activation goes from words along their associations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    BadData,
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
from manymaps.cli.options import json_option, pair_options
from manymaps.cli.types import InputFile, Number, OutputFile, positive

if TYPE_CHECKING:
    from manymaps.data.associations import Associations
    from manymaps.prediction.spreading import Activation

__all__ = ["spread"]

_MODEL = ("steps", "decay", "retention", "backward", "power")


@click.command(cls=Command)
@click.argument("file", type=InputFile(), metavar="FILE")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option(
    "--steps",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=4,
    show_default=True,
)
@click.option(
    "--decay",
    type=Number(0, 1, min_open=True),
    metavar="X",
    default=0.75,
    show_default=True,
    help="What a step leaves of all activation.",
)
@click.option(
    "--retention",
    type=Number(0, 1, max_open=True),
    metavar="X",
    default=0.0,
    show_default=True,
    help="The share that a word keeps in each step.",
)
@click.option(
    "--backward",
    type=Number(0, 1),
    metavar="X",
    default=0.0,
    show_default=True,
    help="Weight of associations against their direction.",
)
@click.option(
    "--power",
    type=Number(0, min_open=True),
    metavar="X",
    default=1.0,
    show_default=True,
    help="Of the strengths; below 1 weak ones come nearer to strong ones.",
)
@click.option(
    "--top",
    type=positive,
    metavar="N",
    default=20,
    show_default=True,
    help="Words to list.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(".csv", ".parquet"),
    metavar="OUT.csv",
    help="All words, with their activation after each step.",
)
@pair_options
@quiet_option
@json_option
def spread(
    file: Path,
    words: Sequence[str],
    top: int,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Spread activation from WORD along the associations of FILE.

    In each step every word gives its activation to its associates, by their strengths. Listed are
    the words that got most in all steps together, with what they had after each. Several words
    begin with equal shares.

    \b
    Examples:  manymaps spread norms.tsv dog
               manymaps spread norms.tsv bank river --steps 6 --retention 0.5 --decay 1
               manymaps spread net.graphml dog -o activation.csv
    """
    refuse_overwriting({"-o": output}, {"FILE": file})
    from manymaps.atlas.export import write_columns
    from manymaps.cli.reading import read_data
    from manymaps.data.associations import Associations
    from manymaps.prediction.spreading import spread as spread_activation

    model = {name: options.pop(name) for name in _MODEL}
    data = read_data(file, options)
    if not isinstance(data, Associations):
        raise BadData(
            f"{file}: these are vectors, along which nothing spreads; give associations, or say "
            "how they are read with --format"
        )
    found = spread_activation(data, words, **model)
    if output is not None:
        write_columns(found.columns, output)
    _note_dead_ends(data, found)
    tell(
        lambda: _record(found, model, top, output),
        lambda: _table(found, top),
        as_json=as_json,
        files=[output],
    )


def _note_dead_ends(data: Associations, found: Activation) -> None:
    """Say which of the start words lead nowhere."""
    if not found.total.any():
        words = ", ".join(map(shown, found.start))
        note(f"nothing spreads: {words} recalls nothing that is kept (--backward X goes backwards)")


def _record(
    found: Activation, model: dict[str, Any], top: int, output: Path | None
) -> dict[str, Any]:
    return {
        "words": list(found.start),
        **model,
        "n_objects": len(found.labels),
        "n_reached": int((found.total > 0).sum()),
        "returned": found.returned,
        "activated": [
            {"label": label, "total": amount, "by_step": steps.tolist()}
            for label, amount, steps in found.strongest(top)
        ],
        "output": None if output is None else str(output),
        "seconds": elapsed(),
    }


def _table(found: Activation, top: int) -> str:
    table = plain_table()
    n_steps = len(found.by_step) - 1
    table.add_row("", "total", *(f"step {t}" for t in range(1, n_steps + 1)))
    for column in table.columns[1:]:
        column.justify = "right"
    for label, amount, steps in found.strongest(top):
        table.add_row(shown(label), _amount(amount), *map(_amount, steps))
    reached = int((found.total > 0).sum())
    return "\n".join(
        [
            f"from {', '.join(map(shown, found.start))}: {reached:,} of {len(found.labels):,} "
            f"words reached, {_amount(found.returned)} came back",
            rendered(table),
        ]
    )


def _amount(value: float) -> str:
    return "-" if value == 0 else f"{value:.4f}" if value >= 5e-5 else "<.0001"
