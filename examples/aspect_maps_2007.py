"""Aspect maps of the words most often given as associates: Cook et al. 2007, section 5.

    python examples/aspect_maps_2007.py [--words 1000] [--iterations 400] [-o FOLDER] [--quick]

The data are the 1,000 cue words that are responses most often. The model has 50 aspect maps, a size
penalty of 0.48 and a Gaussian kernel. The script prints time, KL and the maps of "can" and "field"
(the paper's figures 5 and 6: a can of soda, can as able, garbage can; a field of corn, a field of
sports) for conjugate gradients, L-BFGS and momentum. With -o it saves their figures.

Requires the norms in MANYMAPS_DATA; without them it prints a note and ends.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import manymaps as mm
from manymaps.optimizers import LBFGS, ConjugateGradient, Momentum

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
WORDS = ("can", "field")


def main() -> None:
    """Fit with each optimizer and print the maps of the words."""
    parser = argparse.ArgumentParser(description="Aspect maps of common associates.")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--maps", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="folder for figures")
    parser.add_argument("--quick", action="store_true", help="few maps and iterations")
    arguments = parser.parse_args()
    if not NORMS.exists():
        print(f"no norms at {NORMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    n_words, n_maps, most = arguments.words, arguments.maps, arguments.iterations
    if arguments.quick:
        n_maps, most = 5, 20
    norms = mm.read_associations(NORMS).most_given(n_words)
    print(f"{norms.n_objects} words, {norms.n_pairs} pairs, {n_maps} maps, penalty 0.48")
    for name, optimizer in (
        ("conjugate gradients", ConjugateGradient()),
        ("L-BFGS", LBFGS()),
        ("momentum", Momentum()),
    ):
        start = time.perf_counter()
        fit = mm.AspectMaps(
            n_maps, optimizer=optimizer, max_iter=most, random_state=arguments.seed
        ).fit(norms)
        seconds = time.perf_counter() - start
        cost = fit.history_["cost"][-1] / norms.n_objects
        print(
            f"\n{name}: {fit.n_iter_} iterations, {seconds:.0f} s, KL {fit.kl_divergence_:.3f}, "
            f"cost with penalty {cost:.3f} per word"
        )
        for word in WORDS:
            for sense in fit.atlas_.senses(word, n_neighbors=6):
                near = ", ".join(n.label.lower() for n in sense.neighbors)
                print(f"  {word}: map {sense.map:2d} {sense.proportion:.2f}  {near}")
            if arguments.output:
                arguments.output.mkdir(parents=True, exist_ok=True)
                figure = mm.plot_senses(fit.atlas_, word)
                mm.save_figure(figure, arguments.output / f"{word}_{name.split()[0]}.png")


if __name__ == "__main__":
    main()
