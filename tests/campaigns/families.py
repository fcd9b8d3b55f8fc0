"""Files made by hand, one for each kind of damage that a campaign has found: all must be refused.

    FAMILIES["checkpoints: no parameter/1"] -> Family(reader, make), make() -> Seed

They are changes of the seeds (`campaigns.seeds`), each with its name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from campaigns.mutations import DEEP, LONG, bomb, deflated
from campaigns.seeds import Seed, npy, npz, seeds, zipped

__all__ = ["BOMBS", "FAMILIES", "Family"]

IMMENSE = 10**18  # of 8 bytes each: 6.9 EiB


@dataclass(frozen=True)
class Family:
    """A file that a reader must refuse.

    Parameters
    ----------
    reader : str
    make : callable
        Gives the file as a `Seed`.
    """

    reader: str
    make: Callable[[], Seed]


def _seed(reader: str, name: str) -> Seed:
    return next(seed for seed in seeds(reader) if seed.name == name)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _promising(
    shape: object, descr: object = "<f8", order: object = False, body: bytes = b""
) -> bytes:
    """An array whose header promises what the file does not hold."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {order!r}, 'shape': {shape}, }}"
    return _headed(text, body)


def _headed(text: str, body: bytes = b"\0" * 80) -> bytes:
    head = text.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x02\x00" + len(head).to_bytes(4, "little") + head + body


def _pickle(_: Any = None) -> bytes:
    return npy(np.array(["a", None], dtype=object), pickled=True)


def _with(
    reader: str, seed: str, member: str, content: bytes | Callable[[np.ndarray], Any] | None
) -> Seed:
    """A seed that is a zip, one member of which goes (None), is replaced, or is changed."""
    found = _seed(reader, seed)
    members = _members(found.data)
    if member not in members:
        raise KeyError(f"{seed} has no {member}, but {list(members)}")
    if content is None:
        del members[member]
    elif callable(content):
        array = np.load(io.BytesIO(members[member]), allow_pickle=False)
        members[member] = npy(np.asarray(content(array)))
    else:
        members[member] = content
    return replace(found, data=zipped(members))


def _meta(reader: str, seed: str, change: Callable[[dict[str, Any]], Any]) -> Seed:
    """A seed whose meta.json is changed; a text that the change gives replaces "@@"."""
    found = _seed(reader, seed)
    members = _members(found.data)
    meta = json.loads(members["meta.json"])
    text = change(meta)
    members["meta.json"] = (
        json.dumps(meta).replace('"@@"', text if isinstance(text, str) else "0").encode()
    )
    return replace(found, data=zipped(members))


def _without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda meta: meta.pop(key) and None


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda meta: meta.update({key: value})


def _raw(key: str, text: str) -> Callable[[dict[str, Any]], str]:
    def change(meta: dict[str, Any]) -> str:
        meta[key] = "@@"
        return text

    return change


def _lzma_zip(data: bytes, member: str) -> bytes:
    """A zip in which a member is said to be packed by LZMA, and is not."""
    members = _members(data)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    out = bytearray(file.getvalue())
    with zipfile.ZipFile(io.BytesIO(bytes(out))) as archive:
        at = archive.getinfo(member).header_offset
        start = archive.start_dir
    out[at + 8 : at + 10] = (14).to_bytes(2, "little")
    entry = bytes(out).index(member.encode(), start) - 46
    out[entry + 10 : entry + 12] = (14).to_bytes(2, "little")
    return bytes(out)


def _h5(reader: str, seed: str, change: Callable[[Any], None]) -> Seed:
    import h5py

    found = _seed(reader, seed)
    buffer = io.BytesIO(found.data)
    with h5py.File(buffer, "r+") as file:
        change(file)
    return replace(found, data=buffer.getvalue())


def _replaced(place: str, value: Any, *, keep: bool = True) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        attributes = dict(file[place].attrs)
        del file[place]
        file[place] = value
        for name, each in attributes.items() if keep else ():
            file[place].attrs[name] = each

    return change


def _deleted(place: str) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        del file[place]

    return change


def _immense(file: Any) -> None:
    kind, attributes = file["X"].dtype, dict(file["X"].attrs)
    del file["X"]
    made = file.create_dataset("X", (2**30, 5), kind, chunks=(1024, 5))
    for name, each in attributes.items():
        made.attrs[name] = each


def _btree(data: bytes) -> bytes:
    """An HDF5 file in which the trees that list groups have another signature."""
    return data.replace(b"TREE", b"TREX")


def _parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


def _market(head: str, *lines: str) -> bytes:
    return "\n".join([f"%%MatrixMarket matrix {head}", *lines, ""]).encode()


def _checkpoints() -> Iterator[tuple[str, Callable[[], Seed]]]:
    part = partial(_with, "checkpoints", "maps.checkpoint")
    meta = partial(_meta, "checkpoints", "maps.checkpoint")
    for key in ("iteration", "seed", "history", "method", "fingerprint", "settings"):
        yield f"no {key}", partial(meta, _without(key))
    for name in ("parameter/0.npy", "parameter/1.npy", "memory/active/0.npy", "memory/step/0.npy"):
        yield f"no {name}", partial(part, name, None)
        yield f"{name} of another shape", partial(part, name, lambda a: a[..., :-1])
        yield f"{name} flat", partial(part, name, lambda a: a.reshape(-1))
        yield f"{name} without numbers", partial(part, name, lambda a: a[:0])
        yield f"{name} 0-d", partial(part, name, lambda a: a.reshape(-1)[0])
        yield f"{name} of text", partial(part, name, lambda a: a.astype(str))
        yield f"{name} complex", partial(part, name, lambda a: a.astype(complex))
        yield f"{name} of records", partial(part, name, lambda a: np.zeros(a.shape, [("a", "f4")]))
        yield f"{name} of dates", partial(part, name, lambda a: np.zeros(a.shape, "M8[s]"))
        yield f"{name} of objects", partial(part, name, _pickle())
        yield f"{name} of 6.9 EiB", partial(part, name, _promising((IMMENSE,)))
    yield "parameter/0.npy not finite", partial(part, "parameter/0.npy", lambda a: a * np.nan)
    yield "memory/gain/0.npy not finite", partial(part, "memory/gain/0.npy", lambda a: a + np.inf)
    yield "an iteration below 0", partial(meta, _set("iteration", -5))
    yield "an iteration of text", partial(meta, _set("iteration", "x"))
    yield "an iteration of 5,000 digits", partial(meta, _raw("iteration", LONG))
    yield "a seed of text", partial(meta, _set("seed", "x"))
    yield "a history of lists", partial(meta, _set("history", []))
    yield (
        "a history of text",
        partial(meta, _set("history", {"iteration": "x", "cost": [], "kl": []})),
    )
    yield (
        "a history of columns unlike",
        partial(meta, _set("history", {"iteration": [1.0], "cost": [], "kl": []})),
    )
    yield "settings of a list", partial(meta, _set("settings", [1]))
    yield "nested 100,000 deep", partial(meta, _raw("seed", DEEP))
    for key in ("seeds", "ended", "best"):
        less = partial(lambda key, meta: meta["earlier"].pop(key) and None, key)
        yield f"runs without {key}", partial(_meta, "checkpoints", "runs.checkpoint", less)
    yield (
        "runs that did not end",
        partial(_meta, "checkpoints", "runs.checkpoint", lambda m: m["earlier"].update(ended=[{}])),
    )
    yield (
        "the best run without a part",
        partial(_with, "checkpoints", "runs.checkpoint", "best/parameter/0.npy", None),
    )


def _atlases() -> Iterator[tuple[str, Callable[[], Seed]]]:
    part = partial(_with, "atlas", "full.atlas")
    meta = partial(_meta, "atlas", "full.atlas")
    yield "proportions below 0", partial(part, "proportions.npy", lambda a: a - [[2], [-1], [-1]])
    yield "proportions not finite", partial(part, "proportions.npy", lambda a: a * np.nan)
    yield "proportions that sum to 2", partial(part, "proportions.npy", lambda a: 2 * a)
    yield "proportions of whole numbers", partial(part, "proportions.npy", lambda a: a.astype(int))
    yield "maps of text", partial(part, "maps.npy", lambda a: a.astype(str))
    yield "maps of objects", partial(part, "maps.npy", _pickle())
    yield "maps of records", partial(part, "maps.npy", lambda a: np.zeros(a.shape, [("a", "f4")]))
    yield "maps of 6.9 EiB", partial(part, "maps.npy", _promising((IMMENSE,)))
    yield "maps in four dimensions", partial(part, "maps.npy", lambda a: a[None])
    yield "maps that are infinite", partial(part, "maps.npy", lambda a: a + np.inf)
    yield "metadata too short", partial(part, "metadata/frequency.npy", lambda a: a[:-1])
    yield "metadata 0-d", partial(part, "metadata/frequency.npy", lambda a: a[0])
    yield "metadata in a table", partial(part, "metadata/frequency.npy", lambda a: a[:, None])
    yield (
        "metadata of records",
        partial(part, "metadata/kind.npy", lambda a: np.zeros(a.shape, "V8")),
    )
    for name, change in {
        "offsets of text": ("offsets", lambda a: a.astype(str)),
        "offsets that fall": ("offsets", lambda a: np.r_[0, a[1:-1][::-1], a[-1]]),
        "offsets 0-d": ("offsets", lambda a: a[0]),
        "neighbors beyond all": ("neighbors", lambda a: a + 1000),
        "neighbors of fractions": ("neighbors", lambda a: a + 0.5),
        "weights not finite": ("weights", lambda a: a * np.nan),
        "a map of senses beyond all": ("of_map", lambda a: a + 1000),
        "a threshold of text": ("threshold", lambda a: np.array("x")),
        "a threshold of two": ("threshold", lambda a: np.ones(2)),
        "held of text": ("held", lambda a: a.astype(str)),
    }.items():
        yield f"consensus, {name}", partial(part, f"consensus/{change[0]}.npy", change[1])
    yield "associations beyond all", partial(part, "associations/indices.npy", lambda a: a + 1000)
    yield "associations below 0", partial(part, "associations/data.npy", lambda a: -a)
    yield "vectors of text", partial(part, "vectors/dense.npy", lambda a: a.astype(str))
    yield "vectors not finite", partial(part, "vectors/dense.npy", lambda a: a * np.nan)
    yield (
        "sparse vectors beyond all",
        partial(_with, "atlas", "sparse.atlas", "vectors/indices.npy", lambda a: a + 1000),
    )
    yield (
        "factors of text",
        partial(_with, "atlas", "two.atlas", "factors.npy", lambda a: a.astype(str)),
    )
    yield (
        "factors not finite",
        partial(_with, "atlas", "two.atlas", "factors.npy", lambda a: a + np.inf),
    )
    yield (
        "a header that does not end",
        partial(part, "maps.npy", _headed("{'descr': '<f8', 'shape': (")),
    )
    yield "a header that is no code", partial(part, "maps.npy", _headed("'''"))
    yield "a header of 5,000 digits", partial(part, "maps.npy", _promising(f"({LONG},)"))
    yield "a header nested deep", partial(part, "maps.npy", _headed("(" * 5_000))
    yield "a shape of truth", partial(part, "maps.npy", _promising("(True, 1, 1)"))
    yield (
        "packed junk",
        lambda: replace(
            _seed("atlas", "full.atlas"),
            data=_lzma_zip(_seed("atlas", "full.atlas").data, "maps.npy"),
        ),
    )
    for key in ("labels", "model", "method", "parameters", "fingerprint", "log_normalizer"):
        yield f"no {key}", partial(meta, _without(key))
    yield "labels of a number", partial(meta, _set("labels", 5))
    yield "labels of a text", partial(meta, _set("labels", "abcdefghij"))
    yield "parameters of a list", partial(meta, _set("parameters", [1]))
    yield "log Z of text", partial(meta, _set("log_normalizer", "x"))
    yield "a model of text", partial(meta, _set("model", "x"))
    yield "a version of truth", partial(meta, _set("version", 0.5))
    yield "kinds of a number", partial(_meta, "atlas", "two.atlas", _set("kinds", 5))
    yield "meta.json of 5,000 digits", partial(meta, _raw("fingerprint", LONG))
    yield "meta.json nested 100,000 deep", partial(meta, _raw("parameters", DEEP))


def _counts() -> Iterator[tuple[str, Callable[[], Seed]]]:
    part = partial(_with, "counts", "saved.npz")
    yield "NPZ of objects", lambda: Seed("a.npz", zipped({"counts.npy": _pickle()}))
    yield (
        "labels of objects",
        lambda: Seed("a.npz", zipped({"counts.npy": npy(np.eye(2)), "words.npy": _pickle()})),
    )
    for name in ("data", "indices", "indptr", "shape", "kinds", "report", "row_labels"):
        yield f"no {name}", partial(part, f"{name}.npy", None)
        yield f"{name} 0-d", partial(part, f"{name}.npy", npy(np.array(3)))
        yield f"{name} of dates", partial(part, f"{name}.npy", npy(np.zeros(7, "M8[s]")))
        yield f"{name} of 6.9 EiB", partial(part, f"{name}.npy", _promising((IMMENSE,)))
        yield f"{name} of objects", partial(part, f"{name}.npy", _pickle())
    yield "indices beyond the table", partial(part, "indices.npy", lambda a: a + 1000)
    yield "indices below 0", partial(part, "indices.npy", lambda a: a - 1)
    yield "starts that fall", partial(part, "indptr.npy", lambda a: np.r_[0, a[1:-1][::-1], a[-1]])
    yield "counts below 0", partial(part, "data.npy", lambda a: -a.astype(float))
    yield "counts not finite", partial(part, "data.npy", lambda a: a * np.nan)
    yield "complex counts", partial(part, "data.npy", lambda a: a.astype(complex))
    yield "a shape of 2**62", partial(part, "shape.npy", lambda a: a * 2**59)
    yield "a report of 5,000 digits", partial(part, "report.npy", npy(np.array(LONG)))
    yield "a report nested deep", partial(part, "report.npy", npy(np.array(DEEP)))
    yield "a report of a list", partial(part, "report.npy", npy(np.array("[]")))
    yield "metadata of another length", partial(part, "row_metadata.year.npy", npy(np.arange(3)))
    yield "a version of text", partial(part, "manymaps_counts.npy", npy(np.array("x")))
    yield (
        "sparse parts 0-d",
        lambda: Seed("a.npz", npz(indptr=np.array(1), indices=np.array(0), counts=np.array(2.0))),
    )
    yield (
        "coordinates beyond the table",
        partial(_with, "counts", "coo.npz", "row.npy", lambda a: a + 1000),
    )
    yield "coordinates below 0", partial(_with, "counts", "coo.npz", "col.npy", lambda a: a - 10)
    yield (
        "offsets of text",
        partial(_with, "counts", "dia.npz", "offsets.npy", lambda a: a.astype(str)),
    )
    yield (
        "a format of numbers",
        partial(_with, "counts", "csr.npz", "format.npy", lambda a: np.array(5)),
    )
    yield (
        "packed by LZMA, and not",
        lambda: Seed("a.npz", _lzma_zip(_seed("counts", "csr.npz").data, "data.npy")),
    )
    yield "npy of 6.9 EiB", lambda: Seed("a.npy", _promising((10**9, 10**9)))
    yield (
        "packed npy of 6.9 EiB",
        lambda: Seed("a.npy.gz", gzip.compress(_promising((10**9, 10**9)), mtime=0)),
    )
    yield "npy 0-d", lambda: Seed("a.npy", npy(np.array(5)))
    yield "npy of objects", lambda: Seed("a.npy", _pickle())
    yield "npy of records", lambda: Seed("a.npy", npy(np.zeros((3, 3), [("a", "f8")])))
    for name, data in {
        "whole numbers out of range": _market("coordinate integer general", "3 2 1", f"1 1 {LONG}"),
        "indices out of range": _market(
            "coordinate real general", "3 2 1", "99999999999999999999 1 1"
        ),
        "an index of 2**63": _market("coordinate real general", "3 2 1", f"{2**63} 1 1"),
        "an index of 0": _market("coordinate real general", "3 2 1", "0 1 1"),
        "an index below 0": _market("coordinate real general", "3 2 1", "-1 1 1"),
        "an index beyond": _market("coordinate real general", "3 2 1", "4 1 1"),
        "sizes below 0": _market("coordinate real general", "-3 -2 1", "1 1 1"),
        "immense sizes": _market("array real general", "1000000000 1000000000", "1"),
        "immense rows": _market("coordinate real general", f"{2**62} 2 1", "1 1 1"),
        "immense entries": _market("coordinate real general", f"3 2 {2**60}", "1 1 1"),
        "sizes out of range": _market("coordinate real general", f"3 2 {2**70}", "1 1 1"),
        "too few entries": _market("coordinate real general", "3 2 5", "1 1 1"),
        "too many entries": _market("coordinate real general", "3 2 1", "1 1 1", "2 2 1", "3 1 1"),
        "too few cells": _market("array real general", "3 2", "1", "2"),
        "complex": _market("coordinate complex general", "3 2 1", "1 1 1 2"),
        "symmetric, not square": _market("coordinate real symmetric", "3 2 1", "1 1 1"),
        "symmetric, above": _market(
            "array real symmetric", "3 3", "1", "2", "3", "4", "5", "6", "7"
        ),
        "skew": _market("coordinate real skew-symmetric", "3 3 1", "2 1 1"),
        "text": _market("coordinate real general", "3 2 1", "1 1 x"),
        "NaN": _market("coordinate real general", "3 2 1", "1 1 nan"),
        "below 0": _market("coordinate real general", "3 2 1", "1 1 -1"),
        "no sizes": _market("coordinate real general"),
        "a zero byte": _market("coordinate real general", "3 2 1", "1 \0 1"),
    }.items():
        yield f"MatrixMarket, {name}", partial(Seed, "a.mtx", data)
    packed = gzip.compress(_market("coordinate integer general", "3 2 1", f"1 1 {LONG}"), mtime=0)
    yield "MatrixMarket, packed, out of range", partial(Seed, "a.mtx.gz", packed)
    yield "h5ad, broken trees", lambda: Seed("a.h5ad", _btree(_seed("counts", "dense.h5ad").data))
    h5 = partial(_h5, "counts", "dense.h5ad")
    rare = partial(_h5, "counts", "sparse.h5ad")
    yield "h5ad, no X", partial(h5, _deleted("X"))
    yield "h5ad, no obs", partial(h5, _deleted("obs"))
    yield "h5ad, X of text", partial(h5, _replaced("X", np.array([["a"] * 5] * 7, "S")))
    yield "h5ad, X 0-d", partial(h5, _replaced("X", 5.0))
    yield "h5ad, X of other rows", partial(h5, _replaced("X", np.ones((3, 5))))
    yield "h5ad, immense X", partial(h5, _immense)
    yield "h5ad, obs of a number", partial(h5, _replaced("obs", 5.0))
    yield "h5ad, names of numbers", partial(h5, _replaced("var/_index", np.arange(5)))
    yield "h5ad, X without its parts", partial(rare, _deleted("X/indptr"))
    yield (
        "h5ad, indices beyond",
        partial(rare, lambda f: f["X/indices"].write_direct(f["X/indices"][()] + 1000)),
    )
    yield "h5ad, indices of text", partial(rare, _replaced("X/indices", np.array([b"a"] * 9)))
    yield (
        "h5ad, starts that fall",
        partial(
            rare,
            lambda f: f["X/indptr"].write_direct(np.ascontiguousarray(f["X/indptr"][()][::-1])),
        ),
    )
    yield (
        "h5ad, an immense shape",
        partial(rare, lambda f: f["X"].attrs.modify("shape", [2**60, 2**60])),
    )
    yield (
        "h5ad, a kind that is unknown",
        partial(rare, lambda f: f["X"].attrs.modify("encoding-type", "x")),
    )


def _vectors() -> Iterator[tuple[str, Callable[[], Seed]]]:
    h5 = partial(_h5, "vectors", "a.h5ad")
    yield "h5ad, broken trees", lambda: Seed("a.h5ad", _btree(_seed("vectors", "a.h5ad").data))
    yield "h5ad, X of text", partial(h5, _replaced("X", np.array([["a"] * 4] * 10, "S")))
    yield "h5ad, immense X", partial(h5, _immense)
    yield "h5ad, X of records", partial(h5, _replaced("X", np.zeros((10, 4), [("a", "f8")])))
    yield "h5ad, X not finite", partial(h5, _replaced("X", np.full((10, 4), np.nan)))
    yield "npz 0-d", lambda: Seed("a.npz", npz(vectors=np.array(1.0), words=np.array("x")))
    yield "npz, words 0-d", lambda: Seed("a.npz", npz(vectors=np.eye(3), words=np.array("x")))
    yield "npz of objects", lambda: Seed("a.npz", zipped({"vectors.npy": _pickle()}))
    yield (
        "npz of 6.9 EiB",
        lambda: Seed("a.npz", zipped({"vectors.npy": _promising((10**9, 10**9))})),
    )
    yield (
        "npz, sparse, beyond",
        partial(_with, "vectors", "csr.npz", "indices.npy", lambda a: a + 1000),
    )
    yield (
        "npz, sparse, starts 0-d",
        partial(_with, "vectors", "csr.npz", "indptr.npy", lambda a: a[0]),
    )
    yield (
        "npz, sparse, a shape 0-d",
        partial(_with, "vectors", "csr.npz", "shape.npy", lambda a: a[0]),
    )
    yield "npy 0-d", lambda: Seed("a.npy", npy(np.array(1.0)))
    yield "npy of text", lambda: Seed("a.npy", npy(np.array([["a", "b"], ["c", "d"]])))
    yield "npy of dates", lambda: Seed("a.npy", npy(np.zeros((3, 2), "M8[s]")))
    yield "npy not finite", lambda: Seed("a.npy", npy(np.full((3, 2), np.inf)))
    yield "npy of 6.9 EiB", lambda: Seed("a.npy", _promising((10**9, 10**9)))
    yield "npy of a shape below 0", lambda: Seed("a.npy", _promising((-1, -1)))
    yield "npy of texts of 2 GB", lambda: Seed("a.npy", _promising((1, 1), "<U2147483647"))
    yield "npy of a header of 5,000 digits", lambda: Seed("a.npy", _promising(f"({LONG},)"))
    yield "npy of a header with a bad character", lambda: Seed("a.npy", _headed("{'a': \0}"))
    yield "npy of a header of \xff", lambda: Seed("a.npy", _headed("{'descr': '<f8', \xa4\xff}"))
    yield "npy of a type of lists", lambda: Seed("a.npy", _promising((1,), [[]]))
    yield (
        "word2vec of 5,000 digits",
        lambda: Seed("a.txt", f"{LONG} 3\ntie 1 2 3\nknot 1 2 3\n".encode()),
    )
    yield (
        "word2vec of 5,000 digits of width",
        lambda: Seed("a.txt", f"2 {LONG}\ntie 1 2 3\n".encode()),
    )
    yield (
        "word2vec, binary, of 5,000 digits",
        lambda: Seed("a.bin", f"2 {LONG}\ntie \0\0\0\0".encode()),
    )
    yield "word2vec, binary, immense", lambda: Seed("a.bin", b"2 9000000000000\ntie \0\0\0\0")
    yield (
        "word2vec, binary, of immensely many",
        lambda: Seed("a.bin", b"9000000000000000 1\ntie \0\0\0\0"),
    )
    yield "GloVe of 5,000 digits", lambda: Seed("a.txt", f"tie 1 2\nknot 1 {'9' * 400}\n".encode())
    yield "GloVe not finite", lambda: Seed("a.txt", b"tie 1 2\nknot nan 1\n")
    yield (
        "parquet of nulls",
        lambda: Seed("a.parquet", _parquet({"word": ["a", "b"], "x": [None, None]})),
    )
    yield (
        "parquet of lists unlike",
        lambda: Seed("a.parquet", _parquet({"word": ["a", "b"], "x": [[1.0], [1.0, 2.0]]})),
    )
    yield (
        "parquet, cut",
        lambda: replace(
            _seed("vectors", "a.parquet"), data=_seed("vectors", "a.parquet").data[:-30]
        ),
    )


def _pairs(reader: str) -> Iterator[tuple[str, Callable[[], Seed]]]:
    wide = ",tie,knot,user,plan b" * 3_000
    yield "a header of thousands", partial(Seed, "a.csv", f"{wide}\ntie,1,2\n".encode())
    yield "npy of objects", lambda: Seed("a.npy", _pickle())
    yield "npy 0-d", lambda: Seed("a.npy", npy(np.array(1.0)))
    yield "npy of text", lambda: Seed("a.npy", npy(np.array([["a", "b"], ["c", "d"]])))
    yield "npy complex", lambda: Seed("a.npy", npy(np.eye(3) * 1j))
    yield "npy of 6.9 EiB", lambda: Seed("a.npy", _promising((10**9, 10**9)))
    yield "npy of records", lambda: Seed("a.npy", npy(np.zeros((3, 3), [("a", "f8")])))
    yield "npy of three dimensions", lambda: Seed("a.npy", npy(np.ones((3, 3, 3))))
    yield "npy infinite", lambda: Seed("a.npy", npy(np.full((3, 3), np.inf)))
    yield "npz of labels 0-d", lambda: Seed("a.npz", npz(strengths=np.eye(3), labels=np.array("x")))
    yield "npz of objects", lambda: Seed("a.npz", zipped({"strengths.npy": _pickle()}))
    yield (
        "npz of 6.9 EiB",
        lambda: Seed("a.npz", zipped({"strengths.npy": _promising((10**9, 10**9))})),
    )
    yield "npz, an index beyond", partial(_with, reader, "csr.npz", "indices.npy", lambda a: a + 23)
    yield (
        "npz, starts that fall",
        partial(_with, reader, "csr.npz", "indptr.npy", lambda a: np.r_[0, a[1:-1][::-1], a[-1]]),
    )
    yield (
        "npz, coordinates beyond",
        partial(_with, reader, "coo.npz", "row.npy", lambda a: a + 1000),
    )
    yield "npz, blocks beyond", partial(_with, reader, "bsr.npz", "indices.npy", lambda a: a + 1000)
    yield "npz, offsets 0-d", partial(_with, reader, "dia.npz", "offsets.npy", lambda a: a[0])
    yield (
        "npz, a shape of 2**62",
        partial(_with, reader, "csr.npz", "shape.npy", lambda a: a * 2**58),
    )
    yield (
        "MatrixMarket, an index beyond",
        partial(Seed, "a.mtx", _market("coordinate real general", "3 3 1", "4 1 1")),
    )
    yield (
        "MatrixMarket, out of range",
        partial(Seed, "a.mtx", _market("coordinate integer general", "3 3 1", f"1 1 {LONG}")),
    )
    yield (
        "MatrixMarket, immense",
        partial(Seed, "a.mtx", _market("array real general", "1000000 1000000", "1")),
    )
    yield (
        "MatrixMarket, entries below 0",
        partial(Seed, "a.mtx", _market("coordinate real general", "3 3 -1", "2 1 1")),
    )
    yield "an empty label of a matrix", partial(Seed, "a.csv", b",tie,\ntie,1,.5\n,.5,1\n")
    yield (
        "an empty label of an array",
        lambda: Seed("a.npz", npz(strengths=np.eye(3) + 1, labels=np.array(["a", "", "b"]))),
    )
    if reader == "similarities":  # from associations such pairs are left out, and reported
        yield (
            "an empty label",
            partial(Seed, "a.csv", b"cue,response,strength\ntie,knot,1\ntie,,1\n,tie,1\n"),
        )
        nothing = {"cue": ["a", None], "response": ["b", "a"], "strength": [1, 2]}
        yield "parquet without labels", lambda: Seed("a.parquet", _parquet(nothing))


def _texts() -> Iterator[tuple[str, Callable[[], Seed]]]:
    lines = '{"text": "a bow tie"}\n{"text": "a knot", "n": '
    yield "5,000 digits", partial(Seed, "a.jsonl", f"{lines}{LONG}}}\n".encode())
    yield "nested 100,000 deep", partial(Seed, "a.jsonl", f"{lines}{DEEP}}}\n".encode())
    yield "no documents", partial(Seed, "a.jsonl", b"\n\n")
    yield "an empty table", partial(Seed, "a.csv", b"\n\n")
    yield "parquet of numbers", lambda: Seed("a.parquet", _parquet({"text": [1, 2]}))


def _metadata() -> Iterator[tuple[str, Callable[[], Seed]]]:
    yield "an empty table", partial(Seed, "a.csv", b"\n")
    yield "an empty table of Parquet", lambda: Seed("a.parquet", _parquet({}))
    yield "a header alone", partial(Seed, "a.csv", b"label,x\n")
    yield "a name that stands twice", partial(Seed, "a.csv", b"label,x,x\ntie,1,2\n")
    yield "an array", lambda: Seed("a.csv", npy(np.eye(3)))
    yield "cut", lambda: Seed("a.csv.xz", lzma.compress(b"label,x\ntie,1\n" * 99)[:-20])


def _labels() -> Iterator[tuple[str, Callable[[], Seed]]]:
    yield "an empty one", partial(Seed, "a.txt", b"tie\n\nknot\n")
    yield "none", partial(Seed, "a.txt", b"\n\n\n")
    yield "of zero bytes", partial(Seed, "a.txt", b"\0" * 9)
    yield "a mark alone", partial(Seed, "a.txt", b"\xff\xfe")
    yield "too few", partial(Seed, "a.txt", b"tie\nknot\n")
    yield "packed, cut", lambda: Seed("a.txt.bz2", bz2.compress(b"tie\nknot\n" * 99)[:-20])


def _journals() -> Iterator[tuple[str, Callable[[], Seed]]]:
    def made(change: Callable[[list[bytes]], None]) -> Seed:
        found = _seed("journal", "sweep.jsonl")
        lines = found.data.split(b"\n")
        change(lines)
        return replace(found, data=b"\n".join(lines))

    def replacing(k: int, old: bytes, new: bytes) -> Callable[[list[bytes]], None]:
        def change(lines: list[bytes]) -> None:
            import re

            lines[k], n = re.subn(old, lambda _: new, lines[k], count=1)
            assert n

        return change

    for name, parts in {
        "another format": (0, rb'"manymaps sweep"', b'"x"'),
        "a version of text": (0, rb'"version": 1', b'"version": "x"'),
        "a version of 5,000 digits": (0, rb'"version": 1', b'"version": ' + LONG.encode()),
        "a header nested 100,000 deep": (0, rb'"version": 1', b'"version": ' + DEEP.encode()),
        "a point nested 100,000 deep": (1, rb'"seconds": [^,]*', b'"seconds": ' + DEEP.encode()),
        "a seed of 5,000 digits": (1, rb'"seed": \d+', b'"seed": ' + LONG.encode()),
        "seconds of 5,000 digits": (1, rb'"seconds": [^,]*', b'"seconds": ' + LONG.encode()),
        "iterations without end": (1, rb'"n_iterations": \d+', b'"n_iterations": 1e400'),
        "a split of text": (1, rb'"split": \d+', b'"split": "x"'),
        "settings of a number": (1, rb'"settings": {[^}]*}', b'"settings": 5'),
        "a measure of text": (1, rb'"train": [^,]*', b'"train": "x"'),
        "a measure that is no number": (1, rb'"train": [^,]*', b'"train": NaN'),
        "a measure that is no number in words": (1, rb'"train": [^,]*', b'"train": "nan"'),
        "a failure of a list": (1, rb'"failure": null', b'"failure": [1]'),
        "no measures": (1, rb'"measures"', b'"x"'),
    }.items():
        yield name, partial(made, replacing(*parts))
    yield "a line of a list", partial(made, lambda lines: lines.__setitem__(1, b"[]"))


def _features() -> Iterator[tuple[str, Callable[[], Seed]]]:
    one = '{"clusters": [{"weight": 1, "members": ["tie", "knot"]}, '
    for name, rest in {
        "a weight of 5,000 digits": f'{{"weight": {LONG}, "members": ["tie"]}}]}}',
        "a weight not finite": '{"weight": 1e400, "members": ["tie"]}]}',
        "a weight that is no number": '{"weight": NaN, "members": ["tie"]}]}',
        "members of a text": '{"weight": 1, "members": "tie"}]}',
        "members of a number": '{"weight": 1, "members": 5}]}',
        "nested 100,000 deep": f'{{"weight": 1, "members": {DEEP}}}]}}',
        "a stranger": '{"weight": 1, "members": ["\\ud800"]}]}',
        "clusters of a list": "[]]}",
    }.items():
        yield name, partial(Seed, "a.json", (one + rest).encode())
    yield "no clusters", partial(Seed, "a.json", b'{"clusters": []}')
    yield "clusters of a number", partial(Seed, "a.json", b'{"clusters": 5}')
    yield "bytes that are no text", partial(Seed, "a.json", b'{"clusters": "\xff\xfe\x80"}')
    yield "a table with a 2", partial(Seed, "a.csv", b"label,1 (0.3)\ntie,2\nknot,0\n")
    yield "an empty table", partial(Seed, "a.csv", b"\n")


def _judgements() -> Iterator[tuple[str, Callable[[], Seed]]]:
    yield "infinite", partial(Seed, "a.csv", b"judge,item1,item2,similarity\na,tie,knot,inf\n")
    yield "of text", partial(Seed, "a.csv", b"judge,item1,item2,similarity\na,tie,knot,x\n")
    yield "an empty label", partial(Seed, "a.csv", b"judge,item1,item2,similarity\na,tie,,1\n")
    yield "an empty judge", partial(Seed, "a.csv", b"judge,item1,item2,similarity\n,tie,knot,1\n")
    yield "without objects", partial(Seed, "a.csv", b"judge,item1,item2,similarity\n")


def _bombs() -> Iterator[tuple[str, str, Callable[[], Seed]]]:
    for kind, suffix in {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz"}.items():
        # All readers unpack by one function: the other kinds are for one of them.
        readers = ("associations", "labels", "metadata", "counts", "texts")
        for reader in readers if kind == "gzip" else ("labels",):
            name = f"a.{'jsonl' if reader == 'texts' else 'csv'}{suffix}"
            yield reader, kind, partial(lambda name, kind: Seed(name, bomb(kind)), name, kind)
    head = _promising((5 * 2**27,), body=b"")
    for reader, seed, member, start in (
        ("atlas", "full.atlas", "maps.npy", head),
        ("atlas", "full.atlas", "meta.json", b"{"),
        ("checkpoints", "maps.checkpoint", "parameter/0.npy", head),
        ("checkpoints", "maps.checkpoint", "meta.json", b"{"),
        ("counts", "saved.npz", "data.npy", head),
        ("vectors", "a.npz", "vectors.npy", head),
        ("associations", "matrix.npz", "strengths.npy", head),
    ):
        yield reader, f"zip, {member}", partial(_exploding, reader, seed, member, start)


def _exploding(reader: str, seed: str, member: str, start: bytes) -> Seed:
    """A seed one of whose members begins so, and goes on with gigabytes of zeros."""
    found = _seed(reader, seed)
    others = {name: data for name, data in _members(found.data).items() if name != member}
    return replace(found, data=deflated(list(others.items()), member, start))


def _families() -> dict[str, Family]:
    found = {}
    for reader, families in {
        "checkpoints": _checkpoints(), "atlas": _atlases(), "counts": _counts(),
        "vectors": _vectors(), "associations": _pairs("associations"),
        "similarities": _pairs("similarities"),
        "texts": _texts(), "metadata": _metadata(), "labels": _labels(),
        "journal": _journals(), "features": _features(), "judgements": _judgements(),
    }.items():  # fmt: skip
        for name, make in families:
            found[f"{reader}: {name}"] = Family(reader, make)
    return found


#: A few hundred files by what is wrong with them.
FAMILIES = _families()
#: Files of at most a few megabytes that unpack to 5 GiB.
BOMBS = {f"{reader}: {name}": Family(reader, make) for reader, name, make in _bombs()}
