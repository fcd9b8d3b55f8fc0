"""Changes of a valid file that know what it is made of: an archive, an array, a table, JSON, bytes.

    changed(data, others, rng) -> (bytes, what was done)

What a file is, its bytes say, and so does what lies inside it: a number in the header of an array
in a zip under gzip is reached as well as the bytes of the gzip themselves. Every kind of content
has a list of changes, of which one is drawn; two in three files get one change, the others more.
"""

from __future__ import annotations

import ast
import bz2
import gzip
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from campaigns.seeds import npy, zipped

__all__ = ["bomb", "changed"]

Random: TypeAlias = np.random.Generator
Change: TypeAlias = Callable[[bytes, Random], bytes]

LONG = "7" * 5_000
DEEP = "[" * 100_000 + "]" * 100_000
MAGICS = (b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x1f\x8b\x08\x00", b"BZh91AY&SY", b"\xfd7zXZ\x00",
          b"PAR1", b"\x89HDF\r\n\x1a\n", b"%%MatrixMarket", b"\x80\x04\x95", b"\xba\x16\x4f\x2f",
          b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\x00\x00", b"%Mat")  # fmt: skip
TOKENS = ("", " ", LONG, "-" + LONG, "0." + LONG, "1e400", "-1e400", "1e-400", "nan", "NaN", "inf",
          "-inf", "Infinity", "-0", "0", "-1", "0.5", "1.5", "1e9", "1e300", str(2**31), str(2**63),
          str(-(2**63) - 1), str(2**64), "99999999999", "1_000", "0x10", "1,5", "\u0663", "½", "1e",
          "NA", ".", "null", "None", "TRUE", "\0", "a\0b", "\udc80", "\ud800", "\ufeff", "\u2028",
          "\x85", "\u202e", "é", "e\u0301", '"', '""', '"a', "a\"b", "'", "\\", "\\N",
          "x" * 200_000, "=1+1", "tie", "tie ", "TIE", "%", "#", "<b>", "\t", ",", ";", "|", "\r",
          "\n")  # fmt: skip
SHAPES = ("(-1,)", "(-1, -1)", "()", "(0,)", "(0, 3)", "(3, 0)", f"({2**62},)", f"({2**63},)",
          f"({2**40}, {2**40})", f"(0, {2**62})", f"({2**62}, 0)", "(1000000000,)", "(10, 10, 10)",
          "(1,)", "(7,)", "(10,)", f"({'1,' * 40})", "(2.0,)", "('a',)", "5", "None",
          "(True, True)", f"({LONG},)", f"({'(' * 200}{')' * 200},)", "(1e3,)", "[10]",
          "(10)", "(3, 10, 2, 1)", f"({2**32},)", "(4294967297, 4294967295)")  # fmt: skip
DTYPES = ("'|O'", "'O'", "'|V8'", "'|V0'", "'<M8[s]'", "'<m8'", "'>f8'", "'<c16'", "'<f2'", "'<f4'",
          "'<f8'", "'<f16'", "'|b1'", "'<i8'", "'<u8'", "'>i4'", "'|i1'", "'<U4'", "'|S3'", "'<U0'",
          "'|S0'", "'<U999999999'", "'<U2147483647'", "'f8,f8'", "[('a', '<f8')]", "[('a', '|O')]",
          "[('a', '<f8', (1000000000,))]", "('<f8', (2,))", "''", "'<f99'", "'zz'", "5", "None",
          "'i8'.__class__", "{'names': ['a'], 'formats': ['<f8'], 'itemsize': 2000000000}", "[]",
          "'<f8' * 3", "'T'", "'<U-1'", "'|S99999999999'", "'=f8'", "'float'", "'n'")  # fmt: skip


def _one(rng: Random, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def _place(rng: Random, data: bytes) -> int:
    return int(rng.integers(len(data) + 1))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def changed(data: bytes, others: Sequence[bytes], rng: Random) -> tuple[bytes, str]:
    """A changed file, and which changes made it."""
    told = []
    for _ in range(_one(rng, (1, 1, 1, 1, 2, 3))):
        name, data = _change(data, others, rng)
        told.append(name)
        if name.endswith("bomb"):
            break  # a further change would set it off here
    return data, ", ".join(told)


def _change(data: bytes, others: Sequence[bytes], rng: Random) -> tuple[str, bytes]:
    """One change of a file of any kind, at any depth."""
    kind = _kind_of(data)
    if rng.random() < (0.3 if kind in INSIDES else 0.2):
        if rng.random() < 0.15 and others:
            return "splice", _spliced(data, _one(rng, others), rng)
        return _drawn("bytes", BYTES, data, rng)
    try:
        if kind in INSIDES:
            name, inside = INSIDES[kind](data, others, rng)
            return f"{kind}/{name}", inside
        return _drawn(kind, CHANGES[kind], data, rng)
    except Exception:
        # What an earlier change has broken is no longer of its kind.
        return _drawn("bytes", BYTES, data, rng)


def _drawn(kind: str, changes: Sequence[Change], data: bytes, rng: Random) -> tuple[str, bytes]:
    change = _one(rng, changes)
    return f"{kind}.{change.__name__.strip('_')}", change(data, rng)


def _kind_of(data: bytes) -> str:
    for magic, kind in KINDS.items():
        if data.startswith(magic):
            return kind
    start = data.lstrip()[:1]
    if start in (b"{", b"["):
        return "json"
    head = data[:4096]
    if b"\0" not in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "text"
    return "binary"


# Bytes


def _flip(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        if out:
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _set(data: bytes, rng: Random) -> bytes:
    at = _place(rng, data)
    return data[:at] + bytes([_one(rng, (0, 255, 127, 128, 10, 34, 44))]) + data[at + 1 :]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: _place(rng, data)]


def _cut_few(data: bytes, rng: Random) -> bytes:
    return data[: -int(rng.integers(1, 20))]


def _behead(data: bytes, rng: Random) -> bytes:
    return data[_place(rng, data) :]


def _drop(data: bytes, rng: Random) -> bytes:
    start, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:start] + data[end:]


def _double(data: bytes, rng: Random) -> bytes:
    start, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:end] + data[start:end] * int(rng.integers(1, 4)) + data[end:]


def _insert(data: bytes, rng: Random) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.bytes(int(rng.integers(1, 40))) + data[at:]


def _blank(data: bytes, rng: Random) -> bytes:
    at, n = _place(rng, data), int(rng.integers(1, 64))
    return data[:at] + bytes([_one(rng, (0, 255))]) * n + data[at + n :]


def _number(data: bytes, rng: Random) -> bytes:
    """An integer or a float of 2, 4 or 8 bytes is put in the place of others."""
    form = _one(rng, ("<i", "<I", ">i", ">I", "<q", "<Q", "<h", "<H", "<f", "<d"))
    size = struct.calcsize(form)
    if form[1] in "fd":
        value = _one(rng, (np.nan, np.inf, -np.inf, -1.0, 1e30, 1e-30, 0.5))
    else:
        most = 2 ** (8 * size - form[1].islower()) - 1
        value = _one(rng, (0, 1, most, most - 1, most // 2, 65_535 & most, 1_000_000_000 & most))
    at = _place(rng, data)
    return data[:at] + struct.pack(form, value) + data[at + size :]


def _magic(data: bytes, rng: Random) -> bytes:
    magic = _one(rng, MAGICS)
    return magic + data[_one(rng, (0, len(magic), 4)) :]


def _swap(data: bytes, rng: Random) -> bytes:
    a, b, c = sorted(_place(rng, data) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _nothing(data: bytes, rng: Random) -> bytes:
    return _one(rng, (b"", b"\n", b"\0", b"\xef\xbb\xbf", b" ", data[:1], data[:4], data[:8]))


def _spliced(data: bytes, other: bytes, rng: Random) -> bytes:
    return data[: _place(rng, data)] + other[_place(rng, other) :]


BYTES = (_flip, _flip, _flip, _set, _cut, _cut_few, _behead, _drop, _double, _insert, _blank,
         _number, _number, _number, _magic, _swap, _nothing)  # fmt: skip


# Packed files


def _repack(
    unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes], kind: str
) -> Callable[[bytes, Sequence[bytes], Random], tuple[str, bytes]]:
    def inside(data: bytes, others: Sequence[bytes], rng: Random) -> tuple[str, bytes]:
        if rng.random() < 0.01:
            return "bomb", bomb(kind)
        name, changed = _change(unpack(data), others, rng)
        return name, pack(changed)

    return inside


@cache
def bomb(kind: str, gigabytes: int = 5) -> bytes:
    """Megabytes at most that unpack to gigabytes: one stream after another of the same lines."""
    lines = b"tie,knot,1\n" * (2**24 // 11)
    pack = {"gzip": partial_gzip, "bzip2": bz2.compress, "xz": lzma.compress}[kind]
    return pack(b"cue,response,strength\n") + pack(lines) * (gigabytes * 64)


def partial_gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


# Zips


def _zip_inside(data: bytes, others: Sequence[bytes], rng: Random) -> tuple[str, bytes]:
    """A member is changed, or the list of members, or what the zip says of them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    k = int(rng.integers(len(members)))
    if members[k][0] != "meta.json" and rng.random() < 0.25:
        # The plain values of an archive are few beside its arrays.
        k = next((i for i, (name, _) in enumerate(members) if name == "meta.json"), k)
    name, content = members[k]
    if rng.random() < 0.72:
        told, members[k] = "", (name, content)
        told, content = _change(content, others, rng)
        members[k] = (name, content)
        return f"{name}/{told}", zipped(members)
    act = _one(rng, ZIPS)
    return f"{name}.{act.__name__.strip('_')}", act(members, k, rng)


Members: TypeAlias = list[tuple[str, bytes]]


def _without(members: Members, k: int, rng: Random) -> bytes:
    return zipped(members[:k] + members[k + 1 :])


def _renamed(members: Members, k: int, rng: Random) -> bytes:
    name = members[k][0]
    new = _one(rng, (f"x{name}", name.upper(), name.removesuffix(".npy"), f"../{name}", f"/{name}",
                     f"a/{name}", "", "meta.json", f"{name}\0", "parameter/x.npy", "é.npy",
                     "memory/step/-1.npy", "memory/.npy", "memory/a/b.npy", f"{name}.npy",
                     "metadata/.npy", "history/x.npy", "associations/x.npy", "vectors/dense.npy",
                     "parameter/9.npy", "best/parameter/0.npy", "consensus/held.npy"))  # fmt: skip
    return zipped([*members[:k], (new, members[k][1]), *members[k + 1 :]])


def _swapped(members: Members, k: int, rng: Random) -> bytes:
    j = int(rng.integers(len(members)))
    out = list(members)
    out[k], out[j] = (members[k][0], members[j][1]), (members[j][0], members[k][1])
    return zipped(out)


def _doubled(members: Members, k: int, rng: Random) -> bytes:
    other = _one(rng, (members[k][1], _one(rng, members)[1]))
    return zipped([*members, (members[k][0], other)])


def _stranger(members: Members, k: int, rng: Random) -> bytes:
    name = _one(rng, ("x.npy", "x.txt", "data.npy", "shape.npy", "format.npy", "labels.npy",
                      "memory/step/0.npy", "memory/x/0.npy", "metadata/x.npy", "factors.npy",
                      "history/x.npy", "vectors/data.npy", "consensus/offsets.npy",
                      "associations/data.npy", "row_metadata/x.npy", "kinds.npy",
                      "manymaps_counts.npy", "indptr.npy", "words.npy"))  # fmt: skip
    array = _one(rng, (np.zeros(10), np.array("x"), np.zeros((2, 2)), np.zeros(0), np.arange(10),
                       np.array(["a"] * 10), np.array(b"csr"), np.array(2**62)))  # fmt: skip
    return zipped([*members, (name, npy(array))])


def _empty(members: Members, k: int, rng: Random) -> bytes:
    return zipped([*members[:k], (members[k][0], b""), *members[k + 1 :]])


def _lying(members: Members, k: int, rng: Random) -> bytes:
    """The sizes, the method or the checksum that the zip gives for a member are other ones."""
    data = bytearray(zipped(members))
    starts = [m.start() for m in re.finditer(b"PK\x01\x02", bytes(data))]
    locals_ = [m.start() for m in re.finditer(b"PK\x03\x04", bytes(data))]
    at, before = starts[k % len(starts)], locals_[k % len(locals_)]
    field, size = _one(rng, ((24, 4), (20, 4), (10, 2), (16, 4), (42, 4), (8, 2), (28, 2), (6, 2)))
    value = _one(rng, (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFF0, 8, 12, 14, 99, 2**30))
    packed = (value & (2 ** (8 * size) - 1)).to_bytes(size, "little")
    data[at + field : at + field + size] = packed
    if field in (24, 20, 10, 16, 8) and rng.random() < 0.5:
        data[before + field - 2 : before + field - 2 + size] = packed
    return bytes(data)


def _zip_bomb(members: Members, k: int, rng: Random) -> bytes:
    """A member of megabytes whose header asks for gigabytes, and which has them."""
    if rng.random() < 0.9:
        return _lying(members, k, rng)
    head = npy(np.zeros(0))[:128].replace(b"(0,), }      ", f"({5 * 2**27},), }}".encode())
    return deflated([*members[:k], *members[k + 1 :]], members[k][0], head)


@cache
def _zeros() -> bytes:
    """16 MiB of zeros as a block of a deflated stream, to be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(bytes(2**24)) + packer.flush(zlib.Z_FULL_FLUSH)


def deflated(members: Members, name: str, head: bytes, gigabytes: int = 5) -> bytes:
    """A zip with one member more: a head, and gigabytes of zeros in few bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + _zeros() * (64 * gigabytes)
    stream += b"\x03\x00"
    whole = len(head) + 2**24 * 64 * gigabytes
    file = io.BytesIO(zipped([*members, (name, stream)]))
    with zipfile.ZipFile(file) as archive:
        at = archive.infolist()[-1].header_offset
        start = archive.start_dir
    data = bytearray(file.getvalue())
    # The sizes do not fit in 32 bits: both go to the further field of a zip64, in the directory.
    directory = bytes(data[start:])
    body = bytes(data[:at])
    encoded = name.encode()
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 45, 0, 8, 0, 0x21, 0, 0xFFFFFFFF, 0xFFFFFFFF,
                        len(encoded), 20) + encoded + struct.pack("<HHQQ", 1, 16, whole,
                                                                  len(stream))  # fmt: skip
    entries = directory[: directory.rindex(b"PK\x01\x02")]
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 45, 45, 0, 8, 0, 0x21, 0, 0xFFFFFFFF,
                        0xFFFFFFFF, len(encoded), 20, 0, 0, 0, 0, at) + encoded  # fmt: skip
    entry += struct.pack("<HHQQ", 1, 16, whole, len(stream))
    place = len(body) + len(local) + len(stream)
    count = len(members) + 1
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(entries) + len(entry),
                      place, 0)  # fmt: skip
    return body + local + stream + entries + entry + end


ZIPS = (_without, _without, _without, _renamed, _swapped, _swapped, _doubled, _stranger, _empty,
        _lying, _lying, _zip_bomb)  # fmt: skip


# Arrays


def _npy_parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    size = struct.unpack("<H" if version == (1, 0) else "<I", file.read(2 + 2 * (version > (1, 0))))
    head = ast.literal_eval(file.read(size[0]).decode("latin-1"))
    return head, file.read()


def _npy_text(text: str, rest: bytes, version: int = 1) -> bytes:
    head = text.encode("utf-8" if version == 3 else "latin-1") + b"\n"
    if version == 1:
        size = struct.pack("<H", len(head) & 0xFFFF)
    else:
        size = struct.pack("<I", len(head))
    return b"\x93NUMPY" + bytes([version, 0]) + size + head + rest


def _npy_shape(data: bytes, rng: Random) -> bytes:
    head, rest = _npy_parts(data)
    shape = list(head["shape"])
    near = []
    for axis in range(len(shape)):
        for more in (-1, 1, -shape[axis] - 1):
            near.append(repr((*shape[:axis], shape[axis] + more, *shape[axis + 1 :])))
    near += [repr(tuple(shape[::-1])), repr((*shape, 1)), repr((1, *shape)),
             repr(tuple(shape[:-1])),
             repr((int(np.prod(shape)),))]  # fmt: skip
    written = _one(rng, SHAPES if rng.random() < 0.5 else near)
    return _headed(head, rest, rng, shape=written)


def _npy_dtype(data: bytes, rng: Random) -> bytes:
    head, rest = _npy_parts(data)
    return _headed(head, rest, rng, descr=_one(rng, DTYPES))


def _npy_order(data: bytes, rng: Random) -> bytes:
    head, rest = _npy_parts(data)
    return _headed(head, rest, rng, fortran_order=_one(rng, ("True", "1", "'x'", "None", "[]")))


def _headed(head: dict[str, Any], rest: bytes, rng: Random, **written: str) -> bytes:
    parts = {key: repr(value) for key, value in head.items()} | written
    text = "{" + ", ".join(f"'{key}': {value}" for key, value in parts.items()) + "}"
    return _npy_text(text, rest, _one(rng, (1, 1, 1, 2, 3)))


def _npy_head(data: bytes, rng: Random) -> bytes:
    """A header that does not parse, or says too much or too little."""
    head, rest = _npy_parts(data)
    good = repr(head)
    text = _one(rng, (
        "", "{", good[:-1], good[:-1] * 2, good + "}", "{'descr': '<f8'}", "None", "[]", "5", "'",
        good.replace("'descr'", "descr"), good[:-1] + ", 'x': 1}", "(" * 300, "{" * 5_000,
        f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({LONG},)}}", "__import__('os')",
        good.replace(":", "\0"), good.replace(",", "\\"), '"""' + good, good + "  " * 20_000,
        f"[{good}]", good.replace("'", '"'), "lambda: 0", good.replace("(", "(9,"), "\xff" * 9,
        good.replace("{", "{1j: 2, "), good.replace(": ", ": -"), "{'descr': '<f8', " * 3,
        good + "\n'''", good + "#", "\t\n" + good, " " + good, good.replace(" ", "\f"),
    ))  # fmt: skip
    return _npy_text(text, rest, _one(rng, (1, 1, 2, 3)))


def _npy_version(data: bytes, rng: Random) -> bytes:
    return (
        data[:6] + bytes(_one(rng, ((0, 0), (1, 1), (2, 0), (3, 0), (9, 9), (255, 0)))) + data[8:]
    )


def _npy_length(data: bytes, rng: Random) -> bytes:
    return data[:8] + struct.pack("<H", _one(rng, (0, 1, 10, 60_000, 65_535, 117, 119))) + data[10:]


def _npy_body(data: bytes, rng: Random) -> bytes:
    rest = _npy_parts(data)[1]
    start = data[: len(data) - len(rest)]
    return start + _one(rng, (b"", rest[:-1], rest[: len(rest) // 2], rest + b"\0" * 9, rest * 2))


def _npy_values(data: bytes, rng: Random) -> bytes:
    """Some values are others: not finite, negative, out of range, huge, or all the same."""
    array = np.load(io.BytesIO(data), allow_pickle=False).copy()
    flat = array.reshape(-1)
    where = rng.integers(max(flat.size, 1), size=int(rng.integers(1, 4)))
    if rng.random() < 0.15:
        where = np.arange(flat.size)
    kind = array.dtype.kind
    if kind == "f":
        options: tuple[Any, ...] = (
            np.nan,
            np.inf,
            -np.inf,
            -1,
            0,
            1,
            2,
            1e30,
            -1e30,
            1e-45,
            0.5,
            1e4,
        )
    elif kind in "iu":
        info = np.iinfo(array.dtype)
        options = (info.max, info.min, info.max - 1, 0, 1, max(info.min, -1), max(info.min, -2),
                   flat.size, 10, 11, 100, info.max // 2)  # fmt: skip
    elif kind == "b":
        options = (True, False)
    elif kind == "U":
        options = ("", "tie", "x", "\ud800", "\0", "-1", "{}", "[" * 90)
    else:
        options = (b"", b"csc", b"coo", b"dia", b"bsr", b"xyz", b"\xff")
    if kind in "US" and rng.random() < 0.5:
        array = array.astype(f"{kind}100")
        flat = array.reshape(-1)
    if flat.size:
        flat[where] = _one(rng, options)
    return npy(array)


def _npy_retype(data: bytes, rng: Random) -> bytes:
    """The same values under another type."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    kind = _one(rng, ("f4", "f8", "f2", "i8", "i4", "i1", "u8", "u1", "b1", "c16", "U", "S", "O",
                      "M8[s]",
                      "m8[s]", ">f8", ">i8", ">f4", "g", "V", "rec", "T"))  # fmt: skip
    with np.errstate(all="ignore"):
        if kind == "rec":
            return npy(np.zeros(array.shape, [("a", "<f8"), ("b", "U3")]))
        if kind == "V":
            return npy(np.zeros(array.shape, "V8"))
        if kind == "O":
            return npy(array.astype(object), pickled=True)
        if kind in ("U", "S", "T"):
            return npy(array.astype(str).astype("S" if kind == "S" else "U"))
        if kind[0] in "Mm":
            return npy(np.zeros(array.shape, "i8").astype(kind))
        return npy(array.astype(kind))


def _npy_reshape(data: bytes, rng: Random) -> bytes:
    """An honest array of another shape: 0-d, of more or fewer rows, turned round, empty."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    flat = array.reshape(-1)
    first = flat[0] if flat.size else np.zeros(1, array.dtype)[0]
    axis = int(rng.integers(max(array.ndim, 1)))
    options: list[Callable[[], np.ndarray]] = [
        lambda: np.array(first, array.dtype),
        lambda: flat,
        lambda: array[..., None],
        lambda: array[None],
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array[:0],
        lambda: np.zeros((0,) * array.ndim, array.dtype),
        lambda: np.zeros((0, *array.shape[1:]), array.dtype),
        lambda: np.concatenate([array, array], axis),
        lambda: np.delete(array, 0, axis),
        lambda: np.delete(array, -1, axis),
        lambda: np.repeat(array, 2, axis),
        lambda: np.zeros((1,) * 33 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 1, "f4"),
        lambda: np.full(array.shape, first, array.dtype),
        lambda: np.zeros((2000, *array.shape[1:]), array.dtype),
        lambda: array[..., ::-1],
    ]
    return npy(np.asarray(_one(rng, options)()))


NPYS = (_npy_shape, _npy_shape, _npy_dtype, _npy_dtype, _npy_order, _npy_head, _npy_version,
        _npy_length, _npy_body, _npy_values, _npy_values, _npy_values, _npy_values, _npy_retype,
        _npy_retype, _npy_reshape, _npy_reshape, _npy_reshape)  # fmt: skip


# JSON

RAW = (LONG, "-" + LONG, "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "null", "true", "false",
       "-1", "0", "1", "2", "0.5", "-0.0", str(2**31), str(2**63), str(-(2**63)), str(2**70), '""',
       '"x"', '"1"', '"\\ud800"', '"\\u0000"', '"../../x"', f'"{"y" * 100_000}"', "[]", "{}",
       "[[]]",
       '{"a": 1}', "[1, 2]", "[null]", DEEP, '{"a":' * 5_000 + "1" + "}" * 5_000, "undefined",
       "'x'",
       "1e999999999", "01", "+1", "1.", '["tie", "tie"]', '"nan"', "[[1], [2, 3]]")  # fmt: skip


def _json_places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    pairs: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        pairs = enumerate(value)
    for key, part in pairs:
        found += _json_places(part, (*path, key))
    return found


def _json_at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _json_value(data: bytes, rng: Random) -> bytes:
    """A value is replaced, at any depth; those near the top are as likely as all below."""
    first, last, value = _json_line(data, rng)
    places = _json_places(value)
    top = [place for place in places if len(place) == 1]
    place = _one(rng, top if top and rng.random() < 0.5 else places)
    if not place:
        return first + _utf8(_one(rng, RAW)) + last
    _json_at(value, place[:-1])[place[-1]] = "@@HERE@@"
    return first + _utf8(json.dumps(value).replace('"@@HERE@@"', _one(rng, RAW))) + last


def _json_key(data: bytes, rng: Random) -> bytes:
    """A key goes, comes, stands twice or is called otherwise."""
    first, last, value = _json_line(data, rng)
    places = [p for p in _json_places(value) if p and isinstance(p[-1], str)]
    place = _one(rng, places)
    holder, key = _json_at(value, place[:-1]), place[-1]
    act = int(rng.integers(4))
    if act == 0:
        del holder[key]
    elif act == 1:
        holder[_one(rng, ("", "x", key.upper(), "\ud800", "__class__", "self", LONG))] = holder.pop(
            key
        )
    elif act == 2:
        holder[_one(rng, ("x", "", "__init__", "cost", "format"))] = 1
    else:
        text = json.dumps(value)
        return first + _utf8(text.replace(f'"{key}":', f'"{key}": null, "{key}":', 1)) + last
    return first + _utf8(json.dumps(value)) + last


def _json_list(data: bytes, rng: Random) -> bytes:
    """A list is shorter, longer, doubled, turned round, or of the same member throughout."""
    first, last, value = _json_line(data, rng)
    places = [p for p in _json_places(value) if isinstance(_json_at(value, p), list)]
    found = _json_at(value, _one(rng, places))
    act = int(rng.integers(6))
    if act == 0:
        found.pop()
    elif act == 1:
        found.append(found[0])
    elif act == 2:
        found[:] = found * 2
    elif act == 3:
        found.reverse()
    elif act == 4:
        found[:] = [found[0]] * len(found)
    else:
        found.clear()
    return first + _utf8(json.dumps(value)) + last


def _json_line(data: bytes, rng: Random) -> tuple[bytes, bytes, Any]:
    """One of the lines of JSON, or the whole; what stands before it, and after."""
    with suppress(ValueError):
        return b"", b"", json.loads(data)
    lines = data.split(b"\n")
    k = int(rng.integers(len(lines) - (not lines[-1])))
    before = b"".join(line + b"\n" for line in lines[:k])
    return before, b"".join(b"\n" + line for line in lines[k + 1 :]), json.loads(lines[k])


# Text


def _separator(text: str) -> str:
    return max("\t,; ", key=text.count)


def _as_text(data: bytes) -> tuple[str, str]:
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return data.decode("utf-32"), "utf-32"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16"), "utf-16"
    return data.decode("utf-8", "surrogateescape"), "utf-8"


def _as_bytes(text: str, encoding: str) -> bytes:
    if encoding != "utf-8":
        return text.encode(encoding, "surrogatepass")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _text_cell(data: bytes, rng: Random) -> bytes:
    """A cell, of the header as likely as of the body, is another one."""
    text, encoding = _as_text(data)
    lines = text.split("\n")
    filled = [k for k, line in enumerate(lines) if line]
    k = filled[0] if rng.random() < 0.3 else _one(rng, filled)
    by = _separator(text)
    cells = lines[k].split(by)
    token = _one(rng, TOKENS)
    for c in range(len(cells)) if rng.random() < 0.1 else [int(rng.integers(len(cells)))]:
        cells[c] = token
    lines[k] = by.join(cells)
    return _as_bytes("\n".join(lines), encoding)


def _text_column(data: bytes, rng: Random) -> bytes:
    """All cells of a column are another, or it goes, or comes twice."""
    text, encoding = _as_text(data)
    by = _separator(text)
    rows = [line.split(by) for line in text.split("\n")]
    c = int(rng.integers(len(rows[0])))
    act, token, keep = int(rng.integers(3)), _one(rng, TOKENS), rng.random() < 0.7
    for k, row in enumerate(rows):
        if c >= len(row) or (k == 0 and keep and act == 0) or row == [""]:
            continue
        row[c : c + 1] = ([token], [], [row[c]] * 2)[act]
    return _as_bytes("\n".join(by.join(row) for row in rows), encoding)


def _text_line(data: bytes, rng: Random) -> bytes:
    """A line goes, stands twice or elsewhere, is empty, cut or far too long."""
    text, encoding = _as_text(data)
    lines = text.split("\n")
    k = int(rng.integers(len(lines)))
    by = _separator(text)
    act = int(rng.integers(9))
    if act == 0:
        del lines[k]
    elif act == 1:
        lines.insert(int(rng.integers(len(lines))), lines[k])
    elif act == 2:
        lines.reverse()
    elif act == 3:
        lines.insert(k, _one(rng, ("", " ", by, by * 3, '"', "#", "\0", "%%", "a", "1 1 1", "-")))
    elif act == 4:
        lines[k] = lines[k][: len(lines[k]) // 2]
    elif act == 5:
        lines[k] = lines[k] + by + _one(rng, TOKENS)
    elif act == 6:
        lines[k] = by.join(lines[k].split(by) * 1_000)
    elif act == 7:
        lines = lines[:1]
    else:
        lines[k] = "z" * 3_000_000
    return _as_bytes("\n".join(lines), encoding)


def _text_ends(data: bytes, rng: Random) -> bytes:
    ends = (b"\r", b"\r\n", b"\n\r", b"\0", b"\x0b", b"\n\n", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8")
    return data.replace(b"\n", _one(rng, ends))


def _text_encoding(data: bytes, rng: Random) -> bytes:
    text, _ = _as_text(data)
    encoding = _one(rng, ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1",
                          "utf-7",
                          "cp037"))  # fmt: skip
    out = text.encode(encoding, "replace")
    return out + _one(rng, (b"", b"", b"\xff", b"\0", b"\xd8\x00"))


def _text_number(data: bytes, rng: Random) -> bytes:
    """One of the numbers in the text is another: sizes, indices, values."""
    text, encoding = _as_text(data)
    found = list(re.finditer(r"-?\d+(\.\d+)?", text))
    # The first ones are sizes, where a format has them.
    match = found[int(rng.integers(min(len(found), 4)))] if rng.random() < 0.4 else _one(rng, found)
    return _as_bytes(text[: match.start()] + _one(rng, TOKENS) + text[match.end() :], encoding)


def _text_quote(data: bytes, rng: Random) -> bytes:
    at = _place(rng, data)
    return (
        data[:at]
        + _one(rng, (b'"', b'""', b"'", b"\\", b'"\n"', b"\0", b"\xff", b"\xed\xa0\x80"))
        + data[at:]
    )


def _text_bytes(data: bytes, rng: Random) -> bytes:
    """The head is cut off or joined to itself; letters in another case; delimiters are others."""
    act = int(rng.integers(5))
    by = _separator(data.decode("latin-1")).encode()
    return (
        data + data,
        data.upper(),
        data.replace(by, _one(rng, (b",", b"\t", b";", b" ", b"|", b"::"))),
        data.rstrip(b"\n"),
        b"\n" * int(rng.integers(1, 50)) + data,
    )[act]


def _market_head(data: bytes, rng: Random) -> bytes:
    """Another word in the first line of a MatrixMarket file, or other sizes."""
    lines = data.split(b"\n")
    if rng.random() < 0.5:
        words = lines[0].split(b" ")
        words[int(rng.integers(len(words)))] = _one(rng, (
            b"array", b"coordinate", b"real", b"complex", b"pattern", b"integer",
            b"unsigned-integer",
            b"double", b"general", b"symmetric", b"skew-symmetric", b"hermitian", b"vector", b"",
            b"x",
            b"doubleD", b"\xff"))  # fmt: skip
        lines[0] = b" ".join(words)
        return b"\n".join(lines)
    k = next(i for i, line in enumerate(lines) if line and not line.startswith(b"%"))
    sizes = lines[k].split()
    sizes[int(rng.integers(len(sizes)))] = _one(rng, (
        b"0", b"-1", b"1", b"3", b"1000000", b"3000000000", b"9223372036854775807", b"2.5", b"x",
        b"",
        b"99999999999999999999", b"11", b"9"))  # fmt: skip
    lines[k] = b" ".join(sizes)
    return b"\n".join(lines)


def _market_entry(data: bytes, rng: Random) -> bytes:
    """An entry at another place, or of another value."""
    lines = data.split(b"\n")
    body = [i for i, line in enumerate(lines) if line and not line.startswith(b"%")][1:]
    k = _one(rng, body)
    cells = lines[k].split()
    cells[int(rng.integers(len(cells)))] = _one(rng, (
        b"0", b"-1", b"11", b"1000000000", b"2147483648", b"9223372036854775808", b"1.5", b"nan",
        b"inf",
        b"1e400", b"x", b"", LONG.encode(), b"1e5", b"0x1", b"-0",
        b"99999999999999999999"))  # fmt: skip
    lines[k] = b" ".join(cells)
    return b"\n".join(lines)


TEXTS = (_text_cell, _text_cell, _text_cell, _text_cell, _text_column, _text_line, _text_line,
         _text_ends, _text_encoding, _text_number, _text_number, _text_quote,
         _text_bytes)  # fmt: skip


def _word_header(data: bytes, rng: Random) -> bytes:
    """The first line of word2vec's binary form promises other sizes."""
    head, _, rest = data.partition(b"\n")
    sizes = head.split()
    if rng.random() < 0.3:
        return head + b"\n" + _drawn("", BYTES, rest, rng)[1]
    sizes[int(rng.integers(len(sizes)))] = _one(rng, (
        b"0", b"-1", b"1", b"3", b"11", b"1000000000", b"9223372036854775807", LONG.encode(), b"x",
        b"4294967296", b"2.0", b"+4", b"0004"))  # fmt: skip
    return b" ".join(sizes) + b"\n" + rest


# HDF5


def _h5_places(file: Any) -> list[str]:
    found: list[str] = []
    file.visit(found.append)
    return found


def _h5(act: Callable[[Any, Any, Random], None]) -> Change:
    """A change of the objects of an HDF5 file, through h5py."""

    def change(data: bytes, rng: Random) -> bytes:
        import h5py

        buffer = io.BytesIO(data)
        with h5py.File(buffer, "r+") as file:
            place = _one(rng, _h5_places(file))
            act(file, place, rng)
        return buffer.getvalue()

    change.__name__ = act.__name__
    return change


def _h5_drop(file: Any, place: str, rng: Random) -> None:
    del file[place]


def _h5_attribute(file: Any, place: str, rng: Random) -> None:
    """An attribute of an object (or of the file) goes, or has another value."""
    holder = file[place] if rng.random() < 0.85 or not file.attrs else file
    name = _one(rng, sorted(holder.attrs))
    if rng.random() < 0.35:
        del holder.attrs[name]
        return
    value = _one(rng, ("", "x", "array", "csr_matrix", "csc_matrix", "dataframe", "categorical",
                       "dict",
                       "string-array", "raw", "0.0.1", "9.9.9", -1, 0.5, np.nan, [1, 2], [-1, 5],
                       [0, 0],
                       np.array([2**40, 2**40]), np.array(["a"], "S"), [2**62, 2**62], True,
                       np.array([7, 4]), np.array([10**6, 5])))  # fmt: skip
    del holder.attrs[name]
    holder.attrs[name] = value


def _h5_replace(file: Any, place: str, rng: Random) -> None:
    """A data set or group becomes a data set of another type or shape, or a group, or a link."""
    import h5py

    shape = getattr(file[place], "shape", (3,))
    attributes = dict(file[place].attrs)
    del file[place]
    text = h5py.string_dtype()
    new = _one(rng, (
        np.zeros(shape), np.zeros(shape, "i8"), np.zeros(shape, "c16"), np.array(["x"], "S"), 5.0,
        "text", np.zeros(shape, [("a", "f8")]), np.zeros((0,)), np.zeros((3, 3, 3)),
        np.full(shape, np.nan),
        np.full(shape, -1), np.full(shape, 2**40), np.arange(np.prod(shape, dtype=int)),
        np.zeros(shape, "?"),
        np.zeros(shape, "V4"), h5py.SoftLink("/nowhere"), h5py.SoftLink(f"/{place}"),
        h5py.ExternalLink("other.h5", "/x"), h5py.Empty("f8"), None, np.array([b"\xff\xfe"], "S"),
        np.full(shape, 0.5, "f2"), np.zeros(shape, ">f8"), np.array(["a"] * 3, dtype=text),
    ))  # fmt: skip
    if new is None:
        file.create_group(place)
    else:
        file[place] = new
    if isinstance(new, h5py.SoftLink | h5py.ExternalLink) or rng.random() < 0.3:
        return
    for name, value in attributes.items():
        file[place].attrs[name] = value


def _h5_values(file: Any, place: str, rng: Random) -> None:
    """Some of the numbers or texts of a data set are others."""
    import h5py

    sets = [p for p in _h5_places(file) if isinstance(file[p], h5py.Dataset) and file[p].size]
    found = file[_one(rng, sets)]
    values = np.asarray(found[()])
    flat = np.atleast_1d(values).reshape(-1)
    k = int(rng.integers(flat.size))
    if values.dtype.kind == "f":
        flat[k] = _one(rng, (np.nan, np.inf, -np.inf, -1, 1e30, 0.5))
    elif values.dtype.kind in "iu":
        flat[k] = _one(
            rng, (-1 if values.dtype.kind == "i" else 0, 0, 100, np.iinfo(values.dtype).max)
        )
    elif values.dtype.kind == "O":
        flat[k] = _one(rng, (b"", b"cell 1", b"\xff", b"x" * 1_000, b"gene 0"))
    found[()] = flat.reshape(values.shape)


def _h5_huge(file: Any, place: str, rng: Random) -> None:
    """A data set of which nothing is stored, but which says that it is immense."""
    import h5py

    sets = [p for p in _h5_places(file) if isinstance(file[p], h5py.Dataset)]
    place = "X" if "X" in sets and rng.random() < 0.5 else _one(rng, sets)
    found = file[place]
    rank, kind, attributes = max(len(found.shape), 1), found.dtype, dict(found.attrs)
    size = _one(rng, (10**6, 10**9, 2**40, 2**61))
    shape = (size, *found.shape[1:]) if rng.random() < 0.5 else (*found.shape[:-1], size)
    del file[place]
    made = file.create_dataset(
        place, shape[:rank] or (size,), kind, chunks=(1,) * (rank - 1) + (1024,)
    )
    for name, value in attributes.items():
        made.attrs[name] = value


def _h5_extra(file: Any, place: str, rng: Random) -> None:
    name = _one(
        rng, ("x", "layers/a", "obsm/X_pca", "raw/X", "uns/a", "obs/x", "var/_index", "obsp/a")
    )
    if name in file:
        del file[name]
    file[name] = _one(rng, (np.zeros(3), "a", np.zeros((2, 2)), np.zeros(7), 5))


H5S = tuple(_h5(act) for act in (_h5_drop, _h5_attribute, _h5_attribute, _h5_replace, _h5_replace,
                                 _h5_values, _h5_values, _h5_huge, _h5_extra))  # fmt: skip


# Parquet


def _parquet_column(data: bytes, rng: Random) -> bytes:
    """A column of another type, of nulls or of lists; another name; no rows; a strange packing."""
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    n, c = len(table), int(rng.integers(table.num_columns))
    name = table.column_names[c]
    kinds: list[Callable[[], Any]] = [
        lambda: pyarrow.nulls(n),
        lambda: pyarrow.array([None] * n, pyarrow.float64()),
        lambda: pyarrow.array([None, *range(n - 1)], pyarrow.int64()),
        lambda: pyarrow.array([[1.0, 2.0]] * n),
        lambda: pyarrow.array([[1.0] * (i % 3) for i in range(n)]),
        lambda: pyarrow.array([[[1.0]]] * n),
        lambda: pyarrow.array([None if i else [1.0] for i in range(n)]),
        lambda: pyarrow.array([{"a": 1}] * n),
        lambda: pyarrow.array([[("k", 1)]] * n, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        lambda: pyarrow.array([b"\xff\xfe"] * n),
        lambda: pyarrow.array(["x"] * n).dictionary_encode(),
        lambda: pyarrow.array([""] * n),
        lambda: pyarrow.array(["tie"] * n),
        lambda: pyarrow.array([LONG] * n),
        lambda: pyarrow.array([np.nan] * n),
        lambda: pyarrow.array([np.inf] * n),
        lambda: pyarrow.array([-1] * n),
        lambda: pyarrow.array([2**63] * n, pyarrow.uint64()),
        lambda: pyarrow.array(range(n), pyarrow.float16()) if n < 99 else pyarrow.nulls(n),
        lambda: pyarrow.array([True] * n),
        lambda: pyarrow.array([0] * n, pyarrow.timestamp("ns")),
        lambda: pyarrow.array([2**62] * n, pyarrow.timestamp("s")),
        lambda: pyarrow.array([10**6] * n, pyarrow.date32()),
        lambda: pyarrow.array([1] * n, pyarrow.duration("s")),
        lambda: pyarrow.array([1] * n, pyarrow.time64("us")),
        lambda: pyarrow.array([1] * n).cast(pyarrow.decimal128(38, 10)),
        lambda: pyarrow.array([b"abcd"] * n, pyarrow.binary(4)),
        lambda: pyarrow.array([b"a" * 50] * n, pyarrow.large_binary()),
        lambda: pyarrow.array(["a"] * n, pyarrow.large_string()),
    ]
    act = int(rng.integers(8))
    if act < 5:
        table = table.set_column(c, name, _one(rng, kinds)())
    elif act == 5:
        other = _one(
            rng, ("", "x", table.column_names[0], "cue", "label", "word", "\0", "count", "é")
        )
        table = table.rename_columns(
            [other if k == c else old for k, old in enumerate(table.column_names)]
        )
    elif act == 6:
        table = _one(
            rng,
            (table.slice(0, 0), table.slice(0, 1), table.drop_columns([name]), table.select([])),
        )
    else:
        table = pyarrow.concat_tables([table] * 3)
    file = io.BytesIO()
    packing = _one(rng, ("snappy", "none", "gzip", "zstd", "lz4", "brotli"))
    parquet.write_table(table, file, compression=packing, use_dictionary=bool(rng.random() < 0.5))
    return file.getvalue()


def _parquet_end(data: bytes, rng: Random) -> bytes:
    """The list of columns at the end, which libraries parse, has other bytes."""
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    act = int(rng.integers(3))
    if act == 0:
        return (
            data[:-8]
            + _one(rng, (0, 1, size + 1, len(data), 2**31 - 1, 2**32 - 1)).to_bytes(4, "little")
            + b"PAR1"
        )
    return (
        data[:start]
        + _drawn("", BYTES[:11] if act == 1 else (_flip,), data[start:-8], rng)[1]
        + data[-8:]
    )


KINDS = {
    b"PK\x03\x04": "zip", b"\x93NUMPY": "npy", b"\x1f\x8b": "gzip", b"BZh9": "bzip2",
    b"\xfd7zXZ\x00": "xz", b"PAR1": "parquet", b"\x89HDF": "h5", b"%%MatrixMarket": "market",
}  # fmt: skip
INSIDES = {
    "zip": _zip_inside,
    "gzip": _repack(gzip.decompress, partial_gzip, "gzip"),
    "bzip2": _repack(bz2.decompress, bz2.compress, "bzip2"),
    "xz": _repack(lzma.decompress, lzma.compress, "xz"),
}
CHANGES: dict[str, Sequence[Change]] = {
    "npy": NPYS,
    "json": (_json_value, _json_value, _json_value, _json_key, _json_list, _text_line, _text_quote),
    "text": TEXTS,
    "market": (_market_head, _market_head, _market_entry, _market_entry, _market_entry, *TEXTS),
    "h5": H5S,
    "parquet": (_parquet_column, _parquet_column, _parquet_end),
    "binary": (_word_header, _word_header, *BYTES),
}
