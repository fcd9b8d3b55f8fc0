"""What the tests share: where the real data lie, and numba's threads."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; skips without it, but never in CI."""
    folder = Path(os.environ.get("MANYMAPS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        message = f"no data folder at {folder}; set MANYMAPS_DATA"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder
