"""The data of an atlas: the stored fields, their validation, and the lookup of objects.

`AtlasData` contains the fields of `manymaps.Atlas`, and values that follow directly from these
fields. It is the argument of the functions in `manymaps.atlas.answers`, `manymaps.atlas.editing`,
`manymaps.atlas.captions` and `manymaps.atlas.storage`. `Atlas` provides these functions as methods.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manymaps.atlas.associations import checked_associations
from manymaps.atlas.probabilities import Choices
from manymaps.atlas.settings import FitSettings
from manymaps.checks import check_choice
from manymaps.errors import DataError, ParameterError
from manymaps.labels import find_label, fold
from manymaps.model.choice import ChoiceModel
from manymaps.model.parameters import FARTHEST

#: Proportions are stored in single precision, so their sum may differ from 1 by this much.
PROPORTION_ERROR = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class AtlasData:
    """The validated fields of an atlas, which `manymaps.Atlas` documents."""

    labels: Sequence[str]
    maps: np.ndarray
    proportions: np.ndarray
    model: ChoiceModel
    method: str = "mm-tsne"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, np.ndarray] = field(default_factory=dict)
    log_normalizer: float | None = None
    metadata: Mapping[str, np.ndarray] = field(default_factory=dict)
    vectors: np.ndarray | sparse.csr_array | None = None
    kinds: Sequence[str] | None = None
    factors: np.ndarray | None = None
    associations: sparse.csr_array | None = None
    covered: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(map(str, self.labels)))
        if self.maps.ndim != 3 or self.proportions.shape != self.maps.shape[:2]:
            raise DataError(
                f"maps of shape {self.maps.shape} and proportions of shape "
                f"{self.proportions.shape} do not match; expected (maps, objects, components) "
                "and (maps, objects)"
            )
        if len(self.labels) != self.maps.shape[1]:
            raise DataError(f"got {len(self.labels)} labels for {self.maps.shape[1]} objects")
        if self.vectors is not None and self.vectors.shape[0] != len(self.labels):
            raise DataError(f"got {self.vectors.shape[0]} vectors for {len(self.labels)} objects")
        self._check_values()
        if self.covered is not None and self.covered.shape != (self.n_objects,):
            raise DataError(
                f"covered has shape {self.covered.shape} for {self.n_objects:,} objects; pass one "
                "number per object"
            )
        if self.associations is not None:
            checked = checked_associations(self.associations, self.n_objects)
            object.__setattr__(self, "associations", checked)
        if self.kinds is not None or self.model.given is not None:
            self._check_kinds()

    def _check_values(self) -> None:
        """Reject non-finite or remote positions, invalid proportions and ragged metadata."""
        if not self.maps.size:
            raise DataError(f"maps of shape {self.maps.shape} are empty")
        for name, array in (("maps", self.maps), ("proportions", self.proportions)):
            if not np.isfinite(array).all():
                raise DataError(f"the {name} contain a value that is not finite")
        farthest = float(np.abs(self.maps).max())
        if farthest > FARTHEST:
            raise DataError(
                f"the maps reach {farthest:g} from their origin; the limit is {FARTHEST:g}"
            )
        wholes = self.proportions.sum(axis=0, dtype=np.float64)
        wrong = (np.abs(wholes - 1) > PROPORTION_ERROR) | (self.proportions.min(axis=0) < 0)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise DataError(
                f"the proportions of {self.labels[i]!r} must be at least 0 and sum to 1; their sum "
                f"is {wholes[i]:.6g}, the least is {self.proportions[:, i].min():.6g}"
            )
        if self.factors is not None:
            self._check_factors(self.factors)
        for name, column in self.metadata.items():
            if np.shape(column) != (self.n_objects,):
                raise DataError(
                    f"the metadata {name!r} have shape {np.shape(column)} for {self.n_objects:,} "
                    "objects; pass one value per object"
                )

    def _check_kinds(self) -> None:
        kinds = tuple(str(kind) for kind in self.kinds or ())
        object.__setattr__(self, "kinds", kinds)
        runs = [kind for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1]]
        if len(kinds) != self.n_objects or len(runs) != 2 or self.model.given is None:
            raise DataError(
                "a bipartite model requires the kind of each object (row or column), with all rows "
                f"first; got {len(kinds)} kinds in {len(runs)} runs"
            )

    def _check_factors(self, factors: np.ndarray) -> None:
        if factors.shape != (self.n_objects,) or not bool(np.all(factors > 0)):
            raise DataError(f"the factors must be {self.n_objects} positive numbers")
        if self.model.given is None and self.model.normalization == "joint":
            raise DataError(
                "the factors of a joint model require rows and columns; omit the factors, or use "
                "the conditional normalization"
            )

    @cached_property
    def _indices(self) -> dict[str, int]:
        """Map each label to its first index."""
        return dict(zip(reversed(self.labels), reversed(range(self.n_objects)), strict=True))

    @cached_property
    def _folded_indices(self) -> dict[str, int]:
        """Map each folded label to its first index, for labels without an exact match."""
        last = self.n_objects - 1
        return {fold(label): last - k for k, label in enumerate(reversed(self.labels))}

    def _index_of(self, label: str) -> int | None:
        """Return the index of a label, matched exactly or regardless of case; None if unknown."""
        i = self._indices.get(label)
        return self._folded_indices.get(fold(label)) if i is None else i

    @property
    def n_maps(self) -> int:
        """Number of maps."""
        return int(self.maps.shape[0])

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.maps.shape[1])

    @property
    def n_components(self) -> int:
        """Dimensions of each map."""
        return int(self.maps.shape[2])

    def index(self, word: str, *, kind: str | None = None) -> int:
        """Return the index of a word.

        Parameters
        ----------
        word : str
            The label, in upper or lower case.
        kind : str, optional
            The kind of the object, in case both kinds contain this label. By default, the index of
            the first object with the label is returned, and rows precede columns.

        Returns
        -------
        int
            The index in `labels`.

        Raises
        ------
        UnknownLabelError
            If no object has this label. The message suggests similar labels.
        """
        if kind is None:
            i = self._index_of(word)
            # For an unknown word, `find_label` raises an error with suggestions.
            return find_label(word, self.labels) if i is None else i
        members = np.flatnonzero(self.of_kind(kind))
        return int(members[find_label(word, [self.labels[int(i)] for i in members])])

    def of_kind(self, kind: str) -> np.ndarray:
        """Mark the objects of one kind.

        Parameters
        ----------
        kind : str
            One of `kinds`.

        Returns
        -------
        ndarray of bool, shape (n_objects,)
            The mask, which is True for objects of this kind.

        Raises
        ------
        ParameterError
            If the kind is unknown, or the atlas has only one kind of object.
        """
        known = dict.fromkeys(self.kinds or ())
        if not known:
            fault = "requires a bipartite atlas; the objects of this atlas are all of one kind"
            raise ParameterError(fault, name="kind", value=kind)
        check_choice("kind", kind, known)
        return np.array(self.kinds) == kind

    @property
    def noun(self) -> str:
        """Noun for an object: "word" if associations are known, and "object" if not."""
        return "word" if self.associations is not None and self.kinds is None else "object"

    @cached_property
    def choices(self) -> Choices:
        """The choice probabilities of the model, computed from the maps."""
        n_rows = 0 if self.kinds is None else self.kinds.count(self.kinds[0])
        return Choices(
            self.maps, self.proportions, self.model, n_rows, self.factors, self.log_normalizer
        )

    @cached_property
    def settings(self) -> FitSettings:
        """The settings of the fit that later steps need, read from `parameters`."""
        return FitSettings.of(self.parameters)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The metadata columns, preceded by the column "kind" if the atlas is bipartite.

        A metadata column with the same name is then renamed "metadata_kind".
        """
        if self.kinds is None:
            return dict(self.metadata)
        renamed = {("metadata_kind" if k == "kind" else k): v for k, v in self.metadata.items()}
        return {"kind": np.array(self.kinds), **renamed}
