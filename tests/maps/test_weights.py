"""Weights of rows in `fit`: a row of weight w equals w identical rows."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

import manymaps as mm
from manymaps.errors import DataError, ParameterError
from manymaps.model.choice import T_SNE

COUNTS = np.array([1, 3, 2, 1, 4, 1, 2, 1, 1, 5, 1, 2])
TOGETHER = np.repeat(np.arange(len(COUNTS)), COUNTS)
FIRST = np.concatenate([[0], np.cumsum(COUNTS)[:-1]])
X = np.random.default_rng(0).normal(size=(len(COUNTS), 4))
DISTANCES = np.linalg.norm(X[:, None] - X, axis=2)


def start(n_maps=1, d=2, spread=0.5):
    """An atlas to start from; an array with coincident points would be changed."""
    rng = np.random.default_rng(1)
    maps = rng.normal(0, spread, (n_maps, len(COUNTS), d)).astype(np.float32)
    proportions = rng.dirichlet(np.ones(n_maps), len(COUNTS)).T.astype(np.float32)
    return mm.Atlas([str(i) for i in range(len(COUNTS))], maps, proportions, T_SNE)


def of_copies(atlas):
    labels = [str(i) for i in range(len(TOGETHER))]
    return replace(
        atlas, labels=labels, maps=atlas.maps[:, TOGETHER],
        proportions=atlas.proportions[:, TOGETHER],
    )  # fmt: skip


def fits(estimator, data, repeated, init, **fit):
    """The fit of weighted rows, and that of repeated rows from the same start."""
    both = []
    for rows, begin, weights in ((data, init, COUNTS), (repeated, of_copies(init), None)):
        estimator.set_params(init=begin)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mm.DataWarning)
            estimator.fit(rows, sample_weight=weights, **fit)
        both.append((estimator.atlas_, estimator.kl_divergence_))
    return both


def assert_same(both):
    (weighted, kl), (repeated, other) = both
    assert kl == pytest.approx(other, rel=1e-6)
    assert abs(weighted.maps - repeated.maps[:, FIRST]).max() < 1e-6 * abs(weighted.maps).max(
        initial=1
    )
    assert abs(weighted.proportions - repeated.proportions[:, FIRST]).max() < 1e-6


# With larger steps, a permutation of the repeated rows changes the maps by more than 1e-6, too.
PLAIN = mm.Momentum(0.04, hold_weights=0)
TEN = {"perplexity": 8, "max_iter": 10, "random_state": 0}
CASES = {
    "tsne": (mm.TSNE(**TEN), 1, 2),
    "tsne-1d": (mm.TSNE(1, **TEN), 1, 1),
    "tsne-3d": (mm.TSNE(3, **TEN), 1, 3),
    "tsne-8d": (mm.TSNE(8, **TEN), 1, 8),
    "tsne-heavy-tails": (mm.TSNE(degrees_of_freedom=4.0, learning_rate=1.0, **TEN), 1, 2),
    "sne": (mm.SNE(optimizer=PLAIN, **TEN), 1, 2),
    "sne-8d": (mm.SNE(8, optimizer=PLAIN, **TEN), 1, 8),
    "sne-exact": (mm.SNE(optimizer=mm.Momentum(exact=True), tolerance=0, **TEN), 1, 2),
    "symmetric-sne": (mm.SymmetricSNE(optimizer=PLAIN, **TEN), 1, 2),
    "one-sigma": (mm.SymmetricSNE(optimizer=PLAIN, affinity=mm.GlobalGaussian(8), **TEN), 1, 2),
    "uni-sne": (mm.UniSNE(optimizer=PLAIN, **TEN), 1, 2),
    "mm-tsne": (mm.MultipleMapsTSNE(3, optimizer=PLAIN, **TEN), 3, 2),
    "mm-sne": (mm.MultipleMapsSNE(3, optimizer=PLAIN, background=0.1, **TEN), 3, 2),
    "mm-joint": (mm.MultipleMapsTSNE(3, optimizer=PLAIN, normalization="joint", **TEN), 3, 2),
    "aspect-maps": (mm.AspectMaps(2, optimizer=PLAIN, **TEN), 2, 2),
    "lbfgs": (mm.MultipleMapsSNE(2, optimizer=mm.LBFGS(), **TEN | {"max_iter": 4}), 2, 2),
    "conjugate": (mm.TSNE(optimizer=mm.ConjugateGradient(), **TEN | {"max_iter": 4}), 1, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_ten_iterations_are_those_of_repeated_rows(name):
    estimator, n_maps, d = CASES[name]
    assert_same(fits(estimator, X, X[TOGETHER], start(n_maps, d)))


def test_a_learning_rate_is_compared_with_the_number_of_copies():
    for weights, n in ((COUNTS, len(TOGETHER)), (None, len(COUNTS))):
        with pytest.warns(mm.DataWarning, match=f"there are only {n} objects"):
            mm.TSNE(learning_rate=1e4, **TEN).fit(X, sample_weight=weights)


def test_tables_and_neighbours_take_weights():
    distances = mm.TSNE(metric="precomputed", **TEN)
    assert_same(fits(distances, DISTANCES, DISTANCES[np.ix_(TOGETHER, TOGETHER)], start()))
    similarities = np.exp(-DISTANCES)
    whole = similarities[np.ix_(TOGETHER, TOGETHER)]
    for estimator in (mm.TSNE, mm.SNE):
        fitted = estimator(affinity="precomputed", optimizer=PLAIN, **TEN)
        assert_same(fits(fitted, similarities, whole, start()))
    graph = mm.nearest_neighbors(X, 11)
    near = mm.TSNE(init=start(), **TEN).fit(graph, sample_weight=COUNTS)
    rows = mm.TSNE(init=start(), **TEN).fit(X, sample_weight=COUNTS)
    assert np.allclose(near.maps_, rows.maps_, atol=1e-6)


def test_many_rows_on_the_grid_are_reordered_with_their_weights():
    """More than 2,000 rows, which are stored in another order; forces have their tolerance."""
    rng = np.random.default_rng(2)
    points, counts = rng.normal(size=(2100, 3)), rng.integers(1, 3, 2100)
    maps = (4 * points[None, :, :2]).astype(np.float32)
    begin = mm.Atlas([str(i) for i in range(2100)], maps, np.ones((1, 2100), "f4"), T_SNE)
    together = np.repeat(np.arange(2100), counts)
    whole = mm.Atlas(
        [str(i) for i in range(len(together))], maps[:, together],
        np.ones((1, len(together)), "f4"), T_SNE,
    )  # fmt: skip
    settings = {"max_iter": 3, "random_state": 0, "tolerance": 1e-4}
    near = mm.GaussianAffinity(5, 40)
    found = mm.TSNE(affinity=near, init=begin, **settings).fit(points, sample_weight=counts)
    wanted = mm.TSNE(affinity=mm.GaussianAffinity(5, 60), init=whole, **settings)
    wanted.fit(points[together])
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    assert found.kl_divergence_ == pytest.approx(wanted.kl_divergence_, rel=1e-4)
    moved = wanted.maps_[0, first] - maps[0]
    assert found.atlas_.metadata["weight"].tolist() == counts.tolist()
    error = found.maps_[0] - wanted.maps_[0, first]
    assert np.sqrt((error**2).mean()) < 2e-3 * np.sqrt((moved**2).mean())


def test_weights_of_one_change_no_bits():
    settings = {"perplexity": 3, "max_iter": 20, "random_state": 0}
    plain, ones = (
        mm.TSNE(**settings).fit(X, sample_weight=weights) for weights in (None, [1] * len(X))
    )
    assert plain.maps_.tobytes() == ones.maps_.tobytes()
    assert "weight" not in plain.atlas_.metadata


def test_fractions_are_allowed_and_recorded():
    weights = np.linspace(0.2, 3, len(X))
    tsne = mm.TSNE(perplexity=3, max_iter=30, random_state=0)
    coordinates = tsne.fit_transform(X, sample_weight=weights)
    assert np.isfinite(coordinates).all()
    assert tsne.atlas_.metadata["weight"].tolist() == weights.tolist()
    assert abs(np.average(coordinates, axis=0, weights=weights)).max() < 1e-5


def test_personas_and_restarts_take_weights():
    """Enough rows that several maps start from personas; the best of two runs is kept."""
    points, weights = np.random.default_rng(3).normal(size=(120, 3)), np.linspace(0.1, 3, 120)
    maps = mm.MultipleMapsTSNE(3, perplexity=9, max_iter=60, random_state=0, n_init=2)
    maps.fit(points, sample_weight=weights)
    assert len(maps.restarts_) == 2
    assert np.isfinite(maps.maps_).all()


def test_pipelines_pass_weights_with_and_without_routing():
    def tsne():
        return mm.TSNE(perplexity=8, max_iter=3, random_state=0)

    alone = tsne().fit_transform(X, sample_weight=COUNTS)
    by_name = make_pipeline(tsne()).fit_transform(X, tsne__sample_weight=COUNTS)
    with config_context(enable_metadata_routing=True):
        asking = tsne().set_fit_request(sample_weight=True)
        routed = make_pipeline(asking).fit(X, sample_weight=COUNTS)[-1].embedding_
    assert alone.tobytes() == by_name.tobytes() == routed.tobytes()


def test_the_start_by_principal_components_is_weighted():
    settings = {"perplexity": 8, "max_iter": 1, "random_state": 0, "optimizer": mm.Momentum(1e-9)}
    far = X * [1, 5, 1, 1]
    weighted = mm.TSNE(1, **settings).fit(far, sample_weight=COUNTS).embedding_[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mm.DataWarning)
        repeated = mm.TSNE(1, **settings).fit(far[TOGETHER]).embedding_[FIRST, 0]
    assert abs(np.corrcoef(weighted, repeated)[0, 1]) > 0.99
    assert weighted.std() == pytest.approx(repeated.std(), rel=0.1)


def test_a_checkpoint_belongs_to_its_weights(tmp_path):
    path = str(tmp_path / "state")
    tsne = mm.TSNE(perplexity=8, max_iter=4, random_state=0, optimizer=PLAIN)
    tsne.fit(X, sample_weight=COUNTS, checkpoint=path)
    more = tsne.set_params(max_iter=6).fit(X, sample_weight=COUNTS, resume=path).maps_
    assert more.tobytes() == tsne.fit(X, sample_weight=COUNTS).maps_.tobytes()
    with pytest.raises(DataError, match="checkpoint is of other data"):
        tsne.fit(X, sample_weight=COUNTS + 1, resume=path)


def test_an_atlas_describes_distinct_objects():
    tsne = mm.TSNE(perplexity=8, max_iter=20, random_state=0).fit(X, sample_weight=COUNTS)
    atlas = tsne.atlas_
    unweighted = replace(atlas, log_normalizer=None)
    assert atlas.log_whole == pytest.approx(unweighted.log_whole, rel=1e-6)
    assert tsne.transform(X + 0.01).shape == (len(X), 2)


@pytest.mark.parametrize(
    ("estimator", "fault"),
    [
        (mm.CODE(), "CODE does not accept sample_weight, because each count is the weight"),
        (mm.SemidefiniteCODE(), "SemidefiniteCODE does not accept sample_weight, because each"),
        (mm.AdditiveClustering(2), "AdditiveClustering does not accept sample_weight, because it"),
        (mm.AssociationPredictor(), "AssociationPredictor does not accept sample_weight, because"),
    ],
)
def test_estimators_of_pairs_refuse_weights(estimator, fault):
    with pytest.raises(ParameterError, match=fault):
        estimator.fit(np.exp(-DISTANCES), sample_weight=COUNTS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        estimator.fit(np.exp(-DISTANCES), weight=COUNTS)


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        (np.where(COUNTS == 3, 0, 1), "sample_weight of object 1 is 0; expected a finite"),
        (np.where(COUNTS == 3, -2, 1), "sample_weight of object 1 is -2; expected"),
        (np.where(COUNTS == 3, np.nan, 1), "sample_weight of object 1 is nan; expected"),
        (COUNTS[1:], r"sample_weight has shape \(11,\); expected \(12,\)"),
        (["many"] * 12, "sample_weight contains a value that is not a number"),
    ],
)
def test_unusable_weights_are_refused_by_name(weights, fault):
    with pytest.raises(ParameterError, match=fault):
        mm.TSNE(perplexity=3).fit(X, sample_weight=weights)


def test_weights_without_a_meaning_are_refused():
    norms = mm.Associations(["a", "b", "c"], np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ParameterError, match="sample_weight requires vectors"):
        mm.TSNE().fit(norms, sample_weight=[1, 2, 3])
    holes = np.where(np.eye(12, k=3) > 0, np.nan, np.exp(-DISTANCES))
    holes[np.eye(12, k=-3) > 0] = np.nan
    with pytest.raises(ParameterError, match="combined with missing similarities"):
        mm.TSNE(affinity="precomputed").fit(holes, sample_weight=COUNTS)
    maps = mm.MultipleMapsTSNE(2, perplexity=8, random_state=0)
    for setting in ({"divergence": "inverse", "popularity": 0}, {"popularity": 0.5}):
        maps.set_params(**{"divergence": "forward", **setting})
        with pytest.raises(ParameterError, match=r"weights of the objects|sample_weight"):
            maps.fit(X, sample_weight=COUNTS)
    with pytest.raises(TypeError, match="TSNE has no parameter 'sample_weight'; pass it to fit"):
        mm.TSNE(sample_weight=COUNTS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        mm.TSNE().fit(X, weight=COUNTS)
