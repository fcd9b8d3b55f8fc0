"""Aspect maps of the words most often given as associates: Cook et al. 2007, section 5.

    python examples/aspect_maps_2007.py [--words 1000] [--iterations 400] [-o FOLDER] [--quick]
                                        [--store FOLDER]

The data are the 1,000 cue words that are responses most often. The model is `AspectMaps.cook_2007`:
50 aspect maps, a size penalty of 0.48 and a Gaussian kernel, with conjugate gradients. L-BFGS and
momentum are printed for comparison. The paper's figures 5 and 6 show the maps of "can" (a can of
soda, can as able, garbage can) and of "field" (a field of corn, a field of sports). For an
associate of each of these senses, the script lists the map that explains most of its similarity to
the word, and the mixing proportion of the word in this map. Associates of separate senses have
separate maps. With -o it draws the maps.

Requires the norms in MANYMAPS_DATA; without them it prints a note and ends.
"""

from __future__ import annotations

import time
from pathlib import Path

import manymaps as mm
from lib.real_data import data_file
from lib.results import markdown, options, store
from manymaps.optimizers import LBFGS, ConjugateGradient, Momentum

SENSES = {"CAN": ("SODA", "GARBAGE", "DO"), "FIELD": ("SPORTS", "CORN", "GRASS")}


def map_of(atlas: mm.Atlas, word: str, associate: str) -> tuple[int, float]:
    """Find the map that explains most of a similarity, and the word's proportion in it."""
    at = int(atlas.shares(word)[:, atlas.labels.index(associate)].argmax())
    return at, float(atlas.proportions[at, atlas.labels.index(word)])


def main() -> None:
    """Fit with each optimizer and store the maps of the senses."""
    parser = options(__doc__)
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--maps", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="folder for figures")
    arguments = parser.parse_args()
    path = data_file("usf/usf_free_association.tsv.gz")
    if path is None:
        return
    n_maps, most = (5, 20) if arguments.quick else (arguments.maps, arguments.iterations)
    norms = mm.read_associations(path).most_given(arguments.words)
    rows = []
    for name, optimizer in (
        ("conjugate gradients", ConjugateGradient()),
        ("L-BFGS", LBFGS()),
        ("momentum", Momentum()),
    ):
        start = time.process_time()
        fit = mm.AspectMaps.cook_2007().set_params(
            n_maps=n_maps, optimizer=optimizer, max_iter=most, random_state=arguments.seed
        )
        fit.fit(norms)
        seconds = time.process_time() - start
        row: list[object] = [name, round(seconds), fit.kl_divergence_]
        row.append(fit.history_["cost"][-1] / norms.n_objects)
        for word, associates in SENSES.items():
            found = [map_of(fit.atlas_, word, associate) for associate in associates]
            row += [f"{share:.2f} (map {at})" for at, share in found]
            if arguments.output:
                arguments.output.mkdir(parents=True, exist_ok=True)
                figure = mm.plot_senses(fit.atlas_, word)
                mm.save_figure(figure, arguments.output / f"{word.lower()}_{name.split()[0]}.png")
        rows.append(row)
    head = ["optimizer", "CPU seconds", "KL per word", "with penalty"]
    head += [f"{word.lower()}: {associate.lower()}"
             for word, associates in SENSES.items() for associate in associates]  # fmt: skip
    store(
        arguments.store,
        "cook_aspect_maps.txt",
        f"USF norms, {norms.n_objects:,} words and {norms.n_pairs:,} pairs, {n_maps} maps, penalty "
        f"0.48, {most} iterations, seed {arguments.seed}. The last columns are the mixing "
        "proportion of the word in the map that explains most of its similarity to the associate.",
        markdown(head, rows, digits=3),
    )


if __name__ == "__main__":
    main()
