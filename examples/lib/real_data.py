"""Files of real data, in the folder that MANYMAPS_DATA names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data_file"]


def data_file(name: str) -> Path | None:
    """Return a file of real data, or print how to obtain it; in CI it must exist."""
    folder = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("MANYMAPS_DATA", folder)) / name
    if path.is_file():
        return path
    message = f"there is no {path}: let MANYMAPS_DATA name the folder of real data"
    if os.environ.get("CI"):
        sys.exit(message)
    print(f"Skipped: {message}")
    return None
