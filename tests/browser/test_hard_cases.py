"""Labels that would run, tiny and huge atlases, browsers without WebGL, data that are broken."""

import base64
import gzip
import re

import numpy as np
import page_samples
import pytest
from chromium import CHROMIUM

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

DATA = re.compile(r'(<script[^>]*id="manymaps-data">)([^<]*)')


def ink(at) -> float:
    """The share of the open map's picture that is not its commonest colour."""
    return at.page.evaluate(
        """() => {
          const shadow = document.querySelector("#manymaps").shadowRoot;
          const canvas = shadow.querySelector("[role=application] canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const pixels = new Uint32Array(data.buffer), counts = new Map();
          for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
          return 1 - Math.max(...counts.values()) / pixels.length;
        }"""
    )


def nothing_ran(at) -> bool:
    return at.page.evaluate(
        """() => {
          const shadow = document.querySelector("#manymaps").shadowRoot;
          return window.ran === undefined && !shadow.querySelector("img, script, a, b[onerror]")
            && !document.querySelector("img");
        }"""
    )


def test_labels_are_text(open_page, awkward_page, tmp_path):
    at = open_page(awkward_page)
    labels = list(page_samples.LABELS.values())
    assert at.page.title() == "</title><b>&amp;"
    assert at.page.get_by_role("heading", level=1).inner_text() == "</title><b>&amp;"
    for object, label in enumerate(labels):
        at.read("atlas.chooseWord(given)", object)
        at.senses.wait_for()
        at.expect(at.cards).to_have_count(2)
        heading = at.senses.get_by_role("heading").inner_text()
        if label.strip() and label.isprintable():
            assert label[:59] in heading
        elif not label.strip():
            assert "no label" in heading
    at.read("atlas.chooseWord(null)")
    at.open(0)
    at.read("atlas.select(atlas.atlas.labels.map((_, i) => i))")
    at.selection.wait_for()
    texts = {label["text"] for label in at.shown}
    assert all((len(text) <= 60 and text.isprintable()) or "\u200d" in text for text in texts)
    assert '<img src=x onerror="windo' in " ".join(texts)
    with at.download(tmp_path) as saved:
        at.save("SVG")
    assert b"<img" not in saved[0].read_bytes()
    with at.download(tmp_path) as saved:
        at.selection.get_by_role("button", name="CSV").click()
    assert nothing_ran(at)


def test_awkward_labels_are_found_and_sent(open_page, awkward_page):
    at = open_page(awkward_page)
    for typed, label in (
        ("</scr", page_samples.LABELS["ends a script"]),
        ("שלום", page_samples.LABELS["right to left"]),
        ("👩", page_samples.LABELS["a family"]),
        ("zalgo", page_samples.LABELS["marks"]),
        ("100%25", page_samples.LABELS["percent"]),
    ):
        at.search.fill(typed)
        at.hits.first.wait_for()
        at.page.keyboard.press("Enter")
        assert at.word == label
        assert at.becomes("location.hash.startsWith('#word=')")
        sent = at.address
        at.read("atlas.chooseWord(null)")
        at.page.evaluate("hash => { location.hash = hash; }", sent)
        assert at.becomes("atlas.atlas.labels[atlas.state.word] === given", label)
    assert nothing_ran(at)


@pytest.mark.parametrize("name", ["one_object", "on_a_line", "hundred_maps"])
def test_small_and_many(open_page, pages, name):
    atlas = getattr(page_samples, name)()
    write_page(atlas, pages / f"{name}.html")
    at = open_page(pages / f"{name}.html")
    if atlas.n_maps > 1:
        at.expect(at.sheets).to_have_count(atlas.n_maps)
        at.sheets.last.scroll_into_view_if_needed()
        at.open(atlas.n_maps - 1)
    at.map.wait_for()
    at.settle()
    assert ink(at) > 0
    assert at.shown
    at.look_up(atlas.labels[-1])
    at.settle()
    assert atlas.labels[-1] in [label["text"] for label in at.shown]
    at.map.focus()
    for key in ("+", "-", "0"):
        at.page.keyboard.press(key)
    at.settle()
    assert np.isfinite(list(at.camera.values())).all()


def test_a_map_where_nobody_lives(open_page, pages):
    atlas = page_samples.tiny()
    proportions = atlas.proportions.copy()
    proportions[0] += proportions[2]
    proportions[2] = 0
    emptied = type(atlas)(atlas.labels, atlas.maps, proportions, atlas.model)
    write_page(emptied, pages / "emptied.html")
    at = open_page(pages / "emptied.html", "#map=2")
    at.map.wait_for()
    at.settle()
    assert at.shown == []
    at.look_up("match")
    at.button("All maps").click()
    at.sheets.first.wait_for()


def test_two_hundred_thousand_objects(open_page, pages):
    atlas = page_samples.crowd()
    write_page(atlas, pages / "crowd.html")
    at = open_page(pages / "crowd.html", ready=False)
    assert at.becomes("atlas.shown().length + atlas.names().length > 20")
    assert ink(at) > 0.01
    at.search.fill("object 123456")
    at.hits.first.wait_for()
    at.page.keyboard.press("Enter")
    assert at.becomes("atlas.state.word === 123456")
    at.settle()
    assert "object 123456" in [label["text"] for label in at.shown]
    box, before = at.box(), at.camera["zoom"]
    at.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(3):
        at.page.mouse.wheel(0, 240)
    assert at.becomes("atlas.camera.zoom < given", 0.6 * before)
    assert at.becomes("atlas.shown().length + atlas.names().length > 20")


@pytest.fixture(scope="module")
def without_webgl(playwright, browser):
    from page_driver import FLAGS

    flags = [*FLAGS, "--disable-3d-apis"]
    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
    yield launched
    launched.close()


def test_without_webgl(open_page, relations_page, without_webgl, tmp_path):
    shares = []
    for browser in (None, without_webgl):
        at = open_page(relations_page, "#map=0", browser=browser)
        has = at.page.evaluate("document.createElement('canvas').getContext('webgl2') !== null")
        assert has == (browser is None)
        at.map.wait_for()
        at.settle()
        shares.append(ink(at))
    assert shares[1] > 0.005
    assert shares[1] == pytest.approx(shares[0], rel=0.25)
    with at.download(tmp_path) as saved:
        at.save("PNG")
    assert saved[0].stat().st_size > 10_000


def broken(page: str, how: str) -> str:
    """A page whose data are not what they were."""
    found = DATA.search(page)
    assert found
    text = found[2].strip()
    packed = base64.b64decode(text)
    plain = gzip.decompress(packed)
    text = {
        "cut short": text[: len(text) // 8 * 4],
        "empty": "",
        "not base64": "*" + text[1:],
        "not gzip": base64.b64encode(plain).decode(),
        "flipped": base64.b64encode(
            packed[:200] + bytes([packed[200] ^ 255]) + packed[201:]
        ).decode(),
        "newer": base64.b64encode(gzip.compress(plain[:8] + b"\x63\0\0\0" + plain[12:])).decode(),
        "something else": base64.b64encode(gzip.compress(b"another file" + plain[12:])).decode(),
        "blocks missing": base64.b64encode(gzip.compress(plain[:-40])).decode(),
    }[how]
    return page[: found.start(2)] + text + page[found.end(2) :]


@pytest.mark.parametrize(
    "how",
    ["cut short", "empty", "not base64", "not gzip", "flipped", "newer", "something else",
     "blocks missing"],
)  # fmt: skip
def test_broken_data_are_told(open_page, tiny_page, tmp_path, how):
    path = tmp_path / "broken.html"
    path.write_text(broken(tiny_page.read_text(encoding="utf-8"), how), encoding="utf-8")
    at = open_page(path, ready=False)
    at.alert.wait_for()
    said = at.alert.inner_text()
    assert "This atlas cannot be shown" in said
    sentence = said.split("\n")[-1]
    assert len(sentence) > 30
    assert sentence.endswith(".")
    code = "undefined|null|TypeError|could not be opened|\\bat \\w+:"
    assert not re.search(code, sentence), sentence
    if how == "newer":
        assert "format 99" in sentence
