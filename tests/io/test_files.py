"""Opening files: what packs them, what their first bytes say, and containers that are damaged."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.counts import read_counts
from manymaps.io.files import read_arrays, read_bytes, split_lines, stored_format, unpacked
from manymaps.io.metadata import read_columns
from manymaps.io.vectors import read_vectors
from vector_samples import save

PACKERS = [gzip.compress, bz2.compress, lzma.compress]


@pytest.mark.parametrize("pack", PACKERS)
def test_what_is_packed_is_told_by_its_content(tmp_path, pack):
    path = save(tmp_path / "plain.txt", pack(b"tie"))
    assert read_bytes(path) == b"tie"
    with unpacked(path) as file:
        assert (file.stream.read(), file.packed) == (b"tie", True)
    with pytest.raises(DataError, match="is empty; expected words"):
        read_bytes(save(path, pack(b"")), "words")


def test_a_word_may_begin_like_an_archive(tmp_path):
    path = save(tmp_path / "v.vec", b"BZhou .5 .25 1\ntie .5 0 1\n")
    assert read_vectors(path).labels == ("BZhou", "tie")


@pytest.mark.parametrize("pack", PACKERS)
def test_packed_containers(tmp_path, pack):
    file = io.BytesIO()
    parquet.write_table(pa.table({"cue": ["a", "b"], "response": ["b", "a"]}), file)
    assert read_associations(save(tmp_path / "n.parquet", pack(file.getvalue()))).n_pairs == 2
    file = io.BytesIO()
    np.savez(file, labels=np.array(["a", "b"]), strengths=1 - np.eye(2))
    path = save(tmp_path / "n.npz", pack(file.getvalue()))
    assert read_associations(path).labels == ("a", "b")
    assert set(read_arrays(path, ["labels"])) == {"labels"}


def test_an_archive_of_arrays_needs_no_name(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array([[0, 1, 2], [3, 0, 1]]))
    (tmp_path / "s.npz").rename(tmp_path / "s")
    path = tmp_path / "s"
    assert stored_format(path, path.read_bytes()) == "npz"
    assert read_counts(path).values.sum() == 7


@pytest.mark.parametrize("read", [read_associations, read_counts, read_vectors, read_columns])
def test_a_spreadsheet_is_told_from_an_archive_of_arrays(tmp_path, read):
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as archive:
        archive.writestr("xl/sheet1.xml", "<sheet/>")
    with pytest.raises(DataError, match="is a zip archive or a spreadsheet"):
        read(tmp_path / "book.xlsx")


@pytest.mark.parametrize("read", [read_associations, read_counts, read_vectors, read_columns])
def test_no_pickle_is_read(tmp_path, read):
    with pytest.raises(
        DataError, match="is a Python pickle, which may execute code and is not read"
    ):
        read(save(tmp_path / "model.kv", b"\x80\x04\x95\x10\x00"))


@pytest.mark.parametrize("pack", [bytes, *PACKERS])
@pytest.mark.parametrize("read", [read_associations, read_counts])
def test_a_matrix_that_is_none_is_refused(tmp_path, read, pack):
    text = b"cue,response,strength\n" + 100 * b"tie,knot,1\n"
    with pytest.raises(DataError, match="cannot be read as MatrixMarket"):
        read(save(tmp_path / "n.txt", pack(text)), format="mtx")
    with pytest.raises(DataError, match="cannot be read as MatrixMarket"):
        read(save(tmp_path / "n.mtx", pack(b"%%MatrixMarket matrix\n" + text)))


def test_a_format_that_a_reader_does_not_know_is_named(tmp_path):
    market = save(tmp_path / "m.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")
    with pytest.raises(DataError, match="format mtx, which cannot contain vectors"):
        read_vectors(market)
    annotated = save(tmp_path / "a.h5ad", b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DataError, match="h5ad files contain vectors or counts"):
        read_associations(annotated)


def test_columns_of_metadata_keep_their_order_and_kind(tmp_path):
    """Numbers where all that is there is one; digits joined by underscores are names."""
    (tmp_path / "m.csv").write_text(
        "label,year,size,code,some\nb,1990,1.5,1_0,\na,,2,20,4\nc,1992,3,30,x\n"
    )
    assert read_columns(tmp_path / "m.csv") == {
        "label": ["b", "a", "c"],
        "year": [1990, None, 1992],
        "size": [1.5, 2.0, 3.0],
        "code": ["1_0", "20", "30"],
        "some": [None, "4", "x"],
    }


def test_lines_are_stripped_at_both_ends():
    assert split_lines(b" a b \r\n\tc\t\rd\n", "x") == ["a b", "c", "d", ""]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_zero_characters_are_refused_in_any_encoding(tmp_path, encoding):
    text = "label,a\0b\ntie,1\nknot,2\n"
    with pytest.raises(DataError, match="zero bytes"):
        read_columns(save(tmp_path / "m.csv", text.encode(encoding)))
