"""What the page says of itself when it opens, and how it fills the screen."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow


def atlas_of(n_maps: int, n: int = 80) -> mm.Atlas:
    rng = np.random.default_rng(n_maps)
    points = rng.normal(size=(n_maps, n, 2))
    shares = rng.dirichlet(np.full(n_maps, 0.6), size=n).T
    labels = [f"word {i}" for i in range(n)]
    return mm.Atlas(labels, points, shares, MULTIPLE_MAPS_T_SNE, method="mm-tsne")


def test_the_page_says_what_it_is(open_page, tmp_path):
    write_page(
        atlas_of(3), tmp_path / "page.html", title="Words", noun="word", date="1998",
        description="What words recall.", source="USF norms", credit="Nelson",
    )  # fmt: skip
    at = open_page(tmp_path / "page.html")
    main = at.page.get_by_role("main")
    head = at.page.get_by_role("banner").inner_text()
    assert head.startswith("Words What words recall.".replace(" What", "\n\nWhat"))
    at.expect(main).to_contain_text("Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson")
    at.expect(main).to_contain_text("80 words in 3 maps, drawn by multiple maps t\u2011SNE")
    assert "mm-tsne" not in at.page.locator(".atlas").inner_text()
    assert at.page.get_by_text("barely belong to a map").count() == 0
    at.settings()
    at.expect(at.page.get_by_text("barely belong to a map: map weight below 10%")).to_be_visible()
    at.threshold.press("ArrowRight")
    at.expect(at.page.get_by_text("barely belong to a map: map weight below 11%")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "grouped",
            "Words that bring each other to mind lie close together. A word with several senses "
            "appears on several maps, once for each.",
        ),
        (
            "tiny",
            "Objects that are similar lie close together. An object can appear on several maps.",
        ),
        ("kinds", "Documents and words that occur together lie close together."),
    ],
)
def test_each_page_has_a_sentence(open_page, request, name, sentence):
    at = open_page(request.getfixturevalue(f"{name}_page"))
    head = at.page.get_by_role("banner")
    at.expect(head).to_contain_text(sentence)
    size = head.get_by_text(sentence).evaluate("part => getComputedStyle(part).fontSize")
    assert size == "17px"
    assert "Source" not in at.page.get_by_role("main").inner_text()


def test_few_controls_are_in_sight(open_page, grouped_page):
    """A search field and four buttons; beside them only examples, cards and maps."""
    at = open_page(grouped_page)
    head = at.page.get_by_role("banner")
    n_examples = examples(at).count()
    # Display, the theme and help; Save unfolds.
    at.expect(head.get_by_role("button")).to_have_count(n_examples + 3)
    at.expect(head.get_by_text("Save", exact=True)).to_be_visible()
    fields = at.page.locator("input, select, textarea").filter(visible=True)
    at.expect(fields).to_have_count(1)
    at.expect(at.page.get_by_role("complementary")).to_have_count(0)
    for name in ("PNG", "SVG"):
        at.expect(at.button(name)).to_be_hidden()


def examples(at):
    """The links below the search field."""
    return at.page.get_by_role("search").get_by_role("button")


def test_examples_are_words_with_balanced_senses(open_page, grouped, grouped_page):
    at = open_page(grouped_page)
    words = at.texts(examples(at))
    assert 2 <= len(words) <= 4
    for word in words:
        assert sum(len(sense.neighbors) > 2 for sense in grouped.senses(word)) > 1
    # The first is worked out below, with its pictures.
    example = at.page.get_by_role("region", name="Example")
    at.expect(example.get_by_role("heading")).to_have_text(f"Example: {words[0]}")
    cards = example.get_by_role("listitem")
    assert cards.count() > 1
    cards.first.get_by_role("button").click()
    assert at.word == words[0]
    at.map.wait_for()
    at.page.go_back()
    examples(at).nth(1).click()
    assert at.word == words[1]
    at.expect(at.senses.get_by_role("heading")).to_have_text(at.headline(words[1]))


def test_examples_are_chosen_by_the_author(open_page, grouped, tmp_path):
    write_page(grouped, tmp_path / "page.html", examples=["WORD 7", "word 3"], description="")
    at = open_page(tmp_path / "page.html")
    assert at.texts(examples(at)) == ["word 7", "word 3"]
    assert at.page.get_by_role("banner").locator(".sentence").count() == 0
    with pytest.raises(mm.UnknownLabelError, match="word 99"):
        write_page(grouped, tmp_path / "other.html", examples=["word 99"])


@pytest.mark.parametrize("size", [(1280, 800), (1700, 1000), (2560, 1440)])
@pytest.mark.parametrize("n_maps", [2, 3, 5, 7])
def test_the_gallery_fills_its_width(open_page, tmp_path, size, n_maps):
    write_page(atlas_of(n_maps), tmp_path / "page.html", examples=[])
    width, height = size
    at = open_page(tmp_path / "page.html", viewport={"width": width, "height": height})
    at.expect(at.sheets).to_have_count(n_maps)
    boxes = [at.sheets.nth(k).bounding_box() for k in range(n_maps)]
    main = at.page.get_by_role("main").bounding_box()
    right = max(box["x"] + box["width"] for box in boxes)
    assert right > main["x"] + 0.97 * main["width"]
    rows = [sum(box["y"] == y for box in boxes) for y in sorted({box["y"] for box in boxes})]
    assert rows[-1] > 1 or rows == [1] * n_maps
    # All can be seen at once.
    assert max(box["y"] + box["height"] for box in boxes) <= height
