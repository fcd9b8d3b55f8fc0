"""What a map is about: a few words from which a reader can guess what else is in it.

    F_m(C)  =  sum_i b_i (pi_i^m)^2  max_{j in C}  t_j^m K(|y_i^m - y_j^m|^2)
    t_j^m   =  (pi_j^m)^2 / sum_m' (pi_j^m')^2

A caption C is good where what is at home in the map (of weight (pi_i^m)^2, its similarity to itself
there) has a word of the caption near it, and where these words are typical: t_j^m is 1 for a word
that lives in this map alone and small for one that also lives in others. A second word of an island
that has one adds little, so a caption speaks of several groups. F is the cover of the facility
location problem (Cornuejols, Fisher & Nemhauser 1977): monotone and submodular, so that taking the
word that adds most, one after the other, comes within a factor 1 - 1/e of the best caption
(Nemhauser, Wolsey & Fisher 1978). With two kinds of object i runs over those that stand as dots, j
over those that stand as words, and b are the fixed factors; else b = 1.

Labels that only count the objects ("0", "1", ...) say nothing, where the objects are too many to be
such numbers themselves. There a column of categories names a map, if there is one: with w_c^m the
weight of a category's objects, those that have more of map m than of all maps together, most first
by

    (w_c^m)^2 / sum_m' w_c^m',      w_c^m = sum_{i in c} (pi_i^m)^2

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from manymaps.atlas.data import AtlasData
from manymaps.checks import check_index, check_number, check_whole
from manymaps.labels import barcodes, numbered_alike, only_count
from manymaps.model.similarities import kernel_values

__all__ = [
    "caption", "captions_of", "categories_of", "category_names", "dominant", "labels_say_nothing",
    "title_words",
]  # fmt: skip

#: So few objects may be the numbers that they are labelled with.
FEW_NUMBERS = 40
# A column of more different texts names objects, not groups.
MOST_CATEGORIES = 50
#: A category names a map if it has such a part of it.
LEAST_OF_MAP = 0.1
MOST_MEMBERS = 2000
# Greedy selection takes time with members times candidates, and light candidates cover little.
MOST_CANDIDATES = 500


def captions_of(
    atlas: AtlasData, n_words: int, min_proportion: float, maps: Iterable[int] | None
) -> list[tuple[str, ...]]:
    """Words that are typical of each map; see `manymaps.Atlas.captions`."""
    check_whole("n_words", n_words)
    check_number("min_proportion", min_proportion, least=0, most=1)
    words = None if atlas.kinds is None else ~atlas.choices.is_row
    chosen = list(range(atlas.n_maps) if maps is None else maps)
    for m in chosen:
        check_index("map", m, atlas.n_maps)
    residents = [dominant(atlas.proportions[m], min_proportion) for m in chosen]
    return [
        tuple(title_words(atlas, m, shown, n_words=n_words, words=words))
        for m, shown in zip(chosen, residents, strict=True)
    ]


def caption(
    atlas: AtlasData,
    map: int,
    shown: np.ndarray,
    *,
    n_words: int = 4,
    words: np.ndarray | None = None,
) -> list[int]:
    """The objects that name a map, or a part of it.

    Parameters
    ----------
    atlas : Atlas
    map : int
    shown : ndarray of int
        The objects that the caption is to stand for, and from which it is taken. Of more than 2,000
        as many count, drawn by lot; the candidates are 500, those of the largest proportions.
    n_words : int
        At most so many.
    words : ndarray of shape (n_objects,), bool, optional
        Of two kinds of object those that name; the others are what they are to cover.

    Returns
    -------
    list of int
        What covers most first. Fewer than `n_words` where a further word would add nothing.
    """
    shown = np.sort(shown)
    members = named = shown
    if words is not None:
        named, others = shown[words[shown]], shown[~words[shown]]
        members = others if len(others) else named
    members = _some(members, MOST_MEMBERS)
    factors = np.ones(atlas.n_objects) if atlas.factors is None else atlas.factors
    squares = atlas.proportions[:, named].astype(np.float64) ** 2
    heaviest = _heaviest(factors[named] * squares[map])
    named, squares = named[heaviest], squares[:, heaviest]
    everywhere = squares.sum(axis=0)
    typical = np.divide(squares[map], everywhere, out=np.zeros(len(named)), where=everywhere > 0)
    weights = factors[members] * atlas.proportions[map, members].astype(np.float64) ** 2
    points = atlas.maps[map].astype(np.float64) / atlas.model.kernel_width
    distances = np.zeros((len(members), len(named)))
    for axis in points.T:
        distances += (axis[members, None] - axis[named]) ** 2
    near = kernel_values(distances, atlas.model.kernel) * typical
    covered, chosen = np.zeros(len(members)), list[int]()
    while len(chosen) < min(n_words, len(named)):
        gains = np.einsum("i,ij->j", weights, np.maximum(near - covered[:, None], 0))
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        chosen.append(int(named[best]))
        covered = np.maximum(covered, near[:, best])
    return chosen


def title_words(
    atlas: AtlasData,
    map: int,
    shown: np.ndarray,
    *,
    n_words: int = 4,
    words: np.ndarray | None = None,
    column: str | None = None,
) -> list[str]:
    """What names a map: labels, or where these only count, the categories that stand out there.

    Parameters
    ----------
    atlas, map, shown, n_words, words
        As for `caption`.
    column : str, optional
        The column of metadata whose categories name a map whose labels do not; by default the first
        that has some.

    Returns
    -------
    list of str
        Empty where neither labels nor categories say anything. The first of categories that are
        numbers has the name of their column before it.
    """
    if not labels_say_nothing(atlas):
        chosen = caption(atlas, map, shown, n_words=n_words, words=words)
        return [atlas.labels[j] for j in chosen]
    found = categories_of(atlas, column)
    if found is None:
        return []
    name, categories = found
    standing_out = _standing_out(atlas, map, shown, categories)[:n_words]
    return [*category_names(name, standing_out)[:1], *standing_out[1:]]


def categories_of(atlas: AtlasData, column: str | None) -> tuple[str, np.ndarray] | None:
    """A column that sorts the objects, with the text of each object, "" where it has none.

    Without a name the first column of categories, where the labels say nothing. None where there is
    no such column: categories are few, and on average four objects or more have one.
    """
    if column is None and not labels_say_nothing(atlas):
        return None
    columns = atlas.columns
    names = columns if column is None else [name for name in columns if name == column]
    found = ((name, _categories(np.asarray(columns[name]))) for name in names)
    return next(((name, texts) for name, texts in found if texts is not None), None)


def category_names(column: str, categories: Sequence[str]) -> list[str]:
    """What categories are called by themselves: numbers with the name of their column.

    >>> category_names("digit", ["4", "9"]), category_names("group", ["space", "autos"])
    (['digit 4', 'digit 9'], ['space', 'autos'])
    """
    if all(category.lstrip("-").isdigit() for category in categories):
        return [f"{column} {category}" for category in categories]
    return list(categories)


def labels_say_nothing(atlas: AtlasData) -> bool:
    """Whether the labels only count the objects, as those of data without names.

    "img 434", or the barcode of a cell, says as little where a column of categories says more.
    """
    if atlas.n_objects <= FEW_NUMBERS:
        return False
    columns = (_categories(np.asarray(values)) for values in atlas.columns.values())
    return only_count(atlas.labels) or (
        any(texts is not None for texts in columns)
        and (numbered_alike(atlas.labels) or barcodes(atlas.labels))
    )


def _categories(values: np.ndarray) -> np.ndarray | None:
    """Texts of the categories of a column, "" where one is missing; None where there are none."""
    if values.dtype.kind not in "iuUO":
        return None
    texts = np.array(["" if v is None or v != v else str(v) for v in values.tolist()])
    distinct = len(set(texts.tolist()) - {""})
    return texts if 2 <= distinct <= min(MOST_CATEGORIES, len(texts) / 4) else None


def _standing_out(
    atlas: AtlasData, map: int, shown: np.ndarray, categories: np.ndarray
) -> list[str]:
    squares = atlas.proportions.astype(np.float64) ** 2
    names, groups = np.unique(categories, return_inverse=True)
    here = np.bincount(groups[shown], squares[map, shown], len(names))
    everywhere = np.bincount(groups, squares.sum(axis=0), len(names))
    part, usual = here / max(here.sum(), 1e-300), everywhere / max(everywhere.sum(), 1e-300)
    stands = (part >= LEAST_OF_MAP) & (part > usual) & (names != "")
    weight = np.where(stands, here**2 / np.maximum(everywhere, 1e-300), 0)
    order = np.argsort(-weight, kind="stable")
    return [str(names[c]) for c in order if stands[c]]


def dominant(proportions: np.ndarray, least: float) -> np.ndarray:
    """Which objects stand for a map, (k,): those of `least` or more, or all of it if none is.

    >>> dominant(np.array([0.2, 0.05, 0.0]), 0.1), dominant(np.array([0.02, 0.05, 0.0]), 0.1)
    (array([0]), array([0, 1]))
    """
    reached = np.flatnonzero(proportions >= least)
    return reached if len(reached) else np.flatnonzero(proportions > 0)


def _heaviest(weights: np.ndarray) -> np.ndarray:
    """Numbers of at most `MOST_CANDIDATES` of the largest weights; of equal ones some by lot."""
    if len(weights) <= MOST_CANDIDATES:
        return np.arange(len(weights))
    least = np.partition(weights, -MOST_CANDIDATES)[-MOST_CANDIDATES]
    above, equal = np.flatnonzero(weights > least), np.flatnonzero(weights == least)
    return np.sort(np.concatenate([above, _some(equal, MOST_CANDIDATES - len(above))]))


def _some(numbers: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the numbers, by a lot that always falls alike.

    Every k-th would miss whole groups where these take turns, as the digits of scikit-learn do.
    """
    if len(numbers) <= most:
        return numbers
    return np.sort(np.random.default_rng(0).choice(numbers, most, replace=False))
