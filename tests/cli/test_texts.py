"""The command `read` on texts: what it counts and writes, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from cli_samples import failed, invoke, worked
from manymaps.data.clean import read_clean
from manymaps.data.counts import Counts
from manymaps.io.texts import count_texts

POSTS = [
    {"id": "a", "text": "The tie and the knot", "group": "clothes"},
    {"id": "b", "text": "the rope, the knot of the rope", "group": "sea"},
    {"id": "c", "text": "?", "group": "sea"},
]


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    file = tmp_path / "posts.csv"
    pd.DataFrame(POSTS).to_csv(file, index=False)
    return file


def counted(texts: Path, *options: object) -> Result:
    return invoke("read", texts, "--kind", "texts", "-o", texts.parent / "counts.npz", *options)


def written(texts: Path, *options: object) -> Counts:
    result = worked(counted(texts, *options))
    assert "next: manymaps fit" in result.stdout
    return read_clean(texts.parent / "counts.npz")[0]


def test_words_are_chosen_as_in_python(posts):
    options = ("--max-features", 3, "--set", "token_pattern=[a-z]+", "--set", "max_df=0.6")
    here = count_texts(posts, max_features=3, token_pattern="[a-z]+", max_df=0.6)
    found = written(posts, *options)
    assert (found.row_labels, found.column_labels) == (here.row_labels, here.column_labels)
    np.testing.assert_array_equal(found.values.toarray(), here.values.toarray())
    assert found.row_metadata["group"].tolist() == ["clothes", "sea", "sea"]
    assert "the" in written(posts, "--stop-words", "none").column_labels
    (posts.parent / "words.txt").write_text("rope\ntie\nrope\n")
    words = written(posts, "--stop-words", posts.parent / "words.txt").column_labels
    assert words == ("and", "knot", "of", "the")


def test_a_folder_contains_texts(tmp_path):
    failed(invoke("read", tmp_path), 3, tmp_path.name)
    (tmp_path / "a.txt").write_text("a bow tie")
    record = json.loads(worked(invoke("read", tmp_path, "--json")).stdout)
    assert (record["kind"], record["n_rows"]) == ("counts", 1)


def test_refusals(posts):
    for options, code, message in (
        (("--set", "column=body"), 3, "no column 'body'; its columns are 'id', 'text', 'group'"),
        (("--set", "token_pattern=("), 2, "cannot be used: missing )"),
        (("--cue", "x"), 2, "--cue does not apply to"),
    ):
        assert failed(counted(posts, *options), code, message).stdout == ""
        assert not (posts.parent / "counts.npz").exists()
    norms = posts.with_name("norms.csv")
    norms.write_text("cue,response,strength\ntie,knot,1\nknot,tie,1\n")
    failed(invoke("read", norms, "--max-features", 2), 2, "--max-features does not apply to")
