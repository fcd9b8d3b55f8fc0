"""Reordering of fits of the same objects to a common order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError

__all__ = ["in_order_of"]


def in_order_of(first: Atlas, atlas: Atlas, number: int) -> Atlas:
    """Return fit `number` with its objects in the order of the first.

    Raises
    ------
    DataError
        If the fits have different objects, or repeated labels in another order.
    """
    keys, own = _keys(first), _keys(atlas)
    if keys == own:
        return atlas
    place = {key: i for i, key in enumerate(own)}
    for which, lacks, there in (
        (f"fit {number}", set(keys) - set(own), "fit 0"),
        ("fit 0", set(own) - set(keys), f"fit {number}"),
    ):
        if lacks:
            some = ", ".join(repr(label) for _, label in sorted(lacks)[:3])
            raise DataError(
                f"{which} lacks {len(lacks):,} objects of {there}, such as {some}; compare fits of "
                "the same objects"
            )
    if len(place) < len(own) or len(own) != len(keys):
        raise DataError(
            f"fit {number} has its objects in another order than fit 0, and labels repeat; use "
            "unique labels, or the same order"
        )
    order = np.array([place[key] for key in keys])
    return replace(atlas.subset(order), log_normalizer=atlas.log_normalizer)


def _keys(atlas: Atlas) -> list[tuple[str, str]]:
    return list(zip(atlas.kinds or [""] * atlas.n_objects, atlas.labels, strict=True))
