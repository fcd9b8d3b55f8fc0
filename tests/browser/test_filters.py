"""Objects are filtered by columns, by pointer and by keyboard, and the address holds all of it."""

from dataclasses import replace

import numpy as np
import pytest

from manymaps.viewer.page import write_page


@pytest.fixture(scope="module")
def shared(open_shared, tiny_page):
    return open_shared(tiny_page)


@pytest.fixture
def at(shared):
    """A map of a few words."""
    shared.reset(0)
    return shared


@pytest.fixture(scope="module")
def themes_page(grouped, pages):
    """Sixty words of thirty themes, with a score on both sides of 0."""
    columns = {
        "theme": np.array([f"theme {i % 30}" for i in range(60)]),
        "score": np.linspace(-1, 3, 60),
    }
    path = pages / "themes.html"
    write_page(replace(grouped, metadata=columns), path, color="theme")
    return path


def labels(at):
    at.settle()
    return {label["text"] for label in at.shown}


def test_a_range_by_keyboard(at, tiny):
    before = labels(at)
    years = at.unfold_filter("year")
    years_of = dict(zip(tiny.labels, tiny.metadata["year"], strict=True))
    least, most = min(years_of.values()) + 3, max(years_of.values()) - 1
    years.get_by_role("spinbutton", name="from").focus()
    at.page.keyboard.type(str(least))
    years.get_by_role("spinbutton", name="to").focus()
    at.page.keyboard.type(str(most))
    kept = {word for word, year in years_of.items() if least <= year <= most}
    assert labels(at) == before & kept < before
    at.expect(at.filters).to_contain_text(f"{len(kept)} of {len(years_of)} objects shown")
    at.expect(at.status).to_contain_text(f"{len(kept)} of {len(years_of)} objects shown")
    assert at.becomes("location.hash.includes('filter=year:1993,')", None)
    at.filters.get_by_role("button", name="Show all").click()
    assert labels(at) == before


def test_an_empty_field_leaves_its_end_open(at, tiny):
    years = at.unfold_filter("year")
    first, last = (years.get_by_role("spinbutton", name=name) for name in ("from", "to"))
    at.expect(first).to_have_attribute("placeholder", str(min(tiny.metadata["year"])))
    at.expect(last).to_have_attribute("placeholder", str(max(tiny.metadata["year"])))
    first.fill("1995")
    assert at.becomes("location.hash.includes('filter=year:')")
    first.fill("")
    assert at.becomes("atlas.state.filters.size === 0")


def test_senses_and_sheets_hold_no_word_that_is_filtered_out(at, tiny):
    at.reset(None)
    at.look_up("tie")
    at.expect(at.cards.first).to_contain_text("suit")
    at.page.get_by_role("button", name="Only verb").click()
    group = dict(zip(tiny.labels, tiny.metadata["group"], strict=True))
    near = at.cards.locator(".near").all_inner_texts()
    words = {word for text in near for word in text.split(", ")} - {"no neighbours here"}
    assert words
    assert all(group[word] == "verb" for word in words)
    at.read("atlas.chooseWord(null)")
    at.expect(at.cards).to_have_count(0)
    told = sorted(int(text.split()[2]) for text in at.sheets.locator(".share").all_inner_texts())
    shown = tiny.map_weights >= 0.1
    assert told == sorted(shown[:, [group[word] == "verb" for word in tiny.labels]].sum(axis=1))


def test_no_line_leads_to_what_is_filtered_out(open_page, grouped, themes_page):
    at = open_page(themes_page)
    senses = [(word, grouped.senses(word)) for word in grouped.labels]
    most = max((pair for pair in senses if pair[1]), key=lambda pair: len(pair[1][0].neighbors))
    word, [first, *_] = most
    at.read("atlas.chooseWord(given)", grouped.index(word))
    at.read("atlas.openMap(given)", first.map)
    at.map.wait_for()
    at.read("atlas.change({ lines: true })")
    assert len(labels(at)) > 5
    scores = np.linspace(-1, 3, 60)
    kept = {word, *np.array(grouped.labels)[scores >= 1]}
    at.read("atlas.change({ filters: new Map([['score', { low: 1, high: 9 }]]) })")
    assert labels(at) <= kept


def test_only_this_and_all_again(at):
    nouns = at.keys.filter(has_text="noun")
    nouns.click(modifiers=["Alt"])
    pressed = at.keys.evaluate_all("all => all.map(one => one.ariaPressed)")
    assert sorted(pressed) == ["false", "false", "true"]
    at.expect(nouns).to_have_attribute("aria-pressed", "true")
    only = at.legend.get_by_role("button", name="Only noun")
    only.focus()
    at.page.keyboard.press("Enter")
    assert at.read("atlas.state.filters.size") == 0
    at.page.keyboard.press("Enter")
    assert at.read("atlas.state.filters.size") == 1


def test_more_categories_than_colours(open_page, themes_page):
    at = open_page(themes_page, "#map=0")
    at.map.wait_for()
    at.expect(at.keys).to_have_count(21)
    at.expect(at.keys.last).to_have_text("10 others")
    themes = at.unfold_filter("theme")
    boxes = themes.get_by_role("checkbox")
    assert boxes.count() == 30
    themes.get_by_role("textbox", name="Find in theme").fill("ME 2")
    at.expect(boxes).to_have_count(11)
    themes.get_by_role("button", name="None").click()
    at.expect(at.filters).to_contain_text("38 of 60 words shown")
    themes.get_by_role("checkbox", name="theme 25").check()
    at.expect(at.filters).to_contain_text("40 of 60 words shown")
    scores = at.unfold_filter("score")
    scores.get_by_role("spinbutton", name="from").fill("4")
    at.expect(at.filters).to_contain_text("0 of 60 words shown")


@pytest.mark.slow
def test_the_address_holds_filters_and_colours(open_page, tiny, tiny_page):
    at = open_page(tiny_page, "#map=0")
    at.map.wait_for()
    at.page.get_by_role("button", name="Only verb").click()
    at.unfold_filter("year").get_by_role("spinbutton", name="from").fill("1991")
    assert at.becomes("location.hash.includes('filter=year:')")
    other = open_page(tiny_page, at.address)
    other.map.wait_for()
    assert labels(other) == labels(at)
    other.expect(other.keys.filter(has_text="noun")).to_have_attribute("aria-pressed", "false")
    # A map further and back, everything stands as before; and an address without filters has none.
    other.button("Next map").click()
    other.filters.get_by_role("button", name="Show all").click()
    assert other.becomes("location.hash === '#map=1'")
    other.page.go_back()
    assert other.becomes("atlas.state.map === 0 && atlas.state.filters.size === 2")
    other.page.go_forward()
    assert other.becomes("atlas.state.map === 1 && atlas.state.filters.size === 0")


@pytest.mark.parametrize(
    "hash",
    [
        "#filter=nothing:only,0",
        "#filter=group:1990,2000&filter=year:only,0",
        "#filter=group:only,9&filter=group:not,9-z",
        "#filter=group:only,&filter=group:%E0",
    ],
)
def test_nonsense_is_passed_over(open_page, tiny_page, hash):
    at = open_page(tiny_page, hash)
    at.sheets.first.wait_for()
    assert at.read("atlas.state.filters.size") == 0
