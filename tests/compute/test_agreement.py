"""Choice between candidate positions, against neighbourhoods as sets."""

import numpy as np
import pytest

import reference
from manymaps.compute.agreement import most_agreeing
from manymaps.compute.threads import share_out, threads


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("depth", [1, 12])
def test_against_sets(depth, n_threads):
    rng = np.random.default_rng(depth)
    k, n_offers, n = 30, 7, 40
    counts = rng.integers(1, 20, k)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns = np.concatenate([rng.permutation(n)[:count] for count in counts])
    seen = np.array([[rng.permutation(n)[:depth] for _ in range(n_offers)] for _ in range(k)])
    seen[:, 3, 0] = columns[indptr[:-1]]
    seen[:, 5] = seen[:, 3]  # The first of two equal candidates is chosen.
    allowed = rng.random((k, n_offers)) < 0.7
    allowed[:, 0] = True
    best = np.empty(k, np.int64)
    with threads(n_threads):
        share_out(most_agreeing, k, n, indptr, columns, seen, allowed, best)
    for i in range(k):
        near = columns[indptr[i] : indptr[i + 1]]
        scores = [reference.agreement(near, some) for some in seen[i]]
        assert best[i] == np.argmax(np.where(allowed[i], np.round(scores, 9), -1))
    assert len(np.unique(best)) > 2
