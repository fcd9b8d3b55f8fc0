"""Write paper.md from template.md with the numbers in docs/results, and draw its figures.

    python paper/build.py             paper.md
    python paper/build.py --figures   paper.md, bow.png from two fits of the demo's words, and
                                      agreement.png from the numbers in docs/results
    python paper/build.py --check     fail if paper.md is not current

Each file in docs/results names the command that wrote it. Numbers are cells of its tables, found by
the first cells of their row and the name of their column.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path

import numpy as np

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


#: Title of a panel: file, text before the table, column, and rows of the measures.
AGREEMENT = {
    "priming, 200 ms (r)": (
        "validation_priming", "", "r, 200 ms",
        ("backward strength", "ranked backward strength",
         "backward similarity, mm-tsne, 1 map", "backward similarity, mm-tsne, 40 maps"),
    ),
    **{
        f"{ratings} (rho)": (
            "validation_similarity", ratings, "Spearman's rho",
            ("strength", "Katz walk", "maps: mm-tsne, 1 map", "maps: mm-tsne, 40 maps"),
        )
        for ratings in ("SimLex-999", "WordSim-353")
    },
}  # fmt: skip
MEASURES = ("strength", "best simple measure", "1 map", "40 maps")


def cell(name: str, row: tuple[str, ...], column: str, after: str = "") -> str:
    """Return a cell of a table in docs/results; the row begins with the texts in `row`."""
    header: list[str] = []
    text = (RESULTS / f"{name}.txt").read_text(encoding="utf-8")
    for line in text[text.index(after) :].splitlines():
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
    homonyms = (RESULTS / "homonyms.txt").read_text(encoding="utf-8")
    gain, low, high = re.findall(r"is \+([\d.]+) \[([-+\d.]+), ([-+\d.]+)\]", homonyms)[0]
    numbers["gain"] = f"{gain} [{float(low):.3f}, {float(high):.3f}]"
    numbers["integers"] = re.findall(r"ours, ([\d.]+) %", integers)[0]
    return (HERE / "template.md").read_text(encoding="utf-8").format(**numbers)


def draw_word() -> None:
    """Fit the words of the demo in one map and in 20 maps, and draw the meanings of one word."""
    from PIL import Image

    import manymaps as mm

    pictures = []
    for n_maps, width, n_neighbors, size in ((1, "column", 5, 9), (20, "page", 8, 11)):
        fit = mm.MultipleMapsTSNE(n_maps=n_maps, max_iter=500, random_state=0)
        atlas = fit.fit(mm.load_word_associations()).atlas_
        drawn = mm.plot_senses(atlas, "bow", width=width, n_neighbors=n_neighbors, font_size=size)
        file = io.BytesIO()
        drawn.savefig(file, format="png", dpi=300)
        pictures.append(np.asarray(Image.open(file).convert("RGB")))
    height = max(len(picture) for picture in pictures)
    # The lower edges are aligned, and a white strip separates one map from many maps.
    padded = [
        np.pad(one, ((height - len(one), 0), (0, 60), (0, 0)), constant_values=255)
        for one in pictures
    ]
    # 64 colours make the file a quarter as large.
    Image.fromarray(np.hstack(padded)).quantize(64).save(HERE / "bow.png", optimize=True)


def draw_agreement() -> None:
    """Draw the agreement of maps and simple measures with human data, with 95 % intervals."""
    import matplotlib.pyplot as plt

    plt.rcParams |= {"font.size": 8, "axes.titlesize": 8, "xtick.labelsize": 7}
    # 183 mm is the width of a page.
    figure, axes = plt.subplots(
        1, len(AGREEMENT), figsize=(7.2, 1.9), sharey=True, layout="constrained"
    )
    for axis, (title, (name, after, column, rows)) in zip(axes, AGREEMENT.items(), strict=True):
        for place, row in enumerate(rows):
            numbers = re.findall(r"-?[\d.]+", cell(name, (row,), column, after))
            value, low, high = map(float, numbers[:3])
            color = "#0072B2" if place > 1 else "#767676"  # maps are blue (Okabe and Ito)
            error = [[value - low], [high - value]]
            axis.errorbar(value, place, xerr=error, fmt="o", ms=5, color=color, capsize=3)
        axis.set(title=title, xlim=(0, None), ylim=(3.5, -0.5))
        axis.set(yticks=range(len(rows)), yticklabels=MEASURES)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="x", color="0.9")
    figure.savefig(HERE / "agreement.png", dpi=300)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    written = HERE / "paper.md"
    if arguments.check:
        if written.read_text(encoding="utf-8") != paper():
            sys.exit("paper/paper.md is not current: run python paper/build.py")
    else:
        written.write_text(paper(), encoding="utf-8")
    if arguments.figures:
        draw_agreement()
        draw_word()
