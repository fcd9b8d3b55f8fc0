"""CSV cells for spreadsheets, where an apostrophe guards texts that look like formulas.

    =cmd|' /C calc'!A0   ->  '=cmd|' /C calc'!A0
    -ing                 ->  '-ing
    '-ing                ->  ''-ing
    -1.5e-07             ->  -1.5e-07, a number

A cell is guarded if it begins with = + - @, a tab or a line break, and is not a number. The guard
is a leading apostrophe, which marks the cell as text in spreadsheets (OWASP, "CSV Injection"). If a
cell already begins with apostrophes before such a character, another apostrophe is added. Readers
can therefore always remove the guard: `unguarded` is the inverse of `guarded`. Parquet files do not
need guards.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, TextIO

# The last four characters are the full-width forms of = + - @, which some spreadsheets treat as
# formulas.
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|nan)")


def guarded(cell: str) -> str:
    """Convert a text to a cell that spreadsheets do not evaluate.

    >>> [guarded(cell) for cell in ("tie", "-ing", "-1.5", "'=A1")]
    ['tie', "'-ing", '-1.5', "''=A1"]
    """
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Remove the guard that `guarded` added to a cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def write_csv(file: TextIO, rows: Iterable[Iterable[Any]]) -> None:
    """Write the header and rows as guarded texts, with an empty cell for None."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows(["" if cell is None else guarded(str(cell)) for cell in row] for row in rows)
