"""Documents from folders, files and memory: texts, labels, metadata, notes, and what is refused."""

import gzip
from pathlib import Path

import pandas as pd
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


class TestFolder:
    def test_files_in_the_order_of_their_paths_with_their_group(self, tmp_path):
        written(tmp_path / "knots" / "b.txt", "a knot\nof rope\n")
        written(tmp_path / "knots" / "a.txt", "a bow")
        written(tmp_path / "clothes" / "formal" / "x", "a tie")
        written(tmp_path / "top.txt", "")
        documents = read(tmp_path)
        assert documents.labels == ["clothes/formal/x", "knots/a.txt", "knots/b.txt", "top.txt"]
        assert documents.texts == ["a tie", "a bow", "a knot\nof rope\n", ""]
        assert metadata(documents) == {"group": ["clothes/formal", "knots", "knots", ""]}
        assert documents.report.notes == ()

    def test_what_is_not_text_is_left_out_and_listed(self, tmp_path):
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


@pytest.mark.parametrize(
    ("name", "content", "texts", "labels", "others"),
    [
        ("a.txt", "a tie\r\n\nknot\n", ["a tie\r", "", "knot"], ["0", "1", "2"], {}),
        ("a", FRENCH.encode("utf-8-sig"), [FRENCH], ["0"], {}),
        ("a.txt", FRENCH.encode("latin-1"), [FRENCH], ["0"], {}),
        ("a.csv.gz", gzip.compress(b"text,Doc_ID\ntie,3\n", mtime=0), ["tie"], ["3"], {}),
        ("a.csv", 'id,text,y\na,"a tie,\nand ""b""",1\n\nb,,2\n', ['a tie,\nand "b"', ""],
         ["a", "b"], {"y": ["1", "2"]}),
        ("a.csv", 'id;text\na;"tie, knot; bow | noose"\n', ["tie, knot; bow | noose"], ["a"], {}),
        ("a.tsv", 'text\tid\n"5 inches\ta\n6" nail\tb\n', ['"5 inches', '6" nail'], ["a", "b"], {}),
    ],
)  # fmt: skip
def test_files(tmp_path, name, content, texts, labels, others):
    documents = read(written(tmp_path / name, content))
    assert documents.texts == texts
    assert documents.labels == labels
    assert metadata(documents) == others
    assert documents.report.n_read == len(texts)


def test_cells_that_are_not_metadata(tmp_path):
    fields = {"year": [1993, None], "weight": [None, 0.5], "group": ["clothes", None]}
    others = {"long": ["", "x" * 300]}
    documents = read(pd.DataFrame({"text": ["a tie", None], "id": [7, "b"], **fields, **others}))
    assert documents.texts == ["a tie", ""]
    assert documents.labels == ["7", "b"]
    assert documents.metadata["year"][0] == 1993
    assert documents.metadata["weight"][1] == 0.5
    assert documents.metadata["group"].tolist() == ["clothes", ""]
    assert "long" not in documents.metadata


def test_line_separators_of_unicode_are_no_ends_of_line(tmp_path):
    text = "tie\u2028knot\x85\x0c"
    assert read(written(tmp_path / "a.txt", text + "\n")).texts == [text]


def test_objects_in_memory():
    assert read(iter(["tie", "knot"])).labels == ["0", "1"]
    assert read({"x": "tie", 3: "knot"}).labels == ["x", "3"]
    assert read(pd.Series(["tie", "knot"], index=["p", "p"])).labels == ["p", "p (2)"]
    frame = pd.DataFrame({"id": ["x", "y"], "body": ["tie", pd.NA], "n": [1, pd.NA]})
    documents = read(frame)
    assert documents.texts == ["tie", ""]
    assert documents.labels == ["x", "y"]
    assert documents.metadata["n"][0] == 1
    frame.index = ["p", "q"]
    assert read(frame).labels == ["p", "q"]
    polars = pytest.importorskip("polars")
    assert read(polars.DataFrame({"text": ["tie"], "id": ["a"]})).labels == ["a"]


class TestRefusals:
    def test_bad_rows(self):
        with pytest.raises(DataError, match="row 0"):
            read(pd.DataFrame({"id": ["a"], "text": [3]}))
        assert read(pd.DataFrame({"id": ["a", None], "text": ["x", "y"]})).labels == ["a", "1"]

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.txt", "\n"), ("a.csv", "id,text\n"), ("a.csv", ""), ("a.txt", b"\x00\x01"),
            ("a.csv", "x,y\n1,2\n"), ("a.txt", "tie\n".encode("utf-16-le")),
            ("a.txt", b"\xff\xfea"), ("a.gz", b"\x1f\x8b\x00"),
        ],
    )  # fmt: skip
    def test_no_texts(self, tmp_path, name, content):
        with pytest.raises(DataError):
            read(written(tmp_path / name, content))

    def test_other_sources(self, tmp_path):
        file = written(tmp_path / "a.txt", "tie")
        for source, options in [
            (file, {"column": "body"}), (["tie", 3], {}),
            ([b"tie"], {}), ([], {}), (written(tmp_path / "b" / ".x", "tie").parent, {}),
        ]:  # fmt: skip
            with pytest.raises(DataError):
                read(source, **options)
        with pytest.raises(FileNotFoundError):
            read("a text, not a file")
