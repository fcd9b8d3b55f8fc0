"""The senses of many words as one table for data frames and files, with one row per sense.

The table is a dictionary of columns by name, which `pandas.DataFrame`, `polars.DataFrame` and
`manymaps.atlas.export.write_columns` accept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from manymaps.atlas.answers import LEVELS, Level, has_associations, senses, typical_members
from manymaps.atlas.data import AtlasData
from manymaps.atlas.senses import listed_senses, sense_groups
from manymaps.checks import check_choice
from manymaps.progress import work

_COLUMNS = (
    "word", "sense", "name", "share", "map", "proportion", "weight", "neighbors", "members",
    "observed",
)  # fmt: skip
_TEXTS = ("word", "kind", "name", "neighbors", "members")
# Number of words whose groups are computed together. It limits memory use.
_WORDS = 512
# For more words, computing the map weights of all objects is faster than of one word at a time.
_FEW_WORDS = 100


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
    check_choice("level", level, LEVELS)
    if words is None:
        chosen = np.arange(atlas.n_objects) if kind is None else np.flatnonzero(atlas.of_kind(kind))
        objects = chosen.tolist()
    else:
        words = [words] if isinstance(words, str) else words
        objects = [atlas.index(word, kind=kind) for word in words]
    rows: list[dict[str, Any]] = []
    with work("word", total=len(objects)) as at:
        for start in range(0, len(objects), _WORDS):
            block = objects[start : start + _WORDS]
            grouped: dict[int, list[dict[str, Any]]] = {}
            if neighbor_kind is None:
                known = [i for i in dict.fromkeys(block) if has_associations(atlas, i)]
                grouped = _grouped(atlas, known, n_neighbors, min_share, min_weight, level)
            for i in block:
                at(at.done + 1)
                of_object = {"word": atlas.labels[i]}
                if atlas.kinds is not None:
                    of_object["kind"] = atlas.kinds[i]
                listed = grouped.get(i)
                if listed is None:
                    listed = _mapped(atlas, i, n_neighbors, min_weight, neighbor_kind, level)
                rows += [of_object | {"sense": k} | row for k, row in enumerate(listed)]
    names = list(rows[0]) if rows else list(_COLUMNS)
    return {
        name: np.array([row[name] for row in rows], dtype=object if name in _TEXTS else None)
        for name in names
    }


def _grouped(
    atlas: AtlasData,
    objects: list[int],
    n_neighbors: int,
    min_share: float,
    min_weight: float,
    level: Level,
) -> dict[int, list[dict[str, Any]]]:
    """Return the rows of objects with associations, whose groups are found at once."""
    rows: dict[int, list[dict[str, Any]]] = {i: [] for i in objects}
    if atlas.associations is None or not objects:
        return rows
    choices, words, labels = atlas.choices, np.array(objects), atlas.labels
    weights = (
        np.stack([choices.map_weights_of(i) for i in objects])
        if len(objects) <= _FEW_WORDS
        else choices.map_weights[:, words].T
    )
    space = atlas.meaning_space if level == "meaning" else None
    groups = sense_groups(choices, atlas.associations, words, space)
    if level == "fine":
        groups = listed_senses(
            choices, atlas.associations, words, weights, min_share, min_weight, groups
        )
    is_listed = np.full(len(groups.maps), True) if level == "fine" else groups.listed(min_share)
    for k in np.flatnonzero(is_listed).tolist():
        word, m, own = int(groups.owners[k]), int(groups.maps[k]), groups.members_of(k)
        i, members = objects[word], groups.members[own].tolist()
        n_observed = int((groups.strengths[own] > 0).sum())
        row = {
            "name": ", ".join(labels[j] for j in typical_members(groups, k)),
            "share": float(groups.shares[k]),
            "map": m,
            "proportion": float(atlas.proportions[m, i]),
            "weight": float(weights[word, m]),
        }
        if atlas.consensus is not None:
            n_fits = atlas.consensus.n_fits_with(m, i, members)
            row["n_fits"] = np.nan if n_fits is None else n_fits
        row["neighbors"] = "; ".join(labels[j] for j in members[:n_neighbors])
        row["members"] = "; ".join(labels[j] for j in members[:n_observed])
        rows[i].append(row | {"observed": n_observed > 0})
    return rows


def _mapped(
    atlas: AtlasData,
    i: int,
    n_neighbors: int,
    min_weight: float,
    neighbor_kind: str | None,
    level: Level,
) -> list[dict[str, Any]]:
    """Return the rows of an object without known associations, whose senses are maps."""
    rows = []
    for sense in senses(atlas, i, n_neighbors, 0.0, min_weight, neighbor_kind, level):
        row: dict[str, Any] = {"name": ", ".join(sense.name), "share": sense.share}
        row |= {"map": sense.map, "proportion": sense.proportion, "weight": sense.weight}
        if atlas.consensus is not None:
            row["n_fits"] = np.nan if sense.n_fits is None else sense.n_fits
        near = "; ".join(one.label for one in sense.neighbors)
        rows.append(row | {"neighbors": near, "members": "", "observed": False})
    return rows
