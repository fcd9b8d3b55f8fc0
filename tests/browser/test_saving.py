"""What the page saves: map, senses and gallery as PNG and SVG, the selection as CSV."""

import csv
import re
import struct
from xml.etree import ElementTree

import numpy as np
import pytest

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def shared(open_shared, relations, pages):
    told = {"source": "WordNet", "date": "2006", "credit": "Princeton"}
    write_page(relations, pages / "told.html", title="Word relations", **told)
    return open_shared(pages / "told.html", "#map=1")


@pytest.fixture
def at(shared):
    shared.reset(1)
    shared.map.wait_for()
    return shared


def test_the_png_is_twice_the_size(at, tmp_path):
    with at.download(tmp_path) as saved:
        at.save("PNG")
    content = saved[0].read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    box = at.box()
    assert width == round(2 * (box["width"] + 48))
    # Title, legend and source have their room above and below.
    assert height > 2 * box["height"] + 200
    assert len(content) > 10_000
    assert saved[0].name == "Word-relations-map-1.png"


@pytest.mark.parametrize("word", [None, "bank"])
def test_the_svg_holds_the_visible_labels(at, relations, tmp_path, word):
    if word is not None:
        at.look_up(word)
        at.settle()
    at.map.focus()
    at.page.keyboard.press("+")
    at.settle()
    with at.download(tmp_path) as saved:
        at.save("SVG")
    sheet = ElementTree.parse(saved[0]).getroot()
    assert sheet.tag == f"{SVG}svg"
    around = " ".join("".join(text.itertext()) for text in sheet.findall(f"{SVG}text"))
    assert around.startswith("Word relations ")
    assert f"Map {at.open_map}: " in around
    assert "map weight" not in around
    assert around.endswith("Source: WordNet \u00b7 2006 \u00b7 Credit: Princeton")
    assert (word or "Map") in around
    root = sheet.find(f"{SVG}svg")
    box = at.box()
    assert float(root.get("width")) == pytest.approx(box["width"], abs=0.1)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    names = at.read("atlas.names().map(({ text }) => text)")
    assert sorted(texts) == sorted([*names, *(label["text"] for label in at.shown)])
    assert len(texts) > 5
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]
    map = at.open_map
    there = relations.maps[map, relations.map_weights[map] >= 0.1]
    points = at.points(there) - [box["x"], box["y"]]
    inside = ((points > 0) & (points < [box["width"], box["height"]])).all(axis=1)
    gaps = np.linalg.norm(points[inside][:, None] - np.array(dots), axis=2).min(axis=1)
    assert gaps.max() < 0.2


def several_maps(at) -> str:
    """A word with cards of several maps."""
    several = """atlas.atlas.labels.findIndex((label, word) => {
      return label.length > 3 && atlas.senses(word).length > 1;
    })"""
    return at.read(f"atlas.atlas.labels[{several}]")


@pytest.mark.parametrize("part", ["senses", "maps"])
def test_senses_and_all_maps_are_saved(at, tmp_path, part):
    """As many maps as cards, each with its caption; and a PNG of the same size."""
    at.button("All maps").click()
    at.sheets.first.wait_for()
    if part == "senses":
        at.look_up(several_maps(at))
        at.expect(at.cards.nth(1)).to_be_visible()
        cards = at.texts(at.cards)
    else:
        cards = at.texts(at.sheets)
    with at.download(tmp_path) as saved:
        at.save("SVG")
    sheet = ElementTree.parse(saved[0]).getroot()
    assert len(sheet.findall(f"{SVG}svg")) == len(cards) > 1
    around = " ".join("".join(text.itertext()) for text in sheet.findall(f"{SVG}text"))
    for card in cards:
        assert re.search(r"Map \d+", card)[0] in around
        assert all(number in around for number in re.findall(r"\d+%", card))
    assert "map weight" not in around
    assert around.endswith("Credit: Princeton")
    with at.download(tmp_path) as saved:
        at.save("PNG")
    width, height = struct.unpack(">II", saved[0].read_bytes()[16:24])
    assert width == pytest.approx(2 * float(sheet.get("width")), abs=2)
    assert height == pytest.approx(2 * float(sheet.get("height")), abs=2)
    assert at.page.get_by_role("alert").count() == 0


def test_a_picture_says_what_its_colours_are(open_page, tiny_page, tmp_path):
    at = open_page(tiny_page, "#map=0")
    at.settle()
    with at.download(tmp_path) as saved:
        at.save("SVG")
    sheet = ElementTree.parse(saved[0]).getroot()
    around = ["".join(text.itertext()) for text in sheet.findall(f"{SVG}text")]
    keys = at.texts(at.legend.get_by_role("button"))
    keys = [key for key in keys if key != "only"]
    assert around[2:5] == [f"\u25cf\u00a0{key}" for key in keys]
    swatches = {mark.get("fill") for mark in sheet.iter(f"{SVG}tspan")}
    shown = at.legend.locator("circle").evaluate_all(
        "all => all.map(one => one.getAttribute('fill'))"
    )
    assert set(shown) <= swatches


def test_the_csv_is_the_selection(at, relations, tmp_path):
    box = at.box()
    at.take("Select with a lasso", "l")
    corner = np.array([box["x"] + 0.35 * box["width"], box["y"] + 0.35 * box["height"]])
    ways = np.multiply(0.3, [[0, 0], [1, 0], [1, 1], [0, 1]])
    at.drag(corner + ways * [box["width"], box["height"]])
    at.selection.wait_for()
    chosen = at.selected
    assert len(chosen) > 3
    with at.download(tmp_path) as saved:
        at.selection.get_by_role("button", name="CSV").click()
    with saved[0].open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["label", "map", "weight", "observed", "x", "y"]
    assert {row["label"] for row in rows} == set(chosen)
    found = {(row["label"], int(row["map"])): row for row in rows}
    assert len(found) == len(rows)
    lives = relations.proportions > 1 / 65535
    expected = {
        (label, int(m))
        for label in chosen
        for m in np.flatnonzero(lives[:, relations.index(label)])
    }
    assert expected <= set(found)
    senses = {label: relations.senses(label) for label in chosen}
    for (label, m), row in found.items():
        i = relations.index(label)
        assert float(row["weight"]) == pytest.approx(relations.map_weights[m, i], abs=1e-4)
        shares = [sense.share for sense in senses[label] if sense.map == m]
        assert float(row["observed"]) == pytest.approx(sum(shares), abs=1e-4)
        place = [float(row["x"]), float(row["y"])]
        np.testing.assert_allclose(place, relations.maps[m, i], atol=0.02)
