"""Small valid files of our own formats and of text tables, made by code: the campaign damages them.

    seeds("counts") -> (Seed("saved.npz", b"PK..."), Seed("long.csv", b"document,word,..."), ...)

They are the same in every process, so that a case can be repeated.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

__all__ = ["READERS", "WORDS", "Seed", "npy", "resumable", "seeds", "zipped"]

WORDS = ("tie", "knot", "suit", "bow", "river", "bank", "money", "boat", "näh", "plan b")
N = len(WORDS)


class Seed(NamedTuple):
    """A valid file: its name, of which the suffix may matter, and its bytes."""

    name: str
    data: bytes


@cache
def seeds(reader: str) -> tuple[Seed, ...]:
    """The seeds of one of `READERS`."""
    return tuple(READERS[reader]())


def npy(array: np.ndarray) -> bytes:
    """An array as `numpy.save` writes it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip of members, always the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).random(shape)


def _strengths() -> np.ndarray:
    """A square table of strengths that is not symmetric, with zeros."""
    table = np.round(_numbers(N, N), 2)
    table[table < 0.4] = 0
    np.fill_diagonal(table, 0)
    table[np.arange(N), (np.arange(N) + 1) % N] = 0.5
    return table


def _similarity() -> np.ndarray:
    table = np.maximum(_strengths(), _strengths().T)
    np.fill_diagonal(table, 1)
    return table


def _count_table() -> np.ndarray:
    return np.random.default_rng(6).poisson(1.2, (7, 5)) + np.eye(7, 5, dtype=int)


def _text(*lines: str, encoding: str = "utf-8") -> bytes:
    return ("\n".join(lines) + "\n").encode(encoding)


def _table(values: np.ndarray, rows: list[str], columns: list[str], by: str = ",") -> bytes:
    body = [by.join([row, *map(str, cells)]) for row, cells in zip(rows, values, strict=True)]
    return _text(by.join(["", *columns]), *body)


def _written(save: Callable[[Path], object]) -> bytes:
    """The bytes that a function writes to a path; of a zip without the times of its members."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        save(path)
        data = path.read_bytes()
    if data[:2] != b"PK":
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({each: archive.read(each) for each in archive.namelist()})


def _pairs(by: str = ",") -> bytes:
    table = _strengths()
    cells = zip(*np.nonzero(table), strict=True)
    lines = [by.join([WORDS[i], WORDS[j], f"{table[i, j]:g}"]) for i, j in cells]
    return _text(by.join(["cue", "response", "strength"]), *lines)


def _of_pairs() -> Iterator[Seed]:
    """Strengths or similarities between objects of one kind."""
    yield Seed("pairs.csv", _pairs())
    yield Seed("pairs.tsv", _pairs("\t"))
    yield Seed("utf16.csv", _pairs().decode().encode("utf-16"))
    yield Seed("quoted.csv", b'"cue","response","count"\n"tie","bow, tie",3\n"bow, tie","tie",2\n')
    yield Seed("matrix.csv", _table(_similarity(), list(WORDS), list(WORDS)))
    yield Seed("matrix.tsv", _table(_similarity(), list(WORDS), list(WORDS), "\t"))


def _associations() -> Iterator[Seed]:
    yield from _of_pairs()
    yield Seed("edges.txt", b"tie\tknot\t3\nknot\ttie\t2\nsuit\ttie\t1\ntie\tsuit\t4\n")
    yield Seed("plain.csv", b"tie,knot\nknot,tie\nsuit,tie\ntie,suit\n")
    yield Seed("spaced.edgelist", b"# of words\ntie knot 3\nknot tie {'weight': 2}\nsuit tie\n")
    yield Seed("trials.csv", _text(
        '"participantID","age","cue","R1","R2","R3"', '"3",33,"tie","knot","suit",NA',
        '"3",33,"knot","tie","Unknown word",""', '"4",NA,"suit","tie","bow, black","tie"',
    ))  # fmt: skip
    yield Seed("long.tsv", _text(
        "subject\tage\tstimulus\tresponse\tRPOS", "1\t20\ttie\tknot\tR1", "1\t20\ttie\tsuit\tR2",
        "2\t30\tknot\ttie\tR1",
    ))  # fmt: skip


def _judgements() -> Iterator[Seed]:
    lines = [
        f"{judge},{WORDS[i]},{WORDS[j]},{(i * j + k) % 7}"
        for k, judge in enumerate(("ann", "ben", "cy"))
        for i in range(4)
        for j in range(i)
    ]
    yield Seed("long.csv", _text("judge,item1,item2,similarity", *lines))


def _ratings() -> Iterator[Seed]:
    rated = [(WORDS[i], WORDS[j], (i * j) % 7 + 0.5) for i in range(5) for j in range(i)]
    for name, header, mark in (
        ("simlex.txt", ["word1\tword2\tSimLex999"], "\t"),
        ("wordsim.csv", ["Word 1,Word 2,Human (mean)"], ","),
        ("rg.csv", [], ";"),
    ):
        yield Seed(name, _text(*header, *[mark.join((a, b, str(x))) for a, b, x in rated]))


def _counts() -> Iterator[Seed]:
    from manymaps import Counts

    table, rows, columns = _count_table(), [f"d{i}" for i in range(7)], list(WORDS[:5])
    cells = zip(*np.nonzero(table), strict=True)
    long = _text(
        "document,word,count", *[f"{rows[i]},{columns[j]},{table[i, j]}" for i, j in cells]
    )
    counts = Counts(
        sparse.csr_array(table), rows, columns, ("document", "word"),
        {"year": np.arange(7), "place": np.array(list("abcabca"))}, {"length": np.arange(5) / 2},
    )  # fmt: skip
    yield Seed("saved.npz", _written(counts.save))
    yield Seed("long.csv", long)
    yield Seed("long.tsv", long.replace(b",", b"\t"))
    yield Seed("matrix.csv", _table(table, rows, columns))


def _vectors() -> Iterator[Seed]:
    values = np.round(_numbers(N, 4), 3).astype("f4")
    words = [word.replace(" ", "_") for word in WORDS]
    lines = [" ".join([w, *map(str, row)]) for w, row in zip(words, values, strict=True)]
    yield Seed("w2v.txt", _text(f"{N} 4", *lines))
    yield Seed("glove.txt", _text(*lines))
    yield Seed("a.csv", _table(values, list(WORDS), [f"x{j}" for j in range(4)]))
    yield Seed("a.tsv", _table(values, list(WORDS), [f"x{j}" for j in range(4)], "\t"))


def _texts() -> Iterator[Seed]:
    texts = ["tie a bow tie", "the river bank", "", "money in the bank näh", "a boat on the river"]
    table = ["id,text,year", *[f'd{i},"{text}",{1990 + i}' for i, text in enumerate(texts)]]
    records = [{"id": f"d{i}", "text": text, "tags": ["x"]} for i, text in enumerate(texts)]
    yield Seed("posts.jsonl", _text(*map(json.dumps, records)))
    yield Seed("posts.csv", _text(*table))
    yield Seed("posts.tsv", _text(*table).replace(b",", b"\t"))
    yield Seed("utf16.csv", _text(*table, encoding="utf-16"))
    yield Seed("lines.txt", _text(*texts))


def _metadata() -> Iterator[Seed]:
    lines = ["label,frequency,kind", *[f"{w},{i * 1.5},k{i % 3}" for i, w in enumerate(WORDS)]]
    yield Seed("words.csv", _text(*lines))
    yield Seed("words.tsv", _text(*lines).replace(b",", b"\t"))
    yield Seed("utf16.csv", _text(*lines, encoding="utf-16"))


def _labels() -> Iterator[Seed]:
    yield Seed("labels.txt", _text(*WORDS))
    yield Seed("utf16.txt", _text(*WORDS, encoding="utf-16"))


def _atlases() -> Iterator[Seed]:
    from manymaps import CODE, Atlas
    from manymaps.analysis.stability import stability
    from manymaps.atlas.associations import strongest_associations
    from manymaps.model import MULTIPLE_MAPS_T_SNE

    rng = np.random.default_rng(3)
    proportions = rng.dirichlet([0.4, 0.4, 0.4], N).T.astype("f4")
    maps, proportions = rng.normal(size=(3, N, 2)).astype("f4"), proportions / proportions.sum(0)
    parts = {"labels": WORDS, "proportions": proportions, "model": MULTIPLE_MAPS_T_SNE}
    history = {"iteration": np.arange(3.0), "cost": np.array([3.0, 2, 1]), "kl": np.ones(3)}
    bare, other = Atlas(maps=maps, **parts), Atlas(maps=maps[::-1], **parts)
    metadata = {"frequency": np.arange(N) * 1.5, "kind": np.array(list("abcde" * (N // 5)))}
    parts |= {"maps": maps, "history": history, "metadata": metadata}
    vectors = np.round(_numbers(N, 4), 3)
    full = Atlas(
        **parts, parameters={"n_maps": 3, "perplexity": 3.0, "restarts": [[1, 0.5, 0.5]]},
        log_normalizer=1.25, fingerprint="0123abcd-89ef", vectors=vectors.astype("f4"),
        consensus=stability([bare, other]).attach().consensus,
        associations=strongest_associations(sparse.csr_array(_strengths())),
    )  # fmt: skip
    rare = Atlas(**parts, vectors=sparse.csr_array(vectors))
    two = CODE(n_components=2, max_iter=20, random_state=0).fit(_count_table()).atlas_
    for name, atlas in (("bare", bare), ("full", full), ("sparse", rare), ("two", two)):
        yield Seed(f"{name}.atlas", _written(atlas.save))


def resumable(name: str, *, more: int = 3) -> tuple[Any, Any]:
    """The estimator and the data of a checkpoint of that name, to resume for a few iterations."""
    from manymaps import CODE, TSNE, MultipleMapsTSNE, SymmetricSNE

    kind = name.partition(".")[0]
    made = {
        "maps": partial(MultipleMapsTSNE, n_maps=3, perplexity=3.0, max_iter=249 + more),
        "runs": partial(MultipleMapsTSNE, n_maps=2, perplexity=3.0, max_iter=55, n_init=3),
        "tsne": partial(TSNE, perplexity=3.0, max_iter=99 + more),
        "sne": partial(SymmetricSNE, perplexity=3.0, max_iter=9 + more),
        "code": partial(CODE, n_components=2, max_iter=8 + more),
    }
    estimator = made[kind](random_state=0)
    return estimator, _count_table() if kind == "code" else _numbers(N, 4)


def _checkpoints() -> Iterator[Seed]:
    for name in ("maps", "runs", "tsne", "sne", "code"):
        yield Seed(f"{name}.checkpoint", _written(partial(_fitted, name)))


def _fitted(name: str, path: Path) -> None:
    """Leave the checkpoint of a fit; of several runs it stops in the second."""
    estimator, data = resumable(name, more=0)
    calls = count()
    if name == "runs":
        estimator.callback = lambda iteration, cost, atlas: next(calls) > 80
    estimator.fit(data, checkpoint=str(path))


def _sweeps() -> Iterator[Seed]:
    from campaigns.readers import swept

    yield Seed("sweep.jsonl", _written(swept))


READERS: dict[str, Callable[[], Iterator[Seed]]] = {
    "atlas": _atlases, "checkpoints": _checkpoints, "counts": _counts, "sweep": _sweeps,
    "vectors": _vectors, "associations": _associations, "similarities": _of_pairs,
    "texts": _texts, "metadata": _metadata, "judgements": _judgements, "ratings": _ratings,
    "labels": _labels,
}  # fmt: skip
