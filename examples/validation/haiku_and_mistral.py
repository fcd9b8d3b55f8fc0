"""Which meanings does one language model have that another model lacks?

    python examples/validation/haiku_and_mistral.py [--words 3000] [--maps 20] [--iterations 300]
                                                    [--fits DIR] [--quick]

The norms of two language models (LWOW, Abramski et al. 2025) are compared over well connected
words. The associates of a word are counted in both networks, and the smaller number determines its
rank. The first 3,000 words are selected. Words with fewer than three associates among the selected
words are then excluded. Each row is divided by its sum. The first table lists measures with
95 % intervals over words or maps, next to two seeds of one network and to shuffled words:

    associations   mean over words of sum_j min(p_j, q_j), the share in common
    neighbours     mean share of the ten nearest words in the maps that both atlases have in common
    members        overlap of the members of matched maps (`manymaps.align`)
    coordinates    correlation of the coordinates in matched maps after a Procrustes rotation, over
                   words with a mixing proportion of at least 0.1 in both maps

The second table concerns words with several meanings that have at least a tenth of the word's
associations in one network. A meaning is absent in the other network if its members have less than
a twentieth of the associations there. The column "shuffled" contains the absent share after the
associates of each word are assigned to its meanings at random, so the excess is due to meanings
that are absent as a whole. Finally, the words with the largest absent meanings are listed, if the
networks have another meaning of the word in common.

LWOW is read from MANYMAPS_DATA. If it is absent, the script states this and ends.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from homonyms import Network
from humans_and_models import DATA, common_near, fitted, networks, overlap

import manymaps as mm
from manymaps.atlas.senses import observed_groups

LISTED, PRESENT, WEIGHT = 0.1, 0.05, 0.1
N_SHUFFLES, N_BOOTSTRAP = 20, 1000
LEAST = 3


def interval(values: Sequence[float], weights: Sequence[float] | None = None) -> str:
    """The weighted mean of values, with its 95 % bootstrap interval."""
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    drawn = np.random.default_rng(0).integers(0, len(values), (N_BOOTSTRAP, len(values)))
    means = (values * weights)[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{np.average(values, weights=weights):.3f} [{low:.3f}, {high:.3f}]"


def structure(atlas: mm.Atlas, reference: mm.Atlas) -> tuple[list[float], list[float]]:
    """Overlap of members and correlation of coordinates of each matched map."""
    found = mm.align(atlas, reference)
    order = [reference.index(label) for label in found.atlas.labels]
    correlations = []
    for m, match in enumerate(found.matches.tolist()):
        held = np.minimum(found.atlas.proportions[m], reference.proportions[match][order])
        both = held >= WEIGHT
        if match < 0 or both.sum() < 10:
            continue
        ends = (found.atlas.maps[m][both], reference.maps[match][order][both])
        mine, theirs = ((points - points.mean(axis=0)).ravel() for points in ends)
        correlations.append(float(np.corrcoef(mine, theirs)[0, 1]))
    return found.similarities[found.matches >= 0].tolist(), correlations


def similarity_rows(norms: list[mm.Associations], atlases: list[list[mm.Atlas]]) -> None:
    """Print the first table."""
    (one, again), (other, _) = atlases
    n = one.n_objects
    same, mixed = np.arange(n), np.random.default_rng(0).permutation(n)
    # The labels of the shuffled atlas are permuted, so that it is aligned by unrelated words.
    shuffled = replace(other, labels=tuple(np.array(other.labels)[mixed]))
    members, coordinates = zip(
        *(structure(each, one) for each in (other, again, shuffled)), strict=True
    )
    near = [common_near(one, each, to) for each, to in ((other, same), (again, same))]
    rows = {
        "associations": [overlap(*norms, same), None, overlap(*norms, mixed)],
        "neighbours": [*near, common_near(one, other, mixed)],
        "members": members,
        "coordinates": coordinates,
    }
    print("| measure | both models | two seeds | shuffled words |\n|---|---|---|---|")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join('' if x is None else interval(x) for x in cells)} |")


class Meanings(NamedTuple):
    """Listed meanings of words that have several; members are sorted by strength."""

    word: np.ndarray
    share: np.ndarray
    lacks: np.ndarray
    members: list[np.ndarray]


def meanings_of(
    one: Network, other: Network, groups: np.ndarray, mix: np.random.Generator | None = None
) -> Meanings:
    """The groups of one network, and whether the other lacks them; members may be shuffled."""
    n, table = len(one.labels), one.table
    word = np.repeat(np.arange(n), np.diff(table.indptr))
    if mix is not None:
        groups = groups[np.lexsort((mix.random(len(groups)), word))]
    keys, code = np.unique(word * (groups.max() + 1) + groups, return_inverse=True)
    owner = keys // (groups.max() + 1)
    mine = table.data / table.sum(axis=1)[word]
    theirs = other.table[word, table.indices] / other.table.sum(axis=1)[word]
    share, present = (np.bincount(code, values) for values in (mine, theirs))
    listed = share >= LISTED
    listed &= np.bincount(owner[listed], minlength=n)[owner] > 1
    order = np.lexsort((-table.data, code))
    members = np.split(table.indices[order], np.bincount(code).cumsum())
    chosen = [members[k] for k in np.flatnonzero(listed)]
    return Meanings(owner[listed], share[listed], present[listed] < PRESENT, chosen)


def absent_rows(networks: dict[str, Network]) -> None:
    """Print the second table, and the words with the largest absent meanings."""
    mix = np.random.default_rng(0)
    print("\n| meanings of | absent in | meanings | absent | shuffled | excess |")
    print("|---|---|---|---|---|---|")
    lines = []
    for name, other in (tuple(networks), tuple(networks)[::-1]):
        labels, pair = networks[name].labels, (networks[name], networks[other])

        def rates(found: Meanings, n: int = len(labels)) -> np.ndarray:
            """Share of absent meanings, and number of meanings, of each word."""
            total = np.bincount(found.word, minlength=n)
            return np.array([np.bincount(found.word, found.lacks, n) / np.maximum(total, 1), total])

        groups = observed_groups(pair[0].table, np.arange(len(labels)), pair[0].space)
        found = meanings_of(*pair, groups)
        real, total = rates(found)
        chance = np.mean(
            [rates(meanings_of(*pair, groups, mix))[0] for _ in range(N_SHUFFLES)], axis=0
        )
        cells = [interval(x, total) for x in (real, chance, real - chance)]
        print(f"| {name} | {other} | {int(total.sum()):,} | {' | '.join(cells)} |")
        # Only words with another meaning that both networks contain are listed.
        shown = found.lacks & (real[found.word] < 1)
        order = [k for k in np.argsort(-found.share, kind="stable") if shown[k]][:12]
        words = [
            f"*{labels[found.word[k]]}* ({', '.join(labels[m] for m in found.members[k][:3])})"
            for k in order
        ]
        lines.append(f"\nMeanings of {name} that are absent in {other}: {', '.join(words)}.")
    print("\n".join(lines))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Compare associations of two language models.")
    parser.add_argument("--words", type=int, default=3_000)
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--fits", type=Path, metavar="DIR", help="folder of the fits")
    parser.add_argument("--quick", action="store_true", help="few words, to try the script")
    options = parser.parse_args()
    if options.quick:
        options.words, options.maps, options.iterations = 800, 2, 5
    if not (DATA / "lwow").exists():
        print(f"no LWOW at {DATA}: set MANYMAPS_DATA to the folder of real data; nothing done")
    else:
        norms = networks(people=False, most=options.words, least=LEAST)
        print(f"% {norms['Haiku'].n_objects:,} words\n")
        seeds = {"Mistral": (0, 1), "Haiku": (0, 1)}
        atlases = [[fitted(norms[x], x, s, options) for s in seeds[x]] for x in seeds]
        similarity_rows([norms[name] for name in seeds], atlases)
        absent_rows({name: Network(norms[name]) for name in seeds})


if __name__ == "__main__":
    main()
