"""A page whose labels only number its objects says what its regions are."""

import numpy as np
import pytest
from scipy import sparse

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


@pytest.fixture(scope="module")
def themes_page(pages):
    """Eight islands of four heaps of words, with observed links within each heap."""
    rng = np.random.default_rng(2)
    heap = np.repeat(np.arange(32), 15)
    island = heap // 4
    centres = 40 * np.stack([island % 3, island // 3], axis=1)
    corners = 7 * np.stack([heap % 2, heap % 4 // 2], axis=1)
    points = centres + corners + rng.normal(scale=1.2, size=(480, 2))
    links = (heap[:, None] == heap) * rng.random((480, 480))
    np.fill_diagonal(links, 0)
    labels = [f"{chr(97 + k % 26)}{chr(97 + i % 26)}{i}" for i, k in enumerate(heap)]
    atlas = mm.Atlas(
        labels, points[None], np.ones((1, 480)), T_SNE,
        associations=sparse.csr_array(links / links.sum(axis=1, keepdims=True)),
    )  # fmt: skip
    write_page(atlas, pages / "themes.html")
    return pages / "themes.html"


def test_islands_give_way_to_their_parts_and_parts_to_words(open_page, themes_page):
    at = open_page(themes_page, reduced_motion="reduce")
    at.map.wait_for()
    at.settle()
    fit = at.read("atlas.camera.zoom")
    regions = at.read("atlas.atlas.maps[0].regions")

    def names(times):
        at.read(f"atlas.change({{ camera: {{ x: 3, y: 3, zoom: {times * fit} }} }})")
        at.settle()
        return at.read("atlas.names()")

    far = at.read("atlas.names()")
    titles = {", ".join(each["words"]): each for each in regions if each["island"] is None}
    assert 4 <= len(far) <= 6
    assert {each["text"] for each in far} <= set(titles)
    colours = {each["color"] for each in far}
    assert len(colours) == len(far)
    nearer = names(3)
    parts = {", ".join(each["words"]): each for each in regions if each["island"] is not None}
    assert nearer
    assert {each["text"] for each in nearer} <= {*parts, *titles}
    assert any(each["text"] in parts for each in nearer)
    assert names(9) == []
    assert len(at.shown) > 5


@pytest.mark.parametrize("how", ["click", "keys"])
def test_a_name_zooms_to_its_region(open_page, themes_page, how):
    at = open_page(themes_page, reduced_motion="reduce")
    at.map.wait_for()
    at.settle()
    fit = at.read("atlas.camera.zoom")
    name = at.read("atlas.names()")[0]
    box = at.map.bounding_box()
    if how == "click":
        at.page.mouse.move(
            box["x"] + name["x"] + name["width"] / 2, box["y"] + name["y"] + name["height"] / 2
        )
        assert at.becomes("getComputedStyle(document.querySelector('#manymaps').shadowRoot"
                          ".querySelector('.mapview')).cursor === 'pointer'")  # fmt: skip
        at.page.mouse.down()
        at.page.mouse.up()
    else:
        at.map.focus()
        at.page.keyboard.press("Tab")
        at.expect(at.button(f"Zoom to {name['text']}")).to_be_focused()
        at.page.keyboard.press("Enter")
    at.settle()
    camera = at.read("atlas.camera")
    left, bottom, right, top = name["region"]
    assert camera["zoom"] > 1.5 * fit
    assert camera["x"] == pytest.approx((left + right) / 2, abs=1)
    assert camera["y"] == pytest.approx((bottom + top) / 2, abs=1)
    assert at.read("atlas.names()")
