"""Threads within a block, and compiled code on the disk that several processes share."""

import importlib
import pkgutil
import re

import pytest
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from threadpoolctl import threadpool_info, threadpool_limits

import manymaps.compute
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
