"""Similarity, rank, map and observed strength of word pairs, for analyses with other data.

    similarity   q(word2 | word1), as `Atlas.similarity`
    rank         1 + number of objects that are more similar to word1 than word2 is
    map          map that contributes most to the similarity of the pair
    strength     observed share of word2 in the associations of word1

The columns with `_back` contain the same values for the direction from word2 to word1.
Psycholinguists call the two directions forward and backward strength.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymaps.atlas import answers
from manymaps.atlas.atlas import Atlas
from manymaps.data.results import TabularResult
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places
from manymaps.progress import work

_DIRECTED = ("similarity", "rank", "strength")
_OF_PAIR = ("map", "map_share", "map_weight1", "map_weight2")


@dataclass(frozen=True, eq=False, repr=False)
class PairTable(TabularResult):
    """Values from an atlas for a list of word pairs, in the order of the list.

    Attributes
    ----------
    word1, word2 : tuple of str, length n_pairs
        The words as passed.
    similarity, similarity_back : ndarray of shape (n_pairs,)
        Probability of `word2` given `word1` under the model, and probability of `word1` given
        `word2`.
    rank, rank_back : ndarray of shape (n_pairs,)
        Rank of `word2` among all objects by similarity to `word1`, from 1, and the rank in the
        reverse direction.
    map : ndarray of shape (n_pairs,)
        Number of the map that contributes most to the similarity of the pair.
    map_share : ndarray of shape (n_pairs,)
        Contribution of this map to the similarity of the pair, as a share in [0, 1].
    map_weight1, map_weight2 : ndarray of shape (n_pairs,)
        Weights of this map for the two words, in [0, 1] (`Atlas.map_weights`).
    strength, strength_back : ndarray of shape (n_pairs,)
        Observed share of `word2` in the associations of `word1`, and the share in the reverse
        direction. The share is 0 if the response was not observed.
    unknown : dict of str to int
        Words that are not in the atlas, each with the number of its first pair, from 1.

    See Also
    --------
    pair_table, Atlas.similarity

    Notes
    -----
    All arrays are float64, with NaN for unknown values. These are all values of a pair with an
    unknown word, the map of a pair whose words have no map in common, and strengths of words
    without associations.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, pair_table
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, .9, .1], [.5, .1, .9]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> table = pair_table(atlas, [("tie", "knot"), ("knot", "hat")])
    >>> table
    <PairTable of 1 of 2 pairs; unknown: 'hat'>
    >>> table.rank.tolist(), table.map.tolist()
    ([1.0, nan], [0.0, nan])
    """

    word1: tuple[str, ...]
    word2: tuple[str, ...]
    similarity: np.ndarray
    similarity_back: np.ndarray
    rank: np.ndarray
    rank_back: np.ndarray
    map: np.ndarray
    map_share: np.ndarray
    map_weight1: np.ndarray
    map_weight2: np.ndarray
    strength: np.ndarray
    strength_back: np.ndarray
    unknown: dict[str, int]

    def __repr__(self) -> str:
        unknown = f"; unknown: {first_of(list(self.unknown))}" if self.unknown else ""
        return f"<PairTable of {self.n_known:,} of {len(self.word1):,} pairs{unknown}>"

    @property
    def n_known(self) -> int:
        """Number of pairs whose words are both in the atlas."""
        return int(np.isfinite(self.similarity).sum())

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table with one row per pair; unknown values are None, ranks and maps are integers."""
        table: dict[str, np.ndarray] = {
            "pair": np.arange(1, len(self.word1) + 1),
            "word1": np.array(self.word1, dtype=object),
            "word2": np.array(self.word2, dtype=object),
        }
        directed = (f"{name}{end}" for name in _DIRECTED[:2] for end in ("", "_back"))
        for name in (*directed, *_OF_PAIR, "strength", "strength_back"):
            as_type = int if name in ("rank", "rank_back", "map") else float
            cells = [None if np.isnan(x) else as_type(x) for x in getattr(self, name).tolist()]
            table[name] = np.array(cells, dtype=object)
        return table

    def record(self) -> dict[str, Any]:
        """Return the table as the command line prints it with --json.

        Returns
        -------
        dict
            The keys are n_pairs, n_known, unknown and pairs.
        """
        names = list(self.columns)
        rows = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        return {
            "n_pairs": len(self.word1),
            "n_known": self.n_known,
            "unknown": [{"word": word, "pair": pair} for word, pair in self.unknown.items()],
            "pairs": [dict(zip(names, row, strict=True)) for row in rows],
        }


def pair_table(atlas: Atlas, pairs: Iterable[tuple[str, str]]) -> PairTable:
    """Look up the similarity, rank, map and observed strength of word pairs.

    Parameters
    ----------
    atlas : Atlas
        An atlas with one kind of object.
    pairs : iterable of (str, str)
        Pairs of labels, in upper or lower case. Repeated pairs and pairs with unknown words are
        allowed.

    Returns
    -------
    PairTable
        One row per pair, in the order of `pairs`.

    Raises
    ------
    DataError
        If there are no pairs, if no pair consists of two words of the atlas, or if the atlas is
        bipartite.

    See Also
    --------
    Atlas.similarity, Atlas.neighbors, evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, pair_table
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, .9, .1], [.5, .1, .9]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> table = pair_table(atlas, [("tie", "knot"), ("knot", "suit")])
    >>> table.similarity.round(2).tolist(), table.similarity_back.round(2).tolist()
    ([0.5, 0.01], [0.99, 0.01])
    """
    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; pairs need an atlas with one kind of object")
    listed = [(str(one), str(other)) for one, other in pairs]
    words = [word for pair in listed for word in pair]
    ends = np.array(label_places(words, atlas.labels), dtype=np.int64).reshape(-1, 2)
    unknown: dict[str, int] = {}
    for k in np.flatnonzero(ends.ravel() < 0).tolist():
        unknown.setdefault(words[k], k // 2 + 1)
    known = np.flatnonzero((ends >= 0).all(axis=1))
    if not known.size:
        raise DataError(
            f"no pair has two words of the atlas; unknown words are {first_of(list(unknown))}, "
            f"and the atlas begins with {first_of(atlas.labels)}"
            if unknown
            else "there are no pairs; pass at least one"
        )
    figures = {
        name: np.full(len(listed), np.nan)
        for name in (*_OF_PAIR, *_DIRECTED, *(f"{name}_back" for name in _DIRECTED))
    }
    first, second = ends[known].T
    _add_direction(atlas, first, second, known, figures, "")
    _add_direction(atlas, second, first, known, figures, "_back")
    return PairTable(tuple(words[::2]), tuple(words[1::2]), unknown=unknown, **figures)


def _add_direction(
    atlas: Atlas,
    cues: np.ndarray,
    others: np.ndarray,
    rows: np.ndarray,
    figures: dict[str, np.ndarray],
    end: str,
) -> None:
    """Write the values from each cue to the other word into the rows of its pairs."""
    weights = atlas.map_weights
    order = np.argsort(cues, kind="stable")
    starts = np.flatnonzero(np.diff(cues[order], prepend=-1))
    with work("word", total=len(starts)) as at:
        for number, same in enumerate(np.split(order, starts[1:])):
            at(number)
            i, targets, into = int(cues[same[0]]), others[same], rows[same]
            similarities = answers.similarities(atlas, i)
            here = similarities[targets]
            figures[f"similarity{end}"][into] = here
            figures[f"rank{end}"][into] = 1 + (similarities[:, None] > here).sum(axis=0)
            if atlas.associations is not None and answers.has_associations(atlas, i):
                observed = atlas.associations[[i]].toarray()[0, targets]
                figures[f"strength{end}"][into] = observed
            shares = atlas.choices.shares(i)[:, targets]
            sums = shares.sum(axis=0)
            if end or not sums.any():
                continue
            best = shares.argmax(axis=0)
            related, maps, into = sums > 0, best[sums > 0], into[sums > 0]
            figures["map"][into] = maps
            figures["map_share"][into] = shares.max(axis=0)[related] / sums[related]
            figures["map_weight1"][into] = weights[maps, i]
            figures["map_weight2"][into] = weights[maps, targets[related]]
