""".h5ad files that are damaged, or promise what they do not hold."""

import subprocess
import sys

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manymaps.io.annotated
from manymaps.errors import DataError
from manymaps.io.annotated import open_annotated
from manymaps.io.counts import read_counts
from manymaps.io.kinds import looks_like_counts
from manymaps.io.vectors import read_vectors
from vector_samples import save

READERS = {"counts": read_counts, "vectors": read_vectors}


@pytest.fixture
def annotated(tmp_path):
    values = sparse.csr_matrix([[0, 2.0, 0], [1, 0, 3]])
    frames = [pd.DataFrame(index=["a", "b"]), pd.DataFrame(index=["x", "y", "z"])]
    data = anndata.AnnData(values, *frames, layers={"raw": values.tocsc()})
    data.obsm["X_pca"] = np.ones((2, 2))
    data.write_h5ad(tmp_path / "a.h5ad")
    return tmp_path / "a.h5ad"


def change(path, name, values):
    """Put another data set in the place of one."""
    with h5py.File(path, "r+") as file:
        attributes = dict(file[name].attrs)
        del file[name]
        file[name] = values
        file[name].attrs.update(attributes)
    return path


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("X/indices", np.array([1, 0, 3]), "an index in /X is beyond its 3 columns"),
        ("X/indices", np.array([1, 0, -1]), "an index in /X is beyond its 3 columns"),
        ("X/indices", np.array([1.0, 0, 2]), "the parts of /X are no numbers"),
        ("X/indices", np.array([1, 0]), "the parts of /X have the lengths"),
        ("X/indptr", np.array([0, 5, 3]), "the rows of /X do not begin and end"),
        ("X/indptr", np.array([0, 1]), "the parts of /X have the lengths"),
        ("X/data", np.array([b"a", b"b", b"c"]), "the parts of /X are no numbers"),
    ],
)
def test_sparse_parts_are_looked_at_before_they_are_used(annotated, read, name, values, message):
    with pytest.raises(DataError, match=rf"a\.h5ad cannot be read as \.h5ad \({message}"):
        read(change(annotated, name, values))


def test_the_table_that_is_asked_for_is_the_one_that_is_checked(annotated):
    change(annotated, "layers/raw/indices", np.array([0, 1, 70]))
    assert read_counts(annotated).n_pairs == 3
    with pytest.raises(DataError, match="an index in /layers/raw is beyond its 2 columns"):
        read_counts(annotated, format="h5ad:raw")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", ["X", "obsm/X_pca", "uns/more"])
def test_numbers_that_were_never_written(annotated, read, name):
    """A data set of a terabyte takes a few hundred bytes."""
    with h5py.File(annotated, "r+") as file:
        if name in file:
            del file[name]
        file.create_dataset(name, (10**6, 10**6), "f4", chunks=(100, 100))
    with pytest.raises(DataError, match=r"a\.h5ad promises 7,450\.6 GiB in"):
        read(annotated)


@pytest.mark.slow
def test_every_failure_of_the_library_names_the_file(annotated, monkeypatch):
    """The second reader knows what a process met that walked through the file for the first."""
    monkeypatch.setattr("manymaps.io.annotated.LONGEST_WALK", 4.0)
    whole = annotated.read_bytes()
    for start in range(0, len(whole), len(whole) // 12):
        damaged = whole[:start] + bytes(40) + whole[start + 40 :]
        path = save(annotated.with_name("d.h5ad"), damaged)
        for read in READERS.values():
            try:
                read(path)
            except DataError as error:
                if "d.h5ad" not in str(error):
                    raise


def test_a_table_that_is_missing(annotated):
    with h5py.File(annotated, "r+") as file:
        del file["X"]
    with pytest.raises(DataError, match=r"a\.h5ad cannot be read as \.h5ad|has no X"):
        read_counts(annotated)


class TestWalk:
    """What happens to the process that goes through the file first."""

    @pytest.fixture(autouse=True)
    def forget(self):
        manymaps.io.annotated._fault_of_walk.cache_clear()

    def test_one_that_dies(self, annotated, monkeypatch):
        monkeypatch.setattr(
            "manymaps.io.annotated.WALK", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
        )
        with pytest.raises(DataError, match=r"a\.h5ad cannot be .*HDF5 ends the process"):
            read_counts(annotated)

    def test_one_that_goes_round_for_ever(self, annotated, monkeypatch):
        monkeypatch.setattr("manymaps.io.annotated.WALK", "while True: pass")
        monkeypatch.setattr("manymaps.io.annotated.LONGEST_WALK", 0.2)
        with pytest.raises(DataError, match="does not come to an end within"):
            read_vectors(annotated)

    def test_where_no_process_can_be_started(self, annotated, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        assert read_counts(annotated).n_pairs == 3

    def test_a_file_is_walked_through_once(self, annotated, monkeypatch):
        started = []
        run = subprocess.run
        monkeypatch.setattr(subprocess, "run", lambda *a, **k: started.append(a) or run(*a, **k))
        assert looks_like_counts(annotated)
        with open_annotated(annotated, "layers", None):
            pass
        assert len(started) == 1
