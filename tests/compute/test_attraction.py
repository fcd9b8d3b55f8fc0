"""The sums over stored pairs against their dense twin."""

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.compute.attraction import attraction
from manymaps.compute.similarity import kernel_code
from manymaps.compute.threads import share_out, threads
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Side
from manymaps.model.parameters import Entries, log_softmin
from manymaps.model.target import conditional_target

N_MAPS = 3


def random_case(d=2, n=30, density=0.2, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < density)
    table[3], table[:, 3] = 0, 0
    target = conditional_target(sparse.csr_array(table))
    positions = (spread * rng.normal(size=(N_MAPS, n, d))).astype(np.float32)
    log_pi = log_softmin(rng.normal(size=(N_MAPS, n))).astype(np.float32)
    return target, positions, log_pi, rng.normal(size=n), rng.normal(size=n)


def attract(case, kernel, background=0.0, mask=None, want_cost=True):
    target, positions, log_pi, chooser, chosen = case
    n_maps, n, d = positions.shape
    (pairs,) = target.sides
    active = np.ones((n_maps, n), bool) if mask is None else mask
    entries = Entries(active)
    table = Side.of(positions, log_pi, entries, ChoiceModel(kernel)).table
    pull, share = np.empty((active.sum(), d), np.float32), np.empty(active.sum(), np.float32)
    mass, cost = np.empty(n), np.empty(n)
    share_out(
        attraction, len(pairs.chunks) - 1, (0,) * d, pairs.chunks, pairs.indptr, pairs.indices,
        pairs.forward, pairs.backward, table, table, log_pi, log_pi, *entries.by_object,
        chooser, chosen, chooser, chosen, kernel_code(kernel), background,
        np.log(background / target.n_choices) if background else 0.0, want_cost,
        pull, share, mass, cost,
    )  # fmt: skip
    pulls, shares = np.zeros((n_maps, n, d), np.float32), np.zeros((n_maps, n), np.float32)
    pulls[active], shares[active] = pull, share
    return pulls, shares, mass, cost


def expected(case, kernel, background=0.0):
    target, positions, log_pi, chooser, chosen = case
    return reference.attraction(
        target.values.toarray(), kernel, positions.astype(float), log_pi.astype(float),
        chooser, chosen, background, target.n_choices,
    )  # fmt: skip


def assert_near(result, truth, accuracy=1e-5):
    for got, true in zip(result, truth, strict=True):
        np.testing.assert_allclose(got, true, rtol=accuracy, atol=accuracy * np.abs(true).max())


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize("background", [0.0, 0.3])
class TestAgainstTheDenseSum:
    @pytest.mark.parametrize(
        ("case", "accuracy"),
        [
            *(({"d": d}, 1e-5) for d in (1, 2, 3)), ({"d": 20, "spread": 0.3}, 1e-5),
            ({"spread": 40.0}, 1e-4),  # farther than float32 sees
            ({"n": 200, "density": 0.9}, 1e-5),  # rows longer than a block
        ],
    )  # fmt: skip
    def test_each_sum(self, kernel, background, case, accuracy):
        case = random_case(**case)
        assert_near(attract(case, kernel, background), expected(case, kernel, background), accuracy)

    def test_coinciding_objects(self, kernel, background):
        case = random_case(spread=0.0)
        result = attract(case, kernel, background)
        assert not result[0].any()
        assert_near(result, expected(case, kernel, background))


@pytest.mark.parametrize("kernel", reference.KERNELS)
class TestProperties:
    def test_pull_does_not_need_the_cost(self, kernel):
        case = random_case()
        for got, true in zip(
            attract(case, kernel, want_cost=False)[:3], attract(case, kernel)[:3], strict=True
        ):
            np.testing.assert_array_equal(got, true)

    def test_maps_without_a_part_are_left_out(self, kernel):
        target, positions, log_pi, *factors = random_case()
        log_pi = log_pi.copy()
        log_pi[1] -= 60
        case = target, positions, log_pi, *factors
        mask = np.ones(log_pi.shape, bool)
        mask[1] = False
        pull, *_ = result = attract(case, kernel, mask=mask)
        assert not pull[1].any()
        assert_near(result, expected(case, kernel))

    def test_pair_that_shares_no_active_map_is_summed_over_all(self, kernel):
        """Each of two objects lives where the other does not; their similarity is no zero."""
        table = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]))
        log_pi = np.array([[0, -90, -1], [-90, 0, -1], [-90, -90, -1.4]], np.float32)
        positions = np.random.default_rng(0).normal(size=(3, 3, 2)).astype(np.float32)
        case = conditional_target(table), positions, log_pi, np.zeros(3), np.zeros(3)
        cost = attract(case, kernel, mask=log_pi > -80)[3]
        np.testing.assert_allclose(cost, expected(case, kernel)[3], rtol=1e-5)

    def test_threads_change_no_bit(self, kernel):
        case = random_case(n=200, density=0.5)
        results = []
        for n in (1, 2):
            with threads(n):
                results.append(attract(case, kernel, 0.1))
        for one, two in zip(*results, strict=True):
            np.testing.assert_array_equal(one, two)
