"""Packing of an atlas for the viewer: typed numbers and a JSON header, compressed by gzip.

    gzip of  "manymaps", u4 version, u4 bytes of the header, the header (JSON, UTF-8), zeros up to a
             multiple of 8, then the blocks, each at a multiple of 8 from the start of the first

All numbers are little endian. An entry represents an object in a map in which the object has
weight. The entries of all maps are concatenated. The entries of map m extend from offsets[m] to
offsets[m + 1], sorted by the index of the object:

    weight = q / 65535            the map weight of the object (`Atlas.map_weights`), at least
                                  1 / 65535. The page draws this weight. Entries whose proportion
                                  rounds to 0 / 65535 are omitted, except the largest of an object
    log charge = low + step q     the logarithm of b_j pi_j: the factor of the object times its
                                  proportion. The page ranks the neighbours j of an object by
                                  b_j pi_j K(d^2); two kinds of object have no factors there
    coordinate = low + step q     per map and component. If any step would exceed 0.01 kernel
                                  widths, all maps contain numbers in single precision instead

    block           type     length
    offsets         u4       n_maps + 1
    objects         u2, u4   n_entries
    charges         u2       n_entries
    weights         u2       n_entries
    positions       u2, f4   n_components * n_entries, one component after the other
    order           u2, u4   n_entries: entries of each map by their index in the map, sorted by how
                             prominent they are
    axes, middles   f4       n_maps * n_components * 2, n_maps * n_components; if there are more
                             than two dimensions: the drawn point is (coordinates - middle) @ axes
    data/offsets    u4       n_objects + 1, if associations are known: each object's associates
    data/partners   u2, u4   associates, the strongest first
    data/shares     u2       q / 65535 of the object's associations, at least 1 / 65535
    data/maps       u1, u2   the map on which each is close to the object; n_maps if on none
    region/members  u2, u4   entries of their map, region after region as listed in the header. An
                             island with parts has the size 0, because its parts contain its members
    sense/offsets   u4       n_objects + 1, if associations are known: each object's senses
    sense/maps      u2, u4   n_senses
    sense/shares    f4       n_senses, each object's largest first
    column/K        u2, f4   n_objects: the K-th column's categories (65535: none), or numbers
    feature/K       u4       the objects with the K-th feature

The header contains the labels, the model, the kinds with their counts, and the offsets of blocks.
For each map, it contains the title, view, scales and regions, and for each column the categories.
A fitted variable is an arrow that extends `from` the origin to x, y, or a centroid, with null for
`from`.
`mapOrder` lists similar maps next to each other. The `hue` of a region is a number from 0 to 7,
and its `island` is the index of the region to which it belongs, or null. A title is a list of
words, which are labels or, if labels only number the objects, categories. The header does not
contain hidden objects. The other objects have the indices 0, 1, ...
`viewer/src/data/container.ts` reads this format.

Shapes: coordinates (n_entries, n_components), points (k, 2).
"""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.captions import categories_of, default_column, title_words, unnamed
from manymaps.atlas.landmarks import View, content_order, principal_plane, standing, view
from manymaps.atlas.regions import Region, map_regions, region_titles
from manymaps.atlas.roles import label_roles, numbers_of_kinds
from manymaps.checks import check_number
from manymaps.errors import ParameterError
from manymaps.labels import fold, in_words, plural
from manymaps.viewer.columns import check_shown, column_blocks, feature_blocks, numbers_of
from manymaps.viewer.options import PageOptions
from manymaps.viewer.senses import (
    PageSenses,
    balanced_words,
    index_type,
    page_senses,
    well_spread,
)

MAGIC, VERSION = b"manymaps", 2
# Names of the methods, shown in the line below the title of a page.
METHOD_WORDS = {
    "mm-tsne": "multiple maps t\N{NON-BREAKING HYPHEN}SNE",
    "mm-sne": "multiple maps SNE",
    "tsne": "t\N{NON-BREAKING HYPHEN}SNE",
    "sne": "SNE",
    "symmetric-sne": "symmetric SNE",
    "uni-sne": "UNI\N{NON-BREAKING HYPHEN}SNE",
    "code": "co-occurrence embedding",
    "semidefinite-code": "co-occurrence embedding",
    "mds": "multidimensional scaling",
}
# A code of 16 bits is half the size of a float, and finer than the resolution of a screen.
TOP = 65535
# The maximum step is in kernel widths. Coarser steps would visibly change similarities.
COARSEST = 0.01
# The maximum number of title words that fit in a line above a map.
TITLE_WORDS = 5
# A page has no arrows to points outside the view. If there are few objects, the initial view
# therefore contains all of them.
FEW_OBJECTS, OUT_OF_VIEW = 100, 0.02
SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class _Entries:
    """The entries of all maps: offsets (n_maps + 1,), and arrays with one value per entry."""

    offsets: np.ndarray
    objects: np.ndarray
    log_charges: np.ndarray
    weights: np.ndarray
    coordinates: np.ndarray

    def of(self, map: int) -> slice:
        """Return the range of the entries of a map."""
        return slice(int(self.offsets[map]), int(self.offsets[map + 1]))


def page_title(atlas: Atlas) -> str:
    """Return the default title of an atlas.

    >>> from manymaps.model import T_SNE
    >>> page_title(Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE))
    '2 objects in 1 map'
    """
    return f"{in_words(numbers_of_kinds(atlas))} in {plural('map', atlas.n_maps)}"


def well_formed(text: str) -> str:
    """Replace unpaired surrogates, which UTF-8 cannot represent.

    >>> well_formed("a\\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def pack_page(atlas: Atlas, options: PageOptions) -> bytes:
    """Pack an atlas for the viewer; the same atlas always gives the same bytes.

    Raises
    ------
    ParameterError
        If a column does not exist or is unsuitable, if features are invalid, or if the atlas is
        bipartite and has features. If a value is out of range, or every object would be hidden.
    UnknownLabelError
        If the atlas does not contain a member of a feature. The message suggests similar labels.
    """
    check_number("min_weight", options.min_weight, least=0, most=1)
    kept = _kept(atlas, options)
    number = np.full(atlas.n_objects, -1)
    number[kept] = np.arange(len(kept))
    columns, blocks = column_blocks(atlas, kept, options.size)
    check_shown(columns, options.color, options.size)
    listed, members = feature_blocks(atlas, options.features, number)
    entries = _entries(atlas, number >= 0)
    scales, blocks["positions"] = _positions(entries, atlas.model.kernel_width)
    maps, of_maps = _maps(atlas, entries, options)
    blocks |= members | of_maps
    has_entry = np.zeros((atlas.n_maps, atlas.n_objects), bool)
    has_entry[np.repeat(np.arange(atlas.n_maps), np.diff(entries.offsets)), entries.objects] = True
    senses = page_senses(atlas, number, has_entry)
    if senses is not None:
        blocks |= senses.blocks(number, atlas.n_maps)
    low, step, charges = _in_steps(entries.log_charges)
    blocks |= {
        "offsets": entries.offsets.astype("<u4"),
        "objects": number[entries.objects].astype(index_type(len(kept))),
        "charges": charges,
        "weights": entries.weights.astype("<u2"),
    }
    header = {
        **_told(atlas, options),
        **_described(atlas, kept),
        "labels": [atlas.labels[int(i)] for i in kept],
        "numbered": _numbered(atlas),
        "minWeight": float(options.min_weight),
        "color": _color(atlas, options),
        "size": options.size,
        "charges": {"low": float(low), "step": float(step)},
        "maps": [{**map_, **scale} for map_, scale in zip(maps, scales, strict=True)],
        "mapOrder": content_order(atlas),
        "columns": columns,
        "examples": _examples(atlas, options, senses, number),
        "observed": senses is not None,
        "features": listed,
    }
    return _container(header, blocks)


def _numbered(atlas: Atlas) -> list[bool]:
    """Return whether the labels of each kind only number its objects."""
    kinds = [""] * atlas.n_objects if atlas.kinds is None else atlas.kinds
    return list(dict(zip(kinds, unnamed(atlas).tolist(), strict=True)).values())


def _color(atlas: Atlas, options: PageOptions) -> str | None:
    """Return the column that colours the dots: by default, the categories that name regions."""
    color = options.color or default_column(atlas)
    categories = categories_of(atlas, color)
    return color if categories is None else categories[0]


def _kept(atlas: Atlas, options: PageOptions) -> np.ndarray:
    """Return the indices of the objects that the page shows, without those to be hidden."""
    hidden = {fold(label) for label in options.hidden}
    # Folding the labels of a million objects takes 15 s.
    kept = np.arange(atlas.n_objects)
    if hidden:
        kept = np.flatnonzero([fold(label) not in hidden for label in atlas.labels])
    if not len(kept):
        raise ParameterError("hides every object of the atlas", name="hide", value="...")
    if atlas.kinds is not None and len(set(atlas.choices.is_row[kept].tolist())) < 2:
        raise ParameterError("hides every object of one kind", name="hide", value="...")
    return kept


def _told(atlas: Atlas, options: PageOptions) -> dict[str, Any]:
    """Return the texts of the page."""
    has_associations = atlas.associations is not None and atlas.kinds is None
    nouns = options.nouns(atlas.noun)
    sentence = _sentence(atlas, *nouns, has_associations=has_associations)
    return {
        "title": page_title(atlas) if options.title is None else str(options.title),
        "description": sentence if options.description is None else str(options.description),
        "source": str(options.source),
        "credit": str(options.credit),
        "date": str(options.date),
        "noun": list(nouns),
    }


def _sentence(atlas: Atlas, noun: str, nouns: str, *, has_associations: bool) -> str:
    """Return the default description of a page."""
    if atlas.kinds is not None:
        kinds = in_words([plural(kind) for kind in dict.fromkeys(atlas.kinds)])
        return f"{kinds[:1].upper()}{kinds[1:]} that occur together lie close together."
    start = nouns[:1].upper() + nouns[1:]
    article = "An" if noun[:1].lower() in "aeiou" else "A"
    if not has_associations:
        several = f" {article} {noun} can appear on several maps." if atlas.n_maps > 1 else ""
        return f"{start} that are similar lie close together.{several}"
    several = f" {article} {noun} with several senses appears on several maps, once for each."
    near = f"{start} that bring each other to mind lie close together."
    return near + (several if atlas.n_maps > 1 else "")


def _examples(
    atlas: Atlas, options: PageOptions, senses: PageSenses | None, number: np.ndarray
) -> list[int]:
    """Return the indices of the examples in the page."""
    if options.examples is not None:
        chosen = numbers_of(atlas, options.examples)
    elif senses is not None:
        chosen = balanced_words(atlas, senses)
    else:
        chosen = well_spread(atlas, number)
    return [int(number[i]) for i in dict.fromkeys(chosen) if number[i] >= 0]


def _described(atlas: Atlas, kept: np.ndarray) -> dict[str, Any]:
    """Return the method, the sizes and the model for the header."""
    model = atlas.model.as_dict()
    kinds = Counter(atlas.kinds[int(i)] for i in kept) if atlas.kinds is not None else Counter()
    return {
        "method": METHOD_WORDS.get(atlas.method, atlas.method.replace("-", " ")),
        "nObjects": len(kept),
        "nMaps": atlas.n_maps,
        "nComponents": atlas.n_components,
        "model": {"kernel": model["kernel"], "kernelWidth": model["kernel_width"]},
        "kinds": None if atlas.kinds is None else list(kinds),
        "kindCounts": list(kinds.values()),
        "nRows": 0 if atlas.kinds is None else int(atlas.choices.is_row[kept].sum()),
    }


def _entries(atlas: Atlas, is_kept: np.ndarray) -> _Entries:
    whole = np.rint(np.clip(atlas.proportions, 0, 1).astype(np.float64) * TOP).astype(np.int64)
    nowhere = np.flatnonzero(~whole.any(axis=0) & (atlas.proportions > 0).any(axis=0))
    whole[atlas.proportions[:, nowhere].argmax(axis=0), nowhere] = 1
    lives = (whole > 0) & is_kept
    offsets = np.concatenate([[0], np.cumsum(lives.sum(axis=1))])
    # In a single map, every object has its full weight.
    weights = whole
    if atlas.n_maps > 1:
        weights = np.clip(np.rint(atlas.map_weights * TOP), 1, TOP).astype(np.int64)
    objects = np.nonzero(lives)[1]
    log_charges = np.log(atlas.proportions[lives].astype(np.float64))
    if atlas.kinds is None and atlas.factors is not None:
        log_charges += np.log(atlas.factors[objects].astype(np.float64))
    return _Entries(
        offsets,
        objects,
        log_charges,
        weights[lives],
        atlas.maps[lives].astype(np.float64),
    )


def _in_steps(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the least value and the step of each column, and the values as codes of 16 bits."""
    if not len(values):
        zeros = np.zeros(values.shape[1:])
        return zeros, zeros, values.astype("<u2")
    low, step = values.min(axis=0), np.ptp(values, axis=0) / TOP
    return low, step, np.rint((values - low) / np.where(step > 0, step, 1)).astype("<u2")


def _positions(
    entries: _Entries, kernel_width: float
) -> tuple[list[dict[str, list[float]]], np.ndarray]:
    """Return the coordinate scale of each map, and the coordinates, one component at a time."""
    n_maps, n_components = len(entries.offsets) - 1, entries.coordinates.shape[1]
    low, step = np.zeros((n_maps, n_components)), np.zeros((n_maps, n_components))
    packed = np.zeros(entries.coordinates.shape, "<u2")
    for m in range(n_maps):
        here = entries.of(m)
        low[m], step[m], packed[here] = _in_steps(entries.coordinates[here])
    if (step > COARSEST * kernel_width).any():
        low, step = np.zeros_like(low), np.ones_like(step)
        packed = entries.coordinates.astype("<f4")
    scales = [{"low": low[m].tolist(), "step": step[m].tolist()} for m in range(n_maps)]
    return scales, packed.T.ravel()


def _maps(
    atlas: Atlas,
    entries: _Entries,
    options: PageOptions,
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Describe each map for the header; also return blocks of order, axes, middles and regions."""
    n_maps, n_components = atlas.n_maps, atlas.n_components
    priority, words = _importance(atlas)
    color = options.color or default_column(atlas)
    given, vectors = options.titles_of(n_maps), options.vectors_of(n_maps)
    column = color if color is None or categories_of(atlas, color) is not None else None
    described: list[dict[str, Any]] = []
    order = np.zeros(len(entries.objects), np.int64)
    axes, middles = np.zeros((n_maps, n_components, 2)), np.zeros((n_maps, n_components))
    in_regions: list[np.ndarray] = [np.zeros(0, np.int64)]
    for m in range(n_maps):
        here = entries.of(m)
        objects, weights = entries.objects[here], entries.weights[here] / TOP
        keys = (np.arange(len(objects)), -weights, -priority[m, objects])
        order[here] = np.lexsort(keys)
        points, share = entries.coordinates[here], 1.0
        if n_components != 2:
            points, share, axes[m], middles[m] = _plane(points, weights)
        shown = _shown(weights, options.min_weight)
        budget = OUT_OF_VIEW if len(shown) > FEW_OBJECTS else 0.0
        box = view(points[shown], weights[shown], budget=budget)
        regions = map_regions(
            atlas, m, objects[shown], points[shown], weights[shown],
            column=column, words=words,
        )  # fmt: skip
        title = [name for name, _ in region_titles(regions)]
        if m in given:
            title = [given[m]]
        elif not title or regions[0].name:
            title = title_words(
                atlas, m, objects[shown], n_words=TITLE_WORDS, words=words, column=color
            )
        divided = {region.island for region in regions}
        listed = [_region(each, k not in divided) for k, each in enumerate(regions)]
        whole = [each for each, told in zip(regions, listed, strict=True) if told["size"]]
        in_regions += [shown[region.members] for region in whole]
        described.append(
            {
                "title": title,
                "view": [*box.low.tolist(), *box.high.tolist()],
                "share": share,
                "regions": listed,
                "vectors": _vectors(vectors.get(m), box),
            }
        )
    largest = int(np.diff(entries.offsets).max())
    blocks = {"order": order, "region/members": np.concatenate(in_regions)}
    blocks = {name: block.astype(index_type(largest)) for name, block in blocks.items()}
    if n_components > 2:
        blocks |= {"axes": axes.ravel().astype("<f4"), "middles": middles.ravel().astype("<f4")}
    return described, blocks


def _vectors(found: FittedVectors | None, box: View) -> list[dict[str, Any]]:
    """List the arrows of a map, the strongest first, and the centroids of factors."""
    if found is None:
        return []
    # Arrows extend from the origin, or from the middle of a view without the origin.
    start, tips = found.ends(box.low, box.high)
    arrows = found.arrows.assign(x=tips[:, 0], y=tips[:, 1]).dropna()
    levels = found.centroids
    levels = levels.assign(name=levels["variable"] + ": " + levels["level"])
    marks = []
    for table, column, source in (
        (arrows.sort_values("r2", ascending=False, kind="stable"), "variable", start.tolist()),
        (levels, "name", None),
    ):
        for name, x, y in table[[column, "x", "y"]].itertuples(index=False):
            marks.append({"name": name, "x": x, "y": y, "from": source})
    return marks


def _shown(weights: np.ndarray, min_weight: float) -> np.ndarray:
    """Return the entries of a map that are shown initially, or all if no entry would be shown."""
    shown = np.flatnonzero(weights >= min_weight)
    return shown if len(shown) else np.arange(len(weights))


def _region(region: Region, is_whole: bool) -> dict[str, Any]:
    """Describe a region; the members of an island with parts are those of its parts."""
    x, y = region.place.tolist()
    return {
        "name": region.name,
        "words": list(region.words),
        "x": x,
        "y": y,
        "size": len(region.members) if is_whole else 0,
        "hue": region.hue,
        "island": region.island,
    }


def _importance(atlas: Atlas) -> tuple[np.ndarray, np.ndarray | None]:
    """Return label priorities, (n_maps, n_objects), and the objects that may name maps, (n,)."""
    if atlas.kinds is None:
        return standing(atlas), None
    roles = label_roles(atlas)
    return roles.priority + roles.has_label, roles.is_text


def _plane(
    points: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Compute the drawn points of a map, their share of the variance, the axes and the middle."""
    n_components = points.shape[1]
    if len(points) == 0:
        return np.zeros((0, 2)), 1.0, np.zeros((n_components, 2)), np.zeros(n_components)
    middle = np.average(points, axis=0, weights=weights)
    # Points without weight do not affect the plane, so the images of the unit vectors are its axes.
    probes = np.vstack([points, middle, middle + np.eye(n_components)])
    weights = np.concatenate([weights, np.zeros(n_components + 1)])
    drawn, share = principal_plane(probes, weights)
    k = len(points)
    return drawn[:k], share, drawn[k + 1 :] - drawn[k], middle


def _container(header: dict[str, Any], blocks: dict[str, np.ndarray]) -> bytes:
    """Join the header and the blocks into bytes, compressed without a timestamp."""
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
