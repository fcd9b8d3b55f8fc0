"""Parquet files: what they promise is compared with their length; what is damaged is refused."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from manymaps.errors import DataError
from manymaps.io.associations import read_associations
from manymaps.io.counts import read_counts
from manymaps.io.metadata import read_columns
from manymaps.io.parquet import open_parquet
from manymaps.io.texts import Texts
from manymaps.io.vectors import read_vectors
from vector_samples import save

READERS = {
    "associations": read_associations,
    "counts": read_counts,
    "vectors": read_vectors,
    "metadata": read_columns,
    "texts": lambda path: list(Texts(path, format="parquet", column="cue")),
}


@pytest.fixture
def norms(tmp_path):
    table = pa.table({"cue": ["a", "b"], "response": ["b", "a"], "strength": [0.5, 1.0]})
    parquet.write_table(table, tmp_path / "norms.parquet")
    return tmp_path / "norms.parquet"


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_rows_that_are_only_promised(tmp_path, monkeypatch, read):
    """Half a million rows in a few kilobytes."""
    monkeypatch.setattr("manymaps.archive.door.ALWAYS_UNPACKED", 2**22)
    column = pa.DictionaryArray.from_arrays(np.zeros(500_000, np.int32), pa.array(["a"]))
    parquet.write_table(pa.table({"cue": column, "response": column}), tmp_path / "many.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 2**13
    with pytest.raises(DataError, match=r"many\.parquet promises .* GiB in .* bytes, and may"):
        read(tmp_path / "many.parquet")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_long_text_that_is_stored_once(tmp_path, read):
    """Ten thousand times the same two megabytes."""
    texts = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), pa.array(["x" * 2**21]))
    parquet.write_table(pa.table({"cue": texts, "response": texts}), tmp_path / "long.parquet")
    assert (tmp_path / "long.parquet").stat().st_size < 2**20
    with pytest.raises(DataError, match=r"long\.parquet promises .* GiB in"):
        read(tmp_path / "long.parquet")


def test_dictionaries_are_told_out(tmp_path, monkeypatch):
    plain = {"cue": ["a", "b", "a"], "text": ["x" * 100, None, "y"], "n": [1, 2, 3]}
    table = pa.table({**plain, "kind": pa.array(["u", "v", "u"]).dictionary_encode()})
    parquet.write_table(table, tmp_path / "t.parquet")
    for limit in (2**30, 700):
        monkeypatch.setattr("manymaps.archive.door.ALWAYS_UNPACKED", limit)
        monkeypatch.setattr("manymaps.archive.door.MOST_EXPANSION", 0)
        with open_parquet(tmp_path / "t.parquet") as file:
            assert file.read().to_pydict() == {**plain, "kind": ["u", "v", "u"]}
            read = pa.concat_tables(file.batches(1, ["cue", "kind"]))
            assert read.to_pydict() == {"cue": plain["cue"], "kind": ["u", "v", "u"]}
        monkeypatch.undo()


def test_every_byte_of_the_end_damaged(norms):
    """What the file says of itself stands at its end."""
    whole = norms.read_bytes()
    for at in range(len(whole) - 600, len(whole)):
        path = save(norms.with_name("d.parquet"), whole[:at] + b"\xff" + whole[at + 1 :])
        try:
            read_associations(path)
        except DataError:
            continue


def test_damaged_levels_do_not_end_the_process(norms):
    """Asking pyarrow for what such a file says of a column would."""
    whole = norms.read_bytes()
    for at in range(len(whole) - 600, len(whole)):
        for value in (0x19, 0x25):
            damaged = whole[:at] + bytes([value]) + whole[at + 1 :]
            try:
                read_columns(save(norms.with_name("d.parquet"), damaged))
            except DataError:
                continue


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_pyarrow_raises_names_the_file(norms, read):
    whole = norms.read_bytes()
    for damaged in (whole[:-20], whole[:50] + whole[90:], b"PAR1" + whole[-4:]):
        path = save(norms.with_name("cut.parquet"), damaged)
        with pytest.raises(DataError, match=r"cut\.parquet cannot be read as Parquet \(.*\);"):
            read(path)


def test_texts_that_are_not_utf_8(tmp_path):
    words = pa.array([b"caf\xe9", b"b"]).cast(pa.binary()).view(pa.string())
    parquet.write_table(pa.table({"cue": words, "response": ["b", "c"]}), tmp_path / "l.parquet")
    with pytest.raises(DataError, match=r"l\.parquet cannot be read as Parquet \(.*UTF8"):
        read_associations(tmp_path / "l.parquet")
