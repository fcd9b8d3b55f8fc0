"""PPMI, cosines of pairs and Katz's walk, against dense twins by the definition."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.affinity import walks
from manymaps.affinity.walks import pair_cosines, positive_information, walk_similarities


def table(n: int = 30) -> np.ndarray:
    """Strengths with an empty row, an object that nobody recalls, and one that all do."""
    rng = np.random.default_rng(0)
    strengths = rng.random((n, n)) * (rng.random((n, n)) < 0.15)
    np.fill_diagonal(strengths, 0)
    strengths[3] = 0
    strengths[:, 4] = 0
    strengths[np.arange(n) != 5, 5] = 0.3
    return strengths


def normalized(rows: np.ndarray) -> np.ndarray:
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)


def ppmi(rows: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log2(rows / rows.mean(axis=0))
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)


def cosines(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1)
    return rows @ rows.T / np.maximum(np.outer(lengths, lengths), 1e-300)


def test_ppmi_is_that_of_the_definition():
    rows = normalized(table())
    found = positive_information(sparse.csr_array(table())).toarray()
    assert found == pytest.approx(normalized(ppmi(rows)))


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.75, 0.95])
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_walk_is_that_of_the_inverse(monkeypatch, decay, block):
    monkeypatch.setattr(walks, "_BLOCK_CELLS", block)
    steps = normalized(ppmi(normalized(table())))
    whole = np.linalg.inv(np.eye(len(steps)) - decay * steps)
    a, b = np.triu_indices(len(steps), 1)
    some = slice(0, None, 7)
    expected = cosines(normalized(ppmi(whole)))[a, b][some]
    found = walk_similarities(sparse.csr_array(table()), a[some], b[some], decay=decay)
    assert found == pytest.approx(expected, abs=1e-6)


def test_cosines_of_sparse_and_dense_rows_agree():
    a, b = np.triu_indices(30, 1)
    dense = pair_cosines(table(), a, b)
    assert dense == pytest.approx(cosines(table())[a, b])
    assert pair_cosines(sparse.csr_array(table()), a, b) == pytest.approx(dense)


def test_a_walk_that_never_ends_is_refused():
    with pytest.raises(mm.ParameterError, match="decay=1"):
        walk_similarities(sparse.csr_array(table()), np.array([0]), np.array([1]), decay=1)
