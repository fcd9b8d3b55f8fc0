"""Insertion of new words into a fitted map, compared with a new fit that includes them.

    python examples/claassen_insertion_2020.py [--draws 5] [--quick] [-o FOLDER]

The script reproduces tables 4 and 5 and figure 2 of C. Claassen, Improving t-SNE for applications
on word embedding data in text mining (Erasmus University Rotterdam, 2020). The vectors of the words
that the thesis inserts are not published. Therefore 50 of the 601 words are held out at random. The
map is fitted to the others (perplexity 35), and the 50 words are inserted by

    median       the weighted geometric median of their 25 most similar words, weights s^p
                 (4.8) or (p^s - 1) / (p - 1) (4.9)
    refined      `refine=True`: from there to lower cost of t-SNE with the map fixed, then to the
                 nearby position at which neighbourhoods agree best up to the perplexity
    refined, 20  the same with perplexity 20: agreement up to 20 neighbours, which is better for a
                 measure of 10 (as found on the GloVe and fastText vectors of the words)
    transform    the method of openTSNE, on its own map of the same words

The row "rerun" is t-SNE of all 601 words. Each of the 50 words is measured among all words, and
among the old words only. A rerun uses the similarities among new words, but an insertion does not.
The levels of the thesis are for other words and cannot be compared, but the order of methods can.

The last table repeats this with 50 new MNIST digits and a map of 20,000. With -o the script writes
two figures: a map with its inserted words circled, and the curves of the weights.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import manymaps as mm
from claassen_words import K, read_words
from lib.real_data import data_file
from manymaps.data.vectors import Vectors
from manymaps.maps.insertion import Insertion, Refinement, insert
from manymaps.maps.neighbor_weights import ExponentialWeights, NeighborWeights, PowerWeights
from manymaps.metrics import mu_global, mu_local

PERPLEXITY, NEIGHBORS, HELD_OUT = 35.0, 25, 50
DIGITS, DIGIT_PERPLEXITY = 20_000, 30.0
HIS = "thesis, other words: local 30.80 inserted, 36.72 rerun; global 28.43 inserted, 27.76 rerun"
REPEATS = 5

Places = Callable[[], np.ndarray]


@dataclass
class Row:
    """The results of one method for each new object of all draws, and its least time."""

    among_all: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    among_old: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    seconds: float = np.inf


@dataclass
class Sheet:
    """A table with one row per method."""

    count_self: bool
    rows: dict[str, Row] = field(default_factory=dict)

    def add(
        self, name: str, data: np.ndarray, old: np.ndarray, place: Places, repeats: int
    ) -> None:
        """Measure the positions that `place` finds; the new objects are those that are not old."""
        row = self.rows.setdefault(name, Row())
        for _ in range(repeats):
            clock = time.perf_counter()
            places = place()
            row.seconds = min(row.seconds, time.perf_counter() - clock)
        new = np.setdiff1d(np.arange(len(data)), old)
        own = self.count_self
        for (kept, ranks), among in ((row.among_all, None), (row.among_old, old)):
            kept += mu_local(
                data, places, k=K, rows=new, among=among, count_self=own
            ).values.tolist()
            ranks += mu_global(data, places, rows=new, among=among, count_self=own).values.tolist()

    def print(self) -> None:
        """Print a line per method: mean and standard error in percent, time, share of the rerun."""
        heads = f"  {'local':>6}{'s.e.':>6}{'global':>8}{'s.e.':>6}"
        print(f"{'':20}  {'among all':^26}  {'among the old alone':^26}")
        print(f"{'':20}{heads}{heads}{'ms':>9}  of a rerun")
        for name, row in self.rows.items():
            cells = ""
            for pair in (row.among_all, row.among_old):
                for values in pair:
                    error = 100 * np.nanstd(values, ddof=1) / len(values) ** 0.5
                    cells += f"{100 * np.nanmean(values):8.2f}{error:6.2f}"
            share = row.seconds / self.rows["rerun"].seconds
            print(f"{name:20}{cells}{1000 * row.seconds:9.0f}{share:12.4f}")


def both(data: np.ndarray, old: np.ndarray, old_places: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Join the positions of the old and the new objects."""
    places = np.empty((len(data), 2))
    places[old] = old_places
    places[np.setdiff1d(np.arange(len(data)), old)] = new
    return places


def add_all(
    sheet: Sheet, vectors: Vectors, old: np.ndarray, perplexity: float, quick: bool = False
) -> Insertion:
    """Insert all objects that are not old in every way, and rerun; return the refined insertion.

    Where it is to be quick, each way is timed once, and openTSNE left out.
    """
    data = np.asarray(vectors.values)
    new = np.setdiff1d(np.arange(len(data)), old)
    known, novel = (vectors.subset([vectors.labels[i] for i in part]) for part in (old, new))
    fit = mm.TSNE(perplexity=perplexity, random_state=0).fit(known)
    atlas, old_places = fit.atlas_, fit.embedding_

    def inserted(weights: NeighborWeights, refine: bool | Refinement) -> Insertion:
        with warnings.catch_warnings():
            # Some words resemble nothing; they are measured all the same, and counted below.
            warnings.simplefilter("ignore", mm.DataWarning)
            return insert(atlas, novel, n_neighbors=NEIGHBORS, weights=weights, refine=refine)

    ways: dict[str, Callable[[], Insertion]] = {
        "median, power": lambda: inserted(PowerWeights(), False),
        "median, exponential": lambda: inserted(ExponentialWeights(), False),
        "refined": lambda: inserted(PowerWeights(), True),
        "refined, 20": lambda: inserted(PowerWeights(), Refinement(perplexity=20)),
    }
    for name, way in ways.items():

        def place(way: Callable[[], Insertion] = way) -> np.ndarray:
            return both(data, old, old_places, way().maps[0])

        sheet.add(name, data, old, place, 1 if quick else REPEATS)

    def rerun() -> np.ndarray:
        return np.asarray(mm.TSNE(perplexity=perplexity, random_state=0).fit(data).embedding_)

    sheet.add("rerun", data, old, rerun, 2 if len(data) < DIGITS and not quick else 1)
    if not quick and importlib.util.find_spec("openTSNE"):
        import openTSNE

        theirs = openTSNE.TSNE(perplexity=perplexity, random_state=0, n_jobs=2).fit(data[old])

        def transform() -> np.ndarray:
            return both(data, old, np.asarray(theirs), np.asarray(theirs.transform(data[new])))

        sheet.add("openTSNE, transform", data, old, transform, 1)
    return ways["refined"]()


def read_digits() -> Vectors | None:
    """Draw 20,050 MNIST digits at random, on their first 50 principal components."""
    from sklearn.decomposition import PCA

    path = data_file("mnist/train-images-idx3-ubyte.gz")
    if path is None:
        return None
    with gzip.open(path, encoding="utf-8") as stream:
        pixels = np.frombuffer(stream.read(), np.uint8, offset=16).reshape(-1, 784)
    chosen = np.random.default_rng(0).permutation(len(pixels))[: DIGITS + HELD_OUT]
    components = PCA(50, svd_solver="covariance_eigh").fit_transform(
        pixels[chosen].astype(np.float32) / 255
    )
    return Vectors([str(i) for i in chosen], components.astype(np.float32))


def draw_map(insertion: Insertion, path: Path) -> None:
    """Draw the map with circles around the inserted words."""
    from matplotlib.figure import Figure

    atlas, width = insertion.atlas, 22.0
    across, down = np.ptp(atlas.maps[0], axis=0)
    figure = Figure((width, width * float(down / across) + 2), layout="constrained")
    mm.plot_map(atlas, 0, highlight=insertion.labels, ax=figure.subplots())
    x, y = insertion.maps[0].T
    figure.axes[0].scatter(x, y, s=140, facecolors="none", edgecolors="#C7432B", linewidths=1.3)
    mm.save_figure(figure, path)
    print(f"wrote {path}")


def _power(p: float) -> str:
    """Format a number, large and small ones as powers of ten."""
    return f"{p:g}" if 0.01 <= p <= 100 else f"$10^{{{round(np.log10(p))}}}$"


def draw_curves(path: Path) -> None:
    """Draw weights as functions of the similarity, for several p."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    similarity = np.linspace(0.005, 1, 400)
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    forms: list[tuple[str, NeighborWeights, Sequence[float], Callable[[float], float]]] = [
        ("$w = s^p$", PowerWeights(), (0.25, 0.5, 1, 2, 4, 10, 30), float),
        (
            r"$w = (p^s - 1)\,/\,(p - 1)$",
            ExponentialWeights(),
            (1e-4, 0.01, 1, 10, 1e3, 1e6, 1e12),
            lambda p: float(np.log(p)),
        ),
    ]
    for panel, (title, weights, exponents, inner) in zip(panels, forms, strict=True):
        for k, p in enumerate(exponents):
            curve = weights.curve(similarity, np.full_like(similarity, inner(p)))
            color = colormaps["viridis"](0.85 * k / (len(exponents) - 1))
            panel.plot(similarity, curve, color=color, linewidth=1.8)
            # Along the falling diagonal the curves are farthest apart.
            at = int(np.argmin(np.abs(curve - (1 - similarity))))
            panel.text(
                similarity[at], curve[at], _power(p), color=color, ha="center", va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )  # fmt: skip
        panel.set(title=title, xlabel="similarity s, the best neighbour's is 1", aspect="equal")
        panel.set(xlim=(0, 1), ylim=(0, 1.02))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("weight w; the numbers are p")
    mm.save_figure(figure, path)
    print(f"wrote {path}")


def main() -> None:
    """Print the tables, and draw the figures if requested."""
    parser = argparse.ArgumentParser(description="Tables 4 and 5 of Claassen 2020.")
    parser.add_argument("--draws", type=int, default=5, help="draws of 50 words")
    parser.add_argument("--quick", action="store_true", help="one draw, and no digits")
    parser.add_argument("-o", "--output", type=Path, help="draw the figures into this folder")
    arguments = parser.parse_args()
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        draw_curves(arguments.output / "weights.png")
    words = read_words()
    if words is None:
        return
    vectors = words.vectors["word2vec"]
    draws = 1 if arguments.quick else arguments.draws
    sheet, alone = Sheet(count_self=True), 0
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(vectors))
        old = np.sort(order[HELD_OUT:])
        insertion = add_all(sheet, vectors, old, PERPLEXITY, arguments.quick)
        alone += int(insertion.dissimilar.sum())
        if draw == 0 and arguments.output is not None:
            draw_map(insertion, arguments.output / "inserted.png")
    print(f"\nTables 4 and 5: {HELD_OUT} of {len(vectors)} words inserted, {draws} draws; in %")
    sheet.print()
    print(f"{alone} of the {draws * HELD_OUT} resemble no word of the map, says the insertion")
    print(HIS)
    digits = None if arguments.quick else read_digits()
    if digits is not None:
        sheet = Sheet(count_self=False)
        add_all(sheet, digits, np.arange(DIGITS), DIGIT_PERPLEXITY)
        print(f"\n{HELD_OUT} MNIST digits inserted among {DIGITS}; in %, no digit counting itself")
        sheet.print()


if __name__ == "__main__":
    main()
