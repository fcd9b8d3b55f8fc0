"""Objects with fixed coordinates, around which the rest of a fit is arranged.

A pin is an atlas (whose objects are matched by label), a mapping of labels to positions, or an
array of positions. `Pins` contains these values, with NaN for free coordinates. One axis of an
object may therefore be fixed and the other free. An atlas also supplies the mixing proportions. If
it has fewer maps than the fit, its objects have no weight in the additional maps, which contain
only free objects.

Like maps, fixed values are stored in single precision.

Shapes: positions (n_maps, n, n_components), proportions (n_maps, n).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.constraints import ARRAY, NONE, Allowed, instance
from manymaps.errors import DataError, ParameterError, setting
from manymaps.labels import find_label, first_of, plural
from manymaps.model.parameters import FARTHEST, weights_from_proportions

# A tenth of the distance at which a run is considered diverged.
_FARTHEST_PIN = FARTHEST / 10

Pin = Atlas | Mapping[Any, Any] | np.ndarray

#: Valid types of the parameter `pin` of an estimator.
PIN: Allowed = (
    instance("an Atlas", Atlas),
    instance("a mapping of labels to positions", Mapping),
    ARRAY,
    NONE,
)


@dataclass(frozen=True, eq=False)
class Pins:
    """Fixed values of each object in a fit, with NaN for free values.

    Attributes
    ----------
    positions : ndarray of shape (n_maps, n, n_components), float32
        Fixed positions.
    proportions : ndarray of shape (n_maps, n), float32
        Fixed mixing proportions.
    """

    positions: np.ndarray
    proportions: np.ndarray

    @property
    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """Masks of the fixed positions and of the fixed proportions."""
        return ~np.isnan(self.positions), ~np.isnan(self.proportions)

    @property
    def objects(self) -> np.ndarray:
        """Mask of the objects with any fixed value, of shape (n,)."""
        positions, proportions = self.held
        return np.asarray(positions.any(axis=(0, 2)) | proportions.any(axis=0))

    @property
    def written(self) -> str:
        """Number and hash of the fixed values, which are compared when a checkpoint is loaded."""
        whole = self.positions.tobytes() + self.proportions.tobytes()
        return f"{plural('object', int(self.objects.sum()))}, {sha256(whole).hexdigest()[:12]}"

    def moving(self, shifts: np.ndarray) -> np.ndarray:
        """Return shifts of maps, (n_maps, 1, n_components), set to 0 along axes with a pin."""
        return np.where(self.held[0].any(axis=1, keepdims=True), 0.0, shifts)

    def placed(self, positions: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Insert the fixed values into starting positions and mixing weights."""
        positions_held, proportions_held = self.held
        return (
            np.where(positions_held, self.positions, positions),
            np.where(proportions_held, weights_from_proportions(self.proportions), weights),
        )

    def put_back(self, maps: np.ndarray, proportions: np.ndarray) -> None:
        """Copy the fixed values exactly into the maps and proportions of all objects."""
        for whole, part in ((maps, self.positions), (proportions, self.proportions)):
            np.copyto(whole, part, where=~np.isnan(part), casting="same_kind")


def pins_of(
    pin: Pin,
    labels: Sequence[str],
    n_maps: int,
    n_components: int,
    kinds: Sequence[str] | None = None,
) -> Pins:
    """Read the values that a pin fixes for the fitted objects.

    Parameters
    ----------
    pin : Atlas, mapping of labels to positions, or array
        Positions to fix. In a mapping, each position has shape (n_components,) for one map and
        (n_maps, n_components) for several maps. An array has shape (n, n_components) or (n_maps, n,
        n_components). NaN marks free values.
    labels : sequence of str, length n
        The labels of the fitted objects.
    n_maps, n_components : int
        Number of maps and number of dimensions of the fit.
    kinds : sequence of str, length n, optional
        Kind of each object of a bipartite fit, rows first. The rows of an atlas are then matched
        with rows, and columns with columns. A mapping may use (label, kind) instead of a label.

    Returns
    -------
    Pins
        The fixed values of each object.

    Raises
    ------
    DataError
        If the pin fixes no fitted object, if it fixes all values, or if labels are ambiguous.
    ParameterError
        If positions have a wrong shape or exceed the range of a start, or the pin has more than
        `n_maps` maps.
    UnknownLabelError
        If a label of a mapping matches no object.

    Examples
    --------
    >>> pins = pins_of({"tie": [1.0, 2.0]}, ["knot", "tie"], 1, 2)
    >>> pins.positions.tolist(), pins.objects.tolist()
    ([[[nan, nan], [1.0, 2.0]]], [False, True])
    """
    shape = (n_maps, len(labels), n_components)
    positions = np.full(shape, np.nan, np.float32)
    proportions = np.full(shape[:2], np.nan, np.float32)
    with np.errstate(over="ignore"):  # overflowing values are rejected as too far
        if isinstance(pin, Atlas):
            _hold_atlas(pin, labels, kinds, positions, proportions)
        elif isinstance(pin, Mapping):
            _hold_labelled(pin, labels, kinds, positions)
        else:
            _hold_array(np.asarray(pin, np.float64), positions)
    pins = Pins(positions, proportions)
    _check(pins)
    return pins


def _hold_atlas(
    atlas: Atlas,
    labels: Sequence[str],
    kinds: Sequence[str] | None,
    positions: np.ndarray,
    proportions: np.ndarray,
) -> None:
    """Insert the objects of an atlas whose labels are in the fit."""
    n_maps, _, n_components = positions.shape
    if atlas.n_components != n_components:
        raise ParameterError(
            f"the pins have {plural('dimension', atlas.n_components)}, but the maps of the fit "
            f"have {n_components}; use {setting('n_components', atlas.n_components)}"
        )
    if atlas.n_maps > n_maps:
        raise ParameterError(
            f"the pins have {plural('map', atlas.n_maps)}, but the fit has {n_maps}; use at "
            f"least {setting('n_maps', atlas.n_maps)}"
        )
    if kinds is None and atlas.kinds is not None:
        listed = " and ".join(map(plural, dict.fromkeys(atlas.kinds)))
        raise DataError(
            f"the pins contain {listed}, but the fitted objects are of one kind; pin "
            f"one kind, for example atlas.subset(atlas.of_kind({atlas.kinds[0]!r}))"
        )
    # The objects of an atlas of one kind are matched with the kind that contains its labels.
    ours, theirs = _same_objects(
        _keys(labels, None if atlas.kinds is None else kinds), _keys(atlas.labels, atlas.kinds)
    )
    if not len(ours):
        raise DataError(
            f"none of the {plural('pinned object', atlas.n_objects)} ({first_of(atlas.labels)}) "
            f"is among the fitted ones ({first_of(labels)}); pins are matched by label"
        )
    positions[: atlas.n_maps, ours] = atlas.maps[:, theirs]
    proportions[:, ours] = 0
    proportions[: atlas.n_maps, ours] = atlas.proportions[:, theirs]


def _keys(labels: Sequence[str], kinds: Sequence[str] | None) -> list[tuple[str, bool]]:
    """Return the keys for matching: labels and, for bipartite fits, whether objects are rows."""
    if kinds is None:
        return [(label, True) for label in labels]
    return [(label, kind != kinds[-1]) for label, kind in zip(labels, kinds, strict=True)]


def _same_objects(
    ours: Sequence[tuple[str, bool]], theirs: Sequence[tuple[str, bool]]
) -> tuple[np.ndarray, np.ndarray]:
    """Find the indices of the objects in both sets, in the order of the first set."""
    common = set(ours) & set(theirs)
    for whose, keys in (("fitted", ours), ("pinned", theirs)):
        counts = Counter(key for key in keys if key in common)
        repeated = [label for (label, _), count in counts.items() if count > 1]
        if repeated:
            raise DataError(
                f"several {whose} objects are labelled {repeated[0][:60]!r}; pins are matched by "
                "label, so labels must be unique"
            )
    place = {key: i for i, key in enumerate(theirs)}
    pinned = [i for i, key in enumerate(ours) if key in common]
    return np.array(pinned, np.intp), np.array([place[ours[i]] for i in pinned], np.intp)


def _hold_labelled(
    pin: Mapping[Any, Any],
    labels: Sequence[str],
    kinds: Sequence[str] | None,
    positions: np.ndarray,
) -> None:
    """Insert the positions of a mapping."""
    n_maps, _, n_components = positions.shape
    for label, given in pin.items():
        place = _as_numbers(given, label)
        if place.shape == (n_components,) and n_maps == 1:
            place = place[None]
        if place.shape != (n_maps, n_components):
            wanted = (n_components,) if n_maps == 1 else (n_maps, n_components)
            raise ParameterError(
                f"the pin of {label!r} has shape {place.shape}; expected {wanted}, with NaN for "
                "free coordinates"
            )
        positions[:, _find(label, labels, kinds)] = place


def _as_numbers(given: Any, label: Any) -> np.ndarray:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"the pin of {label!r} is not a position: {error}") from error


def _find(key: Any, labels: Sequence[str], kinds: Sequence[str] | None) -> int:
    """Find the index of a label, or of a label and a kind."""
    if kinds is not None and isinstance(key, tuple) and len(key) == 2:
        members = [i for i, kind in enumerate(kinds) if kind == key[1]]
        return members[find_label(str(key[0]), [labels[i] for i in members])]
    return find_label(str(key), labels)


def _hold_array(given: np.ndarray, positions: np.ndarray) -> None:
    """Insert an array of all objects."""
    places = given[None] if given.ndim == 2 else given
    if places.shape != positions.shape:
        raise ParameterError(
            f"pin has shape {given.shape}; expected {positions.shape}, with NaN for free "
            "coordinates"
        )
    positions[:] = places


def _check(pins: Pins) -> None:
    """Raise an error if pins exceed the range of a start, or fix nothing or everything."""
    positions, proportions = pins.held
    reach = float(np.abs(pins.positions[positions]).max(initial=0))
    if reach > _FARTHEST_PIN:
        raise ParameterError(
            f"the pins are up to {reach:g} from the origin; expected at most {_FARTHEST_PIN:g}"
        )
    n = len(pins.objects)
    if not pins.objects.any():
        raise DataError("the pins fix nothing: all of their positions are NaN")
    if positions.all() and (proportions.all() or pins.positions.shape[0] == 1):
        raise DataError(
            f"all of the {plural('object', n)} are pinned, so nothing is left to fit; omit the "
            "objects that should be free"
        )
