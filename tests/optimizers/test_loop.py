"""The loop of a fit: what it records, when it stops, and which entries are active and fade."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.compute.threads import threads
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.model.objective import Objective
from manymaps.model.parameters import Entries, Parameters, log_softmin
from manymaps.model.target import conditional_target, joint_target
from manymaps.optimizers import LBFGS, DivergedError, Momentum, loop
from manymaps.optimizers.loop import Start, _fade, _fading, descend
from manymaps.optimizers.momentum import Steps

N, N_MAPS, SEED = 30, 3, 5


def random_target(seed=0, n=N, make=conditional_target):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < 3 / n)
    return make(sparse.csr_array(table))


def start(n=N):
    rng = np.random.default_rng(SEED)
    return Parameters(
        (rng.normal(0, 0.01, (N_MAPS, n, 2)).astype(np.float32),),
        (rng.normal(0, 0.01, (N_MAPS, n)).astype(np.float32),),
    )


def run(
    target=None, optimizer=None, max_iter=170, model=MULTIPLE_MAPS_T_SNE, penalty=0.01, **options
):
    target = target or random_target()
    begin = options.pop("begin", None) or start(target.values.shape[0])
    objective = Objective(target, model, penalty)
    ended = descend(objective, optimizer or Momentum(), Start(begin, SEED), max_iter, **options)
    if ended.failure:
        raise ended.failure
    return ended


def stop_at(iteration):
    return lambda now: now.n_iter == iteration


def assert_same_bits(one, other):
    assert one.n_iter == other.n_iter
    for a, b in zip(one.parameters.arrays, other.parameters.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.history == other.history
    assert one.kl == other.kl
    assert one.converged == other.converged


@pytest.fixture(scope="module")
def whole():
    return run()


class TestDescend:
    def test_records_what_it_costs(self, whole):
        assert whole.history["iteration"] == [*map(float, range(0, 170, 10)), 170.0]
        assert {len(values) for values in whole.history.values()} == {18}
        assert np.isfinite(whole.history["cost"]).all()
        assert whole.history["kl"][-1] < 0.5 * whole.history["kl"][0]
        assert whole.cost == whole.history["cost"][-1]
        assert whole.log_normalizer is None

    @pytest.mark.parametrize("make", [conditional_target, joint_target])
    def test_ends_with_a_full_evaluation(self, make):
        target = random_target(make=make)
        model = MULTIPLE_MAPS_T_SNE
        if make is joint_target:
            model = type(model)("cauchy", "joint", "learned")
        fit = run(target, model=model)
        (y,), (w,) = (
            [array.astype(float) for array in part]
            for part in (fit.parameters.positions, fit.parameters.weights)
        )
        cost = reference.cost(target.values.toarray(), model, [(y, w)], 0.01)
        assert fit.history["cost"][-1] == pytest.approx(cost, rel=1e-5)
        per_row = 1 if make is joint_target else target.n_rows_with_mass
        p, side = target.values.toarray(), (y, w)
        log_v = reference.log_similarity("cauchy", side, side)
        log_q = reference.log_choice(log_v, model.normalization)
        assert fit.kl == pytest.approx(reference.kl(p, log_q) / per_row, rel=1e-4)

    def test_active_entries_follow_the_full_cost(self, monkeypatch):
        masks = []
        monkeypatch.setattr(loop, "Entries", lambda mask: masks.append(mask) or Entries(mask))
        active = run(max_iter=800)
        assert masks[-1].mean() < 0.9
        monkeypatch.setattr(loop, "_ACTIVE", -1.0)
        full = run(max_iter=800)
        assert masks[-1].all()
        assert active.kl == pytest.approx(full.kl, rel=0.05)

    def test_stops_where_the_cost_no_longer_falls(self):
        fit = run(random_target(n=5), max_iter=5000)
        assert fit.converged
        assert fit.n_iter < 5000
        assert not run(max_iter=20).converged

    def test_scipy_says_itself_that_it_converged(self):
        fit = run(random_target(n=5), optimizer=LBFGS(), max_iter=2000)
        assert fit.converged
        assert fit.history["iteration"] == list(range(1, fit.n_iter + 1))

    def test_same_seed_same_bits_at_any_number_of_threads(self):
        target = random_target(n=300)
        fits = []
        for n in (1, 2):
            with threads(n):
                fits.append(run(target, max_iter=160))
        assert_same_bits(*fits)

    @pytest.mark.parametrize("max_iter", [20, 70])
    def test_divergence_is_told(self, max_iter):
        with pytest.raises(DivergedError):
            run(optimizer=Momentum(1e30), max_iter=max_iter)

    def test_the_start_may_be_an_end(self, whole):
        """Starting from what a fit left costs no more than it did, and does not change it."""
        before = whole.parameters.copy()
        fit = run(max_iter=1, begin=whole.parameters)
        assert fit.history["cost"][0] == pytest.approx(whole.history["cost"][-1])
        for a, b in zip(whole.parameters.arrays, before.arrays, strict=True):
            np.testing.assert_array_equal(a, b)


class TestExactSteps:
    def test_are_those_of_the_whole_cost(self):
        optimizer = Momentum(exact=True, hold_weights=0)
        fit = run(optimizer=optimizer, max_iter=230)
        objective, at = Objective(random_target(), MULTIPLE_MAPS_T_SNE, 0.01), start()
        steps = Steps(optimizer, at, SEED)
        for k in range(230):
            whole = objective.evaluate(at, exaggeration=optimizer.exaggeration(k), want_cost=False)
            steps.move(whole.gradient, k)
        for found, true in zip(fit.parameters.arrays, at.arrays, strict=True):
            np.testing.assert_array_equal(found, true)

    def test_are_made_to_the_end(self):
        for exact in (False, True):
            fit = run(optimizer=Momentum(exact=exact), max_iter=3000)
            assert fit.converged == (not exact)
            assert (fit.n_iter == 3000) == exact


class TestCallback:
    @pytest.mark.parametrize("optimizer", [Momentum(), LBFGS()])
    def test_stops_the_run(self, optimizer):
        fit = run(optimizer=optimizer, callback=stop_at(3))
        assert fit.n_iter == 3
        assert not fit.converged
        assert np.isfinite(fit.kl)

    def test_an_interrupt_comes_at_once(self):
        with pytest.raises(KeyboardInterrupt):
            run(callback=lambda now: now.n_iter == 8 and signal.raise_signal(signal.SIGINT))


class TestDefaults:
    """The choices that make the default run good: each fails where its mechanism is taken out."""

    def test_a_hub_does_not_throw_gaussian_maps_apart(self, monkeypatch):
        table = np.zeros((301, 301))
        table[1:, 0] = 1.0
        table[0, 1:4] = 1.0
        target = conditional_target(sparse.csr_array(table))
        kept = run(target, max_iter=60, model=MULTIPLE_MAPS_SNE)
        assert np.abs(kept.parameters.positions[0]).max() < 20
        monkeypatch.setattr("manymaps.optimizers.momentum._STIFF", 1e9)
        try:
            thrown = run(target, max_iter=60, model=MULTIPLE_MAPS_SNE)
        except DivergedError:
            return
        assert thrown.kl > 10 * kept.kl

    @pytest.mark.parametrize(("penalty", "left"), [(0.0, 1.0), (0.1, 0.5)])
    def test_inactive_entries_fade_and_are_drawn_in_by_a_penalty_alone(self, penalty, left):
        """An eighth of the proportion is left, and with a penalty half of the distance."""
        at, mask = start(), np.random.default_rng(0).random((N_MAPS, N)) < 0.5
        _fade(at, (mask,), (np.ones((N_MAPS, N)),), penalty, positions=True)
        np.testing.assert_allclose(
            (at.weights[0] - start().weights[0])[~mask], np.log(8), rtol=1e-3
        )
        np.testing.assert_array_equal(at.weights[0][mask], start().weights[0][mask])
        before = start().positions[0]
        np.testing.assert_array_equal(at.positions[0][~mask], np.float32(left) * before[~mask])
        np.testing.assert_array_equal(at.positions[0][mask], before[mask])

    def test_when_entries_are_chosen_and_fade(self, monkeypatch):
        chosen, faded, iterations = [], [], [0]
        monkeypatch.setattr(
            loop, "Entries", lambda mask: chosen.append(iterations[-1]) or Entries(mask)
        )
        monkeypatch.setattr(
            loop, "_fade", lambda *a, **o: faded.append(iterations[-1]) or _fade(*a, **o)
        )
        run(max_iter=320, callback=lambda now: iterations.append(now.n_iter))
        assert chosen == [0, 50, *range(100, 300, 10), 300]
        assert faded == [150, 200, 250, 300]

    @pytest.mark.parametrize(
        ("scale", "gain", "n_iter"), [(1, 0.5, 351), (1000, 0.5, 351), (1, 2, 400)]
    )
    def test_convergence_is_relative_and_after_all_has_settled(
        self, monkeypatch, scale, gain, n_iter
    ):
        """The schedules settle at 250; the cost is compared at 350, two refreshes later."""
        evaluate, cost = Objective.evaluate, [scale]

        def constant(*arguments, **options):
            cost[0] *= 1 - gain * 1e-5 / 5 if options.get("want_cost", True) else 1
            return replace(evaluate(*arguments, **options), cost=cost[0])

        monkeypatch.setattr(Objective, "evaluate", constant)
        fit = run(max_iter=400)
        assert fit.n_iter == n_iter
        assert fit.converged == (n_iter < 400)

    def test_who_earns_nothing_in_a_map_leaves_it_at_once(self):
        """.9 of the first object in a map that explains none of its pairs; the second earns it."""
        proportions = np.array([[0.9, 0.9], [0.1, 0.1]])
        weights = -np.log(proportions).astype(np.float32)
        shares = np.array([[0.0, 1.8], [2.0, 0.2]])
        added = _fading(weights, np.ones((2, 2), bool), shares, 0.02)
        np.testing.assert_array_equal(added != 0, [[True, False], [False, False]])
        left = np.exp(log_softmin(weights + added))
        assert left[0, 0] < 3e-3
        np.testing.assert_allclose(left[:, 1], [0.9, 0.1], rtol=1e-6)
        # A third of the least proportion that is active, of whatever mass.
        third = np.log(3e-4 / 3)
        assert -(weights + added)[0, 0] == pytest.approx(third, rel=1e-5)
        lighter = _fading(weights, np.ones((2, 2), bool), shares / 8, 0.02)
        np.testing.assert_array_equal(lighter, added)
        # One alone has nothing to earn and stays, but for maps that are not active.
        alone = _fading(weights, np.array([[True, True], [False, True]]), np.zeros((2, 2)), 0.02)
        np.testing.assert_allclose(alone, [[0, 0], [np.log(8), 0]], rtol=1e-6)

    @pytest.mark.parametrize("penalty", [0.0, 0.01])
    def test_unsupported_objects_leave_a_map_under_a_penalty_only(self, penalty):
        """.9 of the first object in a map that explains none of its pairs."""
        at, shares = start(), np.ones((N_MAPS, N))
        at.weights[0][:, 0] = -np.log([0.9, 0.05, 0.05])
        shares[0, 0] = 0
        _fade(at, (np.ones((N_MAPS, N), bool),), (shares,), penalty, positions=True)
        assert (np.exp(log_softmin(at.weights[0]))[0, 0] > 0.5) == (penalty == 0)
