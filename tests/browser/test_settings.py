"""Colours, sizes, filters, two kinds of object, arrows and features; light and dark."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import manymaps as mm
from manymaps.model import T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(at, folder):
    """The map within the saved sheet, on which its title, legend and source stand too."""
    return ElementTree.parse(at.save("SVG", folder)).getroot().find(f"{SVG}svg")


def labels(at):
    at.settle()
    return {label["text"] for label in at.shown}


@pytest.mark.parametrize("system", ["light", "dark"])
def test_light_and_dark(open_page, tiny_page, system):
    at = open_page(tiny_page, color_scheme=system)
    other = "dark" if system == "light" else "light"
    assert at.theme == system
    at.button(f"{other.title()} theme").click()
    at.button(f"{system.title()} theme").wait_for()
    assert at.theme == other


def test_categories_are_coloured_and_filtered(open_page, tiny, tiny_page, tmp_path):
    at = open_page(tiny_page, "#map=0")
    at.map.wait_for()
    group = dict(zip(tiny.labels, tiny.metadata["group"], strict=True))
    before = labels(at)
    assert sorted(at.keys.all_inner_texts()) == ["no value", "noun", "verb"]
    at.keys.filter(has_text="noun").click()
    at.expect(at.keys.filter(has_text="noun")).to_have_attribute("aria-pressed", "false")
    assert labels(at) == {word for word in before if group[word] != "noun"} < before
    # Whatever colours the marks, what is filtered out stays out until that is taken back.
    at.color.select_option("year")
    assert labels(at) < before
    at.filters.get_by_role("button", name="Show all").click()
    assert labels(at) == before
    plain = svg_of(at, tmp_path)
    assert len({dot.get("fill") for dot in plain.iter(f"{SVG}circle")} - {"none"}) >= 4
    at.size.select_option("year")
    at.settle()
    sized = svg_of(at, tmp_path)
    radii = [[c.get("r") for c in root.iter(f"{SVG}circle")] for root in (plain, sized)]
    assert radii[0] != radii[1]


def test_a_range_is_filtered_and_sent(open_page, tiny, tiny_page):
    at = open_page(tiny_page, "#map=0")
    at.map.wait_for()
    before = labels(at)
    at.page.get_by_role("button", name="Only verb").click()
    years = at.unfold_filter("year")
    first = years.get_by_role("spinbutton", name="from")
    at.expect(first).to_have_attribute("placeholder", str(min(tiny.metadata["year"])))
    first.fill("1991")
    kept = {
        word
        for word, group, year in zip(
            tiny.labels, tiny.metadata["group"], tiny.metadata["year"], strict=True
        )
        if group == "verb" and year >= 1991
    }
    assert labels(at) == before & kept < before
    at.expect(at.status).to_contain_text(f"{len(kept)} of {len(tiny.labels)} objects shown")
    assert at.becomes("location.hash.includes('filter=year:')")
    other = open_page(tiny_page, at.address)
    other.map.wait_for()
    assert labels(other) == labels(at)
    at.read("atlas.change({ map: null })")
    at.search.fill("tie")
    at.page.keyboard.press("Enter")
    near = at.cards.locator(".near").all_inner_texts()
    assert {word for text in near for word in text.split(", ")} <= kept
    first.fill("")
    assert at.becomes("atlas.state.filters.size === 1")


def test_two_kinds_have_two_marks(open_page, kinds, kinds_page, tmp_path):
    at = open_page(kinds_page)
    names = list(dict.fromkeys(kinds.kinds))
    assert at.marks.get_by_role("listitem").all_inner_texts() == names
    at.search.fill("tie")
    at.hits.nth(1).wait_for()
    assert all(any(name in text for name in names) for text in at.hits.all_inner_texts())
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
    write_page(atlas, pages / "fitted.html", vectors=mm.fit_vectors(atlas, table))
    at = open_page(pages / "fitted.html")
    root = svg_of(at, tmp_path)
    marks = at.read("atlas.atlas.maps[0].vectors")
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {mark["name"] for mark in marks} == {"east", "north west", "half: down", "half: up"}
    assert {mark["name"] for mark in marks} <= texts
    shafts = [each for each in root.iter(f"{SVG}path") if each.get("stroke-width") == "1.5"]
    wanted = [np.subtract([m["x"], m["y"]], m["from"]) for m in marks if m["from"]]
    for shaft, way in zip(shafts, wanted, strict=True):
        right, down = np.diff(
            np.array(re.findall(r"-?[.\d]+", shaft.get("d")), float).reshape(2, 2), axis=0
        )[0]
        # On the screen y grows downwards. The line ends where the head of the arrow begins.
        assert np.arctan2(-down, right) == pytest.approx(np.arctan2(way[1], way[0]), abs=0.02)


def test_the_members_of_a_feature_are_selected(open_page, featured_page):
    at = open_page(featured_page, "#map=0")
    at.map.wait_for()
    assert at.features.count() == 8
    at.features.nth(2).click()
    assert at.read("atlas.state.selection") == at.read("[...atlas.atlas.features[2].members]")
