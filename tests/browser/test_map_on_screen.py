"""The open map: pan, zoom, hover, select, by mouse, keyboard and finger; and flights."""

import re

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


def visible(atlas, threshold=0.1):
    """The objects that a map shows."""
    return np.flatnonzero(atlas.map_weights[MAP] >= threshold)


def names(atlas, objects):
    return sorted(atlas.labels[i] for i in objects)


def a_lonely_point(at, atlas):
    """An object in the middle of the screen with none near it, and where it is."""
    objects = visible(atlas)
    points, box = at.points(atlas.maps[MAP, objects]), at.box()
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + np.diag(np.full(len(points), 1e9))
    low = np.array([box["x"], box["y"]])
    inside = ((points - low) / [box["width"], box["height"]] > [0.2, 0.25]).all(axis=1)
    inside &= ((points - low) / [box["width"], box["height"]] < [0.8, 0.8]).all(axis=1)
    best = np.argmax(np.where(inside, gaps.min(axis=1), -1))
    return objects[best], points[best]


def test_the_wheel_zooms_about_the_pointer(at):
    box, before = at.box(), at.camera
    x, y = 0.3 * box["width"], 0.6 * box["height"]
    at.page.mouse.move(box["x"] + x, box["y"] + y)
    for _ in range(4):
        at.page.mouse.wheel(0, -120)
    at.settle()
    after = at.camera
    assert after["zoom"] > 1.5 * before["zoom"]

    def under(camera):
        right, down = x - box["width"] / 2, y - box["height"] / 2
        return camera["x"] + right / camera["zoom"], camera["y"] - down / camera["zoom"]

    np.testing.assert_allclose(under(after), under(before), atol=1 / before["zoom"])


def test_a_drag_moves_the_map(at):
    box, before = at.box(), at.camera
    start = np.array([box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"]])
    at.drag([start, start + np.array([-150, 90])])
    at.settle()
    after = at.camera
    moved = np.array([after["x"] - before["x"], after["y"] - before["y"]]) * before["zoom"]
    np.testing.assert_allclose(moved, [150, 90], atol=2)
    assert after["zoom"] == before["zoom"]
    assert at.selected == []


def test_buttons_and_keys_move_it(at):
    whole = at.camera
    at.button("Zoom in").click()
    at.settle()
    assert at.camera["zoom"] > 1.3 * whole["zoom"]
    at.button("Zoom out").click()
    at.settle()
    assert at.camera["zoom"] == pytest.approx(whole["zoom"])
    at.map.focus()
    for key, axis, sign in (
        ("ArrowRight", "x", 1), ("ArrowLeft", "x", -1), ("ArrowUp", "y", 1), ("ArrowDown", "y", -1),
    ):  # fmt: skip
        before = at.camera[axis]
        at.page.keyboard.press(key)
        assert sign * (at.camera[axis] - before) > 0
    at.page.keyboard.press("+")
    at.button("Show all").click()
    at.settle()
    assert at.camera == pytest.approx(whole)
    at.page.keyboard.press("]")
    assert at.becomes("atlas.state.map === 1")
    at.page.keyboard.press("[")
    assert at.becomes("atlas.state.map === 0")


def test_what_hovers_says_where_else_it_lives(at, relations):
    word, point = a_lonely_point(at, relations)
    at.page.mouse.move(*point)
    at.tip.wait_for()
    said = at.tip.inner_text()
    assert relations.labels[word] in said
    shares = [s.share for s in relations.senses(relations.labels[word]) if s.map == MAP]
    here = float(re.search(r"([\d.]+)% observed here", said)[1])
    assert here == pytest.approx(100 * sum(shares), abs=0.5)
    others = [m for m in np.flatnonzero(relations.map_weights[:, word] >= 0.1) if m != MAP]
    assert ("also in" in said) == bool(others)
    listed = re.search(r"also in .*", said)
    assert all(re.search(rf"\b{m}\b", listed[0]) for m in others)
    at.page.mouse.move(1, 1)
    at.tip.wait_for(state="hidden")


def test_clicks_select(at, relations):
    word, point = a_lonely_point(at, relations)
    at.page.mouse.click(*point)
    at.selection.wait_for()
    assert at.selected == [relations.labels[word]]
    other = next(label for label in reversed(at.shown) if label["object"] != word)
    box = at.box()
    at.page.keyboard.down("Control")
    at.page.mouse.click(
        box["x"] + other["x"] + other["width"] / 2, box["y"] + other["y"] + other["height"] / 2
    )
    at.page.keyboard.up("Control")
    assert at.becomes("atlas.state.selection.length === 2")
    assert relations.labels[word] in at.selected
    at.expect(at.status).to_contain_text("2 words selected")
    at.selection.get_by_role("button", name="Clear").click()
    assert at.selected == []


def test_a_double_click_looks_the_word_up(at, relations):
    word, point = a_lonely_point(at, relations)
    at.page.mouse.dblclick(*point)
    at.senses.wait_for()
    assert at.word == relations.labels[word]


@pytest.mark.parametrize("how", ["shift", "tool"])
def test_a_lasso_selects_what_lies_in_it(at, relations, how):
    box = at.box()
    middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.55 * box["height"]])
    radius = 0.3 * min(box["width"], box["height"])
    turn = np.linspace(0, 2 * np.pi, 40)[:-1]
    ring = middle + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    objects = visible(relations)
    distances = np.linalg.norm(at.points(relations.maps[MAP, objects]) - middle, axis=1)
    before = at.camera
    if how == "tool":
        at.take("Select with a lasso", "l")
    at.drag(ring, *(["Shift"] if how == "shift" else []))
    at.selection.wait_for()
    # A ring of 39 corners lies within a fraction of a pixel of the circle.
    assert (distances < radius - 3).sum() > 5
    assert set(names(relations, objects[distances < radius - 3])) <= set(at.selected)
    assert not set(names(relations, objects[distances > radius + 2])) & set(at.selected)
    assert at.camera == before


def test_the_threshold_hides_words(at, relations):
    few = {label["object"] for label in at.shown}
    at.threshold.focus()
    for _ in range(4):
        at.page.keyboard.press("PageUp")
    assert at.becomes("atlas.state.threshold > 0.3")
    at.settle()
    threshold = at.read("atlas.state.threshold")
    now = {label["object"] for label in at.shown}
    assert now
    assert now != few
    assert (relations.map_weights[MAP, sorted(now)] >= threshold - 1e-4).all()
    at.page.keyboard.press("Home")
    assert at.becomes("atlas.state.threshold === 0")
    at.settle()
    assert len(at.shown) >= len(now)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_reduced_motion(open_page, relations_page, motion):
    from page_driver import HOST

    at = open_page(relations_page, "#word=bank&map=0", reduced_motion=motion)
    at.map.wait_for()
    at.settle()
    for _ in range(3):
        at.button("Zoom in").click()
    at.settle()
    zooms = at.page.evaluate(
        f"""async name => {{
          const atlas = {HOST}, zooms = [];
          document.querySelector("#manymaps").shadowRoot
            .querySelector(`[aria-label="${{name}}"]`).click();
          for (let frame = 0; frame < 8; frame++) {{
            zooms.push(atlas.camera.zoom);
            await new Promise(requestAnimationFrame);
          }}
          return zooms;
        }}""",
        "Show all",
    )
    if motion == "reduce":
        assert len(set(zooms)) <= 2
    else:
        # It flies out, by many small steps.
        assert len(set(zooms)) > 3
        assert zooms[-1] < zooms[0]


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


@pytest.fixture(scope="module")
def shared_phone(open_shared, relations_page):
    at = open_shared(
        relations_page, f"#map={MAP}", viewport={"width": 390, "height": 800}, has_touch=True,
        is_mobile=True, device_scale_factor=2,
    )  # fmt: skip
    at.map.wait_for()
    return at


@pytest.fixture
def phone(shared_phone):
    shared_phone.reset(MAP)
    shared_phone.map.scroll_into_view_if_needed()
    return shared_phone


def test_a_finger_pans(phone):
    box, before = phone.box(), phone.camera
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    Fingers(phone.page).move([middle], [middle + np.array([-80, 60])])
    phone.settle()
    after = phone.camera
    moved = np.array([after["x"] - before["x"], after["y"] - before["y"]]) * before["zoom"]
    np.testing.assert_allclose(moved, [80, 60], atol=16)
    assert phone.page.evaluate("scrollY") == 0 or phone.box() == box


def test_two_fingers_zoom(phone):
    box, before = phone.box(), phone.camera
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    apart = np.array([40, 10])
    fingers = Fingers(phone.page)
    fingers.move([middle - apart, middle + apart], [middle - 2.5 * apart, middle + 2.5 * apart])
    phone.settle()
    after = phone.camera
    assert after["zoom"] / before["zoom"] == pytest.approx(2.5, rel=0.1)
    moved = np.array([after["x"] - before["x"], after["y"] - before["y"]]) * before["zoom"]
    np.testing.assert_allclose(moved, 0, atol=10)


def test_a_tap_selects(phone, relations):
    word, point = a_lonely_point(phone, relations)
    phone.page.touchscreen.tap(*point)
    assert phone.becomes("atlas.state.selection.length === 1")
    assert phone.selected == [relations.labels[word]]
