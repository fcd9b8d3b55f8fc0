"""Rated similarity and relatedness: how well do maps agree with SimLex-999 and WordSim-353?

    python examples/validation/similarity.py [--fits DIR] [--ratings DIR]

SimLex-999 (Hill, Reichart & Korhonen 2015) rates similarity: coat and closet are related, but not
similar. WordSim-353 (Finkelstein et al. 2002) rates relatedness. Both files are part of the test
data of the gensim package, and are read from its installation or from --ratings. Nothing is done
without them.

The table lists Spearman's correlation with the ratings, over the pairs whose words are in the USF
norms. Intervals (95 %) are jackknifed over words, because pairs share words.

    popularity        number of cues that evoke both words (log sum): a baseline without any pair
    strength          observed strength, mean of both directions
    PPMI cosine       of the responses that both words evoke
    Katz walk         the same for all words that are reached on walks through the network
    maps              mean of log similarity in both directions; first seed and range over seeds
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import numpy as np
from usf_fits import add_options, fitted_atlases, read_norms

import manymaps as mm
from manymaps.labels import label_places, plural
from manymaps.metrics.pair_correlations import pair_correlation

FILES = {"SimLex-999": "simlex999.txt", "WordSim-353": "wordsim353.tsv"}
SETTINGS = (
    ("mm-tsne", 1, (0,)),
    ("mm-tsne", 10, (0, 1)),
    ("mm-tsne", 20, (0, 1)),
    ("mm-tsne", 40, (0, 1, 2, 3)),
    ("mm-sne", 40, (0,)),
)
NAMES = {"strength": "strength", "ppmi_cosine": "PPMI cosine", "katz_walk": "Katz walk"}


def ratings_folder() -> Path | None:
    """The test data of an installed gensim, without importing it."""
    package = importlib.util.find_spec("gensim")
    places = [] if package is None else package.submodule_search_locations or []
    return next((Path(place, "test", "test_data") for place in places), None)


def shown(value: float, low: float, high: float) -> str:
    """A value with its interval."""
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def report(
    name: str,
    ratings: mm.Ratings,
    norms: mm.Associations,
    atlases: dict[tuple[str, int], list[mm.Atlas]],
) -> None:
    """Print the table of one file."""
    found = {
        setting: [mm.evaluate(atlas, ratings, norms=norms) for atlas in fits]
        for setting, fits in atlases.items()
    }
    most = found[max(setting for setting in found if setting[0] == "mm-tsne")][0]
    print(f"\n{name}: {most.n_compared} of {len(ratings)} pairs in the norms\n")
    print("| measure | Spearman's rho | rho of the maps minus this |\n|---|---|---|")
    i, j = (np.array(label_places(words, norms.labels)) for words in zip(*most.pairs, strict=True))
    cues = np.log1p((norms.strengths > 0).sum(axis=0))
    popular = pair_correlation(cues[i] + cues[j], most.ratings, i, j, ranks=True)
    print(f"| popularity | {shown(*popular.interval())} | |")
    for measure, title in NAMES.items():
        gain = most.spearman_gain[measure]
        print(f"| {title} | {shown(*most.spearman[measure])} | {shown(*gain)} |")
    for (method, maps), fits in found.items():
        values = [one.spearman["atlas"].value for one in fits]
        spread = f"; {min(values):.3f} to {max(values):.3f}" if len(values) > 1 else ""
        setting = f"{method}, {plural('map', maps)}, {plural('seed', len(fits))}"
        print(f"| maps: {setting} | {shown(*fits[0].spearman['atlas'])}{spread} | |")


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description="Correlate similarities with ratings of pairs.")
    add_options(parser)
    parser.add_argument("--ratings", type=Path, metavar="DIR", default=ratings_folder())
    options = parser.parse_args()
    norms = read_norms()
    if norms is None:
        return
    files = {} if options.ratings is None else {n: options.ratings / f for n, f in FILES.items()}
    if not files or not all(path.exists() for path in files.values()):
        print(f"no {' and '.join(FILES)}: install gensim, or name a folder with --ratings DIR; "
              "nothing done")  # fmt: skip
        return
    atlases = fitted_atlases(norms, options, SETTINGS)
    print("% rho [95 % interval over words] of the first seed; the range over seeds")
    print("% differences: the most maps of mm-tsne, first seed")
    for name, path in files.items():
        report(name, mm.read_ratings(path), norms, atlases)


if __name__ == "__main__":
    main()
