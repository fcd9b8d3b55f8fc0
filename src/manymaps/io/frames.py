"""Reader that converts the file of a table to a pandas DataFrame of texts.

    read_frame("norms.csv")    columns by their names; index: the lines; attrs: source and notes

Text is split at tabs, semicolons, bars or commas, and at spaces if R wrote it. It is encoded in
UTF-8, in UTF-16 with a byte order mark, or in Windows-1252. Parquet files keep their types.
"""

from __future__ import annotations

import csv
import io
import os
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from manymaps.data.tables import DECIMAL_COMMA, has_header
from manymaps.errors import DataError, not_installed
from manymaps.io.files import read_bytes, stored_format, suffix_of, to_utf8
from manymaps.io.parquet import open_parquet

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
SHEETS = (".xlsx", ".xls", ".ods")
# Column names of labels, without spaces and points, in lower case. pandas writes its index as
# "Unnamed: 0".
LABEL_NAMES = ("label", "word", "id", "name", "token", "term", "unnamed:0")
HEAD_ROWS = 30
HEAD_BYTES = 2**20
# The USF free-association norms were published as text within a plain web page.
MARKUP = re.compile(rb"^[ \t]*(</?\w+>[ \t]*)+(?=\r?$)", re.MULTILINE)
EXCEL_DELIMITER = re.compile(rb"\Asep=[^\r\n](?=\r|\n)")


def read_frame(
    path: str | os.PathLike[str],
    expected: str = "a table",
    *,
    is_header: Callable[[Sequence[str]], bool] | None = None,
    spaced: bool = False,
) -> pd.DataFrame:
    """Read a table as texts, without surrounding white space at the start of a cell.

    Parameters
    ----------
    path : path
        Text that may be compressed (.gz, .bz2, .xz or .zip), Parquet, or a spreadsheet.
    expected : str
        Contents of the file, for messages.
    is_header : callable, optional
        Test of whether the first row, which contains no number or has the corner of a header,
        contains column names. By default, it does.
    spaced : bool
        Whether to split text at spaces if its first line contains no other delimiter.

    Returns
    -------
    DataFrame
        Cells, where a cell that is missing at the end of a row is empty. Blank rows are omitted.
        The columns of a table without header are 0, 1, ... The index "line" contains the line of
        each row from 1. `attrs` contain "source", "delimiter" and "notes".

    Raises
    ------
    DataError
        If the file is empty or not a table, with the line at which it cannot be split.
    ImportError
        If Parquet is read without pyarrow, or a spreadsheet without the package for it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "norms.csv")
    ...     _ = file.write_text("cue,response\\ntie,NA\\n\\nknot,\\n")
    ...     read_frame(file).to_dict("index")
    {2: {'cue': 'tie', 'response': 'NA'}, 4: {'cue': 'knot', 'response': ''}}
    """
    path = Path(path)
    if suffix_of(path) in SHEETS:
        return _with_header(_sheet(path), is_header, 0)
    data = read_bytes(path, expected)
    stored = stored_format(path, data[:HEAD_BYTES])
    if stored == "parquet":
        with open_parquet(path) as file:
            frame: pd.DataFrame = file.read().to_pandas()
        frame.attrs |= {"source": str(path), "delimiter": None, "notes": ()}
        return frame
    if stored is not None:
        raise DataError(f"{path} is a file of the format {stored}; expected {expected}")
    data, notes = _decoded(data, str(path))
    delimiter, rows = _split(data, spaced)
    if delimiter == " " and len(set(map(len, rows[1:]))) > 1:
        k = next(k for k, row in enumerate(rows) if k and len(row) != len(rows[1]))
        raise DataError(
            f"{path}, row {k + 1} has {len(rows[k])} cells when split at spaces, and row 2 has "
            f"{len(rows[1])}; separate cells by tabs or commas"
        )
    frame = _parsed(path, data, delimiter, max(map(len, rows), default=1))
    if not len(frame):
        raise DataError(f"{path} is empty; expected {expected}")
    frame.attrs |= {"source": str(path), "delimiter": delimiter, "notes": notes}
    return _with_header(frame, is_header, len(rows[0]) if rows else frame.shape[1])


def _decoded(data: bytes, source: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a text as UTF-8 without mark-up, and a note if it is in Windows-1252."""
    data = to_utf8(data, source)
    notes: tuple[str, ...] = ()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        notes = (f"line {line} is not UTF-8: the file was read as Windows-1252",)
        try:
            data = data.decode("cp1252").encode()
        except UnicodeDecodeError as other:
            line = data.count(b"\n", 0, other.start) + 1
            raise DataError(
                f"{source}, line {line}: byte 0x{data[other.start]:02X} is neither UTF-8 nor "
                "Windows-1252; save the file as UTF-8"
            ) from error
    if data.lstrip()[:1] == b"<":
        data = MARKUP.sub(b"", data)
    return EXCEL_DELIMITER.sub(b"", data), notes


def _split(data: bytes, spaced: bool) -> tuple[str, list[list[str]]]:
    """Return the delimiter of a text and the cells of its first rows."""
    cut = data.rfind(b"\n", 0, HEAD_BYTES) + 1 if len(data) > HEAD_BYTES else len(data)
    head = data[: cut or len(data)].decode()
    first = next((line for line in head.splitlines() if line.strip()), "")
    best: tuple[str, list[list[str]]] = (",", [])
    best_score = (-1, -1)
    for delimiter in filter(first.__contains__, DELIMITERS):
        rows = _first_rows(head, delimiter)
        widths = list(map(len, rows))
        score = (int(len(set(widths[1:])) <= 1), min(2, max(widths, default=0)))
        if score > best_score:
            best, best_score = (delimiter, rows), score
    if best[1] or not (spaced or ('"' in first and " " in first.strip())):
        return best if best[1] else (",", _first_rows(head, ","))
    return " ", _first_rows(head, " ", quoted=not spaced)


def _first_rows(head: str, delimiter: str, quoted: bool = True) -> list[list[str]]:
    """Return the first rows with cells, or the rows before one that cannot be split."""
    reader = csv.reader(
        io.StringIO(head, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    rows: list[list[str]] = []
    try:
        for row in reader:
            while delimiter == " " and row and not row[-1]:
                row.pop()
            if any(row):
                rows.append(row)
            if len(rows) == HEAD_ROWS:
                break
    except csv.Error:
        pass
    return rows


def _parsed(path: Path, data: bytes, delimiter: str, width: int) -> pd.DataFrame:
    """Split a text at a delimiter, and number the rows by their lines."""
    import pandas as pd

    quoting = csv.QUOTE_MINIMAL
    if b'"' in data and (wrong := _wrong_quotes(data, delimiter)) is not None:
        if delimiter != "\t":
            line, reason = wrong
            raise DataError(
                f"{path}, line {line}: the row that starts here cannot be split into cells "
                f"({reason}); close every quotation mark, and write a quotation mark within a "
                'word twice: "5"" nail"'
            )
        quoting = csv.QUOTE_NONE
    try:
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=r"\s+" if delimiter == " " else delimiter,
            header=None,
            names=range(width),
            index_col=False,
            dtype=object,
            keep_default_na=False,
            na_filter=False,
            skipinitialspace=True,
            skip_blank_lines=False,
            quoting=quoting,
        )
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise DataError(f"{path} cannot be split into cells ({error})") from error
        raise DataError(
            f"{path}, line {found[2]} has {found[3]} cells, but the first rows have {found[1]}; "
            "put cells that contain the delimiter in quotation marks"
        ) from error
    lines = np.arange(1, len(frame) + 1)
    if quoting == csv.QUOTE_MINIMAL and b'"' in data and data.count(b"\n") > len(frame):
        breaks = np.zeros(len(frame), np.int64)
        for name in frame:
            breaks += frame[name].str.count(r"\r\n|\r|\n").to_numpy(np.int64)
        lines += np.cumsum(breaks) - breaks
    frame.index = pd.Index(lines, name="line")
    # Only rows with an empty first cell can be blank.
    blank = np.flatnonzero(frame[0].to_numpy() == "")
    blank = blank[(frame.iloc[blank].to_numpy() == "").all(axis=1)]
    return frame.drop(index=lines[blank]) if blank.size else frame


def _wrong_quotes(data: bytes, delimiter: str) -> tuple[int, str] | None:
    """Return the line and reason if quotation marks do not enclose cells, or None."""
    mark = re.escape(delimiter).encode()
    stray = re.compile(rb'(?<![%b\r\n"])"(?![%b\r\n"])' % (mark, mark))
    if not data.count(b'"') % 2 and not stray.search(data):
        return None
    reader = csv.reader(
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        return line, str(error)
    return None


def _sheet(path: Path) -> pd.DataFrame:
    """Read the first sheet of a spreadsheet as texts."""
    import pandas as pd

    try:
        frame = pd.read_excel(path, header=None, dtype=str, keep_default_na=False, na_filter=False)
    except ImportError as error:
        package = {".xls": "xlrd", ".ods": "odfpy"}.get(path.suffix.lower(), "openpyxl")
        advice = ", or save the sheet as CSV"
        raise ImportError(not_installed(f"reading {path}", package, advice)) from error
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} is not a readable spreadsheet ({error}); save it as CSV"
        ) from error
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="line")
    frame = frame[(frame != "").any(axis=1)]
    frame.attrs |= {"source": str(path), "delimiter": None, "notes": ()}
    return frame


def is_label_name(name: str) -> bool:
    """Return whether a column name is one of labels (see `LABEL_NAMES`) or of a kind of objects."""
    from manymaps.io.columns import folded, known_kind

    return folded(name) in LABEL_NAMES or known_kind(name) is not None


def _with_header(
    frame: pd.DataFrame, is_header: Callable[[Sequence[str]], bool] | None, n_names: int
) -> pd.DataFrame:
    """Use the first row as column names if it contains names."""
    source, width = frame.attrs["source"], frame.shape[1]
    names = [cell.strip() for cell in frame.iloc[0].tolist()][: n_names or width]
    body = frame.iloc[1:]
    if len(names) == width - 1:
        # Each line may end with a delimiter; else R omitted the name of the column of row names.
        last = body.iloc[:, -1].astype(bool)
        if not last.any():
            frame, body, width = frame.iloc[:, :-1], body.iloc[:, :-1], width - 1
        elif last.all():
            names.insert(0, "")
    if frame.attrs["delimiter"] != ",":
        names = [
            name.replace(",", ".") if DECIMAL_COMMA.fullmatch(name) else name for name in names
        ]
    if not has_header(names, is_label_name) or (is_header is not None and not is_header(names)):
        return frame
    if len(names) < width:
        line = body.index[(body.iloc[:, len(names) :] != "").any(axis=1)][0]
        raise DataError(
            f"{source}, line {line} has more cells than the header, which has {len(names)}"
        )
    body.columns = names
    if width > 1 and not names[-1] and not body.iloc[:, -1].astype(bool).any():
        body = body.iloc[:, :-1]
    return body
