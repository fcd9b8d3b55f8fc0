"""The senses of many words as one table for data frames and files, with one row per sense.

The table is a dictionary of columns by name, which `pandas.DataFrame`, `polars.DataFrame` and
`manymaps.atlas.export.write_columns` accept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from manymaps.atlas.answers import Level, remember_groups, senses
from manymaps.atlas.data import AtlasData

__all__ = ["sense_table"]

_COLUMNS = ("word", "sense", "name", "share", "map", "proportion", "weight", "neighbors")
_TEXTS = ("word", "kind", "name", "neighbors")


def sense_table(
    atlas: AtlasData,
    words: Iterable[str] | None,
    kind: str | None,
    n_neighbors: int,
    min_share: float,
    min_weight: float,
    neighbor_kind: str | None,
    level: Level,
) -> dict[str, np.ndarray]:
    """Tabulate the senses of some or all words, as `manymaps.Atlas.sense_table` describes."""
    if words is None:
        chosen = np.arange(atlas.n_objects) if kind is None else np.flatnonzero(atlas.of_kind(kind))
        objects = chosen.tolist()
    else:
        words = [words] if isinstance(words, str) else words
        objects = [atlas.index(word, kind=kind) for word in words]
    if neighbor_kind is None:
        remember_groups(atlas, objects, level)
    rows: list[dict[str, Any]] = []
    for i in objects:
        of_object = {"word": atlas.labels[i]}
        if atlas.kinds is not None:
            of_object["kind"] = atlas.kinds[i]
        listed = senses(
            atlas, i, n_neighbors, min_share, min_weight, neighbor_kind, level, with_parts=False
        )
        for number, sense in enumerate(listed):
            row = of_object | {"sense": number, "name": ", ".join(sense.name)}
            row |= {"share": sense.share, "map": sense.map}
            row |= {"proportion": sense.proportion, "weight": sense.weight}
            if atlas.consensus is not None:
                row["n_fits"] = np.nan if sense.n_fits is None else sense.n_fits
            rows.append(row | {"neighbors": "; ".join(near.label for near in sense.neighbors)})
    return {
        name: np.array([row[name] for row in rows], dtype=object if name in _TEXTS else None)
        for name in (rows[0] if rows else _COLUMNS)
    }
