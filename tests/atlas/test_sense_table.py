"""The senses of several words are those of each, also as a table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import manymaps as mm
from manymaps.atlas.consensus import Consensus
from manymaps.atlas.export import columns_as_csv


@pytest.fixture(scope="module")
def known():
    norms = mm.load_word_relations()
    return mm.MultipleMapsTSNE(n_maps=3, max_iter=20, random_state=0).fit(norms).atlas_


def test_several_words_are_each_asked(known):
    found = known.senses(["bow", "Play"], n_neighbors=2)
    assert found == {word: known.senses(word, n_neighbors=2) for word in ("bow", "Play")}
    with pytest.raises(mm.UnknownLabelError, match="'bowe'"):
        known.senses(["bow", "bowe"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_has_a_row_for_each_sense(known, frame):
    rows = frame(known.sense_table(["Bow", "play"], n_neighbors=3))
    senses = [(w, k, s) for w in ("bow", "play") for k, s in enumerate(known.senses(w))]
    assert list(rows["word"]) == [word for word, _, _ in senses]
    assert list(rows["sense"]) == [number for _, number, _ in senses]
    for name in ("share", "map", "proportion", "weight"):
        assert list(rows[name]) == [getattr(sense, name) for _, _, sense in senses]
    near = ["; ".join(n.label for n in sense.neighbors[:3]) for _, _, sense in senses]
    assert list(rows["neighbors"]) == near
    assert list(rows["name"]) == [", ".join(sense.name) for _, _, sense in senses]
    assert all(rows["observed"])
    for members, (word, _, sense) in zip(rows["members"], senses, strict=True):
        row = known.associations[[known.index(word)]]
        strengths = {known.labels[j]: p for j, p in zip(row.indices, row.data, strict=True)}
        share = sum(strengths[one] for one in members.split("; ")) / row.sum()
        assert share == pytest.approx(sense.share, rel=1e-5)


def test_many_words_have_the_rows_of_each_and_maps_without_responses_are_marked(known):
    every = known.sense_table(level="fine")
    assert set(every["word"]) == set(known.labels)
    assert np.array_equal(every["observed"], every["share"] > 0)
    assert not every["observed"].all()
    word = every["word"][np.flatnonzero(~every["observed"])[0]]
    one, rows = known.sense_table(word, level="fine"), every["word"] == word
    for name in one:
        if name == "weight":
            np.testing.assert_allclose(one[name], every[name][rows], rtol=1e-5)
        else:
            assert list(one[name]) == list(every[name][rows])
    assert "" in list(one["members"])


def test_all_words_where_none_is_named():
    rng = np.random.default_rng(0)
    similar = np.triu(rng.random((9, 9)), 1)
    fit = mm.MultipleMapsTSNE(n_maps=2, affinity="precomputed", max_iter=10, random_state=0)
    atlas = fit.fit(similar + similar.T).atlas_
    assert set(atlas.sense_table()["word"]) == set(atlas.labels)
    assert list(atlas.sense_table([])) == list(atlas.sense_table("1"))
    bare = replace(atlas, associations=None).sense_table("1")
    assert not bare["observed"].any()
    assert set(bare["members"]) == {""}
    parts = Consensus(
        np.arange(10), np.ones((9, 2)), np.zeros((9, 1), int), np.ones((9, 1)),
        np.stack([np.arange(9), np.full(9, -1)]), 0.5,
    )  # fmt: skip
    several = replace(atlas, consensus=parts)
    counted = [np.nan if sense.n_fits is None else sense.n_fits for sense in several.senses("1")]
    np.testing.assert_array_equal(several.sense_table("1")["n_fits"], counted)
    assert any(counted)


def test_kinds_have_a_column():
    posts = mm.count_texts({"knot": "tie knot rope knot", "b": "knot rope", "c": "tie suit"})
    atlas = mm.CODE(max_iter=20, random_state=0).fit(posts).atlas_
    assert atlas.sense_table(["knot"])["kind"].tolist() == ["document"]
    words = atlas.sense_table(kind="word")
    assert set(words["kind"]) == {"word"}
    assert len(words["word"]) == 4


def test_a_table_is_text_that_comes_back(known):
    table = known.sense_table(["bow"])
    lines = columns_as_csv(table).splitlines()
    assert lines[0] == "word,sense,name,share,map,proportion,weight,neighbors,members,observed"
    assert len(lines) == 1 + len(table["word"])
