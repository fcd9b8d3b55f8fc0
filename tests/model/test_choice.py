"""The record of choices: plain values for files, and what it refuses."""

import json
from dataclasses import replace

import pytest

from manymaps.errors import ParameterError
from manymaps.model.choice import CODE, SNE, UNI_SNE, ChoiceModel


@pytest.mark.parametrize(
    "model", [SNE, UNI_SNE, CODE, ChoiceModel(3.0)], ids=["sne", "uni-sne", "code", "student"]
)
def test_plain_values_make_the_same_model(model):
    assert ChoiceModel(**json.loads(json.dumps(model.as_dict()))) == model


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "box"), ("kernel", 1.0), ("kernel", float("nan")),
        ("normalization", "none"), ("mixing", "free"), ("given", "both"),
        ("background", -0.1), ("background", 1.0), ("background", 1.5), ("kernel_width", 0.0),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused(name, value):
    with pytest.raises(ParameterError, match=name):
        replace(SNE, **{name: value})
