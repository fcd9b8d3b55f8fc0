"""t-SNE on iris and on 601 word vectors, without and with local perplexity.

    python examples/claassen_tables_2020.py [--seeds 3] [--tables iris words rules] [--quick]

The script reproduces tables 1 to 3 of C. Claassen, Improving t-SNE for applications on word
embedding data in text mining (Erasmus University Rotterdam, 2020). The local measure is the share
of the 10 nearest neighbours that are near in the map. The global measure is the rank correlation of
distances. All maps start from principal components and have 10,000 iterations at a learning rate of
200 with gains, as in `TSNE.claassen_2020`. P is computed in two ways:

    program     as in the program of the thesis (`tsne_main.jl`, `tsne_perplexity.jl`). Its Gaussian
                rows are exp(-beta d), with the distance d instead of d^2. Its local rows are
                proportional to the cosines that exceed their mean by three standard deviations.
    text        `GaussianAffinity` (exp(-beta d^2)) and `LocalPerplexity` with the same threshold

A third rule keeps neighbourhoods better than that of the thesis. It uses only the 10 most similar
of the outstanding words, at a weight of 0.8:

    LocalPerplexity(perplexity, sd=2.0, weight=0.8, max_neighbors=10)

The rule was chosen on the GloVe and fastText vectors of the same words, with the default settings
of `TSNE`. The last table shows this choice, with neighbourhoods of other sizes. Each rule is best
at about the size that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

import manymaps as mm
from claassen_words import K, Score, Words, read_words, score
from lib.results import markdown, options, store
from manymaps.affinity.affinities import Affinity, GaussianAffinity, LocalPerplexity
from manymaps.metrics import mu_global, mu_local

# Values of the thesis in percent. Of tables 2 and 3, only the rows of perplexity 5 and 50 and the
# best values are known here.
PRINTED_IRIS = {"principal components": 74.73, "benchmark": 77.53, "t-SNE": 78.33}
PRINTED = {
    5: {"local": (55.06, 59.80), "global": (46.21, 52.04)},
    50: {"local": (58.17, 61.33), "global": (52.13, 51.25)},
}
PRINTED_BEST, PRINTED_PCA = (58.92, 61.85), (23.4, 50.9)
LOCAL = "local perplexity"
TABLES = ("iris", "words", "rules")
SIZES = (5, 10, 20, 50)
IRIS_SEEDS, IRIS_PERPLEXITY, SD = 10, 15.0, 3.0

Rule = Callable[[float], Affinity]

two_sd = partial(LocalPerplexity, sd=2.0, min_neighbors=0)


def nearest_ten(perplexity: float) -> Affinity:
    """Return the better rule."""
    return two_sd(perplexity, weight=0.8, max_neighbors=10)


RULES: dict[str, Rule] = {
    "Gaussian": GaussianAffinity,
    "perplexities p/2, p, 2p": lambda p: GaussianAffinity((p / 2, p, 2 * p)),
    "3 sd, weight 0.5 (thesis)": LocalPerplexity,
    "3 sd, weight 0.9": lambda p: LocalPerplexity(p, weight=0.9),
    "2 sd, weight 0.5": two_sd,
    "2 sd, weight 0.9": lambda p: two_sd(p, weight=0.9),
    "nearest 7, weight 0.8": lambda p: two_sd(p, weight=0.8, max_neighbors=7),
    "nearest 10, weight 0.5": lambda p: two_sd(p, max_neighbors=10),
    "nearest 10, weight 0.8": nearest_ten,
    "nearest 10, weight 1": lambda p: two_sd(p, weight=1.0, max_neighbors=10),
    "nearest 15, weight 0.8": lambda p: two_sd(p, weight=0.8, max_neighbors=15),
    "nearest 20, weight 0.8": lambda p: two_sd(p, weight=0.8, max_neighbors=20),
}


def principal(data: np.ndarray) -> np.ndarray:
    """Compute the first two principal components."""
    return np.asarray(PCA(2, svd_solver="full").fit_transform(data))


def gaussian_rows(data: np.ndarray, perplexity: float) -> np.ndarray:
    """Compute Gaussian rows from distances instead of squared distances, as the program does."""
    distances = np.linalg.norm(data[:, None] - data[None], axis=2)
    affinity = GaussianAffinity(perplexity, n_neighbors=len(data) - 1)
    return affinity.similarities(np.sqrt(distances), metric="precomputed").toarray()


def local_rows(data: np.ndarray) -> np.ndarray:
    """Compute local rows from cosines, as the program does: a diagonal of 0, at least one word."""
    cosines = data @ data.T
    np.fill_diagonal(cosines, 0)
    threshold = cosines.mean(axis=0) + SD * cosines.std(axis=0, ddof=1)
    above = cosines >= np.maximum(threshold, np.finfo(float).tiny)[:, None]
    above[np.arange(len(cosines)), cosines.argmax(axis=1)] = True
    rows = np.where(above, cosines, 0)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def program_map(data: np.ndarray, perplexity: float, local: bool, max_iter: int) -> np.ndarray:
    """Fit a map to P of the program, which has no random numbers."""
    data = data.astype(np.float64)
    rows = gaussian_rows(data, perplexity)
    if local:
        rows = (rows + local_rows(data)) / 2
    start = principal(data)
    start *= 0.001 / start[:, 0].std(ddof=1)
    paper = mm.TSNE.claassen_2020(perplexity).set_params(
        affinity="precomputed", init=start, max_iter=max_iter, random_state=0
    )
    return np.asarray(paper.fit(rows).embedding_)


def text_map(data: np.ndarray, affinity: Affinity, seed: int, max_iter: int) -> np.ndarray:
    """Fit a map with the settings of the thesis and the given P."""
    paper = mm.TSNE.claassen_2020().set_params(
        affinity=affinity, max_iter=max_iter, random_state=seed
    )
    return np.asarray(paper.fit(data).embedding_)


def mean_of(scores: Sequence[Score], name: str) -> float:
    """Average a measure over the seeds."""
    return float(np.mean([getattr(one, name) for one in scores]))


def random_map(data: np.ndarray) -> Score:
    """Measure random positions."""
    return score(data, np.random.default_rng(0).normal(size=(len(data), 2)))


def iris_table(folder: Path | None, seeds: int, max_iter: int) -> None:
    """Compute table 1."""
    from sklearn.datasets import load_iris
    from sklearn.manifold import TSNE

    data = load_iris().data

    def benchmark(seed: int) -> np.ndarray:
        return np.asarray(
            TSNE(perplexity=IRIS_PERPLEXITY, init="pca", max_iter=max_iter, random_state=seed)
            .fit_transform(data)
        )  # fmt: skip

    gaussian = GaussianAffinity(IRIS_PERPLEXITY)
    maps: list[tuple[str, float | None, list[Score]]] = [
        ("random positions", None, [random_map(data)]),
        ("principal components", PRINTED_IRIS["principal components"],
         [score(data, principal(data))]),
        ("benchmark: TSne.jl (thesis), scikit-learn (here)", PRINTED_IRIS["benchmark"],
         [score(data, benchmark(seed)) for seed in range(seeds)]),
        ("t-SNE, P of the program", PRINTED_IRIS["t-SNE"],
         [score(data, program_map(data, IRIS_PERPLEXITY, False, max_iter))]),
        ("t-SNE, P of the text", PRINTED_IRIS["t-SNE"],
         [score(data, text_map(data, gaussian, seed, max_iter)) for seed in range(seeds)]),
    ]  # fmt: skip
    rows = [
        (name, printed, mean_of(scores, "local"), len(scores),
         float(np.std([one.local for one in scores])), scores[0].error)
        for name, printed, scores in maps
    ]  # fmt: skip
    store(
        folder,
        "claassen_iris.txt",
        f"Table 1, iris: percentage of the {K} nearest neighbours that are near in the map. "
        f"Perplexity {IRIS_PERPLEXITY:g}, start from principal components, {max_iter:,} iterations."
        " s.e.: standard error over the 150 flowers.",
        markdown(("iris", "thesis", "mean", "runs", "sd over runs", "s.e."), rows),
    )


def words_tables(
    words: Words, folder: Path | None, perplexities: Sequence[int], seeds: int, max_iter: int
) -> None:
    """Compute tables 2 and 3, with the better rule as a third column."""
    data = np.asarray(words.vectors["word2vec"].values)
    rules: dict[str, Rule] = {
        "Gaussian": GaussianAffinity, LOCAL: LocalPerplexity, "nearest ten": nearest_ten,
    }  # fmt: skip
    found: dict[tuple[str, int], list[Score]] = {}
    for p in perplexities:
        for local, name in enumerate(("program, Gaussian", f"program, {LOCAL}")):
            found[name, p] = [score(data, program_map(data, p, bool(local), max_iter))]
    for seed in range(seeds):
        for p in perplexities:
            for name, rule in rules.items():
                places = text_map(data, rule(p), seed, max_iter)
                found.setdefault((name, p), []).append(score(data, places))
        store_words(data, folder, found, perplexities, f"{max_iter:,}", seed + 1)


def store_words(
    data: np.ndarray,
    folder: Path | None,
    found: dict[tuple[str, int], list[Score]],
    perplexities: Sequence[int],
    max_iter: str,
    seeds: int,
) -> None:
    """Store tables 2 and 3 after so many seeds, because all seeds take long."""
    tables = [_words_table(found, perplexities, measure) for measure in ("local", "overall")]
    errors = [mean_of(scores, "error") for scores in found.values()]
    spreads = [float(np.std([one.local for one in scores])) for scores in found.values()]
    axes, chance = score(data, principal(data)), random_map(data)
    simple = markdown(
        ("simple map", "thesis, local", "local", "thesis, global", "global"),
        [
            ("random positions", None, chance.local, None, chance.overall),
            ("principal components", PRINTED_PCA[0], axes.local, PRINTED_PCA[1], axes.overall),
        ],
    )
    gains = {name: [mean_of(found[f"{name}{LOCAL}", p], "local")
                    - mean_of(found[f"{name}Gaussian", p], "local") for p in perplexities]
             for name in ("program, ", "")}  # fmt: skip
    best = {name: max(mean_of(found[name, p], "local") for p in perplexities)
            for name in ("program, Gaussian", f"program, {LOCAL}", "Gaussian", LOCAL)}  # fmt: skip
    summary = markdown(
        (LOCAL, "thesis", "program", "text"),
        [
            ("smallest gain", 2.3, min(gains["program, "]), min(gains[""])),
            ("mean gain", None, float(np.mean(gains["program, "])), float(np.mean(gains[""]))),
            ("largest gain", 4.7, max(gains["program, "]), max(gains[""])),
            ("best value, Gaussian", PRINTED_BEST[0], best["program, Gaussian"], best["Gaussian"]),
            ("best value, local perplexity", PRINTED_BEST[1], best[f"program, {LOCAL}"],
             best[LOCAL]),
            ("gain of the best value", PRINTED_BEST[1] - PRINTED_BEST[0],
             best[f"program, {LOCAL}"] - best["program, Gaussian"], best[LOCAL] - best["Gaussian"]),
        ],
    )  # fmt: skip
    store(
        folder,
        "claassen_words.txt",
        f"Tables 2 and 3: {len(data)} words of the thesis, word2vec, {max_iter} iterations. "
        f"program: P of the program of the thesis, one run, because it has no random numbers. The "
        f"other columns are P of the text, seeds: {seeds}. Local: percentage of the {K} "
        "nearest neighbours that are near in the map. Global: rank correlation of distances, in "
        f"percent. Standard errors over words: {min(errors):.2f} to {max(errors):.2f}; standard "
        f"deviations over seeds: at most {max(spreads):.2f}. An empty cell of the thesis is not "
        "known here.",
        summary,
        *tables,
        simple,
    )


def _words_table(
    found: dict[tuple[str, int], list[Score]], perplexities: Sequence[int], measure: str
) -> str:
    title = "local" if measure == "local" else "global"
    columns = ("program, Gaussian", f"program, {LOCAL}", "Gaussian", LOCAL, "nearest ten")
    head = ["perplexity", "thesis, Gaussian", f"thesis, {LOCAL}", *columns]
    rows = [
        (p, *PRINTED.get(p, {}).get(title, (None, None)),
         *(mean_of(found[name, p], measure) for name in columns))
        for p in perplexities
    ]  # fmt: skip
    return markdown([head[0], *(f"{name}: {title}" for name in head[1:])], rows)


def rules_table(
    words: Words, folder: Path | None, rules: dict[str, Rule], perplexity: float, max_iter: int
) -> None:
    """Compute the selection of the rule, on vectors that the tables above do not use."""
    rows = []
    for name, rule in rules.items():
        cells: list[float] = []
        for source in ("glove", "fasttext"):
            data = np.asarray(words.vectors[source].values)
            fit = mm.TSNE(affinity=rule(perplexity), init="pca", max_iter=max_iter, random_state=0)
            places = np.asarray(fit.fit(data).embedding_)
            cells += [100 * mu_local(data, places, k=k).mean for k in SIZES]
            cells.append(100 * mu_global(data, places).mean)
        rows.append((name, *cells))
    head = [f"{source}{end}" for source in ("GloVe", "fastText")
            for end in (*(f" {k}" for k in SIZES), ", global")]  # fmt: skip
    store(
        folder,
        "claassen_rules.txt",
        f"Rules of local perplexity at perplexity {perplexity:g}, on the GloVe and fastText vectors"
        f" of the 601 words, default settings of TSNE ({max_iter} iterations), one seed: percentage"
        " of the k nearest words that are near in the map (without the word itself), and the "
        "global measure.",
        markdown(("rule", *head), rows, digits=1),
    )


def main() -> None:
    """Compute the tables."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each setting")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, help="what to run")
    arguments = parser.parse_args()
    quick, folder = arguments.quick, arguments.store
    max_iter = 1_000 if quick else 10_000
    if "iris" in arguments.tables:
        iris_table(folder, 1 if quick else IRIS_SEEDS, max_iter)
    words = read_words()
    if words is None:
        return
    if "rules" in arguments.tables:
        rules = {name: RULES[name] for name in ("Gaussian", "nearest 10, weight 0.8")}
        rules_table(words, folder, rules if quick else RULES, 30, 100 if quick else 750)
    if "words" in arguments.tables:
        perplexities = [5] if quick else list(range(5, 51, 5))
        words_tables(words, folder, perplexities, 1 if quick else arguments.seeds, max_iter)


if __name__ == "__main__":
    main()
