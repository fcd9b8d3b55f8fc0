"""Sweeps: the same results in any order and place, failures, and continuing from a file."""

import joblib
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from scipy import sparse

from manymaps.errors import DataError, ParameterError
from manymaps.prediction.held_out import split_associations, uniform_errors
from manymaps.prediction.predictor import AssociationPredictor, score_predictor
from manymaps.prediction.sweeps import sweep
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
            raise DataError("no luck")
        return super().fit(train, random_state=random_state)


@pytest.fixture
def fits():
    Counting.fits = 0
    return lambda: Counting.fits


class TestPoints:
    def test_maps_have_the_same_bits_in_any_order_and_at_any_number_of_jobs(self, norms):
        grid = {"n_maps": [1, 2], "n_components": [2, 3], "max_iter": 6}
        one = sweep(norms, grid, seeds=2)
        turned = {name: np.ravel(values)[::-1] for name, values in reversed(grid.items())}
        assert figures(sweep(norms, turned, seeds=2)) == figures(one)
        with joblib.parallel_config("threading"):
            assert figures(sweep(norms, grid, seeds=2, n_jobs=3)) == figures(one)
        assert one["test"].nunique() == 8

    def test_a_point_is_a_plain_fit(self, norms):
        split = split_associations(norms, random_state=3)
        grid = {"n_maps": 2, "n_components": 3, "penalty": 0.5, "max_iter": 8}
        row = sweep(norms, grid, splits=[split], seeds=2).iloc[1]
        model = AssociationPredictor(2, 3, penalty=0.5, max_iter=8)
        model.fit(split.train, split.validation, random_state=1)
        expected = score_predictor(model, split).as_dict()
        del expected["seconds"]
        assert row[list(expected)].to_dict() == expected
        assert [*grid, "split", "seed"] == list(row.index[:6])

    def test_the_uniform_model_scores_the_uniform_errors(self, norms):
        split = split_associations(norms, random_state=0)
        row = sweep(norms, {"spread": 0.0}, splits=[split], predictor=Guess).iloc[0]
        for name, error in uniform_errors(split).items():
            assert row[name] == pytest.approx(error)


class TestInterruption:
    @pytest.mark.slow
    def test_workers_leave_it_to_the_process_that_waits(self, norms):
        """A terminal sends Ctrl-C to all, and a worker would show a traceback of it."""
        table = sweep(norms, {"spread": [0.5, 1.0, 2.0]}, predictor=Interrupted, n_jobs=2)
        assert table["failure"].isna().all()

    def test_the_process_itself_is_interrupted(self, norms):
        with pytest.raises(KeyboardInterrupt):
            sweep(norms, {"spread": [0.5, 1.0]}, predictor=Interrupted, n_jobs=1)


class TestFailures:
    @pytest.mark.slow
    def test_a_killed_worker_ends_the_sweep_and_the_file_keeps_the_rest(self, norms, tmp_path):
        path = tmp_path / "sweep.jsonl"
        with pytest.raises(TerminatedWorkerError):
            sweep(norms, {"other": [0, 2, 3, 1]}, predictor=Deadly, n_jobs=2, resume=path)
        assert len(path.read_text().splitlines()) == 3

    def test_a_failing_point_is_recorded_and_the_rest_goes_on(self, norms):
        table = sweep(norms, {"n_maps": [0, 1, 41], "n_components": 2, "max_iter": 3})
        assert table["failure"].isna().tolist() == [False, True, False]
        assert table["valid"].isna().tolist() == [True, False, True]


class TestResuming:
    def test_a_sweep_is_extended_by_values_splits_and_seeds(self, norms, tmp_path, fits):
        path = tmp_path / "sweep.jsonl"
        sweep(norms, GRID, predictor=Counting, resume=path)
        wider = GRID | {"spread": [0.5, 1.0, 2.0]}
        table = sweep(norms, wider, predictor=Counting, resume=path, splits=2, seeds=2)
        assert len(table) == fits() == 3 * 2 * 2 * 2
        by_hand = [split_associations(norms, random_state=k) for k in range(2)]
        whole = sweep(norms, wider, predictor=Guess, splits=by_hand, seeds=2)
        assert figures(table) == figures(whole)
        again = sweep(norms, wider, predictor=Counting, resume=path, splits=2, seeds=2)
        assert again.equals(table)
        assert fits() == len(table)

    def test_other_data_splits_and_predictors_are_run(self, norms, tmp_path, fits):
        path = tmp_path / "sweep.jsonl"
        sweep(norms, GRID, predictor=Guess, resume=path)
        sweep(norms, GRID, predictor=Counting, resume=path)
        assert fits() == 4
        sweep(sparse.csr_array(norms * norms), GRID, predictor=Counting, resume=path)
        assert fits() == 8
        by_row = [split_associations(norms, by="row", random_state=0)]
        sweep(norms, GRID, splits=by_row, predictor=Counting, resume=path)
        assert fits() == 12

    def test_failed_points_are_tried_again(self, norms, tmp_path, fits, monkeypatch):
        path = tmp_path / "sweep.jsonl"
        table = sweep(norms, {"other": [7, 8]}, predictor=Counting, resume=path)
        assert table["failure"].tolist() == ["no luck", None]
        monkeypatch.setattr(Counting, "fit", Guess.fit)
        for _ in range(2):
            table = sweep(norms, {"other": [7, 8]}, predictor=Counting, resume=path)
            assert table["failure"].isna().all()
        assert len(path.read_text().splitlines()) == 2

    def test_a_last_line_that_was_cut_short_is_run_again(self, norms, tmp_path, fits):
        path = tmp_path / "sweep.jsonl"
        first = sweep(norms, GRID, predictor=Counting, resume=path)
        path.write_bytes(path.read_bytes()[:-25])
        assert figures(sweep(norms, GRID, predictor=Counting, resume=path)) == figures(first)
        assert fits() == 4 + 1

    def test_other_files_are_refused_and_left_alone(self, norms, tmp_path):
        path = tmp_path / "sweep.jsonl"
        for text in ("cue,response\na,b\n", '{"format": "atlas"}\n', "[]\n"):
            path.write_text(text)
            with pytest.raises(DataError, match="line 1"):
                sweep(norms, GRID, predictor=Guess, resume=path)
            assert path.read_text() == text


def test_refusals():
    for settings in ({"seeds": 0}, {"splits": 0}):
        with pytest.raises(ParameterError) as caught:
            sweep(ring(), {"spread": 1.0}, predictor=Guess, **settings)
        assert caught.value.name == next(iter(settings))
    with pytest.raises(DataError):
        sweep(ring(3) * 0, {"n_maps": 1})
