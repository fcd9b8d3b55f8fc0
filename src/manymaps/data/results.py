"""Results that are also tables: a column per figure and a row per object, judge, sense or point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from manymaps.data.frames import Backend, as_frame

__all__ = ["TabularResult", "label_columns"]


class TabularResult(ABC):
    """A result with a table, which `to_frame` gives as a data frame."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """The table by name of column."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the `columns` as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of data frame. By default the first of these that is installed.

        Returns
        -------
        data frame
            A data frame of that kind.
        """
        return as_frame(self.columns, backend)


def label_columns(labels: Sequence[str], kinds: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Columns that identify objects: their labels, and their kinds if there are two."""
    columns = {"label": np.array(labels, dtype=object)}
    return columns if kinds is None else columns | {"kind": np.array(kinds)}
