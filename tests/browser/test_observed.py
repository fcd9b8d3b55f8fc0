"""Observed associations of words on a page, and the texts of a page of one map."""

import re
from dataclasses import replace

import numpy as np
import pytest

import manymaps as mm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared(open_shared, grouped_page):
    return open_shared(grouped_page)


@pytest.fixture
def at(shared):
    """The gallery of sixty words of which something was observed."""
    shared.reset(None)
    return shared


# Who is recalled too, and of whose observed partners some are near in the first of its maps.
TELLING = """atlas.atlas.labels.findIndex((_, word) => {
  const [first] = atlas.senses(word);
  const { recalled, recalling } = atlas.observed(word);
  const near = recalled.filter(({ map }) => map === first?.map);
  return recalling.length > 0 && near.length > 1 && recalled.length < 10;
})"""


@pytest.fixture
def word(at) -> int:
    found = at.read(TELLING)
    at.read("atlas.chooseWord(given)", found)
    return int(found)


def strongest(atlas: mm.Atlas, word: int) -> int | None:
    """The strongest observed associations of a word."""
    row = atlas.associations[[word]].toarray()[0]
    return int(row.argmax()) if row.any() else None


def told(share: float) -> str:
    """A share as the page writes it, as a pattern."""
    value = 100 * round(65535 * share) / 65535
    if value < 1:
        return "<1%"
    return f"{value:.1f}%" if value < 9.95 else f"{value:.0f}%"


def test_of_every_word_the_strongest_partner_is_in_sight(at, grouped):
    """In a picture or, where it is close on no map, in a sentence."""
    places = {"card": 0, "sentence": 0}
    for word in range(grouped.n_objects):
        partner = strongest(grouped, word)
        if partner is None:
            continue
        at.read("atlas.chooseWord(given)", word)
        at.expect(at.senses.get_by_role("heading")).to_have_text(at.headline(grouped.labels[word]))
        label = re.compile(rf"{grouped.labels[partner]}\b")
        far = "".join(
            at.senses.get_by_text("Associates that are not close on their map: ").all_inner_texts()
        )
        near = at.read("atlas.observed(given).recalled[0].map !== null", word)
        assert near != bool(label.search(far)), (word, partner)
        places["card" if near else "sentence"] += 1
        assert "%" not in far
    # The maps of this atlas were not fitted to its associations, so that both occur.
    assert min(places.values()) > 5


def test_the_table_lists_the_data(at, grouped, word):
    at.unfold("All associates")
    recalled = at.page.get_by_role("table", name="Its associates")
    recalled.wait_for()
    rows = [row.split("\t") for row in recalled.get_by_role("row").all_inner_texts()]
    assert [text.replace("\n", " ") for text in rows[0]] == [
        "word", "observed", "close on map"
    ]  # fmt: skip
    table = grouped.associations.toarray()
    order = np.argsort(-table[word], kind="stable")
    order = order[table[word, order] > 0][:8]
    for (label, observed, near), partner in zip(rows[1:], order, strict=False):
        assert label.strip() == grouped.labels[partner]
        assert observed == told(table[word, partner])
        assert re.fullmatch(r"none|\d+", near)
    assert len(rows) == 1 + int((table[word] > 0).sum())
    at.unfold("What evokes this word")
    recalling = at.page.get_by_role("table", name="Shares of their own associations")
    first = recalling.get_by_role("row").nth(1).inner_text().split("\t")
    who = int(table[:, word].argmax())
    assert first[0].strip() == grouped.labels[who]
    assert first[1] == told(table[who, word])


def test_a_place_in_the_table_opens_its_map(at, word):
    at.unfold("All associates")
    table = at.page.get_by_role("table", name="Its associates")
    place = table.get_by_role("button", name="Map ")
    map = int(place.first.inner_text())
    place.first.click()
    assert at.becomes("atlas.state.map === given", map)


def test_lines_to_what_was_observed(at, open_page, grouped, grouped_page, tmp_path, word):
    map = at.read("atlas.senses(given)[0].map", word)
    at.read("atlas.openMap(given)", map)
    at.settle()
    before = at.map.screenshot()
    at.lines.check()
    at.settle()
    assert at.map.screenshot() != before
    assert at.becomes("location.hash.includes('links=1')")
    with at.download(tmp_path) as saved:
        at.save("SVG")
    svg = saved[0].read_text(encoding="utf-8")
    ties = r'<path d="M[^"L]*L[^"L]*" fill="none"[^>]*stroke-width="1.2"[^>]*>'
    lines = re.findall(ties, svg)
    found = at.read("atlas.observed(given).recalled.slice(0, 10)", word)
    near = [partner for partner in found if partner["map"] == map]
    lives = [p for p in found if grouped.map_weights[map, p["object"]] >= 0.1 and p not in near]
    assert len(lines) == len(near) + len(lives) > 1
    assert sum("dasharray" in line for line in lines) == len(lives)
    labels = {label["object"] for label in at.shown}
    assert {partner["object"] for partner in near} & labels
    other = open_page(grouped_page, at.address)
    other.expect(other.lines).to_be_checked()
    at.lines.uncheck()
    assert at.becomes("!location.hash.includes('links')")


def test_without_data_there_are_no_lines(open_page, ungrouped_page):
    at = open_page(ungrouped_page, "#word=word%207&links=1")
    at.expect(at.cards.first).to_be_visible()
    assert at.lines.count() == 0
    assert at.senses.get_by_text("bserved").count() == 0
    at.unfold("Neighbours")
    caption = "Nearest neighbours"
    at.expect(at.page.get_by_role("table", name=caption)).to_be_visible()


def point_at(at, object: int) -> None:
    """Move the pointer over the dot of an object in the open map."""
    place = "atlas.atlas.maps[atlas.state.map]"
    entry = f"{place}.objects.indexOf(given)"
    at.settle()
    drawn = at.read(f"[...{place}.points.slice(2 * {entry}, 2 * {entry} + 2)]", object)
    [[x, y]] = at.points(np.array([drawn]))
    at.page.mouse.move(x, y)
    at.tip.wait_for()


def test_a_tooltip_tells_what_was_observed(at, grouped, word):
    at.read("atlas.openMap(atlas.senses(given)[0].map)", word)
    near = at.read("atlas.senses(given)[0].neighbors[0]", word)
    point_at(at, near)
    partner = strongest(grouped, near)
    share = grouped.associations[[near]].toarray()[0, partner]
    said = at.tip.inner_text()
    assert said.startswith(grouped.labels[near])
    assert f"Observed: {grouped.labels[partner]} {told(share)}" in said


def test_a_page_of_one_map_has_its_own_noun_and_no_strip(open_page, pictures, pictures_page):
    at = open_page(pictures_page)
    at.expect(at.page.get_by_text("300 images in 1 map")).to_be_visible()
    at.expect(at.search).to_have_attribute("placeholder", "Find images")
    at.expect(at.map).to_have_accessible_name(re.compile("^The map: "))
    at.look_up("img 7")
    at.expect(at.card.get_by_role("heading")).to_have_text("img 7")
    assert at.senses.count() == 0
    at.expect(at.status).to_contain_text("img 7, near img ")
    at.unfold("Neighbours")
    nearest = at.card.get_by_role("table", name="Nearest neighbours")
    nearest.wait_for()
    row = pictures.similarities("img 7")
    rows = nearest.get_by_role("row").all_inner_texts()[1:]
    assert len(rows) == 8
    values = [row[pictures.index(label.strip())] for label in rows]
    np.testing.assert_allclose(values, np.sort(row)[::-1][:8], rtol=0.02)
    whole = at.page.locator(".atlas").inner_text()
    assert "img 7" in whole
    assert not re.search(r"\b(word|object|sense|meaning)s?\b|<0.01%", whole, re.IGNORECASE)
    at.button("Close").click()
    assert at.becomes("atlas.state.word === null")
    at.search.fill("zzz")
    at.expect(at.nothing_found).to_contain_text("No image matches “zzz”")


def test_pictures_stand_in_card_table_and_tooltip(open_page, pictures_page):
    at = open_page(pictures_page, "#word=img%207")
    loaded = "images => images.map(image => image.complete && image.naturalWidth)"
    portrait = at.card.get_by_role("img", name="picture of img 7")
    at.expect(portrait).to_be_visible()
    assert portrait.evaluate_all(loaded) == [1]
    assert portrait.bounding_box()["height"] > 60
    at.unfold("Neighbours")
    at.card.get_by_role("row").first.wait_for()
    assert 1 <= at.card.get_by_role("row").locator("img").count() <= 10
    point_at(at, 7)
    assert at.tip.get_by_role("img", name="picture of img 7").evaluate_all(loaded) == [1]
    said = at.tip.inner_text()
    assert "shade" in said
    assert re.search(r"Neighbours: img \d+, img \d+, img \d+", said.replace("\n", ""))
    at.read("atlas.chooseWord(9)")
    at.expect(at.card.get_by_role("heading")).to_have_text("img 9")
    assert portrait.count() == 0


def test_a_page_of_one_map_shows_the_data_too(open_page, grouped, tmp_path):
    """Beside what the map holds near; none of its places has a number."""
    single = replace(grouped, maps=grouped.maps[:1], proportions=np.ones((1, grouped.n_objects)))
    mm.write_page(single, tmp_path / "single.html", noun="word")
    at = open_page(tmp_path / "single.html")
    word = next(word for word in range(60) if strongest(single, word) is not None)
    at.read("atlas.chooseWord(given)", word)
    at.unfold("All associates")
    recalled = at.card.get_by_role("table", name="Its associates")
    recalled.wait_for()
    rows = [row.split("\t") for row in recalled.get_by_role("row").all_inner_texts()]
    assert [text.replace("\n", " ") for text in rows[0]] == [
        "word", "observed", "on the map"
    ]  # fmt: skip
    label, observed, place = rows[1]
    partner = strongest(single, word)
    assert label.strip() == single.labels[partner]
    assert observed == told(single.associations[[word]].toarray()[0, partner])
    similarities = single.choices.shares(word)[0]
    assert place == ("close" if similarities[partner] >= 0.05 * similarities.max() else "not close")
    assert at.senses.count() == 0
