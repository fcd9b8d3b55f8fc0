"""CODE beside plain autograd and correspondence analysis: time, memory, likelihood.

    python benchmarks/cooccurrence.py [--words 2000 20000] [--dims 2 5 50] [--million]

20 Newsgroups, all posts by the most frequent words after the first 100 (needs the counts in
MANYMAPS_DATA). Each program runs in a process of its own, with as many threads as the others:

    manymaps   CODE(n_components=d, random_state=0).fit(counts), to convergence
    torch      the same likelihood as a dense table of distances, float32, autograd, torch's L-BFGS
               with a strong Wolfe line search, from the same start, 20 iterations
    ca         manymaps.correspondence_analysis, sparse
    prince     prince's correspondence analysis, which makes the table dense

`--million` adds a synthetic table of 1,000,000 rows, 20,000 columns and 63 million counts, some 50
million of them stored, by manymaps alone. Programs that make tables dense are left out where that
would take many gigabytes. In more than two dimensions fits end after 100 iterations: there most
posts choose the rim of the words alone, and the likelihood goes on rising as they drift outwards.
Seconds are of the fit, without imports and the reading of the table; peak is of the whole process;
"likelihood" is the mean log p(y|x) of a count.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
COUNTS = DATA / "newsgroups20" / "20news_bydate_counts.npz"
FREQUENT, POSTS = 100, 18_846
TORCH_CELLS, PRINCE_CELLS = 1e8, 5e8
FEW_ITERATIONS = 100
MILLION = (1_000_000, 20_000, 63_000_000)
GROUPS = 100
TORCH_STEPS = 20


def newsgroups(words: int) -> sparse.csr_array:
    """Posts by words; posts without any of them are left out."""
    with np.load(COUNTS) as file:
        parts = file["counts"].astype(float), file["indices"], file["indptr"]
        table = sparse.csr_array(parts, shape=(len(file["indptr"]) - 1, len(file["vocab"])))
    order = np.argsort(-np.asarray(table.sum(axis=0)).ravel(), kind="stable")
    table = table[:, order[FREQUENT : FREQUENT + words]]
    table.sort_indices()
    return table[np.asarray(table.sum(axis=1)).ravel() > 0]


def million() -> sparse.csr_array:
    """Rows of 100 groups, each of which prefers columns of its own; columns' shares fall as 1/k."""
    n_rows, n_columns, n_counts = MILLION
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, n_columns + 1)
    per_row, block = n_counts // n_rows, n_rows // GROUPS
    parts = []
    for _ in range(GROUPS):
        own = shares * np.where(rng.random(n_columns) < 1 / GROUPS, 30.0, 1.0)
        edges = np.cumsum(own) / own.sum()
        drawn = np.searchsorted(edges, rng.random(block * per_row)).clip(max=n_columns - 1)
        indptr = np.arange(0, block * per_row + 1, per_row)
        part = sparse.csr_array((np.ones(len(drawn)), drawn, indptr), (block, n_columns))
        part.sum_duplicates()
        parts.append(part)
    return sparse.vstack(parts, format="csr")


def with_manymaps(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """CODE of this package."""
    import manymaps as mm

    # Posts whose words all lie on the rim of the map, which a benchmark need not tell.
    warnings.simplefilter("ignore", mm.DataWarning)
    start = time.perf_counter()
    fit = mm.CODE(d, random_state=0, max_iter=iterations).fit(table)
    return {
        "seconds": time.perf_counter() - start,
        "iterations": fit.n_iter_,
        "converged": fit.converged_,
        "likelihood": fit.log_likelihood_,
    }


def with_torch(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """The likelihood as one would write it down, by automatic differentiation."""
    import torch

    from manymaps.cooccurrence.starts import start_parameters
    from manymaps.data.counts import Counts

    torch.set_num_threads(os.cpu_count() or 1)
    counts = Counts(table)
    whole = tuple(np.arange(n) for n in table.shape)
    begin = start_parameters(counts, "ca", (1, d), np.random.default_rng(0), fitted=whole)
    start = time.perf_counter()
    rows, columns = (torch.tensor(part[0], requires_grad=True) for part in begin.positions)
    pairs = table.tocoo()
    at = torch.tensor(np.array([pairs.row, pairs.col]))
    p = torch.tensor(pairs.data / pairs.data.sum(), dtype=torch.float32)
    margin = torch.tensor(table.sum(axis=0) / table.sum(), dtype=torch.float32)
    row_mass = torch.tensor(table.sum(axis=1) / table.sum(), dtype=torch.float32)
    optimizer = torch.optim.LBFGS(
        [rows, columns], max_iter=iterations, history_size=20, line_search_fn="strong_wolfe",
        tolerance_grad=1e-9, tolerance_change=1e-10,
    )  # fmt: skip

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        d2 = (rows**2).sum(1)[:, None] + (columns**2).sum(1) - 2 * rows @ columns.T
        log_z = torch.logsumexp(margin.log() - d2, dim=1)
        value = (p * ((rows[at[0]] - columns[at[1]]) ** 2).sum(1)).sum() + row_mass @ log_z
        value.backward()
        return value

    optimizer.step(cost)
    seconds = time.perf_counter() - start
    constant = float(p.double() @ margin.double().log()[at[1]])
    done = optimizer.state[optimizer._params[0]]["n_iter"]
    return {
        "seconds": seconds,
        "iterations": done,
        "converged": done < iterations,
        "likelihood": constant - float(cost()),
    }


def with_ca(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """Correspondence analysis of this package."""
    import manymaps as mm

    start = time.perf_counter()
    axes = mm.correspondence_analysis(table, d)
    return {"seconds": time.perf_counter() - start, "inertia": float(axes.inertia.sum())}


def with_prince(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """Correspondence analysis of prince."""
    import pandas as pd
    import prince

    start = time.perf_counter()
    fitted = prince.CA(n_components=d, random_state=0).fit(pd.DataFrame(table.toarray()))
    return {"seconds": time.perf_counter() - start, "inertia": float(fitted.eigenvalues_.sum())}


PROGRAMS = {
    "manymaps": with_manymaps,
    "torch": with_torch,
    "ca": with_ca,
    "prince": with_prince,
}


def work(program: str, words: str, d: int, iterations: int) -> None:
    """What one process does: it prints its figures as JSON."""
    table = million() if words == "million" else newsgroups(int(words))
    found = PROGRAMS[program](table, d, iterations)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    shape = {"rows": table.shape[0], "columns": table.shape[1], "stored": table.nnz}
    print(json.dumps({**found, **shape, "peak": peak}))


def run(program: str, words: str, d: int, iterations: int) -> dict | str:
    """The figures of a process of its own, or the last line of its error."""
    command = [sys.executable, __file__, "--work", program, words, str(d), str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return json.loads(done.stdout)


def line(program: str, d: int, found: dict | str) -> str:
    """One line of the table."""
    if isinstance(found, str):
        return f"{program:9} {d:4}  {found[:80]}"
    end = (
        f"{found['iterations']:10} {'yes' if found['converged'] else 'no':>9} "
        f"{found['likelihood']:10.4f}"
        if "iterations" in found
        else f"inertia {found['inertia']:.4f}"
    )
    return f"{program:9} {d:4} {found['seconds']:8.1f} {found['peak']:8.2f} {end}"


def main() -> None:
    """Print a table for each number of words."""
    parser = argparse.ArgumentParser(description="CODE and its peers on count tables.")
    parser.add_argument("--words", type=int, nargs="*", default=[2000, 20000], metavar="N")
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 50], metavar="D")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        program, words, d, iterations = arguments.work
        work(program, words, int(d), int(iterations))
        return
    if arguments.words and not COUNTS.exists():
        sys.exit(f"no counts at {COUNTS}; set MANYMAPS_DATA to the folder of real data")
    head = (
        f"{'program':9} {'dims':>4} {'seconds':>8} {'peak GB':>8} iterations converged likelihood"
    )
    sizes = [str(words) for words in arguments.words] + ["million"] * arguments.million
    for words in sizes:
        print(f"\n{words}: {os.cpu_count()} cores\n{head}", flush=True)
        for d in (2,) if words == "million" else arguments.dims:
            cells = 0.0 if words == "million" else POSTS * float(words)
            iterations = arguments.iterations if d <= 2 else FEW_ITERATIONS
            print(line("manymaps", d, run("manymaps", words, d, iterations)), flush=True)
            if words == "million":
                continue
            if cells < TORCH_CELLS:
                print(line("torch", d, run("torch", words, d, TORCH_STEPS)), flush=True)
            print(line("ca", d, run("ca", words, d, 0)), flush=True)
            if cells < PRINCE_CELLS:
                print(line("prince", d, run("prince", words, d, 0)), flush=True)


if __name__ == "__main__":
    main()
