"""Weights of objects in the cost and its gradient, compared with objects that are repeated."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import reference
from manymaps.errors import DataError
from manymaps.metrics import kl_divergence
from manymaps.metrics.spaces import MapSpace
from manymaps.model.choice import ChoiceModel
from manymaps.model.objective import Entries, Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.target import conditional_target, joint_target

COUNTS = np.array([1, 3, 2, 1, 4, 1, 2, 1, 1, 5])
TOGETHER = np.repeat(np.arange(len(COUNTS)), COUNTS)
FIRST = np.concatenate([[0], np.cumsum(COUNTS)[:-1]])
MODELS = list(product(reference.KERNELS, ("conditional", "joint"), (0.0, 0.2), (1, 3)))
EACH_MODEL = pytest.mark.parametrize(("kernel", "normalization", "background", "n_maps"), MODELS)


def strengths(n=10):
    """Similarities of single copies; the diagonal is that of two copies of one object."""
    rng = np.random.default_rng(0)
    table = rng.random((n, n)) * (rng.random((n, n)) < 0.6)
    return table + np.diag(rng.random(n))


def target_of(table, normalization, weights=None):
    make = joint_target if normalization == "joint" else conditional_target
    return make(sparse.csr_array(table), weights=weights)


def place(n_maps, d=2, n=10, spread=1.0):
    rng = np.random.default_rng(1)
    positions = spread * rng.normal(size=(n_maps, n, d)).astype(np.float32)
    return Parameters((positions,), (rng.normal(size=(n_maps, n)).astype(np.float32),))


def of_copies(parameters):
    return parameters.like([a[:, TOGETHER] for a in parameters.arrays])


def pair_of_objectives(model, tolerance=0.0, engine="auto"):
    """The objective of weighted objects, and that of repeated objects."""
    weighted = target_of(strengths(), model.normalization, COUNTS.astype(float))
    repeated = target_of(strengths()[np.ix_(TOGETHER, TOGETHER)], model.normalization)
    return tuple(
        Objective(target, model, 0.05, tolerance, engine=engine) for target in (weighted, repeated)
    )


def assert_same(weighted, repeated, accuracy=2e-6):
    assert weighted.cost == pytest.approx(repeated.cost, rel=1e-6)
    assert weighted.kl == pytest.approx(repeated.kl, rel=1e-6)
    assert np.allclose(
        weighted.log_normalizers[:1], repeated.log_normalizers[:1], rtol=1e-6, atol=1e-6
    )
    for ours, theirs in zip(weighted.gradient.arrays, repeated.gradient.arrays, strict=True):
        theirs = theirs[:, FIRST]
        assert abs(ours - theirs).max() <= accuracy * abs(theirs).max(initial=1)
    assert np.allclose(weighted.shares[0], repeated.shares[0][:, FIRST], rtol=1e-5, atol=1e-7)


@EACH_MODEL
def test_a_weight_equals_repeated_objects(kernel, normalization, background, n_maps):
    model = ChoiceModel(kernel, normalization, "learned", background, kernel_width=1.3)
    weighted, repeated = pair_of_objectives(model)
    for d in (2, 3, 8):
        at = place(n_maps, d)
        ours = weighted.evaluate(at, exaggeration=3.0)
        theirs = repeated.evaluate(of_copies(at), exaggeration=3.0)
        assert_same(ours, theirs)
        shares = weighted.shares(at, ours.log_normalizers)[0]
        assert np.allclose(shares, ours.shares[0], rtol=1e-5, atol=1e-7)
    mask = np.random.default_rng(2).random((n_maps, len(COUNTS))) < 0.7
    mask[0] = True
    ours = weighted.evaluate(at, entries=(Entries(mask),))
    theirs = repeated.evaluate(of_copies(at), entries=(Entries(mask[:, TOGETHER]),))
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-6)


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize("normalization", ["conditional", "joint"])
@pytest.mark.parametrize(("engine", "d"), [("fft", 2), ("exact", 2), ("fft", 3)])
def test_each_engine_takes_weights_as_charges(kernel, normalization, engine, d):
    """Many objects in an interval of 30 kernel widths, where the Fourier engine has a grid."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 6, 150)
    together = np.repeat(np.arange(150), counts)
    table = np.exp(-0.1 * abs(np.subtract.outer(np.arange(150), np.arange(150))))
    model = ChoiceModel(kernel, normalization)
    at = place(1, d, 150, 8.0)
    copies = at.like([a[:, together] for a in at.arrays])
    weighted = target_of(table, normalization, counts.astype(float))
    repeated = target_of(table[np.ix_(together, together)], normalization)
    ours = Objective(weighted, model, tolerance=1e-5, engine=engine).evaluate(at)
    theirs = Objective(repeated, model, tolerance=0, engine="exact").evaluate(copies)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    expected = theirs.gradient.positions[0][:, first]
    error = ours.gradient.positions[0] - expected
    # The Fourier engine keeps its tolerance; single precision limits the others.
    limit = 3e-5 if engine == "fft" else 1e-6
    assert np.sqrt((error**2).mean()) < limit * np.sqrt((expected**2).mean())
    assert ours.kl == pytest.approx(theirs.kl, rel=1e-6)


@EACH_MODEL
def test_the_gradient_times_the_weights_is_the_slope_of_the_cost(
    kernel, normalization, background, n_maps
):
    weights = np.random.default_rng(4).uniform(0.3, 3, len(COUNTS))
    model = ChoiceModel(kernel, normalization, "learned", background)
    objective = Objective(target_of(strengths(), normalization, weights), model, 0.05, 0.0)
    at = place(n_maps)
    P = objective.target.values.toarray()
    copies = np.outer(weights, weights)
    np.fill_diagonal(copies, weights * np.maximum(weights - 1, 0))

    def cost(arrays):
        log_v = reference.log_similarity(kernel, arrays, arrays, same=False)
        logs = log_v + np.log(np.where(copies > 0, copies, 1)) + np.where(copies > 0, 0, -np.inf)
        total = weights.sum()
        log_z = reference.log_sum(logs, axis=1)[:, None] - np.log(weights)[:, None]
        pairs = total - 1
        if normalization == "joint":
            log_z, pairs = reference.log_sum(logs), total * (total - 1)
        q = (1 - background) * np.exp(log_v - log_z) + background / pairs
        there = P > 0
        kl = (P[there] * np.log(P[there] / copies[there] / q[there])).sum()
        scale = total if normalization == "joint" else 1.0
        return scale * kl + 0.025 * (weights[:, None] * arrays[0] ** 2).sum()

    arrays = tuple(a.astype(float) for a in at.arrays)
    found = objective.evaluate(at)
    assert found.cost == pytest.approx(cost(arrays), rel=1e-5)
    rng = np.random.default_rng(5)
    along = tuple(rng.normal(size=a.shape) for a in arrays)
    expected = reference.numeric_slope(cost, arrays, along)
    slope = (found.gradient.positions[0] * along[0] * weights[:, None]).sum()
    slope += (found.gradient.weights[0] * along[1] * weights).sum()
    assert slope == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("normalization", ["conditional", "joint"])
@pytest.mark.parametrize("background", [0.0, 0.2])
def test_the_divergence_of_maps_weighs_objects(normalization, background):
    model = ChoiceModel("cauchy", normalization, "learned", background)
    weighted, repeated = pair_of_objectives(model)
    at = place(2)
    log_pi = log_softmin(at.weights[0])
    found = [
        kl_divergence(
            o.target,
            MapSpace(at.positions[0][:, k], np.exp(log_pi[:, k]), "cauchy"),
            background=background,
        )
        for o, k in ((weighted, np.arange(len(COUNTS))), (repeated, TOGETHER))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0] == pytest.approx(weighted.evaluate(at).kl, rel=1e-6)


def test_targets_reorder_and_reveal_their_weights():
    weights = COUNTS.astype(float)
    target = target_of(strengths(), "joint", weights)
    order = np.random.default_rng(6).permutation(len(COUNTS))
    assert target.reordered(order).weights.tolist() == weights[order].tolist()
    before = target.values.toarray()
    apart = target.between_objects.toarray()
    assert np.array_equal(apart, before - np.diag(np.diag(before)))
    assert np.array_equal(target.values.toarray(), before)
    assert target.fingerprint != replace(target, weights=weights + 1).fingerprint
    with pytest.raises(DataError, match="no two different objects"):
        joint_target(sparse.csr_array(np.eye(3)), weights=np.full(3, 2.0))
