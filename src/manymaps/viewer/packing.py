"""An atlas packed for the viewer: typed numbers and one header of JSON, under gzip.

    gzip of  "manymaps", u4 version, u4 bytes of the header, the header (JSON, UTF-8), zeros up to a
             multiple of 8, then the blocks, each at a multiple of 8 from where they begin

All numbers are little endian. An entry is an object in a map where it lives. The entries of all
maps stand end to end, those of map m from offsets[m] to offsets[m + 1], by number of the object:

    proportion = q / 65535        entries whose q is 0 are left out; of an object that would have no
                                  entry the largest is kept, with q = 1
    recall = q / 65535            what the map gives of what the model recalls of the object
                                  (`Atlas.map_shares`), at least 1 / 65535; it is what is drawn
    coordinate = low + step q     per map and component; or, in all maps, the number in single
                                  precision where any step would exceed 0.01 kernel widths

    block           type     length
    offsets         u4       n_maps + 1
    objects         u2, u4   n_entries
    proportions     u2       n_entries
    recalls         u2       n_entries, where there are several maps
    positions       u2, f4   n_components * n_entries, one component after the other
    order           u2, u4   n_entries: entries of each map by their number in it, those that stand
                             out first
    axes, middles   f4       n_maps * n_components * 2, n_maps * n_components; of more than two
                             dimensions: the point drawn is (coordinates - middle) @ axes
    log_factors     f4       n_objects, of two kinds of object
    sense/offsets   u4       n_objects + 1, where associations are known: each object's senses
    sense/maps      u2, u4   n_senses
    sense/shares    f4       n_senses, each object's largest first
    sense/ends      u4       n_senses + 1: where the members of each sense lie
    sense/members   u2, u4   objects, the most similar first
    column/K        u2, f4   n_objects: the K-th column's categories (65535: none), or numbers
    feature/K       u4       the objects that have the K-th feature

The header holds the labels, the model, each map's title, view and scales, the columns with their
categories, and where each block lies. A title is a list of words: labels, or where these only count
the objects, categories. `viewer/src/data/container.ts` reads all this.

Shapes: coordinates (n_entries, n_components), points (k, 2).
"""

from __future__ import annotations

import gzip
import json
import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from manymaps.atlas.atlas import LEAST_RECALL, LEAST_SHARE, Atlas
from manymaps.atlas.captions import title_words
from manymaps.atlas.landmarks import principal_plane, standing, view
from manymaps.atlas.senses import listed_senses
from manymaps.checks import check_number
from manymaps.errors import ParameterError
from manymaps.labels import plural

__all__ = ["numbers_of", "pack_page", "page_title", "well_formed"]

MAGIC, VERSION = b"manymaps", 1
TOP = 65535
COARSEST = 0.01
TITLE_WORDS = 5
NO_CATEGORY, MOST_CATEGORIES, FEW_VALUES = 65535, 1000, 100
# A page has no arrows to what lies outside; of few objects all are in the first view.
FEW_OBJECTS, OUT_OF_VIEW = 100, 0.02
LARGEST = float(np.finfo(np.float32).max)
SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class _Entries:
    """The objects of each map: offsets (n_maps + 1,), and one value per entry of the others."""

    offsets: np.ndarray
    objects: np.ndarray
    proportions: np.ndarray
    recalls: np.ndarray
    coordinates: np.ndarray

    def of(self, map: int) -> slice:
        """Where the entries of a map stand."""
        return slice(int(self.offsets[map]), int(self.offsets[map + 1]))


def page_title(atlas: Atlas) -> str:
    """What an atlas without a title is called.

    >>> from manymaps.model import T_SNE
    >>> page_title(Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE))
    '2 objects in 1 map'
    """
    maps = plural("map", atlas.n_maps)
    if atlas.kinds is None:
        return f"{plural('object', atlas.n_objects)} in {maps}"
    rows, columns = (plural(kind, n) for kind, n in Counter(atlas.kinds).items())
    return f"{rows} and {columns} in {maps}"


def well_formed(text: str) -> str:
    """A text that UTF-8 can hold: halves of characters become the replacement character.

    >>> well_formed("a\\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def numbers_of(atlas: Atlas, labels: Iterable[str]) -> list[int]:
    """The numbers of labelled objects, each label in any case as for `Atlas.index`.

    Raises
    ------
    UnknownLabel
        For a label that no object has, with suggestions.
    """
    exact = {label: i for i, label in reversed(list(enumerate(atlas.labels)))}
    return [exact[label] if label in exact else atlas.index(label) for label in map(str, labels)]


def pack_page(
    atlas: Atlas,
    *,
    title: str | None,
    color: str | None,
    size: str | None,
    features: Any,
    min_recall: float,
) -> bytes:
    """The bytes from which the viewer shows an atlas; the same for the same atlas.

    Parameters
    ----------
    atlas : Atlas
    title : str or None
        None for `page_title`.
    color, size : str or None
        The columns of the atlas that colour the marks and set their size at first: categories or
        numbers for the one, numbers for the other.
    features : AdditiveClustering or sequence of features, or None
        Fitted; or anything with a `weight` and `members`, which are labels of the atlas.
    min_recall : float in [0, 1]
        Of the objects' recall, what a map must give to show them: where the threshold stands at
        first, and what the first views and titles are made of.

    Raises
    ------
    ParameterError
        For a column that does not exist or does not suit, features that are none or of an atlas
        with two kinds of object, or a value out of range.
    UnknownLabel
        For a member of a feature that the atlas lacks, with suggestions.
    DataError
        Where the atlas is empty, its numbers are beyond single precision, or a column does not
        have one value per object.
    """
    _check(atlas, min_recall)
    columns, blocks = _columns(atlas)
    _check_shown(columns, color, size)
    listed, members = _features(atlas, features)
    entries = _entries(atlas)
    scales, blocks["positions"] = _positions(entries, atlas.model.kernel_width)
    maps, of_maps = _maps(atlas, entries, color, min_recall)
    blocks |= members | of_maps | _senses(atlas, entries) | _log_factors(atlas) | {
        "offsets": entries.offsets.astype("<u4"),
        "objects": entries.objects.astype(_index_type(atlas.n_objects)),
        "proportions": entries.proportions.astype("<u2"),
    }  # fmt: skip
    if atlas.n_maps > 1:
        blocks["recalls"] = entries.recalls.astype("<u2")
    header = {
        "title": page_title(atlas) if title is None else str(title),
        **_described(atlas),
        "labels": list(atlas.labels),
        "min_recall": float(min_recall),
        "color": color,
        "size": size,
        "maps": [{**map_, **scale} for map_, scale in zip(maps, scales, strict=True)],
        "columns": columns,
        "senses": "sense/offsets" in blocks,
        "features": listed,
    }
    return _container(header, blocks)


def _check(atlas: Atlas, min_recall: float) -> None:
    check_number("min_recall", min_recall, least=0, most=1)


def _described(atlas: Atlas) -> dict[str, Any]:
    """Method, sizes and model, as the header says them."""
    model = atlas.model.as_dict()
    kept = ("kernel", "normalization", "background", "kernel_width", "given")
    whole = float(atlas.log_whole) if model["normalization"] == "joint" else -math.inf
    return {
        "method": atlas.method,
        "n_objects": atlas.n_objects,
        "n_maps": atlas.n_maps,
        "n_components": atlas.n_components,
        "model": {name: model[name] for name in kept},
        "kinds": None if atlas.kinds is None else list(dict.fromkeys(atlas.kinds)),
        "n_rows": 0 if atlas.kinds is None else int(atlas.choices.is_row.sum()),
        "log_whole": whole if math.isfinite(whole) else None,
    }


def _log_factors(atlas: Atlas) -> dict[str, np.ndarray]:
    if atlas.kinds is None:
        return {}
    factors = np.ones(atlas.n_objects) if atlas.factors is None else atlas.factors
    return {"log_factors": np.log(factors.astype(np.float64)).astype("<f4")}


def _senses(atlas: Atlas, entries: _Entries) -> dict[str, np.ndarray]:
    """The groups of what each object recalls, in maps that hold a packed entry of it."""
    if atlas.kinds is not None or atlas.associations is None:
        return {}
    words = np.arange(atlas.n_objects)
    found = listed_senses(
        atlas.choices, atlas.associations, words, atlas.map_shares.T, LEAST_SHARE, LEAST_RECALL
    )
    owners = found.owners
    n_entries = np.diff(entries.offsets)
    packed = np.repeat(np.arange(atlas.n_maps), n_entries) * atlas.n_objects + entries.objects
    kept = np.isin(found.maps * atlas.n_objects + owners, packed)
    sizes = np.diff(found.ends)
    return {
        "sense/offsets": _starts(np.bincount(owners[kept], minlength=atlas.n_objects)),
        "sense/maps": found.maps[kept].astype(_index_type(atlas.n_maps)),
        "sense/shares": found.shares[kept].astype("<f4"),
        "sense/ends": _starts(sizes[kept]),
        "sense/members": found.members[np.repeat(kept, sizes)].astype(_index_type(atlas.n_objects)),
    }


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype("<u4")


def _entries(atlas: Atlas) -> _Entries:
    whole = np.rint(np.clip(atlas.proportions, 0, 1).astype(np.float64) * TOP).astype(np.int64)
    nowhere = np.flatnonzero(~whole.any(axis=0) & (atlas.proportions > 0).any(axis=0))
    whole[atlas.proportions[:, nowhere].argmax(axis=0), nowhere] = 1
    lives = whole > 0
    offsets = np.concatenate([[0], np.cumsum(lives.sum(axis=1))])
    # Of one map no object has more or less than all.
    recalls = whole
    if atlas.n_maps > 1:
        recalls = np.clip(np.rint(atlas.map_shares * TOP), 1, TOP).astype(np.int64)
    return _Entries(
        offsets,
        np.nonzero(lives)[1],
        whole[lives],
        recalls[lives],
        atlas.maps[lives].astype(np.float64),
    )


def _positions(
    entries: _Entries, kernel_width: float
) -> tuple[list[dict[str, list[float]]], np.ndarray]:
    """How each map's coordinates are scaled, and the coordinates, component after component."""
    n_maps, n_components = len(entries.offsets) - 1, entries.coordinates.shape[1]
    low, step = np.zeros((n_maps, n_components)), np.zeros((n_maps, n_components))
    for m in range(n_maps):
        own = entries.coordinates[entries.of(m)]
        if len(own):
            low[m], step[m] = own.min(axis=0), np.ptp(own, axis=0) / TOP
    if (step > COARSEST * kernel_width).any():
        low, step = np.zeros_like(low), np.ones_like(step)
        packed = entries.coordinates.astype("<f4")
    else:
        packed = np.zeros(entries.coordinates.shape, "<u2")
        for m in range(n_maps):
            here = entries.of(m)
            units = np.where(step[m] > 0, step[m], 1)
            packed[here] = np.rint((entries.coordinates[here] - low[m]) / units)
    scales = [{"low": low[m].tolist(), "step": step[m].tolist()} for m in range(n_maps)]
    return scales, packed.T.ravel()


def _maps(
    atlas: Atlas, entries: _Entries, color: str | None, min_recall: float
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Title, first view and share of each map, and the blocks of order, axes and middles."""
    n_maps, n_components = atlas.n_maps, atlas.n_components
    priority, words = _importance(atlas)
    described: list[dict[str, Any]] = []
    order = np.zeros(len(entries.objects), np.int64)
    axes, middles = np.zeros((n_maps, n_components, 2)), np.zeros((n_maps, n_components))
    for m in range(n_maps):
        here = entries.of(m)
        objects, weights = entries.objects[here], entries.recalls[here] / TOP
        keys = (np.arange(len(objects)), -weights, -priority[m, objects])
        order[here] = np.lexsort(keys)
        points, share = entries.coordinates[here], 1.0
        if n_components != 2:
            points, share, axes[m], middles[m] = _plane(points, weights)
        shown = weights >= min_recall
        shown = shown if shown.any() else np.ones(len(objects), bool)
        budget = OUT_OF_VIEW if shown.sum() > FEW_OBJECTS else 0.0
        box = view(points[shown], weights[shown], budget=budget)
        title = title_words(
            atlas, m, objects[shown], n_words=TITLE_WORDS, words=words, column=color
        )
        described.append(
            {"title": title, "view": [*box.low.tolist(), *box.high.tolist()], "share": share}
        )
    largest = int(np.diff(entries.offsets).max())
    blocks = {"order": order.astype(_index_type(largest))}
    if n_components > 2:
        blocks |= {"axes": axes.ravel().astype("<f4"), "middles": middles.ravel().astype("<f4")}
    return described, blocks


def _importance(atlas: Atlas) -> tuple[np.ndarray, np.ndarray | None]:
    """What comes first among labels, (n_maps, n_objects), and who may name maps, (n_objects,)."""
    if atlas.kinds is None:
        return standing(atlas), None
    # Drawing takes long to load, and only here is it asked who of two kinds has labels.
    from manymaps.atlas.roles import label_roles

    roles = label_roles(atlas, None)
    return roles.priority + roles.has_label, roles.is_text


def _plane(
    points: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Points of a map as they are drawn, the share of their spread there, axes and middle."""
    n_components = points.shape[1]
    if len(points) == 0:
        return np.zeros((0, 2)), 1.0, np.zeros((n_components, 2)), np.zeros(n_components)
    middle = np.average(points, axis=0, weights=weights)
    # What weighs nothing has no say in the plane: where the unit vectors land, its axes are.
    probes = np.vstack([points, middle, middle + np.eye(n_components)])
    plane = principal_plane(probes, np.concatenate([weights, np.zeros(n_components + 1)]))
    k = len(points)
    return plane.points[:k], plane.share, plane.points[k + 1 :] - plane.points[k], middle


def _columns(atlas: Atlas) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """What the header says of each column, and the blocks of those with numbers or categories."""
    described, blocks = [], {}
    for k, (name, values) in enumerate(atlas.columns.items()):
        values = np.asarray(values)
        numbers = _as_numbers(values)
        if numbers is None:
            column, block = _text_column(_as_texts(values))
        else:
            column, block = _number_column(numbers)
        described.append({"name": str(name), **column})
        if block is not None:
            blocks[f"column/{k}"] = block
    return described, blocks


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Numbers, NaN for those that miss or are infinite; None where the values are no numbers."""
    if values.dtype.kind == "O":
        there = [value for value in values.tolist() if not _is_missing(value)]
        if not there or not all(isinstance(v, Real) and not isinstance(v, bool) for v in there):
            return None
        values = np.array([math.nan if _is_missing(v) else float(v) for v in values.tolist()])
    if values.dtype.kind not in "iuf":
        return None
    numbers = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:
        # The missing value of pandas refuses to say whether it equals itself.
        return True


def _as_texts(values: np.ndarray) -> list[str]:
    """Values as a person reads them, "" for those that miss."""
    if values.dtype.kind == "M":
        times: Any = values
        are_days = (values.astype("M8[D]") == values) | np.isnat(values)
        texts = np.datetime_as_string(times, unit="D" if are_days.all() else "s").tolist()
        return ["" if text == "NaT" else text for text in texts]
    if values.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in values.tolist()]
    return ["" if _is_missing(value) else str(value) for value in values.tolist()]


def _number_column(numbers: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """A colour scale ends where those of the figures do, at the 2nd and the 98th percentile."""
    there = numbers[np.isfinite(numbers)]
    low, high = np.quantile(there, [0.02, 0.98]).tolist() if len(there) else (0.0, 1.0)
    if not high > low and len(there):
        low, high = float(there.min()), float(there.max())
    high = high if high > low else low + max(1.0, abs(low))
    column = {"type": "number", "low": low, "high": high}
    single = np.clip(numbers, -LARGEST, LARGEST).astype("<f4")
    # Days as 20240131 and other long whole numbers have more digits than single precision.
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2**53)
    return column, numbers.astype("<f8") if (single[whole] != numbers[whole]).any() else single


def _text_column(texts: list[str]) -> tuple[dict[str, Any], np.ndarray | None]:
    """Categories where values recur, else texts that are shown alone."""
    counts = Counter(text for text in texts if text)
    n_there = counts.total()
    if len(counts) > MOST_CATEGORIES or (n_there > FEW_VALUES and 2 * len(counts) > n_there):
        return {"type": "text", "values": texts}, None
    categories = [text for text, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    code = {text: k for k, text in enumerate(categories)}
    codes = np.array([code.get(text, NO_CATEGORY) for text in texts], "<u2")
    return {"type": "category", "categories": categories}, codes


def _check_shown(columns: Sequence[dict[str, Any]], color: str | None, size: str | None) -> None:
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
                f"is no column of the atlas; columns of {what}: {known or 'it has none'}",
                name=parameter,
                value=name,
            )
        if kinds[name] not in suited:
            raise ParameterError(
                f"is a column that holds no {what}; those that do: {known or 'none'}",
                name=parameter,
                value=name,
            )


def _features(atlas: Atlas, clusters: Any) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """What the header says of each feature, and the blocks of their members."""
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
            f"`weight` and `members`; these are of type {type(clusters).__name__} ({error})"
        ) from error
    if found and atlas.kinds is not None:
        raise ParameterError("features are drawn over objects of one kind, and these are of two")
    described, blocks = [], {}
    numbers = iter(numbers_of(atlas, [label for _, members in found for label in members]))
    for k, (weight, members) in enumerate(found):
        if not math.isfinite(weight):
            raise ParameterError(f"the weight of feature {k + 1} is {weight}; it must be finite")
        described.append({"name": f"feature {k + 1}", "weight": weight})
        blocks[f"feature/{k}"] = np.unique(list(islice(numbers, len(members)))).astype("<u4")
    return described, blocks


def _index_type(count: int) -> str:
    return "<u2" if count <= TOP + 1 else "<u4"


def _container(header: dict[str, Any], blocks: dict[str, np.ndarray]) -> bytes:
    """Header and blocks as one run of bytes, packed without the time of day."""
    listed, parts, offset = {}, [], 0
    for name, block in blocks.items():
        data = block.tobytes()
        listed[name] = {"dtype": block.dtype.str[1:], "offset": offset, "length": len(block)}
        parts.append(data + bytes(-len(data) % 8))
        offset += len(parts[-1])
    text = json.dumps(
        {**header, "blocks": listed, "total": offset},
        ensure_ascii=False, allow_nan=False, separators=(",", ":"),
    )  # fmt: skip
    encoded = well_formed(text).encode()
    head = MAGIC + struct.pack("<II", VERSION, len(encoded)) + encoded
    return gzip.compress(b"".join([head, bytes(-len(head) % 8), *parts]), mtime=0)
