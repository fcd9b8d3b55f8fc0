"""Schemas: types, shapes by named dimensions, ranges, families of names."""

import numpy as np
import pytest

from manymaps.archive import ArrayPart, Schema, ValuePart

SCHEMA = Schema(
    "thing", 1, "a thing",
    values={
        "labels": ValuePart((list,), "", each=ValuePart((str,), ""), length="n"),
        "scale": ValuePart((float, type(None)), "", least=0, optional=True),
        "sizes": ValuePart((dict,), "", each=ValuePart((int,), "", least=1), optional=True),
    },
    arrays={
        "places": ArrayPart("f", ("m", "n", 2), ""),
        "starts": ArrayPart("iu", ("n + 1",), "", least=0, most="k", optional=True),
        "near": ArrayPart("iu", ("k",), "", least=-1, most="n - 1", optional=True),
        "mask": ArrayPart("b", ("...", "n"), "", optional=True),
        "exact": ArrayPart("f4", (), "", least=0, most=1, optional=True),
        "column/*": ArrayPart("biufU", ("n",), "", finite=False),
    },
)  # fmt: skip
META = {"labels": ["a", "b", "c"]}
ARRAYS = {
    "places": np.zeros((4, 3, 2)),
    "starts": np.array([0, 1, 2, 5]),
    "near": np.array([0, 1, 2, -1, 2]),
    "mask": np.ones((7, 3), bool),
    "exact": np.float32(0.5) * np.ones((), np.float32),
    "column/size": np.array([1.0, np.nan, np.inf]),
    "column/name": np.array(["x", "y", "z"]),
}


def test_a_bound_beyond_the_type_of_an_array_holds_it():
    half = Schema("half", 1, "", {}, {"x": ArrayPart("f", ("n",), "", least=-1e18, most=1e18)})
    half.check({}, {"x": np.ones(3, np.float16)})


def test_what_is_as_declared_passes():
    SCHEMA.check(META, ARRAYS)
    SCHEMA.check(META, {"places": ARRAYS["places"]})
    SCHEMA.check(META | {"scale": 1, "sizes": {"a": 1}}, ARRAYS | {"mask": np.ones(3, bool)})
    SCHEMA.check(META | {"scale": None, "unknown": object()}, ARRAYS | {"unknown": np.array([{}])})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": ["a", "b"]}, r"'places' has .*expected \(m = 4, n = 2, 2\)"),
        ({"labels": ["a", 1, "c"]}, "an element of labels.*1; expected type text"),
        ({"labels": ("a", "b", "c")}, "expected type list of text"),
        ({"scale": -1.0}, "'scale' is -1.0; expected at least 0"),
        ({"scale": True}, "'scale' is True; expected type number or null"),
        ({"scale": "1"}, "'scale' is '1'"),
        ({"sizes": {"a": 0}}, "an element of sizes"),
        ({"sizes": {"a": 1.0}}, "an element of sizes"),
    ],
)  # fmt: skip
def test_values(changes, message):
    with pytest.raises(ValueError, match=message):
        SCHEMA.check(META | changes, ARRAYS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": np.zeros((4, 3, 3))}, "has shape .*; expected"),
        ({"places": np.zeros((4, 3))}, "has shape .*; expected"),
        ({"places": np.zeros((4, 3, 2, 1))}, "has shape .*; expected"),
        ({"places": np.zeros((4, 3, 2), int)}, "of type int64; expected float values"),
        ({"places": np.full((4, 3, 2), np.nan)}, "not finite"),
        ({"places": np.full((4, 3, 2), np.inf)}, "not finite"),
        ({"starts": np.array([0, 1, 2])}, r"expected \(n \+ 1 = 4\)"),
        ({"starts": np.array([0, 1, 2, 6])}, "from 0 to 6; expected 0 to 5"),
        ({"near": np.array([0, 1, 2, -2, 2])}, "from -2 to 2; expected -1 to 2"),
        ({"near": np.array([0, 1, 2, 3, 2])}, "from 0 to 3"),
        ({"mask": np.ones((7, 2), bool)}, "'mask'"),
        ({"mask": np.array(True)}, "'mask'"),
        ({"mask": np.ones((7, 3))}, "; expected boolean values"),
        ({"exact": np.array(0.5)}, "; expected float32 values"),
        ({"exact": np.array([0.5], np.float32)}, "expected .one value"),
        ({"exact": np.array(1.5, np.float32)}, "expected 0 to 1"),
        ({"column/name": np.array(["x", "y"])}, "'column/name'"),
        ({"column/name": np.array([{}, 1, 2], object)}, "'column/name' is of type object"),
    ],
)
def test_arrays(changes, message):
    with pytest.raises(ValueError, match=message):
        SCHEMA.check(META, ARRAYS | changes)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="'places' is missing"):
        SCHEMA.check(META, {})
    with pytest.raises(ValueError, match="'labels' is missing"):
        SCHEMA.check({}, ARRAYS)


def test_all_that_we_write_is_declared():
    """Every archive has a purpose, and each of its parts says what it is."""
    from manymaps.atlas.storage import ATLAS
    from manymaps.data.counts import COUNTS

    for schema in (ATLAS, COUNTS):
        assert schema.says.endswith(".")
        for part in (*schema.values.values(), *schema.arrays.values()):
            assert part.says
            assert part.type_name
