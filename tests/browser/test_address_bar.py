"""The address restores word, map, zoom and threshold; back and forward step through them."""

import html

import pytest

pytestmark = pytest.mark.slow


def test_a_view_is_sent(open_page, relations_page):
    at = open_page(relations_page)
    at.look_up("bank")
    at.cards.first.click()
    at.map.wait_for()
    at.settle()
    at.map.focus()
    at.page.keyboard.press("+")
    at.page.keyboard.press("ArrowUp")
    at.threshold.focus()
    at.page.keyboard.press("ArrowRight")
    at.settle()
    assert at.becomes("location.hash.includes('min=0.11') && location.hash.includes('zoom=')")
    other = open_page(relations_page, at.address)
    other.map.wait_for()
    other.settle()
    assert (other.word, other.open_map) == (at.word, at.open_map)
    assert other.read("atlas.state.threshold") == 0.11
    zoom = at.camera["zoom"]
    assert other.camera["zoom"] == pytest.approx(zoom, rel=1e-3)
    assert other.camera["x"] == pytest.approx(at.camera["x"], abs=1 / zoom)
    assert [label["text"] for label in other.shown] == [label["text"] for label in at.shown]


def test_back_and_forward(open_page, tiny_page):
    at = open_page(tiny_page)
    at.look_up("tie")
    at.cards.nth(1).click()
    at.map.wait_for()
    at.look_up("match")
    assert at.becomes("location.hash.includes('word=match')")
    steps = [("match", 2), ("tie", 0), ("tie", None), (None, None)]
    assert (at.word, at.open_map) == steps[0]
    ways = [(at.page.go_back, step) for step in steps[1:]]
    ways += [(at.page.go_forward, step) for step in steps[-2::-1]]
    for go, step in ways:
        go()
        assert at.becomes("(atlas.atlas.labels[atlas.state.word] ?? null) === given[0] &&"
                " atlas.state.map === given[1]", step)  # fmt: skip
        at.expect(at.search).to_have_value(step[0] or "")


# A title consists of the names of islands, which are words separated by commas.
FIRST_OF_TITLE = (
    "atlas.chooseWord(atlas.atlas.labels.indexOf(atlas.atlas.maps[given].title[0].split(', ')[0]))"
)


@pytest.mark.parametrize("soon", [True, False])
def test_back_brings_the_view_back_out_of_a_flight_too(open_page, relations_page, soon):
    at = open_page(relations_page, "#map=2")
    at.settle()
    whole = at.camera
    at.read(FIRST_OF_TITLE, 2)
    assert at.becomes("location.hash.includes('word=')")
    if not soon:
        at.settle()
    at.page.go_back()
    assert at.becomes("atlas.state.word === null")
    at.settle()
    assert at.camera == pytest.approx(whole)
    at.page.go_forward()
    assert at.becomes("atlas.state.word !== null")
    at.settle()
    other = open_page(relations_page, f"#word={at.word}&map=2")
    other.map.wait_for()
    other.settle()
    assert at.camera == pytest.approx(other.camera, rel=1e-3, abs=1 / other.camera["zoom"])


@pytest.mark.parametrize(
    "hash",
    [
        "#word=nobody&map=99",
        "#%E0%A4%A&&==&min=7&x=1e400&color=nothing",
        "#filter=nothing:only,0&filter=group:1990,2000&filter=year:only,0",
    ],
)
def test_nonsense_is_passed_over(open_page, tiny_page, hash):
    at = open_page(tiny_page, hash)
    at.sheets.first.wait_for()
    assert (at.word, at.open_map, at.read("atlas.state.threshold")) == (None, None, 0.1)
    assert at.read("atlas.state.filters.size") == 0
    at.page.evaluate("location.hash = '#word=knot&map=2&min=0.05'")
    at.map.wait_for()
    assert (at.word, at.open_map) == ("knot", 2)


def test_a_frame_without_an_address(open_page, relations_page, tmp_path):
    """A page in a frame of its own text has no address to keep a view in, and works without."""
    frame = tmp_path / "frame.html"
    page = html.escape(relations_page.read_text(encoding="utf-8"), quote=True)
    text = f'<iframe srcdoc="{page}" width="1200" height="700"></iframe>'
    frame.write_text(f'<!doctype html><meta charset="utf-8">{text}', "utf-8")
    at = open_page(frame, ready=False)
    inside = type(at)(at.page.frames[1])
    assert inside.becomes("true")
    inside.open(1)
    assert inside.open_map == 1
