"""Threads within a block, and loops that are shared out over them."""

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from manymaps.compute import threads as pool
from manymaps.compute.threads import (
    alone_if,
    at_most,
    current_threads,
    one_blas_thread,
    share_out,
    threads,
)


def blas_threads() -> set[int]:
    """Of the libraries of NumPy and SciPy; faiss and SCS, once loaded, have their own."""
    return {
        one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas" and not re.search("faiss|scs", one["filepath"])
    }


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_one_blas_thread_while_anybody_is_inside(first_to_end):
    """Blocks lie within one another, or fits end in any order."""
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        inside = [one_blas_thread(), one_blas_thread()]
        for block in inside:
            block.__enter__()
            assert blas_threads() == {1}
        inside.pop(first_to_end).__exit__(None, None, None)
        assert blas_threads() == {1}
        inside.pop().__exit__(None, None, None)
        assert blas_threads() == usual


@pytest.fixture
def four_threads(monkeypatch):
    """As on a machine with four processors."""
    monkeypatch.setattr(pool.config, "NUMBA_NUM_THREADS", 4)
    pool._pool.cache_clear()
    yield
    pool._pool().shutdown()
    pool._pool.cache_clear()


def test_the_number_of_threads_of_a_block(four_threads):
    assert current_threads() == 4
    with threads(3):
        with threads(None), alone_if(False):
            assert current_threads() == 3
        with alone_if(True):
            assert current_threads() == 1
        with at_most(2):
            assert current_threads() == 2
            with threads(-1):
                assert current_threads() == 2
        assert current_threads() == 3
    with threads(-2):
        assert current_threads() == 3
    with threads(99):
        assert current_threads() == 4
    assert current_threads() == 4


@pytest.mark.parametrize("n_threads", [1, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_each_iteration_is_run_once(four_threads, n, n_threads):
    counts = np.zeros(n, int)

    def count(first, last, step):
        counts[first:last] += step

    with threads(n_threads):
        share_out(count, n, 2)
    assert counts.tolist() == [2] * n


def test_loops_run_in_several_threads_at_once(four_threads):
    together = threading.Barrier(4)
    share_out(lambda first, last: together.wait(60), 4)


def test_an_exception_of_a_helper_is_raised(four_threads):
    together = threading.Barrier(4)

    def fail_elsewhere(first, last):
        together.wait(60)
        if threading.current_thread() is not threading.main_thread():
            raise ArithmeticError("in a helper")

    with pytest.raises(ArithmeticError, match="in a helper"):
        share_out(fail_elsewhere, 4)
    test_each_iteration_is_run_once(None, 7, 4)


def test_no_helper_goes_on_after_an_interruption(four_threads):
    started, running = threading.Barrier(4), set()

    def interrupted(first, last):
        started.wait(60)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        running.add(first)
        time.sleep(0.2)
        running.remove(first)

    with pytest.raises(KeyboardInterrupt):
        share_out(interrupted, 16)
    assert not running
    assert not started.broken
    assert started.n_waiting == 0


def test_loops_within_loops_and_callers_in_many_threads(four_threads):
    """All of them want helpers, and there are fewer than callers."""

    def add(first, last, totals, k):
        totals[k, first:last] += 1

    def add_rows(first, last, totals):
        for k in range(first, last):
            share_out(add, totals.shape[1], totals, k)

    def run(_):
        totals = np.zeros((20, 50), int)
        share_out(add_rows, 20, totals)
        return totals

    with ThreadPoolExecutor(8) as callers:
        for totals in callers.map(run, range(40)):
            assert (totals == 1).all()


def test_the_caller_needs_no_helper(four_threads, monkeypatch):
    """As in a thread that goes on after the end of the main one, where none can be started."""
    pool._pool().shutdown()
    test_each_iteration_is_run_once(None, 1000, 4)


FORKED = """
import multiprocessing, sys
import numpy as np
from manymaps.affinity import nearest_neighbors
from manymaps.compute.steps import momentum_step
from manymaps.compute.threads import share_out, threads

points = np.random.default_rng(0).normal(size=(5000, 8)).astype(np.float32)

def results():
    x = points.ravel().copy()
    step, gains = np.zeros_like(x), np.ones_like(x)
    with threads(2):
        for _ in range(3):
            rates = np.float32(0.1), np.float32(0.5)
            share_out(momentum_step, x.size, x, np.sin(x), step, gains, *rates)
        return [x, step, gains, nearest_neighbors(points[:500], 5).indices]

before = results()

def same():
    same = all(np.array_equal(a, b) for a, b in zip(before, results()))
    sys.exit(0 if same else 5)

process = multiprocessing.get_context("fork").Process(target=same)
process.start()
process.join(120)
process.kill()
results()
sys.exit(process.exitcode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="others start processes without a fork")
def test_loops_run_in_a_forked_process():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        env=os.environ | {"NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
