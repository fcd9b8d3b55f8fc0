"""The senses of a word: groups of its associates, each with the map that explains it best.

The observed associates of word i are the nodes of a network without i. The weight of an edge
depends on the observed associations between the two nodes j and k:

    w_jk = sqrt(a_jk) (1 + c_jk) exp(s_jk)

    a_jk   sum of the strengths in both directions
    c_jk   number of other nodes with ties to both
    s_jk   number of the two nodes (0, 1 or 2) among whose own associates i and the other node are
           in the same community

The communities of the network at a resolution of `RESOLUTION` (`manymaps.compute.communities`) are
the fine senses. The square root limits the influence of a single strong tie, and c favours cohesive
groups. The factor exp(s) discounts ties that belong to another sense, such as the tie between
*match* and *light* in the network of *tie*.

The share of a sense is the share of the word's observed associations that lead to its members. The
map of a sense is the map that explains these associations best, so one map can contain two senses:

    share = sum_j p_ij / sum over all p_ij,      map = argmax_m sum_j p_ij r_ij^m

Here, r_ij^m is v_ij^m / v_ij. The members of a sense also include objects that are near i in the
model without being associates of i. Such an object joins the sense to which it has the strongest
observed ties, if it has at least two ties.

The *listed* senses of a word (`listed_senses`) are the groups with a sufficient share, and one
sense for every map with a sufficient weight. The sense of a map is its largest group. If the map
has no group, the sense has no observed share, and its members are the objects near i in the map.
The list therefore also contains associations that occur only in the maps. It is sorted by map
weight.

Shapes: the senses of all requested words are concatenated. The senses of the w-th word extend from
offsets[w] to offsets[w + 1]. The members of the senses are concatenated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from manymaps.atlas.meanings import MeaningSpace
from manymaps.atlas.probabilities import Choices
from manymaps.compute.communities import ego_weights, packed_communities
from manymaps.compute.runs import crossed_runs

#: Resolution of the communities. It was the best of 0.3, 0.5, 0.7 and 1 on the word relations.
RESOLUTION = 0.5
#: Number of nearest objects in the model that can join a sense if they are not associates.
MOST_NEAR = 20
#: Minimum number of observed ties that such an object needs to associates of the word.
LEAST_TIES = 2
# Number of words per block, which limits the memory for pairs of their neighbours.
_WORDS = 512


@dataclass(frozen=True, eq=False)
class SenseGroups:
    """The senses of some words.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_words + 1,)
    maps : ndarray of int, shape (n_senses,)
    shares : ndarray of shape (n_senses,)
        Response shares, which sum to 1 over the senses of a word.
    ends : ndarray of int, shape (n_senses + 1,)
        Offsets of the members of each sense.
    members : ndarray of int, shape (n_members,)
        Indices of the members. Associates are listed first, sorted by strength, followed by other
        objects, sorted by similarity.
    strengths : ndarray of shape (n_members,)
        Observed strengths p_ij of associates, and 0 for other objects.
    typicality : ndarray of shape (n_members,)
        Typicality of associates for their meaning (`manymaps.atlas.meanings`), or their strengths
        if the senses are fine groups. The typicality of other objects is 0.
    fine : ndarray of int, shape (n_members,)
        Fine group of each member. The numbers are distinct within a word.
    """

    offsets: np.ndarray
    maps: np.ndarray
    shares: np.ndarray
    ends: np.ndarray
    members: np.ndarray
    strengths: np.ndarray
    typicality: np.ndarray
    fine: np.ndarray

    def of(self, word: int) -> range:
        """Return the indices of the senses of a word."""
        return range(int(self.offsets[word]), int(self.offsets[word + 1]))

    @property
    def owners(self) -> np.ndarray:
        """Index of the word of each sense among the requested words, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def listed(self, min_share: float) -> np.ndarray:
        """Mark senses with at least this share, and the first sense of each word, (n_senses,)."""
        return (self.shares >= min_share) | self.is_first

    @property
    def is_first(self) -> np.ndarray:
        """Mask of the senses that are the first of their word, shape (n_senses,)."""
        return np.asarray(np.arange(len(self.shares)) == self.offsets[self.owners])

    def only(self, word: int) -> SenseGroups:
        """Return the senses of one word."""
        own = slice(*self.offsets[word : word + 2].tolist())
        ends = self.ends[own.start : own.stop + 1]
        inside = slice(*ends[[0, -1]].tolist())
        return SenseGroups(
            np.array([0, own.stop - own.start]), self.maps[own], self.shares[own], ends - ends[0],
            self.members[inside], self.strengths[inside], self.typicality[inside],
            self.fine[inside],
        )  # fmt: skip

    def members_of(self, sense: int) -> slice:
        """Return the range of the members of a sense."""
        return slice(int(self.ends[sense]), int(self.ends[sense + 1]))


def sense_groups(
    choices: Choices,
    associations: sparse.csr_array,
    words: np.ndarray,
    space: MeaningSpace | None = None,
) -> SenseGroups:
    """Group the associates of some words into senses.

    Parameters
    ----------
    choices : Choices
        Choice probabilities of one set of objects.
    associations : sparse array of shape (n, n)
        Observed associations (`Atlas.associations`), with sorted indices.
    words : ndarray of int
        Indices of the words. A word without known associations has no sense.
    space : MeaningSpace, optional
        Similarities by which the groups are merged into meanings. By default, the groups are not
        merged.

    Returns
    -------
    SenseGroups
        The senses of each word, in descending order of share.
    """
    parts = [
        _ranked(choices, associations, words[start : start + _WORDS], space)
        for start in range(0, max(len(words), 1), _WORDS)
    ]
    counts, sizes, *rest = (np.concatenate(part) for part in zip(*parts, strict=True))
    maps, shares, *of_members = rest
    return SenseGroups(_offsets(counts), maps, shares, _offsets(sizes), *of_members)


def observed_groups(
    associations: sparse.csr_array, words: np.ndarray, space: MeaningSpace | None = None
) -> np.ndarray:
    """Return the group of each response to some words, as in `sense_groups`, without using maps.

    Parameters
    ----------
    associations : sparse array of shape (n, n)
        Observed associations, with sorted indices.
    words : ndarray of int
        Indices of the words.
    space : MeaningSpace, optional
        Same as in `sense_groups`.

    Returns
    -------
    ndarray of int
        Group of each stored association in the rows of the words, in row order. Different groups of
        one word have different numbers.
    """
    blocks = [words[start : start + _WORDS] for start in range(0, len(words), _WORDS)]
    parts = [_grouped(associations, own, associations[own], space).numbers for own in blocks]
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def listed_senses(
    choices: Choices,
    associations: sparse.csr_array,
    words: np.ndarray,
    weights: np.ndarray,
    min_share: float,
    min_weight: float,
    groups: SenseGroups | None = None,
) -> SenseGroups:
    """List the senses of some words: groups, and maps with a weight but without a group.

    Parameters
    ----------
    choices, associations, words
        Same as in `sense_groups`.
    weights : ndarray of shape (n_words, n_maps)
        Map weights of each word.
    min_share : float
        Minimum share of a group. The largest group of a word is always listed.
    min_weight : float
        Minimum weight of a map. The map with the largest weight for a word is always listed.
    groups : SenseGroups, optional
        The `sense_groups` of the words, if they have already been computed.

    Returns
    -------
    SenseGroups
        The senses, sorted by map weight in descending order, and within a map by share. The share
        of a map without a group is 0.
    """
    grouped = groups or sense_groups(choices, associations, words)
    listed, rows, maps = _wanted(grouped, weights, min_share, min_weight)
    lone = [choices.nearest_in(words[i], m, MOST_NEAR) for i, m in zip(rows, maps, strict=True)]
    lone_sizes = np.array([len(members) for members in lone], np.int64)
    near = np.concatenate([*lone, np.zeros(0, np.int64)])
    inside = np.repeat(listed, np.diff(grouped.ends))
    owners = np.concatenate([grouped.owners[listed], rows])
    maps = np.concatenate([grouped.maps[listed], maps])
    shares = np.concatenate([grouped.shares[listed], np.zeros(len(rows))])
    sizes = np.concatenate([np.diff(grouped.ends)[listed], lone_sizes])
    order = np.lexsort((-shares, maps, -weights[owners, maps], owners))
    place = np.argsort(np.repeat(np.argsort(order), sizes), kind="stable")
    return SenseGroups(
        _offsets(np.bincount(owners, minlength=len(words))),
        maps[order],
        shares[order],
        _offsets(sizes[order]),
        np.concatenate([grouped.members[inside], near])[place],
        np.concatenate([grouped.strengths[inside], np.zeros(len(near))])[place],
        np.concatenate([grouped.typicality[inside], np.zeros(len(near))])[place],
        np.concatenate([grouped.fine[inside], np.zeros(len(near), np.int64)])[place],
    )


def _wanted(
    found: SenseGroups, weights: np.ndarray, min_share: float, min_weight: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Select the groups that are listed, and the listed maps without a group.

    `weights` are the map weights of each word, (n_words, n_maps). The listed maps are returned as a
    pair of arrays, which contain the indices of words and maps.
    """
    n_words, n_maps = weights.shape
    wanted = weights >= min_weight
    wanted[np.arange(n_words), weights.argmax(axis=1)] = True
    wanted &= (np.diff(found.offsets) > 0)[:, None]
    is_listed, owners = found.listed(min_share), found.owners
    wanted[owners[is_listed], found.maps[is_listed]] = False
    # The first of the smaller groups of a map is the largest of these.
    _, firsts = np.unique(owners * n_maps + found.maps, return_index=True)
    small = firsts[wanted[owners[firsts], found.maps[firsts]]]
    is_listed[small] = True
    wanted[owners[small], found.maps[small]] = False
    rows, maps = np.nonzero(wanted)
    return is_listed, rows, maps


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


class _Grouped(NamedTuple):
    """Groups of entries.

    Attributes
    ----------
    words : ndarray of int, shape (n_groups,)
        Word of each group.
    numbers, fine : ndarray of int, shape (n_entries,)
        Group and fine group of each entry.
    typicality : ndarray of shape (n_entries,)
        Typicality of each entry in its group.
    group_of_fine : ndarray of int, shape (n_fine,)
        Group into which each fine group was merged.
    """

    words: np.ndarray
    numbers: np.ndarray
    typicality: np.ndarray
    group_of_fine: np.ndarray
    fine: np.ndarray


def _grouped(
    associations: sparse.csr_array,
    words: np.ndarray,
    near: sparse.csr_array,
    space: MeaningSpace | None,
) -> _Grouped:
    owners = np.repeat(np.arange(len(words)), np.diff(near.indptr))
    labels = _communities(associations, words, near)
    groups, fine = np.unique(np.stack([owners, labels]), axis=1, return_inverse=True)
    fine = fine.ravel()
    if space is None:
        return _Grouped(groups[0], fine, near.data, np.arange(groups.shape[1]), fine)
    meanings, typicality = space.merged(words, near, fine)
    first, group_of_fine = np.unique(meanings, return_inverse=True)
    return _Grouped(groups[0][first], group_of_fine[fine], typicality, group_of_fine, fine)


def _ranked(
    choices: Choices,
    associations: sparse.csr_array,
    words: np.ndarray,
    space: MeaningSpace | None,
) -> tuple[np.ndarray, ...]:
    """Return the counts of senses and members, and the fields of `SenseGroups` without offsets."""
    near = associations[words]
    grouped = _grouped(associations, words, near, space)
    owners, numbers = np.repeat(np.arange(len(words)), np.diff(near.indptr)), grouped.numbers
    votes = near.data[:, None] * choices.votes(words[owners], near.indices)
    support = np.zeros((len(grouped.words), votes.shape[1]))
    np.add.at(support, numbers, votes)
    maps, shares = support.argmax(axis=1), np.bincount(numbers, near.data, len(support))
    shares = shares / np.bincount(grouped.words, shares, len(words))[grouped.words]
    order = np.lexsort((maps, -shares, grouped.words))
    joined, joins = _joined(choices, associations, words, near, grouped.fine)
    members = np.concatenate([near.indices, joined])
    rank = np.argsort(order)[np.concatenate([numbers, grouped.group_of_fine[joins]])]
    similar = choices.pair_similarities(words[grouped.words[order][rank]], members)
    observed, typicality = (
        np.concatenate([values, np.zeros(len(joined), values.dtype)])
        for values in (near.data, grouped.typicality)
    )
    inside = np.lexsort((members, -similar, -observed, rank))
    return (
        np.bincount(grouped.words, minlength=len(words)),
        np.bincount(rank, minlength=len(order)),
        maps[order],
        shares[order],
        members[inside],
        observed[inside],
        typicality[inside],
        np.concatenate([grouped.fine, joins])[inside],
    )


def _communities(
    associations: sparse.csr_array, words: np.ndarray, near: sparse.csr_array
) -> np.ndarray:
    """Return the community of each stored association, numbered consecutively over the words."""
    ties = np.sqrt(ego_weights(associations, near))
    for block in _blocks(near, ties):
        there = (block > 0).astype(np.float64)
        block *= 1 + there @ there
    sizes = np.diff(near.indptr).astype(np.int64)
    first, second = crossed_runs(near.indptr[:-1], sizes, near.indptr[:-1], sizes)
    owners = np.repeat(np.arange(len(sizes)), sizes**2)
    seen = np.unique(near.indices)
    views = associations[seen]
    labels = packed_communities(views.indptr, np.sqrt(ego_weights(associations, views)), RESOLUTION)
    sees = sparse.csr_array((labels + 1, views.indices, views.indptr), shape=views.shape)
    member = np.searchsorted(seen, near.indices)[first]
    community = _values_at(sees, member, near.indices[second])
    agree = (community > 0) & (community == _values_at(sees, member, words[owners]))
    agree = agree.astype(np.float64)
    for block in _blocks(near, agree):
        block += block.T.copy()
    return packed_communities(near.indptr, ties * np.exp(agree), RESOLUTION)


def _values_at(table: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the values at (rows, columns) of a table with sorted indices; 0 if not stored."""
    counts, width = np.diff(table.indptr), table.shape[1]
    keys = np.repeat(np.arange(len(counts)) * width, counts) + table.indices
    wanted = rows.astype(np.int64) * width + columns
    if len(keys) == 0:
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, table.data[places], 0)


def _blocks(near: sparse.csr_array, packed: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the packed values of each row as a view of a square array."""
    start = 0
    for size in np.diff(near.indptr).tolist():
        yield packed[start : start + size**2].reshape(size, size)
        start += size**2


def _joined(
    choices: Choices,
    associations: sparse.csr_array,
    words: np.ndarray,
    near: sparse.csr_array,
    numbers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return objects near the words with ties to their associates, and the groups they join."""
    neighbors = choices.strongest(words, MOST_NEAR)
    rows, ranks = np.nonzero(neighbors >= 0)
    others = neighbors[rows, ranks]
    new = _values_at(near, rows, others) == 0
    rows, others = rows[new], others[new]
    sizes = np.diff(near.indptr)[rows].astype(np.int64)
    which = np.repeat(np.arange(len(rows)), sizes)
    entries = near.indptr[rows][which] + np.arange(len(which)) - _offsets(sizes)[which]
    members = near.indices[entries]
    ties = _values_at(associations, others[which], members)
    ties = np.sqrt(ties + _values_at(associations, members, others[which]))
    shape = (len(rows), int(numbers.max(initial=-1)) + 1)
    rows = np.flatnonzero(np.bincount(which, ties > 0, len(others)) >= LEAST_TIES)
    if len(rows) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    drawn = sparse.csr_array((ties, (which, numbers[entries])), shape=shape)
    return others[rows], np.asarray(drawn[rows].argmax(axis=1)).ravel()
