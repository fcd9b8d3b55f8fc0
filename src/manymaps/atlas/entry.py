"""An entry of an atlas: one object, where it lives and what it is near there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from manymaps.atlas.atlas import Atlas, Neighbor, Sense

__all__ = ["Entry"]


@dataclass(frozen=True, eq=False, repr=False)
class Entry:
    """One object of an atlas, as `atlas["tie"]` gives it.

    Parameters
    ----------
    atlas : Atlas
    index : int
        The number of the object.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> entry = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)["TIE"]
    >>> entry.label, entry.proportions.tolist(), entry.points.tolist()
    ('tie', [0.5, 0.5], [[0.0], [0.0]])
    >>> [sense.neighbors[0].label for sense in entry.senses]
    ['knot', 'tuxedo']
    """

    atlas: Atlas
    index: int

    @property
    def label(self) -> str:
        """The label as the atlas writes it."""
        return self.atlas.labels[self.index]

    @property
    def kind(self) -> str | None:
        """Of two kinds of object, that of this one."""
        return None if self.atlas.kinds is None else self.atlas.kinds[self.index]

    @property
    def points(self) -> np.ndarray:
        """Where it lies in each map, shape (n_maps, n_components)."""
        return self.atlas.maps[:, self.index]

    @property
    def proportions(self) -> np.ndarray:
        """Its mixing proportions, shape (n_maps,)."""
        return self.atlas.proportions[:, self.index]

    @property
    def metadata(self) -> dict[str, Any]:
        """Its values in the columns of the atlas."""
        return {name: values[self.index] for name, values in self.atlas.metadata.items()}

    @cached_property
    def senses(self) -> list[Sense]:
        """Its senses, as `Atlas.senses` lists them."""
        return self.atlas.senses(self.label, kind=self.kind)

    @cached_property
    def neighbors(self) -> tuple[Neighbor, ...]:
        """What is most similar to it over all maps, as `Atlas.neighbors` lists it."""
        return self.atlas.neighbors(self.label, kind=self.kind)

    @property
    def recalls(self) -> bool:
        """Whether its senses are groups of what it recalls (`Atlas.recalls`)."""
        return self.atlas.recalls(self.label, kind=self.kind)

    def __repr__(self) -> str:
        from manymaps.atlas.representation import entry_text

        return entry_text(self)
