"""Modified copies of an atlas, with more columns, more or fewer objects, or renumbered maps.

The methods of `manymaps.Atlas` with the same names document the parameters and the results. Each
function returns an atlas of the same type as its argument.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from manymaps.atlas.data import AtlasData
from manymaps.data.associations import covered_among
from manymaps.data.frames import end_to_end, join_columns, placed_column
from manymaps.errors import DataWarning, ParameterError
from manymaps.labels import first_of

_Atlas = TypeVar("_Atlas", bound=AtlasData)


def add_metadata(atlas: _Atlas, frame: Any, on: str | None, name: str | None) -> _Atlas:
    """Add columns to the metadata of an atlas."""
    if on is None and (placed := placed_column(atlas.labels, frame, name)) is not None:
        return replace(atlas, metadata={**atlas.metadata, **placed})
    if name is not None:
        raise ParameterError("names a single column; omit it for a table", name="name", value=name)
    columns, unmatched, _ = join_columns(atlas.labels, frame, on)
    if unmatched:
        warnings.warn(
            f"{len(unmatched)} rows of the metadata match no object, for example "
            f"{first_of(unmatched)}",
            DataWarning,
            stacklevel=3,
        )
    return replace(atlas, metadata={**atlas.metadata, **columns})


def subset(atlas: _Atlas, objects: np.ndarray | Sequence[int] | Sequence[str] | str) -> _Atlas:
    """Select some of the objects by indices, labels or a mask."""
    order = np.atleast_1d(np.asarray(objects))
    if order.dtype == bool:
        if order.shape != (atlas.n_objects,):
            raise ParameterError(
                f"the mask has shape {order.shape}; expected one value for each of the "
                f"{atlas.n_objects:,} objects"
            )
        order = np.flatnonzero(order)
    elif order.dtype.kind in "OUT":
        order = np.array([atlas.index(str(label)) for label in order], np.intp)
    order = order.astype(np.intp)
    kinds = None if atlas.kinds is None else [atlas.kinds[i] for i in order.tolist()]
    one_kind = kinds is not None and len(set(kinds)) < 2
    table = atlas.associations
    return replace(
        atlas,
        labels=[atlas.labels[i] for i in order.tolist()],
        kinds=None if one_kind else kinds,
        model=replace(atlas.model, given=None) if one_kind else atlas.model,
        maps=atlas.maps[:, order],
        proportions=atlas.proportions[:, order],
        # The factors of a bipartite model are marginals of its table of counts.
        factors=None if atlas.factors is None or one_kind else atlas.factors[order],
        metadata={name: np.asarray(column)[order] for name, column in atlas.metadata.items()},
        vectors=None if atlas.vectors is None else atlas.vectors[order],
        log_normalizer=None,
        associations=None if table is None else table[order][:, order],
        covered=None if table is None else covered_among(atlas.covered, table, order),
    )


def renumbered(atlas: _Atlas, order: np.ndarray | Sequence[int]) -> _Atlas:
    """Reorder the maps of an atlas."""
    chosen = np.asarray(order)
    if sorted(chosen.ravel().tolist()) != list(range(atlas.n_maps)):
        fault = f"must contain each of the maps 0 to {atlas.n_maps - 1} once"
        raise ParameterError(fault, name="order", value=chosen.tolist())
    return replace(atlas, maps=atlas.maps[chosen], proportions=atlas.proportions[chosen])


def extended(
    atlas: _Atlas,
    labels: Sequence[str],
    maps: np.ndarray,
    proportions: np.ndarray,
    *,
    at: int | None = None,
    factors: np.ndarray | None = None,
    metadata: Mapping[str, np.ndarray] | None = None,
    vectors: np.ndarray | sparse.csr_array | None = None,
) -> _Atlas:
    """Add new objects before index `at`, by default after all others."""
    n, k = atlas.n_objects, len(labels)
    at = n if at is None else at
    if atlas.factors is not None and factors is None:
        if atlas.kinds is not None:
            fault = "is missing; the objects of the atlas have factors"
            raise ParameterError(fault, name="factors")
        # How often a new object is a response is unknown, so it is as popular as a typical one.
        factors = np.full(k, np.median(atlas.factors))
    kinds = None
    if atlas.kinds is not None:
        kinds = [*atlas.kinds[:at], *[atlas.kinds[max(at - 1, 0)]] * k, *atlas.kinds[at:]]
    return replace(
        atlas,
        labels=[*atlas.labels[:at], *labels, *atlas.labels[at:]],
        kinds=kinds,
        maps=_inserted(atlas.maps, maps, at, axis=1),
        proportions=_inserted(atlas.proportions, proportions, at, axis=1),
        factors=None if atlas.factors is None else _inserted(atlas.factors, factors, at),
        metadata=_extended_metadata(atlas, metadata or {}, k, at),
        vectors=None
        if vectors is None or atlas.vectors is None
        else _stacked(atlas.vectors, vectors, at),
        log_normalizer=None,
        associations=None if atlas.associations is None else _spread(atlas.associations, k, at),
        covered=None if atlas.covered is None else np.insert(atlas.covered, at, np.full(k, np.nan)),
    )


def _inserted(old: Any, new: Any, at: int, axis: int = 0) -> np.ndarray:
    """Join old and new values along an axis, in the precision of the old values."""
    before, after = np.split(np.asarray(old), [at], axis=axis)
    return np.concatenate([before, np.asarray(new, before.dtype), after], axis=axis)


def _extended_metadata(
    atlas: AtlasData, new: Mapping[str, np.ndarray], k: int, at: int
) -> dict[str, np.ndarray]:
    """Join the columns of old and k new objects, and add a column that marks the new objects."""
    n = atlas.n_objects
    columns: dict[str, np.ndarray] = {}
    for name in dict.fromkeys([*atlas.metadata, *new]):
        old = atlas.metadata.get(name)
        before, after = (None, None) if old is None else np.split(np.asarray(old), [at])
        columns[name] = end_to_end((before, at), (new.get(name), k), (after, n - at))
    # The name is "inserted", or the next name that is not used by a column with other content.
    marks = {name for name, old in atlas.metadata.items() if np.asarray(old).dtype == bool}
    taken = {*atlas.metadata, *new} - (marks - set(new))
    names = chain(["inserted"], (f"inserted_{number}" for number in count(1)))
    mark = next(name for name in names if name not in taken)
    columns[mark] = _inserted(atlas.metadata.get(mark, np.zeros(n, bool)), np.ones(k, bool), at)
    return columns


def _stacked(
    old: np.ndarray | sparse.csr_array, new: np.ndarray | sparse.csr_array, at: int
) -> np.ndarray | sparse.csr_array:
    """Join old and new vectors, in the precision of the old vectors unless these are integers."""
    floating = np.issubdtype(old.dtype, np.floating)
    dtype = old.dtype if floating else np.result_type(old.dtype, new.dtype)
    if sparse.issparse(old):
        parts = [old[:at], sparse.csr_array(new), old[at:]]
        return sparse.csr_array(sparse.vstack([p for p in parts if p.shape[0]]), dtype=dtype)
    dense = np.asarray(new.toarray() if isinstance(new, sparse.sparray) else new)
    return np.concatenate([part.astype(dtype, copy=False) for part in (old[:at], dense, old[at:])])


def _spread(table: sparse.csr_array, k: int, at: int) -> sparse.csr_array:
    """Insert k empty rows and columns before row and column `at`."""
    n = table.shape[0]
    indptr = np.insert(table.indptr, at, np.full(k, table.indptr[at]))
    columns = table.indices + k * (table.indices >= at)
    return sparse.csr_array((table.data, columns, indptr), shape=(n + k, n + k))
