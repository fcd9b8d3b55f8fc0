"""Coverage of intervals: responses to a word with planted senses, drawn repeatedly.

    python benchmarks/intervals.py [--draws 1000]

The word has two to five senses of six words each. Its responses are norms with a number of
responses, or trials. A trial has one response, or up to three different ones. These come from
different senses ("R123"), or with probability 0.7 from one sense that the participant has in mind
("alike"). Each line lists the share of the 95 % intervals of `manymaps.intervals` that contain the
truth, which is the result of 200,000 trials. They are intervals of the strengths (with at least
three expected participants), of the shares of the senses, and of the ambiguity. It also lists the
mean design effect.

Below are the least, the mean and the most. The next lines contain the same for single nonzero
proportions, by Jeffreys', Wilson's and bootstrap intervals, and for the ambiguity by bootstrap
percentiles. The last table is the coverage of the ambiguity of 10 to 200 responses to words of two
to five senses, in ten times as many draws.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import sparse
from scipy.stats import beta

import manymaps as mm
from manymaps.metrics.proportions import effective_number
from manymaps.model import MULTIPLE_MAPS_T_SNE

WORDS = 6
ALIKE = 0.7
SENSES = ((0.5, 0.5), (0.8, 0.2), (0.6, 0.25, 0.15), (0.25,) * 4, (0.4, 0.25, 0.15, 0.12, 0.08))
FEW = (
    (0.5, 0.5), (0.6, 0.4), (0.7, 0.3), (0.8, 0.2), (0.85, 0.15), (0.9, 0.1), (0.95, 0.05),
    (1 / 3,) * 3, (0.6, 0.25, 0.15), (0.8, 0.1, 0.1), (0.25,) * 4, (0.7, 0.1, 0.1, 0.1),
    (0.4, 0.3, 0.2, 0.1), (0.2,) * 5, (0.4, 0.25, 0.15, 0.12, 0.08), (0.8, 0.05, 0.05, 0.05, 0.05),
)  # fmt: skip
STUDIES = (
    (40, "norms"), (100, "norms"), (300, "norms"), (100, "R1"), (100, "R123"), (100, "alike"),
    (50, "alike"),
)  # fmt: skip


def planted(shares: tuple[float, ...]) -> tuple[mm.Atlas, np.ndarray]:
    """Create an atlas with the senses, and the frequency of each response to the word."""
    n = 1 + len(shares) * WORDS
    table, frequencies = np.zeros((n, n)), 1 / np.arange(1, WORDS + 1)
    for s, share in enumerate(shares):
        members = 1 + s * WORDS + np.arange(WORDS)
        table[np.ix_(members, members)] = 1 / (WORDS - 1)
        table[0, members] = share * frequencies / frequencies.sum()
    np.fill_diagonal(table, 0)
    maps = np.random.default_rng(0).normal(size=(len(shares), n, 2))
    atlas = mm.Atlas(
        [f"w{i}" for i in range(n)],
        maps,
        np.full(maps.shape[:2], 1 / len(shares)),
        MULTIPLE_MAPS_T_SNE,
        associations=sparse.csr_array(table),
    )
    return atlas, table[0]


def answers(p: np.ndarray, n: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Draw up to three responses of each of n participants, -1 for none; shape (n, 3)."""
    k = np.ones(n, int) if kind == "R1" else rng.integers(1, 4, n)
    given = rng.choice(len(p), (n, 3), p=p)
    if kind == "alike":
        sense = (given[:, 0] - 1) // WORDS
        frequencies = 1 / np.arange(1, WORDS + 1)
        within = rng.choice(WORDS, (n, 3), p=frequencies / frequencies.sum())
        own = rng.random(n) < ALIKE
        given[own] = (1 + sense[:, None] * WORDS + within)[own]
    given[np.arange(3) >= k[:, None]] = -1
    for j in (1, 2):
        again = (given[:, :j] == given[:, j : j + 1]).any(axis=1)
        given[again, j] = -1
    return given


def study(atlas: mm.Atlas, p: np.ndarray, n: int, kind: str, rng: np.random.Generator):
    """Create the responses of n participants to the word; every response has also been a cue."""
    if kind == "norms":
        table = sparse.lil_array((len(p), len(p)))
        table[0] = rng.multinomial(n, p)
        return mm.Associations(atlas.labels, sparse.csr_array(table))
    others = np.arange(1, len(p))
    rest = np.stack([0 * others, -1 + 0 * others, -1 + 0 * others], axis=1)
    return mm.Trials(
        atlas.labels,
        atlas.labels,
        np.concatenate([np.zeros(n, int), others]),
        np.concatenate([answers(p, n, kind, rng), rest]),
        np.concatenate([np.arange(n), n + others]),
        [f"p{i}" for i in range(n + len(p))],
    )


def covered(shares: tuple[float, ...], n: int, kind: str, draws: int) -> tuple[list[float], float]:
    """Count the intervals of strengths, shares and ambiguity that contain the truth."""
    rng, (atlas, p) = np.random.default_rng(3), planted(shares)
    truth = p
    if kind not in ("norms", "R1"):
        many = answers(p, 200_000, kind, np.random.default_rng(9))
        truth = np.bincount(many[many >= 0], minlength=len(p)) / (many >= 0).sum()
    parts = truth[1:].reshape(len(shares), WORDS).sum(axis=1)
    number = np.exp(-(parts * np.log(parts)).sum())
    held: list[list[bool]] = [[], [], []]
    effects = []
    for _ in range(draws):
        found = mm.intervals(study(atlas, p, n, kind, rng), atlas, words=["w0"])
        told = [(found.strength("w0", f"w{j}"), truth[j]) for j in np.flatnonzero(truth * n >= 3)]
        held[0] += [one is not None and one.low <= true <= one.high for one, true in told]
        told = [(found.share("w0", f"w{1 + s * WORDS}"), part) for s, part in enumerate(parts)]
        held[1] += [one.low <= true <= one.high for one, true in told]
        one = found.ambiguity("w0")
        held[2].append(one.low - 1e-9 <= number <= one.high + 1e-9)
        effects.append(found.ambiguities["design_effect"][0])
    return [float(np.mean(each)) for each in held], float(np.mean(effects))


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


def percentiles_of_ambiguity(shares: tuple[float, ...], n: int) -> float:
    """Count percentile intervals of a bootstrap that contain the ambiguity."""
    rng, p = np.random.default_rng(0), np.array(shares)

    def entropies(counts: np.ndarray) -> np.ndarray:
        parts = counts / n
        return -(parts * np.log(np.where(parts > 0, parts, 1))).sum(axis=-1)

    held = []
    for counts in rng.multinomial(n, p, 1000):
        low, high = np.quantile(entropies(rng.multinomial(n, counts / n, 500)), [0.025, 0.975])
        held.append(low <= entropies(p * n) <= high)
    return float(np.mean(held))


def ambiguity_of_few(shares: tuple[float, ...], n: int, draws: int) -> float:
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
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    rows = []
    print("senses, people, study: strengths, shares, ambiguity; design effect")
    for shares in SENSES:
        for n, kind in STUDIES:
            held, effect = covered(shares, n, kind, draws)
            rows.append(held)
            told = " ".join(f"{each:.3f}" for each in held)
            print(shares, n, kind, told, f"{effect:.2f}", flush=True)
    for name, each in zip(
        ("strengths", "shares", "ambiguity"), zip(*rows, strict=True), strict=True
    ):
        print(f"{name}: {min(each):.3f} to {max(each):.3f}, mean {np.mean(each):.3f}")
    for n in (50, 100, 150):
        for least, most in ((0.01, 0.5), (0.005, 0.05)):
            told = single_proportions(n, least, most)
            print(n, least, most, {k: f"{a:.3f}, width {b:.3f}" for k, (a, b) in told.items()})
    for shares in SENSES:
        print(shares, "percentiles of ambiguity", f"{percentiles_of_ambiguity(shares, 100):.3f}")
    for shares in FEW:
        told = (f"{n}: {ambiguity_of_few(shares, n, 10 * draws):.3f}" for n in (10, 20, 50, 200))
        print(shares, "ambiguity by answers", *told)


if __name__ == "__main__":
    main()
