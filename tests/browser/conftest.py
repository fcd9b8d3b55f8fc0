"""A browser for the tests of the page, the pages, and a watch over what they say and ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import page_samples
import pytest
from chromium import CHROMIUM, missing

import manymaps as mm
from manymaps.viewer.page import write_page


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright; pip install 'manymaps[dev]'")
    if CHROMIUM is None:
        missing("chromium; apt install chromium")
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright) -> Iterator[Any]:
    from page_driver import FLAGS

    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
    yield launched
    launched.close()


@dataclass
class Watch:
    """What pages complained of, and what they asked for beside themselves."""

    complaints: list[str] = field(default_factory=list)

    def over(self, page: Any, address: str) -> None:
        """Listen to a page that is about to open."""
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self._heard)
        page.on("request", lambda request: self._asked(request.url, address))

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text}")

    def _asked(self, url: str, address: str) -> None:
        if url.split("#")[0] != address and not url.startswith(("blob:", "data:")):
            self.complaints.append(f"request: {url}")


@pytest.fixture(scope="session")
def watch() -> Watch:
    return Watch()


@pytest.fixture(autouse=True)
def nothing_to_complain_of(watch) -> Iterator[None]:
    """Fails each test at its end where a page complained."""
    yield
    complaints, watch.complaints = watch.complaints, []
    assert complaints == []


class Opener:
    """Opens pages from disk, without a network; options are those of a browser context.

    A script runs in the page before its own.
    """

    def __init__(self, browser: Any, watch: Watch):
        self.browser = browser
        self.watch = watch
        self.contexts: list[Any] = []

    def __call__(
        self,
        path: Path,
        hash: str = "",
        *,
        ready: bool = True,
        script: str | None = None,
        browser: Any = None,
        **options: Any,
    ) -> Any:
        from page_driver import PATIENCE, AtlasPage

        options = {"viewport": {"width": 1280, "height": 800}, "offline": True, **options}
        context = (browser or self.browser).new_context(**options)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        self.watch.over(page, path.as_uri())
        if script is not None:
            page.add_init_script(script)
        page.goto(path.as_uri() + hash)
        driver = AtlasPage(page)
        if ready:
            assert driver.becomes("true")
        return driver

    def close(self) -> None:
        for context in self.contexts:
            context.close()


def opened(browser, watch) -> Iterator[Opener]:
    opener = Opener(browser, watch)
    yield opener
    opener.close()


# Pages for one test, and pages that the tests of a module share.
open_page = pytest.fixture(opened)
open_shared = pytest.fixture(opened, scope="module")


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Path:
    """The folder of the pages."""
    return tmp_path_factory.mktemp("pages")


def written(atlas: mm.Atlas, path: Path, **options: Any) -> Path:
    write_page(atlas, path, **options)
    return path


# The options of pages whose atlases are those of `page_samples`.
PAGES: dict[str, dict[str, Any]] = {
    "tiny": {"title": "Few words", "color": "group"},
    "grouped": {},
    "relations": {"title": "Word relations"},
    "norms": {},
    "kinds": {"color": "group", "min_weight": 0.05},
    "pictures": {"noun": "image", "color": "shade"},
    "awkward": {"title": "</title><b>&amp;"},
}


def add_fixtures(name: str, options: dict[str, Any]) -> None:
    """Add the fixtures of an atlas, and of its page: NAME and NAME_page."""

    @pytest.fixture(scope="session", name=name)
    def atlas_of() -> mm.Atlas:
        return getattr(page_samples, name)()

    @pytest.fixture(scope="session", name=f"{name}_page")
    def page_of(request: pytest.FixtureRequest, pages: Path) -> Path:
        return written(request.getfixturevalue(name), pages / f"{name}.html", **options)

    globals().setdefault(name, atlas_of)
    globals()[f"{name}_page"] = page_of


@pytest.fixture(scope="session")
def norms(data_folder) -> mm.Atlas:
    return page_samples.norms(data_folder / "usf" / "usf_free_association.tsv.gz")


for name, options in PAGES.items():
    add_fixtures(name, options)


@pytest.fixture(scope="session")
def featured_page(pages) -> Path:
    atlas, features = page_samples.featured()
    return written(atlas, pages / "featured.html", features=features)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
