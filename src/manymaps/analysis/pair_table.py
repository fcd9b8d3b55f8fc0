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
from typing import TYPE_CHECKING

import numpy as np

from manymaps.atlas import answers
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError
from manymaps.labels import first_of, label_places
from manymaps.progress import work

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    "similarity", "similarity_back", "rank", "rank_back", "map", "map_share", "map_weight1",
    "map_weight2", "strength", "strength_back",
)  # fmt: skip


def pair_table(atlas: Atlas, pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
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
    DataFrame
        One row per pair, in the order of `pairs`. The columns are "pair" (from 1), "word1",
        "word2", "similarity", "rank", "map", "map_share" (contribution of this map to the
        similarity), "map_weight1" and "map_weight2" (weights of this map for both words),
        "strength", and "similarity_back", "rank_back" and "strength_back". Unknown values are
        missing: all values of a pair with an unknown word, the map of a pair without a common map,
        and strengths of words without associations.

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
    >>> table = pair_table(atlas, [("tie", "knot"), ("knot", "suit"), ("knot", "hat")])
    >>> table.similarity.round(2).tolist(), table.similarity_back.round(2).tolist()
    ([0.5, 0.01, nan], [0.99, 0.01, nan])
    >>> table["map"].tolist()
    [0, 0, <NA>]
    """
    import pandas as pd

    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; pairs need an atlas with one kind of object")
    words = [str(word) for pair in pairs for word in pair]
    ends = np.array(label_places(words, atlas.labels), dtype=np.int64).reshape(-1, 2)
    known = np.flatnonzero((ends >= 0).all(axis=1))
    if not words:
        raise DataError("there are no pairs; pass at least one")
    if not known.size:
        unknown = list(dict.fromkeys(words[k] for k in np.flatnonzero(ends.ravel() < 0)))
        raise DataError(
            f"no pair has two words of the atlas; unknown words are {first_of(unknown)}, and the "
            f"atlas begins with {first_of(atlas.labels)}"
        )
    columns = {name: np.full(len(ends), np.nan) for name in _COLUMNS}
    first, second = ends[known].T
    for end, cues, others in (("", first, second), ("_back", second, first)):
        order = np.argsort(cues, kind="stable")
        starts = np.flatnonzero(np.diff(cues[order], prepend=-1))
        with work("word", total=len(starts)) as at:
            for number, same in enumerate(np.split(order, starts[1:])):
                at(number)
                i, targets, into = int(cues[same[0]]), others[same], known[same]
                similarities = answers.similarities(atlas, i)
                values = similarities[targets]
                columns[f"similarity{end}"][into] = values
                columns[f"rank{end}"][into] = 1 + (similarities[:, None] > values).sum(axis=0)
                if atlas.associations is not None and answers.has_associations(atlas, i):
                    observed = atlas.associations[[i]].toarray()[0, targets]
                    columns[f"strength{end}"][into] = observed
                if not end:
                    _add_maps(atlas, i, targets, into, columns)
    table = pd.DataFrame({"word1": words[::2], "word2": words[1::2], **columns})
    table.insert(0, "pair", np.arange(1, len(table) + 1))
    return table.astype(dict.fromkeys(("rank", "rank_back", "map"), "Int64"))


def _add_maps(
    atlas: Atlas, i: int, targets: np.ndarray, into: np.ndarray, columns: dict[str, np.ndarray]
) -> None:
    """Write the map that contributes most to each similarity, if it has one, and its weights."""
    shares = atlas.choices.shares(i)[:, targets]
    sums = shares.sum(axis=0)
    related = sums > 0
    maps, into = shares.argmax(axis=0)[related], into[related]
    columns["map"][into] = maps
    columns["map_share"][into] = shares.max(axis=0)[related] / sums[related]
    columns["map_weight1"][into] = atlas.map_weights[maps, i]
    columns["map_weight2"][into] = atlas.map_weights[maps, targets[related]]
