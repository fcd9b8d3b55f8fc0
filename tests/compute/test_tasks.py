"""Tasks on joblib's backends: the same bits, dead workers, interruption."""

import logging
import os
import signal
import subprocess
import sys

import joblib
import numba
import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

import manymaps as mm
from manymaps.compute.communities import ego_communities
from manymaps.compute.tasks import finished, run_tasks
from manymaps.compute.threads import at_most
from manymaps.errors import DataWarning, ParameterError
from sweep_samples import ring
from task_samples import DiesOnce, called, complains, dies, fails, n_threads, sleeps, times

TWO = [{"backend": "threading", "n_jobs": 2}, {"backend": "loky", "n_jobs": 2}]


@pytest.mark.parametrize("where", [{}, *TWO])
def test_outcomes_come_in_the_order_of_tasks(where):
    data = np.arange(300_000.0)
    with joblib.parallel_config(**where):
        found = run_tasks(times, [(data, k) for k in range(5)], "sum")
    assert found == [times(data, k) for k in range(5)]


def test_arguments_may_be_known_to_this_process_only():
    assert run_tasks(called, [(lambda: 7,), (lambda: 8,)], "call", n_jobs=2) == [7, 8]


def test_loops_give_the_same_bits_in_processes():
    network = ring(300)
    found = run_tasks(ego_communities, [(network,), (network,)], "network", n_jobs=2)
    assert [one.tobytes() for one in found] == [ego_communities(network).tobytes()] * 2


@pytest.mark.parametrize("where", [{}, *TWO])
def test_exceptions_are_those_of_the_function(where):
    with joblib.parallel_config(**where), pytest.raises(ParameterError, match="must not be 3"):
        run_tasks(fails, [(3,), (3,)], "try")


def test_what_a_task_warns_of_is_heard_here():
    with pytest.warns(DataWarning, match="number 3 is odd"):
        assert run_tasks(complains, [(2,), (3,)], "number", n_jobs=2) == [2, 3]


def test_tasks_share_the_processors():
    most = joblib.cpu_count()
    for where in TWO:
        with joblib.parallel_config(**where):
            found = run_tasks(n_threads, [(), (), ()], "count")
        assert set(found) == {min(max(1, most // 2), numba.config.NUMBA_NUM_THREADS)}
    with at_most(1):
        assert n_threads() == 1
    assert n_threads() == numba.config.NUMBA_NUM_THREADS


def test_a_killed_worker_ends_the_tasks_and_the_next_ones_run(tmp_path):
    found = {}
    with pytest.raises(TerminatedWorkerError):
        found.update(finished(dies, [(tmp_path, k) for k in range(4)], n_jobs=2))
    assert found == {0: 0, 1: 10, 2: 20}
    assert run_tasks(pow, [(2, 3), (3, 2)], "power", n_jobs=2) == [8, 9]


def test_closing_does_not_wait_for_what_runs_and_says_nothing(tmp_path, recwarn):
    running = finished(sleeps, [(tmp_path, 0), (tmp_path, 20), (tmp_path, 20)], n_jobs=2)
    assert next(running) == (0, None)
    running.close()
    assert [mark.name for mark in tmp_path.iterdir()] == ["0"]  # no other task has ended
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
    for k, _ in finished(time.sleep, [(0,), (60,), (60,)], n_jobs=2):
        print(k, flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_bits_of_this_process(tmp_path):
    distributed = pytest.importorskip("distributed")
    table = ring(30)
    table.data /= 11 / 3
    norms = mm.Associations([f"w{i}" for i in range(30)], table, n_responses=np.full(30, 60))
    dies = DiesOnce(tmp_path / "died", os.getpid())
    maps = mm.MultipleMapsTSNE(3, max_iter=8, n_init=2, random_state=0, callback=dies)
    counts = np.random.default_rng(0).poisson(1.0, (30, 20)) + 1.0
    code = mm.CODE(2, max_iter=8, n_init=2, random_state=0)
    grid = {"n_maps": [1, 2], "n_components": 2, "max_iter": 5}
    found = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster),
    ):  # fmt: skip
        for where in {"backend": "sequential"}, *TWO, {"backend": "dask"}:
            dies.is_armed = where == {"backend": "dask"}
            with joblib.parallel_config(**where):
                again = mm.repeat_fits(maps, norms, 2, bootstrap="responses", random_state=3)
                atlases = [*again, maps.fit(norms).atlas_, code.fit(counts).atlas_]
                errors = mm.sweep(norms, grid).drop(columns="seconds")
            fits = [one.maps.tobytes() + one.proportions.tobytes() for one in atlases]
            found.append((fits, errors.to_dict()))
    assert found[1:] == found[:1] * 3
    assert dies.marker.exists()
