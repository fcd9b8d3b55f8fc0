"""The senses of a word: the maps that explain its associations.

Each observed associate j of word i belongs to the map that explains most of their similarity:

    m(j) = argmax_m v_ij^m

It is close to i if this map gives it a similarity that is not much smaller than the largest one:

    v_ij^m >= NEAR max_k v_ik^m,      m = m(j)

In a model with fixed factors, v_ij^m includes b_j (`manymaps.atlas.probabilities`).

A sense of i is a map with at least one close associate and a share of at least `LEAST_SHARE`:

    share = sum over j with m(j) = m of p_ij / sum_j p_ij

The close associates of the map are the members of the sense, and the strongest of them name it. The
name, the share and a picture of the map therefore agree by construction.

Shapes: the associates of all requested words are concatenated. Those of the w-th word extend from
offsets[w] to offsets[w + 1]. The senses, and the members of the senses, are stored in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.atlas.probabilities import Choices

#: Maps with a smaller share of the associations of a word are not senses.
LEAST_SHARE = 0.05
# Chosen by eye. With a Cauchy kernel and equal proportions, a close object is at a distance of at
# most 4.4 kernel widths if another object coincides with the object.
NEAR = 0.05
# Shares are sums of float32 values, so a share of exactly 5 % can be stored as slightly less.
_ROUNDING = 1e-6
# Number of pairs per block, each with one value per map, which limits memory use.
_PAIRS = 1 << 15


@dataclass(frozen=True, eq=False)
class Associates:
    """The observed associates of some words, the strongest associates of each word first.

    Attributes
    ----------
    words : ndarray of int, shape (n_words,)
    offsets : ndarray of int, shape (n_words + 1,)
    members : ndarray of int, shape (n_associates,)
        Indices of the associates.
    strengths : ndarray of shape (n_associates,), float64
        Share of each associate in the associations of its word. The sum of each word is 1.
    maps : ndarray of int, shape (n_associates,)
        The map that explains most of the similarity; -1 if no map contains both objects.
    close : ndarray of bool, shape (n_associates,)
        Whether the associate is close to the word on this map.
    """

    words: np.ndarray
    offsets: np.ndarray
    members: np.ndarray
    strengths: np.ndarray
    maps: np.ndarray
    close: np.ndarray

    @property
    def owners(self) -> np.ndarray:
        """Position of the word of each associate in `words`, shape (n_associates,)."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class SenseList:
    """The senses of some words, the largest sense of each word first.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_words + 1,)
    maps : ndarray of int, shape (n_senses,)
    shares : ndarray of shape (n_senses,)
        Share of the map in the associations of the word. The sum of each word is at most 1.
    ends : ndarray of int, shape (n_senses + 1,)
        Offsets of the members of each sense.
    members : ndarray of int, shape (n_members,)
        Indices of the close associates, the strongest first.
    strengths : ndarray of shape (n_members,)
        Share of each member in the associations of the word.
    of_associate : ndarray of int, shape (n_associates,)
        Sense to which each associate belongs, whether it is close or not; -1 for the associates of
        a map that is not a sense.
    """

    offsets: np.ndarray
    maps: np.ndarray
    shares: np.ndarray
    ends: np.ndarray
    members: np.ndarray
    strengths: np.ndarray
    of_associate: np.ndarray

    @property
    def owners(self) -> np.ndarray:
        """Position of the word of each sense among the words, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def of(self, word: int) -> range:
        """Return the indices of the senses of a word."""
        return range(int(self.offsets[word]), int(self.offsets[word + 1]))

    def members_of(self, sense: int) -> slice:
        """Return the range of the members of a sense."""
        return slice(int(self.ends[sense]), int(self.ends[sense + 1]))


def associates_of(choices: Choices, table: sparse.csr_array, words: np.ndarray) -> Associates:
    """Find the map of each associate of some words, and whether the associate is close there.

    Parameters
    ----------
    choices : Choices
        Choice probabilities of one set of objects.
    table : sparse array of shape (n, n)
        Strengths of associations, at least 0, without zeros. Each row may have any sum.
    words : ndarray of int, shape (n_words,)
        Indices of the words. A word with an empty row has no associates.

    Returns
    -------
    Associates
    """
    words = np.asarray(words, np.int64)
    rows = table[words]
    counts = np.diff(rows.indptr)
    owners = np.repeat(np.arange(len(words)), counts)
    order = np.lexsort((rows.indices, -rows.data, owners))
    members, values = rows.indices[order].astype(np.int64), rows.data[order].astype(np.float64)
    strengths = values / np.bincount(owners, values, len(words))[owners]
    maps = np.full(len(members), -1)
    for start in range(0, len(members), _PAIRS):
        block = slice(start, start + _PAIRS)
        votes = choices.votes(words[owners[block]], members[block])
        maps[block] = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
    close = np.zeros(len(members), bool)
    for m in np.unique(maps[maps >= 0]).tolist():
        here = np.flatnonzero(maps == m)
        own, which = np.unique(owners[here], return_inverse=True)
        least = choices.log_peaks(words[own], m) + np.log(NEAR)
        close[here] = choices.log_in(words[owners[here]], members[here], m) >= least[which]
    return Associates(words, _offsets(counts), members, strengths, maps, close)


def senses_of(found: Associates, n_maps: int) -> SenseList:
    """Find the senses that the associates of some words form.

    Parameters
    ----------
    found : Associates
        The associates of the words.
    n_maps : int
        Number of maps.

    Returns
    -------
    SenseList
    """
    n_words = len(found.words)
    assigned = np.flatnonzero(found.maps >= 0)
    keys = found.owners[assigned] * n_maps + found.maps[assigned]
    shares = np.bincount(keys, found.strengths[assigned], n_words * n_maps)
    n_close = np.bincount(keys, found.close[assigned], n_words * n_maps)
    listed = np.flatnonzero((shares >= LEAST_SHARE - _ROUNDING) & (n_close > 0))
    owners, maps = np.divmod(listed, n_maps)
    order = np.lexsort((maps, -shares[listed], owners))
    rank = np.full(n_words * n_maps, -1)
    rank[listed[order]] = np.arange(len(listed))
    of_associate = np.full(len(found.members), -1)
    of_associate[assigned] = rank[keys]
    inside = np.flatnonzero(found.close & (of_associate >= 0))
    inside = inside[np.argsort(of_associate[inside], kind="stable")]
    return SenseList(
        _offsets(np.bincount(owners, minlength=n_words)),
        maps[order],
        shares[listed[order]],
        _offsets(np.bincount(of_associate[inside], minlength=len(listed))),
        found.members[inside],
        found.strengths[inside],
        of_associate,
    )


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
