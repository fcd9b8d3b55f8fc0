"""Do the associations of language models have the structure of human associations?

    python examples/validation/humans_and_models.py [--fits DIR] [--maps 20] [--iterations 500]
                                                    [--quick]

Three networks are compared: the USF norms of people, and the norms of two language models (LWOW,
Abramski et al. 2025). All are made undirected, as LWOW is, restricted to the words that all of them
contain, and each row is divided by its sum. For each pair of networks, the first table lists

    overlap     mean over words of sum_j min(p_j, q_j), the share of associations in common
    neighbours  mean share of the ten nearest words in the maps that both atlases have in common
    meanings    B-cubed F of the meanings of one network against those of the other, over the
                associates that both list, for the words that the second network splits
    one group   the same F if the associates of each word are one group
    shuffled    the same F if the members of the groups of each word are shuffled

Rows for two seeds of one network show what repeated fits have in common, and rows for shuffled
words what unrelated networks have in common. The second table compares each network with two human
data sets: the meanings of homonyms (see homonyms.py), over the associates that the network lists,
and semantic priming (see priming.py), with 95 % intervals over words or items. Finally, the words
whose meanings differ most between people and each model are listed.

The norms, LWOW, homonyms and priming are read from MANYMAPS_DATA. Absent data sets are skipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from homonyms import HOMONYMS, Homonyms, Network, Partition, induced, read_homonyms
from priming import ITEMS, PRIMING, map_measures, read_items
from scipy import sparse
from usf_fits import DATA, NORMS, bootstrap_rows, correlations, with_interval

import manymaps as mm
from manymaps.metrics import sense_induction

MODELS = {"Mistral": "mistral", "Haiku": "haiku"}
N_NEAR, N_BOOTSTRAP = 10, 1000


def undirected(
    words: list[str], rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[list[str], sparse.csr_array]:
    """The words, and a symmetric table of weights without pairs of a word and itself."""
    kept = rows != columns
    table = sparse.coo_array((values[kept], (rows[kept], columns[kept])), (len(words),) * 2)
    return words, sparse.csr_array(table + table.T)


def networks(
    step: int = 1, *, people: bool = True, most: int | None = None, least: int = 1
) -> dict[str, mm.Associations]:
    """The networks that are present, restricted to their common words, or to every step-th.

    With `most`, only this number of words is used: those with the most associates in the network
    in which they have fewer. Each word has at least `least` associates among the other words.
    """
    tables = {}
    if people and NORMS.exists():
        norms = mm.read_associations(NORMS)
        rows, columns = norms.strengths.nonzero()
        words = [label.lower() for label in norms.labels]
        tables["people (USF)"] = undirected(words, rows, columns, norms.strengths.tocoo().data)
    for name, file in MODELS.items():
        path = DATA / "lwow" / f"{file}_edges.csv.gz"
        if path.exists():
            edges = pd.read_csv(path, keep_default_na=False)
            words = sorted({*edges["src"], *edges["tgt"]})
            place = {word: k for k, word in enumerate(words)}
            ends = (edges[side].map(place).to_numpy() for side in ("src", "tgt"))
            tables[name] = undirected(words, *ends, edges["wt"].to_numpy(np.float64))
    common = sorted(set.intersection(*(set(words) for words, _ in tables.values())))[::step]
    found = {}
    for name, (words, table) in tables.items():
        place = {word: k for k, word in enumerate(words)}
        chosen = np.array([place[word] for word in common])
        found[name] = table[chosen][:, chosen]
    if most is not None:
        degrees = np.min([np.diff(table.indptr) for table in found.values()], axis=0)
        best = np.sort(np.argsort(-degrees, kind="stable")[:most])
        common = [common[k] for k in best]
        found = {name: table[best][:, best] for name, table in found.items()}
    # Without one of the words, another may have too few associates.
    while True:
        kept = np.all([np.diff(table.indptr) >= least for table in found.values()], axis=0)
        if kept.all():
            break
        common = [word for word, keep in zip(common, kept, strict=True) if keep]
        found = {name: table[kept][:, kept] for name, table in found.items()}
    return {
        name: mm.Associations(common, sparse.csr_array(sparse.diags_array(1 / t.sum(axis=1)) @ t))
        for name, t in found.items()
    }


def fitted(norms: mm.Associations, name: str, seed: int, options: argparse.Namespace) -> mm.Atlas:
    """The atlas of a network, from the folder of fits if it is there."""
    path = options.fits and options.fits / f"study_{name.split()[0]}_{options.maps}_{seed}.atlas"
    if path and path.exists():
        return mm.load_atlas(path)
    fit = mm.MultipleMapsTSNE(options.maps, max_iter=options.iterations, random_state=seed)
    atlas = fit.fit(norms).atlas_
    if path:
        options.fits.mkdir(parents=True, exist_ok=True)
        atlas.save(path)
    return atlas


def overlap(one: mm.Associations, other: mm.Associations, order: np.ndarray) -> np.ndarray:
    """Share of associations in common, per word, with row order[i] of the other network."""
    return np.asarray(one.strengths.minimum(other.strengths[order]).sum(axis=1))


def common_near(one: mm.Atlas, other: mm.Atlas, order: np.ndarray) -> np.ndarray:
    """Share of the nearest words in common, per word, with row order[i] of the other atlas."""
    rows = np.arange(one.n_objects)
    mine = one.choices.strongest(rows, N_NEAR)
    theirs = other.choices.strongest(rows, N_NEAR)[order]
    return np.array([len(np.intersect1d(a, b)) / N_NEAR for a, b in zip(mine, theirs, strict=True)])


def agreement(one: Network, other: Network, change: Callable[[np.ndarray], np.ndarray]) -> float:
    """F of the meanings of one network, after a change, against those of another that splits."""
    owners, true, found = [], [], []
    for i in range(len(one.labels)):
        mine, theirs = one.meanings(i), other.meanings(i)
        shared, at, there = np.intersect1d(one.near(i), other.near(i), return_indices=True)
        if len(set(theirs[there].tolist())) > 1:
            owners.append(np.full(len(shared), i))
            true.append(theirs[there])
            found.append(change(mine)[at])
    if not owners:
        return np.nan
    parts = (np.unique(np.concatenate(x), return_inverse=True)[1] for x in (owners, true, found))
    return float(sense_induction(*parts).f)


def homonym_line(homonyms: Homonyms, network: Network) -> str:
    """F of the meanings and of one group, over the coded associates that the network lists."""
    coded = {}
    for word, associates in homonyms.associates.items():
        i = network.index.get(word)
        near = set() if i is None else {network.labels[j].lower() for j in network.near(i)}
        listed = np.array([other in near for other in associates])
        meanings = homonyms.columns["meaning"][word][listed]
        if len(set(meanings.tolist())) > 1:
            coded[word] = listed
    kept = Homonyms(
        {
            w: [o for o, x in zip(homonyms.associates[w], m, strict=True) if x]
            for w, m in coded.items()
        },
        {"meaning": {w: homonyms.columns["meaning"][w][m] for w, m in coded.items()}},
        {},
    )
    found = network.partition(kept, network.meanings)
    one: Partition = {word: np.zeros(mask.sum(), np.int64) for word, mask in coded.items()}
    words, rng = list(coded), np.random.default_rng(0)
    gains = []
    for _ in range(N_BOOTSTRAP // 4):
        drawn = [words[k] for k in rng.integers(len(words), size=len(words))]
        gains.append(induced(kept, found, drawn) - induced(kept, one, drawn))
    low, high = np.quantile(gains, [0.025, 0.975])
    return (
        f"{len(words)} homonyms, F {induced(kept, found, words):.3f}, one group "
        f"{induced(kept, one, words):.3f}, gain [{low:+.3f}, {high:+.3f}]"
    )


def priming_lines(norms: mm.Associations, atlas: mm.Atlas) -> list[str]:
    """Correlations of backward strength and backward similarity with priming."""
    items = read_items(norms)
    prime, target = items["Prime"], items["TargetWord"]
    pairs = [(norms.labels[a], norms.labels[b]) for a, b in zip(prime, target, strict=True)]
    measures = {
        "strength": norms.strengths[target, prime],
        "maps": map_measures(atlas, pairs)[1],
    }
    drawn = bootstrap_rows(len(prime))
    lines = []
    for interval, column in PRIMING.items():
        values = {
            name: with_interval(correlations(measure, items[column], drawn))
            for name, measure in measures.items()
        }
        lines.append(f"{interval}: " + ", ".join(f"{name} {v}" for name, v in values.items()))
    return lines


def most_different(one: Network, other: Network, count: int) -> list[str]:
    """The words that both networks split, with the least agreement of their meanings."""
    scores = []
    for i, word in enumerate(one.labels):
        shared, at, there = np.intersect1d(one.near(i), other.near(i), return_indices=True)
        parts = [
            np.unique(x, return_inverse=True)[1]
            for x in (one.meanings(i)[at], other.meanings(i)[there])
        ]
        if len(shared) >= 8 and all(part.max(initial=0) > 0 for part in parts):
            scores.append((sense_induction(np.zeros(len(shared), int), *parts).f, word))
    return [f"{word} ({score:.2f})" for score, word in sorted(scores)[:count]]


def show_pairs(
    norms: dict[str, mm.Associations], atlases: dict[str, list[mm.Atlas]], found: dict[str, Network]
) -> None:
    """Print the first table."""
    rng = np.random.default_rng(0)
    print("| networks | overlap | neighbours | meanings | one group | shuffled |")
    print("|---|---|---|---|---|---|")
    n = next(iter(norms.values())).n_objects
    same, mixed = np.arange(n), rng.permutation(n)
    for name, (first, *others) in atlases.items():
        for other in others:
            near = common_near(first, other, same).mean()
            print(f"| {name}, two seeds | | {near:.3f} | | | |")
    for one, other in combinations(norms, 2):
        ends, maps = (norms[one], norms[other]), (atlases[one][0], atlases[other][0])
        means = [overlap(*ends, same).mean(), common_near(*maps, same).mean()]
        scores = [
            agreement(found[one], found[other], change)
            for change in (lambda x: x, np.zeros_like, rng.permutation)
        ]
        print(f"| {one}, {other} | {' | '.join(f'{x:.3f}' for x in [*means, *scores])} |")
        low = [overlap(*ends, mixed).mean(), common_near(*maps, mixed).mean()]
        print(f"| {one}, {other}, words shuffled | {low[0]:.3f} | {low[1]:.3f} | | | |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Compare associations of people and models.")
    parser.add_argument("--fits", type=Path, metavar="DIR", help="folder of the fits")
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--quick", action="store_true", help="few words, to try the script")
    options = parser.parse_args()
    step = 1
    if options.quick:
        options.maps, options.iterations, step = 2, 5, 3
    norms = networks(step) if (DATA / "lwow").exists() else {}
    if len(norms) < 2:
        print(f"no LWOW at {DATA}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    atlases = {
        name: [fitted(each, name, seed, options) for seed in (0, 1)] for name, each in norms.items()
    }
    found = {name: Network(each) for name, each in norms.items()}
    print(f"% {next(iter(norms.values())).n_objects:,} words that all networks contain\n")
    show_pairs(norms, atlases, found)
    print(
        "\n| network | homonyms, F [95 % of the gain] | "
        + " | ".join(PRIMING)
        + " |\n|---|---|---|---|"
    )
    for name in norms:
        cells = [homonym_line(read_homonyms(), found[name]) if HOMONYMS.exists() else ""]
        if ITEMS.exists():
            cells += priming_lines(norms[name], atlases[name][0])
        print(f"| {name} | {' | '.join(cells)} |")
    for one, other in combinations(norms, 2):
        words = ", ".join(most_different(found[one], found[other], 12))
        print(f"\n{one} and {other} differ most: {words}")


if __name__ == "__main__":
    main()
