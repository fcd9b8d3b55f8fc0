"""The probabilities that maps stand for, against tables written out in full."""

import numpy as np
import pytest

import reference
from atlas_samples import similarities_by_map
from manymaps.atlas.probabilities import Choices
from manymaps.model.choice import ChoiceModel

N, ROWS = 9, 4


def random_choices(kernel, normalization, given, n_maps, factors=True):
    rng = np.random.default_rng(n_maps)
    proportions = rng.dirichlet(np.ones(n_maps), N).T
    if n_maps > 1:
        # Objects that are absent from a map take no part in it.
        proportions[0, [2, 6]] = 0
        proportions /= proportions.sum(axis=0)
    model = ChoiceModel(kernel, normalization, given=given, kernel_width=1.3)
    maps = rng.normal(0, 1, (n_maps, N, 2))
    fixed = rng.random(N) + 0.1 if factors else None
    return Choices(maps, proportions, model, ROWS if given else 0, fixed)


@pytest.mark.parametrize("kernel", reference.STORED_KERNELS)
@pytest.mark.parametrize("n_maps", [1, 3])
class TestOneSet:
    @pytest.mark.parametrize("factors", [True, False])
    def test_conditional(self, kernel, n_maps, factors):
        choices = random_choices(kernel, "conditional", None, n_maps, factors)
        by_map = similarities_by_map(choices) * (choices.factors if factors else 1)
        v = by_map.sum(axis=0)
        q = v / v.sum(axis=1, keepdims=True)
        shares = np.array([choices.shares(i) for i in range(N)])
        expected = by_map / v.sum(axis=1)[:, None]
        np.testing.assert_allclose(shares, expected.swapaxes(0, 1), rtol=1e-5)
        np.testing.assert_allclose(choices.log_normalizers, np.log(v.sum(axis=1)), atol=1e-6)
        i, j = (~np.eye(N, dtype=bool)).nonzero()
        np.testing.assert_allclose(choices.row_shares(i, j), q[i, j], rtol=1e-5)
        logs = choices.log_of_pairs(i, j) + choices.log_factors[j]
        np.testing.assert_allclose(logs, np.log(v[i, j]), atol=1e-9)
        logs = (np.log(q[i, j]) + np.log(q[j, i])) / 2
        np.testing.assert_allclose(choices.log_choices(i, j), logs, atol=1e-5)
        strongest = choices.strongest(np.arange(N), N - 1)
        np.testing.assert_array_equal(strongest, np.argsort(-q, axis=1)[:, :-1])
        for m, pi in enumerate(choices.proportions):
            here = np.flatnonzero(pi > 0)
            with np.errstate(divide="ignore"):
                logs = np.log(by_map[m, here] / pi[here, None])
            found = choices.log_in(np.repeat(here, N), np.tile(np.arange(N), len(here)), m)
            others = here[:, None] != np.arange(N)
            np.testing.assert_allclose(found.reshape(-1, N)[others], logs[others], atol=1e-5)
            np.testing.assert_allclose(choices.log_peaks(here, m), logs.max(axis=1), atol=1e-5)

    def test_joint(self, kernel, n_maps):
        choices = random_choices(kernel, "joint", None, n_maps, factors=False)
        v = similarities_by_map(choices)
        shares = np.array([choices.shares(i) for i in range(N)])
        np.testing.assert_allclose(shares, (v / v.sum()).swapaxes(0, 1), rtol=1e-5)


@pytest.mark.parametrize("kernel", reference.STORED_KERNELS)
@pytest.mark.parametrize("n_maps", [1, 3])
@pytest.mark.parametrize("factors", [True, False])
class TestTwoKinds:
    @pytest.mark.parametrize("given", ["rows", "columns"])
    def test_conditional(self, kernel, n_maps, factors, given):
        choices = random_choices(kernel, "conditional", given, n_maps, factors)
        fixed = np.ones(N) if choices.factors is None else choices.factors
        v = similarities_by_map(choices).sum(axis=0)[:ROWS, ROWS:]
        a, b = fixed[:ROWS], fixed[ROWS:]
        if given == "columns":
            v, a, b = v.T, b, a
        q = v * b / (v * b).sum(axis=1, keepdims=True)
        back = a[:, None] * q
        back /= back.sum(axis=0)
        for i in range(N):
            shares = choices.shares(i).sum(axis=0)
            is_row = i < ROWS
            others, k = (slice(ROWS, None), i) if is_row else (slice(0, ROWS), i - ROWS)
            expected = q[k] if is_row == (given == "rows") else back[:, k]
            np.testing.assert_allclose(shares[others], expected, rtol=1e-5)
            assert shares.sum() == pytest.approx(1)

    def test_joint(self, kernel, n_maps, factors):
        choices = random_choices(kernel, "joint", "rows", n_maps, factors)
        fixed = np.ones(N) if choices.factors is None else choices.factors
        v = similarities_by_map(choices).sum(axis=0)[:ROWS, ROWS:] * np.outer(
            fixed[:ROWS], fixed[ROWS:]
        )
        found = np.array([choices.shares(i).sum(axis=0)[ROWS:] for i in range(ROWS)])
        np.testing.assert_allclose(found, v / v.sum(), rtol=1e-5)
        columns = np.array([choices.shares(j).sum(axis=0)[:ROWS] for j in range(ROWS, N)])
        np.testing.assert_allclose(columns, found.T, rtol=1e-9)


def test_nearness_leaves_the_factors_out():
    choices = random_choices("gaussian", "conditional", "rows", 2)
    v = similarities_by_map(choices).sum(axis=0)
    listed = np.arange(N) >= ROWS
    expected = np.where(listed, v[0], 0)
    found = choices.nearness(0, listed).sum(axis=0)
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-9)


@pytest.mark.parametrize("kernel", reference.STORED_KERNELS)
@pytest.mark.parametrize("n_maps", [1, 3])
@pytest.mark.parametrize("normalization", ["conditional", "joint"])
@pytest.mark.parametrize("given", [None, "rows", "columns"])
def test_what_maps_give_to_all_objects_is_what_they_give_to_each(
    kernel, n_maps, normalization, given
):
    choices = random_choices(kernel, normalization, given, n_maps)
    one_by_one = np.array([choices.shares(i).sum(axis=1) for i in range(N)]).T
    np.testing.assert_allclose(
        choices.map_weights, one_by_one / one_by_one.sum(axis=0), rtol=1e-5, atol=1e-12
    )


def test_who_recalls_nothing_is_in_maps_by_proportion():
    model = ChoiceModel("gaussian", "conditional")
    alone = Choices(np.zeros((2, 1, 2)), np.array([[0.3], [0.7]]), model)
    assert alone.map_weights.tolist() == [[0.3], [0.7]]
    assert alone.shares(0).tolist() == [[0.0], [0.0]]
