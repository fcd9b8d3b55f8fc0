"""Fits of rounded measurements with weights, next to fits of all measurements.

    python benchmarks/weights.py [--rows 6000] [--many 1000000]

The measurements are 8 groups in three dimensions, rounded to half units. One table compares the
fits of the measurements, of the rounded measurements, and of their distinct values with weights.
The last line rounds many more measurements to quarter units and divides the weights by their mean.
KL and trustworthiness (k = perplexity) are those of the fitted rows.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import manymaps as mm
from manymaps.metrics import trustworthiness

PERPLEXITY = 100
SAMPLED = 500


def measurements(n: int) -> np.ndarray:
    """Draw measurements around 8 centres."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 2, (8, 3))
    return centers[rng.integers(8, size=n)] + rng.normal(0, 0.6, (n, 3))


def report(name: str, rows: np.ndarray, weights: np.ndarray | None, perplexity: float) -> None:
    """Fit rows and print a line of the table."""
    begin = time.perf_counter()
    fit = mm.TSNE(perplexity=perplexity, random_state=0).fit(rows, sample_weight=weights)
    seconds = time.perf_counter() - begin
    trust = trustworthiness(
        rows, fit.embedding_, k=int(perplexity), sample=SAMPLED, sample_weight=weights
    )
    print(
        f"| {name} | {len(rows):,} | {perplexity:g} | {seconds:.1f} | {fit.kl_divergence_:.3f} "
        f"| {trust.mean:.4f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    asked = parser.parse_args()
    # Copies have no neighbours that a perplexity could distinguish.
    warnings.simplefilter("ignore", mm.DataWarning)
    mm.TSNE(perplexity=5, max_iter=20).fit(measurements(50), sample_weight=np.arange(1, 51) / 25)
    print("| fitted rows | number | perplexity | seconds | KL | trustworthiness |")
    print("|---|---|---|---|---|---|")
    sample = measurements(asked.rows)
    rounded = np.round(sample * 2) / 2
    bins, counts = np.unique(rounded, axis=0, return_counts=True)
    report("measurements", sample, None, PERPLEXITY)
    report("rounded measurements", rounded, None, PERPLEXITY)
    report("distinct values with weights", bins, counts, PERPLEXITY)
    bins, counts = np.unique(np.round(measurements(asked.many) * 4) / 4, axis=0, return_counts=True)
    report(f"distinct values of {asked.many:,}", bins, counts / counts.mean(), 30)


if __name__ == "__main__":
    main()
