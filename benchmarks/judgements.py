"""Measure how often intervals of evaluations on judgements contain the truth.

    python benchmarks/judgements.py [--draws 1000]

**Ratings.** A rating and two measures of the pair (i, j) have word effects u and pair effects e,

    x_ij = sqrt(w / 2) (u_i + u_j) + sqrt(1 - w) e_ij

standard normal, with correlations .7, .3 and .4 of the word effects (rating with the first measure,
with the second, and the measures with each other) and .5, .2 and .3 of the pair effects; w is the
variance share of words. The true correlations follow: those of normal variables, and for Spearman's
6 / pi arcsin(r / 2). Words are drawn into random pairs, each word into the same number of pairs,
and each pair occurs once. One line per setting: the coverage of 95 % intervals of Pearson's,
its gain (first measure less second), Spearman's and its gain, by a bootstrap over pairs (300
samples) and by `manymaps.metrics.pair_correlations`.

**Triplets.** An atlas of 30 objects in the plane; participants choose by its log similarities and
effects of the question, normal with standard deviation 1, shared by all answers to it. Questions
are drawn at random in each study; the truth is the accuracy in 200,000 questions. One line per
setting: the coverage of 95 % intervals of the accuracy over answers and over questions; the true
ceiling (the mean probability of the most probable answer), the mean accuracy of the majority and of
the majority of the other answers, the mean bounds, and the share of studies in which the ceiling of
the questions asked is within the bounds.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import rankdata

import manymaps as mm
from manymaps.metrics.pair_correlations import pair_correlation
from manymaps.model import T_SNE

WORDS = np.array([[1, 0.7, 0.3], [0.7, 1, 0.4], [0.3, 0.4, 1]])
PAIRS = np.array([[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 1]])
RATINGS = ((100, 1, 0.5), (400, 1, 0.5), (400, 4, 0.5), (400, 4, 0.8), (400, 16, 0.5),
           (400, 16, 0.8), (1000, 16, 0.5), (1000, 16, 0.8))  # fmt: skip
TRIPLETS = ((400, 1), (60, 2), (60, 3), (60, 10), (60, 50), (500, 3))
OBJECTS = 30


def random_pairs(n_pairs: int, per_word: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the words of different pairs, each word in as many; shape (2, n_pairs)."""
    words = np.repeat(np.arange(2 * n_pairs // per_word), per_word)
    pairs = rng.permutation(words).reshape(2, n_pairs)
    while True:
        low, high = pairs.min(axis=0), pairs.max(axis=0)
        wrong = np.ones(n_pairs, bool)
        wrong[np.unique(low * len(words) + high, return_index=True)[1]] = False
        wrong |= low == high
        if not wrong.any():
            return pairs
        for k in np.flatnonzero(wrong):
            other = rng.integers(n_pairs)
            pairs[1, [k, other]] = pairs[1, [other, k]]


def resampled_ends(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Percentiles of a bootstrap over pairs, of the first correlation and the gain; (2, 2)."""
    draws = values[:, rng.integers(values.shape[1], size=(300, values.shape[1]))]
    centred = draws - draws.mean(axis=2, keepdims=True)
    unit = centred / np.sqrt((centred**2).sum(axis=2, keepdims=True))
    first, second = (unit[0] * unit[1]).sum(axis=1), (unit[0] * unit[2]).sum(axis=1)
    return np.quantile([first, first - second], [0.025, 0.975], axis=1).T


def ratings_coverage(n_pairs: int, per_word: int, share: float, draws: int) -> np.ndarray:
    """Coverage by the bootstrap over pairs and by the jackknife over words, (2, 4)."""
    rng = np.random.default_rng(0)
    truth = (share * WORDS + (1 - share) * PAIRS)[0, 1:]
    spearman = 6 / np.pi * np.arcsin(truth / 2)
    covered = []
    for _ in range(draws):
        a, b = random_pairs(n_pairs, per_word, rng)
        u = np.linalg.cholesky(WORDS) @ rng.normal(size=(3, a.max() + b.max() + 1))
        e = np.linalg.cholesky(PAIRS) @ rng.normal(size=(3, n_pairs))
        values = np.sqrt(share / 2) * (u[:, a] + u[:, b]) + np.sqrt(1 - share) * e
        row: list[list[bool]] = [[], []]
        for ranks, (one, other) in ((False, truth), (True, spearman)):
            first, second = (
                pair_correlation(measure, values[0], a, b, ranks=ranks) for measure in values[1:]
            )
            # A bootstrap of ranks gives nearly the percentiles of one that ranks each sample.
            drawn = resampled_ends(rankdata(values, axis=1) if ranks else values, rng)
            own = np.array([first.interval()[1:], first.gain(second)[1:]])
            for kind, ends in zip(row, (drawn, own), strict=True):
                kind += [low <= true <= high for (low, high), true in
                         zip(ends, (one, one - other), strict=True)]  # fmt: skip
        covered.append(row)
    return np.mean(covered, axis=0)


def asked(atlas: mm.Atlas, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Objects of n questions, (n, 3), and the probability that each is the odd one."""
    sets = np.argsort(rng.random((n, OBJECTS)), axis=1)[:, :3]
    pairs = ((1, 2), (0, 2), (0, 1))
    logs = np.stack([atlas.choices.log_pair_similarities(sets[:, i], sets[:, j])
                     for i, j in pairs], axis=1)  # fmt: skip
    p = np.exp(logs + rng.normal(size=logs.shape))
    return sets, p / p.sum(axis=1, keepdims=True)


def triplets_coverage(n: int, times: int, draws: int) -> list[float]:
    """What the module describes, in the same order."""
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(1, OBJECTS, 2))
    atlas = mm.Atlas([f"w{i}" for i in range(OBJECTS)], maps, np.ones((1, OBJECTS)), T_SNE)
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])
    sets, p = asked(atlas, 200_000, rng)
    predicted = [mm.Triplets(np.take_along_axis(sets, np.tile(order[c], (len(sets), 1)), 1))
                 for c in range(3)]  # fmt: skip
    hits = np.stack([np.asarray(_hits(atlas, one)) for one in predicted], axis=1)
    truth = float((hits * p).sum(axis=1).mean())
    rows = []
    for _ in range(draws):
        sets, p = asked(atlas, n, rng)
        odd = (rng.random((n, times, 1)) > np.cumsum(p, axis=1)[:, None, :2]).sum(axis=2).ravel()
        values = np.take_along_axis(np.repeat(sets, times, axis=0), order[odd], axis=1)
        found = mm.evaluate(atlas, mm.Triplets(values, atlas.labels))
        own, answers = found.accuracy["atlas"], found.hits["atlas"]
        error = 1.96 * answers.std(ddof=1) / len(answers) ** 0.5
        row = [abs(own.value - truth) <= error, own.low <= truth <= own.high]
        if found.ceiling is not None:
            best, c = p.max(axis=1).mean(), found.ceiling
            inside = c.at_least <= best <= c.at_most
            row += [best, c.majority, c.others, c.at_least, c.at_most, inside]
        rows.append(row)
    return np.mean(np.array(rows, dtype=float), axis=0).tolist()


def _hits(atlas: mm.Atlas, triplets: mm.Triplets) -> np.ndarray:
    from manymaps.analysis.triplet_evaluation import choice_accuracy

    return choice_accuracy(triplets, atlas.choices.log_pair_similarities)


def main() -> None:
    """Print a line per setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    print("pairs, pairs per word, share of words: Pearson, gain, Spearman, gain")
    for setting in RATINGS:
        before, after = ratings_coverage(*setting, draws).round(3).tolist()
        print(*setting, "over pairs", before, "over words", after, flush=True)
    print("questions, times: coverage over answers, over questions; ceiling, majority, others,"
          " at least, at most, within")  # fmt: skip
    for setting in TRIPLETS:
        print(*setting, *(f"{each:.3f}" for each in triplets_coverage(*setting, draws)), flush=True)


if __name__ == "__main__":
    main()
