"""axe-core finds nothing wrong, and who hears the page is told what changes."""

import pytest

pytestmark = pytest.mark.slow

# Of WCAG 2.5.3; axe has it among its experiments.
EVERY_RULE = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
VIEWS = {
    "opening": "",
    "gallery": "#word=bank&maps=all",
    "senses": "#word=bank",
    "map": "#word=bank&map=0",
    "whole map": "#map=1",
}


@pytest.fixture(scope="module")
def axe():
    """The rules of axe-core, run in a page; the findings in short."""
    from axe_playwright_python.sync_playwright import Axe

    def run(at) -> list[str]:
        found = Axe().run(at.page, options=EVERY_RULE).response["violations"]
        return [
            f"{rule['id']}: {rule['help']}: {node['html'][:160]} {node['failureSummary'][:300]}"
            for rule in found
            for node in rule["nodes"][:3]
        ]

    return run


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_on_the_views(open_page, axe, relations_page, view, scheme):
    at = open_page(relations_page, VIEWS[view], color_scheme=scheme)
    at.button("Help").wait_for()
    assert axe(at) == []


@pytest.mark.parametrize("view", ["opening", "map"])
def test_axe_on_a_phone(open_page, axe, relations_page, view):
    assert axe(open_page(relations_page, VIEWS[view], **PHONE)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_on_two_kinds(open_page, axe, kinds_page, scheme):
    at = open_page(kinds_page, "#word=tie&map=0", color_scheme=scheme)
    at.map.wait_for()
    at.legend.get_by_role("button").first.click()
    assert axe(at) == []


def test_axe_on_what_opens(open_page, axe, tiny_page, featured_page):
    at = open_page(tiny_page)
    at.search.fill("s")
    at.hits.first.wait_for()
    assert axe(at) == []
    at.search.fill("zzz")
    at.nothing_found.wait_for()
    assert axe(at) == []
    at.page.keyboard.press("Escape")
    at.button("Help").click()
    at.dialog.wait_for()
    assert axe(at) == []
    at.page.keyboard.press("Escape")
    at.unfold_filter("group")
    at.unfold_filter("year").get_by_role("spinbutton", name="from").fill("1991")
    assert axe(at) == []
    other = open_page(featured_page, "#map=0")
    other.features.first.click()
    other.read("atlas.select([0, 1, 2])")
    other.selection.wait_for()
    assert axe(other) == []


def test_changes_are_announced(open_page, tiny_page):
    at = open_page(tiny_page)
    assert at.status.get_attribute("aria-live") == "polite"
    at.look_up("tie")
    at.expect(at.status).to_contain_text("tie: on three maps.")
    at.cards.nth(2).click()
    at.expect(at.status).to_contain_text("Map 2")


def test_the_focus_is_seen_and_never_lost(open_page, tiny_page):
    at = open_page(tiny_page)
    focused = "document.querySelector('#manymaps').shadowRoot.activeElement"
    seen = []
    for _ in range(6):
        at.page.keyboard.press("Tab")
        outline = f"getComputedStyle({focused}).outlineStyle !== 'none'"
        seen.append(at.page.evaluate(f"[{focused}.tagName, {outline}]"))
    assert seen[0][0] == "INPUT"
    assert all(is_seen for _, is_seen in seen)
    at.open(2)
    at.button("All maps").click()
    assert at.becomes(f"{focused}?.dataset.map === '2'")
    at.page.keyboard.press("Enter")
    assert at.becomes(f"{focused}?.getAttribute('role') === 'application'")
