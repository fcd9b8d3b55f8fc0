"""Fits of the USF norms that the validations share.

A fit is read from the folder of --fits if it is there, and written to it otherwise, so that the
validations need each fit once. A file is named by method, number of maps and seed, such as
usf_mm-tsne_40_0.atlas.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import manymaps as mm

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"
METHODS = {
    "mm-tsne": mm.MultipleMapsTSNE,
    "mm-sne": mm.MultipleMapsSNE,
}
#: Methods, numbers of maps and seeds.
Settings = Sequence[tuple[str, int, Sequence[int]]]
N_BOOTSTRAP = 2000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all validations have."""
    parser.add_argument("--fits", type=Path, metavar="DIR", help="folder of the fits")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--quick", action="store_true", help="one short fit, to try the script")


def read_norms() -> mm.Associations | None:
    """The USF norms; None, with a message, if they are absent."""
    if NORMS.exists():
        return mm.read_associations(NORMS)
    print(f"no norms at {NORMS}: set MANYMAPS_DATA to the folder of real data; nothing done")
    return None


def fitted_atlases(
    norms: mm.Associations, options: argparse.Namespace, settings: Settings
) -> dict[tuple[str, int], list[mm.Atlas]]:
    """The atlases of the settings, by method and number of maps."""
    if options.quick:
        settings = (("mm-tsne", 2, (0,)),)
    iterations = 5 if options.quick else options.iterations
    return {
        (method, maps): [_fitted(norms, method, maps, seed, iterations, options.fits)
                         for seed in seeds]
        for method, maps, seeds in settings
    }  # fmt: skip


def _fitted(
    norms: mm.Associations, method: str, maps: int, seed: int, iterations: int, folder: Path | None
) -> mm.Atlas:
    path = None if folder is None else folder / f"usf_{method}_{maps}_{seed}.atlas"
    if path is not None and path.exists():
        return mm.load_atlas(path)
    fit = METHODS[method](maps, max_iter=iterations, random_state=seed).fit(norms)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fit.atlas_.save(path)
    return fit.atlas_


def bootstrap_rows(n: int) -> np.ndarray:
    """Resampled item numbers, shape (N_BOOTSTRAP, n); the same for every measure."""
    return np.random.default_rng(0).integers(0, n, (N_BOOTSTRAP, n))


def correlations(values: np.ndarray, target: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Pearson's r of measures (..., n) with a target (n,), and of resamples: (..., 1 + n_rows)."""
    samples = np.vstack([np.arange(len(target)), rows])
    y = target[samples]
    y = y - y.mean(axis=1, keepdims=True)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    result = np.empty((*values.shape[:-1], len(samples)))
    for index in np.ndindex(values.shape[:-1]):
        x = values[index][samples]
        x = x - x.mean(axis=1, keepdims=True)
        result[index] = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1)
    return result


def with_interval(samples: np.ndarray) -> str:
    """The first value, with the 95 % percentile interval of the others."""
    low, high = np.quantile(samples[1:], [0.025, 0.975])
    return f"{samples[0]:.3f} [{low:.3f}, {high:.3f}]"
