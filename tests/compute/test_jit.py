"""Threads within a block, and compiled code on the disk that several processes share."""

import importlib
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from threadpoolctl import threadpool_info, threadpool_limits

import manymaps.compute
from manymaps.compute.jit import compiled
from manymaps.compute.threads import one_blas_thread


def blas_threads() -> set[int]:
    """Of the libraries of NumPy and SciPy; faiss and SCS, once loaded, have their own."""
    return {
        one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas" and not re.search("faiss|scs", one["filepath"])
    }


def test_one_blas_thread_while_anybody_is_inside():
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        # Fits end in any order.
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == usual


def test_blocks_within_one_another():
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        with one_blas_thread():
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == usual


def kernels() -> dict[str, Dispatcher]:
    """All compiled functions of the package by name."""
    names = [module.name for module in pkgutil.iter_modules(manymaps.compute.__path__)]
    modules = [importlib.import_module(f"manymaps.compute.{name}") for name in names]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


@pytest.fixture
def kind() -> type[IndexDataCacheFile]:
    """What keeps the compiled code of the package on the disk."""
    assert len(kernels()) > 20
    [kind] = {type(kernel._cache._cache_file) for kernel in kernels().values()}
    return kind


def after_a_race(kind, folder, monkeypatch) -> dict[str, str]:
    """What is found of two processes that both saw an empty index, the first being slower."""
    one, other = (kind(str(folder), "loop", "of this source") for _ in range(2))
    monkeypatch.setattr(other, "_load_index", dict)
    write = one._save_data

    def wait_and_write(name, data):
        other.save("for a row", "code for a row")
        write(name, data)

    monkeypatch.setattr(one, "_save_data", wait_and_write)
    one.save("for a column", "code for a column")
    reader = kind(str(folder), "loop", "of this source")
    return {key: reader.load(key) for key in ("for a row", "for a column")}


def test_two_processes_compile_one_function_at_once(kind, tmp_path, monkeypatch):
    assert after_a_race(kind, tmp_path, monkeypatch) == {
        "for a row": "code for a row",
        "for a column": None,
    }


def test_numba_itself_still_confuses_them(tmp_path, monkeypatch):
    """Else the package could do without its own names."""
    found = after_a_race(IndexDataCacheFile, tmp_path, monkeypatch)
    assert found["for a row"] == "code for a column"


def test_code_of_an_older_source_is_written_over(kind, tmp_path):
    for source in ("first", "second"):
        kind(str(tmp_path), "loop", source).save("for a row", f"code of the {source}")
    assert kind(str(tmp_path), "loop", "second").load("for a row") == "code of the second"
    assert len([*tmp_path.glob("*.nbc")]) == 1


def test_a_damaged_file_is_as_good_as_none(kind, tmp_path):
    file = kind(str(tmp_path), "loop", "of this source")
    file.save("for a row", "code for a row")
    for damaged in sorted(tmp_path.iterdir()):
        whole = damaged.read_bytes()
        for content in (
            b"",
            whole[: len(whole) // 2],
            whole[:-1],
            b"\x80\x05K\x01K\x02",
            b"junk\n",
        ):
            damaged.write_bytes(content)
            assert file.load("for a row") is None, content
            file.save("for a row", "code for a row")
            assert file.load("for a row") == "code for a row", content  # fmt: skip


def test_a_folder_that_cannot_be_written_to_keeps_nothing(kind, tmp_path):
    file = kind(str(tmp_path / "missing"), "loop", "of this source")
    file.save("for a row", "code for a row")
    assert file.load("for a row") is None


def test_without_a_place_for_compiled_code():
    """Numba finds none for code that is in no file."""
    made: dict = {}
    exec("def doubled(x):\n    return 2 * x", made)
    with pytest.raises(RuntimeError, match="no locator"):
        njit(cache=True)(made["doubled"])
    assert compiled(made["doubled"])(21) == 42


FORKED = """
import multiprocessing, sys
import numpy as np
import numba
from manymaps import nearest_neighbors
from manymaps.compute.steps import momentum_step
from manymaps.compute.threads import threads

points = np.random.default_rng(0).normal(size=(5000, 8)).astype(np.float32)

def results():
    x = points.ravel().copy()
    step, gains = np.zeros_like(x), np.ones_like(x)
    with threads(2):
        for _ in range(3):
            momentum_step(x, np.sin(x), step, gains, np.float32(0.1), np.float32(0.5))
        return [x, step, gains, nearest_neighbors(points[:500], 5).indices]

before = results()
assert numba.threading_layer() == "omp", numba.threading_layer()

def same():
    same = all(np.array_equal(a, b) for a, b in zip(before, results()))
    sys.exit(0 if same and numba.get_num_threads() == 1 else 5)

process = multiprocessing.get_context("fork").Process(target=same)
process.start()
process.join(120)
process.kill()
results()
sys.exit(process.exitcode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="GNU's OpenMP is Linux's")
def test_loops_run_in_a_forked_process():
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


SUMS = """
import numpy as np
from manymaps.compute import field

rng = np.random.default_rng(0)
points, charges = rng.normal(size=(2, 60)).astype("f"), rng.normal(size=60).astype("f")
where = np.array([0, 60])
found = field(points, where, points, where, charges, np.arange(60), "gaussian", 0.0, "exact")
print([part.tobytes().hex() for part in found])
"""


@pytest.mark.slow
def test_the_process_that_compiles_gets_the_bits_of_those_that_come_later(tmp_path):
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SUMS],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        said.append(done.stdout)
    assert [*tmp_path.rglob("*.nbc")]
    assert said[0] == said[1]
