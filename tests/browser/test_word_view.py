"""The page of one word: few words and numbers, one picture per map; on small and large screens."""

import re

import pytest

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.mark.parametrize("hash", ["", "#word=bank"])
def test_a_phone_has_one_menu_button_and_the_first_picture_high(open_page, relations_page, hash):
    at = open_page(relations_page, hash, **PHONE)
    assert at.page.locator(".sense canvas").first.bounding_box()["y"] <= 330
    tools = at.page.locator(".tools > *").filter(visible=True)
    at.expect(tools).to_have_count(1)
    for target in at.page.locator("button, summary, input").filter(visible=True).all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 44, target.inner_text()
    at.button("Menu").click()
    for name in ("Display", "Dark theme", "Help"):
        at.expect(at.button(name)).to_be_visible()
    at.search.click()
    at.expect(tools).to_have_count(1)
    at.read("atlas.openMap(0)")
    at.map.wait_for()
    at.expect(at.button("Zoom in")).to_be_hidden()
    at.expect(at.button("Show all")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (2560, 1440)])
@pytest.mark.parametrize(("n_cards", "part"), [(1, 2 / 3), (2, 1 / 2), (3, 1 / 3), (5, None)])
def test_cards_fill_the_screen(open_page, relations, relations_page, n_cards, part, width, height):
    """One card takes two thirds of the width, two take halves; no row has a hole."""
    word = next(word for word in relations.labels if len(relations.senses(word)) == n_cards)
    at = open_page(relations_page, viewport={"width": width, "height": height})
    at.read("atlas.chooseWord(given)", relations.index(word))
    at.expect(at.cards).to_have_count(n_cards)
    at.settle()
    boxes = [card.bounding_box() for card in at.cards.all()]
    main = at.page.get_by_role("main").bounding_box()
    if part is not None:
        assert all(box["width"] == pytest.approx(part * main["width"], rel=0.07) for box in boxes)
        assert boxes[0]["y"] + boxes[0]["height"] <= height
    if n_cards > 1:
        rows = {round(box["y"]): box["x"] + box["width"] for box in boxes}
        assert len(rows) == (2 if n_cards == 5 and width == 1280 else 1)
        assert list(rows.values()) == pytest.approx([boxes[n_cards - 1]["x"] +
                boxes[n_cards - 1]["width"]] * len(rows), abs=1)  # fmt: skip
        assert max(rows.values()) > 0.97 * main["width"]
    # The whole map of the first card follows below.
    first = relations.senses(word)[0].map
    whole = at.senses.get_by_role("button", name=re.compile(f"^Map {first} "))
    box = whole.bounding_box()
    assert box["y"] > max(box["y"] for box in boxes)
    assert box["width"] > 0.95 * main["width"]
    whole.click()
    assert at.open_map == first


def test_zooming_ends_while_five_dots_are_in_sight(open_page, relations, relations_page):
    at = open_page(relations_page, "#word=bank")
    assert at.page.title() == "bank \u2013 Word relations"
    at.cards.first.click()
    at.map.wait_for()
    at.settle()
    for _ in range(30):
        at.button("Zoom in").click()
    at.settle()
    shown = relations.map_weights[at.open_map] >= 0.1
    assert at.in_sight(relations.maps[at.open_map, shown]).sum() >= 5
    before = at.camera["zoom"]
    at.button("Zoom in").click()
    at.settle()
    assert at.camera["zoom"] == pytest.approx(before)


def test_where_all_is_hidden_the_way_back_shows_it(open_page, relations_page):
    at = open_page(relations_page, "#map=1")
    at.map.wait_for()
    at.read("atlas.change({ threshold: 1.1 })")
    back = at.map.locator("..").get_by_text("0 words in sight").get_by_role("button")
    back.click()
    at.expect(back).to_have_count(0)
    assert at.read("atlas.state.threshold") == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("hash", "notice"),
    [
        ("#word=nobody", "No object matches \u201cnobody\u201d"),
        ("#map=99", "Map 99 does not exist; the last map is map 2"),
    ],
)
def test_an_address_of_nothing_opens_with_a_message(open_page, tiny_page, hash, notice):
    at = open_page(tiny_page, hash)
    at.expect(at.alert).to_have_text(notice)
    at.look_up("knot")
    at.expect(at.alert).to_have_count(0)
