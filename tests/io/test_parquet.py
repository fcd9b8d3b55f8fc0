"""Parquet files: dictionaries become plain columns."""

import pyarrow as pa
from pyarrow import parquet

from manymaps.io.parquet import open_parquet


def test_dictionaries_become_plain_columns(tmp_path):
    plain = {"cue": ["a", "b", "a"], "text": ["x" * 100, None, "y"], "n": [1, 2, 3]}
    table = pa.table({**plain, "kind": pa.array(["u", "v", "u"]).dictionary_encode()})
    parquet.write_table(table, tmp_path / "t.parquet")
    with open_parquet(tmp_path / "t.parquet") as file:
        assert file.read().to_pydict() == {**plain, "kind": ["u", "v", "u"]}
        read = pa.concat_tables(file.batches(1, ["cue", "kind"]))
        assert read.to_pydict() == {"cue": plain["cue"], "kind": ["u", "v", "u"]}
