"""The senses that the papers print for the free-association norms, and whether a fit finds them.

    python examples/printed_senses.py [--maps 40] [--seeds 0 1 2] [--penalties 0 0.001] [--quick]

van der Maaten & Hinton 2009, section 4, and Cook et al. 2007, section 5, print words whose senses
are in different maps, and small structures that stay together. The script reports a hit or a miss
for each of them:

    senses      every listed sense has a map of its own: the maps in which the word shares most with
                each sense's words differ, and have at least 0.1 of the word (a word in one map
                scores 1, so the number of words is the score of no separation)
    together    the listed words have one map in which all have at least 0.1 and are among one
                another's 30 nearest
    asymmetry   the similarity is larger in the printed direction, under the model

Requires the norms in MANYMAPS_DATA; without them it prints a note and ends.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

import manymaps as mm

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
LEAST = 0.1
NEAR = 30

SENSES = {
    "tie": ["tuxedo suit shirt", "rope knot string", "ribbon bow"],
    "cheerleader": ["football sports team", "gorgeous beauty pretty"],
    "monarchy": ["king queen royal", "democracy republic government"],
    "bank": ["river stream shore", "loan money account"],
    "can": ["soda beer bottle", "able may ability", "garbage trash"],
    "field": ["corn wheat crops", "football baseball soccer", "grass meadow lawn"],
    "fire": ["hot burn flame", "engine truck fireman", "hire quit job"],
    "death": ["grave funeral cemetery", "kill murder", "sorrow sad grief"],
}
TOGETHER = [
    "popeye spinach cartoon",
    "monument statue liberty freedom",
    "football baseball basketball soccer",
    "chess checkers",
]
ASYMMETRIES = [("dynasty", "china"), ("scissors", "cut")]


def own_maps(atlas: mm.Atlas, word: str, senses: list[str]) -> list[int]:
    """Find the map in which the word shares most with the words of each sense."""
    shares = atlas.shares(word)
    return [
        int(np.argmax(sum(shares[:, atlas.index(w)] for w in sense.split() if known(atlas, w))))
        for sense in senses
    ]


def known(atlas: mm.Atlas, word: str) -> bool:
    """Check whether the atlas contains the word."""
    try:
        atlas.index(word)
    except mm.UnknownLabelError:
        return False
    return True


def sense_line(atlas: mm.Atlas, word: str, senses: list[str]) -> tuple[int, int, str]:
    """Count senses with a map of their own and all senses, and format the line."""
    maps = own_maps(atlas, word, senses)
    held = [float(atlas.proportions[m, atlas.index(word)]) for m in maps]
    own = len({m for m, share in zip(maps, held, strict=True) if share >= LEAST})
    places = ", ".join(
        f"{sense.split()[0]} in {m} ({share:.2f})"
        for sense, m, share in zip(senses, maps, held, strict=True)
    )
    return own, len(senses), f"{word}: {places}"


def together(atlas: mm.Atlas, words: str) -> bool:
    """Check whether some map contains all the words near one another."""
    rows = [atlas.index(word) for word in words.split() if known(atlas, word)]
    for m in np.flatnonzero((atlas.proportions[:, rows] >= LEAST).all(axis=1)):
        present = np.flatnonzero(atlas.proportions[m] >= LEAST)
        points = atlas.maps[m]
        for i in rows:
            order = present[np.argsort(((points[present] - points[i]) ** 2).sum(axis=1))]
            if not set(rows) <= set(order[: NEAR + 1].tolist()):
                break
        else:
            return True
    return False


def report(atlas: mm.Atlas, verbose: bool) -> tuple[int, int, int, int]:
    """Print the findings of one fit; return hits and counts of senses and of structures."""
    found = total = kept = 0
    for word, senses in SENSES.items():
        own, count, text = sense_line(atlas, word, senses)
        found, total = found + own, total + count
        if verbose:
            print(f"    {'hit ' if own == count else 'miss'} {own}/{count}  {text}")
    for words in TOGETHER:
        hit = together(atlas, words)
        kept += hit
        if verbose:
            print(f"    {'hit ' if hit else 'miss'}  together: {words}")
    for a, b in ASYMMETRIES:
        there, back = atlas.similarity(a, b), atlas.similarity(b, a)
        if verbose:
            verdict = "hit " if there > back else "miss"
            print(f"    {verdict}  {a} -> {b} {there:.4f}, {b} -> {a} {back:.4f}")
    return found, total, kept, len(TOGETHER)


def main() -> None:
    """Fit with each penalty and seed, and list the findings."""
    parser = argparse.ArgumentParser(description="Look for the senses that the papers print.")
    parser.add_argument("--maps", type=int, default=40)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.001])
    parser.add_argument("--quick", action="store_true", help="one short fit, to try the script")
    arguments = parser.parse_args()
    if not NORMS.exists():
        print(f"no norms at {NORMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    norms = mm.read_associations(NORMS)
    most, seeds, penalties = 2000, arguments.seeds, arguments.penalties
    if arguments.quick:
        most, seeds, penalties = 20, seeds[:1], penalties[-1:]
    summary = []
    for penalty in penalties:
        for seed in seeds:
            start = time.perf_counter()
            fit = mm.MultipleMapsTSNE(
                arguments.maps,
                penalty=penalty,
                random_state=seed,
                max_iter=most,
            ).fit(norms)
            seconds = time.perf_counter() - start
            print(f"penalty {penalty:g}, seed {seed}: KL {fit.kl_divergence_:.3f}, {seconds:.0f} s")
            summary.append((penalty, seed, *report(fit.atlas_, verbose=True)))
    print(f"\nno separation at all would be {len(SENSES)} of {sum(map(len, SENSES.values()))}")
    print("penalty  seed  senses with a map of their own  structures kept together")
    for penalty, seed, found, total, kept, structures in summary:
        print(f"{penalty:7g}  {seed:4d}  {found:13d} of {total:2d}  {kept:22d} of {structures}")


if __name__ == "__main__":
    main()
