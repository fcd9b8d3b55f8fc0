"""Compute maps of the observations of an AnnData object and store them where scanpy expects them.

    tsne(adata)             obsm[key]                  (n_obs, n_components)
    multiple_maps(adata)    obsm[key]                  (n_obs, n_maps * n_components), side by side
                            obsm[key + "_proportions"] (n_obs, n_maps)
    both                    uns[key]                   parameters, captions, and the end of the fit
    to_atlas(adata)         the `Atlas` of the stored maps, with obs as its metadata

The fitted table is chosen as in scanpy 1.11: it is X if there are at most 50 variables, and X_pca
otherwise. Only the interface of AnnData objects is used, so anndata does not need to be installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.data.frames import placed_column
from manymaps.errors import DataError
from manymaps.io.annotated import FEW_VARIABLES, gene_columns, table_of, usual_table
from manymaps.labels import listed, numbered_labels
from manymaps.maps.estimator import MapEstimator
from manymaps.maps.fitted import plain_value
from manymaps.maps.multiple_maps import MultipleMapsTSNE
from manymaps.maps.sne import TSNE
from manymaps.model.choice import ChoiceModel

_SAVED = "atlas"
_PROPORTIONS = "_proportions"
_FACTORS = "_factors"


def tsne(
    adata: Any,
    *,
    use_rep: str | None = None,
    perplexity: float = 30.0,
    random_state: int | None = 0,
    key_added: str = "X_manymaps_tsne",
    copy: bool = False,
    **params: Any,
) -> Any:
    """Compute a t-SNE embedding of the observations of an AnnData object, like `scanpy.tl.tsne`.

    Parameters
    ----------
    adata : AnnData
        Annotated data, in memory or backed by a file; X may be sparse.
    use_rep : str, optional
        Table to fit: "X", or a key of `obsm`. The default is "X" if there are at most 50 variables,
        and "X_pca" otherwise.
    perplexity : float
        Effective number of neighbours.
    random_state : int or None
        Seed of the fit. The same seed gives bit-identical results for any number of threads.
    key_added : str
        Key of the map in `obsm`, and of its settings in `uns`.
    copy : bool
        Whether to return a copy that contains the map, and leave `adata` unchanged. The default is
        False.
    **params
        Further parameters of `manymaps.TSNE`, such as `metric`, `n_jobs` or `n_components`. The
        learning rate has the unit of scikit-learn.

    Returns
    -------
    None, or AnnData with `copy=True`
        The map is stored as float32 in `obsm[key_added]`. `uns[key_added]` contains "params" (the
        table in use, as "use_rep", and all parameters in use that are not None), "kl_divergence"
        and "n_iter".

    Raises
    ------
    DataError
        If the table does not exist, or cannot be fitted. The message lists the available keys.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    manymaps.TSNE, multiple_maps, to_atlas

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from manymaps.anndata import tsne
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> adata = anndata.AnnData(np.zeros((60, 900)), obsm={"X_pca": rows})
    >>> tsne(adata, perplexity=5, max_iter=50)
    >>> adata.obsm["X_manymaps_tsne"].shape
    (60, 2)
    >>> params = adata.uns["X_manymaps_tsne"]["params"]
    >>> params["perplexity"], params["use_rep"]
    (5, 'X_pca')
    """
    estimator = TSNE(perplexity=perplexity, random_state=random_state, **params)
    asked = {**params, "perplexity": perplexity, "random_state": random_state}
    return _fitted(estimator, adata, asked, use_rep, key_added, copy)


def multiple_maps(
    adata: Any,
    n_maps: int = 4,
    *,
    use_rep: str | None = None,
    perplexity: float = 30.0,
    random_state: int | None = 0,
    key_added: str = "X_manymaps",
    copy: bool = False,
    **params: Any,
) -> Any:
    """Compute multiple maps of the observations of an AnnData object, like a `scanpy.tl` function.

    Parameters
    ----------
    adata : AnnData
        Annotated data, in memory or backed by a file; X may be sparse.
    n_maps : int
        Number of maps.
    use_rep, perplexity, random_state, key_added, copy
        See `tsne`.
    **params
        Further parameters of `manymaps.MultipleMapsTSNE`, such as `penalty` or `normalization`.

    Returns
    -------
    None, or AnnData with `copy=True`
        All maps are stored side by side in `obsm[key_added]`, as a float32 array of shape (n_obs,
        n_maps * n_components). With two components, columns 2 m and 2 m + 1 contain map m;
        `scanpy.pl.embedding` counts columns from 1 (components "1,2", "3,4", ...). The mixing
        proportions are stored in `obsm[key_added + "_proportions"]`, of shape (n_obs, n_maps). In
        addition to the items that `tsne` writes, `uns[key_added]` contains "captions", with one
        text per map. Each caption lists typical observations. If the names of the observations are
        numbers or barcodes, it lists the categories of `obs` that are over-represented in the map.

    Raises
    ------
    DataError, ParameterError
        See `tsne`.

    See Also
    --------
    manymaps.MultipleMapsTSNE, tsne, to_atlas

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from manymaps.anndata import multiple_maps, to_atlas
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> adata = anndata.AnnData(rows)
    >>> multiple_maps(adata, 2, perplexity=5, max_iter=50)
    >>> adata.obsm["X_manymaps"].shape, adata.obsm["X_manymaps_proportions"].shape
    ((60, 4), (60, 2))
    >>> to_atlas(adata).n_maps
    2
    """
    estimator = MultipleMapsTSNE(n_maps, perplexity=perplexity, random_state=random_state, **params)
    asked = {"n_maps": n_maps, **params, "perplexity": perplexity, "random_state": random_state}
    return _fitted(estimator, adata, asked, use_rep, key_added, copy)


def to_atlas(adata: Any, key: str | None = None, *, genes: str | Sequence[str] = ()) -> Atlas:
    """Return the atlas of maps that `tsne` or `multiple_maps` stored.

    Parameters
    ----------
    adata : AnnData
        Annotated data with stored maps. It may have been saved to a file and loaded again, or be a
        subset of the observations.
    key : str, optional
        Value of `key_added` under which the maps were stored. It can be omitted if only one set of
        maps is stored.
    genes : str or sequence of str
        Names of variables whose values in `X` become metadata, such as genes by which a figure or a
        page colours the dots.

    Returns
    -------
    Atlas
        The atlas, labelled by `obs_names`; a number is added to repeated names. The columns of
        `obs` and the `genes` become its metadata. The fitted rows become its vectors, if they are
        still stored.

    Raises
    ------
    DataError
        If no such maps are stored, or the maps were modified. If `adata` does not contain a gene,
        or a column of `obs` has its name.

    See Also
    --------
    tsne, multiple_maps, manymaps.Atlas

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from manymaps.anndata import to_atlas, tsne
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> adata = anndata.AnnData(rows, obs={"batch": ["a", "b"] * 30})
    >>> tsne(adata, perplexity=5, max_iter=50)
    >>> atlas = to_atlas(adata)
    >>> atlas.n_objects, atlas.metadata["batch"][:3].tolist()
    (60, ['a', 'b', 'a'])
    """
    _check_annotated(adata)
    key = _written_key(adata, key)
    try:
        saved = json.loads(str(adata.uns[key][_SAVED]))
        n, n_saved, n_maps = adata.n_obs, saved.pop("n_objects"), saved.pop("n_maps")
        maps = np.asarray(adata.obsm[key]).reshape(n, n_maps, saved.pop("n_components"))
        proportions = adata.obsm[key + _PROPORTIONS] if n_maps > 1 else np.ones((n, 1), np.float32)
        factors = adata.obsm.get(key + _FACTORS)
        saved["model"] = ChoiceModel(**saved["model"])
        if n != n_saved:
            saved["log_normalizer"] = None
        use_rep = adata.uns[key]["params"]["use_rep"]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"uns[{key!r}] and obsm[{key!r}] do not match ({error!s:.200}); fit the maps again"
        ) from error
    labels, _ = numbered_labels([str(name) for name in adata.obs_names])
    metadata = _columns(adata, labels)
    metadata |= gene_columns(adata, [genes] if isinstance(genes, str) else genes)
    is_stored = use_rep in adata.obsm or (use_rep == "X" and adata.X is not None)
    vectors = _rows(adata, use_rep) if is_stored else None
    return Atlas(
        labels,
        np.ascontiguousarray(maps.transpose(1, 0, 2)),
        np.ascontiguousarray(proportions.T),
        metadata=metadata,
        vectors=vectors,
        factors=None if factors is None else factors[:, 0],
        **saved,
    )


def _fitted(
    estimator: MapEstimator,
    adata: Any,
    asked: Mapping[str, Any],
    use_rep: str | None,
    key: str,
    copy: bool,
) -> Any:
    """Fit an AnnData object, and store the maps in it as values that .h5ad files can contain."""
    _check_annotated(adata)
    adata = adata.copy() if copy else adata
    if use_rep is None:
        use_rep = usual_table(adata)
        if use_rep == "X" and adata.n_vars > FEW_VARIABLES:
            raise DataError(
                f"adata has {adata.n_vars:,} variables and no obsm['X_pca']; run "
                "scanpy.pp.pca(adata) first, or choose a table with use_rep"
            )
    atlas = estimator.fit(_rows(adata, use_rep)).atlas_
    saved = {
        "method": atlas.method,
        "model": atlas.model.as_dict(),
        "parameters": dict(atlas.parameters),
        "log_normalizer": atlas.log_normalizer,
        "n_objects": atlas.n_objects,
        "n_maps": atlas.n_maps,
        "n_components": atlas.n_components,
    }
    params = {name: plain_value(value) for name, value in asked.items() if value is not None}
    record = {
        "params": params | {"use_rep": use_rep},
        "kl_divergence": float(estimator.kl_divergence_),
        "n_iter": int(estimator.n_iter_),
        _SAVED: json.dumps(saved),
    }
    side_by_side = atlas.maps.transpose(1, 0, 2).reshape(atlas.n_objects, -1)
    adata.obsm[key] = np.ascontiguousarray(side_by_side)
    if atlas.factors is not None:
        adata.obsm[key + _FACTORS] = atlas.factors[:, None]
    if "n_maps" in asked:
        adata.obsm[key + _PROPORTIONS] = np.ascontiguousarray(atlas.proportions.T)
        labels, _ = numbered_labels([str(name) for name in adata.obs_names])
        named = replace(atlas, labels=labels, metadata=_columns(adata, labels))
        record["captions"] = np.array([", ".join(words) for words in named.captions()])
    adata.uns[key] = record
    return adata if copy else None


def _check_annotated(adata: Any) -> None:
    if not all(hasattr(adata, name) for name in ("obs_names", "obsm", "uns")):
        raise DataError(
            f"expected an AnnData object, got {type(adata).__name__}; for arrays and frames use "
            "estimators such as manymaps.TSNE"
        )


def _rows(adata: Any, use_rep: str) -> Any:
    """Return X or a table of obsm, which may be sparse, a frame, or in a file."""
    rows = table_of(adata, use_rep, "adata")
    return sparse.csr_array(rows) if sparse.issparse(rows) else rows


def _written_key(adata: Any, key: str | None) -> str:
    """Return the key under which maps were stored."""
    stored = [
        str(name)
        for name, value in adata.uns.items()
        if isinstance(value, Mapping) and _SAVED in value and name in adata.obsm
    ]
    if key in stored or (key is None and len(stored) == 1):
        return key or stored[0]
    wanted = "one set of maps" if key is None else f"maps {key!r}"
    raise DataError(
        f"expected {wanted} by manymaps.anndata.tsne or multiple_maps; the maps in adata are "
        f"{listed(stored) if stored else 'none'}"
    )


def _columns(adata: Any, labels: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns of obs, with one value per observation."""
    columns: dict[str, np.ndarray] = {}
    for name in adata.obs.columns:
        columns |= placed_column(labels, adata.obs[name].tolist(), str(name)) or {}
    return columns
