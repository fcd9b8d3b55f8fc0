"""Packing of the senses and associates of each object, and the choice of examples, for a page.

The page does not compute which objects are close to one another (`manymaps.atlas.senses`). The
blocks contain the senses of each object, and the map on which each associate is close to it.

Shapes: n is the number of objects in the atlas, and `number` (n,) contains the index of each object
in the page, or -1 for a hidden object. The objects of the page are the words of `Associates`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.atlas.answers import NAMED
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.senses import Associates, SenseList, associates_of, senses_of

#: If there are very many objects, fewer associates are stored, because they would otherwise account
#: for most of the page size.
MANY_OBJECTS, FEW_PARTNERS = 20_000, 10
# A share of 16 bits is half the size of a float, and finer than the digits that a page prints.
TOP = 65535
#: Number of examples below the search field, which fit into one line.
EXAMPLES = 4
# An example has at least two senses with at least so many members each.
LEAST_CLOSE = 3


@dataclass(frozen=True, eq=False)
class PageSenses:
    """The senses of the objects of a page, and their observed associates.

    Attributes
    ----------
    found : Associates
        The associates, including those that the page does not show.
    senses : SenseList
        The senses, including those that the page cannot draw.
    is_close : ndarray of bool, shape (n_associates,)
        Whether the associate is close to the object on its map, and the page can draw it there.
    n_close : ndarray of int, shape (n_senses,)
        Number of close associates that the page can draw; a sense without any is not shown.
    """

    found: Associates
    senses: SenseList
    is_close: np.ndarray
    n_close: np.ndarray

    @property
    def owners(self) -> np.ndarray:
        """Position of the object of each sense in `found.words`, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.found.words)), np.diff(self.senses.offsets))

    def blocks(self, number: np.ndarray, n_maps: int) -> dict[str, np.ndarray]:
        """Return the blocks of the page."""
        found, n_kept, is_shown = self.found, len(self.found.words), self.n_close > 0
        listed = number[found.members] >= 0
        if len(number) > MANY_OBJECTS:
            rank = np.arange(len(listed)) - found.offsets[found.owners]
            listed &= (rank < FEW_PARTNERS) | self._names()
        owners = self.owners[is_shown]
        maps = np.where(self.is_close, found.maps, n_maps)[listed]
        packed = np.clip(np.rint(found.strengths[listed] * TOP), 1, TOP)
        return {
            "sense/offsets": _starts(np.bincount(owners, minlength=n_kept)),
            "sense/maps": self.senses.maps[is_shown].astype(index_type(n_maps)),
            "sense/shares": self.senses.shares[is_shown].astype("<f4"),
            "data/offsets": _starts(np.bincount(found.owners[listed], minlength=n_kept)),
            "data/partners": number[found.members[listed]].astype(index_type(n_kept)),
            "data/shares": packed.astype("<u2"),
            "data/maps": maps.astype("u1" if n_maps < 256 else "<u2"),
        }

    def _names(self) -> np.ndarray:
        """Find the associates that name a sense, (n_associates,)."""
        of = self.senses.of_associate
        members = np.flatnonzero(self.is_close & (of >= 0))
        members = members[np.argsort(of[members], kind="stable")]
        starts = np.cumsum(self.n_close) - self.n_close
        names = np.zeros(len(of), bool)
        names[members[np.arange(len(members)) - starts[of[members]] < NAMED]] = True
        return names


def page_senses(atlas: Atlas, number: np.ndarray, has_entry: np.ndarray) -> PageSenses | None:
    """Find the senses of the objects of a page; None if no associations are known.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    number : ndarray of int, shape (n,)
        Index of each object in the page.
    has_entry : ndarray of bool, shape (n_maps, n)
        Whether the page contains an entry of the object on the map.
    """
    if atlas.kinds is not None or atlas.associations is None:
        return None
    found = associates_of(atlas.choices, atlas.associations, np.flatnonzero(number >= 0))
    senses = senses_of(found, atlas.n_maps)
    is_close = found.close & (number[found.members] >= 0)
    is_close &= has_entry[found.maps, found.members]
    is_close &= has_entry[found.maps, found.words[found.owners]]
    of = senses.of_associate[is_close]
    n_close = np.bincount(of[of >= 0], minlength=len(senses.maps))
    return PageSenses(found, senses, is_close, n_close)


def balanced_words(atlas: Atlas, listed: PageSenses) -> list[int]:
    """Choose examples among well-known words with several balanced senses.

    Words are ranked by sqrt(e) (k - 1) s. Here e is the number of words that evoke the word, and k
    is the effective number of senses with enough members, with a total share of s. No example is an
    associate of an example that ranks higher.
    """
    table, words = atlas.associations, listed.found.words
    assert table is not None
    large = listed.n_close >= LEAST_CLOSE
    owners, shares = listed.owners[large], listed.senses.shares[large]
    totals = np.bincount(owners, shares, len(words))
    parts = shares / totals[owners]
    spread = np.exp(-np.bincount(owners, parts * np.log(parts), len(words))) - 1
    # Without the root, the most frequent words would rank first even if one sense dominates.
    evoked = np.bincount(table.indices, minlength=atlas.n_objects)[words]
    scores = np.sqrt(evoked) * spread * totals
    chosen: list[int] = []
    for w in np.argsort(-scores, kind="stable").tolist():
        i = int(words[w])
        near = set(table.indices[table.indptr[i] : table.indptr[i + 1]].tolist())
        if scores[w] <= 0 or len(chosen) == EXAMPLES:
            break
        if not near & set(chosen):
            chosen.append(i)
    return chosen


def well_spread(atlas: Atlas, number: np.ndarray) -> list[int]:
    """Choose as examples the objects with the largest effective number of maps."""
    if atlas.n_maps == 1:
        return []
    weights = atlas.map_weights
    logs = np.log(weights, out=np.zeros(weights.shape), where=weights > 0)
    spread = np.where(number >= 0, -(weights * logs).sum(axis=0), -1)
    return [int(i) for i in np.argsort(-spread, kind="stable")[:EXAMPLES] if spread[i] > 0]


def index_type(count: int) -> str:
    """Return the type of indices below `count`."""
    return "<u2" if count <= TOP + 1 else "<u4"


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype("<u4")
