"""Insertion of new words into a fitted map, compared with a new fit that includes them.

    python examples/claassen_insertion_2020.py [--draws 5] [--quick] [--store FOLDER] [-o FOLDER]

The script reproduces tables 4 and 5 and figure 2 of C. Claassen, Improving t-SNE for applications
on word embedding data in text mining (Erasmus University Rotterdam, 2020). The words that the
thesis inserts have no vectors in its repository. Therefore 50 of its 601 words are held out at
random. The map of the others is `TSNE.claassen_2020(35)`, and the 50 words are inserted by

    most similar word    at the position of the most similar word of the map
    median               at the weighted geometric median of their 25 most similar words, with
                         weights s^p (4.8) or (p^s - 1) / (p - 1) (4.9)
    refined              `refine=True`: from there to lower cost of t-SNE with the map fixed, then
                         to the nearby position at which neighbourhoods agree best

The reruns are maps of all 601 words: with local perplexity as in the first map, and with Gaussian
rows and 5,000 iterations, which is the rerun in the program of the thesis. Each of the 50 words is
measured among all words, for 10 neighbours (as in tables 1 to 3) and for 25 (the number that the
program of the thesis uses for inserted words). The levels of the thesis are for other words and
cannot be compared, but the order of methods can.

With -o the script draws a map with its inserted words circled, and the curves of the weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import manymaps as mm
from claassen_words import read_words
from lib.results import markdown, options, store
from manymaps.affinity.affinities import GaussianAffinity
from manymaps.data.vectors import Vectors
from manymaps.maps.insertion import Insertion, insert
from manymaps.maps.neighbor_weights import ExponentialWeights, NeighborWeights, PowerWeights
from manymaps.metrics import mu_global, mu_local

PERPLEXITY, NEIGHBORS, HELD_OUT = 35.0, 25, 50
RERUN_ITERATIONS = 5_000
# Percentages of the thesis, for other words.
PRINTED = {"median (4.8)": (30.80, 28.43), "rerun, program of the thesis": (36.72, 27.76)}


def measured(data: np.ndarray, places: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Measure the new words: local for 10 and 25 neighbours, global; shape (3, words)."""
    kept = [mu_local(data, places, k=k, rows=new, count_self=True).values for k in (10, 25)]
    return np.array([*kept, mu_global(data, places, rows=new, count_self=True).values])


def nearest_word(data: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Find the row of the most similar old word of each new word."""
    return np.asarray(np.argmax(data[new] @ data[old].T, axis=1))


def maps_of_draw(
    vectors: Vectors, old: np.ndarray, max_iter: int
) -> Iterator[tuple[str, np.ndarray, Insertion | None]]:
    """Position the words that are not old in every way; return maps of all words."""
    data = np.asarray(vectors.values)
    new = np.setdiff1d(np.arange(len(data)), old)
    known, novel = (vectors.subset([vectors.labels[i] for i in part]) for part in (old, new))
    model = mm.TSNE.claassen_2020(PERPLEXITY).set_params(max_iter=max_iter, random_state=0)
    fit = model.fit(known)
    atlas, old_places = fit.atlas_, fit.embedding_

    def joined(new_places: np.ndarray) -> np.ndarray:
        places = np.empty((len(data), 2))
        places[old], places[new] = old_places, new_places
        return places

    def inserted(weights: NeighborWeights, refine: bool = False) -> Insertion:
        with warnings.catch_warnings():
            # Some words resemble no other word; they are measured all the same.
            warnings.simplefilter("ignore", mm.DataWarning)
            return insert(atlas, novel, n_neighbors=NEIGHBORS, weights=weights, refine=refine)

    yield "most similar word", joined(old_places[nearest_word(data, old, new)]), None
    ways: dict[str, Insertion] = {
        "median (4.8)": inserted(PowerWeights()),
        "median (4.9)": inserted(ExponentialWeights()),
        "refined": inserted(PowerWeights(), refine=True),
    }
    for name, insertion in ways.items():
        yield name, joined(insertion.maps[0]), insertion
    yield "rerun, local perplexity", np.asarray(model.fit(data).embedding_), None
    model.set_params(
        affinity=GaussianAffinity(PERPLEXITY), max_iter=min(max_iter, RERUN_ITERATIONS)
    )
    yield "rerun, program of the thesis", np.asarray(model.fit(data).embedding_), None


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
    """Compute the table, and draw the figures if requested."""
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=5, help="draws of 50 words")
    parser.add_argument("-o", "--output", type=Path, help="draw the figures into this folder")
    arguments = parser.parse_args()
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        draw_curves(arguments.output / "weights.png")
    words = read_words()
    if words is None:
        return
    vectors = words.vectors["word2vec"]
    data = np.asarray(vectors.values)
    draws, max_iter = (1, 1_000) if arguments.quick else (arguments.draws, 10_000)
    found: dict[str, list[np.ndarray]] = {}
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(vectors))
        old, new = np.sort(order[HELD_OUT:]), np.sort(order[:HELD_OUT])
        for name, places, insertion in maps_of_draw(vectors, old, max_iter):
            found.setdefault(name, []).append(measured(data, places, new))
            if name == "refined" and draw == 0 and arguments.output is not None:
                draw_map(insertion, arguments.output / "inserted.png")
    rows = []
    errors = []
    for name, parts in found.items():
        values = 100 * np.concatenate(parts, axis=1)
        errors.append(values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]))
        local, overall = PRINTED.get(name, (None, None))
        rows.append((name, local, overall, *np.nanmean(values, axis=1)))
    store(
        arguments.store,
        "claassen_insertion.txt",
        f"Tables 4 and 5: {HELD_OUT} of {len(vectors)} words inserted, {draws} draws, word2vec, "
        f"perplexity {PERPLEXITY:g}, {max_iter:,} iterations. Percentages over all words, with "
        f"standard errors of {np.min(errors):.1f} to {np.max(errors):.1f}. The values of the "
        "thesis are for other words.",
        markdown(
            ("", "thesis, local", "thesis, global", "10 nearest kept", "25 nearest kept",
             "order of distances"),
            rows,
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
