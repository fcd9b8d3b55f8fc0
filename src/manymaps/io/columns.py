"""The rules by which readers find the columns of a table, and convert its cells.

    cue, response, strength     source, target, weight     word1, word2, similarity
    document, word, count     site, species, abundance     user, item     sample, taxon

The first line contains columns of pairs, and the second contains columns of counts. In a long list
of counts, observations (documents, sites, users) become rows of the count table. Features (words,
species, goods) become columns, regardless of the column order in the list. The kind of an object is
the name of its column without "_id", "_name" and similar endings. For example, the column "Doc_ID"
contains documents. Cells are converted by these rules:

    missing     "", NA, NaN, None, <NA> and "." are missing numbers; pd.NA, NaN and None are missing
    numbers     in Python's notation, or with decimal commas if all numbers of the cells are so; a
                separator of thousands is an error
    labels      texts without surrounding white space; equal words are found by `manymaps.labels`

Every reader gets a pandas DataFrame, from a file (`manymaps.io.frames.read_frame`) or from the user
(`checked_frame`). Cells of a text file are texts, and its index, "line", contains the lines. The
names of its columns are texts, and `attrs` contain

    source, notes          name of the file, or "the frame", and notes for the report
    header, delimiter      whether a text has names of columns, and where it is split
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.checks import not_amount
from manymaps.data.counts import FEATURES, OBSERVATIONS
from manymaps.data.frames import as_pandas, cell_label, is_missing
from manymaps.errors import DataError, setting
from manymaps.labels import fold as fold_label
from manymaps.labels import listed

if TYPE_CHECKING:
    import pandas as pd

# Number of rows from which the delimiter, the header and the columns of numbers are recognized.
HEAD_ROWS = 30
# Cells that represent a missing number, in lower case.
MISSING = frozenset(("", "na", "nan", "none", "<na>", "."))
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([,.'\s\xa0\u202f]\d{3})+([.,]\d+)?")
LARGEST = float(np.finfo(np.float32).max)
# Tests for invalid numbers, and the allowed numbers. A missing similarity or rating is NaN.
AMOUNT = (not_amount, "expected a finite number of at least 0")
JUDGED = (np.isinf, "expected a finite number, or an empty cell if it is missing")
RULE_OF: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "count": AMOUNT,
    "strength": AMOUNT,
    "similarity": JUDGED,
    "rating": JUDGED,
    "value": (
        lambda values: np.isinf(values) | (values < 0),
        "similarities must be finite numbers of at least 0; missing cells are empty or NA",
    ),
    "coordinate": (
        lambda values: ~(abs(values) <= LARGEST),
        "vectors need finite numbers within the range of float32",
    ),
}
# Usual names by role, without spaces and points, in lower case and in order of priority.
NAMES = {
    role: tuple(names.split())
    for role, names in {
        "cue": """
cue stimulus cueword stimulusword stim word1 term1 item1 noun1 verb1 object1 node1 w1 worda prime
source from src head left subject word
""",
        "response": """
response responseword resp answer associate word2 term2 item2 noun2 verb2 object2 node2 w2 wordb
target to tgt tail right neighbor neighbour related object
""",
        "strength": """
strength fsg r123strength r1strength weight weights value similarity sim score probability prob
proximity association wt
""",
        # In a file with strengths, counts are only supplementary.
        "count": "count counts #p r123 r1 frequency freq cooccurrence",
        # Names of ratings that strengths of associations do not have.
        "rating": """
simlex999 human(mean) humanmean humanscore human humanrating meanrating avgrating averagerating
rating ratings relatedness meanrelatedness averagescore avgscore meanscore menscore goldsimilarity
""",
        "number": """
count counts abundance n freq frequency tf occurrences cooccurrence cooccurrences reads umi umis
quantity qty tokens total weight value
""",
    }.items()
}
# Usual names of a column of labels, in order of priority. pandas writes its index as "Unnamed: 0".
LABELS = ("word", "label", "name", "token", "term", "id", "", "unnamed:0")
# Irregular plurals and abbreviations of kinds in column names.
SYNONYMS = {"doc": "document", "col": "column", "taxa": "taxon", "genera": "genus"}
SUFFIXES = ("", "id", "ids", "name", "names", "label", "labels", "no", "number", "key")


def folded(name: str) -> str:
    """Convert a column name to lower case and remove separators.

    >>> folded(" R123.Strength "), folded("# Word_1")
    ('r123strength', 'word1')
    """
    return re.sub(r"[\s._-]|^# +", "", name.casefold())


def usual_column(
    names: Sequence[str], usual: Sequence[str], but: Collection[int | None] = ()
) -> int | None:
    """Find the first column with the first usual name that occurs, excluding the columns in `but`.

    >>> usual_column(["Word_1", "freq", "N"], ("n", "freq"))
    2
    """
    available = [folded(name) if c not in but else "" for c, name in enumerate(names)]
    return next((available.index(name) for name in usual if name in available), None)


def find(
    frame: pd.DataFrame,
    role: str,
    name: str | None = None,
    but: Collection[int | None] = (),
    *,
    usual: Sequence[str] | None = None,
) -> int | None:
    """Return the position of the column of a role, or None without such a column.

    Parameters
    ----------
    frame : DataFrame
    role : str
        Role of the column and parameter of its name, for messages and usual names (`NAMES`).
    name : str, optional
        Name from the user, which must exist. Case and separators are ignored if only one column
        then matches.
    but : collection of int
        Columns with another role.
    usual : sequence of str, optional
        Usual names. The default is `NAMES[role]`.

    Raises
    ------
    DataError
        If the column from the user is missing or has another role. The message lists the columns
        of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(columns=["CUE", "TARGET", "#G", "FSG"])
    >>> [find(frame, role) for role in ("cue", "response", "strength", "rating")]
    [0, 1, 3, None]
    """
    names = list(frame.columns)
    if name is None:
        return usual_column(names, NAMES.get(role, ()) if usual is None else usual, but)
    same = [c for c, one in enumerate(names) if one == name][:1]
    same = same or [c for c, one in enumerate(names) if folded(one) == folded(name)]
    if len(same) == 1 and same[0] not in but:
        return same[0]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    hint = "" if same or not near else f" Did you mean {' or '.join(map(repr, near))}?"
    raise DataError(
        f"{frame.attrs['source']} has no {'other ' if same else ''}column {name!r}; its columns "
        f"are {listed(names)}.{hint} Name one of them as {setting(role)}"
    )


def needed(
    frame: pd.DataFrame,
    role: str,
    name: str | None = None,
    but: Collection[int | None] = (),
    *,
    usual: Sequence[str] | None = None,
    hint: str = "",
) -> int:
    """Return the position of the column of a role, or raise a DataError (see `find`)."""
    position = find(frame, role, name, but, usual=usual)
    if position is None:
        raise DataError(
            f"{frame.attrs['source']} has no column of {role}s; its columns are "
            f"{listed(list(frame.columns))}. Name one of them as {setting(role)}{hint}"
        )
    return position


def has_pair_header(
    names: Sequence[str], cue: str | None = None, response: str | None = None
) -> bool:
    """Return whether names of columns contain those of cues and responses.

    >>> has_pair_header(["CUE", "TARGET", "FSG"]), has_pair_header(["CUE", "FSG"])
    (True, False)
    """
    ends = [
        usual_column(names, NAMES[role] if name is None else (folded(name),))
        for role, name in (("cue", cue), ("response", response))
    ]
    return None not in ends


def known_kind(name: str) -> str | None:
    """Return the kind of object in a column with this name, or None if it is not a common kind.

    >>> known_kind("Doc_ID"), known_kind("species"), known_kind("words"), known_kind("x1")
    ('document', 'species', 'word', None)
    """
    plain = folded(name).removeprefix("#")  # OTU tables begin with "#OTU ID"
    stems = list(map(plain.removesuffix, SUFFIXES))
    kinds = (SYNONYMS.get(x, x) for stem in stems for x in (stem, stem.removesuffix("s")))
    return next((kind for kind in kinds if kind in OBSERVATIONS or kind in FEATURES), None)


def numbered_observations(names: Sequence[str]) -> str | None:
    """Return the kind of numbered observations that all names denote, or None.

    >>> numbered_observations(["site1", "Site_2"]), numbered_observations(["x1", "x2"])
    ('site', None)
    """
    kinds = {known_kind(name.rstrip("0123456789")) if name[-1:].isdigit() else "" for name in names}
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in OBSERVATIONS - FEATURES else None


def is_label_name(name: str) -> bool:
    """Return whether a column name is one of labels or of a kind of objects."""
    return folded(name) in LABELS or known_kind(name) is not None


def described(frame: pd.DataFrame, source: str | None = None, **attrs: Any) -> pd.DataFrame:
    """Return a frame with the names and `attrs` that readers expect (see the module)."""
    frame = frame.copy(deep=False)
    usual = {"source": "the frame", "notes": (), "header": True, "delimiter": None}
    frame.attrs = usual | frame.attrs | ({} if source is None else {"source": source}) | attrs
    frame.columns = frame.columns.map(cell_label)
    return frame


def checked_frame(data: Any, wanted: str = "a data frame") -> pd.DataFrame:
    """Return a data frame, or a mapping of names to lists, as a DataFrame with rows and columns."""
    frame = as_pandas(data, f"got an object of type {{}}; pass {wanted}")
    frame = frame if "delimiter" in frame.attrs else described(frame)
    source = frame.attrs["source"]
    if not frame.size:
        raise DataError(f"{source} has no rows, or no columns")
    if is_text(frame) and frame.shape[1] == 1:
        raise DataError(
            f"{source} has only one column; separate cells by commas, semicolons, tabs or bars"
        )
    return frame


def known_number(value: Any) -> float:
    """Convert a value to a number, NaN if it is missing (`MISSING`), or infinity otherwise.

    >>> known_number("3"), known_number("NA"), known_number(None), known_number("1_000")
    (3.0, nan, nan, inf)
    """
    if is_missing(value) or str(value).strip().lower() in MISSING:
        return math.nan
    try:
        return math.inf if "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def place(frame: pd.DataFrame, row: int) -> str:
    """Return the source and the line (for text) or row (from 0) of a row, for error messages."""
    where = f"line {frame.index[row]}" if is_text(frame) else f"row {row}"
    return f"{frame.attrs['source']}, {where}"


def is_text(frame: pd.DataFrame) -> bool:
    """Return whether `read_frame` read the cells from text."""
    return frame.index.name == "line"


def labels_of(frame: pd.DataFrame, column: int, fold: bool = False) -> np.ndarray:
    """Return the labels in a column, an array of texts in which missing cells are empty.

    Case and repeated spaces are removed if `fold` is true.

    >>> import pandas as pd
    >>> labels_of(pd.DataFrame({"word": ["tie ", None, 3]}), 0).tolist()
    ['tie', '', '3']
    """
    import pandas as pd

    try:
        codes, distinct = pd.factorize(
            frame.iloc[:, column].to_numpy(object), use_na_sentinel=False
        )
    except TypeError as error:
        raise DataError(
            f"{frame.attrs['source']}: the column {frame.columns[column][:60]!r} contains lists; "
            "labels must be texts or numbers"
        ) from error
    labels = map(fold_label, map(cell_label, distinct)) if fold else map(cell_label, distinct)
    return np.array(list(labels), object)[codes]


def numbers_in(cells: Any, *, decimal_commas: bool = False) -> np.ndarray:
    """Return the numbers in a column: NaN for missing cells, and infinity for other texts.

    >>> numbers_in(["3", "NA", "0,5"]), numbers_in(["3", "0,5"], decimal_commas=True)
    (array([ 3., nan, inf]), array([3. , 0.5]))
    """
    import pandas as pd

    array = np.asarray(cells)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    codes, distinct = pd.factorize(array.astype(object), use_na_sentinel=False)
    known = distinct.tolist()
    if decimal_commas:
        known = [x.replace(",", ".") if DECIMAL_COMMA.fullmatch(str(x)) else x for x in known]
    return np.array([known_number(cell) for cell in known], np.float64)[codes]


def numbers_of(
    frame: pd.DataFrame,
    columns: Sequence[int],
    what: str | None = None,
    labels: Sequence[int] = (),
) -> np.ndarray:
    """Return the numbers in columns, which have decimal commas together or not at all.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of int
        Columns of numbers.
    what : str, optional
        Name of the numbers in `RULE_OF`. By default, all are allowed, and texts become infinity.
    labels : sequence of int
        Columns of labels, for messages. Rows with a missing label may contain anything.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_columns)
        Numbers, with NaN for missing cells.

    Raises
    ------
    DataError
        If a number violates the rule. The message contains the line and the column.
    """
    cells = [frame.iloc[:, c] for c in columns]
    # Numbers of a file that is split at commas never have decimal commas.
    commas = frame.attrs.get("delimiter") in (";", "\t", "|", " ") and have_decimal_commas(
        x for x in cells if x.dtype.kind == "O"
    )
    # Columns are filled one by one, so that a large table is copied only once.
    values = np.empty((len(frame), len(columns)), order="F")
    for k, column in enumerate(cells):
        values[:, k] = numbers_in(column, decimal_commas=commas)
    if what is None:
        return values
    is_bad, wanted = RULE_OF[what]
    for k, c in np.argwhere(is_bad(values)).tolist():
        names = [cell_label(frame.iat[k, at])[:60] for at in labels]
        if all(names):
            row = f" ({' - '.join(map(repr, names))})" if names else ""
            name, column = frame.columns[columns[c]][:60], f"column {columns[c] + 1}"
            column += "" if name == column else f" ({name!r})"
            raise DataError(
                f"{place(frame, k)}{row}, {column}: the {what} is "
                f"{_shown(frame.iat[k, columns[c]])}; {wanted}"
            )
    return values


def have_decimal_commas(columns: Iterable[Iterable[str]]) -> bool:
    """Return whether all numbers of some columns of text are written with decimal commas.

    Cells such as "1,001" alone could contain thousands and are therefore not read.

    >>> have_decimal_commas([["0,12", "3"]]), have_decimal_commas([["1,001", "3"]])
    (True, False)
    """
    texts = {cell.strip() for column in columns for cell in column if isinstance(cell, str)}
    with_commas = [text for text in texts if DECIMAL_COMMA.fullmatch(text)]
    return any(not THOUSANDS.fullmatch(text) for text in with_commas) and not any(
        "." in text and math.isfinite(known_number(text)) for text in texts
    )


def _shown(value: Any) -> str:
    """Format a cell that is not a valid number for an error message."""
    text = cell_label(value)
    hint = " (write decimals with a point)" if "," in text else ""
    if THOUSANDS.fullmatch(text):
        hint = " (write thousands without a separator)"
    written = repr(text[:60]) if isinstance(value, str) else text[:60]
    return f"{written}{hint}" if text else "missing"


def numeric_columns(frame: pd.DataFrame) -> list[bool]:
    """Return whether each column contains numbers: by its type, or in most of its first cells."""
    numeric = [dtype.kind in "biuf" for dtype in frame.dtypes]
    for c in (c for c, is_typed in enumerate(numeric) if not is_typed):
        values = numbers_in(frame.iloc[:HEAD_ROWS, c].map(cell_label), decimal_commas=True)
        numeric[c] = bool(2 * np.isfinite(values).sum() > (~np.isnan(values)).sum())
    return numeric
