"""Reader for count tables in BIOM files (JSON and HDF5), which uses the package biom-format.

A BIOM table contains observations (OTUs, taxa or genes) in rows and samples in columns.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manymaps.archive.door import reading
from manymaps.data.count_values import as_csr, metadata_array
from manymaps.errors import not_installed
from manymaps.io.columns import known_kind
from manymaps.io.count_tables import CountParts


def read_biom_counts(path: Path) -> CountParts:
    """Read the counts of a BIOM file, with its metadata.

    Raises
    ------
    DataError
        If biom-format cannot read the file.
    ImportError
        If biom-format is not installed.
    """
    if not importlib.util.find_spec("biom"):
        raise ImportError(not_installed(f"reading {path}", "biom-format"))
    from biom import load_table

    with reading(path, ".biom"):
        table = load_table(str(path))
        labels = [[str(one) for one in table.ids(axis=axis)] for axis in ("observation", "sample")]
        values = as_csr(table.matrix_data, str(path))
    metadata = [
        _columns(path, table.metadata(axis=axis), len(names))
        for axis, names in zip(("observation", "sample"), labels, strict=True)
    ]
    kind = known_kind(str(table.type or "").split(" ")[0]) or "otu"
    return CountParts(values, labels[0], labels[1], (kind, "sample"), metadata[0], metadata[1])


def _columns(path: Path, entries: Sequence[Any] | None, n: int) -> dict[str, np.ndarray]:
    """Return the metadata of all objects by name, with the ranks of a taxonomy as one text."""
    rows: list[Mapping[str, Any]] = [entry or {} for entry in entries or [{}] * n]
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        listed = [
            "; ".join(map(str, cell)) if isinstance(cell, list | tuple | np.ndarray) else cell
            for cell in cells
        ]
        columns[name] = metadata_array(np.array(listed, dtype=object))
    return columns
