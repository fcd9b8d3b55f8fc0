"""The field of charges: three engines, one contract, and the dense sum as judge."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from manymaps.compute import field, repulsion_fft
from manymaps.compute.threads import threads

DEFAULT_TOLERANCE = 5e-3
FINE = 1e-4
REMOTE = 100.0
CASES = [
    (engine, d)
    for engine, dimensions in {"exact": (1, 2, 3), "fft": (1, 2, 3), "gemm": (1, 3, 6, 20)}.items()
    for d in dimensions
]
CHARGES = {
    "one": lambda rng, n: np.zeros(n),
    "random": lambda rng, n: rng.normal(0, 1, n),
    "some are none": lambda rng, n: np.where(rng.random(n) < 0.5, -np.inf, rng.normal(0, 1, n)),
    "all are none": lambda rng, n: np.full(n, -np.inf),
    "one is loud": lambda rng, n: np.where(np.arange(n) == 3, 60.0, 0.0),
    "any size": lambda rng, n: rng.uniform(-200, 200, n),
}


def any_seed(test):
    """A few seeds of hypothesis's choice."""
    return settings(max_examples=6, deadline=None)(given(seed=st.integers(0, 2**32 - 1))(test))


@dataclass(frozen=True)
class Batch:
    """Arguments of `field`, and the part of them that is one map."""

    targets: np.ndarray
    target_offsets: np.ndarray
    sources: np.ndarray
    source_offsets: np.ndarray
    log_charges: np.ndarray
    skip: np.ndarray

    def field(self, kernel, engine="auto", tolerance=None):
        if tolerance is None:
            tolerance = DEFAULT_TOLERANCE if engine == "auto" else FINE
        return field(*vars(self).values(), kernel, tolerance, engine)

    def map(self, m):
        t = slice(*self.target_offsets[m : m + 2])
        s = slice(*self.source_offsets[m : m + 2])
        skip = self.skip[t] - s.start
        return one_map(
            self.targets[:, t].T,
            self.sources[:, s].T,
            self.log_charges[s],
            np.where((skip >= 0) & (skip < s.stop - s.start), skip, -1),
        )

    @property
    def n_maps(self):
        return len(self.target_offsets) - 1

    def reference(self, kernel):
        """Log potential (n,) and force / potential (n, d), map by map."""
        parts = []
        for m in range(self.n_maps):
            one = self.map(m)
            points = one.targets.T.astype(float), one.sources.T.astype(float)
            parts.append(reference.field(*points, one.log_charges.astype(float), one.skip, kernel))
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def one_map(targets, sources, log_charges, skip):
    return Batch(
        np.ascontiguousarray(targets.T, np.float32),
        np.array([0, len(targets)]),
        np.ascontiguousarray(sources.T, np.float32),
        np.array([0, len(sources)]),
        log_charges.astype(np.float32),
        skip.astype(np.int64),
    )


def one_set(points, log_charges):
    """Each point feels all others."""
    return one_map(points, points, log_charges, np.arange(len(points)))


def joined(*batches):
    """Several maps as one ragged batch."""

    def offsets(name):
        sizes = [np.diff(getattr(batch, name)) for batch in batches]
        return np.concatenate([[0], np.cumsum(np.concatenate(sizes))])

    starts = np.cumsum([0] + [batch.sources.shape[1] for batch in batches])
    skips = [np.where(b.skip < 0, -1, b.skip + s) for b, s in zip(batches, starts, strict=False)]
    return Batch(
        np.concatenate([batch.targets for batch in batches], axis=1),
        offsets("target_offsets"),
        np.concatenate([batch.sources for batch in batches], axis=1),
        offsets("source_offsets"),
        np.concatenate([batch.log_charges for batch in batches]),
        np.concatenate(skips),
    )


def relative(result):
    """Log potential (n,) and force / potential (n, d) of a result."""
    potential, force, scale = (part.astype(float) for part in result)
    with np.errstate(divide="ignore"):
        log_potential = np.log(potential) + scale
    share = np.divide(force, potential, out=np.zeros_like(force), where=potential > 0)
    return log_potential, share.T


def assert_near(result, expected, accuracy):
    """Each target's potential to a relative accuracy, its force to that of the steepest slopes."""
    (log_potential, share), (true_log_potential, true_share) = result, expected
    np.testing.assert_allclose(log_potential, true_log_potential, rtol=1e-6, atol=accuracy)
    steepness = 1 + np.linalg.norm(true_share, axis=1, keepdims=True)
    np.testing.assert_allclose(share / steepness, true_share / steepness, rtol=0, atol=accuracy)


ACCURACY = {"exact": 5e-5, "gemm": 5e-5, "fft": 5e-3}


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize(("engine", "d"), CASES)
class TestAgainstTheDenseSum:
    def test_one_set(self, engine, d, kernel):
        for charges in CHARGES.values():
            rng = np.random.default_rng(d)
            points = rng.normal(size=(60, d)) * (3 if d < 10 else 0.5)
            batch = one_set(points, charges(rng, 60))
            result = relative(batch.field(kernel, engine))
            assert_near(result, batch.reference(kernel), ACCURACY[engine])

    def test_two_sets_of_which_some_skip(self, engine, d, kernel):
        for charges in CHARGES.values():
            rng = np.random.default_rng(10 + d)
            scale = 3 if d < 10 else 0.5
            left, right = rng.normal(size=(45, d)) * scale, rng.normal(size=(30, d)) * scale
            skip = np.where(rng.random(45) < 0.3, rng.integers(0, 30, 45), -1)
            left[skip >= 0] = right[skip[skip >= 0]]
            batch = one_map(left, right, charges(rng, 30), skip)
            result = relative(batch.field(kernel, engine))
            assert_near(result, batch.reference(kernel), ACCURACY[engine])


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize(("engine", "d"), CASES)
class TestHardPlaces:
    def test_remote_object_keeps_its_digits(self, engine, d, kernel):
        rng = np.random.default_rng(1)
        points = rng.normal(size=(50, d)) * 0.3
        points[7, 0] += REMOTE
        batch = one_set(points, rng.normal(size=50))
        result, expected = relative(batch.field(kernel, engine)), batch.reference(kernel)
        if kernel == "gaussian":
            assert expected[0][7] < -9000
        assert_near(result, expected, ACCURACY[engine])
        np.testing.assert_allclose(result[1][7], expected[1][7], rtol=1e-4, atol=1e-3)

    def test_duplicates_push_nobody(self, engine, d, kernel):
        batch = one_set(np.ones((20, d)), np.zeros(20))
        potential, force, scale = batch.field(kernel, engine)
        np.testing.assert_allclose(potential * np.exp(scale), 19, rtol=1e-4)
        np.testing.assert_allclose(force, 0, atol=19 * DEFAULT_TOLERANCE)

    def test_object_alone_feels_nothing(self, engine, d, kernel):
        batch = one_set(np.ones((1, d)), np.zeros(1))
        potential, force, scale = batch.field(kernel, engine)
        assert potential.tolist() == [0]
        assert force.tolist() == [[0]] * d
        assert scale.tolist() == [0]

    def test_ragged_batch_is_its_maps_one_by_one(self, engine, d, kernel):
        rng = np.random.default_rng(3)
        scale = 2 if d < 10 else 0.5
        sizes = (1, 40, 0, 7, 23, 0)
        batch = joined(
            *(one_set(scale * rng.normal(size=(n, d)), rng.normal(size=n)) for n in sizes)
        )
        result = relative(batch.field(kernel, engine))
        assert_near(result, batch.reference(kernel), ACCURACY[engine])
        parts = [
            relative(batch.map(m).field(kernel, engine)) for m in range(len(sizes)) if sizes[m]
        ]
        together = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        assert_near(result, together, 1e-5)

    def test_map_with_targets_or_sources_alone(self, engine, d, kernel):
        rng = np.random.default_rng(4)

        def side(n):
            return rng.normal(size=(n, d)) * 0.5

        batch = joined(
            one_map(side(3), side(0), np.zeros(0), np.full(3, -1)),
            one_map(side(0), side(3), np.zeros(3), np.full(0, -1)),
            one_map(side(3), side(4), np.zeros(4), np.full(3, -1)),
        )
        result = relative(batch.field(kernel, engine))
        assert np.isneginf(result[0][:3]).all()
        assert_near(result, batch.reference(kernel), ACCURACY[engine])


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize(("engine", "d"), CASES)
class TestInvariances:
    @any_seed
    def test_order_place_and_direction(self, engine, d, kernel, seed):
        rng, batch = random_set(seed, d)
        points, charges = batch.targets.T, batch.log_charges
        order, turn = rng.permutation(40), np.linalg.qr(rng.normal(size=(d, d)))[0]
        log_potential, share = relative(batch.field(kernel, engine))
        near = 2 * ACCURACY[engine]
        for changed, expected, accuracy in (
            (one_set(points[order], charges[order]), (log_potential[order], share[order]), 1e-4),
            (one_set(points + np.float32(8), charges), (log_potential, share), near),
            (one_set(points @ turn, charges), (log_potential, share @ turn), near),
        ):
            assert_near(relative(changed.field(kernel, engine)), expected, accuracy)


def random_set(seed, d):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, d)) * (2 if d < 10 else 0.5)
    return rng, one_set(points, rng.normal(size=40))


class TestFftError:
    """What a tolerance promises, on points spread evenly over 30 kernel widths."""

    @pytest.mark.parametrize("tolerance", [1e-2, DEFAULT_TOLERANCE, 1e-3, 1e-4])
    @pytest.mark.parametrize("kernel", reference.KERNELS)
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_force_is_right_to_about_the_tolerance(self, kernel, d, tolerance):
        rng = np.random.default_rng(5)
        batch = one_set(rng.uniform(0, 30, (3000, d)), np.log(rng.random(3000)))
        exact, fast = (batch.field(kernel, engine, tolerance) for engine in ("exact", "fft"))
        for quantity, bound in ((0, max(tolerance / 5, 1e-6)), (1, 2 * tolerance)):
            true, got = (result[quantity] * np.exp(result[2]) for result in (exact, fast))
            assert np.linalg.norm(got - true) < bound * np.linalg.norm(true)

    def test_largest_point_first(self):
        points = np.random.default_rng(7).uniform(0, 10, (100, 2))
        points[0] = 20, -15
        batch = one_set(points, np.zeros(100))
        result = relative(batch.field("cauchy", "fft"))
        assert_near(result, batch.reference("cauchy"), DEFAULT_TOLERANCE)


def clump(width, d, n=6000, part=0.5, seed=0, spread=None):
    """Points of which a part lies within `width` of one another, in any order."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) * (spread or {1: 100, 2: 13, 3: 8}[d])
    members = rng.permutation(n)[: int(part * n)]
    points[members] = rng.normal(size=d) + width * rng.uniform(-0.5, 0.5, (len(members), d))
    return one_set(points, np.zeros(n)), members


class TestClumps:
    """Errors that the members of a clump share do not cancel, but push the clump as a whole."""

    @pytest.mark.parametrize("width", [0, 1e-3, 1e-2, 1e-1, 1])
    @pytest.mark.parametrize("kernel", reference.KERNELS)
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_half_of_all_points(self, kernel, d, width):
        batch, members = clump(width, d)
        exact, fast = (
            batch.field(kernel, engine, DEFAULT_TOLERANCE) for engine in ("exact", "fft")
        )
        true, force = (f * np.exp(scale) for _, f, scale in (exact, fast))
        scale = np.sqrt((true**2).mean())
        for rows in (slice(None), members):
            assert np.sqrt(((force - true)[:, rows] ** 2).mean()) < DEFAULT_TOLERANCE * scale
        momentum = np.linalg.norm(force.sum(axis=1, dtype=float))
        assert momentum < DEFAULT_TOLERANCE * np.linalg.norm(true, axis=0).sum()

    @pytest.mark.parametrize("part", [0.25, 0.5])
    def test_force_of_a_clump_on_many_other_points(self, part):
        batch, _ = clump(0, 3, n=20_000, part=part, spread=3)
        exact, fast = (batch.field("cauchy", e, DEFAULT_TOLERANCE) for e in ("exact", "fft"))
        true, force = (f * np.exp(scale) for _, f, scale in (exact, fast))
        assert np.linalg.norm(force - true) < DEFAULT_TOLERANCE * np.linalg.norm(true)

    @pytest.mark.parametrize("part", [0.01, 0.1, 0.9])
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_any_part_of_the_points(self, d, part):
        batch, _ = clump(1e-3, d, part=part)
        exact, fast = (batch.field("cauchy", engine) for engine in ("exact", "fft"))
        assert np.linalg.norm(fast[1] - exact[1]) < DEFAULT_TOLERANCE * np.linalg.norm(exact[1])

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_ordinary_points_keep_their_one_transform(self, d, monkeypatch):
        grids, transforms = [], repulsion_fft._slope_transforms
        monkeypatch.setattr(
            repulsion_fft, "_slope_transforms", lambda grid: grids.append(grid) or transforms(grid)
        )
        rng = np.random.default_rng(3)
        cases = [
            rng.uniform(0, span, (n, d)) for n, span in ((3000, 30), (6000, 60), (20_000, 100))
        ]
        if d == 2:  # ten groups in early exaggeration, for which the grid is refined
            groups = rng.uniform(0, 6, (10, 2)).repeat(2000, axis=0)
            cases.append(groups + rng.normal(0, 0.1, groups.shape))
        for points in cases:
            batch = one_set(points, np.zeros(len(points)))
            exact, fast = (batch.field("cauchy", engine, 5e-3) for engine in ("exact", "fft"))
            true, force = (f * np.exp(scale) for _, f, scale in (exact, fast))
            assert np.linalg.norm(force - true) < 5e-3 * np.linalg.norm(true)
        assert not grids
        clump(0, d)[0].field("cauchy", "fft", 5e-3)
        assert grids

    def test_a_clump_in_one_map_changes_no_bit_of_another(self):
        scattered, _ = clump(0, 2, n=3000, part=0.0)
        clumped = [clump(0, 2, n=3000, part=part, seed=1)[0] for part in (0.5, 0.3)]
        together = joined(scattered, *clumped).field("cauchy", "fft", 5e-3)
        for m, one in enumerate((scattered, *clumped)):
            for part, alone in zip(together, one.field("cauchy", "fft", 5e-3), strict=True):
                np.testing.assert_array_equal(part[..., 3000 * m : 3000 * (m + 1)], alone)


class TestChargesOutOfRange:
    """exp of a log charge above 88 overflows float32, and below -87 it vanishes."""

    @pytest.mark.parametrize(("engine", "d"), CASES)
    @pytest.mark.parametrize("kernel", reference.KERNELS)
    def test_a_common_factor_is_only_a_scale(self, kernel, engine, d):
        rng = np.random.default_rng(2)
        points, charges = rng.normal(size=(200, d)), rng.normal(size=200)
        potential, share = relative(one_set(points, charges).field(kernel, engine))
        for level in (-300.0, -90.0, 89.0, 300.0):
            far = relative(one_set(points, charges + level).field(kernel, engine))
            np.testing.assert_allclose(far[0] - level, potential, atol=1e-4)
            np.testing.assert_allclose(far[1], share, rtol=1e-3, atol=1e-4)


class TestChooser:
    @staticmethod
    def dense(kernel, n, seed):
        rng = np.random.default_rng(seed)
        return one_set(rng.uniform(0, 8, (n, 2)), np.zeros(n))

    @pytest.mark.parametrize("loud", [0.0, 8.0])
    @pytest.mark.parametrize("kernel", reference.KERNELS)
    def test_the_grid_engine_sums_what_no_grid_can_hold(self, kernel, loud):
        """A loud charge does not hide it."""
        near, far = self.dense(kernel, 30, 0), self.dense(kernel, 30, 1)
        far.targets[0, 0] += 1e5
        far.log_charges[3] = loud
        for batch, accuracy in ((far, "exact"), (joined(near, far), "fft")):
            found = relative(batch.field(kernel, "fft"))
            assert_near(found, batch.reference(kernel), ACCURACY[accuracy])

    @pytest.mark.parametrize("kernel", reference.KERNELS)
    def test_engines_mix_within_a_batch(self, kernel):
        small, large = self.dense(kernel, 50, 0), self.dense(kernel, 6000, 1)
        other = self.dense(kernel, 20, 2)
        got = joined(small, large, other).field(kernel)
        parts = [
            small.field(kernel, "exact"),
            large.field(kernel, "fft", DEFAULT_TOLERANCE),
            other.field(kernel, "exact"),
        ]
        for whole, *pieces in zip(got, *parts, strict=True):
            np.testing.assert_array_equal(whole, np.concatenate(pieces, axis=-1))

    @pytest.mark.parametrize(
        ("d", "engine"),
        [(3, "exact"), (4, "gemm"), (20, "gemm")],
    )
    def test_dimensions_decide_where_only_one_engine_can(self, d, engine):
        _, batch = random_set(0, d)
        for got, expected in zip(batch.field("cauchy"), batch.field("cauchy", engine), strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_no_tolerance_forbids_the_grid(self):
        batch = self.dense("cauchy", 6000, 1)
        got, expected = batch.field("cauchy", tolerance=0), batch.field("cauchy", "exact")
        np.testing.assert_array_equal(got[1], expected[1])


@pytest.mark.parametrize("kernel", reference.KERNELS)
def test_products_join_tiles_of_which_most_are_far_from_a_row(kernel):
    rng = np.random.default_rng(2)
    centres = 6 * rng.normal(size=(5, 6))
    right = np.repeat(centres, 300, axis=0) + rng.normal(size=(1500, 6)) / 2
    left = centres[rng.integers(0, 5, 2300)] + rng.normal(size=(2300, 6)) / 2
    batch = one_map(left, right, rng.normal(size=1500), np.full(2300, -1))
    assert_near(relative(batch.field(kernel)), batch.reference(kernel), 2e-5)


def test_direct_sums_are_of_few_dimensions():
    with pytest.raises(ValueError, match="3 dimensions"):
        random_set(0, 4)[1].field("gaussian", "exact")


def test_threads_change_no_bit():
    rng = np.random.default_rng(8)
    batch = joined(*(one_set(rng.uniform(0, 9, (n, 2)), np.zeros(n)) for n in (700, 50, 300)))
    solid = one_set(rng.uniform(0, 60, (900, 3)), np.zeros(900))
    nine = joined(*(one_set(rng.uniform(0, 9 * n, (300, 2)), np.zeros(300)) for n in range(1, 10)))
    many = replace(batch, targets=np.zeros((20, 1050), np.float32) + batch.targets[0])
    many = replace(many, sources=many.targets)
    for case, engine, kernel in (
        (batch, "exact", "gaussian"), (batch, "fft", "gaussian"), (solid, "fft", "cauchy"),
        (nine, "fft", "cauchy"), (many, "gemm", "gaussian"),
    ):  # fmt: skip
        results = []
        for n in (1, 2):
            with threads(n):
                results.append(case.field(kernel, engine))
        for one, two in zip(*results, strict=True):
            np.testing.assert_array_equal(one, two)
