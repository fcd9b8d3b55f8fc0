"""Measures of nodes, against their definitions on a small network."""

import sys
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from manymaps import Associations, Atlas, ParameterError, node_measures
from manymaps.model import T_SNE

N = 14


def norms() -> Associations:
    generator = np.random.default_rng(0)
    table = generator.random((N, N)) * (generator.random((N, N)) < 0.25)
    np.fill_diagonal(table, 0)
    table[3] = 0
    sums = table.sum(axis=1, keepdims=True)
    return Associations(
        [f"w{i}" for i in range(N)], sparse.csr_array(table / np.where(sums, sums, 1))
    )


def test_strengths_and_degrees() -> None:
    found, table = node_measures(norms()), norms().strengths.toarray()
    np.testing.assert_allclose(found["strength_in"], table.sum(axis=0))
    np.testing.assert_allclose(found["strength_out"], table.sum(axis=1))
    np.testing.assert_array_equal(found["degree_in"], (table > 0).sum(axis=0))
    np.testing.assert_array_equal(found["degree_out"], (table > 0).sum(axis=1))
    assert found["degree_out"][3] == found["strength_out"][3] == 0
    assert next(iter(found)) == "label"
    assert "betweenness" not in found


def test_a_stored_zero_is_no_tie() -> None:
    table = sparse.csr_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    found = node_measures(Associations([*"abc"], table))
    assert found["degree_out"].tolist() == [0, 1, 0]
    assert found["degree_in"].tolist() == [0, 0, 1]


def test_clustering_counts_pairs_of_neighbors() -> None:
    table = norms().strengths.toarray()
    linked = (table > 0) | (table.T > 0)
    for i, got in enumerate(node_measures(norms())["clustering"]):
        pairs = list(combinations(np.flatnonzero(linked[i]), 2))
        closed = sum(linked[a, b] for a, b in pairs)
        assert got == pytest.approx(closed / len(pairs) if pairs else 0)


def test_pagerank_is_where_a_walk_ends_up() -> None:
    table = norms().strengths.toarray()
    table[3] = 1 / N  # who recalls nothing goes anywhere
    rank = np.full(N, 1 / N)
    for _ in range(300):
        rank = 0.85 * rank @ table + 0.15 / N
    np.testing.assert_allclose(node_measures(norms())["pagerank"], rank, atol=1e-5)


def test_betweenness_counts_shortest_paths() -> None:
    """With lengths that are all different there is one shortest path between two words."""
    table = norms().strengths.toarray()
    length = np.where(table > 0, 1 / np.where(table > 0, table, 1), np.inf)
    best, via = length.copy(), [[{j} for j in range(N)] for _ in range(N)]
    for k in range(N):
        for i in range(N):
            for j in range(N):
                if best[i, k] + best[k, j] < best[i, j] and i != j:
                    best[i, j] = best[i, k] + best[k, j]
                    via[i][j] = via[i][k] | via[k][j]
    through = [
        sum(m in via[i][j] - {j} for i in range(N) for j in range(N)
            if i != j and i != m and np.isfinite(best[i, j]))
        for m in range(N)
    ]  # fmt: skip
    found = node_measures(norms(), betweenness=True)["betweenness"]
    np.testing.assert_allclose(found, np.array(through) / ((N - 1) * (N - 2)))
    everyone = node_measures(norms(), betweenness=N)["betweenness"]
    np.testing.assert_allclose(everyone, found)
    some = [node_measures(norms(), betweenness=4, random_state=s)["betweenness"] for s in (0, 0, 1)]
    np.testing.assert_array_equal(some[0], some[1])
    assert (some[0] != some[2]).any()
    assert np.isfinite(node_measures(norms(), betweenness=2)["betweenness"]).all()


def test_symmetric_values_count_the_same_both_ways() -> None:
    values = np.array([[0, 3.0, 1], [3, 0, 0], [1, 0, 0]])
    rows = values / values.sum(axis=1, keepdims=True)
    known = Associations([*"abc"], sparse.csr_array(rows), row_sums=values.sum(axis=1))
    found = node_measures(known)
    np.testing.assert_allclose(found["strength_in"], [4, 3, 1])
    np.testing.assert_allclose(found["strength_out"], [4, 3, 1])


def test_an_atlas_takes_them_as_metadata() -> None:
    found = node_measures(norms())
    labels = norms().labels[::-1]
    atlas = Atlas(labels, np.zeros((1, N, 2)), np.ones((1, N)), T_SNE).add_metadata(found)
    np.testing.assert_array_equal(atlas.metadata["pagerank"], found["pagerank"][::-1])
    assert list(atlas.metadata) == list(found)[1:]


def test_what_cannot_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (0, 1, N + 1):
        with pytest.raises(ParameterError, match=rf"betweenness={number} must be"):
            node_measures(norms(), betweenness=number)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        ImportError, match="requires networkx; install it with 'pip install networkx'"
    ):
        node_measures(norms())
