"""Options for a page: its texts, and its state when it opens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.errors import ParameterError
from manymaps.labels import plural


@dataclass(frozen=True)
class PageOptions:
    """Options of `manymaps.write_page`; see there for their documentation."""

    title: str | None = None
    description: str | None = None
    source: str = ""
    credit: str = ""
    date: str = ""
    noun: str | tuple[str, str] | None = None
    color: str | None = None
    size: str | None = None
    features: Any = None
    min_weight: float = 0.1
    hide: str | Collection[str] = ()
    map_titles: Mapping[int, str] | None = None
    examples: Sequence[str] | None = None
    vectors: FittedVectors | Sequence[FittedVectors] | None = None

    def nouns(self, default: str) -> tuple[str, str]:
        """Return the singular and the plural noun for objects.

        >>> PageOptions().nouns("word"), PageOptions(noun=("mouse", "mice")).nouns("word")
        (('word', 'words'), ('mouse', 'mice'))
        """
        noun = default if self.noun is None else self.noun
        pair = (noun, plural(noun)) if isinstance(noun, str) else tuple(noun)
        if len(pair) != 2 or not all(isinstance(word, str) and word.strip() for word in pair):
            fault = "is not a noun; pass one such as 'word', or a pair such as ('mouse', 'mice')"
            raise ParameterError(fault, name="noun", value=self.noun)
        return pair[0].strip(), pair[1].strip()

    def titles_of(self, n_maps: int) -> dict[int, str]:
        """Return the titles of maps, by their numbers.

        Raises
        ------
        ParameterError
            If a number does not belong to a map.
        """
        titles = {} if self.map_titles is None else dict(self.map_titles)
        for number in titles:
            if number not in range(n_maps):
                fault = f"names a map that does not exist; maps are 0 to {n_maps - 1}"
                raise ParameterError(fault, name="map_titles", value=number)
        return {int(number): str(title) for number, title in titles.items()}

    def vectors_of(self, n_maps: int) -> dict[int, FittedVectors]:
        """Return the fitted variables, by the numbers of their maps.

        Raises
        ------
        ParameterError
            If a map does not exist or has two results.
        """
        given = [self.vectors] if isinstance(self.vectors, FittedVectors) else self.vectors or ()
        by_map: dict[int, FittedVectors] = {}
        for found in given:
            if found.map in by_map or found.map not in range(n_maps):
                fault = f"must be fitted to different maps from 0 to {n_maps - 1}"
                raise ParameterError(fault, name="vectors", value=found.map)
            by_map[found.map] = found
        return by_map

    @property
    def hidden(self) -> tuple[str, ...]:
        """The labels to hide; a single string is treated as one label.

        >>> PageOptions(hide="tie").hidden, PageOptions(hide=["tie", 7]).hidden
        (('tie',), ('tie', '7'))
        """
        return (self.hide,) if isinstance(self.hide, str) else tuple(map(str, self.hide))
