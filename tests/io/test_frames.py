"""Tables of all kinds become frames of texts by one set of rules."""

import gzip

import pandas as pd
import pytest

from manymaps.errors import DataError
from manymaps.io.frames import read_frame

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


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", 'a,b\n5" nail,x\n"open,y\n', "line 3: .* close every quotation mark"),
        ("a.csv", "a,b\n" + "x,y\n" * 40 + "1,2,3\n", "line 42 has 3 cells"),
        ("a.xlsx", "a", "spreadsheet"),
        ("a.parquet", "a,b\n", "cannot be read as Parquet"),
    ],
)
def test_files_that_are_no_table_are_refused(write, name, content, message):
    with pytest.raises(DataError, match=message):
        read_frame(write(name, content))


def test_spreadsheets(write, monkeypatch):
    monkeypatch.setattr(pd, "read_excel", lambda path, **_: pd.DataFrame([["a", "b"], ["x", "1"]]))
    assert read_frame(write("a.xlsx", b"PK")).to_dict("list") == {"a": ["x"], "b": ["1"]}


def test_parquet_keeps_its_types(tmp_path):
    pd.DataFrame({"word": ["tie"], "n": [1]}).to_parquet(tmp_path / "a.parquet")
    assert read_frame(tmp_path / "a.parquet")["n"].tolist() == [1]
