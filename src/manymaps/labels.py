"""Lookup of labels, numbering of repeated labels, and display of labels in messages."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

# Enough names to recognize a list, but few enough for a message.
FIRST = 3
_BASES = re.compile(r"(?:^|[\W_])[ACGTN]{8,}(?:$|[\W_x])")


class UnknownLabelError(KeyError):
    """Error about a label that does not exist.

    Parameters
    ----------
    label : str
        The unknown label.
    suggestions : sequence of str
        The most similar existing labels.

    See Also
    --------
    Atlas, DataError

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, UnknownLabelError
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> try:
    ...     atlas.senses("tye")
    ... except UnknownLabelError as error:
    ...     print(error, error.suggestions)
    no object is labelled 'tye'; did you mean 'tie'? ('tie',)
    """

    def __init__(self, label: str, suggestions: Sequence[str]):
        self.label = label
        self.suggestions = tuple(suggestions)
        hint = f"; did you mean {', '.join(map(repr, suggestions))}?" if suggestions else ""
        super().__init__(f"no object is labelled {shown(label)}{hint}")

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[UnknownLabelError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.label, self.suggestions)


def fold(label: str) -> str:
    """Remove case and repeated spaces from a label; keep accents, which distinguish words.

    >>> fold(" Café  au lait ")
    'café au lait'
    """
    composed = unicodedata.normalize("NFKC", label.casefold()).casefold()
    return " ".join(unicodedata.normalize("NFKC", composed).split())


def unaccented(label: str) -> str:
    """Remove case and accents from a label, and straighten apostrophes.

    >>> unaccented("Más"), unaccented("don\N{RIGHT SINGLE QUOTATION MARK}t")
    ('mas', "don't")
    """
    plain = fold(label).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))


def find_label(label: str, labels: Sequence[str]) -> int:
    """Find the index of a label, exactly or, if no label matches, ignoring case.

    Parameters
    ----------
    label : str
        The label to find.
    labels : sequence of str
        The labels of all objects.

    Returns
    -------
    int
        The index in `labels`.

    Raises
    ------
    UnknownLabelError
        If no label matches. The message suggests the three most similar labels, such as labels with
        other accents.

    Examples
    --------
    >>> find_label("tie", ["TIE", "knot"])
    0
    >>> find_label("knto", ["TIE", "knot"])
    Traceback (most recent call last):
    manymaps.labels.UnknownLabelError: no object is labelled 'knto'; did you mean 'knot'?
    """
    for i, other in enumerate(labels):
        if other == label:
            return i
    wanted = fold(label)
    for i, other in enumerate(labels):
        if fold(other) == wanted:
            return i
    import difflib  # takes 3 ms, and few runs suggest labels

    # Among labels that differ only in accents, one is suggested.
    plain = {unaccented(other): other for other in reversed(labels)}
    near = difflib.get_close_matches(unaccented(label)[:100], plain, n=3, cutoff=0.6)
    raise UnknownLabelError(label, [plain[other] for other in near])


def label_places(wanted: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Find the index of each label, exactly or else ignoring case; -1 if there is no match.

    >>> label_places(["tie", "Bow", "hat"], ["TIE", "tie", "bow"])
    [1, 2, -1]
    """
    exact: dict[str, int] = {}
    folded: dict[str, int] = {}
    for place, label in enumerate(labels):
        exact.setdefault(label, place)
        folded.setdefault(fold(label), place)
    return [exact.get(label, folded.get(fold(label), -1)) for label in wanted]


def case_variants(labels: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Map unknown labels to the known labels that differ from them only in upper and lower case.

    A label is omitted if several known labels match, or if an earlier label has the same match.

    >>> case_variants(["bank", "Tie", "knot", "hat"], ["BANK", "TIE", "Tie", "KNOT", "Knot"])
    {'bank': 'BANK'}
    """
    labels = list(labels)
    matches: dict[str, list[str]] = {}
    for label in known:
        matches.setdefault(fold(label), []).append(label)
    exact = set(known)
    taken, variants = exact.intersection(labels), {}
    for label in labels:
        same = [] if label in exact else matches.get(fold(label), [])
        if len(same) == 1 and same[0] not in taken:
            variants[label] = same[0]
            taken.add(same[0])
    return variants


def natural_order(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return a key that sorts numbers within texts by value, and letters regardless of case.

    >>> sorted(["b", "10", "9", "A", "sort 12", "sort 3"], key=natural_order)
    ['9', '10', 'A', 'b', 'sort 3', 'sort 12']
    """
    parts = [part for part in re.split(r"([0-9]+)", text.casefold()) if part]
    # Numbers are compared by length and then by digits, because Python limits the length of numbers
    # that it converts.
    digits = [part.lstrip("0") if part.isdecimal() else None for part in parts]
    pairs = zip(parts, digits, strict=True)
    return [(1, 0, p) if number is None else (0, len(number), number) for p, number in pairs], text


def only_count(labels: Sequence[str], start: str = "") -> bool:
    """Check whether labels are "0", "1", ..., the default labels of objects without names.

    >>> only_count(["0", "1"]), only_count(["1", "2"]), only_count(["x0", "x1"], "x")
    (True, False, True)
    """
    return all(label == f"{start}{i}" for i, label in enumerate(labels))


def count_up(labels: Sequence[str]) -> bool:
    """Check whether labels are ascending whole numbers without large gaps, from about 0 or 1.

    >>> count_up(["1", "2", "4"]), count_up(["1999", "2000"]), count_up(["2", "1"])
    (True, False, False)
    """
    if not all(label.isdecimal() for label in labels):
        return False
    numbers = list(map(int, labels))
    return numbers == sorted(set(numbers)) and numbers[-1] <= 2 * len(numbers)


def numbered_alike(labels: Sequence[str]) -> bool:
    """Check whether all labels consist of the same word and a number.

    >>> numbered_alike(["img 434", "img 7"]), numbered_alike(["1999", "2000"])
    (True, False)
    >>> numbered_alike(["img 434", "post 7"])
    False
    """
    start = re.split("[0-9]", labels[0], maxsplit=1)[0] if labels else ""
    pattern = re.compile(re.escape(start) + "[0-9]+")
    return start.strip() != "" and all(pattern.fullmatch(label) for label in labels)


def barcodes(labels: Sequence[str]) -> bool:
    """Check whether all labels are cell barcodes (bases, optionally with a sample name).

    >>> barcodes(["AAACATACAACCAC-1", "lane2_AAACGGGTCTGATACG-1-0"]), barcodes(["CATTAG", "tie"])
    (True, False)
    """
    return len(labels) > 0 and all(_BASES.search(label) for label in labels)


def numbered_labels(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Add a number to repeated labels; return all labels and the new labels.

    >>> numbered_labels(["a", "b", "a", "a (2)"])
    (['a', 'b', 'a (3)', 'a (2)'], ['a (3)'])
    """
    taken, uses = set(labels), Counter[str]()
    names: list[str] = []
    changed: list[str] = []
    for label in labels:
        uses[label] += 1
        name = label
        if uses[label] > 1:
            while (name := f"{label} ({uses[label]})") in taken:
                uses[label] += 1
            taken.add(name)
            changed.append(name)
        names.append(name)
    return names, changed


def plural(kind: str, n: int | None = None) -> str:
    """Return the plural of a noun, preceded by the number if it is passed.

    >>> plural("word", 1200), plural("species"), plural("site", 1), plural("country")
    ('1,200 words', 'species', '1 site', 'countries')
    """
    if n != 1 and not kind.endswith("s"):
        is_regular = not kind.endswith("y") or kind[-2:-1] in "aeiou"
        kind = kind + "s" if is_regular else kind[:-1] + "ies"
    return kind if n is None else f"{n:,} {kind}"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Round shares of one whole to per cent so that their sum is the rounded sum of the shares.

    >>> whole_percents([0.505, 0.495]), whole_percents([0.503, 0.155])
    ([51, 49], [50, 16])
    """
    # Whole numbers, so that the single precision of a page does not decide between equal parts.
    units = [round(100_000 * share) for share in shares]
    found = [unit // 1000 for unit in units]
    missing = (sum(units) + 500) // 1000 - sum(found)
    for k in sorted(range(len(found)), key=lambda k: -(units[k] % 1000))[:missing]:
        found[k] += 1
    return found


def in_words(parts: Sequence[str]) -> str:
    """Join texts with commas and "and".

    >>> in_words(["words"]), in_words(["a", "b"]), in_words(["a", "b", "c"])
    ('words', 'a and b', 'a, b and c')
    """
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def repeated_label(labels: Sequence[str]) -> tuple[str, int, int] | None:
    """Find the first repeated label and its first two indices.

    >>> repeated_label(["a", "b", "a"])
    ('a', 0, 2)
    """
    first: dict[str, int] = {}
    for place, label in enumerate(labels):
        if first.setdefault(label, place) < place:
            return label, first[label], place
    return None


def letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for a number from 0.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    return (letter(number // 26 - 1) if number > 25 else "") + chr(ord("a") + number % 26)


def listed(names: Sequence[str], most: int = 12) -> str:
    """List names for a message; shorten the list if there are many."""
    named = ", ".join(repr(name[:60]) for name in names[:most])
    return (named or "none") + (f" and {len(names) - most:,} more" if len(names) > most else "")


def first_of(labels: Sequence[str]) -> str:
    """List the first of several labels for a message."""
    named = ", ".join(repr(label[:60]) for label in labels[:FIRST])
    return named + (", ..." if len(labels) > FIRST else "")


def case_note(source: object, variants: Mapping[str, str]) -> str:
    """Describe labels of a source that were matched regardless of upper and lower case.

    >>> case_note("norms.csv", {"bank": "BANK"})
    "norms.csv: 1 label matched regardless of upper and lower case ('bank' is 'BANK')"
    """
    pairs = [f"{shown(one)} is {shown(other)}" for one, other in list(variants.items())[:FIRST]]
    more = ", ..." if len(variants) > FIRST else ""
    return (
        f"{source}: {plural('label', len(variants))} matched regardless of upper and lower case "
        f"({', '.join(pairs)}{more})"
    )


def shown(label: str, most: int = 60) -> str:
    """Quote a label for a message, and shorten it if it is long."""
    return repr(label if len(label) <= most else label[: most - 1] + "…")
