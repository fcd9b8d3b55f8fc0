"""Accuracy of the fft engine and the active entries, on a real fit of the embedded words.

    python benchmarks/exactness.py [--maps 20] [--iterations 300]

The first table lists relative errors (norm of the difference over the norm) of Z, of the repulsive
force, and of the whole gradient, which is small compared with its two parts near the end of a fit.
It compares the fft engine at the default tolerance with exact sums, and the active entries with all
entries.

The second table uses a bipartite Gaussian conditional model of random points, with columns of the
given radius and each row near one of them. It compares Z, KL, and the repulsive forces on rows and
on columns with dense sums in float64.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

import manymaps as mm
from manymaps.model import CODE, MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.model.objective import Evaluation, Objective
from manymaps.model.parameters import Entries, Parameters, weights_from_proportions
from manymaps.model.target import conditional_target, count_target

Pair = tuple[Evaluation, Evaluation]
DEFAULT = mm.MultipleMapsTSNE().tolerance
SHAPE = 3000, 800


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """Compute the relative error in the Euclidean norm."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def evaluated(objective: Objective, parameters: Parameters, **options: Any) -> Pair:
    """Compute the whole gradient, and only the repulsion (an attraction exaggerated by zero)."""
    return (
        objective.evaluate(parameters, **options),
        objective.evaluate(parameters, exaggeration=0.0, **options),
    )


def filled(part: Parameters, whole: Parameters) -> tuple[np.ndarray, ...]:
    """Return the arrays of a gradient of all entries, which is 0 at those that are not active."""
    if part.places is None:
        return part.arrays
    arrays = [np.zeros_like(array) for array in whole.arrays]
    for array, values in zip(arrays, part.arrays, strict=True):
        array.reshape(-1, *array.shape[2:])[part.places[0]] = values
    return tuple(arrays)


def line(name: str, found: Pair, truth: Pair) -> str:
    """Format one line of the table."""
    (found, repulsion), (truth, true_repulsion) = found, truth
    true_positions, true_weights = truth.gradient.arrays
    of_positions, of_weights = filled(found.gradient, truth.gradient)
    repulsion_on_positions, _ = filled(repulsion.gradient, truth.gradient)
    force = error(repulsion_on_positions, true_repulsion.gradient.positions[0])
    z = np.exp(found.log_normalizers - truth.log_normalizers) - 1
    positions, weights = error(of_positions, true_positions), error(of_weights, true_weights)
    cost = found.kl - truth.kl
    columns = np.sqrt(np.mean(z**2)), np.abs(z).max(), force, positions, weights, cost
    return f"{name:42s} " + " ".join(f"{value:9.1e}" for value in columns)


def two_kinds(d: int, radius: float) -> str:
    """Format one line of the second table."""
    rng = np.random.default_rng(0)
    n, k = SHAPE
    columns = (rng.normal(size=(k, d)) * radius / np.sqrt(d)).astype(np.float32)
    rows = columns[rng.integers(0, k, n)]
    rows += rng.normal(size=(n, d)).astype(np.float32) / np.float32(np.sqrt(d))
    counts = sparse.random_array(SHAPE, density=0.01, rng=rng) + sparse.eye_array(*SHAPE)
    target = count_target(counts)
    margin = target.column_mass / target.column_mass.sum()
    parameters = Parameters(
        (rows[None], columns[None]), tuple(np.zeros((1, m), np.float32) for m in SHAPE)
    )
    objective = Objective(target, CODE, tolerance=DEFAULT / 100, column_factors=margin)
    found, repulsion = evaluated(objective, parameters)
    p, (t, s) = target.values.toarray(), (side.astype(float) for side in (rows, columns))
    log_v = np.log(margin) - cdist(t, s, "sqeuclidean")
    log_z = logsumexp(log_v, axis=1)
    divergence = target.negative_entropy - (p * log_v).sum() + target.row_mass @ log_z
    kl = divergence / target.n_rows_with_mass
    q = target.row_mass[:, None] * np.exp(log_v - log_z[:, None])
    forces = (
        2 * (q @ s - q.sum(axis=1)[:, None] * t),
        2 * (q.T @ t - q.sum(axis=0)[:, None] * s),
    )
    z = np.exp(found.log_normalizers - log_z) - 1
    errors = (
        np.sqrt(np.mean(z**2)), np.abs(z).max(), abs(found.kl / kl - 1),
        *(error(f[0], true) for f, true in zip(repulsion.gradient.positions, forces, strict=True)),
    )  # fmt: skip
    return f"{d:4} {radius:6g} " + " ".join(f"{value:9.1e}" for value in errors)


def main() -> None:
    """Fit, then evaluate the same parameters in several ways."""
    parser = argparse.ArgumentParser(description="Errors of the engines on a real fit.")
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=300)
    arguments = parser.parse_args()
    words = mm.load_word_relations()
    target = conditional_target(words.strengths)
    print(f"{'':42s}   Z (rms)   Z (max)     force  position    weight   KL error")
    for name, estimator, model in (
        ("Cauchy", mm.MultipleMapsTSNE, MULTIPLE_MAPS_T_SNE),
        ("Gaussian", mm.MultipleMapsSNE, MULTIPLE_MAPS_SNE),
    ):
        fit = estimator(arguments.maps, max_iter=arguments.iterations, random_state=0).fit(words)
        weights = weights_from_proportions(fit.proportions_).astype(np.float32)
        parameters = Parameters((fit.maps_,), (weights,))
        exact = Objective(target, model, engine="exact", tolerance=0)
        truth = evaluated(exact, parameters)
        for tolerance in (DEFAULT, DEFAULT / 10):
            fast = Objective(target, model, engine="fft", tolerance=tolerance)
            found = evaluated(fast, parameters)
            print(line(f"{name}, fft, tolerance {tolerance:g}", found, truth))
        for least in (1e-4, 3e-4, 1e-3):
            mask = (fit.proportions_ > least) | (truth[0].shares[0] > least)
            found = evaluated(exact, parameters, entries=(Entries(mask),))
            print(line(f"{name}, active above {least:g} ({mask.mean():.0%})", found, truth))
    print("\ndims radius   Z (rms)   Z (max)        KL      rows   columns")
    for d in (3, 5, 10, 50):
        for radius in (1.0, 10.0, 100.0):
            print(two_kinds(d, radius))


if __name__ == "__main__":
    main()
