"""The separation of senses by several maps: a score against known senses, and chance.

    python examples/sense_separation.py [--maps 1 5 20] [--iterations 1000] [--seed 0] [--quick]

The embedded word relations contain the sense of the cue for each pair. The fit does not use it. The
score is the share of the pairs of senses of a word that are mainly in different maps. Chance
permutes the senses of each word's pairs. Contrast is how much more two pairs of one sense agree on
their map than pairs of different senses of the word, and is 0 by chance (formulas:
`manymaps.metrics`).
"""

from __future__ import annotations

import argparse
import time

import manymaps as mm
from manymaps.metrics import sense_separation


def main() -> None:
    """Fit the embedded relations with each number of maps, and print a line for each."""
    parser = argparse.ArgumentParser(description="Score the separation of senses.")
    parser.add_argument("--maps", type=int, nargs="+", default=[1, 5, 20], metavar="M")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few maps and iterations")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.maps, arguments.iterations = [1, 5], 60

    relations = mm.load_word_relations()
    print(f"{relations.n_objects} words, {relations.n_pairs} pairs")
    print("maps  score  chance  (s.e.)  within  across  contrast  words  seconds")
    for n_maps in arguments.maps:
        start = time.perf_counter()
        estimator = mm.MultipleMapsTSNE(
            n_maps=n_maps,
            popularity=0,
            degrees_of_freedom=1,
            max_iter=arguments.iterations,
            random_state=arguments.seed,
        )
        atlas = estimator.fit(relations).atlas_
        seconds = time.perf_counter() - start
        found = sense_separation(
            atlas.maps,
            atlas.proportions,
            relations.strengths,
            relations.pair_senses,
            kernel=atlas.model.kernel,
            kernel_width=atlas.model.kernel_width,
        )
        print(
            f"{n_maps:4d}  {found.score:5.3f}  {found.chance:6.3f}  {found.standard_error:6.3f}  "
            f"{found.within:6.3f}  {found.across:6.3f}  {found.contrast:8.3f}  "
            f"{found.n_words:5d}  {seconds:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
