"""AnnData: maps of its observations, written into it where scanpy and its users look for them.

    tsne(adata)             obsm[key]                  (n_obs, n_components)
    multiple_maps(adata)    obsm[key]                  (n_obs, n_maps * n_components), side by side
                            obsm[key + "_proportions"] (n_obs, n_maps)
    both                    uns[key]["params"]         what was asked for
                            uns[key]                   captions, history, how the fit ended
    to_atlas(adata)         the `Atlas` of what they wrote, with obs as its metadata

What is fitted is chosen as in scanpy 1.11: X where there are at most 50 variables, else X_pca. The
objects are known by their interface alone; anndata itself is not needed here.
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
from manymaps.labels import first_of, listed, numbered_labels
from manymaps.maps.estimator import MapEstimator, plain_value
from manymaps.maps.multiple_maps import MultipleMapsTSNE
from manymaps.maps.sne import TSNE
from manymaps.model.choice import ChoiceModel

__all__ = ["multiple_maps", "to_atlas", "tsne"]

#: Up to so many variables are fitted as they are, as scanpy has it.
FEW_VARIABLES = 50
NEIGHBORS = "neighbors"
# As for a search of one's own: farther neighbours have next to no probability.
_PER_PERPLEXITY = 3
# Neighbours in the object must be of this very table; rows spread over all of it show that.
_CHECKED_ROWS = 50
# scanpy stores distances in float32.
_ROUNDING = 1e-3
_SAVED = "atlas"
_PROPORTIONS = "_proportions"


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
    """t-SNE of the observations of an AnnData object, as `scanpy.tl.tsne` writes it.

    Parameters
    ----------
    adata : AnnData
        In memory or backed by a file; X may be sparse.
    use_rep : str, optional
        What is fitted: "X", or a table of `obsm`. By default X where there are at most 50
        variables, else "X_pca".
    n_pcs : int, optional
        The first so many columns of it; 0 is `use_rep="X"`.
    perplexity : float, sequence of float, or None
        Effective number of neighbours. None takes the connectivities of known neighbours as the
        similarities, each row brought to a sum of 1, however many neighbours there are.
    metric : str
        Distance of the rows.
    neighbors_key : str, optional
        Neighbours that are known, under this key of `uns` (`scanpy.pp.neighbors` writes
        "neighbors"). They must be as many as the perplexity, and are best three times as many. By
        default those under "neighbors" are taken where they are as many and of these very rows and
        this metric; else they are found anew.
    random_state : int or None
        The same seed gives the same bits, at any number of threads.
    n_jobs : int, optional
        Threads; None keeps the present number, -1 takes all.
    key_added : str
        Where the map goes in `obsm`, and what is said of it in `uns`.
    copy : bool
        Return a copy with the map, and leave `adata` as it is.
    **params
        Further parameters of `manymaps.TSNE`, such as `late_exaggeration` or `n_components`. Its
        learning rate has another unit than scikit-learn's; "auto" suits.

    Returns
    -------
    None, or AnnData with `copy=True`
        With the map as float32 in `obsm[key_added]` and in `uns[key_added]` "params" (those in use,
        without those that are None), "kl_divergence", "n_iter" and "history".

    Raises
    ------
    DataError
        Where there is no such table, it holds what cannot be fitted, or no such neighbours are
        there; the message lists what there is.
    ParameterError
        For a parameter out of its range, among them a perplexity that the known neighbours cannot
        carry, and where nothing can be written: a view of a backed file.

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
    key_added: str = "X_manymaps",
    copy: bool = False,
    **params: Any,
) -> Any:
    """Multiple maps of the observations of an AnnData object, in the manner of `scanpy.tl`.

    Parameters
    ----------
    adata : AnnData
    n_maps : int
    use_rep, n_pcs, perplexity, metric, neighbors_key, random_state, key_added, copy
        As for `tsne`.
    **params
        Further parameters of `manymaps.MultipleMapsTSNE`, such as `penalty` or `n_jobs`.

    Returns
    -------
    None, or AnnData with `copy=True`
        With all maps side by side in `obsm[key_added]`, float32 of shape (n_obs, n_maps *
        n_components), so that columns 2 m and 2 m + 1 are map m of the plane (`scanpy.pl.embedding`
        numbers them from 1: components "1,2", "3,4", ...); the mixing proportions in
        `obsm[key_added + "_proportions"]`, (n_obs, n_maps); and in `uns[key_added]` beside what
        `tsne` writes "captions", a text for each map: the categories of `obs` that stand out there,
        where the names of the observations are numbers or barcodes, else typical names.

    Raises
    ------
    DataError, ParameterError
        As for `tsne`.

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
        "random_state": random_state,
    }  # fmt: skip
    return _fitted(
        MultipleMapsTSNE, adata, settings, use_rep, n_pcs, neighbors_key, key_added, copy
    )


def to_atlas(adata: Any, key: str | None = None) -> Atlas:
    """The atlas of maps that `tsne` or `multiple_maps` wrote, for senses, pages and files.

    Parameters
    ----------
    adata : AnnData
        Also one that was written to a file and read again, and some of its observations alone.
    key : str, optional
        Their `key_added`; not needed where one of them was written alone.

    Returns
    -------
    Atlas
        Labelled by `obs_names`, where repeated ones get a number; its metadata are the columns of
        `obs`, and its vectors the rows that were fitted, where these are still there.

    Raises
    ------
    DataError
        Where there are no such maps, or they were changed.

    Warns
    -----
    DataWarning
        Where names of observations repeat.

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
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"what uns[{key!r}] and obsm[{key!r}] say does not fit ({error!s:.200}); fit the maps "
            "again"
        ) from error
    labels, repeated = numbered_labels([str(name) for name in adata.obs_names])
    if repeated:
        warnings.warn(
            f"{len(repeated):,} names of observations repeat and got a number: "
            f"{first_of(repeated)}; adata.obs_names_make_unique() renames them",
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
        fingerprint=str(saved["fingerprint"]),
        metadata=_columns(adata, labels),
        vectors=vectors,
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
    """Fit an estimator with these settings to an AnnData object, and write the maps into it."""
    _check_annotated(adata)
    _check_writable(adata, copy)
    if not isinstance(key_added, str) or not key_added:
        raise ParameterError("must be a name", name="key_added", value=key_added)
    if n_pcs is not None:
        check_whole("n_pcs", n_pcs, least=0)
    name, rows, known = _fitted_data(adata, settings, use_rep, n_pcs, neighbors_key)
    if key_added == name:
        raise ParameterError(
            "is what is fitted, and would be overwritten; give another name",
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
    """The rows that are fitted with their name, and known neighbours; at least one of the two."""
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
    """The maps into obsm, and what is said of them into uns, which goes into .h5ad files."""
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
                "fingerprint": atlas.fingerprint,
                "n_objects": atlas.n_objects,
                "n_maps": atlas.n_maps,
            }
        ),
    }
    adata.obsm[key] = np.ascontiguousarray(side_by_side)
    if "n_maps" in asked:
        adata.obsm[key + _PROPORTIONS] = np.ascontiguousarray(atlas.proportions.T)
        labels, _ = numbered_labels([str(name) for name in adata.obs_names])
        named = Atlas(
            labels, atlas.maps, atlas.proportions, atlas.model, metadata=_columns(adata, labels)
        )
        record["captions"] = np.array([", ".join(words) for words in named.captions()])
    adata.uns[key] = record


def _plain(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as .h5ad files take them: without None, starts in memory and callbacks."""
    plain = {}
    for name, value in asked.items():
        if value is None or callable(value) or isinstance(value, np.ndarray | Atlas):
            continue
        plain[name] = plain_value(value)
    return plain


def _check_annotated(adata: Any) -> None:
    if not all(hasattr(adata, name) for name in ("obs_names", "obsm", "obsp", "uns")):
        raise DataError(
            f"an object of type {type(adata).__name__} is no AnnData; estimators such as "
            "manymaps.TSNE take arrays and frames"
        )


def _check_writable(adata: Any, copy: bool) -> None:
    """Refuse what anndata would refuse after the fit."""
    if not getattr(adata, "isbacked", False):
        return
    if copy:
        raise ParameterError(
            "would copy a file: adata is backed; leave it out, or fit adata.to_memory()",
            name="copy",
            value=copy,
        )
    if adata.is_view:
        raise ParameterError(
            "adata is a view of a backed file, into which nothing can be written; fit "
            "adata.to_memory()"
        )


def _representation(
    adata: Any, use_rep: str | None, n_pcs: int | None
) -> tuple[str, np.ndarray | sparse.csr_array]:
    """The name of what is fitted, and its rows."""
    tables = list(adata.obsm.keys())
    if use_rep is None:
        small = adata.n_vars <= FEW_VARIABLES and adata.X is not None
        use_rep = "X" if n_pcs == 0 or small else "X_pca"
        if use_rep not in ("X", *tables):
            raise DataError(
                f"adata has {adata.n_vars:,} variables and no obsm['X_pca']; run "
                "scanpy.pp.pca(adata) first, or name what to fit: use_rep='X'"
                + (f", or one of its obsm, {listed(tables)}" if tables else "")
            )
    if use_rep == "X":
        if adata.X is None:
            raise DataError(f"adata has no X; its obsm has {listed(tables)}: name one as use_rep")
        return "X", _in_memory(adata.X)
    if use_rep not in tables:
        raise DataError(
            f"adata has no obsm[{use_rep!r}]; its obsm has {listed(tables)}, and use_rep='X' is X"
        )
    rows = _in_memory(adata.obsm[use_rep])
    if n_pcs is None:
        return use_rep, rows
    if not 1 <= n_pcs <= rows.shape[1]:
        raise ParameterError(
            f"is impossible: obsm[{use_rep!r}] has {rows.shape[1]} columns",
            name="n_pcs",
            value=n_pcs,
        )
    return use_rep, rows[:, :n_pcs]


def _in_memory(values: Any) -> np.ndarray | sparse.csr_array:
    """A table of X or obsm, which may be a data set of a file, sparse, or a frame."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if sparse.issparse(values):
        return sparse.csr_array(values)
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


class _Neighbors:
    """Neighbours that `scanpy.pp.neighbors` or its like found, under a key of uns."""

    def __init__(self, adata: Any, key: str):
        entry = adata.uns.get(key)
        if not isinstance(entry, Mapping):
            there = [name for name, value in adata.uns.items() if _says_neighbors(value)]
            raise DataError(
                f"adata has no neighbours {key!r}; "
                + (f"there are {listed(there)}" if there else "scanpy.pp.neighbors finds some")
            )
        self.key = key
        self.metric = str(entry.get("params", {}).get("metric", "euclidean"))
        self._adata, self._found = adata, entry

    @cached_property
    def distances(self) -> sparse.csr_array:
        """From each observation to its neighbours, (n_obs, n_obs); a zero may be stored."""
        return stored_rows(self._table("distances"))

    def _table(self, what: str) -> sparse.csr_array:
        tables, named = self._adata.obsp, f"{what}_key"
        stored = str(self._found.get(named, what))
        table = tables.get(stored)
        if named not in self._found and what in self._found:
            table = self._found[what]  # as scanpy wrote them before 1.5
        if table is None:
            raise DataError(
                f"the neighbours {self.key!r} have no obsp[{stored!r}]; its obsp has "
                f"{listed(list(tables.keys()))}"
            )
        n = self._adata.n_obs
        if table.shape != (n, n):
            raise DataError(
                f"the {what} of the neighbours {self.key!r} are of {table.shape[0]:,} x "
                f"{table.shape[1]:,} observations, and adata has {n:,}; find them again with "
                "scanpy.pp.neighbors"
            )
        return sparse.csr_array(table, dtype=np.float64)

    def affinity(self, perplexity: float | Sequence[float] | None) -> Affinity:
        """The similarities that these neighbours give."""
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
                f"needs as many neighbours, best three times as many, and observation "
                f"{self._adata.obs_names[int(counts.argmin())]!r} has {counts.min()} under "
                f"{self.key!r}; find more with scanpy.pp.neighbors(adata, n_neighbors={enough}), "
                "ask for less, or take their connectivities with perplexity=None",
                name="perplexity",
                value=perplexity,
            )
        return _Known(rows, repr(gaussian), perplexity)

    def are_those_of(self, rows: Any, metric: str) -> bool:
        """Whether distances are those between these rows, as some of them tell."""
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
    """The neighbours under the usual key, where they are enough and of these rows."""
    if not _says_neighbors(adata.uns.get(NEIGHBORS)) or not isinstance(metric, str):
        return None
    try:
        known = _Neighbors(adata, NEIGHBORS)
        fewest = np.diff(known.distances.indptr).min()
        wanted = np.ceil(_PER_PERPLEXITY * np.max(np.asarray(perplexity, float)))
        if fewest >= min(wanted, adata.n_obs - 1) and known.are_those_of(rows, metric):
            return known
    except (TypeError, ValueError):
        pass  # what is wrong with rows or parameters, the fit says better
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
    """The similarities of neighbours that are known, whatever vectors are fitted beside them."""

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
        """How an atlas records it."""
        return self.name

    def similarities(
        self,
        data: Any,
        *,
        metric: Any = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Gaussian ones of known distances by the perplexity, or those that are known."""
        if self.perplexity is None:
            return self.rows
        return GaussianAffinity(self.perplexity).similarities(self.rows, metric="precomputed")


def _written_key(adata: Any, key: str | None) -> str:
    """The key under which maps were written."""
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
            "adata holds no maps; manymaps.anndata.tsne or multiple_maps write some first"
        )
    missing = "several maps" if key is None else f"no maps {key!r}"
    raise DataError(f"adata holds {missing}; give one of {listed(there)} as key")


def _maps_of(adata: Any, key: str, n_maps: int) -> tuple[np.ndarray, np.ndarray]:
    """Maps (n_maps, n, n_components) and proportions (n_maps, n), as they were written."""
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
    """The columns of obs, one value for each observation."""
    columns: dict[str, np.ndarray] = {}
    if len(adata.obs.columns):
        for name, values in frame_columns(adata.obs).items():
            columns |= placed_column(labels, values, name) or {}
    return columns


def _vectors_again(adata: Any, params: Mapping[str, Any]) -> Any:
    """The rows that were fitted, where they are still there."""
    use_rep, n_pcs = params.get("use_rep"), params.get("n_pcs")
    if use_rep is None:
        return None
    try:
        return _representation(adata, str(use_rep), None if not n_pcs else int(n_pcs))[1]
    except (DataError, ParameterError):
        return None
