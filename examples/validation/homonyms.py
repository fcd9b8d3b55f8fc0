"""Do the maps keep apart the meanings that raters give the associates of homonyms?

    python examples/validation/homonyms.py [--fits DIR] [--iterations 500] [--quick]

Three raters coded the associates of homonyms in the USF norms by meaning (Rice et al. 2019). Maps
are fitted to all of the norms, and the associates of a homonym are grouped by the map to which each
belongs (`manymaps.Atlas.associates`). These groups are compared with the raters' consensus by the
B-cubed measures (Bagga & Baldwin 1998), means over the homonyms with several meanings:

    precision   share of an associate's group that has its meaning
    recall      share of an associate's meaning that is in its group
    F           harmonic mean of both

    same sizes at random   the groups of the maps with their members shuffled
    one group              nothing is distinguished
    each alone             each associate is a group
    a rater                the raters one by one, mean of three

Nothing was chosen on these data. The last lines show the gain in precision over random groups, and
how many senses recur in other fits.

Needs the norms and the homonyms in MANYMAPS_DATA, by default ../shared/data; the script says so and
ends if they are absent.

C. A. Rice, B. Beekhuizen, V. Dubrovsky, S. Stevenson and B. C. Armstrong, "A comparison of homonym
meaning frequency estimates derived from movie and television subtitles, free association, and
explicit ratings", Behavior Research Methods 51 (2019).
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from usf_fits import (
    DATA,
    add_options,
    bootstrap_rows,
    fitted_atlases,
    read_norms,
    with_interval,
)

import manymaps as mm
from manymaps.analysis.stability import stability

HOMONYMS = DATA / "homonyms" / "homonym_meanings.tsv"
RATERS = ("rater1", "rater2", "rater3")
MAPS = 40
SEEDS = (0, 1, 2)
N_SHUFFLES = 100


def read_homonyms(norms: mm.Associations) -> list[pd.DataFrame]:
    """Read the coded associates that are words of the norms, of words with several meanings."""
    coded = pd.read_csv(HOMONYMS, sep="\t", keep_default_na=False)
    coded = coded[coded["associate"].str.upper().isin(norms.labels)]
    words = [rows for _, rows in coded.groupby("cue")]
    return [rows for rows in words if rows["meaning"].nunique() > 1]


def groups_by_map(atlas: mm.Atlas, words: list[pd.DataFrame]) -> list[np.ndarray]:
    """List the map of each coded associate of each word."""
    groups = []
    for rows in words:
        found = atlas.associates(rows["cue"].iloc[0].upper()).set_index("label")
        groups.append(found.loc[rows["associate"].str.upper(), "map"].to_numpy())
    return groups


def b_cubed(meanings: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Precision and recall of the groups of one word."""
    meant = meanings[:, None] == meanings
    grouped = groups[:, None] == groups
    both = (meant & grouped).sum(axis=1)
    return np.array([(both / grouped.sum(axis=1)).mean(), (both / meant.sum(axis=1)).mean()])


def agreement(words: list[pd.DataFrame], groups: list[np.ndarray]) -> np.ndarray:
    """Precision and recall of each word, shape (n_words, 2)."""
    return np.array(
        [b_cubed(rows["meaning"].to_numpy(), own) for rows, own in zip(words, groups, strict=True)]
    )


def main() -> None:
    """Print the table, the gain over random groups and the recurrence of senses."""
    parser = argparse.ArgumentParser(description="Compare maps with raters of homonyms.")
    add_options(parser)
    options = parser.parse_args()
    norms = read_norms()
    if norms is None:
        return
    if not HOMONYMS.exists():
        print(f"no {HOMONYMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    words = read_homonyms(norms)
    (atlases,) = fitted_atlases(norms, options, (("mm-tsne", MAPS, SEEDS),)).values()
    maps = [groups_by_map(atlas, words) for atlas in atlases]
    rng = np.random.default_rng(0)
    found = np.array([agreement(words, groups) for groups in maps])
    chance = np.array([agreement(words, [rng.permutation(own) for own in groups])
                       for groups in maps for _ in range(N_SHUFFLES)])  # fmt: skip
    raters = np.array([agreement(words, [rows[name].to_numpy() for rows in words])
                       for name in RATERS])  # fmt: skip
    rows = {f"{atlas.n_maps} maps, seed {seed}": values.mean(axis=0)
            for seed, (atlas, values) in enumerate(zip(atlases, found, strict=True))}  # fmt: skip
    rows["same sizes at random"] = chance.mean(axis=(0, 1))
    rows["one group"] = agreement(words, [np.zeros(len(own)) for own in words]).mean(axis=0)
    rows["each alone"] = agreement(words, [np.arange(len(own)) for own in words]).mean(axis=0)
    rows["a rater"] = raters.mean(axis=(0, 1))
    print(f"% {len(words)} homonyms with several meanings, {sum(map(len, words)):,} associates")
    print("\n| groups | precision | recall | F |\n|---|---|---|---|")
    for name, (precision, recall) in rows.items():
        f = 2 * precision * recall / (precision + recall)
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {f:.3f} |")
    gain = found.mean(axis=0)[:, 0] - chance.mean(axis=0)[:, 0]
    samples = np.array([gain.mean(), *gain[bootstrap_rows(len(gain))].mean(axis=1)])
    print(f"\nPrecision of maps over random groups, with the 95 % interval over words: "
          f"{with_interval(samples)}.")  # fmt: skip
    if len(atlases) > 1:
        again = stability(atlases)
        recurring, dealt = again.observed.recurrence, again.by_dealing.recurrence
        print(f"Senses that recur in another fit: {recurring:.2f}; members permuted: {dealt:.2f}.")


if __name__ == "__main__":
    main()
