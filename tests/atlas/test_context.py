"""Maps in context, against slow sums over all objects."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from atlas_samples import similarities_by_map
from manymaps.atlas.context import IRRELEVANT
from manymaps.errors import DataError, ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE, T_SNE

# Two clusters of associates of "hub", one per map, and two words that hub does not evoke.
LABELS = ["hub", "a1", "a2", "a3", "b1", "b2", "b3", "near a", "near b"]
IN_A, IN_B = (1, 2, 3, 7), (4, 5, 6, 8)


def two_sided(model=MULTIPLE_MAPS_T_SNE, seed=0, associations=True):
    rng = np.random.default_rng(seed)
    maps = rng.normal(0, 4, (2, 9, 2))
    for m, members in enumerate((IN_A, IN_B)):
        maps[m, [0, *members]] = rng.normal(0, 0.4, (5, 2))
    proportions = np.full((2, 9), 0.5)
    proportions[0, list(IN_A)], proportions[0, list(IN_B)] = 0.9, 0.1
    proportions[1] = 1 - proportions[0]
    table = np.zeros((9, 9))
    for members in ((1, 2, 3), (4, 5, 6)):
        for i in members:
            table[i, list(members)] = 0.45
            table[i, i], table[i, 0] = 0, 0.1
    table[0, 1:7] = [0.2, 0.2, 0.1, 0.3, 0.1, 0.1]
    known = sparse.csr_array(table) if associations else None
    return mm.Atlas(LABELS, maps, proportions, model, associations=known)


def slow_choices(atlas):
    """Tables q(j|i) and r_ij^m, by the definition."""
    v = similarities_by_map(atlas)
    return v.sum(axis=0) / v.sum(axis=(0, 2))[:, None], v / np.maximum(v.sum(axis=0), 1e-300)


def slow_posterior(weights, q, context):
    """Prior and posterior of the maps from weights p_ij r_ij^m (n_maps, n), by loops."""
    prior = weights.sum(axis=1) / weights.sum()
    posterior = prior.copy()
    for c in context:
        likelihood = np.array(
            [
                sum(w * (1.0 if j == c else q[j, c]) for j, w in enumerate(row)) / row.sum()
                for row in weights
            ]
        )
        whole = (prior * likelihood).sum()
        posterior *= (1 - IRRELEVANT) * likelihood / whole + IRRELEVANT
    return prior, posterior / posterior.sum()


@pytest.mark.parametrize("model", [MULTIPLE_MAPS_T_SNE, MULTIPLE_MAPS_SNE, T_SNE])
@pytest.mark.parametrize(("i", "context"), [(0, ()), (0, (7,)), (0, (2, 8, 4)), (1, (0, 5))])
@pytest.mark.parametrize("associations", [True, False])
def test_equal_the_definition(model, i, context, associations):
    atlas = two_sided(model, associations=associations)
    found = atlas.disambiguate(LABELS[i], [LABELS[c] for c in context])
    q, votes = slow_choices(atlas)
    p = atlas.associations[[i]].toarray()[0] if associations else q[i]
    prior, posterior = slow_posterior(votes[:, i] * p, q, context)
    assert sorted(one.map for one in found) == [0, 1]
    for one in found:
        assert one.prior == pytest.approx(prior[one.map], rel=1e-4)
        assert one.probability == pytest.approx(posterior[one.map], rel=1e-4)
    if not associations:
        np.testing.assert_allclose(prior, atlas.map_weights[:, i], rtol=1e-4)


@pytest.mark.parametrize("associations", [True, False])
def test_a_context_selects_its_side_in_any_order(associations):
    atlas = two_sided(associations=associations)
    for word, m in (("near a", 0), ("near b", 1)):
        first = atlas.disambiguate("hub", [word])[0]
        assert first.map == m
        assert first.probability > max(0.8, first.prior)
    found = atlas.disambiguate("HUB", ["near a", "b3", "a2"])
    assert atlas.disambiguate("hub", ["A2", "b3", "hub", "near a", "b3"]) == found


def test_words_that_have_no_map_in_common_or_are_too_far_apart_for_float64():
    ties = sparse.csr_array(1.0 - np.eye(3))
    apart = mm.Atlas(list("xyz"), np.zeros((3, 3, 2)), np.eye(3), MULTIPLE_MAPS_T_SNE)
    far = two_sided(MULTIPLE_MAPS_SNE)
    far.maps[:, 0] += 500
    for associations in (False, True):
        alone = replace(apart, associations=ties if associations else None)
        first = alone.disambiguate("y", ["x", "z"])[0]
        assert (first.map, first.probability) == (1, 1.0)
        remote = far if associations else replace(far, associations=None)
        found = remote.disambiguate("hub", ["a1", "near b"])
        assert sum(one.probability for one in found) == pytest.approx(1)


def test_unknown_words_of_a_context_are_told_and_ignored():
    atlas = two_sided()
    with pytest.warns(mm.DataWarning) as told:
        found = atlas.disambiguate("hub", ["near a", "nowhere"])
    assert told[0].filename == __file__
    assert found == atlas.disambiguate("hub", ["near a"])


TWO_KINDS = mm.Atlas(
    LABELS, np.zeros((1, 9, 2)), np.ones((1, 9)), CODE, kinds=["row"] * 4 + ["column"] * 5
)
REFUSALS = [
    (lambda a: a.disambiguate("hob", ["a1"]), UnknownLabelError),
    (lambda a: a.disambiguate("hub", ["near c", "x"]), UnknownLabelError),
    (lambda a: a.disambiguate("hub", "a1"), ParameterError),
    (lambda _: TWO_KINDS.disambiguate("hub", ["a1"]), DataError),
]


@pytest.mark.parametrize(("ask", "error"), REFUSALS)
def test_refusals(ask, error):
    with pytest.raises(error):
        ask(two_sided())
