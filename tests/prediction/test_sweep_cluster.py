"""Sweeps on a local Dask cluster of two workers: the bits of threads, and what may break."""

import csv
import os
import signal

import dask
import distributed
import joblib
import pytest

from cli_samples import failed, invoke, worked
from manymaps.compute.tasks import WorkersLostError
from manymaps.prediction.sweeps import sweep
from sweep_samples import Guess, Slow, figures, ring, write_ring

pytestmark = pytest.mark.slow


GRID = {"spread": [0.0, 0.5, 1.0, 2.0]}


def local_cluster() -> distributed.LocalCluster:
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def client():
    with local_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_cluster_gives_the_bits_of_threads(client):
    norms = ring()
    grid = {"n_maps": [1, 2], "n_components": [3], "kernel": ["gaussian", "cauchy"],
            "max_iter": 6}  # fmt: skip
    with joblib.parallel_config(backend="dask"):
        far = sweep(norms, grid, n_splits=2)
    here = sweep(norms, grid, n_splits=2, backend="threading", n_jobs=2)
    assert not far.failed
    assert figures(far) == figures(here)
    assert [one.n_iterations for one in far.results] == [one.n_iterations for one in here.results]


def test_a_killed_worker_costs_no_point(client, tmp_path):
    killed = []

    def kill(result, n_done, n_points):
        if not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], getattr(signal, "SIGKILL", signal.SIGTERM))

    norms = ring()
    kept = tmp_path / "sweep.jsonl"
    far = sweep(norms, GRID, seeds=4, predictor=Slow, backend="dask", resume=kept, on_result=kill)
    assert len(killed) == 2
    assert not far.failed
    assert figures(far) == figures(sweep(norms, GRID, seeds=4, predictor=Guess))
    assert len(kept.read_text().splitlines()) == 1 + 16


def test_the_command_runs_on_a_cluster(client, tmp_path):
    client.wait_for_workers(1)  # the test before ended one; its return is dask's affair
    file = write_ring(tmp_path / "ring.csv")
    options = ("--maps", "1,2", "--dims", 3, "--iterations", 5, "--quiet")
    tables = {}
    for name, where in {
        "far": ("--scheduler", client.scheduler.address), "here": ("--backend", "threading"),
    }.items():  # fmt: skip
        table = tmp_path / f"{name}.csv"
        worked(invoke("sweep", file, *options, "-o", table, *where))
        rows = list(csv.DictReader(table.read_text().splitlines()))
        tables[name] = [{**row, "seconds": ""} for row in rows]
    assert len(tables["far"]) == 2
    assert tables["far"] == tables["here"]


def test_a_sweep_resumes_after_the_scheduler_was_stopped(tmp_path):
    norms, kept, runs = ring(), tmp_path / "sweep.jsonl", []
    with local_cluster() as cluster, distributed.Client(cluster, timeout="15s"):

        def stop(result, n_done, n_points):
            if n_done == 2:
                cluster.close()

        with pytest.raises(WorkersLostError, match="scheduler"):
            sweep(norms, GRID, seeds=4, predictor=Slow, backend="dask", resume=kept, on_result=stop)
    before = kept.read_text()
    assert 2 <= len(before.splitlines()) - 1 < 16
    again = sweep(
        norms, GRID, seeds=4, predictor=Slow, backend="threading", n_jobs=4, resume=kept,
        on_result=lambda result, *_: runs.append(result),
    )  # fmt: skip
    assert kept.read_text().startswith(before)
    assert len(kept.read_text().splitlines()) == 1 + 16
    assert figures(again) == figures(sweep(norms, GRID, seeds=4, predictor=Guess))


def test_no_scheduler_at_the_address(tmp_path):
    file = write_ring(tmp_path / "ring.csv")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        result = invoke(
            "sweep", file, "--maps", 1, "--dims", 3, "-o", tmp_path / "t.csv",
            "--scheduler", "tcp://127.0.0.1:9",
        )  # fmt: skip
    failed(result, 1, "--scheduler tcp://127.0.0.1:9: no scheduler")
    assert "Traceback" not in result.stderr
