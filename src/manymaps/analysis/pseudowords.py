"""Pseudowords: senses that are known for certain, since they were words before.

Two unrelated words a and b of the norms are merged into one object, as *banana* and *door* into the
pseudoword *banana+door* (Gale, Church & Yarowsky 1992; Schuetze 1992). A model is fitted to the
merged norms, which say nothing of the halves, and asked for them. With

    f_a = sum_i p_ia       how much a is recalled (its frequency)

the pseudoword's row and column are

    p_xj = (f_a p_aj + f_b p_bj) / (f_a + f_b)           as cue
    p_ix = p_ia + p_ib                                   as response

for people who meet an ambiguous word think of its senses about as often as these are spoken of; so
a rarer half is rarer in both directions. max(f_a, f_b) / min(f_a, f_b) is the *frequency ratio*, of
which there are as many pseudowords in each band of `RATIOS`: a half that is recalled an eighth as
much as the other is harder to find.

Halves have no association with one another and no neighbour in common, be it a pseudoword. So each
neighbour of a pseudoword belongs to one half, and the two halves come apart exactly where their own
maps differ (those of most support, `manymaps.metrics.senses`; chance permutes the halves of each
word's pairs). A model that scatters pairs over maps parts halves as well, but then chance is as
high and the contrast, within - across, is 0.

W. A. Gale, K. W. Church and D. Yarowsky, "Work on statistical methods for word sense
disambiguation", AAAI Fall Symposium 1992. H. Schuetze, "Context space", the same.
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
from manymaps.metrics.senses import SenseSeparation, votes, word_separation

__all__ = ["RATIOS", "HalvesApart", "PseudowordPairs", "Pseudowords", "pseudowords"]

#: Limits of the bands of frequency ratios.
RATIOS = (1.0, 2.0, 4.0, 8.0, 16.0)

# A word with fewer responses has hardly a neighbourhood by which a half could be recognized; not
# tuned.
_LEAST_RESPONSES = 3


@dataclass(frozen=True, eq=False)
class HalvesApart:
    """Which pseudowords' halves come apart; see the module docstring.

    Attributes
    ----------
    apart : ndarray of bool, shape (n_pseudowords,)
        Whether the own maps of the two halves differ.
    overall : SenseSeparation
        `score` is the share that come apart, beside it chance, the standard error, and `contrast`.
    by_ratio : mapping of (float, float) to SenseSeparation
        The same for each band of frequency ratios that has pseudowords.
    """

    apart: np.ndarray
    overall: SenseSeparation
    by_ratio: Mapping[tuple[float, float], SenseSeparation]


class PseudowordPairs(NamedTuple):
    """The pairs of pseudowords with their neighbours, each once; arrays of shape (n_pairs,).

    words, partners : int
        Objects of the merged associations; sorted by the first, then by the second.
    strengths : float
        p_ij + p_ji.
    halves : int
        0 or 1: the half of the pseudoword that the partner belongs to.
    """

    words: np.ndarray
    partners: np.ndarray
    strengths: np.ndarray
    halves: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Pseudowords:
    """Norms in which pairs of words are merged into one; `pseudowords` makes them.

    Attributes
    ----------
    associations : Associations
        The merged norms: the other words first, then the pseudowords. Its `pair_senses` are the
        halves (0 or 1) of cues that are pseudowords, and 0 for other cues.
    halves : tuple of (str, str)
        The two words of each pseudoword.
    ratios : ndarray of shape (n_pseudowords,)
        Frequency ratios, at least 1.
    cue_halves, response_halves : ndarray of int8, shape (associations.n_pairs,)
        For each stored pair the half (0 or 1) of its cue and of its response; -1 where that is
        not a pseudoword.

    See Also
    --------
    pseudowords

    Examples
    --------
    >>> from manymaps import load_word_relations, pseudowords
    >>> made = pseudowords(load_word_relations(), 4)
    >>> len(made.halves), made.associations.labels[-1] == "+".join(made.halves[-1])
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
        """The pseudowords among the objects of `associations`, in the order of `halves`."""
        n = self.associations.n_objects
        return np.arange(n - self.n_pseudowords, n)

    @cached_property
    def pairs(self) -> PseudowordPairs:
        """Each pseudoword with what it recalls and what recalls it, each neighbour once."""
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
        """Which pseudowords' two halves have different own maps in an atlas of the merged norms.

        Parameters
        ----------
        atlas : Atlas
            Fitted to `associations`.
        n_permutations : int > 0
            Permutations for chance.
        random_state : int
            Their seed.

        Returns
        -------
        HalvesApart

        Raises
        ------
        DataError
            Where the atlas holds other objects.
        """
        if tuple(atlas.labels) != tuple(self.associations.labels):
            raise DataError(
                "the atlas does not hold the objects of these pseudowords in their order; fit "
                "`associations` of the same pseudowords"
            )
        model, pairs = atlas.model, self.pairs
        shares = votes(
            atlas.maps,
            atlas.proportions,
            pairs.words,
            pairs.partners,
            model.kernel,
            model.kernel_width,
        )
        return self._apart(shares, n_permutations, random_state)

    def apart_by(
        self, clusters: Any, *, n_permutations: int = 20, random_state: int = 0
    ) -> HalvesApart:
        """The same of any clusters: a half's own cluster is that of most of its strength.

        Parameters
        ----------
        clusters : array-like of shape (len(pairs.words),)
            For each of `pairs` a label of any kind; those of different words are never compared.
        n_permutations, random_state
            As for `apart`.

        Returns
        -------
        HalvesApart

        Raises
        ------
        DataError
            Where there is not one cluster a pair.
        """
        labels, words = np.asarray(clusters), self.pairs.words
        if labels.shape != words.shape:
            raise DataError(
                f"the clusters have shape {labels.shape} for {len(words)} pairs of pseudowords; "
                "give one each, in the order of `pairs`"
            )
        codes = np.unique(labels, return_inverse=True)[1]
        keys, own = np.unique(np.stack([words, codes]), axis=1, return_inverse=True)
        # Clusters are numbered anew for each word, so that the table has few columns.
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
    """Merge pairs of unrelated words of the norms, drawn by lot, as many for each band of ratios.

    Parameters
    ----------
    norms : Associations
        Only words that recall three words or more, and that are recalled, become halves.
    n_pseudowords : int
        At least 1; each takes two words. The bands are those between `RATIOS`, 1 to 16.
    random_state : int
        The seed of the lot.

    Returns
    -------
    Pseudowords

    Raises
    ------
    DataError
        Where there are not as many pairs of unrelated words.

    See Also
    --------
    Pseudowords, metrics.sense_separation

    Examples
    --------
    >>> from manymaps import load_word_relations, pseudowords
    >>> made = pseudowords(load_word_relations(), 4)
    >>> made.associations.n_objects, (made.ratios > [1, 2, 4, 8]).all().item()
    (3196, True)
    >>> made.associations.labels[-1] == "+".join(made.halves[-1])
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

    # A pair of the norms becomes one pair of the merged norms: halves share no neighbour.
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
        notes=(f"{2 * k} words merged two by two",),
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
    """The larger of two frequencies over the smaller."""
    return np.maximum(some, others) / np.minimum(some, others)


def _bands(ratios: np.ndarray) -> np.ndarray:
    """The band of each ratio, the place of its lower limit in `RATIOS`; out of range -1 or last."""
    return np.searchsorted(RATIOS, ratios, side="right") - 1


def _drawn(
    strengths: sparse.csr_array,
    frequencies: np.ndarray,
    n_pseudowords: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Two unrelated words for each pseudoword, shape (n_pseudowords, 2), band by band."""
    neighbors = sparse.csr_array(strengths + strengths.T)
    n = strengths.shape[0]
    groups = np.arange(n)
    free = (np.diff(strengths.indptr) >= _LEAST_RESPONSES) & (frequencies > 0)
    n_bands = len(RATIOS) - 1
    # Rare pairs first: the unlike in frequency, for which the fewest words will do.
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
    found = [pair for pairs in chosen for pair in pairs]
    if len(found) < n_pseudowords:
        raise DataError(
            f"only {len(found)} of {n_pseudowords} pairs of unrelated words were found whose "
            f"frequency ratios are {RATIOS[0]:g} to {RATIOS[-1]:g}, as many in each band; ask "
            "for fewer pseudowords"
        )
    return np.array(found)


def _related(a: int, neighbors: sparse.csr_array, groups: np.ndarray) -> np.ndarray:
    """Which words are a, are associated with it, or have a neighbour in common; (n,) bool.

    Of two words that are merged already each stands for both: `groups` numbers them.
    """
    associates = neighbors.indices[neighbors.indptr[a] : neighbors.indptr[a + 1]]
    near = np.zeros(len(groups), dtype=bool)
    near[groups[associates]] = True
    related = neighbors @ near[groups].astype(np.float64) > 0
    related[associates] = True
    related[a] = True
    return related
