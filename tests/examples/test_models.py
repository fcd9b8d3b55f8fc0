"""Other models of meaning: probabilities, known structure, and tuning without the test part."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lib.models import AssociationModel, Popularity, SpreadingActivation, Uniform, tune
from lib.spaces import (
    ChoiceCost,
    ClassicalScaling,
    ExtendedEuclidean,
    LatentSemanticAnalysis,
    _squared_distances,
)
from lib.topics import ProbabilisticLSA, TopicModel
from manymaps.affinity.network import association_network, degree_scaled
from manymaps.prediction.held_out import Split, prediction_error, split_associations
from reference import numeric_slope

SMALL: list[AssociationModel] = [
    Uniform(), Popularity(), SpreadingActivation(), LatentSemanticAnalysis(n_components=8),
    ProbabilisticLSA(n_topics=8), TopicModel(n_topics=8),
    ClassicalScaling(n_positive=8, n_negative=4), ExtendedEuclidean(n_components=4, penalty=1.0),
]  # fmt: skip
LEARNING = SMALL[2:]


@pytest.fixture(scope="module")
def groups() -> sparse.csr_array:
    """Six groups of ten words; most associations stay within, and the last word has none."""
    generator = np.random.default_rng(3)
    group = np.repeat(np.arange(6), 10)
    near = group[:, None] == group
    chance = np.where(near, 0.6, 0.01)
    table = (generator.random((60, 60)) < chance) * generator.gamma(1.0, size=(60, 60))
    np.fill_diagonal(table, 0)
    table[59] = table[:, 59] = 0
    return sparse.csr_array(table)


@pytest.fixture(scope="module")
def split(groups: sparse.csr_array) -> Split:
    return split_associations(groups, random_state=1)


@pytest.mark.parametrize("model", SMALL, ids=lambda model: type(model).__name__)
def test_probabilities(model: AssociationModel, split: Split) -> None:
    model.fit(split.train, random_state=0)
    everything = model.probabilities(np.arange(60))
    assert everything.dtype == np.float64
    np.testing.assert_allclose(everything.sum(axis=1), 1)
    assert (np.diag(everything) == 0).all()
    assert (everything[~np.eye(60, dtype=bool)] > 0).all()
    np.testing.assert_allclose(model.probabilities([7, 59, 3]), everything[[7, 59, 3]], rtol=1e-10)
    assert model.probabilities(np.arange(0)).shape == (0, 60)


@pytest.mark.parametrize("model", LEARNING, ids=lambda model: type(model).__name__)
def test_better_than_popularity(model: AssociationModel, split: Split) -> None:
    floor = Popularity().fit(split.train)
    model.fit(split.train, random_state=0)
    of_floor, of_model = (
        prediction_error(found.probabilities, split.test, split.n_cues) for found in (floor, model)
    )
    assert of_model < of_floor - 0.02


def test_spreading_is_the_sum_of_walks(split: Split) -> None:
    settings = {
        "steps": 3, "first_step": 1, "decay": 0.5, "backward": 0.3, "power": 0.8,
        "popularity": 0.4, "smoothing": 0.2, "uniform": 0.2,
    }  # fmt: skip
    model = SpreadingActivation(**settings).fit(split.train)
    table = split.train.toarray() ** 0.8
    walk = 0.7 * table + 0.3 * table.T
    sums = walk.sum(axis=1, keepdims=True)
    walk = np.divide(walk, sums, where=sums > 0, out=np.zeros_like(walk))
    total = walk + 0.5 * walk @ walk + 0.25 * walk @ walk @ walk
    b = split.train.toarray().sum(axis=0) + 0.01
    total *= b**0.4
    np.fill_diagonal(total, 0)
    floor = np.tile(b, (60, 1))
    np.fill_diagonal(floor, 0)
    floor = 0.8 * floor / floor.sum(axis=1, keepdims=True) + 0.2 / 59
    np.fill_diagonal(floor, 0)
    expected = 0.8 * total / np.maximum(total.sum(axis=1, keepdims=True), 1e-300) + 0.2 * floor
    expected[59] = floor[59]
    np.testing.assert_allclose(model.probabilities(np.arange(60)), expected)


def test_classical_scaling_rebuilds_path_lengths(split: Split) -> None:
    """All positive and all negative dimensions together give the squared path lengths back."""
    model = ClassicalScaling(n_positive=59, n_negative=59).fit(split.train, random_state=0)
    network = degree_scaled(association_network(split.train, power=0.7), 0.2)
    network.data = 1 + np.log(network.data.max() / network.data)
    lengths = dijkstra(sparse.csr_matrix(network), directed=False)
    lengths[np.isinf(lengths)] = lengths[np.isfinite(lengths)].max()
    np.fill_diagonal(lengths, 0)
    every = np.arange(60)
    found = _squared_distances(model.positive_, every) - _squared_distances(model.negative_, every)
    np.testing.assert_allclose(found, lengths**2, atol=2e-3 * (lengths**2).max())
    assert np.abs(model.negative_).max() > 0


def test_gradient_of_extended_euclidean(split: Split) -> None:
    generator = np.random.default_rng(0)
    x, s = generator.normal(size=(60, 3)), generator.normal(size=60)
    cost = ChoiceCost(split.train, x.shape, 0.3)
    point = np.concatenate([x.ravel(), s])
    value, gradient = cost(point)
    d2 = ((x[:, None] - x) ** 2).sum(axis=2) + s
    np.fill_diagonal(d2, np.inf)
    q = np.exp(-d2)
    q /= q.sum(axis=1, keepdims=True)
    rows, columns = split.train.nonzero()
    p = split.train[rows, columns]
    expected = p @ np.log(p / q[rows, columns])
    expected += 0.15 * ((x**2).sum() + ((s - s.mean()) ** 2).sum())
    assert value == pytest.approx(expected, rel=1e-5)
    direction = generator.normal(size=gradient.size)
    slope = numeric_slope(lambda at: cost(at[0])[0], (point,), (direction,), step=1e-2)
    assert slope == pytest.approx(gradient @ direction, rel=2e-3)


def test_tuning_never_sees_the_test_part(split: Split) -> None:
    grid = {"decay": [0.2, 0.8], "smoothing": [0.05, 0.3], "backward": [0.2, 0.5]}
    blind = Split(split.train, split.validation, sparse.csr_array((60, 60)), split.n_cues, None)
    best, table = tune(SpreadingActivation, grid, split)
    other, same = tune(SpreadingActivation, grid, blind)
    assert best.get_params() == other.get_params()
    assert table == same
    assert len(table) == 8
    errors = [point.validation for point in table]
    assert table[int(np.argmin(errors))].parameters.items() <= best.get_params().items()
    assert min(errors) == prediction_error(best.probabilities, split.validation, split.n_cues)
