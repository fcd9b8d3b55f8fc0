"""The command `spread`, which spreads activation from words along their associations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, note, shown, tell
from manymaps.cli.options import PairReading, output_names
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, Whole, positive


@dataclass(frozen=True, kw_only=True)
class SpreadOptions:
    """Options of the command `spread`."""

    file: Path = argument("FILE", InputFile())
    words: tuple[str, ...] = argument("WORD...", str, nargs=-1, required=True)
    steps: int = option(Whole(1, 1000), "Number of steps.", default=4)
    decay: float = option(
        Number(0, 1, min_open=True),
        "Factor by which all activation is multiplied in each step.",
        default=0.75,
    )
    retention: float = option(
        Number(0, 1, max_open=True), "Share of its activation that a word retains in each step.",
        default=0.0,
    )  # fmt: skip
    backward: float = option(
        Number(0, 1), "Weight of associations in the reverse direction.", default=0.0
    )
    power: float = option(
        Number(0, min_open=True),
        "Exponent of the strengths; below 1, strong associations lose weight.",
        default=1.0,
    )  # fmt: skip
    top: int = option(positive, "Number of words to list.", default=20)
    output: Path | None = output_option(
        "OUT.csv",
        OutputFile(".csv", ".parquet"),
        "Write a table of all words with their activation after each step.",
        required=False,
    )
    reading: PairReading = group(PairReading)


@command(SpreadOptions)
def spread(options: SpreadOptions) -> None:
    """Spread activation from WORD along the associations of FILE.

    In each step, every word passes its activation to its associates in proportion to their
    strengths. The list contains the words that receive the most activation in all steps, with their
    activation after each step. Several words start with equal activation.

    \b
    Examples:  manymaps spread norms.tsv dog
               manymaps spread norms.tsv bank river --steps 6 --retention 0.5 --decay 1
               manymaps spread net.graphml dog -o activation.csv
    """
    from manymaps.atlas.export import write_columns
    from manymaps.cli.reading import read_pairs

    model = chosen(options, "steps", "decay", "retention", "backward", "power")
    data = read_pairs(options.file, options.reading)
    activation = mm.spread(data, options.words, **model)
    if options.output is not None:
        write_columns(activation.columns, options.output)
    if not activation.total.any():
        words = ", ".join(map(shown, activation.start))
        note(f"no activation spreads: {words} has no associates in FILE (try --backward X)")
    tell(
        lambda: {
            "words": list(activation.start),
            **model,
            "n_objects": len(activation.labels),
            "n_reached": int((activation.total > 0).sum()),
            "returned": activation.returned,
            "activated": [
                {"label": label, "total": amount, "by_step": steps.tolist()}
                for label, amount, steps in activation.strongest(options.top)
            ],
            **output_names(options, "output"),
            "seconds": elapsed(),
        },
        lambda: _table(activation, options.top),
        files=[options.output],
    )


def _table(activation: mm.Activation, top: int) -> str:
    steps = (f"step {t}" for t in range(1, len(activation.by_step)))
    rows = [
        (shown(label), _amount(amount), *map(_amount, by_step))
        for label, amount, by_step in activation.strongest(top)
    ]
    return (
        f"from {', '.join(map(shown, activation.start))}: {(activation.total > 0).sum():,} of "
        f"{len(activation.labels):,} words reached, {_amount(activation.returned)} returned\n"
        + grid([("", "total", *steps), *rows], right=True)
    )


def _amount(value: float) -> str:
    return "-" if value == 0 else f"{value:.4f}" if value >= 5e-5 else "<.0001"
