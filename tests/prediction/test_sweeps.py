"""Sweeps: the same results in any order and place, failures, resuming and tables."""

import json

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from scipy import sparse

from lib.models import SpreadingActivation
from manymaps import Associations
from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import Split, split_associations, uniform_errors
from manymaps.prediction.predictor import AssociationPredictor, score_predictor
from manymaps.prediction.sweeps import MEASURES, Point, PointResult, SweepResult, sweep
from sweep_samples import Deadly, Guess, Interrupted, figures, ring

GRID = {"spread": [0.5, 1.0], "other": [0, 1]}


@pytest.fixture(scope="module")
def norms():
    return ring()


class Counting(Guess):
    """Counts its fits, and fails where `other` is 7."""

    fits = 0

    def fit(self, train, *, random_state=None):
        Counting.fits += 1
        if self.other == 7:
            raise FloatingPointError("no luck\nat all")
        return super().fit(train, random_state=random_state)


class Inverted(Guess):
    """Its error is not a number."""

    def probabilities(self, rows):
        return -super().probabilities(rows)


@pytest.fixture
def fits():
    Counting.fits = 0
    return lambda: Counting.fits


class TestPoints:
    def test_maps_have_the_same_bits_in_any_order_and_at_any_number_of_jobs(self, norms):
        grid = {"n_maps": [1, 2], "n_components": [2, 3], "max_iter": 6}
        one = sweep(norms, grid, seeds=2)
        turned = {name: np.ravel(values)[::-1] for name, values in reversed(grid.items())}
        assert figures(sweep(norms, turned, seeds=[1, 0])) == figures(one)
        with joblib.parallel_config("threading"):
            assert figures(sweep(norms, grid, seeds=2, n_jobs=3)) == figures(one)
        assert len({json.dumps(found, sort_keys=True) for found in figures(one).values()}) == 8

    def test_processes_give_the_bits_of_threads(self, norms):
        grid = {"n_maps": 2, "n_components": [2, 3], "max_iter": 5}
        far = sweep(norms, grid, n_jobs=2)
        assert figures(far) == figures(sweep(norms, grid))

    def test_a_point_is_a_plain_fit(self, norms):
        split = split_associations(norms, random_state=3)
        grid = {"n_maps": 2, "n_components": 3, "penalty": 0.5, "max_iter": 8}
        point = sweep(norms, grid, split=split, seeds=[4]).results[0]
        model = AssociationPredictor(2, 3, penalty=0.5, max_iter=8)
        model.fit(split.train, split.validation, random_state=point.point.random_state)
        expected = score_predictor(model, split).as_dict()
        assert point.measures == {name: expected[name] for name in MEASURES}
        assert point.n_iterations == model.n_iter_

    def test_seeds_and_splits_and_settings_have_random_numbers_of_their_own(self):
        states = {
            Point({"n_maps": m}, split, seed).random_state
            for m in (1, 2) for split in (0, 1) for seed in (0, 1)
        }  # fmt: skip
        assert len(states) == 8
        assert Point({"a": 1, "b": 2.0}, 0, 0).random_state == (
            Point({"b": np.int64(2), "a": np.float64(1)}, 0, 0).random_state
        )

    def test_splits_are_drawn_by_their_options_and_numbers(self, norms):
        by_two = sweep(norms, {"spread": 0.0}, n_splits=2, predictor=Guess)
        by_three = sweep(norms, {"spread": 0.0}, n_splits=3, predictor=Guess)
        assert figures(by_two).items() < figures(by_three).items()
        rows = sweep(norms, {"spread": 0.0}, split={"by": "row"}, predictor=Guess)
        assert not figures(rows).items() & figures(by_two).items()

    def test_the_first_split_is_that_of_the_seed(self, norms):
        drawn = sweep(norms, {"spread": 0.0}, split={"random_state": 5}, predictor=Guess)
        given = split_associations(norms, random_state=5)
        other = sweep(norms, {"spread": 0.0}, split=given, predictor=Guess)
        assert figures(drawn) == figures(other)

    def test_other_models_of_meaning_are_swept_over(self, norms):
        found = sweep(norms, {"steps": [2, 3]}, predictor=SpreadingActivation)
        assert not found.failed
        assert found.best()["steps"] in (2, 3)

    def test_the_uniform_model_scores_the_uniform_errors(self, norms):
        split = split_associations(norms, random_state=0)
        found = sweep(norms, {"spread": 0.0}, split=split, predictor=Guess).results[0]
        for name, error in uniform_errors(split).items():
            assert found.measures[name] == pytest.approx(error)


class TestInterruption:
    def test_workers_leave_it_to_the_process_that_waits(self, norms):
        """A terminal sends Ctrl-C to all, and a worker would show a traceback of it."""
        found = sweep(norms, {"spread": [0.5, 1.0, 2.0]}, predictor=Interrupted, n_jobs=2)
        assert not found.failed

    def test_the_process_itself_is_interrupted(self, norms):
        with pytest.raises(KeyboardInterrupt):
            sweep(norms, {"spread": [0.5, 1.0]}, predictor=Interrupted, n_jobs=1)


class TestFailures:
    def test_a_killed_worker_ends_the_sweep_and_the_file_keeps_the_rest(self, norms, tmp_path):
        kept = tmp_path / "sweep.jsonl"
        with pytest.raises(TerminatedWorkerError):
            sweep(norms, {"other": [0, 2, 3, 1]}, predictor=Deadly, n_jobs=2, resume=kept)
        assert len(kept.read_text().splitlines()) == 3

    def test_a_failing_point_is_recorded_and_the_rest_goes_on(self, norms):
        grid = {"n_maps": [0, 1, 41], "n_components": 2, "max_iter": 3}
        found = sweep(norms, grid)
        assert [one.failure is None for one in found.results] == [False, True, False]
        assert found.results[0].failure == "n_maps=0 must be a whole number of at least 1"
        assert "exceeds the number of objects, 40" in found.results[2].failure
        assert found.best()["n_maps"] == 1

    def test_any_exception_is_told_in_a_line(self, norms):
        found = sweep(norms, {"other": [7, 8]}, predictor=Counting)
        assert found.results[0].failure == "FloatingPointError: no luck at all"
        assert found.results[1].failure is None

    def test_errors_that_are_no_numbers_are_failures(self, norms):
        with np.errstate(invalid="ignore"):
            found = sweep(norms, {"spread": 1.0}, predictor=Inverted)
        assert "not numbers" in found.results[0].failure
        with pytest.raises(DataError):
            found.best()


class TestBadInput:
    @pytest.mark.parametrize(
        ("grid", "message"),
        [
            ({}, "the grid is empty"),
            ({"n_maps": []}, r"n_maps=\[\] is empty"),
            ({"n_maps": [1, 2, 1.0]}, "n_maps=1 is duplicated"),
            ({"maps": [1]}, r"'maps'.*n_maps.*n_components"),
            ({"random_state": [1]}, "'random_state'"),
        ],
    )
    def test_impossible_grids(self, norms, grid, message):
        with pytest.raises(ParameterError, match=message):
            sweep(norms, grid)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"seeds": 0}, "seeds=0"),
            ({"seeds": [1, 1]}, "unique seeds"),
            ({"n_splits": 0}, "n_splits=0"),
            ({"split": []}, r"split=\[\] is empty"),
            ({"split": {"by": "word"}}, "by='word'"),
            ({"split": {"random_state": None}}, "random_state=None"),
        ],
    )
    def test_options_out_of_range(self, norms, options, message):
        with pytest.raises(ParameterError, match=message):
            sweep(norms, {"spread": 1.0}, predictor=Guess, **options)

    def test_norms_too_small_to_split(self):
        pair = sparse.csr_array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 0, 0]])
        with pytest.raises(DataError, match="2 pairs cannot be split"):
            sweep(Associations(["a", "b", "c"], pair), {"n_maps": 1})

    def test_validation_without_mass(self, norms):
        whole = split_associations(norms, random_state=0)
        empty = sparse.csr_array(norms.shape)
        split = Split(whole.train, empty, whole.test, whole.n_cues, whole.without_training)
        with pytest.raises(DataError):
            sweep(norms, {"n_maps": 1}, split=[whole, split])

    def test_a_split_of_other_norms(self, norms):
        with pytest.raises(DataError):
            sweep(norms, {"n_maps": 1}, split=split_associations(ring(30), random_state=0))

    def test_words_whose_associations_are_all_in_the_test_part(self, norms):
        p = split_associations(norms, random_state=0)
        whole = sparse.csr_array(p.train + p.validation + p.test)
        tested = sparse.diags_array((np.arange(40) < 3).astype(float))
        test = sparse.csr_array(tested @ whole)
        rest = split_associations(sparse.csr_array(whole - test), random_state=0)
        masked = [sparse.csr_array((part > 0) * whole) for part in (rest.train, rest.validation)]
        masked.append(sparse.csr_array(whole - masked[0] - masked[1]))
        for part in masked:
            part.eliminate_zeros()
        split = Split(*masked, 40, np.arange(3))
        found = sweep(norms, {"n_maps": 1, "n_components": 2, "max_iter": 5}, split=split)
        assert not found.failed
        assert all(map(np.isfinite, found.results[0].measures.values()))


class TestResuming:
    def test_finished_points_are_not_run_again(self, norms, tmp_path, fits):
        kept = tmp_path / "sweep.jsonl"
        first = sweep(norms, GRID, predictor=Counting, resume=kept)
        assert fits() == 4
        seen = []
        again = sweep(
            norms, GRID, predictor=Counting, resume=kept,
            on_result=lambda *told: seen.append(told[1:]),
        )  # fmt: skip
        assert fits() == 4
        assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert again.records() == first.records()

    def test_a_sweep_is_extended_by_values_splits_and_seeds(self, norms, tmp_path, fits):
        kept = tmp_path / "sweep.jsonl"
        sweep(norms, GRID, predictor=Counting, resume=kept)
        wider = GRID | {"spread": [0.5, 1.0, 2.0]}
        found = sweep(norms, wider, predictor=Counting, resume=kept, n_splits=2, seeds=2)
        assert len(found.results) == fits() == 3 * 2 * 2 * 2
        assert figures(found) == figures(sweep(norms, wider, predictor=Guess, n_splits=2, seeds=2))

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_an_interruption_keeps_what_is_done(self, norms, tmp_path, fits, jobs):
        kept = tmp_path / "sweep.jsonl"

        def interrupt(result, n_done, n_points):
            if n_done == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sweep(norms, GRID, predictor=Guess, resume=kept, on_result=interrupt, n_jobs=jobs)
        before = kept.read_text()
        assert len(before.splitlines()) == 2
        found = sweep(norms, GRID, predictor=Guess, resume=kept, n_jobs=jobs)
        after = kept.read_text()
        assert after.startswith(before)
        assert len(after.splitlines()) == 4
        assert figures(found) == figures(sweep(norms, GRID, predictor=Guess))

    def test_a_last_line_that_was_cut_short_is_run_again(self, norms, tmp_path, fits):
        kept = tmp_path / "sweep.jsonl"
        first = sweep(norms, GRID, predictor=Counting, resume=kept)
        whole = kept.read_bytes()
        for cut in (1, 25):
            kept.write_bytes(whole[:-cut])
            again = sweep(norms, GRID, predictor=Counting, resume=kept)
            assert figures(again) == figures(first)
            assert len(kept.read_bytes().splitlines()) == 4
        assert fits() == 4 + 2
        for left in (0, 5, 40):  # of the first line
            kept.write_bytes(whole[:left])
            sweep(norms, GRID, predictor=Guess, resume=kept)
            assert len(kept.read_bytes().splitlines()) == 4

    def test_failed_points_are_tried_again(self, norms, tmp_path, fits, monkeypatch):
        kept = tmp_path / "sweep.jsonl"
        assert sweep(norms, {"other": [7, 8]}, predictor=Counting, resume=kept).failed
        monkeypatch.setattr(Counting, "fit", Guess.fit)
        for _ in range(2):
            assert not sweep(norms, {"other": [7, 8]}, predictor=Counting, resume=kept).failed
        assert fits() == 2
        assert len(kept.read_text().splitlines()) == 2

    def test_a_file_of_another_sweep_is_refused(self, norms, tmp_path):
        kept = tmp_path / "sweep.jsonl"
        sweep(norms, GRID, predictor=Guess, resume=kept)
        before = kept.read_bytes()
        other = sparse.csr_array(norms * norms)
        for changed, message in (
            ((other, {}), "other data"),
            ((norms, {"split": {"by": "row"}}), "other splits"),
            ((norms, {"split": {"random_state": 1}}), "other splits"),
            ((norms, {"split": split_associations(norms, random_state=1)}), "other splits"),
            ((norms, {"predictor": Counting}), "another predictor"),
        ):
            options = {"predictor": Guess} | changed[1]
            with pytest.raises(
                DataError, match=f"sweep.jsonl: this file stores a sweep of {message}"
            ):
                sweep(changed[0], GRID, resume=kept, **options)
        assert kept.read_bytes() == before

    def test_other_files_are_refused_and_left_alone(self, norms, tmp_path):
        kept = tmp_path / "sweep.jsonl"
        sweep(norms, GRID, predictor=Guess, resume=kept)
        first, *rest = kept.read_text().splitlines(keepends=True)
        for text, message in (
            ("cue,response\na,b\n", "line 1: this is not a point of a sweep"),
            ("cue", "this is not a file of a sweep"),
            ('{"format": "atlas"}\n', "line 1: this is not a point of a sweep"),
            ("[]\n", "line 1: this is not a point of a sweep"),
            (first + first[:50] + "\n" + "".join(rest), "line 2: this is not a point"),
            (first + '{"settings": {}}\n', "line 2: this is not a point"),
        ):
            kept.write_text(text)
            with pytest.raises(DataError, match=message):
                sweep(norms, GRID, predictor=Guess, resume=kept)
            assert kept.read_text() == text


def result(measure, split=0, failure=None, **settings):
    """A point all of whose measures are one number; the test error is higher by 1."""
    measures = {} if failure else {**dict.fromkeys(MEASURES, measure), "test": measure + 1}
    return PointResult(Point(settings, split, 0), measures, 10, 2.0, failure)


def swept(*results):
    names = results[0].point.settings
    grid = {n: tuple(sorted({one.point.settings[n] for one in results})) for n in names}
    return SweepResult(grid, results)


class TestTables:
    def test_means_and_spreads(self):
        found = swept(
            result(1.0, 0, n_maps=1), result(3.0, 1, n_maps=1),
            result(1.5, 0, n_maps=2), result(0, 1, "broke", n_maps=2),
            result(0, 0, "broke", n_maps=3), result(0, 1, "broke", n_maps=3),
        ).summary()  # fmt: skip
        assert [record["n_failed"] for record in found] == [0, 1, 2]
        assert [record["n_points"] for record in found] == [2, 2, 2]
        assert (found[0]["valid"], found[0]["test"]) == (2, 3)
        assert found[0]["valid_spread"] == pytest.approx(np.sqrt(2))
        assert (found[1]["valid"], found[1]["valid_spread"]) == (1.5, None)
        assert found[2]["valid"] is None

    def test_the_best_is_chosen_by_validation_among_the_whole(self):
        whole = [result(2.0, k, n_maps=1) for k in (0, 1)]
        broken = [result(1.0, 0, n_maps=2), result(0, 1, "broke", n_maps=2)]
        assert swept(*whole, *broken).best()["n_maps"] == 1
        assert swept(*broken).best()["n_maps"] == 2
        better = [
            PointResult(Point({"n_maps": 5}, k, 0), {**dict.fromkeys(MEASURES, 1.9), "test": 99.0})
            for k in (0, 1)
        ]
        assert swept(*whole, *better).best()["n_maps"] == 5

    def test_frames(self):
        found = swept(
            result(1.0, kernel="cauchy", n_maps=1), result(0, 1, "broke", kernel="g", n_maps=1)
        )
        frame = found.to_frame()
        assert list(frame.columns) == [
            "kernel", "n_maps", "split", "seed", *MEASURES, "n_iterations", "seconds", "failure",
        ]  # fmt: skip
        assert list(map(str, frame["failure"])) == ["None", "broke"]
        assert float(str(frame["valid"][0])) == 1.0

    def test_numbers_are_kept_to_the_last_bit_and_infinity_too(self, norms, tmp_path):
        class Certain(Guess):
            def probabilities(self, rows):
                q = np.zeros((len(rows), 40))
                q[np.arange(len(rows)), (rows + 1) % 40] = 1.0
                return q

        kept = tmp_path / "sweep.jsonl"
        with np.errstate(divide="ignore"):
            found = sweep(norms, {"spread": 1.0}, predictor=Certain, resume=kept)
        assert found.results[0].measures["test"] == np.inf
        assert "Infinity" not in kept.read_text()
        again = sweep(norms, {"spread": 1.0}, predictor=Certain, resume=kept)
        assert again.records() == found.records()
