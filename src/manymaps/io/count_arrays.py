"""Readers for count tables in NPZ, NPY and MatrixMarket files, with labels inside or next to them.

The names of arrays in NPZ files vary. The following names are recognized:

    indptr, indices, counts | data | values     the parts of a CSR array, perhaps with `shape`
    format, shape, data, ...                    output of scipy.sparse.save_npz
    counts, X, matrix, ...                      a dense table; a single table may have any name
    vocab, words, terms, genes, ...             labels of columns
    docnames, doc_id, sites, titles, ...        labels of rows
    labels and groups (or target, ...)          whole numbers, and the names that they number

Any other one-dimensional array with one value per row or per column is metadata. The notes in the
report list the role of each array.

The labels of `X.npy` or `X.mtx` are read from files in the same folder with one label per line.
These files are `X.rows.txt` and `X.columns.txt`, or for `P_matrix.mtx`, `P_barcodes.tsv` and
`P_features.tsv` (or `P_genes.tsv`). The prefix P_ is optional, and the files may be compressed with
gzip. The shape of the matrix determines whether cells are rows or columns. A matrix of genes by
cells, which is the output of sequencers, is not transposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import csr_from, read_npy, two_lengths
from manymaps.data.count_values import as_csr, numbered, texts_of
from manymaps.data.kinds import UNKNOWN_KINDS
from manymaps.errors import DataError
from manymaps.io.columns import known_kind, two_kinds
from manymaps.io.count_tables import CountParts
from manymaps.io.files import (
    SPARSE_PARTS,
    Heads,
    array_heads,
    read_arrays,
    read_bytes,
    read_sparse,
    split_lines,
    stem_of,
)
from manymaps.io.market import read_market
from manymaps.io.matrices import file_beside, read_labels
from manymaps.io.tables import check_places
from manymaps.labels import listed, repeated_label

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
# Suffixes of label files.
SUFFIXES = (".txt", ".tsv")
PARTS = ("indptr", "indices", "shape", "format", "_is_array")


def has_sparse_parts(heads: Heads) -> bool:
    """Return whether an NPZ file contains the components of a CSR array under plain names."""
    return {"indptr", "indices"} <= set(heads) and any(key in heads for key in DATA_KEYS)


def read_npz_counts(path: Path) -> CountParts:
    """Read counts from an NPZ file that another program wrote.

    Raises
    ------
    DataError
        If the file contains no table or several tables, if the components of a table are
        inconsistent, or if `row_labels` or `column_labels` contain duplicates.
    """
    heads = array_heads(path, "npz")
    pickled = [name for name, head in heads.items() if head.dtype.hasobject]
    if pickled:
        raise DataError(
            f"{path}: {pickled[0]!r} is an array of Python objects, which are not read; save "
            "labels as np.array(labels, dtype=str), and counts as numbers"
        )
    values, parts = _npz_table(path, heads)
    lines = [name for name, head in heads.items() if len(head.shape) == 1 and name not in parts]
    arrays = read_arrays(path, lines)
    column_key, column_labels, column_note = _npz_labels(arrays, COLUMN_KEYS, values.shape[1])
    rest = {name: array for name, array in arrays.items() if name != column_key}
    row_key, row_labels, row_note = _npz_labels(rest, ROW_KEYS, values.shape[0])
    rest = {name: array for name, array in rest.items() if name != row_key}
    row_metadata, column_metadata, notes = _npz_metadata(rest, values.shape)
    if row_key is not None and "repeat" in row_note:
        row_metadata[row_key] = arrays[row_key]
    left_out = [name for name in heads if name not in {*parts, *lines}]
    if left_out:
        notes.append(f"left out: {listed(left_out)}")
    kinds = [_key_kind(key) for key in (row_key, column_key)]
    return CountParts(
        values,
        row_labels,
        column_labels,
        two_kinds(kinds[0] or UNKNOWN_KINDS[0], kinds[1] or UNKNOWN_KINDS[1]),
        row_metadata,
        column_metadata,
        notes=tuple(note for note in (row_note, column_note, *notes) if note),
    )


def _key_kind(key: str | None) -> str | None:
    return None if key is None else KEY_KINDS.get(key) or known_kind(key)


def _npz_table(path: Path, heads: Heads) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Read the table of an NPZ file, and return it with the names of its component arrays."""
    if set(heads) >= SPARSE_PARTS:
        return read_sparse(path), (*PARTS, "data", "row", "col", "offsets", "coords")
    if has_sparse_parts(heads):
        return _csr_of_parts(path, heads)
    tables = [name for name, head in heads.items() if len(head.shape) == 2]
    usual = [name for name in TABLE_KEYS if name in tables]
    if not usual and len(tables) != 1:
        shapes = ", ".join(f"{name!r} {head.shape}" for name, head in heads.items())
        raise DataError(
            f"{path} contains {len(tables)} tables, and none is named 'counts'; its arrays are "
            f"{shapes or 'none'}. A sparse table needs 'indptr', 'indices' and 'counts'"
        )
    name = (usual or tables)[0]
    return as_csr(read_arrays(path, [name])[name], str(path)), (name,)


def _csr_of_parts(path: Path, heads: Heads) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Assemble a CSR array, inferring the number of columns from the shape, labels or indices."""
    data_key = next(key for key in DATA_KEYS if key in heads)
    parts = ("indptr", "indices", data_key, *(("shape",) if "shape" in heads else ()))
    arrays = read_arrays(path, parts)
    if "shape" in arrays:
        shape = two_lengths(arrays["shape"], str(path))
    else:
        indices = arrays["indices"]
        n_columns = int(indices.max()) + 1 if indices.size and indices.dtype.kind in "iu" else 0
        lengths = (heads[key].shape[0] for key in COLUMN_KEYS if key in heads and heads[key].shape)
        n_columns = next((n for n in lengths if n >= n_columns), n_columns)
        shape = (max(0, arrays["indptr"].size - 1), n_columns)
    return csr_from({**arrays, "data": arrays[data_key]}, shape, str(path)), parts


def _npz_labels(
    arrays: Mapping[str, np.ndarray], keys: Sequence[str], n: int
) -> tuple[str | None, list[str] | None, str]:
    """Return the name of the label array, the labels, and a note.

    An array with the first of the common names must contain valid labels. Among arrays with the
    other names, unique labels have priority over repeated identifiers, which are numbered.
    """
    side = keys[0].partition("_")[0]
    if keys[0] in arrays:
        return keys[0], texts_of(arrays[keys[0]]), ""
    candidates: dict[str, list[str]] = {}
    for key in keys:
        if key in arrays and arrays[key].size == n and arrays[key].dtype.kind in "USiu":
            # Integers may be group codes, unless the array has a name for identifiers.
            is_name = _key_kind(key) is not None or key in ("ids", "index", "rows", "columns")
            if is_name or arrays[key].dtype.kind in "US":
                labels = [label.strip() for label in texts_of(arrays[key])]
                if all(labels):
                    candidates[key] = labels
    for key, labels in candidates.items():
        if repeated_label(labels) is None:
            return key, labels, f"{side} labels from {key!r}"
    for key, labels in candidates.items():
        if _key_kind(key) is not None and key != "titles":
            names, notes = numbered(labels, side)
            return key, names, f"{side} labels from {key!r}; {notes[0]}"
    return None, None, f"{side}s are numbered from 0"


def _npz_metadata(
    arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[str]]:
    """Return the row metadata, the column metadata (distinguished by array length), and notes."""
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
    for side, metadata in (("row", rows), ("column", columns)):
        if metadata:
            notes.append(f"{side} metadata: {listed(list(metadata))}")
    if rest:
        sizes = ", ".join(f"{name!r} ({arrays[name].size:,})" for name in rest[:6])
        notes.append(f"arrays left out, which have a value neither per row nor per column: {sizes}")
    return rows, columns, notes


def read_matrix_counts(path: Path, kind: str) -> CountParts:
    """Read counts from an NPY or MatrixMarket file, and labels from files in its folder.

    Raises
    ------
    DataError
        If the file cannot be read, or if the number of labels does not match the table.
    """
    values = as_csr(read_npy(path), str(path)) if kind == "npy" else read_market(path)
    stem = stem_of(path, ".mtx", ".npy")
    files = {
        side: file_beside(path, [f"{stem}.{side}{suffix}" for suffix in SUFFIXES])
        for side in ("rows", "columns")
    }
    if any(files.values()):
        labels = [
            None if file is None else _listed_labels(file, n, side)
            for (side, file), n in zip(files.items(), values.shape, strict=True)
        ]
        notes = tuple(f"{s} labelled by {file.name}" for s, file in files.items() if file)
        return CountParts(values, labels[0], labels[1], notes=notes)
    prefix = stem[: -len("matrix")] if stem.endswith("matrix") else f"{stem}_"
    cells, genes = (
        file_beside(path, [f"{prefix}{name}{suffix}" for name in names for suffix in SUFFIXES])
        for names in (("barcodes",), ("features", "genes"))
    )
    if cells is None or genes is None:
        return CountParts(values, notes=("no files of labels: numbered from 0",))
    return _cells_and_genes(path, values, cells, genes)


def _listed_labels(path: Path, n: int, side: str) -> list[str]:
    """Read n labels from a file with one label per line."""
    labels = read_labels(path)
    if len(labels) != n:
        raise DataError(
            f"{path} contains {len(labels):,} labels, but the table has {n:,} {side}; expected one "
            "label per line for each"
        )
    check_places(str(path), labels, "line", range(1, len(labels) + 1))
    return labels


def _cells_and_genes(path: Path, values: sparse.csr_array, cells: Path, genes: Path) -> CountParts:
    """Label a table of cells and genes, using its shape to determine which of these are rows."""
    barcodes, features = _fields(cells)["id"], _fields(genes)
    shape = (len(features["id"]), len(barcodes))
    if values.shape not in (shape, shape[::-1]):
        raise DataError(
            f"{path} has {values.shape[0]:,} rows and {values.shape[1]:,} columns, but "
            f"{genes.name} has {shape[0]:,} lines and {cells.name} has {shape[1]:,}; use files of "
            "the same table"
        )
    check_places(str(cells), barcodes, "line", range(1, len(barcodes) + 1))
    names = features.get("name", features["id"])
    # Several genes may have the same name, but their identifiers differ.
    if repeated_label(names) is not None or "" in names:
        names = features["id"]
        check_places(str(genes), names, "line", range(1, len(names) + 1))
    metadata = {name: np.array(column) for name, column in features.items() if column is not names}
    notes = (f"genes labelled by {genes.name}, cells by {cells.name}",)
    if values.shape == shape:
        return CountParts(values, names, barcodes, ("gene", "cell"), metadata, notes=notes)
    return CountParts(
        values, barcodes, names, ("cell", "gene"), column_metadata=metadata, notes=notes
    )


def _fields(path: Path) -> dict[str, list[str]]:
    """Read the columns of a list of genes or cells (identifier, name and type)."""
    text = split_lines(read_bytes(path, "one gene or cell per line"), str(path))
    lines = [line.split("\t") for line in text]
    while lines and not lines[-1][0]:
        lines.pop()
    width = len(lines[0])
    for number, cells in enumerate(lines, start=1):
        if len(cells) != width or not cells[0]:
            raise DataError(
                f"{path}, line {number} has {len(cells)} cells, but the first line has {width}; "
                "the first cell must not be empty"
            )
    columns = zip(("id", "name", "type"), zip(*lines, strict=True), strict=False)
    return {key: [cell.strip() for cell in cells] for key, cells in columns}
