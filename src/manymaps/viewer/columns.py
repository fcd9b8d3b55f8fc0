"""Conversion of the columns and features of an atlas to the format of a page.

Recurring texts are stored as categories, numbers keep their scale, and pictures remain data URIs.
All other values are stored as texts that are only displayed. Columns contain the values of the
objects that the page shows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import are_codes
from manymaps.data.frames import is_missing
from manymaps.errors import ParameterError

# The largest 16-bit code. A column with more distinct texts, or with mostly distinct texts,
# contains labels rather than categories.
NO_CATEGORY, MOST_CATEGORIES, FEW_VALUES = 65535, 1000, 100
LARGEST = float(np.finfo(np.float32).max)
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*")


def numbers_of(atlas: Atlas, labels: Iterable[str]) -> list[int]:
    """Return the indices of labelled objects, matching labels regardless of case.

    Raises
    ------
    UnknownLabelError
        If a label does not belong to any object. The message suggests similar labels.
    """
    exact = {label: i for i, label in reversed(list(enumerate(atlas.labels)))}
    return [exact[label] if label in exact else atlas.index(label) for label in map(str, labels)]


def column_blocks(
    atlas: Atlas, kept: np.ndarray, size: str | None = None
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Return the description of each column for the header, and blocks of numbers or categories.

    Few integers are categories, except in the column that determines the `size` of the dots.
    """
    described, blocks = [], {}
    for k, (name, whole) in enumerate(atlas.columns.items()):
        values = np.asarray(whole)[kept]
        numbers = _as_numbers(values)
        if numbers is None:
            column, block = _text_column(_as_texts(values))
        elif name != size and are_codes(numbers):
            column, block = _code_column(numbers)
        else:
            column, block = _number_column(numbers)
        described.append({"name": str(name), **column})
        if block is not None:
            blocks[f"column/{k}"] = block
    return described, blocks


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Convert values to numbers (NaN if missing or infinite); None if they are not numeric."""
    if values.dtype.kind == "O":
        there = [value for value in values.tolist() if not is_missing(value)]
        if not there or not all(isinstance(v, Real) and not isinstance(v, bool) for v in there):
            return None
        values = np.array([math.nan if is_missing(v) else float(v) for v in values.tolist()])
    if values.dtype.kind not in "iuf":
        return None
    numbers = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _as_texts(values: np.ndarray) -> list[str]:
    """Format values for readers, with "" for missing values."""
    if values.dtype.kind == "M":
        times: Any = values
        are_days = (values.astype("M8[D]") == values) | np.isnat(values)
        texts = np.datetime_as_string(times, unit="D" if are_days.all() else "s").tolist()
        return ["" if text == "NaT" else text for text in texts]
    if values.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in values.tolist()]
    return ["" if is_missing(value) else str(value) for value in values.tolist()]


def _number_column(numbers: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Pack numbers with the limits of the colour scale, which are the 2nd and 98th percentiles."""
    there = numbers[np.isfinite(numbers)]
    low, high = np.quantile(there, [0.02, 0.98]).tolist() if len(there) else (0.0, 1.0)
    if not high > low and len(there):
        low, high = float(there.min()), float(there.max())
    high = high if high > low else low + max(1.0, abs(low))
    column = {"type": "number", "low": low, "high": high}
    single = np.clip(numbers, -LARGEST, LARGEST).astype("<f4")
    # Dates such as 20240131 and other long integers have more digits than single precision.
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2**53)
    return column, numbers.astype("<f8") if (single[whole] != numbers[whole]).any() else single


def _code_column(numbers: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Pack few integers, such as the digits, as categories in the order of the integers."""
    there = np.isfinite(numbers)
    different = np.unique(numbers[there])
    codes = np.where(there, np.searchsorted(different, numbers), NO_CATEGORY)
    names = [f"{value:.0f}" for value in different]
    return {"type": "category", "categories": names}, codes.astype("<u2")


def _text_column(texts: list[str]) -> tuple[dict[str, Any], np.ndarray | None]:
    """Pack texts as pictures, as categories if values recur, or otherwise as displayed texts."""
    if any(texts) and all(not text or PICTURE.fullmatch(text) for text in texts):
        return {"type": "image", "values": texts}, None
    counts = Counter(text for text in texts if text)
    n_there = counts.total()
    if len(counts) > MOST_CATEGORIES or (n_there > FEW_VALUES and 2 * len(counts) > n_there):
        return {"type": "text", "values": texts}, None
    categories = [text for text, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    code = {text: k for k, text in enumerate(categories)}
    codes = np.array([code.get(text, NO_CATEGORY) for text in texts], "<u2")
    return {"type": "category", "categories": categories}, codes


def check_shown(columns: Sequence[dict[str, Any]], color: str | None, size: str | None) -> None:
    """Reject columns that do not exist or are unsuitable; the message lists suitable columns."""
    kinds = {column["name"]: column["type"] for column in columns}
    for parameter, name, suited, what in (
        ("color", color, ("category", "number"), "categories or numbers"),
        ("size", size, ("number",), "numbers"),
    ):
        if name is None:
            continue
        known = ", ".join(repr(other) for other, kind in kinds.items() if kind in suited)
        if name not in kinds:
            raise ParameterError(
                f"is not a column of the atlas; columns of {what}: {known or '(none)'}",
                name=parameter,
                value=name,
            )
        if kinds[name] not in suited:
            raise ParameterError(
                f"is a column that does not contain {what}; suitable columns: {known or '(none)'}",
                name=parameter,
                value=name,
            )


def feature_blocks(
    atlas: Atlas, clusters: Any, number: np.ndarray
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Return the description of each feature for the header, and the blocks of members.

    `number` (n_objects,) contains the index of each object in the page, or -1 for a hidden object.

    Raises
    ------
    ParameterError
        If the features are invalid, or the atlas is bipartite.
    UnknownLabelError
        If the atlas does not contain a member. The message suggests similar labels.
    """
    if clusters is None:
        return [], {}
    try:
        found = [
            (float(each.weight), list(each.members))
            for each in getattr(clusters, "clusters_", clusters)
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise ParameterError(
            "features must be a fitted AdditiveClustering, or a sequence of features with a "
            f"`weight` and `members`; got {type(clusters).__name__} ({error})"
        ) from error
    if found and atlas.kinds is not None:
        raise ParameterError("features cannot be drawn over a bipartite atlas")
    described, blocks = [], {}
    numbers = iter(numbers_of(atlas, [label for _, members in found for label in members]))
    for k, (weight, members) in enumerate(found):
        if not math.isfinite(weight):
            raise ParameterError(f"the weight of feature {k + 1} is {weight}; it must be finite")
        described.append({"name": f"feature {k + 1}", "weight": weight})
        own = number[np.unique(list(islice(numbers, len(members)))).astype(int)]
        blocks[f"feature/{k}"] = own[own >= 0].astype("<u4")
    return described, blocks
