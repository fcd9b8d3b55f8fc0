"""CODE and seven other embeddings of newsgroups: purity of groups, and lift of their words.

    python examples/code_newsgroups_2004.py [--documents 500] [--draws 5] [--methods NAME ...]
        [--resume FILE] [--quick] [-o FIGURE]

The script reproduces figure 4 of A. Globerson, G. Chechik, F. Pereira & N. Tishby, Euclidean
embedding of co-occurrence data (NIPS 2004), on its seven sets of 20 Newsgroups. For each set, some
documents per group are drawn at random. Their 100 most frequent words are omitted, and the next
2,000 are kept. The counts are embedded in two dimensions without knowledge of the groups. The
measures are

    doc-doc     share of a document's k nearest that are in its group, over all k (figure 4a is the
                curve over k for crypt, electronics, med; 4b divides by the best method of each set
                and averages over the sets)
    word-doc    how much more likely a document's n nearest words are in its group than in all, over
                all n below 100 (figure 4c)

Every method is run with every normalization of the paper (none, document sum, tf-idf), and the one
that is best over all sets is shown. Values are means over draws of documents, with the standard
deviation over draws and the difference of CODE to each other method on the same draws. --resume
stores each finished embedding in a file, and a later run reads it. The paper's number of documents,
its tokens and its version of the collection differ from those used here (500 documents per group,
words of at least two letters, headers removed). Levels therefore cannot be compared, but the order
of methods can.

CODE is the conditional model p(word | document). On counts, documents are weighted by their length,
and on document sums they have equal weights. Beyond the paper, the script includes the joint model,
t-SNE, and correspondence analysis with words in standard coordinates next to the symmetric map. It
also includes three maps, in which the similarity sum_m pi pi exp(-d2) of the model replaces the
distance. They have a size penalty, without which unrelated parts of a map drift apart without
limit. Its strength and the number of iterations are the best of four settings on the fifth set.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

import manymaps as mm
from lib.baselines import (
    NORMALIZATIONS,
    classical_scaling,
    isomap,
    normalize_counts,
    singular_value_embedding,
)
from lib.real_data import data_file
from manymaps.cooccurrence.correspondence import correspondence_analysis
from manymaps.metrics.groups import group_lift, group_purity
from manymaps.metrics.spaces import MapSpace, Space

SETS = (
    ("alt.atheism", "comp.graphics", "sci.crypt"),
    ("comp.os.ms-windows.misc", "comp.graphics"),
    ("comp.sys.ibm.pc.hardware", "comp.os.ms-windows.misc"),
    ("sci.crypt", "sci.electronics"),
    ("sci.crypt", "sci.electronics", "sci.med"),
    ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    ("talk.politics.mideast", "talk.politics.misc"),
)
CURVE_SET = 4
CURVE_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
SKIPPED = 100
MAPS, MAPS_PENALTY, MAPS_ITERATIONS = 3, 0.01, 300
CLAIM = "CODE outperforms all on both measures"


@dataclass(frozen=True)
class Settings:
    """The number of documents, draws and iterations."""

    documents: int
    words: int
    draws: int
    sets: tuple[int, ...]
    max_iter: int


@dataclass(frozen=True)
class Placed:
    """The documents, followed by the words if the method embeds them."""

    rows: np.ndarray | Space
    both: np.ndarray | Space | None = None


@dataclass(frozen=True)
class Score:
    """Both measures of one embedding; no lift without words.

    `curve` is the purity of 1, 2, ... documents, and `purity` is its mean.
    """

    purity: float
    curve: list[float]
    lift: float
    warned: bool


Table: TypeAlias = sparse.csr_array
Method: TypeAlias = Callable[[Table, Settings, int], Placed]
Key: TypeAlias = tuple[str, str]
Scores: TypeAlias = dict[Key, dict[int, list[Score]]]
Best: TypeAlias = dict[str, tuple[str, np.ndarray]]


def correspondence(table: Table, settings: Settings, seed: int) -> Placed:
    """Compute the symmetric map: both kinds in principal coordinates."""
    found = correspondence_analysis(table, seed=seed)
    return Placed(found.rows, np.vstack([found.rows, found.columns]))


def row_correspondence(table: Table, settings: Settings, seed: int) -> Placed:
    """Compute documents as the weighted means of their words."""
    found = correspondence_analysis(table, seed=seed)
    return Placed(found.rows, np.vstack([found.rows, found.column_standard]))


def code(table: Table, settings: Settings, seed: int, normalization: str, n_maps: int) -> Placed:
    """Fit one map, measured by distances, or many, measured by similarities."""
    fit = mm.CODE(
        normalization="joint" if normalization == "joint" else "conditional",
        n_maps=n_maps,
        penalty=0.0 if n_maps == 1 else MAPS_PENALTY,
        max_iter=settings.max_iter if n_maps == 1 else min(settings.max_iter, MAPS_ITERATIONS),
        random_state=seed,
    ).fit(table)
    if n_maps == 1:
        rows = fit.row_embedding_
        return Placed(rows, np.vstack([rows, fit.column_embedding_]))
    maps, proportions, n = fit.maps_, fit.proportions_, table.shape[0]
    return Placed(
        MapSpace(maps[:, :n], proportions[:, :n], kernel="gaussian"),
        MapSpace(maps, proportions, kernel="gaussian"),
    )


METHODS: dict[str, tuple[Method, tuple[str, ...]]] = {
    "CODE": (lambda t, s, seed: code(t, s, seed, "conditional", 1), NORMALIZATIONS),
    "CODE, joint": (lambda t, s, seed: code(t, s, seed, "joint", 1), NORMALIZATIONS),
    f"CODE, {MAPS} maps": (
        lambda t, s, seed: code(t, s, seed, "conditional", MAPS),
        NORMALIZATIONS,
    ),
    "CA": (correspondence, NORMALIZATIONS),
    "CA, words standard": (row_correspondence, NORMALIZATIONS),
    "SVD": (lambda t, s, seed: Placed(singular_value_embedding(t, seed=seed)), NORMALIZATIONS),
    "SVD of log(1 + count)": (
        lambda t, s, seed: Placed(singular_value_embedding(t, log=True, seed=seed)),
        NORMALIZATIONS,
    ),
    "Isomap, 10 neighbours": (
        lambda t, s, seed: Placed(isomap(t, n_neighbors=10, seed=seed)),
        NORMALIZATIONS,
    ),
    "Isomap, 30 neighbours": (
        lambda t, s, seed: Placed(isomap(t, n_neighbors=30, seed=seed)),
        NORMALIZATIONS,
    ),
    "MDS, dot products": (
        lambda t, s, seed: Placed(classical_scaling(t, by="dot products", seed=seed)),
        NORMALIZATIONS,
    ),
    "MDS, distances": (
        lambda t, s, seed: Placed(classical_scaling(t, seed=seed)),
        NORMALIZATIONS,
    ),
    "t-SNE": (
        lambda t, s, seed: Placed(mm.TSNE(random_state=seed).fit(t).embedding_),
        ("tf-idf",),
    ),
}
BEYOND = ("CODE, joint", f"CODE, {MAPS} maps", "CA, words standard", "t-SNE")
DRAWN = ("CODE", f"CODE, {MAPS} maps", "CA", "SVD of log(1 + count)", "Isomap, 30 neighbours",
         "MDS, dot products", "MDS, distances", "t-SNE")  # fmt: skip


@dataclass(frozen=True)
class Newsgroups:
    """All posts and words, and the group of each post."""

    counts: mm.Counts
    groups: np.ndarray

    def drawn(
        self, names: tuple[str, ...], settings: Settings, seed: int
    ) -> tuple[Table, np.ndarray]:
        """Draw documents of some groups with their frequent words, and return the group of each."""
        rng = np.random.default_rng(seed)
        posts = [np.flatnonzero(self.groups == name) for name in names]
        chosen = np.concatenate(
            [np.sort(rng.permutation(mine)[: settings.documents]) for mine in posts]
        )
        part = self.counts.subset(rows=chosen).most_frequent_columns(settings.words, skip=SKIPPED)
        full = part.row_totals > 0
        return part.subset(rows=full).values, self.groups[chosen[full]]


def read_newsgroups() -> Newsgroups | None:
    """Read the posts; None if they are not available, which is an error in CI."""
    path = data_file("newsgroups20/20news_bydate_counts.npz")
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as archive:
        parts = (archive["counts"], archive["indices"].astype(np.int32), archive["indptr"])
        shape = (len(archive["labels"]), len(archive["vocab"]))
        counts = mm.Counts(
            sparse.csr_array(parts, shape=shape),
            column_labels=archive["vocab"].tolist(),
            kinds=("document", "word"),
        )
        return Newsgroups(counts, archive["groups"][archive["labels"]])


def measure_all(
    posts: Newsgroups, settings: Settings, methods: Sequence[str], resume: Path | None
) -> Scores:
    """Compute both measures of all methods, normalizations, draws and sets."""
    scores: Scores = {
        (name, norm): {s: [] for s in settings.sets}
        for name in methods
        for norm in METHODS[name][1]
    }
    stored = read_stored(resume)
    for draw in range(settings.draws):
        for s in settings.sets:
            counts, groups = posts.drawn(SETS[s], settings, draw)
            for name, norm in scores:
                sizes = settings.documents, settings.words, settings.max_iter
                key = json.dumps([*sizes, s, draw, name, norm])
                if key not in stored:
                    stored[key] = measure(counts, groups, settings, draw, name, norm)
                    if resume is not None:
                        with resume.open("a", encoding="utf-8") as file:
                            file.write(json.dumps([key, asdict(stored[key])]) + "\n")
                scores[name, norm][s].append(stored[key])
            print(f"draw {draw}, set {s + 1}: {', '.join(SETS[s])}", flush=True)
    return scores


def read_stored(path: Path | None) -> dict[str, Score]:
    """Read the finished embeddings, without an incomplete last line."""
    if path is None or not path.exists():
        return {}
    lines = [line for line in path.read_text("utf-8").split("\n")[:-1] if line.endswith("]")]
    return {key: Score(**score) for key, score in map(json.loads, lines)}


def measure(
    counts: Table, groups: np.ndarray, settings: Settings, draw: int, name: str, norm: str
) -> Score:
    """Embed the documents of one draw by one method, and compute both measures."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", mm.DataWarning)
        placed = METHODS[name][0](normalize_counts(counts, norm), settings, draw)
    lift = np.nan if placed.both is None else group_lift(placed.both, groups, counts).mean
    purity = group_purity(placed.rows, groups)
    curve = [round(float(share), 6) for share in purity.curve]
    return Score(float(purity.mean), curve, float(lift), bool(caught))


def of_draws(scores: Scores, name: str) -> dict[Key, np.ndarray]:
    """Return a measure as (n_sets, n_draws) for each method and normalization."""
    return {
        key: np.array([[getattr(one, name) for one in ones] for ones in per_set.values()])
        for key, per_set in scores.items()
    }


def means(values: dict[Key, np.ndarray]) -> dict[Key, np.ndarray]:
    """Average a measure over draws, for each set."""
    return {key: table.mean(axis=1) for key, table in values.items()}


def at_best(values: dict[Key, np.ndarray]) -> Best:
    """Select the best normalization of each method over all sets, which have equal weights."""
    top = np.nanmax(list(values.values()), axis=0)
    best: Best = {}
    for (name, norm), row in values.items():
        known = np.isfinite(row).all()
        if known and (name not in best or (row / top).mean() > (best[name][1] / top).mean()):
            best[name] = (norm, row)
    return best


def shares_of_best(values: dict[Key, np.ndarray], best: Best) -> dict[str, np.ndarray]:
    """Divide by the best method of each set and draw, and average over sets: one per draw."""
    chosen = {name: values[name, norm] for name, (norm, _) in best.items()}
    top = np.max(list(chosen.values()), axis=0)
    return {name: (table / top).mean(axis=0) for name, table in chosen.items()}


def print_sets(title: str, best: Best, sets: tuple[int, ...], scale: float) -> None:
    """Print a line per method with the mean over draws of every set."""
    print(f"\n{title}")
    heads = "".join(f"{f'set {s + 1}':>8}" for s in sets)
    print(f"{'':24}{'at':>10}{heads}")
    for name, (norm, row) in best.items():
        cells = "".join(f"{scale * value:8.2f}" for value in row)
        print(f"{name:24}{norm:>10}{cells}")


def print_shares(scores: Scores, best: dict[str, Best]) -> None:
    """Print shares of the best method, differences over draws, and purity on the fifth set."""
    shares = {name: shares_of_best(of_draws(scores, name), best[name]) for name in best}
    print("\n| method | at | doc-doc | deviation | CODE less this | deviation of the difference "
          "| CODE ahead | word-doc | deviation of word-doc | purity of 1 | of 10 | of 100 |"
          f"\n{'|---' * 12}|")  # fmt: skip
    for name, (norm, _) in best["purity"].items():
        doc_doc = shares["purity"][name]
        ahead = shares["purity"]["CODE"] - doc_doc
        cells = [f"beyond the paper: {name}" if name in BEYOND else name, norm]
        cells += [f"{doc_doc.mean():.3f}", f"{spread(doc_doc):.3f}"]
        if name == "CODE":
            cells += [""] * 3
        else:
            cells += [f"{ahead.mean():.3f}", f"{spread(ahead):.3f}"]
            cells += [f"{(ahead > 0).sum()} of {len(ahead)}"]
        lift = shares["lift"].get(name)
        cells += ["", ""] if lift is None else [f"{lift.mean():.3f}", f"{spread(lift):.3f}"]
        curves = [one.curve for one in scores[name, norm][CURVE_SET]]
        at = (min(k, len(curves[0])) - 1 for k in (1, 10, 100))
        cells += [f"{100 * np.mean([curve[k] for curve in curves]):.1f}" for k in at]
        print(f"| {' | '.join(cells)} |")


def spread(values: np.ndarray) -> float:
    """Compute the standard deviation over draws; NaN for one draw."""
    return float(values.std(ddof=1)) if len(values) > 1 else np.nan


def print_normalizations(values: dict[Key, np.ndarray]) -> None:
    """Print doc-doc of every method at every normalization."""
    top = np.max(list(values.values()), axis=0)
    print("\nDoc-doc by normalization, share of the maximum in each set over all of these")
    print(f"{'':24}" + "".join(f"{norm:>10}" for norm in NORMALIZATIONS))
    for name in dict.fromkeys(name for name, _ in values):
        norms = METHODS[name][1]
        cells = [
            f"{(values[name, norm] / top).mean():10.3f}" if norm in norms else f"{'-':>10}"
            for norm in NORMALIZATIONS
        ]
        print(f"{name:24}" + "".join(cells))


def print_verdict(
    what: str, values: dict[Key, np.ndarray], best: Best, sets: tuple[int, ...]
) -> None:
    """Print where the paper's claim holds, over all sets and for each set and draw."""
    shares = shares_of_best(values, best)
    chosen = {name: values[name, norm] for name, (norm, _) in best.items() if name not in BEYOND}
    ours = chosen.pop("CODE")
    print(f"\n{what}; the paper: {CLAIM}")
    ahead = [name for name in chosen if shares[name].mean() > shares["CODE"].mean()]
    if ahead:
        print(f"  over all sets it does not hold: {', '.join(ahead)} exceed CODE")
    else:
        print("  over all sets it holds")
    print("| set | CODE less the best other method | deviation | CODE ahead |\n|---|---|---|---|")
    for k, (s, row) in enumerate(zip(sets, ours, strict=True)):
        others = {name: table[k] for name, table in chosen.items()}
        name = max(others, key=lambda name: others[name].mean())
        rest = row - others[name]
        print(f"| {s + 1} | {name}: {rest.mean():.3f} | {spread(rest):.3f} "
              f"| {(rest > 0).sum()} of {len(rest)} |")  # fmt: skip


def print_curves(scores: Scores, best: Best) -> None:
    """Print figure 4a as numbers."""
    print("\nFigure 4a: purity of k neighbours (crypt, electronics, med; mean over draws), in %")
    curves = {name: mean_curve(scores[name, norm][CURVE_SET]) for name, (norm, _) in best.items()}
    shown = [k for k in CURVE_SIZES if all(k <= len(curve) for curve in curves.values())]
    print(f"{'k':24}" + "".join(f"{k:7}" for k in shown))
    for name, curve in curves.items():
        print(f"{name:24}" + "".join(f"{100 * curve[k - 1]:7.1f}" for k in shown))


def mean_curve(ones: Sequence[Score]) -> np.ndarray:
    """Average purities over draws, for the numbers of documents that all draws have."""
    size = min(len(one.curve) for one in ones)
    return np.mean([one.curve[:size] for one in ones], axis=0)


def draw(scores: Scores, doc_doc: Best, word_doc: Best, shown: tuple[int, ...], path: Path) -> None:
    """Draw the three panels of figure 4."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    colors = {name: colormaps["tab10"](k) for k, name in enumerate(DRAWN)}
    figure = Figure(figsize=(15, 5), layout="constrained")
    purity, points, lifts = figure.subplots(1, 3, width_ratios=(1.2, 1, 1))
    drawn = [name for name in DRAWN if name in doc_doc]
    for name in drawn:
        curve = mean_curve(scores[name, doc_doc[name][0]][CURVE_SET])
        wide = 2.4 if name == "CODE" else 1.3
        purity.plot(
            np.arange(1, len(curve) + 1), curve, label=name, color=colors[name], linewidth=wide
        )
    purity.set(title="crypt, electronics, med", xlabel="neighbours k (log scale)", xscale="log",
               ylabel="share of the document's own group")  # fmt: skip
    purity.legend(fontsize=8)
    top = np.max([row for _, row in doc_doc.values()], axis=0)
    shares = {name: doc_doc[name][1] / top for name in drawn}
    order = sorted(drawn, key=lambda name: shares[name].mean())
    for place, name in enumerate(order):
        line = np.full(len(top), place)
        points.scatter(shares[name], line, s=22, color=colors[name], alpha=0.45)
        points.scatter(shares[name].mean(), place, s=140, color=colors[name])
    points.set(title="doc-doc, share of each set's maximum; large: mean")
    points.set_yticks(range(len(order)), order)
    points.grid(axis="x", alpha=0.3)
    names = [name for name in drawn if name in word_doc]
    height = 0.8 / len(names)
    sets = np.arange(len(top))
    for k, name in enumerate(names):
        lifts.barh(sets + k * height, word_doc[name][1], height, label=name, color=colors[name])
    lifts.set(title="word-doc, 1 says nothing of the group", xlim=(1, None))
    lifts.set_yticks(sets + 0.4 - height / 2, [f"set {s + 1}" for s in shown])
    lifts.invert_yaxis()
    lifts.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=len(names))
    for panel in (purity, points, lifts):
        panel.spines[["top", "right"]].set_visible(False)
    mm.save_figure(figure, path)
    print(f"wrote {path}")


def main() -> None:
    """Print the tables, and draw the figure if requested."""
    parser = argparse.ArgumentParser(description="Figure 4 of Globerson et al. 2004.")
    parser.add_argument("--documents", type=int, default=500, help="documents a group")
    parser.add_argument("--draws", type=int, default=5, help="draws of documents")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--resume", type=Path, help="the finished embeddings, one JSON line each")
    parser.add_argument("--quick", action="store_true", help="three sets, few documents and words")
    parser.add_argument("-o", "--output", type=Path, help="draw the figure into this file")
    arguments = parser.parse_args()
    posts = read_newsgroups()
    if posts is None:
        return
    settings = Settings(arguments.documents, 2000, arguments.draws, tuple(range(len(SETS))), 1000)
    if arguments.quick:
        settings = Settings(60, 300, 2, (3, CURVE_SET, 6), 60)
    scores = measure_all(posts, settings, arguments.methods, arguments.resume)
    purity, lift = of_draws(scores, "purity"), of_draws(scores, "lift")
    doc_doc, word_doc = at_best(means(purity)), at_best(means(lift))
    print_sets("Doc-doc (figure 4b) at the best normalization, in %", doc_doc, settings.sets, 100)
    print_normalizations(means(purity))
    print_sets("Word-doc (figure 4c) at the best normalization", word_doc, settings.sets, 1)
    print_curves(scores, doc_doc)
    print_shares(scores, {"purity": doc_doc, "lift": word_doc})
    print_verdict("Doc-doc", purity, doc_doc, settings.sets)
    print_verdict("Word-doc", lift, word_doc, settings.sets)
    for name in arguments.methods:
        runs = [
            one for norm in METHODS[name][1] for per in scores[name, norm].values() for one in per
        ]
        if any(one.warned for one in runs):
            print(f"{name} warned in {sum(one.warned for one in runs)} of {len(runs)} runs")
    if arguments.output is not None:
        draw(scores, doc_doc, word_doc, settings.sets, arguments.output)


if __name__ == "__main__":
    main()
