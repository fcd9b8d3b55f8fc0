"""Three structures that one map cannot represent, and their representation in two maps.

    python examples/figure1_2009.py [--starts 10] [--quick] [-o figure.png]

The script reproduces the constructions of L.J.P. van der Maaten and G.E. Hinton, Modeling semantic
similarities in multiple maps (EWI-ICT TR 2009-001, Delft), which motivate several maps. They are
written as positions and mixing proportions, with the similarities of the model:

    intransitive   A and B are both near C, but not near each other: C is in two maps with equal
                   proportions, A is in one, and B is in the other
    central        six objects have the same one as their nearest neighbour: three in each map
    asymmetric     North Korea evokes China more than the reverse: China is near North Korea in one
                   map, with a proportion of 1/4, and near its other neighbours in the second one,
                   with a proportion of 3/4

The proportions are those of the report, which describes the similarities in words. The number of
other neighbours and all positions are chosen here, so the value from China to North Korea, 0.0625
for five neighbours at an equal distance, is not a published number.

Each construction has a small version, as in the report, and a larger one with scattered points. In
the fits, P is computed from the construction, and maps are fitted to it from random starts.

One map must fail in two cases, whatever its fit:

- centrality in two dimensions. Among six objects around one, two are seen from it under an angle of
  at most 60 degrees. The farther of them, i, is no farther from the other one, j, than from the
  centre. So q_j|i >= q_centre|i, and the row's divergence is at least that of P from
  q_j = q_centre = (p_j + p_centre) / 2. With k objects at least k - 5 rows fail.
- the Cauchy kernel in any number of dimensions. Let A be the farther from C among A and B. Then
  |AB| <= 2 |AC|, q_B|A / q_C|A >= (1 + d2) / (1 + 4 d2) > 1/4, and q_C|A < 4/5.

A single conditional Gaussian map has neither limit for A-C-B: on a line that becomes longer, exp(-4
d2) vanishes compared with exp(-d2). The same line, with China for C, has the asymmetry of the two
countries. In this case the second map permits the heavy tail. It also replaces dimensions if groups
must be near one object and near themselves. The table shows what one map would need.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import manymaps as mm
from manymaps.model import ChoiceModel
from manymaps.model.choice import Kernel
from manymaps.optimizers import LBFGS

KERNELS: dict[Kernel, Callable[..., mm.MultipleMapsTSNE | mm.MultipleMapsSNE]] = {
    "gaussian": mm.MultipleMapsSNE,
    "cauchy": mm.MultipleMapsTSNE,
}
SOLVED = 1e-3


@dataclass(frozen=True)
class Construction:
    """The parameters of two maps, and the claims that they support.

    `maps` is (2, n, 2), `proportions` (2, n); `claims` are the pairs (i, j) whose q_j|i is printed.
    """

    name: str
    labels: Sequence[str]
    maps: np.ndarray
    proportions: np.ndarray
    claims: Sequence[tuple[str, str]] = ()

    def atlas(self, kernel: Kernel) -> mm.Atlas:
        """Create the atlas of the construction under a conditional model with the kernel."""
        model = ChoiceModel(kernel=kernel, normalization="conditional", mixing="learned")
        return mm.Atlas(self.labels, self.maps, self.proportions, model)


def choices(atlas: mm.Atlas) -> np.ndarray:
    """Compute the model's q_j|i as a table."""
    return np.stack([atlas.similarities(label) for label in atlas.labels])


def membership(shared: int, first: int, second: int) -> np.ndarray:
    """Return proportions of objects in both maps equally, in the first only, in the second only."""
    columns = [[0.5, 0.5]] * shared + [[1.0, 0.0]] * first + [[0.0, 1.0]] * second
    return np.array(columns).T


def ring(count: int, radius: float) -> np.ndarray:
    """Return equally spaced points on a circle."""
    angles = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def intransitive() -> Construction:
    """Put A and B near C, each in one of the maps."""
    maps = np.zeros((2, 3, 2))
    maps[0, 1] = maps[1, 2] = (0.5, 0.0)
    claims = [("A", "C"), ("A", "B"), ("B", "C"), ("C", "A"), ("C", "B")]
    return Construction("intransitive", "CAB", maps, membership(1, 1, 1), claims)


def central(per_map: int, radius: float = 1.5) -> Construction:
    """Put a hub in the middle of two rings, each in one of the maps."""
    n = 1 + 2 * per_map
    maps = np.zeros((2, n, 2))
    maps[0, 1 : 1 + per_map] = maps[1, 1 + per_map :] = ring(per_map, radius)
    labels = ["hub", *(str(i) for i in range(1, n))]
    claims = [("1", "hub"), ("1", "2"), ("1", str(n - 1)), ("hub", "1")]
    return Construction("central", labels, maps, membership(1, per_map, per_map), claims)


def asymmetric() -> Construction:
    """Put China near North Korea in one map, and near its other neighbours in the second one."""
    others = ["Japan", "Taiwan", "Vietnam", "Mongolia", "India"]
    maps = np.zeros((2, 7, 2))
    maps[0, 1] = (0.5, 0.0)
    maps[1, 2:] = ring(5, 0.5)
    claims = [("North Korea", "China"), ("China", "North Korea"), ("China", "Japan")]
    proportions = membership(1, 1, 5)
    proportions[:, 0] = 1 / 4, 3 / 4
    return Construction("asymmetric", ["China", "North Korea", *others], maps, proportions, claims)


def scattered(name: str, shared: int, first: int, second: int, seed: int) -> Construction:
    """Draw more objects of the same kinds, uniform on [-1.5, 1.5]^2 in each map."""
    proportions = membership(shared, first, second)
    n = proportions.shape[1]
    maps = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, n, 2))
    return Construction(name, [str(i) for i in range(n)], maps, proportions)


def divergences(
    P: np.ndarray, kernel: Kernel, n_maps: int, n_components: int, starts: int
) -> np.ndarray:
    """Compute KL per row of fits from random starts, best first."""
    estimator = KERNELS[kernel](
        n_maps, n_components, penalty=0.0, affinity="precomputed", optimizer=LBFGS(),
        tolerance=0.0, max_iter=1500, n_jobs=1,
    )  # fmt: skip
    seeds = range(starts)
    found = [estimator.set_params(random_state=seed).fit(P).kl_divergence_ for seed in seeds]
    return np.sort(found)


def centrality_floor(P: np.ndarray) -> float:
    """Compute the least KL per row of one two-dimensional map; object 0 is the hub."""
    rows = []
    for i in range(1, len(P)):
        others = np.delete(P[i], [0, i])
        rivals = others[others > 0]
        equal = (P[i, 0] + rivals) / 2
        gains = P[i, 0] * np.log(P[i, 0] / equal) + rivals * np.log(rivals / equal)
        nobody = P[i, 0] * np.log(2) if len(rivals) < len(others) else np.inf
        rows.append(min(gains.min(initial=np.inf), nobody))
    failing = max(len(rows) - 5, 0)
    return float(np.sort(rows)[:failing].sum() / len(P))


def print_constructions(constructions: Sequence[Construction]) -> None:
    """Print the model's values for the parameters as written."""
    print("The constructions as parameters: q_j|i (how strongly i recalls j)")
    print(f"{'construction':14}{'i -> j':24}{'gaussian':>10}{'cauchy':>10}")
    for construction in constructions:
        atlases = [construction.atlas(kernel) for kernel in KERNELS]
        for i, j in construction.claims:
            values = "".join(f"{atlas.similarity(i, j):10.4f}" for atlas in atlases)
            print(f"{construction.name:14}{f'{i} -> {j}':24}{values}")
        if construction.name == "central":
            found = [np.argmax(choices(atlas)[1:], axis=1) == 0 for atlas in atlases]
            counts = "".join(f"{hits.sum():>5} of {hits.size}" for hits in found)
            print(f"{'central':14}{'nearest neighbour: hub':24}{counts}")


def print_fits(
    constructions: Sequence[Construction], shapes: Sequence[tuple[int, int]], starts: int
) -> None:
    """Print KL of the best fit by number of maps, dimensions and kernel."""
    print(f"\nFits to P: KL per object, best of {starts} random starts, by maps x dimensions")
    print("(the fits compute in float32: a few 1e-6 of either sign are zero)")
    heads = "".join(f"{f'{m} x {d}-D':>9}" for m, d in shapes)
    solved_head = f"2 x 2-D below {SOLVED:g}"
    print(f"{'construction':14}{'objects':>7}  {'kernel':9}{heads}  {solved_head}  seconds")
    for construction in constructions:
        for kernel in KERNELS:
            clock = time.perf_counter()
            P = choices(construction.atlas(kernel))
            found = {shape: divergences(P, kernel, *shape, starts) for shape in shapes}
            cells = "".join(f"{values[0]:9.1e}" for values in found.values())
            solved = f"{(found[2, 2] < SOLVED).sum()} of {starts} starts"
            seconds = time.perf_counter() - clock
            print(
                f"{construction.name:14}{len(P):7}  {kernel:9}{cells}  {solved:>19}{seconds:9.1f}",
                flush=True,
            )


def print_floors(hubs: Sequence[Construction]) -> None:
    """Print the bounds in the module docstring, with which the fits are compared."""
    print("\nWhat no single map can go below, KL per object")
    for construction in hubs:
        for kernel in KERNELS:
            P = choices(construction.atlas(kernel))
            what = f"central, {len(P)} objects, {kernel}, 2-D"
            print(f"{what:44}{centrality_floor(P):9.1e}")
    print(f"{'intransitive, 3 objects, cauchy, any':44}{np.log(5 / 4) / 3:9.1e}")


def draw(constructions: Sequence[Construction], path: Path) -> None:
    """Draw both maps of each construction; the area of a dot is the proportion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(2, len(constructions))
    for column, construction in zip(panels.T, constructions, strict=True):
        for m, panel in enumerate(column):
            here = np.flatnonzero(construction.proportions[m] > 0)
            points = construction.maps[m][here]
            middle = (points.min(axis=0) + points.max(axis=0)) / 2
            limits = np.array([-1.0, 1.0]) * (np.ptp(points, axis=0).max() * 0.5 + 0.5)
            panel.scatter(*points.T, s=160 * construction.proportions[m][here], alpha=0.6)
            for i, point in zip(here, points, strict=True):
                name = construction.labels[int(i)]
                panel.annotate(name, point, (0, 9), textcoords="offset points", ha="center")
            panel.set(title=f"{construction.name}, map {m}", xticks=[], yticks=[])
            panel.set(aspect="equal", xlim=middle[0] + limits, ylim=middle[1] + limits)
    mm.save_figure(figure, path)
    print(f"\nwrote {path}")


def main() -> None:
    """Print the three tables, and draw the constructions if requested."""
    parser = argparse.ArgumentParser(description="The constructions of the 2009 report, figure 1.")
    parser.add_argument("--starts", type=int, default=10, help="random starts of each fit")
    parser.add_argument("--quick", action="store_true", help="few fits, for a first look")
    parser.add_argument("-o", "--output", type=Path, help="draw the constructions to this file")
    arguments = parser.parse_args()

    small = [intransitive(), central(3), asymmetric()]
    hubs = [small[1], replace(central(5, radius=2.0), name="central")]
    large = [
        scattered("intransitive", 5, 10, 10, seed=0),
        hubs[1],
        scattered("asymmetric", 1, 3, 15, seed=1),
    ]
    print_constructions(small)
    print_floors(hubs)
    if arguments.quick:
        print_fits(small, [(1, 2), (2, 2)], starts=2)
    else:
        print_fits(
            [*small, *large], [(1, 1), (1, 2), (1, 3), (1, 5), (2, 1), (2, 2)], arguments.starts
        )
    if arguments.output is not None:
        draw(small, arguments.output)


if __name__ == "__main__":
    main()
