"""Rows of counts into an atlas of two kinds, as a function of the library."""

from dataclasses import replace

import numpy as np
import pytest

import manymaps as mm
from code_samples import sample


@pytest.fixture(scope="module")
def atlas(made):
    return mm.load_atlas(made / "code.atlas")


def new_rows(labels, values, columns=("ship", "sail", "foam")):
    return mm.Counts(values, labels, list(columns), ("document", "word"))


def test_each_row_lands_where_it_lands_alone(atlas):
    both = new_rows(["n1", "n2"], [[3, 2, 0], [1, 5, 0]])
    together = mm.insert_rows(atlas, both)
    alone = mm.insert_rows(atlas, both.subset(rows=[1]))
    assert together.labels == ("n1", "n2")
    np.testing.assert_allclose(together.atlas.maps[:, 25], alone.atlas.maps[:, 24], atol=1e-5)
    np.testing.assert_array_equal(
        together.atlas.subset(~together.atlas.metadata["inserted"]).maps, atlas.maps
    )


def test_what_is_known_unknown_and_without_counts(atlas):
    counts = new_rows(["d3", "n1", "n2"], [[1, 0, 0], [2, 1, 4], [0, 0, 3]])
    with pytest.warns(mm.DataWarning) as told:
        found = mm.insert_rows(atlas, counts)
    assert (found.labels, found.dissimilar, found.n_known) == (("n1",), ("n2",), 1)
    said = [str(warning.message) for warning in told]
    assert "1 word of arrays not in the atlas, omitted: 'foam'" in said
    assert "1 document of arrays without counts of a word in the atlas, omitted: 'n2'" in said
    assert {warning.filename for warning in told} == {__file__}


def test_insert_refuses_an_atlas_of_two_kinds(atlas):
    """Its new objects would be taken for columns."""
    plain = replace(atlas, factors=None)
    for of_two_kinds in (atlas, plain):
        with pytest.raises(mm.DataError, match="insert_rows"):
            mm.insert(of_two_kinds, {"new": {"ship": 0.5}})


def test_refusals(atlas):
    with pytest.raises(mm.DataError):
        mm.insert_rows(atlas, new_rows(["d1", "d2"], [[1, 0, 0], [0, 1, 0]]))
    with (
        pytest.warns(mm.DataWarning, match="omitted: 'foam'"),
        pytest.raises(mm.DataError),
    ):
        mm.insert_rows(atlas, new_rows(["n1"], [[0, 0, 2]]))
    with pytest.raises(mm.DataError):
        mm.insert_rows(atlas, mm.Counts(sample().values.T, kinds=sample().kinds[::-1]))
    plain = (
        mm.SNE(perplexity=3, max_iter=10, random_state=0)
        .fit(np.random.default_rng(0).random((8, 3)))
        .atlas_
    )
    with pytest.raises(mm.DataError, match="single kind of object"):
        mm.insert_rows(plain, sample())
