"""How exact are the fft engine and the active entries, on a real fit of the embedded words?

    python benchmarks/exactness.py [--maps 20] [--iterations 300]

Relative errors (norm of the difference over the norm) of Z, of the repulsive force, and of the
whole gradient, which is small beside its two parts near the end of a fit:
the fft engine at the default tolerance against exact sums; the active entries against all of them.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import manymaps as mm
from manymaps.model import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import conditional_target

Pair = tuple[Evaluation, Evaluation]
DEFAULT = mm.MultipleMapsTSNE().tolerance


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """Relative error in the Euclidean norm."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def evaluated(objective: Objective, parameters: Parameters, **options: Any) -> Pair:
    """The whole gradient, and the repulsion alone (an attraction exaggerated by zero)."""
    return (
        objective.evaluate(parameters, **options),
        objective.evaluate(parameters, exaggeration=0.0, **options),
    )


def line(name: str, found: Pair, truth: Pair) -> str:
    """One line of the table."""
    (found, repulsion), (truth, true_repulsion) = found, truth
    force = error(repulsion.gradient.positions[0], true_repulsion.gradient.positions[0])
    z = np.exp(found.log_normalizers - truth.log_normalizers) - 1
    positions = error(found.gradient.positions[0], truth.gradient.positions[0])
    weights = error(found.gradient.weights[0], truth.gradient.weights[0])
    cost = found.kl - truth.kl
    columns = np.sqrt(np.mean(z**2)), np.abs(z).max(), force, positions, weights, cost
    return f"{name:42s} " + " ".join(f"{value:9.1e}" for value in columns)


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


if __name__ == "__main__":
    main()
