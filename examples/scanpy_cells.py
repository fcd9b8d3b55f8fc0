"""Cells in scanpy: maps stored in AnnData, compared with scanpy's own t-SNE.

    python examples/scanpy_cells.py [--quick] [--page cells.html] [-o cells.h5ad]

The script uses `manymaps.anndata` in a session with scanpy. The tables are available offline:
`pbmc68k_reduced` (700 blood cells, 50 principal components), which is part of scanpy, the digits of
scikit-learn (1,797 x 64), and `scanpy.datasets.blobs` (5,000 points in 12 clouds), which is drawn.

On each table, t-SNE is run by `scanpy.tl.tsne` (scikit-learn's, Barnes-Hut) and by
`manymaps.anndata.tsne`, both with defaults, at perplexity 30. The script prints seconds and
KL(P || Q), summed over all pairs in float64 for the same P of exact neighbours. It also prints the
share of each object's ten nearest rows that are among its ten nearest in the map. The first run of
manymaps compiles; it is made on a few rows and not counted. Then the script fits two maps of the
blood cells, prints their captions, and writes their page.

Requires scanpy (`pip install scanpy`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import manymaps.anndata as maps_of
from manymaps import write_page
from manymaps.affinity import GaussianAffinity
from manymaps.metrics import kl_divergence, mu_local
from manymaps.metrics.spaces import MapSpace
from manymaps.model.target import joint_target

PERPLEXITY = 30


def tables(quick: bool) -> Iterator[tuple[str, Any]]:
    """Yield name and AnnData of each table."""
    import anndata
    import scanpy as sc
    from sklearn.datasets import load_digits

    yield "pbmc68k_reduced", sc.datasets.pbmc68k_reduced()
    if not quick:
        digits = load_digits()
        yield "digits", anndata.AnnData(digits.data, obsm={"X_pca": digits.data})
        blobs = sc.datasets.blobs(n_variables=30, n_centers=12, n_observations=5000)
        yield "blobs", anndata.AnnData(blobs.X, obsm={"X_pca": blobs.X})


def timed(fit: Callable[[], object]) -> float:
    """Measure the seconds of a call."""
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def compare(name: str, adata: Any) -> None:
    """Print a line for scanpy's t-SNE of a table, and one for ours."""
    import scanpy as sc

    x = adata.obsm["X_pca"]
    target = joint_target(GaussianAffinity(PERPLEXITY).similarities(x), average=True)
    fits = {
        "scanpy": ("X_tsne", lambda: sc.tl.tsne(adata, use_rep="X_pca", perplexity=PERPLEXITY)),
        "manymaps": (
            "X_manymaps_tsne",
            lambda: maps_of.tsne(adata, use_rep="X_pca", perplexity=PERPLEXITY),
        ),
    }
    for who, (key, fit) in fits.items():
        seconds = timed(fit)
        positions = adata.obsm[key]
        kl = kl_divergence(target, MapSpace(positions[None]))
        near = mu_local(x, positions, k=10)
        shape = f"{x.shape[0]:,} x {x.shape[1]}"
        print(f"{name:<16} {shape:>12}  {who:<9} {seconds:>8.2f}  {kl:>7.4f}  {near.mean:>7.3f}")


def two_maps(adata: Any, iterations: int) -> None:
    """Fit two maps, and print what they contain."""
    maps_of.multiple_maps(adata, 2, max_iter=iterations)
    said = adata.uns["X_manymaps"]
    held = adata.obsm["X_manymaps_proportions"]
    print(f"\nTwo maps of the blood cells, {said['n_iter']} iterations:")
    for m, typical in enumerate(said["captions"]):
        print(f"  map {m}: {held[:, m].sum():.0f} cells' worth; typical: {typical}")
    alone = (held.max(axis=1) > 0.9).mean()
    print(f"  {alone:.0%} of the cells have more than nine tenths of them in one map")


def main() -> None:
    """Compare both programs, then print the captions of the maps of cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest table, short fits")
    parser.add_argument("--page", type=Path, help="write the page of the two maps here")
    parser.add_argument("-o", "--output", type=Path, help="write the AnnData here")
    options = parser.parse_args()
    # scanpy and what it builds on warn of their own coming changes.
    warnings.simplefilter("ignore")
    import scanpy as sc

    cells = sc.datasets.pbmc68k_reduced()
    maps_of.tsne(cells, max_iter=20)
    print(
        f"{'table':<16} {'rows':>12}  {'t-SNE by':<9} {'seconds':>8}  {'KL':>7}  {'nearest10':>9}"
    )
    for name, adata in tables(options.quick):
        compare(name, adata)
    two_maps(cells, 60 if options.quick else 1000)
    if options.page:
        atlas = maps_of.to_atlas(cells, "X_manymaps")
        write_page(atlas, options.page, color="bulk_labels", noun="cell")
    if options.output:
        cells.write_h5ad(options.output)


if __name__ == "__main__":
    main()
