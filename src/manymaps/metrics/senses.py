"""Measures that can only be asked of many maps: are senses kept apart, are associates recalled.

**Separation of senses.** Where it is known which sense s of object i each stored pair (i, j) comes
from, good maps keep the pairs of one sense together and those of two senses apart. A pair votes for
the maps by what they contribute to its similarity,

    r_ij^m = v_ij^m / sum_m v_ij^m,      v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2)

and a sense by the votes of its pairs, weighted by their strengths,

    support_is^m = sum over j in s  p_ij r_ij^m / sum over j in s  p_ij

Its own map is the one of most support. Adding up v instead of r would leave the own map to the one
pair that happens to lie nearest. From this come, as means over the words that have at least two
senses of at least two pairs each (other senses are left out):

    score       the share of a word's pairs of senses whose own maps differ
    chance      the same with the senses of each word's pairs permuted
    within      how far two pairs of one sense agree on their map:   sum_m r_ij^m r_ik^m
    across      how far two pairs of different senses of a word agree, weighted by p_ij p_ik

The score alone can mislead: it is 0 for one map, but 1 where every pair has a map to itself. Then
chance is 1 as well, so read the two together, or `contrast` = within - across: it is 0 both for one
map and for pairs scattered at random, and 1 only where every sense keeps to one map that no other
sense of the word shares.

**Recall of the strongest.** The share of objects whose strongest partner in the data is among the k
most similar ones under the model.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.checks import check_choice, check_number, check_whole
from manymaps.errors import DataError
from manymaps.metrics.measures import standard_error
from manymaps.model.similarities import kernel_values, map_votes

__all__ = [
    "SenseSeparation", "WordSeparation", "sense_separation", "strongest_recall", "votes",
    "word_separation",
]  # fmt: skip

# Objects per block: bounds memory.
_BLOCK = 512
_NEGLIGIBLE = 1e-5


@dataclass(frozen=True)
class SenseSeparation:
    """How well maps separate the senses of words; the module docstring has the formulas.

    Attributes
    ----------
    score, chance : float in [0, 1]
        Share of the pairs of senses that have different maps, and its mean over permutations.
    standard_error : float
        Of the score, over words.
    within, across : float in [0, 1]
        Agreement on the map of two pairs of one sense, and of two senses of a word.
    n_words : int
        Words with at least two senses of at least two pairs each.

    See Also
    --------
    sense_separation

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import sense_separation
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1.0]] + [[0.0] * 5] * 4)  # tie: knot rope, suit coat
    >>> proportions = np.array([[.5, 1, 1, 0, 0], [.5, 0, 0, 1, 1]])
    >>> found = sense_separation(np.zeros((2, 5, 2)), proportions, ties, np.array([0, 0, 1, 1]))
    >>> found.score, found.within, found.across
    (1.0, 1.0, 0.0)
    """

    score: float
    chance: float
    standard_error: float
    within: float
    across: float
    n_words: int

    @property
    def contrast(self) -> float:
        """`within - across`: 0 for one map or for pairs scattered at random, at most 1."""
        return self.within - self.across


@dataclass(frozen=True, eq=False)
class WordSeparation:
    """What the means of `SenseSeparation` are taken over; each array has shape (n_words,).

    Attributes
    ----------
    words : ndarray of int
        The objects that count, by rising number.
    score, chance, within, across : ndarray of float in [0, 1]
        The formulas of the module docstring, word by word; chance is a mean over permutations.
    """

    words: np.ndarray
    score: np.ndarray
    chance: np.ndarray
    within: np.ndarray
    across: np.ndarray

    def mean(self, chosen: np.ndarray | slice = slice(None)) -> SenseSeparation:
        """Means over all words, or over those that a mask or an array of places chooses."""
        score = self.score[chosen]
        columns = (score, self.chance[chosen], self.within[chosen], self.across[chosen])
        score_, chance, within, across = (float(column.mean()) for column in columns)
        return SenseSeparation(score_, chance, standard_error(score), within, across, len(score))


@dataclass(frozen=True)
class _Groups:
    """The senses that count: the word and the sense (both counted from 0) of each pair.

    `objects` are the numbers of these words among all objects.
    """

    words: np.ndarray
    senses: np.ndarray
    word_of_sense: np.ndarray
    objects: np.ndarray

    @property
    def n_words(self) -> int:
        return len(self.objects)


def sense_separation(
    maps: np.ndarray,
    proportions: np.ndarray,
    strengths: sparse.csr_array,
    pair_senses: np.ndarray,
    *,
    kernel: str = "cauchy",
    kernel_width: float = 1.0,
    n_permutations: int = 20,
    random_state: int = 0,
) -> SenseSeparation:
    """How often two senses of a word have their own map, with chance beside it.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n_objects, n_components)
    proportions : ndarray of shape (n_maps, n_objects)
    strengths : sparse array of shape (n_objects, n_objects)
        The weights of the pairs, with sorted indices.
    pair_senses : ndarray of int, shape (n_pairs,)
        The sense of the row's object that each stored pair comes from, in row-major order.
    kernel : {"cauchy", "gaussian"}
    kernel_width : float > 0
    n_permutations : int > 0
        Permutations for chance.
    random_state : int
        Their seed.

    Returns
    -------
    SenseSeparation

    Raises
    ------
    DataError
        Where shapes disagree, or no object has two senses of two pairs each.
    ParameterError
        For an unknown kernel, or a width or a number of permutations that is not positive.

    See Also
    --------
    SenseSeparation, sense_induction, manymaps.pseudowords

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import sense_separation
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1.0]] + [[0.0] * 5] * 4)   # tie: knot rope, suit coat
    >>> proportions = np.array([[.5, 1, 1, 0, 0], [.5, 0, 0, 1, 1]])
    >>> found = sense_separation(np.zeros((2, 5, 2)), proportions, ties, np.array([0, 0, 1, 1]))
    >>> found.score, found.contrast, found.n_words
    (1.0, 1.0, 1)
    """
    strengths = sparse.csr_array(strengths, dtype=np.float64)
    _check(maps, proportions, strengths)
    rows = np.repeat(np.arange(strengths.shape[0]), np.diff(strengths.indptr))
    shares = votes(maps, proportions, rows, strengths.indices, kernel, kernel_width)
    return word_separation(
        shares, strengths, pair_senses, n_permutations=n_permutations, random_state=random_state
    ).mean()


def word_separation(
    shares: np.ndarray,
    strengths: sparse.csr_array,
    pair_senses: np.ndarray,
    *,
    n_permutations: int = 20,
    random_state: int = 0,
) -> WordSeparation:
    """What `sense_separation` says, word by word, of any votes of pairs for maps or clusters.

    Parameters
    ----------
    shares : ndarray of shape (n_pairs, n_maps)
        r_ij^m of each stored pair, as `votes` gives them; of clusters, 1 for the pair's own.
    strengths, pair_senses, n_permutations, random_state
        As for `sense_separation`.

    Returns
    -------
    WordSeparation

    Raises
    ------
    DataError, ParameterError
        As `sense_separation` does.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1.0]] + [[0.0] * 5] * 4)
    >>> found = word_separation(np.eye(2)[[0, 0, 1, 1]], ties, np.array([0, 0, 1, 1]))
    >>> found.words.tolist(), found.score.tolist(), found.mean().n_words
    ([0], [1.0], 1)
    """
    strengths = sparse.csr_array(strengths, dtype=np.float64)
    pair_senses = np.asarray(pair_senses)
    if pair_senses.shape != (strengths.nnz,):
        raise DataError(
            f"pair_senses has shape {pair_senses.shape} for {strengths.nnz} stored pairs; give one "
            "sense per pair"
        )
    if shares.ndim != 2 or len(shares) != strengths.nnz:
        raise DataError(
            f"the shares have shape {shares.shape} for {strengths.nnz} stored pairs; give a row "
            "for each"
        )
    check_whole("n_permutations", n_permutations)
    rows = np.repeat(np.arange(strengths.shape[0]), np.diff(strengths.indptr))
    positive = np.flatnonzero(strengths.data > 0)
    kept, groups = _senses_that_count(rows[positive], pair_senses[positive])
    kept = positive[kept]
    weights, shares = strengths.data[kept], shares[kept]

    rng = np.random.default_rng(random_state)
    order = np.argsort(groups.words, kind="stable")
    chance = np.zeros(groups.n_words)
    for _ in range(n_permutations):
        permuted = np.empty_like(groups.senses)
        permuted[order] = groups.senses[np.lexsort((rng.random(len(order)), groups.words))]
        chance += _separated(shares, weights, permuted, groups)
    return WordSeparation(
        groups.objects,
        _separated(shares, weights, groups.senses, groups),
        chance / n_permutations,
        *_agreement(shares, weights, groups),
    )


def strongest_recall(
    maps: np.ndarray,
    proportions: np.ndarray,
    strengths: sparse.csr_array,
    *,
    k: int = 10,
    kernel: str = "cauchy",
    kernel_width: float = 1.0,
) -> float:
    """Share of the objects whose strongest partner is among the k most similar under the model.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
    proportions : ndarray of shape (n_maps, n)
    strengths : sparse array of shape (n, n)
        Rows without entries do not count; of equally strong partners the first does.
    k : int
    kernel : {"cauchy", "gaussian"}
    kernel_width : float

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    DataError
        Where no row has an entry.

    See Also
    --------
    kl_divergence, manymaps.evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import strongest_recall
    >>> line = np.arange(5.0)[None, :, None]
    >>> next_one = sparse.csr_array(np.eye(5, k=1))
    >>> strongest_recall(line, np.ones((1, 5)), next_one, k=2)
    1.0
    """
    table = sparse.csr_array(strengths)
    rows = np.flatnonzero(np.diff(table.indptr))
    if len(rows) == 0:
        raise DataError("no row of the strengths has an entry; there is nothing to recall")
    strongest = np.array(
        [table.indices[a + int(np.argmax(table.data[a:b]))]
         for a, b in zip(table.indptr[rows], table.indptr[rows + 1], strict=True)]
    )  # fmt: skip
    hits = 0
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        similar = _similarities(maps / kernel_width, proportions, block, kernel)
        wanted = similar[np.arange(len(block)), strongest[start : start + _BLOCK]]
        hits += int(((similar > wanted[:, None]).sum(axis=1) < k).sum())
    return hits / len(rows)


def _similarities(
    maps: np.ndarray, proportions: np.ndarray, rows: np.ndarray, kernel: str
) -> np.ndarray:
    """v_ij of some rows with all objects, shape (rows, n), the row's own entry at -1.

    Only objects with more than a negligible proportion in a map are looked at there.
    """
    similar = np.zeros((len(rows), maps.shape[1]))
    for positions, share in zip(maps.astype(np.float64), proportions, strict=True):
        near = np.flatnonzero(share > _NEGLIGIBLE)
        mine = np.flatnonzero(share[rows] > _NEGLIGIBLE)
        if len(near) == 0 or len(mine) == 0:
            continue
        left, right = positions[rows[mine]], positions[near]
        d2 = (left**2).sum(1)[:, None] + (right**2).sum(1) - 2 * left @ right.T
        similarity = kernel_values(np.maximum(d2, 0), kernel)
        similar[np.ix_(mine, near)] += share[rows[mine]][:, None] * share[near] * similarity
    similar[np.arange(len(rows)), rows] = -1.0
    return similar


def _check(maps: np.ndarray, proportions: np.ndarray, strengths: sparse.csr_array) -> None:
    n = strengths.shape[0]
    if maps.ndim != 3 or maps.shape[1] != n or proportions.shape != maps.shape[:2]:
        raise DataError(
            f"maps of shape {maps.shape} and proportions of shape {proportions.shape} do not fit "
            f"strengths of {n} objects; they must be (maps, objects, components) and "
            "(maps, objects)"
        )


def _senses_that_count(rows: np.ndarray, pair_senses: np.ndarray) -> tuple[np.ndarray, _Groups]:
    """Positions of the pairs of words with two senses of two pairs, and their groups."""
    keys, sense, sizes = np.unique(
        np.stack([rows, pair_senses]), axis=1, return_inverse=True, return_counts=True
    )
    large = sizes >= 2
    rich = np.bincount(keys[0][large], minlength=rows.max(initial=0) + 1) >= 2
    counts = large & rich[keys[0]]
    if not counts.any():
        raise DataError(
            "no object has two senses with two stored pairs each, so there is nothing to separate"
        )
    kept = np.flatnonzero(counts[sense])
    objects, word_of_sense = np.unique(keys[0][counts], return_inverse=True)
    senses = (np.cumsum(counts) - 1)[sense[kept]]
    return kept, _Groups(word_of_sense[senses], senses, word_of_sense, objects)


def votes(
    maps: np.ndarray,
    proportions: np.ndarray,
    cues: np.ndarray,
    responses: np.ndarray,
    kernel: str,
    kernel_width: float,
) -> np.ndarray:
    """r_ij^m for each pair (cue, response), shape (n_pairs, n_maps); 0 where no map has both."""
    check_choice("kernel", kernel, ("cauchy", "gaussian"))
    check_number("kernel_width", kernel_width, above=0)
    with np.errstate(divide="ignore"):
        log_proportions = np.log(proportions.astype(np.float64))
    places = maps.astype(np.float64) / kernel_width
    return map_votes(places, log_proportions, cues, responses, kernel)


def _sums(values: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Sums of the rows of values over groups, shape (n_groups, columns)."""
    shape = (n_groups, len(groups))
    members = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape)
    return members @ values


def _separated(
    shares: np.ndarray, weights: np.ndarray, senses: np.ndarray, groups: _Groups
) -> np.ndarray:
    """For each word the share of its pairs of senses whose own maps differ."""
    n_maps = shares.shape[1]
    support = _sums(shares * weights[:, None], senses, len(groups.word_of_sense))
    places = groups.word_of_sense * n_maps + support.argmax(axis=1)
    together = np.bincount(places, minlength=groups.n_words * n_maps)
    together = (together * (together - 1)).reshape(groups.n_words, n_maps).sum(axis=1)
    n_senses = np.bincount(groups.word_of_sense)
    return 1 - together / (n_senses * (n_senses - 1))


def _agreement(
    shares: np.ndarray, weights: np.ndarray, groups: _Groups
) -> tuple[np.ndarray, np.ndarray]:
    """Agreement on the map of two pairs of each word: of one sense, and of different senses."""

    def over(groups_of_pairs: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
        agreement = (_sums(weighted, groups_of_pairs, n_groups) ** 2).sum(axis=1)
        agreement -= np.bincount(groups_of_pairs, (weighted**2).sum(axis=1), n_groups)
        possible = np.bincount(groups_of_pairs, weights, n_groups) ** 2
        return agreement, possible - np.bincount(groups_of_pairs, weights**2, n_groups)

    weighted = shares * weights[:, None]
    of_senses = over(groups.senses, len(groups.word_of_sense))
    inside, inside_possible = (
        np.bincount(groups.word_of_sense, values, groups.n_words) for values in of_senses
    )
    everything, possible = over(groups.words, groups.n_words)
    within = inside / inside_possible
    across = (everything - inside) / (possible - inside_possible)
    return within, across
