"""On paper: light, whole, in the shape of the screen, with title, legend and source."""

import io
import re

import numpy as np
import page_samples
import pytest
from PIL import Image
from scipy import ndimage

from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow

SHADOW = "document.querySelector('#manymaps').shadowRoot"
PAPERS = {"portrait": (718, 1047), "landscape": (1047, 718)}


@pytest.fixture(scope="module")
def told_page(tiny, pages):
    told = {"description": "Words by hand.", "source": "Nobody", "credit": "Everybody"}
    write_page(tiny, pages / "printed.html", title="Few words " * 12, color="group", **told)
    return pages / "printed.html"


def printed(at, paper: str) -> np.ndarray:
    """The page as it would lie on paper, as numbers of red, green and blue."""
    at.page.emulate_media(media="print")
    width, height = PAPERS[paper]
    at.page.set_viewport_size({"width": width, "height": height})
    at.page.wait_for_timeout(300)
    picture = Image.open(io.BytesIO(at.page.screenshot(full_page=True)))
    return np.asarray(picture.convert("RGB")).astype(float)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("hash", ["", "#word=tie&map=1"])
def test_paper_is_light_and_has_title_legend_and_source(open_page, told_page, paper, hash):
    at = open_page(told_page, hash, color_scheme="dark")
    (at.map if hash else at.sheets.first).wait_for()
    at.settle()
    pixels = printed(at, paper)
    assert pixels.mean() > 230
    assert (pixels.min(axis=2) < 60).mean() < 0.05
    title = at.page.get_by_role("heading", level=1)
    assert title.evaluate("h => h.scrollWidth <= h.clientWidth && h.scrollHeight <= h.clientHeight")
    colophon = at.page.get_by_role("contentinfo")
    assert at.texts(colophon.get_by_role("listitem")) == [
        "\u25cf noun", "\u25cf verb", "\u25cf no value",
    ]  # fmt: skip
    at.expect(colophon).to_contain_text("Source: Nobody \u00b7 Credit: Everybody")
    at.expect(at.search).to_be_hidden()
    at.expect(at.page.get_by_text("Save", exact=True)).to_be_hidden()


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("screen", [(2000, 700), (500, 1000)])
def test_a_map_keeps_its_proportions(open_page, told_page, paper, screen):
    """The halo round the word, which is a circle, stays one."""
    width, height = screen
    at = open_page(told_page, "#word=tie&map=1", viewport={"width": width, "height": height})
    at.map.wait_for()
    at.settle()
    printed(at, paper)
    picture = Image.open(io.BytesIO(at.map.screenshot()))
    red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB")).astype(int), 2, 0)
    halo = (red > 215) & (abs(green - 195) < 12) & (abs(blue - 183) < 16)
    # A pixel at the edge of a coloured dot can have the same colour.
    parts, n_parts = ndimage.label(halo)
    assert n_parts > 0
    down, right = np.nonzero(parts == np.bincount(parts[halo]).argmax())
    assert len(down) > 16
    assert np.ptp(right) + 1 == pytest.approx(np.ptp(down) + 1, abs=2)


def test_no_thumbnail_is_blank_and_the_screen_is_dark_again(open_page, pages):
    write_page(page_samples.hundred_maps(), pages / "many.html")
    at = open_page(pages / "many.html", color_scheme="dark")
    at.sheets.first.wait_for()
    papers = f"""[...{SHADOW}.querySelectorAll('.sheet canvas')].map((canvas) => {{
      const {{ width, height }} = canvas;
      const {{ data }} = canvas.getContext("2d").getImageData(0, 0, width, height);
      const pixels = new Uint32Array(data.buffer);
      const share = pixels.filter((pixel) => pixel !== pixels[0]).length / pixels.length;
      return [data[0], share];
    }})"""
    at.page.emulate_media(media="print")
    assert at.becomes(f"{papers}.every(([paper]) => paper > 240)")
    # Some of the hundred maps give little of all their objects, and so show none of them.
    assert at.page.evaluate(f"{papers}.filter(([, ink]) => ink > 0.0005).length") > 70
    at.page.emulate_media(media="screen")
    at.sheets.first.scroll_into_view_if_needed()
    assert at.becomes(f"{papers}[0][0] < 60")


def test_what_is_printed_fits_on_its_pages(open_page, told_page, relations_page):
    for hash, page, most in (("#map=0", told_page, 1), ("", relations_page, 3)):
        at = open_page(page, hash)
        at.settle()
        for landscape in (False, True):
            pdf = at.page.pdf(format="A4", landscape=landscape, print_background=True)
            pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
            assert 1 <= pages <= most + landscape * (most - 1)
            assert at.page.get_by_role("contentinfo").count() == 0


def test_a_printed_word_has_its_cards_alone(open_page, told_page):
    at = open_page(told_page, "#word=tie")
    at.cards.first.wait_for()
    printed(at, "portrait")
    assert at.page.locator(".sense").count() == 3
    assert at.page.locator(".sheet").count() == 0
    at.expect(at.page.get_by_text("All 3 maps")).to_be_hidden()
