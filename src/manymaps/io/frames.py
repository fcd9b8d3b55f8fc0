"""Reader that converts the file of a table to a pandas DataFrame of texts.

    read_frame("norms.csv")    columns by their names; index: the lines; attrs: source and notes

Text is split at tabs, semicolons, bars or commas, and at spaces if its first line has neither. It
is encoded in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252. Parquet files keep their
types, and so do numbers of wide text, which would need too much memory as texts.
"""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.archive.door import reading
from manymaps.data.tables import MISSING, has_header
from manymaps.errors import DataError
from manymaps.io.columns import HEAD_ROWS, NAMES, folded, is_label_name
from manymaps.io.files import decoded, read_bytes, stored_format, suffix_of

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = "\t;|,"
SHEETS = (".xlsx", ".xls", ".ods")
TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", *SHEETS)
HEAD_BYTES = 2**20
# Columns of numbers in a table with more columns are converted while it is read.
MOST_TEXTS = 30
# The USF free-association norms were published as text within a plain web page.
MARKUP = re.compile(rb"^[ \t]*(</?\w+>[ \t]*)+(?=\r?$)", re.MULTILINE)
EXCEL_DELIMITER = re.compile(rb"\Asep=[^\r\n](?=\r|\n)")
COMMENTS = re.compile(rb"(?:[^\S\n]*\n|#[^\n]*\n)*(#[^\n]*)\n")


def read_frame(path: str | os.PathLike[str], expected: str = "a table") -> pd.DataFrame:
    """Read a table as texts, without surrounding white space at the start of a cell.

    Parameters
    ----------
    path : path
        Text that may be compressed (.gz, .bz2, .xz or .zip), Parquet, or a spreadsheet.
    expected : str
        Contents of the file, for messages.

    Returns
    -------
    DataFrame
        Cells, where a cell that is missing at the end of a row is empty. Blank rows are omitted.
        The columns of a table without header are 0, 1, ... The index "line" contains the line of
        each row from 1. `attrs` contain "source", "delimiter", "header" and "notes".

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
        return _sheet(path)
    data = read_bytes(path, expected)
    stored = stored_format(path, data[:HEAD_BYTES])
    if stored == "parquet":
        import pandas as pd

        with reading(path, "Parquet"):
            return described(pd.read_parquet(path, engine="pyarrow"), str(path))
    if stored is not None:
        raise DataError(f"{path} is a file of the format {stored}; expected {expected}")
    return _text_frame(data, str(path))


def described(frame: pd.DataFrame, source: str, **attrs: Any) -> pd.DataFrame:
    """Add the source and other facts to a frame."""
    frame.attrs |= {"source": source, "delimiter": None, "header": True, "notes": (), **attrs}
    return frame


def without_header(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of texts in which the names of the columns are the first row."""
    import pandas as pd

    first = pd.DataFrame([list(frame.columns)], pd.Index([1], name="line"), frame.columns)
    whole = pd.concat([first, frame]).set_axis(range(frame.shape[1]), axis=1)
    return described(whole, **{**frame.attrs, "header": False})


def _text_frame(data: bytes, source: str) -> pd.DataFrame:
    """Read a text as `read_frame` does."""
    text, notes = decoded(data, source)
    data = EXCEL_DELIMITER.sub(b"", text.encode())
    del text  # large files are kept in memory only once
    data = MARKUP.sub(b"", data) if b"<" in data[:9] else data
    data = _without_comments(data) if data.lstrip().startswith(b"#") else data
    delimiter, rows, skipped = _split(data)
    if not rows:
        raise DataError(f"{source} is empty; expected a table")
    names, body = [cell.strip() for cell in rows[0]], rows[1:]
    # R omits the name of the column of row names, but each line may also end with a delimiter.
    if body and all(len(row) == len(names) + 1 and row[-1] for row in body):
        names = ["", *names]
    # Files of ratings with a column per judge number the judges.
    is_rated = len(names) > 3 and not set(map(folded, names)).isdisjoint(NAMES["rating"])
    header = is_rated or has_header(names, is_label_name)
    width = max(map(len, rows))
    labels = [c for c, name in enumerate(names) if c == 0 or (header and is_label_name(name))]
    texts = range(width) if width <= MOST_TEXTS else labels
    frame = _parsed(source, data, delimiter, width, skipped if header else 0, texts)
    described(frame, source, delimiter=delimiter, header=header, notes=notes)
    if not header:
        return frame
    # A slice of columns would copy the frame.
    extra = np.flatnonzero((frame[range(len(names), width)] != "").any(axis=1))
    if extra.size:
        raise DataError(
            f"{source}, line {frame.index[extra[0]]} has more cells than the header, which has "
            f"{len(names)}; put cells that contain the delimiter in quotation marks"
        )
    frame = frame if width == len(names) else frame.iloc[:, : len(names)]
    frame.columns = names  # set_axis would copy the frame
    # Concatenated files repeat the header.
    repeats = np.flatnonzero(frame.iloc[:, 0] == names[0]) if len(names) > 2 else np.empty(0, int)
    repeats = repeats[(frame.iloc[repeats] == names).all(axis=1)]
    if repeats.size:
        frame = frame.drop(index=frame.index[repeats])
        frame.attrs["notes"] = (*notes, f"{repeats.size} repeated headers left out")
    is_ended = len(names) > 1 and not names[-1] and not (frame.iloc[:, -1] != "").any()
    return frame.iloc[:, :-1] if is_ended and len(frame) else frame


def _without_comments(data: bytes) -> bytes:
    """Empty the lines with # at the start of a text, except a header as wide as the next line."""
    start = COMMENTS.match(data)
    if start is None:
        return data
    last, following = start[1], data[start.end() :].split(b"\n", 1)[0]
    marks = map(str.encode, DELIMITERS)
    is_header = any(last.count(mark) == following.count(mark) > 0 for mark in marks)
    at = start.start(1) if is_header else start.end()
    return b"\n" * data.count(b"\n", 0, at) + data[at:]


def _split(data: bytes) -> tuple[str, list[list[str]], int]:
    """Return the delimiter of a text, the cells of its first rows, and the lines of the first."""
    cut = data.rfind(b"\n", 0, HEAD_BYTES) + 1 if len(data) > HEAD_BYTES else len(data)
    head = data[: cut or len(data)].decode()
    first = next((line for line in head.splitlines() if line.strip()), "").strip()
    marks = [mark for mark in DELIMITERS if mark in first] or ([" "] if " " in first else [","])
    splits = {mark: _first_rows(head, mark) for mark in marks}
    widths = {mark: list(map(len, rows)) for mark, (rows, _) in splits.items()}
    # Rows below the first have equal widths, or else at least 2 columns.
    is_even = {mark: len(set(widths[mark][1:])) <= 1 for mark in marks}
    best = max(marks, key=lambda mark: (is_even[mark], min(2, max(widths[mark], default=0))))
    if best == " " and not is_even[best]:
        return ",", *_first_rows(head, ",")
    return best, *splits[best]


def _first_rows(head: str, delimiter: str) -> tuple[list[list[str]], int]:
    """Return the first rows with cells, up to one that cannot be split, and the lines of one."""
    text = io.StringIO(head, newline="")
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    rows: list[list[str]] = []
    lines = 0
    with suppress(csv.Error):
        for row in reader:
            while delimiter == " " and row and not row[-1]:
                row.pop()
            if any(map(str.strip, row)):
                lines = lines or reader.line_num
                rows.append(row)
            if len(rows) == HEAD_ROWS:
                break
    return rows, lines


def _parsed(
    source: str, data: bytes, delimiter: str, width: int, skipped: int, texts: Sequence[int]
) -> pd.DataFrame:
    """Split a text at a delimiter, and number the rows by their lines.

    The first `skipped` lines are omitted, and columns that are not in `texts` may be numbers.
    """
    import pandas as pd

    wrong = _wrong_quotes(data, delimiter) if b'"' in data else None
    if wrong is not None and delimiter != "\t":
        raise DataError(
            f"{source}, line {wrong[0]}: the row that starts here cannot be split into cells "
            f"({wrong[1]}); close every quotation mark, and write a quotation mark within a "
            'word twice: "5"" nail"'
        )
    try:
        with warnings.catch_warnings():
            # Blocks of a column may have different types; `numbers_in` converts them alike.
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)
            frame = pd.read_csv(
                io.BytesIO(data),
                sep=r"\s+" if delimiter == " " else delimiter,
                header=None,
                names=range(width),
                index_col=False,
                dtype=dict.fromkeys(texts, object),
                keep_default_na=False,
                na_filter=len(texts) < width,
                na_values={
                    c: [*MISSING, "NA", "NaN", "None"] for c in range(width) if c not in texts
                },
                float_precision="round_trip",
                skiprows=skipped,
                skipinitialspace=True,
                skip_blank_lines=False,
                quoting=csv.QUOTE_MINIMAL if wrong is None else csv.QUOTE_NONE,
            )
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise DataError(f"{source} cannot be split into cells ({error})") from error
        raise DataError(
            f"{source}, line {found[2]} has {found[3]} cells, but the first rows have {found[1]}; "
            "put cells that contain the delimiter in quotation marks"
        ) from error
    words = [c for c, dtype in enumerate(frame.dtypes) if dtype.kind == "O"]
    if len(texts) < width:
        frame[words] = frame[words].astype(object).fillna("")
    lines = np.arange(1, len(frame) + 1) + skipped
    if wrong is None and b'"' in data and len(data.splitlines()) > len(frame) + skipped:
        breaks = sum(frame[c].str.count(r"\r\n|\r|\n").to_numpy(np.int64) for c in words)
        lines += np.cumsum(breaks) - breaks
    frame.index = pd.Index(lines, name="line")
    # Only rows with an empty first cell can be blank.
    blank = np.flatnonzero(frame[0] == "")
    blank = blank[frame.iloc[blank].isin(["", np.nan]).to_numpy().all(axis=1)]
    return frame.drop(index=lines[blank]) if blank.size else frame


def _wrong_quotes(data: bytes, delimiter: str) -> tuple[int, str] | None:
    """Return the line and reason if quotation marks do not enclose cells, or None."""
    mark = re.escape(delimiter).encode()
    stray = re.compile(rb'(?<![%b\r\n"])"(?![%b\r\n"])' % (mark, mark))
    if not data.count(b'"') % 2 and not stray.search(data):
        return None
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=True)
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
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{path} is not a readable spreadsheet ({error}); save it as CSV"
        ) from error
    text = frame.to_csv(sep="\t", header=False, index=False)
    return _text_frame(text.encode(), str(path))
