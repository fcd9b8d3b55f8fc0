"""Write paper.md from template.md with the numbers in docs/results, and draw its figure.

    python paper/build.py            paper.md
    python paper/build.py --figure   paper.md and bow.png, from a fit of the demo's words
    python paper/build.py --check    fail if paper.md is not current

Each file in docs/results names the command that wrote it. Numbers are cells of its tables, found by
the first cells of their row and the name of their column.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "docs" / "results"

#: Name in the template: file, first cells of the row, column.
NUMBERS = {
    "one_map": ("maaten_prediction", ("1 x 70",), "test"),
    "two_maps": ("maaten_prediction", ("2 x 35",), "test"),
    "ten_small": ("many_small_maps", ("2", "10"), "test"),
    "forty_small": ("many_small_maps", ("2", "40"), "test"),
    "meanings": ("homonyms", ("meanings",), "F"),
    "meanings_clear": ("homonyms", ("meanings",), "F3"),
    "one_cluster": ("homonyms", ("one cluster",), "F"),
    "one_cluster_clear": ("homonyms", ("one cluster",), "F3"),
    "rater": ("homonyms", ("rater1",), "F"),
    "priming_maps": ("validation_priming", ("backward similarity, mm-tsne, 40 maps",), "r, 200 ms"),
    "priming_ranks": ("validation_priming", ("ranked backward strength",), "r, 200 ms"),
    "seconds": ("tsne", ("70,000", "manymaps"), "total, s"),
    "kl": ("tsne", ("70,000", "manymaps"), "KL"),
    "opentsne_seconds": ("tsne", ("70,000", "openTSNE"), "total, s"),
    "opentsne_kl": ("tsne", ("70,000", "openTSNE"), "KL"),
    "intelex_seconds": ("tsne", ("70,000", "scikit-learn-intelex"), "total, s"),
    "intelex_kl": ("tsne", ("70,000", "scikit-learn-intelex"), "KL"),
}


def cell(name: str, row: tuple[str, ...], column: str) -> str:
    """Return a cell of a table in docs/results; the row begins with the texts in `row`."""
    header: list[str] = []
    for line in (RESULTS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        cells = [part.strip() for part in line.strip("|").split("|")] if "|" in line else []
        if not cells:
            header = []
        elif not header:
            header = cells
        elif column in header and all(map(str.startswith, cells, row)):
            return cells[header.index(column)]
    raise LookupError(f"docs/results/{name}.txt has no row {row} with a column {column!r}")


def paper() -> str:
    """Return the text of the paper."""
    numbers = {name: cell(*where) for name, where in NUMBERS.items()}
    integers = (RESULTS / "tenenbaum_integers.txt").read_text(encoding="utf-8")
    numbers["integers"] = re.findall(r"ours, ([\d.]+) %", integers)[0]
    return (HERE / "template.md").read_text(encoding="utf-8").format(**numbers)


def draw() -> None:
    """Fit the words of the demo and draw the meanings of one word."""
    import manymaps as mm

    fit = mm.MultipleMapsTSNE(n_maps=20, max_iter=500, random_state=0)
    atlas = fit.fit(mm.load_word_associations()).atlas_
    mm.save_figure(mm.plot_senses(atlas, "bow", width="page"), HERE / "bow.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--figure", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    written = HERE / "paper.md"
    if arguments.check:
        if written.read_text(encoding="utf-8") != paper():
            sys.exit("paper/paper.md is not current: run python paper/build.py")
    else:
        written.write_text(paper(), encoding="utf-8")
    if arguments.figure:
        draw()
