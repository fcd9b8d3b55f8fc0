"""The opening and what is long, narrow or low still show what matters, on any screen."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

SHADOW = "document.querySelector('#manymaps').shadowRoot"


def atlas_of(labels: list[str], n_maps: int = 2) -> mm.Atlas:
    """Maps of some labels, each in all of them."""
    points = np.random.default_rng(8).normal(size=(n_maps, len(labels), 2))
    shares = np.full((n_maps, len(labels)), 1 / n_maps)
    return mm.Atlas(labels, points, shares, MULTIPLE_MAPS_T_SNE, method="mm-tsne")


def test_the_page_says_what_it_is(open_page, tmp_path):
    write_page(
        atlas_of([f"word {i}" for i in range(80)]), tmp_path / "page.html", title="Words",
        noun="word", date="1998", description="What words recall.", source="USF norms",
        credit="Nelson",
    )  # fmt: skip
    at = open_page(tmp_path / "page.html")
    head, main = at.page.get_by_role("banner"), at.page.get_by_role("main")
    assert head.inner_text().startswith("Words\n\nWhat words recall.")
    at.expect(main).to_contain_text("Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson")
    at.expect(main).to_contain_text("80 words in 2 maps, drawn by multiple maps t\u2011SNE")


def test_the_opening_has_a_search_field_and_worked_examples(open_page, grouped, grouped_page):
    at = open_page(grouped_page)
    examples = at.page.get_by_role("search").get_by_role("button")
    words = at.texts(examples)
    assert 2 <= len(words) <= 4
    for word in words:
        assert sum(len(sense.neighbors) > 2 for sense in grouped.senses(word)) > 1
    # Display, the theme and help; Save unfolds.
    buttons = at.page.get_by_role("banner").get_by_role("button")
    at.expect(buttons).to_have_count(len(words) + 3)
    at.expect(at.page.locator("input, select, textarea").filter(visible=True)).to_have_count(1)
    example = at.page.get_by_role("region", name="Example")
    at.expect(example.get_by_role("heading")).to_have_text(f"Example: {words[0]}")
    example.get_by_role("listitem").first.get_by_role("button").click()
    assert at.word == words[0]
    at.map.wait_for()
    at.page.go_back()
    examples.nth(1).click()
    assert at.word == words[1]


@pytest.mark.parametrize("size", [(1280, 800), (2560, 1440)])
@pytest.mark.parametrize("n_maps", [2, 5, 7])
def test_the_gallery_fills_its_width(open_page, tmp_path, size, n_maps):
    atlas = atlas_of([f"word {i}" for i in range(80)], n_maps)
    write_page(atlas, tmp_path / "page.html", examples=[])
    width, height = size
    at = open_page(tmp_path / "page.html", viewport={"width": width, "height": height})
    at.expect(at.sheets).to_have_count(n_maps)
    boxes = [sheet.bounding_box() for sheet in at.sheets.all()]
    rows = {round(box["y"]): box["x"] + box["width"] for box in boxes}
    assert min(rows.values()) > 0.97 * width
    # All can be seen at once.
    assert max(box["y"] + box["height"] for box in boxes) <= height


@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (3840, 2160)])
def test_nothing_stands_out_sideways(open_page, relations_page, width, height):
    at = open_page(relations_page, viewport={"width": width, "height": height})
    for hash, part in (("", at.sheets), ("#word=bank", at.cards), ("#word=bank&map=0", at.map)):
        at.page.evaluate("hash => { location.hash = hash; }", hash)
        part.first.wait_for()
        needed = at.page.evaluate("document.documentElement.scrollWidth")
        assert needed <= width
    box = at.box()
    assert box["width"] >= min(0.5 * width, 340)
    assert box["height"] >= 240


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_an_endless_label_leaves_room_for_the_rest(open_page, tmp_path, width, height):
    endless = "endless " + "x" * 5000
    write_page(atlas_of([endless, "words " * 900, "tie"]), tmp_path / "page.html")
    at = open_page(tmp_path / "page.html", "#map=0", viewport={"width": width, "height": height})
    for object in (0, 1):
        at.read("atlas.chooseWord(given)", object)
        at.settle()
        assert at.senses.bounding_box()["height"] < 0.55 * height
        assert at.page.evaluate(f"{SHADOW}.firstElementChild.scrollLeft") == 0
        card = at.card.bounding_box()
        assert card["x"] + card["width"] <= width


@pytest.mark.parametrize("size", [(844, 390), (390, 844)])
def test_a_map_and_the_card_of_a_tapped_dot_are_in_sight_on_phones(open_page, relations_page, size):
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
        assert box["x"] <= tool["x"] <= box["x"] + box["width"] - tool["width"]
        assert box["y"] <= tool["y"] <= box["y"] + box["height"] - tool["height"]
    # iOS zooms into fields of smaller letters, and does not zoom out again.
    sizes = f"[...{SHADOW}.querySelectorAll('input[type=text], select')].map(field =>"
    assert min(at.page.evaluate(f"{sizes} parseFloat(getComputedStyle(field).fontSize))")) >= 16
    at.page.goto(at.page.url.split("#")[0] + "#map=1")
    at.settle()
    entry = at.shown[-1]["entry"]
    point = at.read("[...atlas.atlas.maps[1].points.slice(2 * given, 2 * given + 2)]", entry)
    at.page.touchscreen.tap(*at.points(np.array(point)))
    card = at.page.get_by_role("region", name="The word")
    card.wait_for()
    further = card.get_by_role("button", name="Show senses").bounding_box()
    assert further["y"] + further["height"] <= height
