"""The single-map estimators: the limits that tie the family together, starts, input, and the
agreement with other programs on one P."""

import weakref
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from manymaps import SNE, TSNE, MultipleMapsSNE, MultipleMapsTSNE, SymmetricSNE, UniSNE
from manymaps.affinity.affinities import GaussianAffinity, LocalPerplexity
from manymaps.affinity.neighbors import nearest_neighbors
from manymaps.data.associations import Associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataWarning, ParameterError
from manymaps.model.choice import MULTIPLE_MAPS_SNE, SYMMETRIC_SNE, T_SNE, UNI_SNE
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters, weights_from_proportions
from manymaps.model.target import joint_target
from manymaps.optimizers import Momentum
from manymaps.optimizers.loop import descend
from manymaps.optimizers.momentum import Schedule

ESTIMATORS = [SNE, SymmetricSNE, UniSNE, TSNE]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)


def groups(n=20, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, d)) + 8 * k for k in range(3)])


def positions_and_weights(y, n_maps=1):
    weights = np.zeros((n_maps, y.shape[-2]), np.float32)
    return Parameters((y.astype(np.float32).reshape(n_maps, -1, y.shape[-1]),), (weights,))


class TestLimits:
    """Models that must be one and the same, at the same point: costs and gradients."""

    def at(self, target, model, parameters, **settings):
        return Objective(target, model, tolerance=0, **settings).evaluate(parameters)

    @pytest.mark.parametrize(
        ("one", "many", "normalization"),
        [(SNE, MultipleMapsSNE, "conditional"), (TSNE, MultipleMapsTSNE, "joint")],
    )
    def test_one_map_of_many_is_the_single_map(self, one, many, normalization):
        x = groups()
        start = np.random.default_rng(1).normal(0, 0.01, (60, 2))
        settings = {
            "perplexity": 10, "max_iter": 60, "random_state": 0, "tolerance": 0.0,
            "optimizer": Momentum(exaggeration=Schedule(((0, 1.0),))),
        }  # fmt: skip
        single = one(init=start, **settings).fit(x)
        several = many(
            n_maps=1, init=start[None], normalization=normalization, penalty=0, **settings
        ).fit(x)
        np.testing.assert_array_equal(single.maps_, several.maps_)
        assert single.kl_divergence_ == several.kl_divergence_

    def test_a_second_map_in_one_point_is_a_background(self):
        """With equal proportions in a map and in a point, 4 v_ij = K_ij + 1: the q of UNI-SNE with

            background = n (n - 1) / (Z + n (n - 1))

        at those positions (when they move, Z and so this background does). That q is the same in
        each pair shows in the KL of targets that each hold a few pairs.
        """
        n = 12
        y = np.random.default_rng(0).normal(size=(n, 2))
        both = np.stack([y, np.zeros_like(y)]).astype(np.float32)
        weights = weights_from_proportions(np.full((2, n), 0.5)).astype(np.float32)
        aspect = replace(MULTIPLE_MAPS_SNE, normalization="joint", mixing="fixed")
        z = np.exp(-((y[:, None] - y) ** 2).sum(-1)).sum() - n
        uni = replace(UNI_SNE, background=n * (n - 1) / (z + n * (n - 1)))
        for i in range(n - 1):
            pair = sparse.csr_array(([1.0], ([i], [i + 1])), shape=(n, n))
            target = joint_target(pair)
            two = self.at(target, aspect, Parameters((both,), (weights,)))
            one = self.at(target, uni, positions_and_weights(y))
            assert two.kl == pytest.approx(one.kl, rel=1e-6)

    def test_t_sne_is_symmetric_sne_with_the_kernel_replaced(self):
        assert replace(SYMMETRIC_SNE, kernel="cauchy") == T_SNE == TSNE()._model()


@pytest.fixture(scope="module")
def digits():
    """Shuffled digits, an ordinary row first, and one P for all programs."""
    x = load_digits().data
    x = x[np.random.default_rng(3).permutation(len(x))[:600]].astype(np.float32)
    target = joint_target(GaussianAffinity(30).similarities(x))
    start = x[:, :2] - x[:, :2].mean(axis=0)
    return x, target, 1e-4 * np.random.default_rng(0).normal(size=start.shape)


def exact_kl(target, y):
    parameters = positions_and_weights(y)
    return Objective(target, T_SNE, tolerance=0).evaluate(parameters).kl


@pytest.mark.slow
class TestAgainstOtherPrograms:
    """One P and one start: our KL is at most 1 % above theirs."""

    def ours(self, digits):
        x, target, start = digits
        fit = TSNE(init=start, random_state=0).fit(x)
        assert fit.kl_divergence_ == pytest.approx(exact_kl(target, fit.embedding_), rel=1e-3)
        return fit.kl_divergence_

    def test_scikit_learn(self, digits):
        from sklearn.manifold import TSNE as Theirs

        x, target, start = digits
        with threadpool_limits(1):  # its barriers take long where a core is busy
            theirs = Theirs(perplexity=30, init=start.astype(np.float32), max_iter=750).fit(x)
        assert self.ours(digits) < 1.01 * exact_kl(target, theirs.embedding_)

    def test_open_tsne(self, digits):
        openTSNE = pytest.importorskip("openTSNE", reason="openTSNE is not installed")
        _, target, start = digits
        p = openTSNE.affinity.PrecomputedAffinities(
            sparse.csr_matrix(target.values), normalize=False
        )
        theirs = openTSNE.TSNEEmbedding(
            start.copy(), p, negative_gradient_method="bh", random_state=0
        )
        for iterations, exaggeration in ((250, 12), (500, 1)):
            theirs.optimize(
                iterations, exaggeration=exaggeration, learning_rate="auto", momentum=0.8,
                inplace=True,
            )  # fmt: skip
        assert self.ours(digits) < 1.01 * exact_kl(target, np.asarray(theirs))


class TestOrderOfRows:
    """Large fits hold their objects in another order than the data."""

    @pytest.mark.parametrize("estimator", [TSNE, SNE, MultipleMapsTSNE])
    def test_permuted_rows_are_permuted_places(self, estimator, monkeypatch):
        monkeypatch.setattr("manymaps.model.target._LEAST_TO_ORDER", 10)
        x = groups().astype(np.float32)
        settings = {"perplexity": 5, "max_iter": 25, "random_state": 0, "tolerance": 0}
        settings["optimizer"] = Momentum(exaggeration=Schedule(((0, 1.0),)))
        if estimator is MultipleMapsTSNE:
            settings |= {"n_maps": 2, "mixing": "fixed"}
        n_maps = settings.get("n_maps", 1)
        start = np.random.default_rng(0).normal(0, 0.1, (n_maps, 60, 2))
        order = np.random.default_rng(1).permutation(60)
        one = estimator(init=start, **settings).fit(x)
        other = estimator(init=start[:, order], **settings).fit(x[order])
        np.testing.assert_allclose(other.maps_, one.maps_[:, order], atol=1e-4)

    def test_ordering_changes_nothing_but_rounding(self, monkeypatch):
        x = groups().astype(np.float32)
        settings = {"perplexity": 5, "max_iter": 25, "random_state": 0, "tolerance": 0}
        settings["optimizer"] = Momentum(exaggeration=Schedule(((0, 1.0),)))
        plain = TSNE(**settings).fit(x)
        monkeypatch.setattr("manymaps.model.target._LEAST_TO_ORDER", 10)
        ordered = TSNE(**settings).fit(x)
        np.testing.assert_allclose(ordered.maps_, plain.maps_, atol=1e-4)
        np.testing.assert_array_equal(ordered.transform(x), ordered.embedding_)

    def test_runs_need_no_second_copy_of_p(self, monkeypatch):
        monkeypatch.setattr("manymaps.model.target._LEAST_TO_ORDER", 10)
        memories, alive = [], []

        def joint(*args, **kwargs):
            target = joint_target(*args, **kwargs)
            memories.append(weakref.ref(target.values.data))
            return target

        def descended(*args):
            alive.append(memories[-1]() is not None)
            return descend(*args)

        monkeypatch.setattr("manymaps.maps.estimator.joint_target", joint)
        monkeypatch.setattr("manymaps.maps.estimator.descend", descended)
        settings = {"perplexity": 5, "max_iter": 5, "random_state": 0}
        single = TSNE(**settings).fit(groups())
        several = TSNE(n_init=2, **settings).fit(groups())
        assert alive == [False] * 3
        assert several.restarts_[0].kl_divergence == single.kl_divergence_


class TestStarts:
    @EACH
    @pytest.mark.parametrize(
        ("init", "d"), [("auto", 1), ("random", 2), ("pca", 3), ("mds", 2), ("auto", 8)]
    )
    def test_every_start_in_any_dimensions(self, estimator, init, d):
        fit = estimator(d, perplexity=5, init=init, max_iter=20, random_state=0).fit(groups())
        assert fit.embedding_.shape == (60, d)
        assert np.isfinite(fit.embedding_).all()

    def test_from_an_array_and_an_atlas(self):
        x = groups()
        first = SymmetricSNE(perplexity=5, max_iter=100, random_state=0).fit(x)
        for init in (first.embedding_, first.atlas_):
            again = UniSNE(perplexity=5, init=init, max_iter=1, random_state=0).fit(x)
            moved = np.abs(again.embedding_ - first.embedding_).max()
            assert 0 < moved < 0.2


class TestExaggeration:
    def test_momentum_is_higher_once_the_maps_of_many_objects_have_expanded(self):
        def momentum(n_objects, **settings):
            return TSNE(**settings)._default_optimizer(n_objects).momentum

        assert momentum(4_999) == Schedule(((0, 0.8),))
        assert momentum(5_000) == Schedule(((0, 0.8), (300, 0.9)))
        assert momentum(5_000, learning_rate=200.0) == Schedule(((0, 0.8),))
        late = momentum(5_000, late_exaggeration=4.0)
        assert late == Schedule(((0, 0.8), (300, 0.9), (500, 0.8)))
        # The map is still expanding when late exaggeration begins.
        short = momentum(5_000, late_exaggeration=4.0, max_iter=90)
        assert short == Schedule(((0, 0.8), (60, 0.8)))

    def test_late_exaggeration_draws_groups_together(self):
        def tightness(late):
            fit = TSNE(perplexity=10, late_exaggeration=late, random_state=0).fit(groups())
            y = fit.embedding_.reshape(3, 20, 2)
            centres = y.mean(axis=1)
            inside = np.linalg.norm(y - centres[:, None], axis=2).mean()
            return inside / np.linalg.norm(centres - centres.mean(axis=0), axis=1).mean()

        assert tightness(4.0) < 0.8 * tightness(1.0)


class TestInput:
    def test_kinds_of_input_agree(self):
        x = groups().astype(np.float32)
        graph = nearest_neighbors(x, 15)
        distances = np.linalg.norm(x[:, None].astype(float) - x, axis=2)
        settings = {"perplexity": 5, "init": "random", "max_iter": 30, "random_state": 0}
        fits = [
            TSNE(**settings).fit(x),
            TSNE(**settings).fit(sparse.csr_array(x)),
            TSNE(**settings).fit(graph),
            TSNE(metric="precomputed", **settings).fit(distances),
            TSNE(**settings).fit(Vectors([f"w{i}" for i in range(60)], x)),
        ]
        for fit in fits[1:]:
            np.testing.assert_allclose(fit.embedding_, fits[0].embedding_, atol=1e-3)
        assert fits[-1].atlas_.labels[7] == "w7"


class TestTransform:
    @EACH
    def test_new_rows_go_to_their_group(self, estimator):
        fit = estimator(perplexity=10, max_iter=300, random_state=0).fit(groups())
        new = groups(4, seed=1)
        centres = fit.embedding_.reshape(3, 20, 2).mean(axis=1)
        nearest = np.linalg.norm(fit.transform(new)[:, None] - centres, axis=2).argmin(axis=1)
        assert nearest.tolist() == [0] * 4 + [1] * 4 + [2] * 4

    def test_estimators_without_fitted_rows_refuse(self):
        x = groups()
        table = np.exp(-((x[:, None] - x) ** 2).sum(-1) / 20)
        words = Associations([f"w{i}" for i in range(60)], sparse.csr_array(table))
        once = TSNE(affinity="precomputed", max_iter=5).fit(table)
        for fit, data, new in (
            (once, words, table),  # the rows of the earlier fit are forgotten
            (TSNE(metric="precomputed", perplexity=5, max_iter=5), 1 - table, 1 - table),
        ):
            with pytest.raises(ParameterError):
                fit.fit(data).transform(new)

    def test_fitted_rows_are_known_however_they_are_stored(self):
        x = groups().round(1)
        x[abs(x) < 0.3] = 0.0
        rows = sparse.csr_array(x)
        rows.data[::7] = 0.0
        x = rows.toarray()
        x[x == 0] = -0.0
        for fitted, asked in ((x, rows), (rows, x), (x, x + 0.0), (rows, sparse.csr_array(x))):
            fit = TSNE(perplexity=5, max_iter=30, random_state=0).fit(fitted)
            np.testing.assert_array_equal(fit.transform(asked), fit.embedding_)
            assert np.isfinite(fit.transform(2 * asked[:2])).all()

    def test_the_perplexity_of_the_affinity_counts(self):
        x, new = groups(), groups(2, seed=1)
        settings = {"max_iter": 50, "random_state": 0}
        by_affinity = TSNE(affinity=GaussianAffinity(5), **settings).fit(x)
        plain = TSNE(perplexity=5, **settings).fit(x)
        assert by_affinity.atlas_.parameters["perplexity"] == 5
        np.testing.assert_array_equal(by_affinity.transform(new), plain.transform(new))
        several = TSNE(affinity=LocalPerplexity([5, 9]), **settings).fit(x)
        assert several.atlas_.parameters["perplexity"] == [5, 9]


def test_uni_sne_starts_from_symmetric_sne():
    x, places = groups(), []
    settings = {"perplexity": 5, "random_state": 0, "tolerance": 0}
    uni = UniSNE(max_iter=100, **settings)
    alone = replace(uni._default_optimizer(100), background_share=Schedule(((0, 1.0),)))
    symmetric = SymmetricSNE(max_iter=40, optimizer=alone, **settings).fit(x)

    def watch(iteration, cost, atlas_so_far):
        if iteration == 40:
            places.append(atlas_so_far().maps[0])

    uni.set_params(callback=watch).fit(x)
    np.testing.assert_array_equal(places[0], symmetric.embedding_)


@pytest.mark.slow
def test_a_start_outlives_early_exaggeration(monkeypatch):
    """Vectors without clusters: exaggeration of 12 draws all axes together, and seeds part."""
    X = np.random.default_rng(0).normal(size=(1000, 12))

    def fits():
        return [TSNE(perplexity=20, random_state=seed).fit(X) for seed in (0, 1)]

    def difference(one, other):
        return procrustes(one.embedding_, other.embedding_)[2]

    kept = fits()
    monkeypatch.setattr("manymaps.optimizers.momentum._COLLAPSE", 0.0)
    lost = fits()
    assert difference(*kept) < 0.3 < 0.6 < difference(*lost)
    assert max(fit.kl_divergence_ for fit in kept) < min(fit.kl_divergence_ for fit in lost)


def test_a_rate_has_the_unit_of_scikit_learn():
    """One step from the same start along the gradient of KL(P || Q)."""
    points = np.random.default_rng(0).normal(size=(30, 3))
    start = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    start -= start.mean(axis=0)  # the fit centres its result
    fit = TSNE(
        init=start, perplexity=5, max_iter=1, learning_rate=10, tolerance=0, random_state=0
    ).fit(points)
    p = GaussianAffinity(5).similarities(points).toarray()
    p = (p + p.T) / (2 * len(p))
    kernel = 1 / (1 + cdist(start, start, "sqeuclidean"))
    np.fill_diagonal(kernel, 0)
    forces = (p - kernel / kernel.sum()) * kernel
    slope = 4 * (forces.sum(axis=1)[:, None] * start - forces @ start)
    np.testing.assert_allclose(fit.embedding_ - start, -10 * slope, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9])
def test_identical_rows_cost_the_grid_no_more_than_exact_sums(share):
    X = np.random.default_rng(0).normal(size=(3000, 6))
    X[: int(share * len(X))] = 0
    warned = nullcontext() if share == 0 else pytest.warns(DataWarning, match="duplicates")
    with warned:
        fast, exact = (TSNE(random_state=0, tolerance=t).fit(X) for t in (5e-3, 0))
    assert fast.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.01)
    assert len(np.unique(fast.embedding_, axis=0)) == len(X)


@pytest.mark.parametrize(("rate", "warns"), [("auto", False), (160, False), (200, True)])
def test_a_rate_too_high_for_few_objects_is_reported(rate, warns):
    points = np.random.default_rng(0).normal(size=(40, 3))
    told = pytest.warns(DataWarning, match="at most 160") if warns else nullcontext()
    with told:
        TSNE(perplexity=5, learning_rate=rate, max_iter=5, random_state=0).fit(points)
