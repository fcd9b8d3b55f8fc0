"""Archives: whole or not at all, and refused where they are something else."""

import json
import zipfile

import numpy as np
import pytest

from manymaps.archive import read_archive, write_archive, written_whole
from manymaps.errors import DataError

META = {"format": "manymaps atlas", "version": 1, "labels": ["é", "\N{GRINNING FACE}"]}


def read(path):
    return read_archive(path, "manymaps atlas", 1)


def test_what_is_written_is_read(tmp_path):
    arrays = {
        "maps": np.arange(6.0).reshape(2, 3),
        "history/cost": np.array([3, 2]),
        "cost": np.array(2.5),
    }
    write_archive(tmp_path / "a", META, arrays)
    meta, again = read(tmp_path / "a")
    assert meta == META
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
    write_archive(tmp_path / "a", META, {"maps": np.arange(20.0)})
    whole = (tmp_path / "a").read_bytes()
    for length in range(0, len(whole) - 1, 37):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(DataError, match="cut short"):
            read(tmp_path / "cut")


@pytest.mark.parametrize("member", [{"a": 1}, [], "text", {"format": "manymaps checkpoint"}])
def test_foreign_zip_is_refused(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("meta.json", json.dumps(member))
    with pytest.raises(DataError, match="not a manymaps atlas"):
        read(tmp_path / "a")


@pytest.mark.parametrize(
    ("version", "message"), [(2, "newer manymaps"), (None, "version"), ("1", "version")]
)
def test_other_version_is_refused(tmp_path, version, message):
    write_archive(tmp_path / "a", META | {"version": version}, {})
    with pytest.raises(DataError, match=message):
        read(tmp_path / "a")


def test_pickled_array_is_refused(tmp_path):
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("meta.json", json.dumps(META))
        archive.write(tmp_path / "object.npy", "maps.npy")
    with pytest.raises(DataError):
        read(tmp_path / "a")
