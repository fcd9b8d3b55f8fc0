"""Agreement of the page, the library, the command and the figure on the senses of random words.

    python benchmarks/senses.py [ATLAS ...] [--words 60] [--seed 0] [--iterations 200]

The page of each atlas is opened in Debian's chromium at 1280 x 2400 pixels. By default, the atlases
are the word relations in 20 maps and the free-association norms in 40 (if MANYMAPS_DATA contains
them). Each random word is looked up in the search field. The columns are

    names     words in the names of senses
    undrawn   of these, words without a dot or a label on the card of their sense
    not close words that are in a name and in a list of associates that are not close
    row ...   words for which the search result, the headline, the cards, `manymaps senses --json`
              and the title of the figure have the number of senses of `Atlas.senses`
    maps      words for which cards and command have the maps of `Atlas.senses`, in its order
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from playwright.sync_api import Page, sync_playwright

import manymaps as mm
from manymaps.viewer.page import write_page

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
VIEWPORT = {"width": 1280, "height": 2400}
PATIENCE = 60_000
COUNTED = ("row", "headline", "cards", "command", "figure")

# The cards of a word, once it is on the pictures of all; an arrow stands for a dot outside.
CARDS = """async ([word, count]) => {
  const root = document.querySelector("#manymaps").shadowRoot;
  const found = () => [...root.querySelectorAll(".senses .sense")];
  const isDrawn = (card) => card.querySelector("canvas").labels?.some(({ text }) => text === word);
  const until = performance.now() + 30000;
  while (performance.now() < until && !(found().length === count && found().every(isDrawn))) {
    await new Promise(requestAnimationFrame);
  }
  return found().map((card) => ({
    map: Number(card.dataset.map),
    name: card.querySelector("b").textContent,
    drawn: (card.querySelector("canvas").labels ?? [])
      .filter(({ arrow }) => !arrow).map(({ text }) => text),
  }));
}"""
NOT_CLOSE = "Associates that are not close on their map: "


def commanded(file: Path, words: Sequence[str]) -> dict[str, Any]:
    """Return the records of `manymaps senses --json`, by word."""
    command = [sys.executable, "-m", "manymaps", "senses", str(file), "--json", "--", *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return {record["word"]: record for record in json.loads(run.stdout)["words"]}


def titled(atlas: mm.Atlas, word: str) -> int:
    """Return the number of maps in the title of the figure of a word."""
    figure = mm.plot_senses(atlas, word)
    texts = " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))
    plt.close(figure)
    counts = re.findall(r"\bon (\d+) maps?\b", texts)
    return int(counts[0]) if counts else -1


def on_page(page: Page, word: str, count: int) -> dict[str, Any]:
    """Look up a word; return its search result, its headline, its cards and what is not close."""
    page.get_by_role("combobox").fill(word)
    row = page.get_by_role("option").first.inner_text()
    page.keyboard.press("Enter")
    senses = page.locator(".senses")
    senses.get_by_role("heading").filter(has_text=f"{word}: on ").wait_for()
    headline = senses.get_by_role("heading").inner_text()
    far = " ".join(senses.get_by_text(NOT_CLOSE).all_inner_texts())
    in_row = re.findall(r"(\d+) maps?\s*$", row)
    spelled = headline.rpartition(": on ")[2].split()[0]
    return {
        "row": int(in_row[0]) if in_row else -1,
        "headline": NUMBERS.index(spelled) if spelled in NUMBERS else int(spelled),
        "cards": page.evaluate(CARDS, [word, count]),
        "far": far.removeprefix(NOT_CLOSE).rstrip(".").split(", ") if far else [],
    }


def agreement(page: Page, atlas: mm.Atlas, file: Path, words: Sequence[str]) -> Counter[str]:
    """Count agreements over words on an open page of an atlas, which is also in a file."""
    found: Counter[str] = Counter()
    records = commanded(file, words)
    for word in words:
        senses = atlas.senses(word)
        seen, record = on_page(page, word, len(senses)), records[word]
        cards = seen["cards"]
        counts = {
            "row": seen["row"], "headline": seen["headline"], "cards": len(cards),
            "command": len(record["senses"]), "figure": titled(atlas, word),
        }  # fmt: skip
        for name, count in counts.items():
            found[name] += count == len(senses)
        maps = [sense.map for sense in senses]
        named = [sense["map"] for sense in record["senses"]]
        found["maps"] += [card["map"] for card in cards] == maps == named
        for sense, card in zip(senses, cards, strict=False):
            found["names"] += len(sense.name)
            found["undrawn"] += sum(name not in card["drawn"] for name in sense.name)
            found["undrawn"] += card["name"] != ", ".join(sense.name)
        far = {*seen["far"], *record["not_close"]["labels"]}
        found["not close"] += len(far & {name for sense in senses for name in sense.name})
    return found


def sample(atlas: mm.Atlas, count: int, seed: int) -> list[str]:
    """Draw random words of an atlas."""
    chosen = np.random.default_rng(seed).choice(atlas.n_objects, count, replace=False)
    return [atlas.labels[i] for i in chosen.tolist()]


def main() -> None:
    """Print one line for each atlas."""
    parser = argparse.ArgumentParser(description="Compare the outputs that list senses.")
    parser.add_argument("atlas", type=Path, nargs="*", metavar="ATLAS")
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=200)
    arguments = parser.parse_args()
    matplotlib.use("agg")
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed; use apt install chromium")
    columns = ("names", "undrawn", "not close", *COUNTED, "maps")
    print(f"{arguments.words} random words of each atlas, seed {arguments.seed}")
    print(f"{'atlas':12}" + "".join(f"{name:>10}" for name in columns))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu"])
        for file in arguments.atlas or fitted(Path(folder), arguments.iterations):
            atlas = mm.load_atlas(file)
            write_page(atlas, Path(folder, "page.html"))
            page = browser.new_page(viewport=VIEWPORT)
            page.set_default_timeout(PATIENCE)
            page.goto(Path(folder, "page.html").as_uri())
            words = sample(atlas, arguments.words, arguments.seed)
            found = agreement(page, atlas, file, words)
            cells = "".join(f"{found[name]:10}" for name in columns)
            print(f"{file.stem[:12]:12}{cells}", flush=True)
            page.close()
        browser.close()


def fitted(folder: Path, iterations: int) -> list[Path]:
    """Fit the atlases that are compared by default; return their files."""
    from page import atlases

    files = []
    for name, atlas in atlases(iterations).items():
        if atlas.associations is not None:
            files.append(folder / f"{name}.atlas")
            atlas.save(files[-1])
    return files


if __name__ == "__main__":
    main()
