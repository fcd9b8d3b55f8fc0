"""Counts of words in documents and near one another, against counts made by hand and by dicts."""

import random
import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from manymaps.data.counts import Counts
from manymaps.errors import DataError, ParameterError
from manymaps.io import corpus as corpora
from manymaps.io import counting
from manymaps.io.associations import associations_from
from manymaps.io.counting import Words, count_cooccurrences, count_texts, ppmi
from manymaps.io.texts import Document, Texts

POEM = ["The tie, the knot.", "A bow tie!", "", "the the the"]
LETTERS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=8)
SINGLE = r"\w"


def table(counts: Counts) -> dict[tuple[str, str], float]:
    """The counts above 0 by their labels."""
    entries = counts.values.tocoo()
    rows, columns = counts.row_labels, counts.column_labels
    return {
        (rows[i], columns[j]): value
        for i, j, value in zip(*entries.coords, entries.data.tolist(), strict=True)
    }


def occurrences(documents: list[list[str]]) -> dict[tuple[str, str], float]:
    return dict(Counter((str(i), word) for i, words in enumerate(documents) for word in words))


def pairs(
    documents: list[list[str]], window: int, weighting: str, words: set[str]
) -> dict[tuple[str, str], float]:
    """The definition, pair by pair."""
    found: Counter[tuple[str, str]] = Counter()
    for document in documents:
        for (s, x), (t, y) in product(enumerate(document), repeat=2):
            if 0 < abs(s - t) <= window and {x, y} <= words:
                found[x, y] += 1 if weighting == "flat" else 1 / abs(s - t)
    return dict(found)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that end inside documents, and sums that are merged all the time."""
    monkeypatch.setattr(corpora, "PIECE", 5)
    monkeypatch.setattr(corpora, "LONG_DOCUMENT", 10)
    monkeypatch.setattr(counting, "MOST_PAIRS", 7)
    monkeypatch.setattr(corpora, "BATCH", 20)


class TestDocumentsByWords:
    def test_by_hand(self):
        counts = count_texts(POEM)
        assert counts.kinds == ("document", "word")
        assert counts.row_labels == ("0", "1", "2", "3")
        assert counts.column_labels == ("bow", "knot", "the", "tie")
        assert counts.values.toarray().tolist() == [
            [0, 1, 2, 1], [1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 3, 0],
        ]  # fmt: skip
        assert counts.report.n_read == 4
        assert "documents without a counted word, with empty rows: 1 ('2')" in counts.report.notes

    @given(documents=LETTERS)
    def test_same_as_a_dict(self, documents):
        texts = [" ".join(words) for words in documents]
        if not any(documents):
            with pytest.raises(DataError):
                count_texts(texts, Words(token_pattern=SINGLE))
            return
        found = count_texts(texts, Words(token_pattern=SINGLE))
        assert table(found) == occurrences(documents)
        assert found.shape == (len(documents), len({word for words in documents for word in words}))

    @pytest.mark.usefixtures("small_pieces")
    def test_same_as_scikit_learn_in_small_pieces(self):
        rng = random.Random(0)
        words = ["tie", "Knot", "ROPE", "bow-tie", "café", "x", "42"]
        texts = [" ".join(rng.choices(words, k=rng.randrange(60))) for _ in range(30)]
        peer = CountVectorizer()
        expected = peer.fit_transform(texts)
        found = count_texts(iter(texts))
        assert list(found.column_labels) == peer.get_feature_names_out().tolist()
        np.testing.assert_array_equal(found.values.toarray(), expected.toarray())
        documents = np.asarray((expected > 0).sum(axis=0)).ravel()
        for least in set(documents.tolist()):
            kept = count_texts(texts, Words(min_documents=least)).n_columns
            assert kept == (documents >= least).sum()


class TestWhichWords:
    def test_the_most_frequent_with_ties_in_alphabetical_order(self):
        texts = ["dd dd dd cc cc bb bb aa", "ee ee ff"]
        for texts_ in (texts, texts[::-1]):
            labels = count_texts(texts_, Words(max_words=3)).column_labels
            assert labels == ("bb", "cc", "dd")
            labels = count_texts(texts_, Words(max_words=2, skip_words=1)).column_labels
            assert labels == ("bb", "cc")
            labels = count_texts(texts_, Words(max_words=1, skip_words=2)).column_labels
            assert labels == ("cc",)
            labels = count_texts(texts_, Words(skip_words=4)).column_labels
            assert labels == ("aa", "ff")

    def test_min_documents_counts_documents_and_comes_first(self):
        texts = ["tie tie tie tie", "knot bow", "knot bow", "knot"]
        assert count_texts(texts, Words(min_documents=2)).column_labels == ("bow", "knot")
        assert count_texts(texts, Words(min_documents=2, skip_words=1)).column_labels == ("bow",)
        assert count_texts(texts, Words(min_documents=3)).column_labels == ("knot",)

    def test_stop_words(self):
        assert count_texts(POEM, Words(stop_words="english")).column_labels == (
            "bow", "knot", "tie",
        )  # fmt: skip
        assert count_texts(POEM, Words(stop_words=["TIE", "bow"])).column_labels == ("knot", "the")
        kept = count_texts(POEM, Words(stop_words=["the"], lowercase=False)).column_labels
        assert kept == ("The", "bow", "knot", "tie")
        assert count_texts(POEM, Words(stop_words=["the"], skip_words=1)).column_labels == (
            "bow", "knot",
        )  # fmt: skip

    def test_patterns_and_tokenizers(self):
        assert count_texts(POEM, Words(token_pattern=r"b\w+")).column_labels == ("bow",)
        assert count_texts(POEM, Words(token_pattern=r"(\w+)!")).column_labels == ("tie",)
        split = count_texts(["tie-knot tie", "TIE"], Words(tokenizer=str.split))
        assert split.column_labels == ("tie", "tie-knot")

    @pytest.mark.usefixtures("small_pieces")
    @pytest.mark.parametrize("pattern", [r"\w+", r"t(\w+)", r"\b[tk]\w"])
    def test_long_documents_are_split_as_short_ones(self, pattern):
        text = "tie knot rope TIE " * 5
        found = count_texts([text], Words(token_pattern=pattern))
        assert table(found) == occurrences([re.findall(pattern, text.lower())])

    def test_a_vocabulary_is_taken_as_it_is(self):
        counts = count_texts(POEM, Words(vocabulary=["tie", "rope", "bow"]))
        assert counts.column_labels == ("tie", "rope", "bow")
        assert counts.values.toarray()[:2].tolist() == [[1, 0, 0], [1, 0, 1]]
        assert counts.report.notes[0] == (
            "words of the vocabulary that do not occur in the texts: 1 of 3 ('rope')"
        )
        again = count_texts(POEM, Words(vocabulary=count_texts(POEM).column_labels))
        np.testing.assert_array_equal(again.values.toarray(), count_texts(POEM).values.toarray())

    def test_nothing_left(self):
        few = Words(skip_words=4), Words(min_documents=9), Words(vocabulary=["TIE"])
        for texts, words in *((POEM, one) for one in few), (["", "?"], None), ([], None):
            with pytest.raises(DataError):
                count_texts(texts, words)
        with pytest.raises(ParameterError):
            count_texts(["tie"], Words(token_pattern=r"x*"))

    @pytest.mark.parametrize(
        "options",
        [
            {"max_words": 0},
            {"max_words": 2.5},
            {"skip_words": -1},
            {"min_documents": True},
            {"stop_words": "french"},
            {"token_pattern": "("},
            {"token_pattern": "(a)(b)"},
            {"vocabulary": []},
            {"vocabulary": "tie"},
            {"vocabulary": ["tie", "tie"]},
            {"vocabulary": ["tie", ""]},
            {"vocabulary": ["tie"], "max_words": 3},
            {"vocabulary": ["tie"], "stop_words": ["a"]},
        ],
    )
    def test_bad_options_are_refused(self, options):
        with pytest.raises(ParameterError):
            Words(**options)


class TestSources:
    def test_labels_and_metadata(self):
        documents = [
            Document("a", "tie", {"group": "x", "year": 1, "good": True, "weight": 0.5}),
            Document("b", "knot", {"year": 2, "good": False, "weight": None, "big": 10**30}),
            Document("a", "rope", {"group": "y", "year": 3, "good": True, "late": 7}),
            Document("a (2)", "bow", {"year": 4, "good": True, "html": "<p>" * 100}),
        ]
        counts = count_texts(documents)
        assert counts.row_labels == ("a", "b", "a (3)", "a (2)")
        metadata = {name: column.tolist() for name, column in counts.row_metadata.items()}
        assert metadata.pop("weight")[0] == 0.5
        assert np.isnan(metadata.pop("late")[:2]).all()
        assert metadata == {
            "group": ["x", "", "y", ""],
            "year": [1, 2, 3, 4],
            "good": [True, False, True, True],
            "big": ["", str(10**30), "", ""],
        }
        assert counts.row_metadata["year"].dtype == np.int64
        assert "1 document with a repeated label got a number: 'a (3)'" in counts.report.notes
        assert any("'html'" in note for note in counts.report.notes)

    def test_mappings_and_series(self):
        assert count_texts({"x": "tie", "y": "knot"}).row_labels == ("x", "y")
        pandas = pytest.importorskip("pandas")
        series = pandas.Series(["tie", "knot"], index=["p", "q"])
        assert count_texts(series).row_labels == ("p", "q")

    def test_files(self, tmp_path):
        file = tmp_path / "posts.jsonl"
        file.write_text('{"nr": "a", "body": "tie", "group": "x"}\n{"nr": "b", "body": "knot"}\n')
        counts = count_texts(Texts(file, label_column="nr"))
        assert counts.row_labels == ("a", "b")
        assert counts.row_metadata["group"].tolist() == ["x", ""]
        assert counts.report.source == str(file)
        assert counts.report.n_read == 2
        assert count_texts(str(file)).row_labels == ("0", "1")

    def test_bad_sources_are_refused(self, tmp_path):
        with pytest.raises(DataError):
            count_texts(["tie", 3])
        with pytest.raises(DataError):
            count_texts([b"tie"])
        for text in ("a text, not a file", "a long text " * 1000):
            with pytest.raises(OSError, match="text"):
                count_texts(text)


class TestCooccurrences:
    def test_by_hand(self):
        counts = count_cooccurrences(["aa bb cc", "aa aa", "cc"], window=1)
        assert counts.kinds == ("word", "context")
        assert counts.row_labels == counts.column_labels == ("aa", "bb", "cc")
        assert counts.values.toarray().tolist() == [[2, 1, 0], [1, 0, 1], [0, 1, 0]]
        harmonic = count_cooccurrences(["aa bb cc"], window=9, weighting="harmonic")
        assert harmonic.values.toarray().tolist() == [[0, 1, 0.5], [1, 0, 1], [0.5, 1, 0]]

    @given(
        documents=LETTERS,
        window=st.integers(1, 14),
        weighting=st.sampled_from(["flat", "harmonic"]),
        left_out=st.sets(st.sampled_from("abcdefg")),
    )
    def test_same_as_a_dict(self, documents, window, weighting, left_out):
        words = {word for words in documents for word in words} - left_out
        if not words:
            return
        found = count_cooccurrences(
            [" ".join(words) for words in documents],
            Words(token_pattern=SINGLE, stop_words=sorted(left_out)),
            window=window,
            weighting=weighting,
        )
        expected = pairs(documents, window, weighting, words)
        assert set(found.row_labels) == words
        assert table(found) == pytest.approx(expected)
        assert (found.values != found.values.T).nnz == 0

    @pytest.mark.usefixtures("small_pieces")
    @pytest.mark.parametrize("weighting", ["flat", "harmonic"])
    @pytest.mark.parametrize("window", [1, 4, 5, 11, 100])
    def test_same_as_a_dict_in_small_pieces(self, window, weighting):
        rng = random.Random(window)
        documents = [rng.choices("abcdefgh", k=rng.choice([0, 1, 4, 23])) for _ in range(12)]
        found = count_cooccurrences(
            [" ".join(words) for words in documents],
            Words(token_pattern=SINGLE),
            window=window,
            weighting=weighting,
        )
        assert table(found) == pytest.approx(pairs(documents, window, weighting, set("abcdefgh")))

    def test_the_table_of_fewer_words_is_a_part(self):
        rng = random.Random(0)
        texts = [" ".join(rng.choices("abcdefgh", k=30)) for _ in range(5)]
        whole = count_cooccurrences(texts, Words(token_pattern=SINGLE))
        for words in (
            Words(token_pattern=SINGLE, vocabulary=["c", "a", "h"]),
            Words(token_pattern=SINGLE, max_words=3, skip_words=2),
            Words(token_pattern=SINGLE, stop_words=["a", "b"]),
        ):
            part = count_cooccurrences(texts, words)
            chosen = [whole.column_labels.index(word) for word in part.column_labels]
            np.testing.assert_array_equal(
                part.values.toarray(), whole.values.toarray()[np.ix_(chosen, chosen)]
            )

    def test_bad_options_are_refused(self):
        with pytest.raises(ParameterError):
            count_cooccurrences(POEM, window=0)
        with pytest.raises(ParameterError):
            count_cooccurrences(POEM, weighting="linear")


HEADER = re.compile(r".*?\n\n", re.DOTALL)


@pytest.mark.slow
def test_newsgroups_have_their_published_counts(data_folder: Path):
    folder = data_folder / "newsgroups20"
    bodies = [
        Document(post.label, HEADER.sub("", post.text, count=1), post.metadata)
        for post in Texts(folder / "20news_bydate.jsonl.gz")
    ]
    training = (body for body in bodies if body.metadata["split"] == "train")
    words = count_texts(training, Words(token_pattern="[a-z]{2,}", min_documents=5)).column_labels
    counts = count_texts(bodies, Words(token_pattern="[a-z]{2,}", vocabulary=words))
    assert counts.n_columns == 21_967
    assert counts.n_pairs == 2_319_159
    assert counts.n_counts == 4_508_339
    assert (counts.row_totals == 0).sum() == 37
    assert set(counts.row_metadata) == {"split", "group"}
    with np.load(folder / "20news_bydate_counts.npz") as stored:
        order = np.argsort(stored["vocab"])
        assert stored["vocab"][order].tolist() == list(counts.column_labels)
        assert counts.column_totals.sum() == stored["counts"].sum()


class TestWordPattern:
    def test_contractions_are_words_and_underscores_are_not(self):
        text = "Don't go; don\u2019t! We'll, I'm: __ _init_ a_b 3d x l'homme the dog's rock'n'roll"
        assert count_texts([text]).column_labels == (
            "3d", "a_b", "dog", "don't", "go", "homme", "i'm", "init", "rock", "roll", "the",
            "we'll",
        )  # fmt: skip
        assert "DON'T" in count_texts(["DON'T"], Words(lowercase=False)).column_labels

    @pytest.mark.parametrize("listed", ["english", ["don\u2019t", "We'll"], ["don't", "we'll"]])
    def test_contractions_are_stop_words(self, listed):
        words = Words(stop_words=listed)
        assert count_texts(["Don't knot; we'll tie"], words).column_labels == ("knot", "tie")


class TestInformation:
    def test_values_are_those_of_the_formula(self):
        counts = count_cooccurrences(POEM, window=3)
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

    def test_raw_counts_are_noted_and_ppmi_is_not(self):
        counts = count_cooccurrences(POEM)
        raw = associations_from(counts)
        assert set(raw.labels) <= set(counts.row_labels)
        assert any("raw counts are used as similarities" in note for note in raw.report.notes)
        assert not any("raw counts" in note for note in ppmi(counts).report.notes)

    def test_refusals(self):
        with pytest.raises(DataError):
            ppmi(count_texts(["tie knot", "tie rope"]))
        with pytest.raises(DataError):
            ppmi(Counts(np.ones((3, 3))))
