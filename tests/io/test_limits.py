"""The largest inputs: what is beyond them is refused early, what is within takes under 4 GiB."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from manymaps.archive import door
from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.counting import count_texts
from manymaps.io.counts import read_counts
from manymaps.io.judgements import read_judgements
from manymaps.io.matrices import read_labels
from manymaps.io.metadata import read_columns
from manymaps.io.similarities import read_similarities
from manymaps.io.tables import RULE_OF, TextTable
from manymaps.io.texts import Texts
from manymaps.io.vectors import read_vectors
from manymaps.labels import natural_order
from vector_samples import save

DIGITS = "9" * 5000
TABLES = {
    "associations": read_associations,
    "similarities": read_similarities,
    "counts": read_counts,
    "vectors": read_vectors,
    "metadata": read_columns,
}
PAIRS = {"cue": "document", "response": "word"}
NAMES = {read_associations: PAIRS, read_similarities: PAIRS}


@pytest.mark.parametrize("read", TABLES.values(), ids=TABLES)
def test_an_endless_line(tmp_path, monkeypatch, read):
    monkeypatch.setattr("manymaps.io.tables.LONGEST_LINE", 1000)
    text = "word,x,y\na,1,2\n" + "b," * 600 + "3\n"
    with pytest.raises(DataError, match=r"t\.csv, line 3 is longer than 1,000 bytes"):
        read(save(tmp_path / "t.csv", text))


def test_many_lines_are_no_endless_line(tmp_path, monkeypatch):
    monkeypatch.setattr("manymaps.io.tables.LONGEST_LINE", 100)
    for end in ("\n", "\r\n", "\r"):
        rows = "".join(f"a{i},b,{i + 1}{end}" for i in range(200))
        counts = read_counts(save(tmp_path / "t.csv", f"document,word,count{end}{rows}"))
        assert counts.n_pairs == 200


@pytest.mark.parametrize("read", TABLES.values(), ids=TABLES)
def test_a_label_of_ten_megabytes(tmp_path, read):
    label = "x" * 10 * 2**20
    header = "w,x,y\n" if read in (read_vectors, read_columns) else "document,word,count\n"
    for n_above in (2, 50):
        text = header + "a,1,2\n" * n_above + f"{label},1,2\nb,1,2\n"
        place = rf"t\.csv, line {n_above + 2}: .*field larger than field limit"
        with pytest.raises(DataError, match=place):
            read(save(tmp_path / "t.csv", text), **NAMES.get(read, {}))


def test_a_word_of_ten_megabytes(tmp_path):
    text = "x" * 10 * 2**20 + " 1 2 3\nb 1 2 3\n"
    with pytest.raises(DataError, match="line 1 starts with a word of more than 65,536 bytes"):
        read_vectors(save(tmp_path / "v.txt", text), format="glove")
    with pytest.raises(DataError, match="line 1 has 10,485,760 characters; a label has at most"):
        read_labels(save(tmp_path / "l.txt", "x" * 10 * 2**20 + "\nb\n"))


def test_a_document_of_ten_megabytes_is_one(tmp_path):
    text = "tie " * 3 * 2**20
    counts = count_texts(Texts(save(tmp_path / "t.txt", text)))
    assert counts.values.toarray().tolist() == [[3 * 2**20]]


class TestMostLabels:
    """Ten million objects of a kind are the most."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        for module in ("corpus", "files", "tables", "word2vec"):
            monkeypatch.setattr(f"manymaps.io.{module}.MOST_LABELS", 50)
        monkeypatch.setattr("manymaps.io.tables.BATCH_ROWS", 7)

    @pytest.mark.parametrize(
        ("read", "line"),
        [
            (read_associations, "a{0},b{0}"),
            (read_counts, "a{0},b,1"),
            (read_similarities, "a{0},b,1"),
            (read_vectors, "a{0},1.5,2,3"),
            (read_vectors, "a{0} 1.5 2 3"),
        ],
    )
    def test_in_tables(self, tmp_path, read, line):
        lines = [line.format(i) + "\n" for i in range(51)]
        read(save(tmp_path / "t.txt", "".join(lines[:50])), **self.kept(read))
        with pytest.raises(DataError, match=r"t\.txt has more than 50 "):
            read(save(tmp_path / "t.txt", "".join(lines)), **self.kept(read))

    @staticmethod
    def kept(read):
        return {"responses": "keep"} if read is read_associations else {}

    def test_in_wide_tables(self, tmp_path):
        text = "site,tie,knot\n" + "".join(f"s{i},1,2\n" for i in range(51))
        with pytest.raises(DataError, match=r"t\.csv has more than 50 rows"):
            read_counts(save(tmp_path / "t.csv", text), format="matrix")

    def test_in_texts(self, tmp_path):
        with pytest.raises(DataError, match="more than 50 documents"):
            count_texts(Texts(save(tmp_path / "t.txt", "tie\n" * 51)))
        with pytest.raises(DataError, match="more than 50 different words"):
            count_texts(Texts(save(tmp_path / "t.txt", " ".join(f"w{i}" for i in range(51)))))

    def test_in_lists_of_labels(self, tmp_path):
        with pytest.raises(DataError, match=r"l\.txt has more than 50 lines"):
            read_labels(save(tmp_path / "l.txt", "a\n" * 51))


def test_packed_word2vec_that_promises_too_much(tmp_path):
    head = f"{10**12} {10**12}\n".encode() + b"a " + bytes(100)
    for data in (head, gzip.compress(head)):
        with pytest.raises(DataError, match=r"row 1 of 1,000,000,000,000: .* of 4,000,000,000,000"):
            read_vectors(save(tmp_path / "v.bin", data), format="word2vec-binary")


def test_numbers_of_thousands_of_digits(tmp_path):
    with pytest.raises(DataError, match=r"t\.jsonl, line 1: invalid JSON \(Exceeds the limit"):
        list(Texts(save(tmp_path / "t.jsonl", f'{{"text": "a", "n": {DIGITS}}}\n')))
    with pytest.raises(DataError, match=r"t\.csv, line 2: .* is '9999"):
        read_counts(save(tmp_path / "t.csv", f"document,word,count\na,b,{DIGITS}\n"))
    table = read_columns(save(tmp_path / "m.csv", f"label,n,m\na,{DIGITS},{2**63}\nb,1,2\n"))
    assert table == {"label": ["a", "b"], "n": [DIGITS, "1"], "m": [str(2**63), "2"]}
    assert sorted([f"a{DIGITS}", "a10", "a9"], key=natural_order) == ["a9", "a10", f"a{DIGITS}"]


def test_halves_of_characters_in_json(tmp_path):
    line = '{"text": "a \\ud800", "id": "\\udc00", "k\\ud800": "v\\ud800"}\n'
    (document,) = Texts(save(tmp_path / "t.jsonl", line))
    for part in (document.text, document.label, *document.metadata, *document.metadata.values()):
        assert part.encode("utf-8")


def test_documents_of_many_fields(tmp_path, monkeypatch):
    line = '{"text": "a", ' + ", ".join(f'"k{i}": 0' for i in range(10_001)) + "}\n"
    with pytest.raises(DataError, match="line 1 has 10,002 fields; a document may have 10,000"):
        list(Texts(save(tmp_path / "t.jsonl", line)))
    monkeypatch.setattr("manymaps.io.documents.MOST_MISSING", 1000)
    lines = "".join(f'{{"text": "a{i}", "k{i}": 0}}\n' for i in range(100))
    with pytest.raises(DataError, match="the documents have more than 1,000 missing values"):
        count_texts(Texts(save(tmp_path / "t.jsonl", lines)))


class TestMetadata:
    def test_many_cells(self, tmp_path, monkeypatch):
        monkeypatch.setattr("manymaps.io.metadata.MOST_CELLS", 100)
        with pytest.raises(DataError, match=r"about 303 cells; a table of metadata may have 100"):
            read_columns(save(tmp_path / "m.csv", "label,a,b\n" + "x,1,2\n" * 100))

    def test_one_long_text_among_many(self, tmp_path, monkeypatch):
        monkeypatch.setattr("manymaps.io.metadata.LARGEST_COLUMN", 2**20)
        text = "label,note\n" + "x,a\n" * 1000 + f"y,{'long ' * 60}\n"
        with pytest.raises(DataError, match="the longest of the 1,001 texts in the column 'note'"):
            read_columns(save(tmp_path / "m.csv", text))
        wide = (
            "site,tie,note\n" + "".join(f"s{i},1,a\n" for i in range(1000)) + f"t,2,{'b' * 300}\n"
        )
        with pytest.raises(DataError, match="the longest of the 1,001 texts in the column 'note'"):
            read_counts(save(tmp_path / "c.csv", wide), format="matrix")

    @pytest.mark.parametrize("text", ["label,n\n", '""\n""\n', "<html>\n", ",\n"])
    def test_no_rows(self, tmp_path, text):
        with pytest.raises(DataError, match=r"m\.csv"):
            read_columns(save(tmp_path / "m.csv", text))


def test_nothing_but_a_mark_or_a_header(tmp_path):
    with pytest.raises(DataError, match=r"l\.txt is empty"):
        read_labels(save(tmp_path / "l.txt", "\ufeff\n\n"))
    header = "judge,item1,item2,similarity\n"
    with pytest.raises(DataError, match=r"j\.csv"):
        read_judgements(save(tmp_path / "j.csv", header), judge="judge")
    with pytest.raises(DataError, match=r"v\.txt"):
        read_vectors(save(tmp_path / "v.txt", "\n" * 100 + "a"))


def test_a_column_of_judges_is_found_in_any_case(tmp_path):
    text = "Judge,item1,item2,similarity\nann,a,b,1\nann,b,c,2\n"
    assert read_judgements(save(tmp_path / "j.csv", text), judge="judge").judges == ("ann",)


@pytest.mark.parametrize("size", [1, 10, 100])
def test_wide_rows_are_those_of_the_table(size, monkeypatch):
    values = np.random.default_rng(0).integers(0, 2, (57, 9)).astype(float)
    monkeypatch.setattr("manymaps.io.tables.BATCH_ROWS", size)
    lines = "".join(",".join([f"o{i}", *map(str, row)]) + "\n" for i, row in enumerate(values))
    table = TextTable("a.csv", lines.encode(), ",")
    found = [
        table.wide(range(1, 10), 0, RULE_OF["count"], header=False, dense=dense).values
        for dense in (False, True)
    ]
    np.testing.assert_array_equal(found[0].toarray(), values)
    np.testing.assert_array_equal(found[1], values.astype(np.float32))


# A part of the largest file, in such a part of the memory, with what a process starts with.
# Of what takes long to read it is less, which leaves the file less room.
LARGEST = 99 * 10**6
PARTS = {"documents": 8, "empty documents": 8, "metadata": 8, "words": 5}
# The peak is that of the program itself: what getrusage tells is at least what its parent had.
READ = """
import sys
import manymaps as mm
try:
    {call}
except mm.DataError as error:
    print(str(error)[:200])
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
print("peak", peak / 2**30)
sys.exit(peak > 4 * 2**30 / {part})
"""
WORST = {
    "pairs": (b"", b"a,b\n", "mm.read_associations(sys.argv[1])"),
    "similarities": (b"", b"a,b\n", "mm.read_similarities(sys.argv[1])"),
    "counts": (b"document,word\n", b"a,b\n", "mm.read_counts(sys.argv[1])"),
    "documents": (b"", b"aa\n", "mm.count_texts(mm.Texts(sys.argv[1]))"),
    "empty documents": (b"aa\n", b"\n", "mm.count_texts(mm.Texts(sys.argv[1]))"),
    "words": (b"", b"a 1\n", "mm.read_vectors(sys.argv[1], format='glove')"),
    "one line": (b"", b"x", "mm.read_associations(sys.argv[1])"),
    "one row": (b"", b"1,", "mm.read_counts(sys.argv[1])"),
    "metadata": (b"label,a\n", b"a,1\n", "mm.read_judgements(sys.argv[1], judge='a')"),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told by Linux")
@pytest.mark.parametrize("layout", WORST)
def test_a_file_under_100_megabytes_takes_under_4_gigabytes(tmp_path, layout):
    head, unit, call = WORST[layout]
    part = PARTS.get(layout, 3)
    count = (LARGEST // part - len(head)) // len(unit)
    if layout.endswith("documents"):
        count = min(count, 10_000_000 // part)  # more are refused
    path = save(tmp_path / "large.txt", head + unit * count)
    command = [sys.executable, "-c", READ.format(call=call, part=part), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path.unlink()
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_limits_are_those_that_the_documentation_says():
    from manymaps.io import documents, files, metadata, tables, text_rows

    said = (door.MOST_LABELS, tables.LONGEST_LINE, files.LONGEST_LABEL, metadata.MOST_CELLS)
    assert said == (10_000_000, 2**24, 131_072, 20_000_000)
    assert (text_rows.MOST_FIELDS, documents.LONGEST_VALUE) == (10_000, 200)
