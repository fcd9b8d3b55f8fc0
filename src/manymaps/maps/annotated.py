"""Compute maps of the observations of an AnnData object and store them where scanpy expects them.

    tsne(adata)             obsm[key]                  (n_obs, n_components)
    multiple_maps(adata)    obsm[key]                  (n_obs, n_maps * n_components), side by side
                            obsm[key + "_proportions"] (n_obs, n_maps)
    both                    uns[key]["params"]         the requested parameters
                            uns[key]                   captions, history, and the end of the fit
    to_atlas(adata)         the `Atlas` of the stored maps, with obs as its metadata

The fitted table is chosen as in scanpy 1.11: it is X if there are at most 50 variables, and X_pca
otherwise. Only the interface of AnnData objects is used, so anndata does not need to be installed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import Affinity, GaussianAffinity
from manymaps.affinity.distances import stored_rows
from manymaps.affinity.neighbors import DEFAULT_SEARCH, NeighborSearch
from manymaps.affinity.network import row_normalized
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_whole, first_cell
from manymaps.data.frames import frame_columns, placed_column
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.io.annotated import FEW_VARIABLES, gene_columns, usual_table
from manymaps.labels import first_of, listed, numbered_labels
from manymaps.maps.estimator import MapEstimator, plain_value
from manymaps.maps.multiple_maps import MultipleMapsTSNE
from manymaps.maps.sne import TSNE
from manymaps.model.choice import ChoiceModel

NEIGHBORS = "neighbors"
# This is the factor that manymaps uses in its own search; farther neighbours have almost no
# probability.
_PER_PERPLEXITY = 3
# Number of rows, evenly spaced in the table, on which to check that the stored neighbours belong to
# the table.
_CHECKED_ROWS = 50
# scanpy stores distances in float32.
_ROUNDING = 1e-3
_SAVED = "atlas"
_PROPORTIONS = "_proportions"
_FACTORS = "_factors"


def tsne(
    adata: Any,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    perplexity: float | Sequence[float] | None = 30.0,
    metric: str = "euclidean",
    neighbors_key: str | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
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
    n_pcs : int, optional
        Number of leading columns of the table to use; 0 is equivalent to `use_rep="X"`. By default,
        all columns are used.
    perplexity : float, sequence of float, or None
        Effective number of neighbours. If None, the connectivities of the stored neighbours are
        used as similarities, with each row scaled to a sum of 1. The number of neighbours is then
        arbitrary.
    metric : str
        Distance between rows.
    neighbors_key : str, optional
        Key of `uns` under which neighbours are stored (`scanpy.pp.neighbors` uses "neighbors").
        There must be at least as many neighbours as the perplexity, and preferably three times as
        many. By default, the neighbours under "neighbors" are used if there are enough of them and
        they were computed from the same rows with the same metric. Otherwise, a new search for
        neighbours is performed.
    random_state : int or None
        Seed of the fit. The same seed gives bit-identical results for any number of threads.
    n_jobs : int, optional
        Number of threads. None (the default) keeps the current number, and -1 uses all processors.
    key_added : str
        Key of the map in `obsm`, and of its settings in `uns`.
    copy : bool
        Whether to return a copy that contains the map, and leave `adata` unchanged. The default is
        False.
    **params
        Further parameters of `manymaps.TSNE`, such as `late_exaggeration` or `n_components`. The
        learning rate has the unit of scikit-learn.

    Returns
    -------
    None, or AnnData with `copy=True`
        The map is stored as float32 in `obsm[key_added]`. `uns[key_added]` contains "params" (all
        parameters in use that are not None), "kl_divergence", "n_iter" and "history".

    Raises
    ------
    DataError
        If the table or the neighbours do not exist, or the table cannot be fitted. The message
        lists the available keys.
    ParameterError
        If a parameter is out of its range, or there are too few stored neighbours for the
        perplexity. If `adata` is a view of a backed file, to which nothing can be written.

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
    settings = {
        **params, "perplexity": perplexity, "metric": metric, "random_state": random_state,
        "n_jobs": n_jobs,
    }  # fmt: skip
    return _fitted(TSNE, adata, settings, use_rep, n_pcs, neighbors_key, key_added, copy)


def multiple_maps(
    adata: Any,
    n_maps: int = 4,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    perplexity: float | Sequence[float] | None = 30.0,
    metric: str = "euclidean",
    neighbors_key: str | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
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
    use_rep, n_pcs, perplexity, metric, neighbors_key, random_state, n_jobs, key_added, copy
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
    settings = {
        "n_maps": n_maps, **params, "perplexity": perplexity, "metric": metric,
        "random_state": random_state, "n_jobs": n_jobs,
    }  # fmt: skip
    return _fitted(
        MultipleMapsTSNE, adata, settings, use_rep, n_pcs, neighbors_key, key_added, copy
    )


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

    Warns
    -----
    DataWarning
        If names of observations are repeated.

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
    written = adata.uns[key]
    try:
        saved = json.loads(str(written[_SAVED]))
        maps, held = _maps_of(adata, key, int(saved["n_maps"]))
        model = ChoiceModel(**saved["model"])
        whole = saved["log_normalizer"] if len(held[0]) == saved["n_objects"] else None
        method, parameters = str(saved["method"]), dict(saved["parameters"])
        history = {
            name: np.asarray(each) for name, each in dict(written.get("history", {})).items()
        }
        vectors = _vectors_again(adata, dict(written.get("params", {})))
        factors = adata.obsm[key + _FACTORS][:, 0] if saved.get("factors") else None
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"uns[{key!r}] and obsm[{key!r}] do not match ({error!s:.200}); fit the maps again"
        ) from error
    labels, repeated = numbered_labels([str(name) for name in adata.obs_names])
    if repeated:
        warnings.warn(
            f"{len(repeated):,} names of observations are repeated and got a number: "
            f"{first_of(repeated)}; rename them with adata.obs_names_make_unique()",
            DataWarning,
            stacklevel=2,
        )
    return Atlas(
        labels=labels,
        maps=maps,
        proportions=held,
        model=model,
        method=method,
        parameters=parameters,
        history=history,
        log_normalizer=whole,
        metadata=_columns(adata, labels)
        | gene_columns(adata, [genes] if isinstance(genes, str) else genes),
        vectors=vectors,
        factors=factors,
    )


def _fitted(
    estimator: type[MapEstimator],
    adata: Any,
    settings: Mapping[str, Any],
    use_rep: str | None,
    n_pcs: int | None,
    neighbors_key: str | None,
    key_added: str,
    copy: bool,
) -> Any:
    """Fit an estimator with these settings to an AnnData object and store the maps in it."""
    _check_annotated(adata)
    _check_writable(adata, copy)
    if not isinstance(key_added, str) or not key_added:
        raise ParameterError("must be a name", name="key_added", value=key_added)
    if n_pcs is not None:
        check_whole("n_pcs", n_pcs, least=0)
    name, rows, known = _fitted_data(adata, settings, use_rep, n_pcs, neighbors_key)
    if key_added == name:
        raise ParameterError(
            "is the fitted table, which would be overwritten; use another key",
            name="key_added",
            value=key_added,
        )
    chosen = dict(settings)
    if chosen["perplexity"] is None:
        del chosen["perplexity"]
    if known is not None:
        chosen["affinity"] = known.affinity(settings["perplexity"])
    if rows is None:
        chosen["metric"] = "precomputed"
    fit = estimator(**chosen).fit(known.distances if known and rows is None else rows)
    asked = {
        **settings, "use_rep": name, "n_pcs": n_pcs,
        "neighbors_key": None if known is None else known.key,
    }  # fmt: skip
    written = adata.copy() if copy else adata
    _write(written, key_added, fit, asked)
    return written if copy else None


def _fitted_data(
    adata: Any,
    settings: Mapping[str, Any],
    use_rep: str | None,
    n_pcs: int | None,
    neighbors_key: str | None,
) -> tuple[str | None, Any, _Neighbors | None]:
    """Return the fitted rows with their name, the stored neighbours, or both."""
    perplexity, known = settings["perplexity"], None
    if neighbors_key is not None or perplexity is None:
        if "affinity" in settings:
            raise ParameterError(
                "cannot be combined with known neighbours, which define the similarities too; "
                "pass one of the two",
                name="affinity",
                value=settings["affinity"],
            )
        known = _Neighbors(adata, neighbors_key or NEIGHBORS)
    try:
        name, rows = _representation(adata, use_rep, n_pcs)
    except DataError:
        if known is None or use_rep is not None:
            raise
        return None, None, known
    if known is None and "affinity" not in settings:
        known = _fitting_neighbors(adata, rows, perplexity, settings["metric"])
    return name, rows, known


def _write(adata: Any, key: str, fit: MapEstimator, asked: Mapping[str, Any]) -> None:
    """Store the maps in obsm and their settings in uns, as values that .h5ad files can contain."""
    atlas = fit.atlas_
    side_by_side = atlas.maps.transpose(1, 0, 2).reshape(atlas.n_objects, -1)
    record: dict[str, Any] = {
        "params": _plain(asked),
        "kl_divergence": float(fit.kl_divergence_),
        "n_iter": int(fit.n_iter_),
        "history": {name: np.asarray(values) for name, values in atlas.history.items()},
        _SAVED: json.dumps(
            {
                "method": atlas.method,
                "model": atlas.model.as_dict(),
                "parameters": dict(atlas.parameters),
                "log_normalizer": atlas.log_normalizer,
                "n_objects": atlas.n_objects,
                "n_maps": atlas.n_maps,
                "factors": atlas.factors is not None,
            }
        ),
    }
    adata.obsm[key] = np.ascontiguousarray(side_by_side)
    if atlas.factors is not None:
        adata.obsm[key + _FACTORS] = atlas.factors[:, None]
    if "n_maps" in asked:
        adata.obsm[key + _PROPORTIONS] = np.ascontiguousarray(atlas.proportions.T)
        labels, _ = numbered_labels([str(name) for name in adata.obs_names])
        named = Atlas(
            labels, atlas.maps, atlas.proportions, atlas.model, metadata=_columns(adata, labels)
        )
        record["captions"] = np.array([", ".join(words) for words in named.captions()])
    adata.uns[key] = record


def _plain(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that .h5ad files accept, without None, arrays and callbacks."""
    plain = {}
    for name, value in asked.items():
        if value is None or callable(value) or isinstance(value, np.ndarray | Atlas):
            continue
        plain[name] = plain_value(value)
    return plain


def _check_annotated(adata: Any) -> None:
    if not all(hasattr(adata, name) for name in ("obs_names", "obsm", "obsp", "uns")):
        raise DataError(
            f"expected an AnnData object, got {type(adata).__name__}; for arrays and frames use "
            "estimators such as manymaps.TSNE"
        )


def _check_writable(adata: Any, copy: bool) -> None:
    """Raise an error before the fit if anndata could not store the result."""
    if not getattr(adata, "isbacked", False):
        return
    if copy:
        raise ParameterError(
            "cannot be used because adata is backed by a file; omit it, or fit adata.to_memory()",
            name="copy",
            value=copy,
        )
    if adata.is_view:
        raise ParameterError(
            "adata is a view of a backed file, which cannot be written to; fit adata.to_memory()"
        )


def _representation(
    adata: Any, use_rep: str | None, n_pcs: int | None
) -> tuple[str, np.ndarray | sparse.csr_array]:
    """Return the name and the rows of the fitted table."""
    tables = list(adata.obsm.keys())
    if use_rep is None:
        use_rep = "X" if n_pcs == 0 else usual_table(adata)
        if use_rep == "X" and n_pcs != 0 and adata.n_vars > FEW_VARIABLES:
            raise DataError(
                f"adata has {adata.n_vars:,} variables and no obsm['X_pca']; run "
                "scanpy.pp.pca(adata) first, or choose a table: use_rep='X'"
                + (f", or a key of its obsm, {listed(tables)}" if tables else "")
            )
    if use_rep == "X":
        if adata.X is None:
            raise DataError(f"adata has no X; pass a key of its obsm as use_rep: {listed(tables)}")
        return "X", _in_memory(adata.X)
    if use_rep not in tables:
        raise DataError(
            f"adata has no obsm[{use_rep!r}]; pass one of its keys, {listed(tables)}, or "
            "use_rep='X' for adata.X"
        )
    rows = _in_memory(adata.obsm[use_rep])
    if n_pcs is None:
        return use_rep, rows
    if not 1 <= n_pcs <= rows.shape[1]:
        raise ParameterError(
            f"must be at most {rows.shape[1]}, the number of columns of obsm[{use_rep!r}]",
            name="n_pcs",
            value=n_pcs,
        )
    return use_rep, rows[:, :n_pcs]


def _in_memory(values: Any) -> np.ndarray | sparse.csr_array:
    """Load X or a table of obsm, which may be backed by a file, sparse, or a frame."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if sparse.issparse(values):
        return sparse.csr_array(values)
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


class _Neighbors:
    """Neighbours stored under a key of uns by `scanpy.pp.neighbors` or a similar function."""

    def __init__(self, adata: Any, key: str):
        entry = adata.uns.get(key)
        if not isinstance(entry, Mapping):
            there = [name for name, value in adata.uns.items() if _says_neighbors(value)]
            raise DataError(
                f"adata has no neighbours {key!r}; "
                + (
                    f"there are {listed(there)}"
                    if there
                    else "compute them with scanpy.pp.neighbors"
                )
            )
        self.key = key
        self.metric = str(entry.get("params", {}).get("metric", "euclidean"))
        self._adata, self._found = adata, entry

    @cached_property
    def distances(self) -> sparse.csr_array:
        """Distances of observations to their neighbours, (n_obs, n_obs), with stored zeros."""
        return stored_rows(self._table("distances"))

    def _table(self, what: str) -> sparse.csr_array:
        tables, named = self._adata.obsp, f"{what}_key"
        stored = str(self._found.get(named, what))
        table = tables.get(stored)
        if named not in self._found and what in self._found:
            table = self._found[what]  # format of scanpy before 1.5
        if table is None:
            raise DataError(
                f"the neighbours {self.key!r} have no obsp[{stored!r}]; its obsp has "
                f"{listed(list(tables.keys()))}"
            )
        n = self._adata.n_obs
        if table.shape != (n, n):
            raise DataError(
                f"the {what} of the neighbours {self.key!r} have shape {table.shape[0]:,} x "
                f"{table.shape[1]:,}, but adata has {n:,} observations; compute them again with "
                "scanpy.pp.neighbors"
            )
        return sparse.csr_array(table, dtype=np.float64)

    def affinity(self, perplexity: float | Sequence[float] | None) -> Affinity:
        """Return the similarities defined by these neighbours."""
        if perplexity is None:
            rows = self._table("connectivities").copy()
            rows.setdiag(0)
            cell = first_cell(rows, lambda values: ~(np.isfinite(values) & (values >= 0)))
            if cell is not None:
                raise DataError(
                    f"the connectivities of the neighbours {self.key!r} contain {cell.value} for "
                    f"observation {self._adata.obs_names[cell.row]!r}; they must be finite and at "
                    "least 0: compute them again with scanpy.pp.neighbors"
                )
            return _Known(row_normalized(rows), f"Connectivities({self.key!r})")
        gaussian = GaussianAffinity(perplexity)
        rows = self.distances
        counts = np.diff(rows.indptr)
        largest = float(np.max(perplexity))
        if counts.min() < largest:
            enough = int(np.ceil(_PER_PERPLEXITY * largest)) + 1
            raise ParameterError(
                "needs at least as many neighbours, but observation "
                f"{self._adata.obs_names[int(counts.argmin())]!r} has {counts.min()} under "
                f"{self.key!r}; compute scanpy.pp.neighbors(adata, n_neighbors={enough}), "
                "use a smaller perplexity, or use connectivities with perplexity=None",
                name="perplexity",
                value=perplexity,
            )
        return _Known(rows, repr(gaussian), perplexity)

    def are_those_of(self, rows: Any, metric: str) -> bool:
        """Check whether a sample of the distances agrees with the distances between these rows."""
        from sklearn.metrics import pairwise_distances

        if metric != self.metric:
            return False
        distances = self.distances
        n = distances.shape[0]
        for i in np.unique(np.linspace(0, n - 1, _CHECKED_ROWS).astype(int)):
            near = distances.indices[distances.indptr[i] : distances.indptr[i + 1]]
            stored = distances.data[distances.indptr[i] : distances.indptr[i + 1]]
            true = pairwise_distances(rows[[i]], rows[near], metric=metric)[0]
            if not np.allclose(stored, true, rtol=_ROUNDING, atol=_ROUNDING * true.max(initial=0)):
                return False
        return True


def _fitting_neighbors(
    adata: Any, rows: Any, perplexity: float | Sequence[float] | None, metric: str
) -> _Neighbors | None:
    """Return the neighbours under the default key if they suffice and belong to these rows."""
    if not _says_neighbors(adata.uns.get(NEIGHBORS)) or not isinstance(metric, str):
        return None
    try:
        known = _Neighbors(adata, NEIGHBORS)
        fewest = np.diff(known.distances.indptr).min()
        wanted = np.ceil(_PER_PERPLEXITY * np.max(np.asarray(perplexity, float)))
        if fewest >= min(wanted, adata.n_obs - 1) and known.are_those_of(rows, metric):
            return known
    except (TypeError, ValueError):
        pass  # the fit reports invalid rows or parameters more precisely
    return None


def _says_neighbors(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    params = value.get("params")
    states_count = isinstance(params, Mapping) and "n_neighbors" in params
    return states_count or not {"distances_key", "connectivities_key", "distances"}.isdisjoint(
        value
    )


@final
class _Known(Affinity):
    """Similarities of stored neighbours, which do not depend on the fitted vectors."""

    joint: ClassVar[bool] = False

    def __init__(
        self,
        rows: sparse.csr_array,
        name: str,
        perplexity: float | Sequence[float] | None = None,
    ):
        self.rows = rows
        self.name = name
        self.perplexity = perplexity

    def written(self) -> str:
        """Return the name under which an atlas records the affinity."""
        return self.name

    def similarities(
        self,
        data: Any,
        *,
        metric: Any = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Return the stored similarities, or Gaussian similarities of the stored distances."""
        if self.perplexity is None:
            return self.rows
        return GaussianAffinity(self.perplexity).similarities(self.rows, metric="precomputed")


def _written_key(adata: Any, key: str | None) -> str:
    """Return the key under which maps were stored."""
    there = [
        name
        for name, value in adata.uns.items()
        if isinstance(value, Mapping) and _SAVED in value and "params" in value
    ]
    if key is None and len(there) == 1:
        return str(there[0])
    if key is not None and key in there and key in adata.obsm:
        return key
    if not there:
        raise DataError(
            "adata contains no maps; store some with manymaps.anndata.tsne or multiple_maps"
        )
    missing = "several maps" if key is None else f"no maps {key!r}"
    raise DataError(f"adata contains {missing}; pass one of {listed(there)} as key")


def _maps_of(adata: Any, key: str, n_maps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return stored maps (n_maps, n, n_components) and proportions (n_maps, n)."""
    table = _in_memory(adata.obsm[key])
    n, width = table.shape
    if n_maps < 1 or width % n_maps:
        raise ValueError(f"{width} columns for {n_maps} maps")
    maps = np.ascontiguousarray(table.reshape(n, n_maps, width // n_maps).transpose(1, 0, 2))
    if key + _PROPORTIONS not in adata.obsm:
        if n_maps > 1:
            raise ValueError(f"there is no obsm[{key + _PROPORTIONS!r}]")
        return maps, np.ones((1, n), np.float32)
    held = np.ascontiguousarray(_in_memory(adata.obsm[key + _PROPORTIONS]).T)
    if held.shape != (n_maps, n):
        raise ValueError(f"{len(held)} proportions for {n_maps} maps")
    return maps, held


def _columns(adata: Any, labels: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns of obs, with one value per observation."""
    columns: dict[str, np.ndarray] = {}
    if len(adata.obs.columns):
        for name, values in frame_columns(adata.obs).items():
            columns |= placed_column(labels, values, name) or {}
    return columns


def _vectors_again(adata: Any, params: Mapping[str, Any]) -> Any:
    """Return the fitted rows, if they are still stored."""
    use_rep, n_pcs = params.get("use_rep"), params.get("n_pcs")
    if use_rep is None:
        return None
    try:
        return _representation(adata, str(use_rep), None if not n_pcs else int(n_pcs))[1]
    except (DataError, ParameterError):
        return None
