"""What is long, narrow or low still shows what matters: columns, labels, titles, small screens."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

# The parts of the page, from its own style sheet's names.
SHADOW = "document.querySelector('#manymaps').shadowRoot"


def atlas_of(labels: list[str], metadata: dict | None = None) -> mm.Atlas:
    """Two maps of some labels, each in both."""
    rng = np.random.default_rng(8)
    points = rng.normal(size=(2, len(labels), 2))
    return mm.Atlas(
        labels, points, np.full((2, len(labels)), 0.5), MULTIPLE_MAPS_T_SNE, metadata=metadata or {}
    )


def test_values_stand_beside_long_names_of_columns(open_page, tmp_path):
    name = "mean_reaction_time_in_milliseconds_of_all_participants"
    write_page(atlas_of(["tie", "knot"], {name: np.array([612, 640])}), tmp_path / "page.html")
    at = open_page(tmp_path / "page.html", "#word=tie")
    value = at.page.get_by_role("definition").filter(has_text="612")
    assert value.bounding_box()["width"] > 60
    term = at.page.get_by_role("term").filter(has_text=name)
    assert term.bounding_box()["width"] > 60


def test_an_endless_label_leaves_room_for_the_rest(open_page, tmp_path):
    endless = "endless " + "x" * 5000
    write_page(atlas_of([endless, "words " * 900, "tie"]), tmp_path / "page.html")
    for width, height in ((1280, 800), (390, 844)):
        at = open_page(
            tmp_path / "page.html", "#map=0", viewport={"width": width, "height": height}
        )
        for object in (0, 1):
            at.read("atlas.chooseWord(given)", object)
            at.settle()
            assert at.senses.bounding_box()["height"] < 0.55 * height
            assert at.search.bounding_box()["y"] >= 0
            assert at.page.evaluate(f"{SHADOW}.firstElementChild.scrollLeft") == 0
            card = at.card.bounding_box()
            assert card["x"] + card["width"] <= width


@pytest.mark.parametrize("size", [(844, 390), (667, 375), (390, 844)])
def test_the_tools_of_a_map_lie_on_it_on_phones(open_page, relations_page, size):
    width, height = size
    at = open_page(
        relations_page, "#word=bank", viewport={"width": width, "height": height},
        is_mobile=True, has_touch=True,
    )  # fmt: skip
    at.cards.first.tap()
    at.map.wait_for()
    at.settle()
    box = at.box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] < height + 1
    for name in ("Show all", "Select with a lasso", "Next map"):
        tool = at.button(name).bounding_box()
        assert tool["x"] >= box["x"]
        assert tool["x"] + tool["width"] <= box["x"] + box["width"]
        assert tool["y"] >= box["y"]
        assert tool["y"] + tool["height"] <= box["y"] + box["height"]
    # iOS zooms into fields of smaller letters, and does not zoom out again.
    sizes = f"[...{SHADOW}.querySelectorAll('input[type=text], select')].map(field =>"
    assert min(at.page.evaluate(f"{sizes} parseFloat(getComputedStyle(field).fontSize))")) >= 16


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (1280, 800)])
def test_the_card_of_a_tapped_dot_is_in_sight(open_page, relations_page, size):
    width, height = size
    at = open_page(
        relations_page, "#map=1", viewport={"width": width, "height": height},
        is_mobile=width < 1000, has_touch=True,
    )  # fmt: skip
    at.settle()
    entry = at.shown[-1]["entry"]
    point = at.read("[...atlas.atlas.maps[1].points.slice(2 * given, 2 * given + 2)]", entry)
    at.page.touchscreen.tap(*at.points(np.array(point)))
    card = at.page.get_by_role("region", name="The word")
    card.wait_for()
    name = card.get_by_role("heading").bounding_box()
    assert 0 <= name["y"] <= height - name["height"]
    further = card.get_by_role("button", name="Show senses").bounding_box()
    assert further["y"] + further["height"] <= height
    if width < 760:
        card.get_by_role("button", name="Close the card").click()
        at.expect(card).to_have_count(0)


# Letters below the line, and how far below it the box that cuts them ends; CSS pixels.
DESCENT = """part => {
  const { font, lineHeight } = getComputedStyle(part);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const letters = pen.measureText("gjpqy\u00e7");
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = letters;
  const room = (parseFloat(lineHeight) - up - down) / 2 + down;
  return [letters.actualBoundingBoxDescent, room];
}"""


def test_no_descender_is_cut(open_page, relations_page):
    at = open_page(relations_page, "#word=bank")
    at.cards.first.wait_for()
    parts = [
        at.page.get_by_role("heading", level=1),
        at.cards.first.locator("bdi").first,
        at.senses.get_by_role("heading"),
    ]
    for part in parts:
        tail, room = part.evaluate(DESCENT)
        assert tail <= room, part
    at.all_maps.click()
    other = [at.sheets.first.locator("bdi")]
    at.read("atlas.openMap(1)")
    at.map.wait_for()
    other.append(at.page.get_by_role("main").get_by_role("heading"))
    for part, map in zip(other, (None, 1), strict=True):
        at.read("atlas.change({ map: given, gallery: 'all' })", map)
        tail, room = part.evaluate(DESCENT)
        assert tail <= room, part


@pytest.fixture(scope="module")
def titled_page(relations, pages):
    page = pages / "titled.html"
    write_page(relations, page, title="Associations of 3,200 English words, 1998")
    return page


@pytest.mark.parametrize("width", [761, 880, 1000, 1280])
def test_the_title_is_whole(open_page, titled_page, width):
    at = open_page(titled_page, viewport={"width": width, "height": 800})
    cut = "part => [part.scrollWidth - part.clientWidth, part.scrollHeight - part.clientHeight]"
    right, down = at.page.get_by_role("heading", level=1).evaluate(cut)
    assert right <= 0
    assert down <= 1
    assert at.search.bounding_box()["width"] >= 200


def test_the_heading_of_a_map_is_words(open_page, tiny_page):
    at = open_page(tiny_page, "#map=0")
    heading = at.page.get_by_role("main").get_by_role("heading")
    assert heading.evaluate("heading => heading.textContent").startswith("Map 0 ")


def test_escape_leaves_the_empty_field(open_page, tiny_page):
    at = open_page(tiny_page, "#map=0")
    at.page.keyboard.press("/")
    at.expect(at.search).to_be_focused()
    at.page.keyboard.press("Escape")
    at.expect(at.search).not_to_be_focused()
    assert at.open_map == 0
    at.page.keyboard.press("]")
    assert at.becomes("atlas.state.map === 1")


def test_words_in_tables_are_not_broken(open_page, tmp_path):
    words = ["classification", "characteristically", "responsibilities", "tie"]
    rng = np.random.default_rng(9)
    points, shares = rng.normal(size=(12, len(words), 2)), np.full((12, len(words)), 1 / 12)
    atlas = mm.Atlas(words, points, shares, MULTIPLE_MAPS_T_SNE)
    write_page(atlas, tmp_path / "page.html", min_weight=0.01)
    at = open_page(tmp_path / "page.html", "#word=tie&map=0")
    at.unfold("Neighbours")
    rows = at.card.get_by_role("rowheader").get_by_role("button").locator("bdi")
    at.expect(rows).to_have_count(3)
    assert rows.evaluate_all("all => all.map(one => one.getClientRects().length)") == [1] * 3
