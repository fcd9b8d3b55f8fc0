"""A page as a person uses it: what the tests press, read and wait for, with all names of its parts.

Everything is found by role and accessible name. `state` and the like come from what the page offers
scripts, `document.querySelector("#manymaps").atlas`.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Download, Frame, Locator, Page, expect

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-quic",
)  # fmt: skip
# Milliseconds; machines are slow at times, and waiting costs nothing where nothing is wrong.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

HOST = "document.querySelector('#manymaps').atlas"

# Resolves once the map says that it is at rest, and camera, labels and state have been the same for
# long enough for what was pressed or turned to have arrived.
SETTLED = """async () => {
  const key = () => {
    const { camera, state } = ATLAS;
    const labels = ATLAS.shown().map(({ entry, x, y }) => [entry, x, y]);
    return JSON.stringify([camera, state.word, state.map, state.threshold, state.camera, labels]);
  };
  let [before, same, last] = ["", performance.now(), 0];
  while (performance.now() - same < 180) {
    await new Promise(requestAnimationFrame);
    const now = key();
    if (now !== before || !ATLAS.isAtRest) [before, same] = [now, performance.now()];
  }
}""".replace("ATLAS", HOST)


class AtlasPage:
    """One open page, or the frame of one."""

    expect = staticmethod(expect)

    def __init__(self, page: Page | Frame):
        self.page = page
        self.search = page.get_by_role("combobox", name=re.compile("^Find "))
        found = page.get_by_role("listbox", name=re.compile(" found$"))
        self.hits = found.get_by_role("option")
        self.nothing_found = page.get_by_role("search").get_by_role("status")
        # Another one belongs to the threshold.
        self.status = page.get_by_role("status").last
        self.senses = page.get_by_role("region").filter(
            has=page.get_by_role("button", name="Close the senses")
        )
        self.cards = self.senses.get_by_role("listitem").get_by_role("button")
        sheets = page.get_by_role("main").get_by_role("listitem")
        # Cards of an example are listed, too; their names begin with words.
        self.sheets = sheets.get_by_role("button", name=re.compile(r"^Map \d"))
        self.all_maps = page.get_by_role("button", name=re.compile(r"^All \d+ maps$"))
        self.map = page.get_by_role("application")
        self.tip = page.get_by_role("tooltip")
        self.legend = page.get_by_role("list", name="Colours:")
        self.keys = self.legend.locator("[aria-pressed]")
        self.marks = page.get_by_role("list", name="Marks")
        self.card = page.get_by_role("region", name=re.compile("^The "))
        self.selection = page.get_by_role("region", name="Selection")
        self.alert = page.get_by_role("alert")
        self.dialog = page.get_by_role("dialog")

    @staticmethod
    def texts(parts: Locator) -> list[str]:
        """What parts of the page say, each on one line."""
        return [" ".join(text.split()) for text in parts.all_inner_texts()]

    def settings(self) -> Page | Frame:
        """Bring the settings of the page into sight."""
        button = self.page.get_by_role("button", name="Display", exact=True)
        if button.get_attribute("aria-pressed") == "false":
            button.click()
        return self.page

    @property
    def threshold(self) -> Locator:
        return self.settings().get_by_role("slider", name="that barely belong to a map")

    @property
    def color(self) -> Locator:
        return self.settings().get_by_role("combobox", name="Colour by")

    @property
    def size(self) -> Locator:
        return self.settings().get_by_role("combobox", name="Size by")

    @property
    def filters(self) -> Locator:
        return self.settings().get_by_role("region", name="Filters")

    @property
    def features(self) -> Locator:
        return self.settings().get_by_role("group", name="Features").get_by_role("button")

    def unfold(self, name: str) -> None:
        """Open a disclosure of the word."""
        summary = self.page.get_by_text(name, exact=True).first
        if not summary.evaluate("summary => summary.parentElement.open"):
            summary.click()

    def save(self, format: str, folder: Path) -> Path:
        """Save a picture in a format, and return its file."""
        with self.download(folder) as saved:
            self.page.get_by_text("Save", exact=True).click()
            self.button(format).click()
        return saved[0]

    def button(self, name: str) -> Locator:
        """A button by its whole name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def read(self, expression: str, argument: Any = None) -> Any:
        """What a JavaScript expression of `atlas` (and `given`) is in the page."""
        return self.page.evaluate(f"given => {{ const atlas = {HOST}; return {expression}; }}",
                                  argument)  # fmt: skip

    def becomes(
        self, expression: str, argument: Any = None, seconds: float = PATIENCE / 1000
    ) -> bool:
        """Whether an expression of `atlas` (and `given`) is true before the time is over.

        Playwright's own wait evaluates text inside the page once it has to ask again, which the
        page's security policy forbids.
        """
        told = f"given => {{ const atlas = {HOST}; return Boolean(atlas && ({expression})); }}"
        until = time.monotonic() + seconds
        while not (answer := self.page.evaluate(told, argument)) and time.monotonic() < until:
            self.page.wait_for_timeout(20)
        return bool(answer)

    def settle(self) -> None:
        """Wait until nothing moves any more."""
        self.page.evaluate(SETTLED)

    @property
    def camera(self) -> dict[str, float]:
        """Where the open map is looked at: x, y, zoom."""
        return self.read("({...atlas.camera})")

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The labels on the open map: entry, object, text and box."""
        return self.read("atlas.shown().map(label => ({...label}))")

    @property
    def word(self) -> str | None:
        """The word whose senses are shown."""
        return self.read("atlas.atlas.labels[atlas.state.word] ?? null")

    @property
    def open_map(self) -> int | None:
        """The number of the open map."""
        return self.read("atlas.state.map")

    @property
    def selected(self) -> list[str]:
        """The labels of the selected objects."""
        return self.read("atlas.state.selection.map(object => atlas.atlas.labels[object])")

    @property
    def address(self) -> str:
        """The hash of the address."""
        return self.page.evaluate("location.hash")

    @property
    def theme(self) -> str:
        """Whether the page is light or dark: by the paper on which it stands."""
        return self.page.evaluate("document.querySelector('#manymaps').dataset.theme")

    def reset(self, map: int | None) -> None:
        """Bring the page back to how it opened, at a map or the gallery."""
        self.settle()
        self.read(
            "atlas.change({ word: null, map: given, camera: null, tool: 'pan', selection: [],"
            " threshold: atlas.atlas.minWeight, gallery: false, notice: '',"
            " hasSettings: false, filters: new Map() })",
            map,
        )
        self.page.evaluate("document.querySelector('#manymaps').shadowRoot.activeElement?.blur()")
        self.page.mouse.move(0, 0)
        self.settle()

    def look_up(self, text: str) -> None:
        """Type into the search field and go to the first word found."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(text)
        self.hits.first.wait_for()
        self.page.keyboard.press("Enter")

    def unfold_filter(self, column: str) -> Locator:
        """Unfold the filters and the one of a column, which is given back."""
        summary = self.filters.get_by_text("Filters", exact=True)
        if not self.filters.get_by_text(column, exact=True).is_visible():
            summary.click()
        group = self.filters.get_by_role("group", name=column)
        if not group.is_visible():
            self.filters.get_by_text(column, exact=True).click()
        group.wait_for()
        return group

    def open(self, map: int) -> None:
        """Open a map from the gallery and wait until it stands."""
        name = re.compile(rf"^Map {map}\b")
        self.page.get_by_role("main").get_by_role("button", name=name).click()
        self.map.wait_for()
        self.settle()

    def box(self) -> dict[str, float]:
        """Where the open map lies on the page."""
        box = self.map.bounding_box()
        assert box is not None
        return dict(box)

    def points(self, drawn: np.ndarray) -> np.ndarray:
        """Where points of the open map lie on the page; shape (n, 2)."""
        camera, box = self.camera, self.box()
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        return (drawn - [camera["x"], camera["y"]]) * [camera["zoom"], -camera["zoom"]] + middle

    def in_sight(self, drawn: np.ndarray) -> np.ndarray:
        """Which points of the open map lie within the view; shape (n,)."""
        box = self.box()
        places = self.points(drawn) - [box["x"], box["y"]]
        return ((places > 0) & (places < [box["width"], box["height"]])).all(axis=1)

    def drag(self, corners: np.ndarray | list, *keys: str) -> None:
        """Draw a line with the mouse, with keys held down."""
        for key in keys:
            self.page.keyboard.down(key)
        (first, *others) = [tuple(map(float, corner)) for corner in corners]
        self.page.mouse.move(*first)
        self.page.mouse.down()
        for corner in others:
            self.page.mouse.move(*corner, steps=3)
        self.page.mouse.up()
        for key in keys:
            self.page.keyboard.up(key)

    def point_at(self, entry: int) -> None:
        """Move the pointer over the dot of an entry of the open map, which is at rest."""
        points = "atlas.atlas.maps[atlas.state.map].points"
        drawn = self.read(f"[...{points}.slice(2 * given, 2 * given + 2)]", entry)
        [[x, y]] = self.points(np.array([drawn]))
        self.page.mouse.move(x, y)
        self.tip.wait_for()

    @contextlib.contextmanager
    def download(self, folder: Path) -> Iterator[list[Path]]:
        """What is saved within the block, as a list of one path."""
        saved: list[Path] = []
        with self.page.expect_download() as expected:
            yield saved
        download: Download = expected.value
        path = folder / download.suggested_filename
        download.save_as(path)
        saved.append(path)
