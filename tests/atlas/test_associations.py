"""Observed associations: fits store them, and a subset has those of its objects."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import manymaps as mm
from manymaps.affinity import NeighborGraph
from manymaps.atlas.associations import stored_associations
from manymaps.model import T_SNE

TIES = sparse.csr_array([[0, 3, 1, 2], [1, 0, 0, 0], [0, 0, 0, 4], [0, 1, 1, 0.0]])


COVERED = np.array([0.5, 1, np.nan, 0.25])


def atlas():
    maps = np.arange(8.0).reshape(1, 4, 2)
    known = {"associations": stored_associations(TIES), "covered": COVERED}
    return mm.Atlas(list("abcd"), maps, np.ones((1, 4)), T_SNE, **known)


@given(st.integers(1, 30), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_rows_are_shares_of_all_associations_with_others(n, seed):
    rng = np.random.default_rng(seed)
    table = np.round(rng.random((n, n)) * 6) * (rng.random((n, n)) < 0.6)
    given = sparse.csr_array(table)
    given.data[:1] = 0
    table = given.toarray()
    found = stored_associations(given)
    assert found.has_sorted_indices
    assert (found.data > 0).all()
    for i, row in enumerate(table):
        whole = row.sum() - row[i]
        expected = [0 if j == i or not whole else row[j] / whole for j in range(n)]
        np.testing.assert_allclose(found.toarray()[i], expected, rtol=1e-6)
    np.testing.assert_array_equal(given.toarray(), table)


def test_estimators_keep_the_similarities_that_they_were_given():
    rng = np.random.default_rng(0)
    table = sparse.random_array((40, 40), density=0.8, rng=rng, format="csr")
    covered = np.linspace(0, 1, 40)
    data = mm.Associations([f"w{i}" for i in range(40)], table, covered=covered)
    fitted = mm.MultipleMapsTSNE(2, max_iter=2, random_state=0).fit(data).atlas_
    others = table.toarray() * (1 - np.eye(40))
    expected = stored_associations(sparse.csr_array(others)).toarray()
    np.testing.assert_allclose(fitted.associations.toarray(), expected, rtol=1e-5)
    np.testing.assert_array_equal(fitted.covered, covered)
    model = mm.TSNE(affinity="precomputed", max_iter=2, random_state=0)
    joint = model.fit(table.toarray()).atlas_
    both = expected + expected.T
    expected = stored_associations(sparse.csr_array(both)).toarray()
    np.testing.assert_allclose(joint.associations.toarray(), expected, rtol=1e-5)
    assert joint.covered is None


def test_vectors_distances_and_neighbours_are_no_associations():
    rows = np.random.default_rng(1).random((30, 3))
    apart = np.abs(rows[:, :1] - rows[:, 0])
    near = NeighborGraph(np.argsort(apart, axis=1)[:, 1:6], np.sort(apart, axis=1)[:, 1:6])
    for model, X in (
        (mm.TSNE(perplexity=5), rows),
        (mm.TSNE(perplexity=5, metric="precomputed"), apart),
        (mm.SNE(perplexity=2), near),
    ):
        assert model.set_params(max_iter=2).fit(X).atlas_.associations is None


def part_inside(table, i, objects):
    """The share of row i of a table in some columns."""
    return sum(table[i, j] for j in objects) / (sum(table[i]) or 1)


def test_a_subset_has_those_among_its_objects_and_the_covered_part_shrinks():
    whole = atlas().associations.toarray()
    for order in ([3, 0, 1], [2, 3], [1], [0, 1, 2, 3]):
        found = atlas().subset(order)
        np.testing.assert_array_equal(found.associations.toarray(), whole[np.ix_(order, order)])
        expected = [COVERED[i] * part_inside(whole, i, order) for i in order]
        np.testing.assert_allclose(found.covered, expected)
        assert not (found.covered > 1).any()
        # A subset of a subset is one of the whole, also where no response is left.
        again, at_once = found.subset([0]), atlas().subset(order[:1])
        np.testing.assert_allclose(again.covered, at_once.covered)
    assert replace(atlas(), associations=None, covered=None).subset([0, 1]).covered is None


def test_similarities_of_objects_with_themselves_are_dropped():
    table = TIES.toarray()
    found = replace(atlas(), associations=sparse.csr_array(table + np.diag([1, 0, 2, 0])))
    np.testing.assert_array_equal(found.associations.toarray(), table)
    assert found.associates("a")["label"].tolist() == ["b", "d", "c"]
