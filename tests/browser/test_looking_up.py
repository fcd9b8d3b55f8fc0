"""A word is looked up by its first letters, with the keyboard alone, and its senses stand there."""

import re
from dataclasses import replace

import numpy as np
import page_samples
import pytest

import manymaps as mm
from manymaps.viewer.page import write_page


@pytest.fixture(scope="module")
def shared(open_shared, tiny_page):
    return open_shared(tiny_page)


@pytest.fixture
def at(shared):
    """The gallery of a few words."""
    shared.reset(None)
    return shared


def test_typing_shows_the_senses(at, tiny):
    at.page.keyboard.press("/")
    at.page.keyboard.type("ti")
    at.cards.first.wait_for()
    found = at.texts(at.cards)
    senses = tiny.senses("tie", n_neighbors=8)
    assert len(found) == len(senses) == 3
    for name, sense in zip(found, senses, strict=True):
        assert name.startswith(f"Map {sense.map} {100 * sense.weight:.0f}%")
        assert all(neighbor.label in name for neighbor in sense.neighbors[:3])
    at.page.keyboard.press("Enter")
    assert at.becomes("location.hash === '#word=tie'")
    at.expect(at.status).to_contain_text("tie appears in 3 maps: map 1, 52%, close to suit")


@pytest.mark.parametrize("typed", ["café", "CAFE", "cafe\u0301", "  Cafe ", "caf"])
def test_accents_and_case_make_no_difference(at, typed):
    at.search.fill(typed)
    at.expect(at.hits).to_have_count(1)
    assert "Café" in at.hits.inner_text()
    at.page.keyboard.press("Enter")
    assert at.word == "Café"


def test_words_are_listed_at_once_and_shown_after_a_pause(at):
    """While one types nothing but the list is made, however long it goes on."""
    watched = """() => {
      window.shown = [];
      const { atlas } = document.querySelector("#manymaps");
      window.watching = setInterval(() => window.shown.push(atlas.state.word), 5);
    }"""
    at.page.evaluate(watched)
    at.page.keyboard.press("/")
    at.page.keyboard.type("tie", delay=60)
    listed = at.hits.count()
    at.page.evaluate("clearInterval(window.watching)")
    assert listed == 1
    assert set(at.page.evaluate("window.shown")) == {None}
    assert at.becomes("atlas.atlas.labels[atlas.state.word] === 'tie'")
    at.search.fill("mat")
    at.page.keyboard.press("Enter")
    assert at.word == "match"


def test_what_is_typed_in_haste_is_kept_by_going_elsewhere(at):
    at.search.fill("tie")
    at.search.evaluate("field => field.blur()")
    assert at.word == "tie"


def test_what_is_misspelled_is_offered(at):
    at.search.fill("shrit")
    at.expect(at.hits).to_have_count(1)
    at.expect(at.hits).to_contain_text("shirt")
    at.expect(at.hits).to_contain_text("Did you mean: shirt")
    at.page.keyboard.press("Enter")
    assert at.word == "shirt"


def test_categories_and_numbers_are_found_and_shown_alone(at, tiny):
    at.look_up("tie")
    at.search.fill("nou")
    nouns = sum(group == "noun" for group in tiny.metadata["group"])
    at.expect(at.hits).to_have_text([f"Show only group = noun{nouns} objects"])
    at.page.keyboard.press("Enter")
    assert at.word == "tie"
    at.expect(at.filters).to_contain_text(f"{nouns} of 12 objects shown")
    at.search.fill("1993")
    at.hits.click()
    at.expect(at.filters).to_contain_text(re.compile("[01] of 12 objects shown"))


def test_what_is_not_there_is_said(at):
    at.search.fill("zzz")
    at.expect(at.nothing_found).to_contain_text("No object matches “")
    assert at.hits.count() == 0
    at.page.keyboard.press("Enter")
    assert at.word is None


def test_a_list_to_choose_from(at):
    at.page.keyboard.press("/")
    at.page.keyboard.type("s")
    at.hits.nth(2).wait_for()
    names = [name.split("\n")[0] for name in at.hits.all_inner_texts()]
    at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("ArrowUp")
    at.expect(at.hits.nth(1)).to_have_attribute("aria-selected", "true")
    assert at.search.get_attribute("aria-activedescendant") == at.hits.nth(1).get_attribute("id")
    assert at.becomes("atlas.state.word === atlas.atlas.labels.indexOf(given)", names[1])
    at.page.keyboard.press("Enter")
    assert at.word == names[1]
    at.expect(at.search).to_have_value(names[1])
    at.expect(at.hits).to_have_count(0)


def test_escape_brings_back_what_was_shown(at):
    at.look_up("tie")
    at.search.fill("kno")
    assert at.becomes("atlas.atlas.labels[atlas.state.word] === 'knot'")
    at.page.keyboard.press("Escape")
    assert at.word == "tie"
    at.expect(at.search).to_have_value("tie")
    at.page.keyboard.press("Escape")
    assert at.word is None
    at.expect(at.search).to_have_value("")


def test_a_word_that_is_clicked(at):
    at.search.click()
    at.page.keyboard.type("bo")
    at.hits.first.click()
    assert at.word == "bow"
    at.button("Close the meanings").click()
    assert at.word is None


def test_the_gallery_is_sorted_and_filtered(at, tiny):
    at.expect(at.sheets).to_have_count(3)
    at.look_up("knot")
    at.expect(at.sheets.first).to_contain_text("%")
    order = [int(re.match(r"Map (\d+) ", text)[1]) for text in at.texts(at.sheets)]
    lives = [sense.map for sense in tiny.senses("knot")]
    assert order == [*lives, *sorted(set(range(3)) - set(lives))]
    at.only_its_maps.click()
    at.expect(at.sheets).to_have_count(len(lives))
    at.only_its_maps.click()
    at.expect(at.sheets).to_have_count(3)


def test_texts_of_columns_are_found(open_page, pages):
    atlas = page_samples.on_a_line(120)
    notes = np.array([f"a note on suit {7 * i} & <b>more" for i in range(120)], object)
    write_page(replace(atlas, metadata={"note": notes}), pages / "notes.html")
    at = open_page(pages / "notes.html")
    at.search.fill("SUIT 77 ")
    at.expect(at.hits).to_have_count(3)
    assert at.texts(at.hits)[1] == "word 110 note: a note on suit 770 & <b>more"
    at.hits.first.click()
    assert at.word == "word 11"


@pytest.mark.slow
def test_a_sense_opens_its_map_at_the_word(open_page, relations, relations_page):
    at = open_page(relations_page)
    many = "atlas.atlas.labels.findIndex((_, i) => atlas.senses(i)[1]?.neighbors.length > 5)"
    word = relations.labels[at.read(many)]
    at.look_up(word)
    second = relations.senses(word, n_neighbors=relations.n_objects)[1]
    at.cards.nth(1).click()
    at.map.wait_for()
    at.settle()
    assert at.open_map == second.map
    [there] = at.points(relations.maps[second.map, [relations.index(word)]])
    box = at.box()
    corner, size = np.array([box["x"], box["y"]]), np.array([box["width"], box["height"]])
    assert (np.abs(there - corner - size / 2) < size / 2).all()
    assert word in [label["text"] for label in at.shown]
    listed = "atlas.senses(given)[1].neighbors.map(({ object }) => atlas.atlas.labels[object])"
    near = set(at.read(listed, relations.index(word)))
    assert near <= {neighbor.label for neighbor in second.neighbors}
    assert near <= {label["text"] for label in at.shown}


@pytest.mark.slow
def test_asymmetry_is_told(open_page, relations, relations_page):
    at = open_page(relations_page)
    at.look_up("bank")
    at.senses.wait_for()
    said = at.senses.get_by_text("evokes").inner_text()
    one_way = r"(.+) evokes (.+) ([\d.]+)% \(model <?([\d.]+)%\)"
    told = re.fullmatch(f"Observed: {one_way}, {one_way}", said)
    assert told, said
    word, other, to, to_model, *back, fro, fro_model = told.groups()
    assert (word, back) == ("bank", [other, word])
    observed = relations.associations.toarray()
    i, j = relations.index(word), relations.index(other)
    # A share of less than 1 % has two digits.
    assert float(to) == pytest.approx(100 * observed[i, j], rel=0.06, abs=0.005)
    assert float(fro) == pytest.approx(100 * observed[j, i], rel=0.06, abs=0.005)
    modelled = [relations.similarity(word, other), relations.similarity(other, word)]
    assert float(to_model) == pytest.approx(100 * modelled[0], rel=0.06, abs=0.01)
    assert float(fro_model) == pytest.approx(100 * modelled[1], rel=0.06, abs=0.01)


@pytest.mark.slow
def test_without_data_asymmetry_is_the_models(open_page, relations, pages):
    modelled = replace(relations, associations=None)
    mm.write_page(modelled, pages / "modelled.html")
    at = open_page(pages / "modelled.html", "#word=bank")
    said = at.senses.get_by_text("evokes").inner_text()
    told = re.fullmatch(r"In the model: bank evokes (.+) ([\d.]+)%, \1 evokes bank [\d.]+%", said)
    assert told, said
    similarity = relations.similarity("bank", told[1])
    assert float(told[2]) == pytest.approx(100 * similarity, rel=0.06)


@pytest.mark.slow
def test_the_keyboard_alone(open_page, relations, relations_page, tmp_path):
    at = open_page(relations_page)
    keys = at.page.keyboard
    at.look_up("tie")
    senses = relations.senses("tie")
    at.expect(at.cards.first).to_be_focused()
    if len(senses) > 1:
        keys.press("ArrowRight")
    keys.press("Enter")
    at.map.wait_for()
    at.settle()
    assert at.open_map == senses[min(1, len(senses) - 1)].map

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
    with at.download(tmp_path) as saved:
        keys.press("Enter")
    assert saved[0].suffix == ".png"
    keys.press("Tab")
    with at.download(tmp_path) as saved:
        keys.press("Enter")
    assert saved[0].suffix == ".svg"

    keys.press("s")
    at.expect(at.selection).to_contain_text("1 object selected")
    csv = at.selection.get_by_role("button", name="CSV")
    # The card's tables, each row of which is a word to go to, stand between.
    for _ in range(150):
        if csv.evaluate("button => button.matches(':focus')"):
            break
        keys.press("Tab")
    with at.download(tmp_path) as saved:
        keys.press("Enter")
    assert saved[0].suffix == ".csv"
    assert "\ntie," in saved[0].read_text(encoding="utf-8")

    keys.press("?")
    at.dialog.wait_for()
    keys.press("Escape")
    at.dialog.wait_for(state="hidden")
    keys.press("g")
    at.sheets.first.wait_for()
    assert at.open_map is None


def test_what_was_observed_stands_beside_the_model(open_page, grouped, grouped_page):
    """Cards come in the order of `Atlas.senses`."""
    at = open_page(grouped_page)
    found = {word: grouped.senses(word) for word in grouped.labels}
    word, senses = max(found.items(), key=lambda pair: len(pair[1]))
    at.look_up(word)
    at.expect(at.cards).to_have_count(len(senses))
    for text, sense in zip(at.texts(at.cards), senses, strict=True):
        told = re.match(r"Map (\d+) ([\d.]+)% observed model ([\d.]+)% ", text)
        assert told, text
        assert told[1] == str(sense.map)
        assert float(told[2]) == pytest.approx(100 * sense.share, rel=0.05)
        assert float(told[3]) == pytest.approx(100 * sense.weight, rel=0.05)
    hidden = 1 - sum({sense.map: sense.weight for sense in senses}.values())
    said = at.senses.get_by_role("paragraph").all_inner_texts()
    further = [re.fullmatch(r"(\d) further maps?: ([\d.]+)% in the model", text) for text in said]
    assert any(further) == (hidden >= 0.005)
    for match in filter(None, further):
        assert float(match[2]) == pytest.approx(100 * hidden, rel=0.05)
