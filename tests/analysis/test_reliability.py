"""How far places can be trusted: against slow twins, in limits, and what it foretells."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from code_samples import sample
from manymaps.affinity import GaussianAffinity
from manymaps.analysis.reliability import explained_by_even_spread, mean_explained
from manymaps.analysis.stability import EXPLAINED, RECURRING, stability
from manymaps.errors import DataError, ParameterError
from manymaps.model.choice import (
    MULTIPLE_MAPS_SNE,
    MULTIPLE_MAPS_T_SNE,
    SYMMETRIC_SNE,
    T_SNE,
    UNI_SNE,
)

MODELS = [MULTIPLE_MAPS_T_SNE, MULTIPLE_MAPS_SNE, T_SNE, SYMMETRIC_SNE, UNI_SNE]


def made(model=MULTIPLE_MAPS_T_SNE, n=30, seed=0):
    rng = np.random.default_rng(seed)
    n_maps = 1 if model.mixing == "fixed" else 3
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    np.fill_diagonal(table, 0)
    table[5] = 0
    table /= np.maximum(table.sum(axis=1, keepdims=True), 1e-9) * rng.uniform(1, 1.3, (n, 1))
    proportions = rng.dirichlet(np.ones(n_maps), size=n).T
    maps = rng.normal(size=(n_maps, n, 2))
    labels = [f"word{i}" for i in range(n)]
    observed = sparse.csr_array(table)
    return mm.Atlas(labels, maps, proportions, model, associations=observed)


class TestExplained:
    @pytest.mark.parametrize("model", MODELS)
    def test_it_is_the_plain_sum_of_one_word_after_another(self, model):
        atlas = made(model)
        found = mm.reliability(atlas)
        table = atlas.associations.toarray()
        for i, label in enumerate(atlas.labels):
            q = atlas.similarities(label)
            expected = (
                np.minimum(table[i], q / q.sum()).sum() / table[i].sum() if i != 5 else np.nan
            )
            assert found.explained[i] == pytest.approx(expected, rel=1e-5, nan_ok=True)

    def test_what_is_far_away_in_all_maps_explains_nothing(self):
        far = made(MULTIPLE_MAPS_SNE)
        far.maps[:, 7] = 1e4
        nothing = mm.reliability(far).explained
        # A Gaussian gives all to whoever is the least far.
        assert nothing[7] < 0.5
        own = (np.arange(30) == 7).astype(float)
        alone = replace(far, maps=far.maps[:2], proportions=np.stack([1 - own, own]))
        assert mm.reliability(alone).explained[7] == 0

    def test_of_vectors_similarities_are_made_once_more(self):
        values = np.random.default_rng(0).normal(size=(60, 5))
        atlas = mm.TSNE(perplexity=5, max_iter=50, random_state=0).fit(values).atlas_
        p = GaussianAffinity(5).similarities(values).toarray()
        p = p + p.T
        expected = [
            np.minimum(row / row.sum(), q / q.sum()).sum()
            for row, q in zip(p, map(atlas.similarities, atlas.labels), strict=True)
        ]
        np.testing.assert_allclose(mm.reliability(atlas).explained, expected, rtol=1e-3)
        assert np.isnan(mm.reliability(replace(atlas, vectors=None)).explained).all()


class TestEvenSpread:
    def test_against_plain_loops(self):
        rng = np.random.default_rng(0)
        table = rng.random((12, 12)) * (rng.random((12, 12)) < 0.8)
        np.fill_diagonal(table, 0)
        table[5] = 0
        table /= np.maximum(table.sum(axis=1, keepdims=True), 1e-9)
        atlas = replace(made(n=12), associations=sparse.csr_array(table))
        expected = [
            sum(min(p, 1 / 11) for p in row) / row.sum() if row.any() else np.nan for row in table
        ]
        spread = explained_by_even_spread(atlas.associations)
        np.testing.assert_allclose(spread, expected, rtol=1e-6)
        found = mm.reliability(atlas)
        np.testing.assert_allclose(found.explained_by_even_spread, expected, rtol=1e-6)
        both = found.explained.mean(), found.explained_by_even_spread.mean()
        assert mean_explained(atlas) == pytest.approx(both)

    def test_it_is_unknown_if_at_most_half_of_the_pairs_have_a_similarity(self):
        assert mm.reliability(made()).explained_by_even_spread.isna().all()
        half = np.triu(np.ones((6, 6)), 1) / np.arange(5, -1, -1).clip(1)[:, None]
        assert np.isnan(explained_by_even_spread(sparse.csr_array(half))).all()
        half[5, 0] = 1
        assert np.isfinite(explained_by_even_spread(sparse.csr_array(half))).all()


class TestRecurring:
    def test_against_sets(self):
        one, two, three = (made(seed=seed) for seed in range(3))
        found = mm.reliability(one, [two, three], n_neighbors=4)
        nearest = [
            {label: {n.label for n in atlas.neighbors(label, n_neighbors=4)} for label in atlas}
            for atlas in (one, two, three)
        ]
        for label, share in zip(one.labels, found.recurring, strict=True):
            own, *others = (near[label] for near in nearest)
            assert share == pytest.approx(np.mean([len(own & other) / 4 for other in others]))
        # Of places that know nothing of one another, as many as chance gives.
        assert stability([one, two], n_neighbors=4).recurring_by_chance == 4 / 29
        assert found.recurring.mean() == pytest.approx(4 / 29, abs=0.06)

    def test_the_same_places_recur_in_any_order(self):
        atlas = made()
        order = np.random.default_rng(0).permutation(30)
        np.testing.assert_array_equal(mm.reliability(atlas, [atlas.subset(order)]).recurring, 1)


class TestAttached:
    def test_the_atlas_of_several_fits_has_both_columns(self, tmp_path):
        fits = [made(seed=seed) for seed in range(3)]
        found = stability(fits, reference=1)
        atlas = found.attach()
        beside = mm.reliability(fits[1], [fits[0], fits[2]])
        np.testing.assert_allclose(atlas.metadata[EXPLAINED], beside.explained, atol=6e-4)
        np.testing.assert_allclose(atlas.metadata[RECURRING], beside.recurring, atol=6e-4)
        atlas.save(tmp_path / "stable.atlas")
        again = mm.load_atlas(tmp_path / "stable.atlas")
        np.testing.assert_array_equal(again.metadata[RECURRING], atlas.metadata[RECURRING])
        assert list(beside["label"]) == list(atlas.labels)

    def test_of_two_kinds_neighbours_recur(self):
        with pytest.warns(mm.DataWarning, match="not fitted"):
            atlas = mm.CODE(max_iter=5, random_state=0).fit(sample()).atlas_
        found = stability([atlas, atlas]).attach()
        assert EXPLAINED not in found.metadata
        np.testing.assert_array_equal(found.metadata[RECURRING], 1)
        assert "kind" in mm.reliability(atlas, [atlas])


REFUSALS = [
    (lambda: mm.reliability(made(), [made().subset(range(29))]), DataError),
    (lambda: mm.reliability(made(), n_neighbors=0), ParameterError),
    *((lambda fits=fits: mm.reliability(made(), fits), DataError) for fits in (None, 3, [None])),
    (lambda: mm.reliability("fit.atlas"), DataError),
]


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call()
