"""Size of the difference between groups, and features of the data that imitate a difference.

**Effect.** Two participants of group g give the same response to a word with the probability A_g. A
participant of g and one of h do so with the probability B_gh. With means over groups and pairs,

    effect = 1 - mean_gh B_gh / mean_g A_g

The effect is 0 if groups agree with one another as much as with themselves, and 1 if they have no
response in common. For two groups it is 1 minus Morisita's (1959) index of overlap. Both
probabilities are counted over pairs of different participants, so that neither the number of
responses nor rare responses bias them. By chance, the effect can be slightly negative.

**Interval.** The jackknife leaves out one unit at a time (a participant with all responses to the
word, or a response), which gives the standard error. The interval is the effect +- t standard
errors, within [0, 1]. Paired participants are left out of all groups at once.

**Senses.** The effect of a sense is the difference of its response shares between two groups. Its
standard error is that of a ratio of sums over units. It is at least binomial with one response
added to the sense and one to the others, so that a sense without responses has an interval too.

M. Morisita, "Measuring of interspecific association and similarity between communities", Memoirs
of the Faculty of Science, Kyushu University E 3 (1959).

Shapes: words (n,); the counts of a group are (n_clusters, n_pairs). A cluster is a unit or a paired
participant, and a pair is a word with one of its responses.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
from scipy import sparse, stats

from manymaps.analysis.group_tests import PermutedUnits
from manymaps.data.responses import GroupedResponses
from manymaps.labels import fold

__all__ = ["agreement_effects", "lost_single_responses", "sense_shifts", "spelling_variants"]

LEVEL = 0.95
# Share of responses that are the only one of their kind. USF has 18 % with its idiosyncratic
# responses and none without; between samples of the same norms the share varies by 1 %.
_MANY_SINGLE, _NO_SINGLE = 0.05, 0.005
# A group prefers a spelling if its share among the two is larger by this than in another group, and
# if Fisher's exact test has at most this p. Between two samples of USF, this lists 4 variants of
# 367, and the difference of shares by itself lists 39.
_PREFERENCE, _SURE = 0.5, 0.05
# Endings and letters of British spellings, each with letters before it that exclude words such as
# four, hour, rise and filling.
_AMERICAN = (
    (r"(?<=[a-z]{3})our", "or"), (r"(?<=[a-z]{3})is(e|ed|er|ing|ation)\b", r"iz\1"),
    (r"ys(?=e)", "yz"), (r"(?<=[a-z]{2}t)re\b", "er"), (r"ogue\b", "og"), (r"ae", "e"),
    (r"(?<=[aeiou][b-df-hj-np-tvw][aeiou])ll(?=ing|ed|er)", "l"), (r"grey", "gray"),
    (r"ence\b", "ense"), (r"[\W_]+", ""),
)  # fmt: skip


def agreement_effects(
    tables: PermutedUnits, n_groups: int, *, paired: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the effect of each word and its 95 % confidence limits.

    Parameters
    ----------
    tables : PermutedUnits
        The responses of all groups to the words.
    n_groups : int
        Number of groups.
    paired : bool
        Whether strata are participants who belong to several groups.

    Returns
    -------
    effect, low, high : ndarray of shape (n_words,)
        NaN if no two participants of a group give the same response.
    """
    n = len(tables.units) - 1
    word_of_unit = np.repeat(np.arange(n), np.diff(tables.units))
    cluster = np.arange(len(word_of_unit))
    sample, word = tables.groups, word_of_unit
    if paired:
        keys = np.stack([word_of_unit, tables.strata])
        (word, _), cluster = np.unique(keys, axis=1, return_inverse=True)
        cluster, sample = cluster.ravel(), np.zeros(len(word), np.int64)
    unit = np.repeat(np.arange(len(word_of_unit)), np.diff(tables.given))
    pair = tables.answers + tables.kinds[word_of_unit[unit]]
    of_group, ones = tables.groups[unit], np.ones(len(unit))
    shape = (len(word), int(tables.kinds[-1]))
    counts = [
        sparse.csr_array(
            (ones[of_group == g], (cluster[unit[of_group == g]], pair[of_group == g])), shape=shape
        )
        for g in range(n_groups)
    ]
    within = [_agreement(one, one, word, tables.kinds) for one in counts]
    between = [_agreement(one, other, word, tables.kinds) for one, other in combinations(counts, 2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        effect, without = (
            1 - np.mean([a / b for a, b in own], axis=0) / np.mean([a / b for a, b in all_], axis=0)
            for own, all_ in (
                ([part[:2] for part in between], [part[:2] for part in within]),
                ([part[2:] for part in between], [part[2:] for part in within]),
            )
        )
        variance, smallest = _jackknife(without, word, sample, n)
    # With Student's t instead of z, coverage is 93 % instead of 91 % for 15 responses per word.
    margin = stats.t.ppf((1 + LEVEL) / 2, np.maximum(smallest - 1, 1)) * np.sqrt(variance)
    effect = np.where(np.isfinite(effect), effect, np.nan)
    # If the agreement within groups rests on two responses, the margin is not finite.
    margin = np.where(np.isfinite(margin), margin, 2.0)
    return effect, *(np.clip(effect + side * margin, 0.0, 1.0) for side in (-1, 1))


def _agreement(
    one: sparse.csr_array, other: sparse.csr_array, word: np.ndarray, kinds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Count the pairs of responses of different clusters that agree, and all such pairs.

    The counts are those of each word, and for each cluster those of its word without the cluster.
    """
    n = len(kinds) - 1
    word_of_pair = np.repeat(np.arange(n), np.diff(kinds))
    sums = [x.sum(axis=0) for x in (one, other)]
    sizes = [x.sum(axis=1) for x in (one, other)]
    totals = [np.bincount(word, size, minlength=n) for size in sizes]
    same = one.multiply(other).sum(axis=1)
    agreeing = np.bincount(word_of_pair, sums[0] * sums[1], minlength=n)
    agreeing -= np.bincount(word, same, minlength=n)
    possible = totals[0] * totals[1] - np.bincount(word, sizes[0] * sizes[1], minlength=n)
    lost = one @ sums[1] + other @ sums[0] - 2 * same
    lost_possible = sizes[0] * totals[1][word] + sizes[1] * totals[0][word]
    lost_possible -= 2 * sizes[0] * sizes[1]
    return agreeing, possible, agreeing[word] - lost, possible[word] - lost_possible


def _jackknife(
    without: np.ndarray, word: np.ndarray, sample: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of each word, and the size m of its smallest sample.

    It is the sum over samples of (m - 1) / m sum (x - mean)^2.
    """
    n_samples = int(sample.max()) + 1
    key = word * n_samples + sample
    sizes = np.maximum(np.bincount(key, minlength=n * n_samples), 1)
    means = np.bincount(key, without, minlength=len(sizes)) / sizes
    squares = np.bincount(key, (without - means[key]) ** 2, minlength=len(sizes))
    parts = (squares * (sizes - 1) / sizes).reshape(n, n_samples)
    return parts.sum(axis=1), sizes.reshape(n, n_samples).min(axis=1)


def sense_shifts(tables: PermutedUnits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the difference of each sense's response shares, second group minus first.

    Parameters
    ----------
    tables : PermutedUnits
        The responses of two groups. Paired participants count as different ones, which makes
        intervals wider.

    Returns
    -------
    shift, low, high : ndarray of shape (n_senses,)
        Differences in [-1, 1] with their 95 % confidence limits.
    """
    n, n_units = len(tables.units) - 1, len(tables.groups)
    word = np.repeat(np.arange(n), np.diff(tables.units))
    unit = np.repeat(np.arange(n_units), np.diff(tables.given))
    sizes = np.diff(tables.tests) - 1
    owners, first = np.repeat(np.arange(n), sizes), np.cumsum(sizes) - sizes
    number = tables.senses[tables.answers + tables.kinds[word[unit]]]
    inside = number >= 0
    cells = unit[inside], (first[word[unit]] + number)[inside]
    shape = (n_units, len(owners))
    in_sense = sparse.csr_array((np.ones(inside.sum()), cells), shape=shape)
    in_sense.sum_duplicates()
    given = np.bincount(unit, minlength=n_units).astype(np.float64)
    shares, variances, smallest = [], [], np.full(n, n_units)
    for g in (0, 1):
        mine = tables.groups == g
        sums, squares, m = (np.bincount(word[mine], given[mine] ** k, n) for k in (1, 2, 0))
        rows = in_sense[mine]
        tables_of_sums = rows, rows.multiply(rows), rows.multiply(given[mine, None])
        y, y_squares, y_given = (table.sum(axis=0) for table in tables_of_sums)
        total, share = sums[owners], y / sums[owners]
        spread = y_squares - 2 * share * y_given + share**2 * squares[owners]
        added = (y + 1) / (total + 2)
        variance = (m / np.maximum(m - 1, 1))[owners] * spread / total**2
        variances.append(np.maximum(variance, added * (1 - added) / (total + 2)))
        shares.append(share)
        smallest = np.minimum(smallest, m)
    shift = shares[1] - shares[0]
    t = stats.t.ppf((1 + LEVEL) / 2, np.maximum(smallest - 1, 1))[owners]
    margin = t * np.sqrt(variances[0] + variances[1])
    return shift, *(np.clip(shift + side * margin, -1.0, 1.0) for side in (-1, 1))


def lost_single_responses(found: GroupedResponses, words: np.ndarray) -> str:
    """Return a warning if a group lacks the responses that were given once; else an empty text.

    Published norms often leave such responses out. Compared with complete norms, every word then
    seems to differ.
    """
    shares = []
    for g in range(found.n_groups):
        counts = found.counts(g)[words].data
        shares.append(counts[counts == 1].sum() / counts.sum())
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    if shares[most] < _MANY_SINGLE or shares[least] > _NO_SINGLE:
        return ""
    return (
        f"warning: {found.names[least]!r} lacks responses given once, which are "
        f"{shares[most]:.0%} of {found.names[most]!r}; words therefore seem to differ: remove such "
        "responses from all groups, or from none"
    )


def spelling_variants(found: GroupedResponses) -> list[tuple[str, str, int]]:
    """Find labels that groups spell differently, such as colour and color.

    Spellings are compared without case, accents, spaces and hyphens, and with British forms
    replaced by American ones.

    Parameters
    ----------
    found : GroupedResponses
        The responses of all groups.

    Returns
    -------
    list of (str, str, int)
        Two spellings and their number of uses as cues or responses, the most frequent first. The
        groups prefer different ones.
    """
    by_key: dict[str, list[int]] = {}
    for i, label in enumerate(found.labels):
        by_key.setdefault(_spelling_key(label), []).append(i)
    alike = [group for group in by_key.values() if len(group) > 1]
    if not alike:
        return []
    uses = np.stack([found.counts(g).sum(axis=0) for g in range(found.n_groups)])
    uses = uses + (found.totals() > 0)
    variants = []
    for one, other in (pair for group in alike for pair in combinations(group, 2)):
        both = uses[:, [one, other]]
        share = both[:, 0] / np.maximum(both.sum(axis=1), 1)
        extremes = both[[share.argmin(), share.argmax()]]
        if np.ptp(share) >= _PREFERENCE and stats.fisher_exact(extremes).pvalue <= _SURE:
            variants.append((found.labels[one], found.labels[other], int(both.sum())))
    return sorted(variants, key=lambda variant: (-variant[2], variant))


def _spelling_key(label: str) -> str:
    """Return a text that variants of one spelling share.

    >>> [_spelling_key(label) for label in ("Ice-cream", "ice cream", "colour", "realising")]
    ['icecream', 'icecream', 'color', 'realizing']
    >>> [_spelling_key(label) for label in ("centre", "analyse", "travelling", "hour", "filling")]
    ['center', 'analyze', 'traveling', 'hour', 'filling']
    """
    key = fold(label)
    for pattern, plain in _AMERICAN:
        key = re.sub(pattern, plain, key)
    return key
