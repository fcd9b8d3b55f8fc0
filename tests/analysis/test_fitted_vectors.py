"""Fitted variables: results of vegan, invariances and invalid tables."""

import numpy as np
import pandas as pd
import pytest

import manymaps as mm
from manymaps.errors import DataError, ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE, T_SNE

POINTS = np.array([
    [0.13, -2.33], [-0.13, -0.22], [0.64, -1.25], [0.10, -0.73], [-0.54, -0.54], [0.36, -0.32],
    [1.30, 0.41], [0.95, 1.04], [-0.70, -0.13], [-1.27, 1.37], [-0.62, -0.67], [0.04, 0.35],
])  # fmt: skip
SITES = [f"site {k}" for k in range(12)]
TABLE = {
    "site": SITES,
    "pH": [5.1, 4.8, 6.0, 5.2, 4.1, 5.5, 6.9, 6.6, 4.4, 3.2, 4.0, 5.3],
    "depth": [12, 40, 33, 7, 21, 15, 28, 9, 30, 18, 25, 11],
    "soil": [{"c": "clay", "s": "sand", "p": "peat"}[soil] for soil in "csccpsspppcs"],
}
# envfit of vegan 2.6-4 on these positions, with 99,999 permutations: directions, r2, p, centroids.
VEGAN = (
    [[0.99895366442279, 0.045733754889273], [-0.84953839991283, -0.527526783276019]],
    [0.982169512599525, 0.012637618339239, 0.44118733676046],
    [0.00001, 0.94544, 0.0106],
    [[0.0625, -1.245], [-0.39, 0.435], [0.3925, 0.055]],
)


def atlas_of(points: np.ndarray) -> mm.Atlas:
    return mm.Atlas(SITES, points[None], np.ones((1, 12)), T_SNE)


@pytest.fixture(scope="module")
def atlas() -> mm.Atlas:
    return atlas_of(POINTS)


def test_figures_are_those_of_vegan(atlas):
    directions, r2, p, centroids = VEGAN
    found = mm.fit_vectors(atlas, TABLE, n_permutations=1999)
    np.testing.assert_allclose(found.arrows[["x", "y"]], directions, atol=1e-12)
    np.testing.assert_allclose(found.centroids[["x", "y"]], centroids, atol=1e-12)
    np.testing.assert_allclose(found.arrows["r2"], r2[:2], atol=1e-12)
    np.testing.assert_allclose(found.centroids["r2"], r2[2], atol=1e-12)
    # Twice the standard error of 2,000 permutations at p = 0.55 is 0.022.
    np.testing.assert_allclose(found.arrows["p"], p[:2], atol=0.022)
    np.testing.assert_allclose(found.centroids["p"], p[2], atol=0.022)
    assert found.centroids["level"].tolist() == ["clay", "peat", "sand"]
    np.testing.assert_allclose(found.origin, POINTS.mean(axis=0))


def test_the_order_of_rows_and_a_rotation_change_nothing(atlas):
    first = mm.fit_vectors(atlas, TABLE, n_permutations=99)
    frame = pd.DataFrame(TABLE).set_index("site").iloc[::-1]
    again = mm.fit_vectors(atlas, frame, n_permutations=99)
    pd.testing.assert_frame_equal(first.arrows, again.arrows)
    pd.testing.assert_frame_equal(first.centroids, again.centroids)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = mm.fit_vectors(atlas_of(3 * POINTS @ turn + 7), TABLE, n_permutations=99)
    expected = first.arrows[["x", "y"]].to_numpy() @ turn
    np.testing.assert_allclose(turned.arrows[["x", "y"]], expected, atol=1e-9)
    for one, other in ((turned.arrows, first.arrows), (turned.centroids, first.centroids)):
        np.testing.assert_allclose(one["r2"], other["r2"], atol=1e-9)
        np.testing.assert_array_equal(one["p"], other["p"])


def test_constants_codes_and_categories(atlas):
    table = {**TABLE, "one": [3.5] * 12, "block": [1.0, 2.0] * 6, "wet": [True, False] * 6}
    frame = pd.DataFrame(table).astype({"block": "category"})
    found = mm.fit_vectors(atlas, frame, n_permutations=49)
    assert found.arrows["variable"].tolist() == ["pH", "depth", "one"]
    assert found.arrows.loc[2, ["r2", "p"]].tolist() == [0, 1]
    assert found.arrows.loc[2, ["x", "y"]].isna().all()
    assert found.centroids[["variable", "level"]].to_numpy()[3:].tolist() == [
        ["block", "1"], ["block", "2"], ["wet", "False"], ["wet", "True"],
    ]  # fmt: skip
    assert found.significant(found.arrows["p"][0]).arrows["variable"].tolist() == ["pH"]
    assert found.significant(0).centroids.empty


def test_each_map_weighs_its_own_sites():
    weights = np.array([[1.0] * 6 + [1e-9] * 6, [1e-9] * 6 + [1.0] * 6])
    maps = np.stack([POINTS, POINTS[::-1]])
    atlas = mm.Atlas(SITES, maps, weights, MULTIPLE_MAPS_T_SNE)
    table = {"site": SITES, "step": [0.0] * 6 + list(POINTS[:6, 0])[::-1]}
    flat, steep = (mm.fit_vectors(atlas, table, map=m, n_permutations=9) for m in (0, 1))
    assert flat.arrows["r2"][0] < 1e-6
    assert steep.arrows["r2"][0] == pytest.approx(1)


def test_only_objects_of_the_kind_are_used(made):
    atlas = mm.load_atlas(made / "code.atlas")
    rows, columns = dict.fromkeys(atlas.kinds)
    labels = np.array(atlas.labels)
    table = {
        "name": labels[atlas.of_kind(columns)],
        "size": np.arange(atlas.of_kind(columns).sum()),
    }
    assert mm.fit_vectors(atlas, table, kind=columns).arrows["variable"].tolist() == ["size"]
    with pytest.raises(DataError):
        mm.fit_vectors(atlas, table)
    assert rows != columns


REFUSALS = [
    ({"site": ["x", *SITES[1:]]}, {}, DataError),
    ({"pH": [None, *TABLE["pH"][1:]]}, {}, DataError),
    ({"soil": ["", *TABLE["soil"][1:]]}, {}, DataError),
    ({"depth": [np.inf, *TABLE["depth"][1:]]}, {}, DataError),
    ({"visited": np.datetime64("2020-01-01") + np.arange(len(SITES))}, {}, DataError),
    ({}, {"map": 1}, ParameterError),
    ({}, {"kind": "site"}, ParameterError),
    ({}, {"n_permutations": 0}, ParameterError),
]


@pytest.mark.parametrize(("change", "options", "error"), REFUSALS)
def test_refusals(atlas, change, options, error):
    with pytest.raises(error):
        mm.fit_vectors(atlas, {**TABLE, **change}, **options)
