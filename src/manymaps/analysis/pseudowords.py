"""Pseudowords, which are merged words whose senses are known with certainty.

Two unrelated words a and b of the norms are merged into one object, such as *banana* and *door*
into the pseudoword *banana+door* (Gale, Church & Yarowsky 1992; Schuetze 1992). A model is fitted
to the merged norms, which contain no information about the two words ("halves"), and should recover
the halves. With

    f_a = sum_i p_ia       total strength of a as a response (its frequency)

the pseudoword's row and column are

    p_xj = (f_a p_aj + f_b p_bj) / (f_a + f_b)           as cue
    p_ix = p_ia + p_ib                                   as response

The weights assume that participants who read an ambiguous word think of each sense about as often
as the sense is mentioned. A less frequent half is therefore less frequent in both directions. The
*frequency ratio* is max(f_a, f_b) / min(f_a, f_b). Each band of `RATIOS` contains the same number
of pseudowords, because a half with an eighth of the other half's frequency is harder to find.

The two halves have no association with each other and no neighbour in common, not even a
pseudoword. Each neighbour of a pseudoword thus belongs to one half. The own map of a half is the
map with the most support (`manymaps.metrics.senses`). The two halves are separated exactly if their
own maps differ. Chance is computed by permuting the halves of each word's pairs. A model that
scatters pairs over maps also separates halves, but in this case chance is equally high, and the
contrast, within - across, is 0.

W. A. Gale, K. W. Church and D. Yarowsky, "Work on statistical methods for word sense
disambiguation", AAAI Fall Symposium 1992. H. Schuetze, "Context space", in the same volume.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_whole
from manymaps.data.associations import Associations, ReadReport
from manymaps.errors import DataError
from manymaps.metrics.senses import SenseSeparation, word_separation

#: Limits of the bands of frequency ratios.
RATIOS = (1.0, 2.0, 4.0, 8.0, 16.0)

# With fewer responses, the neighbourhood of a word is too small to recognize a half; not tuned.
_LEAST_RESPONSES = 3


@dataclass(frozen=True, eq=False)
class HalvesApart:
    """Separation of the halves of pseudowords.

    Attributes
    ----------
    apart : ndarray of bool, shape (n_pseudowords,)
        Whether the own maps of the two halves differ.
    overall : SenseSeparation
        Separation over all pseudowords. The attribute `score` is the share of pseudowords whose
        halves are separated. The other attributes include chance, the standard error and
        `contrast`.
    by_ratio : mapping of (float, float) to SenseSeparation
        Separation for each band of frequency ratios that contains pseudowords.
    """

    apart: np.ndarray
    overall: SenseSeparation
    by_ratio: Mapping[tuple[float, float], SenseSeparation]


class PseudowordPairs(NamedTuple):
    """Pairs of a pseudoword and a neighbour, without duplicates; arrays of shape (n_pairs,).

    Attributes
    ----------
    words, partners : ndarray of int
        Pseudoword and neighbour of each pair, as indices of the merged associations. Pairs are
        sorted by pseudoword and then by neighbour.
    strengths : ndarray of float
        Strengths in both directions, p_ij + p_ji.
    halves : ndarray of int
        Half of the pseudoword to which the neighbour belongs, 0 or 1.
    """

    words: np.ndarray
    partners: np.ndarray
    strengths: np.ndarray
    halves: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Pseudowords:
    """Norms in which pairs of words are merged into pseudowords.

    Attributes
    ----------
    associations : Associations
        Merged norms, with the other words first and the pseudowords last. The attribute
        `pair_senses` contains the half (0 or 1) if the cue is a pseudoword, and 0 for other cues.
    halves : tuple of (str, str)
        The two words of each pseudoword.
    ratios : ndarray of shape (n_pseudowords,)
        Frequency ratios, at least 1.
    cue_halves, response_halves : ndarray of int8, shape (associations.n_pairs,)
        Half (0 or 1) of the cue and of the response in each stored pair, or -1 for words that are
        not pseudowords.

    See Also
    --------
    pseudowords

    Examples
    --------
    >>> from manymaps import load_word_relations, pseudowords
    >>> merged = pseudowords(load_word_relations(), 4)
    >>> len(merged.halves), merged.associations.labels[-1] == "+".join(merged.halves[-1])
    (4, True)
    """

    associations: Associations
    halves: tuple[tuple[str, str], ...]
    ratios: np.ndarray
    cue_halves: np.ndarray
    response_halves: np.ndarray

    def __repr__(self) -> str:
        return f"<{self.n_pseudowords:,} pseudowords in {self.associations!r}>"

    @property
    def n_pseudowords(self) -> int:
        """Number of pseudowords."""
        return len(self.halves)

    @property
    def words(self) -> np.ndarray:
        """Indices of the pseudowords in `associations`, in the order of `halves`."""
        n = self.associations.n_objects
        return np.arange(n - self.n_pseudowords, n)

    @cached_property
    def pairs(self) -> PseudowordPairs:
        """Pairs of each pseudoword with its responses and cues, listing each neighbour once."""
        strengths = self.associations.strengths
        n = self.associations.n_objects
        cues = np.repeat(np.arange(n), np.diff(strengths.indptr))
        responses = strengths.indices
        as_cue, as_response = self.cue_halves >= 0, self.response_halves >= 0
        words = np.concatenate([cues[as_cue], responses[as_response]])
        partners = np.concatenate([responses[as_cue], cues[as_response]])
        amounts = np.concatenate([strengths.data[as_cue], strengths.data[as_response]])
        halves = np.concatenate([self.cue_halves[as_cue], self.response_halves[as_response]])
        keys, first, which = np.unique(
            words.astype(np.int64) * n + partners, return_index=True, return_inverse=True
        )
        return PseudowordPairs(
            keys // n, keys % n, np.bincount(which, amounts), halves[first].astype(np.int64)
        )

    def apart(
        self, atlas: Atlas, *, n_permutations: int = 20, random_state: int = 0
    ) -> HalvesApart:
        """Measure how well a fit to the merged norms separates the halves of pseudowords.

        Parameters
        ----------
        atlas : Atlas
            Atlas that was fitted to `associations`.
        n_permutations : int > 0, default=20
            Number of permutations for chance.
        random_state : int, default=0
            Seed of the permutations.

        Returns
        -------
        HalvesApart
            Separation of each pseudoword, overall and by frequency ratio.

        Raises
        ------
        DataError
            If the atlas and `associations` contain different objects.
        """
        if tuple(atlas.labels) != tuple(self.associations.labels):
            raise DataError(
                "the atlas does not contain the objects of these pseudowords in their order; fit "
                "`associations` of the same pseudowords"
            )
        shares = atlas.choices.votes(self.pairs.words, self.pairs.partners)
        return self._apart(shares, n_permutations, random_state)

    def apart_by(
        self, clusters: Any, *, n_permutations: int = 20, random_state: int = 0
    ) -> HalvesApart:
        """Measure how well clusters of pairs separate the halves of pseudowords.

        The own cluster of a half is the cluster that contains the largest part of its strength.

        Parameters
        ----------
        clusters : array-like of shape (len(pairs.words),)
            Cluster of each pair in `pairs`, as labels of any type. Clusters of different words are
            never compared.
        n_permutations : int > 0, default=20
            Number of permutations for chance.
        random_state : int, default=0
            Seed of the permutations.

        Returns
        -------
        HalvesApart
            Separation of each pseudoword, overall and by frequency ratio.

        Raises
        ------
        DataError
            If the number of clusters differs from the number of pairs.
        """
        labels, words = np.asarray(clusters), self.pairs.words
        if labels.shape != words.shape:
            raise DataError(
                f"the clusters have shape {labels.shape} for {len(words)} pairs of pseudowords; "
                "pass one cluster per pair, in the order of `pairs`"
            )
        codes = np.unique(labels, return_inverse=True)[1]
        keys, own = np.unique(np.stack([words, codes]), axis=1, return_inverse=True)
        # Clusters are numbered separately for each word, so that the table has few columns.
        places = own - np.searchsorted(keys[0], words)
        return self._apart(np.eye(places.max() + 1)[places], n_permutations, random_state)

    def _apart(self, shares: np.ndarray, n_permutations: int, random_state: int) -> HalvesApart:
        n, pairs = self.associations.n_objects, self.pairs
        separation = word_separation(
            shares,
            sparse.csr_array((pairs.strengths, (pairs.words, pairs.partners)), shape=(n, n)),
            pairs.halves,
            n_permutations=n_permutations,
            random_state=random_state,
        )
        band = _bands(self.ratios)
        by_ratio = {
            (RATIOS[b], RATIOS[b + 1]): separation.mean(np.flatnonzero(band == b))
            for b in np.unique(band).tolist()
        }
        return HalvesApart(separation.score == 1, separation.mean(), by_ratio)


def pseudowords(
    norms: Associations, n_pseudowords: int = 200, random_state: int = 0
) -> Pseudowords:
    """Merge random pairs of unrelated words, with equal numbers per band of frequency ratios.

    Parameters
    ----------
    norms : Associations
        Norms to merge. A word can become a half only if it has at least three responses and is
        itself a response.
    n_pseudowords : int, default=200
        Number of pseudowords, at least 1. Each pseudoword uses two words. `RATIOS` lists the limits
        of the bands, from 1 to 16.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    Pseudowords
        Merged norms with the halves of the pseudowords.

    Raises
    ------
    DataError
        If there are too few pairs of unrelated words.

    See Also
    --------
    Pseudowords, metrics.sense_separation

    Examples
    --------
    >>> from manymaps import load_word_relations, pseudowords
    >>> merged = pseudowords(load_word_relations(), 4)
    >>> merged.associations.n_objects, (merged.ratios > [1, 2, 4, 8]).all().item()
    (3196, True)
    >>> merged.associations.labels[-1] == "+".join(merged.halves[-1])
    True
    """
    check_whole("n_pseudowords", n_pseudowords)
    strengths = norms.strengths.copy()
    strengths.eliminate_zeros()
    frequencies = np.asarray(strengths.sum(axis=0)).ravel()
    chosen = _drawn(strengths, frequencies, n_pseudowords, np.random.default_rng(random_state))
    weights = frequencies[chosen] / frequencies[chosen].sum(axis=1, keepdims=True)

    n, k = norms.n_objects, n_pseudowords
    others = np.setdiff1d(np.arange(n), chosen)
    places = np.empty(n, np.int64)
    places[others] = np.arange(len(others))
    places[chosen] = len(others) + np.arange(k)[:, None]
    scale, half_of = np.ones(n), np.full(n, -1, np.int8)
    scale[chosen], half_of[chosen] = weights, (0, 1)

    # Halves have no common neighbour, so each pair of the norms becomes one pair of the merged
    # norms.
    cues = np.repeat(np.arange(n), np.diff(strengths.indptr))
    responses = strengths.indices
    order = np.lexsort((places[responses], places[cues]))
    cues, responses = cues[order], responses[order]
    merged = sparse.csr_array(
        (strengths.data[order] * scale[cues], (places[cues], places[responses])),
        shape=(len(others) + k, len(others) + k),
    )
    halves = tuple((norms.labels[a], norms.labels[b]) for a, b in chosen.tolist())
    labels = [*(norms.labels[i] for i in others), *(f"{a}+{b}" for a, b in halves)]
    report = ReadReport(
        source=f"{norms.report.source} with {k} pseudowords",
        n_read=len(order),
        notes=(f"{2 * k} words merged in pairs",),
    )
    senses = np.maximum(half_of[cues], 0).astype(np.int64)
    return Pseudowords(
        Associations(labels, merged, report, senses),
        halves,
        _ratios(*frequencies[chosen].T),
        half_of[cues],
        half_of[responses],
    )


def _ratios(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Divide the larger of two frequencies by the smaller."""
    return np.maximum(some, others) / np.minimum(some, others)


def _bands(ratios: np.ndarray) -> np.ndarray:
    """Return the index of each ratio's lower limit in `RATIOS`; -1 or the last if out of range."""
    return np.searchsorted(RATIOS, ratios, side="right") - 1


def _drawn(
    strengths: sparse.csr_array,
    frequencies: np.ndarray,
    n_pseudowords: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw two unrelated words for each pseudoword, shape (n_pseudowords, 2), band by band."""
    neighbors = sparse.csr_array(strengths + strengths.T)
    n = strengths.shape[0]
    groups = np.arange(n)
    free = (np.diff(strengths.indptr) >= _LEAST_RESPONSES) & (frequencies > 0)
    n_bands = len(RATIOS) - 1
    # Pairs of very unequal frequency are drawn first, because the fewest words are suitable for
    # them.
    wanted = [len(part) for part in np.array_split(np.arange(n_pseudowords), n_bands)]
    chosen: list[list[tuple[int, int]]] = [[] for _ in range(n_bands)]
    for band in reversed(range(n_bands)):
        for a in rng.permutation(np.flatnonzero(free)):
            if len(chosen[band]) == wanted[band]:
                break
            if not free[a]:
                continue
            others = np.flatnonzero(free)
            others = others[_bands(_ratios(frequencies[others], frequencies[a])) == band]
            others = others[~_related(int(a), neighbors, groups)[others]]
            if len(others):
                b = int(rng.choice(others))
                free[[a, b]] = False
                groups[b] = a
                chosen[band].append((int(a), b))
    drawn = [pair for pairs in chosen for pair in pairs]
    if len(drawn) < n_pseudowords:
        raise DataError(
            f"the norms contain only {len(drawn)} of {n_pseudowords} pairs of unrelated words with "
            f"frequency ratios from {RATIOS[0]:g} to {RATIOS[-1]:g} and equal numbers per band; "
            "use fewer pseudowords"
        )
    return np.array(drawn)


def _related(a: int, neighbors: sparse.csr_array, groups: np.ndarray) -> np.ndarray:
    """Return a mask of word a, its associates, and words that have a neighbour in common with a.

    If two words are already merged, each of them represents both; `groups` numbers the merged
    words.
    """
    associates = neighbors.indices[neighbors.indptr[a] : neighbors.indptr[a + 1]]
    near = np.zeros(len(groups), dtype=bool)
    near[groups[associates]] = True
    related = neighbors @ near[groups].astype(np.float64) > 0
    related[associates] = True
    related[a] = True
    return related
