"""Counts in many maps: three two-dimensional maps compared with one plane and six dimensions.

    python examples/code_many_maps.py [--documents 400] [--quick]

The many-map form of CODE is new, so no published result is reproduced. Posts to sci.crypt,
sci.electronics and sci.med are counted by their 2,000 most frequent words after the first 100. Of
every count, 15 % are held out at random, and the rest is fitted with a size penalty of 0.01. The
table lists the mean log p(word | document) of the fitted and of the held-out counts, in nats.
"margins" is the model without a map, p(word). Then the script prints the words of the largest
proportions in each map, and a few words in several maps. Requires 20 Newsgroups in MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import manymaps as mm

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
COUNTS = DATA / "newsgroups20" / "20news_bydate_counts.npz"
GROUPS = ("sci.crypt", "sci.electronics", "sci.med")
HELD_OUT, PENALTY = 0.15, 0.01


@dataclass(frozen=True)
class Setting:
    """The number of maps, and of dimensions of each."""

    maps: int
    dimensions: int


SETTINGS = tuple(Setting(*pair) for pair in ((1, 2), (1, 3), (2, 2), (3, 2), (5, 2), (1, 6)))


def some_posts(documents: int, words: int) -> mm.Counts:
    """Read the first posts of each group, by their most frequent words after the first 100."""
    posts = mm.read_counts(COUNTS)
    groups = posts.row_metadata["group"]
    rows = np.concatenate([np.flatnonzero(groups == group)[:documents] for group in GROUPS])
    return posts.subset(rows=rows).most_frequent_columns(words, skip=100)


def split(counts: mm.Counts, seed: int) -> tuple[mm.Counts, mm.Counts]:
    """Split counts at random into counts to fit and held-out counts."""
    fitted = counts.values.copy()
    fitted.data = np.random.default_rng(seed).binomial(fitted.data.astype(int), 1 - HELD_OUT)
    held_out = counts.values - fitted
    return tuple(
        mm.Counts(part, counts.row_labels, counts.column_labels, counts.kinds)
        for part in (fitted.astype(float), held_out.astype(float))
    )


def without_a_map(fitted: mm.Counts, counts: mm.Counts) -> float:
    """Compute the mean log p(word) of counts."""
    with np.errstate(divide="ignore"):
        logs = np.log(fitted.column_totals / fitted.n_counts)
    there = np.isfinite(logs)
    return float((counts.column_totals[there] @ logs[there]) / counts.column_totals[there].sum())


def describe(atlas: mm.Atlas) -> None:
    """Print the most informative words of each map, and words of several maps."""
    words = np.flatnonzero(atlas.of_kind("word"))
    proportions = atlas.proportions[:, words]
    frequency = atlas.factors[words]
    for m in range(atlas.n_maps):
        best = np.argsort(-(proportions[m] ** 4) * frequency, kind="stable")[:12]
        print(f"map {m}: {', '.join(atlas.labels[words[j]] for j in best)}")
    shared = np.sort(proportions, axis=0)[-2] * frequency**0.25
    for j in np.argsort(-shared, kind="stable")[:6]:
        label = atlas.labels[words[j]]
        parts = [
            f"{sense.weight:.0%} with {', '.join(n.label for n in sense.neighbors)}"
            for sense in atlas.senses(
                label, kind="word", neighbor_kind="word", n_neighbors=4, min_weight=0.1
            )
        ]
        print(f"{label}: {'; '.join(parts)}")


def main() -> None:
    """Print the table and the words."""
    parser = argparse.ArgumentParser(description="Counts in many maps.")
    parser.add_argument("--documents", type=int, default=400, metavar="N", help="of each group")
    parser.add_argument("--quick", action="store_true", help="fewer posts, words and settings")
    arguments = parser.parse_args()
    if not COUNTS.exists():
        sys.exit(f"no counts at {COUNTS}; set MANYMAPS_DATA to the folder of real data")
    # Posts without a counted word, and held-out words that were never fitted.
    warnings.simplefilter("ignore", mm.DataWarning)
    documents, words = (80, 400) if arguments.quick else (arguments.documents, 2000)
    fitted, held_out = split(some_posts(documents, words), seed=0)
    print(f"{fitted!r}; {held_out.n_counts:,.0f} held out")
    print("maps  dims  iterations   fitted  held out")
    print(
        f"     margins            {without_a_map(fitted, fitted):8.4f}  "
        f"{without_a_map(fitted, held_out):8.4f}"
    )
    iterations = 100 if arguments.quick else 400
    for setting in SETTINGS[::3] if arguments.quick else SETTINGS:
        fit = mm.CODE(
            setting.dimensions, n_maps=setting.maps, penalty=PENALTY, max_iter=iterations,
            random_state=0,
        ).fit(fitted)  # fmt: skip
        print(
            f"{setting.maps:4d}  {setting.dimensions:4d}  {fit.n_iter_:10d} "
            f"{fit.log_likelihood_:8.4f}  {fit.score(held_out):8.4f}",
            flush=True,
        )
        if setting.maps == 3:
            atlas = fit.atlas_
    describe(atlas)


if __name__ == "__main__":
    main()
