"""Objects that fits or data have in common, and their order."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError, DataWarning
from manymaps.labels import first_of, plural


def in_order_of(first: Atlas, others: Iterable[Atlas]) -> list[Atlas]:
    """Return fits with their objects in the order of the first fit, which is fit 0.

    Raises
    ------
    DataError
        If the fits contain different objects, or if duplicate labels are in a different order.
    """
    return [_in_order_of(first, atlas, number) for number, atlas in enumerate(others, start=1)]


def _in_order_of(first: Atlas, atlas: Atlas, number: int) -> Atlas:
    keys, others = object_keys(first), object_keys(atlas)
    if keys == others:
        return atlas
    unshared = [label for _, label in sorted(set(keys) ^ set(others))]
    if unshared or len(set(keys)) < len(keys) or len(others) != len(keys):
        fault = f"only one of them contains {first_of(unshared)}" if unshared else "labels repeat"
        raise DataError(
            f"fit 0 and fit {number} do not have the same objects: {fault}; compare fits of the "
            "same objects with unique labels"
        )
    place = {key: i for i, key in enumerate(others)}
    order = np.array([place[key] for key in keys])
    return replace(atlas.subset(order), log_normalizer=atlas.log_normalizer)


def object_keys(atlas: Atlas) -> list[tuple[str, str]]:
    """Return the kind (or an empty string) and the label of each object."""
    return list(zip(atlas.kinds or [""] * atlas.n_objects, atlas.labels, strict=True))


def warn_of_unshared(
    source: str, noun: str, spare: Sequence[str], missing: Sequence[str], n_dropped: int = 0
) -> None:
    """Warn of objects only in the data (some may be unnamed), and of objects only in the atlas."""
    for labels, count, one, other in (
        (spare, len(spare) + n_dropped, source, "the atlas"),
        (missing, len(missing), "the atlas", source),
    ):
        if count:
            first = f": {first_of(labels)}" if labels else ""
            warnings.warn(
                f"{plural(noun, count)} of {one} not in {other}, left out{first}",
                DataWarning,
                stacklevel=5,
            )
