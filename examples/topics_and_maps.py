"""Topics of associations next to multiple maps of the same words.

    python examples/topics_and_maps.py [--words 1000] [--maps 20] [--iterations 500] [--quick]

The words are the most frequent responses of the bundled associations. A topic model (LDA, as in
Griffiths, Steyvers & Tenenbaum 2007) has as many topics as the atlas has maps. The script matches
both one to one and prints the mean similarity, the similarity by chance, and the words with the
largest common membership in the best pairs.
"""

from __future__ import annotations

import argparse

import numpy as np

import manymaps as mm
from lib.topics import TopicModel

SHOWN_PAIRS, SHOWN_WORDS = 8, 8


def main() -> None:
    """Fit both models and print the pairs."""
    parser = argparse.ArgumentParser(description="Topics matched to maps.")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few words, maps and iterations")
    arguments = parser.parse_args()
    n_words, n_maps, most = arguments.words, arguments.maps, arguments.iterations
    if arguments.quick:
        n_words, n_maps, most = 200, 5, 100
    norms = mm.load_word_associations().most_given(n_words)
    model = TopicModel(n_topics=n_maps).fit(norms.strengths, random_state=arguments.seed)
    topics = model.topics_given_cue_.T
    fit = mm.MultipleMapsTSNE(
        n_maps,
        popularity=0,
        degrees_of_freedom=1,
        max_iter=most,
        random_state=arguments.seed,
    ).fit(norms)
    found = mm.match_topics(fit.atlas_, topics)
    print(f"{norms.n_objects:,} words, {n_maps} maps and topics")
    print(f"mean similarity {found.similarities.mean():.3f}, by chance {found.chance:.3f}")
    for m in np.argsort(-found.similarities)[:SHOWN_PAIRS]:
        common = np.minimum(fit.proportions_[m], topics[found.topics[m]])
        words = ", ".join(norms.labels[i] for i in np.argsort(-common)[:SHOWN_WORDS])
        print(f"map {m:2}, topic {found.topics[m]:2}: {found.similarities[m]:.3f}  {words}")


if __name__ == "__main__":
    main()
