"""Tasks on joblib's backends and a Dask cluster: the same bits, dead workers, interruption."""

import importlib
import logging
import os
import pickle
import signal
import subprocess
import sys
import time

import joblib
import numba
import numpy as np
import pytest

import manymaps as mm
from manymaps.compute.communities import ego_communities
from manymaps.compute.tasks import WorkersLostError, _run_on_worker, finished, run_tasks
from manymaps.compute.threads import at_most
from manymaps.errors import DataWarning, ParameterError
from sweep_samples import ring
from task_samples import called, complains, dies, fails, n_threads, times

TWO = [{"backend": "threading", "n_jobs": 2}, {"backend": "loky", "n_jobs": 2}]


@pytest.mark.parametrize("where", [{}, *TWO])
def test_outcomes_come_in_the_order_of_tasks(where):
    data = np.arange(300_000.0)
    heard = []
    found = run_tasks(times, [(data, k) for k in range(5)], "sum", on_end=heard.append, **where)
    assert found == [times(data, k) for k in range(5)]
    assert heard == [1, 2, 3, 4, 5]


def test_arguments_may_be_known_to_this_process_only():
    assert run_tasks(called, [(lambda: 7,), (lambda: 8,)], "call", **TWO[1]) == [7, 8]


def test_loops_give_the_same_bits_in_processes():
    network = ring(300)
    found = run_tasks(ego_communities, [(network,), (network,)], "network", **TWO[1])
    assert [one.tobytes() for one in found] == [ego_communities(network).tobytes()] * 2


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


def outcomes_before_the_loss(marks, **where):
    """Results of four tasks, one of which ends its worker."""
    found = {}
    running = finished(dies, [(marks, k) for k in range(4)], **where)
    with pytest.raises(WorkersLostError, match=r"ended unexpectedly.* pass fewer jobs"):
        found.update(running)
    return found


def test_a_killed_worker_ends_the_tasks_and_the_next_ones_run(tmp_path):
    assert outcomes_before_the_loss(tmp_path, **TWO[1]) == {0: 0, 1: 10, 2: 20}
    assert run_tasks(pow, [(2, 3), (3, 2)], "power", **TWO[1]) == [8, 9]


def test_closing_cancels_what_runs_and_says_nothing(recwarn):
    begun = time.monotonic()
    running = finished(time.sleep, [(0,), (60,), (60,)], **TWO[1])
    assert next(running) == (0, None)
    running.close()
    assert time.monotonic() - begun < 30
    assert not recwarn.list


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of POSIX")
def test_an_interruption_ends_the_workers_without_tracebacks():
    program = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(program, stdout=-1, stderr=-1, text=True, process_group=0) as process:
        assert process.stdout.readline() == "0\n"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert not errors


INTERRUPTED = """
import sys, time
from manymaps.compute.communities import ego_communities
from manymaps.compute.tasks import finished
try:
    for k, _ in finished(time.sleep, [(0,), (60,), (60,)], backend="loky", n_jobs=2):
        print(k, flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_a_backend_that_nobody_knows():
    with pytest.raises(ParameterError, match="Invalid backend: nonsense"):
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
                again = mm.repeat_fits(maps, norms, 2, bootstrap="responses", random_state=3)
                found[name] = bits([*again, maps.fit(norms).atlas_, code.fit(counts).atlas_])
        assert found["threads"] == found["here"]
        assert found["processes"] == found["here"]
        assert found["cluster"] == found["here"]

    def test_data_that_tasks_share_are_sent_once(self, client, monkeypatch):
        sizes, submit = [], client.submit

        def recorded(*args, **kwargs):
            sizes.append(len(pickle.dumps(args[1])))
            return submit(*args, **kwargs)

        monkeypatch.setattr(client, "submit", recorded)
        data = np.ones(1_000_000)
        found = run_tasks(times, [(data, k) for k in range(6)], "sum", backend="dask")
        assert found == [1e6 * k for k in range(6)]
        assert sizes[0] > data.nbytes
        assert max(sizes[1:]) < 4096

    def test_a_task_that_kills_its_workers_is_an_error(self, client, tmp_path, monkeypatch):
        monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
        assert outcomes_before_the_loss(tmp_path, backend="dask") == {0: 0, 1: 10, 2: 20}

    def test_a_task_has_one_thread_or_what_the_worker_was_given(self, client, monkeypatch):
        client.wait_for_workers(2)
        client.run(os.environ.pop, "NUMBA_NUM_THREADS", None)
        packed = pickle.dumps((0, n_threads, []))
        assert client.submit(_run_on_worker, packed).result()[1] == 1

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

    def test_workers_of_another_version_are_refused(self, client, monkeypatch):
        monkeypatch.setattr(mm, "__version__", "99.0")
        with (
            joblib.parallel_config(backend="dask"),
            pytest.raises(WorkersLostError, match=r"99\.0"),
        ):
            run_tasks(times, [(np.ones(3), 2)], "sum")
