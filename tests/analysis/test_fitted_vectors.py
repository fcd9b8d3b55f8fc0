"""Fitted variables: results of vegan, invariances, invalid tables, and the command."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
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
WEIGHTS = [1.0, 2, 3] * 4
# envfit of vegan 2.6-4 on these positions, with 99,999 permutations: directions, r2, p, centroids.
EQUAL = (
    [[0.99895366442279, 0.045733754889273], [-0.84953839991283, -0.527526783276019]],
    [0.982169512599525, 0.012637618339239, 0.44118733676046],
    [0.00001, 0.94544, 0.0106],
    [[0.0625, -1.245], [-0.39, 0.435], [0.3925, 0.055]],
)
WEIGHTED = (
    [[0.99822482416331, 0.059558378286661], [-0.61216383630588, -0.790730951410951]],
    [0.97267645452434, 0.11959261708641, 0.3927080550151],
    [0.00001, 0.55338, 0.02186],
    [[0.13, -1.1642857142857144], [-0.31875, 0.2475], [0.24888888888889, 0.0066666666666666]],
)


def atlas_of(points: np.ndarray) -> mm.Atlas:
    return mm.Atlas(SITES, points[None], np.ones((1, 12)), T_SNE)


@pytest.fixture(scope="module")
def atlas() -> mm.Atlas:
    return atlas_of(POINTS)


@pytest.mark.parametrize(
    ("weights", "expected", "near"), [("map", EQUAL, 1e-12), (WEIGHTS, WEIGHTED, 0.02)]
)
def test_figures_are_those_of_vegan(atlas, weights, expected, near):
    directions, r2, p, centroids = expected
    found = mm.fit_vectors(atlas, TABLE, weights=weights, n_permutations=1999)
    np.testing.assert_allclose(found.directions, directions, atol=1e-12)
    np.testing.assert_allclose(found.factors[0].centroids, centroids, atol=1e-12)
    assert found.factors[0].r2 == pytest.approx(r2[2], abs=1e-12)
    # Vegan correlates weighted values without weights.
    np.testing.assert_allclose(found.r2, r2[:2], atol=near)
    # Twice the standard error of 2,000 permutations at p = 0.55 is 0.022.
    np.testing.assert_allclose([*found.p, found.factors[0].p], p, atol=0.022)
    assert found.factors[0].levels == ("clay", "peat", "sand")
    assert found.factors[0].sizes == (4, 4, 4)
    origin = np.average(POINTS, axis=0, weights=None if weights == "map" else weights)
    np.testing.assert_allclose(found.origin, origin)


def test_the_order_of_rows_and_a_rotation_change_nothing(atlas):
    first = mm.fit_vectors(atlas, TABLE, n_permutations=99)
    frame = pd.DataFrame(TABLE).set_index("site").iloc[::-1]
    again = mm.fit_vectors(atlas, frame, n_permutations=99)
    pd.testing.assert_frame_equal(first.to_frame("pandas"), again.to_frame("pandas"))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = mm.fit_vectors(atlas_of(3 * POINTS @ turn + 7), TABLE, n_permutations=99)
    np.testing.assert_allclose(turned.directions, first.directions @ turn, atol=1e-9)
    np.testing.assert_allclose(turned.columns["r2"], first.columns["r2"], atol=1e-9)
    np.testing.assert_array_equal(turned.columns["p"], first.columns["p"])


def test_constants_codes_categories_and_strata(atlas):
    table = {**TABLE, "one": [3.5] * 12, "block": [1.0, 2.0] * 6, "wet": [True, False] * 6}
    found = mm.fit_vectors(atlas, table, factors=["block"], n_permutations=49)
    assert found.variables == ("pH", "depth", "one")
    assert (found.r2[2], found.p[2]) == (0, 1)
    assert np.isnan(found.directions[2]).all()
    assert [(one.name, one.levels) for one in found.factors[1:]] == [
        ("block", ("1", "2")), ("wet", ("False", "True")),
    ]  # fmt: skip
    frame = pd.DataFrame(table).astype({"block": "category"})
    assert [one.name for one in mm.fit_vectors(atlas, frame).factors] == ["soil", "block", "wet"]
    # Within strata that equal the factor, no permutation changes it.
    within = mm.fit_vectors(atlas, {**table, "same": TABLE["soil"]}, strata="same")
    assert [one.name for one in within.factors] == ["soil", "wet"]
    assert within.factors[0].p == 1
    assert within.significant(0.05).variables == ("pH",)
    assert within.significant(0.05).factors == ()
    assert within.significant(within.p[0]).variables == ("pH",)


def test_permutations_of_sites_at_one_position_reach_the_observed_r2():
    pairs = np.repeat(np.arange(6), 2)
    table = {**TABLE, "pair": pairs}
    found = mm.fit_vectors(atlas_of(POINTS[pairs]), table, strata="pair", n_permutations=49)
    assert found.p.tolist() == [1, 1]


def test_each_map_weighs_its_own_sites():
    weights = np.array([[1.0] * 6 + [1e-9] * 6, [1e-9] * 6 + [1.0] * 6])
    maps = np.stack([POINTS, POINTS[::-1]])
    atlas = mm.Atlas(SITES, maps, weights, MULTIPLE_MAPS_T_SNE)
    table = {"site": SITES, "step": [0.0] * 6 + list(POINTS[:6, 0])[::-1]}
    flat, steep = (mm.fit_vectors(atlas, table, map=m, n_permutations=9) for m in (0, 1))
    assert flat.r2[0] < 1e-6
    assert steep.r2[0] == pytest.approx(1)
    assert mm.fit_vectors(atlas, table, map=1, weights="equal").r2[0] < 0.9


def test_only_objects_of_the_kind_are_used(made):
    atlas = mm.load_atlas(made / "code.atlas")
    rows, columns = dict.fromkeys(atlas.kinds)
    labels = np.array(atlas.labels)
    table = {
        "name": labels[atlas.of_kind(columns)],
        "size": np.arange(atlas.of_kind(columns).sum()),
    }
    assert mm.fit_vectors(atlas, table, kind=columns).n_sites == len(table["name"])
    with pytest.raises(DataError, match=f"if the table describes the kind '{columns}', use kind="):
        mm.fit_vectors(atlas, table)
    assert rows != columns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"site": ["x", *SITES[1:]]}, r"1 sites have no row in the table: 'site 0'; add them, or "),
        ({"site": [*SITES, "x"], **{n: [*TABLE[n], TABLE[n][0]] for n in ("pH", "depth", "soil")}},
         "1 rows of the table match no site: 'x'"),
        ({"pH": [None, *TABLE["pH"][1:]]}, "1 sites have no value in the column 'pH': 'site 0'"),
        ({"soil": ["", *TABLE["soil"][1:]]}, "no value in the column 'soil': 'site 0'"),
        ({"depth": [np.inf, *TABLE["depth"][1:]]}, "'depth' contains infinite"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_are_refused(atlas, change, message):
    with pytest.raises(DataError, match=message):
        mm.fit_vectors(atlas, {**TABLE, **change})


def test_incomplete_sites_are_omitted_on_request(atlas):
    table = {**TABLE, "site": ["x", *SITES[1:]], "pH": [*TABLE["pH"][:11], np.nan]}
    table["same"] = TABLE["soil"]
    found = mm.fit_vectors(atlas, table, strata="same", drop_missing=True)
    assert found.factors[0].p == 1
    assert (found.n_sites, found.omitted) == (10, ("site 0", "site 11", "x"))
    part = {name: values[1:11] for name, values in TABLE.items()}
    same = mm.fit_vectors(atlas.subset(SITES[1:11]), part)
    np.testing.assert_allclose(found.columns["r2"], same.columns["r2"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map": 1}, "map 1 does not exist"),
        (
            {"factors": ["clay"]},
            "factors='clay' is not a column of the table, which has 'pH', 'dep",
        ),
        ({"strata": "clay"}, "strata='clay' is not a column"),
        ({"weights": [1.0]}, "shape .1,.; expected one for each of 12 sites"),
        ({"weights": [-1.0] * 12}, "weight 0 is -1"),
        ({"weights": "soil"}, "weights='soil' is not one of map, equal"),
        ({"kind": "site"}, "requires a bipartite atlas"),
        ({"n_permutations": 0}, "n_permutations=0"),
    ],
)
def test_options_out_of_range_are_refused(atlas, options, message):
    with pytest.raises(ParameterError, match=message):
        mm.fit_vectors(atlas, TABLE, **options)


def test_the_command_prints_the_result_of_the_library(atlas, tmp_path):
    atlas.save(tmp_path / "a.atlas")
    pd.DataFrame(TABLE).to_csv(tmp_path / "env.csv", index=False)
    arguments = ("vectors", tmp_path / "a.atlas", tmp_path / "env.csv", "--permutations", 99)
    found = mm.fit_vectors(atlas, TABLE, n_permutations=99)
    assert worked(invoke(*arguments)).stdout == f"{found}\n"
    assert "pH         0.9990   0.0457  0.9822  0.01\n" in str(found)
    assert json.loads(worked(invoke(*arguments, "--json")).stdout) == found.record()
    lines = worked(invoke(*arguments, "--csv")).stdout.splitlines()
    assert lines[0] == "variable,level,n_sites,x,y,r2,p"
    assert len(lines) == 1 + 2 + 3
    (tmp_path / "env.csv").write_text("site,pH\nsite 0,4\n", encoding="utf-8")
    failed(invoke(*arguments), 3, "env.csv: 11 sites have no row in the table")
    done = invoke(*arguments, "--drop-missing")
    failed(done, 3, "1 site with 1 weights above 0")


WRITE = """
library(vegan); data(dune, dune.env, mite, mite.env, varespec, varechem)
for (name in c("dune", "mite", "varespec")) {
  counts <- get(name)
  env <- get(c(dune = "dune.env", mite = "mite.env", varespec = "varechem")[name])
  rownames(counts) <- rownames(env) <- paste0("s", rownames(counts))
  write.csv(counts, paste0(name, ".csv")); write.csv(env, paste0(name, "_env.csv"))
}
"""
FIT = """
library(vegan)
for (name in c("dune", "mite", "varespec")) {
  axes <- as.matrix(read.csv(paste0(name, "_axes.csv"), row.names = 1))
  env <- read.csv(paste0(name, "_env.csv"), row.names = 1, stringsAsFactors = TRUE)
  set.seed(1)
  found <- envfit(axes, env[rownames(axes), ])
  out <- function(x, end) write.csv(format(as.data.frame(x), digits = 16), paste0(name, end))
  out(with(found$vectors, cbind(arrows, r2 = r, p = pvals)), "_vectors.csv")
  if (!is.null(found$factors)) out(with(found$factors, cbind(r2 = r, p = pvals)), "_factors.csv")
}
"""


@pytest.mark.slow
def test_published_data_have_the_figures_of_vegan(tmp_path: Path) -> None:
    """The data sets are part of vegan, which fits the same positions of CODE."""
    rscript = shutil.which("Rscript") or "Rscript"
    asked = [rscript, "-e", "stopifnot(requireNamespace('vegan', quietly = TRUE))"]
    if not shutil.which(rscript) or subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("vegan is not installed; use apt install r-cran-vegan")
    subprocess.run([rscript, "-e", WRITE], cwd=tmp_path, check=True, timeout=60)
    fits = {}
    for name in ("dune", "mite", "varespec"):
        counts = mm.counts_from(pd.read_csv(tmp_path / f"{name}.csv", index_col=0))
        fits[name] = atlas = mm.CODE(random_state=0).fit(counts).atlas_
        rows = np.flatnonzero(atlas.of_kind(atlas.kinds[0]))
        axes = pd.DataFrame(atlas.maps[0, rows], [atlas.labels[i] for i in rows], ["x", "y"])
        axes.to_csv(tmp_path / f"{name}_axes.csv", float_format="%.17g")
    subprocess.run([rscript, "-e", FIT], cwd=tmp_path, check=True, timeout=60)
    for name, atlas in fits.items():
        env = pd.read_csv(tmp_path / f"{name}_env.csv", index_col=0, keep_default_na=False)
        found = mm.fit_vectors(atlas, env)
        expected = pd.read_csv(tmp_path / f"{name}_vectors.csv", index_col=0)
        assert list(expected.index) == list(found.variables)
        np.testing.assert_allclose(found.directions, expected[["x", "y"]], atol=1e-9)
        np.testing.assert_allclose(found.r2, expected["r2"], atol=1e-10)
        # Twice the standard error of the difference between two estimates from 999 permutations.
        np.testing.assert_allclose(found.p, expected["p"], atol=0.045)
        for one in found.factors:
            r2, p = pd.read_csv(tmp_path / f"{name}_factors.csv", index_col=0).loc[one.name]
            assert one.r2 == pytest.approx(r2, abs=1e-10)
            assert one.p == pytest.approx(p, abs=0.045)
