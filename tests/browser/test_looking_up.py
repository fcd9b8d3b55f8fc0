"""A word is looked up by its first letters, with the keyboard alone, and its senses stand there."""

import re

import numpy as np
import pytest


@pytest.fixture(scope="module")
def shared(open_shared, tiny_page):
    return open_shared(tiny_page)


@pytest.fixture
def at(shared):
    """The gallery of a few words."""
    shared.reset(None)
    return shared


def test_a_word_has_a_card_for_each_sense(at, tiny):
    at.look_up("ti")
    at.cards.first.wait_for()
    found = at.texts(at.cards)
    weights = tiny.map_weights[:, tiny.index("tie")]
    assert len(found) == 3
    for name, m in zip(found, np.argsort(-weights).tolist(), strict=True):
        words = [near.label for near in tiny.neighbors("tie", map=m, n_neighbors=8)]
        assert name.startswith(f"{', '.join(words[:3])} {100 * weights[m]:.0f}%")
        assert name.endswith(f"{', '.join(words[3:6])} Map {m} · open")
    assert at.becomes("location.hash === '#word=tie'")
    at.expect(at.status).to_contain_text("tie: on three maps. suit, ")


@pytest.mark.parametrize("typed", ["café", "CAFE", "cafe\u0301", "  Cafe ", "caf"])
def test_accents_and_case_make_no_difference(at, typed):
    at.search.fill(typed)
    at.expect(at.hits).to_have_count(1)
    assert "Café" in at.hits.inner_text()
    at.page.keyboard.press("Enter")
    assert at.word == "Café"


def test_a_list_to_choose_from(at):
    at.page.keyboard.press("/")
    at.page.keyboard.type("s")
    at.hits.nth(2).wait_for()
    names = [name.split("\n")[0] for name in at.hits.all_inner_texts()]
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        at.page.keyboard.press(key)
    at.expect(at.hits.nth(1)).to_have_attribute("aria-selected", "true")
    assert at.search.get_attribute("aria-activedescendant") == at.hits.nth(1).get_attribute("id")
    at.page.keyboard.press("Enter")
    assert at.word == names[1]
    at.expect(at.search).to_have_value(names[1])
    at.expect(at.hits).to_have_count(0)
    at.search.fill("kno")
    at.hits.first.click()
    assert at.word == "knot"
    at.button("Close the senses").click()
    assert at.word is None


def test_escape_gives_up_what_is_typed_then_the_word_then_the_field(at):
    at.look_up("tie")
    at.search.fill("kno")
    for word, shown in (("tie", "tie"), (None, ""), (None, "")):
        at.page.keyboard.press("Escape")
        assert at.word == word
        at.expect(at.search).to_have_value(shown)
    at.expect(at.search).not_to_be_focused()


def test_guesses_are_offered_only_if_nothing_matches(at):
    at.search.fill("shirt")
    at.expect(at.hits.first).to_contain_text("shirt")
    assert "Did you mean" not in "".join(at.hits.all_inner_texts())
    at.search.fill("shrit")
    at.expect(at.hits).to_contain_text("Did you mean: shirt")
    at.search.fill("zzz")
    at.expect(at.nothing_found).to_contain_text("No object matches “")
    at.page.keyboard.press("Enter")
    assert at.word is None


def test_categories_are_found_and_shown_alone(at, tiny):
    at.look_up("tie")
    at.search.fill("nou")
    nouns = sum(group == "noun" for group in tiny.metadata["group"])
    at.expect(at.hits).to_have_text([f"Show only group = noun{nouns} objects"])
    at.page.keyboard.press("Enter")
    assert at.word == "tie"
    at.expect(at.filters).to_contain_text(f"{nouns} of 12 objects shown")


def test_a_link_moves_the_focus_to_the_first_card(at):
    at.look_up("tie")
    at.expect(at.cards.first).to_be_focused()
    at.unfold("Neighbours")
    other = at.senses.get_by_role("rowheader").get_by_role("button").first
    name = other.inner_text()
    other.click()
    assert at.word == name
    at.expect(at.cards.first).to_be_focused()


def test_the_gallery_lists_the_maps_of_the_word_first(at, tiny):
    at.expect(at.sheets).to_have_count(3)
    at.look_up("knot")
    at.all_maps.click()
    at.expect(at.sheets.first).to_contain_text("%")
    order = [int(re.match(r"Map (\d+) ", text)[1]) for text in at.texts(at.sheets)]
    lives = [sense.map for sense in tiny.senses("knot")]
    assert order == [*lives, *sorted(set(range(3)) - set(lives))]
    assert at.becomes("location.hash === '#word=knot&maps=all'")
    at.button("Show senses").click()
    at.expect(at.cards).to_have_count(len(lives))


@pytest.mark.slow
def test_two_words_mark_the_card_on_which_both_are_close(open_page, relations, relations_page):
    at = open_page(relations_page)
    word, senses = next(
        (word, found) for word in relations.labels if len(found := relations.senses(word)) > 1
    )
    at.search.fill(f"{word} {senses[1].name[0]}")
    at.expect(at.hits.first).to_contain_text(f"both close on map {senses[1].map}")
    at.page.keyboard.press("Enter")
    assert at.word == word
    at.expect(at.cards.nth(1)).to_contain_text("both words are close here")
    at.expect(at.cards.nth(1)).to_be_focused()
    assert "both words" not in at.cards.first.inner_text()


@pytest.mark.slow
def test_the_keyboard_alone(open_page, relations, relations_page, tmp_path):
    at = open_page(relations_page)
    keys = at.page.keyboard
    word = next(word for word in relations.labels if len(relations.senses(word)) > 1)
    at.look_up(word)
    at.expect(at.cards.first).to_be_focused()
    keys.press("ArrowRight")
    keys.press("Enter")
    at.map.wait_for()
    at.settle()
    assert at.open_map == relations.senses(word)[1].map
    assert word in [label["text"] for label in at.shown]
    keys.press("m")
    before = at.camera
    keys.press("+")
    keys.press("ArrowRight")
    at.settle()
    after = at.camera
    assert after["zoom"] > 1.2 * before["zoom"]
    assert after["x"] > before["x"]
    keys.press("0")
    at.settle()
    assert at.camera["zoom"] < after["zoom"]
    keys.press("t")
    for _ in range(5):
        keys.press("ArrowRight")
    assert at.becomes("Math.abs(atlas.state.threshold - 0.15) < 1e-9")
    keys.press("e")
    keys.press("Enter")
    keys.press("Tab")
    with at.download(tmp_path) as saved:
        keys.press("Enter")
    assert saved[0].suffix == ".png"
    keys.press("s")
    at.expect(at.selection).to_contain_text("1 word selected")
    keys.press("?")
    at.dialog.wait_for()
    keys.press("Escape")
    at.dialog.wait_for(state="hidden")
    keys.press("g")
    at.sheets.first.wait_for()
    assert at.open_map is None
