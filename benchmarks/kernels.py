"""What kernels between Cauchy and Gaussian show of associations: explained share and visibility.

    python benchmarks/kernels.py [--data usf lwow] [--seeds 0] [--degrees 1 2 4 8 inf]
                                 [--penalties 0 0.001 0.01] [--iterations 500]

One line per data set, degrees of freedom and penalty, with means over the seeds:

    explained  mean over cues of sum_j min(p_ij, q_ij)
    visible    share of cues whose strongest associate is among the 10 nearest dots in a map
    strongest  median probability of the strongest associate under the model
    span       mean width of a map without the outermost 2 % of the dots on each side, in kernel
               widths
    KL         nats per cue

Data: the USF norms in 40 maps, and 3,891 well-connected words of the Mistral norms of LWOW in 20
maps. The latter are what remains if words with fewer than k associates among the rest are removed,
for a rising k, until at most 4,000 are left; each row is divided by its sum. Both are read from
MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from starts import DATA, LEAST, NORMS, strongest, visible

import manymaps as mm

LWOW = DATA / "lwow" / "mistral_edges.csv.gz"
MOST_WORDS = 4_000


def lwow() -> mm.Associations:
    """Return the best connected words of the Mistral norms."""
    with gzip.open(LWOW, "rt", encoding="utf-8", newline="") as lines:
        edges = [(row["src"], row["tgt"], float(row["wt"])) for row in csv.DictReader(lines)]
    words = sorted({word for edge in edges for word in edge[:2]})
    index = {word: i for i, word in enumerate(words)}
    rows, columns = ([index[edge[side]] for edge in edges] for side in (0, 1))
    weights = sparse.coo_array(([edge[2] for edge in edges], (rows, columns)), (len(words),) * 2)
    table = sparse.csr_array(weights + weights.T)
    kept = np.arange(len(words))
    least = 2
    while len(kept) > MOST_WORDS:
        enough = np.diff(table.indptr) >= least
        least += int(enough.all())
        kept, table = kept[enough], sparse.csr_array(table[enough][:, enough])
    rows_of_one = sparse.diags_array(1 / table.sum(axis=1)) @ table
    return mm.Associations([words[i] for i in kept], sparse.csr_array(rows_of_one))


SETS: dict[str, tuple[Callable[[], mm.Associations], int]] = {
    "usf": (lambda: mm.read_associations(NORMS), 40),
    "lwow": (lwow, 20),
}


def explained(atlas: mm.Atlas, strengths: sparse.csr_array) -> float:
    """Return the mean over cues of sum_j min(p_ij, q_ij), with p divided by its row sums."""
    cues = np.repeat(np.arange(atlas.n_objects), np.diff(strengths.indptr))
    sums = np.bincount(cues, strengths.data, atlas.n_objects)
    q = atlas.choices.row_shares(cues, strengths.indices)
    p = strengths.data / sums[cues]
    return float(np.minimum(p, q).sum() / np.count_nonzero(sums))


def probability_of_strongest(atlas: mm.Atlas, strengths: sparse.csr_array) -> float:
    """Return the median probability of the strongest associate under the model."""
    return float(np.median(atlas.choices.row_shares(*strongest(strengths))))


def span(atlas: mm.Atlas) -> float:
    """Return the mean width of the maps, from the 2nd to the 98th percentile of their dots."""
    widths = []
    for points, held in zip(atlas.maps, atlas.proportions, strict=True):
        ends = np.percentile(points[held >= LEAST], [2, 98], axis=0)
        widths.append((ends[1] - ends[0]).max())
    return float(np.mean(widths))


def figures(atlas: mm.Atlas, data: mm.Associations) -> tuple[float, ...]:
    """Return the columns of the table for one fit."""
    return (
        explained(atlas, data.strengths),
        visible(atlas, data.strengths),
        probability_of_strongest(atlas, data.strengths),
        span(atlas),
        float(atlas.parameters["kl_divergence"]),
    )


def main() -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description="Compare kernels on associations.")
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--degrees", type=float, nargs="+", default=[1, 2, 4, 8, np.inf])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0, 0.001, 0.01])
    parser.add_argument("--iterations", type=int, default=500)
    arguments = parser.parse_args()
    for name in arguments.data:
        read, n_maps = SETS[name]
        data = read()
        print(f"\n{name}: {data.n_objects} words, {data.n_pairs} pairs, {n_maps} maps")
        print("degrees  penalty  explained  visible  strongest   span     KL  seconds")
        for degrees in arguments.degrees:
            for penalty in arguments.penalties:
                start = time.perf_counter()
                rows = [
                    figures(
                        mm.MultipleMapsTSNE(
                            n_maps, degrees_of_freedom=degrees, penalty=penalty,
                            max_iter=arguments.iterations, random_state=seed,
                        ).fit(data).atlas_,
                        data,
                    )
                    for seed in arguments.seeds
                ]  # fmt: skip
                seconds = (time.perf_counter() - start) / len(rows)
                share, seen, probability, width, kl = np.mean(rows, axis=0)
                print(
                    f"{degrees:7g}  {penalty:7g}  {share:9.3f}  {seen:7.3f}  {probability:9.3f}  "
                    f"{width:5.1f}  {kl:5.3f}  {seconds:7.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
