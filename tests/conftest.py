"""What the tests share: where the real data lie, and a table of counts that was fitted."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from code_samples import sample, write_atlas

ROOT = Path(__file__).resolve().parents[1]

# Examples and programs that tests start look for the real data where the tests do.
os.environ.setdefault("MANYMAPS_DATA", str(ROOT.parent / "shared" / "data"))

# A machine that does other work beside is no fault of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> None:
    """Ctrl-C arrives here and in the programs that tests start, from background jobs too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; skips without it, but never in CI."""
    folder = Path(os.environ["MANYMAPS_DATA"])
    if not folder.is_dir():
        message = f"no data folder at {folder}; set MANYMAPS_DATA"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with counts.npz and, fitted to it, code.atlas; not to be written to."""
    return write_atlas(tmp_path_factory.mktemp("made"))


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """A file of the counts of some documents and words."""
    sample().save(tmp_path / "counts.npz")
    return tmp_path / "counts.npz"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The manual is first: its build is the longest of all tests, and others run beside it."""
    items.sort(key=lambda item: "manual/test_manual" not in item.nodeid)
