"""One cannot lose a map: no view is empty, and what a word is near is pointed to from anywhere."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

MAP = 0


def dots_in_sight(at, atlas):
    """How many objects that the map shows lie within the view."""
    objects = np.flatnonzero(atlas.map_weights[MAP] >= 0.1)
    box = at.box()
    places = at.points(atlas.maps[MAP, objects]) - [box["x"], box["y"]]
    return int(((places > 0) & (places < [box["width"], box["height"]])).all(axis=1).sum())


@pytest.mark.parametrize(
    "place", ["zoom=1e12&x=3&y=2", "zoom=1e-9&x=1e9&y=-1e11", "zoom=9&x=900&y=0"]
)
def test_no_address_opens_a_blank(open_page, relations, relations_page, place):
    at = open_page(relations_page, f"#map={MAP}&{place}")
    at.map.wait_for()
    at.settle()
    assert dots_in_sight(at, relations) > 0
    assert at.becomes("!/1e12|1e-9|900/.test(location.hash)")


@pytest.fixture(scope="module")
def shared(open_shared, relations_page):
    opened = open_shared(relations_page, f"#map={MAP}", reduced_motion="reduce")
    opened.map.wait_for()
    return opened


@pytest.fixture
def at(shared):
    shared.reset(MAP)
    return shared


def test_no_gesture_leaves_the_map(at, relations):
    box = at.box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    for way in ([300, 0], [0, 200], [-300, 0]):
        for _ in range(5):
            at.drag([middle, middle + way])
        at.settle()
        assert dots_in_sight(at, relations) > 0
    at.page.mouse.move(*(middle + 40))
    for _ in range(20):
        at.page.mouse.wheel(0, -600)
    at.settle()
    assert dots_in_sight(at, relations) > 0
    for camera in ({"x": None, "y": 0, "zoom": 5}, {"x": 0, "y": 1e300, "zoom": None}):
        at.read(
            "atlas.change({ camera: given })", {k: v or float("nan") for k, v in camera.items()}
        )
        at.settle()
        assert np.isfinite(list(at.camera.values())).all()
        assert dots_in_sight(at, relations) > 0


def pointed_to(at):
    """The labels that stand by arrows, and where the arrows are."""
    return at.read("atlas.shown().filter(({ arrow }) => arrow).map((label) => ({ ...label }))")


def top_at(at, label):
    """The role of what lies on top at the middle of a label."""
    box = at.box()
    middle = (
        box["x"] + label["x"] + label["width"] / 2,
        box["y"] + label["y"] + label["height"] / 2,
    )
    return at.page.evaluate(
        "([x, y]) => document.querySelector('#manymaps').shadowRoot.elementFromPoint(x, y).role",
        middle,
    )


def test_what_a_word_is_near_is_pointed_to(at, relations):
    # With neighbours that lie apart.
    many = "(sense) => sense.map === given && sense.neighbors.length > 5"
    word = at.read(f"atlas.atlas.labels.findIndex((_, i) => atlas.senses(i).some({many}))", MAP)
    at.read("atlas.chooseWord(given)", word)
    at.settle()
    assert pointed_to(at) == []
    point = relations.maps[MAP, word]
    at.read("atlas.change({ camera: { x: given[0], y: given[1], zoom: 60 * atlas.camera.zoom } })",
            point.tolist())  # fmt: skip
    at.settle()
    beyond = pointed_to(at)
    assert beyond
    box = at.box()
    for label in beyond:
        way = (relations.maps[MAP, label["object"]] - point) * [1, -1]
        arrow = label["arrow"]
        turn = np.angle(np.exp(1j * (np.arctan2(way[1], way[0]) - arrow["angle"])))
        assert abs(turn) < 0.6
        assert 0 < arrow["x"] < box["width"]
        assert 0 < arrow["y"] < box["height"]
        assert top_at(at, label) == "application"
    first = beyond[0]
    zoom = at.camera["zoom"]
    at.page.mouse.click(
        box["x"] + first["x"] + first["width"] / 2, box["y"] + first["y"] + first["height"] / 2
    )
    at.settle()
    place = at.points(relations.maps[MAP, [first["object"]]])[0]
    np.testing.assert_allclose(
        place, [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2], atol=3
    )
    assert at.camera["zoom"] == pytest.approx(zoom)
    assert at.selected == []
    at.map.focus()
    at.page.keyboard.press("n")
    at.settle()
    assert at.camera["zoom"] == pytest.approx(zoom)
