"""The senses of many words as one table, a row each, for data frames and files.

Columns by name, as `pandas.DataFrame`, `polars.DataFrame` and `manymaps.atlas.export.write_columns`
take them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas

__all__ = ["sense_table"]


def sense_table(
    atlas: Atlas, words: Iterable[str] | None, *, kind: str | None, **options: Any
) -> dict[str, np.ndarray]:
    """The senses of some words or of all, each a row, by the options of `Atlas.senses`.

    `Atlas.sense_table` says what is in it.
    """
    if words is None:
        chosen = list(range(atlas.n_objects))
    else:
        given = [words] if isinstance(words, str) else words
        chosen = [atlas.index(word, kind=kind) for word in given]
    rows: list[dict[str, Any]] = []
    for i in chosen:
        own = None if atlas.kinds is None else atlas.kinds[i]
        if kind is not None and own != kind:
            continue
        senses = atlas.senses(atlas.labels[i], kind=own, **options)
        for number, sense in enumerate(senses):
            row: dict[str, Any] = {"word": atlas.labels[i]}
            if own is not None:
                row["kind"] = own
            row |= {"sense": number, "share": sense.share, "map": sense.map}
            row |= {"proportion": sense.proportion, "recall": sense.recall}
            if atlas.consensus is not None:
                row["n_fits"] = np.nan if sense.n_fits is None else sense.n_fits
            rows.append(row | {"neighbors": "; ".join(near.label for near in sense.neighbors)})
    texts = ("word", "kind", "neighbors")
    names = (
        rows[0] if rows else ("word", "sense", "share", "map", "proportion", "recall", "neighbors")
    )
    return {
        name: np.array([row[name] for row in rows], dtype=object if name in texts else None)
        for name in names
    }
