"""The path between two words: asked for, walked through its maps, sent, and as Python finds it."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROUTE = """atlas.state.route?.steps.map(({ from, to, map, share }) =>
  [atlas.atlas.labels[from], atlas.atlas.labels[to], map, share])"""


@pytest.fixture(scope="module")
def at(open_shared, relations_page):
    return open_shared(relations_page)


def ask(at, start: str, end: str):
    """Look a word up and ask for a path to another one, by keys alone."""
    at.look_up(start)
    at.unfold("Neighbours")
    field = at.page.get_by_role("textbox", name="Path to").first
    field.focus()
    at.page.keyboard.type(end)
    at.button(end).wait_for()
    at.page.keyboard.press("Enter")
    assert at.becomes("atlas.state.route !== null && atlas.state.path !== null")


@pytest.fixture
def path(open_page, tiny_page):
    """The cards of a path through two maps."""
    opened = open_page(tiny_page)
    ask(opened, "rope", "match")
    return opened


@pytest.mark.parametrize("name", ["relations", "grouped"])
def test_it_is_the_path_that_python_finds(request, open_shared, rng, name):
    """Paths follow observed links if possible, and otherwise the maps."""
    atlas = request.getfixturevalue(name)
    at = open_shared(request.getfixturevalue(f"{name}_page"))
    found = 0
    for _ in range(12):
        start, end = rng.choice(atlas.n_objects, 2, replace=False).tolist()
        at.read("atlas.change({ word: given[0], path: given[1], route: null })", [start, end])
        assert at.becomes("atlas.state.route !== null")
        expected = atlas.path(atlas.labels[start], atlas.labels[end])
        shown = at.read(ROUTE)
        assert [tuple(step[:3]) for step in shown] == [
            (step.start, step.end, step.map) for step in expected
        ]
        np.testing.assert_allclose(
            [step[3] for step in shown], [step.similarity for step in expected], rtol=0.03
        )
        found += len(expected) > 1
        is_observed = bool(expected and expected[0].observed)
        assert is_observed == all(step.observed for step in expected)
        said = at.page.get_by_text("Each step follows an observed link")
        at.expect(said).to_have_count(int(is_observed))
    assert found > 4


def test_its_steps_open_their_maps(path):
    cards = path.page.get_by_role("region", name="From rope to match").get_by_role("button")
    path.expect(
        path.page.get_by_role("heading", name="From rope to match in 2 steps")
    ).to_be_visible()
    assert path.becomes(
        "document.querySelector('#manymaps').shadowRoot.activeElement.matches('.sense')"
    )
    path.expect(path.status).to_have_text("2 steps from rope: knot in map 0, match in map 2")
    path.page.keyboard.press("ArrowRight")
    path.page.keyboard.press("Enter")
    path.settle()
    assert path.open_map == 2
    assert {"knot", "match"} <= {label["text"] for label in path.shown}
    path.expect(cards.nth(2)).to_have_attribute("aria-current", "true")
    path.page.keyboard.press("Escape")
    assert path.becomes("atlas.state.map === null")
    path.page.keyboard.press("Escape")
    assert path.becomes("atlas.state.path === null")
    assert path.word == "rope"


def test_a_path_is_a_step_of_the_history(path):
    assert path.becomes("location.hash === '#word=rope&path=match'")
    path.page.go_back()
    assert path.becomes("atlas.state.path === null")
    path.expect(path.senses).to_be_visible()
    path.page.go_forward()
    path.page.get_by_role("heading", name="From rope to match in 2 steps").wait_for()


def test_an_address_asks_for_a_path(open_page, tiny_page):
    at = open_page(tiny_page, "#word=rope&path=match&map=2")
    at.page.get_by_role("heading", name="From rope to match in 2 steps").wait_for()
    at.settle()
    assert {"knot", "match"} <= {label["text"] for label in at.shown}
    nobody = open_page(tiny_page, "#word=rope&path=nobody")
    nobody.senses.wait_for()
    assert nobody.read("atlas.state.path") is None


def test_another_word_ends_the_path(path):
    path.look_up("suit")
    assert path.read("atlas.state.path") is None
    path.expect(path.senses).to_be_visible()


def test_where_no_path_leads(open_page, pages):
    import manymaps as mm
    from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
    from manymaps.viewer.page import write_page

    points = np.array([[[0.0, 0.0], [1.0, 0.0]] * 2] * 2)
    apart = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    write_page(mm.Atlas(list("abcd"), points, apart, MULTIPLE_MAPS_T_SNE), pages / "apart.html")
    at = open_page(pages / "apart.html", "#word=a&path=c")
    at.page.get_by_text("No path found").first.wait_for()
    at.expect(at.status).to_have_text("No path found")
    at.button("Close the path").click()
    at.senses.wait_for()


def test_both_views_show_a_path_while_they_are_linked(open_page, tiny_page):
    at = open_page(tiny_page, "#beside")
    at.page.get_by_role("checkbox", name="Same word in both").check()
    ask(at, "rope", "match")
    at.expect(at.page.get_by_role("heading", name="From rope to match in 2 steps")).to_have_count(2)
    assert at.becomes("location.hash === '#word=rope&path=match&beside&word=rope&path=match'")
    at.page.go_back()
    assert at.becomes("atlas.state.path === null && atlas.beside.state.path === null")
