"""The meanings of a word, formed by merging similar groups of its associates.

Let A = p^0.15 + (p^0.15)^T + 1 be the network of all associations p, in which each object is also
tied to itself. The matrix B is A without the word itself, because the word connects its own
meanings. Let x_j be the spectral directions of object j (`manymaps.affinity.network`). The
similarity of two associates j and k is

    s_jk = cos(v_j, v_k) + 0.6 sqrt(cos(B_j, B_k)),      v_j = x_j + sum_k B_jk x_k / sum_k B_jk

The groups of a word (`manymaps.atlas.senses`) are merged by average linkage. The two groups with
the largest mean similarity are merged repeatedly, as long as this mean is at least

    cut = r + CUT (w - r)

Here, r is the mean similarity between associates of two different words, and w is the mean
similarity between associates of the same word. Both r and w are properties of the network, so the
same CUT applies to every table. Finally, a group that consists of a single associate with a
response share below `LEAST_SINGLE` is merged with the most similar group.

An associate is typical of its meaning if it is frequent and similar to the other members:

    typicality_j = p_ij mean over k in the meaning of s_jk

Shapes: the entries are the stored associations in the rows of some words, in row order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from manymaps.affinity.network import association_network, spectral_directions, unit_rows
from manymaps.compute.runs import crossed_runs

# Chosen on 174 homonyms whose associates were coded by raters (examples/validation/homonyms.py).
# B-cubed F is highest for cuts from 0.20 to 0.30 in USF, in USF with single responses or 30
# responses per cue, and in LWOW. The corresponding similarity is 0.48 in USF, but 0.77 with single
# responses.
CUT = 0.25
# Raters assign a separate meaning to a strong associate, such as EYE for PUPIL. F is 0.818 with
# this threshold, and 0.812 if all single associates are merged. If none of them is merged, F is
# 0.808, and 58 % of the words with one meaning are split instead of 25 %.
LEAST_SINGLE = 0.1
# With powers from 0.05 to 0.3 and 40 to 200 directions, F differs by less than 0.01. F is 0.818
# with an exponent of 3, and 0.800 with the exponent of 2 that the prediction models use.
_SHARED, _POWER, _DIMENSIONS, _EXPONENT = 0.6, 0.15, 70, 3.0
# Number of words from which r and w are estimated, with standard errors of 0.005.
_SAMPLE = 400
# Number of pairs per block, which limits memory use. The time hardly depends on it between 2^10 and
# 2^12 (4.8 to 4.9 s for the page of the demo).
_PAIRS = 1 << 12


@dataclass(frozen=True, eq=False)
class MeaningSpace:
    """Similarities between associates in a network.

    Attributes
    ----------
    network : sparse array of shape (n, n)
        The network A.
    directions : ndarray of shape (n, n_directions)
        Spectral directions of the objects.
    cut : float
        Minimum mean similarity at which groups are merged.
    """

    network: sparse.csr_array
    directions: np.ndarray
    cut: float

    def merged(
        self, words: np.ndarray, near: sparse.csr_array, groups: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Merge the groups of some words.

        Parameters
        ----------
        words : ndarray of int, shape (n_words,)
            Indices of the words.
        near : sparse array of shape (n_words, n)
            Associations of the words.
        groups : ndarray of int, shape (n_entries,)
            Group of each entry. The groups are numbered consecutively over the words.

        Returns
        -------
        meanings : ndarray of int, shape (n_groups,)
            For each group, the number of the first group with the same meaning.
        typicality : ndarray of shape (n_entries,)
            Typicality of each entry for its meaning.
        """
        counts, starts = np.diff(near.indptr).astype(np.int64), near.indptr[:-1].astype(np.int64)
        owners = np.repeat(np.arange(len(words)), counts)
        rows, vectors = _views(self.network, self.directions, words[owners], near.indices)
        first, second = crossed_runs(starts, counts, starts, counts)
        # Similarities are symmetric, so each is computed for (j, k) and copied to (k, j).
        half, similar = np.flatnonzero(first <= second), np.zeros(len(first))
        one, other = first[half], second[half]
        word = owners[one]
        before = np.cumsum(counts**2) - counts**2 - starts * (counts + 1)
        mirrored = before[word] + other * counts[word] + one
        similar[half] = similar[mirrored] = _similarities(rows, vectors, one, other)
        sizes = np.bincount(groups)
        of_group = np.zeros(len(sizes), np.int64)
        of_group[groups] = owners
        strengths = np.bincount(groups, near.data, len(sizes))
        shares = strengths / np.bincount(of_group, strengths, len(words))[of_group]
        sums = sparse.csr_array(
            (similar, (groups[first], groups[second])), shape=(len(sizes), len(sizes))
        )
        ends = np.searchsorted(of_group, np.arange(len(words) + 1))
        widths = np.diff(ends)
        before = np.cumsum(widths**2) - widths**2 - ends[:-1] * (widths + 1)
        of_row = np.repeat(np.arange(len(sizes)), np.diff(sums.indptr))
        word = of_group[of_row]
        packed = np.zeros((widths**2).sum())
        packed[before[word] + of_row * widths[word] + sums.indices] = sums.data
        is_weak = (sizes == 1) & (shares < LEAST_SINGLE)
        meanings, at = np.arange(len(sizes)), 0
        for start, end in pairwise(ends.tolist()):
            own, n_own = slice(start, end), end - start
            if n_own > 1:
                table = packed[at : at + n_own**2].reshape(n_own, n_own)
                meanings[own] = start + _linked(table, sizes[own], is_weak[own], self.cut)
            at += n_own**2
        same = meanings[groups[first]] == meanings[groups[second]]
        typicality = np.bincount(first, similar * same, near.nnz) / np.bincount(
            first, same, near.nnz
        )
        return meanings, near.data * typicality


def meaning_space(associations: sparse.csr_array, labels: Sequence[str]) -> MeaningSpace:
    """Compute the similarities between associates in a table.

    Parameters
    ----------
    associations : sparse array of shape (n, n)
        Observed associations, with sorted indices.
    labels : sequence of str, length n
        Labels of the objects. The alphabetical order of the labels, not the order of the objects,
        determines the words from which the levels of similarity are estimated.

    Returns
    -------
    MeaningSpace
    """
    # Because each object is tied to itself, two objects that are tied only to each other are
    # similar.
    network = 2 * association_network(associations, power=_POWER)
    network = sparse.csr_array(network + sparse.eye_array(len(labels)))
    directions = spectral_directions(
        associations, _DIMENSIONS, power=_POWER, exponent=_EXPONENT, seed=0
    )
    order = np.argsort(np.array(labels, dtype=object), kind="stable")
    several = order[np.diff(associations.indptr)[order] > 1]
    words = several[np.linspace(0, len(several) - 1, min(_SAMPLE, len(several))).astype(int)]
    near = associations[words]
    starts, counts = near.indptr[:-1].astype(np.int64), np.diff(near.indptr).astype(np.int64)
    rows, vectors = _views(network, directions, np.repeat(words, counts), near.indices)
    levels = []
    for shift in (1, 0):
        first, second = crossed_runs(starts, counts, np.roll(starts, shift), np.roll(counts, shift))
        other = near.indices[first] != near.indices[second]
        values = _similarities(rows, vectors, first[other], second[other])
        levels.append(float(values.mean()) if len(values) else 0.0)
    unrelated, related = levels
    return MeaningSpace(network, directions, unrelated + CUT * (related - unrelated))


def _linked(sums: np.ndarray, sizes: np.ndarray, weak: np.ndarray, cut: float) -> np.ndarray:
    """Return, for each group, the first group in the same cluster.

    `sums` contains the similarities summed over the pairs of members of two groups. Groups marked
    in `weak` are always merged with another group.
    """
    sizes, weak, clusters = sizes.astype(float), weak.copy(), np.arange(len(sizes))
    np.fill_diagonal(sums, -np.inf)
    for least in (cut, -np.inf):
        while True:
            means = sums / np.outer(sizes, sizes)
            if least < cut:
                means[~(weak[:, None] | weak)] = -np.inf
            one, other = np.unravel_index(int(means.argmax()), means.shape)
            if not means[one, other] >= max(least, np.finfo(float).min):
                break
            sums[one] += sums[other]
            sums[:, one] += sums[:, other]
            sums[other], sums[:, other] = -np.inf, -np.inf
            sizes[one] += sizes[other]
            weak[one] = weak[other] = False
            clusters[clusters == other] = one
    return clusters


def _views(
    network: sparse.csr_array, directions: np.ndarray, words: np.ndarray, members: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the rows B_j and the vectors v_j of the members, each scaled to length 1."""
    rows = network[members]
    rows.data[rows.indices == np.repeat(words, np.diff(rows.indptr))] = 0
    whole = np.asarray(rows.sum(axis=1))
    vectors = (rows @ directions) / np.where(whole > 0, whole, 1)[:, None]
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)))
    unit = sparse.csr_array(sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ rows)
    unit.sort_indices()
    return unit, unit_rows(vectors + directions[members])


def _similarities(
    rows: sparse.csr_array, vectors: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return s_jk of pairs of entries."""
    similar = np.zeros(len(first))
    for start in range(0, len(first), _PAIRS):
        one, other = first[start : start + _PAIRS], second[start : start + _PAIRS]
        shared = np.asarray(rows[one].multiply(rows[other]).sum(axis=1))
        near = np.einsum("ij,ij->i", vectors[one], vectors[other])
        similar[start : start + _PAIRS] = near + _SHARED * np.sqrt(np.maximum(shared, 0))
    return similar
