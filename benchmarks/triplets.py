"""Accuracy on planted triplets: an atlas of few judgements compared with counts and the ceiling.

    python benchmarks/triplets.py [--objects 100] [--maps 5] [--iterations 300] [--seeds 0 1]

Two truths are planted. In "themes" each object belongs to one or two of ten themes, and in
"dimensions" it has six numbers of at least 0. The utility of a pair is the inner product. Among
three objects drawn at random, a pair is chosen with the probability of Luce's rule, so no model can
predict all choices. Each line is a truth and a number of triplets, with means over the seeds of the
accuracy on 20,000 others:

    each         number of judgements per pair
    ceiling      of the true model: the mean probability of the most probable pair
    by others    its estimate by `Triplets.noise_ceiling`, from 500 triplets with ten judgements
                 (majority, and majority of the others)
    chance       1/3
    popularity   pairs by how often their objects were in a chosen pair
    counts       by the proportion of choices among the fitted triplets
    atlas of counts   the atlas fitted to these proportions, with pairs without judgement missing
    atlas        the atlas fitted to `Triplets.associations()`, as in `manymaps fit`
    model        the intermediate model of choice, without any map
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import manymaps as mm
from manymaps.analysis.triplet_evaluation import choice_accuracy
from manymaps.data.triplet_choice import choice_utilities

N_TEST = 20_000
N_REPEATED, N_ANSWERS = 500, 10
NUMBERS = (1_000, 4_000, 16_000, 64_000)


def planted(truth: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Compute the utilities of all pairs, shape (n, n)."""
    if truth == "themes":
        features = np.zeros((n, 10))
        for row in features:
            some = rng.choice(10, rng.integers(1, 3), replace=False)
            row[some] = rng.dirichlet(np.full(len(some), 3.0))
        return 6 * features @ features.T
    features = np.maximum(rng.normal(size=(n, 6)), 0)
    utilities = features @ features.T
    return np.asarray(1.5 * utilities / utilities.std())


def asked(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw sets of three different objects, shape (count, 3)."""
    return np.argsort(rng.random((count, n)), axis=1)[:, :3]


def answered(
    utilities: np.ndarray, sets: np.ndarray, rng: np.random.Generator
) -> tuple[mm.Triplets, float]:
    """Draw triplets with the odd one last, and count those that the true model predicts."""
    i, j, k = sets.T
    of_odd = np.stack([utilities[j, k], utilities[i, k], utilities[i, j]], axis=1)
    p = np.exp(of_odd - of_odd.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    odd = (p.cumsum(axis=1) < rng.random((len(sets), 1))).sum(axis=1).clip(max=2)
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[odd]
    labels = [str(i) for i in range(len(utilities))]
    return mm.Triplets(np.take_along_axis(sets, order, axis=1), labels), float(p.max(axis=1).mean())


def row(truth: str, count: int, seed: int, arguments: argparse.Namespace) -> Sequence[float]:
    """Compute the values of one line for one seed."""
    rng = np.random.default_rng(seed)
    n = arguments.objects
    utilities = planted(truth, n, rng)
    triplets, _ = answered(utilities, asked(n, count, rng), rng)
    test, best = answered(utilities, asked(n, N_TEST, rng), rng)
    repeated, _ = answered(utilities, asked(n, N_REPEATED, rng).repeat(N_ANSWERS, axis=0), rng)
    ceiling = repeated.noise_ceiling()
    assert ceiling is not None
    counts = [table.toarray().astype(float) for table in triplets.counts()]
    shown = np.divide(*counts, out=np.full((n, n), triplets.chance), where=counts[1] > 0)
    rate = counts[0].sum(axis=1) / np.maximum(counts[1].sum(axis=1), 1)
    u = choice_utilities(triplets.values, n, triplets.kind, seed=seed)

    def atlas_of(data: mm.Associations) -> float:
        fit = mm.MultipleMapsTSNE(
            arguments.maps,
            popularity=0,
            degrees_of_freedom=1,
            max_iter=arguments.iterations,
            random_state=seed,
            n_jobs=1,
        )
        return mm.evaluate(fit.fit(data).atlas_, test).accuracy["atlas"].value

    return (
        counts[1].sum() / (n * (n - 1)),
        best,
        ceiling.majority,
        ceiling.others,
        triplets.chance,
        float(choice_accuracy(test, lambda i, j: rate[i] + rate[j]).mean()),
        float(choice_accuracy(test, lambda i, j: shown[i, j]).mean()),
        atlas_of(triplets.associations("proportions")),
        atlas_of(triplets.associations(random_state=seed)),
        float(choice_accuracy(test, lambda i, j: u[i, j]).mean()),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=100)
    parser.add_argument("--maps", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--numbers", type=int, nargs="+", default=list(NUMBERS))
    arguments = parser.parse_args()
    names = ("each", "ceiling", "majority", "by others", "chance", "popularity", "counts",
             "atlas of counts", "atlas", "model")  # fmt: skip
    print(f"{'truth':10s} {'triplets':>8s}  " + "  ".join(names))
    for truth in ("themes", "dimensions"):
        for count in arguments.numbers:
            found = np.mean([row(truth, count, s, arguments) for s in arguments.seeds], axis=0)
            cells = [f"{found[0]:{len(names[0])}.1f}"]
            cells += [f"{x:{len(name)}.3f}" for name, x in zip(names[1:], found[1:], strict=True)]
            print(f"{truth:10s} {count:8,}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
