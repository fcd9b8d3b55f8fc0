"""The same page in Firefox: opening, search, senses, a map, zoom, back, a saved picture."""

from collections.abc import Iterator
from typing import Any

import pytest
from chromium import INK, missing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def firefox() -> Iterator[Any]:
    try:
        from firefox import FIREFOX, Firefox
    except ImportError:
        missing("websocket-client; pip install 'manymaps[dev]'")
    if FIREFOX is None:
        missing("Firefox; apt install firefox-esr")
    with Firefox() as started:
        yield started


AT_REST = "atlas.isAtRest && atlas.shown().length > 5"


def test_a_handful_of_steps(firefox, relations_page):
    firefox.open(relations_page.as_uri())
    assert firefox.becomes("page.querySelectorAll('.sheet').length === 20")
    assert firefox.read("page.activeElement") is None

    firefox.press("/", *"tie")
    assert firefox.becomes("page.querySelectorAll('[role=option]').length > 0")
    firefox.press("Enter")
    assert firefox.becomes("location.hash === '#word=tie'")
    assert firefox.becomes("page.querySelectorAll('.sense').length > 1")

    firefox.click(".sense")
    assert firefox.becomes("atlas.state.map !== null")
    assert firefox.becomes(AT_REST)
    assert firefox.read(f"({INK})(page)") > 0.005
    assert "tie" in firefox.read("atlas.shown().map(({ text }) => text)")

    before = firefox.read("atlas.camera.zoom")
    firefox.wheel("[role=application]", -240)
    assert firefox.becomes(f"atlas.camera.zoom > {1.2 * before}")
    assert firefox.becomes(AT_REST)
    zoomed = firefox.read("atlas.camera.zoom")
    firefox.press("m", "+")
    assert firefox.becomes(f"atlas.camera.zoom > {1.2 * zoomed}")
    assert firefox.becomes("location.hash.includes('zoom=')")

    firefox.back()
    assert firefox.becomes("location.hash === '#word=tie'")
    assert firefox.becomes("page.querySelector('[role=application]') === null")
    firefox.press("Escape")
    assert firefox.becomes("atlas.state.word === null")
    assert firefox.complaints == []


def test_a_picture_is_put_together(firefox, relations_page):
    """As PNG it goes through a picture of SVG, which the page's policy must let pass."""
    firefox.open(relations_page.as_uri() + "#map=1")
    assert firefox.becomes(AT_REST)
    firefox.read(
        "(() => { window.kept = []; const make = URL.createObjectURL; URL.createObjectURL ="
        " (blob) => { kept.push([blob.type, blob.size]); return make(blob); };"
        " for (const button of page.querySelectorAll('.menu .choices button')) button.click(); })()"
    )
    assert firefox.becomes("window.kept.some(([type]) => type === 'image/png')")
    kept = dict(firefox.read("window.kept"))
    assert set(kept) == {"image/png", "image/svg+xml"}
    assert min(kept.values()) > 10_000
    assert firefox.read("page.querySelector('[role=alert]')") is None
    assert firefox.complaints == []
