"""Reader that converts the file of a table to a pandas DataFrame of texts.

    read_frame("norms.csv")    columns by their names; index: the lines; attrs: source and notes

Text is split at tabs, semicolons, bars or commas, and at spaces if R wrote it. It is encoded in
UTF-8, in UTF-16 with a byte order mark, or in Windows-1252. Parquet files keep their types.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.archive.door import reading
from manymaps.data.tables import DECIMAL_COMMA, MISSING, has_header, is_number
from manymaps.errors import DataError, not_installed
from manymaps.io.files import Sample, check_not_empty, decoded, read_bytes, stored_format, suffix_of

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
SHEETS = (".xlsx", ".xls", ".ods")
# Column names of labels, without spaces and points, in lower case. pandas writes its index as
# "Unnamed: 0".
LABEL_NAMES = ("", "label", "word", "id", "name", "token", "term", "index", "unnamed:0")
HEAD_ROWS = 30
# A wide table has more columns.
MOST_TEXTS = 12
HEAD_BYTES = 2**20
# The USF free-association norms were published as text within a plain web page.
MARKUP = re.compile(rb"^[ \t]*(</?\w+>[ \t]*)+(?=\r?$)", re.MULTILINE)
COMMENTS = re.compile(rb"(\s*\n|#[^\n]*\n)+")
EXCEL_DELIMITER = re.compile(rb"\Asep=[^\r\n](?=\r|\n)")


def usual_header(first: Sequence[str]) -> bool:
    """Return whether the first row of a table contains column names (see `has_header`)."""
    return has_header(first, is_label_name)


def read_frame(
    path: str | os.PathLike[str],
    expected: str = "a table",
    *,
    is_header: Callable[[Sequence[str]], bool] = usual_header,
    spaced: bool = False,
    typed: bool = False,
) -> pd.DataFrame:
    """Read a table as texts, without surrounding white space at the start of a cell.

    Parameters
    ----------
    path : path
        Text that may be compressed (.gz, .bz2, .xz or .zip), Parquet, or a spreadsheet.
    expected : str
        Contents of the file, for messages.
    is_header : callable
        Test of whether the first row contains column names. The default is `usual_header`.
    spaced : bool
        Whether to split text at spaces if its first line contains no other delimiter.
    typed : bool
        Whether to convert columns of numbers in a wide table, except columns of labels, to save
        memory.

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
    whole = path.data if isinstance(path, Sample) else None
    path = Path(path)
    if suffix_of(path) in SHEETS:
        return _sheet(path, is_header)
    data = read_bytes(path, expected) if whole is None else whole
    check_not_empty(data, path, expected)
    stored = stored_format(path, data[:HEAD_BYTES])
    if stored == "parquet":
        return described(_parquet(path), str(path))
    if stored is not None:
        raise DataError(f"{path} is a file of the format {stored}; expected {expected}")
    return text_frame(data, str(path), is_header, spaced, typed)


def described(frame: pd.DataFrame, source: str, **attrs: Any) -> pd.DataFrame:
    """Add the source and other facts to a frame."""
    frame.attrs |= {"source": source, "delimiter": None, "header": True, "notes": (), **attrs}
    return frame


def text_frame(
    data: bytes,
    source: str,
    is_header: Callable[[Sequence[str]], bool] = usual_header,
    spaced: bool = False,
    typed: bool = False,
) -> pd.DataFrame:
    """Read a text as `read_frame` does."""
    data, notes = _cleaned(data, source)
    delimiter, rows, skipped = _split(data, spaced)
    if not rows:
        raise DataError(f"{source} is empty; expected a table")
    if delimiter == " " and len(set(map(len, rows[1:]))) > 1:
        k = next(k for k, row in enumerate(rows) if k and len(row) != len(rows[1]))
        raise DataError(
            f"{source}, row {k + 1} has {len(rows[k])} cells when split at spaces, and row 2 has "
            f"{len(rows[1])}; separate cells by tabs or commas"
        )
    names, body = [cell.strip() for cell in rows[0]], rows[1:]
    # R omits the name of the column of row names, but each line may also end with a delimiter.
    if body and all(len(row) == len(names) + 1 and row[-1] for row in body):
        names = ["", *names]
    decimal = delimiter != ","
    header = is_header(
        [x.replace(",", ".") if decimal and DECIMAL_COMMA.fullmatch(x) else x for x in names]
    )
    types: dict[int, Any] = {}
    width = max(map(len, rows))
    if typed and width > MOST_TEXTS:
        columns = [
            [row[c] for row in (body if header else rows) if c < len(row)] for c in range(width)
        ]
        types = {c: None for c, cells in enumerate(columns) if _all_numbers(cells)}
        if header:
            types = {c: None for c in types if c < len(names) and not is_label_name(names[c])}
    frame = _parsed(source, data, delimiter, width, skipped if header else 0, types)
    described(frame, source, delimiter=delimiter, header=header, notes=notes)
    if not header:
        return frame
    for c in range(len(names), width):
        extra = np.flatnonzero(frame[c].to_numpy() != "")
        if extra.size:
            raise DataError(
                f"{source}, line {frame.index[extra[0]]} has more cells than the header, which has "
                f"{len(names)}; put cells that contain the delimiter in quotation marks"
            )
    frame = frame.iloc[:, : len(names)]
    frame.columns = names
    is_ended = (
        len(names) > 1 and not names[-1] and len(frame) and not (frame.iloc[:, -1] != "").any()
    )
    return frame.iloc[:, :-1] if is_ended else frame


def _all_numbers(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers or missing, with at least one number."""
    return any(map(is_number, cells)) and all(
        is_number(cell) or cell.strip().lower() in MISSING for cell in cells
    )


def _cleaned(data: bytes, source: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a text as UTF-8 without mark-up and comments, and a note if it was in another code."""
    text, notes = decoded(data, source)
    data = text.encode()
    if data.lstrip()[:1] == b"<":
        data = MARKUP.sub(b"", data)
    if data.lstrip()[:1] == b"#":
        data = _without_comments(data)
    return EXCEL_DELIMITER.sub(b"", data), notes


def _without_comments(data: bytes) -> bytes:
    """Empty the lines with # at the start of a text, except a header as wide as the next line."""
    start = COMMENTS.match(data)
    if start is None:  # a single line
        return data
    lines, following = start[0].split(b"\n"), data[start.end() :].split(b"\n", 1)[0]
    for k, line in enumerate(lines[:-1]):
        counts = [(line.count(mark), following.count(mark)) for mark in (b"\t", b";", b"|", b",")]
        is_last = not any(map(bytes.strip, lines[k + 1 :]))
        if not (is_last and any(one == other > 0 for one, other in counts)):
            lines[k] = b""
    return b"\n".join(lines) + data[start.end() :]


def _split(data: bytes, spaced: bool) -> tuple[str, list[list[str]], int]:
    """Return the delimiter of a text, the cells of its first rows, and the lines of the first."""
    cut = data.rfind(b"\n", 0, HEAD_BYTES) + 1 if len(data) > HEAD_BYTES else len(data)
    head = data[: cut or len(data)].decode()
    first = next((line for line in head.splitlines() if line.strip()), "")
    best, best_score = None, (-1, -1)
    for delimiter in filter(first.__contains__, DELIMITERS):
        rows, skipped = _first_rows(head, delimiter)
        widths = list(map(len, rows))
        score = (int(len(set(widths[1:])) <= 1), min(2, max(widths, default=0)))
        if score > best_score:
            best, best_score = (delimiter, rows, skipped), score
    if best is not None:
        return best
    if spaced or ('"' in first and " " in first.strip()):
        return " ", *_first_rows(head, " ", quoted=not spaced)
    return ",", *_first_rows(head, ",")


def _first_rows(head: str, delimiter: str, quoted: bool = True) -> tuple[list[list[str]], int]:
    """Return the first rows with cells, up to one that cannot be split, and the lines of one."""
    reader = csv.reader(
        io.StringIO(head, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
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
    source: str, data: bytes, delimiter: str, width: int, skipped: int, types: dict[int, Any]
) -> pd.DataFrame:
    """Split a text at a delimiter, and number the rows by their lines.

    The first `skipped` lines are omitted, and columns in `types` are converted to numbers.
    """
    import pandas as pd

    quoting = csv.QUOTE_MINIMAL
    if b'"' in data and (wrong := _wrong_quotes(data, delimiter)) is not None:
        if delimiter != "\t":
            line, reason = wrong
            raise DataError(
                f"{source}, line {line}: the row that starts here cannot be split into cells "
                f"({reason}); close every quotation mark, and write a quotation mark within a "
                'word twice: "5"" nail"'
            )
        quoting = csv.QUOTE_NONE
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
                dtype={c: object for c in range(width) if c not in types},
                keep_default_na=False,
                na_filter=bool(types),
                na_values={c: [*MISSING, "NA", "NaN", "None", "<NA>"] for c in types},
                float_precision="round_trip",
                skiprows=skipped,
                skipinitialspace=True,
                skip_blank_lines=False,
                quoting=quoting,
            )
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise DataError(f"{source} cannot be split into cells ({error})") from error
        raise DataError(
            f"{source}, line {found[2]} has {found[3]} cells, but the first rows have {found[1]}; "
            "put cells that contain the delimiter in quotation marks"
        ) from error
    lines = np.arange(1, len(frame) + 1) + skipped
    if (
        quoting == csv.QUOTE_MINIMAL
        and b'"' in data
        and len(data.splitlines()) > len(frame) + skipped
    ):
        breaks = np.zeros(len(frame), np.int64)
        for c in set(range(width)).difference(types):
            breaks += frame[c].str.count(r"\r\n|\r|\n").to_numpy(np.int64)
        lines += np.cumsum(breaks) - breaks
    frame.index = pd.Index(lines, name="line")
    # Only rows with an empty first cell can be blank.
    blank = np.flatnonzero(frame[0].isin(["", np.nan]).to_numpy())
    blank = blank[frame.iloc[blank].isin(["", np.nan]).to_numpy().all(axis=1)]
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


def _parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file with its types."""
    import pandas as pd

    if not importlib.util.find_spec("pyarrow"):
        advice = ", or save the file in another format"
        raise ImportError(not_installed(f"reading {path}", "pyarrow", advice))
    with reading(path, "Parquet"):
        return pd.read_parquet(path, engine="pyarrow")


def _sheet(path: Path, is_header: Callable[[Sequence[str]], bool]) -> pd.DataFrame:
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
    text = io.StringIO()
    frame.to_csv(text, sep="\t", header=False, index=False)
    return text_frame(text.getvalue().encode(), str(path), is_header)


def is_label_name(name: str) -> bool:
    """Return whether a column name is one of labels (see `LABEL_NAMES`) or of a kind of objects."""
    from manymaps.io.columns import folded, known_kind

    return folded(name) in LABEL_NAMES or known_kind(name) is not None
