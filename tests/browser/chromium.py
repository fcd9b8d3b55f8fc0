"""The browser on this machine, and what is said where it or something else is missing."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def missing(what: str) -> None:
    """Skip, but fail where everything has to be there."""
    message = f"the page is not tested in a browser: there is no {what}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
