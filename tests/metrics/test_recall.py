"""Recall of the strongest associates against the dense model."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.errors import DataError
from manymaps.metrics import strongest_recall
from reference import log_proportions, log_similarity


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy"])
def test_strongest_recall_is_that_of_the_dense_model(kernel):
    rng = np.random.default_rng(3)
    n, k = 40, 5
    maps, weights = rng.normal(0, 1.5, (3, n, 2)), rng.normal(0, 1, (3, n))
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    np.fill_diagonal(table, 0)
    table[4] = 0
    log_v = log_similarity(kernel, (maps, weights), (maps, weights), width=1.3)
    rows = np.flatnonzero(table.any(axis=1))
    hits = [np.argmax(table[i]) in np.argsort(-log_v[i])[:k] for i in rows]
    found = strongest_recall(
        maps,
        np.exp(log_proportions(weights)),
        sparse.csr_array(table),
        k=k,
        kernel=kernel,
        kernel_width=1.3,
    )
    assert 0 < np.mean(hits) < 1
    assert found == pytest.approx(np.mean(hits))


def test_strongest_recall_needs_an_entry():
    with pytest.raises(DataError, match="no row"):
        strongest_recall(np.zeros((1, 3, 2)), np.ones((1, 3)), sparse.csr_array((3, 3)))
