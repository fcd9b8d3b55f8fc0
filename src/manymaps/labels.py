"""Looking up a label as people type it: exact, then in any case, then with suggestions."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence

__all__ = ["UnknownLabel", "find_label", "fold", "numbered_labels"]


class UnknownLabel(KeyError):
    """No object has this label; `suggestions` holds the nearest ones that exist."""

    def __init__(self, label: str, suggestions: Sequence[str]):
        self.label = label
        self.suggestions = tuple(suggestions)
        hint = f"; did you mean {', '.join(map(repr, suggestions))}?" if suggestions else ""
        shown = label if len(label) <= 60 else label[:59] + "…"
        super().__init__(f"no object is labelled {shown!r}{hint}")

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[UnknownLabel], tuple[str, tuple[str, ...]]]:
        return type(self), (self.label, self.suggestions)


def fold(label: str) -> str:
    """A label without case, accents and surrounding white space.

    >>> fold("Café") == fold("CAFE ")
    True
    """
    decomposed = unicodedata.normalize("NFKD", label.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold().strip()


def find_label(label: str, labels: Sequence[str]) -> int:
    """Position of a label: an exact match, else the first that differs in case or accents alone.

    Raises
    ------
    UnknownLabel
        Where there is none; it suggests the nearest three.

    Examples
    --------
    >>> find_label("tie", ["TIE", "knot"])
    0
    >>> find_label("knto", ["TIE", "knot"])
    Traceback (most recent call last):
    manymaps.labels.UnknownLabel: no object is labelled 'knto'; did you mean 'knot'?
    """
    for i, other in enumerate(labels):
        if other == label:
            return i
    wanted = fold(label)
    # Of labels that fold to the same text the first is found, and suggested once.
    position: dict[str, int] = {}
    for i, other in enumerate(labels):
        position.setdefault(fold(other), i)
    if wanted in position:
        return position[wanted]
    near = difflib.get_close_matches(wanted[:100], position, n=3, cutoff=0.6)
    raise UnknownLabel(label, [labels[position[other]] for other in near])


def numbered_labels(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Labels of which the repeated ones got a number, and the new names of these.

    >>> numbered_labels(["a", "b", "a", "a (2)"])
    (['a', 'b', 'a (3)', 'a (2)'], ['a (3)'])
    """
    taken = set(labels)
    if len(taken) == len(labels):
        return list(labels), []
    uses: dict[str, int] = {}
    names: list[str] = []
    changed: list[str] = []
    for label in labels:
        number = uses.get(label, 0) + 1
        name = label
        if number > 1:
            while (name := f"{label} ({number})") in taken:
                number += 1
            taken.add(name)
            changed.append(name)
        uses[label] = number
        names.append(name)
    return names, changed
