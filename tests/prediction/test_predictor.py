"""Maps as a model of association: masked fits, early stopping, scores."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manymaps.affinity.network import spectral_directions
from manymaps.errors import DataError, DataWarning, DivergedError, ParameterError
from manymaps.optimizers import Momentum, Schedule
from manymaps.optimizers.rows import RowDescent
from manymaps.prediction.held_out import split_associations
from manymaps.prediction.predictor import (
    AssociationPredictor,
    predict_associations,
)
from manymaps.progress import Work

N = 60
STILL = RowDescent(learning_rate=1e-9)
UNIFORM = np.log(N - 1)


@pytest.fixture(scope="module")
def norms():
    """Objects on a ring that recall those within three steps, nearer ones more often."""
    steps = np.array([-3, -2, -1, 1, 2, 3])
    rows = np.repeat(np.arange(N), len(steps))
    columns = (rows + np.tile(steps, N)) % N
    strengths = np.tile(1 / np.abs(steps), N)
    return sparse.csr_array((strengths, (rows, columns)), shape=(N, N))


@pytest.fixture(scope="module")
def split(norms):
    return split_associations(norms, random_state=0)


def error(model, part, n_cues=N):
    q = model.probabilities(np.arange(N))
    p = part.toarray()
    at = p > 0
    return (p[at] * np.log(p[at] / q[at])).sum() / n_cues


class TestSpectralStart:
    """Starts along the leading eigenvectors of the training network."""

    def started(self, split, n_maps, d):
        model = AssociationPredictor(
            n_maps, d, init="spectral", distillation=0, max_iter=1, optimizer=STILL, random_state=0
        )
        return model.fit(split.train).maps_

    def test_one_map_lies_along_the_eigenvectors(self, split):
        maps = self.started(split, 1, 5)
        x = spectral_directions(split.train, 5, seed=0)
        np.testing.assert_allclose(maps.positions[0] @ maps.positions[0].T, 4 * x @ x.T, atol=0.2)

    def test_maps_share_the_eigenvectors_by_turns(self, split):
        """Together they hold all of them, and each a random share."""
        maps = self.started(split, 2, 3)
        lengths = np.linalg.norm(maps.positions, axis=2)
        np.testing.assert_allclose(lengths, 2, atol=0.1)
        whole = np.hstack(list(maps.positions))
        x = spectral_directions(split.train, 6, seed=0)
        fitted = x @ np.linalg.lstsq(x, whole, rcond=None)[0]
        assert np.corrcoef(whole.ravel(), fitted.ravel())[0, 1] > 0.9
        one, other = (np.ravel(y @ y.T) for y in maps.positions)
        assert np.corrcoef(one, other)[0, 1] < 0.9

    def test_more_dimensions_than_objects(self, split):
        maps = self.started(split, 3, 40)
        np.testing.assert_allclose(np.linalg.norm(maps.positions, axis=2), 2, atol=0.2)

    def test_popularity_starts_the_biases(self, split):
        biases = self.started(split, 1, 2).biases
        recalled = np.log(np.asarray(split.train.sum(axis=0)).ravel() + 0.01)
        np.testing.assert_allclose(biases, recalled - recalled.mean(), atol=1e-5)

    def test_without_associations_a_word_starts_in_the_middle(self):
        p = sparse.csr_array(np.eye(12, k=1) + np.eye(12, k=-11))
        p = sparse.csr_array(sparse.block_diag([p, sparse.csr_array((3, 3))]))
        for init in ("spectral", "charts"):
            model = AssociationPredictor(
                2, 2, init=init, distillation=0, max_iter=1, optimizer=STILL, random_state=0
            )
            assert np.abs(model.fit(p).maps_.positions[:, 12:]).max() < 0.1


class TestDistillation:
    """Several maps learn of one."""

    def test_a_teacher_is_learned_of_alone_with_a_share_of_one(self, split):
        """Maps come to q of the teacher and know nothing of the training part."""

        class Steps:
            def probabilities(self, rows):
                apart = (np.arange(N) - np.asarray(rows)[:, None]) % N
                q = 0.9 * (apart == 7) + 0.1 * (apart != 0) / (N - 1)
                return q / q.sum(axis=1, keepdims=True)

        teacher = Steps()
        model = AssociationPredictor(
            4, 6, distillation=1, teacher=teacher, penalty=0, max_iter=80, random_state=0
        )
        q = model.fit(split.train).probabilities(np.arange(N))
        target = teacher.probabilities(np.arange(N))
        off = ~np.eye(N, dtype=bool)
        kl = (target[off] * np.log(target[off] / q[off])).sum() / N
        uniform = (target[off] * np.log(target[off] * (N - 1))).sum() / N
        assert kl < 0.3 * uniform
        assert model.teacher_ is teacher

    def test_who_has_a_teacher(self, split):
        """Several maps fitted by passes, and whoever is given one."""

        def fitted(n_maps, **options):
            model = AssociationPredictor(n_maps, 2, max_iter=2, random_state=0, **options)
            return model.fit(split.train).teacher_

        found = fitted(2)
        assert isinstance(found, AssociationPredictor)
        assert (found.n_maps, found.n_components, found.teacher_) == (1, N - 1, None)
        assert fitted(1) is None
        assert fitted(1, teacher=found) is found
        assert fitted(2, teacher=found, distillation=0) is None
        assert fitted(2, optimizer=Momentum()) is None


class TestReportOf2009:
    """L.J.P. van der Maaten & G.E. Hinton, EWI-ICT TR 2009-001."""

    def test_settings(self):
        paper = AssociationPredictor.van_der_maaten_2009(3, 22)
        expected = {
            "n_maps": 3, "n_components": 22,  # table 1
            "kernel": "gaussian",  # eq. 8
            "bias_penalty": None,  # eq. 8 has no factors of popular responses
            "penalty": 0,  # eq. 11 is the cost alone
            "distillation": 0,  # section 5: the maps learn from the training part
            "init": "random",  # section 5
            "max_iter": 2000,  # not in the report
        }  # fmt: skip
        assert expected.items() <= paper.get_params().items()
        steps = paper.optimizer
        assert [steps.exaggeration(k) for k in (0, 249, 250)] == [4, 4, 1]  # section 5
        # The report prints no rate; this one was chosen by validation (maaten_prediction.txt).
        of_maps = replace(
            Momentum.van_der_maaten_2009(), learning_rate=0.02, averaged=False,
            exaggeration=steps.exaggeration, start_spread=None,
        )  # fmt: skip
        assert steps == of_maps

    def test_settings_that_contradict_its_optimizer(self, split):
        paper = AssociationPredictor.van_der_maaten_2009(1, 2).set_params(max_iter=2)
        paper.fit(split.train)
        paper.set_params(penalty=0.1, bias_penalty=0.5)
        with pytest.warns(DataWarning, match=r"predictions: penalty, bias_penalty; use"):
            paper.fit(split.train)
        paper.set_params(penalty=0, bias_penalty=None, optimizer=Momentum.van_der_maaten_2009())
        with pytest.warns(DataWarning, match=r"predictions: optimizer; use"):
            paper.fit(split.train)


class TestFit:
    @pytest.mark.parametrize(
        ("kernel", "n_maps", "bias_penalty", "optimizer", "most"),
        [
            ("gaussian", 1, None, None, 0.7), ("cauchy", 2, None, None, 0.7),
            ("gaussian", 2, 0.5, None, 0.7), ("gaussian", 2, None, Momentum(), 1.0),
            ("gaussian", 2, 0.5, Momentum(), 1.0),
        ],
    )  # fmt: skip
    def test_foresees_what_was_held_out(self, split, kernel, n_maps, bias_penalty, optimizer, most):
        model = AssociationPredictor(
            n_maps, 4, kernel=kernel, penalty=0.02, bias_penalty=bias_penalty, optimizer=optimizer,
            max_iter=400, patience=100, random_state=0,
        )  # fmt: skip
        model.fit(split.train, split.validation)
        uniform = (split.test.data @ (np.log(split.test.data) + UNIFORM)) / N
        assert error(model, split.test) < most * uniform
        assert model.maps_.biases.any() == (bias_penalty is not None)

    def test_probabilities_are_a_distribution_over_the_others(self, split):
        model = AssociationPredictor(2, 4, max_iter=3, bias_penalty=0.5, random_state=0)
        q = model.fit(split.train).probabilities([7, 3, 59])
        assert q.dtype == np.float64
        assert (q > 0).sum() == 3 * (N - 1)
        np.testing.assert_allclose(q.sum(axis=1), 1)
        assert (q[[0, 1, 2], [7, 3, 59]] == 0).all()

    @pytest.mark.parametrize("n_maps", [1, 3])
    def test_history_is_what_the_maps_score(self, split, n_maps):
        model = AssociationPredictor(n_maps, 2, max_iter=5, patience=9, random_state=0)
        model.fit(split.train, split.validation)
        assert model.history_["iteration"].tolist() == [1, 2, 3, 4, 5]
        best = int(np.argmin(model.history_["validation"]))
        for name in ("train", "validation"):
            found = error(model, split.parts[name])
            assert found == pytest.approx(model.history_[name][best], rel=1e-4)

    @pytest.mark.parametrize("optimizer", [RowDescent(learning_rate=0.2), Momentum()])
    def test_stops_early_and_keeps_the_best_state(self, split, optimizer):
        model = AssociationPredictor(
            1, 20, penalty=0.0, optimizer=optimizer, patience=3, max_iter=3000, random_state=0
        )
        model.fit(split.train, split.validation)
        errors, iterations = model.history_["validation"], model.history_["iteration"]
        best = int(np.argmin(errors))
        assert model.n_iter_ < 3000
        assert len(errors) - 4 <= best < len(errors) - 1
        assert model.best_iteration_ == iterations[best]
        assert error(model, split.validation) == pytest.approx(errors[best], rel=1e-4)
        assert errors[-1] > errors[best]

    def test_exaggeration_is_waited_for(self, split):
        optimizer = Momentum(exaggeration=Schedule(((0, 4.0), (60, 1.0))))
        model = AssociationPredictor(
            1, 20, penalty=0.0, optimizer=optimizer, patience=1, random_state=0
        )
        assert model.fit(split.train, split.validation).n_iter_ > 60
        assert (np.diff(model.history_["validation"][:6]) > 0).any()

    def test_same_bits_at_any_number_of_threads(self, split):
        q = [
            AssociationPredictor(2, 9, max_iter=5, random_state=3, n_jobs=n_jobs)
            .fit(split.train, split.validation)
            .probabilities(np.arange(N))
            for n_jobs in (1, 2, 2)
        ]
        assert np.array_equal(q[0], q[1])
        assert np.array_equal(q[1], q[2])

    def test_without_validation_takes_all_iterations_from_the_seed_of_the_fit(self, split):
        model = AssociationPredictor(1, 3, max_iter=7, patience=1, random_state=0)
        first = model.fit(split.train).probabilities([0])
        assert model.n_iter_ == model.best_iteration_ == 7
        assert np.isnan(model.history_["validation"]).all()
        assert not np.array_equal(model.fit(split.train, random_state=1).probabilities([0]), first)
        np.testing.assert_array_equal(
            model.fit(split.train, random_state=0).probabilities([0]), first
        )

    def test_callback_sees_both_errors_and_stops(self, split):
        seen = []

        def watch(iteration, train, validation):
            seen.append((iteration, train, validation))
            return iteration == 3

        model = AssociationPredictor(1, 3, callback=watch, random_state=0)
        model.fit(split.train, split.validation)
        assert [iteration for iteration, _, _ in seen] == [1, 2, 3]
        assert model.n_iter_ == 3
        assert [v for _, _, v in seen] == model.history_["validation"].tolist()

    def test_penalties_hold_parameters_down(self, split):
        sizes = {}
        for strength in (0.01, 3.0):
            model = AssociationPredictor(
                2, 4, penalty=strength, bias_penalty=strength, max_iter=60, random_state=0
            ).fit(split.train)
            sizes[strength] = [np.abs(model.maps_.arrays[k]).mean() for k in (0, 2)]
        assert all(small < large for small, large in zip(sizes[3.0], sizes[0.01], strict=True))

    def test_atlas_gives_the_same_similarities(self, split):
        model = AssociationPredictor(
            2, 3, max_iter=30, penalty=0.05, bias_penalty=None, random_state=0
        )
        atlas = model.fit(split.train, split.validation).atlas_
        shares = atlas.choices.shares(5).sum(axis=0)
        np.testing.assert_allclose(shares, model.probabilities([5])[0], rtol=1e-3, atol=1e-7)
        assert model.atlas([f"word {i}" for i in range(N)]).labels[5] == "word 5"
        assert not atlas.metadata
        model.set_params(bias_penalty=0.5, max_iter=2).fit(split.train)
        np.testing.assert_array_equal(model.atlas_.metadata["bias"], model.maps_.biases)


REFUSALS = [
    (1, lambda s: (s.train, 0 * s.train), DataError), (1, lambda s: (0 * s.train,), DataError),
    (1, lambda s: (4 * s.train,), DataError), (N + 1, lambda s: (s.train,), ParameterError),
    (1, lambda s: (s.train, s.validation[:50, :50]), DataError),
    (1, lambda s: (sparse.csr_array(np.eye(5)),), DataError),
]  # fmt: skip


class TestBadInput:
    def test_refusals(self, split):
        for n_maps, parts, error in REFUSALS:
            with pytest.raises(error):
                AssociationPredictor(n_maps, 2).fit(*parts(split))
        with pytest.raises(ParameterError) as caught:
            AssociationPredictor(2, 2, distillation=0.5, optimizer=Momentum()).fit(split.train)
        assert caught.value.name == "distillation"
        teacher = AssociationPredictor(1, 2, max_iter=1).fit(split.train[:50, :50])
        with pytest.raises(DataError):
            AssociationPredictor(2, 2, teacher=teacher).fit(split.train)

    def test_a_fit_that_diverges_keeps_the_maps_before(self, split):
        paper = AssociationPredictor.van_der_maaten_2009(2, 4)
        fast = replace(paper.optimizer, learning_rate=0.8)
        paper.set_params(optimizer=fast, max_iter=20, random_state=0)
        with pytest.raises(DivergedError):
            paper.fit(split.train, split.validation)
        assert paper.maps_ is not None
        assert np.isfinite(paper.history_["train"]).all()
        model = AssociationPredictor(1, 2, optimizer=RowDescent(learning_rate=1e30), random_state=0)
        for parts in ((split.train, split.validation), (split.train,)):
            with np.errstate(all="ignore"), pytest.raises(DivergedError):
                model.fit(*parts)

    def test_cues_without_training_are_still_foreseen(self):
        star = sparse.csr_array(
            (np.ones(60), (np.arange(1, 61), np.zeros(60, int))), shape=(61, 61)
        )
        split = split_associations(star, random_state=0)
        result = predict_associations(star, 1, 2, split=split, max_iter=20, random_state=0)
        assert len(split.without_training) > 0
        assert np.isfinite([result.train, result.validation, result.test]).all()


class TestScores:
    def test_errors_are_those_of_each_part_by_hand(self, norms):
        """Sum p log(p / q) per cue, and per response as if a part were alone."""
        result = predict_associations(norms, 1, 4, penalty=0.02, max_iter=10, random_state=0)
        q, found = result.predictor.probabilities(np.arange(N)), result.as_dict()
        assert found["n_iterations"] == result.predictor.n_iter_
        assert result.per_word.sum() / N == pytest.approx(result.test)
        for name, part in (("train", "train"), ("valid", "validation"), ("test", "test")):
            pairs = result.split.parts[part].tocoo()
            p = pairs.data
            total = p @ np.log(p / q[pairs.row, pairs.col])
            assert found[name] == pytest.approx(total / N)
            assert result.per_response[name] == pytest.approx(total / p.sum())
        assert sum(result.shares.values()) == pytest.approx(1)


class TestStopping:
    def test_a_plateau_ends_a_fit_whatever_its_sign(self):
        from manymaps.prediction.predictor import _EarlyStopping

        class Maps:
            def __init__(self, log_q):
                self.log_q = log_q

            def log_probabilities(self, part):
                return np.full(part.nnz, self.log_q)

            def copy(self):
                return self

        train, validation = (sparse.csr_array(np.eye(2, k=k) / 2) for k in (1, -1))
        for log_q in (-2.0, 0.0):
            stopping = _EarlyStopping(train, validation, 5, None, Work("iteration"))
            stops = [stopping.see(k, Maps(log_q)) for k in range(10)]
            assert stops.index(True) == 5


def test_noise_depends_on_the_seed():
    """From starts that hardly depend on the seed."""
    ring = sparse.diags_array([0.25] * 4, offsets=[-2, -1, 1, 2], shape=(20, 20)).tocsr()

    def gap(jitter):
        found = (
            AssociationPredictor(
                1, 2, init="spectral", max_iter=3, random_state=seed,
                optimizer=Momentum(jitter=Schedule(((0, jitter),))),
            ).fit(ring).maps_.positions
            for seed in (0, 1)
        )  # fmt: skip
        return np.abs(np.subtract(*found)).max()

    assert gap(0.5) > 0.1 + gap(0.0)
