"""What a file contains is told by its suffix and the names of its columns."""

import numpy as np
import pytest
from scipy import sparse

from manymaps.data.counts import Counts
from manymaps.errors import DataError
from manymaps.io.kinds import kind_of, read
from vector_samples import VALUES, WORDS, lines_of

PAIRS = "tie,knot,0.6\ntie,suit,0.4\nknot,tie,1\nsuit,tie,0.5\n"
SQUARE = "tie,1,.5,.2\nknot,.5,1,.1\nsuit,.2,.1,1\n"
GRID = "".join(",".join(f"0.{1 + i * j % 89}" for j in range(40)) + "\n" for i in range(40))
KINDS = {
    PAIRS: "associations",
    "cue,response,strength\n" + PAIRS: "associations",
    PAIRS.replace(",", "\t"): "associations",
    "tie,knot\nknot,tie\n": "associations",
    "1,2,0.5\n2,1,0.5\n": "associations",
    "tie,knot,6,100,0.06\nknot,tie,5,100,0.05\n": "associations",
    "word,tie,knot,suit\n" + SQUARE: "associations",
    ",tie,knot,suit\n" + SQUARE: "associations",
    "tie,knot,suit\n" + SQUARE: "associations",
    "tie,knot,suit\n1,.5,.2\n.5,1,.1\n.2,.1,1\n": "associations",
    GRID: "associations",
    "participant,cue,response\n1,tie,knot\n2,tie,suit\n": "trials",
    "cue,R1,R2,R3\ntie,knot,suit,bow\n": "trials",
    "Word 1,Word 2,Human (mean)\ntie,knot,6.5\n": "ratings",
    "document,word,count\nd1,tie,2\nd1,knot,1\n": "counts",
    "site,teal,coot\nfen,0,2\nlake,1,0\n": "counts",
    "#OTU ID,S1,S2\n1,0,2\n2,1,0\n": "counts",
    "user,item\nann,tea\nbob,tea\n": "counts",
    "word,x,y\ntie,.1,.2\nknot,.3,.4\n": "vectors",
    ",pixel0,pixel1,pixel2\na,0,0,255\nb,0,0,12\n": "vectors",
    "word,f1,f2,f3\ntie,1,0,0\nknot,0,0,1\n": "vectors",
    "tie,.1,.2,.4\nknot,.3,.4,.4\n": "vectors",
    ",0,1,2,3\n" + lines_of(WORDS, VALUES, ","): "vectors",
    "name,a,b,c,d\n" + lines_of(WORDS, VALUES, ","): "vectors",
    lines_of(WORDS, VALUES): "vectors",
}


def test_the_names_of_columns_tell_the_kind(write):
    for content, kind in KINDS.items():
        assert kind_of(write("v.txt", content)) == kind
        if content != lines_of(WORDS, VALUES):
            assert kind_of(write("v.csv", content)) == kind


def test_files_whose_kind_is_unknown_are_refused(write):
    for content in (
        "animal,size,age\ncat,1,2\nbat,3,4\n",
        "tie,knot,suit\n1,.5,x\n.5,1,.1\n.2,.1,1\n",
        "not much of a file",
        '"",teal,coot\n"1",0,2\n"2",1,0\n',
    ):
        with pytest.raises(DataError, match="cannot tell what"):
            kind_of(write("v.csv", content))


def test_kinds_of_arrays(tmp_path):
    path, npz = tmp_path / "v.npy", tmp_path / "v.npz"
    for values, kind in ((VALUES[:3], "vectors"), (VALUES, "associations")):
        np.save(path, values)
        assert kind_of(path) == kind
        np.savez(npz, labels=np.array(WORDS), vectors=values)
        assert kind_of(npz) == "vectors"
        sparse.save_npz(npz, sparse.csr_array(values))
        assert kind_of(npz) == kind
    sparse.save_npz(npz, sparse.csr_array(np.eye(3, 4, dtype=int)))
    assert kind_of(npz) == "counts"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(DataError):
        kind_of(path)
    Counts(np.eye(3) + 1).save(npz)
    assert kind_of(npz) == "counts"
    assert read(npz).values.sum() == 12
