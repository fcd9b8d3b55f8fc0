""".h5ad files that are damaged or lack a table, and how they are opened."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manymaps.anndata import tsne
from manymaps.errors import DataError
from manymaps.io.vectors import read_vectors, vectors_from
from vector_samples import save


@pytest.fixture
def annotated(tmp_path):
    values = sparse.csr_matrix([[0, 2.0, 0], [1, 0, 3]])
    frames = [pd.DataFrame(index=["a", "b"]), pd.DataFrame(index=["x", "y", "z"])]
    data = anndata.AnnData(values, *frames, layers={"raw": values.tocsc()})
    data.obsm["X_pca"] = np.ones((2, 2))
    data.write_h5ad(tmp_path / "a.h5ad")
    return tmp_path / "a.h5ad"


def test_errors_of_the_library_name_the_file(annotated):
    whole = annotated.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:8] + bytes(200) + whole[208:]):
        path = save(annotated.with_name("d.h5ad"), damaged)
        with pytest.raises(DataError):
            read_vectors(path)


def test_a_table_that_is_missing(annotated):
    with h5py.File(annotated, "r+") as file:
        del file["X"]
    assert read_vectors(annotated).report.notes == ("uses X_pca, 2 components",)


@pytest.mark.parametrize(("n_variables", "table"), [(50, "X"), (51, "X_pca")])
def test_files_and_the_functions_for_anndata_choose_the_same_table(tmp_path, n_variables, table):
    rows = np.random.default_rng(0).normal(size=(12, n_variables))
    data = anndata.AnnData(rows, obsm={"X_pca": rows[:, :3]})
    data.write_h5ad(tmp_path / "a.h5ad")
    vectors = read_vectors(tmp_path / "a.h5ad")
    expected = rows if table == "X" else rows[:, :3]
    np.testing.assert_allclose(vectors.values, expected, rtol=1e-6)
    tsne(data, perplexity=2, max_iter=2)
    assert data.uns["X_manymaps_tsne"]["params"]["use_rep"] == table
    del data.obsm["X_pca"]
    assert vectors_from(data).report.notes == (f"uses X, {n_variables} variables",)
