"""The result of an analysis: named values, and a table of the objects that they summarize."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.data.frames import as_frame

if TYPE_CHECKING:
    import pandas as pd


class Record(Mapping[str, Any]):
    """Named values of an analysis, such as those of `evaluate` and `diagnose`.

    A value is available as an item, ``record["mu_local"]``, and as an attribute,
    ``record.mu_local``. The command line prints ``dict(record)`` with ``--json``.

    Parameters
    ----------
    summary : str
        The main result in one line.
    values : mapping of str to object
        All values by name.
    columns : mapping of str to ndarray, optional
        Columns of the table, with one row per object or pair.
    notes : sequence of str, default=()
        Notes on objects that were omitted or sampled.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import TSNE, evaluate
    >>> angles = np.linspace(0, 6, 30)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> fit = TSNE(perplexity=5, max_iter=50, random_state=0).fit(circle)
    >>> record = evaluate(fit.atlas_, circle)
    >>> record.n_objects, record["neighbors"], "mu_local" in record
    (30, 10, True)
    >>> list(record.to_frame().columns)[:2]
    ['label', 'mu_local']
    """

    def __init__(
        self,
        summary: str,
        values: Mapping[str, Any],
        columns: Mapping[str, np.ndarray] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.summary = summary
        self.notes = tuple(notes)
        self._values = dict(values)
        self._columns = dict(columns or {})

    def __repr__(self) -> str:
        return f"<{self.summary}>"

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        # A copy has no values yet when it is asked for its methods.
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"the record has no value {name!r}; it has {', '.join(values)}")
        return values[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def to_frame(self) -> pd.DataFrame:
        """Return the table with one row per object or pair.

        Returns
        -------
        DataFrame
            The table. It is empty if the analysis has no values of objects.
        """
        return as_frame(self._columns)
