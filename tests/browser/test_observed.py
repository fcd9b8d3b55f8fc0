"""Observed associations of words on a page, and the texts and pictures of a page of one map."""

import re

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def at(open_page, grouped_page):
    """The gallery of sixty words of which something was observed."""
    return open_page(grouped_page)


# Who is recalled too, and of whose observed partners some are near in the first of its maps.
TELLING = """atlas.atlas.labels.findIndex((_, word) => {
  const [first] = atlas.senses(word);
  const { recalled, recalling } = atlas.observed(word);
  const near = recalled.filter(({ map }) => map === first?.map);
  return recalling.length > 0 && near.length > 1 && recalled.length < 10;
})"""


def told(share: float) -> str:
    """A share as the page writes it."""
    value = 100 * round(65535 * share) / 65535
    if value < 1:
        return "<1%"
    return f"{value:.1f}%" if value < 9.95 else f"{value:.0f}%"


def rows_of(at, name: str) -> list[list[str]]:
    table = at.page.get_by_role("table", name=name)
    table.wait_for()
    rows = table.get_by_role("row").all_inner_texts()
    return [[cell.strip() for cell in row.split("\t")] for row in rows]


def test_tables_and_tooltip_tell_the_data(at, grouped):
    word = at.read(TELLING)
    at.read("atlas.chooseWord(given)", word)
    assert at.page.get_by_role("table").count() == 0
    at.unfold("All associates")
    table = grouped.associations.toarray()
    head, *rows = rows_of(at, "Its associates")
    assert head == ["word", "observed", "close on map"]
    order = np.argsort(-table[word], kind="stable")[: int((table[word] > 0).sum())]
    assert [row[:2] for row in rows] == [
        [grouped.labels[j], told(table[word, j])] for j in order.tolist()
    ]
    assert all(re.fullmatch(r"none|\d+", place) for _, _, place in rows)
    at.unfold("What evokes this word")
    _, first, *_ = rows_of(at, "Shares of their own associations")
    who = int(table[:, word].argmax())
    assert first == [grouped.labels[who], told(table[who, word])]
    at.page.get_by_role("table").first.get_by_role("button", name="Map ").first.click()
    at.map.wait_for()
    at.settle()
    near = at.read("atlas.senses(given)[0].neighbors[0]", word)
    entry = at.read("atlas.atlas.maps[atlas.state.map].objects.indexOf(given)", near)
    at.point_at(entry)
    partner = int(table[near].argmax())
    assert f"Observed: {grouped.labels[partner]} {told(table[near, partner])}" in (
        at.tip.inner_text()
    )


def test_a_page_of_one_map_has_its_own_noun_and_pictures(open_page, pictures, pictures_page):
    at = open_page(pictures_page)
    at.expect(at.page.get_by_text("300 images in 1 map")).to_be_visible()
    at.expect(at.search).to_have_attribute("placeholder", "Find images")
    at.look_up("img 7")
    at.expect(at.card.get_by_role("heading")).to_have_text("img 7")
    assert at.senses.count() == 0
    at.expect(at.status).to_contain_text("img 7, near img ")
    portrait = at.card.get_by_role("img", name="picture of img 7")
    loaded = "images => images.map(image => image.complete && image.naturalWidth)"
    assert portrait.evaluate_all(loaded) == [1]
    at.unfold("Neighbours")
    _, *rows = rows_of(at, "Nearest neighbours")
    row = pictures.similarities("img 7")
    values = [row[pictures.index(label)] for [label] in rows]
    np.testing.assert_allclose(values, np.sort(row)[::-1][:8], rtol=0.02)
    at.settle()
    at.point_at(7)
    assert at.tip.get_by_role("img", name="picture of img 7").evaluate_all(loaded) == [1]
    said = at.page.locator(".atlas").inner_text()
    assert not re.search(r"\b(word|object|sense|meaning)s?\b|<0.01%", said, re.IGNORECASE)
    at.button("Close").click()
    assert at.word is None
