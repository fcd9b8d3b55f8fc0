"""Ambiguity by hand, against a plain twin, in any order; over fits, samples and a consensus."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.analysis.stability import stability
from manymaps.atlas.associations import strongest_associations
from manymaps.errors import DataError, ParameterError
from manymaps.model import CODE, MULTIPLE_MAPS_T_SNE


def fit(first=0.5, seed=0, recalls=True):
    """Two rings of four words; word 0 recalls both, the first with this share."""
    rng = np.random.default_rng(seed)
    table = np.zeros((9, 9))
    table[1:5, 1:5] = table[5:, 5:] = 1 / 3
    table[0, 1:5], table[0, 5:] = first / 4, (1 - first) / 4
    np.fill_diagonal(table, 0)
    if not recalls:
        table[0] = 0
    return mm.Atlas(
        [f"word{i}" for i in range(9)],
        rng.normal(size=(2, 9, 2)),
        rng.dirichlet([1, 1], size=9).T,
        MULTIPLE_MAPS_T_SNE,
        associations=strongest_associations(sparse.csr_array(table)),
    )


def entropy(*shares):
    p = np.array(shares) / np.sum(shares)
    return float(2 ** -(p * np.log2(p)).sum())


def scattered(seed=0, n=60):
    """Associations that hang together in overlapping circles, with strengths without ties."""
    rng = np.random.default_rng(seed)
    circles = rng.random((n, 15)) < 0.12
    tied = rng.random((n, n)) * (circles @ circles.T) * (rng.random((n, n)) < 0.6)
    np.fill_diagonal(tied, 0)
    tied[5] = 0
    observed = strongest_associations(sparse.csr_array(tied))
    proportions = rng.dirichlet(np.full(3, 0.4), size=n).T
    labels = [f"word{i}" for i in range(n)]
    maps = rng.normal(size=(3, n, 2))
    return mm.Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE, associations=observed)


class TestOneFit:
    def test_by_hand(self):
        found = mm.ambiguity(fit(0.75))
        assert found.ambiguity[0] == pytest.approx(entropy(0.75, 0.25))
        np.testing.assert_allclose(found.ambiguity[1:], 1)
        assert found.n_senses.tolist() == [2] + [1] * 8
        assert found.n_fits.tolist() == [1] * 9
        assert np.isnan(found.standard_error).all()
        assert mm.ambiguity(fit(0.5)).ambiguity[0] == pytest.approx(2)
        expected = entropy(*[0.75 / 4] * 4, *[0.25 / 4] * 4)
        assert found.effective_responses[0] == pytest.approx(expected)
        np.testing.assert_allclose(found.effective_responses[1:], 3, rtol=1e-6)
        assert found.distinct_responses.tolist() == [8] + [3] * 8

    def test_slivers_are_no_senses(self):
        assert mm.ambiguity(fit(0.96)).ambiguity[0] == 1
        found = mm.ambiguity(fit(0.96), min_share=0.01)
        assert found.ambiguity[0] == pytest.approx(entropy(0.96, 0.04), rel=1e-6)

    def test_against_the_senses_that_the_atlas_lists(self):
        atlas = scattered()
        found = mm.ambiguity(atlas, min_share=0.2)
        assert len(set(found.n_senses)) > 1
        for i, label in enumerate(atlas.labels):
            if atlas.has_associations(label):
                listed = [sense.share for sense in atlas.senses(label, min_share=0.2)]
                # Smaller groups are listed where their map recalls much; they are slivers still.
                shares = [share for share in listed if share >= 0.2] or [max(listed)]
                assert found.ambiguity[i] == pytest.approx(entropy(*shares))
                assert found.n_senses[i] == len(shares)
                assert 1 <= found.ambiguity[i] <= len(shares) + 1e-9

    def test_where_nothing_is_recalled_maps_are_the_senses(self):
        atlas = scattered()
        found = mm.ambiguity(atlas, min_weight=0.15)
        own = atlas.map_weights[:, 5]
        assert found.ambiguity[5] == pytest.approx(
            entropy(*own[(own >= 0.15) | (own == own.max())])
        )
        assert np.isnan(found.effective_responses[5])
        assert found.distinct_responses[5] == 0
        plain = mm.ambiguity(replace(atlas, associations=None))
        assert np.isnan(plain.effective_responses).all()
        assert plain.ambiguity.max() > 1.5

    def test_a_word_without_any_neighbour_has_none(self):
        maps = np.zeros((2, 3, 2))
        proportions = np.array([[1.0, 1, 0], [0, 0, 1]])
        found = mm.ambiguity(mm.Atlas(["a", "b", "alone"], maps, proportions, MULTIPLE_MAPS_T_SNE))
        np.testing.assert_array_equal(found.ambiguity, [1, 1, np.nan])
        np.testing.assert_array_equal(found.n_senses, [1, 1, np.nan])
        assert found.n_fits.tolist() == [1, 1, 0]

    def test_the_order_of_objects_and_of_maps_changes_nothing(self):
        atlas = scattered(3)
        order = np.random.default_rng(1).permutation(atlas.n_objects)
        found = mm.ambiguity(atlas)
        again = mm.ambiguity(atlas.subset(order).renumbered([2, 0, 1]))
        np.testing.assert_allclose(again.ambiguity, found.ambiguity[order])
        assert again.labels == tuple(np.array(atlas.labels)[order])


class TestSeveralFits:
    def test_mean_and_standard_deviation(self):
        shares = (0.5, 0.7, 0.96)
        found = mm.ambiguity([fit(share, seed) for seed, share in enumerate(shares)])
        values = [2, entropy(0.7, 0.3), 1]
        assert found.ambiguity[0] == pytest.approx(np.mean(values))
        assert found.standard_error[0] == pytest.approx(np.std(values, ddof=1))
        assert found.n_senses[0] == pytest.approx(5 / 3)
        np.testing.assert_allclose(found.standard_error[1:], 0, atol=1e-9)
        assert found.effective_responses[0] == pytest.approx(8)

    def test_fits_may_have_their_objects_in_any_order(self):
        one, other = scattered(0), scattered(1)
        order = np.random.default_rng(2).permutation(one.n_objects)
        found, again = mm.ambiguity([one, other]), mm.ambiguity([one, other.subset(order)])
        np.testing.assert_allclose(again.ambiguity, found.ambiguity)
        np.testing.assert_allclose(again.standard_error, found.standard_error)

    def test_only_fits_that_know_what_a_word_recalls_are_counted(self):
        found = mm.ambiguity([fit(0.5), fit(0.7), fit(recalls=False)])
        assert found.n_fits.tolist() == [2] + [3] * 8
        assert found.ambiguity[0] == pytest.approx((2 + entropy(0.7, 0.3)) / 2)

    def test_an_attached_consensus_stands_for_its_fits(self, tmp_path):
        fits = [fit(0.5), fit(0.7), fit(0.96)]
        expected = mm.ambiguity(fits)
        path = tmp_path / "stable.atlas"
        stability(fits).attach().save(path)
        stable = mm.load_atlas(path)
        found = mm.ambiguity(stable)
        np.testing.assert_allclose(found.ambiguity, expected.ambiguity, rtol=1e-6)
        np.testing.assert_allclose(found.standard_error, expected.standard_error, atol=1e-6)
        assert found.n_fits.tolist() == [3] * 9
        # Beside others it is one fit.
        assert mm.ambiguity([stable, fit(0.7)]).n_fits.tolist() == [2] * 9

    def test_the_error_of_samples_is_that_of_the_responses(self):
        """Half of 40 responses fall to each sense: 2^H of a binomial share, by simulation."""
        found = mm.ambiguity(fit(), n_resamples=100, n_responses=40, random_state=0)
        shares = np.random.default_rng(1).binomial(40, 0.5, size=20000) / 40
        expected = np.std([entropy(share, 1 - share) for share in shares])
        assert found.standard_error[0] == pytest.approx(expected, rel=0.3)
        assert found.ambiguity[0] == pytest.approx(2)
        assert found.n_fits[0] == 1

    def test_drawing_again_gives_what_fits_to_samples_give(self):
        atlas = scattered()
        norms = mm.Associations(atlas.labels, atlas.associations.astype(float))
        rng = np.random.default_rng(4)
        fits = [
            replace(atlas, associations=strongest_associations(mm.resampled(norms, rng).strengths))
            for _ in range(4)
        ]
        found = mm.ambiguity(atlas, n_resamples=4, random_state=4)
        knows = np.diff(atlas.associations.indptr) > 0
        expected = mm.ambiguity(fits).standard_error
        np.testing.assert_allclose(found.standard_error[knows], expected[knows])
        assert expected[knows].max() > 0.1
        # Nothing is known of what the others would recall.
        assert np.isnan(found.standard_error[~knows]).all()
        assert np.isfinite(found.ambiguity).all()
        np.testing.assert_array_equal(found.ambiguity, mm.ambiguity(atlas).ambiguity)

    def test_more_responses_make_it_smaller(self):
        few, many = (
            mm.ambiguity(scattered(), n_resamples=10, n_responses=n, random_state=0).standard_error
            for n in (20, 2000)
        )
        assert np.nanmean(many) < np.nanmean(few) / 2

    def test_the_error_depends_only_on_associations(self):
        atlas = scattered()
        known = np.diff(atlas.associations.indptr) > 0
        found = mm.ambiguity([atlas, replace(atlas, maps=-2 * atlas.maps)])
        assert found.standard_error[known].max() == 0
        plain = replace(atlas, associations=None)
        assert np.isnan(mm.ambiguity(plain, n_resamples=3).standard_error).all()


def test_frame_and_columns():
    found = mm.ambiguity([fit(0.5), fit(0.7)])
    frame = found.to_frame("pandas")
    assert list(frame.columns) == [
        "label", "ambiguity", "standard_error", "n_senses", "n_fits", "effective_responses",
        "distinct_responses",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame["ambiguity"], found.ambiguity)
    assert repr(found) == "<Ambiguity of 9 words over 2 fits>"


def test_two_kinds_are_told_apart():
    rng = np.random.default_rng(0)
    atlas = mm.Atlas(
        [*"abcd", *"aefg"], rng.normal(size=(2, 8, 2)), rng.dirichlet([1, 1], size=8).T, CODE,
        kinds=["text"] * 4 + ["word"] * 4,
    )  # fmt: skip
    found = mm.ambiguity(atlas)
    assert found.kinds == tuple(atlas.kinds)
    assert list(found.columns)[:2] == ["label", "kind"]
    assert (found.ambiguity >= 1).all()


def test_what_is_refused():
    with pytest.raises(DataError, match="got no atlas"):
        mm.ambiguity([])
    with pytest.raises(DataError, match="fit 1 lacks 51 objects"):
        mm.ambiguity([scattered(), fit()])
    with pytest.raises(ParameterError, match="min_share=2 must be a number from 0 to 1"):
        mm.ambiguity(fit(), min_share=2)
    with pytest.raises(ParameterError, match="min_weight=-1"):
        mm.ambiguity(fit(), min_weight=-1)
    with pytest.raises(ParameterError, match="n_resamples=1 must be 0 or at least 2"):
        mm.ambiguity(fit(), n_resamples=1)
    with pytest.raises(ParameterError, match="n_resamples=-3"):
        mm.ambiguity(fit(), n_resamples=-3)
    with pytest.raises(ParameterError, match="n_responses must be whole numbers"):
        mm.ambiguity(fit(), n_resamples=2, n_responses=0)
