"""Correspondence analysis against a dense twin, textbook values and its own identities."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.cooccurrence import correspondence
from manymaps.cooccurrence.correspondence import CorrespondenceAnalysis, correspondence_analysis
from manymaps.errors import DataError, ParameterError

STAFF = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])


def dense_twin(counts: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values, principal rows and principal columns, up to signs."""
    shares = counts / counts.sum()
    r, c = shares.sum(axis=1), shares.sum(axis=0)
    residuals = (shares - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    u, s, vt = np.linalg.svd(residuals, full_matrices=False)
    return s[:k], (u * s / np.sqrt(r)[:, None])[:, :k], (vt.T * s / np.sqrt(c)[:, None])[:, :k]


def assert_same_axes(ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-9) -> None:
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours, theirs * signs, atol=tolerance)


def random_counts(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    """Sparse counts with some structure and no empty row or column."""
    rng = np.random.default_rng(seed)
    means = 0.3 * np.exp(rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1])) / 2)
    counts = rng.poisson(means)
    counts[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] += 1
    counts[rng.integers(shape[0], size=shape[1]), np.arange(shape[1])] += 1
    return counts


def arrays(result: CorrespondenceAnalysis) -> list[np.ndarray]:
    return [result.rows, result.columns, result.row_standard, result.column_standard]


def test_smoking_staff() -> None:
    """The values that R's `ca` prints for its example `smoke`."""
    found = correspondence_analysis(STAFF, 3)
    np.testing.assert_allclose(found.inertia, [0.074759, 0.010017, 0.000414], atol=5e-7)
    assert found.total_inertia == pytest.approx(0.085190, abs=5e-7)
    np.testing.assert_allclose(found.explained_inertia, [0.877559, 0.117587, 0.004854], atol=5e-6)
    rows = [[0.065768, 0.193737], [-0.258958, 0.243305], [0.380595, 0.010660]]
    rows += [[-0.232952, -0.057744], [0.201089, -0.078911]]
    columns = [[0.393308, 0.030492], [-0.099456, -0.141064], [-0.196321, -0.007359]]
    columns += [[-0.293776, 0.197766]]
    assert_same_axes(found.rows[:, :2], np.array(rows), 5e-6)
    assert_same_axes(found.columns[:, :2], np.array(columns), 5e-6)


@pytest.mark.parametrize("shape", [(30, 20), (400, 300), (300, 400)])
def test_against_the_dense_twin(shape: tuple[int, int]) -> None:
    """Small tables at once and large ones by products."""
    counts = random_counts(shape)
    assert (counts.size > correspondence._DENSE_CELLS) == (shape[0] > 100)
    found = correspondence_analysis(sparse.csr_array(counts), 4)
    values, rows, columns = dense_twin(counts, 4)
    np.testing.assert_allclose(found.singular_values, values, rtol=1e-10)
    assert_same_axes(found.rows, rows)
    assert_same_axes(found.columns, columns)
    assert found.total_inertia == pytest.approx((dense_twin(counts, 999)[0] ** 2).sum())


def test_every_axis_of_a_large_table() -> None:
    """As many axes as there can be, by products too; chi-square distances are kept."""
    counts = random_counts((3000, 24))
    found = correspondence_analysis(counts, 23)
    assert found.inertia.sum() == pytest.approx(found.total_inertia)
    profiles = counts / counts.sum(axis=1, keepdims=True)
    weights = counts.sum() / counts.sum(axis=0)
    expected = ((profiles[5] - profiles[77]) ** 2 * weights).sum()
    assert ((found.rows[5] - found.rows[77]) ** 2).sum() == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(30, 20), (400, 300)])
def test_identities(shape: tuple[int, int]) -> None:
    """Weighted means and variances, and the transition formula."""
    counts = random_counts(shape)
    found = correspondence_analysis(counts, 3)
    for coordinates, masses in (
        (found.row_standard, found.row_masses),
        (found.column_standard, found.column_masses),
    ):
        np.testing.assert_allclose(masses @ coordinates, 0, atol=1e-10)
        np.testing.assert_allclose((masses[:, None] * coordinates).T @ coordinates, np.eye(3),
                                   atol=1e-10)  # fmt: skip
    profiles = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.rows, profiles @ found.column_standard, atol=1e-10)


@pytest.mark.parametrize("shape", [(30, 20), (400, 300)])
def test_empty_rows_and_columns(shape: tuple[int, int]) -> None:
    """They have coordinates of 0 and change nothing else."""
    counts = random_counts(shape)
    holed = np.zeros((shape[0] + 2, shape[1] + 1))
    rows, columns = np.arange(shape[0]) + 1, np.arange(shape[1]) + 1
    holed[np.ix_(rows, columns)] = counts
    whole, found = correspondence_analysis(counts), correspondence_analysis(holed)
    np.testing.assert_allclose(found.rows[rows], whole.rows, atol=1e-10)
    np.testing.assert_allclose(found.columns[columns], whole.columns, atol=1e-10)
    for array in arrays(found):
        assert np.isfinite(array).all()
    assert not found.rows[[0, -1]].any()
    assert not found.column_standard[0].any()
    assert found.row_masses[0] == 0


@pytest.mark.parametrize("shape", [(30, 20), (400, 300)])
def test_repeats_and_signs(shape: tuple[int, int]) -> None:
    """The same bits every time; another seed or the order of rows changes rounding alone."""
    counts = random_counts(shape)
    one = correspondence_analysis(counts, 3)
    for a, b in zip(arrays(one), arrays(correspondence_analysis(counts, 3)), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(correspondence_analysis(counts, 3, seed=9).rows, one.rows, atol=1e-9)
    order = np.random.default_rng(1).permutation(shape[0])
    np.testing.assert_allclose(
        correspondence_analysis(counts[order], 3).rows, one.rows[order], atol=1e-9
    )
    farthest = np.abs(one.column_standard).argmax(axis=0)
    assert (one.column_standard[farthest, np.arange(3)] > 0).all()


@pytest.mark.parametrize("size", [10, 300])
def test_low_rank(size: int) -> None:
    """Axes without inertia are 0, not noise; so is everything where nothing depends."""
    pattern = np.kron([[3.0, 1.0], [1.0, 3.0]], np.ones((size // 2, size // 2)))
    found = correspondence_analysis(pattern, 3)
    np.testing.assert_allclose(found.inertia, [0.25, 0, 0], atol=1e-12)
    assert not found.row_standard[:, 1:].any()
    flat = correspondence_analysis(np.outer(np.arange(1, size + 1), np.ones(size)), 2)
    assert not flat.rows.any()
    assert not flat.explained_inertia.any()


def test_forms_of_input() -> None:
    """Arrays, sparse tables with repeated entries, data frames and whatever has `values`."""
    pandas = pytest.importorskip("pandas")
    expected = correspondence_analysis(STAFF).rows
    i, j = np.indices(STAFF.shape).reshape(2, -1)
    halves = sparse.coo_array((np.tile(STAFF.ravel() / 2, 2), (np.tile(i, 2), np.tile(j, 2))))
    for given in (sparse.csc_array(STAFF), halves, pandas.DataFrame(STAFF), STAFF.tolist()):
        np.testing.assert_allclose(correspondence_analysis(given).rows, expected, atol=1e-12)
    np.testing.assert_allclose(correspondence_analysis(STAFF * 1e-3).rows, expected, atol=1e-12)


def test_repeated_entries_of_the_caller() -> None:
    """A pair stored twice counts as its sum, and the arrays of the caller stay as they were."""
    data, indices = np.array([1.0, 2, 3, 1, 1, 4]), np.array([1, 0, 1, 1, 0, 1])
    given = sparse.csr_array((data.copy(), indices.copy(), np.array([0, 3, 4, 6])), shape=(3, 2))
    found = correspondence_analysis(given, 1)
    expected = correspondence_analysis([[2, 4], [0, 1], [1, 4]], 1)
    np.testing.assert_allclose(found.rows, expected.rows, atol=1e-12)
    np.testing.assert_array_equal(given.indices, indices)
    np.testing.assert_array_equal(given.data, data)


def test_bad_input() -> None:
    """Every refusal says what and where."""
    for value in (-1.0, np.nan, np.inf):
        bad = STAFF.astype(float)
        bad[1, 2] = value
        with pytest.raises(DataError, match=r"row 1.*column 2"):
            correspondence_analysis(bad)
    with pytest.raises(DataError):
        correspondence_analysis(STAFF[:1])
    with pytest.raises(DataError):
        correspondence_analysis(np.zeros((3, 3)))
    with pytest.raises(DataError, match="not real numbers"):
        correspondence_analysis(np.array([["a", "b"], ["c", "d"]]))
    with pytest.raises(DataError, match="expected a table"):
        correspondence_analysis(STAFF[0])
    for n in (0, 4):
        with pytest.raises(ParameterError):
            correspondence_analysis(STAFF, n)
