"""Coverage of 95 % intervals: responses to words with known shares of senses, drawn repeatedly.

    python benchmarks/intervals.py [--words 100] [--draws 50]

The true strengths are those of some words of the included associations, so the true share of each
map is known. The responses are norms with 20, 50 or 100 responses per word, or trials of half as
many participants with one to three responses. The further responses of a participant are drawn
independently ("R123"), or with probability 0.7 from the map of the first response ("alike"), and
repeated responses are omitted, so the truth is the result of 20,000 participants. Each line lists
the share of the intervals of `manymaps.intervals` that contain the truth. They are intervals of

    strengths   with at least three expected participants
    listed      shares of listed senses, which have at least 5 % of the same responses
    true        shares of listed senses that have at least 5 % in truth
    10 %        shares of listed senses that have at least 10 % in truth
    number      effective number of senses, of the senses that have at least 5 % in truth
    of listed   effective number of senses, of the true shares of the listed senses

The last columns are the mean design effect, and the share of the senses with 5 % in truth that are
listed. The next lines contain the coverage for single nonzero proportions, by Jeffreys', Wilson's
and bootstrap intervals, and for the effective number by bootstrap percentiles. The last table is
the coverage of the effective number for 10 to 200 responses to words of two to five known senses.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import beta

import manymaps as mm
from manymaps.atlas.senses import Associates, associates_of, senses_of
from manymaps.data.trials import without_repeats
from manymaps.metrics.proportions import effective_number

ALIKE = 0.7
# Number of participants who determine the true strengths of trials.
MANY = 20_000
SENSES = ((0.5, 0.5), (0.8, 0.2), (0.6, 0.25, 0.15), (0.25,) * 4, (0.4, 0.25, 0.15, 0.12, 0.08))
FEW = (
    (0.5, 0.5), (0.6, 0.4), (0.7, 0.3), (0.8, 0.2), (0.85, 0.15), (0.9, 0.1), (0.95, 0.05),
    (1 / 3,) * 3, (0.6, 0.25, 0.15), (0.8, 0.1, 0.1), (0.25,) * 4, (0.7, 0.1, 0.1, 0.1),
    (0.4, 0.3, 0.2, 0.1), (0.2,) * 5, (0.4, 0.25, 0.15, 0.12, 0.08), (0.8, 0.05, 0.05, 0.05, 0.05),
)  # fmt: skip


def norms(labels: tuple[str, ...], truth: Associates, n: int, rng: np.random.Generator):
    """Draw n independent responses to each word."""
    bounds = zip(truth.offsets[:-1], truth.offsets[1:], strict=True)
    counts = np.concatenate([rng.multinomial(n, truth.strengths[a:b]) for a, b in bounds])
    cells = truth.words[truth.owners], truth.members
    table = sparse.csr_array((counts, cells), shape=(len(labels),) * 2)
    table.eliminate_zeros()
    return mm.Associations(labels, table)


def answers(p: Associates, n: int, alike: float, rng: np.random.Generator) -> np.ndarray:
    """Draw up to three different responses of n participants, (n_words, n, 3); -1 for none."""
    given = np.full((len(p.words), n, 3), -1)
    for w, (a, b) in enumerate(zip(p.offsets[:-1], p.offsets[1:], strict=True)):
        drawn = rng.choice(np.arange(a, b), (n, 3), p=p.strengths[a:b])
        tied = rng.random((n, 2)) < alike
        for m in np.unique(p.maps[drawn[:, 0]]):
            own = a + np.flatnonzero(p.maps[a:b] == m)
            rows, columns = np.nonzero(tied & (p.maps[drawn[:, :1]] == m))
            within = p.strengths[own] / p.strengths[own].sum()
            drawn[rows, 1 + columns] = rng.choice(own, len(rows), p=within)
        drawn[np.arange(3) >= rng.integers(1, 4, n)[:, None]] = -1
        given[w] = np.maximum(without_repeats(drawn), -1)
    return given


def trials(labels: tuple[str, ...], p: Associates, given: np.ndarray) -> mm.Trials:
    """Return the trials of participants who responded to all words."""
    n = given.shape[1]
    given = np.where(given >= 0, p.members[given], -1).reshape(-1, 3)
    people = [f"p{i}" for i in range(n)]
    return mm.Trials(
        labels, labels, np.repeat(p.words, n), given, np.tile(np.arange(n), len(p.words)), people
    )


def number_of(shares: np.ndarray) -> float:
    parts = shares / shares.sum()
    return float(np.exp(-(parts * np.log(parts)).sum()))


def covered(atlas: mm.Atlas, words: np.ndarray, n: int, kind: str, draws: int) -> list[float]:
    """Count the intervals that contain the truth."""
    rng = np.random.default_rng(n)
    truth = p = associates_of(atlas.choices, atlas.associations, words)
    alike = ALIKE if kind == "alike" else 0.0
    if kind != "norms":
        many = answers(p, MANY, alike, np.random.default_rng(9))
        counts = np.bincount(many[many >= 0], minlength=len(p.members))
        sums = np.bincount(p.owners, counts, len(words))
        truth = replace(p, strengths=counts / sums[p.owners])
    keys = truth.owners * atlas.n_maps + truth.maps
    shares = np.bincount(keys, truth.strengths, len(words) * atlas.n_maps).reshape(-1, atlas.n_maps)
    listed = senses_of(truth, atlas.n_maps)
    numbers = np.array([number_of(listed.shares[listed.of(w)]) for w in range(len(words))])
    strengths = sparse.csr_array(
        (truth.strengths, (words[truth.owners], truth.members)), shape=atlas.associations.shape
    )
    places = {label: i for i, label in enumerate(atlas.labels)}
    position = {atlas.labels[i]: w for w, i in enumerate(words.tolist())}
    held: list[list[np.ndarray]] = [[] for _ in range(8)]
    for _ in range(draws):
        if kind == "norms":
            data = norms(atlas.labels, p, n, rng)
        else:
            data = trials(atlas.labels, p, answers(p, n // 2, alike, rng))
        found = mm.intervals(data, atlas, words=[atlas.labels[i] for i in words], responses="keep")
        table = found.strengths
        rows, columns = ([places[x] for x in table[name]] for name in ("cue", "response"))
        true = strengths[rows, columns]
        held[0].append(_holds(table, true)[true * (n if kind == "norms" else n // 2) >= 3])
        table = found.shares
        word = np.array([position[label] for label in table["word"]])
        true = shares[word, table["map"]]
        holds = _holds(table, true)
        for column, least in zip((1, 2, 3), (0, 0.05, 0.1), strict=True):
            held[column].append(holds[true >= least])
        held[7].append(np.array([(true >= 0.05).sum() / len(listed.maps)]))
        table = found.effective_numbers
        of_listed = np.array([number_of(true[word == w]) for w in range(len(words))])
        held[4].append(_holds(table, numbers))
        held[5].append(_holds(table, of_listed))
        held[6].append(table["design_effect"])
    return [float(np.concatenate(each).mean()) for each in held]


def _holds(table: pd.DataFrame, true: np.ndarray) -> np.ndarray:
    return ((table["low"] - 1e-9 <= true) & (true <= table["high"] + 1e-9)).to_numpy()


def single_proportions(n: int, least: float, most: float) -> dict[str, tuple[float, float]]:
    """Count intervals that contain single proportions, and compute their mean width."""
    rng = np.random.default_rng(0)
    p = np.exp(rng.uniform(np.log(least), np.log(most), 20_000))
    y = rng.binomial(n, p)
    y, p = y[y > 0], p[y > 0]
    z, share = 1.959964, y / n
    spread = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    middle = share + z**2 / (2 * n)
    drawn = rng.binomial(n, share[:, None], (len(y), 500)) / n
    ends = {
        "Jeffreys": beta.ppf([[0.025], [0.975]], y + 0.5, n - y + 0.5),
        "Wilson": np.stack([middle - spread, middle + spread]) / (1 + z**2 / n),
        "percentiles": np.quantile(drawn, [0.025, 0.975], axis=1),
    }
    return {
        name: (float(((low <= p) & (p <= high)).mean()), float((high - low).mean()))
        for name, (low, high) in ends.items()
    }


def percentiles_of_number(shares: tuple[float, ...], n: int) -> float:
    """Count percentile intervals of a bootstrap that contain the effective number."""
    rng, p = np.random.default_rng(0), np.array(shares)

    def entropies(counts: np.ndarray) -> np.ndarray:
        parts = counts / n
        return -(parts * np.log(np.where(parts > 0, parts, 1))).sum(axis=-1)

    held = []
    for counts in rng.multinomial(n, p, 1000):
        low, high = np.quantile(entropies(rng.multinomial(n, counts / n, 500)), [0.025, 0.975])
        held.append(low <= entropies(p * n) <= high)
    return float(np.mean(held))


def number_of_few(shares: tuple[float, ...], n: int, draws: int) -> float:
    """Compute coverage for the effective number, with n responses to known senses."""
    p = np.array(shares)
    number = np.exp(-(p * np.log(p)).sum())
    drawn = np.sort(np.random.default_rng(0).multinomial(n, p, draws), axis=1)
    outcomes, times = np.unique(drawn, axis=0, return_counts=True)
    ends = np.array([effective_number(counts / n, n, 0.95)[1:] for counts in outcomes])
    covered = (ends[:, 0] - 1e-9 <= number) & (number <= ends[:, 1] + 1e-9)
    return float(times[covered].sum() / draws)


def main() -> None:
    parser = argparse.ArgumentParser(description="How often intervals hold the truth.")
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--draws", type=int, default=50)
    arguments = parser.parse_args()
    associations = mm.load_word_associations()
    atlas = mm.MultipleMapsTSNE(20, random_state=0).fit(associations).atlas_
    words = np.random.default_rng(0).choice(atlas.n_objects, arguments.words, replace=False)
    print("responses  kind   strengths  listed   true   10 %  number  of listed  design  found")
    for kind in ("norms", "R123", "alike"):
        for n in (20, 50, 100):
            told = covered(atlas, words, n, kind, arguments.draws)
            print(f"{n:9d}  {kind:<6} " + "  ".join(f"{each:6.3f}" for each in told), flush=True)
    for n in (50, 100, 150):
        for least, most in ((0.01, 0.5), (0.005, 0.05)):
            told = single_proportions(n, least, most)
            print(n, least, most, {k: f"{a:.3f}, width {b:.3f}" for k, (a, b) in told.items()})
    for shares in SENSES:
        print(shares, "percentiles of the number", f"{percentiles_of_number(shares, 100):.3f}")
    for shares in FEW:
        told = (f"{n}: {number_of_few(shares, n, 10_000):.3f}" for n in (10, 20, 50, 200))
        print(shares, "effective number by responses", *told)


if __name__ == "__main__":
    main()
