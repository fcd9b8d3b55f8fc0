"""The split kernel: its two parts add up to the kernel, and near sums and grid to the field."""

import numpy as np
import pytest

import reference
from manymaps.compute import field, repulsion_exact, repulsion_fft
from manymaps.compute.batch import Batch, Field
from manymaps.compute.repulsion_near import add_near, soft_kernel, soft_slope
from manymaps.compute.repulsion_plan import RADII, Plan, grid_length, plan, soft_spacing
from manymaps.compute.similarity import CAUCHY
from manymaps.compute.threads import threads


def scattered(n=3000, span=150.0, seed=0):
    """Groups thinly scattered over a wide map, as t-SNE leaves them."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, span, (40, 2))
    return (centres[rng.integers(0, 40, n)] + rng.normal(0, span / 40, (n, 2))).astype(np.float32)


def near_sums(points, targets, charges, radius):
    """The dense twin, in float64; self terms included.

    The near part is what is left of a kernel without the first four terms of its Taylor series in
    d2 about radius^2, within the radius.
    """
    difference = targets[:, None].astype(float) - points
    d2 = (difference**2).sum(-1)
    step = radius**2 - d2
    values = np.exp(reference.log_kernel_of("cauchy", d2))
    slopes = values * reference.relative_slope("cauchy", d2)
    term = np.exp(reference.log_kernel_of("cauchy", radius**2))
    for k in range(4):
        values = values - term * step**k
        term /= 1 + radius**2
        if k < 3:
            slopes = slopes - (k + 1) * term * step**k
    near, steep = (np.where(d2 < radius**2, part, 0) * charges for part in (values, slopes))
    return near.sum(1), -2 * np.einsum("ij,ijk->ik", steep, difference)


@pytest.mark.parametrize("radius", [2.0, 4.5, 18.0])
class TestSoftPart:
    def test_parts_add_up(self, radius):
        d = np.linspace(0, 2 * radius, 1001)
        near, _ = near_sums(np.zeros((1, 2)), np.stack([d, 0 * d], 1), np.ones(1), radius)
        soft = soft_kernel(d**2, radius)
        whole = np.exp(reference.log_kernel_of("cauchy", d**2))
        np.testing.assert_allclose(near + soft, whole, rtol=1e-6)
        assert not near[d > radius].any()

    def test_slope(self, radius):
        d2, step = np.linspace(0.1, 2 * radius**2, 1001), 1e-5
        above, below = (soft_kernel(d2 + sign * step, radius) for sign in (1, -1))
        numeric = (below - above) / (2 * step)
        np.testing.assert_allclose(soft_slope(d2, radius), numeric, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("radius", [2.0, 4.5, 18.0])
@pytest.mark.parametrize("span", [3.0, 40.0, 150.0])
@pytest.mark.parametrize("d", [2, 3])
def test_dense_twin(d, radius, span):
    points = scattered(800, span)
    if d == 3:
        points = np.column_stack([points, points[::-1, 0]])
    charges = np.random.default_rng(1).random(800).astype(np.float32)
    targets = np.concatenate([points[:100], points[:50] + np.float32(0.3)])
    both = np.concatenate([points, targets])
    low = both.min(axis=0)
    potential, force = np.ones(150, np.float32), np.ones((d, 150), np.float32)
    batch = Batch(
        np.ascontiguousarray(targets.T), np.array([0, 150]), np.ascontiguousarray(points.T),
        np.array([0, 800]), np.log(charges), np.full(150, -1), CAUCHY,
    )  # fmt: skip
    span = (both.max(axis=0) - low).max()
    nothing = np.zeros(1)
    grids = Plan(nothing, nothing, nothing, low[None], np.array([span]), 5e-3)
    sums = Field(potential, force, np.zeros(150))
    add_near(batch, charges, grids, np.array([0]), radius, sums)
    true_potential, true_force = near_sums(points, targets, charges, radius)
    np.testing.assert_allclose(potential - 1, true_potential, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(force.T - 1, true_force, rtol=2e-4, atol=2e-5 * len(points) ** 0.5)


def test_batch_is_its_maps_one_by_one():
    """Of which some are dense and go to the grid whole, and some have targets or sources alone."""
    maps = [scattered(n, span, seed) for seed, (n, span) in enumerate([
        (900, 150.0), (600, 5.0), (1500, 140.0), (0, 1.0), (1, 1.0), (1100, 145.0),
    ])]  # fmt: skip
    sizes = [len(points) for points in maps]
    flat = np.ascontiguousarray(np.concatenate(maps).T)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    charges = np.random.default_rng(0).normal(size=offsets[-1]).astype(np.float32)
    skip = np.arange(offsets[-1])
    batch = Batch(flat, offsets, flat, offsets, charges, skip, CAUCHY)
    how = plan(batch, 5e-3, always=True)
    assert (how.radius > 0).tolist() == [True, False, True, False, False, True]
    whole = field(
        flat, offsets, flat, offsets, charges, np.arange(offsets[-1]), "cauchy", 5e-3, "fft"
    )
    for m, n in enumerate(sizes):
        own = slice(offsets[m], offsets[m + 1])
        points, ends = np.ascontiguousarray(flat[:, own]), np.array([0, n])
        one = field(points, ends, points, ends, charges[own], np.arange(n), "cauchy", 5e-3, "fft")
        for part, alone in zip(whole, one, strict=True):
            np.testing.assert_array_equal(part[..., own], alone)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [5e-3, 1e-3])
def test_the_whole_field(tolerance):
    points = scattered()
    n = len(points)
    flat = np.ascontiguousarray(points.T)
    offsets, charges, skip = np.array([0, n]), np.zeros(n, np.float32), np.arange(n)
    batch = Batch(flat, offsets, flat, offsets, charges, skip, CAUCHY)
    assert plan(batch, tolerance, always=True).radius > 0
    arguments = (flat, offsets, flat, offsets, charges, skip, "cauchy", tolerance)
    potential, force, scale = field(*arguments, engine="fft")
    log_potential, relative_force = reference.field(
        points.astype(float), points.astype(float), charges, skip, "cauchy"
    )
    truth = np.exp(log_potential)
    true_force = truth[:, None] * relative_force
    factor = np.exp(scale)
    error = np.linalg.norm(force.T * factor[:, None] - true_force) / np.linalg.norm(true_force)
    assert error < tolerance
    assert np.linalg.norm(potential * factor - truth) / np.linalg.norm(truth) < tolerance / 5
    with threads(1):
        again = field(*arguments, engine="fft")
    for one, two in zip((potential, force, scale), again, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("tolerance", [1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize(("d", "radius"), [(d, radius) for d in (2, 3) for radius in RADII[d]])
def test_the_tolerance_holds_at_every_radius(d, radius, tolerance):
    # Errors of evenly spread points are the largest.
    n, span = 4000, {2: 160.0, 3: 40.0}[d]
    points = np.random.default_rng(0).uniform(0, span, (d, n)).astype(np.float32)
    offsets = np.array([0, n])
    batch = Batch(points, offsets, points, offsets, np.zeros(n, np.float32), np.arange(n), CAUCHY)
    spacing = soft_spacing(radius, tolerance)
    length = grid_length(np.array([span / spacing]), d)
    low = points.min(axis=1)[None]
    grids = Plan(np.array([spacing]), length, np.array([radius]), low, np.array([span]), tolerance)
    _, force, scale = repulsion_fft.field(batch, grids)
    _, true, exact_scale = repulsion_exact.field(batch)
    error = force * np.exp(scale - exact_scale) - true
    assert 0 < np.linalg.norm(error) < tolerance * np.linalg.norm(true)
