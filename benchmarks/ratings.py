"""Similarities of two words in an atlas, in several forms, compared with ratings of the pairs.

    python benchmarks/ratings.py RATINGS... [--maps 40] [--iterations 400] [--seed 0]

RATINGS are files in the formats of `manymaps.read_ratings` (SimLex-999, WordSim-353, MEN, ...),
none of which may be shipped. The norms from MANYMAPS_DATA are fitted once. For each file, the table
has one line per form: Pearson's and Spearman's correlation with the ratings, over the pairs that
the atlas contains. `manymaps.analysis.rating_evaluation` documents the form that
`manymaps.evaluate` uses, and the reason.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr

import manymaps as mm
from manymaps.labels import label_places

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"


def similarities(atlas: mm.Atlas) -> np.ndarray:
    """Compute v_ij of all pairs, and of each object with itself; shape (n, n)."""
    v = np.array(
        [np.exp(atlas.choices.log_similarities(i)).sum(axis=0) for i in range(atlas.n_objects)]
    )
    np.fill_diagonal(v, (atlas.proportions.astype(np.float64) ** 2).sum(axis=0))
    return v


def pair_cosines(rows: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute the cosines of pairs of rows, (n_pairs,)."""
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return ((rows / lengths)[a] * (rows / lengths)[b]).sum(axis=1)


def information(rows: np.ndarray) -> np.ndarray:
    """Compute the PPMI of rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.fmax(np.log2(rows / rows.mean(axis=0)), 0)


def forms(
    v: np.ndarray, norms: mm.Associations, a: np.ndarray, b: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Return each form by name, with one value per pair."""
    own = np.diag(v)
    others = v * (1 - np.eye(len(v)))
    q = others / others.sum(axis=1, keepdims=True)
    received = q.mean(axis=0)
    p = norms.strengths.toarray()
    steps = information(p)
    steps /= np.maximum(steps.sum(axis=1, keepdims=True), 1e-300)
    walks = np.linalg.inv(np.eye(len(p)) - 0.75 * steps)  # Katz 1953; De Deyne et al. 2019
    yield "v", v[a, b]
    yield "log v", np.log(v[a, b])
    yield "log v / sqrt(v_ii v_jj)", np.log(v[a, b] / np.sqrt(own[a] * own[b]))
    yield "mean q", (q[a, b] + q[b, a]) / 2
    yield "larger q", np.maximum(q[a, b], q[b, a])
    yield "mean log q (taken)", (np.log(q[a, b]) + np.log(q[b, a])) / 2
    yield "mean log lift", np.log(q[a, b] * q[b, a] / (received[a] * received[b])) / 2
    yield "cosine of rows of v", pair_cosines(v, a, b)
    yield "cosine of rows of q", pair_cosines(q, a, b)
    yield "Bhattacharyya of q", np.sqrt(q[a] * q[b]).sum(axis=1)
    yield "overlap of q", np.minimum(q[a], q[b]).sum(axis=1)
    yield "PPMI cosine of q", pair_cosines(information(q), a, b)
    yield "data: strength", (p[a, b] + p[b, a]) / 2
    yield "data: PPMI cosine", pair_cosines(steps, a, b)
    yield "data: Katz walk", pair_cosines(information(walks), a, b)


def main() -> None:
    """Fit the norms and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="RATINGS")
    parser.add_argument("--maps", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    norms = mm.read_associations(NORMS)
    fit = mm.MultipleMapsTSNE(
        arguments.maps,
        max_iter=arguments.iterations,
        random_state=arguments.seed,
    )
    v = similarities(fit.fit(norms).atlas_)
    for file in arguments.files:
        ratings = mm.read_ratings(file)
        words = ratings[["word1", "word2"]].to_numpy().T.tolist()
        a, b = (np.array(label_places(ends, norms.labels)) for ends in words)
        known = (a >= 0) & (b >= 0)
        print(f"{file.name}: {known.sum():,} of {len(ratings):,} pairs   Pearson  Spearman")
        for name, values in forms(v, norms, a[known], b[known]):
            rated = ratings["rating"].to_numpy()[known]
            both = pearsonr(values, rated)[0], spearmanr(values, rated)[0]
            print(f"  {name:30s} {both[0]:15.3f} {both[1]:9.3f}", flush=True)


if __name__ == "__main__":
    main()
