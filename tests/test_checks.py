"""Checks that many objects share, and the records that they raise."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from manymaps.checks import (
    check_choice,
    check_index,
    check_labels,
    check_number,
    check_whole,
    first_cell,
    not_amount,
    not_finite,
)
from manymaps.errors import DataError, ParameterError

INF, NAN = float("inf"), float("nan")


def test_whole_numbers():
    for value in (1, 7, np.int32(3)):
        check_whole("n", value)
        check_whole("n", value, 0, 7)
    for value in (0, -1, 2.0, "2", None, True, np.float64(2), np.array(2)):
        with pytest.raises(ParameterError) as caught:
            check_whole("n_maps", value)
        assert str(caught.value) == f"n_maps={value!r} must be a whole number of at least 1"
        assert (caught.value.name, caught.value.value) == ("n_maps", value)


@pytest.mark.parametrize(
    ("limits", "good", "bad", "said"),
    [
        ({}, (-1e9, 0, np.float32(2)), (INF, -INF, NAN, "1", None), "a finite number"),
        ({"least": 0}, (0, 0.48, 1e9), (-1e-9, NAN, INF), "a finite number of at least 0"),
        ({"above": 0}, (1e-9, 3), (0, NAN, INF), "a finite number above 0"),
        ({"least": 0, "most": 1}, (0, 1, 0.5), (-0.1, 1.1, NAN, 10**400), "a number from 0 to 1"),
        ({"above": 0, "most": 1}, (0.1, 1), (0, 1.1), "a number above 0 and at most 1"),
        ({"least": 0, "below": 1}, (0, 0.9), (-1, 1), "a number of at least 0 and below 1"),
        ({"above": 0, "below": 0.5}, (0.1,), (0, 0.5), "a number above 0 and below 0.5"),
    ],
)
def test_numbers_in_ranges(limits, good, bad, said):
    for value in good:
        check_number("x", value, **limits)
    for value in bad:
        with pytest.raises(ParameterError) as caught:
            check_number("x", value, **limits, why=": so")
        assert str(caught.value) == f"x={value!r} must be {said}: so"


def test_choices_and_numbers_of_maps():
    check_choice("kernel", "gaussian", ("cauchy", "gaussian"))
    for value in ("linear", None, 1, ["gaussian"], np.array(["gaussian"])):
        with pytest.raises(ParameterError):
            check_choice("kernel", value, ("cauchy", "gaussian"))
    check_index("map", 1, 2)
    for index in (-1, 2):
        with pytest.raises(ParameterError, match=rf"^map {index} does not exist; maps are 0 to 1$"):
            check_index("map", index, 2)


def test_errors_of_parameters_travel_between_processes():
    for error in (ParameterError("is odd", name="n", value=3), ParameterError("give one")):
        again = pickle.loads(pickle.dumps(error))
        told = str(error), error.name, error.value
        assert (str(again), again.name, again.value) == told


@pytest.mark.parametrize(
    ("labels", "options", "told"),
    [
        (["a"], {}, "got 1 labels for 2 rows"),
        (["a", "a"], {}, "duplicate label 'a' (rows 0 and 1)"),
        (["a", "a"], {"source": "f.csv"}, "f.csv: duplicate label 'a'"),
        (["a", ""], {"named": True}, "the label of row 1 is empty"),
        (["\0", "a"], {"named": True}, "the label of row 0 contains a null character"),
    ],
)
def test_labels(labels, options, told):
    with pytest.raises(DataError) as caught:
        check_labels(labels, 2, "row", **options)
    assert str(caught.value).startswith(told)
    check_labels(["", "a"], 2, "row")
    check_labels(["a", "a"], 2, "row", distinct=False, named=True)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_first_cell_in_the_order_of_rows(form, monkeypatch):
    table = np.array([[1.0, 0, 2], [0, -1, 0], [np.inf, 3, np.nan]])
    assert first_cell(form(table), not_finite) == (2, 0, np.inf)
    assert first_cell(form(table), not_amount) == (1, 1, -1.0)
    assert first_cell(form(np.abs(table)), lambda values: values < 0) is None
    assert first_cell(form(np.ones((3, 0))), not_finite) is None
    monkeypatch.setattr("manymaps.checks._BLOCK", 4)  # behind many blocks
    table = np.ones((9, 3))
    table[7, 1] = np.nan
    assert first_cell(form(table), not_finite)[:2] == (7, 1)
