"""Word sense induction by many maps, compared with clustered neighbours and topics.

    python examples/word_sense_induction.py [--maps 20 40] [--topics 20 40 150]
        [--iterations 500] [--pseudowords 200] [--words N] [--seed 0] [--quick]

In word sense induction, each stored pair of a word is assigned to a cluster by the network only.
The clusters are compared with the senses of the pairs (B-cubed and V-measure, means over words of
two or more senses: `manymaps.metrics.sense_induction`).

    one cluster             all pairs together
    each pair alone         all pairs separate
    Chinese whispers        Biemann 2006, on the network among the word's neighbours
    Louvain                 Blondel et al. 2008, on the same, at resolutions of 0.5 and 1
    SenseGram-like          Pelevina et al. 2016: the word's neighbours, linked if their vectors
                            (spectral, 70 dimensions) are near, clustered by Chinese whispers
    LDA, PLSA               the most probable topic for the pair: argmax_z p(z|i) p(j|z)
    maps                    the map that explains the pair most: argmax_m v_ij^m
    listed senses           the sense among `Atlas.senses` that contains most of the associate

There are two ground truths. The embedded word relations contain the WordNet sense of the cue for
each pair. Pseudowords are merged pairs of unrelated words of the free-association norms, whose
halves are the senses (`manymaps.pseudowords`; without norms in MANYMAPS_DATA, the word relations
are used). For these, F is not informative, because halves have senses of their own, and a method
that finds them is no worse. Informative are how often the halves separate (their main clusters
differ), how often they would by chance, and contrast. There each pair counts for its cluster. In
the last table, of the maps by frequency ratio of the halves, it counts for each map by its share.

No method was fitted to either truth. Louvain's resolution of 0.5, and the 50 nearest of the
SenseGram-like method, are each the best of a few on the word relations.

Needs networkx (`pip install networkx`).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
from scipy import sparse

import manymaps as mm
from lib.topics import ProbabilisticLSA, TopicModel
from manymaps.affinity.network import association_network, spectral_directions
from manymaps.metrics import explaining_maps, sense_induction

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
#: Dimensions of the vectors, and how many words are near to a word: of the SenseGram-like method.
DIMENSIONS, NEAREST = 70, 50
#: Neighbours that a sense is asked for; a pair that none of them holds has a cluster of its own.
LISTED = 200

Clustering = Callable[[sparse.csr_array, np.random.Generator], np.ndarray]


class Pairs(NamedTuple):
    """The pairs whose senses are known, sorted by word; each array has shape (n_pairs,)."""

    words: np.ndarray
    partners: np.ndarray
    senses: np.ndarray


def pairs_of(relations: mm.Associations, n_words: int | None) -> Pairs:
    """Select the stored pairs with the sense of the cue, of some words spread over all."""
    strengths, n = relations.strengths, relations.n_objects
    words = np.repeat(np.arange(n), np.diff(strengths.indptr))
    asked = np.isin(words, np.linspace(0, n - 1, min(n_words or n, n)).astype(int))
    return Pairs(words[asked], strengths.indices[asked], relations.pair_senses[asked])


def by_word(pairs: Pairs) -> Iterator[slice]:
    """Group the pairs by word."""
    ends = np.flatnonzero(np.diff(pairs.words, append=-1)) + 1
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        yield slice(start, end)


def clustered(network: sparse.csr_array, pairs: Pairs, seed: int, method: Clustering) -> np.ndarray:
    """Cluster the network among each word's associates, without the word."""
    rng = np.random.default_rng(seed)
    clusters = np.empty(len(pairs.words), np.int64)
    for own in by_word(pairs):
        partners = pairs.partners[own]
        clusters[own] = method(sparse.csr_array(network[partners][:, partners]), rng)
    return clusters


def chinese_whispers(network: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Assign to every node the most frequent label of its neighbours, until none changes."""
    labels = np.arange(network.shape[0])
    for _ in range(20):
        before = labels.copy()
        for i in rng.permutation(len(labels)):
            own = slice(network.indptr[i], network.indptr[i + 1])
            if own.stop > own.start:
                labels[i] = np.bincount(labels[network.indices[own]], network.data[own]).argmax()
        if (labels == before).all():
            break
    return labels


def louvain(resolution: float) -> Clustering:
    """Find the communities of greatest modularity."""

    def found(network: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
        graph = nx.from_scipy_sparse_array(network)
        seed = int(rng.integers(2**31))
        labels = np.empty(network.shape[0], np.int64)
        for k, nodes in enumerate(
            nx.community.louvain_communities(graph, resolution=resolution, seed=seed)
        ):
            labels[list(nodes)] = k
        return labels

    return found


def vector_network(data: mm.Associations, seed: int) -> sparse.csr_array:
    """Link each word to its nearest ones by the cosine of spectral vectors; undirected."""
    vectors = spectral_directions(data.strengths, DIMENSIONS, seed=seed)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, 0)
    most = min(NEAREST, len(cosines) - 1)
    limits = np.partition(cosines, -most, axis=1)[:, -most]
    near = sparse.csr_array(np.where(cosines >= np.maximum(limits, 1e-9)[:, None], cosines, 0))
    return near.maximum(near.T)


def by_topic(model: TopicModel | ProbabilisticLSA, pairs: Pairs) -> np.ndarray:
    """Find the most probable topic of each pair."""
    of_cue, of_response = model.topics_given_cue_, model.words_given_topic_
    return (of_cue[pairs.words] * of_response[:, pairs.partners].T).argmax(axis=1)


def by_listed_sense(atlas: mm.Atlas, pairs: Pairs) -> np.ndarray:
    """Find the index of the listed sense that contains most of the associate, -1 if none does."""
    clusters = np.full(len(pairs.words), -1)
    for own in by_word(pairs):
        held: dict[str, tuple[float, int]] = {}
        word = atlas.labels[pairs.words[own.start]]
        senses = atlas.senses(word, n_neighbors=LISTED, level="fine")
        # A map of which nothing was observed is the model's alone, and no sense of these pairs.
        for number, sense in enumerate(one for one in senses if one.share > 0):
            for near in sense.neighbors:
                if near.similarity > held.get(near.label, (0.0, -1))[0]:
                    held[near.label] = (near.similarity, number)
        names = [atlas.labels[j] for j in pairs.partners[own]]
        clusters[own] = [held.get(name, (0.0, -1))[1] for name in names]
    return clusters


def methods_of(
    data: mm.Associations, pairs: Pairs, arguments: argparse.Namespace, atlases: dict[int, mm.Atlas]
) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield each method's name and its clusters; fitted atlases are added to `atlases`."""
    seed = arguments.seed
    network = 2 * association_network(data.strengths)

    def topics(model: TopicModel | ProbabilisticLSA) -> np.ndarray:
        return by_topic(model.fit(data.strengths, random_state=seed), pairs)

    def maps(n_maps: int) -> np.ndarray:
        fit = mm.MultipleMapsTSNE(
            n_maps,
            popularity=0,
            degrees_of_freedom=1,
            max_iter=arguments.iterations,
            random_state=seed,
        )
        atlas = atlases[n_maps] = fit.fit(data).atlas_
        kernel, width = atlas.model.kernel, atlas.model.kernel_width
        places = (atlas.maps, atlas.proportions, pairs.words, pairs.partners)
        return explaining_maps(*places, kernel=kernel, kernel_width=width)

    yield "one cluster", lambda: np.zeros(len(pairs.words), np.int64)
    yield "each pair alone", lambda: np.arange(len(pairs.words))
    yield "Chinese whispers", lambda: clustered(network, pairs, seed, chinese_whispers)
    yield "Louvain, .5", lambda: clustered(network, pairs, seed, louvain(0.5))
    yield "Louvain, 1", lambda: clustered(network, pairs, seed, louvain(1.0))
    yield (
        "SenseGram-like",
        lambda: clustered(vector_network(data, seed), pairs, seed, chinese_whispers),
    )
    for n in arguments.topics:
        yield f"LDA, {n} topics", partial(topics, TopicModel(n_topics=n))
        yield f"PLSA, {n} topics", partial(topics, ProbabilisticLSA(n_topics=n))
    for n in arguments.maps:
        yield f"maps, {n}", partial(maps, n)
        yield "  their listed senses", lambda n=n: by_listed_sense(atlases[n], pairs)


def table(
    data: mm.Associations,
    pairs: Pairs,
    arguments: argparse.Namespace,
    made: mm.Pseudowords | None = None,
) -> dict[int, mm.Atlas]:
    """Print a line for each method; return the atlases, by number of maps."""
    truth = sense_induction(pairs.words, pairs.senses, pairs.senses)
    print(f"{truth.n_words} words of {truth.mean_senses:.1f} senses each")
    more = "" if made is None else "  apart  chance  contrast"
    measures = "precision  recall      F  homog.  compl.      V  clusters"
    print(f"{'method':22s}  {measures}{more}  seconds")
    atlases: dict[int, mm.Atlas] = {}
    for name, method in methods_of(data, pairs, arguments, atlases):
        start = time.perf_counter()
        clusters = method()
        seconds = time.perf_counter() - start
        found = sense_induction(pairs.words, pairs.senses, clusters)
        if made is not None:
            apart = made.apart_by(clusters).overall
            more = f"  {apart.score:5.3f}  {apart.chance:6.3f}  {apart.contrast:z8.3f}"
        print(
            f"{name:22s}  {found.precision:9.3f}  {found.recall:6.3f}  {found.f:5.3f}  "
            f"{found.homogeneity:6.3f}  {found.completeness:6.3f}  {found.v_measure:5.3f}  "
            f"{found.mean_clusters:8.1f}{more}  {seconds:7.1f}",
            flush=True,
        )
    return atlases


def show_apart(made: mm.Pseudowords, atlases: dict[int, mm.Atlas]) -> None:
    """Print how often the halves of pseudowords separate, per number of maps and per ratio."""
    print("maps  ratio     pseudowords  apart  chance  (s.e.)  within  across  contrast")
    for n_maps, atlas in atlases.items():
        found = made.apart(atlas)
        bands = [(f"{low:g} to {high:g}", part) for (low, high), part in found.by_ratio.items()]
        for name, part in [("all", found.overall), *bands]:
            print(
                f"{n_maps:4d}  {name:8s}  {part.n_words:11d}  {part.score:5.3f}  "
                f"{part.chance:6.3f}  {part.standard_error:6.3f}  {part.within:6.3f}  "
                f"{part.across:6.3f}  {part.contrast:8.3f}"
            )


def main() -> None:
    """Print the table of the word relations, then that of the pseudowords."""
    parser = argparse.ArgumentParser(description="Compare methods of word sense induction.")
    parser.add_argument("--maps", type=int, nargs="+", default=[20, 40], metavar="M")
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 40, 150], metavar="Z")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--pseudowords", type=int, default=200, metavar="N")
    parser.add_argument("--words", type=int, help="of the word relations, whose senses are found")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few maps, topics and iterations")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.maps, arguments.topics, arguments.iterations = [5], [10], 60
        arguments.words = 400

    relations = mm.load_word_relations()
    print(f"{relations.n_objects} words related in WordNet, {relations.n_pairs} pairs")
    table(relations, pairs_of(relations, arguments.words), arguments)
    norms, source = relations, "word relations"
    if NORMS.exists():
        norms, source = mm.read_associations(NORMS), "free-association norms"
    else:
        print(f"\nno norms at {NORMS}: set MANYMAPS_DATA to the folder of real data")
    made = mm.pseudowords(norms, arguments.pseudowords, arguments.seed)
    print(f"\n{made.n_pseudowords} pseudowords in the {source}, {made.associations.n_pairs} pairs")
    pairs = Pairs(made.pairs.words, made.pairs.partners, made.pairs.halves)
    atlases = table(made.associations, pairs, arguments, made)
    print()
    show_apart(made, atlases)


if __name__ == "__main__":
    main()
