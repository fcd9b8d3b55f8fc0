"""Telling vectors from pairs and square tables."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from manymaps.errors import ParameterError
from manymaps.io.associations import read_associations
from manymaps.io.kinds import looks_like_counts, looks_like_vectors
from manymaps.io.vectors import read_vectors
from vector_samples import VALUES, WORDS, lines_of, save

PAIRS = "tie,knot,0.6\ntie,suit,0.4\nknot,tie,1\nsuit,tie,0.5\n"
GRID = "".join(",".join(f"0.{1 + i * j % 89}" for j in range(40)) + "\n" for i in range(40))


@pytest.mark.parametrize(
    "content",
    [
        PAIRS,
        "cue,response,strength\n" + PAIRS,
        PAIRS.replace(",", "\t"),
        "tie,knot\nknot,tie\n",
        "1,2,0.5\n2,1,0.5\n",
        "tie,knot,6,100,0.06\nknot,tie,5,100,0.05\n",
        "word,tie,knot,suit\ntie,1,.5,.2\nknot,.5,1,.1\nsuit,.2,.1,1\n",
        ",tie,knot,suit\ntie,1,.5,.2\nknot,.5,1,.1\nsuit,.2,.1,1\n",
        "tie,knot,suit\ntie,1,.5,.2\nknot,.5,1,.1\nsuit,.2,.1,1\n",
        GRID,
        "a b 0.5\nb a 1\n",
        "not much of a file",
        "",
    ],
)
def test_pairs_and_square_tables_do_not_look_like_vectors(tmp_path, content):
    assert not looks_like_vectors(save(tmp_path / "v.csv", content))
    assert not looks_like_vectors(save(tmp_path / "v.txt", content))
    assert not looks_like_vectors(save(tmp_path / "v.csv.gz", gzip.compress(content.encode())))


def test_a_square_table_of_vectors_has_other_names_for_its_columns(tmp_path):
    assert looks_like_vectors(save(tmp_path / "v.csv", ",0,1,2,3\n" + lines_of(WORDS, VALUES, ",")))
    assert looks_like_vectors(
        save(tmp_path / "v.csv", "name,a,b,c,d\n" + lines_of(WORDS, VALUES, ","))
    )
    assert looks_like_vectors(save(tmp_path / "v.csv", GRID + GRID[:200].split("\n")[0]))


def test_arrays_that_look_like_vectors(tmp_path):
    path = tmp_path / "v.npy"
    npz = tmp_path / "v.npz"
    for values, expected in ((VALUES[:3], True), (VALUES, False), (VALUES[0], False)):
        np.save(path, values)
        assert looks_like_vectors(path) is expected
        np.savez(npz, labels=np.array(WORDS), vectors=values)
        assert looks_like_vectors(npz) is expected
    sparse.save_npz(npz, sparse.csr_array(VALUES[:3]))
    assert looks_like_vectors(npz)
    sparse.save_npz(npz, sparse.csr_array(VALUES))
    assert not looks_like_vectors(npz)
    assert looks_like_vectors(npz, "npz:values")
    path.write_bytes(path.read_bytes()[:20])
    assert not looks_like_vectors(path)


def test_parquet_that_looks_like_vectors(tmp_path):
    path = tmp_path / "v.parquet"
    pairs = pa.table({"cue": WORDS, "response": WORDS[::-1], "strength": [1.0, 2, 3, 4]})
    parquet.write_table(pairs, path)
    assert not looks_like_vectors(path)
    assert len(read_associations(path).labels) == 4
    parquet.write_table(pairs.rename_columns(["a", "b", "c"]), path)
    assert not looks_like_vectors(path)
    path.write_bytes(b"PAR1")
    assert not looks_like_vectors(path)


def test_a_format_decides(tmp_path):
    path = save(tmp_path / "v.txt", PAIRS)
    assert looks_like_vectors(path, "glove")
    assert not looks_like_vectors(path, "csv")
    assert not looks_like_vectors(path, "unknown")
    assert not looks_like_vectors(save(tmp_path / "v.vec", lines_of(WORDS, VALUES)), "edges")
    assert looks_like_vectors(save(tmp_path / "v.vec", lines_of(WORDS, VALUES, ",")), "csv")


@pytest.mark.parametrize("format", ["csv:x", "word", "npz:", "edges"])
def test_unknown_formats(tmp_path, format):
    with pytest.raises(ParameterError):
        read_vectors(save(tmp_path / "v.txt", lines_of(WORDS, VALUES)), format=format)


@pytest.mark.parametrize(
    ("share", "unit", "names", "counts"),
    [
        (0.6, 1, "abcdef", True),
        (0.45, 0.25, "abcdef", True),  # covers in percent
        (0.2, 1, "abcdef", False),
        (0.6, -1, "abcdef", False),
        (0.6, 1, [f"x{i}" for i in range(6)], False),
    ],
)
def test_tables_of_sites_and_species_as_r_writes_them(tmp_path, share, unit, names, counts):
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9, (20, 6)) * (rng.random((20, 6)) >= share)
    lines = [",".join(['""', *(f'"{name}"' for name in names)])]
    lines += [
        ",".join([f'"{i + 1}"', *(f"{v:g}" for v in unit * row)]) for i, row in enumerate(values)
    ]
    file = tmp_path / "sites.csv"
    file.write_text("\n".join(lines) + "\n")
    assert looks_like_counts(file) is counts
