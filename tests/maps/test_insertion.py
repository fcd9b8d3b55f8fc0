"""Insertion: places, proportions, flags, the joined atlas, and how well it does on real words."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from manymaps import TSNE, Atlas
from manymaps.affinity import nearest_neighbors
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.maps.insertion import Refinement, insert
from manymaps.maps.neighbor_weights import ExponentialWeights, PowerWeights
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE, T_SNE


def clusters(n=60, k=6, d=8, n_maps=1, model=T_SNE, seed=0):
    """An atlas of three clusters, whose vectors are three clusters as well; new vectors."""
    rng = np.random.default_rng(seed)
    centres, corners = 3 * rng.normal(size=(3, d)), 20 * rng.normal(size=(n_maps, 3, 2))
    which = rng.integers(0, 3, n + k)
    vectors = (centres[which] + rng.normal(size=(n + k, d))).astype(np.float32)
    maps = (corners[:, which] + rng.normal(size=(n_maps, n + k, 2))).astype(np.float32)
    shares = rng.dirichlet(np.ones(n_maps), size=n).T.astype(np.float32)
    atlas = Atlas(
        [f"w{i}" for i in range(n)], maps[:, :n], shares, model,
        parameters={"perplexity": 10}, vectors=vectors[:n],
    )  # fmt: skip
    return atlas, vectors[n:], maps[:, n:]


class TestNeighbours:
    def test_the_most_similar_ones(self):
        atlas, new, _ = clusters()
        cosines = 1 - cdist(new, atlas.vectors, "cosine")
        found = insert(atlas, new, n_neighbors=7)
        assert found.n_effective.tolist() == [7] * 6
        similarities = 0.5 + 0.5 * cosines
        for i in range(6):
            best = np.argsort(-cosines[i])[:7]
            assert set(found.weights[[i]].indices) == set(best)
            s = similarities[i, best] / similarities[i, best[0]]
            p = np.log(0.1) / np.log(s.mean())
            np.testing.assert_allclose(found.weights.toarray()[i, best], s**p, rtol=1e-3)

    def test_fewer_than_are_asked_for(self):
        atlas, new, _ = clusters(n=10)
        assert insert(atlas, new, n_neighbors=25).n_effective.tolist() == [10] * 6
        assert insert(atlas, {"new": {"w1": 1.0, "w2": 0.5}}).n_effective.tolist() == [2]

    def test_equal_weights_are_the_plain_geometric_median(self):
        atlas, new, _ = clusters()
        found = insert(atlas, new, n_neighbors=7, weights=ExponentialWeights(p=0))
        for i in range(6):
            points = atlas.maps[0][found.weights[[i]].indices].astype(np.float64)
            median = minimize(
                lambda y, points=points: np.linalg.norm(points - y, axis=1).sum(),
                points.mean(axis=0), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9},
            ).x  # fmt: skip
            np.testing.assert_allclose(found.maps[0, i], median, atol=1e-2)

    def test_those_above_the_threshold(self):
        atlas, new, _ = clusters()
        similarities = 1 - cdist(new, atlas.vectors, "cosine") / 2
        found = insert(atlas, new, n_neighbors="local", sd=1.0)
        theta = similarities.mean(axis=1) + similarities.std(axis=1)
        np.testing.assert_array_equal(found.n_effective, (similarities > theta[:, None]).sum(1))
        given = insert(
            atlas, sparse.csr_array(similarities), similarity="precomputed", n_neighbors="local",
            sd=1.0,
        )  # fmt: skip
        np.testing.assert_array_equal(given.n_effective, found.n_effective)

    @pytest.mark.parametrize("scale", [1e-8, 0.5, 1.0, 40.0])
    def test_the_unit_of_given_similarities_does_not_matter(self, scale):
        atlas, new, _ = clusters()
        similarities = 1 - cdist(new, atlas.vectors, "cosine") / 2
        similarities /= similarities.max(axis=1, keepdims=True)
        theta = np.minimum(similarities.mean(axis=1) + 2 * similarities.std(axis=1), 1)
        scaled = scale * similarities
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            found = insert(atlas, scaled, similarity="precomputed", n_neighbors="local")
        reach = (similarities >= theta[:, None] - 1e-6).sum(axis=1)
        if scale < 1:
            theta = scaled.mean(axis=1) + 2 * scaled.std(axis=1)
            reach = (scaled >= theta[:, None]).sum(axis=1)
        np.testing.assert_array_equal(found.n_effective, np.where(reach > 0, reach, 25))

    def test_the_best_reaches_a_threshold_of_one(self):
        """As many as are equally strong stand out, however far above the mean theta would lie."""
        atlas, _, _ = clusters()
        counts = {"w1": 9.0, "w2": 9.0, "w3": 2.0, "w4": 1.0}
        found = insert(atlas, {"new": counts}, n_neighbors="local", sd=9.0)
        assert found.weights.indices.tolist() == [1, 2]
        assert not found.dissimilar[0]

    @pytest.mark.parametrize("metric", ["correlation", "sqeuclidean", "chebyshev", "manhattan"])
    def test_metrics_of_the_neighbour_search(self, metric):
        atlas, new, _ = clusters()
        theirs = metric.replace("manhattan", "cityblock")
        distances = cdist(new.astype(float), atlas.vectors.astype(float), theirs)
        similarities = 1 - distances / distances.max(axis=1, keepdims=True)
        by_name = insert(atlas, new, similarity=metric, n_neighbors=5)
        given = insert(atlas, similarities, similarity="precomputed", n_neighbors=5)
        np.testing.assert_allclose(by_name.maps, given.maps, atol=1e-3)

    @pytest.mark.filterwarnings("ignore:.*resemble nothing")
    def test_ties_are_drawn_as_if_an_object_were_alone(self):
        grid = np.repeat(np.eye(4), 12, axis=0)
        places = np.arange(96.0).reshape(1, 48, 2)
        atlas = Atlas([f"w{i}" for i in range(48)], places, np.ones((1, 48)), T_SNE, vectors=grid)
        found = insert(atlas, grid[::6] + 0.1, n_neighbors=3)
        for row in range(8):
            alone = insert(atlas, grid[[6 * row]] + 0.1, n_neighbors=3)
            np.testing.assert_array_equal(alone.maps[:, 0], found.maps[:, row])

    def test_sparse_vectors_are_compared_alike(self):
        atlas, new, _ = clusters()
        sparse_atlas = replace(atlas, vectors=sparse.csr_array(atlas.vectors))
        dense = insert(atlas, new, refine=True)
        found = insert(sparse_atlas, sparse.csr_array(new), refine=True)
        np.testing.assert_allclose(found.maps, dense.maps, atol=1e-3)
        assert found.atlas.vectors.shape == (66, 8)


class TestPlaces:
    def test_a_copy_stands_with_its_original(self):
        atlas, _, _ = clusters()
        found = insert(atlas, atlas.vectors[[3]], n_neighbors=3, weights=PowerWeights(0.01))
        np.testing.assert_allclose(found.maps[0, 0], atlas.maps[0, 3], atol=1e-5)

    def test_each_sense_has_a_place(self):
        """tie: knot and rope live in map 0, suit and coat in map 1."""
        maps = np.zeros((3, 4, 2))
        maps[0] = [[1, 0], [2, 0], [9, 9], [9, 9]]
        maps[1] = [[-9, 9], [-9, 9], [0, 1], [0, 2]]
        shares = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0.0]])
        atlas = Atlas(["knot", "rope", "suit", "coat"], maps, shares, MULTIPLE_MAPS_T_SNE)
        table = {"tie": {"knot": 3.0, "rope": 1.0, "suit": 3.0, "coat": 1.0}}
        found = insert(atlas, table, weights=PowerWeights(0.5))
        np.testing.assert_allclose(found.proportions[:, 0], [0.5, 0.5, 0])
        np.testing.assert_allclose(found.maps[:2, 0], [[1, 0], [0, 1]], atol=1e-5)
        assert np.isfinite(found.maps).all()

    def test_proportions_are_those_of_the_neighbours(self):
        atlas, new, _ = clusters(n_maps=4, model=MULTIPLE_MAPS_T_SNE)
        found = insert(atlas, new)
        weights = found.weights.toarray()
        expected = weights @ atlas.proportions.T / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.proportions, expected.T, rtol=1e-5)

    @pytest.mark.parametrize("refine", [False, True])
    @pytest.mark.parametrize("n_maps", [1, 3])
    def test_together_equals_one_by_one(self, refine, n_maps):
        atlas, new, _ = clusters(n_maps=n_maps, model=MULTIPLE_MAPS_T_SNE)
        together = insert(atlas, new, refine=refine)
        for i in range(6):
            alone = insert(atlas, new[[i]], refine=refine)
            np.testing.assert_allclose(alone.maps[:, 0], together.maps[:, i], atol=1e-4)
            np.testing.assert_allclose(
                alone.proportions[:, 0], together.proportions[:, i], atol=1e-5
            )

    @settings(max_examples=15)
    @given(seed=st.integers(0, 2**32 - 1))
    def test_the_order_does_not_matter(self, seed):
        atlas, new, _ = clusters(n_maps=2, model=MULTIPLE_MAPS_SNE)
        rng = np.random.default_rng(seed)
        order, turn = rng.permutation(60), rng.permutation(6)
        first = insert(atlas, new, refine=True)
        second = insert(atlas.subset(order), new[turn], refine=True)
        np.testing.assert_allclose(second.maps, first.maps[:, turn], atol=1e-2)
        assert np.abs(first.proportions - insert(atlas, new).proportions).max() > 1e-3

    def test_settings_of_the_refinement_are_read_from_the_atlas(self):
        atlas, new, _ = clusters()
        default = insert(atlas, new, refine=True)
        same = insert(atlas, new, refine=Refinement(perplexity=10, metric="euclidean"))
        np.testing.assert_array_equal(default.maps, same.maps)
        other = insert(atlas, new, refine=Refinement(perplexity=(5, 15), agree=False))
        assert (other.maps != default.maps).any()


class TestDissimilar:
    def test_a_stranger_is_flagged_and_placed(self):
        atlas, new, _ = clusters()
        new[2] = -atlas.vectors.mean(axis=0)
        names = [f"n{i}" for i in range(6)]
        with pytest.warns(DataWarning, match="'n2'"):
            found = insert(atlas, new, labels=names)
        assert found.dissimilar.tolist() == [False, False, True, False, False, False]
        assert np.isfinite(found.maps).all()

    def test_equally_near_to_everything(self):
        atlas, new, _ = clusters()
        with pytest.warns(DataWarning, match="'flat'"):
            found = insert(atlas, {"flat": dict.fromkeys(atlas.labels, 0.3)}, n_neighbors="local")
        assert found.n_effective.tolist() == [25]
        atlas = replace(atlas, vectors=np.ones((60, 8), np.float32))
        with pytest.warns(DataWarning, match="resemble nothing"):
            found = insert(atlas, new[:1], similarity="euclidean")
        assert np.isfinite(found.maps).all()


class TestJoinedAtlas:
    def test_old_objects_keep_their_bits(self, tmp_path):
        atlas, new, _ = clusters(n_maps=2, model=MULTIPLE_MAPS_T_SNE)
        atlas = replace(atlas, history={"cost": np.arange(3.0)})
        found = insert(atlas, new, refine=True)
        joined = found.atlas
        np.testing.assert_array_equal(joined.maps[:, :60], atlas.maps)
        np.testing.assert_array_equal(joined.proportions[:, :60], atlas.proportions)
        np.testing.assert_array_equal(joined.vectors, np.concatenate([atlas.vectors, new]))
        np.testing.assert_array_equal(joined.maps[:, 60:], found.maps)
        assert joined.maps.dtype == atlas.maps.dtype
        assert joined.labels == (*atlas.labels, *found.labels)
        assert joined.history is atlas.history
        joined.save(tmp_path / "joined.atlas")

    @pytest.mark.parametrize("refine", [False, True])
    @pytest.mark.parametrize("n_maps", [1, 3])
    def test_in_two_goes(self, n_maps, refine):
        """A joint model is normalized over old and new objects, whenever they came."""
        model = replace(MULTIPLE_MAPS_T_SNE, normalization="joint")
        atlas, new, _ = clusters(n_maps=n_maps, model=model)
        atlas = replace(atlas, log_normalizer=atlas.log_whole)
        first = insert(atlas, new[:4], refine=refine).atlas
        assert first.log_normalizer is None
        second = insert(first, new[4:], refine=refine)
        anew = insert(replace(first, log_normalizer=None), new[4:], refine=refine)
        np.testing.assert_array_equal(second.maps, anew.maps)
        total = sum(second.atlas.similarities(label).sum() for label in second.atlas.labels)
        assert total == pytest.approx(1, rel=1e-5)

    @pytest.mark.filterwarnings("ignore::manymaps.errors.DataWarning")
    @pytest.mark.parametrize("known", [np.int64, np.uint8, bool])
    def test_vectors_of_whole_numbers_do_not_cut_new_ones(self, known):
        atlas, new, _ = clusters()
        whole = np.abs(np.round(atlas.vectors)).astype(known)
        whole[:, 0] = 1
        for vectors in (whole, sparse.csr_array(whole)):
            joined = insert(replace(atlas, vectors=vectors), new).atlas.vectors
            assert np.issubdtype(joined.dtype, np.floating)
            dense = joined.toarray() if sparse.issparse(joined) else joined
            np.testing.assert_array_equal(dense, np.concatenate([whole.astype(float), new]))

    def test_other_vectors_than_the_atlas_keeps(self):
        atlas, new, _ = clusters()
        other = insert(atlas, new[:, :7], vectors=atlas.vectors[:, :7]).atlas
        assert other.vectors is None
        assert insert(atlas, new, vectors=2 * atlas.vectors).atlas.vectors is None
        joined = insert(replace(atlas, vectors=None), new, vectors=atlas.vectors).atlas.vectors
        np.testing.assert_array_equal(joined, np.concatenate([atlas.vectors, new]))

    def test_metadata(self):
        atlas, new, _ = clusters(n=30, k=3)
        columns = {
            "inserted": np.array(["yes"] * 30), "known": np.arange(30) < 10,
            "id": np.arange(30) + 2**60, "group": np.array(["a"] * 30), "count": np.arange(30),
            "note": np.array(["x"] * 30, dtype=object),
        }  # fmt: skip
        once = insert(replace(atlas, metadata=columns), new[:1]).atlas
        found = insert(once, new[1:]).atlas
        assert found.labels[30:] == ("30", "31", "32")
        for name, known, of_new in (
            ("inserted", ["yes"] * 30, ""), ("inserted_1", [False] * 30, True),
            ("id", [str(i + 2**60) for i in range(30)], ""), ("group", ["a"] * 30, ""),
            ("note", ["x"] * 30, ""),
        ):  # fmt: skip
            assert found.metadata[name].tolist() == known + [of_new] * 3, name
        for name, known in (("known", [1.0] * 10 + [0.0] * 20), ("count", list(range(30)))):
            assert found.metadata[name][:30].tolist() == known
            assert np.isnan(found.metadata[name][30:]).all()
        own = insert(atlas, new[:1]).atlas.metadata["inserted"]
        assert own.tolist() == [False] * 30 + [True]
        assert atlas.metadata == {}


REFUSALS = [
    ("n_neighbors", {"n_neighbors": 0}), ("n_neighbors", {"n_neighbors": "all"}),
    ("sd", {"sd": float("nan")}), ("similarity", {"similarity": "cubic"}),
    ("perplexity", {"refine": Refinement(perplexity=70)}),
    ("metric", {"refine": Refinement(metric="cubic")}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), REFUSALS)
def test_refusals(name, settings):
    atlas, new, _ = clusters()
    with pytest.raises(ParameterError) as caught:
        insert(atlas, new, **settings)
    assert caught.value.name == name


def test_refused_data():
    atlas, new, _ = clusters()
    with pytest.raises(DataError, match="'w5'"):
        insert(atlas, new, labels=["w5", "a", "b", "c", "d", "e"])
    atlas.vectors[7] = 0  # has no cosine
    with pytest.raises(DataError, match="row 7"):
        insert(atlas, new)


@pytest.mark.slow
def test_held_out_words(data_folder):
    """Of Claassen's 601 words 50 enter a map of the others; see `manymaps.maps.refinement`."""
    vectors = np.load(data_folder / "claassen" / "claassen_words.npz")["word2vec"].astype(float)
    rng = np.random.default_rng(0)
    order = rng.permutation(601)
    new, old = order[:50], order[50:]
    near = nearest_neighbors(vectors, 10).indices[new]
    shares = {False: [], True: []}
    # A map is the chaotic outcome of a fit, so three are looked at.
    for seed in range(3):
        atlas = TSNE(perplexity=35, random_state=seed).fit(vectors[old]).atlas_
        atlas = replace(atlas, labels=[str(i) for i in old])
        for refine, found in shares.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                inserted = insert(atlas, vectors[new], labels=[str(i) for i in new], refine=refine)
            assert inserted.dissimilar.sum() <= 2
            everything = np.empty((601, 2))
            everything[old], everything[new] = atlas.maps[0], inserted.maps[0]
            seen = nearest_neighbors(everything, 10).indices[new]
            found += [len({*a} & {*b}) / 10 for a, b in zip(near, seen, strict=True)]
    assert np.mean(shares[False]) > 0.42
    assert np.mean(shares[True]) > max(0.48, np.mean(shares[False]) + 0.02)
    with pytest.warns(DataWarning, match="5 of 5 new objects resemble nothing"):
        insert(atlas, rng.normal(size=(5, 300)), labels=list("abcde"))
