"""Maps of AnnData objects: what is fitted, what is written where, and what is refused."""

from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import invoke, worked
from manymaps.anndata import multiple_maps, to_atlas, tsne
from manymaps.io.frames import read_columns

N, QUICK = 80, {"perplexity": 5, "max_iter": 30}


def rows_of(n: int = N) -> np.ndarray:
    """Three clouds in six dimensions."""
    generator = np.random.default_rng(0)
    return (4 * np.eye(6)[np.arange(n) % 3] + generator.normal(size=(n, 6))).astype(np.float32)


def annotated(n_vars: int = 60, **parts: object) -> anndata.AnnData:
    """Some cells of which X says less than X_pca."""
    obs = pd.DataFrame(
        {
            "cloud": pd.Categorical(np.array(["T", "B", "NK"])[np.arange(N) % 3]),
            "depth": np.arange(N, dtype=float),
        },
        index=[f"cell{i}" for i in range(N)],
    )
    X = np.random.default_rng(1).poisson(1.0, (N, n_vars)).astype(np.float32)
    return anndata.AnnData(X, obs=obs, obsm={"X_pca": rows_of()}, **parts)


def test_the_map_is_that_of_the_estimator_and_goes_where_scanpy_puts_one() -> None:
    adata = annotated()
    assert tsne(adata, **QUICK) is None
    fit = mm.TSNE(random_state=0, **QUICK).fit(rows_of())
    np.testing.assert_array_equal(adata.obsm["X_manymaps_tsne"], fit.embedding_)
    said = adata.uns["X_manymaps_tsne"]
    assert said["params"] == {**QUICK, "random_state": 0, "use_rep": "X_pca"}
    assert said["kl_divergence"] == fit.kl_divergence_
    assert said["n_iter"] == 30


def test_the_rows_are_those_that_scanpy_would_choose() -> None:
    small, large = annotated(n_vars=20), annotated()
    for adata, options, expected in (
        (small, {}, small.X),
        (small, {"use_rep": "X_pca"}, rows_of()),
        (large, {}, rows_of()),
        (large, {"use_rep": "X"}, large.X),
    ):
        got = tsne(adata, copy=True, **options, **QUICK)
        expected = mm.TSNE(random_state=0, **QUICK).fit(np.asarray(expected)).embedding_
        np.testing.assert_array_equal(got.obsm["X_manymaps_tsne"], expected)
    assert "X_manymaps_tsne" not in small.obsm
    assert got.uns["X_manymaps_tsne"]["params"]["use_rep"] == "X"


def test_multiple_maps_lie_side_by_side_with_their_proportions() -> None:
    adata = annotated()
    multiple_maps(adata, 3, penalty=0.01, **QUICK)
    fit = mm.MultipleMapsTSNE(3, penalty=0.01, random_state=0, **QUICK).fit(rows_of())
    for m in range(3):
        place = adata.obsm["X_manymaps"][:, 2 * m : 2 * m + 2]
        np.testing.assert_array_equal(place, fit.maps_[m])
    np.testing.assert_array_equal(adata.obsm["X_manymaps_proportions"], fit.proportions_.T)
    said = adata.uns["X_manymaps"]
    assert (said["params"]["n_maps"], said["params"]["penalty"]) == (3, 0.01)
    # Names that are one word with a number say less than the clouds.
    assert len(said["captions"]) == 3
    assert set(", ".join(said["captions"]).split(", ")) <= {"T", "B", "NK"}


def test_the_atlas_is_that_of_the_fit_also_from_a_file(tmp_path: Path) -> None:
    adata = annotated()
    multiple_maps(adata, 3, **QUICK)
    atlas = to_atlas(adata)
    fitted = mm.MultipleMapsTSNE(3, random_state=0, **QUICK).fit(rows_of()).atlas_
    assert atlas.labels == tuple(adata.obs_names)
    np.testing.assert_allclose(atlas.similarities("cell7"), fitted.similarities("7"))
    assert list(atlas.metadata) == ["cloud", "depth"]
    assert atlas.metadata["cloud"][:3].tolist() == ["T", "B", "NK"]
    np.testing.assert_array_equal(atlas.vectors, rows_of())
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert to_atlas(anndata.read_h5ad(tmp_path / "cells.h5ad")) == atlas
    mm.write_page(atlas, tmp_path / "cells.html")
    assert mm.insert(atlas, rows_of()[:1] + 0.1, labels=["new"]).atlas.n_objects == N + 1


def test_genes_become_columns_of_the_atlas(tmp_path: Path) -> None:
    adata = annotated()
    tsne(adata, **QUICK)
    gene = adata.var_names[2]
    values = adata[:, gene].X
    for kind in (np.asarray, sparse.csr_matrix):
        adata.X = kind(adata.X)
        np.testing.assert_allclose(to_atlas(adata, genes=gene).metadata[gene], values.ravel())
    adata.write_h5ad(tmp_path / "cells.h5ad")
    columns = read_columns(tmp_path / "cells.h5ad", [gene, "XIST"])
    assert set(columns) == {*adata.obs.columns, gene}
    assert columns.index.tolist() == adata.obs_names.tolist()
    to_atlas(adata).save(tmp_path / "cells.atlas")
    options = ("--color", gene, "--metadata", tmp_path / "cells.h5ad", "-o", tmp_path / "c.svg")
    worked(invoke("plot", tmp_path / "cells.atlas", *options))
    with pytest.raises(mm.DataError, match="'XIST'"):
        to_atlas(adata, genes=["XIST"])
    adata.obs[gene] = 1.0
    with pytest.raises(mm.DataError, match=gene):
        to_atlas(adata, genes=gene)


def test_the_atlas_of_some_cells_is_a_part_of_the_whole() -> None:
    adata = annotated()
    multiple_maps(adata, 2, normalization="joint", **QUICK)
    whole, chosen = to_atlas(adata), np.arange(0, N, 3)
    assert whole.log_normalizer is not None
    assert to_atlas(adata[chosen]) == whole.subset(chosen)


def test_a_table_may_be_sparse_a_frame_or_in_a_file(tmp_path: Path) -> None:
    adata = annotated(n_vars=20)
    adata.obsm["framed"] = pd.DataFrame(rows_of(), index=adata.obs_names).add_prefix("x")
    expected = tsne(adata, use_rep="X_pca", copy=True, **QUICK).obsm["X_manymaps_tsne"]
    found = tsne(adata, use_rep="framed", copy=True, **QUICK).obsm["X_manymaps_tsne"]
    np.testing.assert_array_equal(found, expected)
    for kind in (np.asarray, sparse.csr_matrix):
        adata.X = kind(adata.X)
        adata.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        tsne(backed, **QUICK)
        fit = mm.TSNE(random_state=0, **QUICK).fit(adata.X)
        np.testing.assert_array_equal(backed.obsm["X_manymaps_tsne"], fit.embedding_)
        backed.file.close()


REFUSALS = [
    ({"X_umap": rows_of()}, {}, mm.DataError, "'X_pca'"),
    ({"X_pca": rows_of()}, {"use_rep": "X_lsi"}, mm.DataError, "'X_lsi'"),
    ({"X_pca": np.full((N, 6), np.nan)}, {}, ValueError, "NaN"),
    ({"X_pca": rows_of()}, {"perplexity": 80}, mm.ParameterError, "perplexity"),
    ({"X_pca": rows_of()}, {"wide": 3}, TypeError, "wide"),
]


@pytest.mark.parametrize(("tables", "options", "error", "message"), REFUSALS)
def test_what_is_refused_leaves_nothing_behind(tables, options, error, message) -> None:
    adata = annotated()
    adata.obsm = tables
    with pytest.raises(error, match=message):
        multiple_maps(adata, 2, **{**QUICK, **options})
    assert adata.obsm.keys() == tables.keys()
    assert not adata.uns


def test_maps_that_are_not_there_or_were_changed() -> None:
    adata = annotated()
    with pytest.raises(mm.DataError):
        to_atlas(adata)
    tsne(adata, **QUICK)
    multiple_maps(adata, 2, **QUICK)
    adata.obsm["X_manymaps"] = adata.obsm["X_manymaps"][:, :3]
    adata.uns["X_manymaps_tsne"]["atlas"] = "{"
    for key, message in (
        (None, "'X_manymaps_tsne'"), ("X_umap", "'X_umap'"),
        ("X_manymaps", "do not match"), ("X_manymaps_tsne", "do not match"),
    ):  # fmt: skip
        with pytest.raises(mm.DataError, match=message):
            to_atlas(adata, key)
