"""What kernels between Cauchy and Gaussian show of associations: explained share and visibility.

    python benchmarks/kernels.py [--data usf lwow] [--seeds 0] [--degrees 1 2 4 8 inf]
                                 [--penalties 0 0.001 0.01] [--powers 0] [--iterations 500]

One line per data set and setting, with means over the seeds. A power is the option `popularity`. A
power above 0 adds fixed factors to the model, q(j|i) ~ b_j v_ij, where b_j is the response share of
j to this power. The columns are:

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
import itertools
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from starts import DATA, LEAST, NORMS, strongest, visible

import manymaps as mm
from manymaps.analysis.reliability import mean_explained

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
        mean_explained(atlas),
        visible(atlas, data.strengths),
        float(np.median(atlas.choices.row_shares(*strongest(data.strengths)))),
        span(atlas),
        float(atlas.parameters["kl_divergence"]),
    )


def line(data: mm.Associations, seeds: list[int], **settings: float) -> str:
    """Return one line of the table: the mean over the seeds, and the seconds per fit."""
    start = time.perf_counter()
    fits = [mm.MultipleMapsTSNE(random_state=seed, **settings).fit(data) for seed in seeds]
    seconds = (time.perf_counter() - start) / len(fits)
    rows = [figures(fit.atlas_, data) for fit in fits]
    share, seen, probability, width, kl = np.mean(rows, axis=0)
    return f"{share:9.3f}  {seen:7.3f}  {probability:9.3f}  {width:5.1f}  {kl:5.3f}  {seconds:7.0f}"


def main() -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description="Compare kernels on associations.")
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--degrees", type=float, nargs="+", default=[1, 2, 4, 8, np.inf])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0, 0.001, 0.01])
    parser.add_argument("--powers", type=float, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int, default=500)
    arguments = parser.parse_args()
    for name in arguments.data:
        read, n_maps = SETS[name]
        data = read()
        print(f"\n{name}: {data.n_objects} words, {data.n_pairs} pairs, {n_maps} maps")
        print("degrees  penalty  power  explained  visible  strongest   span     KL  seconds")
        for degrees, penalty, power in itertools.product(
            arguments.degrees, arguments.penalties, arguments.powers
        ):
            columns = line(
                data, arguments.seeds, n_maps=n_maps, penalty=penalty, popularity=power,
                degrees_of_freedom=degrees, max_iter=arguments.iterations,
            )  # fmt: skip
            print(f"{degrees:7g}  {penalty:7g}  {power:5g}  {columns}", flush=True)


if __name__ == "__main__":
    main()
