"""Documents from folders and files: what is read, what is left out and said, what is refused."""

import bz2
import gzip
import json
from pathlib import Path

import pytest

from manymaps.data.associations import ReadReport
from manymaps.errors import DataError, ParameterError
from manymaps.io.texts import Document, Texts

FRENCH = "la cravate de soirée, déjà nouée"


def written(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def read(path: Path, **options: str) -> tuple[list[Document], ReadReport]:
    reading = iter(Texts(path, **options))
    return list(reading), reading.report


def texts_of(path: Path, **options: str) -> list[str]:
    return [document.text for document in Texts(path, **options)]


class TestFolder:
    def test_files_in_the_order_of_their_names_with_their_group(self, tmp_path):
        written(tmp_path / "knots" / "b.txt", "a knot\nof rope\n")
        written(tmp_path / "knots" / "a.txt", "a bow")
        written(tmp_path / "clothes" / "formal" / "x", "a tie")
        written(tmp_path / "top.txt", "alone")
        texts = Texts(tmp_path)
        assert list(texts) == list(texts)
        assert list(texts) == [
            Document("top.txt", "alone"),
            Document("clothes/formal/x", "a tie", {"group": "clothes/formal"}),
            Document("knots/a.txt", "a bow", {"group": "knots"}),
            Document("knots/b.txt", "a knot\nof rope\n", {"group": "knots"}),
        ]

    def test_what_is_no_text_is_left_out_and_said(self, tmp_path):
        written(tmp_path / "a.txt", "tie")
        written(tmp_path / "image.png", b"\x89PNG\x00\x01")
        written(tmp_path / "late.bin", b"text for long " * 1000 + b"\x00")
        written(tmp_path / ".hidden", "knot")
        written(tmp_path / ".git" / "config", "knot")
        (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
        (tmp_path / "linked").symlink_to(tmp_path)
        documents, report = read(tmp_path)
        assert [document.label for document in documents] == ["a.txt"]
        assert report.n_read == 1
        assert report.dropped == {
            "hidden folder": 1, "hidden": 1, "binary": 2, "link to a folder": 1,
            "no ordinary file": 1,
        }  # fmt: skip
        (note,) = report.notes
        assert "2 binary (image.png, ...)" in note

    def test_compressed_files(self, tmp_path):
        written(tmp_path / "a.txt.bz2", bz2.compress(FRENCH.encode()))
        assert texts_of(tmp_path) == [FRENCH]


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    @pytest.mark.parametrize("named", [None, "cp1252"])
    def test_a_mark_wins_over_what_is_named(self, tmp_path, encoding, named):
        written(tmp_path / "a.txt", FRENCH.encode(encoding))
        assert read(tmp_path, encoding=named) == read(tmp_path)
        assert texts_of(tmp_path) == [FRENCH]
        assert texts_of(tmp_path / "a.txt", encoding=named) == [FRENCH]

    def test_latin1_where_it_is_not_utf8(self, tmp_path):
        written(tmp_path / "a.txt", FRENCH.encode("latin-1"))
        written(tmp_path / "b.txt", FRENCH.encode("utf-8"))
        documents, report = read(tmp_path)
        assert [document.text for document in documents] == [FRENCH, FRENCH]
        (note,) = report.notes
        assert note.startswith("not UTF-8 and read as latin-1: 1 (first ")
        assert "a.txt" in note

    def test_utf16_without_a_mark_needs_its_name(self, tmp_path):
        file = written(tmp_path / "a.txt", "tie\nknot\n".encode("utf-16-le"))
        with pytest.raises(DataError):
            read(file)
        with pytest.raises(DataError):
            read(tmp_path)
        assert texts_of(file, encoding="utf-16-le") == ["tie", "knot"]
        assert texts_of(tmp_path, encoding="utf-16-le") == ["tie\nknot\n"]

    def test_lines_that_are_not_utf8(self, tmp_path):
        file = written(tmp_path / "a.txt", b"\n".join([FRENCH.encode(), FRENCH.encode("latin-1")]))
        with pytest.raises(DataError):
            read(file)


class TestJsonLines:
    def test_fields(self, tmp_path):
        file = written(
            tmp_path / "a.jsonl",
            '{"id": 7, "text": "a tie", "group": "clothes", "year": 1993, "tags": ["x"]}\n\n'
            '{"text": null, "id": "b", "weight": 0.5, "spam": false, "group": null}',
        )
        documents, report = read(file)
        assert documents == [
            Document("7", "a tie", {"group": "clothes", "year": 1993}),
            Document("b", "", {"weight": 0.5, "spam": False, "group": None}),
        ]
        assert report.notes == (
            "documents without a text, read as empty: 1",
            "fields with lists or objects, left out: 'tags'",
        )

    def test_named_fields_in_any_case(self, tmp_path):
        assert texts_of(written(tmp_path / "a.jsonl", '{"words": "tie"}')) == ["tie"]
        file = written(tmp_path / "a.jsonl.gz", gzip.compress(b'{"Body Text": "tie", "Nr": 3}'))
        texts = Texts(file, column="body_text", label_column="nr")
        assert list(texts) == [Document("3", "tie")]

    def test_line_separators_of_unicode_are_no_ends_of_line(self, tmp_path):
        text = "tie\u2028knot\x85\x0c"
        line = json.dumps({"text": text}, ensure_ascii=False)
        assert texts_of(written(tmp_path / "a.jsonl", line + "\n")) == [text]

    @pytest.mark.parametrize(
        "line",
        [
            '{"id": "b", "text": ',
            "[1, 2]",
            "3",
            '{"id": "b", "body": "x"}',
            '{"text": "b"}',
            '{"id": "b", "text": 3}',
            '{"id": null, "text": "x"}',
            '{"id": " ", "text": "x"}',
            "[" * 100_000,
        ],
    )
    def test_bad_lines_are_named(self, tmp_path, line):
        file = written(tmp_path / "a.jsonl", '{"id": "a", "text": "tie"}\n' + line + "\n")
        reading = iter(Texts(file))
        assert next(reading).label == "a"
        with pytest.raises(DataError):
            list(reading)


class TestTables:
    def test_columns(self, tmp_path):
        file = written(
            tmp_path / "a.csv", 'id,text,group\na,"a tie,\nand a ""bow""",clothes\n\nb,,knots\n'
        )
        assert list(Texts(file)) == [
            Document("a", 'a tie,\nand a "bow"', {"group": "clothes"}),
            Document("b", "", {"group": "knots"}),
        ]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, tmp_path, delimiter):
        rows = [["id", "text"], ["a", '"tie, knot; bow | noose"']]
        file = written(tmp_path / "a.csv", "\n".join(map(delimiter.join, rows)))
        assert list(Texts(file)) == [Document("a", "tie, knot; bow | noose")]

    @pytest.mark.parametrize(
        ("rows", "documents"),
        [
            ('text\tid\n"5 inches\ta\n6" nail\tb\n', [("a", '"5 inches'), ("b", '6" nail')]),
            ('text\tid\n"a\ttie"\ta\n', [("a", "a\ttie")]),
        ],
    )
    def test_tabs_without_and_with_quoting(self, tmp_path, rows, documents):
        file = written(tmp_path / "a.tsv", rows)
        assert list(Texts(file)) == [Document(*one) for one in documents]

    def test_parquet(self, tmp_path):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        n = 3000
        table = pyarrow.table(
            {
                "doc_id": [f"d{i}" for i in range(n)],
                "text": pyarrow.array(["tie"] * (n - 1) + [None]).dictionary_encode(),
                "year": list(range(n)),
                "tags": [["x"]] * n,
            }
        )
        parquet.write_table(table, tmp_path / "a.parquet")
        documents, report = read(tmp_path / "a.parquet")
        assert documents[2998] == Document("d2998", "tie", {"year": 2998})
        assert documents[2999] == Document("d2999", "", {"year": 2999})
        assert len(documents) == n
        assert "'tags'" in report.notes[1]


class TestLines:
    def test_each_line_is_a_document(self, tmp_path):
        file = written(tmp_path / "a.txt", "a tie\r\n\nknot")
        documents = [Document("0", "a tie"), Document("1", ""), Document("2", "knot")]
        assert list(Texts(file)) == documents


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl", "\n"), ("a.csv", "id,text\n"), ("a.csv", "")]
)
def test_no_documents(tmp_path, name, content):
    with pytest.raises(DataError):
        read(written(tmp_path / name, content))


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("a.jsonl", "jsonl"), ("a.JSON.GZ", "jsonl"), ("a.csv.xz", "csv"), ("a.tab", "tsv"),
            ("a.parquet", "parquet"), ("a.txt", "lines"), ("a", "lines"),
        ],
    )  # fmt: skip
    def test_the_format_by_the_name(self, tmp_path, name, kind):
        assert Texts(written(tmp_path / name, "")).kind == kind
        assert Texts(tmp_path / name, format="csv").kind == "csv"

    def test_bad_options_are_refused(self, tmp_path):
        file = written(tmp_path / "a.txt", "tie")
        for path, options in [
            (file, {"format": "xml"}),
            (file, {"format": "folder"}),
            (tmp_path, {"format": "csv"}),
            (file, {"column": "text"}),
            (tmp_path, {"label_column": "id"}),
            (tmp_path, {"encoding": "utf8x"}),
            (file, {"format": "parquet", "encoding": "cp1252"}),
        ]:
            with pytest.raises(ParameterError):
                Texts(path, **options)
        with pytest.raises(FileNotFoundError):
            Texts(tmp_path / "nothing")
