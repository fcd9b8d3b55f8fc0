"""Documents from folders, files and memory: texts, labels, metadata, notes, and what is refused."""

import gzip
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from manymaps.errors import DataError
from manymaps.io.texts import Documents, read_documents

FRENCH = "la cravate de soirée, déjà nouée"


def written(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def read(source: object, column: str | None = None) -> Documents:
    return read_documents(source, column)


def metadata(documents: Documents) -> dict[str, list]:
    return {name: column.tolist() for name, column in documents.metadata.items()}


def test_files_of_a_folder_are_in_the_order_of_their_paths_with_their_group(tmp_path):
    written(tmp_path / "knots" / "b.txt", "a knot\nof rope\n")
    written(tmp_path / "knots" / "a.txt", "a bow")
    written(tmp_path / "clothes" / "formal" / "x", "a tie")
    written(tmp_path / "top.txt", "")
    documents = read(tmp_path)
    assert documents.labels == ["clothes/formal/x", "knots/a.txt", "knots/b.txt", "top.txt"]
    assert documents.texts == ["a tie", "a bow", "a knot\nof rope\n", ""]
    assert metadata(documents) == {"group": ["clothes/formal", "knots", "knots", ""]}
    assert documents.report.notes == ()


def test_files_of_a_folder_that_are_not_text_are_left_out_and_listed(tmp_path):
    written(tmp_path / "a.txt", FRENCH.encode("latin-1"))
    written(tmp_path / "b.txt", FRENCH.encode("utf-16"))
    written(tmp_path / "late.bin", b"text for long " * 1000 + b"\x00")
    written(tmp_path / ".hidden", "knot")
    written(tmp_path / ".git" / "config", "knot")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    documents = read(tmp_path)
    assert documents.labels == ["a.txt", "b.txt"]
    assert documents.texts == [FRENCH, FRENCH]
    assert documents.metadata == {}
    assert documents.report.notes == (
        "hidden or not text: 4 ('.git/config', '.hidden', 'dangling' and 1 more)",
    )


ODD = "tie\u2028knot\x85\x0c"  # line separators of Unicode are no ends of line


@pytest.mark.parametrize(
    ("name", "content", "texts", "labels", "others"),
    [
        ("a.txt", f"a tie\r\n\n{ODD}\n", ["a tie\r", "", ODD], ["0", "1", "2"], {}),
        ("a", FRENCH.encode("utf-8-sig"), [FRENCH], ["0"], {}),
        ("a.csv.gz", gzip.compress(b"text,Doc_ID\ntie,3\n", mtime=0), ["tie"], ["3"], {}),
        ("a.csv", 'id,text,y\na,"a tie,\nand ""b""",1\n\nb,,2\n', ['a tie,\nand "b"', ""],
         ["a", "b"], {"y": ["1", "2"]}),
        ("a.tsv", 'text\tid\n"5 inches\ta\n6" nail\tb\n', ['"5 inches', '6" nail'], ["a", "b"], {}),
    ],
)  # fmt: skip
def test_files(tmp_path, name, content, texts, labels, others):
    documents = read(written(tmp_path / name, content))
    assert documents.texts == texts
    assert documents.labels == labels
    assert metadata(documents) == others
    assert documents.report.n_read == len(texts)


def test_frames_have_metadata():
    """Long texts are not metadata."""
    others = {
        "year": [1993, None], "weight": [None, 0.5], "group": ["clothes", pd.NA],
        "long": ["", "x" * 300],
    }  # fmt: skip
    frame = pd.DataFrame({"body": ["a tie", pd.NA], "id": [7, None], **others}, dtype=object)
    documents = read(frame)
    assert documents.texts == ["a tie", ""]
    assert documents.labels == ["7", "1"]
    assert list(documents.metadata) == ["year", "weight", "group"]
    assert documents.metadata["year"][0] == 1993
    assert documents.metadata["weight"][1] == 0.5
    assert documents.metadata["group"].tolist() == ["clothes", ""]
    assert read(frame.set_axis(["p", "q"])).labels == ["p", "q"]
    assert read(pl.DataFrame({"text": ["tie"], "id": ["a"]})).labels == ["a"]


def test_texts_in_memory():
    assert read(iter(["tie", "knot"])).labels == ["0", "1"]
    assert read({"x": "tie", 3: "knot"}).labels == ["x", "3"]
    assert read(pd.Series(["tie", "knot"], index=["p", "p"])).labels == ["p", "p (2)"]


def test_refusals(tmp_path):
    files = [
        ("a.txt", "\n"), ("a.csv", "id,text\n"), ("a.csv", "x,y\n1,2\n"), ("c/.x", "tie"),
        ("a.txt", "tie\n".encode("utf-16-le")), ("a.txt", b"\xff\xfea"),
    ]  # fmt: skip
    for name, content in files:
        file = written(tmp_path / name, content)
        with pytest.raises(DataError):
            read(file.parent if name == "c/.x" else file)
    for source in ["tie", 3], [b"tie"], [], pd.DataFrame({"id": ["a"], "text": [3]}):
        with pytest.raises(DataError):
            read(source)
    with pytest.raises(DataError):
        read(written(tmp_path / "a.txt", "tie"), column="body")
    with pytest.raises(FileNotFoundError):
        read("a text, not a file")
