"""How exact are the fft engine and the active entries, on a real fit of the embedded words?

    python benchmarks/exactness.py [--maps 20] [--iterations 300]

Relative errors (norm of the difference over the norm) of Z, of the force and of the whole gradient:
the fft engine at the default tolerance against exact sums; the active entries against all of them.
"""

from __future__ import annotations

import argparse

import numpy as np

import manymaps as mm
from manymaps.model import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.objective import Entries, Evaluation, Objective
from manymaps.parameters import Parameters, weights_from_proportions
from manymaps.target import conditional_target

DEFAULT = mm.MultipleMapsTSNE().tolerance


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """Relative error in the Euclidean norm."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def line(name: str, found: Evaluation, truth: Evaluation) -> str:
    """One line of the table."""
    z = np.exp(found.log_normalizers - truth.log_normalizers) - 1
    positions = error(found.gradient.positions[0], truth.gradient.positions[0])
    weights = error(found.gradient.weights[0], truth.gradient.weights[0])
    cost = found.kl - truth.kl
    return (
        f"{name:42s} {np.sqrt(np.mean(z**2)):9.1e} {np.abs(z).max():9.1e} {positions:9.1e} "
        f"{weights:9.1e} {cost:10.1e}"
    )


def main() -> None:
    """Fit, then evaluate the same parameters in several ways."""
    parser = argparse.ArgumentParser(description="Errors of the engines on a real fit.")
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=300)
    arguments = parser.parse_args()
    words = mm.load_word_relations()
    target = conditional_target(words.strengths)
    print(f"{'':42s}   Z (rms)   Z (max)  position    weight   KL error")
    for name, estimator, model in (
        ("Cauchy", mm.MultipleMapsTSNE, MULTIPLE_MAPS_T_SNE),
        ("Gaussian", mm.MultipleMapsSNE, MULTIPLE_MAPS_SNE),
    ):
        fit = estimator(arguments.maps, max_iter=arguments.iterations, random_state=0).fit(words)
        weights = weights_from_proportions(fit.proportions_).astype(np.float32)
        parameters = Parameters((fit.maps_,), (weights,))
        truth = Objective(target, model, engine="exact", tolerance=0).evaluate(parameters)
        for tolerance in (DEFAULT, DEFAULT / 10):
            fast = Objective(target, model, engine="fft", tolerance=tolerance)
            found = fast.evaluate(parameters)
            print(line(f"{name}, fft, tolerance {tolerance:g}", found, truth))
        for least in (1e-4, 3e-4, 1e-3):
            mask = (fit.proportions_ > least) | (truth.shares[0] > least)
            found = Objective(target, model, engine="exact", tolerance=0).evaluate(
                parameters, entries=(Entries(mask),)
            )
            print(line(f"{name}, active above {least:g} ({mask.mean():.0%})", found, truth))


if __name__ == "__main__":
    main()
