"""The address restores word, map, zoom and threshold; back and forward step through them."""

import pytest

pytestmark = pytest.mark.slow


def test_a_view_is_sent(open_page, relations, relations_page):
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
    assert other.camera["y"] == pytest.approx(at.camera["y"], abs=1 / zoom)
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
    for word, map in steps[1:]:
        at.page.go_back()
        assert at.becomes("(atlas.atlas.labels[atlas.state.word] ?? null) === given[0] &&"
                " atlas.state.map === given[1]", [word, map])  # fmt: skip
    at.expect(at.search).to_have_value("")
    for word, map in steps[-2::-1]:
        at.page.go_forward()
        assert at.becomes("(atlas.atlas.labels[atlas.state.word] ?? null) === given[0] &&"
                " atlas.state.map === given[1]", [word, map])  # fmt: skip
    at.expect(at.search).to_have_value("match")


def test_colours_and_kinds_stand_in_the_address(open_page, kinds, kinds_page):
    at = open_page(kinds_page)
    at.color.select_option("year")
    assert at.becomes("location.hash.includes('color=year')")
    both = [i for i, label in enumerate(kinds.labels) if label == "tie"]
    for object in both:
        at.read("atlas.chooseWord(given)", object)
        assert at.becomes("location.hash.includes('kind=')")
        other = open_page(kinds_page, at.address)
        assert other.read("atlas.state.word") == object
        assert other.read("atlas.state.color") == "year"


@pytest.mark.parametrize(
    "hash",
    [
        "#word=nobody&map=99",
        "#map=-1&zoom=NaN",
        "#%E0%A4%A",
        "#min=7&x=1e400&color=nothing",
        "#&&==",
    ],
)
def test_nonsense_is_passed_over(open_page, tiny_page, hash):
    at = open_page(tiny_page, hash)
    at.sheets.first.wait_for()
    assert (at.word, at.open_map, at.read("atlas.state.threshold")) == (None, None, 0.1)


def test_an_edited_address(open_page, tiny_page):
    at = open_page(tiny_page)
    at.page.evaluate("location.hash = '#word=knot&map=2&min=0.05'")
    at.map.wait_for()
    assert (at.word, at.open_map) == ("knot", 2)
    assert at.read("atlas.state.threshold") == 0.05
