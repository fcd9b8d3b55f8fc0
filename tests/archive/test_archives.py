"""Archives: whole or not at all, and refused where they are something else."""

import json
import os
import zipfile

import numpy as np
import pytest

from manymaps.archive.archives import read_archive, same_content, write_archive, written_whole
from manymaps.archive.schema import ArrayPart, Schema, ValuePart
from manymaps.errors import DataError

META = {"labels": ["é", "\N{GRINNING FACE}"]}
THING = Schema(
    "manymaps atlas",
    1,
    "a thing",
    {"labels": ValuePart((list,), "labels", each=ValuePart((str,), "a label"))},
    {
        "maps": ArrayPart("f", ("...",), "places", optional=True),
        "history/*": ArrayPart("biuf", ("n_records",), "what was recorded"),
        "cost": ArrayPart("f", (), "one number", optional=True),
    },
)


def read(path):
    return read_archive(path, THING)


def write(path, arrays, meta=META, schema=THING):
    write_archive(path, schema, meta, arrays)


def test_what_is_written_is_read(tmp_path):
    arrays = {
        "maps": np.arange(6.0).reshape(2, 3),
        "history/cost": np.array([3, 2]),
        "cost": np.array(2.5),
    }
    write(tmp_path / "a", arrays)
    meta, again = read(tmp_path / "a")
    assert meta == {"format": "manymaps atlas", "version": 1, **META}
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert again[name].shape == array.shape
        np.testing.assert_array_equal(again[name], array)


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")

    def half() -> None:
        with written_whole(file) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(FileNotFoundError) as raised, written_whole(tmp_path / "no" / "a.txt"):
        pytest.fail("nothing can be written")
    assert raised.value.filename == str(tmp_path / "no" / "a.txt")


def test_a_link_keeps_pointing_at_its_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with written_whole(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_pickled_array_is_refused(tmp_path):
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(
            "meta.json", json.dumps({"format": "manymaps atlas", "version": 1, **META})
        )
        archive.write(tmp_path / "object.npy", "maps.npy")
    with pytest.raises(DataError):
        read(tmp_path / "a")


def test_what_could_not_be_read_is_not_written(tmp_path):
    for arrays, meta in (
        ({"maps": np.array([np.nan])}, META),
        ({}, {"labels": [1]}),
        ({}, META | {"further": object()}),
    ):
        with pytest.raises(DataError):
            write(tmp_path / "a", arrays, meta)
    assert list(tmp_path.iterdir()) == []


def test_what_no_schema_knows_is_left_out(tmp_path):
    wider = Schema(THING.kind, 1, "", {}, {"new": ArrayPart("f", ("n",), "of a later version")})
    write(tmp_path / "a", {"new": np.zeros(3)}, schema=wider)
    assert read(tmp_path / "a")[1] == {}


def test_who_may_read_a_file_is_up_to_the_umask(tmp_path):
    for umask, mode in [(0o022, 0o644), (0o077, 0o600), (0, 0o666)]:
        former = os.umask(umask)
        try:
            with written_whole(tmp_path / "a.txt") as temporary:
                temporary.write_text("whole")
        finally:
            os.umask(former)
        assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode


def test_damaged_and_foreign_values_are_refused(tmp_path):
    start = '{"format": "manymaps atlas", "version": '
    for meta in (
        "{", "[" * 100_000, "[]", '{"a": 1}', '{"format": "manymaps checkpoint"}',
        f"{start}{'9' * 5000}}}", f'{start}true, "labels": []}}', f"{start}1}}",
        f'{start}1, "labels": "a"}}', f'{start}2, "labels": []}}', f'{start}null, "labels": []}}',
    ):  # fmt: skip
        with zipfile.ZipFile(tmp_path / "a", "w") as archive:
            archive.writestr("meta.json", meta)
        with pytest.raises(DataError):
            read(tmp_path / "a")
    write(tmp_path / "a", {"maps": np.arange(20.0)})
    whole = (tmp_path / "a").read_bytes()
    for length in range(0, len(whole) - 1, 37):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(DataError, match="cut short"):
            read(tmp_path / "cut")


def test_archives_are_the_same_if_their_arrays_are():
    first = {"x": np.array([1.0, np.nan])}
    assert same_content(({"a": 1, "b": 2}, first), ({"b": 2, "a": 1}, {"x": first["x"].copy()}))
    for other in ([1.0, 2.0], [1, 2], ["a", "b"], [1.0]):
        assert not same_content(({}, first), ({}, {"x": np.array(other)}))
    assert not same_content(({}, first), ({}, {"y": first["x"]}))
    two, others = {"x": np.ones(2), "y": np.ones(2)}, {"x": np.ones(2), "y": np.zeros(2)}
    assert not same_content(({}, two), ({}, others))
