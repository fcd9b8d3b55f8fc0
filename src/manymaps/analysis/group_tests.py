"""Words and senses of groups tested: people dealt to the groups by lot until p-values are known.

The senses of all groups together (`manymaps.atlas.senses`) are made of what was answered in all,
and so are the same however people are dealt. `DealtUnits` are the arrays that
`manymaps.compute.permutations` takes: of word w its own test, then those of its senses.

Draws of a word end for a test when 20 of them have reached what was observed (Besag & Clifford
1991), or after 9,999; those that have not are drawn on, tenfold each round, while the smallest p
they could have is more than a twentieth of what Benjamini and Hochberg ask of as many of them,

    1 / (draws + 1)  >  alpha * (tests that were not reached) / (all tests) / 20

so that the number of draws does not decide what is found. The tests of words and of senses are one
family, corrected together, because a word is shown for either: two families at 5 % each show
something in 7 % of comparisons without differences (`benchmarks/comparison.py --rates`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import false_discovery_control

from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.meanings import meaning_space
from manymaps.atlas.senses import observed_groups
from manymaps.compute.permutations import dealt_tests, observed_divergences
from manymaps.compute.threads import share_out
from manymaps.data.associations import Associations
from manymaps.data.responses import GroupedResponses
from manymaps.labels import plural
from manymaps.progress import work

__all__ = ["DealtUnits", "PooledSenses", "dealt_p_values", "pooled_senses"]

# Draws that reach the observed value, after which a p-value is known well enough.
_HITS, _FIRST_DRAWS, _FOR_MEANS, _AT_ONCE = 20, 9_999, 100, 64
# So much finer than needed may p-values be.
_MARGIN = 20


@dataclass(frozen=True, eq=False)
class PooledSenses:
    """The senses of words: counts of them, where their members end, and these, in the labels."""

    sizes: np.ndarray
    ends: np.ndarray
    members: np.ndarray

    def table(self, n_labels: int) -> sparse.csr_array:
        """Of each word and answer the sense among the word's, from 1, (n_words, n_labels)."""
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        first = np.cumsum(self.sizes) - self.sizes
        number = np.repeat(np.arange(len(owners)) - first[owners] + 1, np.diff(self.ends))
        cells = number, (np.repeat(owners, np.diff(self.ends)), self.members)
        return sparse.csr_array(cells, shape=(len(self.sizes), n_labels))

    def shares(self, counts: tuple[sparse.csr_array, ...]) -> np.ndarray:
        """The part of each group's answers that falls to each sense, (n_groups, n_senses)."""
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        rows = np.repeat(owners, np.diff(self.ends))
        which = np.repeat(np.arange(len(owners)), np.diff(self.ends))
        tests = []
        for table in counts:
            values = _values_at(table, rows, self.members)
            held = np.bincount(which, values, minlength=len(owners))
            tests.append(held / table.sum(axis=1)[owners])
        return np.stack(tests)


def _values_at(table: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(table[rows, columns]).ravel() if len(rows) else np.zeros(0)


def pooled_senses(
    found: GroupedResponses, pooled: Associations, words: np.ndarray, min_share: float
) -> PooledSenses:
    """The senses that all groups together give the words, the largest first."""
    place = {label: i for i, label in enumerate(found.labels)}
    label_of = np.array([place[label] for label in pooled.labels])
    object_of = np.full(len(found.labels), -1)
    object_of[label_of] = np.arange(len(label_of))
    associations = strongest_associations(pooled.strengths)
    with work(f"senses of {plural('word', len(words))}"):
        space = meaning_space(associations, pooled.labels)
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
class DealtUnits:
    """The arrays of `manymaps.compute.permutations`, and how many units of each group."""

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
    def of(cls, found: GroupedResponses, words: np.ndarray, senses: PooledSenses) -> DealtUnits:
        """The responses to the words, sorted by word, stratum and unit."""
        n, n_labels = len(words), len(found.labels)
        place = np.full(n_labels, -1)
        place[words] = np.arange(n)
        rows = np.flatnonzero(place[found.cue] >= 0)
        word = place[found.cue[rows]]
        rows = rows[np.lexsort((found.unit[rows], found.stratum[rows], word))]
        word = place[found.cue[rows]]
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
        """What the loops take."""
        return (
            self.groups, self.strata, self.units, self.given, self.answers, self.kinds,
            self.senses, self.tests,
        )  # fmt: skip


def dealt_p_values(
    tables: DealtUnits, found: GroupedResponses, seed: int, alpha: float, correction: str, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of all words and senses the divergence in bits, that by chance, p and q."""
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
    with work(f"dealing {found.units} of {plural('word', n)}", total=n) as at:
        while len(words):
            at(n - len(words), f"{last:,} draws at most")
            for start in range(0, len(words), _AT_ONCE):
                some = words[start : start + _AT_ONCE]
                share_out(
                    dealt_tests, len(some), some, *tables.arrays, found.n_groups, logs, seed,
                    _HITS, min(_FOR_MEANS, most), last, reached, draws, means,
                )  # fmt: skip
                at(n - len(words) + start)
            wanting = _undecided(reached, last, alpha)
            words = np.unique(owners[wanting]) if last < most else words[:0]
            last = min(10 * last + 9, most)
    p = np.where(reached >= _HITS, reached / np.maximum(draws, 1), (reached + 1) / (draws + 1))
    q = false_discovery_control(p, method=correction)
    return observed / np.log(2), means / np.log(2), p, q


def _undecided(reached: np.ndarray, last: int, alpha: float) -> np.ndarray:
    """Tests that need more draws, so that the smallest p they can have does not decide."""
    unseen = reached < _HITS
    needed = alpha * unseen.mean() / _MARGIN
    return unseen if 1 / (last + 1) > needed else np.zeros_like(unseen)
