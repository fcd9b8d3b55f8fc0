"""Archives: whole or not at all, and refused where they are something else."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from manymaps.archive import (
    ArrayPart,
    Schema,
    ValuePart,
    read_archive,
    same_content,
    write_archive,
    written_whole,
)
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_names_the_file(tmp_path):
    """The system does not say which it was."""

    def full() -> None:
        with written_whole(tmp_path / "a.txt") as temporary:
            temporary.write_text("whole")
            Path("/dev/full").write_bytes(b"no room")

    with pytest.raises(OSError, match="No space left on device") as raised:
        full()
    assert raised.value.filename == str(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, written_whole(tmp_path / "no" / "a.txt"):
        pytest.fail("nothing can be written")
    assert raised.value.filename == str(tmp_path / "no" / "a.txt")


def test_a_link_keeps_pointing_at_its_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with written_whole(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_long_name_in_wide_letters_is_written(tmp_path):
    file = tmp_path / ("語" * 80 + ".txt")
    with written_whole(file) as temporary:
        temporary.write_text("whole")
    assert file.read_text() == "whole"


def test_every_truncation_is_refused(tmp_path):
    write(tmp_path / "a", {"maps": np.arange(20.0)})
    whole = (tmp_path / "a").read_bytes()
    for length in range(0, len(whole) - 1, 37):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(DataError, match="cut short"):
            read(tmp_path / "cut")


@pytest.mark.parametrize("member", [{"a": 1}, [], "text", {"format": "manymaps counts"}])
def test_foreign_zip_is_refused(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("meta.json", json.dumps(member))
    with pytest.raises(DataError, match="not a manymaps atlas"):
        read(tmp_path / "a")


@pytest.mark.parametrize(
    ("version", "message"), [(2, "newer manymaps"), (None, "version"), ("1", "version")]
)
def test_other_version_is_refused(tmp_path, version, message):
    write(tmp_path / "a", {}, META | {"version": version})
    with pytest.raises(DataError, match=message):
        read(tmp_path / "a")


def test_pickled_array_is_refused(tmp_path):
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(
            "meta.json", json.dumps({"format": "manymaps atlas", "version": 1, **META})
        )
        archive.write(tmp_path / "object.npy", "maps.npy")
    with pytest.raises(DataError):
        read(tmp_path / "a")


class TestWriting:
    def test_what_could_not_be_read_is_not_written(self, tmp_path):
        with pytest.raises(DataError, match=r"cannot be written: the array 'maps'.*not finite"):
            write(tmp_path / "a", {"maps": np.array([np.nan])})
        with pytest.raises(DataError, match=r"cannot be written: .*an element of labels"):
            write(tmp_path / "a", {}, {"labels": [1]})
        with pytest.raises(DataError, match=r"cannot be written.*JSON"):
            write(tmp_path / "a", {}, META | {"further": object()})
        assert list(tmp_path.iterdir()) == []


class TestReading:
    def test_what_no_schema_knows_is_left_out(self, tmp_path):
        wider = Schema(THING.kind, 1, "", {}, {"new": ArrayPart("f", ("n",), "of a later version")})
        write(tmp_path / "a", {"new": np.zeros(3)}, schema=wider)
        assert read(tmp_path / "a")[1] == {}

    @pytest.mark.parametrize(
        ("meta", "message"),
        [
            ("{", "cannot be read as a manymaps atlas"),
            ("[" * 100_000, "cannot be read as a manymaps atlas .*recursion"),
            ('{"format": "manymaps atlas", "version": ' + "9" * 5000 + "}", "cannot be read"),
            ('{"format": "manymaps atlas", "version": true, "labels": []}', "its version"),
            ('{"format": "manymaps atlas", "version": 1}', "'labels' is missing"),
            (
                '{"format": "manymaps atlas", "version": 1, "labels": "a"}',
                "expected type list of text",
            ),
        ],
    )
    def test_damaged_values_are_refused(self, tmp_path, meta, message):
        with zipfile.ZipFile(tmp_path / "a", "w") as archive:
            archive.writestr("meta.json", meta)
        with pytest.raises(DataError, match=rf"a\b.*{message}"):
            read(tmp_path / "a")


def test_who_may_read_a_file_is_up_to_the_umask(tmp_path):
    for umask, mode in [(0o022, 0o644), (0o077, 0o600), (0, 0o666)]:
        former = os.umask(umask)
        try:
            with written_whole(tmp_path / "a.txt") as temporary:
                temporary.write_text("whole")
        finally:
            os.umask(former)
        assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([1.0, np.nan], [1.0, np.nan], True),
        ([1.0, np.nan], [1.0, 2.0], False),
        ([1.0, 2.0], [1, 2], False),
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["a", "c"], False),
        ([1, 2], [1, 2, 3], False),
    ],
)
def test_archives_say_the_same_where_their_arrays_do(one, other, same):
    first, second = ({}, {"x": np.array(one)}), ({}, {"x": np.array(other)})
    assert same_content(first, second) is same
    assert same_content(first, ({}, {"y": np.array(one)})) is False


def test_the_order_of_plain_values_does_not_matter():
    assert same_content(
        ({"a": 1, "b": {"c": 2, "d": 3}}, {}), ({"b": {"d": 3, "c": 2}, "a": 1}, {})
    )
