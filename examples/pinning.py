"""An atlas that grows: new words among old ones with fixed positions.

    python examples/pinning.py [--maps 10] [--new 0.3] [--iterations 1000] [--seed 0]
        [-o figure.png] [--quick]

A part of the words of the embedded relations is set aside, and an atlas is fitted to the others.
Then the new words are added in three ways: each inserted by itself, all arranged around the old
ones, which are pinned, and in a new fit of all words. The script prints

    KL           divergence of the model from the relations of all words
    recall       share of the new words whose strongest associate is among the ten most similar
    of new       the same for those whose strongest associate is also new
    as before    share of the ten old words most similar to an old one that were so before
    still        share of the old words with bit-equal coordinates
    seconds

The figure shows pinned and new words in the map that contains most of the new words.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import manymaps as mm

NEAREST = 10


def main() -> None:
    """Print a line for each way, and draw the pinned one."""
    arguments = read_arguments()
    relations, is_old = split_words(arguments)
    old_words, new_words = (
        [label for label, old in zip(relations.labels, is_old, strict=True) if old == which]
        for which in (True, False)
    )
    print(f"{len(old_words):,} old words and {len(new_words):,} new ones, {arguments.maps} maps")
    settings = {
        "popularity": 0,
        "degrees_of_freedom": 1,
        "n_maps": arguments.maps,
        "max_iter": arguments.iterations,
        "random_state": arguments.seed,
    }
    before = mm.MultipleMapsTSNE(**settings).fit(of_words(relations, is_old)).atlas_
    ways: dict[str, Callable[[], mm.Atlas]] = {
        "inserted": lambda: inserted(before, relations, is_old),
        "pinned": lambda: mm.MultipleMapsTSNE(**settings, pin=before).fit(relations).atlas_,
        "fitted anew": lambda: mm.MultipleMapsTSNE(**settings).fit(relations).atlas_,
    }
    print(f"\n{'':12s}     KL  recall  of new  as before   still  seconds")
    for name, make in ways.items():
        start = time.perf_counter()
        atlas = make()
        seconds = time.perf_counter() - start
        kl = mm.evaluate(atlas, relations).kl_divergence
        recall, of_new = recall_of(atlas, relations, new_words)
        print(
            f"{name:12s} {kl:6.3f}  {recall:6.3f}  {of_new:6.3f}  "
            f"{as_before(before, atlas):9.3f}  {standing_still(before, atlas):6.3f}  "
            f"{seconds:7.1f}",
            flush=True,
        )
        if name == "pinned" and arguments.output:
            fullest = int(atlas.proportions[:, ~atlas.metadata["pinned"]].sum(axis=1).argmax())
            figure = mm.plot_map(atlas, fullest, color="pinned")
            mm.save_figure(figure, arguments.output)


def read_arguments() -> argparse.Namespace:
    """Read the options; --quick uses few words, maps and iterations."""
    parser = argparse.ArgumentParser(description="New words in an atlas that stays.")
    parser.add_argument("--maps", type=int, default=10)
    parser.add_argument("--new", type=float, default=0.3, help="share of the words set aside")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, metavar="FIGURE")
    parser.add_argument("--quick", action="store_true", help="few words, maps and iterations")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.maps, arguments.iterations = 3, 200
    return arguments


def split_words(arguments: argparse.Namespace) -> tuple[mm.Associations, np.ndarray]:
    """Select old and new words; new words without a relation to an old one are omitted."""
    relations = mm.load_word_relations()
    generator = np.random.default_rng(arguments.seed)
    if arguments.quick:
        relations = of_words(relations, np.arange(relations.n_objects) % 8 == 0)
    is_old = generator.random(relations.n_objects) >= arguments.new
    tied = np.asarray(relations.strengths[:, is_old].sum(axis=1)).ravel() > 0
    kept = is_old | tied
    return of_words(relations, kept), is_old[kept]


def of_words(relations: mm.Associations, chosen: np.ndarray) -> mm.Associations:
    """Select the relations among some of the words."""
    labels = [label for label, one in zip(relations.labels, chosen, strict=True) if one]
    strengths = sparse.csr_array(relations.strengths[chosen][:, chosen])
    return mm.Associations(labels, strengths)


def inserted(before: mm.Atlas, relations: mm.Associations, is_old: np.ndarray) -> mm.Atlas:
    """Insert each new word at the position of least cost by its relations to old ones."""
    new = [label for label, old in zip(relations.labels, is_old, strict=True) if not old]
    similarities = relations.strengths[~is_old][:, is_old]
    return mm.insert(before, similarities, labels=new, similarity="precomputed", refine=True).atlas


def recall_of(
    atlas: mm.Atlas, relations: mm.Associations, new_words: list[str]
) -> tuple[float, float]:
    """Count new words whose strongest associate is near them, for all and for new associates."""
    place = {label: i for i, label in enumerate(relations.labels)}
    new = set(new_words)
    found, is_new = [], []
    for word in new_words:
        strongest = relations.labels[int(relations.strengths[[place[word]]].toarray().argmax())]
        nearest = np.argsort(-atlas.similarities(word), kind="stable")[:NEAREST]
        found.append(strongest in {atlas.labels[i] for i in nearest})
        is_new.append(strongest in new)
    return float(np.mean(found)), float(np.mean(np.array(found)[is_new]))


def as_before(before: mm.Atlas, after: mm.Atlas) -> float:
    """Compute the share of similar old words that were also similar in the old atlas."""
    kept = after.subset([after.index(label) for label in before.labels])
    shared = []
    for word in before.labels:
        then, now = (
            set(np.argsort(-atlas.similarities(word), kind="stable")[:NEAREST].tolist())
            for atlas in (before, kept)
        )
        shared.append(len(then & now) / NEAREST)
    return float(np.mean(shared))


def standing_still(before: mm.Atlas, after: mm.Atlas) -> float:
    """Compute the share of old words with bit-equal points and proportions."""
    kept = after.subset([after.index(label) for label in before.labels])
    same = (kept.maps == before.maps).all(axis=(0, 2))
    return float((same & (kept.proportions == before.proportions).all(axis=0)).mean())


if __name__ == "__main__":
    main()
