"""Columns of a data frame: their names, their kinds, and their cells as labels and numbers.

    cue, response, strength     source, target, weight     word1, word2, similarity
    document, word, count     site, species, abundance     user, item     sample, taxon

    find(frame, "cue")          a column by a name from the user or by usual names
    labels_of(frame, 0)         the distinct texts of a column, and each row's position among them
    numbers_of(frame, [2])      numbers, with NaN for missing cells; errors with line and column

The first line contains columns of pairs, and the second contains columns of counts. In a long list
of counts, observations (documents, sites, users) become rows of the count table. Features (words,
species, goods) become columns, regardless of the column order in the list. The kind of an object is
the name of its column without "_id", "_name" and similar endings. For example, the column "Doc_ID"
contains documents. `manymaps.data.tables` describes how cells become labels and numbers.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manymaps.checks import not_amount
from manymaps.data.counts import FEATURES, OBSERVATIONS, UNKNOWN_KINDS
from manymaps.data.tables import (
    DECIMAL_COMMA,
    MISSING,
    Labels,
    as_pandas,
    cell_label,
    have_decimal_commas,
    is_number,
    labels_in,
    names_of,
    numbers_in,
    place,
    shown_cell,
    source_of,
)
from manymaps.errors import DataError, setting
from manymaps.labels import listed, repeated_label

if TYPE_CHECKING:
    import pandas as pd

# Number of rows from which the delimiter, the header and the columns of numbers are recognized.
HEAD_ROWS = 30
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
# Maximum number of numeric columns in a long list. A table of measurements has more, and one of its
# words may be "count".
MOST_SPARE = 3


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
    names, source = names_of(frame), source_of(frame)
    if name is None:
        return usual_column(names, NAMES.get(role, ()) if usual is None else usual, but)
    same = [c for c, one in enumerate(names) if one == name][:1]
    same = same or [c for c, one in enumerate(names) if folded(one) == folded(name)]
    if len(same) != 1:
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise DataError(
            f"{source} has no column {name!r}; its columns are {listed(names)}.{hint} Name one of "
            f"them as {setting(role)}"
        )
    if same[0] in but:
        raise DataError(
            f"{source}: the column {name!r} would be read twice; its columns are {listed(names)}. "
            f"Name different ones, as in {setting(role)}"
        )
    return same[0]


def find_needed(
    frame: pd.DataFrame,
    role: str,
    name: str | None = None,
    but: Collection[int | None] = (),
    *,
    usual: Sequence[str] | None = None,
) -> int:
    """Return the position of the column of a role as `find` does, or raise a DataError."""
    position = find(frame, role, name, but, usual=usual)
    if position is None:
        raise DataError(
            f"{source_of(frame)} has no column of {role}s; its columns are "
            f"{listed(names_of(frame))}. Name one of them as {setting(role)}"
        )
    return position


def has_pair_header(
    names: Sequence[str], cue: str | None = None, response: str | None = None
) -> bool:
    """Return whether names of columns contain those of cues and responses.

    A row that contains a number is data, because the word CUE may itself be a cue.

    >>> has_pair_header(["CUE", "TARGET", "FSG"]), has_pair_header(["CUE", "TARGET", "0.2"])
    (True, False)
    """
    ends = [
        usual_column(names, NAMES[role] if name is None else (folded(name),))
        for role, name in (("cue", cue), ("response", response))
    ]
    return None not in ends and not any(map(is_number, names))


def known_kind(name: str) -> str | None:
    """Return the kind of object in a column with this name, or None if it is not a common kind.

    >>> known_kind("Doc_ID"), known_kind("species"), known_kind("words"), known_kind("x1")
    ('document', 'species', 'word', None)
    """
    plain = folded(name).removeprefix("#")  # OTU tables begin with "#OTU ID"
    for suffix in SUFFIXES:
        stem = plain.removesuffix(suffix)
        for singular in (stem, stem.removesuffix("s")):
            kind = SYNONYMS.get(singular, singular)
            if kind in OBSERVATIONS or kind in FEATURES:
                return kind
    return None


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


def two_kinds(first: str, second: str) -> tuple[str, str]:
    """Return different kinds for the rows and the columns of a count table from two column names.

    >>> two_kinds("doc_id", "Term"), two_kinds("Haus", "Tier"), two_kinds("doc", "document")
    (('document', 'term'), ('Haus', 'Tier'), ('doc', 'document'))
    """
    written = (first.strip(), second.strip())
    known = (known_kind(first) or written[0], known_kind(second) or written[1])
    # Two names for the same kind, such as "doc" and "document", are used as written.
    for kinds in (known, written):
        if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
            return kinds
    return UNKNOWN_KINDS


def known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the positions of observations and features if both columns have common names.

    A row that contains a number is data, not a header. If several pairs of columns are possible,
    unambiguous names are preferred, and then the first pair. For example, "author" is ambiguous,
    because an author uses words (an observation) and has readers (a feature).

    >>> known_pair(["word", "doc", "n"]), known_pair(["cue", "response"])
    ((1, 0), None)
    """
    kinds = list(enumerate(map(known_kind, names)))
    observed = [(i, kind) for i, kind in kinds if kind in OBSERVATIONS]
    features = [(j, kind) for j, kind in kinds if kind in FEATURES]
    pairs = [
        ((first in FEATURES) + (second in OBSERVATIONS), i + j, i, j)
        for i, first in observed
        for j, second in features
        if first != second
    ]
    return min(pairs)[2:] if pairs and not any(map(is_number, names)) else None


def is_long_header(names: Sequence[str], numeric: Sequence[bool]) -> bool:
    """Return whether a header belongs to a long list of counts rather than to a table.

    Such a header contains names of observations and features, and either a column of counts or only
    a few other numeric columns. A header with three columns is also accepted if one column has a
    common name for counts.

    >>> is_long_header(["site", "species", "abundance"], [False, False, True])
    True
    >>> is_long_header(["sample", "gene", "x1", "x2"], [False, True, True, True])
    False
    """
    pair, count = known_pair(names), usual_column(names, NAMES["number"])
    if pair is None:
        named = count is not None and numeric[count]
        return len(names) == 3 and named and sum(numeric) == 1
    spare = [
        c for c in range(len(names)) if c not in pair and numeric[c] and not known_kind(names[c])
    ]
    is_list = count in spare or not any(numeric[c] for c in pair)
    return not spare or (is_list and len(spare) <= MOST_SPARE)


def label_position(names: Sequence[str], numeric: Sequence[bool]) -> int | None:
    """Return the column of a table that contains the labels of its rows.

    This is the first text column with a name of observations. Without such a column, the first
    column is used if its name is empty or is a kind of object. Otherwise, the first text column is
    used.

    >>> label_position(["site", "soil", "teal"], [True, False, True])
    0
    >>> label_position(["soil", "site", "teal"], [False, False, True])
    1
    >>> label_position(["teal", "coot"], [True, True]) is None
    True
    """
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    observed = [c for c in texts if known_kind(names[c]) in OBSERVATIONS]
    if not observed and is_label_name(names[0]):
        return 0
    return next(iter(observed or texts), None)


def long_columns(
    frame: pd.DataFrame,
    numeric: Sequence[bool],
    rows: str | None = None,
    columns: str | None = None,
    count: str | None = None,
) -> tuple[int, int, int | None]:
    """Return the columns of rows, columns and counts of a long list, or None without counts.

    Parameters
    ----------
    frame : DataFrame
    numeric : sequence of bool
        Whether each column contains numbers. A numeric column with an unknown name may contain the
        counts.
    rows, columns, count : str, optional
        Names from the user, which must exist. Other columns are found by the kinds of their names,
        or by elimination.

    Raises
    ------
    DataError
        If a column is missing or ambiguous. The message lists the columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> long_columns(pd.DataFrame(columns=["word", "doc", "n"]), [False, False, True])
    (1, 0, 2)
    """
    names, source = names_of(frame), source_of(frame)
    has_columns = f"its columns are {listed(names)}"
    row = find(frame, "rows", rows)
    column = find(frame, "columns", columns, [row])
    number = find(frame, "count", count, [row, column], usual=NAMES["number"])
    others = [c for c in range(len(names)) if c not in (row, column, number)]
    choices = (others, [c for c in others if not numeric[c]])
    if row is None and column is None:
        known = known_pair([names[c] for c in others])
        pairs = [others if known is None else [others[c] for c in known], *choices]
        row, column = next((pair for pair in pairs if len(pair) == 2), (None, None))
    elif row is None or column is None:
        usual = OBSERVATIONS if row is None else FEATURES
        kinds = [c for c in others if known_kind(names[c]) in usual]
        other = next((c[0] for c in (kinds, *choices) if len(c) == 1), None)
        row, column = (other, column) if row is None else (row, other)
    if row is None or column is None:
        raise DataError(
            f"{source} has no unique column for the {'rows' if row is None else 'columns'} of the "
            f"count table; {has_columns}. Name them as {setting('rows')}, {setting('columns')} and "
            f"{setting('count')}"
        )
    spare = [names[c] for c in others if numeric[c] and c not in (row, column)]
    spare = [name for name in spare if known_kind(name) is None]
    if number is None and spare:
        raise DataError(
            f"{source} has no column of counts; {has_columns}. Name one as {setting('count')} "
            f"(perhaps {spare[0]!r}), or omit columns of numbers to count every line once"
        )
    return row, column, number


class NumberRule(NamedTuple):
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


RULE_OF = {
    "count": NumberRule("count", not_amount, "counts must be finite numbers of at least 0"),
    "strength": NumberRule(
        "strength", not_amount, "strengths must be finite numbers of at least 0"
    ),
    # A missing similarity or rating is NaN.
    "similarity": NumberRule(
        "similarity", np.isinf, "similarities must be finite numbers, or empty if missing"
    ),
    "rating": NumberRule("rating", np.isinf, "ratings must be finite numbers, or empty if missing"),
}


def checked_frame(data: Any, refused: str = "{} is not a data frame") -> pd.DataFrame:
    """Return a data frame, or a mapping of names to lists, as a DataFrame with columns."""
    frame = as_pandas(data, refused)
    if not frame.shape[1]:
        raise DataError("the frame: got no columns, or columns of different lengths")
    if is_text(frame) and frame.shape[1] == 1:
        raise DataError(
            f"{source_of(frame)} has only one column; separate cells by commas, semicolons, tabs "
            "or bars"
        )
    return frame


def is_text(frame: pd.DataFrame) -> bool:
    """Return whether `read_frame` read the cells from text."""
    return frame.index.name == "line"


def head_of(frame: pd.DataFrame) -> list[list[str]]:
    """Return the first rows as texts, with numbers in Python's notation."""
    rows = [list(map(cell_label, row)) for row in frame.iloc[:HEAD_ROWS].to_numpy(object)]
    if frame.attrs.get("delimiter") == ",":
        return rows
    is_comma = DECIMAL_COMMA.fullmatch
    return [[x.replace(",", ".") if is_comma(x) else x for x in row] for row in rows]


def numeric_columns(frame: pd.DataFrame) -> list[bool]:
    """Return whether each column contains numbers: by its type, or in most of its first cells."""
    typed = [dtype.kind in "biuf" for dtype in frame.dtypes]
    texts = [c for c, is_typed in enumerate(typed) if not is_typed]
    for c, cells in zip(texts, zip(*head_of(frame.iloc[:, texts]), strict=True), strict=False):
        known = [cell for cell in cells if cell.lower() not in MISSING]
        typed[c] = 2 * sum(map(is_number, known)) > len(known)
    return typed


def has_lists(frame: pd.DataFrame, column: int) -> bool:
    """Return whether a column contains lists."""
    if is_text(frame):
        return False
    first = frame.iloc[:, column].dropna()[:1].tolist()
    return bool(first) and isinstance(first[0], list | tuple | np.ndarray)


def labels_of(frame: pd.DataFrame, column: int) -> Labels:
    """Return the labels in a column, which must not contain lists."""
    if has_lists(frame, column):
        raise DataError(
            f"{source_of(frame)}: the column {names_of(frame)[column][:60]!r} contains lists; "
            "labels must be texts or numbers"
        )
    return labels_in(frame.iloc[:, column])


def numbers_of(
    frame: pd.DataFrame, columns: Sequence[int], rule: NumberRule, labels: Sequence[int] = ()
) -> np.ndarray:
    """Return the numbers in columns, which have decimal commas together or not at all.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of int
        Columns of numbers.
    rule : NumberRule
        Rule for allowed numbers.
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
    values = cells_as_numbers(frame, columns)
    for k, c in np.argwhere(rule.is_bad(values)).tolist():
        names = [cell_label(frame.iat[k, at])[:60] for at in labels]
        if all(names):
            row = f" ({' - '.join(map(repr, names))})" if names else ""
            name = names_of(frame)[columns[c]][:60]
            column = f"column {columns[c] + 1}"
            column += "" if name == column else f" ({name!r})"
            raise DataError(
                f"{place(frame, k)}{row}, {column}: the {rule.what} is "
                f"{shown_cell(frame.iat[k, columns[c]])}; {rule.wanted}"
            )
    return values


def cells_as_numbers(frame: pd.DataFrame, columns: Sequence[int]) -> np.ndarray:
    """Return the numbers in columns, with NaN for missing cells and infinity for other texts."""
    cells = (frame.iloc[:, c] for c in columns)
    commas = have_decimal_commas(
        (x for x in cells if x.dtype.kind == "O"), frame.attrs.get("delimiter")
    )
    # Columns are filled one by one, so that a large table is copied only once.
    values = np.empty((len(frame), len(columns)), order="F")
    for k, c in enumerate(columns):
        values[:, k] = numbers_in(frame.iloc[:, c], decimal_commas=commas)
    return values


def check_places(
    source: str, labels: Sequence[str], place: str, places: Sequence[int], hint: str = ""
) -> None:
    """Raise a DataError with the line or column of an empty or repeated label.

    >>> check_places("a.csv", ["tie", "tie"], "line", [2, 5])
    Traceback (most recent call last):
    manymaps.errors.DataError: a.csv: duplicate label 'tie' in lines 2 and 5; labels must be unique
    """
    if "" in labels:
        at = places[list(labels).index("")]
        raise DataError(f"{source}, {place} {at} has an empty label; give it a name")
    repeated = repeated_label(labels)
    if repeated is not None:
        label, first, second = repeated
        raise DataError(
            f"{source}: duplicate label {label[:60]!r} in {place}s {places[first]} and "
            f"{places[second]}; labels must be unique{hint}"
        )
