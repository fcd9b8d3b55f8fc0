"""What is easily lost between one state and the next: hover, flights, previews, focus, clicks."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

pytestmark = pytest.mark.slow


@pytest.fixture
def at(open_page, relations_page):
    return open_page(relations_page, "#map=2")


def dot(at, entry: int) -> tuple[float, float]:
    """Where a dot of the open map is in the window."""
    x, y = at.read(
        "[...atlas.atlas.maps[atlas.state.map].points.slice(2 * given, 2 * given + 2)]", entry
    )
    camera, box = at.camera, at.box()
    return (
        box["x"] + (x - camera["x"]) * camera["zoom"] + box["width"] / 2,
        box["y"] + (camera["y"] - y) * camera["zoom"] + box["height"] / 2,
    )


def looks_alike(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two cameras differ by less than a pixel; an address has rounded ones."""
    near = 1 / other["zoom"]
    return (
        one["zoom"] == pytest.approx(other["zoom"], rel=1e-3)
        and one["x"] == pytest.approx(other["x"], abs=near)
        and one["y"] == pytest.approx(other["y"], abs=near)
    )


def test_what_hovers_goes_with_its_map(at):
    at.settle()
    sizes = at.read("atlas.atlas.maps.map(map => map.objects.length)")
    largest = int(np.argmax(sizes))
    at.read("atlas.openMap(given)", largest)
    at.settle()
    last = max(at.shown, key=lambda label: label["entry"])
    box = at.box()
    at.page.mouse.move(
        box["x"] + last["x"] + last["width"] / 2, box["y"] + last["y"] + last["height"] / 2
    )
    at.tip.wait_for()
    at.page.keyboard.press("]")
    at.settle()
    at.expect(at.tip).to_have_count(0)
    at.page.keyboard.press("g")
    at.expect(at.sheets.first).to_be_visible()


def test_a_map_that_opens_during_a_flight_is_fitted(at):
    at.settle()
    fitted = at.camera
    at.page.keyboard.press("m")
    for _ in range(4):
        at.page.keyboard.press("+")
    at.settle()
    at.page.keyboard.press("0")
    at.page.keyboard.press("]")
    at.settle()
    assert at.open_map == 3
    other = at.camera
    assert other != fitted
    at.read("atlas.openMap(4)")
    at.settle()
    at.read("atlas.openMap(3)")
    at.settle()
    assert at.camera == other


def test_a_click_after_a_drag_selects(at):
    at.settle()
    box = at.box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 40
    at.page.mouse.move(x, y)
    at.page.mouse.down()
    at.page.mouse.move(x + 50, y - 30, steps=3)
    at.page.mouse.up()
    at.settle()
    at.page.keyboard.press("l")
    label = at.shown[-1]
    at.page.mouse.click(*dot(at, label["entry"]))
    assert at.becomes("atlas.state.selection.length === 1")


def test_escape_gives_up_a_lasso_alone(at):
    at.settle()
    at.page.keyboard.press("m")
    at.read("atlas.select([1, 2])")
    at.page.keyboard.press("l")
    box = at.box()
    at.page.mouse.move(box["x"] + 200, box["y"] + 200)
    at.page.mouse.down()
    at.page.mouse.move(box["x"] + 400, box["y"] + 400, steps=3)
    at.page.keyboard.press("Escape")
    at.page.mouse.up()
    assert len(at.selected) == 2
    assert at.open_map == 2


def test_previews_are_no_steps(open_page, tiny_page):
    at = open_page(tiny_page)
    at.look_up("tie")
    assert at.becomes("location.hash.includes('word=tie')")
    at.search.focus()
    at.page.keyboard.type("kno")
    assert at.becomes("atlas.atlas.labels[atlas.state.word] === 'knot'")
    assert "word=tie" in at.address
    at.page.keyboard.press("Tab")
    at.page.keyboard.press("Tab")
    assert at.becomes("location.hash.includes('word=knot')")
    at.page.go_back()
    assert at.becomes("location.hash.includes('word=tie')")
    assert at.word == "tie"
    at.expect(at.search).to_have_value("tie")
    at.search.fill("")
    at.page.keyboard.press("Escape")
    assert at.word == "tie"


def test_nothing_is_typed_into_what_went_back(open_page, tiny_page):
    at = open_page(tiny_page)
    at.look_up("tie")
    assert at.becomes("location.hash.includes('word=tie')")
    at.search.fill("mat")
    assert at.becomes("atlas.atlas.labels[atlas.state.word] === 'match'")
    at.page.go_back()
    assert at.becomes("atlas.state.word === null")
    at.expect(at.search).to_have_value("")


# Frames come so late that every timer of the page is over before them.
LATE = """
  requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 400);
  cancelAnimationFrame = clearTimeout;
"""


# A title consists of the names of islands, which are words separated by commas.
FIRST_OF_TITLE = (
    "atlas.chooseWord(atlas.atlas.labels.indexOf(atlas.atlas.maps[given].title[0].split(', ')[0]))"
)


@pytest.mark.parametrize("soon", [True, False])
@pytest.mark.parametrize("map", [0, 2])
def test_back_and_forward_bring_the_view_back(open_page, relations_page, map, soon):
    """Out of a flight too; one map is limited by its height, which the senses take from."""
    at = open_page(relations_page, f"#map={map}")
    at.settle()
    whole = at.camera
    at.read(FIRST_OF_TITLE, map)
    assert at.becomes("location.hash.includes('word=')")
    if not soon:
        at.settle()
    at.page.go_back()
    assert at.becomes("atlas.state.word === null")
    at.settle()
    assert at.open_map == map
    assert at.camera == pytest.approx(whole)
    assert at.becomes("atlas.state.camera === null")
    at.page.go_forward()
    assert at.becomes("atlas.state.word !== null")
    at.settle()
    other = open_page(relations_page, f"#word={at.word}&map={map}")
    other.map.wait_for()
    other.settle()
    assert looks_alike(at.camera, other.camera)


def test_late_frames_skip_no_flight_and_tell_no_view_on_its_way(open_page, relations_page):
    at = open_page(relations_page, "#map=2", script=LATE)
    at.settle()
    told = at.page.evaluate(
        """async () => {
          const { atlas } = document.querySelector("#manymaps");
          const [first] = atlas.atlas.maps[2].title[0].split(", ");
          atlas.chooseWord(atlas.atlas.labels.indexOf(first));
          const told = new Set([JSON.stringify(atlas.state.camera)]), zooms = new Set();
          for (let wait = 0; wait < 200 && (wait < 10 || !atlas.isAtRest); wait++) {
            await new Promise((then) => setTimeout(then, 50));
            told.add(JSON.stringify(atlas.state.camera));
            zooms.add(atlas.camera.zoom);
          }
          return [[...told], JSON.stringify(atlas.camera), zooms.size];
        }"""
    )
    assert told[0] == ["null", told[1]]
    assert told[2] > 4


def press_at_once(at, *keys: str) -> None:
    """Press keys on the open map, one right after the other, with no frame between them."""
    at.page.evaluate(
        """keys => {
          const { shadowRoot } = document.querySelector("#manymaps");
          const map = shadowRoot.querySelector("[role=application]");
          for (const key of keys) {
            map.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
          }
        }""",
        keys,
    )


def test_a_flight_that_is_left_has_landed(open_page, relations_page):
    """What is left during a flight is found again where the flight would have ended."""
    at = open_page(relations_page, "#map=2")
    at.settle()
    whole = at.camera
    at.page.keyboard.press("m")
    for _ in range(3):
        at.page.keyboard.press("+")
    at.settle()
    assert at.camera["zoom"] > 3 * whole["zoom"]
    press_at_once(at, "0", "]")
    assert at.becomes("location.hash.includes('map=3')")
    at.settle()
    at.page.go_back()
    assert at.becomes("atlas.state.map === 2")
    at.settle()
    assert at.camera == pytest.approx(whole)


def test_a_view_that_is_left_at_once_is_kept(at):
    at.settle()
    whole = at.camera
    press_at_once(at, "+", "g")
    at.sheets.first.wait_for()
    at.page.go_back()
    at.map.wait_for()
    at.settle()
    assert at.camera["zoom"] == pytest.approx(1.5 * whole["zoom"], rel=1e-3)


def test_a_flight_lands_where_an_address_opens(at, open_page, relations_page):
    at.settle()
    at.read(FIRST_OF_TITLE, 2)
    at.settle()
    other = open_page(relations_page, f"#word={at.word}&map=2")
    other.map.wait_for()
    other.settle()
    assert looks_alike(at.camera, other.camera)


PRESSED = """
  const mark = performance.mark.bind(performance);
  performance.mark = (name, ...more) => {
    const pressed = (key) => new KeyboardEvent("keydown", { key, bubbles: true, composed: true });
    if (name === "manymaps-ready") {
      const { shadowRoot } = document.querySelector("#manymaps");
      shadowRoot.querySelector("[role=application]").dispatchEvent(pressed("-"));
      document.body.dispatchEvent(pressed("/"));
      window.focused = shadowRoot.activeElement?.getAttribute("role");
      document.querySelector("#manymaps").atlas.change({ threshold: 0.25 });
    }
    return mark(name, ...more);
  };
"""


def test_a_page_that_is_ready_hears_keys(open_page, tiny_page):
    """In the very task in which it calls itself ready, before its first frame.

    The key zooms out, because a map of five dots is already as near as it may be.
    """
    at = open_page(tiny_page, "#map=0", script=PRESSED)
    assert at.page.evaluate("window.focused") == "combobox"
    at.expect(at.threshold).to_have_value("0.25")
    at.settle()
    zoomed = at.camera["zoom"]
    at.button("Show all").click()
    at.settle()
    assert 1.2 * zoomed < at.camera["zoom"]


def test_what_is_typed_right_after_enter_stays_in_the_field(at):
    """Enter moves the focus at once, not a frame later, when it may be somewhere else by will."""
    at.look_up("play")
    focused = at.page.evaluate(
        """async () => {
          const { shadowRoot } = document.querySelector("#manymaps");
          const role = () => shadowRoot.activeElement?.getAttribute("role");
          const field = shadowRoot.querySelector("[role=combobox]");
          const keydown = { key: "Enter", bubbles: true, composed: true, cancelable: true };
          field.focus();
          field.dispatchEvent(new KeyboardEvent("keydown", keydown));
          await Promise.resolve();
          const found = role();
          field.focus();
          for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
          return [found, role()];
        }"""
    )
    assert focused == ["application", "combobox"]


def test_the_focus_is_never_lost(at):
    focused = "document.querySelector('#manymaps').shadowRoot.activeElement"
    at.settle()
    at.button("All maps").click()
    assert at.becomes(f"{focused}?.dataset.map === '2'")
    at.page.keyboard.press("Enter")
    assert at.becomes(f"{focused}?.getAttribute('role') === 'application'")
    at.look_up("play")
    at.button("Close the senses").click()
    assert at.becomes(f"{focused} !== null")


def test_shares_reach_their_own_threshold(open_page, tmp_path):
    # Who shares no map with any other object has its proportions.
    proportions = np.array([[0.4, 0.0], [0.3, 0.0], [0.3, 0.0], [0.0, 1.0]])
    atlas = mm.Atlas(["tie", "knot"], np.zeros((4, 2, 2)), proportions, MULTIPLE_MAPS_T_SNE)
    mm.write_page(atlas, tmp_path / "page.html", min_weight=0.3)
    at = open_page(tmp_path / "page.html", "#word=tie")
    at.expect(at.cards).to_have_count(3)


def test_the_usual_colour_switched_off_stays_off(open_page, kinds_page):
    at = open_page(kinds_page)
    usual = at.color.input_value()
    assert usual
    at.color.select_option("")
    assert at.becomes("location.hash.includes('color=')")
    word = at.read("atlas.atlas.labels[atlas.atlas.nObjects - 1]")
    at.look_up(word)
    assert at.becomes("location.hash.includes('word=')")
    at.page.go_back()
    assert at.becomes("atlas.state.word === null")
    assert at.color.input_value() == ""


def test_a_frame_without_an_address(open_page, relations_page, tmp_path):
    """A page in a frame of its own text has no address to keep a view in, and works without."""
    import html

    frame = tmp_path / "frame.html"
    page = html.escape(relations_page.read_text(encoding="utf-8"), quote=True)
    text = f'<iframe srcdoc="{page}" width="1200" height="700"></iframe>'
    frame.write_text(f'<!doctype html><meta charset="utf-8">{text}', "utf-8")
    at = open_page(frame, ready=False)
    inside = type(at)(at.page.frames[1])
    assert inside.becomes("true")
    inside.open(1)
    assert inside.open_map == 1
