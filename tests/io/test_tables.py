"""Tables: text and frames give the same cells, lines are exact, and files are opened twice."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.files import sampled, samples_kept
from manymaps.io.kinds import looks_like_counts, looks_like_vectors
from manymaps.io.metadata import read_columns
from manymaps.io.tables import TextTable, columns_table, frame_table
from vector_samples import save

NORMS = "cue,response,strength\ntie,knot,.6\ntie,suit,.4\nknot,tie,1\n"


@pytest.mark.parametrize("size", [1, 3, 256])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_batches_are_those_of_single_rows(monkeypatch, size, end):
    monkeypatch.setattr("manymaps.io.tables.BATCH_ROWS", size)
    random = np.random.default_rng(0)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
    for k in range(200):
        parts = random.choice(["a", "\n", "\r\n", "\r", ",", '"'], random.integers(1, 5))
        writer.writerow([f"w{k}", "".join(parts), "1"])
        if k % 7 == 0:
            file.write(end)
    table = TextTable("t.csv", file.getvalue().encode(), ",")
    batched = [
        (line, [cell.strip() for cell in row])
        for lines, rows in table.batches(header=False)
        for line, row in zip(lines, rows, strict=True)
    ]
    assert batched == list(table.rows())
    assert len(batched) == 200


def test_text_and_frames_give_the_same_cells():
    columns = {"cue": ["tie", "tie", "knot"], "response": ["knot", "suit", "tie"], "n": [6, 4, 1]}
    makers = (pd.DataFrame, pl.DataFrame, pa.table)
    text = pd.DataFrame(columns).to_csv(index=False)
    tables = [TextTable("t.csv", text.encode(), ","), columns_table(columns)]
    tables += [frame_table(make(columns), "frame") for make in makers]
    for table in tables:
        cells = table.read((0, 1), 2)
        assert [column.texts for column in cells.columns] == [
            ["tie", "knot"],
            ["knot", "suit", "tie"],
        ]
        assert [column.codes.tolist() for column in cells.columns] == [[0, 0, 1], [0, 1, 2]]
        assert cells.numbers.tolist() == [6, 4, 1]
        assert table.numeric == [False, False, True]
        assert table.head[0] == ["cue", "response", "n"]


@pytest.fixture
def opened(monkeypatch):
    """The names of the files that are opened."""
    names = []
    open_file = Path.open

    def watched(self, *args, **kwargs):
        names.append(self.name)
        return open_file(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", watched)
    return names


def test_a_sample_serves_every_question(tmp_path, opened):
    path = save(tmp_path / "norms.csv", NORMS)
    opened.clear()
    with samples_kept():
        assert not looks_like_counts(path)
        assert not looks_like_vectors(path)
        read_associations(path)
    assert opened.count("norms.csv") == 2
    save(path, NORMS.replace("tie", "bow"))
    assert b"bow" in sampled(path).start


def test_a_header_that_cannot_be_split_is_reported(tmp_path):
    with pytest.raises(DataError):
        read_columns(save(tmp_path / "m.csv", '"label,n\na,1\n'))
