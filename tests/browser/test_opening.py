"""What the page says of itself when it opens, and how it fills the screen."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from manymaps.viewer.page import write_page

pytestmark = pytest.mark.slow


def atlas_of(n_maps: int, n: int = 80) -> mm.Atlas:
    rng = np.random.default_rng(n_maps)
    points = rng.normal(size=(n_maps, n, 2))
    shares = rng.dirichlet(np.full(n_maps, 0.6), size=n).T
    labels = [f"word {i}" for i in range(n)]
    return mm.Atlas(labels, points, shares, MULTIPLE_MAPS_T_SNE, method="mm-tsne")


def test_the_page_says_what_it_is(open_page, tmp_path):
    write_page(
        atlas_of(3), tmp_path / "page.html", title="Words", noun="word", date="1998",
        description="What words recall.", source="USF norms", credit="Nelson",
    )  # fmt: skip
    at = open_page(tmp_path / "page.html")
    main = at.page.get_by_role("main")
    at.expect(main).to_contain_text("What words recall.")
    at.expect(main).to_contain_text("Source: USF norms \u00b7 1998 \u00b7 Credit: Nelson")
    head = at.page.get_by_role("banner").inner_text()
    assert "drawn by multiple maps t\u2011SNE" in head
    assert "mm-tsne" not in head
    at.expect(at.page.get_by_text("barely belong to a map: below 10%")).to_be_visible()
    at.threshold.press("ArrowRight")
    at.expect(at.page.get_by_text("barely belong to a map: below 11%")).to_be_visible()


def test_nothing_is_said_where_nothing_is_known(open_page, tiny_page):
    at = open_page(tiny_page)
    first = at.page.get_by_role("main").get_by_role("heading")
    assert at.page.get_by_role("main").inner_text().startswith(first.inner_text())
    assert "Source" not in at.page.get_by_role("main").inner_text()


@pytest.mark.parametrize("size", [(1280, 800), (1700, 1000), (2560, 1440)])
@pytest.mark.parametrize("n_maps", [2, 3, 5, 7])
def test_the_gallery_fills_its_width(open_page, tmp_path, size, n_maps):
    write_page(atlas_of(n_maps), tmp_path / "page.html")
    width, height = size
    at = open_page(tmp_path / "page.html", viewport={"width": width, "height": height})
    at.expect(at.sheets).to_have_count(n_maps)
    boxes = [at.sheets.nth(k).bounding_box() for k in range(n_maps)]
    main = at.page.get_by_role("main").bounding_box()
    right = max(box["x"] + box["width"] for box in boxes)
    assert right > main["x"] + 0.97 * main["width"]
    rows = [sum(box["y"] == y for box in boxes) for y in sorted({box["y"] for box in boxes})]
    assert rows[-1] > 1 or rows == [1] * n_maps
    # All can be seen at once.
    assert max(box["y"] + box["height"] for box in boxes) <= height
