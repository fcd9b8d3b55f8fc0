"""Tables of counts without labels, and tables of three kinds of object with known points."""

import numpy as np

import manymaps as mm

SIZES = {"author": 20, "document": 30, "word": 40}
PAIRS = (("author", "word"), ("document", "word"), ("author", "document"))


def smooth_table(n_rows=12, n_columns=15, seed=0):
    """Counts without zeros."""
    return np.random.default_rng(seed).poisson(4, (n_rows, n_columns)) + 1.0


def planted(n_counts=(20_000, 20_000, 5_000), seed=0, sizes=SIZES, pairs=PAIRS):
    """Known points of three kinds, and counts of the pairs of kinds drawn from them."""
    rng = np.random.default_rng(seed)
    points = {kind: rng.normal(0, 0.8, (n, 2)) for kind, n in sizes.items()}
    tables = []
    for (a, b), n in zip(pairs, n_counts, strict=False):
        rates = np.exp(-((points[a][:, None] - points[b]) ** 2).sum(axis=-1))
        labels = ([f"{kind}{i}" for i in range(sizes[kind])] for kind in (a, b))
        tables.append(mm.Counts(rng.poisson(n * rates / rates.sum()), *labels, kinds=(a, b)))
    return points, tables
