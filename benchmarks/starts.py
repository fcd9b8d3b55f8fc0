"""The effect of the start of many maps on fit, senses, themes, and their recurrence.

    python benchmarks/starts.py [--iterations 500] [--seeds 0 1 2] [--data relations usf]

The starts are "random" at the penalties 0.01 and 0.001, and "personas" at 0.001, the default. Each
line is a start and data set, with means over the seeds:

    KL         per word
    F          B-cubed of pairs by the map that explains them (senses from the word relations)
    listed     the same by the senses that `Atlas.senses` lists
    theme      mean cosine, among 70 spectral directions of the data, of two words that share a map
               at 0.1 or more
    contrast   within - across of `manymaps.metrics.sense_separation`; on the norms that of the
               halves of 200 pseudowords, and `apart`, how many of them separate
    printed    senses in the papers that have a map of their own, least and most over the seeds
    visible    words whose strongest associate is among the 10 nearest dots in one of their maps
    strongest  the median probability of the strongest associate under the model
    seeds      senses, by maps only, that recur between seeds (`manymaps.analysis.stability`)
    drawn      the same between fits to resampled responses (`manymaps.resampled`)

Listed senses recur more often, but in part by construction, because all fits of one table contain
the same observed associations. They are printed in brackets. Norms are read from MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

import manymaps as mm
from manymaps.affinity.network import spectral_directions
from manymaps.analysis.stability import stability
from manymaps.metrics import explaining_maps, sense_induction, sense_separation

HERE = Path(__file__).parent
DATA = Path(os.environ.get("MANYMAPS_DATA", HERE.parents[1] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
STARTS = (("random", 0.01), ("random", 0.001), ("personas", 0.001))
LEAST = 0.1


def theme(atlas: mm.Atlas, directions: np.ndarray) -> float:
    """Compute the mean cosine of two words that share a map."""
    total, pairs = 0.0, 0
    for held in atlas.proportions:
        some = directions[held >= LEAST]
        total += float((some.sum(axis=0) ** 2).sum() - (some**2).sum())
        pairs += len(some) * (len(some) - 1)
    return total / max(pairs, 1)


def strongest(strengths: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return words that have associates, and the strongest associate of each."""
    rows = np.flatnonzero(np.diff(strengths.indptr))
    spans = zip(strengths.indptr[rows], strengths.indptr[rows + 1], strict=True)
    return rows, np.array([strengths.indices[a + strengths.data[a:b].argmax()] for a, b in spans])


def visible(atlas: mm.Atlas, strengths: sparse.csr_array, k: int = 10) -> float:
    """Compute the share of words whose strongest associate is among the k nearest dots of a map."""
    rows, best = strongest(strengths)
    partner = np.full(atlas.n_objects, -1)
    partner[rows] = best
    seen = np.zeros(atlas.n_objects, bool)
    for places, held in zip(atlas.maps, atlas.proportions, strict=True):
        here = np.flatnonzero(held >= LEAST)
        if len(here) > 1:
            _, near = cKDTree(places[here]).query(places[here], min(k + 1, len(here)))
            seen[here] |= (here[near] == partner[here, None]).any(axis=1)
    return float(seen[rows].mean())


def median_probability(atlas: mm.Atlas, strengths: sparse.csr_array, n: int = 400) -> float:
    """Compute the median model probability of the strongest associate of some words."""
    rows, best = strongest(strengths)
    some = np.random.default_rng(0).permutation(len(rows))[:n]
    labels = atlas.labels
    return float(np.median([atlas.similarity(labels[rows[s]], labels[best[s]]) for s in some]))


def recurrence(atlases: Sequence[mm.Atlas]) -> str:
    """Compute how often senses recur, by maps only and as listed."""
    bare = [replace(atlas, associations=None) for atlas in atlases]
    by_maps, listed = (stability(some).observed.recurrence for some in (bare, atlases))
    return f"{by_maps:.2f} [{listed:.2f}]"


def f_of_relations(atlas: mm.Atlas, data: mm.Associations) -> list[str]:
    """Compute F by maps and as listed, and contrast."""
    sys.path.insert(0, str(HERE.parent / "examples"))
    from word_sense_induction import Pairs, by_listed_sense

    strengths = data.strengths
    rows = np.repeat(np.arange(data.n_objects), np.diff(strengths.indptr))
    maps = explaining_maps(atlas.maps, atlas.proportions, rows, strengths.indices)
    by_maps = sense_induction(rows, data.pair_senses, maps).f
    listed = by_listed_sense(atlas, Pairs(rows, strengths.indices, data.pair_senses))
    found = sense_separation(
        atlas.maps, atlas.proportions, strengths, data.pair_senses, n_permutations=1
    )
    as_listed = sense_induction(rows, data.pair_senses, listed).f
    return [f"F {by_maps:.3f}", f"listed {as_listed:.3f}", f"contrast {found.contrast:.3f}"]


def mean(lines: Sequence[str]) -> str:
    """Average the numbers of lines such as "F 0.6"."""
    values = [float(line.rsplit(" ", 1)[1]) for line in lines]
    return f"{lines[0].rsplit(' ', 1)[0]} {np.mean(values):.3f}"


def fitted(fit: mm.MultipleMapsTSNE, data: mm.Associations, seed: int) -> mm.Atlas:
    """Fit the atlas of one seed."""
    return fit.set_params(random_state=seed).fit(data).atlas_


def table(
    name: str,
    data: mm.Associations,
    n_maps: int,
    arguments: argparse.Namespace,
    more: Callable[[mm.Atlas, mm.Associations], list[str]],
    *,
    draws: bool = False,
) -> None:
    """Print a line for each start."""
    directions = spectral_directions(data.strengths, 70, seed=0)
    print(f"\n{name}, {n_maps} maps", flush=True)
    for init, penalty in STARTS:
        fit = mm.MultipleMapsTSNE(
            n_maps, init=init, penalty=penalty, popularity=0, degrees_of_freedom=1,
            max_iter=arguments.iterations,
        )  # fmt: skip
        start = time.perf_counter()
        atlases = [fitted(fit, data, seed) for seed in arguments.seeds]
        seconds = (time.perf_counter() - start) / len(atlases)
        lines = [
            [
                f"KL {atlas.parameters['kl_divergence']}",
                f"theme {theme(atlas, directions)}",
                f"visible {visible(atlas, data.strengths)}",
                f"strongest {median_probability(atlas, data.strengths)}",
                *more(atlas, data),
            ]
            for atlas in atlases
        ]
        parts = [mean(column) for column in zip(*lines, strict=True)]
        if name == "norms":
            printed = [printed_senses(atlas) for atlas in atlases]
            parts.append(f"printed {min(printed)} to {max(printed)}")
        if name != "pseudowords":
            parts.append(f"seeds {recurrence(atlases)}")
        if draws:
            again = [fitted(fit, mm.resampled(data, seed), seed) for seed in arguments.seeds]
            parts.append(f"drawn {recurrence(again)}")
        print(f"{init:9s} {penalty:<6g} {'  '.join(parts)}  {seconds:.0f} s", flush=True)


def printed_senses(atlas: mm.Atlas) -> int:
    """Count the senses printed in the papers that have a map of their own."""
    sys.path.insert(0, str(HERE.parent / "examples"))
    from printed_senses import report

    return report(atlas, verbose=False)[0]


def main() -> None:
    """Print the tables of the available data."""
    parser = argparse.ArgumentParser(description="Compare starts of many maps.")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--data", nargs="+", default=["usf", "relations"])
    arguments = parser.parse_args()
    if "usf" in arguments.data and not NORMS.exists():
        print(f"no norms at {NORMS}; set MANYMAPS_DATA to the folder of real data")
    elif "usf" in arguments.data:
        norms = mm.read_associations(NORMS)
        halves = mm.pseudowords(norms, 200, random_state=0)

        def apart(atlas: mm.Atlas, data: mm.Associations) -> list[str]:
            found = halves.apart(atlas).overall
            return [f"apart {found.score}", f"chance {found.chance}", f"contrast {found.contrast}"]

        table("norms", norms, 40, arguments, lambda atlas, data: [], draws=True)
        table("pseudowords", halves.associations, 40, arguments, apart)
    if "relations" in arguments.data:
        relations = mm.load_word_relations()
        for n_maps in (20, 40):
            table("relations", relations, n_maps, arguments, f_of_relations)


if __name__ == "__main__":
    main()
