"""Schemas: types, shapes by named dimensions, ranges, families of names."""

import numpy as np
import pytest

from manymaps.archive.schema import ArrayPart, Schema, ValuePart

SCHEMA = Schema(
    "thing", 1, "a thing",
    values={
        "labels": ValuePart((list,), "", each=ValuePart((str,), ""), length="n"),
        "scale": ValuePart((float, type(None)), "", least=0, optional=True),
        "sizes": ValuePart((dict,), "", each=ValuePart((int,), "", least=1), optional=True),
        "shift": ValuePart((float,), "", optional=True),
    },
    arrays={
        "places": ArrayPart("f", ("m", "n", 2), ""),
        "starts": ArrayPart("iu", ("n + 1",), "", least=0, most="k", optional=True),
        "near": ArrayPart("iu", ("k",), "", least=-1, most="n - 1", optional=True),
        "mask": ArrayPart("b", ("...",), "", optional=True),
        "costs": ArrayPart("f", ("...",), "", least=0, optional=True),
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
    SCHEMA.check(
        META | {"scale": 1, "shift": -1.0, "sizes": {"a": 1}}, ARRAYS | {"mask": np.ones(3, bool)}
    )
    SCHEMA.check(META | {"scale": None, "unknown": object()}, ARRAYS | {"unknown": np.array([{}])})


VALUES = [
    {"labels": ["a", "b"]}, {"labels": ["a", 1, "c"]}, {"labels": ("a", "b", "c")},
    {"scale": -1.0}, {"scale": True}, {"scale": "1"}, {"sizes": {"a": 0}}, {"sizes": {"a": 1.0}},
]  # fmt: skip
DAMAGED = {
    "places": [np.zeros((4, 3, 3)), np.zeros((4, 3)), np.zeros((4, 3, 2, 1)),
               np.zeros((4, 3, 2), int), np.full((4, 3, 2), np.nan), np.full((4, 3, 2), np.inf)],
    "starts": [np.array([0, 1, 2]), np.array([0, 1, 2, 6])],
    "near": [np.array([0, 1, 2, -2, 2]), np.array([0, 1, 2, 3, 2])],
    "mask": [np.ones((7, 3)), np.array(["a"])],
    "costs": [np.array([1.0, -1.0])],
    "exact": [np.array(0.5), np.array([0.5], np.float32), np.array(1.5, np.float32)],
    "column/name": [np.array(["x", "y"]), np.array([{}, 1, 2], object)],
}  # fmt: skip


def test_what_is_not_as_declared_is_named():
    for changes in VALUES:
        with pytest.raises(ValueError, match=r"labels|places|scale|sizes"):
            SCHEMA.check(META | changes, ARRAYS)
    for name, arrays in DAMAGED.items():
        for array in arrays:
            with pytest.raises(ValueError, match=name):
                SCHEMA.check(META, ARRAYS | {name: array})
    with pytest.raises(ValueError, match="places"):
        SCHEMA.check(META, {})
    with pytest.raises(ValueError, match="labels"):
        SCHEMA.check({}, ARRAYS)
