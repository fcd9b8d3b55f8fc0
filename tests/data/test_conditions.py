"""Conditions on columns: the rows they select, missing cells, and messages about mistakes."""

import numpy as np
import pytest

from manymaps.data.conditions import select_rows
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
    ("age <= 30", "03", "2", "age > 30"),
    ("age>20", "13", "2", "age <= 20"),
    ("age >= 30", "13", "2", "age < 30"),
    ("age = 20", "0", "2", "age != 20"),
    ("AGE == '20'", "0", "2", "AGE != '20'"),
    ("age != 20", "13", "2", "age = 20"),
    ("age > -1.5e1", "013", "2", "age <= -1.5e1"),
    ("age in [20, 30, 7]", "03", "2", "not (age in [20, 30, 7])"),
    (" gender == fe ", "02", "3", "gender != fe"),
    ("gender = 'Ma'", "1", "3", "gender != 'Ma'"),
    ("gender = Android", "", "3", "gender != Android"),
    ('"native language" == "ENGLISH"', "03", "2", '"native language" != "ENGLISH"'),
    ("`Native Language` IN [\"new zealand english\", 'french']", "1", "2", None),
    ("gender = Fe and age < 30", "0", "23", "not (gender = Fe and age < 30)"),
    ("age > 20 AND age <= 40 and age != 30", "1", "2", None),
    ("gender = Ma and age < 30", "", "23", None),
]  # fmt: skip


def rows(mask):
    return "".join(map(str, np.flatnonzero(mask)))


@pytest.mark.parametrize(("text", "holds", "missing", "opposite"), CASES)
def test_the_rows_for_which_a_condition_holds(text, holds, missing, opposite):
    selection = select_rows(text, PEOPLE)
    assert (rows(selection.holds), rows(selection.missing)) == (holds, missing)
    assert selection.opposite == (opposite or f"not ({text})")


@pytest.mark.parametrize("text", ["age < 30", "age != 20", "gender = Fe", "gender != Ma"])
def test_the_opposite_of_a_comparison_holds_for_all_other_known_rows(text):
    holds, missing, opposite = select_rows(text, PEOPLE)
    other = select_rows(opposite, PEOPLE)
    np.testing.assert_array_equal(other.holds, ~holds & ~missing)
    np.testing.assert_array_equal(other.missing, missing)


MISTAKES = [
    "aeg < 30", "age < 30 and sex = m", "age < ", "", "age < 30 and", "age",
    "age < 30 gender = Fe", "age < 30 or gender = Fe", "age < 30 and not gender = Fe",
    "gender = Fe android < 3", "18 <= age", "(age < 30)", "age in [20, 30", "age in 20",
    "age in []", "age & 3", "native language = English", "'age < 3", "age < old", "age < nan",
    "gender < Ma", "__import__('os')", "age.real < 3",
]  # fmt: skip


def test_a_mistake_is_refused():
    for text in MISTAKES:
        with pytest.raises(ParameterError) as caught:
            select_rows(text, PEOPLE)
        assert (caught.value.name, caught.value.value) == ("where", text)
    with pytest.raises(ParameterError, match=r"'aeg'.*Did you mean 'age'"):
        select_rows("aeg < 30", PEOPLE)
    with pytest.raises(ParameterError, match="from 'gender = Fe' on"):
        select_rows("age < 30 gender = Fe", PEOPLE)
