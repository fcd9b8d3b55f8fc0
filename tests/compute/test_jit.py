"""Compiled code on the disk that several processes share, and how compiling is shown."""

import importlib
import os
import pkgutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import config, njit
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher

import manymaps.compute
from manymaps import progress
from manymaps.compute.jit import compiled
from manymaps.compute.strongest import _add_map
from manymaps.compute.threads import share_out


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
    caches = [kernel._cache for kernel in kernels().values()]
    [kind] = {type(cache._cache_file) for cache in caches if not isinstance(cache, NullCache)}
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


def test_compiling_is_shown_as_part_of_the_work_in_any_thread(monkeypatch):
    seen = []
    usual = progress.Work.__init__

    def noted(self, what, total=None):
        seen.append((what, progress._WATCHER.get() is not None))
        usual(self, what, total)

    def compile_elsewhere(first, last, together):
        together.wait(60)
        if threading.current_thread() is not threading.main_thread():
            # Its formula is compiled with it, and not shown again.
            njit(_add_map.py_func)(x[None], x, 0, 0, x.copy(), x.copy())

    x = np.zeros(3)
    monkeypatch.setattr(progress.Work, "__init__", noted)
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 2)
    with progress.watched(), progress.work("fit"):
        share_out(compile_elsewhere, 2, threading.Barrier(2))
        njit(lambda k: k + 1)(1)
    assert seen == [("fit", True), ("compiling, once per installation", True)]
