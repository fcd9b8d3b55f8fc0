"""Ambiguity of words: the effective number of senses, averaged over fits.

Let s_k be the shares of the senses that a fit lists for a word (`Atlas.senses`). Then

    t_k = s_k / sum_k' s_k',      H = -sum_k t_k log2 t_k,      ambiguity = 2^H

is the number of equally large senses with the same uncertainty (Hill 1973, the diversity of order
1). The ambiguity is 1 for a word with one sense, and it is at most the number of senses listed.
Groups with a share below `min_share` are not counted as senses, either separately or together. The
shares are therefore normalized over the senses listed, without a remainder. If no associations of a
word are known, the shares are the weights of the maps that are counted as its senses.

The value of `ambiguity` is the mean over the fits. The variation between samples of participants is
estimated in one of two ways. First, the atlases may be fitted to resampled responses, like all fits
of `repeat_fits(bootstrap=...)` except the first. In this case, `standard_error` is the bootstrap
standard error: the standard deviation over the fits (n - 1 in the denominator, not divided by the
root of n). Alternatively, the responses stored in one atlas are resampled `n_resamples` times and
grouped again. Groups and shares are computed from the observed responses, before any map is fitted,
so resampling gives the same result without further fits. The value of `ambiguity` is then computed
from the data themselves. The mean over samples would be slightly biased, because samples lack some
responses that were given once. Because groups do not depend on the maps, fits to the same data from
several seeds have a standard error of 0, except for words without known associations.

M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.analysis.object_order import in_order_of
from manymaps.analysis.senses import fit_senses
from manymaps.atlas.answers import LEVELS, Level
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.atlas import LEAST_SHARE, LEAST_WEIGHT, Atlas
from manymaps.atlas.meanings import meaning_space
from manymaps.atlas.senses import sense_groups
from manymaps.checks import check_choice, check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.resampling import N_RESPONSES, resampled
from manymaps.data.results import TabularResult, label_columns
from manymaps.errors import DataError, ParameterError
from manymaps.labels import plural
from manymaps.metrics.measures import ratio
from manymaps.seeds import drawn_generator


@dataclass(frozen=True, eq=False, repr=False)
class Ambiguity(TabularResult):
    """Effective number of senses of each word, with standard errors.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels of the words, in the order of the first atlas.
    ambiguity : ndarray of shape (n,)
        Effective number of senses, at least 1. It is NaN for a word without senses.
    standard_error : ndarray of shape (n,)
        Standard deviation over resampled responses or, without resampling, over fits. It is NaN for
        fewer than two samples or fits.
    n_senses : ndarray of shape (n,)
        Number of senses listed, averaged over fits.
    n_fits : ndarray of int, shape (n,)
        Number of fits that list a sense of the word.
    effective_responses : ndarray of shape (n,)
        Value of 2^H for the observed associations in the first atlas. It is NaN if no associations
        are known.
    distinct_responses : ndarray of int, shape (n,)
        Number of different responses among the strongest responses, which an atlas stores
        (`manymaps.atlas.associations`). It is 0 if no associations are known.
    kinds : tuple of str, length n, or None
        Kind of each object, if the atlas is bipartite.

    See Also
    --------
    ambiguity

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, ambiguity
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> senses = ambiguity(atlas)
    >>> dict(zip(senses.labels, senses.ambiguity.tolist()))
    {'tie': 2.0, 'knot': 1.0, 'suit': 1.0}
    """

    labels: tuple[str, ...]
    ambiguity: np.ndarray
    standard_error: np.ndarray
    n_senses: np.ndarray
    n_fits: np.ndarray
    effective_responses: np.ndarray
    distinct_responses: np.ndarray
    kinds: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        words, fits = plural("word", len(self.labels)), plural("fit", int(self.n_fits.max()))
        return f"<Ambiguity of {words} over {fits}>"

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Return all columns by name, one value per word, with the kind if there are two kinds."""
        arrays = {name: part for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return label_columns(self.labels, self.kinds) | arrays


def ambiguity(
    atlases: Atlas | Sequence[Atlas],
    *,
    min_share: float = LEAST_SHARE,
    min_weight: float = LEAST_WEIGHT,
    level: Level = "meaning",
    n_resamples: int = 0,
    n_responses: int = N_RESPONSES,
    random_state: int | np.random.Generator | None = None,
) -> Ambiguity:
    """Measure the ambiguity of each word by the shares of its senses in one or more fits.

    Parameters
    ----------
    atlases : Atlas or sequence of Atlas
        Fits of the same objects, in any order, to one data set or to `resampled` responses. A
        single atlas that contains a consensus (`Stability.attach`) represents the fits of that
        consensus, with the senses that the consensus lists for each fit. If the consensus merges
        two senses of a fit, they are counted as one sense.
    min_share : float in [0, 1], optional
        Minimum share of a word's associations that a group must contain to be counted as a sense.
        The largest group is always counted.
    min_weight : float in [0, 1], optional
        Minimum map weight of a sense, if no associations of a word are known.
    level : {"meaning", "fine"}, default="meaning"
        Whether senses are meanings or the fine groups within meanings, as for `Atlas.senses`. A
        consensus has the level of its fits.
    n_resamples : int, default=0
        Number of times to resample the responses stored in the first atlas, 0 or at least 2. If 0,
        the standard error is computed from the fits. For words without known associations, the
        standard error is always computed from the fits.
    n_responses : int, optional
        Number of responses per cue, which an atlas does not store.
    random_state : int, Generator or None, default=None
        Seed of the resampling. None draws a seed once from NumPy's global state.

    Returns
    -------
    Ambiguity
        Ambiguity of each word. If only some fits contain associations of a word, only these fits
        are used.

    Raises
    ------
    DataError
        If there is no atlas, or if the fits contain different objects.
    ParameterError
        If a value is out of its range.

    See Also
    --------
    Ambiguity, intervals, Atlas.senses

    Examples
    --------
    *Tie* is in both maps with equal proportions, and *knot* and *suit* are in one map each.

    >>> import numpy as np
    >>> from manymaps import Atlas, ambiguity
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> senses = ambiguity(Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE))
    >>> senses.ambiguity.tolist(), senses.standard_error.tolist()
    ([2.0, 1.0, 1.0], [nan, nan, nan])
    """
    check_number("min_share", min_share, least=0, most=1)
    check_number("min_weight", min_weight, least=0, most=1)
    check_choice("level", level, LEVELS)
    check_whole("n_resamples", n_resamples, 0)
    if n_resamples == 1:
        raise ParameterError("must be 0 or at least 2", name="n_resamples", value=1)
    fits = [atlases] if isinstance(atlases, Atlas) else list(atlases)
    if not fits:
        raise DataError("ambiguity got no atlas; pass at least one fit")
    first = fits[0]
    fits = [first, *in_order_of(first, fits[1:])]
    if len(fits) == 1 and first.consensus is not None:
        parts = list(_of_consensus(first))
    else:
        senses = (fit_senses(atlas, 1, min_weight, min_share, level) for atlas in fits)
        parts = [_effective(one.words, one.shares, first.n_objects) for one in senses]
    effective, counts = (np.stack(part) for part in zip(*parts, strict=True))
    if len(fits) > 1:
        known = np.stack([_recalls(atlas) for atlas in fits])
        counts[known.any(axis=0) & ~known] = 0
    mean, spread, n_fits = _mean_and_spread(effective, counts > 0)
    if n_resamples and first.associations is not None:
        drawn = list(_resampled(first, min_share, level, n_resamples, n_responses, random_state))
        effective, counts = (np.stack(part) for part in zip(*drawn, strict=True))
        again = _mean_and_spread(effective, counts > 0)[1]
        spread = np.where(_recalls(first), again, spread)
    responses, distinct_responses = _of_responses(first)
    return Ambiguity(
        labels=tuple(first.labels),
        ambiguity=mean,
        standard_error=spread,
        n_senses=_mean_and_spread(counts, counts > 0)[0],
        n_fits=n_fits,
        effective_responses=responses,
        distinct_responses=distinct_responses,
        kinds=None if first.kinds is None else tuple(first.kinds),
    )


def _resampled(
    atlas: Atlas,
    min_share: float,
    level: Level,
    n_resamples: int,
    n_responses: int,
    random_state: Any,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the ambiguity and the number of senses of each word for resampled responses."""
    n, table = atlas.n_objects, atlas.associations
    assert table is not None
    # Labels may be duplicated in an atlas but not in associations, so indices replace them here.
    norms = Associations([str(i) for i in range(n)], table)
    rng = drawn_generator(random_state)
    for _ in range(n_resamples):
        sample = resampled(norms, rng, n_responses=n_responses).strengths
        sample = strongest_associations(sample)
        words = np.flatnonzero(np.diff(sample.indptr))
        space = meaning_space(sample, atlas.labels) if level == "meaning" else None
        groups = sense_groups(atlas.choices, sample, words, space)
        listed = groups.listed(min_share)
        owners = words[groups.owners[listed]]
        yield _effective(owners, groups.shares[listed], n)


def _of_consensus(atlas: Atlas) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same values for each fit of the consensus stored in the atlas."""
    consensus = atlas.consensus
    assert consensus is not None
    words = np.repeat(np.arange(consensus.n_objects), np.diff(consensus.offsets))
    for shares in consensus.by_fit.T.astype(np.float64):
        there = shares > 0
        yield _effective(words[there], shares[there], consensus.n_objects)


def _of_responses(atlas: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """Return the effective and the actual number of responses to each word."""
    n, table = atlas.n_objects, atlas.associations
    if table is None:
        return np.full(n, np.nan), np.zeros(n, np.int64)
    words = np.repeat(np.arange(n), np.diff(table.indptr))
    there = table.data > 0
    return _effective(words[there], table.data[there].astype(np.float64), n)


def _effective(words: np.ndarray, shares: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 2^H for the shares of each word (NaN without shares), and the number of shares."""
    shares = shares / np.bincount(words, shares, n)[words]
    bits = np.bincount(words, -shares * np.log2(shares), n)
    counts = np.bincount(words, minlength=n)
    # For a single share of 1, the entropy is a signed zero.
    return np.where(counts > 0, np.exp2(np.abs(bits)), np.nan), counts


def _recalls(atlas: Atlas) -> np.ndarray:
    """Return a mask of the words with known associations."""
    if atlas.associations is None:
        return np.zeros(atlas.n_objects, bool)
    return np.diff(atlas.associations.indptr) > 0


def _mean_and_spread(
    values: np.ndarray, there: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean, standard deviation and number of the fits with a value, for each word."""
    counts = there.sum(axis=0)
    known = np.where(there, values, 0.0)
    mean = ratio(known.sum(axis=0), counts)
    squares = np.where(there, (known - mean) ** 2, 0.0).sum(axis=0)
    return mean, np.sqrt(ratio(squares, counts - 1)), counts
