"""Tables of every kind, packed or not, become frames of texts by one set of rules."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from manymaps.errors import DataError
from manymaps.io.columns import checked_frame, labels_of, numbers_of, numeric_columns
from manymaps.io.containers import opened
from manymaps.io.frames import read_bytes, read_columns, read_frame, read_labels
from manymaps.labels import natural_order

MARKED = "<HTML><BODY>\n<PRE>\nCUE, TARGET, #G\nA BAND, BOY, 1\n</pre></BODY>\n</HTML>\n"
TABLES = {
    "plain.csv": ("cue,response\ntie,NA\n\n knot,\n", [["tie", "NA"], ["knot", ""]], [2, 4]),
    "data.csv": ("tie,knot,1\nknot,a,2\n", [["tie", "knot", "1"], ["knot", "a", "2"]], [1, 2]),
    "corner.csv": (",1984,b\n1,2,3\n", [["1", "2", "3"]], [2]),
    "label.tsv": ("Word\t1\t2\ntie\t3\t4\n", [["tie", "3", "4"]], [2]),
    "decimals.txt": ("bow;0,1;2\ntie;0,3;4\n", [["bow", "0,1", "2"], ["tie", "0,3", "4"]], [1, 2]),
    "r.csv": ("a,b\nx,2,3\ny,3,4\n", [["x", "2", "3"], ["y", "3", "4"]], [2, 3]),
    "ended.csv": ("a,b\nx,2,\ny,3,\n", [["x", "2"], ["y", "3"]], [2, 3]),
    "also_ended.csv": ("a,b,\nx,2,\ny,3,\n", [["x", "2"], ["y", "3"]], [2, 3]),
    "write.table.txt": ('"cue" "n"\n"1" "a b" 3\n', [["1", "a b", "3"]], [2]),
    "open.tsv": ('a\tb\n5" nail\tx\n"open\ty\n', [['5" nail', "x"], ['"open', "y"]], [2, 3]),
    "broken.csv": ('a,b\n"x\r\ny", "1, 2"\nz,2\n', [["x\r\ny", "1, 2"], ["z", "2"]], [2, 4]),
    "usf.txt": (MARKED, [["A BAND", "BOY", "1"]], [4]),
    "sep.csv": ("sep=;\na;b\n1,5 m;3\n", [["1,5 m", "3"]], [3]),
    "mac.csv": ("a,b\r1 m,2\r", [["1 m", "2"]], [2]),
    "bars.txt": ("a|b\nx, y|2\n", [["x, y", "2"]], [2]),
    "one.csv": ("word\ntie\n", [["tie"]], [2]),
    "latin.csv": ("a,b\ncafé,año\n".encode("latin-1"), [["café", "año"]], [2]),
    "utf16.csv": ("a,b\ncafé,año\n".encode("utf-16"), [["café", "año"]], [2]),
    "packed.csv.gz": (gzip.compress(b"a,b\nx,y\n"), [["x", "y"]], [2]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_by_one_set_of_rules(write, name):
    content, cells, lines = TABLES[name]
    frame = read_frame(write(name, content))
    assert frame.to_numpy().tolist() == cells
    assert frame.index.tolist() == lines
    assert len(frame.attrs["notes"]) == (name == "latin.csv")


REFUSED = [
    ("a.csv", "", "is empty"),
    ("a.csv", 'a,b\n5" nail,x\n"open,y\n', "line 3"),
    ("a.csv", "a,b\n" + "x,y\n" * 40 + "1,2,3\n", "line 42"),
    ("a.csv", "a,b\nx,y\nx,y,z\nx,y\n", "line 3"),
    ("a.csv", b"a,b\x00\n", "zero bytes"),
    ("a.csv", "a,b\0\n".encode("utf-16"), "zero bytes"),
    ("a.csv", b"\xff\xfea", "UTF-16"),
    ("a.xlsx", "a", "spreadsheet"),
    ("a.parquet", "a,b\n", "Parquet"),
]


def test_files_that_are_no_table_are_refused_with_their_place(write):
    for name, content, place in REFUSED:
        with pytest.raises(DataError, match=place):
            read_frame(write(name, content))


def test_spreadsheets(write, monkeypatch):
    monkeypatch.setattr(pd, "read_excel", lambda path, **_: pd.DataFrame([["a", "b"], ["x", "1"]]))
    assert read_frame(write("a.xlsx", b"PK")).to_dict("list") == {"a": ["x"], "b": ["1"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_on_which_rows_start(write, end):
    random = np.random.default_rng(0)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
    line, expected = 2, []
    writer.writerow(["word", "text", "n"])
    for k in range(200):
        text = "".join(random.choice(["a", "\n", "\r\n", ",", '"'], random.integers(1, 5)))
        writer.writerow([f"w{k}", text, "1"])
        expected.append((line, [f"w{k}", text, "1"]))
        line += 1 + text.count("\n")
        if k % 7 == 0:
            file.write(end)
            line += 1
    frame = read_frame(write("t.csv", file.getvalue().encode()))
    assert list(zip(frame.index, frame.to_numpy().tolist(), strict=True)) == expected


def test_text_and_frames_give_the_same_cells(tmp_path):
    columns = {"cue": ["tie", "tie", "knot"], "response": ["knot", "suit", "tie"], "n": [6, 4, 1]}
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame(columns).to_parquet(tmp_path / "t.parquet")
    frames = [make(columns) for make in (pd.DataFrame, pl.DataFrame, pa.table, dict)]
    frames += [read_frame(tmp_path / name) for name in ("t.csv", "t.parquet")]
    for frame in map(checked_frame, frames):
        cue, response = (labels_of(frame, c) for c in (0, 1))
        assert cue.tolist() == ["tie", "tie", "knot"]
        assert response.tolist() == ["knot", "suit", "tie"]
        assert numbers_of(frame, [2], "count").tolist() == [[6], [4], [1]]
        assert numeric_columns(frame) == [False, False, True]


# --- packed files ---------------------------------------------------------------------------------

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_texts(write, suffix):
    pack = PACKERS[suffix]
    assert read_bytes(write(f"plain.txt{suffix}", pack(b"tie"))) == b"tie"
    for content in pack(b""), pack(b"tie" * 500)[:-9]:
        with pytest.raises(DataError):
            read_bytes(write(f"plain.txt{suffix}", content))
    with pytest.raises(DataError):
        read_frame(write("plain.tsv", pack(b"tie")))


def test_a_zip_file_contains_one_text(tmp_path):
    """The fields of a member are an unknown method, a future version, and a password."""
    path = tmp_path / "n.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("n.csv", "a,b\nx,y\n")
    whole = path.read_bytes()
    assert read_frame(path).to_numpy().tolist() == [["x", "y"]]
    for field, value in ((10, 99), (6, 99), (8, 1)):
        content = bytearray(whole)
        content[content.index(b"PK\x01\x02") + field] = value
        for name in ("n.csv.zip", "n.npz"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(DataError):
                opened(tmp_path / name)
    path.write_bytes(whole)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("m.csv", "")
    with pytest.raises(DataError):
        read_frame(path)


def test_the_suffix_is_the_format(tmp_path, write):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array([[0, 1, 2], [3, 0, 1]]))
    with pytest.raises(DataError, match=r"s\.txt is not text"):
        opened((tmp_path / "s.npz").rename(tmp_path / "s.txt"))
    for suffix in ".npy", ".npz", ".parquet", ".mtx", ".h5ad", ".graphml", ".biom":
        with pytest.raises(DataError, match=rf"a\{suffix}"):
            opened(write(f"a{suffix}", b"cue,response\ntie,knot\n"))


# --- columns of metadata and lists of labels ------------------------------------------------------

LONG = "9" * 5000


def test_columns_of_metadata_keep_their_order_and_kind(write):
    """Numbers where all that is there is one; digits joined by underscores are names."""
    text = (
        "label,year,size,code,some,long,large\n"
        f"b,1990,1.5,1_0,,{LONG},{2**63}\na,,2,20,4,1,2\nc,1992,3,30,x,2,3\n"
    )
    frame = read_columns(write("m.csv", text))
    assert frame.astype(object).where(frame.notna(), None).to_dict("list") == {
        "label": ["b", "a", "c"],
        "year": [1990, None, 1992],
        "size": [1.5, 2.0, 3.0],
        "code": ["1_0", "20", "30"],
        "some": [None, "4", "x"],
        "long": [LONG, "1", "2"],
        "large": [str(2**63), "2", "3"],
    }


def test_numbers_of_thousands_of_digits_are_sorted():
    assert sorted([f"a{LONG}", "a10", "a9"], key=natural_order) == ["a9", "a10", f"a{LONG}"]


def test_columns_and_labels_that_are_refused(write):
    for text in (
        "label,n\n",
        '""\n""\n',
        "<html>\n",
        ",\n",
        "label,label\ntie,1\n",
        "animal,1\ntie,2\n",
        '"label,n\na,1\n',
    ):
        with pytest.raises(DataError):
            read_columns(write("m.csv", text))
    for content in "\ufeff\n\n", "a\n\nb\n", "", b"a\0":
        with pytest.raises(DataError):
            read_labels(write("l.txt", content))


def test_lines_of_labels_are_stripped_at_both_ends(write):
    path = write("x", " a b \r\n\tc\u2028d\t\re\n\n")
    assert read_labels(path) == ["a b", "c\u2028d", "e"]
