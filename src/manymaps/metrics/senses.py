"""Separation of senses by maps, and recall of the strongest associates.

**Separation of senses.** Suppose that the sense s of object i is known for each stored pair (i, j).
Good maps then put the pairs of one sense in one map, and the pairs of different senses in different
maps. A pair votes for the maps in proportion to their contributions to the similarity of the pair,

    r_ij^m = v_ij^m / sum_m v_ij^m,      v_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2 / width^2)

and the support of a sense is the mean of the votes of its pairs, weighted by their strengths,

    support_is^m = sum over j in s  p_ij r_ij^m / sum over j in s  p_ij

The own map of a sense is the map with the most support. With sums of v instead of r, the own map
would depend on the single pair with the nearest positions. The following measures are means over
the words that have at least two senses with at least two pairs each (other senses are excluded):

    score       the share of a word's pairs of senses whose own maps differ
    chance      the same with the senses of each word's pairs permuted
    within      agreement of two pairs of one sense on their map:   sum_m r_ij^m r_ik^m
    across      agreement of two pairs of different senses of a word, weighted by p_ij p_ik

The score by itself can be misleading. It is 0 for one map, but 1 if every pair has its own map. In
the latter case, chance is also 1, so interpret the score and chance together. Alternatively, use
`contrast` = within - across. The contrast is 0 both for one map and for pairs scattered at random.
It is 1 only if every sense has one map that no other sense of the word uses.

**Recall of the strongest associates.** This is the share of objects whose strongest associate in
the data is among the k most similar objects under the model.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.checks import check_number, check_whole
from manymaps.errors import DataError
from manymaps.metrics.measures import standard_error
from manymaps.model.choice import StoredKernel, check_kernel
from manymaps.model.similarities import kernel_values, map_votes

# Number of objects per block, which limits memory.
_BLOCK = 512
_NEGLIGIBLE = 1e-5


@dataclass(frozen=True)
class SenseSeparation:
    """Separation of the senses of words by maps.

    The docstring of the module `manymaps.metrics.senses` contains the formulas.

    Attributes
    ----------
    score, chance : float in [0, 1]
        Share of the pairs of senses whose own maps differ, and its mean over permutations.
    standard_error : float
        Standard error of the score over words.
    within, across : float in [0, 1]
        Mean agreement on the map between two pairs of one sense, and between pairs of two senses of
        a word.
    n_words : int
        Number of words with at least two senses that have at least two pairs each.

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
    >>> result = sense_separation(np.zeros((2, 5, 2)), proportions, ties, np.array([0, 0, 1, 1]))
    >>> result.score, result.within, result.across
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
        """Return `within - across`, at most 1; 0 for one map or for randomly scattered pairs."""
        return self.within - self.across


@dataclass(frozen=True, eq=False)
class WordSeparation:
    """Values per word over which `SenseSeparation` averages; each array has shape (n_words,).

    Attributes
    ----------
    words : ndarray of int
        Indices of the evaluated objects, in ascending order.
    score, chance, within, across : ndarray of float in [0, 1]
        Measures of each word, as defined in the module docstring. Chance is a mean over
        permutations.
    """

    words: np.ndarray
    score: np.ndarray
    chance: np.ndarray
    within: np.ndarray
    across: np.ndarray

    def mean(self, chosen: np.ndarray | slice = slice(None)) -> SenseSeparation:
        """Average over all words, or over the words that a mask or an array of indices selects."""
        score = self.score[chosen]
        columns = (score, self.chance[chosen], self.within[chosen], self.across[chosen])
        score_, chance, within, across = (float(column.mean()) for column in columns)
        return SenseSeparation(score_, chance, standard_error(score), within, across, len(score))


@dataclass(frozen=True)
class _Groups:
    """Evaluated senses: the word and the sense (both numbered from 0) of each pair.

    `objects` contains the indices of these words among all objects.
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
    kernel: StoredKernel = "cauchy",
    kernel_width: float = 1.0,
    n_permutations: int = 20,
    random_state: int = 0,
) -> SenseSeparation:
    """Measure how often two senses of a word have different maps, compared with chance.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n_objects, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n_objects)
        Mixing proportions.
    strengths : sparse array of shape (n_objects, n_objects)
        Weights of the pairs, with sorted indices.
    pair_senses : ndarray of int, shape (n_pairs,)
        Sense of the row's object that each stored pair comes from, in row-major order.
    kernel : {"cauchy", "gaussian"}, default="cauchy"
        Kernel of the model.
    kernel_width : float > 0, default=1.0
        Width of the kernel, in units of the positions.
    n_permutations : int > 0, default=20
        Number of permutations for `chance`.
    random_state : int, default=0
        Seed of the permutations.

    Returns
    -------
    SenseSeparation
        Means over the evaluated words.

    Raises
    ------
    DataError
        If shapes do not match, or if no object has two senses with two pairs each.
    ParameterError
        If the kernel is unknown, or if the width or the number of permutations is not positive.

    See Also
    --------
    SenseSeparation, sense_induction

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps.metrics import sense_separation
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1.0]] + [[0.0] * 5] * 4)   # tie: knot rope, suit coat
    >>> proportions = np.array([[.5, 1, 1, 0, 0], [.5, 0, 0, 1, 1]])
    >>> result = sense_separation(np.zeros((2, 5, 2)), proportions, ties, np.array([0, 0, 1, 1]))
    >>> result.score, result.contrast, result.n_words
    (1.0, 1.0, 1)
    """
    strengths = sparse.csr_array(strengths, dtype=np.float64)
    check_maps(maps, proportions, strengths.shape[0])
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
    """Compute the measures of `sense_separation` per word from votes of pairs for groups.

    Parameters
    ----------
    shares : ndarray of shape (n_pairs, n_maps)
        Votes r_ij^m of each stored pair, as `votes` returns them. For clusters, use 1 for the
        pair's cluster and 0 for the others.
    strengths, pair_senses, n_permutations, random_state
        See `sense_separation`.

    Returns
    -------
    WordSeparation
        Measures of each evaluated word.

    Raises
    ------
    DataError, ParameterError
        If an argument is invalid, as for `sense_separation`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> ties = sparse.csr_array([[0, 1, 1, 1, 1.0]] + [[0.0] * 5] * 4)
    >>> result = word_separation(np.eye(2)[[0, 0, 1, 1]], ties, np.array([0, 0, 1, 1]))
    >>> result.words.tolist(), result.score.tolist(), result.mean().n_words
    ([0], [1.0], 1)
    """
    strengths = sparse.csr_array(strengths, dtype=np.float64)
    pair_senses = np.asarray(pair_senses)
    if pair_senses.shape != (strengths.nnz,):
        raise DataError(
            f"pair_senses has shape {pair_senses.shape} for {strengths.nnz} stored pairs; pass one "
            "sense per pair"
        )
    if shares.ndim != 2 or len(shares) != strengths.nnz:
        raise DataError(
            f"the shares have shape {shares.shape} for {strengths.nnz} stored pairs; pass one row "
            "per pair"
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
    kernel: StoredKernel = "cauchy",
    kernel_width: float = 1.0,
) -> float:
    """Compute the share of objects whose strongest associate is among the k most similar objects.

    Parameters
    ----------
    maps : ndarray of shape (n_maps, n, n_components)
        Positions in all maps.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions.
    strengths : sparse array of shape (n, n)
        Strengths of the associates. Rows without entries are ignored. Among equally strong
        associates, the first is used.
    k : int, default=10
        Number of most similar objects under the model.
    kernel : {"cauchy", "gaussian"}, default="cauchy"
        Kernel of the model.
    kernel_width : float, default=1.0
        Width of the kernel, in units of the positions.

    Returns
    -------
    float in [0, 1]
        Share of the objects with entries.

    Raises
    ------
    DataError
        If no row has an entry.

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
        raise DataError("no row of the strengths has an entry; pass at least one associate")
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
    maps: np.ndarray, proportions: np.ndarray, rows: np.ndarray, kernel: StoredKernel
) -> np.ndarray:
    """Compute v_ij between some rows and all objects, shape (rows, n); a row's own entry is -1.

    In each map, objects with a negligible proportion are ignored.
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


def check_maps(maps: np.ndarray, proportions: np.ndarray, n: int | None = None) -> None:
    """Check that maps and proportions have matching shapes, with n objects if n is passed."""
    n = maps.shape[1] if n is None and maps.ndim == 3 else n
    if maps.ndim != 3 or maps.shape[1] != n or proportions.shape != maps.shape[:2]:
        raise DataError(
            f"maps of shape {maps.shape} and proportions of shape {proportions.shape} do not match "
            f"(maps, {'objects' if n is None else n}, components) and (maps, objects)"
        )


def _senses_that_count(rows: np.ndarray, pair_senses: np.ndarray) -> tuple[np.ndarray, _Groups]:
    """Find and group the pairs of words that have two senses with two pairs each."""
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
    kernel: StoredKernel,
    kernel_width: float,
) -> np.ndarray:
    """Compute r_ij^m for pairs (cue, response), shape (n_pairs, n_maps); 0 if no map has both."""
    check_kernel(kernel)
    check_number("kernel_width", kernel_width, above=0)
    with np.errstate(divide="ignore"):
        log_proportions = np.log(proportions.astype(np.float64))
    places = maps.astype(np.float64) / kernel_width
    return map_votes(places, log_proportions, cues, responses, kernel)


def _sums(values: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Sum the rows of values over groups, shape (n_groups, columns)."""
    shape = (n_groups, len(groups))
    members = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape)
    return members @ values


def _separated(
    shares: np.ndarray, weights: np.ndarray, senses: np.ndarray, groups: _Groups
) -> np.ndarray:
    """Compute the share of each word's pairs of senses whose own maps differ."""
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
    """Compute each word's agreement between two pairs on the map, within and across senses."""

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
