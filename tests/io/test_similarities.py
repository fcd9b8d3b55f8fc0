"""Similarities of pairs, from lists and tables; `tests/cli/test_cluster.py` has more of them."""

import numpy as np
import pytest
from sklearn.base import clone

from manymaps import TSNE, AdditiveClustering, MultipleMapsSNE, cluster_path, similarity_map
from manymaps.errors import DataError
from manymaps.io.similarities import read_similarities


def written(tmp_path, lines):
    file = tmp_path / "judged.csv"
    file.write_text("item1,item2,similarity\n" + lines.replace(" ", "\n") + "\n")
    return file


@pytest.mark.parametrize(("absent", "value"), [("zero", 0.0), ("missing", np.nan)])
def test_pairs_that_are_not_listed(tmp_path, absent, value):
    found = read_similarities(written(tmp_path, "a,b,5 b,c,0 c,d,2"), absent=absent)
    assert list(found.index) == list(found.columns) == ["a", "b", "c", "d"]
    expected = np.full((4, 4), value)
    for i, j, known in [(0, 1, 5), (1, 2, 0), (2, 3, 2)]:
        expected[i, j] = expected[j, i] = known
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(found.values[off], expected[off])
    assert found.attrs["n_absent"] == 3
    assert "3 of 6 pairs are not in the list" in found.attrs["notes"][-1]


def test_a_pair_that_is_listed_twice(tmp_path):
    both = read_similarities(written(tmp_path, "a,b,5 b,a,3 a,b,5"))
    assert (both.values[0, 1], both.values[1, 0]) == (5, 3)
    with pytest.raises(DataError):
        read_similarities(written(tmp_path, "a,b,5 b,a,3 a,b,6"))


class TestTableInEstimators:
    """A table that was read is passed to an estimator as it is, with its labels."""

    @pytest.fixture
    def table(self, tmp_path):
        pairs = "tie,knot,5 tie,rope,4 knot,rope,5 tie,suit,4 suit,hat,5 hat,tie,1 knot,hat,1"
        return read_similarities(written(tmp_path, pairs), absent="missing")

    def test_clustering(self, table):
        model = AdditiveClustering(2, n_init=2, random_state=0)
        expected = clone(model).fit(table.values, labels=table.index)
        model.fit(table)
        assert model.labels_names_ == tuple(table.index) == ("tie", "knot", "suit", "hat", "rope")
        assert model.clusters_ == expected.clusters_
        np.testing.assert_array_equal(model.transform(table), model.memberships_)
        relabelled = clone(model).fit(table, labels=list("abcde"))
        assert relabelled.labels_names_ == tuple("abcde")
        assert relabelled.weights_.tolist() == model.weights_.tolist()
        assert similarity_map(table).labels == tuple(table.index)
        path = cluster_path(table, range(1, 3), estimator=model, held_out=None)
        alike = cluster_path(table.values, range(1, 3), estimator=model, held_out=None)
        assert path.vaf.tolist() == alike.vaf.tolist()

    def test_maps(self, table):
        fit = {"affinity": "precomputed", "max_iter": 20, "random_state": 0}
        found = MultipleMapsSNE(2, **fit).fit(table)
        assert found.atlas_.labels == tuple(table.index)
        expected = MultipleMapsSNE(2, **fit).fit(table.values)
        np.testing.assert_array_equal(found.maps_, expected.maps_)
        with pytest.raises(DataError):
            TSNE().fit(table)
