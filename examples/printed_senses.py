"""The senses that two papers print for the free-association norms, in fits with their settings.

    python examples/printed_senses.py [--seeds 0 1 2 3 4] [--fits FOLDER] [--quick]

van der Maaten & Hinton 2009 (section 4) fit 40 maps to the USF norms, and print three senses of
*tie* and two each of *cheerleader* and *monarchy*, which are on different maps. Cook et al. 2007
(section 5) fit 50 aspect maps to the 1,000 words that are most often responses, and print two
senses each of *can* and *field*. The script fits the presets `MultipleMapsTSNE.van_der_maaten_2009`
and `AspectMaps.cook_2007` with several seeds. `--fits` stores the atlases, and a later run reads
them.

    senses      number of printed senses that have a map of their own: the map with most of the
                word's similarity to the words of the sense, and at least 0.1 of the word. Two
                senses with the same map count once, and a word without any such map counts 0.
    random      mean of the same number if each of the word's associates has the map shares of
                another associate, drawn at random. This is the floor of a partition that contains
                no information on senses.
    together    words that the report describes as close to each other: one map has at least 0.1 of
                each of them, and each is among the 30 nearest words of the others
    asymmetry   similarities q(j|i) of the model in both directions, and observed strengths

Requires the norms in MANYMAPS_DATA; without them it prints a note and ends.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import manymaps as mm

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
LEAST = 0.1
NEAR = 30
N_RANDOM = 1000

Senses = dict[str, list[str]]
SENSES: dict[str, Senses] = {
    "2009": {
        "tie": ["tuxedo suit shirt", "rope knot string", "ribbon bow"],
        "cheerleader": ["football sports team", "gorgeous beauty pretty"],
        "monarchy": ["king queen royal", "democracy republic government"],
    },
    "2007": {
        "can": ["soda beer bottle garbage trash", "able may ability"],
        "field": ["corn wheat crops", "football baseball soccer"],
    },
}
TOGETHER = [
    "popeye spinach cartoon",
    "monument statue liberty freedom",
    "football baseball basketball soccer",
    "chess checkers",
]
ASYMMETRIES = [("dynasty", "china"), ("scissors", "cut")]


@dataclass(frozen=True)
class Found:
    """Maps of the senses of one word, and the number of senses with a map of their own."""

    word: str
    senses: list[str]
    maps: list[int]
    proportions: list[float]
    own: int
    floor: float


def own_maps(shares: np.ndarray, members: Sequence[np.ndarray], proportions: np.ndarray) -> int:
    """Count the maps that have most of a sense and at least 0.1 of the word."""
    maps = {int(np.argmax(shares[:, columns].sum(axis=1))) for columns in members}
    return sum(proportions[m] >= LEAST for m in maps)


def senses_of(atlas: mm.Atlas, norms: mm.Associations, word: str, senses: list[str]) -> Found:
    """Find the map of each sense of a word, and the floor of random shares."""
    i = norms.index(word)
    listed = [[norms.index(w) for w in sense.split() if known(norms, w)] for sense in senses]
    neighbors = norms.strengths[[i]].indices, norms.strengths[:, [i]].tocsc().indices
    columns = np.unique(np.concatenate([*neighbors, *listed]).astype(int))
    members = [np.searchsorted(columns, rows) for rows in listed]
    shares, proportions = atlas.shares(word)[:, columns], atlas.proportions[:, i]
    rng = np.random.default_rng(0)
    random = [
        own_maps(shares[:, rng.permutation(len(columns))], members, proportions)
        for _ in range(N_RANDOM)
    ]
    maps = [int(np.argmax(shares[:, rows].sum(axis=1))) for rows in members]
    return Found(
        word,
        senses,
        maps,
        [float(proportions[m]) for m in maps],
        own_maps(shares, members, proportions),
        float(np.mean(random)),
    )


def known(norms: mm.Associations, word: str) -> bool:
    """Check whether the norms contain the word."""
    try:
        norms.index(word)
    except mm.UnknownLabelError:
        return False
    return True


def together(atlas: mm.Atlas, norms: mm.Associations, words: str) -> bool:
    """Check whether some map contains all the words near one another."""
    rows = [norms.index(word) for word in words.split()]
    for m in np.flatnonzero((atlas.proportions[:, rows] >= LEAST).all(axis=1)):
        present = np.flatnonzero(atlas.proportions[m] >= LEAST)
        points = atlas.maps[m]
        for i in rows:
            order = present[np.argsort(((points[present] - points[i]) ** 2).sum(axis=1))]
            if not set(rows) <= set(order[: NEAR + 1].tolist()):
                break
        else:
            return True
    return False


def fitted(estimator: Any, norms: mm.Associations, path: Path | None) -> mm.Atlas:
    """Read an atlas from a file, or fit it and write the file."""
    if path is not None and path.exists():
        return mm.load_atlas(path)
    begun = time.process_time()
    atlas = estimator.fit(norms).atlas_
    seconds = time.process_time() - begun
    atlas = replace(atlas, parameters={**atlas.parameters, "seconds": seconds})
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        atlas.save(path)
    return atlas


def print_fits(atlases: list[mm.Atlas], found: list[list[Found]]) -> None:
    """Print KL, time and the number of senses of each seed, and the mean."""
    n_senses = sum(len(one.senses) for one in found[0])
    print("| seed | KL per word | iterations | CPU minutes | senses | random |")
    print("|---|---|---|---|---|---|")
    hits = [sum(one.own for one in row) for row in found]
    floors = [sum(one.floor for one in row) for row in found]
    for atlas, hit, floor in zip(atlases, hits, floors, strict=True):
        at, last = atlas.parameters, int(atlas.history["iteration"][-1])
        print(
            f"| {at['random_state']} | {at['kl_divergence']:.3f} | {last:,} "
            f"| {at['seconds'] / 60:.1f} | {hit} of {n_senses} | {floor:.1f} |"
        )
    divergences = [atlas.parameters["kl_divergence"] for atlas in atlases]
    print(
        f"| mean | {np.mean(divergences):.3f} | | | {np.mean(hits):.1f} ({min(hits)} to "
        f"{max(hits)}) | {np.mean(floors):.1f} |"
    )


def print_words(found: list[list[Found]]) -> None:
    """Print the maps of each sense for the first seed, and the number over all seeds."""
    print("\n| word | senses printed | map of each sense (proportion) | own, first | own, mean |")
    print("|---|---|---|---|---|")
    for k, one in enumerate(found[0]):
        maps = ", ".join(
            f"{sense.split()[0]} {m} ({share:.2f})"
            for sense, m, share in zip(one.senses, one.maps, one.proportions, strict=True)
        )
        names = ", ".join(sense.split()[0] for sense in one.senses)
        mean = np.mean([row[k].own for row in found])
        print(
            f"| {one.word} | {names} | {maps} | {one.own} of {len(one.senses)} "
            f"| {mean:.1f} of {len(one.senses)} |"
        )


def print_structures(atlases: list[mm.Atlas], norms: mm.Associations) -> None:
    """Print words that belong together, and the asymmetric pairs."""
    print("\n| words | together on one map |")
    print("|---|---|")
    for words in TOGETHER:
        hits = sum(together(atlas, norms, words) for atlas in atlases)
        print(f"| {', '.join(words.split())} | {hits} of {len(atlases)} seeds |")
    print("\n| pair | first to second, mean (range) | second to first | observed | larger |")
    print("|---|---|---|---|---|")
    for a, b in ASYMMETRIES:
        there = np.array([atlas.similarity(a, b) for atlas in atlases])
        back = np.array([atlas.similarity(b, a) for atlas in atlases])
        cells = (
            f"{values.mean():.4f} ({values.min():.4f} to {values.max():.4f})"
            for values in (there, back)
        )
        i, j = norms.index(a), norms.index(b)
        observed = f"{norms.strengths[i, j]:.3f} and {norms.strengths[j, i]:.3f}"
        larger = f"{(there > back).sum()} of {len(atlases)} seeds"
        print(f"| {a}, {b} | {' | '.join(cells)} | {observed} | {larger} |")


def main() -> None:
    """Fit the presets of both papers with each seed, and print the tables."""
    parser = argparse.ArgumentParser(description="Look for the senses that the papers print.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--fits", type=Path, metavar="FOLDER", help="read and write atlases here")
    parser.add_argument("--quick", action="store_true", help="short fits, to try the script")
    arguments = parser.parse_args()
    if not NORMS.exists():
        print(f"no norms at {NORMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    norms = mm.read_associations(NORMS)
    for paper, estimator, data in (
        ("2009", mm.MultipleMapsTSNE.van_der_maaten_2009(40), norms),
        ("2007", mm.AspectMaps.cook_2007(), norms.most_given(1000)),
    ):
        seeds, settings = arguments.seeds, {}
        if arguments.quick:
            seeds, settings = seeds[:2], {"max_iter": 5}
        atlases = []
        print(f"\n{paper}: {estimator.n_maps} maps of {data.n_objects:,} words\n")
        for seed in seeds:
            path = None if arguments.fits is None else arguments.fits / f"{paper}-{seed}.atlas"
            fit = estimator.set_params(random_state=seed, n_jobs=1, **settings)
            atlases.append(fitted(fit, data, path))
        found = [
            [senses_of(atlas, data, word, senses) for word, senses in SENSES[paper].items()]
            for atlas in atlases
        ]
        print_fits(atlases, found)
        print_words(found)
        if paper == "2009":
            print_structures(atlases, data)


if __name__ == "__main__":
    main()
