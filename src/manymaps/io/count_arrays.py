"""Count tables in arrays: NPZ, NPY and MatrixMarket, with labels inside or beside them.

NPZ files have no names that all agree on. These are known:

    indptr, indices, counts | data | values     the parts of a CSR array, perhaps with `shape`
    format, shape, data, ...                    what scipy.sparse.save_npz writes
    counts, X, matrix, ...                      a dense table, or the only one there is
    vocab, words, terms, genes, ...             labels of columns
    docnames, doc_id, sites, titles, ...        labels of rows
    labels and groups (or target, ...)          whole numbers, and the names that they number

Any other array of one dimension with a value per row or per column is metadata. The notes say what
was taken for what.

Beside `X.npy` or `X.mtx` stand its labels, one a line, in `X.rows.txt` and `X.columns.txt`; or,
beside `P_matrix.mtx`, in `P_barcodes.tsv` and `P_features.tsv` (or `P_genes.tsv`), with or without
the prefix P_, all perhaps packed by gzip. Cells and genes are put where the shape of the matrix
says; a matrix of genes by cells, as sequencers write it, stays one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import csr_from, two_lengths
from manymaps.archive.door import reject_wide
from manymaps.data.count_values import sparse_rows, texts_of
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.errors import DataError
from manymaps.io.columns import known_kind, two_kinds
from manymaps.io.count_tables import CountParts
from manymaps.io.files import (
    SPARSE_PARTS,
    Heads,
    read_arrays,
    read_bytes,
    read_npy,
    read_sparse,
    split_lines,
    stem_of,
)
from manymaps.io.market import read_market
from manymaps.io.matrices import read_labels
from manymaps.io.tables import check_places
from manymaps.labels import listed, numbered_labels, repeated_label

__all__ = ["has_sparse_parts", "read_matrix_counts", "read_npz_counts"]

DATA_KEYS = ("counts", "count", "data", "values")
TABLE_KEYS = ("counts", "count", "X", "matrix", "table", "abundance", "abundances", "data")
COLUMN_NAMES = """
column_labels columns column_names colnames vocab vocabulary words terms tokens feature_names
features var_names genes gene_names species taxa otus items item_ids products
"""
ROW_NAMES = """
row_labels rows row_names rownames index docnames doc_names doc_ids doc_id documents document_ids
document_names filenames sites site_names samples sample_names users user_ids cells barcodes
obs_names titles names ids labels
"""
COLUMN_KEYS = tuple(COLUMN_NAMES.split())
ROW_KEYS = tuple(ROW_NAMES.split())
KEY_KINDS = {"vocab": "word", "vocabulary": "word", "titles": "document", "filenames": "document"}
CODE_KEYS = ("label", "labels", "group", "target", "class", "category", "y")
NAMES_OF_CODES = """
groups group_names target_names classes class_names categories category_names label_names
"""
NAME_KEYS = tuple(NAMES_OF_CODES.split())
PARTS = ("indptr", "indices", "shape", "format", "_is_array")


def has_sparse_parts(heads: Heads) -> bool:
    """Whether an NPZ file holds the parts of a CSR array under plain names."""
    return {"indptr", "indices"} <= set(heads) and any(key in heads for key in DATA_KEYS)


def read_npz_counts(path: Path, heads: Heads) -> CountParts:
    """Counts from an NPZ file of anybody; those of `Counts.save` are read by `read_counts`.

    Raises
    ------
    DataError
        Where it holds no table, or several; where its parts do not fit together, or labels that
        say they are labels of rows or columns repeat.
    """
    _refuse_objects(path, heads)
    values, used = _npz_table(path, heads)
    lines = [name for name, head in heads.items() if len(head.shape) == 1 and name not in used]
    arrays = read_arrays(path, lines)
    used_columns, column_labels, column_notes = _npz_labels(arrays, COLUMN_KEYS, values.shape[1])
    rest = {name: array for name, array in arrays.items() if name != used_columns}
    used_rows, row_labels, row_notes = _npz_labels(rest, ROW_KEYS, values.shape[0])
    row_metadata, column_metadata, notes = _npz_metadata(
        {name: array for name, array in rest.items() if name != used_rows}, values.shape
    )
    if used_rows is not None and any("repeat" in note for note in row_notes):
        row_metadata[used_rows] = rest[used_rows]
    kinds = [_key_kind(key) for key in (used_rows, used_columns)]
    taken = {*used, *lines}
    left = [name for name in heads if name not in taken]
    if left:
        notes.append(f"left out: {listed(left)}")
    return CountParts(
        values,
        row_labels,
        column_labels,
        two_kinds(kinds[0] or UNKNOWN_KINDS[0], kinds[1] or UNKNOWN_KINDS[1]),
        row_metadata,
        column_metadata,
        notes=(*row_notes, *column_notes, *notes),
    )


def _key_kind(key: str | None) -> str | None:
    return None if key is None else KEY_KINDS.get(key) or known_kind(key)


def _refuse_objects(path: Path, heads: Heads) -> None:
    """Refuse arrays of Python objects, which only pickles hold."""
    pickled = [name for name, head in heads.items() if head.dtype.hasobject]
    if pickled:
        raise DataError(
            f"{path}: {pickled[0]!r} is an array of Python objects, which are not read; save "
            "labels as np.array(labels, dtype=str), and counts as numbers"
        )


def _npz_table(path: Path, heads: Heads) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The table of an NPZ file, and the arrays that it is made of."""
    if set(heads) >= SPARSE_PARTS:
        return read_sparse(path), (*PARTS, "data", "row", "col", "offsets", "coords")
    if has_sparse_parts(heads):
        return _csr_of_parts(path, heads)
    tables = [name for name, head in heads.items() if len(head.shape) == 2]
    usual = [name for name in TABLE_KEYS if name in tables]
    if not usual and len(tables) != 1:
        shapes = ", ".join(f"{name!r} {head.shape}" for name, head in heads.items())
        raise DataError(
            f"{path} holds {len(tables)} tables, and none is named 'counts'; its arrays are "
            f"{shapes or 'none'}. A sparse table needs 'indptr', 'indices' and 'counts'"
        )
    name = (usual or tables)[0]
    return _table(read_arrays(path, [name])[name], str(path)), (name,)


def _csr_of_parts(path: Path, heads: Heads) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """A CSR array of its parts; the columns are those of `shape`, of the labels, or of the data."""
    data_key = next(key for key in DATA_KEYS if key in heads)
    used = ("indptr", "indices", data_key, *(("shape",) if "shape" in heads else ()))
    arrays = read_arrays(path, used)
    indices = arrays["indices"]
    n_columns = int(indices.max()) + 1 if indices.size and indices.dtype.kind in "iu" else 0
    if "shape" in arrays:
        shape = two_lengths(arrays["shape"], str(path))
    else:
        labels = (heads[key].shape[0] for key in COLUMN_KEYS if key in heads and heads[key].shape)
        n_rows = max(0, arrays["indptr"].size - 1)
        shape = (n_rows, next((n for n in labels if n >= n_columns), n_columns))
    reject_wide(path, shape)
    return csr_from({**arrays, "data": arrays[data_key]}, shape, str(path)), used


def _table(values: np.ndarray, source: str) -> sparse.csr_array:
    """A dense table as CSR."""
    if values.ndim != 2 or values.dtype.kind not in "buif" or 0 in values.shape:
        raise DataError(
            f"{source}: an array of type {values.dtype} and shape {values.shape} is no table of "
            "counts"
        )
    return sparse_rows(values)


def _npz_labels(
    arrays: Mapping[str, np.ndarray], keys: Sequence[str], n: int
) -> tuple[str | None, list[str] | None, tuple[str, ...]]:
    """The array of labels among the usual names, its labels, and what to note.

    The first name promises labels, which must fit; of the others those that differ come first,
    then identifiers that repeat, which get numbers.
    """
    side = keys[0].partition("_")[0]
    if keys[0] in arrays:
        labels = texts_of(arrays[keys[0]])
        return keys[0], labels, ()
    fitting = [key for key in keys if key in arrays and arrays[key].size == n]
    usable = [key for key in fitting if arrays[key].dtype.kind in "USiu"]
    named: dict[str, list[str]] = {}
    for key in usable:
        texts = arrays[key].dtype.kind in "US"
        if texts or _key_kind(key) is not None or key in ("ids", "index", "rows", "columns"):
            named[key] = [label.strip() for label in texts_of(arrays[key])]
    for key, labels in named.items():
        if all(labels) and repeated_label(labels) is None:
            return key, labels, (f"{side} labels from {key!r}",)
    for key, labels in named.items():
        if all(labels) and _key_kind(key) is not None and key != "titles":
            names, changed = numbered_labels(labels)
            told = f"{len(changed):,} repeat an earlier one and got a number"
            note = f"{side} labels from {key!r}; {told}"
            return key, names, (note,)
    return None, None, (f"{side}s are numbered from 0",)


def _npz_metadata(
    arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[str]]:
    """Metadata of the rows and of the columns by the lengths of arrays, and what to note."""
    rows = {name: array for name, array in arrays.items() if array.size == shape[0]}
    columns = {name: a for name, a in arrays.items() if name not in rows and a.size == shape[1]}
    rest = [name for name in arrays if name not in rows and name not in columns]
    notes = []
    codes = next((name for name in CODE_KEYS if name in rows), None)
    names = next((name for name in NAME_KEYS if name in rest), None)
    if codes is not None and names is not None and arrays[codes].dtype.kind in "iu":
        numbers = arrays[codes].astype(np.int64)
        if numbers.min() >= 0 and numbers.max() < arrays[names].size:
            kind = "group" if "group" in names else "class" if "class" in names else f"{codes} name"
            rows[kind] = np.array(texts_of(arrays[names]))[numbers]
            rest.remove(names)
            notes.append(f"row metadata {kind!r}: the names in {names!r} of the codes in {codes!r}")
    for side, found in (("row", rows), ("column", columns)):
        if found:
            notes.append(f"{side} metadata: {listed(list(found))}")
    if rest:
        sizes = ", ".join(f"{name!r} ({arrays[name].size:,})" for name in rest[:6])
        notes.append(f"arrays left out, with neither a value per row nor per column: {sizes}")
    return rows, columns, notes


def read_matrix_counts(path: Path, kind: str) -> CountParts:
    """Counts from an NPY or MatrixMarket file, with labels from the files beside it.

    Raises
    ------
    DataError
        Where it cannot be read, or the labels beside it do not fit.
    """
    if kind == "npy":
        return _labelled_beside(path, _table(read_npy(path), str(path)))
    return _labelled_beside(path, read_market(path))


def _labelled_beside(path: Path, values: sparse.csr_array) -> CountParts:
    """A table with the labels of the files beside it, where there are some."""
    stem = stem_of(path, ".mtx", ".npy")
    beside = {
        side: _beside(path, [f"{stem}.{side}.txt", f"{stem}.{side}.tsv"])
        for side in ("rows", "columns")
    }
    if any(beside.values()):
        rows, columns = (
            _listed_labels(place, n, side)
            for (side, place), n in zip(beside.items(), values.shape, strict=True)
        )
        notes = tuple(f"{s} labelled by {p.name}" for s, p in beside.items() if p is not None)
        return CountParts(values, rows, columns, notes=notes)
    prefix = stem[: -len("matrix")] if stem.endswith("matrix") else f"{stem}_"
    cells = _beside(path, [f"{prefix}barcodes.tsv", f"{prefix}barcodes.txt"])
    genes = _beside(
        path, [f"{prefix}{n}.{s}" for n in ("features", "genes") for s in ("tsv", "txt")]
    )
    if cells is None or genes is None:
        return CountParts(values, notes=("no labels beside it: numbered from 0",))
    return _cells_and_genes(path, values, cells, genes)


def _beside(path: Path, names: Sequence[str]) -> Path | None:
    """The first of some files beside another that exists, packed or not."""
    places = [path.with_name(name + packed) for name in names for packed in ("", ".gz")]
    return next((place for place in places if place.is_file()), None)


def _listed_labels(path: Path | None, n: int, side: str) -> list[str] | None:
    """The labels of a file of one a line, of which there must be n."""
    if path is None:
        return None
    labels = read_labels(path)
    if len(labels) != n:
        raise DataError(
            f"{path} holds {len(labels):,} labels, and the table beside it has {n:,} {side}; give "
            "one label a line for each"
        )
    check_places(str(path), labels, "line", range(1, len(labels) + 1))
    return labels


def _cells_and_genes(path: Path, values: sparse.csr_array, cells: Path, genes: Path) -> CountParts:
    """A table with its cells and genes where its shape has room for them."""
    barcodes = _fields(cells)
    features = _fields(genes)
    shape = (len(features["id"]), len(barcodes["id"]))
    if values.shape not in (shape, shape[::-1]):
        raise DataError(
            f"{path} has {values.shape[0]:,} rows and {values.shape[1]:,} columns, {genes.name} "
            f"{shape[0]:,} lines and {cells.name} {shape[1]:,}; one of them belongs to another "
            "table"
        )
    check_places(str(cells), barcodes["id"], "line", range(1, len(barcodes["id"]) + 1))
    names = features.get("name", features["id"])
    # Genes may share a name, never an identifier.
    if repeated_label(names) is not None or "" in names:
        names = features["id"]
        check_places(str(genes), names, "line", range(1, len(names) + 1))
    metadata = {name: np.array(column) for name, column in features.items() if column is not names}
    notes = (f"genes labelled by {genes.name}, cells by {cells.name}",)
    if values.shape == shape:
        return CountParts(values, names, barcodes["id"], ("gene", "cell"), metadata, notes=notes)
    return CountParts(
        values, barcodes["id"], names, ("cell", "gene"), column_metadata=metadata, notes=notes
    )


def _fields(path: Path) -> dict[str, list[str]]:
    """The columns of a list of genes or cells: identifier, name, type."""
    lines = [
        line.split("\t")
        for line in split_lines(read_bytes(path, "one gene or cell a line"), str(path))
    ]
    while lines and not lines[-1][0]:
        lines.pop()
    width = len(lines[0])
    ragged = next((k for k, cells in enumerate(lines) if len(cells) != width or not cells[0]), None)
    if ragged is not None:
        raise DataError(
            f"{path}, line {ragged + 1} has {len(lines[ragged])} cells where the first line has "
            f"{width}, or an empty one"
        )
    keys = ("id", "name", "type")[:width]
    return {key: [cells[c].strip() for cells in lines] for c, key in enumerate(keys)}
