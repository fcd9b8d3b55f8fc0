"""The command `count`: what it reads and writes, and how it ends."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from cli_samples import failed, invoke, worked
from manymaps import (
    load_atlas,
)
from manymaps.data.counts import Counts
from manymaps.io.counting import Words, count_cooccurrences, count_texts
from manymaps.io.counts import read_counts

POSTS = [
    {"id": "a", "text": "The tie and the knot", "group": "clothes"},
    {"id": "b", "text": "the rope, the knot of the rope", "group": "sea"},
    {"id": "c", "text": "?", "group": "sea"},
]


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    file = tmp_path / "posts.jsonl"
    file.write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    return file


def counted(texts: Path, *options: object) -> Result:
    return invoke("count", texts, "-o", texts.parent / "counts.npz", *options)


def written(texts: Path, *options: object) -> Counts:
    worked(counted(texts, *options))
    return read_counts(texts.parent / "counts.npz")


def same(left: Counts, right: Counts) -> bool:
    return (
        (left.row_labels, left.column_labels) == (right.row_labels, right.column_labels)
        and left.kinds == right.kinds
        and np.array_equal(left.values.toarray(), right.values.toarray())
        and {k: v.tolist() for k, v in left.row_metadata.items()}
        == {k: v.tolist() for k, v in right.row_metadata.items()}
    )


def test_json_has_the_promised_keys(posts):
    result = counted(posts, "--json", "--quiet")
    assert result.stderr == ""
    record = json.loads(result.stdout)
    assert record.pop("seconds") > 0
    assert record == {
        "n_rows": 3, "n_columns": 3, "n_counts": 5, "n_stored": 4, "skipped": 0,
        "output": str(posts.parent / "counts.npz"),
    }  # fmt: skip


def test_a_person_reads_what_was_done_and_what_is_next(posts):
    result = counted(posts)
    output = posts.parent / "counts.npz"
    assert result.stdout.startswith(f"{output}: 3 documents by 3 words, 5 counts in ")
    assert f"next: manymaps fit {output} -o {output.with_suffix('.atlas')}" in result.stdout
    assert "1 document without counts kept: 'c'" in result.stderr
    assert "('the', 'and', 'of'); use --stop-words none to count them" in result.stderr
    assert counted(posts, "--quiet").output == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-words", 2], Words(max_words=2)),
        (["--max-words", 2, "--skip-words", 1], Words(max_words=2, skip_words=1)),
        (["--min-documents", 2], Words(min_documents=2)),
        (["--stop-words", "none"], Words(stop_words=None)),
        (["--keep-case", "--stop-words", "none"], Words(lowercase=False, stop_words=None)),
        (["--token-pattern", "t[a-z]+"], Words(token_pattern="t[a-z]+")),
    ],
)
def test_words_are_chosen_as_in_python(posts, options, words):
    assert same(written(posts, *options), count_texts(posts, words))
    assert not same(written(posts, *options), count_texts(posts))


def test_lists_of_words(posts):
    (posts.parent / "words.txt").write_text("rope\ntie\nrope\n")
    counts = written(posts, "--words", posts.parent / "words.txt")
    assert counts.column_labels == ("rope", "tie")
    counts = written(posts, "--stop-words", posts.parent / "words.txt")
    assert counts.column_labels == ("and", "knot", "of", "the")


def test_windows(posts):
    assert same(written(posts, "--window", 2), count_cooccurrences(posts, window=2))
    harmonic = written(posts, "--window", 3, "--weighting", "harmonic")
    assert same(harmonic, count_cooccurrences(posts, window=3, weighting="harmonic"))
    record = json.loads(counted(posts, "--window", 3, "--weighting", "harmonic", "--json").stdout)
    assert record["n_counts"] == pytest.approx(harmonic.n_counts)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--column", "body"], 3, "no column 'body'; its columns are 'id', 'text', 'group'"),
        (["--skip-words", 9], 3, "no word is left of 6"),
        (["--stop-words", "french"], 3, "french: no such file"),
        (["--weighting", "flat"], 2, "--weighting requires --window"),
        (["--weights", "ppmi"], 2, "--weights requires --window"),
        (["--token-pattern", "("], 2, "is not a regular expression"),
    ],
)
def test_refusals(posts, options, code, message):
    result = failed(counted(posts, *options), code, message)
    assert result.stdout == ""
    assert not (posts.parent / "counts.npz").exists()


class TestLabels:
    """Every command that reads a file of `count` keeps the labels in it."""

    @pytest.fixture(params=["texts", "bytes"])
    def near(self, request, tmp_path: Path, monkeypatch) -> Path:
        if request.param == "bytes":  # as for very long words
            monkeypatch.setattr("manymaps.data.count_values.LARGEST_TEXT_ARRAY", 0)
        texts = "tie a knot in the rope\na bow tie and a knot\nthe rope and the knot\na bow\n"
        (tmp_path / "texts.txt").write_text(texts)
        output = tmp_path / "near.npz"
        options = ("--window", 3, "--stop-words", "none")
        worked(invoke("count", tmp_path / "texts.txt", "-o", output, *options))
        return output

    @pytest.mark.parametrize(
        "options",
        [
            ("--maps", 2),
            ("--method", "tsne", "--metric", "euclidean"),
        ],
    )
    def test_fit(self, near, options):
        atlas = near.with_name("near.atlas")
        if "--maps" in options:  # maps of associations, not of counts
            pairs = ("--kind", "associations", "-o", near.with_name("pairs.npz"))
            worked(invoke("read", near, *pairs))
            near = near.with_name("pairs.npz")
        worked(invoke("fit", near, "-o", atlas, "--iterations", 5, "--perplexity", 2, *options))
        assert set(load_atlas(atlas).labels) == {"and", "bow", "in", "knot", "rope", "the", "tie"}
