"""Bytes through packers: the same as were packed, and damage is reported."""

import bz2
import gzip
import lzma

import pytest

from manymaps.archive.packing import unpacked
from manymaps.errors import DataError

PACKERS = pytest.mark.parametrize("packer", [gzip, bz2, lzma], ids=lambda p: p.__name__)


@PACKERS
def test_what_was_packed_comes_out(tmp_path, packer):
    path = tmp_path / "a"
    data = bytes(range(256)) * 5_000
    path.write_bytes(packer.compress(data))
    with unpacked(path) as file:
        assert file.packed
        assert file.stream.read(10) == data[:10]
        assert file.stream.read() == data[10:]
        file.stream.seek(0)
        assert file.stream.readline() == data[:11]


def test_what_is_not_packed_is_the_file(tmp_path):
    (tmp_path / "a").write_bytes(b"cue,response\n")
    with unpacked(tmp_path / "a") as file:
        assert not file.packed
        assert file.stream.read() == b"cue,response\n"


@PACKERS
def test_every_cut_and_many_flips_are_told(tmp_path, packer):
    path = tmp_path / "a"
    whole = packer.compress(b"".join(b"word %d\n" % k for k in range(300)))
    damaged = [whole[:n] for n in range(11, len(whole) - 1, 29)]
    for at in range(10, len(whole), 17):
        damaged.append(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    told = []
    for content in damaged:
        path.write_bytes(content)
        try:
            with unpacked(path) as file:
                file.stream.read()
        except DataError as error:
            told.append(str(error))
    assert len(told) > 0.9 * len(damaged)
    assert all("a is damaged or cut short" in message for message in told)
