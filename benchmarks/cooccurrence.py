"""CODE compared with plain autograd and correspondence analysis: time, memory, likelihood.

    python benchmarks/cooccurrence.py [--words 2000 20000] [--dims 2 5 50] [--million 2 10]
    python benchmarks/cooccurrence.py --held-out [--words 2000] [--dims 2 3 5 10 20 50]

The data are 20 Newsgroups, all posts by the most frequent words after the first 100 (from
MANYMAPS_DATA). Each program runs in a process of its own, with the same number of threads:

    manymaps   CODE(n_components=d, penalty=0, random_state=0), to convergence
    torch      the same likelihood as a dense table of distances, float32, autograd, torch's L-BFGS
               with a strong Wolfe line search, from the same start, 20 iterations
    ca         manymaps.correspondence_analysis, sparse
    prince     prince's correspondence analysis, which makes the table dense

`--million` adds a synthetic table of 1,000,000 rows, 20,000 columns and 63 million counts, about 50
million of them stored, for manymaps only, in these dimensions. Programs that make tables dense are
omitted if that would take many gigabytes. In more than two dimensions, fits end after 100
iterations (2 for the million rows). There most posts choose only words at the edge, and the
likelihood continues to rise as they drift outwards. Seconds are those of the fit, without imports
and reading, and the peak is that of the whole process. "likelihood" is the mean log p(y|x) of a
count, and "each" is the seconds per evaluation of cost and gradient.

`--held-out` fits nine tenths of the counts without a size penalty and with the best of a few
penalties. The best is chosen on half of the other counts after 50 iterations, and then fitted to
convergence. "held out" is the mean log p(y|x) of the other half.
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
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from manymaps import CODE

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
COUNTS = DATA / "newsgroups20" / "20news_bydate_counts.npz"
FREQUENT, POSTS = 100, 18_846
TORCH_CELLS, PRINCE_CELLS = 1e8, 5e8
FEW_ITERATIONS = 100
MILLION_ITERATIONS = 2
MILLION = (1_000_000, 20_000, 63_000_000)
GROUPS = 100
TORCH_STEPS = 20
PENALTIES = (0.01, 0.03, 0.1, 0.3)
CHOOSING_ITERATIONS = 50


def newsgroups(words: int) -> sparse.csr_array:
    """Read posts by words; posts without any of the words are omitted."""
    with np.load(COUNTS) as file:
        parts = file["counts"].astype(float), file["indices"], file["indptr"]
        table = sparse.csr_array(parts, shape=(len(file["indptr"]) - 1, len(file["vocab"])))
    order = np.argsort(-np.asarray(table.sum(axis=0)).ravel(), kind="stable")
    table = table[:, order[FREQUENT : FREQUENT + words]]
    table.sort_indices()
    return table[np.asarray(table.sum(axis=1)).ravel() > 0]


def million() -> sparse.csr_array:
    """Generate rows of 100 groups that prefer their own columns; shares of columns fall as 1/k."""
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


def timed_fit(
    table: sparse.csr_array, d: int, iterations: int, penalty: float = 0.0
) -> tuple[CODE, dict[str, float]]:
    """Fit CODE of this package, and time the fit and each of its evaluations."""
    import manymaps as mm
    from manymaps.model.objective import Objective

    # Posts whose words all lie on the rim of the map, which a benchmark need not tell.
    warnings.simplefilter("ignore", mm.DataWarning)
    spans, evaluate = [], Objective.evaluate

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return evaluate(*arguments, **options)
        finally:
            spans.append(time.perf_counter() - start)

    start = time.perf_counter()
    with patch.object(Objective, "evaluate", timed):
        fit = mm.CODE(d, penalty=penalty, random_state=0, max_iter=iterations).fit(table)
    return fit, {
        "seconds": time.perf_counter() - start,
        "iterations": fit.n_iter_,
        "evaluations": len(spans),
        "each": float(np.median(spans)),
        "converged": fit.converged_,
        "likelihood": fit.log_likelihood_,
    }


def with_manymaps(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """Fit CODE of this package."""
    return timed_fit(table, d, iterations)[1]


def held_out(table: sparse.csr_array, d: int, iterations: int) -> list[dict[str, float]]:
    """Fit CODE to nine tenths of the counts, without a penalty and with the best of a few."""
    rng = np.random.default_rng(0)
    drawn = rng.binomial(table.data.astype(np.int64), 0.1)
    half = rng.binomial(drawn, 0.5)
    kept, choosing, told = (
        sparse.csr_array((values.astype(float), table.indices, table.indptr), table.shape)
        for values in (table.data - drawn, half, drawn - half)
    )
    timed_fit(kept, d, 1)  # whatever is compiled is compiled now
    scores = {
        penalty: timed_fit(kept, d, CHOOSING_ITERATIONS, penalty)[0].score(choosing)
        for penalty in PENALTIES
    }
    lines = []
    for penalty in (0.0, max(scores, key=scores.__getitem__)):
        few = iterations if penalty or d <= 2 else FEW_ITERATIONS
        fit, found = timed_fit(kept, d, few, penalty)
        lines.append({**found, "penalty": penalty, "held_out": fit.score(told)})
    return lines


def with_torch(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """Maximize the likelihood directly by automatic differentiation."""
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
    """Compute correspondence analysis of this package."""
    import manymaps as mm

    start = time.perf_counter()
    axes = mm.correspondence_analysis(table, d)
    return {"seconds": time.perf_counter() - start, "inertia": float(axes.inertia.sum())}


def with_prince(table: sparse.csr_array, d: int, iterations: int) -> dict[str, float]:
    """Compute correspondence analysis of prince."""
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
    """Run the work of one process, which prints its results as JSON."""
    table = million() if words == "million" else newsgroups(int(words))
    if program == "held out":
        print(json.dumps(held_out(table, d, iterations)))
        return
    found = PROGRAMS[program](table, d, iterations)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    shape = {"rows": table.shape[0], "columns": table.shape[1], "stored": table.nnz}
    print(json.dumps({**found, **shape, "peak": peak}))


def run(program: str, words: str, d: int, iterations: int) -> Any:
    """Return the results of a separate process, or the last line of its error."""
    command = [sys.executable, __file__, "--work", program, words, str(d), str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return json.loads(done.stdout)


def line(program: str, d: int, found: dict | str) -> str:
    """Format one line of the table."""
    if isinstance(found, str):
        return f"{program:9} {d:4}  {found[:80]}"
    end = (
        f"{found['iterations']:10} {'yes' if found['converged'] else 'no':>9} "
        f"{found['likelihood']:10.4f} {found.get('each', np.nan):7.3f}"
        if "iterations" in found
        else f"inertia {found['inertia']:.4f}"
    )
    return f"{program:9} {d:4} {found['seconds']:8.1f} {found['peak']:8.2f} {end}"


def tell_held_out(words: int, dims: list[int], iterations: int) -> None:
    """Print the table of held-out counts."""
    print(f"\n{words}, a tenth of the counts held out: {os.cpu_count()} cores")
    print("dims penalty    each evaluations  seconds converged likelihood   held out")
    for d in dims:
        found = run("held out", str(words), d, iterations)
        for fit in [found] if isinstance(found, str) else found:
            print(
                f"{d:4} {fit['penalty']:7g} {fit['each']:7.4f} {fit['evaluations']:11} "
                f"{fit['seconds']:8.1f} {'yes' if fit['converged'] else 'no':>9} "
                f"{fit['likelihood']:10.4f} {fit['held_out']:10.4f}"
                if isinstance(fit, dict)
                else f"{d:4} {fit[:80]}",
                flush=True,
            )


def main() -> None:
    """Print a table for each number of words."""
    parser = argparse.ArgumentParser(description="CODE and its peers on count tables.")
    parser.add_argument("--words", type=int, nargs="*", default=[2000, 20000], metavar="N")
    parser.add_argument("--dims", type=int, nargs="+", metavar="D")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--million", type=int, nargs="*", default=[], metavar="D")
    parser.add_argument("--held-out", action="store_true")
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
        "    each"
    )
    if arguments.held_out:
        for words in arguments.words[:1]:
            tell_held_out(words, arguments.dims or [2, 3, 5, 10, 20, 50], arguments.iterations)
        return
    sizes = [str(words) for words in arguments.words] + ["million"] * bool(arguments.million)
    for words in sizes:
        print(f"\n{words}: {os.cpu_count()} cores\n{head}", flush=True)
        for d in arguments.million if words == "million" else arguments.dims or [2, 5, 50]:
            cells = 0.0 if words == "million" else POSTS * float(words)
            few = MILLION_ITERATIONS if words == "million" else FEW_ITERATIONS
            iterations = arguments.iterations if d <= 2 else few
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
