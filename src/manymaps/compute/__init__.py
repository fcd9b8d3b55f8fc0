"""Compiled engines that compute fields of charges from arrays.

**Arrays.** A batch of maps is one ragged array. The points of all maps are concatenated, and map m
occupies the range from offsets[m] to offsets[m + 1]. For every target i of map m,

    potential(i) = sum_j charge_j K(|t_i - s_j|^2)       over the sources j of map m, j != skip_i
    force(i)     = d potential(i) / d t_i

with

    targets      (d, n_targets) float32, target_offsets (n_maps + 1,)
    sources      (d, n_sources) float32, source_offsets (n_maps + 1,)
    log_charges  (n_sources,) float32; -inf means no charge
    skip         (n_targets,) int64: the source that a target excludes (itself), or -1

The result is (potential, force, log_scale). The true values are potential * exp(log_scale) and
force * exp(log_scale). The scale preserves the precision of rows that are far from all sources.

**Engines.** There are three engines, and `field` uses the one with the lowest expected cost for
each map:

    exact   up to 3 dimensions; n^2 pairs
    fft     up to 3 dimensions; n + grid log(grid), with near pairs summed directly if that
            allows a coarser grid; its error is the user's tolerance, also
            in clumps of coincident points
    gemm    more than 3 dimensions; n^2 d, mostly in matrix products

Engines are imported when a field is first computed. Commands without fields, such as a query for
one word of an atlas, therefore do not load numba.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.batch import Batch, Field

__all__ = ["Field", "field"]

_MOST_DIMENSIONS = 3


def field(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    log_charges: np.ndarray,
    skip: np.ndarray,
    kernel: str | float,
    tolerance: float,
    engine: str = "auto",
) -> Field:
    """Compute the potential, force and log scale of each target with the cheapest engine per map.

    Parameters
    ----------
    targets, target_offsets, sources, source_offsets, log_charges, skip : ndarray
        Arrays as described in the docstring of this module.
    kernel : {"gaussian", "cauchy"}
        Kernel K of the squared distance.
    tolerance : float
        Target error of the force: the root mean square error over the targets of a map, relative to
        the root mean square of their true forces. If it is 0, the fft engine is not used.
        Coordinates and sums are float32, so the error is at least about 1e-7 of the charge of the
        map. Use the exact engine for a map narrower than about 1e-4, because its forces are as
        small as this error.
    engine : {"auto", "exact", "fft", "gemm"}, default="auto"
        Engine for all maps, for tests and comparisons. "auto" selects the cheapest engine per map.

    Returns
    -------
    potential : ndarray of shape (n_targets,), float32
        Potential of each target, to be multiplied by exp(log_scale).
    force : ndarray of shape (d, n_targets), float32
        Force on each target, to be multiplied by exp(log_scale).
    log_scale : ndarray of shape (n_targets,), float64
        Natural logarithm of the scale of each target.
    """
    from manymaps.compute import repulsion_exact, repulsion_fft, repulsion_gemm
    from manymaps.compute.repulsion_plan import plan
    from manymaps.compute.similarity import kernel_code

    kind = kernel_code(kernel)
    batch = Batch(targets, target_offsets, sources, source_offsets, log_charges, skip, kind)
    if engine == "gemm" or (engine == "auto" and batch.d > _MOST_DIMENSIONS):
        return repulsion_gemm.field(batch)
    if batch.d > _MOST_DIMENSIONS:
        raise ValueError(f"engine {engine!r} supports at most {_MOST_DIMENSIONS} dimensions")
    grids = None if engine == "exact" else plan(batch, tolerance, always=engine == "fft")
    if grids is None:
        return repulsion_exact.field(batch)
    if grids.length.all():
        return repulsion_fft.field(batch, grids)
    result = Field.zeros(batch)
    for on_grid in (False, True):
        maps = (grids.length > 0) == on_grid
        rows = np.flatnonzero(np.repeat(maps, np.diff(target_offsets)))
        part = batch.with_targets(rows).with_sources(
            np.flatnonzero(np.repeat(maps, np.diff(source_offsets)))
        )
        fields = repulsion_fft.field(part, grids) if on_grid else repulsion_exact.field(part)
        result.potential[rows], result.force[:, rows], result.scale[rows] = fields
    return result
