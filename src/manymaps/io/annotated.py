"""Annotated data matrices in memory and in .h5ad files, which anndata reads."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.archive.door import reading
from manymaps.errors import DataError
from manymaps.labels import listed

#: Maximum number of variables that are fitted without PCA, as in scanpy 1.11.
FEW_VARIABLES = 50


def read_annotated(path: Path) -> Any:
    """Open an .h5ad file as AnnData whose X stays in the file until it is used.

    Raises
    ------
    DataError
        If anndata cannot read the file.
    ImportError
        If anndata is not installed.
    """
    with reading(path, ".h5ad"), warnings.catch_warnings():
        import anndata

        # Repeated names are reported when the table is assembled. Files from older versions of
        # anndata can be read without a warning.
        warnings.simplefilter("ignore")
        return anndata.read_h5ad(path, backed="r")


def usual_table(data: Any) -> str:
    """Return the name of the table that is fitted by default, as in scanpy.

    The table is "X_pca" if it is stored and X is missing or has more than 50 variables, and "X"
    otherwise.
    """
    is_small = data.n_vars <= FEW_VARIABLES and _has_x(data)
    return "X" if is_small or "X_pca" not in data.obsm else "X_pca"


def _has_x(data: Any) -> bool:
    """Return whether an AnnData object, in memory or backed by a file, has a table X."""
    backed = getattr(data, "isbacked", False)
    return "X" in data.file if backed else data.X is not None


def table_of(data: Any, name: str, source: str) -> Any:
    """Load "X" or a table of obsm of an AnnData object into memory, perhaps from its file.

    Raises
    ------
    DataError
        If the table does not exist or is damaged. The message lists the existing tables.
    """
    in_obsm = name in data.obsm
    if not in_obsm and not (name == "X" and _has_x(data)):
        missing = "X" if name == "X" else f"obsm[{name!r}]"
        raise DataError(
            f"{source} has no {missing}; obsm contains {listed(list(map(str, data.obsm)))}. Name "
            "one of these"
        )
    with reading(source, ".h5ad"):
        values = data.obsm[name] if in_obsm else data.X
        values = values.to_memory() if hasattr(values, "to_memory") else values
        if not sparse.issparse(values):
            return np.asarray(values)
        # Compiled code would access memory outside the table if an index were out of range.
        values.check_format(full_check=True)
        return values


def gene_columns(data: Any, genes: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the values in X of some variables of an AnnData object, such as genes.

    Raises
    ------
    DataError
        If a variable does not exist, or if a column of obs has its name.
    """
    columns = {}
    for gene in genes:
        if gene not in data.var_names:
            raise DataError(f"no variable of the AnnData object is named {gene!r}; check var_names")
        if gene in data.obs.columns:
            raise DataError(f"{gene!r} is also a column of obs; rename the column")
        # A backed object loads only the column.
        values = data[:, gene].X
        values = values.toarray() if sparse.issparse(values) else np.asarray(values)
        columns[gene] = values.ravel().astype(np.float64)
    return columns
