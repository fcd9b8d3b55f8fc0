"""Additive clustering as in Tenenbaum, Learning the structure of similarity, NIPS 8 (1996).

    python examples/tenenbaum_1996.py [--sets 20] [--starts 100] [--quick] [-o FOLDER]

1. Artificial data (section 3.1): 12 stimuli, 8 classes at random, weights from [0.1, 0.6], and
   normal noise with a standard deviation of 5 % of the mean similarity. Sets with an unidentifiable
   class are drawn again: a class of fewer than two members, or a repeated one. "EM, first run" is
   one run of `AdditiveClustering.tenenbaum_1996`, "EM, best of five" is that estimator with the
   five starts of section 3.2, and "default" is one run of our default, a long annealing followed by
   a search. With fewer clusters than classes, the best fit need not be the heaviest classes.
   Therefore, the fits that are at least as good are counted as well.
2. The integers 0 to 9 (section 3.2, table 1).
3. Sixteen consonants (section 3.3, table 2).

The measured similarities of 2 and 3 are read from MANYMAPS_DATA and scaled to [0, 1], as the
printed weights imply. The constant is at least 0, as in the paper, where it is the weight of a
cluster of all objects. With -o the script draws the clusters over a map of the similarities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from lib.real_data import data_file
from lib.results import markdown, options, store
from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.scaling import similarity_map
from manymaps.datasets import (
    CONSONANT_CLUSTERS,
    CONSONANT_CONSTANT,
    INTEGER_CLUSTERS,
    INTEGER_CONSTANT,
)
from manymaps.figures.features import plot_features
from manymaps.figures.maps import save_figure
from manymaps.io.similarities import read_similarities

N, K, WEIGHTS, NOISE = 12, 8, (0.1, 0.6), 0.05
PRINTED_ITERATIONS, PRINTED_CORRELATION = 58, 0.948
REPEATS, RANDOM = 10, 1000

Fit = Callable[[int, int], AdditiveClustering]


class AdditiveSimilarities(NamedTuple):
    """Similarities (n, n) with the memberships (n, K) and weights (K,) of their clusters."""

    similarities: np.ndarray
    memberships: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Printed:
    """A table of the paper, the file of the similarities, and an older result."""

    name: str
    file: str
    clusters: Mapping[tuple[str, ...], float]
    constant: float
    percent: float
    other: tuple[str, float]


INTEGERS = Printed(
    "integers", "similarity/numbers10_similarity.csv", INTEGER_CLUSTERS, INTEGER_CONSTANT, 90.9,
    ("ADCLUS (Shepard & Arabie 1979), 10 clusters", 83.1),
)  # fmt: skip
CONSONANTS = Printed(
    "consonants", "similarity/phonemes16_confusion.csv", CONSONANT_CLUSTERS, CONSONANT_CONSTANT,
    90.2, ("MAPCLUS (Arabie & Carroll 1980), 8 clusters", 88.3),
)  # fmt: skip


def paper(k: int, seed: int) -> AdditiveClustering:
    """Return the algorithm of the paper with five starts."""
    return AdditiveClustering.tenenbaum_1996(k).set_params(random_state=seed)


def paper_once(k: int, seed: int) -> AdditiveClustering:
    """Return the algorithm of the paper with one start."""
    return paper(k, seed).set_params(n_init=1)


def default_once(k: int, seed: int) -> AdditiveClustering:
    """Return the default with one start."""
    return AdditiveClustering(k, n_init=1, constant="nonnegative", random_state=seed)


WAYS: dict[str, Fit] = {
    "EM, first run": paper_once, "EM, best of five": paper, "default, first run": default_once,
}  # fmt: skip


def random_classes(rng: np.random.Generator, k: int, n: int = N) -> np.ndarray:
    """Draw memberships (n, k) with P(f = 1) = 1 / 2; all differ and have two members or more."""
    members = np.zeros((n, k), np.int8)
    while members.sum(axis=0).min() < 2 or len(np.unique(members.T, axis=0)) < k:
        members = (rng.random((n, k)) < 0.5).astype(np.int8)
    return members


def make_additive_similarities(rng: np.random.Generator) -> AdditiveSimilarities:
    """Draw s_ij = sum_k w_k f_ik f_jk + noise, with 5 % of the mean similarity (section 3.1)."""
    members = random_classes(rng, K)
    weights = np.sort(rng.uniform(*WEIGHTS, K))[::-1]
    upper = np.triu_indices(N, 1)
    exact = ((members * weights) @ members.T)[upper]
    values = np.full((N, N), np.nan)
    values[upper] = exact + NOISE * exact.mean() * rng.normal(size=exact.shape)
    return AdditiveSimilarities(np.where(np.isnan(values), values.T, values), members, weights)


def columns(members: np.ndarray) -> list[tuple[int, ...]]:
    """Return classes in a form that can be looked up."""
    return [tuple(int(x) for x in column) for column in members.T]


def weight_pairs(found: AdditiveClustering, data: AdditiveSimilarities) -> np.ndarray:
    """Pair the true with the fitted weights of the classes that are found exactly; shape (2, m)."""
    got = dict(zip(columns(found.memberships_), found.weights_, strict=True))
    truth = zip(columns(data.memberships), data.weights, strict=True)
    return np.array([(w, got[one]) for one, w in truth if one in got]).reshape(-1, 2).T


def significant(found: AdditiveClustering) -> int:
    """Count the weights before the largest ratio of one weight to the next."""
    weights = np.maximum(found.weights_, 0.01 * found.weights_[0])
    return 1 + int(np.argmax(weights[:-1] / weights[1:]))


def settled(found: AdditiveClustering) -> int:
    """Count the EM iterations until the variance accounted for no longer changes."""
    vaf = found.history_["vaf"]
    return int(np.flatnonzero(np.abs(vaf - vaf[-1]) > 1e-9).max(initial=-1)) + 2


def percent_explained(
    values: np.ndarray, members: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Compute the variance that memberships (n, K) account for, with given or best weights."""
    upper = np.triu_indices(len(values), 1)
    s = values[upper]
    design = np.column_stack([*(np.outer(one, one)[upper] for one in members.T), np.ones(len(s))])
    if weights is None:
        weights = nnls(design.astype(float), s)[0]
    return 100 * float(1 - ((s - design @ weights) ** 2).sum() / ((s - s.mean()) ** 2).sum())


def hit_counts(
    k: int, sets: Sequence[AdditiveSimilarities], found: Sequence[np.ndarray]
) -> np.ndarray:
    """Count the heaviest min(k, K) classes that are among the memberships found, per set."""
    top = min(k, K)
    return np.array([
        len(set(columns(one.memberships[:, :top])) & set(columns(members)))
        for one, members in zip(sets, found, strict=True)
    ])  # fmt: skip


def recovered(k: int, hits: np.ndarray) -> list[tuple[str, str, np.ndarray]]:
    """Name what the paper counts, its count, and whether each set reaches it."""
    if k == 8:
        return [("all eight classes", "10 of 10", hits == 8)]
    if k == 7:
        return [("the seven heaviest", "9 of 10", hits == 7)]
    if k == 5:
        return [
            ("four of the top five or more", "6 of 10", hits >= 4),
            ("three of them or more", "10 of 10", hits >= 3),
        ]
    return [("all eight classes", "", hits == 8)]


def artificial_table(folder: Path | None, n_sets: int, counts: Sequence[int]) -> None:
    """Compute section 3.1."""
    rng = np.random.default_rng(1996)
    sets = [make_additive_similarities(rng) for _ in range(n_sets)]
    rows: list[list[object]] = []
    iterations: list[int] = []
    correlations = []
    for k in counts:
        top = min(k, K)
        heaviest = [percent_explained(one.similarities, one.memberships[:, :top]) for one in sets]
        fits = {
            name: [fit(k, seed).fit(one.similarities) for seed, one in enumerate(sets)]
            for name, fit in WAYS.items()
        }
        found = {name: [fit.memberships_ for fit in way] for name, way in fits.items()}
        found["random classes"] = [random_classes(rng, k) for _ in sets]
        counted = {name: recovered(k, hit_counts(k, sets, ways)) for name, ways in found.items()}
        for at, (what, printed, _) in enumerate(counted["EM, first run"]):
            rows.append([k, what, printed, *(f"{way[at][2].sum()} of {n_sets}"
                                             for way in counted.values())])  # fmt: skip
        if k < K:
            as_good = [
                sum(percent_explained(one.similarities, members) > least - 1e-7
                    for one, members, least in zip(sets, way, heaviest, strict=True))
                for way in found.values()
            ]  # fmt: skip
            rows.append([k, f"a fit as good as the top {k}", "",
                         *(f"{count} of {n_sets}" for count in as_good)])  # fmt: skip
        if k > K:
            eight = [sum(significant(fit) == K for fit in way) for way in fits.values()]
            rows.append([k, "eight significant weights", "10 of 10",
                         *(f"{count} of {n_sets}" for count in eight), ""])  # fmt: skip
        if k == 8:
            iterations = [settled(fit) for fit in fits["EM, first run"]]
        if k == 7:
            for way in fits.values():
                pairs = [weight_pairs(fit, one) for fit, one in zip(way, sets, strict=True)]
                correlations.append(np.corrcoef(np.concatenate(pairs, axis=1))[0, 1])
        print(f"{k} clusters done", flush=True)
    r = ", ".join(f"{value:.3f}" for value in correlations)
    store(
        folder,
        "tenenbaum_artificial.txt",
        f"Section 3.1: {N} stimuli, {K} classes, noise of 5 % of the mean similarity; {n_sets} "
        "sets, and 10 in the paper. EM: AdditiveClustering.tenenbaum_1996, 150 iterations of 100 "
        "unrecorded and 50 recorded sweeps, without a search. Default: annealing and a search. "
        "Random classes: drawn like the true ones.",
        markdown(("clusters", "recovered", "paper", *found), rows),
        f"With eight clusters, the clusters of EM are constant after {np.mean(iterations):.0f} "
        f"iterations on average (paper: {PRINTED_ITERATIONS}\niterations). With seven clusters, "
        "the weights of the recovered classes have these correlations with the\ntrue weights, in "
        f"the order of the columns: {r} (paper: {PRINTED_CORRELATION}).\n",
    )


def similarities(printed: Printed) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Read the measured table, scaled to [0, 1], with unknown diagonal; None without the data."""
    path = data_file(printed.file)
    if path is None:
        return None
    table = read_similarities(path)
    values = table.to_numpy(copy=True)
    np.fill_diagonal(values, np.nan)
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low), tuple(table.index)


def real_table(folder: Path | None, printed: Printed, n_init: int, figures: Path | None) -> None:
    """Compute sections 3.2 and 3.3: the clusters, and the variance of each algorithm."""
    read = similarities(printed)
    if read is None:
        return
    values, labels = read
    best = default_once(8, 0).set_params(n_init=n_init).fit(values, labels=labels)
    repeats = [
        100 * paper(8, seed).fit(values).variance_accounted_for_ for seed in range(REPEATS)
    ]  # fmt: skip
    members = np.array([[label in one for one in printed.clusters] for label in labels])
    weights = np.array([*printed.clusters.values(), printed.constant])
    rng = np.random.default_rng(0)
    chance = [
        percent_explained(values, random_classes(rng, 8, len(labels))) for _ in range(RANDOM)
    ]  # fmt: skip
    variance = markdown(
        ("8 clusters", "paper, %", "here, %"),
        [
            (f"EM of the paper, best of five starts (mean of {REPEATS} seeds)", printed.percent,
             float(np.mean(repeats))),
            ("the same, lowest seed", None, min(repeats)),
            ("the same, highest seed", None, max(repeats)),
            ("the printed clusters with the printed weights", printed.percent,
             percent_explained(values, members, weights)),
            ("the printed clusters with the best weights", None,
             percent_explained(values, members)),
            (f"default, best of {n_init} starts", None, 100 * best.variance_accounted_for_),
            (printed.other[0], printed.other[1], None),
            (f"random clusters with the best weights (mean of {RANDOM:,})", None,
             float(np.mean(chance))),
        ],
    )  # fmt: skip
    left = dict(printed.clusters)
    rows: list[tuple[object, ...]] = [
        (" ".join(one.members), left.pop(one.members, None), one.weight) for one in best.clusters_
    ]
    rows += [(" ".join(names), weight, None) for names, weight in left.items()]
    rows.append(("constant", printed.constant, best.constant_))
    store(
        folder,
        f"tenenbaum_{printed.name}.txt",
        f"The measured {printed.name}, scaled to lie between 0 and 1, with a constant of at least "
        "0: variance accounted for, then the clusters of the default with their weights. An empty "
        "cell is a cluster of only one of the two solutions.",
        variance,
        markdown(("cluster", "paper", "here"), rows, digits=3),
    )
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
        figure = plot_features(similarity_map(values, labels), best)
        save_figure(figure, figures / f"{printed.name}.png")


def path_table(folder: Path | None, last: int, n_init: int) -> None:
    """Compute the best fit to the integers for each number of clusters."""
    read = similarities(INTEGERS)
    if read is None:
        return
    rows = []
    for k in range(2, last + 1):
        fits = [
            default_once(k, 0).set_params(solver=solver, n_init=n_init).fit(read[0])
            for solver in ("gibbs", "annealing")
        ]
        rows.append((k, 100 * max(fit.variance_accounted_for_ for fit in fits)))
    store(
        folder,
        "tenenbaum_path.txt",
        f"Variance accounted for by the best of {n_init} starts of each of two solvers on the "
        "measured integers, with a constant of at least 0.",
        markdown(("clusters", "integers, %"), rows),
    )


def main() -> None:
    """Compute the tables."""
    parser = options(__doc__)
    parser.add_argument("--sets", type=int, default=20, help="sets of artificial data")
    parser.add_argument("--starts", type=int, default=100, help="random starts on real data")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="for figures")
    arguments = parser.parse_args()
    quick = arguments.quick
    n_sets, n_init = (4, 5) if quick else (arguments.sets, arguments.starts)
    artificial_table(arguments.store, n_sets, (8, 7) if quick else (8, 7, 5, 12))
    for printed in (INTEGERS, CONSONANTS):
        real_table(arguments.store, printed, n_init, arguments.output)
    path_table(arguments.store, 3 if quick else 10, n_init)


if __name__ == "__main__":
    main()
