"""Maps of AnnData objects: what is fitted, what is written where, and what is refused."""

import json
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
from manymaps.io.metadata import read_columns

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


def with_neighbors(adata: anndata.AnnData, k: int, key: str = "neighbors") -> anndata.AnnData:
    """Neighbours as `scanpy.pp.neighbors(adata, n_neighbors=k + 1, key_added=key)` writes them."""
    found = nearest_neighbors(np.asarray(adata.obsm["X_pca"]), k)
    starts = np.arange(0, N * k + 1, k)
    table = sparse.csr_matrix((found.distances.ravel(), found.indices.ravel(), starts), (N, N))
    prefix = "" if key == "neighbors" else f"{key}_"
    adata.obsp[f"{prefix}distances"] = table
    near = table.copy()
    near.data = np.exp(-near.data)
    adata.obsp[f"{prefix}connectivities"] = near.maximum(near.T)
    adata.uns[key] = {
        "distances_key": f"{prefix}distances",
        "connectivities_key": f"{prefix}connectivities",
        "params": {"n_neighbors": k + 1, "method": "umap", "metric": "euclidean"},
    }
    return adata


def test_the_map_is_that_of_the_estimator_and_goes_where_scanpy_puts_one() -> None:
    adata = annotated()
    assert tsne(adata, **QUICK) is None
    fit = mm.TSNE(random_state=0, **QUICK).fit(rows_of())
    np.testing.assert_array_equal(adata.obsm["X_manymaps_tsne"], fit.embedding_)
    said = adata.uns["X_manymaps_tsne"]
    assert said["params"] == {
        **QUICK, "metric": "euclidean", "random_state": 0, "use_rep": "X_pca"
    }  # fmt: skip
    assert said["kl_divergence"] == fit.kl_divergence_
    assert (said["n_iter"], list(said["history"])) == (30, list(fit.history_))


def test_the_rows_are_those_that_scanpy_would_choose() -> None:
    small, large = annotated(n_vars=20), annotated()
    for adata, options, expected in (
        (small, {}, small.X),
        (small, {"use_rep": "X_pca", "n_pcs": 2}, rows_of()[:, :2]),
        (large, {"n_pcs": 3}, rows_of()[:, :3]),
        (large, {"n_pcs": 0}, large.X),
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


def test_barcodes_say_less_than_categories() -> None:
    adata = annotated()
    letters = np.random.default_rng(0).choice([*"ACGT"], (N, 14))
    adata.obs_names = [f"{''.join(word)}-1" for word in letters]
    multiple_maps(adata, 2, **QUICK)
    assert set(", ".join(adata.uns["X_manymaps"]["captions"]).split(", ")) <= {"T", "B", "NK"}
    adata.obs_names = [f"word {'abcdefghij'[i % 10]}{'abcdefgh'[i // 10]}" for i in range(N)]
    multiple_maps(adata, 2, **QUICK)
    assert all(text.startswith("word ") for text in adata.uns["X_manymaps"]["captions"])


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
    texts = [text.get_text() for text in mm.plot_map(atlas, color=gene).axes[0].texts]
    assert gene in texts
    to_atlas(adata).save(tmp_path / "cells.atlas")
    adata.obs["label"] = "cell"
    adata.write_h5ad(tmp_path / "cells.h5ad")
    drawn = ("plot", tmp_path / "cells.atlas", "-o", tmp_path / "o.svg", "--color")
    worked(invoke(*drawn, gene, "--metadata", tmp_path / "cells.h5ad"))
    written = (tmp_path / "o.svg").read_text(encoding="utf-8")
    assert all(f">{text}</text>" in written for text in texts if text)
    columns = read_columns(tmp_path / "cells.h5ad", [gene, "XIST"])
    assert set(columns) == {*adata.obs.columns, "label (obs)", gene}
    failed(invoke(*drawn, gene), 2, f"the atlas has no column '{gene}'")
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
        with pytest.raises(mm.ParameterError, match=r"copy=True.*to_memory"):
            tsne(backed, copy=True, **QUICK)
        with pytest.raises(mm.ParameterError, match="to_memory"):
            tsne(backed[:40], **QUICK)
        backed.file.close()


def test_known_neighbors_are_taken_where_they_are_enough_and_of_these_rows() -> None:
    found = annotated()
    tsne(found, **QUICK)

    def key_of(adata: anndata.AnnData, **options: object) -> object:
        tsne(adata, **{**QUICK, **options})
        return adata.uns["X_manymaps_tsne"]["params"].get("neighbors_key")

    known = with_neighbors(annotated(), 15)
    assert key_of(known) == "neighbors"
    np.testing.assert_allclose(
        known.uns["X_manymaps_tsne"]["kl_divergence"],
        found.uns["X_manymaps_tsne"]["kl_divergence"],
        rtol=0.02,
    )
    assert key_of(known, perplexity=6) is None  # of which three times as many would be 18
    assert key_of(known, n_pcs=3) is None
    assert key_of(known, metric="cosine") is None
    assert key_of(known, affinity=mm.LocalPerplexity(perplexity=5)) is None
    known.obsm["X_pca"] = known.obsm["X_pca"][::-1].copy()
    assert key_of(known) is None
    np.testing.assert_array_equal(
        known.obsm["X_manymaps_tsne"],
        mm.TSNE(random_state=0, **QUICK).fit(rows_of()[::-1]).embedding_,
    )
    assert key_of(known, neighbors_key="neighbors") == "neighbors"


def test_similarities_are_those_of_the_neighbors_that_were_named() -> None:
    """What is fitted is what the estimator makes of the very distances or connectivities."""
    adata = with_neighbors(annotated(), 8, "few")
    tsne(adata, neighbors_key="few", **QUICK)
    graph = nearest_neighbors(rows_of(), 8)
    own = mm.TSNE(random_state=0, init=rows_of()[:, :2] / 100, **QUICK)
    fitted = tsne(adata, neighbors_key="few", init=own.init, copy=True, **QUICK)
    np.testing.assert_allclose(
        fitted.uns["X_manymaps_tsne"]["history"]["kl"][:3], own.fit(graph).history_["kl"][:3]
    )
    tsne(adata, perplexity=None, neighbors_key="few", max_iter=5, init=rows_of()[:, :2] / 100)
    said = adata.uns["X_manymaps_tsne"]
    near = adata.obsp["few_connectivities"].toarray()
    similar = mm.TSNE(affinity="precomputed", random_state=0, max_iter=5, init=own.init)
    similar.fit(near / near.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(said["history"]["kl"], similar.history_["kl"], rtol=1e-5)
    assert json.loads(said["atlas"])["parameters"]["affinity"] == "Connectivities('few')"


def _cut(adata: anndata.AnnData) -> None:
    with_neighbors(adata, 15)
    adata.uns["old"] = {"distances": adata.obsp["distances"][:40, :40]}


def _lost(adata: anndata.AnnData) -> None:
    with_neighbors(adata, 15)
    del adata.obsp["distances"]


def _no_pca(adata: anndata.AnnData) -> None:
    adata.obsm["X_umap"] = adata.obsm.pop("X_pca")


def _missing(adata: anndata.AnnData) -> None:
    adata.obsm["X_pca"][3, 1] = np.nan


def _negative(adata: anndata.AnnData) -> None:
    with_neighbors(adata, 15)
    adata.obsp["connectivities"].data[0] = -1


def _unknown(adata: anndata.AnnData) -> None:
    with_neighbors(adata, 15)
    adata.obsp["connectivities"].data[0] = np.nan


@pytest.mark.parametrize(
    ("damage", "options", "error", "message"),
    [
        (_negative, {"perplexity": None}, mm.DataError, "'cell0'"),
        (_unknown, {"perplexity": None}, mm.DataError, "'cell0'"),
        (None, {"n_pcs": 1.5}, mm.ParameterError, "n_pcs=1.5"),
        (None, {"key_added": 3}, mm.ParameterError, "key_added=3"),
        (None, {"key_added": "X_pca"}, mm.ParameterError, "is the fitted table"),
        (_no_pca, {}, mm.DataError, r"'X_pca'.*use_rep='X'.*'X_umap'"),
        (None, {"use_rep": "X_lsi"}, mm.DataError, r"'X_lsi'.*'X_pca'"),
        (None, {"n_pcs": 7}, mm.ParameterError, "n_pcs=7"),
        (_missing, {}, ValueError, "NaN"),
        (None, {"neighbors_key": "near"}, mm.DataError, "'near'"),
        (None, {"perplexity": None}, mm.DataError, "'neighbors'"),
        (_cut, {"neighbors_key": "near"}, mm.DataError, r"'neighbors'.*'old'"),
        (_cut, {"neighbors_key": "old"}, mm.DataError, r"shape 40 x 40"),
        (_lost, {"neighbors_key": "neighbors"}, mm.DataError,
         r"'distances'.*'connectivities'"),
        (_cut, {"neighbors_key": "neighbors", "perplexity": 20}, mm.ParameterError,
         r"perplexity=20 needs at least as many neighbours, .* 'cell0' has 15 under 'neighbors'; "
         r".*n_neighbors=61.*perplexity=None"),
        (_cut, {"neighbors_key": "neighbors", "affinity": mm.GaussianAffinity()},
         mm.ParameterError, "pass one of the two"),
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
    with pytest.raises(mm.DataError):
        to_atlas(adata, "X_manymaps")
    adata.uns["X_manymaps_tsne"]["atlas"] = "{"
    with pytest.raises(mm.DataError, match="do not match"):
        to_atlas(adata, "X_manymaps_tsne")
    for said in ("params", "history"):
        tsne(adata, **QUICK)
        adata.uns["X_manymaps_tsne"][said] = "all"
        with pytest.raises(mm.DataError):
            to_atlas(adata, "X_manymaps_tsne")


@pytest.mark.slow
def test_the_page_on_scanpy_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its neighbours are taken, its plots draw the maps, and its files keep them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = (Path(__file__).parents[2] / "docs" / "tutorials" / "scanpy.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy tells of its own coming changes
        exec(compile("\n".join(blocks), "docs/tutorials/scanpy.md", "exec"), names)
        cells = names["cells"]
        with pytest.raises(mm.ParameterError, match=r"'neighbors'.*n_neighbors=91"):
            tsne(cells, neighbors_key="neighbors")
        cells.write_h5ad(tmp_path / "cells.h5ad")
        again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    params = cells.uns["X_manymaps_tsne"]["params"]
    assert (params["neighbors_key"], params["use_rep"]) == ("wide", "X_pca")
    labels = cells.obs["bulk_labels"].to_numpy()
    near = nearest_neighbors(cells.obsm["X_manymaps_tsne"], 10).indices
    assert (labels[near] == labels[:, None]).mean() > 0.6
    assert to_atlas(again, "X_manymaps") == names["atlas"] == mm.load_atlas("cells.atlas")
    assert {word for words in names["atlas"].captions() for word in words} <= set(labels)
    assert (tmp_path / "cells.html").stat().st_size > 0
