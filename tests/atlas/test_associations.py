"""What was observed beside the maps: kept, saved, cut and grown with it; bad tables refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import manymaps as mm
from manymaps.atlas.associations import MOST_PARTNERS, strongest_associations
from manymaps.model import T_SNE

TIES = sparse.csr_array([[0, 3, 1, 2], [1, 0, 0, 0], [0, 0, 0, 4], [0, 1, 1, 0.0]])


def atlas(table=TIES):
    maps = np.arange(8.0).reshape(1, 4, 2)
    observed = None if table is None else strongest_associations(table)
    return mm.Atlas(list("abcd"), maps, np.ones((1, 4)), T_SNE, associations=observed)


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_strongest_are_those_of_each_sorted_row(n, count, seed):
    rng = np.random.default_rng(seed)
    table = np.round(rng.random((n, n)) * 6) * (rng.random((n, n)) < 0.6)
    found = strongest_associations(sparse.csr_array(table), count).toarray()
    expected = np.zeros((n, n))
    for i, row in enumerate(table):
        row = row.copy()
        row[i] = 0
        top = [j for j in np.argsort(-row, kind="stable")[:count] if row[j] > 0]
        expected[i, top] = row[top] / max(row.sum(), 1)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_estimators_keep_the_similarities_that_they_were_given():
    rng = np.random.default_rng(0)
    table = sparse.random_array((40, 40), density=0.8, rng=rng, format="csr")
    data = mm.Associations([f"w{i}" for i in range(40)], table)
    fitted = mm.MultipleMapsTSNE(2, max_iter=2, random_state=0).fit(data).atlas_
    shares = sparse.csr_array(table)
    shares.setdiag(0)
    shares.eliminate_zeros()
    expected = strongest_associations(shares)
    np.testing.assert_allclose(fitted.associations.toarray(), expected.toarray(), rtol=1e-5)
    assert np.diff(fitted.associations.indptr).max() == MOST_PARTNERS
    dense = table.toarray()
    joint = mm.TSNE(affinity="precomputed", max_iter=2, random_state=0).fit(dense).atlas_
    rows = dense - np.diag(np.diag(dense))
    rows /= rows.sum(axis=1, keepdims=True)
    expected = strongest_associations(sparse.csr_array(rows + rows.T))
    np.testing.assert_allclose(joint.associations.toarray(), expected.toarray(), rtol=1e-5)


def test_more_than_two_thousand_objects_keep_their_order():
    n = 2100
    after = np.arange(1, n + 1) % n
    ring = sparse.csr_array((np.ones(n), (np.arange(n), after)), shape=(n, n))
    data = mm.Associations([str(i) for i in range(n)], ring)
    found = mm.MultipleMapsTSNE(2, max_iter=1, random_state=0).fit(data).atlas_.associations
    np.testing.assert_array_equal(found.indices, after)


def test_vectors_distances_and_neighbours_are_no_associations():
    rows = np.random.default_rng(1).random((30, 3))
    apart = np.abs(rows[:, :1] - rows[:, 0])
    near = mm.NeighborGraph(np.argsort(apart, axis=1)[:, 1:6], np.sort(apart, axis=1)[:, 1:6])
    for model, X in (
        (mm.TSNE(perplexity=5), rows),
        (mm.TSNE(perplexity=5, metric="precomputed"), apart),
        (mm.SNE(perplexity=2), near),
    ):
        assert model.set_params(max_iter=2).fit(X).atlas_.associations is None


def test_saved_and_read_back(tmp_path):
    atlas().save(tmp_path / "a.atlas")
    found = mm.load_atlas(tmp_path / "a.atlas").associations
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), atlas().associations.toarray())
    atlas(None).save(tmp_path / "b.atlas")
    assert mm.load_atlas(tmp_path / "b.atlas").associations is None


def test_stored_zeros_are_dropped_when_a_file_is_read(tmp_path):
    """The senses of an object divide by the sum of its associations."""
    written = atlas()
    written.associations.data[written.associations.indptr[0] : written.associations.indptr[1]] = 0
    written.save(tmp_path / "a.atlas")
    found = mm.load_atlas(tmp_path / "a.atlas")
    assert (found.associations.data > 0).all()
    assert found.associations.nnz == np.count_nonzero(written.associations.data)
    found.senses("a")


def test_a_subset_has_those_among_its_objects_and_an_extension_the_old_ones():
    whole = atlas().associations.toarray()
    order = [3, 0, 1]
    np.testing.assert_array_equal(
        atlas().subset(order).associations.toarray(), whole[np.ix_(order, order)]
    )
    for at, olds in ((None, [0, 1, 2, 3]), (0, [2, 3, 4, 5]), (1, [0, 3, 4, 5])):
        longer = atlas().extended(["x", "y"], np.ones((1, 2, 2)), np.ones((1, 2)), at=at)
        table = longer.associations.toarray()
        np.testing.assert_array_equal(table[np.ix_(olds, olds)], whole)
        assert table.sum() == whole.sum()
    assert atlas(None).extended(["x"], np.ones((1, 1, 2)), np.ones((1, 1))).associations is None


def test_insertion_keeps_them():
    grown = mm.insert(atlas(), {"new": {"a": 1.0, "b": 0.5}}, refine=None).atlas
    assert grown.n_objects == 5
    np.testing.assert_array_equal(
        grown.associations.toarray()[:4, :4], atlas().associations.toarray()
    )


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (sparse.csr_array((3, 3)), r"shape \(3, 3\), .* 4 objects"),
        (sparse.csr_array(np.eye(4, k=1) * np.nan), "not finite"),
        (sparse.csr_array(-np.eye(4, k=1)), "negative"),
    ],
)
def test_bad_tables_are_refused(table, fault):
    with pytest.raises(mm.DataError, match=fault):
        mm.Atlas(list("abcd"), np.zeros((1, 4, 2)), np.ones((1, 4)), T_SNE, associations=table)


def _broken(path, **arrays):
    """The saved atlas with other arrays of associations; None leaves one out."""
    atlas().save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        parts.pop(f"associations/{name}.npy")
        if array is not None:
            np.save(buffer, array)
            parts[f"associations/{name}.npy"] = buffer.getvalue()
    assert json.loads(parts["meta.json"])["version"] == 2
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "arrays",
    [
        {"indices": np.array([1, 2, 3, 0, 3, 1, 9])}, {"indices": np.array([1, 2, 3, 0, 3, 1, -1])},
        {"indptr": np.array([0, 3, 4, 5])}, {"indptr": np.array([0, 3, 2, 5, 7])},
        {"data": np.ones(3, np.float32)}, {"data": np.full(7, np.inf, np.float32)}, {"data": None},
    ],
)  # fmt: skip
def test_broken_files_are_refused(tmp_path, arrays):
    path = _broken(tmp_path / "a.atlas", **arrays)
    with pytest.raises(mm.DataError, match=r"associations|lacks"):
        mm.load_atlas(path)
