"""The file format `.atlas`: its schema, and functions that write and read atlas files.

`ATLAS` is the schema, which defines names, types, shapes and ranges (`manymaps.archive.schema`).
The functions are `save_atlas`, `read_atlas` and `same_atlas`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from manymaps.archive.archives import read_archive, same_content, write_archive
from manymaps.archive.arrays import csr_from, csr_parts
from manymaps.archive.schema import ArrayPart, Schema, ValuePart
from manymaps.atlas.data import AtlasData
from manymaps.atlas.settings import FitSettings
from manymaps.errors import DataError
from manymaps.model.choice import ChoiceModel

_Atlas = TypeVar("_Atlas", bound=AtlasData)

# Fields that are stored unchanged.
_PLAIN = ("labels", "method", "parameters", "log_normalizer")
# From this version on, the factors of one set of objects are part of the model.
_WITH_POPULARITY = 2
_TEXT = ValuePart((str,), "a text")

ATLAS = Schema(
    "manymaps atlas",
    2,
    "An `.atlas` file stores the maps of labelled objects. `Atlas.save` and every command that "
    "fits write it. `load_atlas` reads it.",
    values={
        "labels": ValuePart((list,), "label of each object", each=_TEXT, length="n_objects"),
        "method": ValuePart((str,), "name of the method on the command line"),
        "model": ValuePart(
            (dict,), "`ChoiceModel`: kernel, normalization, mixing, background, kernel_width, given"
        ),
        "parameters": ValuePart((dict,), "all settings of the fit"),
        "log_normalizer": ValuePart((float, NoneType), "log Z of a joint model"),
        "kinds": ValuePart(
            (list, NoneType), "kind of each object in a bipartite atlas: rows, then columns",
            each=_TEXT, length="n_objects", optional=True,
        ),
        "vector_shape": ValuePart(
            (list,), "shape of the fitted vectors: n_objects, n_features",
            each=ValuePart((int,), "a length", least=0), optional=True,
        ),
    },
    arrays={
        "maps": ArrayPart(
            "f", ("n_maps", "n_objects", "n_components"), "position of each object in each map"
        ),
        "proportions": ArrayPart(
            "f", ("n_maps", "n_objects"), "mixing proportions; their sum over maps is 1", least=0
        ),
        "history/*": ArrayPart(
            "biuf", ("...",), "history of the fit: iteration, cost, kl", finite=False
        ),
        "metadata/*": ArrayPart(
            "biufUmM", ("n_objects",), "column of metadata with this name", finite=False
        ),
        "factors": ArrayPart(
            "f", ("n_objects",), "fixed factors of the objects in the model", least=0, optional=True
        ),
        "associations/data": ArrayPart(
            "f", ("n_associations",), "shares of the associations of each object, as CSR",
            least=0, optional=True,
        ),
        "associations/indices": ArrayPart(
            "iu", ("n_associations",), "column indices of these associations",
            least=0, most="n_objects - 1", optional=True,
        ),
        "associations/indptr": ArrayPart(
            "iu", ("n_objects + 1",), "row offsets of these associations",
            least=0, most="n_associations", optional=True,
        ),
        "covered": ArrayPart(
            "f", ("n_objects",), "part of the responses to each object that are objects",
            least=0, finite=False, optional=True,
        ),
        "vectors/dense": ArrayPart(
            "biuf", ("n_objects", "n_features"), "fitted vectors", optional=True
        ),
        "vectors/data": ArrayPart(
            "biuf", ("n_stored",), "fitted vectors as CSR of shape `vector_shape`", optional=True
        ),
        "vectors/indices": ArrayPart("iu", ("n_stored",), "column indices", least=0, optional=True),
        "vectors/indptr": ArrayPart(
            "iu", ("n_objects + 1",), "row offsets",
            least=0, most="n_stored", optional=True,
        ),
    },
)  # fmt: skip


def save_atlas(atlas: AtlasData, path: str | os.PathLike[str], *, vectors: bool = True) -> None:
    """Write an atlas to a file, as `Atlas.save` does."""
    write_archive(path, ATLAS, *_stored(atlas, vectors=vectors))


def same_atlas(one: AtlasData, other: AtlasData) -> bool:
    """Check whether `save_atlas` would write the same content for both atlases."""
    return same_content(_stored(one), _stored(other))


def read_atlas(path: str | os.PathLike[str], atlas_type: type[_Atlas]) -> _Atlas:
    """Read an atlas of the given type, as `manymaps.load_atlas` does."""
    meta, arrays = read_archive(path, ATLAS)
    n_objects = len(meta["labels"])
    associations = _under(arrays, "associations/")
    # Version 1 stored the factors of one kind of object from a bipartite model, but the choices
    # among these objects did not contain them.
    unused = meta["version"] < _WITH_POPULARITY and not meta.get("kinds")
    try:
        table = None
        if associations:
            table = csr_from(associations, (n_objects, n_objects), "the associations")
        FitSettings.of(meta["parameters"])
        return atlas_type(
            maps=arrays["maps"],
            proportions=arrays["proportions"],
            model=ChoiceModel(**meta["model"]),
            **{name: meta[name] for name in _PLAIN},
            history=_under(arrays, "history/"),
            metadata=_merged_kinds(meta.get("kinds")) | _under(arrays, "metadata/"),
            vectors=_vectors(_under(arrays, "vectors/"), n_objects, meta.get("vector_shape")),
            kinds=_two_kinds(meta.get("kinds")),
            factors=None if unused else arrays.get("factors"),
            associations=table,
            covered=arrays.get("covered"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: part missing or invalid ({error!s:.300})") from error


def _two_kinds(kinds: Sequence[str] | None) -> Sequence[str] | None:
    """Return the kinds of the objects, where rows of several kinds in a file are of kind "row"."""
    merged = _merged_kinds(kinds)
    return [kind if kind == kinds[-1] else "row" for kind in kinds] if kinds and merged else kinds


def _merged_kinds(kinds: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return the kinds of a file with rows of several kinds as a column of metadata."""
    return {"kind": np.array(kinds)} if len(set(kinds or ())) > 2 else {}


def _stored(
    atlas: AtlasData, *, vectors: bool = True
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the plain values and the arrays that a file of the atlas contains."""
    meta = {
        "model": atlas.model.as_dict(),
        **{name: getattr(atlas, name) for name in _PLAIN},
        "labels": list(atlas.labels),
        "parameters": dict(atlas.parameters),
        "kinds": None if atlas.kinds is None else list(atlas.kinds),
    }
    arrays = {"maps": atlas.maps, "proportions": atlas.proportions}
    arrays |= {f"history/{key}": np.asarray(value) for key, value in atlas.history.items()}
    arrays |= {f"metadata/{key}": np.asarray(value) for key, value in atlas.metadata.items()}
    if atlas.factors is not None:
        arrays["factors"] = atlas.factors
    if atlas.associations is not None:
        arrays |= {f"associations/{k}": part for k, part in csr_parts(atlas.associations).items()}
    if atlas.covered is not None:
        arrays["covered"] = atlas.covered
    if vectors and atlas.vectors is not None:
        if sparse.issparse(atlas.vectors):
            parts = csr_parts(sparse.csr_array(atlas.vectors))
        else:
            parts = {"dense": np.asarray(atlas.vectors)}
        arrays |= {f"vectors/{name}": part for name, part in parts.items()}
        meta["vector_shape"] = list(atlas.vectors.shape)
    return meta, arrays


def _vectors(
    arrays: Mapping[str, np.ndarray], n_objects: int, shape: Sequence[int] | None
) -> np.ndarray | sparse.csr_array | None:
    if not arrays or "dense" in arrays:
        return arrays.get("dense")
    return csr_from(arrays, (n_objects, (shape or [0])[-1]), "the vectors")


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
