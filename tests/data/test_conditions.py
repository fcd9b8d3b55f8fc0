"""Conditions on columns: the rows they select, missing cells, and messages about mistakes."""

import re

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aeg < 30", "names a column 'aeg' that does not exist; the columns are 'age', 'gender', "
         "'native language'. Did you mean 'age'"),
        ("age < 30 and sex = m", "names a column 'sex'"),
        ("age < ", "is not understood from 'age <' on; write COLUMN OP VALUE"),
        ("", "ends too early; write COLUMN OP VALUE"),
        ("age < 30 and", "ends too early"),
        ("age", "is not understood from 'age' on"),
        ("age < 30 gender = Fe", "is not understood from 'gender = Fe' on"),
        ("age < 30 or gender = Fe", "is not understood from 'or gender = Fe' on"),
        ("age < 30 and not gender = Fe", "is not understood from 'not gender = Fe' on"),
        ("gender = Fe android < 3", "is not understood from 'android < 3' on"),
        ("18 <= age", "is not understood from '18 <= age' on"),
        ("(age < 30)", "is not understood from '(age < 30)' on"),
        ("age in [20, 30", "is not understood from 'age in [20, 30' on"),
        ("age in 20", "is not understood from 'age in 20' on"),
        ("age in []", "is not understood from 'age in []' on"),
        ("age & 3", "is not understood from 'age & 3' on"),
        ("native language = English", "is not understood from 'native language = English' on"),
        ("'age < 3", "is not understood from \"'age < 3\" on"),
        ("age < old", "compares the column 'age' with 'old', but it contains numbers"),
        ("age < nan", "compares the column 'age' with 'nan', but it contains numbers"),
        ("gender < Ma", "by <, but it contains texts ('Fe', 'Ma'); compare texts by =, != or in"),
        ("__import__('os')", "is not understood from \"__import__('os')\" on"),
        ("age.real < 3", "names a column 'age.real'"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_the_part_that_is_not_understood(text, message):
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        select_rows(text, PEOPLE)
    assert (caught.value.name, caught.value.value) == ("where", text)
