"""Deviations from a metric, for data that fit into one map and for data that do not.

    python examples/diagnosis.py [--quick] [--seed 0] [--sweep] [--most 40]

Each row of the table is a data set:

    free association    the norms of the University of South Florida, where the folder of
                        real data has them (MANYMAPS_DATA names it)
    word relations      the embedded relations of English words
    digits              64 grey values of 1,797 handwritten digits: points in 64 dimensions
    plane               500 points in a square
    intransitive, central, asymmetric
                        the constructions of van der Maaten & Hinton 2009, figure 1
                        (`figure1_2009.py`), as similarities of two maps

The columns, and their values for a single map:

    asymmetry      share of the strength that is not reciprocated                   0
    intransitive   share of the strong paths A-B-C with A and C not linked          0, nearly
    centrality     mean square of the objects that share a nearest neighbour        2
    reciprocity    mean rank of an object for its own nearest neighbour             near 1
    shared         most objects that share a nearest neighbour                      5 in the plane
    triangles      share of triples with one side longer than the other two         0
    negative       negative share of the spectrum of the double-centred table       0
    stress         of nonmetric scaling in the plane (of 75 objects)                below 0.05
    one, four, best  share explained by one two-dimensional map, by one of four dimensions, and by
                   the best number of maps that was tried
    maps           the suggested number

Many maps are suggested only if two of them explain more than one map of four dimensions. The data
differ in the following ways. Digits have hubs (six share a nearest neighbour) like points of many
dimensions, but no asymmetry and no negative part, so they need more dimensions. Each construction
has the deviation for which it was built, and the norms have all of them.

With --sweep the suggestion is compared with held-out prediction. A tenth of the pairs stops the
fits. Among numbers of two-dimensional maps around the suggestion, the script lists the one with the
least error on this tenth, and the fewest within 2 % of the gain of maps over the uniform model. It
also lists the error on another tenth, which affects no choice. The constructions have too few
objects for that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import manymaps as mm
from figure1_2009 import asymmetric, central, choices, intransitive
from lib.real_data import data_file
from manymaps.analysis.diagnosis import FEW, Diagnosis, diagnose
from manymaps.optimizers.rows import RowDescent
from manymaps.prediction import uniform_errors

LEAST_TO_SPLIT, SLACK = 100, 0.02
HEADS = (
    "asymmetry", "intransitive", "centrality", "reciprocity", "shared", "triangles", "negative",
    "stress", "one", "four", "best", "maps", "seconds",
)  # fmt: skip


def data_sets(quick: bool) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield names, data, and the arguments with which `diagnose` reads them."""
    for construction in (intransitive(), central(3), asymmetric()):
        similarities = choices(construction.atlas("cauchy"))
        yield construction.name, similarities, {"affinity": "precomputed"}
    yield "plane", np.random.default_rng(0).uniform(size=(150 if quick else 500, 2)), {}
    yield "digits", load_digits().data[: 300 if quick else None], {}
    yield "word relations", first_of(mm.load_word_relations(), quick), {}
    norms = data_file("usf/usf_free_association.tsv.gz")
    if norms is not None:
        yield "free association", first_of(mm.read_associations(norms), quick), {}


def first_of(data: mm.Associations, quick: bool) -> mm.Associations:
    """Select the first 500 objects for a quick look, which omits most of their pairs; else all."""
    if not quick:
        return data
    return mm.Associations(data.labels[:500], data.strengths[:500][:, :500])


def cells(found: Diagnosis) -> list[str]:
    """Format the measures for the table."""
    few = found.n_fitted <= FEW
    shares = found.held if few else found.kept
    figures = (
        found.asymmetry, found.intransitivity, found.centrality, found.reciprocity,
        found.max_shared_nearest_neighbor, found.triangle_violations, found.negative_share,
        found.stress, shares[0], found.held_in_four if few else found.kept_in_four, max(shares),
    )  # fmt: skip
    return [f"{value:.3g}" if value == value else "none" for value in map(_plain, figures)]


def _plain(value: float) -> float:
    """Replace rounding errors by 0."""
    return round(value, 6)


def main() -> None:
    """Print the table, and the reason for each suggestion below it."""
    parser = argparse.ArgumentParser(description="How non-metric are these data?")
    parser.add_argument("--quick", action="store_true", help="fewer points, for a first look")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sweep", action="store_true", help="the best number for held-out pairs")
    parser.add_argument("--most", type=int, default=40, help="maps in the sweep")
    arguments = parser.parse_args()

    print(f"{'data':18}" + "".join(f"{head:>13}" for head in HEADS))
    reasons, suggested = [], {}
    for name, data, reading in data_sets(arguments.quick):
        clock = time.perf_counter()
        found = diagnose(data, random_state=arguments.seed, **reading)
        row = [*cells(found), str(found.suggested_maps), f"{time.perf_counter() - clock:.1f}"]
        print(f"{name:18}" + "".join(f"{cell:>13}" for cell in row), flush=True)
        reasons.append(f"{name}: {found.reason}")
        if found.n_objects >= LEAST_TO_SPLIT:
            suggested[name] = (data, found.suggested_maps)
    print("\n" + "\n".join(reasons))
    if arguments.sweep:
        for name, (data, count) in suggested.items():
            print(f"\n{name}: {count} suggested; error of held-out pairs by 2-D maps")
            print_sweep(data, count, arguments.most)


def print_sweep(data: Any, suggested: int, most: int) -> None:
    """Print the errors of numbers of maps on the validation and test parts of one split."""
    if isinstance(data, np.ndarray):
        data = mm.GaussianAffinity(30).similarities(data)
    counts = sorted({1, 2, 5, 10, 20, most, min(suggested, most), min(2 * suggested, most)})
    found = mm.sweep(
        data,
        {
            "n_maps": [count for count in counts if count <= most],
            "n_components": 2,
            "penalty": [0.02, 0.1],
            "optimizer": RowDescent(0.01),
            "max_iter": 60,
        },
        n_jobs=-1,
        on_result=lambda result, done, all_points: print(".", end="", flush=True),
    )
    best: dict[int, dict[str, Any]] = {}
    for record in found.summary():
        now = best.get(record["n_maps"])
        if record["valid"] is not None and (now is None or record["valid"] < now["valid"]):
            best[record["n_maps"]] = record
    print()
    if not best:
        print(f"no fit succeeded: {found.results[0].failure}")
        return
    for count, record in best.items():
        print(
            f"{count:6} maps: validation {record['valid']:.4f}, test {record['test']:.4f}, "
            f"penalty {record['penalty']:g}"
        )
    least = min(record["valid"] for record in best.values())
    uniform = uniform_errors(mm.split_associations(data, random_state=0))["valid"]
    near = least + SLACK * max(uniform - least, 0.0)
    enough = [count for count, record in best.items() if record["valid"] <= near]
    winner = min(best, key=lambda count: best[count]["valid"])
    print(f"least error: {winner} maps; within {SLACK:.0%} of its gain: {enough[0]} maps")


if __name__ == "__main__":
    main()
