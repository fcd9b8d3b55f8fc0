"""What was observed beside the maps: kept, saved, cut and grown with it; bad tables refused."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import manymaps as mm
from manymaps.affinity import NeighborGraph
from manymaps.archive.archives import read_archive, write_archive
from manymaps.archive.schema import Schema
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.storage import ATLAS
from manymaps.model import T_SNE

TIES = sparse.csr_array([[0, 3, 1, 2], [1, 0, 0, 0], [0, 0, 0, 4], [0, 1, 1, 0.0]])


COVERED = np.array([0.5, 1, np.nan, 0.25])


def atlas(table=TIES):
    maps = np.arange(8.0).reshape(1, 4, 2)
    known = {}
    if table is not None:
        known = {"associations": stored_associations(table), "covered": COVERED}
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
    data = mm.Associations([f"w{i}" for i in range(40)], table)
    fitted = mm.MultipleMapsTSNE(2, max_iter=2, random_state=0).fit(data).atlas_
    shares = sparse.csr_array(table)
    shares.setdiag(0)
    shares.eliminate_zeros()
    expected = stored_associations(shares)
    np.testing.assert_allclose(fitted.associations.toarray(), expected.toarray(), rtol=1e-5)
    dense = table.toarray()
    assert fitted.covered is None
    known = mm.MultipleMapsTSNE(2, max_iter=2, random_state=0).fit(
        replace(data, covered=np.linspace(0, 1, 40))
    )
    np.testing.assert_array_equal(known.atlas_.covered, np.linspace(0, 1, 40))
    joint = mm.TSNE(affinity="precomputed", max_iter=2, random_state=0).fit(dense).atlas_
    rows = dense - np.diag(np.diag(dense))
    rows /= rows.sum(axis=1, keepdims=True)
    expected = stored_associations(sparse.csr_array(rows + rows.T))
    np.testing.assert_allclose(joint.associations.toarray(), expected.toarray(), rtol=1e-5)


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


def test_saved_and_read_back(tmp_path):
    atlas().save(tmp_path / "a.atlas")
    whole = mm.load_atlas(tmp_path / "a.atlas")
    found = whole.associations
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), atlas().associations.toarray())
    np.testing.assert_array_equal(whole.covered, COVERED)
    assert whole.senses("a") == atlas().senses("a")
    atlas(None).save(tmp_path / "b.atlas")
    opened = mm.load_atlas(tmp_path / "b.atlas")
    assert (opened.associations, opened.covered) == (None, None)


def test_older_files_with_further_arrays_open_and_have_senses(tmp_path):
    replace(atlas(), covered=None).save(tmp_path / "a.atlas")
    with zipfile.ZipFile(tmp_path / "a.atlas", "a") as archive:
        for name, array in {"offsets": np.arange(5), "by_fit": np.ones((4, 2))}.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"consensus/{name}.npy", buffer.getvalue())
    opened = mm.load_atlas(tmp_path / "a.atlas")
    assert opened.covered is None
    assert opened == replace(atlas(), covered=None)
    assert [n.label for n in opened.senses("a")[0].neighbors] == ["b", "d", "c"]


def test_stored_zeros_are_dropped_when_a_file_is_read(tmp_path):
    """The senses of an object divide by the sum of its associations."""
    written = atlas()
    written.associations.data[written.associations.indptr[0] : written.associations.indptr[1]] = 0
    written.save(tmp_path / "a.atlas")
    found = mm.load_atlas(tmp_path / "a.atlas")
    assert (found.associations.data > 0).all()
    assert found.associations.nnz == np.count_nonzero(written.associations.data)
    found.senses("a")


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
    assert atlas(None).subset([0, 1]).covered is None


def test_an_extension_has_the_old_associations_and_renumbered_maps_have_all():
    whole = atlas().associations.toarray()
    for at, olds in ((None, [0, 1, 2, 3]), (0, [2, 3, 4, 5]), (1, [0, 3, 4, 5])):
        longer = atlas().extended(["x", "y"], np.ones((1, 2, 2)), np.ones((1, 2)), at=at)
        table = longer.associations.toarray()
        np.testing.assert_array_equal(table[np.ix_(olds, olds)], whole)
        assert table.sum() == whole.sum()
        np.testing.assert_array_equal(longer.covered[olds], COVERED)
        assert np.isnan(np.delete(longer.covered, olds)).all()
    assert atlas(None).extended(["x"], np.ones((1, 1, 2)), np.ones((1, 1))).associations is None
    np.testing.assert_array_equal(atlas().renumbered([0]).covered, COVERED)


def test_insertion_keeps_them():
    grown = mm.insert(atlas(), {"new": {"a": 1.0, "b": 0.5}}, refine=None).atlas
    assert grown.n_objects == 5
    np.testing.assert_array_equal(
        grown.associations.toarray()[:4, :4], atlas().associations.toarray()
    )


def test_similarities_of_objects_with_themselves_are_dropped():
    table = TIES.toarray()
    found = replace(atlas(), associations=sparse.csr_array(table + np.diag([1, 0, 2, 0])))
    np.testing.assert_array_equal(found.associations.toarray(), table)
    assert found.associates("a")["label"].tolist() == ["b", "d", "c"]


REFUSALS = [
    {"associations": sparse.csr_array((3, 3))},
    {"associations": sparse.csr_array(np.eye(4, k=1) * np.nan)},
    {"associations": sparse.csr_array(-np.eye(4, k=1))},
    {"covered": np.ones(3)},
]


@pytest.mark.parametrize("fields", REFUSALS)
def test_refusals(fields):
    with pytest.raises(mm.DataError):
        replace(atlas(), **fields)


@pytest.mark.parametrize(
    "arrays",
    [
        {"indices": np.array([1, 2, 3, 0, 3, 1, -1])}, {"indptr": np.array([0, 3, 2, 5, 7])},
        {"data": np.full(7, np.inf, np.float32)}, {"data": None},
    ],
)  # fmt: skip
def test_broken_files_are_refused(tmp_path, arrays):
    atlas().save(tmp_path / "a.atlas")
    meta, parts = read_archive(tmp_path / "a.atlas", ATLAS)
    parts |= {f"associations/{name}": array for name, array in arrays.items()}
    kept = {name: array for name, array in parts.items() if array is not None}
    write_archive(tmp_path / "a.atlas", Schema("manymaps atlas", 2, "any"), meta, kept)
    with pytest.raises(mm.DataError):
        mm.load_atlas(tmp_path / "a.atlas")
