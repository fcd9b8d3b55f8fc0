"""One cannot lose a map: no view is empty, and what a word is near is pointed to from anywhere."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

MAP = 0


def dots_in_sight(at, atlas):
    """How many objects that the map shows lie within the view."""
    return at.in_sight(atlas.maps[MAP, atlas.map_weights[MAP] >= 0.1]).sum()


@pytest.fixture
def at(open_page, relations_page):
    opened = open_page(relations_page, f"#map={MAP}", reduced_motion="reduce")
    opened.map.wait_for()
    opened.settle()
    return opened


@pytest.mark.parametrize("place", ["zoom=1e12&x=3&y=2", "zoom=1e-9&x=1e9&y=-1e11"])
def test_no_address_opens_a_blank(open_page, relations, relations_page, place):
    at = open_page(relations_page, f"#map={MAP}&{place}")
    at.map.wait_for()
    at.settle()
    assert dots_in_sight(at, relations) > 0
    assert at.becomes("!/1e12|1e-9/.test(location.hash)")


def test_no_gesture_leaves_the_map(at, relations):
    box = at.box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    for way in ([300, 0], [0, 200]):
        for _ in range(5):
            at.drag([middle, middle + np.array(way)])
        at.settle()
        assert dots_in_sight(at, relations) > 0
    at.page.mouse.move(*(middle + 40))
    for _ in range(20):
        at.page.mouse.wheel(0, -600)
    at.settle()
    assert dots_in_sight(at, relations) > 0
    at.read("atlas.change({ camera: { x: NaN, y: 1e300, zoom: NaN } })")
    at.settle()
    assert np.isfinite(list(at.camera.values())).all()
    assert dots_in_sight(at, relations) > 0


def test_what_a_word_is_near_is_pointed_to(at, relations):
    # With neighbours that lie apart.
    many = "(sense) => sense.map === given && sense.neighbors.length > 5"
    word = at.read(f"atlas.atlas.labels.findIndex((_, i) => atlas.senses(i).some({many}))", MAP)
    at.read("atlas.chooseWord(given)", word)
    at.settle()
    pointed = "atlas.shown().filter(({ arrow }) => arrow).map((label) => ({ ...label }))"
    assert at.read(pointed) == []
    point = relations.maps[MAP, word]
    at.read("atlas.change({ camera: { x: given[0], y: given[1], zoom: 60 * atlas.camera.zoom } })",
            point.tolist())  # fmt: skip
    at.settle()
    beyond, box = at.read(pointed), at.box()
    assert beyond
    for label in beyond:
        way = (relations.maps[MAP, label["object"]] - point) * [1, -1]
        arrow = label["arrow"]
        turn = np.angle(np.exp(1j * (np.arctan2(way[1], way[0]) - arrow["angle"])))
        assert abs(turn) < 0.6
        assert 0 < arrow["x"] < box["width"]
        assert 0 < arrow["y"] < box["height"]
    first, zoom = beyond[0], at.camera["zoom"]
    at.page.mouse.click(
        box["x"] + first["x"] + first["width"] / 2, box["y"] + first["y"] + first["height"] / 2
    )
    at.settle()
    place = at.points(relations.maps[MAP, [first["object"]]])[0]
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    np.testing.assert_allclose(place, middle, atol=3)
    assert at.camera["zoom"] == pytest.approx(zoom)
    assert at.selected == []
