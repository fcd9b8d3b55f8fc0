"""The atlas page in a browser without a graphics card: time to open, and smoothness.

    python benchmarks/page.py [--runs 5] [--iterations 200] [--atlas FILE ...] [--quick]

Three pages are written and opened from disk without a network, in Debian's chromium: the word
relations in 20 maps, the free-association norms in 40 (if MANYMAPS_DATA contains them), and 200,000
objects in one map; or those of the given atlases. For each page, the columns are

    MB           size of the file
    paint        milliseconds until the first paint
    ready        milliseconds until the page can be used
    labels       time from the opening of a map to its last label
    letter       time from a letter typed in the search field to the painted results
    pan          time from frame to frame while the map is dragged in each of 90 frames,
    zoom         while the wheel turns in each, and
    type         while a letter is typed in every sixth: the median and the 95th percentile

Each number is the median of several runs, each in a window of its own of 1440 x 900 pixels.
Requires playwright and chromium. --quick makes one run of pages fitted with few iterations.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import manymaps as mm
from manymaps.model import T_SNE
from manymaps.viewer.page import write_page

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
)  # fmt: skip
PATIENCE = 120
ATLAS = "document.querySelector('#manymaps').atlas"
FIGURES = ("MB", "paint", "ready", "labels", "letter")
MOVES = ("pan", "zoom", "type")

STARTED = """() => [
  performance.getEntriesByType("paint")[0].startTime,
  performance.getEntriesByName("manymaps-ready")[0].startTime,
]"""
OPENED = f"""async () => {{
  const start = performance.now();
  {ATLAS}.openMap(0);
  let [count, since] = [0, start];
  while (count === 0 || performance.now() - since < 400) {{
    await new Promise(requestAnimationFrame);
    const now = {ATLAS}.shown().length;
    if (now !== count) [count, since] = [now, performance.now()];
  }}
  return since - start;
}}"""
MOVED = """async ([move, word]) => {
  const root = document.querySelector("#manymaps").shadowRoot;
  const map = root.querySelector("[role=application]");
  const field = root.querySelector("[role=combobox]");
  const { left, top, width, height } = map.getBoundingClientRect();
  const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true };
  const pointer = { ...at, pointerId: 1, pointerType: "touch", buttons: 1 };
  const moves = {
    pan: (frame) => {
      const way = 8 * (frame < 45 ? frame : 90 - frame);
      const type = frame === 0 ? "pointerdown" : frame < 89 ? "pointermove" : "pointerup";
      map.dispatchEvent(new PointerEvent(type, { ...pointer, clientX: at.clientX + way }));
    },
    zoom: (frame) =>
      map.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: frame < 45 ? -50 : 50 })),
    type: (frame) => {
      if (frame % 6) return;
      field.value = word.slice(0, 1 + ((frame / 6) % word.length));
      field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    },
  };
  // A finger that the browser does not know cannot be captured.
  map.setPointerCapture = () => {};
  const intervals = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 90; frame++) {
    moves[move](frame);
    const now = await new Promise(requestAnimationFrame);
    intervals.push(now - before);
    before = now;
  }
  return intervals;
}"""
# The frame after the next one begins when what a letter changed has been painted.
WATCH = """() => {
  window.letters = [];
  addEventListener("input", ({ timeStamp }) => requestAnimationFrame(() =>
    requestAnimationFrame(() => window.letters.push(performance.now() - timeStamp))));
}"""


def crowd(n: int = 200_000) -> mm.Atlas:
    """Generate many objects in islands of one map."""
    rng = np.random.default_rng(7)
    islands = rng.normal(scale=60, size=(200, 2))
    points = islands[rng.integers(200, size=n)] + rng.normal(size=(n, 2)) * rng.gamma(2, 1, (n, 1))
    return mm.Atlas([f"object {i}" for i in range(n)], points[None], np.ones((1, n)), T_SNE)


def atlases(iterations: int) -> dict[str, mm.Atlas]:
    """Return the atlases whose pages are measured, by name."""

    def fit(maps: int, data: Any) -> mm.Atlas:
        estimator = mm.MultipleMapsTSNE(n_maps=maps, max_iter=iterations, random_state=0)
        return estimator.fit(data).atlas_

    made = {"relations": fit(20, mm.load_word_relations())}
    if NORMS.exists():
        made["norms"] = fit(40, mm.read_associations(NORMS))
    return made | {"200,000": crowd()}


def wait_for(page: Page, expression: str, given: Any = None) -> None:
    """Wait until an expression of `given` is true in the page.

    Playwright's own wait evaluates text inside the page once it has to ask again, which the page's
    security policy forbids.
    """
    until = time.monotonic() + PATIENCE
    while not page.evaluate(f"given => Boolean({expression})", given):
        if time.monotonic() > until:
            raise TimeoutError(f"{expression} was false for {PATIENCE} seconds")
        page.wait_for_timeout(20)


def measure(browser: Browser, path: Path, word: str) -> dict[str, float]:
    """Measure one run: the page is opened, a map zoomed in and out, a word typed."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(path.as_uri())
    wait_for(page, "performance.getEntriesByName('manymaps-ready').length")
    paint, ready = page.evaluate(STARTED)
    labels = page.evaluate(OPENED)
    times = {move: np.array(page.evaluate(MOVED, [move, word])) for move in MOVES}

    page.evaluate(WATCH)
    page.get_by_role("combobox").fill("")
    for letter in word:
        before = page.evaluate("window.letters.length")
        page.keyboard.type(letter)
        wait_for(page, "window.letters.length > given", before)
    letters = page.evaluate("window.letters")
    context.close()
    return {
        "MB": path.stat().st_size / 1e6,
        "paint": paint,
        "ready": ready,
        "labels": labels,
        "letter": median(letters),
        **{move: float(np.median(times[move])) for move in MOVES},
        **{f"{move} 95": float(np.quantile(times[move], 0.95)) for move in MOVES},
    }


def main() -> None:
    """Print one line of results for each page."""
    parser = argparse.ArgumentParser(description="Time the atlas page in chromium.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--atlas", type=Path, nargs="+", metavar="FILE", default=[])
    parser.add_argument("--quick", action="store_true", help="one run, few iterations")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("there is no chromium; apt install chromium")
    runs, iterations = arguments.runs, arguments.iterations
    if arguments.quick:
        runs, iterations = 1, 20
    given = {file.stem: mm.load_atlas(file) for file in arguments.atlas}
    print(f"{os.cpu_count()} cores; medians of {runs} runs, in milliseconds")
    moves = [f"{name:>15}" for name in MOVES]
    print(f"{'page':12}" + "".join([*(f"{name:>8}" for name in FIGURES), *moves]))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for name, atlas in (given or atlases(iterations)).items():
            path = Path(folder, "page.html")
            write_page(atlas, path)
            word = atlas.labels[atlas.n_objects // 2][:5]
            found = [measure(browser, path, word) for _ in range(runs)]
            row = {figure: median(run[figure] for run in found) for figure in found[0]}
            cells = [f"{row['MB']:8.2f}", *(f"{row[name]:8.0f}" for name in FIGURES[1:])]
            cells += [f"{row[move]:8.0f} {row[f'{move} 95']:6.0f}" for move in MOVES]
            print(f"{name[:12]:12}" + "".join(cells), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
