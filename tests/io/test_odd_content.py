"""Odd content of files: long numbers, half characters, empty files, rows in blocks."""

import gzip

import pytest

import manymaps as mm
from cli_samples import invoke, worked
from manymaps.errors import DataError
from manymaps.io.counts import read_counts
from manymaps.io.frames import read_columns, read_labels
from manymaps.io.similarities import read_judgements
from manymaps.io.vectors import read_vectors
from manymaps.labels import natural_order
from vector_samples import save

DIGITS = "9" * 5000


def test_packed_word2vec_that_promises_too_much(tmp_path):
    head = f"{10**12} {10**12}\n".encode() + b"a " + bytes(100)
    for name, data in {"v.bin": head, "v.bin.gz": gzip.compress(head)}.items():
        with pytest.raises(DataError):
            read_vectors(save(tmp_path / name, data))


def test_numbers_of_thousands_of_digits(tmp_path):
    with pytest.raises(DataError):
        read_counts(save(tmp_path / "t.csv", f"document,word,count\na,b,{DIGITS}\n"))
    table = read_columns(save(tmp_path / "m.csv", f"label,n,m\na,{DIGITS},{2**63}\nb,1,2\n"))
    assert table.to_dict("list") == {
        "label": ["a", "b"],
        "n": [DIGITS, "1"],
        "m": [str(2**63), "2"],
    }
    assert sorted([f"a{DIGITS}", "a10", "a9"], key=natural_order) == ["a9", "a10", f"a{DIGITS}"]


def test_a_table_without_rows(tmp_path):
    for text in "label,n\n", '""\n""\n', "<html>\n", ",\n":
        with pytest.raises(DataError):
            read_columns(save(tmp_path / "m.csv", text))


def test_nothing_but_a_mark_or_a_header(tmp_path):
    with pytest.raises(DataError):
        read_labels(save(tmp_path / "l.txt", "\ufeff\n\n"))
    header = "judge,item1,item2,similarity\n"
    with pytest.raises(DataError):
        read_judgements(save(tmp_path / "j.csv", header), judge="judge")
    with pytest.raises(DataError):
        read_vectors(save(tmp_path / "v.txt", "\n" * 100 + "a"))


TRIANGLE = "cue,response,strength\ntie,knot,1\nknot,tie,1\nknot,suit,1\nsuit,tie,1\n"
LABELS = (
    'a "quoted" word', "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GRINNING FACE}", "x" * 10_000,
    "[red]$x^2$ <b>&amp;", "NA",
)  # fmt: skip


def test_odd_words_survive_every_command(tmp_path):
    for label in LABELS:
        quoted = '"' + label.replace('"', '""') + '"'
        file = save(tmp_path / "norms.csv", TRIANGLE.replace("tie", quoted))
        atlas = tmp_path / "out.atlas"
        worked(invoke("fit", file, "-o", atlas, "--maps", 2, "--iterations", 20))
        assert label in mm.load_atlas(atlas).labels
        for arguments in (
            ("read", file),
            ("senses", atlas, label),
            ("plot", atlas, "-o", tmp_path / "a.svg", "--word", label),
            ("export", atlas, "-o", tmp_path / "a.csv"),
        ):
            shown = worked(invoke(*arguments)).stdout
            assert max(map(len, shown.splitlines()), default=0) < 500
