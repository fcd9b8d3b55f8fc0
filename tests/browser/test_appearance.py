"""Light and dark, colours and sizes by a column, two kinds, features; phones and large screens."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import manymaps as mm
from manymaps.model import T_SNE

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(at, folder):
    with at.download(folder) as saved:
        at.save("SVG")
    # The map within the sheet, on which its title, legend and source stand too.
    return ElementTree.parse(saved[0]).getroot().find(f"{SVG}svg")


def fills(root):
    """The colours of the dots."""
    dots = [*root.iter(f"{SVG}circle"), *root.iter(f"{SVG}polygon")]
    return {dot.get("fill") for dot in dots} - {"none"}


def paper(at):
    """How light the page is, 0 to 1, by the first dots of a picture of it."""
    color = at.page.evaluate(
        "getComputedStyle(document.querySelector('#manymaps').shadowRoot.firstElementChild)"
        ".backgroundColor"
    )
    red, green, blue = (float(part) for part in color.split("(")[1].rstrip(")").split(",")[:3])
    return (red + green + blue) / 765


@pytest.mark.parametrize("system", ["light", "dark"])
def test_light_and_dark(open_page, tiny_page, system):
    at = open_page(tiny_page, color_scheme=system)
    other = "dark" if system == "light" else "light"
    assert at.theme == system
    assert (paper(at) > 0.5) == (system == "light")
    at.button(f"{other.title()} theme").click()
    at.button(f"{system.title()} theme").wait_for()
    assert at.theme == other
    assert (paper(at) > 0.5) == (other == "light")
    at.button(f"{system.title()} theme").click()
    at.button(f"{other.title()} theme").wait_for()
    assert at.theme == system


def test_the_system_changes_its_mind(open_page, tiny_page):
    at = open_page(tiny_page, color_scheme="light")
    at.page.emulate_media(color_scheme="dark")
    at.button("Light theme").wait_for()
    assert at.theme == "dark"


def test_colours_by_category(open_page, tiny, tiny_page, tmp_path):
    at = open_page(tiny_page, "#map=0")
    at.map.wait_for()
    keys = at.keys
    assert sorted(keys.all_inner_texts()) == ["no value", "noun", "verb"]
    at.settle()
    before = {tiny.metadata["group"][label["object"]] for label in at.shown}
    keys.filter(has_text="noun").click()
    at.expect(keys.filter(has_text="noun")).to_have_attribute("aria-pressed", "false")
    at.settle()
    after = {tiny.metadata["group"][label["object"]] for label in at.shown}
    assert "noun" in before
    assert after == before - {"noun"}
    at.color.select_option("map weight")
    at.expect(at.legend).to_have_count(0)
    at.settle()
    # Whatever colours the marks, what is filtered out stays out until that is taken back.
    assert after == {tiny.metadata["group"][label["object"]] for label in at.shown}
    at.filters.get_by_role("button", name="Show all").click()
    at.settle()
    assert len(fills(svg_of(at, tmp_path))) >= 3


def test_sizes_by_number(open_page, tiny_page, tmp_path):
    at = open_page(tiny_page, "#map=1")
    at.map.wait_for()
    at.settle()

    def radii():
        return sorted(float(c.get("r")) for c in svg_of(at, tmp_path).iter(f"{SVG}circle"))

    before = radii()
    at.size.select_option("year")
    at.settle()
    assert radii() != before
    at.color.select_option("year")
    at.settle()
    assert len(fills(svg_of(at, tmp_path))) >= 4


def test_two_kinds_have_two_marks(open_page, kinds, kinds_page, tmp_path):
    at = open_page(kinds_page)
    names = list(dict.fromkeys(kinds.kinds))
    assert at.marks.get_by_role("listitem").all_inner_texts() == names
    at.search.fill("tie")
    at.hits.nth(1).wait_for()
    assert [any(name in text for name in names) for text in at.hits.all_inner_texts()] == [
        True,
        True,
    ]
    at.page.keyboard.press("Escape")
    at.page.keyboard.press("Escape")
    at.open(0)
    there = kinds.map_weights[0] >= 0.05
    is_word = [kind == names[1] for kind in kinds.kinds]
    root = svg_of(at, tmp_path)
    diamonds = [path for path in root.iter(f"{SVG}path") if re.fullmatch("[^A]+Z", path.get("d"))]
    assert len(diamonds) == (there & is_word).sum()
    assert len(list(root.iter(f"{SVG}circle"))) == (there & ~(there & is_word)).sum()


def test_fitted_variables_are_arrows_over_the_map(open_page, pages, tmp_path):
    points = np.random.default_rng(1).normal(size=(1, 40, 2))
    sites = [f"site {k}" for k in range(40)]
    atlas = mm.Atlas(sites, points, np.ones((1, 40)), T_SNE)
    x, y = points[0].T
    table = {"site": sites, "east": x, "north west": y - x, "half": np.where(y > 0, "up", "down")}
    mm.write_page(atlas, pages / "fitted.html", vectors=mm.fit_vectors(atlas, table))
    at = open_page(pages / "fitted.html")
    root = svg_of(at, tmp_path)
    marks = at.read("atlas.atlas.maps[0].vectors")
    assert {mark["name"] for mark in marks} == {"east", "north west", "half: down", "half: up"}
    assert {mark["name"] for mark in marks} <= {text.text for text in root.iter(f"{SVG}text")}
    color = next(t for t in root.iter(f"{SVG}text") if t.text == "east").get("fill")
    shafts = [each for each in root.iter(f"{SVG}path") if each.get("stroke") == color]
    steps = [np.diff(np.array(re.findall(r"-?[.\d]+", each.get("d")), float).reshape(2, 2), axis=0)
             for each in shafts]  # fmt: skip
    wanted = [np.subtract([m["x"], m["y"]], m["from"]) for m in marks if m["from"]]
    for (step,), way in zip(steps, wanted, strict=True):
        # On the screen y grows downwards. The line ends where the head of the arrow begins.
        assert np.arctan2(-step[1], step[0]) == pytest.approx(np.arctan2(way[1], way[0]), abs=0.02)


def test_the_members_of_a_feature_are_selected(open_page, featured_page):
    at = open_page(featured_page, "#map=0")
    at.map.wait_for()
    assert at.features.count() == 8
    at.features.nth(2).click()
    members = at.read("[...atlas.atlas.features[2].members]")
    assert at.read("atlas.state.selection") == members


@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (3840, 2160)])
def test_nothing_stands_out_sideways(open_page, relations_page, width, height):
    at = open_page(relations_page, viewport={"width": width, "height": height})
    for hash, part in (("", at.sheets), ("#word=bank", at.cards), ("#word=bank&map=0", at.map)):
        at.page.evaluate("hash => { location.hash = hash; }", hash)
        part.first.wait_for()
        wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        needed, there = at.page.evaluate(wide)
        assert needed <= there <= width
    box = at.box()
    assert box["width"] >= min(0.5 * width, 340)
    assert box["height"] >= 240
