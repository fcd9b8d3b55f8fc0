"""Reader for count files that `Counts.save` and `manymaps count` write."""

from __future__ import annotations

import json
from pathlib import Path

from manymaps.archive import Schema, ValuePart
from manymaps.archive.archives import read_declared
from manymaps.archive.arrays import csr_from
from manymaps.data.associations import ReadReport
from manymaps.data.count_values import texts_of
from manymaps.data.counts import COLUMN_METADATA, COUNTS, ROW_METADATA, VERSION_KEY, Counts
from manymaps.errors import DataError
from manymaps.io.files import array_heads

_WHOLE = ValuePart((int,), "a number", least=0)
_REPORT = Schema(
    "report", 1, "`ReadReport` in a file of counts",
    values={
        "source": ValuePart((str,), "the source"),
        "n_read": _WHOLE,
        "merged": _WHOLE,
        "dropped": ValuePart((dict,), "numbers of omitted entries by reason", each=_WHOLE),
        "notes": ValuePart((list,), "further notes", each=ValuePart((str,), "a note")),
    },
)  # fmt: skip


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
    n_rows, n_columns = arrays["shape"].tolist()
    values = csr_from(arrays, (n_rows, n_columns), str(path))
    try:
        rows, columns = texts_of(arrays["kinds"])
        stored = json.loads(str(arrays["report"]))
        if not isinstance(stored, dict):
            raise ValueError("its report is not a mapping")
        _REPORT.check(stored, {})
        numbers = (stored["n_read"], stored["merged"], stored["dropped"])
        report = ReadReport(str(path), *numbers, tuple(stored["notes"]))
        labels = [texts_of(arrays[name]) for name in ("row_labels", "column_labels")]
        metadata = [
            {n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)}
            for start in (ROW_METADATA, COLUMN_METADATA)
        ]
        return Counts(
            values, labels[0], labels[1], (rows, columns), metadata[0], metadata[1], report
        )
    except DataError:
        raise
    except (RecursionError, TypeError, ValueError) as error:
        raise DataError(f"{path}: this {COUNTS.kind} file is damaged: {error}") from error
