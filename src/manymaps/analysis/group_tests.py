"""Permutation tests of words and senses, which permute units among groups.

The senses are those of the responses of all groups together on one atlas (`manymaps.atlas.senses`),
so they are the same in every permutation. `PermutedUnits` contains the input arrays of
`manymaps.analysis.permutations`. Each word has one test of its own, followed by one test per sense.

A test ends when 20 of its permutations reach the observed value (Besag & Clifford 1991), or after
999 permutations. Tests that are still undecided continue with ten times as many permutations, as
long as their smallest possible p exceeds a twentieth of the Benjamini-Hochberg threshold:

    1 / (permutations + 1)  >  alpha * (undecided tests) / (all tests) / 20

The number of permutations therefore does not determine which differences are detected. The tests of
words and senses form one family, because either kind of test can cause a word to be listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from manymaps.analysis.permutations import observed_divergences, permutation_tests
from manymaps.analysis.senses import senses_of_answers
from manymaps.atlas.answers import places_on
from manymaps.atlas.atlas import Atlas
from manymaps.compute.threads import share_out
from manymaps.data.responses import GroupedResponses
from manymaps.labels import plural
from manymaps.metrics.measures import ratio
from manymaps.progress import work

# With 20 permutations that reach the observed value, the standard error of a p-value is 22 %.
_HITS, _FIRST_DRAWS, _FOR_MEANS, _AT_ONCE = 20, 999, 100, 64
# The deciding threshold is at least this many times the smallest possible p.
_MARGIN = 20


@dataclass(frozen=True, eq=False)
class PooledSenses:
    """Senses of words: number per word, maps, close members, and the sense of each response.

    The numbers of the different responses to all words, sorted by word and response, are those of
    `manymaps.analysis.permutations`: from 1, or 0 without a sense, or -1 outside the atlas.
    """

    sizes: np.ndarray
    maps: np.ndarray
    members: tuple[tuple[str, ...], ...]
    numbers: np.ndarray


def pooled_senses(found: GroupedResponses, atlas: Atlas, words: np.ndarray) -> PooledSenses:
    """Find the senses of the words in all groups together, with the largest senses first."""
    places = places_on(atlas, found.labels)
    counts = found.counts()[words].tocoo()
    on_atlas = places[words] >= 0
    # Labels that differ in upper and lower case only can be one object.
    objects, which = np.unique(places[words[on_atlas]], return_inverse=True)
    with work(f"senses of {plural('word', len(words))}"):
        senses, of_response = senses_of_answers(
            atlas, objects, places[words][counts.row], places[counts.col], counts.data
        )
    sizes, first = np.zeros((2, len(words)), np.int64)
    sizes[on_atlas], first[on_atlas] = np.diff(senses.offsets)[which], senses.offsets[which]
    listed = np.arange(sizes.sum()) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    own = [senses.members[senses.members_of(sense)].tolist() for sense in listed.tolist()]
    return PooledSenses(
        sizes,
        senses.maps[listed],
        tuple(tuple(atlas.labels[j] for j in members) for members in own),
        np.where(of_response < 0, of_response + 1, of_response + 1 - first[counts.row]),
    )


class PermutedUnits(NamedTuple):
    """The arrays of `analysis.permutations`, and the number of units per group and word."""

    groups: np.ndarray
    units: np.ndarray
    given: np.ndarray
    answers: np.ndarray
    kinds: np.ndarray
    senses: np.ndarray
    tests: np.ndarray
    n_units: np.ndarray

    @classmethod
    def of(
        cls, found: GroupedResponses, words: np.ndarray, senses: PooledSenses | None
    ) -> PermutedUnits:
        """Sort the responses to the words by word and unit."""
        n, n_labels = len(words), len(found.labels)
        word_of_label = np.full(n_labels, -1)
        word_of_label[words] = np.arange(n)
        rows = np.flatnonzero(word_of_label[found.cue] >= 0)
        word = word_of_label[found.cue[rows]]
        rows = rows[np.lexsort((found.unit[rows], word))]
        word = word_of_label[found.cue[rows]]
        keys = np.stack([word, found.unit[rows]])
        starts = np.flatnonzero(np.append(True, (np.diff(keys, axis=1) != 0).any(axis=0)))
        pairs, local = np.unique(word * n_labels + found.answer[rows], return_inverse=True)
        kinds = np.searchsorted(pairs, np.arange(n + 1) * n_labels)
        sizes = np.zeros(n, np.int64) if senses is None else senses.sizes
        groups, n_groups = found.group[rows][starts], found.n_groups
        n_units = np.bincount(groups * n + word[starts], minlength=n_groups * n)
        return cls(
            groups,
            np.searchsorted(word[starts], np.arange(n + 1)),
            np.append(starts, len(rows)),
            local.ravel() - kinds[word],
            kinds,
            np.full(len(pairs), -1) if senses is None else senses.numbers,
            np.concatenate([[0], np.cumsum(1 + sizes)]),
            n_units.reshape(n_groups, n),
        )

    @property
    def word_of_unit(self) -> np.ndarray:
        """Index of the word of each unit, shape (n_units,)."""
        return np.repeat(np.arange(len(self.units) - 1), np.diff(self.units))

    @property
    def is_sense(self) -> np.ndarray:
        """Mask of the tests of senses, shape (n_tests,)."""
        result = np.ones(int(self.tests[-1]), bool)
        result[self.tests[:-1]] = False
        return result

    def in_senses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the unit and the test of each response in the atlas, (n_inside,).

        The test is that of its sense, or that of the word if the response belongs to no sense.
        """
        unit = np.repeat(np.arange(len(self.groups)), np.diff(self.given))
        word = self.word_of_unit[unit]
        number = self.senses[self.answers + self.kinds[word]]
        inside = number >= 0
        return unit[inside], (self.tests[word] + number)[inside]

    def shares(self, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
        """Return each sense's share of the responses in the atlas, and their number per word.

        The shares have the shape (n_groups, n_tests); those of the tests of words are of responses
        without a sense.
        """
        unit, test = self.in_senses()
        n_tests = int(self.tests[-1])
        keys = self.groups[unit] * n_tests + test
        counts = np.bincount(keys, minlength=n_groups * n_tests).reshape(n_groups, n_tests)
        inside = np.add.reduceat(counts, self.tests[:-1], axis=1)
        shares = ratio(counts, np.repeat(inside, np.diff(self.tests), axis=1))
        return shares, inside.sum(axis=0)


def permutation_p_values(
    tables: PermutedUnits, found: GroupedResponses, seed: int, alpha: float, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the divergence in bits, its mean by chance, p and q for all words and senses."""
    n, n_tests = len(tables.units) - 1, int(tables.tests[-1])
    # The compiled loops need all arrays but the numbers of units.
    arrays = tables[:-1]
    largest = int(np.diff(tables.given[tables.units]).max())
    logs = np.arange(largest + 1.0)
    logs[1:] *= np.log(logs[1:])
    observed, means = np.zeros(n_tests), np.zeros(n_tests)
    share_out(observed_divergences, n, *arrays, found.n_groups, logs, observed)
    reached, draws = np.zeros(n_tests, np.int64), np.zeros(n_tests, np.int64)
    owners = np.repeat(np.arange(n), np.diff(tables.tests))
    words, last = np.arange(n), min(_FIRST_DRAWS, most)
    with work(f"permuting {found.units} of {plural('word', n)}", total=n) as at:
        while len(words):
            at(n - len(words), f"at most {last:,} permutations")
            for start in range(0, len(words), _AT_ONCE):
                some = words[start : start + _AT_ONCE]
                share_out(
                    permutation_tests, len(some), some, *arrays, found.n_groups, logs, seed,
                    _HITS, min(_FOR_MEANS, most), last, reached, draws, means,
                )  # fmt: skip
                at(n - len(words) + start)
            undecided = reached < _HITS
            needed = alpha * undecided.mean() / _MARGIN
            wants_more = last < most and 1 / (last + 1) > needed
            words = np.unique(owners[undecided]) if wants_more else words[:0]
            last = min(10 * last + 9, most)
    p = np.where(reached >= _HITS, reached / np.maximum(draws, 1), (reached + 1) / (draws + 1))
    q = false_discovery_control(p)
    return observed / np.log(2), means / np.log(2), p, q
