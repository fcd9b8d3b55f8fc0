"""Labels that would run, tiny and huge atlases, browsers without WebGL, data that are broken."""

import base64
import gzip
import re

import numpy as np
import page_samples
import pytest
from chromium import CHROMIUM, INK

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

DATA = re.compile(r'(<script[^>]*id="manymaps-data">)([^<]*)')

SHADOW = "document.querySelector('#manymaps').shadowRoot"
NOTHING_RAN = """() => {
  const shadow = document.querySelector("#manymaps").shadowRoot;
  return window.ran === undefined && !shadow.querySelector("img, script, a, b[onerror]")
    && !document.querySelector("img");
}"""


def test_labels_are_text(open_page, awkward_page, tmp_path):
    at = open_page(awkward_page)
    assert at.page.title() == "</title><b>&amp;"
    for object, label in enumerate(page_samples.LABELS.values()):
        at.read("atlas.chooseWord(given)", object)
        at.expect(at.cards).to_have_count(2)
        heading = at.senses.get_by_role("heading").inner_text()
        if label.strip() and label.isprintable():
            assert label[:59] in heading
        elif not label.strip():
            assert "no label" in heading
    at.read("atlas.chooseWord(null)")
    at.open(0)
    texts = {label["text"] for label in at.shown}
    assert all((len(text) <= 60 and text.isprintable()) or "\u200d" in text for text in texts)
    assert '<img src=x onerror="windo' in " ".join(texts)
    assert b"<img" not in at.save("SVG", tmp_path).read_bytes()
    assert at.page.evaluate(NOTHING_RAN)


@pytest.mark.parametrize("name", ["one_object", "on_a_line", "hundred_maps"])
def test_small_and_many(open_page, pages, name):
    atlas = getattr(page_samples, name)()
    write_page(atlas, pages / f"{name}.html")
    at = open_page(pages / f"{name}.html")
    if atlas.n_maps > 1:
        at.expect(at.sheets).to_have_count(atlas.n_maps)
        at.open(atlas.n_maps - 1)
    at.map.wait_for()
    at.settle()
    assert at.page.evaluate(f"() => ({INK})({SHADOW})") > 0
    at.look_up(atlas.labels[-1])
    at.settle()
    assert atlas.labels[-1] in [label["text"] for label in at.shown]
    at.map.focus()
    for key in ("+", "-", "0"):
        at.page.keyboard.press(key)
    at.settle()
    assert np.isfinite(list(at.camera.values())).all()


def test_two_hundred_thousand_objects(open_page, pages):
    write_page(page_samples.crowd(), pages / "crowd.html")
    at = open_page(pages / "crowd.html", ready=False)
    assert at.becomes("atlas.shown().length + atlas.names().length > 20")
    assert at.page.evaluate(f"() => ({INK})({SHADOW})") > 0.01
    at.search.fill("object 123456")
    at.hits.first.wait_for()
    at.page.keyboard.press("Enter")
    assert at.becomes("atlas.state.word === 123456")
    at.settle()
    assert "object 123456" in [label["text"] for label in at.shown]


@pytest.fixture
def without_webgl(playwright):
    from page_driver import FLAGS

    flags = [*FLAGS, "--disable-3d-apis"]
    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
    yield launched
    launched.close()


def test_without_webgl(open_page, relations_page, without_webgl):
    shares = []
    for browser in (None, without_webgl):
        at = open_page(relations_page, "#map=0", browser=browser)
        has = at.page.evaluate("document.createElement('canvas').getContext('webgl2') !== null")
        assert has == (browser is None)
        at.map.wait_for()
        at.settle()
        shares.append(at.page.evaluate(f"() => ({INK})({SHADOW})"))
    assert shares[1] > 0.005
    assert shares[1] == pytest.approx(shares[0], rel=0.25)


def broken(page: str, how: str) -> str:
    """A page whose data are not what they were."""
    found = DATA.search(page)
    assert found
    text = found[2].strip()
    packed = base64.b64decode(text)
    plain = gzip.decompress(packed)
    newer = plain[:8] + b"\x63\0\0\0" + plain[12:]
    text = {
        "cut short": text[: len(text) // 8 * 4],
        "not base64": "*" + text[1:],
        "not gzip": base64.b64encode(plain).decode(),
        "newer": base64.b64encode(gzip.compress(newer)).decode(),
        "something else": base64.b64encode(gzip.compress(b"another file" + plain[12:])).decode(),
        "blocks missing": base64.b64encode(gzip.compress(plain[:-40])).decode(),
    }[how]
    return page[: found.start(2)] + text + page[found.end(2) :]


@pytest.mark.parametrize(
    "how", ["cut short", "not base64", "not gzip", "newer", "something else", "blocks missing"]
)
def test_broken_data_are_told(open_page, tiny_page, tmp_path, how):
    path = tmp_path / "broken.html"
    path.write_text(broken(tiny_page.read_text(encoding="utf-8"), how), encoding="utf-8")
    at = open_page(path, ready=False)
    at.expect(at.alert).to_contain_text("This atlas cannot be shown")
    problem = "have format 99, but" if how == "newer" else "are truncated or damaged"
    at.expect(at.alert).to_contain_text(f"The data in this page {problem}")
