"""The senses of a word: groups of its neighbours, each with the map that says most of it.

Where the atlas knows associations, the neighbours of word i that were observed are the nodes of a
network without i, tied by what was observed between them, in both directions: with a_jk the sum of
the two strengths, c_jk how many others of the network have ties with both, and s_jk how many of j
and k see i and the other in one community of their own neighbours (0, 1 or 2),

    w_jk = sqrt(a_jk) (1 + c_jk) exp(s_jk)

Its communities at a resolution of `RESOLUTION` (`manymaps.compute.communities`) are the senses. The
root keeps one strong tie from deciding; c favours what hangs together; s discounts ties of another
sense, as that of *match* and *light* beside *tie*.

A sense has the share of the word's observed associations that falls to its members, and lies in
the map that explains these best, so that one map can hold two senses,

    share = sum_j p_ij / sum over all p_ij,      map = argmax_m sum_j p_ij r_ij^m

with r_ij^m = v_ij^m / v_ij. Objects that the model places near i, but that are not associates of i,
join the sense to whose members they have the strongest observed ties, if they have two or more.

The *listed* senses of a word (`listed_senses`) are the groups with a large enough share, and one
sense for every map with a large enough weight: its largest group or, if it has none, a sense
without an observed share, whose members are the objects that the model places near i there. So the
list also shows associations that only the maps contain. Maps of larger weight come first.

Shapes: the senses of all words that are asked for lie end to end, those of the w-th from offsets[w]
to offsets[w + 1]; so do the members of the senses.
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

__all__ = ["MOST_NEAR", "SenseGroups", "listed_senses", "observed_groups", "sense_groups"]

#: The resolution of the communities; of .3, .5, .7 and 1 the best on the word relations.
RESOLUTION = 0.5
#: Objects that the model places nearest, of which those that were not observed may join a sense.
MOST_NEAR = 20
#: Observed ties to what a word recalls that such an object needs.
LEAST_TIES = 2
# Words per block: bounds the memory of their neighbours' pairs.
_WORDS = 512


@dataclass(frozen=True, eq=False)
class SenseGroups:
    """The senses of some words.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_words + 1,)
    maps : ndarray of int, shape (n_senses,)
    shares : ndarray of shape (n_senses,)
        Those of all senses of a word sum to 1.
    ends : ndarray of int, shape (n_senses + 1,)
        Where the members of each sense lie.
    members : ndarray of int, shape (n_members,)
        Numbers of objects: those observed, the strongest first, then the others by similarity.
    strengths : ndarray of shape (n_members,)
        What was observed of them, p_ij; 0 of the others.
    typicality : ndarray of shape (n_members,)
        Of associates in their meaning (`manymaps.atlas.meanings`), or their strengths; 0 of the
        others.
    """

    offsets: np.ndarray
    maps: np.ndarray
    shares: np.ndarray
    ends: np.ndarray
    members: np.ndarray
    strengths: np.ndarray
    typicality: np.ndarray

    def of(self, word: int) -> range:
        """The numbers of a word's senses."""
        return range(int(self.offsets[word]), int(self.offsets[word + 1]))

    @property
    def owners(self) -> np.ndarray:
        """The place of each sense's word among those asked for, shape (n_senses,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def listed(self, min_share: float) -> np.ndarray:
        """Which senses have that share or are the first of their word, shape (n_senses,)."""
        return (self.shares >= min_share) | self.is_first

    @property
    def is_first(self) -> np.ndarray:
        """Which senses are the first of their word, shape (n_senses,)."""
        return np.asarray(np.arange(len(self.shares)) == self.offsets[self.owners])

    def only(self, word: int) -> SenseGroups:
        """The senses of one word."""
        own = slice(*self.offsets[word : word + 2].tolist())
        ends = self.ends[own.start : own.stop + 1]
        inside = slice(*ends[[0, -1]].tolist())
        return SenseGroups(
            np.array([0, own.stop - own.start]), self.maps[own], self.shares[own], ends - ends[0],
            self.members[inside], self.strengths[inside], self.typicality[inside],
        )  # fmt: skip

    def members_of(self, sense: int) -> slice:
        """Where the members of a sense lie."""
        return slice(int(self.ends[sense]), int(self.ends[sense + 1]))


def sense_groups(
    choices: Choices,
    associations: sparse.csr_array,
    words: np.ndarray,
    space: MeaningSpace | None = None,
) -> SenseGroups:
    """The senses of some words.

    Parameters
    ----------
    choices : Choices
        Of one set of objects.
    associations : sparse array of shape (n, n)
        What was observed (`Atlas.associations`), with sorted indices.
    words : ndarray of int
        A word of which no association is known has no sense.
    space : MeaningSpace, optional
        Similarities by which the groups are merged into meanings; without them, groups are fine.

    Returns
    -------
    SenseGroups
        The largest share first.
    """
    parts = [
        _ranked(choices, associations, words[start : start + _WORDS], space)
        for start in range(0, max(len(words), 1), _WORDS)
    ]
    counts, sizes, *rest = (np.concatenate(part) for part in zip(*parts, strict=True))
    maps, shares, members, strengths, typicality = rest
    return SenseGroups(
        _offsets(counts), maps, shares, _offsets(sizes), members, strengths, typicality
    )


def observed_groups(
    associations: sparse.csr_array, words: np.ndarray, space: MeaningSpace | None = None
) -> np.ndarray:
    """The group of each response of some words, as `sense_groups` has them, without any map.

    Parameters
    ----------
    associations : sparse array of shape (n, n)
        With sorted indices.
    words : ndarray of int
    space : MeaningSpace, optional
        As for `sense_groups`.

    Returns
    -------
    ndarray of int
        For each association that the rows of the words store, in their order, the number of its
        group; two groups of one word have different numbers.
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
        As for `sense_groups`.
    weights : ndarray of shape (n_words, n_maps)
        Map weights of each of the words.
    min_share : float
        Of a group in what was observed; a word's largest is listed whatever it has.
    min_weight : float
        Least weight of a map; a word's map of the largest weight is always listed.
    groups : SenseGroups, optional
        The `sense_groups` of the words, where they are known.

    Returns
    -------
    SenseGroups
        In order of map weight, the largest first; within a map in order of share, the largest
        first. Maps without any group have a share of 0.
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
    )


def _wanted(
    found: SenseGroups, weights: np.ndarray, min_share: float, min_weight: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which groups are listed; of the maps that are too and hold no group, the words and numbers.

    `weights` are the map weights of each word, (n_words, n_maps).
    """
    n_words, n_maps = weights.shape
    wanted = weights >= min_weight
    wanted[np.arange(n_words), weights.argmax(axis=1)] = True
    wanted &= (np.diff(found.offsets) > 0)[:, None]
    is_listed, owners = found.listed(min_share), found.owners
    wanted[owners[is_listed], found.maps[is_listed]] = False
    # Of the smaller groups of a map the first is the largest.
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

    The word of each group (n_groups,), the group of each entry and its typicality (n_entries,),
    and the group into which each fine group was merged.
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
    """Senses per word and members per sense; maps, shares; members, strengths, typicality."""
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
    )


def _communities(
    associations: sparse.csr_array, words: np.ndarray, near: sparse.csr_array
) -> np.ndarray:
    """The community of each stored association of the words, numbered anew for each word."""
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
    """What a table with sorted indices stores at (rows, columns), else 0."""
    counts, width = np.diff(table.indptr), table.shape[1]
    keys = np.repeat(np.arange(len(counts)) * width, counts) + table.indices
    wanted = rows.astype(np.int64) * width + columns
    if len(keys) == 0:
        return np.zeros(len(wanted))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, table.data[places], 0)


def _blocks(near: sparse.csr_array, packed: np.ndarray) -> Iterator[np.ndarray]:
    """Each row's square of packed values, as a view."""
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
    """Who else is placed near the words and tied to their associates; the group that each joins."""
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
