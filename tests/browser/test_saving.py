"""What the page saves: the picture as PNG and SVG, the selection as CSV."""

import csv
import struct
from xml.etree import ElementTree

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def shared(open_shared, relations_page):
    return open_shared(relations_page, "#map=1")


@pytest.fixture
def at(shared):
    shared.map.wait_for()
    shared.reset(1)
    return shared


def test_the_png_is_twice_the_size(at, tmp_path):
    with at.download(tmp_path) as saved:
        at.button("PNG").click()
    content = saved[0].read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    box = at.box()
    assert (width, height) == (round(2 * box["width"]), round(2 * box["height"]))
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
        at.button("SVG").click()
    root = ElementTree.parse(saved[0]).getroot()
    assert root.tag == f"{SVG}svg"
    box = at.box()
    assert float(root.get("width")) == pytest.approx(box["width"], abs=0.1)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    names = at.read("atlas.names().map(({ text }) => text)")
    assert sorted(texts) == sorted([*names, *(label["text"] for label in at.shown)])
    assert len(texts) > 5
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]
    map = at.open_map
    there = relations.maps[map, relations.map_shares[map] >= 0.1]
    points = at.points(there) - [box["x"], box["y"]]
    inside = ((points > 0) & (points < [box["width"], box["height"]])).all(axis=1)
    gaps = np.linalg.norm(points[inside][:, None] - np.array(dots), axis=2).min(axis=1)
    assert gaps.max() < 0.2


def test_the_csv_is_the_selection(at, relations, tmp_path):
    box = at.box()
    at.take("Select in a box", "b")
    corner = np.array([box["x"] + 0.35 * box["width"], box["y"] + 0.35 * box["height"]])
    at.drag([corner, corner + np.multiply(0.3, [box["width"], box["height"]])])
    at.selection.wait_for()
    chosen = at.selected
    assert len(chosen) > 3
    with at.download(tmp_path) as saved:
        at.selection.get_by_role("button", name="CSV").click()
    with saved[0].open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["label", "map", "proportion", "recall", "observed", "x", "y"]
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
        assert float(row["proportion"]) == pytest.approx(relations.proportions[m, i], abs=1e-4)
        assert float(row["recall"]) == pytest.approx(relations.map_shares[m, i], abs=1e-4)
        shares = [sense.share for sense in senses[label] if sense.map == m]
        assert float(row["observed"]) == pytest.approx(sum(shares), abs=1e-4)
        place = [float(row["x"]), float(row["y"])]
        np.testing.assert_allclose(place, relations.maps[m, i], atol=0.02)


def test_the_words_in_view_are_selected_at_once(at, relations):
    at.button("Select these objects").click()
    at.selection.wait_for()
    assert sorted(at.selected) == sorted(relations.labels[label["object"]] for label in at.shown)
