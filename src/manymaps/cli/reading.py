"""What the commands read: which kind of data a file holds, and what an atlas says of its data."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np
from scipy import sparse

from manymaps.affinity.affinities import (
    Affinity,
    Data,
    GaussianAffinity,
    GlobalGaussian,
    LocalPerplexity,
)
from manymaps.affinity.distances import Metric
from manymaps.affinity.neighbors import DEFAULT_SEARCH, NeighborSearch
from manymaps.atlas.atlas import Atlas
from manymaps.cli.options import READING, ROW_SUMS
from manymaps.cli.progress import working
from manymaps.data.associations import Associations
from manymaps.data.vectors import Vectors
from manymaps.errors import DataError, ParameterError
from manymaps.io.vectors import looks_like_vectors, read_vectors
from manymaps.labels import plural

__all__ = [
    "PairData",
    "WatchedAffinity",
    "aligned",
    "fitted_affinity",
    "fitted_perplexity",
    "holds_vectors",
    "read_data",
    "vectors_of_atlas",
]

PairData: TypeAlias = Associations | Vectors

USUAL_PERPLEXITY: Final = 30.0
AFFINITIES: Final = {
    kind.__name__: kind for kind in (GaussianAffinity, GlobalGaussian, LocalPerplexity)
}
ARRAYS: Final = (".npy", ".npz")


def holds_vectors(file: Path, reading: Mapping[str, Any]) -> bool:
    """Whether a file is to be read as vectors (or as distances) rather than as associations.

    Parameters
    ----------
    file : path
    reading : mapping
        The options of the command. Names of columns and the formats of associations mean
        associations; `metric="precomputed"` means distances; another metric makes vectors of a
        square array. Else the content decides.

    Raises
    ------
    ParameterError
        For a metric or a list of words beside associations.
    """
    metric, words, format = (reading.get(name) for name in ("metric", "words", "format"))
    pairs = any(reading.get(name) is not None for name in ("cue", "response", "strength"))
    pairs = pairs or format in ("edges", "matrix", "mtx")
    if not pairs and (metric == "precomputed" or looks_like_vectors(file, format)):
        return True
    named = "--metric" if metric is not None else "--words" if words is not None else None
    if named is None:
        return False
    if not pairs and file.suffix.lower() in ARRAYS:
        return True
    raise ParameterError(
        f"{named} applies to vectors, and {file} reads as associations; --format NAME reads it "
        "otherwise"
    )


def read_data(
    file: Path, reading: Mapping[str, Any], *, among: Sequence[str] | None = None
) -> PairData:
    """The vectors or associations of a file; see `holds_vectors`.

    Of vectors (but not of distances) only those `among` some labels are read, where they are given.

    Raises
    ------
    ParameterError
        For `rows` that is no way to treat rows but a column, as of counts.
    """
    from manymaps import read_associations

    rows = reading.get("rows") or ROW_SUMS[0]
    if rows not in ROW_SUMS:
        raise ParameterError(
            f"rows={rows!r} is not one of {', '.join(ROW_SUMS)}; a column is named of counts alone"
        )
    with working(f"reading {file}"):
        if not holds_vectors(file, reading):
            chosen = {name: reading[name] for name in READING}
            return read_associations(file, **{**chosen, "rows": rows})
        words = reading.get("words")
        if among is not None and reading.get("metric") != "precomputed":
            words = among
        return read_vectors(
            file,
            format=reading.get("format"),
            labels=reading.get("labels"),
            words=words,
        )


def vectors_of_atlas(atlas: Atlas, file: Path) -> Vectors:
    """The vectors of an atlas's objects from a file, in the atlas's order.

    Raises
    ------
    DataError
        Where the file lacks one of the objects.
    """
    with working(f"reading {file}"):
        return read_vectors(file, words=atlas.labels).subset(atlas.labels)


def aligned(atlas: Atlas, data: PairData) -> Atlas:
    """An atlas with the objects of the data alone, in their order, to start a fit from.

    Raises
    ------
    DataError
        Where the atlas lacks one of them, or holds two kinds of object.
    """
    if atlas.kinds is not None:
        kinds = " and ".join(map(plural, dict.fromkeys(atlas.kinds)))
        raise DataError(
            f"the atlas to start from holds {kinds}; only a fit with --method code starts from one "
            "of two kinds"
        )
    position = {label: row for row, label in enumerate(atlas.labels)}
    lacking = [label for label in data.labels if label not in position]
    if lacking:
        raise DataError(
            f"the atlas to start from lacks {len(lacking):,} of {len(data.labels):,} objects, "
            f"{', '.join(map(repr, lacking[:3]))} among them"
        )
    order = [position[label] for label in data.labels]
    return atlas.subset(order)


def fitted_perplexity(atlas: Atlas) -> float | tuple[float, ...]:
    """The perplexity of an atlas's fit, several where it was fitted with several, else 30."""
    stored = atlas.parameters.get("perplexity")
    if stored is None:
        return USUAL_PERPLEXITY
    numbers = tuple(np.atleast_1d(np.asarray(stored, np.float64)).tolist())
    return numbers[0] if len(numbers) == 1 else numbers


def fitted_affinity(atlas: Atlas, perplexity: float | tuple[float, ...] | None) -> Affinity:
    """How the similarities of an atlas's fit arose, with another perplexity on demand.

    Examples
    --------
    >>> from manymaps.model import T_SNE
    >>> stored = {"perplexity": 5.0, "affinity": "LocalPerplexity(perplexity=5.0, sd=3.0)"}
    >>> atlas = Atlas(["a"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE, parameters=stored)
    >>> fitted_affinity(atlas, None).sd
    3.0
    """
    stored = str(atlas.parameters.get("affinity", "auto"))
    settings: dict[str, Any] = {}
    kind: Any = GaussianAffinity
    if "(" in stored:
        name, settings = _settings_in(stored)
        kind = AFFINITIES.get(name)
        if kind is None:
            raise DataError(
                f"the atlas was fitted with {stored}, which is not known here; its KL divergence "
                "cannot be computed from the vectors"
            )
    else:
        settings["perplexity"] = fitted_perplexity(atlas)
    if perplexity is not None:
        settings["perplexity"] = perplexity
    return kind(**settings)


def _settings_in(written: str) -> tuple[str, dict[str, Any]]:
    """Name and settings of a record as Python writes it, read without running anything."""
    try:
        call = ast.parse(written, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return call.func.id, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        pass
    return written, {}


@final
class WatchedAffinity(Affinity):
    """A conditional affinity that tells when it is computed and how many pairs it gave.

    It is written like the one inside, which is what an atlas records.
    """

    joint: ClassVar[bool] = False

    def __init__(self, inside: Affinity, name: str, stage: Callable[[str], None]):
        self.inside = inside
        self.name = name
        self.stage = stage
        self.n_pairs = 0

    def __repr__(self) -> str:
        return self.name

    @property
    def perplexity(self) -> float | Sequence[float] | None:
        """That of the affinity inside, where it has one."""
        return getattr(self.inside, "perplexity", None)

    def similarities(
        self,
        data: Data,
        *,
        metric: Metric = "euclidean",
        search: NeighborSearch = DEFAULT_SEARCH,
        seed: int = 0,
    ) -> sparse.csr_array:
        """Those of the affinity inside."""
        self.stage("finding neighbours")
        rows = self.inside.similarities(data, metric=metric, search=search, seed=seed)
        self.n_pairs = int(rows.nnz)
        self.stage("preparing")
        return rows
