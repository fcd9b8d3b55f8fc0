"""What tests of commands share."""

from pathlib import Path

import pytest

from cli_samples import write_norms


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    """A small file of associations."""
    return write_norms(tmp_path)
