"""How ambiguous a word is: the effective number of its senses, over several fits.

With s_k the shares of the senses that a fit lists of a word (`Atlas.senses`),

    t_k = s_k / sum_k' s_k',      H = -sum_k t_k log2 t_k,      ambiguity = 2^H

the number of equally large senses that would be as uncertain (Hill 1973, the diversity of order 1):
1 for a word of one sense, and at most the number listed. Groups of less than `min_share` are
slivers that no sense stands behind, and so their sum is none either: the shares are taken of what
is listed, without a rest. If no associations of a word are known, the shares are the weights of the
maps that count as its senses.

`ambiguity` is the mean over the fits. What other people might have answered is seen in one of two
ways. Either the fits are to resampled responses (those of `repeat_fits(bootstrap=...)` but for the
first, which is of the data), and `standard_error` is their standard deviation (n - 1 in the
denominator, not divided by the root of n): the bootstrap's.
Or the responses that one atlas knows are drawn again `n_resamples` times, and grouped again: since
groups and shares are found among what was observed, before any map, that gives the same without
further fits, and leaves `ambiguity` that of the data (samples lack some responses that were given
once, so that their mean is a little off). For the same reason fits of the same data from several
seeds have a standard error of 0, but for words of which no associations are known.

M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.analysis.object_order import in_order_of
from manymaps.analysis.senses import fit_senses
from manymaps.atlas.associations import strongest_associations
from manymaps.atlas.atlas import LEAST_SHARE, LEAST_WEIGHT, Atlas
from manymaps.atlas.senses import sense_groups
from manymaps.checks import check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.resampling import N_RESPONSES, resampled
from manymaps.data.results import TabularResult, label_columns
from manymaps.errors import DataError, ParameterError
from manymaps.labels import plural
from manymaps.seeds import drawn_generator

__all__ = ["Ambiguity", "ambiguity"]

_COLUMNS = (
    "ambiguity",
    "standard_error",
    "n_senses",
    "n_fits",
    "effective_responses",
    "distinct_responses",
)


@dataclass(frozen=True, eq=False, repr=False)
class Ambiguity(TabularResult):
    """The effective number of senses of each word; see the module docstring.

    Attributes
    ----------
    labels : tuple of str, length n
        In the order of the first atlas.
    ambiguity : ndarray of shape (n,)
        At least 1; NaN for a word without any sense.
    standard_error : ndarray of shape (n,)
        Standard deviation over resampled responses, else over fits; NaN for fewer than two.
    n_senses : ndarray of shape (n,)
        How many senses are listed, on average over fits.
    n_fits : ndarray of int, shape (n,)
        The fits that have senses of the word.
    effective_responses : ndarray of shape (n,)
        2^H of the associations as observed, in the first atlas; NaN where none are known.
    distinct_responses : ndarray of int, shape (n,)
        How many different responses these are, of the strongest that an atlas keeps
        (`manymaps.atlas.associations`); 0 where none are known.
    kinds : tuple of str, length n, or None
        The kind of each object, where there are two.

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
    >>> found = ambiguity(atlas)
    >>> dict(zip(found.labels, found.ambiguity.tolist()))
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
        """All of it by name, a value per word; the kind where there are two."""
        return label_columns(self.labels, self.kinds) | {
            name: getattr(self, name) for name in _COLUMNS
        }


def ambiguity(
    atlases: Atlas | Sequence[Atlas],
    *,
    min_share: float = LEAST_SHARE,
    min_weight: float = LEAST_WEIGHT,
    n_resamples: int = 0,
    n_responses: int = N_RESPONSES,
    random_state: int | np.random.Generator | None = None,
) -> Ambiguity:
    """How ambiguous each word is, by the shares of its senses in one fit or several.

    Parameters
    ----------
    atlases : Atlas or sequence of Atlas
        Fits of the same objects, in any order: of one data set, or to `resampled` responses. A
        single atlas that holds a consensus (`Stability.attach`) stands for the fits
        of that, with the senses that they list there; two senses of a fit that the consensus takes
        for one count as one.
    min_share : float in [0, 1]
        Least share of a word's associations in a group that counts as a sense; the first always
        counts.
    min_weight : float in [0, 1]
        Least map weight of a sense, if no associations of a word are known.
    n_resamples : int
        How often the responses that the first atlas knows are drawn again, 2 or more for the
        standard error; 0 takes that from the fits. It is left as the fits have it for words of
        which no associations are known.
    n_responses : int
        How many responses each cue was given, which an atlas does not know.
    random_state : int, Generator or None
        For drawing them; None draws a seed from NumPy's global state, once.

    Returns
    -------
    Ambiguity
        A word whose associations some fits know and others lack has only the former counted.

    Raises
    ------
    DataError
        For no atlas at all, or fits of other objects.
    ParameterError
        For a value out of its range.

    See Also
    --------
    Ambiguity, intervals, Atlas.senses

    Examples
    --------
    Two maps hold *tie* in equal parts, and *knot* and *suit* are each in one:

    >>> import numpy as np
    >>> from manymaps import Atlas, ambiguity
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> found = ambiguity(Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE))
    >>> found.ambiguity.tolist(), found.standard_error.tolist()
    ([2.0, 1.0, 1.0], [nan, nan, nan])
    """
    check_number("min_share", min_share, least=0, most=1)
    check_number("min_weight", min_weight, least=0, most=1)
    check_whole("n_resamples", n_resamples, 0)
    if n_resamples == 1:
        raise ParameterError("must be 0 or at least 2", name="n_resamples", value=1)
    fits = [atlases] if isinstance(atlases, Atlas) else list(atlases)
    if not fits:
        raise DataError("ambiguity is of one fit or several, and got none")
    first = fits[0]
    fits = [first, *(in_order_of(first, other, k) for k, other in enumerate(fits[1:], start=1))]
    if len(fits) == 1 and first.consensus is not None:
        parts = list(_of_consensus(first))
    else:
        parts = [_of_fit(atlas, min_share, min_weight) for atlas in fits]
    effective, counts = (np.stack(part) for part in zip(*parts, strict=True))
    if len(fits) > 1:
        known = np.stack([_recalls(atlas) for atlas in fits])
        counts[known.any(axis=0) & ~known] = 0
    mean, spread, n_fits = _mean_and_spread(effective, counts > 0)
    if n_resamples and first.associations is not None:
        drawn = list(_resampled(first, min_share, n_resamples, n_responses, random_state))
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


def _of_fit(atlas: Atlas, min_share: float, min_weight: float) -> tuple[np.ndarray, np.ndarray]:
    senses = fit_senses(atlas, 1, min_weight, min_share)
    return _effective(senses.words, senses.shares, atlas.n_objects)


def _resampled(
    atlas: Atlas, min_share: float, n_resamples: int, n_responses: int, random_state: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same of what the atlas knows of the responses, drawn again and again."""
    n, table = atlas.n_objects, atlas.associations
    assert table is not None
    # Labels may stand twice in an atlas, but not in associations, where they mean nothing here.
    norms = Associations([str(i) for i in range(n)], table)
    rng = drawn_generator(random_state)
    for _ in range(n_resamples):
        sample = resampled(norms, rng, n_responses=n_responses).strengths
        sample = strongest_associations(sample)
        words = np.flatnonzero(np.diff(sample.indptr))
        groups = sense_groups(atlas.choices, sample, words)
        listed = groups.listed(min_share)
        owners = words[groups.owners[listed]]
        yield _effective(owners, groups.shares[listed], n)


def _of_consensus(atlas: Atlas) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same of each fit of the consensus that the atlas holds."""
    consensus = atlas.consensus
    assert consensus is not None
    words = np.repeat(np.arange(consensus.n_objects), np.diff(consensus.offsets))
    for shares in consensus.by_fit.T.astype(np.float64):
        there = shares > 0
        yield _effective(words[there], shares[there], consensus.n_objects)


def _of_responses(atlas: Atlas) -> tuple[np.ndarray, np.ndarray]:
    """The effective and the plain number of responses of each word."""
    n, table = atlas.n_objects, atlas.associations
    if table is None:
        return np.full(n, np.nan), np.zeros(n, np.int64)
    words = np.repeat(np.arange(n), np.diff(table.indptr))
    there = table.data > 0
    return _effective(words[there], table.data[there].astype(np.float64), n)


def _effective(words: np.ndarray, shares: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """2^H of the shares of each word, NaN where it has none; and how many there are."""
    shares = shares / np.bincount(words, shares, n)[words]
    bits = np.bincount(words, -shares * np.log2(shares), n)
    counts = np.bincount(words, minlength=n)
    # Of one share, 1, the bits are a zero with a sign.
    return np.where(counts > 0, np.exp2(np.abs(bits)), np.nan), counts


def _recalls(atlas: Atlas) -> np.ndarray:
    """Of which words associations are known."""
    if atlas.associations is None:
        return np.zeros(atlas.n_objects, bool)
    return np.diff(atlas.associations.indptr) > 0


def _mean_and_spread(
    values: np.ndarray, there: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and standard deviation over the fits that have a value, and how many these are."""
    counts = there.sum(axis=0)
    known = np.where(there, values, 0.0)
    mean = np.divide(known.sum(axis=0), counts, out=np.full(len(counts), np.nan), where=counts > 0)
    squares = np.where(there, (known - mean) ** 2, 0.0).sum(axis=0)
    spread = np.divide(squares, counts - 1, out=np.full(len(counts), np.nan), where=counts > 1)
    return mean, np.sqrt(spread), counts
