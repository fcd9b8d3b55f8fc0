"""Packing of the meanings and associates of each object, and the choice of examples, for a page.

The page does not compute which objects are close to one another (`manymaps.atlas.closeness`). The
blocks contain the members of each meaning that are close to the object on the map of the meaning.
They also contain the maps on which each associate is close.

Shapes: n is the number of objects in the atlas, and `number` (n,) contains the index of each object
in the page, or -1 for a hidden object.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.atlas.atlas import LEAST_SHARE, Atlas
from manymaps.atlas.closeness import are_close
from manymaps.atlas.senses import SenseGroups, sense_groups

#: If there are very many objects, fewer associates are stored, because they would otherwise account
#: for most of the page size.
MANY_OBJECTS, FEW_PARTNERS = 20_000, 10
# A share of 16 bits is half the size of a float, and finer than the digits that a page prints.
TOP = 65535
#: Number of words that name a meaning.
NAME_WORDS = 3
#: Number of examples below the search field, which fit into one line.
EXAMPLES = 4
# An example has at least two meanings on different maps, with at least so many close words each.
LEAST_CLOSE = 3


@dataclass(frozen=True, eq=False)
class Meanings:
    """The meanings of all objects that a page shows, and their observed associates.

    Attributes
    ----------
    groups : SenseGroups
        The meanings of all objects, including those that the page does not show.
    is_shown : ndarray of bool, shape (n_meanings,)
        Whether the page contains the meaning.
    is_close : ndarray of bool, shape (n_members,)
        Whether each member is close to the object on the map of the meaning.
    partners, shares : ndarray of shape (n_associates,)
        The associates of the objects of the page, the strongest first, and their response shares.
    rows : ndarray of int, shape (n_associates,)
        The object of each associate.
    close_maps : list of list of int, length n_associates
        The maps on which each associate is close to the object, in ascending order.
    """

    groups: SenseGroups
    is_shown: np.ndarray
    is_close: np.ndarray
    rows: np.ndarray
    partners: np.ndarray
    shares: np.ndarray
    close_maps: list[list[int]]

    def blocks(self, number: np.ndarray, n_maps: int) -> dict[str, np.ndarray]:
        """Return the blocks of the page."""
        found, n_kept = self.groups, int((number >= 0).sum())
        senses = np.repeat(np.arange(len(found.maps)), np.diff(found.ends))
        listed = self.is_close & (number[found.members] >= 0) & self.is_shown[senses]
        sizes = np.bincount(senses[listed], minlength=len(found.maps))[self.is_shown]
        names = [_name(found, s, number) for s in np.flatnonzero(self.is_shown).tolist()]
        owners = number[found.owners[self.is_shown]]
        packed = np.clip(np.rint(self.shares.astype(np.float64) * TOP), 1, TOP)
        closes = np.array([m for maps in self.close_maps for m in maps], np.int64)
        return {
            "sense/offsets": _starts(np.bincount(owners, minlength=n_kept)),
            "sense/maps": found.maps[self.is_shown].astype(index_type(n_maps)),
            "sense/shares": found.shares[self.is_shown].astype("<f4"),
            "sense/names": np.array(names, np.int64).ravel().astype(index_type(n_kept)),
            "sense/ends": _starts(sizes),
            "sense/members": number[found.members[listed]].astype(index_type(n_kept)),
            "data/offsets": _starts(np.bincount(number[self.rows], minlength=n_kept)),
            "data/partners": number[self.partners].astype(index_type(n_kept)),
            "data/shares": packed.astype("<u2"),
            "data/close_counts": np.array([len(maps) for maps in self.close_maps], "<u2"),
            "data/close_maps": closes.astype(index_type(n_maps)),
        }


def meanings_of(
    atlas: Atlas, number: np.ndarray, has_entry: np.ndarray, min_weight: float
) -> Meanings | None:
    """Find the meanings of all objects; None if no associations are known.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    number : ndarray of int, shape (n,)
        Index of each object in the page.
    has_entry : ndarray of bool, shape (n_maps, n)
        Whether the page contains an entry of the object on the map.
    min_weight : float in [0, 1]
        The associates of an object are compared with it on the maps of its meanings, and on the
        maps with at least this weight.
    """
    if atlas.kinds is not None or atlas.associations is None:
        return None
    words = np.arange(atlas.n_objects)
    found = sense_groups(atlas.choices, atlas.associations, words, atlas.meaning_space)
    senses = np.repeat(np.arange(len(found.maps)), np.diff(found.ends))
    sizes = np.bincount(senses[number[found.members] >= 0], minlength=len(found.maps))
    is_shown = has_entry[found.maps, found.owners] & (sizes > 0) & found.listed(LEAST_SHARE)
    rows, partners, shares = _associates(atlas, number)
    starts = np.searchsorted(rows, np.arange(atlas.n_objects + 1)).tolist()
    is_close = np.zeros(len(found.members), bool)
    close_maps: list[list[int]] = [[] for _ in rows]
    is_main = atlas.map_weights >= min_weight
    for i in np.flatnonzero(number >= 0).tolist():
        own = [s for s in found.of(i) if is_shown[s]]
        for m in sorted({*found.maps[own].tolist(), *np.flatnonzero(is_main[:, i]).tolist()}):
            logs = atlas.choices.log_weights_in(i, m)
            for s in own:
                if found.maps[s] == m:
                    members = found.members_of(s)
                    is_close[members] = are_close(logs, found.members[members])
            there = slice(starts[i], starts[i + 1])
            for at in np.flatnonzero(are_close(logs, partners[there])).tolist():
                close_maps[starts[i] + at].append(m)
    return Meanings(found, is_shown, is_close, rows, partners, shares, close_maps)


def balanced_words(atlas: Atlas, meanings: Meanings, number: np.ndarray) -> list[int]:
    """Choose examples among well-known words with balanced meanings on several maps.

    Words are ranked by sqrt(e) (k - 1) s. Here e is the number of words that evoke the word, and k
    is the effective number of meanings that are shown, with a total share of s. No example is an
    associate of an example that ranks higher.
    """
    found, table = meanings.groups, atlas.associations
    assert table is not None
    evoked = np.bincount(table.indices, minlength=atlas.n_objects)
    scores: dict[int, float] = {}
    for i in np.flatnonzero(number >= 0).tolist():
        shown = [
            s for s in found.of(i)
            if meanings.is_shown[s] and meanings.is_close[found.members_of(s)].sum() >= LEAST_CLOSE
        ]  # fmt: skip
        if len({int(found.maps[s]) for s in shown}) < 2:
            continue
        shares = found.shares[shown]
        parts = shares / shares.sum()
        spread = float(np.exp(-(parts * np.log(parts)).sum())) - 1
        # Without the root, the most frequent words would rank first even if one meaning dominates.
        scores[i] = float(np.sqrt(evoked[i]) * spread * shares.sum())
    chosen: list[int] = []
    for i in sorted(scores, key=lambda i: (-scores[i], i)):
        near = set(table.indices[table.indptr[i] : table.indptr[i + 1]].tolist())
        if not near & set(chosen):
            chosen.append(i)
        if len(chosen) == EXAMPLES:
            break
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


def _associates(atlas: Atlas, number: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the objects, associates and shares of the associations among objects of the page."""
    table = atlas.associations
    assert table is not None
    rows = np.repeat(np.arange(atlas.n_objects), np.diff(table.indptr))
    order = np.lexsort((table.indices, -table.data, rows))
    rows, partners, shares = rows[order], table.indices[order], table.data[order]
    known = (number[rows] >= 0) & (number[partners] >= 0) & (shares > 0)
    if len(number) > MANY_OBJECTS:
        known &= np.arange(len(rows)) - table.indptr[rows] < FEW_PARTNERS
    return rows[known], partners[known], shares[known]


def _name(found: SenseGroups, sense: int, number: np.ndarray) -> list[int]:
    """Return the page indices of the words that name a meaning; the first fills the others."""
    own = found.members_of(sense)
    members, typicality = number[found.members[own]], found.typicality[own]
    order = np.argsort(-typicality, kind="stable")
    order = order[members[order] >= 0]
    n_named = max(int((typicality[order] > 0).sum()), 1)
    name = members[order][: min(n_named, NAME_WORDS)].tolist()
    return name + name[:1] * (NAME_WORDS - len(name))


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype("<u4")
