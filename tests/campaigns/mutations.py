"""Changes of a valid file that know its content: a zip, an array, JSON, a text table, bytes.

    changed(data, rng) -> (bytes, what was done)

A change reaches into the members of a zip. Two in three files get one change, the others more.
"""

from __future__ import annotations

import ast
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from campaigns.seeds import npy, zipped

__all__ = ["changed"]

Random: TypeAlias = np.random.Generator
Change: TypeAlias = Callable[[bytes, Random], bytes]

LONG = "7" * 5_000
DEEP = "[" * 100_000 + "]" * 100_000
TOKENS = ("", " ", LONG, "0." + LONG, "1e400", "1e-400", "nan", "inf", "-Infinity", "-0", "-1",
          "0.5", "1e9", str(2**31), str(2**63), str(2**64), "1_000", "0x10", "1,5",
          "\u0663", "½", "NA", "null", "TRUE", "\0", "a\0b", "\udc80", "\ufeff", "\u2028", "\x85",
          '"', '""', '"a',
          "'", "\\", "x" * 200_000, "=1+1", "tie", "TIE ", "%", "#", "\t", ",", ";", "\r",
          "\n")  # fmt: skip
SHAPES = ("(-1,)", "(-1, -1)", "()", "(0,)", "(0, 3)", f"({2**62},)", f"({2**63},)", "(1,)",
          "(10,)",
          f"({2**40}, {2**40})", f"(0, {2**62})", "(1000000000,)", f"({'1,' * 40})", "(2.0,)",
          "('a',)", "5", "None", "(True, True)", f"({LONG},)", "(3, 10, 2, 1)")  # fmt: skip
DTYPES = ("'|O'", "'|V8'", "'<M8[s]'", "'>f8'", "'<c16'", "'<f2'", "'<f4'", "'<f16'", "'|b1'",
          "'<u8'", "'|i1'", "'<U4'", "'|S3'", "'<U0'", "'<U999999999'", "[('a', '|O')]",
          "('<f8', (2,))", "''", "'zz'", "5", "None", "()", "[5]", "'f8,f8'")  # fmt: skip
HEADS = ("", "{", "{'descr': '<f8'}", "None", "5", "'", "(" * 300, "{" * 5_000, "lambda: 0", "'''",
         "__import__('os')", "{1j: 2, 'descr': 3}", "\xff" * 9)  # fmt: skip
VALUES = (LONG, "1e400", "NaN", "-Infinity", "null", "true", "-1", "0", "2", "0.5", str(2**63),
          "{}", str(2**70), '""', '"x"', '"\\ud800"', '"\\u0000"', f'"{"y" * 100_000}"', "[]",
          "[[]]", DEEP, '{"a":' * 5_000 + "1" + "}" * 5_000, "undefined", "01")  # fmt: skip


def _one(rng: Random, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def _place(rng: Random, data: bytes) -> int:
    return int(rng.integers(len(data) + 1))


def changed(data: bytes, rng: Random) -> tuple[bytes, str]:
    """A changed file, and which changes made it."""
    names = []
    for _ in range(_one(rng, (1, 1, 1, 1, 2, 3))):
        name, data = _change(data, rng)
        names.append(name)
    return data, ", ".join(names)


def _change(data: bytes, rng: Random) -> tuple[str, bytes]:
    """One change of a file of any kind, at any depth."""
    changes = BYTES if rng.random() < 0.2 else _changes_of(data)
    change = _one(rng, changes)
    with suppress(Exception):  # an earlier change may have broken the format
        return change.__name__.strip("_"), change(data, rng)
    return "flip", _flip(data, rng)


def _changes_of(data: bytes) -> Sequence[Change]:
    if data.startswith(b"PK\x03\x04"):
        return ZIPS
    if data.startswith(b"\x93NUMPY"):
        return ARRAYS
    return JSONS if data.lstrip()[:1] in (b"{", b"[") else TEXTS


# Bytes


def _flip(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for at in rng.integers(max(len(out), 1), size=int(rng.integers(1, 9))) if out else ():
        out[at] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: _place(rng, data)] if rng.random() < 0.7 else data[_place(rng, data) :]


def _move(data: bytes, rng: Random) -> bytes:
    """A stretch of bytes goes, comes again, or changes places with another."""
    a, b, c = sorted(_place(rng, data) for _ in range(3))
    options = (
        data[:a] + data[b:],
        data[:b] + data[a:],
        data[:a] + data[b:c] + data[a:b] + data[c:],
    )
    return _one(rng, options)


def _overwrite(data: bytes, rng: Random) -> bytes:
    at, n = _place(rng, data), int(rng.integers(1, 40))
    return data[:at] + _one(rng, (rng.bytes(n), bytes(n), b"\xff" * n)) + data[at + n :]


def _number(data: bytes, rng: Random) -> bytes:
    """An integer or a float takes the place of other bytes."""
    form = _one(rng, ("<i", "<I", "<q", "<H", "<f", "<d"))
    most = 2 ** (8 * struct.calcsize(form) - form[1].islower()) - 1
    floats, integers = (np.nan, np.inf, -1.0, 1e30), (0, 1, most, most // 2)
    packed = struct.pack(form, _one(rng, floats if form[1] in "fd" else integers))
    at = _place(rng, data)
    return data[:at] + packed + data[at + len(packed) :]


BYTES = (_flip, _flip, _cut, _move, _overwrite, _number)


# Zips


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _member(data: bytes, rng: Random) -> bytes:
    """The content of a member; plain values are few next to the arrays, and as likely."""
    members = _members(data)
    name = _one(rng, list(members))
    if rng.random() < 0.25 and "meta.json" in members:
        name = "meta.json"
    members[name] = _change(members[name], rng)[1]
    return zipped(members)


def _members_moved(data: bytes, rng: Random) -> bytes:
    """A member goes, has another name, is empty, or has the content of another."""
    members = _members(data)
    name, other = _one(rng, list(members)), _one(rng, list(members))
    act = int(rng.integers(4))
    if act == 0:
        del members[name]
    elif act == 1:
        names = (f"x{name}", f"../{name}", "", f"{name}\0", "metadata/.npy", "memory/step/-1.npy")
        members[_one(rng, names)] = members.pop(name)
    elif act == 2:
        members[name] = b""
    else:
        members[name], members[other] = members[other], members[name]
    return zipped(members)


def _sizes(data: bytes, rng: Random) -> bytes:
    """The sizes, the method or the checksum that the directory of a zip states."""
    out = bytearray(data)
    at = _one(rng, [match.start() for match in re.finditer(b"PK\x01\x02", data)])
    field, size = _one(rng, ((24, 4), (20, 4), (10, 2), (16, 4), (42, 4), (8, 2), (28, 2)))
    value = _one(rng, (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 8, 12, 14, 99, 2**30))
    out[at + field : at + field + size] = (value & (2 ** (8 * size) - 1)).to_bytes(size, "little")
    return bytes(out)


ZIPS = (_member, _member, _member, _member, _members_moved, _sizes)


# Arrays


def _header(data: bytes, rng: Random) -> bytes:
    """Another shape, type or order, or a header that does not parse."""
    start = 10 + int.from_bytes(data[8:10], "little")
    head = {name: repr(value) for name, value in ast.literal_eval(data[10:start].decode()).items()}
    name, options = _one(rng, (
        ("shape", SHAPES), ("descr", DTYPES), ("fortran_order", ("True", "1", "'x'", "None")),
    ))  # fmt: skip
    head[name] = _one(rng, options)
    text = "{" + ", ".join(f"'{key}': {value}" for key, value in head.items()) + "}"
    if rng.random() < 0.2:
        text = _one(rng, (*HEADS, text[:-1], text * 2, text + " " * 20_000))
    encoded = text.encode("latin-1") + b"\n"
    version = _one(rng, (1, 1, 1, 2, 3, 9))
    length = struct.pack("<H" if version == 1 else "<I", len(encoded))
    return b"\x93NUMPY" + bytes([version, 0]) + length + encoded + data[start:]


def _array_values(data: bytes, rng: Random) -> bytes:
    """Some values are not finite, negative, out of range, or all the same."""
    array = np.load(io.BytesIO(data)).copy()
    flat = array.reshape(-1)
    where = rng.integers(flat.size, size=int(rng.integers(1, 4)))
    if rng.random() < 0.15:
        where = np.arange(flat.size)
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        flat[where] = _one(rng, (info.max, info.min, 0, 1, max(info.min, -2), flat.size, 11))
    elif array.dtype.kind == "f":
        flat[where] = _one(rng, (np.nan, np.inf, -1, 0, 2, 1e30, 1e-45, 0.5))
    else:
        array = array.astype("U100")
        array.reshape(-1)[where] = _one(rng, ("", "tie", "\ud800", "\0", "-1", "{}", "[" * 90))
    return npy(array)


def _retyped(data: bytes, rng: Random) -> bytes:
    """The same values of another type."""
    kind = _one(rng, ("f4", "f2", "i8", "i1", "u8", "b1", "c16", "U", "S", "O", ">f8", ">i8", "g"))
    with np.errstate(all="ignore"):
        return npy(np.load(io.BytesIO(data)).astype(kind))


def _reshaped(data: bytes, rng: Random) -> bytes:
    """An honest array of another shape."""
    array = np.load(io.BytesIO(data))
    flat = array.reshape(-1)
    return npy(_one(rng, (
        flat[:1].reshape(()), flat, array[..., None], array[None], array.T,
        np.asfortranarray(array), array[:0], array[1:], np.concatenate([array, array]),
        np.repeat(array, 2, -1), array[::-1],
    )))  # fmt: skip


ARRAYS = (_header, _header, _array_values, _array_values, _retyped, _reshaped)


# JSON, in one piece or in lines


def _json(data: bytes, rng: Random) -> bytes:
    """A value is another, a key goes or comes, or a list has other elements."""
    lines = [data] if data.count(b"\n") < 2 else data.split(b"\n")
    k = int(rng.integers(len(lines) - (not lines[-1])))
    value = json.loads(lines[k])
    holders = [part for part in _parts(value) if isinstance(part, dict | list) and part]
    holder = value if rng.random() < 0.5 else _one(rng, holders)
    key = _one(rng, list(holder) if isinstance(holder, dict) else range(len(holder)))
    act = int(rng.integers(4))
    if act == 0:
        del holder[key]
    elif act == 1 and isinstance(holder, list):
        holder[:] = _one(rng, ([holder[0]] * len(holder), holder * 2, holder[::-1]))
    elif act == 1:
        holder[_one(rng, ("", "x", "\ud800", "__class__", LONG, "format"))] = holder.pop(key)
    else:
        holder[key] = "@@HERE@@"
    lines[k] = json.dumps(value).replace('"@@HERE@@"', _one(rng, VALUES)).encode()
    return b"\n".join(lines)


def _parts(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(part for each in inner for part in _parts(each))]


JSONS = (_json, _json, _json, lambda data, rng: _token(data, rng))


# Text tables


def _decoded(data: bytes) -> tuple[str, str]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16"), "utf-16"
    return data.decode("utf-8", "surrogateescape"), "utf-8"


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode(encoding, "surrogatepass")


def _separator(text: str) -> str:
    return max("\t,; ", key=text.count)


def _cell(data: bytes, rng: Random) -> bytes:
    """A cell, of the header as likely as of the body, is another one; or a whole column."""
    text, encoding = _decoded(data)
    by = _separator(text)
    rows = [line.split(by) for line in text.split("\n")]
    token, c = _one(rng, TOKENS), int(rng.integers(len(rows[0])))
    chosen = rows if rng.random() < 0.2 else [rows[0] if rng.random() < 0.3 else _one(rng, rows)]
    act = int(rng.integers(6))
    for row in chosen:
        row[c : c + 1] = [] if act == 0 else row[c : c + 1] * 2 if act == 1 else [token]
    return _encoded("\n".join(by.join(row) for row in rows), encoding)


def _line(data: bytes, rng: Random) -> bytes:
    """A line goes, comes again, is another one, cut, or far too long."""
    text, encoding = _decoded(data)
    lines, by = text.split("\n"), _separator(text)
    k = int(rng.integers(len(lines)))
    lines[k : k + 1] = _one(rng, (
        [], [lines[k]] * 2, ["", lines[k]], [by * 3, lines[k]], ['"', lines[k]],
        ["1 1 1", lines[k]], [lines[k][: len(lines[k]) // 2]], [lines[k] + by + _one(rng, TOKENS)],
        [by.join(lines[k].split(by) * 1_000)], ["z" * 3_000_000], [lines[0], lines[k]],
    ))  # fmt: skip
    return _encoded("\n".join(lines), encoding)


def _token(data: bytes, rng: Random) -> bytes:
    """A number or a word of the text is another token."""
    text, encoding = _decoded(data)
    match = _one(rng, list(re.finditer(r"-?\d+(\.\d+)?|\w+", text)))
    return _encoded(text[: match.start()] + _one(rng, TOKENS) + text[match.end() :], encoding)


def _whole(data: bytes, rng: Random) -> bytes:
    """Other ends of lines, delimiters, an encoding; the text twice."""
    text, _ = _decoded(data)
    act = int(rng.integers(4))
    if act == 0:
        return data.replace(b"\n", _one(rng, (b"\r", b"\r\n", b"\0", b"\n\n", b"\xe2\x80\xa8")))
    if act == 1:
        return data.replace(_separator(text).encode(), _one(rng, (b",", b"\t", b";", b" ", b"::")))
    if act == 2:
        encoding = _one(rng, ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7"))
        return text.encode(encoding, "replace") + _one(rng, (b"", b"\xff", b"\0"))
    return data + data


TEXTS = (_cell, _cell, _cell, _line, _line, _token, _token, _whole)
