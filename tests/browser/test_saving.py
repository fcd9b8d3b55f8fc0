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


def saved_svg(at, folder):
    """A saved sheet, and the texts around its maps."""
    sheet = ElementTree.parse(at.save("SVG", folder)).getroot()
    return sheet, ["".join(text.itertext()) for text in sheet.findall(f"{SVG}text")]


def assert_png_of(at, sheet, folder):
    """The PNG has two pixels per unit of the SVG."""
    content = at.save("PNG", folder).read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000
    expected = [2 * float(sheet.get(side)) for side in ("width", "height")]
    assert struct.unpack(">II", content[16:24]) == pytest.approx(expected, abs=2)


def test_the_open_map_is_saved_as_it_is_seen(at, relations, tmp_path):
    at.look_up("bank")
    at.settle()
    at.map.focus()
    at.page.keyboard.press("+")
    at.settle()
    sheet, around = saved_svg(at, tmp_path)
    assert around[0] == "Word relations"
    assert f"Map {at.open_map}: " in around[1]
    assert "bank" in around[1]
    assert around[-1] == "Source: WordNet \u00b7 2006 \u00b7 Credit: Princeton"
    assert_png_of(at, sheet, tmp_path)
    root = sheet.find(f"{SVG}svg")
    box = at.box()
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    names = at.read("atlas.names().map(({ text }) => text)")
    assert sorted(texts) == sorted([*names, *(label["text"] for label in at.shown)])
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]
    drawn = relations.maps[at.open_map, relations.map_weights[at.open_map] >= 0.1]
    points = at.points(drawn)[at.in_sight(drawn)] - [box["x"], box["y"]]
    gaps = np.linalg.norm(points[:, None] - np.array(dots), axis=2).min(axis=1)
    assert gaps.max() < 0.2


@pytest.mark.parametrize("part", ["senses", "maps"])
def test_senses_and_all_maps_are_saved(at, relations, tmp_path, part):
    """As many maps as cards, each with its caption; and a PNG of the same size."""
    at.button("All maps").click()
    at.sheets.first.wait_for()
    if part == "senses":
        at.look_up(next(word for word in relations.labels if len(relations.senses(word)) > 1))
        at.expect(at.cards.nth(1)).to_be_visible()
    cards = at.texts(at.cards if part == "senses" else at.sheets)
    sheet, around = saved_svg(at, tmp_path)
    assert len(sheet.findall(f"{SVG}svg")) == len(cards) > 1
    for card in cards:
        assert re.search(r"Map \d+", card)[0] in around
        assert all(number in " ".join(around) for number in re.findall(r"\d+%", card))
    assert_png_of(at, sheet, tmp_path)


def test_a_picture_says_what_its_colours_are(open_page, tiny_page, tmp_path):
    at = open_page(tiny_page, "#map=0")
    at.settle()
    _, around = saved_svg(at, tmp_path)
    assert around[2:5] == [f"\u25cf\u00a0{key}" for key in at.keys.all_inner_texts()]


def test_the_csv_is_the_selection(at, relations, tmp_path):
    at.read("atlas.select([3, 40, 500])")
    with at.download(tmp_path) as saved:
        at.selection.get_by_role("button", name="CSV").click()
    with saved[0].open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["label", "map", "weight", "observed", "x", "y"]
    found = {(row["label"], int(row["map"])): row for row in rows}
    assert len(found) == len(rows)
    for i in (3, 40, 500):
        label = relations.labels[i]
        lives = np.flatnonzero(relations.proportions[:, i] > 1 / 65535).tolist()
        assert {(label, m) for m in lives} <= set(found)
        for m in lives:
            row = found[label, m]
            assert float(row["weight"]) == pytest.approx(relations.map_weights[m, i], abs=1e-4)
            shares = [sense.share for sense in relations.senses(label) if sense.map == m]
            assert float(row["observed"]) == pytest.approx(sum(shares), abs=1e-4)
            place = [float(row["x"]), float(row["y"])]
            np.testing.assert_allclose(place, relations.maps[m, i], atol=0.02)
