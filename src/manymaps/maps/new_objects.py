"""Reading and validation of new objects in all input formats.

New objects are vectors, similarities to the objects of the atlas, or rows of (new word, known word,
strength).

Shapes: new vectors (k, n_features), known vectors (n, n_features), similarities (k, n).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manymaps.affinity.distances import Metric, finite_matrix
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_cells, check_labels, not_amount
from manymaps.data.frame_labels import column_labels, is_frame, labelled_values
from manymaps.errors import DataError, DataWarning, setting
from manymaps.labels import UnknownLabelError, find_label, label_places, listed, only_count

# A dense array or sparse rows.
Matrix: TypeAlias = Any


@dataclass(frozen=True)
class NewObjects:
    """New objects, as vectors together with the vectors of the atlas, or as similarities.

    Attributes
    ----------
    labels : tuple of str, length k
        Labels of the new objects.
    vectors : array or sparse array of shape (k, n_features), optional
        Vectors of the new objects.
    known : array or sparse array of shape (n, n_features), optional
        Vectors with which the new vectors are compared. They contain floating-point numbers and are
        dense or sparse like the new vectors.
    similarities : sparse array of shape (k, n), optional
        Similarities to the objects of the atlas. Only positive entries are stored, and each row has
        at least one.
    similarity : str or function
        Measure by which vectors are compared.
    extends : bool
        Whether the new vectors can be appended to `known` in the atlas, because these are its own
        vectors or it has none.
    """

    labels: tuple[str, ...]
    vectors: Matrix | None = None
    known: Matrix | None = None
    similarities: sparse.csr_array | None = None
    similarity: Metric = "precomputed"
    extends: bool = False


def similarity_table(
    words: Iterable[str], known: Iterable[str], strengths: Iterable[float], atlas: Atlas
) -> tuple[tuple[str, ...], sparse.csr_array]:
    """Convert rows of (new word, known word, strength) to labels and similarities for `insert`.

    Parameters
    ----------
    words, known : iterables of str
        The words. A known word is matched exactly or, if there is no exact match, regardless of
        upper and lower case.
    strengths : iterable of float
        Strengths, finite and not negative. The strengths of repeated pairs are added.
    atlas : Atlas
        The atlas.

    Returns
    -------
    labels : tuple of str, length k
        The new words in the order of their first rows.
    similarities : sparse array of shape (k, n)
        Similarities to the objects of the atlas.

    Raises
    ------
    DataError
        If a strength is negative or not finite, or if a new word has no known word in the atlas.

    Warns
    -----
    DataWarning
        If known words are not in the atlas; the message lists them, and their rows are omitted.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.maps.new_objects import similarity_table
    >>> from manymaps.model import T_SNE
    >>> atlas = Atlas(["cat", "dog"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
    >>> labels, table = similarity_table(["pup", "pup"], ["Dog", "cat"], [0.8, 0.2], atlas)
    >>> labels, table.toarray().tolist()
    (('pup',), [[0.2, 0.8]])
    """
    words, known = [str(word) for word in words], [str(word) for word in known]
    values = np.fromiter(strengths, np.float64)
    if not len(words) == len(known) == len(values):
        raise DataError(
            f"got {len(words)} new words, {len(known)} known words and {len(values)} strengths; "
            "pass one of each per row"
        )
    bad = np.flatnonzero(not_amount(values))
    if len(bad):
        at = bad[0]
        raise DataError(
            f"row {at} ({words[at]!r}, {known[at]!r}): the strength {values[at]} must be finite "
            "and not negative"
        )
    columns = np.array(label_places(known, atlas.labels), np.int64)
    labels = tuple(dict.fromkeys(words))
    row_of = {word: row for row, word in enumerate(labels)}
    rows = np.array([row_of[word] for word in words], np.int64)
    is_known = columns >= 0
    helpless = np.flatnonzero(np.bincount(rows[is_known], minlength=len(labels)) == 0)
    if len(helpless):
        word = labels[helpless[0]]
        partner = known[words.index(word)]
        raise DataError(f"{word!r} has no known word in the atlas: {_unknown(partner, atlas)}")
    missing = list(dict.fromkeys(known[at] for at in np.flatnonzero(~is_known)))
    if missing:
        warnings.warn(
            f"{int((~is_known).sum())} rows are omitted because their known words are not in the "
            f"atlas: {listed(missing, most=5)}",
            DataWarning,
            stacklevel=2,
        )
    shape = (len(labels), atlas.n_objects)
    table = sparse.coo_array((values[is_known], (rows[is_known], columns[is_known])), shape)
    return labels, sparse.csr_array(table)


def _unknown(word: str, atlas: Atlas) -> str:
    """Describe an unknown word, with suggestions."""
    try:
        return f"{word!r} is {atlas.labels[find_label(word, atlas.labels)]!r}"
    except UnknownLabelError as error:
        return str(error)


def read_new(
    atlas: Atlas,
    new: Any,
    labels: Sequence[str] | None,
    vectors: Matrix | None,
    similarity: Metric,
) -> NewObjects:
    """Read and validate the new objects."""
    if isinstance(new, Mapping) and not sparse.issparse(new):
        return _read_mapping(atlas, new, labels)
    own_labels, new = labelled_values(new)
    if similarity == "precomputed" and is_frame(new):
        new = _known_columns(new, atlas)
    if np.shape(new)[:1] == (0,):
        raise DataError("there are no new objects to insert")
    new = finite_matrix(new, "the new objects")
    names = _names(atlas, labels, own_labels, new.shape[0])
    if similarity == "precomputed":
        return NewObjects(names, similarities=_checked_similarities(new, names, atlas))
    known = atlas.vectors if vectors is None else vectors
    if known is None:
        raise DataError(
            "the atlas contains no vectors; pass those of its objects as `vectors`, or "
            f"similarities with {setting('similarity', 'precomputed')}"
        )
    known = finite_matrix(known, "the known vectors")
    if known.shape[0] != atlas.n_objects:
        raise DataError(
            f"the vectors have shape {known.shape}, but the atlas has {atlas.n_objects} objects; "
            "pass one row per object"
        )
    if new.shape[1] != known.shape[1]:
        raise DataError(
            f"the new vectors have {new.shape[1]} components, but those of the atlas have "
            f"{known.shape[1]}; both must come from the same source"
        )
    with np.errstate(over="ignore"):
        new = finite_matrix(new.astype(known.dtype, copy=False), "the new objects")
    if sparse.issparse(new) != sparse.issparse(known):
        new = sparse.csr_array(new) if sparse.issparse(known) else new.toarray()
    extends = vectors is None or atlas.vectors is None
    return NewObjects(names, vectors=new, known=known, similarity=similarity, extends=extends)


def _known_columns(frame: Any, atlas: Atlas) -> Matrix:
    """Reorder the similarities of a frame by its column names, in the order of the atlas."""
    names = column_labels(frame)
    table = finite_matrix(frame, "the new objects")
    if names is None or only_count(atlas.labels):
        return table
    columns = np.array(label_places(names, atlas.labels), np.int64)
    if (columns < 0).any():
        unknown = names[int(np.flatnonzero(columns < 0)[0])]
        raise DataError(f"a column of similarities matches no object: {_unknown(unknown, atlas)}")
    known = np.zeros((len(table), atlas.n_objects))
    known[:, columns] = table
    return known


def _read_mapping(
    atlas: Atlas, new: Mapping[str, Mapping[str, float]], labels: Sequence[str] | None
) -> NewObjects:
    rows = [(word, known, s) for word, row in new.items() for known, s in row.items()]
    lonely = [word for word, row in new.items() if not row]
    if lonely:
        raise DataError(f"{lonely[0]!r} has no similarities; pass at least one")
    words, known = [row[0] for row in rows], [row[1] for row in rows]
    own_labels, table = similarity_table(words, known, [row[2] for row in rows], atlas)
    names = _names(atlas, labels, own_labels, len(own_labels))
    return NewObjects(names, similarities=_checked_similarities(table, names, atlas))


def _names(
    atlas: Atlas, labels: Sequence[str] | None, own: Sequence[str] | None, k: int
) -> tuple[str, ...]:
    """Return labels of the new objects: the passed labels, the labels of the data, or numbers."""
    known = set(atlas.labels)
    chosen = labels if labels is not None else own
    if chosen is None:
        numbers = map(str, itertools.count(atlas.n_objects))
        chosen = list(itertools.islice((name for name in numbers if name not in known), k))
    names = tuple(str(label) for label in chosen)
    check_labels(names, k, "new object")
    if k == 0:
        raise DataError("there are no new objects to insert")
    for row, name in enumerate(names):
        if name in known:
            raise DataError(
                f"row {row}: {name!r} is in the atlas already; remove it or change its label"
            )
    return names


def _checked_similarities(table: Matrix, names: Sequence[str], atlas: Atlas) -> sparse.csr_array:
    if table.shape[1] != atlas.n_objects:
        raise DataError(
            f"the similarities have shape {table.shape}, but the atlas has {atlas.n_objects} "
            "objects; pass one row per new object and one column per object of the atlas"
        )
    similarities = sparse.csr_array(table, dtype=np.float64)
    similarities.eliminate_zeros()
    rule = "similarities must not be negative"
    check_cells(
        similarities, lambda values: values < 0, rule, what="similarity", labels=(names, None)
    )
    empty = np.flatnonzero(np.diff(similarities.indptr) == 0)
    if len(empty):
        raise DataError(
            f"row {empty[0]} ({names[empty[0]]!r}) is not similar to any object; remove it"
        )
    return similarities
