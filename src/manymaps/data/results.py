"""Tabular results, with one column per measure and one row per object, judge, sense or point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from manymaps.data.frames import Backend, as_frame


class TabularResult(ABC):
    """Result with a table, which `to_frame` converts to a data frame."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """Columns of the table by name."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the `columns` as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Type of data frame. By default, the first installed library in this order is used.

        Returns
        -------
        data frame
            Data frame of that type.
        """
        return as_frame(self.columns, backend)


def label_columns(labels: Sequence[str], kinds: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return columns with the labels of the objects, and with their kinds if there are two."""
    columns = {"label": np.array(labels, dtype=object)}
    return columns if kinds is None else columns | {"kind": np.array(kinds)}
