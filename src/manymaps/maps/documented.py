"""Docstrings of estimators that differ from another one in a few parameters.

The source of such an estimator says what is its own, as its code does; what a reader is shown, in a
notebook as in the manual, has all parameters, in the order of the signature, and the attributes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

__all__ = ["completed_by"]

Estimator = TypeVar("Estimator", bound=type)

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)


def completed_by(other: type) -> Callable[[Estimator], Estimator]:
    """Complete the docstring of an estimator by the parameters and attributes of another's.

    Examples
    --------
    >>> class One:
    ...     '''One way.
    ...
    ...     Parameters
    ...     ----------
    ...     width : float
    ...         Of the kernel.
    ...     '''
    >>> @completed_by(One)
    ... class Other:
    ...     '''Another way.'''
    ...     def __init__(self, width=1.0): ...
    >>> print(inspect.getdoc(Other))
    Another way.
    <BLANKLINE>
    Parameters
    ----------
    width : float
        Of the kernel.
    """

    def complete(estimator: Estimator) -> Estimator:
        if estimator.__doc__ is None or other.__doc__ is None:  # python -OO
            return estimator
        own, others = _sections(estimator.__doc__), _sections(other.__doc__)
        said = _entries(others["Parameters"]) | _entries(own.get("Parameters", ""))
        asked = inspect.signature(estimator).parameters
        parameters = dict.fromkeys(said[name] for name in asked if name in said)
        whole = {"": own.pop(""), "Parameters": "\n".join(parameters)}
        if "Attributes" in others:
            whole["Attributes"] = others["Attributes"]
        estimator.__doc__ = _written(whole | {k: v for k, v in own.items() if k != "Parameters"})
        return estimator

    return complete


def _sections(doc: str) -> dict[str, str]:
    """The text of each section by its title; "" is what stands before the first."""
    parts = _SECTION.split(inspect.cleandoc(doc))
    return {
        title: text.strip("\n") for title, text in zip(["", *parts[1::2]], parts[::2], strict=True)
    }


def _entries(text: str) -> dict[str, str]:
    """The entry of each parameter; several that share one have it each."""
    entries = re.split(r"\n(?=\S)", text) if text else []
    return {name: entry for entry in entries for name in entry.partition(" :")[0].split(", ")}


def _written(sections: dict[str, str]) -> str:
    parts = (
        f"{title}\n{'-' * len(title)}\n{text}" if title else text
        for title, text in sections.items()
    )
    return "\n\n".join(parts) + "\n"
