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

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from manymaps.compute.repulsion_plan import Plan

__all__ = ["field", "predicted_seconds"]

# By code of the kernel. One thread took 0.18 and 0.08 ns per pair.
_EXACT_PAIR = (0.7e-9, 0.2e-9)
_FFT_CALL = 1e-3
_ALWAYS_EXACT = 40_000
_EXACT_DIMENSIONS = 3


def predicted_seconds(
    n_targets: np.ndarray, n_sources: np.ndarray, kind: int, d: int, how: Plan | None = None
) -> dict[str, np.ndarray]:
    """Predict the time per map in seconds, on two current cores, for each suitable engine."""
    pairs = n_targets * n_sources
    if d > _EXACT_DIMENSIONS:
        return {"gemm": pairs * (0.25e-9 + 0.045e-9 * d)}
    costs = {"exact": pairs * _EXACT_PAIR[kind]}
    return costs if how is None else {**costs, "fft": how.seconds}


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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the potential, force and log scale of each target with the cheapest engine per map.

    Parameters
    ----------
    targets, target_offsets, sources, source_offsets, log_charges, skip : ndarray
        Arrays as described in the docstring of this module.
    kernel : {"gaussian", "cauchy"}
        Kernel K of the squared distance. A kernel that only files contain, a number, is refused.
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
    from manymaps.compute.repulsion_plan import plan_batch
    from manymaps.compute.similarity import kernel_code

    kind = kernel_code(kernel)
    arguments = (targets, target_offsets, sources, source_offsets, log_charges, skip, kind)
    how = None
    if engine == "auto":
        choices, how = _choose(*arguments[:4], kind, tolerance)
        if how is not None and len(set(choices.tolist())) > 1:
            return _by_parts(arguments, choices, how)
        engine = choices[0]
    if engine == "fft":
        how = how or plan_batch(*arguments[:4], kind, tolerance)
        return repulsion_fft.field(*arguments, how)
    if engine == "gemm":
        return repulsion_gemm.field(*arguments)
    if len(targets) > _EXACT_DIMENSIONS:
        raise ValueError(f"engine {engine!r} supports at most {_EXACT_DIMENSIONS} dimensions")
    return repulsion_exact.field(*arguments)


def _choose(
    targets: np.ndarray,
    target_offsets: np.ndarray,
    sources: np.ndarray,
    source_offsets: np.ndarray,
    kind: int,
    tolerance: float,
) -> tuple[np.ndarray, Plan | None]:
    """Name the cheapest engine per map. The fft engine must save more than its call costs."""
    n_maps, d = len(target_offsets) - 1, len(targets)
    if d > _EXACT_DIMENSIONS:
        return np.full(n_maps, "gemm"), None
    if tolerance == 0:
        return np.full(n_maps, "exact"), None
    n_targets, n_sources = np.diff(target_offsets), np.diff(source_offsets)
    pairs = n_targets * n_sources
    many = pairs >= _ALWAYS_EXACT
    if _EXACT_PAIR[kind] * pairs.sum(where=many) <= _FFT_CALL:
        return np.full(n_maps, "exact"), None  # no plan can save more than planning costs
    from manymaps.compute.repulsion_plan import plan_batch

    how = plan_batch(targets, target_offsets, sources, source_offsets, kind, tolerance)
    costs = predicted_seconds(n_targets, n_sources, kind, d, how)
    saved = np.where(many, costs["exact"] - costs["fft"], 0).clip(min=0)
    on_grid = (saved > 0) & (saved.sum() > _FFT_CALL)
    return np.where(on_grid, "fft", "exact"), how


def _by_parts(
    arguments: tuple, choices: np.ndarray, how: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute each group of maps with its own engine."""
    from manymaps.compute import repulsion_exact, repulsion_fft

    targets, target_offsets, sources, source_offsets, log_charges, skip, kind = arguments
    n = targets.shape[1]
    potential, force, scale = np.empty(n, np.float32), np.empty_like(targets), np.empty(n)
    for engine in ("exact", "fft"):
        maps = np.flatnonzero(choices == engine)
        t, t_offsets = _taken(target_offsets, maps)
        s, s_offsets = _taken(source_offsets, maps)
        position = np.full(sources.shape[1] + 1, -1, np.int64)
        position[s] = np.arange(len(s))
        part = (
            np.ascontiguousarray(targets[:, t]), t_offsets,
            np.ascontiguousarray(sources[:, s]), s_offsets,
            log_charges[s], position[skip[t]], kind,
        )  # fmt: skip
        potential[t], force[:, t], scale[t] = (
            repulsion_fft.field(*part, how.of(maps))
            if engine == "fft"
            else repulsion_exact.field(*part)
        )
    return potential, force, scale


def _taken(offsets: np.ndarray, maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the points of some maps, and the offsets of the maps among them."""
    index = np.concatenate([np.arange(offsets[m], offsets[m + 1]) for m in maps])
    return index, np.concatenate([[0], np.cumsum(offsets[maps + 1] - offsets[maps])])
