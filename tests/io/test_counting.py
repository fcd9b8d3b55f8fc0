"""Counts of words in documents and near one another, against counts made by hand and by dicts."""

import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manymaps.data.counts import Counts
from manymaps.errors import DataError, ParameterError
from manymaps.io.associations import associations_from
from manymaps.io.counts import counts_from
from manymaps.io.texts import count_cooccurrences, count_texts, ppmi

POEM = ["The tie, the knot.", "A bow tie!", "", "the the the"]
LETTERS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=8)
ALL: dict = {"stop_words": None}
SINGLE: dict = {"stop_words": None, "token_pattern": r"\w"}


def table(counts: Counts) -> dict[tuple[str, str], float]:
    """The counts above 0 by their labels."""
    entries = counts.values.tocoo()
    rows, columns = counts.row_labels, counts.column_labels
    return {
        (rows[i], columns[j]): value
        for i, j, value in zip(*entries.coords, entries.data.tolist(), strict=True)
    }


def pairs(documents: list[list[str]], window: int, words: set[str]) -> dict[tuple[str, str], float]:
    """The definition, pair by pair."""
    found: Counter[tuple[str, str]] = Counter()
    for document in documents:
        for (s, x), (t, y) in product(enumerate(document), repeat=2):
            if 0 < abs(s - t) <= window and {x, y} <= words:
                found[x, y] += 1
    return dict(found)


# --- documents by words ---------------------------------------------------------------------------


def test_documents_by_hand():
    counts = count_texts(POEM, **ALL)
    assert counts.kinds == ("document", "word")
    assert counts.row_labels == ("0", "1", "2", "3")
    assert counts.column_labels == ("bow", "knot", "the", "tie")
    assert counts.values.toarray().tolist() == [
        [0, 1, 2, 1], [1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 3, 0],
    ]  # fmt: skip
    assert counts.report.n_read == 4
    assert counts.report.notes == ("1 document without counts kept: '2'",)


@given(documents=LETTERS)
def test_documents_are_counted_as_by_a_dict(documents):
    texts = [" ".join(words) for words in documents]
    if not any(documents):
        with pytest.raises(DataError):
            count_texts(texts, **SINGLE)
        return
    found = count_texts(texts, **SINGLE)
    expected = Counter((str(i), word) for i, words in enumerate(documents) for word in words)
    assert table(found) == dict(expected)
    assert found.shape == (len(documents), len({word for words in documents for word in words}))


def test_the_most_frequent_words_with_ties_in_alphabetical_order():
    texts = ["dd dd dd cc cc bb bb aa", "ee ee ff"]
    for texts_ in (texts, texts[::-1]):
        assert count_texts(texts_, max_features=3).column_labels == ("bb", "cc", "dd")
        assert count_texts(texts_, max_features=1).column_labels == ("dd",)
    many = [f"w{i:04}" for i in range(2000)]
    labels = count_texts([" ".join(many[::-1])], max_features=700).column_labels
    assert labels == tuple(many[:700])


FEW = ["tie tie tie tie", "knot bow", "knot bow", "knot"]
WORDS = [
    (FEW, {"min_df": 2}, "bow knot"),
    (FEW, {"min_df": 2, "max_df": 2}, "bow"),
    (FEW, {"min_df": 0.75}, "knot"),
    (FEW, {"max_df": 0.5}, "bow tie"),
    (FEW, {"min_df": 2, "max_features": 1}, "knot"),
    (POEM, {"stop_words": ["TIE", "bow"]}, "knot the"),
    (POEM, {"stop_words": ["the"], "max_features": 1}, "tie"),
    (POEM, {"stop_words": []}, "bow knot the tie"),
    (POEM, {"token_pattern": r"b\w+"}, "bow"),
    (POEM, {"token_pattern": r"(\w+)!"}, "tie"),
    (["tie-knot tie", "TIE"], {"token_pattern": r"\S+"}, "tie tie-knot"),
    (["Don't knot; we'll tie"], {}, "knot tie"),
    (["Don't knot; we'll tie"], {"stop_words": ["don\u2019t", "We'll"]}, "knot tie"),
]


def test_which_words_are_counted():
    """Limits on documents are applied before limits on words."""
    for texts, options, words in WORDS:
        assert " ".join(count_texts(texts, **options).column_labels) == words
    counts = count_texts(POEM)
    assert counts.column_labels == ("bow", "knot", "tie")
    assert counts.report.notes[0] == (
        "function words left out: 1 ('the'); use stop_words=None to count them"
    )


def test_contractions_and_combining_marks_are_in_words_and_underscores_are_not():
    text = "Don't go; don\u2019t! We'll, I'm: __ _init_ a_b 3d x l'homme the dog's rock'n'roll"
    assert count_texts([text], **ALL).column_labels == (
        "3d", "a_b", "dog", "don't", "go", "homme", "i'm", "init", "rock", "roll", "the",
        "we'll",
    )  # fmt: skip
    for word in "हिन्दी", "தமிழ்", "ไทย", "كِتَاب", "cafe\u0301":
        assert count_texts([f"{word} {word}"]).column_labels == (normalize("NFC", word),)


def test_files(write):
    file = write("posts.csv", "id,body,group\na,tie,xx\nb,knot,\n")
    counts = count_texts(file)
    assert counts.row_labels == ("a", "b")
    assert counts.row_metadata["group"].tolist() == ["xx", ""]
    assert counts.report.source == str(file)
    assert counts.report.n_read == 2
    assert count_cooccurrences(str(file), **ALL, column="group").shape == (1, 1)


# --- co-occurrences -------------------------------------------------------------------------------


def test_cooccurrences_by_hand():
    counts = count_cooccurrences(["aa bb cc", "aa aa", "cc"], **ALL, window=1)
    assert counts.kinds == ("word", "context")
    assert counts.row_labels == counts.column_labels == ("aa", "bb", "cc")
    assert counts.values.toarray().tolist() == [[2, 1, 0], [1, 0, 1], [0, 1, 0]]


@given(documents=LETTERS, window=st.integers(1, 14), left_out=st.sets(st.sampled_from("abcdefg")))
def test_cooccurrences_are_counted_as_by_a_dict(documents, window, left_out):
    words = {word for words in documents for word in words} - left_out
    if not words:
        return
    options = SINGLE | {"stop_words": sorted(left_out)}
    found = count_cooccurrences([" ".join(words) for words in documents], **options, window=window)
    assert set(found.row_labels) == words
    assert table(found) == pytest.approx(pairs(documents, window, words))
    assert (found.values != found.values.T).nnz == 0


def test_the_table_of_fewer_words_is_a_part():
    rng = random.Random(0)
    texts = [" ".join(rng.choices("abcdefgh", k=30)) for _ in range(5)]
    whole = count_cooccurrences(texts, **SINGLE)
    for words in ({"max_features": 3}, {"stop_words": ["a", "b"]}):
        part = count_cooccurrences(texts, **SINGLE | words)
        chosen = [whole.column_labels.index(word) for word in part.column_labels]
        np.testing.assert_array_equal(
            part.values.toarray(), whole.values.toarray()[np.ix_(chosen, chosen)]
        )


def test_information_is_that_of_the_formula():
    counts = count_cooccurrences(POEM, **ALL, window=3)
    n = counts.values.toarray()
    with np.errstate(divide="ignore"):
        bits = np.log2(n * n.sum() / np.outer(n.sum(axis=1), n.sum(axis=0)))
    np.fill_diagonal(bits, 0)
    words = ppmi(counts, rows="keep")
    order = [counts.column_labels.index(label) for label in words.labels]
    expected = np.maximum(bits, 0)[np.ix_(order, order)]
    np.testing.assert_allclose(words.strengths.toarray(), expected, atol=1e-12)
    assert expected.sum() == pytest.approx(np.maximum(bits, 0).sum())
    np.testing.assert_allclose(ppmi(counts).strengths.sum(axis=1), 1)
    # Raw counts are noted, and PPMI is not.
    raw = associations_from(counts)
    assert set(raw.labels) <= set(counts.row_labels)
    assert any("raw counts are used as similarities" in note for note in raw.report.notes)
    assert not any("raw counts" in note for note in ppmi(counts).report.notes)


# --- refusals and published counts ----------------------------------------------------------------

REFUSALS = [
    (DataError, count_texts, POEM, {"stop_words": ["bow", "knot", "the", "tie"]}),
    (DataError, count_texts, POEM, {"min_df": 9}),
    (DataError, count_texts, POEM, {"min_df": 0}),
    (DataError, count_texts, POEM, {"min_df": 3, "max_df": 2}),
    (DataError, count_texts, ["", "?"], {}),
    (DataError, count_texts, [], {}),
    (DataError, count_texts, ["tie"], {"token_pattern": r"x*"}),
    (ParameterError, count_texts, POEM, {"max_features": 0}),
    (ParameterError, count_texts, POEM, {"max_features": 2.5}),
    (ParameterError, count_texts, POEM, {"stop_words": "french"}),
    (ParameterError, count_texts, POEM, {"token_pattern": "("}),
    (ParameterError, count_cooccurrences, POEM, {"window": 0}),
    (DataError, ppmi, np.eye(3), {}),
    (DataError, ppmi, count_texts(["tie knot", "tie rope"]), {}),
    (DataError, ppmi, Counts(np.ones((3, 3))), {}),
]


def test_refusals():
    for error, call, data, options in REFUSALS:
        with pytest.raises(error):
            call(data, **options)
    with pytest.raises((DataError, ParameterError)):
        count_texts(POEM, token_pattern="(a)(b)")


@pytest.mark.slow
def test_newsgroups_have_their_published_counts(data_folder: Path):
    folder = data_folder / "newsgroups20"
    posts = pd.read_json(folder / "20news_bydate.jsonl.gz", lines=True, dtype=False)
    posts["text"] = posts["text"].str.replace(r"\A.*?\n\n", "", n=1, regex=True, flags=re.DOTALL)
    words: dict = {"token_pattern": "[a-z]{2,}", "stop_words": None}
    training = count_texts(posts[posts["split"] == "train"], min_df=5, **words)
    counts = count_texts(posts, **words)
    known = np.isin(counts.column_labels, training.column_labels)
    counts = counts_from(counts.values[:, known], column_labels=training.column_labels)
    assert counts.n_columns == 21_967
    assert counts.n_pairs == 2_319_159
    assert counts.n_counts == 4_508_339
    assert (counts.row_totals == 0).sum() == 37
    with np.load(folder / "20news_bydate_counts.npz") as stored:
        order = np.argsort(stored["vocab"])
        assert stored["vocab"][order].tolist() == list(counts.column_labels)
        assert counts.column_totals.sum() == stored["counts"].sum()
