"""One fit: what it records, when it stops, and that it goes on as if it had never stopped."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import threads
from manymaps.maps.run import Plan, Run, _fading
from manymaps.model.choice import MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.target import conditional_target, joint_target
from manymaps.optimizers.descent import LBFGS, DivergedError, Momentum, State

N, N_MAPS, SEED = 30, 3, 5
SETTINGS = {"n_maps": N_MAPS, "penalty": 0.01, "max_iter": 170, "optimizer": "Momentum()"}


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


def new_run(target=None, optimizer=None, max_iter=170, model=MULTIPLE_MAPS_T_SNE, **changes):
    target = target or random_target()
    n = target.values.shape[0]
    plan = Plan(
        Objective(target, model, 0.01),
        optimizer or Momentum(),
        max_iter,
        tuple(f"word {i}" for i in range(n)),
        "mm-tsne",
        {**SETTINGS, **changes},
    )
    return Run(plan, start(n), SEED)


def finished(run, **options):
    run.optimize(**options)
    if run.failure:
        raise run.failure
    return run


def stop_at(iteration):
    return lambda k, cost, atlas: k == iteration


def interrupt_at(iteration):
    def callback(k, cost, atlas):
        if k == iteration:
            signal.raise_signal(signal.SIGINT)

    return callback


def assert_same_bits(one, other):
    assert one.state.iteration == other.state.iteration
    for a, b in zip(one.state.parameters.arrays, other.state.parameters.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.history == other.history
    assert one.kl == other.kl
    assert one.converged == other.converged


@pytest.fixture(scope="module")
def whole():
    return finished(new_run())


class TestRun:
    def test_records_what_it_costs(self, whole):
        assert whole.history["iteration"] == [*map(float, range(0, 170, 10)), 170.0]
        assert {len(values) for values in whole.history.values()} == {18}
        assert np.isfinite(whole.history["cost"]).all()
        assert whole.history["kl"][-1] < 0.5 * whole.history["kl"][0]

    @pytest.mark.parametrize("make", [conditional_target, joint_target])
    def test_ends_with_a_full_evaluation(self, make):
        target = random_target(make=make)
        model = MULTIPLE_MAPS_T_SNE
        if make is joint_target:
            model = type(model)("cauchy", "joint", "learned")
        fit = finished(new_run(target, model=model))
        (y,), (w,) = (
            [array.astype(float) for array in part]
            for part in (fit.state.parameters.positions, fit.state.parameters.weights)
        )
        cost = reference.cost(target.values.toarray(), model, [(y, w)], 0.01)
        assert fit.history["cost"][-1] == pytest.approx(cost, rel=1e-5)
        per_row = 1 if make is joint_target else target.n_rows_with_mass
        p, side = target.values.toarray(), (y, w)
        log_v = reference.log_similarity("cauchy", side, side)
        log_q = reference.log_choice(log_v, model.normalization)
        assert fit.kl == pytest.approx(reference.kl(p, log_q) / per_row, rel=1e-4)

    def test_active_entries_follow_the_full_cost(self, monkeypatch):
        active = finished(new_run(max_iter=800))
        assert active._masks[0].mean() < 0.9
        monkeypatch.setattr("manymaps.maps.run._ACTIVE", -1.0)
        full = finished(new_run(max_iter=800))
        assert full._masks[0].all()
        assert active.kl == pytest.approx(full.kl, rel=0.05)

    def test_stops_where_the_cost_no_longer_falls(self):
        fit = finished(new_run(random_target(n=5), max_iter=5000))
        assert fit.converged
        assert fit.state.iteration < 5000
        assert not finished(new_run(max_iter=20)).converged

    def test_scipy_says_itself_that_it_converged(self):
        fit = finished(new_run(random_target(n=5), optimizer=LBFGS(), max_iter=2000))
        assert fit.converged
        assert fit.history["iteration"][0] == 1

    def test_same_seed_same_bits_at_any_number_of_threads(self):
        target = random_target(n=300)
        fits = []
        for n in (1, 2):
            with threads(n):
                fits.append(finished(new_run(target, max_iter=160)))
        assert_same_bits(*fits)

    @pytest.mark.parametrize("max_iter", [20, 70])
    def test_divergence_is_told(self, max_iter):
        with pytest.raises(DivergedError, match="lower the learning rate"):
            finished(new_run(optimizer=Momentum(1e30), max_iter=max_iter))

    def test_the_start_may_be_an_end(self, whole):
        """Starting from what a fit left costs no more than it did."""
        fit = Run(new_run(max_iter=1).plan, whole.state.parameters.copy(), SEED)
        fit.optimize()
        assert fit.history["cost"][0] == pytest.approx(whole.history["cost"][-1])


class TestExactSteps:
    def test_are_those_of_the_whole_cost(self):
        fit = new_run(optimizer=Momentum(exact=True, hold_weights=0), max_iter=230)
        finished(fit)
        assert not fit._masks
        state = State(start())

        def evaluate(parameters, iteration):
            lie = fit.plan.optimizer.exaggeration(iteration)
            whole = fit.plan.objective.evaluate(parameters, exaggeration=lie, want_cost=False)
            return whole.cost, whole.gradient

        fit.plan.optimizer.minimize(evaluate, state, 230, lambda state: False)
        for found, true in zip(fit.state.parameters.arrays, state.parameters.arrays, strict=True):
            np.testing.assert_array_equal(found, true)

    def test_are_made_to_the_end(self):
        for exact in (False, True):
            fit = finished(new_run(optimizer=Momentum(exact=exact), max_iter=3000))
            assert fit.converged == (not exact)
            assert (fit.state.iteration == 3000) == exact


class TestCallback:
    @pytest.mark.parametrize("optimizer", [Momentum(), LBFGS()])
    def test_stops_the_run(self, optimizer):
        fit = finished(new_run(optimizer=optimizer), callback=stop_at(3))
        assert fit.state.iteration == 3
        assert not fit.converged
        assert np.isfinite(fit.kl)

    def test_may_look_at_the_atlas_so_far(self):
        atlases = []

        def callback(k, cost, atlas_so_far):
            atlases.append(atlas_so_far())

        finished(new_run(max_iter=2), callback=callback)
        assert [type(atlas) for atlas in atlases] == [Atlas, Atlas]
        assert (atlases[0].maps != atlases[1].maps).any()
        np.testing.assert_allclose(atlases[0].proportions.sum(axis=0), 1, rtol=1e-6)

    def test_its_errors_come_through(self):
        def fail(k, cost, atlas):
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            finished(new_run(), callback=fail)


class TestInterrupt:
    def test_comes_at_once(self):
        with pytest.raises(KeyboardInterrupt):
            finished(new_run(), callback=interrupt_at(8))


class TestAtlas:
    def test_says_what_it_is(self, whole):
        atlas = whole.atlas()
        assert atlas.labels == whole.plan.labels
        assert atlas.model == MULTIPLE_MAPS_T_SNE
        assert atlas.method == "mm-tsne"
        assert atlas.parameters["kl_divergence"] == whole.kl
        assert atlas.history["iteration"].tolist() == whole.history["iteration"]
        assert atlas.log_normalizer is None

    def test_maps_are_centred_on_their_members(self, whole):
        atlas = whole.atlas()
        weights = atlas.proportions / atlas.proportions.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.einsum("mn,mnd->md", weights, atlas.maps), 0, atol=1e-5)

    def test_similarities_are_those_of_the_fit(self, whole):
        (y,), (w,) = (
            [array.astype(float) for array in part]
            for part in (whole.state.parameters.positions, whole.state.parameters.weights)
        )
        log_v = reference.log_similarity("cauchy", (y, w), (y, w))
        q = np.exp(reference.log_choice(log_v, "conditional"))
        atlas = whole.atlas()
        for label in atlas.labels[:5]:
            np.testing.assert_allclose(
                atlas.similarities(label), q[atlas.index(label)], rtol=1e-4, atol=1e-9
            )


def refreshed(fit, iteration):
    """The fit after the refresh of an iteration."""
    parameters = fit.state.parameters
    whole = fit.plan.objective.evaluate(parameters)
    fit._refresh(parameters, whole.shares, iteration)
    return fit


class TestDefaults:
    """The choices that make the default run good: each fails where its mechanism is taken out."""

    def test_a_hub_does_not_throw_gaussian_maps_apart(self, monkeypatch):
        table = np.zeros((301, 301))
        table[1:, 0] = 1.0
        table[0, 1:4] = 1.0
        target = conditional_target(sparse.csr_array(table))
        kept = finished(new_run(target, max_iter=60, model=MULTIPLE_MAPS_SNE))
        assert np.abs(kept.state.parameters.positions[0]).max() < 20
        monkeypatch.setattr("manymaps.optimizers.descent._STIFF", 1e9)
        thrown = new_run(target, max_iter=60, model=MULTIPLE_MAPS_SNE)
        try:
            finished(thrown)
        except DivergedError:
            return
        assert thrown.kl > 10 * kept.kl

    def test_weights_are_held_and_then_learn(self):
        held = finished(new_run(optimizer=Momentum(hold_weights=30), max_iter=30))
        np.testing.assert_array_equal(held.state.parameters.weights[0], start().weights[0])
        free = finished(new_run(optimizer=Momentum(hold_weights=30), max_iter=60))
        assert np.abs(free.state.parameters.weights[0] - start().weights[0]).max() > 1e-3

    def test_of_inactive_proportions_an_eighth_is_left_at_a_refresh(self):
        fit = finished(new_run(max_iter=800))
        before = fit.state.parameters.weights[0].copy()
        fit._evaluate(fit.state.parameters, 800)
        after = fit.state.parameters.weights[0]
        inactive = ~fit._masks[0]
        assert inactive.any()
        np.testing.assert_allclose(after[inactive] - before[inactive], np.log(8), rtol=1e-3)
        np.testing.assert_array_equal(after[~inactive], before[~inactive])

    def test_inactive_entries_are_drawn_in_by_a_penalty_alone(self):
        for penalty, left in [(0.0, 1.0), (0.1, 0.5)]:
            fit = new_run(max_iter=800)
            objective = replace(fit.plan.objective, penalty=penalty)
            fit.plan = replace(fit.plan, objective=objective)
            finished(fit)
            before = fit.state.parameters.positions[0].copy()
            fit._evaluate(fit.state.parameters, 800)
            inactive = ~fit._masks[0]
            assert inactive.any()
            after = fit.state.parameters.positions[0]
            np.testing.assert_array_equal(after[inactive], np.float32(left) * before[inactive])
            np.testing.assert_array_equal(after[~inactive], before[~inactive])

    def test_active_entries_are_chosen_more_often_while_most_leave(self):
        fit = finished(new_run(max_iter=90))
        chosen = []
        for iteration in range(90, 320):
            before = fit._masks
            fit._evaluate(fit.state.parameters, iteration)
            if fit._masks is not before:
                chosen.append(iteration)
        assert chosen == [*range(100, 300, 10), 300]

    def test_proportions_do_not_fade_before_the_maps_have_formed(self):
        fit = finished(new_run(max_iter=800))
        before = fit.state.parameters.weights[0].copy()
        fit._evaluate(fit.state.parameters, 100)
        assert not fit._masks[0].all()
        np.testing.assert_array_equal(fit.state.parameters.weights[0], before)
        fit._evaluate(fit.state.parameters, 150)
        assert (fit.state.parameters.weights[0] > before).any()

    @pytest.mark.parametrize("scale", [1.0, 1000.0])
    def test_convergence_is_relative_to_the_cost(self, scale):
        fit = finished(new_run(max_iter=60))
        fit._last = replace(fit._last, cost=scale)
        for gain, converged in [(0.5e-5, True), (2e-5, False)]:
            fit._cost_at_refresh = scale * (1 + gain)
            refreshed(fit, 10_000)
            assert fit.converged is converged

    def test_convergence_is_looked_at_once_all_has_settled_for_two_refreshes(self):
        fit = finished(new_run(max_iter=60))
        fit._last = replace(fit._last, cost=1.0)
        for early, converged in [(1, False), (0, True)]:
            fit.converged = False
            fit._cost_at_refresh = fit._last.cost
            refreshed(fit, fit.plan.optimizer.settled_at + 100 - early)
            assert fit.converged is converged

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
        run = new_run()
        run.plan = replace(run.plan, objective=replace(run.plan.objective, penalty=penalty))
        weights = run.state.parameters.weights[0]
        weights[:, 0] = -np.log([0.9, 0.05, 0.05])
        shares = np.ones((N_MAPS, N))
        shares[0, 0] = 0
        run._last = run.plan.objective.evaluate(run.state.parameters)
        run._refresh(run.state.parameters, (shares,), 200)
        assert (np.exp(log_softmin(weights))[0, 0] > 0.5) == (penalty == 0)
