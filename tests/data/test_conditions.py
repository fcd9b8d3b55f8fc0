"""Conditions on columns: what they hold of, what is unknown, and what is refused, and where."""

import re

import numpy as np
import pytest

from manymaps.data.conditions import parse_condition
from manymaps.errors import ParameterError

NAN = np.nan
PEOPLE = {
    "age": np.array([20.0, 40.0, NAN, 30.0]),
    "gender": np.array(["Fe", "Ma", "Fe", ""], object),
    "native language": np.array(["English", "New Zealand English", "", "english"], object),
}
#       condition                                     holds of          unknown of
CASES = [
    ("age < 30", "0", "2"),
    ("age <= 30", "03", "2"),
    ("30 < age", "1", "2"),
    ("20 < age <= 40", "13", "2"),
    ("20<age<=40 and age != 30", "1", "2"),
    ("20 <= age < 30 or age > 35", "01", "2"),
    ("not (20 < age < 40)", "01", "2"),
    ("not age < 30", "13", "2"),
    ("not age < 30 and gender == Ma", "1", "3"),
    ("not (age < 30) or not gender == Fe", "13", "2"),
    ("gender == fe", "02", "3"),
    ("gender = 'Ma'", "1", "3"),
    ("gender != Ma", "02", "3"),
    ('"native language" == "ENGLISH"', "03", "2"),
    ("`native language` in [\"new zealand english\", 'french']", "1", "2"),
    ("`Native Language` not in (english)", "1", "2"),
    ("age in [20, 30, 7]", "03", "2"),
    ("age not in [20]", "13", "2"),
    # What is known decides where it can.
    ("gender == Fe and age < 30", "0", "2"),
    ("gender == Fe or age > 25", "0123", ""),
    ("gender == Ma and age < 30", "", ""),
    ("AGE < 30 AND NOT gender == Ma", "0", "2"),
    ("age < 25 or age > 35 and gender == Ma", "01", "2"),
    ("(age < 25 or age > 35) and gender == Ma", "1", ""),
    ("age > -1.5e1", "013", "2"),
    ("age == '20'", "0", "2"),
]  # fmt: skip


def rows(mask):
    return "".join(map(str, np.flatnonzero(mask)))


@pytest.mark.parametrize(("text", "holds", "unknown"), CASES)
def test_of_whom_a_condition_holds(text, holds, unknown):
    verdict = parse_condition(text, PEOPLE).verdict(PEOPLE)
    assert (rows(verdict.holds), rows(verdict.unknown)) == (holds, unknown)


@pytest.mark.parametrize("text", [case[0] for case in CASES])
def test_the_opposite_holds_where_it_does_not_and_is_unknown_where_it_is(text):
    verdict = parse_condition(text, PEOPLE).verdict(PEOPLE)
    opposite = parse_condition(text, PEOPLE).opposite()
    other = parse_condition(opposite, PEOPLE).verdict(PEOPLE)
    np.testing.assert_array_equal(other.holds, ~verdict.holds & ~verdict.unknown)
    np.testing.assert_array_equal(other.unknown, verdict.unknown)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aeg < 30", "at character 1 a column 'aeg' that is not there; the columns are 'age', "
         "'gender', 'native language'. Did you mean 'age'"),
        ("age < 30 and sex == m", "at character 14 a column 'sex'"),
        ("age < ", "ends at character 6 where a number or a text is expected"),
        ("", "ends at character 1 where the name of a column"),
        ("age", "ends at character 4 where a comparison or in"),
        ("age < 30 gender", "has 'gender' at character 10 where and, or, or the end"),
        ("(age < 30", "ends at character 10 where a closing parenthesis"),
        ("age in [20, 30", "ends at character 15 where a comma or a closing bracket"),
        ("age in 20", "has '20' at character 8 where an opening bracket"),
        ("age & 3", "cannot be read at character 5, '& 3'"),
        ("native language == English", "at character 1 a column 'native'"),
        ("age < old", "compares the column 'age' with 'old', and it holds numbers"),
        ("gender < Ma", "by <, and it holds texts ('Fe', 'Ma')"),
        ("__import__('os')", "at character 1 a column '__import__'"),
        ("age.real < 3", "a column 'age.real'"),
        ("'age < 3", "cannot be read at character 1"),
        ("and", "has 'and' at character 1 where the name of a column"),
        ("age < nan", "compares the column 'age' with 'nan', and it holds numbers"),
        ("(" * 5000 + "age < 3", "is nested more than 100 deep at character 101"),
        ("not " * 5000 + "age < 3", "is nested more than 100 deep at character 401"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(text, said):
    with pytest.raises(ParameterError, match=re.escape(said)) as caught:
        parse_condition(text, PEOPLE).verdict(PEOPLE)
    assert (caught.value.name, caught.value.value) == ("where", text)
