"""Bytes through packers: the same as were packed, no more than may be, and damage is told."""

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
def test_the_limit_is_what_a_file_may_always_unpack_to(tmp_path, packer, monkeypatch):
    monkeypatch.setattr("manymaps.archive.door.ALWAYS_UNPACKED", 2**18)
    path = tmp_path / "a"
    path.write_bytes(packer.compress(bytes(2**18)))
    with unpacked(path) as file:
        assert len(file.stream.read()) == 2**18
        file.stream.seek(0)
        assert len(file.stream.read()) == 2**18
    path.write_bytes(packer.compress(bytes(2**18 + 1)))
    with pytest.raises(DataError, match="a unpacks to more than 0 MiB"), unpacked(path) as file:
        file.stream.read()


def test_a_trap_is_refused_before_it_is_large(tmp_path):
    """Bzip2 packs zeros a million to one, and takes seconds for a gigabyte of them."""
    (tmp_path / "a").write_bytes(bz2.compress(bytes(2**26 + 2**20)))
    message = r"a unpacks to more than 64 MiB from \d+ bytes"
    with pytest.raises(DataError, match=message), unpacked(tmp_path / "a") as file:
        file.stream.read()


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
