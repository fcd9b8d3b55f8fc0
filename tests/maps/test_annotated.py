"""Maps of AnnData objects: what is fitted, what is written where, and what is refused."""

import re
import warnings
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.affinity.neighbors import nearest_neighbors
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


def test_genes_colour_figures(tmp_path: Path) -> None:
    adata = annotated()
    tsne(adata, **QUICK)
    gene = adata.var_names[2]
    atlas = to_atlas(adata, genes=gene)
    values = adata[:, gene].X
    values = values.toarray() if hasattr(values, "toarray") else values
    np.testing.assert_allclose(atlas.metadata[gene], np.asarray(values).ravel())
    texts = [text.get_text() for text in mm.plot_map(atlas, color=gene).texts]
    assert gene in texts
    to_atlas(adata).save(tmp_path / "cells.atlas")
    adata.obs["label"] = "cell"
    adata.write_h5ad(tmp_path / "cells.h5ad")
    drawn = ("plot", tmp_path / "cells.atlas", "-o", tmp_path / "o.svg", "--color")
    worked(invoke(*drawn, gene, "--metadata", tmp_path / "cells.h5ad"))
    written = (tmp_path / "o.svg").read_text(encoding="utf-8")
    assert all(f">{text}</text>" in written for text in texts if text)
    columns = read_columns(tmp_path / "cells.h5ad", [gene, "XIST"])
    assert set(columns) == {*adata.obs.columns, gene}
    assert columns.index.tolist() == adata.obs_names.tolist()
    failed(invoke(*drawn, gene), 2, "is not a column of the atlas")
    with pytest.raises(mm.DataError, match="'XIST'"):
        to_atlas(adata, genes=["XIST"])
    adata.obs[gene] = 1.0
    with pytest.raises(mm.DataError, match="is also a column of obs"):
        to_atlas(adata, genes=gene)


def test_the_atlas_of_some_cells_is_a_part_of_the_whole() -> None:
    adata = annotated()
    multiple_maps(adata, 2, normalization="joint", **QUICK)
    whole, chosen = to_atlas(adata), np.arange(0, N, 3)
    assert whole.log_normalizer is not None
    assert to_atlas(adata[chosen]) == whole.subset(chosen)


def test_a_table_may_be_sparse_a_frame_or_in_a_file(tmp_path: Path) -> None:
    adata = annotated(n_vars=20)
    expected = tsne(adata, copy=True, **QUICK).obsm["X_manymaps_tsne"]
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        adata.X = kind(adata.X)
        got = tsne(adata, copy=True, **QUICK).obsm["X_manymaps_tsne"]
        np.testing.assert_allclose(got, mm.TSNE(random_state=0, **QUICK).fit(adata.X).embedding_)
    names = {"index": adata.obs_names, "columns": [f"x{i}" for i in range(6)]}
    adata.obsm["framed"] = pd.DataFrame(rows_of(), **names)
    got = tsne(adata, use_rep="framed", copy=True, **QUICK).obsm["X_manymaps_tsne"]
    other = tsne(adata, use_rep="X_pca", copy=True, **QUICK).obsm["X_manymaps_tsne"]
    np.testing.assert_array_equal(got, other)
    for name, X in (("dense", adata.X.toarray()), ("sparse", adata.X)):
        adata.X = X
        adata.write_h5ad(tmp_path / f"{name}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{name}.h5ad", backed="r")
        tsne(backed, **QUICK)
        if name == "dense":
            np.testing.assert_array_equal(backed.obsm["X_manymaps_tsne"], expected)
        backed.file.close()


def _no_pca(adata: anndata.AnnData) -> None:
    adata.obsm["X_umap"] = adata.obsm.pop("X_pca")


def _missing(adata: anndata.AnnData) -> None:
    adata.obsm["X_pca"][3, 1] = np.nan


@pytest.mark.parametrize(
    ("damage", "options", "error", "message"),
    [
        (_no_pca, {}, mm.DataError, r"'X_pca'.*use_rep"),
        (None, {"use_rep": "X_lsi"}, mm.DataError, r"'X_lsi'.*'X_pca'"),
        (_missing, {}, ValueError, "NaN"),
        (None, {"perplexity": 80}, mm.ParameterError, "impossible for 80 objects"),
        (None, {"wide": 3}, TypeError, "wide"),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_nothing_behind(damage, options, error, message) -> None:
    adata = annotated()
    if damage is not None:
        damage(adata)
    before = {*adata.obsm.keys()}, {*adata.uns}
    with pytest.raises(error, match=message):
        multiple_maps(adata, 2, **{**QUICK, **options})
    assert ({*adata.obsm.keys()}, {*adata.uns}) == before


def test_maps_that_are_not_there_or_were_changed() -> None:
    adata = annotated()
    with pytest.raises(mm.DataError):
        to_atlas(adata)
    tsne(adata, **QUICK)
    multiple_maps(adata, 2, **QUICK)
    with pytest.raises(mm.DataError, match="'X_manymaps_tsne'"):
        to_atlas(adata)
    with pytest.raises(mm.DataError, match="'X_umap'"):
        to_atlas(adata, "X_umap")
    adata.obsm["X_manymaps"] = adata.obsm["X_manymaps"][:, :3]
    with pytest.raises(mm.DataError, match="do not match"):
        to_atlas(adata, "X_manymaps")
    adata.uns["X_manymaps_tsne"]["atlas"] = "{"
    with pytest.raises(mm.DataError, match="do not match"):
        to_atlas(adata, "X_manymaps_tsne")


@pytest.mark.slow
def test_the_page_on_scanpy_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plots draw the maps, and its files keep them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = (Path(__file__).parents[2] / "docs" / "tutorials" / "scanpy.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy tells of its own coming changes
        exec(compile("\n".join(blocks), "docs/tutorials/scanpy.md", "exec"), names)
        cells = names["cells"]
        cells.write_h5ad(tmp_path / "cells.h5ad")
        again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert cells.uns["X_manymaps_tsne"]["params"]["use_rep"] == "X_pca"
    labels = cells.obs["bulk_labels"].to_numpy()
    near = nearest_neighbors(cells.obsm["X_manymaps_tsne"], 10).indices
    assert (labels[near] == labels[:, None]).mean() > 0.6
    assert to_atlas(again, "X_manymaps") == names["atlas"] == mm.load_atlas("cells.atlas")
    assert {word for words in names["atlas"].captions() for word in words} <= set(labels)
    assert (tmp_path / "cells.html").stat().st_size > 0
