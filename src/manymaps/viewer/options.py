"""What a page says of itself and how it opens."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from manymaps.labels import plural

__all__ = ["PageOptions"]


@dataclass(frozen=True)
class PageOptions:
    """The options of `manymaps.write_page`, where they are explained."""

    title: str | None = None
    description: str = ""
    source: str = ""
    credit: str = ""
    date: str = ""
    noun: str | tuple[str, str] = "object"
    color: str | None = None
    size: str | None = None
    features: Any = None
    min_recall: float = 0.1
    hide: Collection[str] = ()

    @property
    def nouns(self) -> tuple[str, str]:
        """What one object is called, and several.

        >>> PageOptions(noun="word").nouns, PageOptions(noun=("mouse", "mice")).nouns
        (('word', 'words'), ('mouse', 'mice'))
        """
        one, several = (self.noun, plural(self.noun)) if isinstance(self.noun, str) else self.noun
        return str(one), str(several)
