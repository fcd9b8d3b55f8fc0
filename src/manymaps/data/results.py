"""Tabular results, with one column per measure and one row per object, judge, sense or point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from manymaps.data.frames import as_frame

if TYPE_CHECKING:
    import pandas as pd


class TabularResult(ABC):
    """Result with a table, which `to_frame` converts to a data frame."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """Columns of the table by name."""

    def to_frame(self) -> pd.DataFrame:
        """Return the `columns` as a data frame.

        Returns
        -------
        DataFrame
            The table.
        """
        return as_frame(self.columns)


def label_columns(labels: Sequence[str], kinds: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return columns with the labels of the objects, and with their kinds if there are two."""
    columns = {"label": np.array(labels, dtype=object)}
    return columns if kinds is None else columns | {"kind": np.array(kinds)}
