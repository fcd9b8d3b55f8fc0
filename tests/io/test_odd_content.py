"""Odd content of files: long numbers, half characters, empty files, rows in blocks."""

import numpy as np
import pytest

from manymaps.errors import DataError
from manymaps.io.judgements import read_judgements
from manymaps.io.metadata import read_columns
from manymaps.io.tables import RULE_OF, TextTable
from vector_samples import save


def test_a_table_without_rows(tmp_path):
    for text in "label,n\n", '""\n""\n', "<html>\n", ",\n":
        with pytest.raises(DataError):
            read_columns(save(tmp_path / "m.csv", text))


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
