"""Semantic priming: do similarities in the maps predict how much a prime speeds up a target?

    python examples/validation/priming.py [--fits DIR]

Targets are recognized faster after a related prime. The items are 1,661 prime-target pairs of the
Semantic Priming Project (Hutchison et al. 2013), all of them pairs of the USF norms, with the
standardized priming of lexical decisions at two intervals between prime and target. The table
lists Pearson's correlation of the priming with

    target length, frequency    baselines without any association
    LSA                         cosine of word vectors, as the project lists it
    forward, backward strength  observed responses in USF: target given prime, prime given target
    ranked strength             ranks of these, which no outlier dominates
    spreading activation        from the prime to the target in three steps, and backward
    maps                        similarities of the model, the same two directions and their mean

Intervals are bootstrapped over items. Values of several seeds are averaged within each resample. A
gain is the difference to (ranked) backward strength over the same resamples. A second table lists
the range over seeds. The items may not be redistributed. They are read from MANYMAPS_DATA, and the
script does nothing without them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from scipy import sparse, stats
from sklearn.preprocessing import normalize
from usf_fits import (
    DATA,
    add_options,
    bootstrap_rows,
    correlations,
    fitted_atlases,
    read_norms,
    with_interval,
)

import manymaps as mm
from manymaps.affinity.network import association_network
from manymaps.io.frames import read_columns
from manymaps.labels import plural

ITEMS = DATA / "priming" / "spp_items.csv"
PRIMING = {"200 ms": "LDT 200ms Z Priming", "1,200 ms": "LDT 1200ms Z Priming"}
STEPS, DECAY = 3, 0.75
SETTINGS = (
    ("mm-tsne", 1, (0,)),
    *(("mm-tsne", maps, range(5)) for maps in (10, 20, 40)),
    *(("mm-sne", maps, range(4)) for maps in (10, 20, 40)),
)
REFERENCES = ("backward strength", "ranked backward strength")


def read_items(norms: mm.Associations) -> dict[str, np.ndarray]:
    """The items whose words are in the norms and whose measures are all known."""
    columns = read_columns(ITEMS)
    numbers = ("Length", "LogSubFreq", "LSA", *PRIMING.values())
    items = {name: np.array(columns[name], dtype=float) for name in numbers}
    known = {label.casefold(): i for i, label in enumerate(norms.labels)}
    for name in ("Prime", "TargetWord"):
        items[name] = np.array([known.get(str(word).casefold(), -1) for word in columns[name]])
    whole = np.all([np.isfinite(items[name]) for name in numbers], axis=0)
    whole &= (items["Prime"] >= 0) & (items["TargetWord"] >= 0)
    return {name: values[whole] for name, values in items.items()}


def spread_between(norms: mm.Associations, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The activation that reaches each end from its start."""
    network = normalize(association_network(norms.strengths, backward=0.0), "l1")
    words, place = np.unique(starts, return_inverse=True)
    active = sparse.eye_array(norms.n_objects, format="csr")[words]
    totals = 0 * active
    for _ in range(STEPS):
        active = DECAY * (active @ network)
        totals = totals + active
    return np.asarray(totals[place, ends]).ravel()


def simple_measures(norms: mm.Associations, items: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The measures that need no maps, by name."""
    prime, target = items["Prime"], items["TargetWord"]
    forward = norms.strengths[prime, target]
    backward = norms.strengths[target, prime]
    return {
        "target length": items["Length"],
        "target frequency": items["LogSubFreq"],
        "LSA": items["LSA"],
        "forward strength": forward,
        "backward strength": backward,
        "ranked forward strength": stats.rankdata(forward),
        "ranked backward strength": stats.rankdata(backward),
        "spreading activation": spread_between(norms, prime, target),
        "backward activation": spread_between(norms, target, prime),
    }


def map_measures(atlas: mm.Atlas, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Forward and backward similarity and the mean of their logarithms, shape (3, n_pairs)."""
    table = mm.pair_table(atlas, pairs)
    smallest = np.finfo(np.float64).tiny
    logs = [np.log(np.maximum(x, smallest)) for x in (table.similarity, table.similarity_back)]
    return np.stack([table.similarity, table.similarity_back, np.mean(logs, axis=0)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Correlate similarities with semantic priming.")
    add_options(parser)
    options = parser.parse_args()
    norms = read_norms()
    if norms is None:
        return
    if not ITEMS.exists():
        print(f"no items at {ITEMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    items = read_items(norms)
    n = len(items["Prime"])
    rows = bootstrap_rows(n)
    pairs = [
        (norms.labels[i], norms.labels[j])
        for i, j in zip(items["Prime"].tolist(), items["TargetWord"].tolist(), strict=True)
    ]
    measures = {name: values[None] for name, values in simple_measures(norms, items).items()}
    of_maps = {}
    for (method, maps), atlases in fitted_atlases(norms, options, SETTINGS).items():
        by_atlas = np.stack([map_measures(atlas, pairs) for atlas in atlases])
        setting = f"{method}, {plural('map', maps)}, {plural('seed', len(atlases))}"
        for k, name in enumerate(("forward similarity", "backward similarity", "log mean")):
            of_maps[f"{name}, {setting}"] = by_atlas[:, k]
    measures |= of_maps
    print(f"% {n:,} prime-target pairs; r with z-transformed priming [95 % interval over items]\n")
    head = [f"r, {name} | over backward | over ranked" for name in PRIMING]
    print(f"| measure | {' | '.join(head)} |\n|---|{'---|' * 3 * len(PRIMING)}")
    samples = {
        name: {
            measure: correlations(values, items[column], rows).mean(axis=0)
            for measure, values in measures.items()
        }
        for name, column in PRIMING.items()
    }
    for measure in measures:
        cells = []
        for of_measure in samples.values():
            cells.append(with_interval(of_measure[measure]))
            cells += [
                "" if measure == other else with_interval(of_measure[measure] - of_measure[other])
                for other in REFERENCES
            ]
        print(f"| {measure} | {' | '.join(cells)} |")
    print("\nr of the seeds, least and most\n")
    print(f"| measure | {' | '.join(PRIMING)} |\n|---|{'---|' * len(PRIMING)}")
    for measure, values in of_maps.items():
        ends = [correlations(values, items[column], rows[:0]) for column in PRIMING.values()]
        cells = [f"{r.min():.3f} to {r.max():.3f}" for r in ends]
        print(f"| {measure} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
