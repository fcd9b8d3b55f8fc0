"""Do meanings agree with the meanings that raters give the associates of homonyms?

    python examples/validation/homonyms.py [--shuffles 200] [--samples 1000] [--quick]

Three raters coded the associates of homonyms in the USF norms by meaning (Rice et al. 2019). Each
partition of a word's associates is compared with their consensus:

    F       B-cubed F over the words with several meanings (Bagga & Baldwin 1998)
    F3      the same over the words whose second meaning has three associates or more
    rho     Spearman correlation, over all words, of the response share of the largest group with
            that of the largest meaning; next to it the mean of the same after the members of each
            word's groups are shuffled, which keeps the sizes of the groups
    split   share of the words with one meaning, and with several, that have several groups

    one cluster           nothing is distinguished
    singletons            each associate is a group
    Louvain               communities of the ties among the associates, at resolutions of 0.5 and 1
    Ward                  two to four groups of the associates' spectral directions, as many as
                          the silhouette favours
    fine groups           the fine groups of `Atlas.senses`
    meanings              the meanings of `Atlas.senses`
    rater1 to rater3      one rater against the consensus
    dictionary            the algorithm of Rice et al., which is given the dictionary meanings

Both levels of senses depend on associations only, so no maps are fitted. Associates outside the
fitted words belong to the largest group. The constants of the meanings were chosen on these words;
for other words, the gain over one cluster is about the same (docs/develop/design.md). The second
table lists the share of words with several meanings in several networks, without any adjustment.

Needs the norms and the homonyms in MANYMAPS_DATA, by default ../shared/data, networkx and
pandas; the script says so and ends if they are absent.

C. A. Rice, B. Beekhuizen, V. Dubrovsky, S. Stevenson and B. C. Armstrong, "A comparison of homonym
meaning frequency estimates derived from movie and television subtitles, free association, and
explicit ratings", Behavior Research Methods 51 (2019).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_score

import manymaps as mm
from manymaps.affinity.network import spectral_directions
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.meanings import meaning_space
from manymaps.atlas.senses import observed_groups

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
HOMONYMS = DATA / "homonyms" / "homonym_meanings.tsv"
RATERS = ("rater1", "rater2", "rater3")

#: The group of each associate of a homonym, by homonym.
Partition = Mapping[str, np.ndarray]


class Homonyms(NamedTuple):
    """Associates of each homonym, what the columns of the file call them, and their strengths."""

    associates: dict[str, list[str]]
    columns: dict[str, dict[str, np.ndarray]]
    strengths: dict[str, np.ndarray]

    def second_size(self, word: str) -> int:
        """The number of associates of the second-largest meaning, 0 if there is one meaning."""
        sizes = np.unique(self.columns["meaning"][word], return_counts=True)[1]
        return 0 if len(sizes) == 1 else int(np.sort(sizes)[-2])


def read_homonyms() -> Homonyms:
    """Read the coded associates and their strengths in the norms."""
    with gzip.open(NORMS, "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        strength = {
            (row["cue"].lower(), row["target"].lower()): float(row["strength"]) for row in rows
        }
    by_word: dict[str, list[dict[str, str]]] = {}
    with HOMONYMS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            by_word.setdefault(row["cue"], []).append(row)
    associates = {word: [row["associate"] for row in rows] for word, rows in by_word.items()}
    columns = {
        name: {word: np.array([row[name] for row in rows]) for word, rows in by_word.items()}
        for name in ("meaning", *RATERS, "algorithm")
    }
    strengths = {
        word: np.array([strength[word, other] for other in others])
        for word, others in associates.items()
    }
    return Homonyms(associates, columns, strengths)


class Network:
    """A table of associations, and methods that group the associates of one of its words."""

    def __init__(self, norms: mm.Associations) -> None:
        self.labels = norms.labels
        self.table = strongest_associations(norms.strengths)
        self.both = sparse.csr_array(self.table + self.table.T)
        self.index = {label.lower(): i for i, label in enumerate(norms.labels)}
        self.space = meaning_space(self.table, norms.labels)
        self.directions = spectral_directions(self.table, 70, seed=0)

    def near(self, i: int) -> np.ndarray:
        """The associates of word i."""
        return self.table.indices[self.table.indptr[i] : self.table.indptr[i + 1]]

    def fine(self, i: int) -> np.ndarray:
        """The fine groups."""
        return observed_groups(self.table, np.array([i]))

    def meanings(self, i: int) -> np.ndarray:
        """The meanings."""
        return observed_groups(self.table, np.array([i]), self.space)

    def louvain(self, i: int, resolution: float) -> np.ndarray:
        """The communities of the ties among the associates."""
        near = self.near(i)
        graph = nx.from_scipy_sparse_array(sparse.csr_array(self.both[near][:, near]))
        labels = np.zeros(len(near), np.int64)
        found = nx.community.louvain_communities(graph, resolution=resolution, seed=0)
        for k, members in enumerate(found):
            labels[list(members)] = k
        return labels

    def ward(self, i: int) -> np.ndarray:
        """Ward's groups of the associates' directions, as many as the silhouette favours."""
        near = self.directions[self.near(i)]
        choices = [
            AgglomerativeClustering(k).fit_predict(near) for k in range(2, min(5, len(near)))
        ]
        scores = [silhouette_score(near, labels) for labels in choices]
        return choices[int(np.argmax(scores))] if choices else np.zeros(len(near), np.int64)

    def partition(self, homonyms: Homonyms, method: Callable[[int], np.ndarray]) -> Partition:
        """The groups of the coded associates; those outside the table are in the largest group."""
        partition = {}
        for word, associates in homonyms.associates.items():
            i = self.index[word]
            place = {other: k for k, other in enumerate(self.near(i).tolist())}
            codes = np.unique(method(i), return_inverse=True)[1]
            strengths = self.table.data[self.table.indptr[i] : self.table.indptr[i + 1]]
            largest = int(np.bincount(codes, strengths).argmax())
            places = [place.get(self.index.get(other, -1), -1) for other in associates]
            partition[word] = np.array([largest if k < 0 else codes[k] for k in places])
        return partition


def induced(homonyms: Homonyms, partition: Partition, words: list[str]) -> float:
    """B-cubed F over some words, from the numbers of associates per meaning and group.

    The precision is the mean share of an associate's group that has its meaning, and the recall is
    the mean share of its meaning that is in its group.
    """
    rows = []
    for word in words:
        meanings, groups = (
            np.unique(part[word], return_inverse=True)[1]
            for part in (homonyms.columns["meaning"], partition)
        )
        table = np.zeros((meanings.max() + 1, groups.max() + 1))
        np.add.at(table, (meanings, groups), 1)
        if len(table) > 1:
            squares = table**2 / table.sum()
            rows.append([(squares / table.sum(axis=k, keepdims=True)).sum() for k in (0, 1)])
    precision, recall = np.mean(rows, axis=0)
    return float(2 * precision * recall / (precision + recall))


def largest_shares(homonyms: Homonyms, partition: Partition) -> np.ndarray:
    """The response share of the largest group of each word."""
    shares = []
    for word, strengths in homonyms.strengths.items():
        codes = np.unique(partition[word], return_inverse=True)[1]
        sums = np.bincount(codes, strengths)
        # Of one group this is exactly 1, so that ranks are equal.
        shares.append(sums.max() / sums.sum())
    return np.array(shares)


class Scores(NamedTuple):
    """The measures of a partition, as the module docstring defines them."""

    f: float
    f3: float
    rho: float
    control: float
    split_single: float
    split_several: float


def scores_of(homonyms: Homonyms, partition: Partition, n_shuffles: int) -> Scores:
    """Compare a partition with the consensus of the raters."""
    second = {word: homonyms.second_size(word) for word in homonyms.associates}
    several = [word for word, size in second.items() if size > 0]
    truth = largest_shares(homonyms, homonyms.columns["meaning"])
    n_groups = {word: len(set(labels.tolist())) for word, labels in partition.items()}
    rng = np.random.default_rng(0)
    shuffled = [
        {word: rng.permutation(labels) for word, labels in partition.items()}
        for _ in range(n_shuffles)
    ]
    rhos = []
    for part in (partition, *shuffled):
        shares = largest_shares(homonyms, part)
        rhos.append(spearmanr(truth, shares)[0] if np.ptp(shares) > 0 else np.nan)
    return Scores(
        induced(homonyms, partition, several),
        induced(homonyms, partition, [word for word, size in second.items() if size >= 3]),
        rhos[0],
        float(np.mean(rhos[1:])),
        float(np.mean([n_groups[word] > 1 for word, size in second.items() if size == 0])),
        float(np.mean([n_groups[word] > 1 for word in several])),
    )


def gain(homonyms: Homonyms, partition: Partition, one: Partition, n_samples: int) -> str:
    """The gain in F over one cluster, with its 95 % interval over resampled words."""
    words = [word for word in homonyms.associates if homonyms.second_size(word)]
    rng = np.random.default_rng(0)
    values = []
    for _ in range(n_samples):
        drawn = [words[k] for k in rng.integers(len(words), size=len(words))]
        values.append(induced(homonyms, partition, drawn) - induced(homonyms, one, drawn))
    low, high = np.quantile(values, [0.025, 0.975])
    value = induced(homonyms, partition, words) - induced(homonyms, one, words)
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


def methods_of(homonyms: Homonyms, network: Network) -> Iterator[tuple[str, Partition]]:
    """Each method's name and its partition."""
    for name, method in {
        "one cluster": lambda i: np.zeros(len(network.near(i)), np.int64),
        "Louvain, 0.5": partial(network.louvain, resolution=0.5),
        "Louvain, 1": partial(network.louvain, resolution=1.0),
        "Ward": network.ward,
        "fine groups": network.fine,
        "meanings": network.meanings,
    }.items():
        yield name, network.partition(homonyms, method)
    yield "singletons", {word: np.arange(len(own)) for word, own in homonyms.associates.items()}
    yield "dictionary", homonyms.columns["algorithm"]
    for name in RATERS:
        yield name, homonyms.columns[name]


def show_scores(homonyms: Homonyms, network: Network, n_shuffles: int, n_samples: int) -> None:
    """Print a line per method, and the gain of the meanings over one cluster."""
    second = [homonyms.second_size(word) for word in homonyms.associates]
    n_several, n_large = sum(size > 0 for size in second), sum(size >= 3 for size in second)
    print(f"{len(second)} homonyms, {n_several} with several meanings, {n_large} of them in F3")
    print("method            F     F3    rho  shuffled  split: single  several")
    partitions = dict(methods_of(homonyms, network))
    for name, partition in partitions.items():
        one = scores_of(homonyms, partition, n_shuffles)
        print(
            f"{name:14s}  {one.f:.3f}  {one.f3:.3f}  {one.rho:5.2f}  {one.control:8.2f}  "
            f"{one.split_single:13.2f}  {one.split_several:7.2f}",
            flush=True,
        )
    found = gain(homonyms, partitions["meanings"], partitions["one cluster"], n_samples)
    print(f"gain in F of meanings over one cluster, 95 % interval over words: {found}")


def networks() -> Iterator[tuple[str, mm.Associations]]:
    """The networks in which the share of split words is listed."""
    norms = mm.read_associations(NORMS)
    yield "USF", norms
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "all_responses.tsv")
        singles = NORMS.with_name("usf_idiosyncratic.tsv.gz")
        with (
            gzip.open(NORMS, "rt", encoding="utf-8") as first,
            gzip.open(singles, "rt", encoding="utf-8") as rest,
        ):
            rows = ["\t".join(line.rstrip().split("\t")[:3]) for line in first]
            file.write_text(
                "\n".join([*rows, *(line.rstrip() for line in list(rest)[1:])]) + "\n",
                encoding="utf-8",
            )
        yield "USF with single responses", mm.read_associations(file, self_pairs="drop")
    yield "USF, 30 responses per cue", mm.resampled(norms, 0, n_responses=30)
    for model in ("mistral", "haiku"):
        # Each undirected edge is listed once; the words are those with the most neighbours.
        edges = pd.read_csv(DATA / "lwow" / f"{model}_edges.csv.gz", keep_default_na=False)
        turned = edges.rename(columns={"src": "tgt", "tgt": "src"})
        edges = pd.concat([edges, turned])[edges.columns]
        edges = edges[edges["src"] != edges["tgt"]]
        words = edges["src"].value_counts().index[:4000]
        edges = edges[edges["src"].isin(words) & edges["tgt"].isin(words)]
        yield (
            f"LWOW, {model}, 4,000 words",
            mm.associations_from(edges, cue="src", response="tgt", strength="wt"),
        )
    yield "WordNet relations", mm.load_word_relations()


def show_networks() -> None:
    """Print the shares of words with several meanings in each network."""
    print("\nnetwork                      words  several meanings  with 5 % or more  seconds")
    for name, norms in networks():
        start = time.perf_counter()
        table = strongest_associations(norms.strengths)
        words = np.flatnonzero(np.diff(table.indptr))
        groups = observed_groups(table, words, meaning_space(table, norms.labels))
        seconds = time.perf_counter() - start
        near = table[words]
        owners = np.repeat(np.arange(len(words)), np.diff(near.indptr))
        keys, codes = np.unique(np.stack([owners, groups]), axis=1, return_inverse=True)
        shares = np.bincount(codes.ravel(), near.data)
        shares /= np.bincount(keys[0], shares)[keys[0]]
        several = np.bincount(keys[0]) > 1
        listed = np.bincount(keys[0], shares >= 0.05) > 1
        print(
            f"{name:27s}  {len(words):5,}  {several.mean():16.2f}  {listed.mean():16.2f}  "
            f"{seconds:7.1f}",
            flush=True,
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Compare meanings with those of raters.")
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="the first table, few shuffles")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.shuffles, arguments.samples = 5, 20
    missing = [path for path in (NORMS, HOMONYMS) if not path.exists()]
    if missing:
        print(f"no {missing[0]}: set MANYMAPS_DATA to the folder of real data; nothing done")
        return
    network = Network(mm.read_associations(NORMS))
    show_scores(read_homonyms(), network, arguments.shuffles, arguments.samples)
    if not arguments.quick:
        show_networks()


if __name__ == "__main__":
    main()
