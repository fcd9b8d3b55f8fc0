"""The command `read` on texts: what it counts and writes, and what it refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from cli_samples import failed, invoke, worked
from manymaps import load_atlas
from manymaps.data.clean import read_clean
from manymaps.data.counts import Counts
from manymaps.io.texts import count_cooccurrences, count_texts, ppmi

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
    worked(counted(texts, *options))
    data, _ = read_clean(texts.parent / "counts.npz")
    return data


def same(left: Counts, right: Counts) -> bool:
    return (
        (left.row_labels, left.column_labels) == (right.row_labels, right.column_labels)
        and left.kinds == right.kinds
        and np.array_equal(left.values.toarray(), right.values.toarray())
        and {k: v.tolist() for k, v in left.row_metadata.items()}
        == {k: v.tolist() for k, v in right.row_metadata.items()}
    )


def settings(*parts: str) -> list[str]:
    return [text for part in parts for text in ("--set", part)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-features", 2], {"max_features": 2}),
        (settings("min_df=2"), {"min_df": 2}),
        (settings("max_df=0.4"), {"max_df": 0.4}),
        (["--stop-words", "none"], {"stop_words": None}),
        (settings("token_pattern=t[a-z]+"), {"token_pattern": "t[a-z]+"}),
    ],
)
def test_words_are_chosen_as_in_python(posts, options, words):
    assert same(written(posts, *options), count_texts(posts, **words))
    assert not same(written(posts, *options), count_texts(posts))


def test_what_a_person_reads(posts):
    result = counted(posts)
    assert re.search(r"rows +3\n", worked(result).stdout)
    assert "next: manymaps fit" in result.stdout
    assert "--method code" in result.stdout
    (posts.parent / "words.txt").write_text("rope\ntie\nrope\n")
    counts = written(posts, "--stop-words", posts.parent / "words.txt")
    assert counts.column_labels == ("and", "knot", "of", "the")


def test_folders_have_groups(tmp_path):
    folder = tmp_path / "letters"
    (folder / "old").mkdir(parents=True)
    failed(invoke("read", folder), 3, "letters")
    for name in ("a.txt", "old/b.txt", "old/c.md", ".hidden"):
        (folder / name).write_text("a bow tie")
    record = json.loads(worked(invoke("read", folder, "--json")).stdout)
    assert (record["kind"], record["n_rows"], record["row_metadata"]) == ("counts", 3, ["group"])


def test_words_in_a_window_are_associations(posts):
    near = written(posts, *settings("window=3"))
    expected = ppmi(count_cooccurrences(posts, window=3), rows="keep")
    assert near.labels == expected.labels
    np.testing.assert_array_equal(near.strengths.toarray(), expected.strengths.toarray())
    atlas = posts.with_name("near.atlas")
    fit = ("--maps", 2, "--iterations", 5)
    worked(invoke("fit", posts.with_name("counts.npz"), "-o", atlas, *fit))
    assert set(load_atlas(atlas).labels) == set(expected.labels)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (settings("column=body"), 3, "no column 'body'; its columns are 'id', 'text', 'group'"),
        (settings("min_df=9"), 3, "the words cannot be counted"),
        (["--stop-words", "french"], 3, "french: no such file"),
        (settings("token_pattern=("), 2, "cannot be used: missing )"),
        (settings("participant=id"), 2, "--set participant does not apply to texts; use column,"),
        (["--cue", "x"], 2, "--cue does not apply to"),
    ],
)
def test_refusals(posts, options, code, message):
    result = failed(counted(posts, *options), code, message)
    assert result.stdout == ""
    assert not (posts.parent / "counts.npz").exists()
    norms = posts.with_name("norms.csv")
    norms.write_text("cue,response,strength\ntie,knot,1\nknot,tie,1\n")
    failed(invoke("read", norms, "--max-features", 2), 2, "--max-features does not apply to")
    failed(
        invoke("read", norms, "--set", "window=2"),
        2,
        "--set window does not apply to associations; use missing",
    )
