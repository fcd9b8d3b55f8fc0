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
    weights = tiny.map_weights[:, tiny.index("tie")]
    assert len(found) == 3
    for name, m in zip(found, np.argsort(-weights).tolist(), strict=True):
        words = [near.label for near in tiny.neighbors("tie", map=m, n_neighbors=8)]
        assert name.startswith(f"{', '.join(words[:3])} {100 * weights[m]:.0f}%")
        assert name.endswith(f"{', '.join(words[3:6])} Map {m} · open")
    at.page.keyboard.press("Enter")
    assert at.becomes("location.hash === '#word=tie'")
    at.expect(at.status).to_contain_text("tie: on three maps. suit, ")


@pytest.mark.parametrize("typed", ["café", "CAFE", "cafe\u0301", "  Cafe ", "caf"])
def test_accents_and_case_make_no_difference(at, typed):
    at.search.fill(typed)
    at.expect(at.hits).to_have_count(1)
    assert "Café" in at.hits.inner_text()
    at.page.keyboard.press("Enter")
    assert at.word == "Café"


def test_words_are_listed_at_once_and_shown_after_a_pause(open_page, tiny_page):
    """While one types nothing but the list is made, however long it goes on.

    The time of the page stands still between keys, so that a busy machine pauses no typing.
    """
    at = open_page(tiny_page)
    clock = at.page.clock
    clock.install(time=0)
    clock.pause_at(3600)
    at.page.keyboard.press("/")
    for letter in "tie":
        at.page.keyboard.press(letter)
        listed = at.hits.count()
        clock.run_for(60)
        assert at.word is None
    assert listed == 1
    clock.run_for(150)
    assert at.word == "tie"
    clock.resume()
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


def test_two_words_open_the_first_with_the_map_on_which_both_are_close(at, tiny):
    (m, *_) = np.argsort(-tiny.map_weights[:, tiny.index("tie")]).tolist()
    other = tiny.neighbors("tie", map=m, n_neighbors=1)[0].label
    at.search.fill(f"tie {other}")
    at.expect(at.hits.first).to_contain_text(f"both close on map {m}")
    at.page.keyboard.press("Enter")
    assert at.word == "tie"
    assert at.read("atlas.state.markedMap") == m
    at.look_up("shirt")
    assert at.read("atlas.state.markedMap") is None


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


def test_a_link_moves_the_focus_to_the_first_card(at):
    at.look_up("tie")
    at.expect(at.cards.first).to_be_focused()
    at.unfold("Neighbours")
    other = at.senses.get_by_role("rowheader").get_by_role("button").first
    name = other.inner_text()
    other.click()
    assert at.word == name
    at.expect(at.cards.first).to_be_focused()


def test_guesses_are_offered_only_if_nothing_matches(at):
    at.search.fill("shirt")
    at.expect(at.hits.first).to_contain_text("shirt")
    assert "Did you mean" not in "".join(at.hits.all_inner_texts())


def test_a_word_that_is_clicked(at):
    at.search.click()
    at.page.keyboard.type("bo")
    at.hits.first.click()
    assert at.word == "bow"
    at.button("Close the senses").click()
    assert at.word is None


def test_the_gallery_is_sorted_and_filtered(at, tiny):
    at.expect(at.sheets).to_have_count(3)
    at.look_up("knot")
    at.all_maps.click()
    at.expect(at.sheets.first).to_contain_text("%")
    order = [int(re.match(r"Map (\d+) ", text)[1]) for text in at.texts(at.sheets)]
    lives = [sense.map for sense in tiny.senses("knot")]
    assert order == [*lives, *sorted(set(range(3)) - set(lives))]
    at.only_its_maps.click()
    at.expect(at.sheets).to_have_count(len(lives))
    assert at.becomes("location.hash === '#word=knot&maps=word'")
    at.only_its_maps.click()
    at.expect(at.sheets).to_have_count(3)
    at.button("Show senses").click()
    at.expect(at.cards).to_have_count(len(lives))
    assert at.becomes("location.hash === '#word=knot'")


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
    listed = "atlas.senses(given)[1].neighbors.map((object) => atlas.atlas.labels[object])"
    near = set(at.read(listed, relations.index(word)))
    assert near <= {neighbor.label for neighbor in second.neighbors}
    assert near <= {label["text"] for label in at.shown}


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
def test_empty_tables_have_no_disclosure(open_page, relations, relations_page):
    evoked = np.bincount(relations.associations.indices, minlength=relations.n_objects)
    known = np.diff(relations.associations.indptr)
    at = open_page(relations_page)
    for name, counts in (("What evokes this word", evoked), ("All associates", known)):
        none, some = int(counts.argmin()), int(counts.argmax())
        at.read("atlas.chooseWord(given)", some)
        at.expect(at.senses.get_by_text(name, exact=True)).to_be_visible()
        if counts[none] == 0:
            at.read("atlas.chooseWord(given)", none)
            at.expect(at.senses.get_by_text(name, exact=True)).to_have_count(0)


@pytest.mark.slow
def test_both_directions_are_behind_disclosures(open_page, relations, relations_page):
    at = open_page(relations_page)
    at.look_up("bank")
    at.senses.wait_for()
    assert at.page.get_by_role("table").count() == 0
    at.unfold("All associates")
    at.unfold("What evokes this word")
    tables = [at.page.get_by_role("table", name=name) for name in (
        "Its associates", "Shares of their own associations"
    )]  # fmt: skip
    observed, i = relations.associations.toarray(), relations.index("bank")
    for table, exact in zip(tables, (observed[i], observed[:, i]), strict=True):
        table.wait_for()
        rows = [row.split("\t") for row in table.get_by_role("row").all_inner_texts()[1:]]
        known = [(label.strip(), share) for label, share, *_ in rows]
        assert len(known) > 3
        for label, share in known:
            expected = exact[relations.index(label)]
            if share == "<1%":
                assert 0 < expected < 0.01
            else:
                assert float(share.strip("%")) == pytest.approx(100 * expected, rel=0.06)
        strengths = [exact[relations.index(label)] for label, _ in known]
        assert strengths == sorted(strengths, reverse=True)


@pytest.mark.slow
def test_without_data_neighbours_are_listed_with_their_maps(open_page, relations, pages):
    bare = replace(relations, associations=None)
    mm.write_page(bare, pages / "bare.html")
    at = open_page(pages / "bare.html", "#word=bank")
    at.unfold("Neighbours")
    table = at.page.get_by_role("table", name="Nearest neighbours")
    table.wait_for()
    rows = [row.split("\t") for row in table.get_by_role("row").all_inner_texts()[1:]]
    found = {(label.strip(), map) for label, maps in rows for map in maps.split(", ")}
    maps = np.flatnonzero(bare.map_weights[:, bare.index("bank")] >= 0.1).tolist()
    near = {
        (neighbor.label, str(m))
        for m in maps
        for neighbor in bare.neighbors("bank", map=m, n_neighbors=8)
    }
    assert found == near


@pytest.mark.slow
def test_the_keyboard_alone(open_page, relations, relations_page, tmp_path):
    at = open_page(relations_page)
    keys = at.page.keyboard
    at.look_up("tie")
    maps = [sense.map for sense in relations.senses("tie")]
    at.expect(at.cards.first).to_be_focused()
    if len(maps) > 1:
        keys.press("ArrowRight")
    keys.press("Enter")
    at.map.wait_for()
    at.settle()
    assert at.open_map == maps[min(1, len(maps) - 1)]

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
    for n_tabs, suffix in ((1, ".png"), (2, ".svg")):
        keys.press("e")
        keys.press("Enter")
        for _ in range(n_tabs):
            keys.press("Tab")
        with at.download(tmp_path) as saved:
            keys.press("Enter")
        assert saved[0].suffix == suffix

    keys.press("s")
    at.expect(at.selection).to_contain_text("1 word selected")
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


def test_cards_have_the_senses_of_the_atlas(open_page, grouped, grouped_page):
    """One card per sense, the largest share first, with one number."""
    at = open_page(grouped_page)
    n_several = 0
    for word in grouped.labels:
        senses = grouped.senses(word) if len(grouped.associates(word)) else []
        at.read("atlas.chooseWord(atlas.atlas.labels.indexOf(given))", word)
        at.expect(at.senses.get_by_role("heading")).to_have_text(at.headline(word))
        cards = at.texts(at.cards) if senses else []
        percents = [int(re.search(r"(\d+)%", card)[1]) for card in cards]
        assert percents == pytest.approx([100 * sense.share for sense in senses], abs=1)
        assert sum(percents) <= 100
        for card, sense in zip(cards, senses, strict=True):
            assert card.startswith(", ".join(sense.name))
            assert card.endswith(f"Map {sense.map} · open")
        n_several += len(cards) > 1
    assert n_several > 10
