"""Tasks on joblib's backends and a Dask cluster: the same bits, dead workers, what is sent."""

import importlib
import logging
import os

import joblib
import numba
import numpy as np
import pytest

import manymaps as mm
from manymaps.compute.tasks import Shared, WorkersLost, _bytes, _run_on_worker, finished, run_tasks
from manymaps.compute.threads import at_most
from manymaps.errors import DataWarning, ParameterError
from sweep_samples import ring
from task_samples import called, complains, dies, fails, n_threads, times

TWO = [{"backend": "threading", "n_jobs": 2}, {"backend": "loky", "n_jobs": 2}]


@pytest.mark.parametrize("where", [{}, *TWO])
def test_outcomes_come_in_the_order_of_tasks(where):
    data = Shared(np.arange(300_000.0))
    heard = []
    found = run_tasks(times, [(data, k) for k in range(5)], "sum", on_end=heard.append, **where)
    assert found == [times(data.value, k) for k in range(5)]
    assert heard == [1, 2, 3, 4, 5]


def test_what_is_shared_may_hold_what_only_this_process_knows():
    shared = Shared(lambda: 7)
    assert run_tasks(called, [(shared,), (shared,)], "call", backend="loky", n_jobs=2) == [7, 7]


@pytest.mark.parametrize("where", [{}, *TWO])
def test_exceptions_are_those_of_the_function(where):
    with pytest.raises(ParameterError, match="must not be 3"):
        run_tasks(fails, [(3,), (3,)], "try", **where)


def test_what_a_task_warns_of_is_heard_here():
    with pytest.warns(DataWarning, match="number 3 is odd"):
        assert run_tasks(complains, [(2,), (3,)], "number", **TWO[1]) == [2, 3]


def test_tasks_share_the_processors():
    most = joblib.cpu_count()
    for where in TWO:
        found = run_tasks(n_threads, [(), (), ()], "count", **where)
        assert set(found) == {min(max(1, most // 2), numba.config.NUMBA_NUM_THREADS)}
    with at_most(1):
        assert n_threads() == 1
    assert n_threads() == numba.config.NUMBA_NUM_THREADS


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_task(tmp_path):
    with pytest.warns(RuntimeWarning, match=r"a worker process ended by itself \(SIGKILL\)"):
        found = run_tasks(dies, [(tmp_path, k, 1) for k in range(5)], "task", **TWO[1])
    assert found == [0, 10, 20, 30, 40]
    assert len(list(tmp_path.glob("1-*"))) == 2


@pytest.mark.slow
def test_a_task_that_kills_its_workers_is_lost_alone(tmp_path):
    tasks = [(tmp_path, k, 99) for k in range(4)]
    with pytest.warns(RuntimeWarning):
        found = dict(finished(dies, tasks, **TWO[1]))
    lost = found.pop(1)
    assert found == {0: 0, 2: 20, 3: 30}
    assert isinstance(lost, WorkersLost)
    assert "it ended each worker process that ran it (SIGKILL)" in str(lost)
    assert "fewer workers" in str(lost)


def test_a_backend_that_nobody_knows():
    with pytest.raises(ParameterError, match="is no backend of joblib"):
        list(finished(times, [(1, 2)], backend="nonsense"))


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def bits(atlases):
    return [atlas.maps.tobytes() + atlas.proportions.tobytes() for atlas in atlases]


@pytest.mark.slow
class TestCluster:
    def test_bootstraps_and_restarts_have_the_bits_of_this_process(self, client):
        table = ring(30)
        table.data /= 11 / 3
        labels = [f"w{i}" for i in range(30)]
        norms = mm.Associations(labels, table, n_responses=np.full(30, 60))
        maps = mm.MultipleMapsTSNE(3, max_iter=8, n_init=2, random_state=0)
        counts = np.random.default_rng(0).poisson(1.0, (30, 20)) + 1.0
        code = mm.CODE(2, max_iter=8, n_init=2, random_state=0)
        found = {}
        for name, where in {
            "here": {"backend": "sequential"}, "threads": TWO[0], "processes": TWO[1],
            "cluster": {"backend": "dask"},
        }.items():  # fmt: skip
            with joblib.parallel_config(**where):
                again = mm.refit(maps, norms, 2, bootstrap="responses", random_state=3)
                found[name] = bits([*again, maps.fit(norms).atlas_, code.fit(counts).atlas_])
        assert found["threads"] == found["here"]
        assert found["processes"] == found["here"]
        assert found["cluster"] == found["here"]

    def test_shared_data_are_sent_once_and_tasks_are_small(self, client):
        data = np.zeros(1_000_000)
        sent = []
        submit = client.submit

        def counting(*args, **kwargs):
            sent.append(len(_bytes(args)))
            return submit(*args, **kwargs)

        client.submit = counting
        try:
            shared = Shared(data)
            with joblib.parallel_config(backend="dask"):
                run_tasks(times, [(shared, k) for k in range(6)], "sum")
        finally:
            client.submit = submit
        assert sent[0] > data.nbytes
        assert max(sent[1:]) < 4096

    def test_a_killed_worker_costs_no_task(self, client, tmp_path):
        with joblib.parallel_config(backend="dask"):
            found = run_tasks(dies, [(tmp_path, k, 1) for k in range(6)], "task")
        assert found == [0, 10, 20, 30, 40, 50]
        assert (tmp_path / "1-1").exists()

    def test_a_task_has_one_thread_or_what_the_worker_was_given(self, client, monkeypatch):
        client.wait_for_workers(2)
        client.run(os.environ.pop, "NUMBA_NUM_THREADS", None)
        assert client.submit(_run_on_worker, _bytes((n_threads, []))).result()[0] == 1

    def test_what_no_worker_can_import_is_told(self, client, tmp_path, monkeypatch):
        client.wait_for_workers(2)
        (tmp_path / "known_here_alone.py").write_text("def task(k):\n    return k\n")
        monkeypatch.syspath_prepend(tmp_path)
        task = importlib.import_module("known_here_alone").task
        with joblib.parallel_config(backend="dask"):
            with pytest.raises(ImportError, match="known_here_alone"):
                run_tasks(task, [(1,), (2,)], "task")
            with pytest.raises(ImportError, match="known_here_alone"):
                run_tasks(called, [(task,), (task,)], "call")
            with pytest.raises(ImportError, match="known_here_alone"):
                run_tasks(called, [(Shared(task),)], "call")

    def test_workers_of_another_version_are_refused(self, client, monkeypatch):
        monkeypatch.setattr(mm, "__version__", "99.0")
        with joblib.parallel_config(backend="dask"), pytest.raises(WorkersLost, match=r"99\.0"):
            run_tasks(times, [(np.ones(3), 2)], "sum")
