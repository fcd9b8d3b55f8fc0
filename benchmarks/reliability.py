"""Predictions of the explained share: recurring neighbours, held-out responses, digits of a class.

    python benchmarks/reliability.py [--iterations 300] [--fits 4] [--data relations usf mnist]

A fit of the data is compared with others. They are fits of resampled responses (word relations and
USF norms, 20 maps), or of random halves of the pixels (2,000 digits, t-SNE). The measure is
Spearman's correlation over objects between the share of the ten neighbours that recur and the
explained share (`manymaps.reliability`). It is also correlated with variables that are known
without a fit, and with the explained share, controlling for all of these (partial). Further columns
are the recurring share in the tenth of the objects that are explained least and most.

Half of the responses is also fitted by itself. The explained share is correlated with that of the
other half, and with the number of these responses among the ten nearest. For digits, it is
correlated with the number of the ten nearest in the same class. Norms and digits are read from
MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.stats import rankdata, spearmanr
from sklearn.decomposition import PCA

import manymaps as mm
from manymaps.analysis.stability import repeat_fits
from manymaps.atlas.associations import strongest_associations
from manymaps.data.resampling import counted_responses

HERE = Path(__file__).parent
DATA = Path(os.environ.get("MANYMAPS_DATA", HERE.parents[1] / "shared" / "data"))
N_DIGITS = 2000


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    known = np.isfinite(a) & np.isfinite(b)
    return float(spearmanr(a[known], b[known])[0])


def partial(a: np.ndarray, b: np.ndarray, others: list[np.ndarray]) -> float:
    """Correlate the ranks of a and b, controlling for the ranks of the others."""
    known = np.isfinite(a) & np.isfinite(b)
    others = [rankdata(each[known]) for each in others if np.ptp(each[known]) > 0]
    plane = np.column_stack([np.ones(known.sum()), *others])
    rest = [
        ranks - plane @ np.linalg.lstsq(plane, ranks, rcond=None)[0]
        for ranks in (rankdata(a[known]), rankdata(b[known]))
    ]
    return float(np.corrcoef(*rest)[0, 1])


def plain(p: sparse.csr_array, n_responses: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the variables of each object that are known without a fit."""
    rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    shares = p.data / np.asarray(p.sum(axis=1)).ravel()[rows]
    known = {
        "fewest partners": -np.diff(p.indptr).astype(float),
        "recalled by": np.bincount(p.indices, minlength=p.shape[0]).astype(float),
        "least entropy": np.bincount(rows, shares * np.log(shares), p.shape[0]),
    }
    return known if n_responses is None else {**known, "responses": n_responses.astype(float)}


def tell(name: str, reliability: mm.Reliability, known: dict[str, np.ndarray]) -> None:
    explained, recurring = reliability.explained, reliability.recurring
    assert recurring is not None
    there = np.isfinite(explained)
    order = np.flatnonzero(there)[np.argsort(explained[there])]
    tenth = len(order) // 10
    print(f"{name}: {recurring[there].mean():.3f} recur, by chance {reliability.by_chance:.4f}")
    print(f"  share explained {correlation(explained, recurring):.3f}", end="")
    print(f", given the others {partial(explained, recurring, list(known.values())):.3f}; ", end="")
    told = {k: each for k, each in known.items() if np.ptp(each[there]) > 0}
    print(", ".join(f"{k} {correlation(each, recurring):.3f}" for k, each in told.items()))
    ends = recurring[order[:tenth]].mean(), recurring[order[-tenth:]].mean()
    print(f"  least explained tenth {ends[0]:.3f}, most {ends[1]:.3f}", flush=True)


def words(name: str, norms: mm.Associations, iterations: int, n_fits: int) -> None:
    estimator = mm.MultipleMapsTSNE(20, popularity=0, degrees_of_freedom=1, max_iter=iterations)
    fits = repeat_fits(estimator, norms, n_fits + 1, bootstrap="responses", random_state=0)
    assert fits[0].associations is not None
    known = plain(fits[0].associations, norms.n_responses)
    tell(name, mm.reliability(fits[0], fits[1:]), known)
    counts, numbers = counted_responses(norms)
    first, rng = np.rint(counts).astype(int), np.random.default_rng(7)
    table = norms.strengths
    for i in np.flatnonzero(numbers):
        row = slice(table.indptr[i], table.indptr[i + 1])
        first[row] = rng.multivariate_hypergeometric(first[row], first[row].sum() // 2)
    halves = [
        strongest_associations(sparse.csr_array((half, table.indices, table.indptr), table.shape))
        for half in (first, np.rint(counts).astype(int) - first)
    ]
    fitted = mm.Associations(norms.labels, halves[0].astype(float))
    atlas = estimator.set_params(random_state=0).fit(fitted).atlas_
    explained = mm.reliability(atlas).explained
    held_out = mm.reliability(replace(atlas, associations=halves[1])).explained
    near = atlas.choices.strongest(np.arange(atlas.n_objects), 10)
    other = halves[1].toarray()
    hits = np.where(near >= 0, np.take_along_axis(other, np.maximum(near, 0), axis=1), 0).sum(
        axis=1
    )
    hits[other.sum(axis=1) == 0] = np.nan
    print(f"  the other half: explained {correlation(explained, held_out):.3f}", end="")
    print(f", among the nearest {correlation(explained, hits):.3f}", flush=True)


def digits(iterations: int, n_fits: int) -> None:
    images, labels = (
        gzip.decompress((DATA / "mnist" / f"train-{name}-ubyte.gz").read_bytes())
        for name in ("images-idx3", "labels-idx1")
    )
    values = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:N_DIGITS] / np.float32(
        255
    )
    classes = np.frombuffer(labels, np.uint8, offset=8)[:N_DIGITS]

    def fitted(columns: np.ndarray, seed: int) -> mm.Atlas:
        vectors = PCA(50, random_state=0).fit_transform(values[:, columns])
        estimator = mm.TSNE(init="random", max_iter=iterations, random_state=seed)
        return estimator.fit(vectors).atlas_

    atlas = fitted(np.arange(784), 0)
    halves = [np.random.default_rng(k).choice(784, 392, replace=False) for k in range(n_fits)]
    reliability = mm.reliability(atlas, [fitted(half, 10 + k) for k, half in enumerate(halves)])
    near = atlas.choices.strongest(np.arange(N_DIGITS), 10)
    p = sparse.csr_array(mm.GaussianAffinity(30).similarities(atlas.vectors))
    tell("digits", reliability, plain(p, None))
    pure = (classes[near] == classes[:, None]).mean(axis=1)
    assert reliability.recurring is not None
    print(f"  of the class: explained {correlation(reliability.explained, pure):.3f}", end="")
    print(f", recurring {correlation(reliability.recurring, pure):.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the share explained foretells.")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--data", nargs="+", default=["relations", "usf", "mnist"])
    arguments = parser.parse_args()
    if "relations" in arguments.data:
        words("word relations", mm.load_word_relations(), arguments.iterations, arguments.fits)
    if "usf" in arguments.data:
        file = DATA / "usf" / "usf_free_association.tsv.gz"
        norms = mm.read_associations(file, strength="count")
        words("USF norms", norms, arguments.iterations, arguments.fits)
    if "mnist" in arguments.data:
        digits(1000, arguments.fits)


if __name__ == "__main__":
    main()
