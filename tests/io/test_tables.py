"""Tables: text and frames give the same cells, lines are exact, and files are opened once."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from manymaps.errors import DataError
from manymaps.io.columns import checked_frame, labels_of, numbers_of, numeric_columns
from manymaps.io.frames import read_columns, read_frame
from manymaps.io.kinds import read
from vector_samples import save

NORMS = "cue,response,strength\ntie,knot,.6\ntie,suit,.4\nknot,tie,1\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_on_which_rows_start(tmp_path, end):
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
    frame = read_frame(save(tmp_path / "t.csv", file.getvalue().encode()))
    assert list(zip(frame.index, frame.to_numpy().tolist(), strict=True)) == expected


def test_text_and_frames_give_the_same_cells(tmp_path):
    columns = {"cue": ["tie", "tie", "knot"], "response": ["knot", "suit", "tie"], "n": [6, 4, 1]}
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    made = [make(columns) for make in (pd.DataFrame, pl.DataFrame, pa.table, dict)]
    for frame in [read_frame(tmp_path / "t.csv"), *map(checked_frame, made)]:
        cue, response = (labels_of(frame, c) for c in (0, 1))
        assert cue.tolist() == ["tie", "tie", "knot"]
        assert response.tolist() == ["knot", "suit", "tie"]
        assert numbers_of(frame, [2], "count").tolist() == [[6], [4], [1]]
        assert numeric_columns(frame) == [False, False, True]


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


@pytest.mark.parametrize("name", ["norms.csv", "norms.txt"])
def test_a_file_is_opened_once(tmp_path, opened, name):
    path = save(tmp_path / name, NORMS)
    opened.clear()
    assert read(path).n_pairs == 2
    assert opened == [name]


def test_a_header_that_cannot_be_split_is_reported(tmp_path):
    with pytest.raises(DataError):
        read_columns(save(tmp_path / "m.csv", '"label,n\na,1\n'))
