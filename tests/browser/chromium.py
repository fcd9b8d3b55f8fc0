"""The browser on this machine, what is said where something is missing, and what browsers draw."""

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


# The share of the open map's picture that is not its commonest colour.
INK = """(page) => {
  const canvas = page.querySelector("[role=application] canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer), counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return 1 - Math.max(...counts.values()) / pixels.length;
}"""
