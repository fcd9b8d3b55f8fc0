"""Ambiguity of words: the effective number of senses, compared with simpler counts and WordNet.

    python examples/ambiguity.py [--maps 20] [--iterations 100] [--samples 10] [--words N]
        [--seed 0] [--quick]

The script compares measures that require only associations with the number of senses in WordNet. It
prints Spearman's correlation over words, with a 95 % bootstrap interval over words:

    ambiguity               2^entropy of the senses' shares (`manymaps.ambiguity`), of one fit
    the same, of samples    mean over fits to resampled responses
    senses listed           number of listed senses
    fine                    both for the fine groups, of which the senses consist
    maps                    2^entropy of the word's mixing proportions in that fit
    effective responses     2^entropy of the responses themselves: no model, no clustering
    responses               number of different responses
    Louvain                 communities among the word's neighbours, at resolutions of 0.5 and 1

"given responses" is the partial correlation, controlling for the number of different responses of a
word. Two further results show how far ambiguity depends on the participants: the standard error,
and the correlation of two samples over words (reliability).

There are two data sets. The embedded word relations were built from WordNet, with a few pairs of
each sense of the cue, at most six. This favours every measure, because words with many senses have
many pairs. The free-association norms (in MANYMAPS_DATA) are independent of WordNet. Their words
are those that also occur in the word relations, with the same numbers of senses.

No setting was tuned with these results. Requires networkx (`pip install networkx`).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.stats import rankdata

import manymaps as mm
from manymaps.affinity.network import association_network
from manymaps.datasets import sense_names

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
DRAWS = 1000
LISTED = 8


def fitted(data: mm.Associations, arguments: argparse.Namespace, seed: int) -> mm.Atlas:
    """Fit an atlas for a short time; its senses are groups of associations."""
    fit = mm.MultipleMapsTSNE(
        arguments.maps,
        popularity=0,
        degrees_of_freedom=1,
        max_iter=arguments.iterations,
        random_state=seed,
    )
    return fit.fit(data).atlas_


def n_communities(
    data: mm.Associations, words: np.ndarray, resolution: float, seed: int
) -> np.ndarray:
    """Count the communities that Louvain finds among the associates of each of some words."""
    network = 2 * association_network(data.strengths)
    counts = np.zeros(data.n_objects)
    for i in words:
        near = data.strengths.indices[slice(*data.strengths.indptr[i : i + 2])]
        graph = nx.from_scipy_sparse_array(network[near][:, near])
        found = nx.community.louvain_communities(graph, resolution=resolution, seed=seed)
        counts[i] = len(found)
    return counts


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Compute Spearman's correlation."""
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def partial(first: np.ndarray, second: np.ndarray, given: np.ndarray) -> float:
    """Compute Spearman's correlation controlling for a third variable; NaN if nothing is left."""
    design = np.column_stack([np.ones(len(given)), rankdata(given)])
    ranks = np.column_stack([rankdata(first), rankdata(second)])
    rest = ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0]
    if np.ptp(rest[:, 0]) < 1e-6:
        return np.nan
    return float(np.corrcoef(rest.T)[0, 1])


def interval(first: np.ndarray, second: np.ndarray, seed: int) -> tuple[float, float]:
    """Compute the 95 % bootstrap interval of the correlation over words."""
    rng = np.random.default_rng(seed)
    draws = (rng.integers(len(first), size=len(first)) for _ in range(DRAWS))
    low, high = np.percentile([correlation(first[d], second[d]) for d in draws], [2.5, 97.5])
    return float(low), float(high)


def measures(
    data: mm.Associations,
    atlas: mm.Atlas,
    one: mm.Ambiguity,
    samples: mm.Ambiguity,
    words: np.ndarray,
    seed: int,
) -> Iterator[tuple[str, np.ndarray]]:
    """Compute each measure, with one value per word; network measures are for some words only."""
    yield "ambiguity", one.ambiguity
    yield "the same, of samples", samples.ambiguity
    yield "senses listed", one.n_senses
    fine = mm.ambiguity(atlas, level="fine")
    yield "ambiguity, fine", fine.ambiguity
    yield "fine senses listed", fine.n_senses
    yield "maps", mm.ambiguity(replace(atlas, associations=None)).ambiguity
    yield "effective responses", one.effective_responses
    yield "responses", one.distinct_responses
    yield "Louvain, .5", n_communities(data, words, 0.5, seed)
    yield "Louvain, 1", n_communities(data, words, 1.0, seed)


def compare(name: str, data: mm.Associations, arguments: argparse.Namespace) -> None:
    """Print the table of one data set, and the reliability of its ambiguities."""
    seed = arguments.seed
    known = {word.casefold(): len(senses) for word, senses in sense_names().items()}
    truth = np.array([known.get(label.casefold(), 0) for label in data.labels])
    atlas = fitted(data, arguments, seed)
    rng = np.random.default_rng(seed)
    fits = [
        fitted(mm.resampled(data, rng), arguments, seed + 1 + k) for k in range(arguments.samples)
    ]
    one, samples = mm.ambiguity(atlas), mm.ambiguity(fits)
    words = np.flatnonzero((truth > 0) & (one.distinct_responses > 0))
    if arguments.words:
        words = words[np.linspace(0, len(words) - 1, arguments.words).astype(int)]
    print(f"{name}: {len(words):,} words with {truth[words].mean():.1f} senses each in WordNet")
    print(f"{'':20s}  Spearman   95 % interval  given responses    mean")
    responses = one.distinct_responses[words]
    for measure, values in measures(data, atlas, one, samples, words, seed):
        own, senses = values[words], truth[words]
        low, high = interval(own, senses, seed)
        left = partial(own, senses, responses)
        beyond = f"{left:15.3f}" if np.isfinite(left) else f"{'':15s}"
        print(
            f"{measure:20s}  {correlation(own, senses):8.3f}  {low:6.3f} to {high:5.3f}  {beyond}"
            f"  {own.mean():6.2f}",
            flush=True,
        )
    show_errors(samples, fits)


def show_errors(samples: mm.Ambiguity, fits: list[mm.Atlas]) -> None:
    """Print the standard error over resampled responses, the reliability, and the extremes."""
    each = [mm.ambiguity(atlas).ambiguity for atlas in fits]
    both = [correlation(a, b) for a, b in combinations(each, 2)]
    order = np.argsort(-samples.ambiguity)
    named = [f"{samples.labels[i]} {samples.ambiguity[i]:.1f}" for i in order[:LISTED]]
    print(
        f"standard error {samples.standard_error.mean():.2f} on average, beside a standard "
        f"deviation of {samples.ambiguity.std():.2f} between words; two samples correlate by "
        f"{np.mean(both):.3f}\nmost ambiguous: {', '.join(named)}\n"
    )


def main() -> None:
    """Print the table of the word relations, and that of the norms if they are available."""
    parser = argparse.ArgumentParser(description="Compare ambiguity with WordNet's senses.")
    parser.add_argument("--maps", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--samples", type=int, default=10, help="fits to resampled responses")
    parser.add_argument("--words", type=int, help="that are compared; all without it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few of all of these")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.maps, arguments.iterations, arguments.samples = 4, 5, 2
        arguments.words = 400
    compare("word relations", mm.load_word_relations(), arguments)
    if NORMS.exists():
        norms = mm.read_associations(NORMS, strength="count")
        compare("free-association norms", norms, arguments)
    else:
        print(f"no norms at {NORMS}: set MANYMAPS_DATA to the folder of real data")


if __name__ == "__main__":
    main()
