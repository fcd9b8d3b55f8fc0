"""Additive clustering: seconds and variance accounted for.

    python benchmarks/clusters.py [--sizes 16 50 200 1000] [--clusters 8 16 50] [--words 1000]

The generated data have n objects and K features, each of which one in five objects has at random.
Weights are from [0.1, 0.6], and normal noise has 5 % of the standard deviation of the similarities.
"true" is the variance accounted for by the features from which the data were generated. Each row is
one random start after compilation.

The integers (from MANYMAPS_DATA, or else rebuilt from the printed clusters) have one start, and
100.

Words (with the USF norms in MANYMAPS_DATA) are the responses to most cues, with a prior of ten
words per feature. Their features are printed for inspection.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from manymaps.clustering.additive import AdditiveClustering
from manymaps.clustering.priors import Prior, SizePrior
from manymaps.datasets import load_integers
from manymaps.errors import DataWarning
from manymaps.io.associations import read_associations
from manymaps.io.similarities import read_similarities

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
INTEGERS = DATA / "similarity" / "numbers10_similarity.csv"
WORDS = DATA / "usf" / "usf_free_association.tsv.gz"
SHARE, WEIGHTS, NOISE = 0.2, (0.1, 0.6), 0.05
_USUAL_SIZE = 10


def made_up(n: int, k: int) -> tuple[np.ndarray, float]:
    """Generate similarities, and compute the variance that their true features account for."""
    rng = np.random.default_rng([n, k])
    members = (rng.random((n, k)) < SHARE).astype(float)
    upper = np.triu_indices(n, 1)
    exact = ((members * rng.uniform(*WEIGHTS, k)) @ members.T)[upper]
    noisy = exact + NOISE * exact.std() * rng.normal(size=exact.shape)
    values = np.full((n, n), np.nan)
    values[upper] = noisy
    values = np.where(np.isnan(values), values.T, values)
    return values, float(1 - ((noisy - exact) ** 2).sum() / ((noisy - noisy.mean()) ** 2).sum())


def timed(
    values: np.ndarray,
    k: int,
    n_init: int,
    jobs: int,
    *,
    prior: Prior | None = None,
    labels: list[str] | None = None,
) -> tuple[AdditiveClustering, float]:
    """Time a fit."""
    start = time.perf_counter()
    found = AdditiveClustering(k, n_init=n_init, prior=prior, random_state=0, n_jobs=jobs)
    found.fit(values, labels=labels)
    return found, time.perf_counter() - start


def scaling(sizes: list[int], counts: list[int], jobs: int) -> None:
    """Print seconds and variance by size."""
    print(
        f"{'objects':>8}{'clusters':>9}{'seconds':>9}{'variance':>10}{'true':>8}{'iterations':>12}"
    )
    for n in sizes:
        for k in counts:
            values, true = made_up(n, k)
            found, seconds = timed(values, k, 1, jobs)
            print(
                f"{n:8,}{k:9}{seconds:9.2f}{found.variance_accounted_for_:10.4f}{true:8.4f}"
                f"{found.n_iter_:12}",
                flush=True,
            )


def integers(jobs: int) -> None:
    """Print the results of one start and of a hundred."""
    if INTEGERS.exists():
        values = read_similarities(INTEGERS).values
    else:
        values = load_integers(0.05, random_state=0).strengths.toarray()
    np.fill_diagonal(values, np.nan)
    name = "as measured" if INTEGERS.exists() else "rebuilt"
    for n_init in (1, 100):
        found, seconds = timed(values, 8, n_init, jobs)
        best = int((found.solutions_ >= found.solutions_.max() - 1e-9).sum())
        print(
            f"integers, {name}, 8 clusters, {n_init} starts: {seconds:.2f} s, variance "
            f"{found.variance_accounted_for_:.4f}, {best} at the best"
        )


def words(count: int, k: int, jobs: int) -> None:
    """Print features of the most frequent responses, which are similar if they share associates.

    Direct associations are too sparse to be explained by clusters: similar are two words by the
    cosine of the roots of their associations, in either direction.
    """
    data = read_associations(WORDS, rows="keep")
    n_cues = np.bincount(data.strengths.indices, minlength=data.n_objects)
    chosen = np.sort(np.argsort(-n_cues, kind="stable")[:count])
    roots = data.strengths.sqrt()
    rows = (roots + roots.T)[chosen]
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    values = (rows @ rows.T).toarray() / np.outer(lengths, lengths)
    np.fill_diagonal(values, np.nan)
    labels = [data.labels[int(i)] for i in chosen]
    prior = SizePrior(share=_USUAL_SIZE / count)
    found, seconds = timed(values, k, 1, jobs, prior=prior, labels=labels)
    print(
        f"\n{count:,} words of the USF norms, {k} clusters: {seconds:.1f} s, variance "
        f"{found.variance_accounted_for_:.4f}"
    )
    for one in found.clusters_:
        shown = " ".join(one.members[:12])
        more = f" and {len(one.members) - 12} more" if len(one.members) > 12 else ""
        print(f"{one.weight:7.3f}  {shown}{more}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Additive clustering: time and variance.")
    parser.add_argument("--sizes", type=int, nargs="*", default=[16, 50, 200, 1000], metavar="N")
    parser.add_argument("--clusters", type=int, nargs="+", default=[8, 16, 50], metavar="K")
    parser.add_argument("--words", type=int, default=1000, metavar="N", help="0 for none")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    timed(made_up(16, 8)[0], 8, 1, arguments.jobs)
    integers(arguments.jobs)
    scaling(arguments.sizes, arguments.clusters, arguments.jobs)
    if arguments.words and WORDS.exists():
        words(arguments.words, 50, arguments.jobs)


if __name__ == "__main__":
    main()
