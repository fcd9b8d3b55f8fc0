"""Reader for count files that `Counts.save` writes."""

from __future__ import annotations

import json
from pathlib import Path

from manymaps.archive.archives import read_declared
from manymaps.archive.arrays import csr_from
from manymaps.archive.door import reading
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import texts_of
from manymaps.data.counts import COLUMN_METADATA, COUNTS, ROW_METADATA, VERSION_KEY, Counts
from manymaps.io.files import array_heads


def read_saved_counts(path: Path) -> Counts | None:
    """Read an NPZ file that `Counts.save` wrote, or return None for any other NPZ file.

    Raises
    ------
    DataError
        If the file is damaged or comes from a newer version.
    """
    if VERSION_KEY not in array_heads(path, "npz"):
        return None
    arrays = read_declared(path, COUNTS, VERSION_KEY)
    with reading(path, f"a {COUNTS.kind} file", "it is damaged"):
        rows, columns = texts_of(arrays["kinds"])
        report = json.loads(str(arrays["report"]))
        metadata = [
            {n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)}
            for start in (ROW_METADATA, COLUMN_METADATA)
        ]
        n_rows, n_columns = arrays["shape"].tolist()
        return Counts(
            csr_from(arrays, (n_rows, n_columns), str(path)),
            texts_of(arrays["row_labels"]),
            texts_of(arrays["column_labels"]),
            (rows, columns),
            metadata[0],
            metadata[1],
            ReadReport(
                str(path),
                int(report["n_read"]),
                int(report["merged"]),
                {str(reason): int(count) for reason, count in report["dropped"].items()},
                tuple(map(str, report["notes"])),
            ),
        )
