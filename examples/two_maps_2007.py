"""Two random maps, recovered only from their similarities.

    python examples/two_maps_2007.py [--seeds 10] [--quick] [-o figure.png]

The script reproduces section 4 of J.A. Cook, I. Sutskever, A. Mnih and G.E. Hinton, Visualizing
similarity data with a mixture of maps (AISTATS 2007). P is computed from two maps of 50 random
objects, with proportions of 0.5, a Gaussian kernel, and a conditional model. From random starts the
fit should recover both maps, up to rotation, reflection, translation and order.

The target is a model of the same kind. The least divergence is therefore 0, and a solution can be
recognized without knowing the truth. L-BFGS by itself ends in local minima in which some objects
are at a wrong position of a map. So, until the divergence is 0:

1. Fits are run from random starts.
2. The best of them go through rounds of moving. A few objects, preferably those that fit worst, are
   moved to the least exact cost over pairs of random positions, one in each map. All others are
   fixed. Then L-BFGS continues. A round that does not lower the cost is undone.

Disparity is sum |A R - B|^2 / sum |B|^2 of two centred maps with the best rotation or reflection R,
without scaling, the larger of the two maps. A search succeeds if it is below 1e-3. It is compared
with a plain prototype: L-BFGS in float64 and at most six restarts with jitter. The corresponding
column is that of six starts. Further starts and rounds are the cost of the remaining solutions.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes

import manymaps as mm
from manymaps.model import ChoiceModel
from manymaps.model.choice import Mixing
from manymaps.optimizers import LBFGS

RECOVERED = 1e-3
ZERO_KL = 1e-6
PROTOTYPE = {1.0: "6 of 10", 2.0: "0 of 10"}
PATIENCE, SINGLE_MOVES, MOST_MOVED = 60, 3, 12


@dataclass(frozen=True)
class Budget:
    """The duration of a search: starts and finalists per cycle, cycles."""

    starts: int = 20
    finalists: int = 3
    cycles: int = 3


@dataclass(frozen=True)
class Found:
    """The end of a search: the maps found, and the number of fits."""

    atlas: mm.Atlas
    kl: float
    starts: int
    rounds: int
    seconds: float


def random_truth(n: int, half_width: float, seed: int) -> mm.Atlas:
    """Draw two maps of n objects uniform on [-half_width, half_width]^2, with equal proportions."""
    maps = np.random.default_rng(seed).uniform(-half_width, half_width, (2, n, 2))
    labels = [str(i) for i in range(n)]
    model = ChoiceModel(kernel="gaussian", normalization="conditional", mixing="fixed")
    return mm.Atlas(labels, maps, np.full((2, n), 0.5), model)


def choices(atlas: mm.Atlas) -> np.ndarray:
    """Compute the model's q_j|i as a table."""
    return np.stack([atlas.similarities(label) for label in atlas.labels])


def row_costs(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Compute KL(P_i || Q_i) of each object."""
    here = P > 0
    terms = np.zeros_like(P)
    terms[here] = P[here] * np.log(P[here] / np.maximum(Q[here], 1e-300))
    return np.maximum(terms.sum(axis=1), 0.0)


def disparity(atlas: mm.Atlas, truth: mm.Atlas) -> float:
    """Compute the larger disparity of both maps, for the better way of pairing the maps."""

    def between(fitted: np.ndarray, true: np.ndarray) -> float:
        fitted, true = fitted - fitted.mean(axis=0), true - true.mean(axis=0)
        turn, _ = orthogonal_procrustes(fitted, true)
        return float(((fitted @ turn - true) ** 2).sum() / (true**2).sum())

    first, second = atlas.maps.astype(np.float64)
    straight = max(between(first, truth.maps[0]), between(second, truth.maps[1]))
    crossed = max(between(first, truth.maps[1]), between(second, truth.maps[0]))
    return min(straight, crossed)


def fitted(
    P: np.ndarray, mixing: Mixing, start: mm.Atlas | str, seed: int, max_iter: int
) -> tuple[float, mm.Atlas]:
    """Fit once by L-BFGS with exact sums; return KL per object and the maps."""
    estimator = mm.MultipleMapsSNE(
        n_maps=2, mixing=mixing, penalty=0.0, affinity="precomputed", init=start,
        optimizer=LBFGS(), tolerance=0.0, max_iter=max_iter, random_state=seed, n_jobs=1,
    ).fit(P)  # fmt: skip
    return float(estimator.kl_divergence_), estimator.atlas_


def best_place(
    i: int, atlas: mm.Atlas, P: np.ndarray, generator: np.random.Generator, n_places: int = 48
) -> np.ndarray:
    """Find the position of least cost of object i in both maps, others fixed; shape (2, 2).

    The cost of all pairs of random places (a, b), one in each map, up to a constant:
    log Z_i + sum_j log Z_j - sum_j (p_ij + p_ji) log v_ij.
    """
    others = np.delete(np.arange(atlas.n_objects), i)
    maps = atlas.maps[:, others].astype(np.float64)
    shares = atlas.proportions[:, others].astype(np.float64)
    low, high = maps.min(axis=1, keepdims=True), maps.max(axis=1, keepdims=True)
    margin = 0.1 * (high - low)
    places = generator.uniform(low - margin, high + margin, (2, n_places, 2))

    gaps = maps[:, :, None] - maps[:, None]
    rest = np.einsum("mi,mj,mij->ij", shares, shares, np.exp(-(gaps**2).sum(axis=-1)))
    rest_z = rest.sum(axis=1) - np.diag(rest)
    gaps = places[:, :, None] - maps[:, None]
    terms = 0.5 * shares[:, None] * np.exp(-(gaps**2).sum(axis=-1))
    v = terms[0][:, None] + terms[1][None] + 1e-300
    wanted = P[i, others] + P[others, i]
    costs = np.log(v.sum(axis=-1)) + (np.log(rest_z + v) - wanted * np.log(v)).sum(axis=-1)
    a, b = np.unravel_index(np.argmin(costs), costs.shape)
    return np.stack([places[0, a], places[1, b]])


def moved(atlas: mm.Atlas, P: np.ndarray, generator: np.random.Generator, count: int) -> mm.Atlas:
    """Move some objects to positions of least cost, preferring those that fit badly."""
    costs = row_costs(P, choices(atlas))
    chances = costs / costs.sum() + 0.1 / len(P)
    chosen = generator.choice(len(P), count, replace=False, p=chances / chances.sum())
    maps, proportions = atlas.maps.copy(), atlas.proportions.copy()
    for i in chosen:
        maps[:, i] = best_place(int(i), replace(atlas, maps=maps), P, generator)
        proportions[:, i] = 0.5
    return replace(atlas, maps=maps, proportions=proportions)


def rounds_of_moving(
    P: np.ndarray, mixing: Mixing, kl: float, atlas: mm.Atlas, generator: np.random.Generator
) -> tuple[float, mm.Atlas, int]:
    """Move objects until there is a solution or no improvement; count the rounds."""
    failures = rounds = 0
    while kl > ZERO_KL and failures < PATIENCE:
        many = min(MOST_MOVED, len(P) // 2)
        count = 1 if failures < SINGLE_MOVES else int(generator.integers(1, many + 1))
        start = moved(atlas, P, generator, count)
        new_kl, new_atlas = fitted(P, mixing, start, seed=0, max_iter=200)
        rounds += 1
        if new_kl < kl - 1e-7:
            kl, atlas, failures = new_kl, new_atlas, 0
        else:
            failures += 1
    return kl, atlas, rounds


def one_cycle(
    P: np.ndarray, mixing: Mixing, budget: Budget, generator: np.random.Generator
) -> tuple[float, mm.Atlas, int, int]:
    """Run random starts, then rounds of moving from the best; count both."""
    pool: list[tuple[float, mm.Atlas]] = []
    while len(pool) < budget.starts and not (pool and pool[-1][0] < ZERO_KL):
        pool.append(fitted(P, mixing, "random", int(generator.integers(2**31)), max_iter=300))
    pool.sort(key=lambda entry: entry[0])
    best_kl, best = pool[0]
    rounds = 0
    for start_kl, start in pool[: budget.finalists]:
        kl, atlas, more = rounds_of_moving(P, mixing, start_kl, start, generator)
        rounds += more
        if kl <= best_kl:
            best_kl, best = kl, atlas
        if best_kl < ZERO_KL:
            break
    return best_kl, best, len(pool), rounds


def search(P: np.ndarray, mixing: Mixing, budget: Budget, seed: int) -> Found:
    """Repeat cycles until the divergence is 0 or the budget is spent."""
    clock, generator = time.perf_counter(), np.random.default_rng(seed)
    cycles = []
    for _ in range(budget.cycles):
        cycles.append(one_cycle(P, mixing, budget, generator))
        if cycles[-1][0] < ZERO_KL:
            break
    kl, atlas, _, _ = min(cycles, key=lambda cycle: cycle[0])
    starts, rounds = sum(cycle[2] for cycle in cycles), sum(cycle[3] for cycle in cycles)
    return Found(atlas, kl, starts, rounds, time.perf_counter() - clock)


def run(half_width: float, mixing: Mixing, n: int, seeds: int, budget: Budget) -> list[str]:
    """Search every seed, print the results, and return the cells of a row of the summary."""
    found, recovered = [], []
    for seed in range(seeds):
        truth = random_truth(n, half_width, seed)
        result = search(choices(truth), mixing, budget, seed + 100)
        apart = disparity(result.atlas, truth)
        found.append(result)
        if apart < RECOVERED:
            recovered.append(result)
        print(
            f"[-{half_width:g}, {half_width:g}]^2  {mixing:9}{seed:4}{result.kl:11.1e}{apart:11.1e}"
            f"{np.abs(result.atlas.proportions - 0.5).max():12.1e}{result.starts:8}"
            f"{result.rounds:8}{result.seconds:9.1f}",
            flush=True,
        )
    few = sum(result.rounds == 0 and result.starts <= 6 for result in recovered)
    many = sum(result.rounds == 0 and result.starts <= budget.starts for result in recovered)
    rates = [f"{hits} of {seeds}" for hits in (few, many, len(recovered))]
    spent = [sum(result.starts for result in found), sum(result.rounds for result in found)]
    return [*rates, *map(str, spent), f"{sum(result.seconds for result in found):.0f}"]


def draw(half_width: float, n: int, budget: Budget, path: Path) -> None:
    """Draw the true maps of seed 0 with the fitted ones rotated onto them."""
    from matplotlib.figure import Figure

    truth = random_truth(n, half_width, 0)
    fit = search(choices(truth), "fixed", budget, 100).atlas.maps.astype(np.float64)
    fit -= fit.mean(axis=1, keepdims=True)
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    panels = figure.subplots(1, 2)
    for m, panel in enumerate(panels):
        true = truth.maps[m] - truth.maps[m].mean(axis=0)
        turned = [points @ orthogonal_procrustes(points, true)[0] for points in fit]
        found = min(turned, key=lambda points: float(((points - true) ** 2).sum()))
        panel.scatter(*true.T, s=60, facecolors="none", edgecolors="tab:gray", label="true")
        panel.scatter(*found.T, s=12, color="tab:red", label="found")
        panel.set(title=f"map {m}", aspect="equal")
    panels[0].legend()
    mm.save_figure(figure, path)
    print(f"\nwrote {path}")


def main() -> None:
    """Search both kinds of maps, with fixed and learned proportions, and print two tables."""
    parser = argparse.ArgumentParser(description="Section 4 of the 2007 paper.")
    parser.add_argument("--seeds", type=int, default=10, help="pairs of random maps")
    parser.add_argument("--quick", action="store_true", help="two small pairs, for a first look")
    parser.add_argument("-o", "--output", type=Path, help="draw the maps of seed 0 to this file")
    arguments = parser.parse_args()

    n, seeds = (20, 2) if arguments.quick else (50, arguments.seeds)
    budget = Budget(starts=10, cycles=1) if arguments.quick else Budget()
    kinds: list[tuple[float, Mixing]] = [(1.0, "fixed")]
    if not arguments.quick:
        kinds += [(1.0, "learned"), (2.0, "fixed"), (2.0, "learned")]
    print(f"{n} objects; KL per object; |pi - .5| the largest; rounds of moving objects")
    print("points      mixing   seed         KL  disparity   |pi - .5|  starts  rounds  seconds")
    rows = [(width, mixing, run(width, mixing, n, seeds, budget)) for width, mixing in kinds]
    print(f"\nBoth maps recovered (disparity below {RECOVERED:g}, no scaling), by means allowed")
    heads = f"{'prototype':>11}{'6 starts':>10}{f'{budget.starts} starts':>11}{'and rounds':>12}"
    print(f"points      mixing   {heads}  starts  rounds  seconds")
    for width, mixing, cells in rows:
        prototype = PROTOTYPE[width] if mixing == "fixed" and not arguments.quick else "-"
        few, many, hits, starts, rounds, seconds = cells
        print(
            f"[-{width:g}, {width:g}]^2  {mixing:9}{prototype:>11}{few:>10}{many:>11}{hits:>12}"
            f"{starts:>8}{rounds:>8}{seconds:>9}"
        )
    if arguments.output is not None:
        draw(kinds[0][0], n, budget, arguments.output)


if __name__ == "__main__":
    main()
