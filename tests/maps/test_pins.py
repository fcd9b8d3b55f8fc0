"""Pinned objects: not a bit of them moves, and the rest comes to rest around them."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

import manymaps as mm
import reference
from manymaps.errors import DataError, ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.maps.pinned_start import pinned_start, random_start, ties_of
from manymaps.maps.pins import pins_of
from manymaps.maps.run import Plan, Run
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE, T_SNE
from manymaps.model.objective import Objective
from manymaps.model.parameters import Parameters
from manymaps.model.target import conditional_target, joint_target
from manymaps.optimizers.descent import LBFGS
from manymaps.optimizers.schedules import Constant
from objective_samples import similarities_of_maps

MANY = (mm.MultipleMapsTSNE, mm.MultipleMapsSNE, mm.AspectMaps)
ONE = (mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE)
EACH = pytest.mark.parametrize("kind", [*MANY, *ONE], ids=lambda kind: kind.__name__)
N, HELD = 20, 12


def table(n=N):
    return similarities_of_maps(n)


def estimator(kind=mm.TSNE, **settings):
    usual = {"n_maps": 2} if kind in MANY else {}
    return kind(
        **{"affinity": "precomputed", "random_state": 0, "max_iter": 60, **usual, **settings}
    )


def some_atlas(n_maps=1, n=HELD, n_components=2, seed=3, labels=None):
    rng = np.random.default_rng(seed)
    maps = rng.normal(0, 2, (n_maps, n, n_components)).astype(np.float32)
    proportions = rng.dirichlet(np.ones(n_maps), n).T.astype(np.float32)
    model = MULTIPLE_MAPS_T_SNE if n_maps > 1 else T_SNE
    return mm.Atlas(labels or [str(i) for i in range(n)], maps, proportions, model)


def assert_held(atlas, pinned):
    """The objects of one atlas stand in another, bit by bit."""
    at = [atlas.labels.index(label) for label in pinned.labels]
    k = pinned.n_maps
    assert atlas.maps[:k, at].tobytes() == np.ascontiguousarray(pinned.maps).tobytes()
    assert atlas.proportions[:k, at].tobytes() == np.ascontiguousarray(pinned.proportions).tobytes()
    assert not atlas.proportions[k:, at].any()


def has_moved(fit, start):
    return not np.allclose(fit.maps_[:, HELD:], start.maps[:, HELD:], atol=1e-3)


class TestHeld:
    @EACH
    @pytest.mark.parametrize(
        "settings",
        [{}, {"optimizer": LBFGS()}, {"optimizer": mm.ConjugateGradient()}, {"n_init": 2}],
        ids=["default", "LBFGS", "ConjugateGradient", "n_init"],
    )
    def test_no_bit_moves(self, kind, settings):
        pinned = some_atlas(2 if kind in MANY else 1)
        seen = []
        fit = estimator(
            kind, pin=pinned, callback=lambda k, cost, so_far: seen.append(so_far()), **settings
        ).fit(table())
        assert len(seen) > 3
        for atlas in (*seen[::3], seen[-1], fit.atlas_):
            assert_held(atlas, pinned)
        assert has_moved(fit, seen[0])
        assert fit.atlas_.metadata["pinned"].tolist() == [True] * HELD + [False] * (N - HELD)

    @pytest.mark.parametrize("jitter", [0.0, 0.5])
    def test_the_run_itself_holds_them(self, jitter):
        """They are not merely put back at the end: fading, noise and gains leave them alone."""
        target = conditional_target(sparse.csr_array(table()))
        small = np.tile(np.array([[1 - 1e-4], [1e-4]], np.float32), HELD)
        pinned = replace(some_atlas(2), proportions=small)
        pins = pins_of(pinned, [str(i) for i in range(N)], 3, 2)
        rng = np.random.default_rng(0)
        start = pins.placed(rng.normal(size=(3, N, 2)), rng.normal(size=(3, N)))
        start = Parameters(*((part.astype(np.float32),) for part in start))
        plan = Plan(
            Objective(target, MULTIPLE_MAPS_T_SNE, 0.01),
            mm.Momentum(jitter=Constant(jitter), exaggeration=Constant(4.0)), 260,
            tuple(map(str, range(N))), "mm-tsne", {}, pins=pins,
        )  # fmt: skip
        fit = Run(plan, start.copy(), 0)
        fit.optimize()
        end = fit.state.parameters.arrays
        for before, after, held in zip(start.arrays, end, pins.held, strict=True):
            assert before[held].tobytes() == after[held].tobytes()
            assert (before[~held] != after[~held]).all()
        # What does not fade is left out of the sums only where it is next to nothing.
        assert fit.state.memory["active"][0][:, :HELD].all(axis=1).tolist() == [True, True, False]

    def test_of_many_objects_which_stand_in_another_order_during_the_fit(self):
        n = 2_001
        ring = sparse.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n))
        order = np.random.default_rng(0).permutation(n)
        labels = [f"w{i}" for i in order]
        norms = mm.Associations(labels, sparse.csr_array(sparse.csr_array(ring)[order][:, order]))
        pinned = some_atlas(n=300, labels=[f"w{i}" for i in range(300)])
        seen = []
        fit = mm.TSNE(
            pin=pinned, max_iter=5, random_state=0, init="random",
            callback=lambda k, cost, so_far: seen.append(so_far()),
        ).fit(norms)  # fmt: skip
        assert_held(fit.atlas_, pinned)
        moved = (seen[0].maps[0] != fit.embedding_).any(axis=1)
        np.testing.assert_array_equal(moved, ~fit.atlas_.metadata["pinned"])

    @pytest.mark.parametrize("mixing", ["learned", "fixed"])
    @pytest.mark.parametrize("divergence", ["forward", "inverse"])
    def test_under_every_model(self, mixing, divergence):
        pinned = some_atlas(2)
        for normalization in ("conditional", "joint"):
            fit = estimator(
                mm.MultipleMapsTSNE, pin=pinned, mixing=mixing, divergence=divergence,
                normalization=normalization,
            ).fit(table())  # fmt: skip
            assert_held(fit.atlas_, pinned)

    def test_where_cells_are_missing(self):
        gaps = table()
        gaps[3, 15] = gaps[15, 3] = gaps[14, 16] = gaps[16, 14] = np.nan
        pinned = some_atlas(2)
        assert_held(estimator(mm.MultipleMapsTSNE, pin=pinned).fit(gaps).atlas_, pinned)

    def test_keep_their_numbers_and_leave_further_maps_to_the_others(self):
        """A fit of its own numbers its maps by likeness."""
        pinned = some_atlas(3)
        turned = pinned.renumbered([2, 0, 1])
        for atlas in (pinned, turned):
            fit = estimator(mm.MultipleMapsTSNE, n_maps=5, pin=atlas, max_iter=200).fit(table())
            assert_held(fit.atlas_, atlas)
            assert fit.proportions_[3:, HELD:].max() > 0.1

    def test_a_clone_has_the_same_pins(self):
        fit = estimator(pin=some_atlas())
        assert clone(fit).pin == fit.pin

    def test_without_pins_an_atlas_says_nothing_of_them(self):
        atlas = estimator(max_iter=3).fit(table()).atlas_
        assert "pin" not in atlas.parameters
        assert "pinned" not in atlas.metadata


class TestGoingOn:
    def test_an_interrupted_run_goes_on_to_the_same_bits(self, tmp_path):
        def interrupt(k, cost, atlas):
            if k == 30:
                signal.raise_signal(signal.SIGINT)

        pinned, state = some_atlas(2), str(tmp_path / "state")
        whole = estimator(mm.MultipleMapsTSNE, pin=pinned).fit(table())
        with pytest.raises(KeyboardInterrupt):
            estimator(mm.MultipleMapsTSNE, pin=pinned, callback=interrupt).fit(
                table(), checkpoint=state
            )
        resumed = estimator(mm.MultipleMapsTSNE, pin=pinned).fit(table(), resume=state)
        assert_held(resumed.atlas_, pinned)
        assert resumed.maps_.tobytes() == whole.maps_.tobytes()
        assert resumed.proportions_.tobytes() == whole.proportions_.tobytes()

    def test_a_checkpoint_with_other_pins_is_refused(self, tmp_path):
        state = str(tmp_path / "state")
        estimator(pin=some_atlas(), max_iter=5).fit(table(), checkpoint=state)
        estimator(pin=some_atlas(), max_iter=6).fit(table(), resume=state)
        for other in (some_atlas(seed=4), some_atlas(n=11), None):
            with pytest.raises(DataError, match="this checkpoint was made with pin="):
                estimator(pin=other, max_iter=6).fit(table(), resume=state)


def twin(kind, similarities):
    """The cost of an estimator as a function of positions and weights, in dense float64."""
    fit = estimator(kind)
    model = fit._model()
    make = joint_target if model.normalization == "joint" else conditional_target
    p = make(sparse.csr_array(similarities)).values.toarray()
    return lambda y, w: reference.cost(p, model, [(y, w)], fit.penalty)


class TestOptimum:
    @pytest.mark.parametrize(
        "kind",
        [mm.TSNE, mm.SNE, mm.UniSNE, mm.MultipleMapsTSNE, mm.AspectMaps],
        ids=lambda kind: kind.__name__,
    )
    def test_the_free_come_to_rest_given_the_pins(self, kind):
        """No descent of the dense cost over what is free gains anything."""
        n, held, n_maps = 12, 7, 2 if kind in MANY else 1
        pinned = some_atlas(n_maps, held)
        fit = estimator(kind, pin=pinned, optimizer=LBFGS(), tolerance=0, max_iter=2000)
        fit.fit(table(n))
        cost = twin(kind, table(n))
        y = fit.maps_.astype(np.float64)
        w = -np.log(np.maximum(fit.proportions_.astype(np.float64), 1e-12))
        shape = (n_maps, n - held)

        def of_free(vector):
            y[:, held:] = vector[: 2 * n_maps * shape[1]].reshape(*shape, 2)
            w[:, held:] = vector[2 * n_maps * shape[1] :].reshape(shape)
            return cost(y, w)

        end = np.concatenate([y[:, held:].ravel(), w[:, held:].ravel()])
        reached = of_free(end)
        best = minimize(of_free, end)
        assert reached - best.fun < 1e-4 * reached
        steps = 1e-4 * np.eye(len(end))
        slopes = [(of_free(end + step) - of_free(end - step)) / 2e-4 for step in steps]
        assert np.abs(slopes).max() < 5e-3
        # From anywhere else the same descent starts higher, so that the bound above says something.
        assert of_free(end + 0.3) > reached + 0.01

    @pytest.mark.parametrize(
        "kind", [mm.TSNE, mm.SNE, mm.MultipleMapsTSNE], ids=lambda kind: kind.__name__
    )
    def test_one_free_object_stands_where_brute_force_puts_it(self, kind):
        similarities = table()
        settings = {"n_maps": 1} if kind in MANY else {}
        whole = estimator(kind, max_iter=500, **settings).fit(similarities).atlas_
        cost = twin(kind, similarities)
        y, w = whole.maps.astype(np.float64), np.zeros((1, N))
        for free in (4, 11):
            others = np.arange(N) != free
            fit = estimator(kind, pin=whole.subset(others), max_iter=800, **settings)
            found = fit.fit(similarities).maps_[0, free]
            low, high = whole.maps[0].min(axis=0) - 1, whole.maps[0].max(axis=0) + 1
            grid = [np.linspace(*ends, 41) for ends in zip(low, high, strict=True)]
            places = np.stack(np.meshgrid(*grid), -1).reshape(-1, 2)

            def at(place, free=free):
                return cost(np.where(np.arange(N)[:, None] == free, place, y), w)

            costs = [at(place) for place in places]
            best = minimize(at, places[int(np.argmin(costs))], method="Nelder-Mead").x
            np.testing.assert_allclose(found, best, atol=0.03)
            assert at(found) < np.quantile(costs, 0.01)

    @pytest.mark.parametrize("kind", [mm.TSNE, mm.MultipleMapsTSNE], ids=lambda kind: kind.__name__)
    def test_objects_taken_from_a_fit_find_back(self, kind):
        """From beside their partners they end as low as the fit that had them all."""
        whole = estimator(kind, max_iter=600).fit(table(30))
        kept = whole.atlas_.subset(np.arange(20))
        again = estimator(kind, max_iter=600, pin=kept).fit(table(30))
        assert again.kl_divergence_ < 1.05 * whole.kl_divergence_ + 0.005
        worse = estimator(kind, max_iter=1, pin=kept, init="random").fit(table(30))
        assert worse.kl_divergence_ > 1.2 * whole.kl_divergence_ + 0.05


class TestStart:
    def test_stands_beside_the_partners_wave_by_wave(self):
        chain = sparse.csr_array(np.diag(np.ones(6), 1) + np.diag(np.ones(6), -1))
        pins = pins_of({"0": [0.0, 1.0], "6": [6.0, 1.0]}, list("0123456"), 1, 2)
        positions, _ = pinned_start(chain, pins, 0.0, np.random.default_rng(0))
        x = positions[0, 1:6, 0]
        assert (np.diff([0, *x, 6]) > 0).all()
        assert (positions[0, 1:6, 1] == 1).all()

    def test_of_strangers_lies_inside_the_extent_of_the_pins_and_together(self):
        blocks = sparse.csr_array(np.kron(np.eye(10), 1 - np.eye(3)))
        rng = np.random.default_rng(0)
        given = np.full((30, 2), np.nan)
        given[:6] = rng.normal([100, -50], [3, 1], (6, 2))
        pins = pins_of(given, [str(i) for i in range(30)], 1, 2)
        for start in (
            pinned_start(blocks, pins, 1e-3, rng)[0],
            random_start(pins, 1e-3, rng)[0],
        ):
            free = start[0, 6:]
            assert np.abs(free - given[:6].mean(axis=0)).max() < 4 * given[:6].std(axis=0).max()
            assert free.std(axis=0).min() > 0.3 * given[:6].std(axis=0).min()
        groups = pinned_start(blocks, pins, 1e-3, rng)[0][0, 6:].reshape(8, 3, 2)
        assert groups.std(axis=1).max() < 0.01 < groups.mean(axis=1).std(axis=0).min()

    def test_proportions_are_those_of_the_partners(self):
        ties = ties_of(sparse.csr_array(np.array([[0, 0, 3.0], [0, 0, 1.0], [0, 0, 0]])))
        pinned = replace(some_atlas(2, 2), proportions=np.array([[1, 0.0], [0, 1]], np.float32))
        _, proportions = pinned_start(
            ties, pins_of(pinned, list("012"), 2, 2), 0.0, np.random.default_rng(0)
        )
        np.testing.assert_allclose(proportions[:, 2], np.array([0.77, 0.27]) / 1.04)
        _, proportions = pinned_start(
            ties, pins_of(pinned, list("012"), 4, 2), 0.0, np.random.default_rng(0)
        )
        # Half to the two maps that no pin is in, and a little of everything.
        np.testing.assert_allclose(proportions[:, 2], np.array([0.395, 0.145, 0.27, 0.27]) / 1.08)

    def test_given_by_an_array_or_an_atlas_is_that_of_the_free(self):
        start = np.random.default_rng(1).normal(0, 3, (N, 2)).astype(np.float32)
        pinned = some_atlas()
        whole = mm.Atlas([str(i) for i in range(N)], start[None], np.ones((1, N)), T_SNE)
        for init in (start, whole):
            fit = estimator(pin=pinned, init=init, max_iter=1, learning_rate=1e-9).fit(table())
            assert_held(fit.atlas_, pinned)
            np.testing.assert_allclose(fit.maps_[0, HELD:], start[HELD:], atol=1e-5)

    @pytest.mark.parametrize("kind", [mm.TSNE, mm.MultipleMapsTSNE])
    def test_of_other_axes_is_refused(self, kind):
        init = "pca" if kind is mm.TSNE else "personas"
        with pytest.raises(ParameterError, match=f"init='{init}' defines its own axes"):
            estimator(kind, pin=some_atlas(), init=init).fit(table())

    def test_at_random_differs_between_runs(self):
        fit = estimator(pin=some_atlas(), n_init=3, max_iter=80).fit(table())
        assert len({one.cost for one in fit.restarts_}) == 3
        alone = estimator(
            pin=some_atlas(), random_state=fit.restarts_[1].seed, init="random", max_iter=80
        ).fit(table())
        assert alone.history_["cost"][-1] == fit.restarts_[1].cost


class TestGiven:
    def test_as_a_mapping(self):
        places = {"3": (1.5, -2.0), "7": np.array([0.1, 0.2])}
        fit = estimator(pin=places).fit(table())
        for label, place in places.items():
            assert fit.embedding_[int(label)].tolist() == np.float32(place).tolist()
        assert np.flatnonzero(fit.atlas_.metadata["pinned"]).tolist() == [3, 7]

    def test_as_an_array_with_free_places(self):
        given = np.full((N, 2), np.nan)
        given[[2, 5]] = [[1, 2], [3, 4]]
        fit = estimator(pin=given).fit(table())
        assert fit.embedding_[[2, 5]].tolist() == [[1, 2], [3, 4]]
        labelled = estimator(pin={"2": [1, 2], "5": [3, 4]}).fit(table())
        assert fit.maps_.tobytes() == labelled.maps_.tobytes()

    def test_an_axis_alone(self):
        """Years from left to right, and whatever the similarities say up and down."""
        given = np.full((N, 2), np.nan)
        given[:, 0] = np.linspace(-5, 5, N)
        fit = estimator(pin=given, max_iter=200).fit(table())
        assert fit.embedding_[:, 0].tolist() == given[:, 0].astype(np.float32).tolist()
        assert fit.embedding_[:, 1].std() > 0.1
        # The free axis is centred, the held one is not.
        assert abs(fit.embedding_[:, 1].mean()) < 1e-4
        shifted = estimator(pin=given + 3, max_iter=5).fit(table())
        assert shifted.embedding_[0, 0] == -2

    def test_of_one_map_leaves_the_place_in_others_and_the_proportions_free(self):
        here = np.full((2, 2), np.nan)
        here[1] = 4.0, 5.0
        fit = estimator(mm.MultipleMapsTSNE, pin={"6": here}, max_iter=100).fit(table())
        assert fit.maps_[1, 6].tolist() == [4.0, 5.0]
        assert 0 < fit.proportions_[0, 6] != 0.5
        assert fit.maps_[0, 6].tolist() != [4.0, 5.0]

    def test_of_every_place_leaves_the_proportions_to_be_fitted(self):
        places = some_atlas(2, N).maps
        fit = estimator(mm.MultipleMapsTSNE, pin=places, max_iter=150).fit(table())
        assert fit.maps_.tobytes() == places.tobytes()
        assert fit.proportions_.std() > 0.1

    def test_by_label_whatever_the_order_and_whoever_else_is_in_the_atlas(self):
        labels = [f"w{i}" for i in range(N)]
        pinned = some_atlas(labels=[f"w{i}" for i in (3, 99, 1, 98, 5, 7, 0, 97, 2, 4, 6, 8)])
        fit = estimator(pin=pinned).fit(mm.Associations(labels, sparse.csr_array(table())))
        known = pinned.subset([i for i, label in enumerate(pinned.labels) if label in labels])
        assert_held(fit.atlas_, known)
        assert fit.atlas_.metadata["pinned"].sum() == 9

    @pytest.mark.parametrize(
        ("pin", "settings", "message"),
        [
            (some_atlas(labels=list("abcdefghijkl")), {}, "none of the 12 pinned objects"),
            (some_atlas(n=N), {}, "all of the 20 objects are pinned"),
            (some_atlas(n_components=3), {}, "3 dimensions.*n_components=3"),
            (some_atlas(2), {}, "2 maps, but the fit has 1; .* n_maps=2"),
            (some_atlas(labels=["1"] * HELD), {}, "several pinned objects are labelled '1'"),
            (np.full((N, 2), np.nan), {}, "the pins fix nothing"),
            ({}, {}, "the pins fix nothing"),
            (np.zeros((N, 3)), {}, r"pin has shape \(20, 3\); expected \(1, 20, 2\)"),
            (np.zeros((HELD, 2)), {}, r"pin has shape \(12, 2\)"),
            ({"3": [1.0]}, {}, r"the pin of '3' has shape \(1,\); expected \(2,\)"),
            ({"3": "here"}, {}, "the pin of '3' is not a position"),
            ({"3": [np.inf, 0]}, {}, "the pins are up to inf from the origin"),
            ({"3": [1e200, 0]}, {}, "the pins are up to inf from the origin"),
            ({"3": [1e17 * 1.1, 0]}, {}, "the pins are up to 1.1e.17 from the origin"),
            ("old.atlas", {}, "pin='old.atlas' must be an Atlas, a mapping of labels"),
            (7, {}, "pin=7 must be"),
            ({"3": [1, 2]}, {"kind": mm.MultipleMapsTSNE}, r"expected \(2, 2\), with NaN"),
        ],
    )
    def test_faulty_pins_are_refused(self, pin, settings, message):
        with pytest.raises((DataError, ParameterError), match=message):
            estimator(pin=pin, **settings).fit(table())

    def test_an_unknown_label_is_refused_and_another_suggested(self):
        norms = mm.Associations([f"word{i}" for i in range(N)], sparse.csr_array(table()))
        with pytest.raises(UnknownLabelError, match="did you mean 'word1"):
            estimator(pin={"wodr19": [0, 0]}).fit(norms)


def counts(n_rows=9, n_columns=12, seed=0):
    values = np.random.default_rng(seed).poisson(3, (n_rows, n_columns)) + 1.0
    return mm.Counts(
        values, [f"doc {i}" for i in range(n_rows)], [f"word {i}" for i in range(n_columns)],
        kinds=("document", "word"),
    )  # fmt: skip


class TestTwoKinds:
    @pytest.mark.parametrize(
        "settings",
        [
            {}, {"given": "columns"}, {"normalization": "joint"}, {"n_maps": 2},
            {"init": "random", "n_init": 2}, {"optimizer": mm.Momentum(0.01)},
        ],
    )  # fmt: skip
    def test_rows_and_columns_are_held(self, settings):
        settings = {"random_state": 0, "max_iter": 40, **settings}
        whole = mm.CODE(**settings).fit(counts()).atlas_
        words = whole.subset(whole.of_kind("word"))
        some = whole.subset([0, 3, 4, 9, 12, 20])
        for pinned in (words, some):
            fit = mm.CODE(**settings, pin=pinned).fit(counts())
            assert_held(fit.atlas_, pinned)
            assert fit.atlas_.metadata["pinned"].sum() == pinned.n_objects
            assert set(fit.atlas_.metadata) == {"pinned", *whole.metadata}
            assert abs(fit.kl_divergence_ - mm.CODE(**settings).fit(counts()).kl_divergence_) < 0.05

    def test_as_many_rows_as_columns_are_still_of_two_kinds(self):
        square = counts(9, 9)
        fit = mm.CODE(max_iter=5, pin={"doc 0": [1.0, -2.0]}).fit(square)
        np.testing.assert_array_equal(fit.atlas_.maps[0, 0], np.float32([1, -2]))

    def test_documents_around_held_words_stand_where_each_alone_is_best(self):
        """Of the conditional model the place of a row among given columns is a concave problem."""
        settings = {"penalty": 0, "random_state": 0, "tolerance": 0}
        whole = mm.CODE(**settings).fit(counts())
        words = whole.atlas_.subset(whole.atlas_.of_kind("word"))
        others = counts(seed=5)
        fit = mm.CODE(**settings, pin=words).fit(others)
        y = words.maps[0].astype(np.float64)

        def loss(place, shares):
            logs = np.log(others.column_totals / others.n_counts) - ((place - y) ** 2).sum(axis=1)
            return -shares @ (logs - np.logaddexp.reduce(logs))

        for row in range(9):
            shares = others.values.toarray()[row] / others.row_totals[row]
            best = minimize(loss, np.zeros(2), args=(shares,)).x
            np.testing.assert_allclose(fit.row_embedding_[row], best, atol=0.02)

    def test_a_mapping_may_say_which_kind(self):
        shared = replace(counts(), row_labels=[f"word {i}" for i in range(9)])
        places = {("word 3", "word"): [1.0, 2.0], "word 4": [0.5, 0.5]}
        fit = mm.CODE(random_state=0, max_iter=5, pin=places).fit(shared)
        assert fit.column_embedding_[3].tolist() == [1.0, 2.0]
        assert fit.row_embedding_[4].tolist() == [0.5, 0.5]

    @pytest.mark.parametrize(
        ("pin", "settings", "message"),
        [
            (some_atlas(), {}, "none of the 12 pinned objects"),
            (np.zeros((21, 2)), {}, "pin=.* must be an Atlas, or a mapping|must be an Atlas, a"),
            ({"doc 1": [0, 0]}, {"init": "ca"}, "init='ca' cannot be combined with pin"),
        ],
    )
    def test_faulty_pins_are_refused(self, pin, settings, message):
        with pytest.raises((DataError, ParameterError), match=message):
            mm.CODE(random_state=0, pin=pin, **settings).fit(counts())

    def test_labels_of_both_kinds_are_ambiguous(self):
        shared = replace(counts(), row_labels=[f"word {i}" for i in range(9)])
        with pytest.raises(DataError, match="several fitted objects are labelled 'word 0'"):
            mm.CODE(pin=some_atlas(labels=[f"word {i}" for i in range(HELD)])).fit(shared)

    def test_two_kinds_are_none_in_a_fit_of_one(self):
        whole = mm.CODE(random_state=0, max_iter=3).fit(counts()).atlas_
        with pytest.raises(DataError, match="the pins contain documents and words"):
            estimator(pin=whole).fit(table())
