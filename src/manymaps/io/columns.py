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
from manymaps.data.counts import FEATURES, OBSERVATIONS
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
from manymaps.labels import listed

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
    if len(same) == 1 and same[0] not in but:
        return same[0]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    hint = "" if same or not near else f" Did you mean {' or '.join(map(repr, near))}?"
    raise DataError(
        f"{source} has no {'other ' if same else ''}column {name!r}; its columns are "
        f"{listed(names)}.{hint} Name one of them as {setting(role)}"
    )


def needed(frame: pd.DataFrame, role: str, position: int | None, hint: str = "") -> int:
    """Return the position of the column of a role that `find` found, or raise a DataError."""
    if position is None:
        raise DataError(
            f"{source_of(frame)} has no column of {role}s; its columns are "
            f"{listed(names_of(frame))}. Name one of them as {setting(role)}{hint}"
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


class NumberRule(NamedTuple):
    """Rule for numbers in a table, with their name, a test for invalid numbers and the range."""

    what: str
    is_bad: Callable[[np.ndarray], np.ndarray]
    wanted: str


# A missing similarity or rating is NaN.
RULE_OF = {
    what: NumberRule(what, is_bad, f"expected a finite number{further}")
    for what, is_bad, further in (
        ("count", not_amount, " of at least 0"),
        ("strength", not_amount, " of at least 0"),
        ("similarity", np.isinf, ", or an empty cell if it is missing"),
        ("rating", np.isinf, ", or an empty cell if it is missing"),
    )
}


def checked_frame(data: Any, wanted: str = "a data frame") -> pd.DataFrame:
    """Return a data frame, or a mapping of names to lists, as a DataFrame with rows and columns."""
    frame = as_pandas(data, f"got an object of type {{}}; pass {wanted}")
    if not frame.size:
        raise DataError(f"{source_of(frame)} has no rows, or no columns")
    if is_text(frame) and frame.shape[1] == 1:
        raise DataError(
            f"{source_of(frame)} has only one column; separate cells by commas, semicolons, tabs "
            "or bars"
        )
    return frame


def is_text(frame: pd.DataFrame) -> bool:
    """Return whether `read_frame` read the cells from text."""
    return frame.index.name == "line"


def numeric_columns(frame: pd.DataFrame) -> list[bool]:
    """Return whether each column contains numbers: by its type, or in most of its first cells."""
    numeric = [dtype.kind in "biuf" for dtype in frame.dtypes]
    has_commas = frame.attrs.get("delimiter") != ","
    for c in (c for c, is_typed in enumerate(numeric) if not is_typed):
        cells = map(cell_label, frame.iloc[:HEAD_ROWS, c])
        known = [cell for cell in cells if cell.lower() not in MISSING]
        if has_commas:
            known = [x.replace(",", ".") if DECIMAL_COMMA.fullmatch(x) else x for x in known]
        numeric[c] = 2 * sum(map(is_number, known)) > len(known)
    return numeric


def labels_of(frame: pd.DataFrame, column: int) -> Labels:
    """Return the labels in a column, which must not contain lists."""
    try:
        return labels_in(frame.iloc[:, column])
    except TypeError as error:
        raise DataError(
            f"{source_of(frame)}: the column {names_of(frame)[column][:60]!r} contains lists; "
            "labels must be texts or numbers"
        ) from error


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
