"""Looking labels up as people type them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manymaps.labels import UnknownLabelError, find_label, fold


def test_exact_match_wins_over_the_first_that_folds_to_it():
    assert find_label("Tie", ["TIE", "tie", "Tie"]) == 2
    assert find_label("tIE", ["TIE", "tie"]) == 0


@pytest.mark.parametrize(
    ("typed", "label"),
    [("café", "CAFÉ"), ("strasse", "Straße"), (" tie ", "TIE"), ("e\u0301", "é"), ("TEL", "℡")],
)
def test_case_and_white_space_do_not_matter(typed, label):
    assert find_label(typed, ["other", label]) == 1


def test_accents_distinguish_words():
    with pytest.raises(UnknownLabelError, match="did you mean 'AÑO'"):
        find_label("ano", ["tie", "AÑO"])


def test_unknown_labels_get_suggestions_once_each():
    for typed, known, suggestions in (
        ("knto", ["KNOT", "knot", "tuxedo"], ("KNOT",)),
        ("zzzz", ["tie", "x" * 10_000], ()),
        ("y" * 10_000, ["tie"], ()),
    ):
        with pytest.raises(UnknownLabelError, match="no object is labelled") as caught:
            find_label(typed, known)
        assert isinstance(caught.value, KeyError)
        assert caught.value.suggestions == suggestions
        assert ("did you mean" in str(caught.value)) is bool(suggestions)
        assert len(str(caught.value)) < 100
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_at_most_three_labels_are_suggested():
    with pytest.raises(UnknownLabelError) as caught:
        find_label("kno", ["knot", "know", "knob", "knop"])
    assert len(caught.value.suggestions) == 3


@given(st.text())
def test_folding_twice_changes_nothing_for_case(text):
    assert fold(text.upper()) == fold(text.upper().lower()) or not text.isascii()
    assert find_label(text, ["other" + text, text]) == 1
