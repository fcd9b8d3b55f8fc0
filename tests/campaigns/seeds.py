"""Small valid files of every format that a reader takes, made by code: what fuzzing starts from.

    seeds("counts") -> [Seed("long.csv", b"document,word,count\\n...", {}), ...]

A seed is a name, whose suffix may matter, its bytes, and the files that stand beside it. They are
the same in every process, so that a case can be repeated.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["READERS", "Seed", "keep_seeds", "npy", "resumable", "seeds", "zipped"]

WORDS = ("tie", "knot", "suit", "bow", "river", "bank", "money", "boat", "näh", "plan b")
N = len(WORDS)


@dataclass(frozen=True)
class Seed:
    """A valid file, and what stands beside it.

    Parameters
    ----------
    name : str
    data : bytes
    beside : mapping of str to bytes
        Names and contents of further files of the folder.
    """

    name: str
    data: bytes
    beside: Mapping[str, bytes] = field(default_factory=dict)


@cache
def seeds(reader: str) -> tuple[Seed, ...]:
    """The seeds of one of `READERS`."""
    return KEPT.get(reader) or tuple(READERS[reader]())


def keep_seeds(reader: str, folder: Path) -> None:
    """Take the seeds from a file of an earlier process, or leave them to later ones."""
    path = folder / f"{reader}.pickle"
    if not path.exists():
        path.write_bytes(pickle.dumps(seeds(reader)))
    KEPT[reader] = pickle.loads(path.read_bytes())


KEPT: dict[str, tuple[Seed, ...]] = {}


def npy(array: np.ndarray, *, pickled: bool = False) -> bytes:
    """An array as `numpy.save` writes it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickled)
    return file.getvalue()


def zipped(members: Mapping[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    """A zip of members, always the same bytes; a list may name one twice."""
    file = io.BytesIO()
    pairs = members if isinstance(members, list) else list(members.items())
    with (
        warnings.catch_warnings(action="ignore"),  # names that stand twice
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name, data in pairs:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    """Arrays as `numpy.savez` writes them."""
    return zipped({f"{name}.npy": npy(np.asarray(a)) for name, a in arrays.items()})


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


def _text(lines: list[str], encoding: str = "utf-8") -> bytes:
    return ("\n".join(lines) + "\n").encode(encoding)


def _table(values: np.ndarray, rows: list[str], columns: list[str], by: str = ",") -> bytes:
    body = [by.join([row, *map(str, cells)]) for row, cells in zip(rows, values, strict=True)]
    return _text([by.join(["", *columns]), *body])


def _market(table: np.ndarray, **options: Any) -> bytes:
    from scipy.io import mmwrite

    file = io.BytesIO()
    mmwrite(file, table, **options)
    return file.getvalue()


def _parquet(columns: Mapping[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(columns)), file)
    return file.getvalue()


def _annotated(values: Any, **parts: Any) -> bytes:
    import anndata
    import pandas

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = anndata.AnnData(
            values,
            obs=pandas.DataFrame(
                {"group": ["a", "b"] * (values.shape[0] // 2) + ["a"] * (values.shape[0] % 2)},
                index=[f"cell {i}" for i in range(values.shape[0])],
            ),
            var=pandas.DataFrame(index=[f"gene {i}" for i in range(values.shape[1])]),
            **parts,
        )
        path = Path(folder, "a.h5ad")
        data.write_h5ad(path)
        return path.read_bytes()


def _sparse(table: Any) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, table)
    with zipfile.ZipFile(file) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist()})


def _written(save: Callable[[Path], object], name: str) -> bytes:
    """What a library writes to a path; zips without their times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        save(path)
        data = path.read_bytes()
    if data[:2] != b"PK":
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({each: archive.read(each) for each in archive.namelist()})


def _packed(name: str, data: bytes) -> Iterator[Seed]:
    yield Seed(f"{name}.gz", gzip.compress(data, mtime=0))
    yield Seed(f"{name}.bz2", bz2.compress(data))
    yield Seed(f"{name}.xz", lzma.compress(data))


def _pairs(by: str = ",") -> bytes:
    table = _strengths()
    lines = [
        by.join([WORDS[i], WORDS[j], f"{table[i, j]:g}"])
        for i, j in zip(*np.nonzero(table), strict=True)
    ]
    return _text([by.join(["cue", "response", "strength"]), *lines])


def _of_pairs() -> Iterator[Seed]:
    """Files of strengths or similarities between objects of one kind."""
    words, strengths, similarity = list(WORDS), _strengths(), _similarity()
    first, second = np.nonzero(strengths)
    yield Seed("pairs.csv", _pairs())
    yield Seed("pairs.tsv", _pairs("\t"))
    yield from _packed("pairs.csv", _pairs())
    yield Seed("utf16.csv", _pairs().decode().encode("utf-16"))
    yield Seed("quoted.csv", b'"cue","response","count"\n"tie","bow, tie",3\n"bow, tie","tie",2\n')
    yield Seed("matrix.csv", _table(similarity, words, words))
    yield Seed("matrix.tsv", _table(similarity, words, words, "\t"))
    yield Seed("matrix.npy", npy(similarity))
    yield Seed("matrix32.npy.gz", gzip.compress(npy(similarity.astype("f4")), mtime=0))
    yield Seed("matrix.npz", npz(strengths=similarity, labels=np.array(words)))
    yield Seed("csr.npz", _sparse(sparse.csr_array(strengths)))
    yield Seed("csc.npz", _sparse(sparse.csc_matrix(strengths)))
    yield Seed("coo.npz", _sparse(sparse.coo_array(strengths)))
    yield Seed("dia.npz", _sparse(sparse.dia_array(similarity)))
    yield Seed("bsr.npz", _sparse(sparse.bsr_array(similarity, blocksize=(2, 2))))
    yield Seed("array.mtx", _market(similarity))
    yield Seed("coordinate.mtx", _market(sparse.coo_array(strengths)))
    yield Seed("symmetric.mtx", _market(sparse.coo_array(similarity), symmetry="symmetric"))
    yield Seed("pattern.mtx", _market(sparse.coo_array(strengths), field="pattern"))
    whole = sparse.coo_array(strengths.astype(int) + np.eye(N, dtype=int))
    yield Seed("whole.mtx.gz", gzip.compress(_market(whole), mtime=0))
    named = {"cue": [WORDS[i] for i in first], "response": [WORDS[j] for j in second]}
    yield Seed("pairs.parquet", _parquet({**named, "strength": strengths[first, second]}))
    yield Seed(
        "pairs.parquet.gz", gzip.compress(_parquet({**named, "weight": first + 1.0}), mtime=0)
    )


def _associations() -> Iterator[Seed]:
    yield from _of_pairs()
    yield Seed("edges.txt", b"tie\tknot\t3\nknot\ttie\t2\nsuit\ttie\t1\ntie\tsuit\t4\n")
    yield Seed("plain.csv", b"tie,knot\nknot,tie\nsuit,tie\ntie,suit\n")
    yield Seed("graph.graphml", _graph())
    yield Seed("graph.graphml.gz", gzip.compress(_graph(), mtime=0))
    yield Seed("spaced.edgelist", b"# of words\ntie knot 3\nknot tie {'weight': 2}\nsuit tie\n")
    yield Seed(
        "trials.csv",
        _text(
            [
                '"participantID","age","cue","R1","R2","R3"',
                '"3",33,"tie","knot","suit",NA',
                '"3",33,"knot","tie","Unknown word",""',
                '"4",NA,"suit","tie","bow, black","tie"',
            ]
        ),
    )
    yield Seed("long.tsv", _text(
        ["subject\tage\tstimulus\tresponse\tRPOS", "1\t20\ttie\tknot\tR1",
         "1\t20\ttie\tsuit\tR2", "2\t30\tknot\ttie\tR1"]))  # fmt: skip


def _graph() -> bytes:
    """GraphML with names, weights, a default, and edges of both kinds."""
    nodes = "".join(f'<node id="n{i}"><data key="n">{w}</data></node>' for i, w in enumerate(WORDS))
    edges = "".join(
        f'<edge source="n{i}" target="n{i + 1}" directed="{"true" if i % 2 else "false"}">'
        f'<data key="w">{i + 1}.5</data></edge>\n'
        for i in range(4)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="n" for="node" attr.name="name" attr.type="string"/>'
        '<key id="w" for="edge" attr.name="weight"><default>1</default></key>\n'
        f'<graph edgedefault="directed">{nodes}\n{edges}</graph></graphml>\n'
    ).encode()


def _judgements() -> Iterator[Seed]:
    lines = [f"{who},{WORDS[i]},{WORDS[j]},{(i * j + k) % 7}"
             for k, who in enumerate(("ann", "ben", "cy"))
             for i in range(4) for j in range(i)]  # fmt: skip
    yield Seed("long.csv", _text(["judge,item1,item2,similarity", *lines]))
    yield Seed("long.tsv.gz", gzip.compress(
        _text(["judge,item1,item2,similarity", *lines]).replace(b",", b"\t"), mtime=0))  # fmt: skip
    split = [line.split(",") for line in lines]
    yield Seed("long.parquet", _parquet({
        "judge": [c[0] for c in split], "item1": [c[1] for c in split],
        "item2": [c[2] for c in split], "similarity": [float(c[3]) for c in split]}))  # fmt: skip
    ben = _table(_similarity(), list(WORDS), list(WORDS))
    for seed in _of_pairs():
        if seed.name in ("matrix.csv", "matrix.npz", "symmetric.mtx", "pairs.tsv"):
            yield Seed(f"each-{seed.name}", seed.data, {"ben.csv": ben})


def _ratings() -> Iterator[Seed]:
    rated = [(WORDS[i], WORDS[j], (i * j) % 7 + 0.5) for i in range(5) for j in range(i)]
    for name, header, mark, suffix in (
        ("simlex.txt", "word1\tword2\tSimLex999", "\t", ""), ("men.txt", None, " ", "-n"),
        ("wordsim.csv", "Word 1,Word 2,Human (mean)", ",", ""), ("rg.csv", None, ";", ""),
        ("gensim.tsv", "# A comment\n# Word 1\tWord 2\tHuman (mean)", "\t", ""),
    ):  # fmt: skip
        lines = [mark.join((a + suffix, b + suffix, str(x))) for a, b, x in rated]
        yield Seed(name, _text([*([header] if header else []), *lines]))
    yield Seed("rated.parquet", _parquet({
        "word1": [a for a, _, _ in rated], "word2": [b for _, b, _ in rated],
        "rating": [x for _, _, x in rated]}))  # fmt: skip


def _triplets() -> Iterator[Seed]:
    asked = np.array([[i, (i + k) % 7, (i + 2 * k) % 7] for i in range(7) for k in range(1, 4)])
    for name, mark in (("asked.txt", " "), ("asked.csv", ",")):
        yield Seed(name, _text([mark.join(map(str, row)) for row in asked.tolist()]))
    words = [",".join(WORDS[i % len(WORDS)] for i in row) for row in ([0, 1, 2], [1, 3, 0])]
    yield Seed("words.csv", _text(["a,b,odd", *words]))
    yield Seed("asked.npy", _written(lambda path: np.save(path, asked), "asked.npy"))
    yield Seed("asked.npz", _written(lambda path: np.savez(path, asked), "asked.npz"))


def _counts() -> Iterator[Seed]:
    from manymaps import Counts

    table = _count_table()
    rows = [f"d{i}" for i in range(7)]
    columns = list(WORDS[:5])
    first, second = np.nonzero(table)
    long = [f"{rows[i]},{columns[j]},{table[i, j]}" for i, j in zip(first, second, strict=True)]
    long = ["document,word,count", *long]
    counts = Counts(
        sparse.csr_array(table), rows, columns, ("document", "word"),
        {"year": np.arange(7), "place": np.array(list("abcabca"))},
        {"length": np.arange(5) / 2},
    )  # fmt: skip
    parts = sparse.csr_array(table)
    labels = {"X.rows.txt": _text(rows), "X.columns.txt": _text(columns)}
    cells = {"barcodes.tsv": _text(rows),
             "features.tsv": _text([f"g{i}\t{c}\tGene" for i,
                                    c in enumerate(columns)])}  # fmt: skip
    yield Seed("long.csv", _text(long))
    yield Seed("long.tsv", _text(long).replace(b",", b"\t"))
    yield from _packed("long.csv", _text(long))
    yield Seed("matrix.csv", _table(table, rows, columns))
    yield Seed("matrix.tsv", _table(table, rows, columns, "\t"))
    yield Seed("saved.npz", _written(counts.save, "saved.npz"))
    yield Seed("csr.npz", _sparse(parts))
    yield Seed("csc.npz", _sparse(sparse.csc_array(table)))
    yield Seed("coo.npz", _sparse(sparse.coo_matrix(table)))
    yield Seed("dia.npz", _sparse(sparse.dia_array(table)))
    yield Seed("parts.npz", npz(
        indptr=parts.indptr, indices=parts.indices, counts=parts.data, shape=table.shape,
        vocabulary=np.array(columns), labels=np.arange(7) % 2, group_names=np.array(["a", "b"]),
    ))  # fmt: skip
    yield Seed("dense.npz", npz(counts=table, words=np.array(columns), documents=np.array(rows)))
    yield Seed("X.npy", npy(table), labels)
    yield Seed("X.mtx", _market(sparse.coo_array(table)), labels)
    yield Seed("matrix.mtx", _market(sparse.coo_array(table)), cells)
    yield Seed("array.mtx.gz", gzip.compress(_market(table), mtime=0))
    yield Seed("real.mtx", _market(sparse.coo_array(table / 2)))
    yield Seed("pattern.mtx", _market(sparse.coo_array(table), field="pattern"))
    yield Seed("dense.h5ad", _annotated(table.astype("f4")))
    yield Seed("sparse.h5ad", _annotated(sparse.csr_matrix(table.astype("f4"))))
    yield Seed("csc.h5ad", _annotated(sparse.csc_matrix(table.astype("i8"))))
    yield Seed("long.parquet", _parquet({
        "document": [rows[i] for i in first], "word": [columns[j] for j in second],
        "count": table[first, second]}))  # fmt: skip
    yield Seed("matrix.parquet", _parquet(
        {"site": rows, **{c: table[:, j] for j, c in enumerate(columns)}}))  # fmt: skip


def _vectors() -> Iterator[Seed]:
    values = np.round(_numbers(N, 4), 3).astype("f4")
    spaced = [w.replace(" ", "_") for w in WORDS]
    lines = [" ".join([w, *map(str, row)]) for w, row in zip(spaced, values, strict=True)]
    binary = f"{N} 4\n".encode() + b"".join(
        w.encode() + b" " + row.tobytes() + b"\n" for w, row in zip(spaced, values, strict=True)
    )
    labels = "\n".join(WORDS).encode()
    columns = {"word": list(WORDS), **{f"x{j}": values[:, j] for j in range(4)}}
    yield Seed("w2v.txt", _text([f"{N} 4", *lines]))
    yield Seed("fast.vec", _text([f"{N} 4", *[line + " " for line in lines]]))
    yield Seed("glove.txt", _text(lines))
    yield from _packed("glove.txt", _text(lines))
    yield Seed("w2v.bin", binary)
    yield Seed("w2v.bin.gz", gzip.compress(binary, mtime=0))
    yield Seed("a.npy", npy(values), {"a.labels": labels})
    yield Seed("wide.npy.xz", lzma.compress(npy(values.astype("f8"))))
    yield Seed("a.npz", npz(vectors=values, words=np.array(WORDS)))
    yield Seed(
        "pair.npz", npz(labels=np.array([w.encode() for w in WORDS]), embedding=values.astype("f2"))
    )
    yield Seed("csr.npz", _sparse(sparse.csr_array(values)), {"csr.words.txt": labels})
    yield Seed("a.csv", _table(values, list(WORDS), [f"x{j}" for j in range(4)]))
    yield Seed("a.tsv", _table(values, list(WORDS), [f"x{j}" for j in range(4)], "\t"))
    yield Seed("a.parquet", _parquet(columns))
    yield Seed("lists.parquet", _parquet({"word": list(WORDS), "embedding": values.tolist()}))
    yield Seed("a.h5ad", _annotated(values))
    yield Seed("pca.h5ad", _annotated(sparse.csr_matrix(values), obsm={"X_pca": values[:, :2]}))


def _texts() -> Iterator[Seed]:
    texts = ["tie a bow tie", "the river bank", "", "money in the bank näh", "a boat on the river"]
    records = [
        {"id": f"d{i}", "text": text, "year": 1990 + i, "group": "ab"[i % 2], "tags": ["x", {}]}
        for i, text in enumerate(texts)
    ]
    lines = _text([json.dumps(record) for record in records])
    table = ["id,text,year", *[f'd{i},"{text}",{1990 + i}' for i, text in enumerate(texts)]]
    yield Seed("posts.jsonl", lines)
    yield from _packed("posts.jsonl", lines)
    yield Seed("posts.csv", _text(table))
    yield Seed("posts.tsv", _text(table).replace(b",", b"\t"))
    yield Seed("utf16.csv", _text(table, "utf-16"))
    yield Seed("latin.txt", _text(texts, "latin-1"))
    yield Seed("utf32.txt", _text(texts, "utf-32"))
    yield Seed("lines.txt", _text(texts))
    yield Seed("lines.txt.gz", gzip.compress(_text(texts), mtime=0))
    yield Seed("posts.parquet", _parquet({
        "id": [r["id"] for r in records], "text": texts,
        "year": [r["year"] for r in records]}))  # fmt: skip
    yield Seed("folder-1.txt", _text(texts), {"sub/other.txt": b"a tie"})


def _metadata() -> Iterator[Seed]:
    lines = ["label,frequency,kind", *[f"{w},{i * 1.5},k{i % 3}" for i, w in enumerate(WORDS)]]
    yield Seed("words.csv", _text(lines))
    yield Seed("words.tsv", _text(lines).replace(b",", b"\t"))
    yield from _packed("words.csv", _text(lines))
    yield Seed("utf16.csv", _text(lines, "utf-16"))
    yield Seed("words.parquet", _parquet({
        "label": list(WORDS), "frequency": _numbers(N), "kind": ["a",
                                                                 None] * (N // 2)}))  # fmt: skip


def _labels() -> Iterator[Seed]:
    yield Seed("labels.txt", _text(list(WORDS)))
    yield from _packed("labels.txt", _text(list(WORDS)))
    yield Seed("utf16.txt", _text(list(WORDS), "utf-16"))


def _features() -> Iterator[Seed]:
    clusters = [{"weight": 0.5, "members": list(WORDS[:4])}, {"weight": 0.25, "members": ["bank"]}]
    table = ["label,1 (0.305),2 (0.2)", *[f"{w},{i % 2},{int(i > 3)}" for i, w in enumerate(WORDS)]]
    yield Seed("clusters.json", json.dumps({"method": "adclus", "clusters": clusters}).encode())
    yield Seed("clusters.json.gz", gzip.compress(json.dumps({"clusters": clusters}).encode(),
                                                 mtime=0))  # fmt: skip
    yield Seed("clusters.csv", _text(table))


def _atlas_arrays() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    proportions = rng.dirichlet([0.4, 0.4, 0.4], N).T.astype("f4")
    return {"labels": WORDS, "maps": rng.normal(size=(3, N, 2)).astype("f4"),
            "proportions": proportions / proportions.sum(axis=0)}  # fmt: skip


def _atlases() -> Iterator[Seed]:
    from manymaps import CODE, Atlas
    from manymaps.analysis.stability import stability
    from manymaps.atlas.associations import strongest_associations
    from manymaps.model import MULTIPLE_MAPS_T_SNE

    parts = _atlas_arrays()
    history = {"iteration": np.arange(3.0), "cost": np.array([3.0, 2, 1]), "kl": np.ones(3)}
    bare = Atlas(**parts, model=MULTIPLE_MAPS_T_SNE)
    other = Atlas(**{**parts, "maps": parts["maps"][::-1]}, model=MULTIPLE_MAPS_T_SNE)
    known = strongest_associations(sparse.csr_array(_strengths()))
    metadata = {"frequency": np.arange(N) * 1.5, "kind": np.array(list("abcde" * (N // 5)))}
    more = {"model": MULTIPLE_MAPS_T_SNE, "history": history, "metadata": metadata}
    vectors = np.round(_numbers(N, 4), 3)
    full = Atlas(
        **parts, **more, parameters={"n_maps": 3, "perplexity": 3.0, "restarts": [[1, 0.5, 0.5]]},
        log_normalizer=1.25, fingerprint="0123abcd-89ef", vectors=vectors.astype("f4"),
        consensus=stability([bare, other]).attach().consensus, associations=known,
    )  # fmt: skip
    rare = Atlas(**parts, **more, vectors=sparse.csr_array(vectors))
    two = CODE(n_components=2, max_iter=20, random_state=0).fit(_count_table()).atlas_
    for name, atlas in (("bare", bare), ("full", full), ("sparse", rare), ("two", two)):
        yield Seed(f"{name}.atlas", _written(atlas.save, "a.atlas"))


def resumable(name: str, *, more: int = 3) -> tuple[Any, Any]:
    """The estimator and the data of a checkpoint of that name, to go on for a few iterations."""
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
        yield Seed(f"{name}.checkpoint", _written(partial(_fitted, name), "a.checkpoint"))


def _fitted(name: str, path: Path) -> None:
    """Leave the checkpoint of a fit; of several runs it stops in the second."""
    estimator, data = resumable(name, more=0)
    calls = count()
    if name == "runs":
        estimator.callback = lambda iteration, cost, atlas: next(calls) > 80
    estimator.fit(data, checkpoint=str(path))


def _journals() -> Iterator[Seed]:
    from campaigns.readers import swept

    yield Seed("sweep.jsonl", _written(lambda path: swept(path), "sweep.jsonl"))


READERS: dict[str, Callable[[], Iterator[Seed]]] = {
    "atlas": _atlases,
    "checkpoints": _checkpoints,
    "counts": _counts,
    "vectors": _vectors,
    "associations": _associations,
    "similarities": _of_pairs,
    "texts": _texts,
    "metadata": _metadata,
    "judgements": _judgements,
    "ratings": _ratings,
    "triplets": _triplets,
    "labels": _labels,
    "journal": _journals,
    "features": _features,
}
