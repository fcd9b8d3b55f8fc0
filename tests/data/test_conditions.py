"""Conditions on columns: the rows they select, missing cells, and messages about mistakes."""

import numpy as np
import pytest

from manymaps.data.trials import select_rows
from manymaps.errors import ParameterError

NAN = np.nan
PEOPLE = {
    "age": np.array([20.0, 40.0, NAN, 30.0]),
    "gender": np.array(["Fe", "Ma", "Fe", ""], object),
    "native language": np.array(["English", "New Zealand English", "", "english"], object),
}
#       condition                                     holds   missing  opposite
CASES = [
    ("age < 30", "0", "2", "age >= 30"),
    ("age>20", "13", "2", "age <= 20"),
    ("age == 20", "0", "2", "age != 20"),
    ("age != 20", "13", "2", "age == 20"),
    ("age > -1.5e1", "013", "2", "age <= -1.5e1"),
    ("age in [20, 30, 7]", "03", "2", None),
    (" gender == 'Fe' ", "02", "3", "gender != 'Fe'"),
    ('gender == "fe"', "", "3", 'gender != "fe"'),
    ('`native language` == "English"', "0", "2", '`native language` != "English"'),
    ("`native language` in ['New Zealand English', 'french']", "1", "2", None),
    ("gender == 'Fe' and age < 30", "0", "23", None),
    ("age > 20 and age <= 40 and not age == 30", "1", "2", None),
    ("gender == 'Ma' or age < 30", "01", "23", None),
]  # fmt: skip


def rows(mask):
    return "".join(map(str, np.flatnonzero(mask)))


def test_the_rows_for_which_a_condition_and_its_opposite_hold():
    for text, holds, missing, opposite in CASES:
        selected, unknown, other = select_rows(text, PEOPLE)
        assert (rows(selected), rows(unknown)) == (holds, missing)
        assert other == (opposite or f"not ({text.strip()})")
        others, also_unknown, _ = select_rows(other, PEOPLE)
        np.testing.assert_array_equal(others, ~selected & ~unknown)
        np.testing.assert_array_equal(also_unknown, unknown)


MISTAKES = [
    "aeg < 30", "age < ", "", "age < 30 and", "age", "age = 20", "gender == Fe", "age < '3",
    "age < 30 gender == 'Fe'", "native language == 'English'", "gender < 3", "age < 'Ma'",
    "__import__('os')", "@np", "age.mean() > 3",
]  # fmt: skip


def test_a_mistake_is_refused():
    for text in MISTAKES:
        with pytest.raises(ParameterError) as caught:
            select_rows(text, PEOPLE)
        assert (caught.value.name, caught.value.value) == ("where", text.strip())
