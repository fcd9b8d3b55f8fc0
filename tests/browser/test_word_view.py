"""The page of one word: few words and numbers, one picture per map; and addresses of nothing."""

import re

import numpy as np
import pytest

pytestmark = pytest.mark.slow

# Words and percentages in sight, and where the first picture begins.
IN_SIGHT = """(() => {
  const root = document.querySelector("#manymaps").shadowRoot;
  const words = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const isUnseen = parent.closest(".unseen, dialog:not([open]), style, option, [hidden]");
    if (isUnseen || !parent.checkVisibility()) continue;
    for (const { index, 0: word } of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      if (box.width && box.top < innerHeight && box.bottom > 0) words.push(word);
    }
  }
  const picture = root.querySelector(".sense canvas");
  return [words, picture?.getBoundingClientRect().top ?? null];
})()"""


def words_of(atlas, rng, n: int = 60) -> list[int]:
    return rng.choice(atlas.n_objects, n, replace=False).tolist()


def show(at, word: int, label: str) -> tuple[list[str], float | None]:
    at.read("atlas.chooseWord(given)", word)
    at.expect(at.senses.get_by_role("heading")).to_have_text(at.headline(label))
    words, top = at.read(IN_SIGHT)
    return [word for word in words if re.search(r"\w", word)], top


def test_few_words_and_numbers_are_above_the_fold(open_page, norms, norms_page, rng):
    at = open_page(norms_page, viewport={"width": 1440, "height": 900})
    for word in words_of(norms, rng):
        words, _ = show(at, word, norms.labels[word])
        assert len(words) <= 60, words
        numbers = [text for text in words if "%" in text]
        assert len(numbers) <= 7, words
        # The first number is the sum of the others.
        shares = [int(text.strip("%")) for text in numbers if not text.startswith("<")]
        assert sum(shares[1:]) <= 100


def test_on_a_phone_the_first_picture_begins_high(open_page, norms, norms_page, rng):
    at = open_page(norms_page, viewport={"width": 390, "height": 844}, has_touch=True)
    tops = [show(at, word, norms.labels[word])[1] for word in words_of(norms, rng, 20)]
    tops = [top for top in tops if top is not None]
    assert len(tops) > 10
    assert max(tops) <= 280


@pytest.mark.parametrize("hash", ["", "#word=bank"])
def test_a_phone_has_one_menu_button(open_page, relations_page, hash):
    at = open_page(
        relations_page, hash, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    picture = at.page.locator(".sense canvas").first
    assert picture.bounding_box()["y"] <= 330
    tools = at.page.locator(".tools > *").filter(visible=True)
    at.expect(tools).to_have_count(1)
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
@pytest.mark.parametrize(("n_cards", "part"), [(1, 2 / 3), (2, 1 / 2), (3, 1 / 3)])
def test_cards_fill_the_screen(open_page, relations, relations_page, n_cards, part, width, height):
    """One card takes two thirds of the width, two take halves; their pictures fill the height."""
    word = next(word for word in relations.labels if len(relations.senses(word)) == n_cards)
    at = open_page(relations_page, viewport={"width": width, "height": height})
    at.read("atlas.chooseWord(given)", relations.index(word))
    at.expect(at.cards).to_have_count(n_cards)
    at.settle()
    boxes = [card.bounding_box() for card in at.cards.all()]
    main = at.page.get_by_role("main").bounding_box()
    assert all(box["width"] == pytest.approx(part * main["width"], rel=0.07) for box in boxes)
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[0]["y"] + boxes[0]["height"] <= height
    if n_cards < 3:
        assert boxes[0]["y"] + boxes[0]["height"] > 0.75 * height
    # The whole map of the first card follows below.
    first = relations.senses(word)[0].map
    whole = at.senses.get_by_role("button", name=re.compile(f"^Map {first} "))
    box = whole.bounding_box()
    assert box["y"] > boxes[0]["y"] + boxes[0]["height"]
    assert box["width"] > 0.95 * main["width"]
    whole.click()
    assert at.open_map == first


def test_the_word_and_its_cards(open_page, relations_page):
    at = open_page(relations_page, "#word=bank", viewport={"width": 1440, "height": 900})
    heading = at.senses.get_by_role("heading")
    assert heading.evaluate("part => getComputedStyle(part).fontSize") == "40px"
    at.expect(at.cards.first).to_be_focused()
    maps = [re.search(r"Map (\d+) · open$", text)[1] for text in at.texts(at.cards)]
    assert len(set(maps)) == len(maps)
    assert at.page.get_by_role("table").count() == 0
    assert at.page.title() == "bank \u2013 Word relations"


def test_zooming_ends_while_five_dots_are_in_sight(open_page, relations_page):
    at = open_page(relations_page, "#word=bank")
    at.cards.first.click()
    at.map.wait_for()
    at.settle()
    for _ in range(30):
        at.button("Zoom in").click()
    at.settle()
    in_sight = """(() => {
      const { points, weights } = atlas.atlas.maps[atlas.state.map];
      const { x, y, zoom } = atlas.camera;
      const [width, height] = given;
      return [...weights.keys()].filter((entry) => weights[entry] >= 0.1 &&
        Math.abs(points[2 * entry] - x) * zoom < width / 2 &&
        Math.abs(points[2 * entry + 1] - y) * zoom < height / 2).length;
    })()"""
    box = at.box()
    assert at.read(in_sight, [box["width"], box["height"]]) >= 5
    before = at.camera["zoom"]
    at.button("Zoom in").click()
    at.settle()
    assert at.camera["zoom"] == pytest.approx(before)


def test_a_view_with_few_dots_shows_the_way_back(open_page, relations, relations_page):
    [x, y] = relations.maps[1, np.argmax(relations.map_weights[1])].tolist()
    at = open_page(relations_page, f"#map=1&zoom=1e5&x={x}&y={y}")
    at.map.wait_for()
    at.settle()
    back = at.map.locator("..").get_by_text("in sight").get_by_role("button", name="Show all")
    back.click()
    at.settle()
    at.expect(back).to_have_count(0)
    assert at.camera["zoom"] < 1e3


def test_where_all_is_hidden_the_way_back_shows_it(open_page, relations_page):
    at = open_page(relations_page, "#map=1&min=1")
    at.map.wait_for()
    at.read("atlas.change({ filters: new Map() })")
    at.read("atlas.change({ threshold: 1.1 })")
    at.settle()
    back = at.map.locator("..").get_by_text("0 words in sight").get_by_role("button")
    back.click()
    at.settle()
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


def test_an_address_names_a_word_in_any_case(open_page, tiny_page):
    at = open_page(tiny_page, "#word=CAFE")
    assert at.word == "Café"
    assert at.page.title() == "Café \u2013 Few words"
    assert at.alert.count() == 0
    at.page.keyboard.press("Escape")
    assert at.becomes("document.title === 'Few words'")


def test_no_label_lies_under_the_tools(open_page, relations_page):
    at = open_page(relations_page, "#map=1")
    at.settle()
    at.map.focus()
    for _ in range(3):
        at.page.keyboard.press("+")
    at.settle()
    host = at.box()
    covers = [part.bounding_box() for part in at.page.locator(".dock, .plaque").all()]
    for label in at.shown:
        left, top = host["x"] + label["x"], host["y"] + label["y"]
        for cover in covers:
            apart = (
                left + label["width"] <= cover["x"] + 0.5
                or left >= cover["x"] + cover["width"] - 0.5
                or top + label["height"] <= cover["y"] + 0.5
                or top >= cover["y"] + cover["height"] - 0.5
            )
            assert apart, label["text"]


def test_targets_are_large_where_fingers_point(open_page, tiny_page):
    at = open_page(
        tiny_page, "#word=tie", viewport={"width": 390, "height": 844}, is_mobile=True,
        has_touch=True,
    )  # fmt: skip
    at.cards.first.wait_for()
    for target in at.page.locator("button, summary, input").filter(visible=True).all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 44, target.inner_text()


def test_few_whole_numbers_are_categories(open_page, tmp_path):
    import manymaps as mm
    from manymaps.model.choice import T_SNE

    digits = np.arange(100) % 10
    points = np.random.default_rng(3).normal(size=(1, 100, 2))
    labels = [f"img {i}" for i in range(100)]
    atlas = mm.Atlas(labels, points, np.ones((1, 100)), T_SNE, metadata={"digit": digits})
    mm.write_page(atlas, tmp_path / "page.html", color="digit")
    at = open_page(tmp_path / "page.html")
    at.expect(at.keys).to_have_text([str(digit) for digit in range(10)])
    at.search.fill("7")
    at.expect(at.hits.filter(has_text="Show only digit = 7")).to_have_count(1)
