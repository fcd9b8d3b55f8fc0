"""What tests of readers share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vector_samples import save


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file and give its path."""
    return lambda name, content: save(tmp_path / name, content)
