"""Files as decompressed bytes, decoded text, lists of labels, and data frames of texts.

    unpacked(path)             bytes, decompressed if the suffix requires it
    decoded(data, source)      text in UTF-8, UTF-16 with a byte order mark, or Windows-1252
    read_labels("words.txt")   one label per line
    read_frame("norms.csv")    columns by their names; index: the lines; attrs: source and notes
    read_columns("ages.csv")   columns of metadata with one row per label, converted to numbers

Text is split at tabs, semicolons, bars or commas, and at spaces if its first line has neither.
Parquet files keep their types, and so do numbers of wide text, which would need too much memory as
texts.
"""

from __future__ import annotations

import bz2
import csv
import errno
import gzip
import io
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from manymaps.archive.door import reading
from manymaps.data.csv_cells import unguarded
from manymaps.data.frames import KEYS, cell_label
from manymaps.errors import DataError
from manymaps.io.annotated import gene_columns, read_annotated
from manymaps.io.columns import (
    HEAD_ROWS,
    MISSING,
    NAMES,
    described,
    folded,
    is_label_name,
    is_text,
    numbers_in,
    numbers_of,
)
from manymaps.labels import repeated_label

if TYPE_CHECKING:
    import pandas as pd

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
DELIMITERS = "\t;|,"
SHEETS = (".xlsx", ".xls", ".ods")
TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq", *SHEETS)
HEAD_BYTES = 2**20
# Columns of numbers in a table with more columns are converted while it is read.
MOST_TEXTS = 30
# Float64 cannot represent every integer above this value. Such integers are names.
MOST = 2**53
# The USF free-association norms were published as text within a plain web page.
MARKUP = re.compile(rb"^[ \t]*(</?\w+>[ \t]*)+(?=\r?$)", re.MULTILINE)
EXCEL_DELIMITER = re.compile(rb"\Asep=[^\r\n](?=\r|\n)")
COMMENTS = re.compile(rb"(?:[^\S\n]*\n|#[^\n]*\n)*(#[^\n]*)\n")


def _only_member(path: Path) -> Any:
    """Open the only member of a zip file."""
    try:
        archive = zipfile.ZipFile(path)
        members = archive.infolist()
        if len(members) == 1:
            return archive.open(members[0])
    except (RuntimeError, UnicodeDecodeError) as error:
        # A password, an unknown method or version, or a damaged name.
        raise zipfile.BadZipFile(str(error)) from error
    raise DataError(f"{path} contains {len(members):,} files; unpack it and name one of them")


PACKERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _only_member,
}  # fmt: skip


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, and decompress it if its suffix requires it.

    Raises
    ------
    DataError
        If damaged compressed bytes are found while reading.
    """
    try:
        packer = PACKERS.get(path.suffix.lower())
        with io.BufferedReader(packer(path)) if packer else path.open("rb") as stream:
            yield cast(BinaryIO, stream)
    except (zlib.error, lzma.LZMAError, EOFError, OSError, zipfile.BadZipFile) as error:
        # gzip and bz2 raise OSError without an error number for damaged bytes, and a damaged zip
        # file leads to an invalid position.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(
            f"{path} is damaged or cut short and cannot be unpacked ({error}); fetch it again"
        ) from error


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the decompressed contents of a file, which must not be empty."""
    with unpacked(Path(path)) as file:
        data = file.read()
    if not data.removeprefix(UTF8_MARK).strip():
        raise DataError(f"{path} is empty")
    return data


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in lower case, ignoring a compression suffix.

    >>> suffix_of(Path("norms.CSV.gz"))
    '.csv'
    """
    name = path.stem if path.suffix.lower() in PACKERS else path.name
    return Path(name).suffix.lower()


def decoded(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Decode text from UTF-8 or marked UTF-16, or else from Windows-1252 with a note.

    >>> decoded("déjà".encode(), "a.txt")
    ('déjà', ())
    >>> decoded("déjà".encode("latin-1"), "a.txt")
    ('déjà', ('a.txt is not UTF-8; it was read as Windows-1252',))

    Raises
    ------
    DataError
        If the data are not text.
    """
    is_wide = data.startswith(UTF16_MARKS)
    notes: tuple[str, ...] = ()
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if is_wide:
            raise DataError(
                f"{source}: byte {error.start} is not UTF-16, although the file has its mark; save "
                "the file as UTF-8"
            ) from error
        notes = (f"{source} is not UTF-8; it was read as Windows-1252",)
        text = data.decode("cp1252", "replace")
    if "\0" in text:
        raise DataError(
            f"{source} is not text (it contains zero bytes); give it the suffix of its format "
            f"(such as .parquet, .npy, .npz, .h5ad or {', '.join(PACKERS)}), or save it as UTF-8"
        )
    return text, notes


def read_labels(labels: Sequence[str] | str | os.PathLike[str]) -> list[str]:
    """Read labels from a file with one label per line, or convert a sequence to a list."""
    if not isinstance(labels, str | os.PathLike):
        return [str(label).strip() for label in labels]
    text, _ = decoded(read_bytes(labels), str(labels))
    # Other line breaks of Unicode may occur within a label.
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", text.rstrip())]
    if "" in lines:
        raise DataError(f"{labels}, line {lines.index('') + 1} is empty; expected a label")
    return lines


def read_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a table as texts, without surrounding white space at the start of a cell.

    Parameters
    ----------
    path : path
        Text that may be compressed (.gz, .bz2, .xz or .zip), Parquet, or a spreadsheet.

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
    suffix = suffix_of(path)
    if suffix in SHEETS:
        return _sheet(path)
    if suffix in (".parquet", ".pq"):
        import pandas as pd

        with reading(path, "Parquet"):
            return described(pd.read_parquet(path, engine="pyarrow"), str(path))
    return frame_of(read_bytes(path), str(path))


def read_columns(path: str | os.PathLike[str], genes: Sequence[str] = ()) -> pd.DataFrame:
    """Read metadata from a table of any format that `read_frame` reads, or from .h5ad.

    In text files, columns named "label", "word" or "id" are texts, or else the first column. Any
    other column is converted to numbers if all its cells are numbers or missing. Empty cells become
    None. The apostrophe that guards a cell from spreadsheets (`manymaps.data.csv_cells`) is
    removed. The columns of an .h5ad file are those of its obs, and the values in X of the `genes`
    that are variables of the file but not columns of obs.

    Raises
    ------
    DataError
        If `read_frame` raises it, or if the file has no header, no rows or two columns of one name.
    """
    path = Path(path)
    if suffix_of(path) == ".h5ad":
        data = read_annotated(path)
        chosen = [gene for gene in genes if gene not in data.obs and gene in data.var_names]
        return data.obs.assign(**gene_columns(data, chosen))
    frame = read_frame(path)
    if not frame.attrs["header"] or not len(frame):
        raise DataError(
            f"{path} has no header (its first row contains a number) or no rows below it; name the "
            "column of labels 'label'"
        )
    names = [unguarded(str(name)) for name in frame.columns]
    repeated = repeated_label(names)
    if repeated is not None:
        raise DataError(f"{path}: duplicate column {repeated[0]!r}; names must be unique")
    frame.columns = names
    if not is_text(frame):
        return frame
    # Labels such as 1984 are names, not numbers.
    keys = [name for name in names if name.strip().casefold() in KEYS] or names[:1]
    columns: dict[str, Any] = {}
    for c, name in enumerate(names):
        values = numbers_of(frame, [c])[:, 0]
        known = values[~np.isnan(values)]
        if name in keys or not known.size or (abs(known) >= MOST).any():
            columns[name] = [unguarded(cell_label(cell)) or None for cell in frame[name]]
        else:
            are_whole = known.size == values.size and (values % 1 == 0).all()
            columns[name] = values.astype(np.int64) if are_whole else values
    return type(frame)(columns)


def without_header(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of texts in which the names of the columns are the first row."""
    import pandas as pd

    first = pd.DataFrame([list(frame.columns)], pd.Index([1], name="line"), frame.columns)
    names = [f"column {c + 1}" for c in range(frame.shape[1])]
    whole = pd.concat([first, frame]).set_axis(names, axis=1)
    return described(whole, **{**frame.attrs, "header": False})


def frame_of(data: bytes, source: str) -> pd.DataFrame:
    """Read the text of a file as `read_frame` does."""
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
    # A first row with a number is data, unless its corner is empty or the name of a label column.
    numbers = np.isfinite(numbers_in(names, decimal_commas=True))
    header = not numbers.any() or is_rated or is_label_name(names[0])
    width = max(map(len, rows))
    texts: Sequence[int] = range(width)
    if width > MOST_TEXTS:
        texts = [c for c, name in enumerate(names) if c == 0 or (header and is_label_name(name))]
    frame = _parsed(source, data, delimiter, width, skipped if header else 0, texts)
    frame.attrs = {"source": source, "delimiter": delimiter, "header": header, "notes": notes}
    if not header:
        frame.columns = [f"column {c + 1}" for c in range(width)]
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
    marks = [mark for mark in DELIMITERS if mark in first]
    splits = []
    for mark in marks or ([" ", ","] if " " in first else [","]):
        rows, skipped = _first_rows(head, mark)
        widths = list(map(len, rows))
        # Equal widths below the header are the best sign; the next is that there are two columns.
        quality = (len(set(widths[1:])) <= 1, min(2, max(widths, default=0)))
        splits.append((quality, mark, rows, skipped))
    return max(splits, key=lambda split: split[0])[1:]


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
    """Split a text at a delimiter after the `skipped` lines, and number the rows by their lines."""
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
        reason = f" cannot be split into cells ({error})"
        if found:
            reason = f", line {found[2]} has {found[3]} cells, but the first rows have {found[1]}"
        hint = "put cells that contain the delimiter in quotation marks"
        raise DataError(f"{source}{reason}; {hint}") from error
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

    with reading(path, "a spreadsheet"):
        frame = pd.read_excel(path, header=None, dtype=str, keep_default_na=False, na_filter=False)
    text = frame.to_csv(sep="\t", header=False, index=False)
    return frame_of(text.encode(), str(path))
