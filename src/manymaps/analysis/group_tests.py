"""Permutation tests of words and senses, which permute units among groups.

The senses are computed from the responses of all groups together (`manymaps.atlas.senses`), so they
are the same in every permutation. `PermutedUnits` contains the input arrays of
`manymaps.compute.permutations`. Each word has one test of its own, followed by one test per sense.

A test ends when 20 of its permutations reach the observed value (Besag & Clifford 1991), or after
9,999 permutations. Tests that are still undecided continue with ten times as many permutations, as
long as their smallest possible p exceeds a twentieth of the Benjamini-Hochberg threshold:

    1 / (permutations + 1)  >  alpha * (undecided tests) / (all tests) / 20

The number of permutations therefore does not determine which differences are detected. The tests of
words and senses form one family, because either kind of test can cause a word to be listed. With
two families at 5 % each, changes are listed in 7 % of comparisons without differences
(`benchmarks/comparison.py --rates`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import false_discovery_control

from manymaps.atlas.answers import Level
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.meanings import meaning_space
from manymaps.atlas.senses import observed_groups
from manymaps.compute.permutations import observed_divergences, permutation_tests
from manymaps.compute.threads import share_out
from manymaps.data.associations import Associations
from manymaps.data.responses import GroupedResponses
from manymaps.labels import plural
from manymaps.progress import work

# With 20 permutations that reach the observed value, the standard error of a p-value is 22 %.
_HITS, _FIRST_DRAWS, _FOR_MEANS, _AT_ONCE = 20, 9_999, 100, 64
# The deciding threshold is at least this many times the smallest possible p.
_MARGIN = 20


@dataclass(frozen=True, eq=False)
class PooledSenses:
    """Senses of words: senses per word, bounds of the members, and members as label indices."""

    sizes: np.ndarray
    ends: np.ndarray
    members: np.ndarray

    def table(self, n_labels: int) -> sparse.csr_array:
        """Return the sense number of each word's responses, from 1; shape (n_words, n_labels)."""
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        first = np.cumsum(self.sizes) - self.sizes
        number = np.repeat(np.arange(len(owners)) - first[owners] + 1, np.diff(self.ends))
        cells = number, (np.repeat(owners, np.diff(self.ends)), self.members)
        return sparse.csr_array(cells, shape=(len(self.sizes), n_labels))

    def shares(self, counts: tuple[sparse.csr_array, ...]) -> np.ndarray:
        """Return the share of each sense in each group's responses, shape (n_groups, n_senses)."""
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        rows = np.repeat(owners, np.diff(self.ends))
        which = np.repeat(np.arange(len(owners)), np.diff(self.ends))
        shares = []
        for table in counts:
            values = _values_at(table, rows, self.members)
            sums = np.bincount(which, values, minlength=len(owners))
            shares.append(sums / table.sum(axis=1)[owners])
        return np.stack(shares)


def _values_at(table: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(table[rows, columns]).ravel() if len(rows) else np.zeros(0)


def pooled_senses(
    found: GroupedResponses,
    pooled: Associations,
    words: np.ndarray,
    min_share: float,
    level: Level = "meaning",
) -> PooledSenses:
    """Find the senses of the words in all groups together, with the largest senses first."""
    indices = {label: i for i, label in enumerate(found.labels)}
    label_of = np.array([indices[label] for label in pooled.labels])
    object_of = np.full(len(found.labels), -1)
    object_of[label_of] = np.arange(len(label_of))
    associations = strongest_associations(pooled.strengths)
    with work(f"senses of {plural('word', len(words))}"):
        space = meaning_space(associations, pooled.labels) if level == "meaning" else None
        labels = observed_groups(associations, object_of[words], space)
    near = associations[object_of[words]]
    owners = np.repeat(np.arange(len(words)), np.diff(near.indptr))
    groups, number = np.unique(np.stack([owners, labels]), axis=1, return_inverse=True)
    number = number.ravel()
    shares = np.bincount(number, near.data, groups.shape[1])
    order = np.lexsort((-shares, groups[0]))
    first = np.diff(groups[0][order], prepend=-1) > 0
    listed = order[first | (shares[order] >= min_share)]
    rank = np.full(groups.shape[1], -1)
    rank[listed] = np.arange(len(listed))
    inside = rank[number] >= 0
    sorted_ = np.lexsort((-near.data[inside], rank[number[inside]]))
    sizes = np.bincount(rank[number[inside]], minlength=len(listed))
    return PooledSenses(
        np.bincount(groups[0][listed], minlength=len(words)),
        np.concatenate([[0], np.cumsum(sizes)]),
        label_of[near.indices[inside][sorted_]],
    )


@dataclass(frozen=True, eq=False)
class PermutedUnits:
    """The arrays of `manymaps.compute.permutations`, and the number of units per group and word."""

    groups: np.ndarray
    strata: np.ndarray
    units: np.ndarray
    given: np.ndarray
    answers: np.ndarray
    kinds: np.ndarray
    senses: np.ndarray
    tests: np.ndarray
    n_units: np.ndarray
    found: PooledSenses

    @classmethod
    def of(cls, found: GroupedResponses, words: np.ndarray, senses: PooledSenses) -> PermutedUnits:
        """Sort the responses to the words by word, stratum and unit."""
        n, n_labels = len(words), len(found.labels)
        word_of_label = np.full(n_labels, -1)
        word_of_label[words] = np.arange(n)
        rows = np.flatnonzero(word_of_label[found.cue] >= 0)
        word = word_of_label[found.cue[rows]]
        rows = rows[np.lexsort((found.unit[rows], found.stratum[rows], word))]
        word = word_of_label[found.cue[rows]]
        keys = np.stack([word, found.stratum[rows], found.unit[rows]])
        starts = np.flatnonzero(np.append(True, (np.diff(keys, axis=1) != 0).any(axis=0)))
        pairs, local = np.unique(word * n_labels + found.answer[rows], return_inverse=True)
        kinds = np.searchsorted(pairs, np.arange(n + 1) * n_labels)
        table = senses.table(n_labels)
        of_pair = _values_at(table, pairs // n_labels, pairs % n_labels)
        groups, n_groups = found.group[rows][starts], found.n_groups
        n_units = np.bincount(groups * n + word[starts], minlength=n_groups * n)
        return cls(
            groups,
            found.stratum[rows][starts],
            np.searchsorted(word[starts], np.arange(n + 1)),
            np.append(starts, len(rows)),
            local.ravel() - kinds[word],
            kinds,
            of_pair.astype(np.int64) - 1,
            np.concatenate([[0], np.cumsum(1 + senses.sizes)]),
            n_units.reshape(n_groups, n),
            senses,
        )

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the arguments of the compiled loops."""
        return (
            self.groups, self.strata, self.units, self.given, self.answers, self.kinds,
            self.senses, self.tests,
        )  # fmt: skip


def permutation_p_values(
    tables: PermutedUnits,
    found: GroupedResponses,
    seed: int,
    alpha: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the divergence in bits, its mean by chance, p and q for all words and senses."""
    n, n_tests = len(tables.units) - 1, int(tables.tests[-1])
    largest = int(np.diff(tables.given[tables.units]).max())
    logs = np.arange(largest + 1.0)
    logs[1:] *= np.log(logs[1:])
    observed, means = np.zeros(n_tests), np.zeros(n_tests)
    groups, _, *rest = tables.arrays
    share_out(observed_divergences, n, groups, *rest, found.n_groups, logs, observed)
    reached, draws = np.zeros(n_tests, np.int64), np.zeros(n_tests, np.int64)
    owners = np.repeat(np.arange(n), np.diff(tables.tests))
    words, last = np.arange(n), min(_FIRST_DRAWS, most)
    with work(f"permuting {found.units} of {plural('word', n)}", total=n) as at:
        while len(words):
            at(n - len(words), f"at most {last:,} permutations")
            for start in range(0, len(words), _AT_ONCE):
                some = words[start : start + _AT_ONCE]
                share_out(
                    permutation_tests, len(some), some, *tables.arrays, found.n_groups, logs, seed,
                    _HITS, min(_FOR_MEANS, most), last, reached, draws, means,
                )  # fmt: skip
                at(n - len(words) + start)
            wanting = _undecided(reached, last, alpha)
            words = np.unique(owners[wanting]) if last < most else words[:0]
            last = min(10 * last + 9, most)
    p = np.where(reached >= _HITS, reached / np.maximum(draws, 1), (reached + 1) / (draws + 1))
    q = false_discovery_control(p)
    return observed / np.log(2), means / np.log(2), p, q


def _undecided(reached: np.ndarray, last: int, alpha: float) -> np.ndarray:
    """Mark tests whose smallest possible p is too large, so that they need more permutations."""
    unseen = reached < _HITS
    needed = alpha * unseen.mean() / _MARGIN
    return unseen if 1 / (last + 1) > needed else np.zeros_like(unseen)
