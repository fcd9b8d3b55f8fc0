"""The command `demo`, which fits and draws word associations that are included in the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import manymaps as mm
from manymaps.cli.contract import next_step, note, tell
from manymaps.cli.fit import fit_record
from manymaps.cli.interruption import run_fit
from manymaps.cli.options import Running, estimator_from
from manymaps.cli.record import command, group, option

DEMO_WORD = "bank"
EXAMPLES = ("ring", "bow", "court", "pitch")
DESCRIPTION = (
    "Two words are near each other if a language model gives one in response to the other. A word "
    "appears on several maps, once per sense."
)


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options of the command `demo`."""

    folder: Path = option(
        click.Path(path_type=Path, file_okay=False),
        "Write the results to this folder, which is created if it does not exist.",
        "-o", "--output", default=Path("manymaps-demo"), metavar="DIR",
    )  # fmt: skip
    running: Running = group(Running)


@command(DemoOptions)
def demo(options: DemoOptions) -> None:
    """Fit maps to the word associations in the package.

    The command writes DIR/demo.atlas, DIR/demo.html (a page for exploring the maps) and
    DIR/demo.png in about half a minute. No network connection is needed.

    \b
    Example:  manymaps demo -o first-look
    """
    folder = options.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(f"{folder}: cannot be written: {error.strerror}") from error

    data = mm.load_word_associations()
    note(f"{data.report.source}: {data.n_pairs:,} pairs of {data.n_objects:,} words")
    estimator = estimator_from("MultipleMapsTSNE", "demo", options.running, n_maps=20, max_iter=300)
    output, page, figure = (folder / f"demo.{suffix}" for suffix in ("atlas", "html", "png"))
    run_fit(estimator, data, "the word associations", output)
    estimator.atlas_.save(output)
    mm.write_page(
        estimator.atlas_, page, title="Associations of English words", noun="word",
        description=DESCRIPTION, source="LLM World of Words (Mistral norms, excerpt), CC BY 4.0",
        credit="K. Abramski, R. Improta, G. Rossetti, M. Stella", date="2025", examples=EXAMPLES,
    )  # fmt: skip
    mm.save_figure(mm.plot_senses(estimator.atlas_, DEMO_WORD), figure)
    record = fit_record(estimator, data, "mm-tsne", output)
    tell(
        lambda: {**record, "page": str(page), "figure": str(figure)},
        lambda: (
            f"{output}  the atlas\n{figure}    the maps of the word {DEMO_WORD}\n"
            f"{page}   the page: open it in a browser and search for {DEMO_WORD}\n"
            f"{next_step('senses', output, 'bank')}"
        ),
    )
