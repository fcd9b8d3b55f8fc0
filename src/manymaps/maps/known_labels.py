"""Input validation for known labels that a fit takes out of the maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.data.frames import cell_label
from manymaps.errors import ParameterError
from manymaps.model.condition import UNKNOWN, Condition
from manymaps.model.target import Target

# On planted labels (benchmarks/condition.py), the share of neighbours with the same label is 0.71
# at a strength of 0, 0.58 at 0.5, 0.46 at 0.7 and 0.31 at 0.9 (chance: 0.33). Of the neighbours
# with other labels, 0.87, 0.89, 0.90 and 0.91 belong to the same group. If the frequencies of
# groups depend on the label, this share is 0.88, 0.88, 0.87 and 0.85.
DEFAULT_STRENGTH = 0.7


def label_groups(labels: Any) -> np.ndarray:
    """Number the labels of objects; missing labels have the number -1.

    >>> label_groups(["b", None, "a", "b", float("nan"), "a"]).tolist()
    [1, -1, 0, 1, -1, 0]

    Raises
    ------
    ParameterError
        If the labels are not a sequence, or if no two labels are equal or no two differ.
    """
    cells = np.asarray(labels, dtype=object)
    if cells.ndim != 1:
        raise ParameterError(
            f"condition has shape {cells.shape}; expected one label for each object"
        )
    texts = np.array([_text(cell) for cell in cells.tolist()], dtype=object)
    known = texts != ""
    names, numbers, sizes = np.unique(
        texts[known].astype(str), return_inverse=True, return_counts=True
    )
    if len(names) < 2:
        what = f"one label, {str(names[0])!r}" if len(names) else "no labels"
        raise ParameterError(
            f"condition contains {what}; expected at least two different labels, so that there is "
            "a factor to take out"
        )
    if sizes.max() < 2:
        raise ParameterError(
            "condition contains a different label for each object; expected at least two objects "
            "with the same label"
        )
    groups = np.full(len(texts), UNKNOWN, np.int64)
    groups[known] = numbers
    return groups


def _text(cell: Any) -> str:
    # The missing values of pandas are not equal to themselves and have no truth value.
    return "" if type(cell).__name__ in ("NAType", "NaTType") else cell_label(cell)


def check_groups(groups: np.ndarray, n: int) -> None:
    """Reject labels whose number is not the number of objects."""
    if len(groups) != n:
        raise ParameterError(
            f"condition has {len(groups):,} labels for {n:,} objects; expected one label for each"
        )


def condition_of(groups: np.ndarray, strength: float, target: Target, estimator: Any) -> Condition:
    """Return the condition of a fit.

    Raises
    ------
    ParameterError
        If the number of labels is wrong, or the target, the model or the divergence does not
        support known labels.
    """
    check_groups(groups, target.values.shape[0])
    refused = {
        "missing similarities": target.observed is not None,
        "a background; use background=0": estimator._model().background > 0,
        "divergence='inverse'": getattr(estimator, "divergence", "forward") != "forward",
    }
    for what, is_given in refused.items():
        if is_given:
            raise ParameterError(f"condition cannot be combined with {what}")
    return Condition(groups, strength)


def with_condition(atlas: Atlas, labels: Any, strength: float) -> Atlas:
    """Store the labels and the strength in an atlas."""
    texts = np.array([_text(cell) for cell in np.asarray(labels, dtype=object).tolist()])
    return replace(
        atlas,
        parameters={**atlas.parameters, "condition_strength": float(strength)},
        metadata={**atlas.metadata, "condition": texts},
    )
