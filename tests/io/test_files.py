"""Opening files: what packs them, what their first bytes say, and containers that are damaged."""

import bz2
import gzip
import lzma
import zipfile

import pytest
from scipy import sparse

from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.counts import read_counts
from manymaps.io.frames import read_bytes, read_columns, read_labels
from manymaps.io.vectors import read_vectors
from vector_samples import save

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_texts(tmp_path, suffix):
    path = save(tmp_path / f"plain.txt{suffix}", PACKERS[suffix](b"tie"))
    assert read_bytes(path) == b"tie"
    for content in PACKERS[suffix](b""), PACKERS[suffix](b"tie" * 500)[:-9]:
        with pytest.raises(DataError):
            read_bytes(save(path, content))
    other = save(tmp_path / "plain.tsv", PACKERS[suffix](b"tie"))
    with pytest.raises(DataError):
        read_associations(other)


def test_a_zip_file_with_one_text(tmp_path):
    with zipfile.ZipFile(tmp_path / "n.csv.zip", "w") as archive:
        archive.writestr("n.csv", "cue,response\na,b\nb,a\n")
    assert read_associations(tmp_path / "n.csv.zip").n_pairs == 2
    with zipfile.ZipFile(tmp_path / "n.csv.zip", "a") as archive:
        archive.writestr("m.csv", "")
    with pytest.raises(DataError):
        read_associations(tmp_path / "n.csv.zip")


def test_the_suffix_is_the_format(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array([[0, 1, 2], [3, 0, 1]]))
    path = (tmp_path / "s.npz").rename(tmp_path / "s.txt")
    with pytest.raises(DataError, match=r"s\.txt is not text"):
        read_counts(path)
    for suffix in ".npy", ".npz", ".parquet", ".mtx", ".h5ad", ".graphml", ".biom":
        path = save(tmp_path / f"a{suffix}", b"cue,response\ntie,knot\n")
        for read in read_associations, read_counts, read_vectors:
            with pytest.raises(DataError, match=rf"a\{suffix}"):
                read(path)


def test_columns_of_metadata_keep_their_order_and_kind(tmp_path):
    """Numbers where all that is there is one; digits joined by underscores are names."""
    (tmp_path / "m.csv").write_text(
        "label,year,size,code,some\nb,1990,1.5,1_0,\na,,2,20,4\nc,1992,3,30,x\n"
    )
    frame = read_columns(tmp_path / "m.csv")
    assert frame.astype(object).where(frame.notna(), None).to_dict("list") == {
        "label": ["b", "a", "c"],
        "year": [1990, None, 1992],
        "size": [1.5, 2.0, 3.0],
        "code": ["1_0", "20", "30"],
        "some": [None, "4", "x"],
    }


def test_lines_are_stripped_at_both_ends(tmp_path):
    path = save(tmp_path / "x", " a b \r\n\tc\u2028d\t\re\n\n")
    assert read_labels(path) == ["a b", "c\u2028d", "e"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_zero_characters_are_refused_in_any_encoding(tmp_path, encoding):
    text = "label,a\0b\ntie,1\nknot,2\n"
    with pytest.raises(DataError):
        read_columns(save(tmp_path / "m.csv", text.encode(encoding)))


@pytest.mark.parametrize(("field", "value"), [(10, 99), (6, 99), (8, 1)])
def test_a_zip_file_that_cannot_be_unpacked_is_refused(tmp_path, field, value):
    """An unknown method, a future version, and a password, in the record of the member."""
    path = tmp_path / "n.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("n.csv", "cue,response\na,b\nb,a\n")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + field] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_associations(path)
    with pytest.raises(DataError):
        read_counts(save(tmp_path / "n.npz", bytes(content)))
