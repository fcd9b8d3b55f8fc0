"""Roles of rows and columns in a bipartite map, which are dots or words, and label priorities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.atlas.captions import unnamed
from manymaps.atlas.data import AtlasData
from manymaps.labels import plural

# Up to this number, dots can have labels that do not hide the words.
FEW_DOTS = 60
# Small tables are drawn as in correspondence analysis, with every column as a cross with a label.
SMALL_TABLE = 300
# This fraction of the mean square is added to squared distances, so that the frequent of several
# words in one position precedes the others.
SPREAD = 0.01


@dataclass(frozen=True)
class Roles:
    """The way in which rows and columns are drawn.

    Attributes
    ----------
    dots, texts : str
        The kind drawn as dots, and the kind drawn as words.
    is_text : ndarray of shape (n_objects,), bool
        Whether each object is drawn as a word.
    has_label : ndarray of shape (n_objects,), bool
        Whether each object may have a label. A word without a label is a small dot. Objects whose
        labels only number them have none by default.
    weights : ndarray of shape (n_maps, n_objects)
        The weight w relative to the largest weight of the same kind in the map, from 0 to 1.
    priority : ndarray of shape (n_maps, n_objects), in [0, 1]
        Relative rank among the objects of the same kind by sqrt(w) d^2, where d is the distance
        from the middle of the dots. It is 1 for the largest value. Words that occur everywhere are
        in the middle of a map, so they do not precede words that are typical of a part of it.
    crosses : bool
        Whether words are drawn as a cross with a label next to it.
    """

    dots: str
    texts: str
    is_text: np.ndarray
    has_label: np.ndarray
    weights: np.ndarray
    priority: np.ndarray
    crosses: bool

    def legend(self, atlas: AtlasData) -> list[str]:
        """Describe the number of objects of each kind after its mark, if both kinds have marks."""
        marks = {self.dots: "● ", self.texts: "+ "} if self.crosses else {}
        numbers = zip(dict.fromkeys(atlas.kinds or ()), numbers_of_kinds(atlas), strict=True)
        return [marks.get(kind, "") + number for kind, number in numbers]


def label_roles(atlas: AtlasData) -> Roles:
    """Draw the rows of a bipartite atlas as dots and its columns as words.

    The columns have labels, and the rows if there are at most 60, unless their labels only number
    them.
    """
    dots, texts = dict.fromkeys(atlas.kinds or ())
    members = {kind: atlas.of_kind(kind) for kind in (dots, texts)}
    has_label = members[texts] | bool(members[dots].sum() <= FEW_DOTS)
    has_label &= ~unnamed(atlas)
    factors = np.ones(atlas.n_objects) if atlas.factors is None else atlas.factors
    weights = factors * atlas.proportions.astype(np.float64) ** 2
    middles = [
        np.average(at, axis=0, weights=weight + 1e-300)
        for at, weight in zip(atlas.maps[:, members[dots]], weights[:, members[dots]], strict=True)
    ]
    apart = ((atlas.maps - np.array(middles)[:, None]) ** 2).sum(axis=2)
    apart += SPREAD * apart[:, members[dots]].mean(axis=1, keepdims=True)
    priority = np.zeros(weights.shape)
    for mask in members.values():
        prominence = np.sqrt(weights[:, mask]) * apart[:, mask]
        largest = weights[:, mask].max(axis=1, keepdims=True)
        weights[:, mask] /= np.where(largest > 0, largest, 1)
        order = np.argsort(-prominence, axis=1, kind="stable")
        ranks = np.argsort(order, axis=1, kind="stable")
        priority[:, mask] = 1 - ranks / mask.sum()
    crosses = atlas.n_objects <= SMALL_TABLE
    return Roles(dots, texts, members[texts], has_label, weights, priority, crosses)


def numbers_of_kinds(atlas: AtlasData) -> list[str]:
    """Describe the number of objects of each kind in words."""
    if atlas.kinds is None:
        return [plural(atlas.noun, atlas.n_objects)]
    return [plural(kind, int(atlas.of_kind(kind).sum())) for kind in dict.fromkeys(atlas.kinds)]
