"""Captions of maps, which are a few words that represent the objects of a map.

    F_m(C)  =  sum_i b_i (pi_i^m)^2  max_{j in C}  t_j^m K(|y_i^m - y_j^m|^2)
    t_j^m   =  (pi_j^m)^2 / sum_m' (pi_j^m')^2

In a good caption C, the words are typical of the map and near its objects. The objects are weighted
by (pi_i^m)^2, their similarity to themselves in the map. The value t_j^m is 1 for a word that has
weight only in this map, and small for a word that also has weight in other maps. A second word from
the same cluster adds little, so a caption covers several groups. F is the cover of the facility
location problem (Cornuejols, Fisher & Nemhauser 1977). It is monotone and submodular. Greedy
selection of the word that adds most therefore reaches at least a fraction 1 - 1/e of the best value
(Nemhauser, Wolsey & Fisher 1978). In a bipartite atlas, i runs over the objects drawn as dots, j
runs over the objects drawn as words, and b_i are the fixed factors. Otherwise, b_i = 1.

Labels that only number the objects ("0", "1", ...) are uninformative if there are many objects. In
that case, categories of a metadata column name the map, if there is such a column. Let w_c^m be the
weight of the objects in category c. The map is named by the categories with a larger share of map m
than of all maps together, sorted by

    (w_c^m)^2 / sum_m' w_c^m',      w_c^m = sum_{i in c} (pi_i^m)^2

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manymaps.atlas.data import AtlasData
from manymaps.checks import check_whole
from manymaps.data.frames import is_missing
from manymaps.labels import barcodes, count_up, numbered_alike, only_count
from manymaps.model.similarities import log_kernel

#: If there are at most this many objects, labels that are numbers may be meaningful.
FEW_NUMBERS = 40
# A column with more distinct texts names objects, not groups.
MOST_CATEGORIES = 50
# Minimum proportion at which an object belongs to a map, as in figures.
AT_HOME = 0.1
#: Minimum share of a map's weight that a category needs to name the map.
LEAST_OF_MAP = 0.1
# Integers with more distinct values are counts or measurements.
MOST_CODES = 20
MOST_MEMBERS = 2000
# The time of greedy selection is proportional to members times candidates, and candidates with a
# small weight cover little.
MOST_CANDIDATES = 500


def captions_of(atlas: AtlasData, n_words: int) -> list[tuple[str, ...]]:
    """Choose words that are typical of each map, as `manymaps.Atlas.captions` describes."""
    check_whole("n_words", n_words)
    words = None if atlas.kinds is None else ~atlas.choices.is_row
    residents = [dominant(proportions, AT_HOME) for proportions in atlas.proportions]
    return [
        tuple(title_words(atlas, m, shown, n_words=n_words, words=words))
        for m, shown in enumerate(residents)
    ]


def caption(
    atlas: AtlasData,
    map: int,
    shown: np.ndarray,
    *,
    n_words: int = 4,
    words: np.ndarray | None = None,
) -> list[int]:
    """Choose the objects that name a map or a part of a map.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    map : int
        The number of the map.
    shown : ndarray of int
        Indices of the objects that the caption represents and from which its words are chosen. If
        there are more than 2,000 objects, the caption represents a random sample of 2,000. The
        candidate words are the 500 objects with the largest proportions.
    n_words : int
        Maximum number of words.
    words : ndarray of shape (n_objects,), bool, optional
        In a bipartite atlas, a mask of the objects that may name the map. The caption represents
        the other objects.

    Returns
    -------
    list of int
        Indices of the words, in the order in which they were selected. The list is shorter than
        `n_words` if a further word would add nothing.
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
    near = np.exp(log_kernel(distances, atlas.model.kernel)) * typical
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
    """Choose labels that name a map, or categories if the labels only number the objects.

    Parameters
    ----------
    atlas, map, shown, n_words, words
        Same as in `caption`.
    column : str, optional
        The metadata column whose categories name a map if the labels are uninformative. By default,
        the first column with categories is used.

    Returns
    -------
    list of str
        The words. The list is empty if neither labels nor categories are informative. If the
        categories are numbers, the name of their column precedes the first one.
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
    """Return the name of a column of categories, and the text of each object ("" if missing).

    If `column` is None and the labels are uninformative, the first column of categories is used.
    The result is None if there is no such column. A column contains categories if, on average, at
    least four objects have the same value. The kind of the objects of a bipartite atlas is not a
    category, because the kinds occur everywhere on the map.
    """
    if column is None and not labels_say_nothing(atlas):
        return None
    columns = atlas.columns if atlas.kinds is None else atlas.metadata
    names = columns if column is None else [name for name in columns if name == column]
    found = ((name, _categories(np.asarray(columns[name]))) for name in names)
    return next(((name, texts) for name, texts in found if texts is not None), None)


def default_column(atlas: AtlasData) -> str | None:
    """Return the first column of 2 to 20 categories, which colours the dots of counts."""
    if atlas.kinds is None:
        return None
    for name, values in atlas.metadata.items():
        texts = _categories(np.asarray(values))
        if texts is not None and len(set(texts.tolist()) - {""}) <= MOST_CODES:
            return name
    return None


def category_names(column: str, categories: Sequence[str]) -> list[str]:
    """Name categories so that each name is clear on its own; numbers follow the column's name.

    >>> category_names("digit", ["4", "9"]), category_names("group", ["space", "autos"])
    (['digit 4', 'digit 9'], ['space', 'autos'])
    """
    if all(category.lstrip("-").isdigit() for category in categories):
        return [f"{column} {category}" for category in categories]
    return list(categories)


def labels_say_nothing(atlas: AtlasData) -> bool:
    """Check whether the labels only number the objects, as in data without names.

    Labels such as "img 434" or the barcode of a cell are also uninformative if the metadata contain
    a column of categories.
    """
    if atlas.n_objects <= FEW_NUMBERS:
        return False
    columns = (_categories(np.asarray(values)) for values in atlas.columns.values())
    return only_count(atlas.labels) or (
        any(texts is not None for texts in columns)
        and (numbered_alike(atlas.labels) or barcodes(atlas.labels))
    )


def unnamed(atlas: AtlasData) -> np.ndarray:
    """Return a mask of the objects whose labels only number them, shape (n_objects,).

    In a bipartite atlas, each kind is checked by itself, and labels that count from 0 or 1 are
    numbers however few they are. The labels of many rows may also be generated, such as "d 434".
    """
    if atlas.kinds is None:
        return np.full(atlas.n_objects, labels_say_nothing(atlas))
    found = np.zeros(atlas.n_objects, bool)
    for kind in dict.fromkeys(atlas.kinds):
        own = np.flatnonzero(atlas.of_kind(kind))
        labels = [atlas.labels[i] for i in own.tolist()]
        are_rows = bool(atlas.choices.is_row[own[0]]) and len(own) > FEW_NUMBERS
        are_generated = are_rows and (numbered_alike(labels) or barcodes(labels))
        found[own] = count_up(labels) or are_generated
    return found


def are_codes(values: np.ndarray) -> bool:
    """Check whether numbers are codes of categories, which are few integers that recur.

    >>> are_codes(np.arange(80) % 10), are_codes(np.arange(80)), are_codes(np.arange(80) % 10 / 2)
    (True, False, False)
    """
    known = values[np.isfinite(values)]
    if len(known) == 0 or (known != np.rint(known)).any():
        return False
    return 2 <= len(np.unique(known)) <= min(MOST_CODES, len(known) / 4)


def _categories(values: np.ndarray) -> np.ndarray | None:
    """Return the category of each object as text ("" if missing), or None without categories."""
    if values.dtype.kind not in "iuUO":
        return None
    texts = np.array(["" if is_missing(v) else str(v) for v in values.tolist()])
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
    """Return the objects whose proportion is at least `least`, or otherwise all in the map.

    >>> dominant(np.array([0.2, 0.05, 0.0]), 0.1), dominant(np.array([0.02, 0.05, 0.0]), 0.1)
    (array([0]), array([0, 1]))
    """
    reached = np.flatnonzero(proportions >= least)
    return reached if len(reached) else np.flatnonzero(proportions > 0)


def _heaviest(weights: np.ndarray) -> np.ndarray:
    """Return the indices of the `MOST_CANDIDATES` largest weights, with ties broken at random."""
    if len(weights) <= MOST_CANDIDATES:
        return np.arange(len(weights))
    least = np.partition(weights, -MOST_CANDIDATES)[-MOST_CANDIDATES]
    above, equal = np.flatnonzero(weights > least), np.flatnonzero(weights == least)
    return np.sort(np.concatenate([above, _some(equal, MOST_CANDIDATES - len(above))]))


def _some(numbers: np.ndarray, most: int) -> np.ndarray:
    """Draw at most `most` of the numbers at random with a fixed seed."""
    if len(numbers) <= most:
        return numbers
    # Every k-th number would miss whole groups if the groups alternate, as in the digits data of
    # scikit-learn.
    return np.sort(np.random.default_rng(0).choice(numbers, most, replace=False))
