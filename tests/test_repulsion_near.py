"""The split kernel: its two parts add up to the kernel, and near sums and grid to the field."""

import numpy as np
import pytest

import reference
from manymaps.compute import field
from manymaps.compute.jit import threads
from manymaps.compute.repulsion_fft import plan
from manymaps.compute.repulsion_near import add_near, soft_kernel


def scattered(n=3000, span=150.0, seed=0):
    """Groups thinly scattered over a wide map, as t-SNE leaves them."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, span, (40, 2))
    return (centres[rng.integers(0, 40, n)] + rng.normal(0, span / 40, (n, 2))).astype(np.float32)


def near_sums(points, targets, charges, radius):
    """The dense twin, in float64; self terms included."""
    difference = targets[:, None].astype(float) - points
    d2 = (difference**2).sum(-1)
    q = np.maximum(0, (radius**2 - d2) / (1 + radius**2))
    kernel = 1 / (1 + d2)
    slope = -kernel * q**3 * (kernel * q + 4 / (1 + radius**2)) * charges
    return (charges * kernel * q**4).sum(1), 2 * np.einsum("ij,ijk->ik", slope, difference)


@pytest.mark.parametrize("radius", [2.0, 3.0, 4.5])
def test_parts_add_up(radius):
    d = np.linspace(0, 2 * radius, 1001)
    near, _ = near_sums(np.zeros((1, 2)), np.stack([d, 0 * d], 1), np.ones(1), radius)
    np.testing.assert_allclose(near + soft_kernel(d**2, radius), 1 / (1 + d**2), rtol=1e-12)
    assert not near[d > radius].any()


@pytest.mark.parametrize("radius", [2.0, 4.5])
def test_the_force_is_the_slope(radius):
    t = np.array([[0.3, 0.4]])
    points, step = scattered(50, 4.0), 1e-6
    _, force = near_sums(points, t, np.ones(50), radius)
    for k in range(2):
        shift = step * np.eye(2)[k]
        above, below = (near_sums(points, t + s, np.ones(50), radius)[0] for s in (shift, -shift))
        assert force[0, k] == pytest.approx((above - below)[0] / (2 * step), rel=1e-5)


@pytest.mark.parametrize("radius", [2.0, 3.0, 4.5])
@pytest.mark.parametrize("span", [3.0, 40.0, 150.0])
def test_dense_twin(radius, span):
    points = scattered(800, span)
    charges = np.random.default_rng(1).random(800).astype(np.float32)
    targets = np.concatenate([points[:100], points[:50] + np.float32(0.3)])
    both = np.concatenate([points, targets])
    low = both.min(axis=0)
    potential, force = np.ones(150, np.float32), np.ones((2, 150), np.float32)
    add_near(
        np.ascontiguousarray(targets.T), np.ascontiguousarray(points.T), charges, low,
        float((both.max(axis=0) - low).max()), radius, potential, force,
    )  # fmt: skip
    true_potential, true_force = near_sums(points, targets, charges, radius)
    np.testing.assert_allclose(potential - 1, true_potential, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(force.T - 1, true_force, rtol=2e-4, atol=2e-5 * len(points) ** 0.5)


def test_the_plan_splits_scattered_maps_alone():
    assert plan(5000, 5000, 160.0, 1, 2, 5e-3).radius > 0
    assert plan(5000, 5000, 10.0, 1, 2, 5e-3).radius == 0
    assert plan(5000, 5000, 160.0, 0, 2, 5e-3).radius == 0
    assert plan(5000, 5000, 160.0, 1, 1, 5e-3).radius == 0
    assert plan(10, 10, np.nan, 1, 2, 5e-3) is None


@pytest.mark.parametrize("tolerance", [5e-3, 1e-3])
def test_the_whole_field(tolerance):
    points = scattered()
    n = len(points)
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    assert plan(n, n, extent, 1, 2, tolerance).radius > 0
    flat = np.ascontiguousarray(points.T)
    offsets, charges, skip = np.array([0, n]), np.zeros(n, np.float32), np.arange(n)
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
