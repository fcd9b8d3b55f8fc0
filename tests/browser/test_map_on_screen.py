"""The open map: pan, zoom, hover, select, by mouse and finger; flights."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

MAP = 0


@pytest.fixture(scope="module")
def shared(open_shared, relations_page):
    opened = open_shared(relations_page, f"#map={MAP}")
    opened.map.wait_for()
    return opened


@pytest.fixture
def at(shared):
    """The first map of the word relations."""
    shared.reset(MAP)
    return shared


def lonely_point(at, atlas):
    """An object in the middle of the screen with none near it, and where it is."""
    objects = np.flatnonzero(atlas.map_weights[MAP] >= 0.1)
    points, box = at.points(atlas.maps[MAP, objects]), at.box()
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + np.diag(np.full(len(points), 1e9))
    places = (points - [box["x"], box["y"]]) / [box["width"], box["height"]]
    inside = ((places > [0.2, 0.25]) & (places < 0.8)).all(axis=1)
    best = np.argmax(np.where(inside, gaps.min(axis=1), -1))
    return atlas.labels[objects[best]], points[best]


def moved(before, after):
    """Pixels that a map has moved."""
    way = np.array([after["x"] - before["x"], after["y"] - before["y"]])
    return way * before["zoom"]


def test_wheel_drag_and_keys_move_it(at):
    box, whole = at.box(), at.camera
    place = np.array([0.3 * box["width"], 0.6 * box["height"]])
    at.page.mouse.move(*np.add(place, [box["x"], box["y"]]))
    for _ in range(4):
        at.page.mouse.wheel(0, -120)
    at.settle()
    near = at.camera
    assert near["zoom"] > 1.5 * whole["zoom"]
    middle = np.array([box["width"], box["height"]]) / 2
    under = [
        np.array([camera["x"], camera["y"]]) + (place - middle) * [1, -1] / camera["zoom"]
        for camera in (whole, near)
    ]
    np.testing.assert_allclose(under[1], under[0], atol=1 / whole["zoom"])
    start = np.add(middle, [box["x"], box["y"]])
    at.drag([start, np.add(start, [-150, 90])])
    at.settle()
    np.testing.assert_allclose(moved(near, at.camera), [150, 90], atol=2)
    assert at.selected == []
    at.map.focus()
    for key, axis, sign in (("ArrowRight", "x", 1), ("ArrowUp", "y", 1), ("ArrowLeft", "x", -1)):
        before = at.camera[axis]
        at.page.keyboard.press(key)
        assert sign * (at.camera[axis] - before) > 0
    at.button("Zoom out").click()
    at.button("Show all").click()
    at.settle()
    assert at.camera == pytest.approx(whole)
    at.page.keyboard.press("]")
    assert at.becomes("atlas.state.map === 1")


def test_hover_click_and_double_click(at, relations):
    word, point = lonely_point(at, relations)
    at.page.mouse.move(*point)
    at.tip.wait_for()
    said = at.tip.inner_text()
    assert said.startswith(word)
    others = np.flatnonzero(relations.map_weights[:, relations.index(word)] >= 0.1)
    assert ("also in" in said) == (len(others) > 1)
    at.page.mouse.move(1, 1)
    at.tip.wait_for(state="hidden")
    at.page.mouse.click(*point)
    at.selection.wait_for()
    assert at.selected == [word]
    at.selection.get_by_role("button", name="Clear").click()
    assert at.selected == []
    at.page.mouse.dblclick(*point)
    at.senses.wait_for()
    assert at.word == word


@pytest.mark.parametrize("how", ["shift", "tool"])
def test_a_lasso_selects_what_lies_in_it(at, relations, how):
    box = at.box()
    middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.55 * box["height"]])
    radius = 0.3 * min(box["width"], box["height"])
    turn = np.linspace(0, 2 * np.pi, 40)[:-1]
    ring = middle + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    objects = np.flatnonzero(relations.map_weights[MAP] >= 0.1)
    distances = np.linalg.norm(at.points(relations.maps[MAP, objects]) - middle, axis=1)
    labels = np.array(relations.labels)[objects]
    before = at.camera
    if how == "tool":
        at.page.keyboard.press("l")
        at.expect(at.button("Select with a lasso")).to_have_attribute("aria-pressed", "true")
    at.drag(ring, *(["Shift"] if how == "shift" else []))
    at.selection.wait_for()
    # A ring of 39 corners lies within a fraction of a pixel of the circle.
    assert (distances < radius - 3).sum() > 5
    assert set(labels[distances < radius - 3]) <= set(at.selected)
    assert not set(labels[distances > radius + 2]) & set(at.selected)
    assert at.camera == before


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_flights_are_smooth_unless_motion_is_not_wanted(open_page, relations_page, motion):
    at = open_page(relations_page, "#word=bank&map=0", reduced_motion=motion)
    at.map.wait_for()
    at.settle()
    for _ in range(3):
        at.button("Zoom in").click()
    at.settle()
    zooms = at.page.evaluate(
        """async () => {
          const { atlas, shadowRoot } = document.querySelector("#manymaps"), zooms = [];
          shadowRoot.querySelector("[aria-label='Show all']").click();
          for (let frame = 0; frame < 8; frame++) {
            zooms.push(atlas.camera.zoom);
            await new Promise(requestAnimationFrame);
          }
          return zooms;
        }"""
    )
    n_steps = len(set(zooms))
    assert n_steps <= 2 if motion == "reduce" else n_steps > 3


class Fingers:
    """Touches of a screen, as the browser's own protocol sends them."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)

    def send(self, kind: str, points) -> None:
        touches = [
            {"x": float(x), "y": float(y), "id": finger} for finger, (x, y) in enumerate(points)
        ]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def move(self, before, after, steps: int = 6) -> None:
        before, after = np.array(before), np.array(after)
        self.send("touchStart", before)
        for step in range(1, steps + 1):
            self.send("touchMove", before + (after - before) * step / steps)
        self.send("touchEnd", [])


def test_fingers_pan_zoom_and_select(open_page, relations, relations_page):
    at = open_page(
        relations_page, f"#map={MAP}", viewport={"width": 390, "height": 800}, has_touch=True,
        is_mobile=True, device_scale_factor=2,
    )  # fmt: skip
    at.map.scroll_into_view_if_needed()
    at.settle()
    fingers, box, whole = Fingers(at.page), at.box(), at.camera
    word, point = lonely_point(at, relations)
    at.page.touchscreen.tap(*point)
    assert at.becomes("atlas.state.selection.length === 1")
    assert at.selected == [word]
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + 0.4 * box["height"]])
    fingers.move([middle], [np.add(middle, [-80, 60])])
    at.settle()
    panned = at.camera
    np.testing.assert_allclose(moved(whole, panned), [80, 60], atol=16)
    apart = np.array([40, 10])
    fingers.move([middle - apart, middle + apart], [middle - 2.5 * apart, middle + 2.5 * apart])
    at.settle()
    assert at.camera["zoom"] / panned["zoom"] == pytest.approx(2.5, rel=0.1)
