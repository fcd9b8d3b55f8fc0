"""Two views beside each other: of one atlas, or of two with one search."""

import re
from dataclasses import replace

import pytest

import manymaps as mm
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

WORDS = "[atlas, atlas.beside].map(one => one.atlas.labels[one.state.word] ?? null)"
MAPS = "[atlas, atlas.beside].map(one => one.state.map)"


@pytest.fixture(scope="session")
def pair(tiny) -> tuple[mm.Atlas, mm.Atlas]:
    """Two atlases: the second has capitals, no knot, and one group more."""
    kept = [i for i, label in enumerate(tiny.labels) if label != "knot"]
    other = tiny.subset(kept)
    groups = ["rare" if label in ("tie", "bow") else "noun" for label in other.labels]
    capitals = replace(other, labels=[label.upper() for label in other.labels])
    return tiny, capitals.add_metadata(groups, name="group")


@pytest.fixture(scope="session")
def pair_page(pair, pages):
    path = pages / "pair.html"
    write_page(pair, path, title=["Young", "Old"], color="group")
    return path


def view(at, name: str):
    """The gallery or map of one of two views."""
    return at.page.get_by_role("region", name=re.compile(f"^{name}: "))


def link(at):
    return at.page.get_by_role("checkbox", name="Same word in both")


def test_two_words_of_one_atlas(open_page, tiny_page):
    at = open_page(tiny_page)
    at.look_up("tie")
    at.page.keyboard.press("d")
    assert at.becomes("atlas.beside !== null")
    at.look_up("knot")
    assert at.read(WORDS) == ["tie", "knot"]
    assert at.becomes("location.hash === '#word=tie&beside&word=knot'")
    # The search is about the view that was last used.
    view(at, "tie").get_by_text("On three maps.").click()
    at.expect(at.search).to_have_value("tie")
    at.look_up("bow")
    assert at.read(WORDS) == ["bow", "knot"]
    link(at).check()
    assert at.read(WORDS) == ["bow", "bow"]


def test_steps_of_two_views_are_taken_back(open_page, tiny_page):
    at = open_page(tiny_page)
    at.look_up("tie")
    at.button("Side by side").click()
    view(at, "Second view").get_by_role("button", name=re.compile("Map 1 · open$")).click()
    assert at.becomes("location.hash === '#word=tie&beside&word=tie&map=1'")
    at.page.go_back()
    assert at.becomes("atlas.beside.state.map === null")
    at.page.go_back()
    assert at.becomes("atlas.beside === null")
    assert at.word == "tie"
    at.page.go_forward()
    assert at.becomes("atlas.beside?.state.word === atlas.state.word")


def test_an_address_of_two_views(open_page, tiny_page):
    at = open_page(tiny_page, "#word=tie&map=1&beside&word=knot&map=2")
    assert at.read(WORDS) == ["tie", "knot"]
    assert at.read(MAPS) == [1, 2]
    at.page.keyboard.press("]")
    assert at.becomes("location.hash.startsWith('#word=tie&map=2&')")
    assert at.becomes("location.hash.includes('&beside&word=knot&map=2')")


@pytest.mark.parametrize(("closed", "left"), [("First", 2), ("Second", 1)])
def test_either_view_is_closed(open_page, tiny_page, closed, left):
    at = open_page(tiny_page, "#map=1&beside&map=2")
    at.button(f"Close {closed} view").click()
    assert at.becomes("atlas.beside === null")
    assert at.open_map == left
    assert at.becomes("location.hash === given", f"#map={left}")
    # What is left goes on as a page of one view.
    at.page.get_by_role("main", name=f"Map {left}").wait_for()
    at.page.keyboard.press("g")
    at.expect(at.sheets).to_have_count(3)


def test_keys_go_to_the_view_with_the_focus(open_page, tiny_page):
    at = open_page(tiny_page, "#map=0&beside&map=0")
    at.page.keyboard.press("]")
    assert at.read(MAPS) == [1, 0]
    at.page.keyboard.press("o")
    at.page.keyboard.press("]")
    at.page.keyboard.press("]")
    assert at.read(MAPS) == [1, 2]
    at.expect(at.page.get_by_role("status").last).to_contain_text("Second view: Map 2")


def test_one_search_for_two_atlases(open_page, pair_page):
    at = open_page(pair_page)
    at.look_up("tie")
    assert at.read(WORDS) == ["tie", "TIE"]
    at.expect(at.page.get_by_text("On three maps.", exact=True)).to_have_count(2)
    at.look_up("knot")
    assert at.read(WORDS) == ["knot", None]
    at.page.get_by_role("heading", name="knot is not in Old").wait_for()
    at.expect(at.page.get_by_role("status").last).to_have_text("Old: knot is not in Old")
    at.page.go_back()
    assert at.becomes(f"String({WORDS}) === 'tie,TIE'")
    at.page.go_back()
    assert at.becomes("atlas.state.word === null && atlas.beside.state.word === null")


def test_two_atlases_are_told_apart(open_page, pair_page):
    at = open_page(pair_page)
    assert at.page.title() == "Young and Old"
    at.page.get_by_role("heading", name="Young and Old", level=1).wait_for()
    for name in ("Young", "Old"):
        at.page.get_by_role("heading", name=name, exact=True).wait_for()
    link(at).uncheck()
    at.look_up("tie")
    assert at.read(WORDS) == ["tie", None]
    assert at.becomes("location.hash === '#word=tie'")


def test_what_is_the_same_looks_the_same(open_page, pair_page):
    at = open_page(pair_page)
    columns = at.read(
        """[atlas, atlas.beside].map(({ atlas }) => {
          const { categories, codes } = atlas.columns.find(({ name }) => name === "group");
          return [categories, atlas.labels.map((label, i) => [label, categories[codes[i]]])];
        })"""
    )
    (first, _), (second, groups) = columns
    assert first == second
    assert dict(groups)["TIE"] == "rare"
    at.legend.get_by_role("button", name="noun", exact=True).click()
    assert at.read("[...atlas.beside.state.filters.get('group')]") == [first.index("noun")]
    at.threshold.fill("0.3")
    assert at.read("atlas.beside.state.threshold") == 0.3


def test_what_is_selected_is_so_in_both(open_page, pair_page):
    at = open_page(pair_page)
    chosen = "[atlas, atlas.beside].map(o => o.state.selection.map(i => o.atlas.labels[i]))"
    at.read("atlas.select(['knot', 'tie'].map(label => atlas.atlas.labels.indexOf(label)))")
    assert at.read(chosen) == [["knot", "tie"], ["TIE"]]
    at.read("atlas.beside.select([atlas.beside.atlas.labels.indexOf('BOW')])")
    assert at.read(chosen) == [["bow", "knot"], ["BOW"]]


def test_two_views_on_a_phone_stand_below_each_other(open_page, pair_page):
    at = open_page(
        pair_page, "#word=tie&beside&word=tie", viewport={"width": 390, "height": 844}
    )  # fmt: skip
    young, old = (view(at, name).bounding_box() for name in ("Young", "Old"))
    assert young["y"] + young["height"] <= old["y"]
    assert young["width"] == old["width"] == 390


def test_print_shows_both(open_page, pair_page):
    at = open_page(pair_page, "#map=0&beside&map=1")
    at.settle()
    at.page.emulate_media(media="print")
    for name in ("Young", "Old"):
        box = view(at, name).bounding_box()
        assert box["width"] > 400
        assert box["height"] > 200


def test_both_are_drawn_by_one_painter(open_page, pair_page):
    counted = """
      window.contexts = 0;
      for (const kind of [HTMLCanvasElement, OffscreenCanvas]) {
        const own = kind.prototype.getContext;
        kind.prototype.getContext = function (name, ...more) {
          if (name === "webgl2") window.contexts++;
          return own.call(this, name, ...more);
        };
      }"""
    at = open_page(pair_page, "#map=0&beside&map=1", script=counted)
    at.settle()
    assert at.page.evaluate("window.contexts") <= 1
    assert at.read("atlas.shown().length > 0 && atlas.beside.shown().length > 0")
