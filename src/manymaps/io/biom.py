"""Reader for count tables in BIOM files (JSON and HDF5), which uses the package biom-format.

A BIOM table contains observations (OTUs, taxa or genes) in rows and samples in columns.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from manymaps.archive.door import reading
from manymaps.data.count_values import as_csr, metadata_array
from manymaps.errors import not_installed
from manymaps.io.columns import known_kind
from manymaps.io.count_tables import CountParts

AXES = ("observation", "sample")


def read_biom_counts(path: Path) -> CountParts:
    """Read the counts of a BIOM file, with its metadata (the ranks of a taxonomy as one text).

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
        labels = [list(map(str, table.ids(axis=axis))) for axis in AXES]
        metadata: list[dict[str, np.ndarray]] = []
        for axis in AXES:
            rows = [row or {} for row in table.metadata(axis=axis) or ()]
            cells = {name: [row.get(name) for row in rows] for row in rows for name in row}
            metadata.append({name: _column(column) for name, column in cells.items()})
        kind = known_kind(str(table.type or "").split(" ")[0]) or "otu"
        values = as_csr(table.matrix_data, str(path))
    return CountParts(values, labels[0], labels[1], (kind, "sample"), metadata[0], metadata[1])


def _column(cells: list[object]) -> np.ndarray:
    is_list = (list, tuple, np.ndarray)
    texts = ["; ".join(map(str, cell)) if isinstance(cell, is_list) else cell for cell in cells]
    return metadata_array(np.array(texts, dtype=object))
