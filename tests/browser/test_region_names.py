"""A page whose labels only number its objects says what its regions are."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def digits_page(pages):
    """Ten heaps of numbered images on a circle, one of each digit."""
    rng = np.random.default_rng(8)
    digits = np.repeat(np.arange(10), 60)
    turns = 2 * np.pi * digits / 10
    places = 20 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    points = places + rng.normal(size=(600, 2))
    labels = [f"img {i}" for i in range(600)]
    columns = {"digit": digits.astype(str).astype(object)}
    atlas = mm.Atlas(labels, points[None], np.ones((1, 600)), T_SNE, metadata=columns)
    write_page(atlas, pages / "digits.html", color="digit")
    return pages / "digits.html"


def test_regions_are_named_by_their_category(open_page, digits_page, tmp_path):
    at = open_page(digits_page, reduced_motion="reduce")
    at.map.wait_for()
    at.settle()
    names = at.read("atlas.names().map(({ text }) => text)")
    assert sorted(names) == [f"digit {k}" for k in range(10)]
    assert at.shown == []
    with at.download(tmp_path) as saved:
        at.save("SVG")
    text = saved[0].read_text(encoding="utf-8")
    assert ">digit 4<" in text
    assert "img" not in text
    # Near one heap the images themselves are named.
    at.read("atlas.change({ camera: { x: 20, y: 0, zoom: 40 * atlas.camera.zoom } })")
    at.settle()
    assert at.read("atlas.names()") == []
    assert len(at.shown) > 0


def test_lines_of_equal_density_are_kept_in_the_address(open_page, digits_page, tmp_path):
    at = open_page(digits_page)
    at.map.wait_for()
    at.settle()
    switch = at.settings().get_by_role("checkbox", name="Density contours")
    switch.check()
    at.settle()
    assert at.becomes("location.hash.includes('contours=1')")
    with at.download(tmp_path) as saved:
        at.save("SVG")
    assert '" fill="none" stroke="' in saved[0].read_text(encoding="utf-8")
    again = open_page(digits_page, at.address)
    assert again.settings().get_by_role("checkbox", name="Density contours").is_checked()
    switch.uncheck()
    assert at.becomes("!location.hash.includes('contours')")
