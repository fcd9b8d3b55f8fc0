"""Atlas: what a fit leaves behind, and what a person asks of it.

    q_ij = sum_m q_ij^m,      q_ij^m = pi_i^m pi_j^m K(|y_i^m - y_j^m|^2) / Z_i

(`manymaps.atlas.probabilities`, also for two kinds of object in one map, such as documents and
words.) The share q_ij^m of a similarity that comes from map m is what "the word's neighbours in
this map" means throughout. Maps are numbered from 0 everywhere: in Python, files, figures and
commands.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).

What the file `.atlas` holds is declared in `manymaps.atlas.storage`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np
from scipy import sparse

from manymaps.atlas.associations import checked_associations
from manymaps.atlas.captions import dominant, title_words
from manymaps.atlas.consensus import Consensus, ConsensusSense
from manymaps.atlas.probabilities import Choices
from manymaps.atlas.senses import SenseGroups, listed_senses, sense_groups
from manymaps.atlas.settings import FitSettings
from manymaps.atlas.storage import load_atlas, same_atlas, save_atlas
from manymaps.checks import check_choice, check_index, check_number, check_whole
from manymaps.compute.few import few_strongest
from manymaps.data.frames import (
    Backend,
    as_frame,
    end_to_end,
    join_columns,
    long_columns,
    placed_column,
)
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.labels import find_label, first_of, fold
from manymaps.model.choice import ChoiceModel
from manymaps.model.parameters import FARTHEST

if TYPE_CHECKING:
    from manymaps.atlas.entry import Entry
    from manymaps.atlas.paths import Step

__all__ = ["LEAST_RECALL", "LEAST_SHARE", "Atlas", "Neighbor", "Sense", "load_atlas"]

#: Groups with a smaller share of what a word recalls are slivers, not senses.
LEAST_SHARE = 0.05
#: Maps that give less of what the model recalls of a word are no senses of it.
LEAST_RECALL = 0.1
#: As far from 1 may the sum of an object's proportions be, which are kept in single precision.
PROPORTION_ERROR = 1e-3
#: What a map explains of a word's pairs where it does not earn its place.
NOTHING_EARNED = 0.01


@dataclass(frozen=True)
class Neighbor:
    """An object near another one, with what the model says of the two, and what was observed.

    Attributes
    ----------
    label : str
    similarity : float
        The model's: that of all maps, or what one map gives of it.
    observed : float or None
        The strength in the data, as a share of all that the first of the two recalls; 0 where it is
        none of the strongest, None where no associations of the first are known.

    See Also
    --------
    manymaps.Atlas.neighbors, Sense

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> near = atlas.neighbors("tie", n_neighbors=1)[0]
    >>> near.label, round(near.similarity, 2), near.observed
    ('knot', 0.5, None)
    """

    label: str
    similarity: float
    observed: float | None = None


@dataclass(frozen=True)
class Sense:
    """A group of an object's neighbours, and the map that says most of it.

    Attributes
    ----------
    map : int
        Two senses may lie in one map.
    proportion : float
        The object's mixing proportion in the map.
    neighbors : tuple of Neighbor
        Members of the group: what was observed, the strongest first, then what the model places
        near.
    n_fits : int or None
        How many of several fits have the sense, where that is known.
    share : float in [0, 1]
        The part of what was observed of the object that falls to the group: 0 where a map holds
        nothing of that. Where no associations are known, the same as `recall`.
    members : tuple of int
        Numbers of the neighbours, in their order.
    recall : float in [0, 1]
        The part of the model's similarities of the object that the map gives (`Atlas.shares`); of
        all senses in the map together.
    stranded : bool
        Whether the map holds a tenth or more of the object, though it explains next to nothing of
        what was observed of it (`Atlas.earned`).

    See Also
    --------
    manymaps.Atlas.senses, Neighbor

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> for sense in atlas.senses("tie"):
    ...     print(sense.map, sense.proportion, [near.label for near in sense.neighbors])
    0 0.5 ['knot']
    1 0.5 ['suit']
    """

    map: int
    proportion: float
    neighbors: tuple[Neighbor, ...]
    n_fits: int | None = None
    share: float = 1.0
    members: tuple[int, ...] = ()
    recall: float = 1.0
    stranded: bool = False


class SenseOptions(TypedDict, total=False):
    """The options of `Atlas.senses`."""

    n_neighbors: int
    min_share: float
    min_recall: float
    kind: str | None
    neighbor_kind: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Atlas:
    """The maps of labelled objects, with the model that says what they mean.

    `atlas["tie"]` is the object's entry (`manymaps.atlas.entry.Entry`), `"tie" in atlas` says
    whether there is one, and `len` and iteration are those of the labels; all match in any case.
    Two atlases are equal where `save` would write the same of both.

    Parameters
    ----------
    labels : sequence of str, length n
    maps : ndarray of shape (n_maps, n, n_components)
        The point of each object in each map.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions, at least 0; each object's sum to 1 over the maps.
    model : ChoiceModel
    method : str
        The name of the method, as the command line spells it.
    parameters : mapping
        All settings of the fit as plain values; `settings` has those that matter later.
    history : mapping of str to ndarray
        "iteration", "cost" and what else the fit recorded.
    log_normalizer : float, optional
        log Z of a joint model; where it is missing, `log_whole` sums it.
    fingerprint : str
        Identifies the data that was fitted.
    metadata : mapping of str to ndarray
        Further columns, one value per object.
    vectors : ndarray or sparse array of shape (n, n_features), optional
        The vectors that were fitted, with which new objects are compared.
    kinds : sequence of str, length n, optional
        Where the maps hold two kinds of object: the kind of each, rows first, then columns.
    factors : ndarray of shape (n,), optional
        The fixed factors of rows and columns in the model's choices; positive, 1 by default.
    consensus : Consensus, optional
        The senses of all objects over several fits, of which this is one
        (`manymaps.analysis.stability`).
    associations : sparse array of shape (n, n), optional
        Where similarities were fitted: those of each object's strongest partners
        (`manymaps.atlas.associations`).

    Raises
    ------
    DataError
        Where shapes disagree, an array holds a value that is not finite, an object's proportions
        are no shares of one whole, or the kinds are not two.

    See Also
    --------
    load_atlas, MultipleMapsTSNE, write_page, plot_senses, evaluate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> for sense in atlas.senses("tie"):
    ...     print(sense.map, sense.proportion, sense.neighbors[0].label)
    0 0.5 knot
    1 0.5 tuxedo
    >>> round(atlas.similarity("tie", "knot"), 3)
    0.5
    >>> len(atlas), "TIE" in atlas, "bow" in atlas
    (3, True, False)
    >>> atlas["tie"]
    <tie in 2 maps
     .50 in map 0: knot
     .50 in map 1: tuxedo>
    """

    labels: Sequence[str]
    maps: np.ndarray
    proportions: np.ndarray
    model: ChoiceModel
    method: str = "mm-tsne"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, np.ndarray] = field(default_factory=dict)
    log_normalizer: float | None = None
    fingerprint: str = ""
    metadata: Mapping[str, np.ndarray] = field(default_factory=dict)
    vectors: np.ndarray | sparse.csr_array | None = None
    kinds: Sequence[str] | None = None
    factors: np.ndarray | None = None
    consensus: Consensus | None = None
    associations: sparse.csr_array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(map(str, self.labels)))
        if self.maps.ndim != 3 or self.proportions.shape != self.maps.shape[:2]:
            raise DataError(
                f"maps of shape {self.maps.shape} and proportions of shape "
                f"{self.proportions.shape} do not fit; they must be (maps, objects, components) "
                "and (maps, objects)"
            )
        if len(self.labels) != self.maps.shape[1]:
            raise DataError(f"{len(self.labels)} labels for {self.maps.shape[1]} objects")
        if self.vectors is not None and self.vectors.shape[0] != len(self.labels):
            raise DataError(f"{self.vectors.shape[0]} vectors for {len(self.labels)} objects")
        self._check_values()
        told = None if self.consensus is None else self.consensus.of_map.shape[1:]
        if told is not None and told != self.proportions.shape:
            raise DataError(
                f"the consensus is of (maps, objects) {told}, the atlas of {self.proportions.shape}"
            )
        if self.associations is not None:
            checked = checked_associations(self.associations, self.n_objects)
            object.__setattr__(self, "associations", checked)
        if self.kinds is not None or self.model.given is not None:
            self._check_kinds()

    def _check_values(self) -> None:
        """Refuse places that are not finite, proportions that are none, and ragged metadata."""
        if not self.maps.size:
            raise DataError(f"maps of shape {self.maps.shape} hold nothing")
        for name, array in (("maps", self.maps), ("proportions", self.proportions)):
            if not np.isfinite(array).all():
                raise DataError(f"the {name} hold a value that is not finite")
        farthest = float(np.abs(self.maps).max())
        if farthest > FARTHEST:
            raise DataError(
                f"the maps reach {farthest:g} from their origin, and may reach {FARTHEST:g}"
            )
        wholes = self.proportions.sum(axis=0, dtype=np.float64)
        wrong = (np.abs(wholes - 1) > PROPORTION_ERROR) | (self.proportions.min(axis=0) < 0)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise DataError(
                f"the proportions of {self.labels[i]!r} are no shares of one whole: they sum to "
                f"{wholes[i]:.6g}, the least is {self.proportions[:, i].min():.6g}"
            )
        for name, column in self.metadata.items():
            if np.shape(column) != (self.n_objects,):
                raise DataError(
                    f"the metadata {name!r} have shape {np.shape(column)} for {self.n_objects:,} "
                    "objects; give one value per object"
                )

    def _check_kinds(self) -> None:
        kinds = tuple(str(kind) for kind in self.kinds or ())
        object.__setattr__(self, "kinds", kinds)
        runs = [kind for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1]]
        if len(kinds) != self.n_objects or len(runs) != 2 or self.model.given is None:
            raise DataError(
                "the kinds must say of each object whether it is a row or a column, all rows "
                f"first, under a model of two kinds; these are {len(kinds)} in {len(runs)} runs"
            )
        factors = np.ones(self.n_objects) if self.factors is None else self.factors
        if factors.shape != (self.n_objects,) or not bool(np.all(factors > 0)):
            raise DataError(f"the factors must be {self.n_objects} positive numbers")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Atlas:
        """Read an atlas that `save` wrote, as `load_atlas` does.

        Parameters
        ----------
        path : path
            A file that `Atlas.save` wrote.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     atlas.save(f"{folder}/ties.atlas")
        ...     Atlas.load(f"{folder}/ties.atlas") == atlas
        True
        """
        return load_atlas(path)

    def __repr__(self) -> str:
        from manymaps.atlas.representation import atlas_text

        return atlas_text(self)

    def _repr_html_(self) -> str:
        from manymaps.atlas.representation import atlas_html

        return atlas_html(self)

    def __len__(self) -> int:
        return self.n_objects

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, word: object) -> bool:
        label, kind = word if isinstance(word, tuple) and len(word) == 2 else (word, None)
        if not isinstance(label, str) or self._place(label) is None:
            return False
        kinds = zip(self.labels, self.kinds or (), strict=self.kinds is not None)
        return kind is None or any(k == kind and fold(x) == fold(label) for x, k in kinds)

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each label stands first."""
        return dict(zip(reversed(self.labels), reversed(range(self.n_objects)), strict=True))

    @cached_property
    def _folded_places(self) -> dict[str, int]:
        """The same in any case; asked for only where a label is not found as it is written."""
        last = self.n_objects - 1
        return {fold(label): last - k for k, label in enumerate(reversed(self.labels))}

    def _place(self, label: str) -> int | None:
        """Where a label stands, as it is written or else in any case."""
        found = self._places.get(label)
        return self._folded_places.get(fold(label)) if found is None else found

    def __getitem__(self, word: str | tuple[str, str]) -> Entry:
        """The entry of an object, by its label or (label, kind); `UnknownLabel` where none is."""
        from manymaps.atlas.entry import Entry

        label, kind = word if isinstance(word, tuple) and len(word) == 2 else (word, None)
        if not isinstance(label, str):
            raise TypeError(
                f"an atlas is asked by label, as in atlas['tie'], not by {label!r}; points and "
                "proportions by number are atlas.maps[:, i] and atlas.proportions[:, i]"
            )
        return Entry(self, self.index(label, kind=kind))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Atlas):
            return NotImplemented
        return self is other or same_atlas(self, other)

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
        """Number of a word, in any case.

        Parameters
        ----------
        word : str
            In any case.
        kind : str, optional
            Which of two objects of one label; else the first is found, a row before a column.

        Returns
        -------
        int
            Its place in `labels`.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        if kind is None:
            found = self._place(word)
            # Where nothing is found, the search says what is near.
            return find_label(word, self.labels) if found is None else found
        members = np.flatnonzero(self.of_kind(kind))
        return int(members[find_label(word, [self.labels[int(i)] for i in members])])

    def _indices(self, objects: np.ndarray | Sequence[int] | Sequence[str] | str) -> np.ndarray:
        """Indices of the objects that indices, labels or a mask select."""
        chosen = np.atleast_1d(np.asarray(objects))
        if chosen.dtype == bool and chosen.shape != (self.n_objects,):
            raise ParameterError(
                f"the mask has shape {chosen.shape}; expected one value for each of the "
                f"{self.n_objects:,} objects"
            )
        if chosen.dtype == bool:
            return np.flatnonzero(chosen)
        if chosen.dtype.kind in "OUT":
            return np.array([self.index(str(label)) for label in chosen], np.intp)
        return chosen.astype(np.intp)

    def of_kind(self, kind: str) -> np.ndarray:
        """Which objects are of a kind.

        Parameters
        ----------
        kind : str
            One of `kinds`.

        Returns
        -------
        ndarray of bool, shape (n_objects,)

        Raises
        ------
        ParameterError
            For an unknown kind.
        """
        known = dict.fromkeys(self.kinds or ())
        if not known:
            fault = "asks for one of two kinds; the objects of this atlas are all of one"
            raise ParameterError(fault, name="kind", value=kind)
        check_choice("kind", kind, known)
        return np.array(self.kinds) == kind

    @cached_property
    def choices(self) -> Choices:
        """The maps as the model reads them."""
        n_rows = 0 if self.kinds is None else self.kinds.count(self.kinds[0])
        return Choices(
            self.maps, self.proportions, self.model, n_rows, self.factors, self.log_normalizer
        )

    @cached_property
    def settings(self) -> FitSettings:
        """What fitted the atlas, read back from `parameters`."""
        return FitSettings.of(self.parameters)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The metadata and, where there are two kinds of object, the column "kind" before it.

        Metadata of that very name are then called "metadata_kind".
        """
        if self.kinds is None:
            return dict(self.metadata)
        renamed = {("metadata_kind" if k == "kind" else k): v for k, v in self.metadata.items()}
        return {"kind": np.array(self.kinds), **renamed}

    def shares(self, word: str, *, kind: str | None = None) -> np.ndarray:
        """What each map contributes to the model's similarities of a word.

        Parameters
        ----------
        word : str
        kind : str, optional
            The kind of object that is meant, where both kinds have one of that label.

        Returns
        -------
        ndarray of shape (n_maps, n_objects), float64
            q_ij^m with i the word; without background. The word's own column is 0. Under a
            conditional model the whole sums to 1, under a joint one the wholes of all words do.
            Between two kinds of object: q(j|i) of those of the other kind, for both kinds, or
            q(i, j) under a joint model (`manymaps.atlas.probabilities`).
        """
        return self.choices.shares(self.index(word, kind=kind))

    @property
    def log_whole(self) -> float:
        """log Z of a joint model, the log of the sum of v_ij over all ordered pairs.

        `log_normalizer` where that is known; else it is summed once, map by map, without a table
        of all pairs. -inf where no two objects share a map.
        """
        return self.choices.log_whole

    def similarities(self, word: str, *, kind: str | None = None) -> np.ndarray:
        """The model's similarity q_ij of a word to every object.

        Parameters
        ----------
        word : str
            In any case.
        kind : str, optional
            Of two kinds of object, that of the word.

        Returns
        -------
        ndarray of shape (n_objects,)
            With the uniform background; 0 for the word itself.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        i = self.index(word, kind=kind)
        similarities = self.choices.sums(i)
        background = self.model.background
        n = self.n_objects
        if background and n > 1:
            pairs = n - 1 if self.model.normalization == "conditional" else n * (n - 1)
            similarities = (1 - background) * similarities + background / pairs
            similarities[i] = 0
        return similarities

    def similarity(self, a: str, b: str) -> float:
        """The model's similarity q_ab: how strongly `a` recalls `b`.

        Asymmetric under a conditional model; 0 for an object and itself. Between two kinds of
        object, `b` is looked for among those of the other kind than `a`.

        Parameters
        ----------
        a, b : str
            Their labels, in any case.

        Returns
        -------
        float
            0 for an object and itself.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        i = self.index(a)
        j = self.index(b, kind=self._other_kind(i))
        return float(self.choices.shares(i)[:, j].sum() if self.kinds else self.similarities(a)[j])

    def _other_kind(self, i: int) -> str | None:
        if self.kinds is None:
            return None
        return next(kind for kind in dict.fromkeys(self.kinds) if kind != self.kinds[i])

    @property
    def map_shares(self) -> np.ndarray:
        """The part of what each object recalls that each map gives, shape (n_maps, n_objects).

            sum_j q_ij^m / sum_jm q_ij^m

        which is what the maps mean to an object, as its mixing proportions alone are not: a map
        that holds little of it can hold all that it recalls. Those of an object sum to 1; one that
        shares no map with any other has its proportions. Of two kinds of object, what a chosen one
        is recalled by.
        """
        return self.choices.map_shares

    def earned(self, word: str) -> np.ndarray:
        """The part of what was observed of a word, both ways, that each map explains.

            sum_j (p_ij + p_ji) r_ij^m / sum_j (p_ij + p_ji),        r_ij^m = v_ij^m / v_ij

        A word whose mixing proportion in a map is large though it earns nothing there is stranded:
        it stands among strangers, where it is out of the way of what does not recall it.

        Parameters
        ----------
        word : str
            In any case.

        Returns
        -------
        ndarray of shape (n_maps,)
            With a sum of 1; NaN where no associations of the word are known.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        return self._earned(self.index(word))

    def _earned(self, i: int) -> np.ndarray:
        if self.associations is None or self.kinds is not None:
            return np.full(self.n_maps, np.nan)
        both = self.associations[[i]].toarray()[0] + self.associations[:, [i]].toarray()[:, 0]
        others = np.flatnonzero(both > 0)
        if len(others) == 0:
            return np.full(self.n_maps, np.nan)
        votes = self.choices.votes(np.full(len(others), i), others)
        return np.asarray(both[others] @ votes / both[others].sum(), np.float64)

    def explained(self, word: str) -> float:
        """The share of what was observed of a word that its place explains.

            sum_j min(p_ij, q(j|i)) / sum_j p_ij,        q(j|i) = q_ij / sum_j' q_ij'

        the part of its responses that the model gives as well: 1 where the model recalls what was
        recalled, as often; what it gives too much is nothing gained. `manymaps.trust` has it of
        all objects at once, and of those that were fitted to vectors.

        Parameters
        ----------
        word : str
            In any case.

        Returns
        -------
        float
            From 0 to 1; NaN where no associations of the word are known.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        i = self.index(word)
        if not self._is_told(i):
            return float("nan")
        assert self.associations is not None
        row = self.associations[[i]].toarray()[0].astype(np.float64)
        given = self.similarities(word)
        whole = given.sum()
        return float(np.minimum(row, given / whole).sum() / row.sum()) if whole > 0 else 0.0

    @overload
    def senses(self, word: str, **options: Unpack[SenseOptions]) -> list[Sense]: ...

    @overload
    def senses(
        self, word: list[str] | tuple[str, ...], **options: Unpack[SenseOptions]
    ) -> dict[str, list[Sense]]: ...

    def senses(
        self,
        word: str | list[str] | tuple[str, ...],
        *,
        n_neighbors: int = 8,
        min_share: float = LEAST_SHARE,
        min_recall: float = LEAST_RECALL,
        kind: str | None = None,
        neighbor_kind: str | None = None,
    ) -> list[Sense] | dict[str, list[Sense]]:
        """The senses of a word: groups of its neighbours, each with the map that says most of it.

        Where associations of the word are known, what it recalls is grouped by the ties within
        (`manymaps.atlas.senses`): one map may hold two senses, and one that gives some of what the
        model recalls, but none of what was observed, is a sense with a share of 0. Otherwise each
        map that gives some of what the model recalls is a sense, with the neighbours it has there.

        Parameters
        ----------
        word : str, or list or tuple of str
            Matched in any case.
        n_neighbors : int
            Neighbours listed per sense.
        min_share : float
            Groups to which less of what was observed of the word falls are left out, but for the
            largest, and the largest of each map that is listed.
        min_recall : float
            Maps that give less of what the model recalls and hold no listed group are left out, but
            for the first.
        kind, neighbor_kind : str, optional
            The kind of the word, and that of the neighbours, as for `neighbors`.

        Returns
        -------
        list of Sense
            By what their maps give of the word's recall, the most first; in one map the largest
            group first. Of several words a mapping, each word as it was given to its list.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        ParameterError
            For an unknown kind.
        """
        if not isinstance(word, str):
            return {
                one: self.senses(
                    one,
                    n_neighbors=n_neighbors,
                    min_share=min_share,
                    min_recall=min_recall,
                    kind=kind,
                    neighbor_kind=neighbor_kind,
                )
                for one in word
            }
        i = self.index(word, kind=kind)
        if neighbor_kind is None and self.recalls(word, kind=kind):
            return self._groups(i, n_neighbors, min_share, min_recall)
        near = self._near(i, neighbor_kind)
        recall = self._recall(i, near, neighbor_kind)
        order = np.argsort(-recall, kind="stable")
        return [
            Sense(
                int(m),
                float(self.proportions[m, i]),
                self._strongest(near[m], n_neighbors),
                None if self.consensus is None else self.consensus.n_fits_with(int(m), i),
                float(recall[m]),
                few_strongest(near[m], n_neighbors).tolist(),
                float(recall[m]),
            )
            for rank, m in enumerate(order)
            if rank == 0 or recall[m] >= min_recall
        ]

    def _recall(self, i: int, near: np.ndarray, kind: str | None) -> np.ndarray:
        """What each map gives to the recall of object i, shape (n_maps,)."""
        if self.kinds is None or kind in (None, self._other_kind(i)):
            return self.choices.map_shares_of(i)
        sums = near.sum(axis=1)
        return np.asarray(sums / (sums.sum() or 1.0))

    def sense_table(
        self,
        words: Iterable[str] | None = None,
        *,
        n_neighbors: int = 8,
        min_share: float = LEAST_SHARE,
        min_recall: float = LEAST_RECALL,
        kind: str | None = None,
        neighbor_kind: str | None = None,
    ) -> dict[str, np.ndarray]:
        """The senses of many words as columns by name, which make a data frame.

        Parameters
        ----------
        words : iterable of str, optional
            By default all objects, or all of the `kind`.
        n_neighbors, min_share, min_recall, kind, neighbor_kind
            As for `senses`.

        Returns
        -------
        dict of str to ndarray of shape (n_senses of all words,)
            "word"; of two kinds of object "kind"; "sense", its number among those of the word;
            "share", "map", "proportion" and "recall" as in `Sense`; with a consensus "n_fits";
            "neighbors", the labels joined by "; ".

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        ParameterError
            For an unknown kind.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)
        >>> import pandas
        >>> table = pandas.DataFrame(atlas.sense_table(["tie", "knot"], n_neighbors=1))
        >>> print(table[["word", "map", "neighbors"]].to_string(index=False))
        word  map neighbors
         tie    0      knot
         tie    1    tuxedo
        knot    0       tie
        """
        from manymaps.atlas.sense_table import sense_table

        return sense_table(
            self,
            words,
            n_neighbors=n_neighbors,
            min_share=min_share,
            min_recall=min_recall,
            kind=kind,
            neighbor_kind=neighbor_kind,
        )

    def recalls(self, word: str, *, kind: str | None = None) -> bool:
        """Whether associations of a word are known, so that its senses are groups of these.

        Parameters
        ----------
        word : str
            In any case.
        kind : str, optional
            Of two kinds of object, that of the word.

        Returns
        -------
        bool

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        return self._is_told(self.index(word, kind=kind))

    def _is_told(self, i: int) -> bool:
        table = self.associations
        if table is None or self.kinds is not None:
            return False
        return bool(table.indptr[i + 1] > table.indptr[i])

    @cached_property
    def _last_groups(self) -> dict[int, SenseGroups]:
        """The senses of the word that was asked for last, of which other lists may be wanted."""
        return {}

    def _groups(self, i: int, n_neighbors: int, min_share: float, min_recall: float) -> list[Sense]:
        assert self.associations is not None
        recall = self.choices.map_shares_of(i)
        if i not in self._last_groups:
            self._last_groups.clear()
            self._last_groups[i] = sense_groups(self.choices, self.associations, np.array([i]))
        found = listed_senses(
            self.choices, self.associations, np.array([i]), recall[None], min_share, min_recall,
            self._last_groups[i],
        )  # fmt: skip
        stranded = self._stranded(i)
        similarities, told = self.choices.sums(i), self.consensus
        senses = []
        for sense, map in enumerate(found.maps.tolist()):
            members = found.members[found.members_of(sense)].tolist()
            senses.append(
                Sense(
                    map,
                    float(self.proportions[map, i]),
                    self._neighbors(members[:n_neighbors], similarities, i),
                    None if told is None else told.n_fits_with(map, i, members),
                    float(found.shares[sense]),
                    tuple(members[:n_neighbors]),
                    float(recall[map]),
                    bool(stranded[map]),
                )
            )
        return senses

    def _stranded(self, i: int) -> np.ndarray:
        """In which maps object i stands though it earns next to nothing there, shape (n_maps,)."""
        large = self.proportions[:, i] >= LEAST_RECALL
        return np.asarray(large & (self._earned(i) < NOTHING_EARNED))

    def senses_elsewhere(self, word: str, *, kind: str | None = None) -> list[ConsensusSense]:
        """The senses of a word that other fits have and this one lacks, those of most fits first.

        Parameters
        ----------
        word : str
            In any case.
        kind : str, optional
            Of two kinds of object, that of the word.

        Returns
        -------
        list of ConsensusSense
            Empty where the consensus of several fits is not known.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        if self.consensus is None:
            return []
        found = self.consensus.senses(self.index(word, kind=kind), self.labels)
        return [sense for sense in found if not sense.maps]

    def neighbors(
        self,
        word: str,
        map: int | None = None,
        *,
        n_neighbors: int = 10,
        kind: str | None = None,
        neighbor_kind: str | None = None,
    ) -> tuple[Neighbor, ...]:
        """The objects most similar to a word, in one map or (`map=None`) in all together.

        Of two kinds of object those of the other kind are listed, or those of `neighbor_kind`, by
        how near they stand: by their share in sum_j v_ij without the fixed factors, which would put
        the most frequent objects first everywhere.

        Parameters
        ----------
        word : str
            In any case.
        map : int, optional
            By default all together.
        n_neighbors : int
            At most so many.
        kind : str, optional
            Of two kinds of object, that of the word.
        neighbor_kind : str, optional
            Of two kinds of object, that of the neighbours; by default the other kind.

        Returns
        -------
        tuple of Neighbor
            The nearest first.

        Raises
        ------
        UnknownLabel
            For an unknown word, with suggestions.
        """
        i = self.index(word, kind=kind)
        if map is not None:
            check_index("map", map, self.n_maps)
        told = i if neighbor_kind is None and self.recalls(word, kind=kind) else None
        if map is None and self.kinds is None:
            return self._strongest(self.similarities(word), n_neighbors, told)
        near = self._near(i, neighbor_kind)
        return self._strongest(near.sum(axis=0) if map is None else near[map], n_neighbors, told)

    def _near(self, i: int, kind: str | None) -> np.ndarray:
        """By what share of the similarities neighbours are listed, (n_maps, n_objects)."""
        kind = kind or self._other_kind(i)
        if kind is None:
            return self.choices.shares(i)
        return self.choices.nearness(i, self.of_kind(kind))

    def _strongest(
        self, similarities: np.ndarray, count: int, told: int | None = None
    ) -> tuple[Neighbor, ...]:
        return self._neighbors(few_strongest(similarities, count).tolist(), similarities, told)

    def _neighbors(
        self, members: Sequence[int], similarities: np.ndarray, told: int | None
    ) -> tuple[Neighbor, ...]:
        """Objects as neighbours, beside what was observed of object `told`, where it was."""
        observed: list[float] | list[None] = [None] * len(members)
        if told is not None and self.associations is not None:
            observed = self.associations[[told]].toarray()[0, list(members)].tolist()
        return tuple(
            Neighbor(self.labels[j], float(similarities[j]), strength)
            for j, strength in zip(members, observed, strict=True)
        )

    def path(
        self, start: str, end: str, *, n_neighbors: int = 8, min_recall: float = LEAST_RECALL
    ) -> tuple[Step, ...]:
        """The most probable chain from one word to another, each step within one map.

        It has the least cost ``-sum log q_ij^m`` of all paths whose steps lead to one of the
        nearest in a map (`manymaps.atlas.paths`), found by Dijkstra's algorithm.

        Parameters
        ----------
        start, end : str
            In any case; of two kinds of object, between which steps lead to and fro, a row is
            found before a column.
        n_neighbors : int
            To how many of the nearest in a map a step may lead.
        min_recall : float in [0, 1]
            Steps lead through maps that give as much of what either word recalls, and through the
            one that gives most.

        Returns
        -------
        tuple of Step
            Empty where no path leads there, and between a word and itself.

        Raises
        ------
        UnknownLabel
            For a word that no object has, with suggestions.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)
        >>> for step in atlas.path("knot", "tuxedo"):
        ...     print(step.start, step.map, step.end, round(step.similarity, 2))
        knot 0 tie 1.0
        tie 1 tuxedo 0.5
        """
        from manymaps.atlas.paths import Step, cheapest_path

        check_whole("n_neighbors", n_neighbors, least=1)
        check_number("min_recall", min_recall, least=0, most=1)
        found = cheapest_path(
            self.choices, self.map_shares, self.index(start), self.index(end),
            n_neighbors=n_neighbors, min_recall=min_recall,
        )  # fmt: skip
        steps = []
        for i, j, m, strength in found:
            told = i if self._is_told(i) else None
            (near,) = self._neighbors([j], np.full(self.n_objects, strength), told)
            steps.append(Step(self.labels[i], near.label, m, strength, near.observed))
        return tuple(steps)

    def captions(
        self,
        n_words: int = 4,
        *,
        min_proportion: float = 0.1,
        maps: Iterable[int] | None = None,
    ) -> list[tuple[str, ...]]:
        """What each map is about: words that are typical of it, each of another group there.

        Parameters
        ----------
        n_words : int
            At most so many a map.
        min_proportion : float in [0, 1]
            Objects that a map holds less of have no say and are not named, where there are others.
        maps : iterable of int, optional
            These maps alone, in their order; by default all.

        Returns
        -------
        list of tuple of str
            Map by map, what stands for most of the map first (`manymaps.atlas.captions`). Of two
            kinds of object the columns are named. Where labels only count more than 40 objects,
            categories of the metadata that stand out in a map, if there are some.

        Raises
        ------
        ParameterError
            For a value out of its range.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE).captions(1)
        [('knot',), ('tuxedo',)]
        """
        check_whole("n_words", n_words)
        check_number("min_proportion", min_proportion, least=0, most=1)
        words = None if self.kinds is None else ~self.choices.is_row
        chosen = range(self.n_maps) if maps is None else list(maps)
        for m in chosen:
            check_index("map", m, self.n_maps)
        found = (
            title_words(
                self, m, dominant(self.proportions[m], min_proportion), n_words=n_words, words=words
            )
            for m in chosen
        )
        return [tuple(named) for named in found]

    def add_metadata(self, frame: Any, on: str | None = None, *, name: str | None = None) -> Atlas:
        """The same atlas with further columns, joined by label, or one in the objects' order.

        Parameters
        ----------
        frame : frame, mapping of str to sequence, or a column by itself
            One row per label (pandas, polars, pyarrow, ... or plain columns). A label that matches
            no object exactly is tried in any case. A column by itself (list, array, series) has one
            value for each object, in their order; but a pandas series whose index holds labels of
            the atlas is joined by these.
        on : str, optional
            The column of labels; by default "label", else the index of pandas where it holds an
            object's label, else the first.
        name : str, optional
            What a column by itself is called; by default the name of the series.

        Returns
        -------
        Atlas
            With the columns in `metadata`; objects without a row get NaN or "".

        Raises
        ------
        DataError
            Where a label stands twice in the table, or none matches; where a column by itself is
            longer or shorter than the objects.
        ParameterError
            Where a column by itself has no name, or a table is given one.

        Warns
        -----
        DataWarning
            Where rows match no object.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> atlas.add_metadata({"label": ["knot", "tie"], "length": [4, 3]}).metadata["length"]
        array([3, 4])
        >>> atlas.add_metadata([3, 4], name="length").metadata["length"]
        array([3, 4])
        """
        if on is None and (placed := placed_column(self.labels, frame, name)) is not None:
            return replace(self, metadata={**self.metadata, **placed})
        if name is not None:
            raise ParameterError(
                "is of a column by itself, not of a table", name="name", value=name
            )
        columns, unmatched, _ = join_columns(self.labels, frame, on)
        if unmatched:
            warnings.warn(
                f"{len(unmatched)} rows of the metadata match no object, "
                f"{first_of(unmatched)} among them",
                DataWarning,
                stacklevel=2,
            )
        return replace(self, metadata={**self.metadata, **columns})

    def subset(self, objects: np.ndarray | Sequence[int] | Sequence[str] | str) -> Atlas:
        """Select some of the objects, with unchanged coordinates.

        Parameters
        ----------
        objects : array of int or str, str, or array of bool with shape (n_objects,)
            Indices or labels of the objects in their new order, one label, or a mask. Labels match
            in any case. With two kinds of object, all rows must come before all columns. If objects
            of only one kind remain, the atlas has a single kind.

        Returns
        -------
        Atlas
            A new atlas without the normalizer and the consensus, which describe all objects.

        Raises
        ------
        UnknownLabel
            If a label is unknown, with suggestions.
        ParameterError
            If a mask does not have one value per object.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> atlas.subset([1]).labels, atlas.subset(["knot", "tie"]).labels
        (('knot',), ('knot', 'tie'))
        """
        order = self._indices(objects)
        kinds = None if self.kinds is None else [self.kinds[i] for i in order.tolist()]
        one_kind = kinds is not None and len(set(kinds)) < 2
        return replace(
            self,
            labels=[self.labels[i] for i in order.tolist()],
            kinds=None if one_kind else kinds,
            model=replace(self.model, given=None) if one_kind else self.model,
            maps=self.maps[:, order],
            proportions=self.proportions[:, order],
            factors=None if self.factors is None else self.factors[order],
            metadata={name: np.asarray(column)[order] for name, column in self.metadata.items()},
            vectors=None if self.vectors is None else self.vectors[order],
            log_normalizer=None,
            consensus=None,
            associations=None if self.associations is None else self.associations[order][:, order],
        )

    def renumbered(self, order: np.ndarray | Sequence[int]) -> Atlas:
        """The same maps in another order.

        Parameters
        ----------
        order : array of int, shape (n_maps,)
            The present number of each map of the new atlas; every map once.

        Returns
        -------
        Atlas
            A new one.

        Raises
        ------
        ParameterError
            Where it names a map twice or not at all.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> proportions = np.array([[0.2, 1.0], [0.8, 0.0]])
        >>> atlas = Atlas(["tie", "knot"], np.zeros((2, 2, 2)), proportions, MULTIPLE_MAPS_T_SNE)
        >>> atlas.renumbered([1, 0]).proportions.tolist()
        [[0.8, 0.0], [0.2, 1.0]]
        """
        chosen = np.asarray(order)
        if sorted(chosen.ravel().tolist()) != list(range(self.n_maps)):
            fault = f"must have each of the maps 0 to {self.n_maps - 1} once"
            raise ParameterError(fault, name="order", value=chosen.tolist())
        parts = self.consensus
        return replace(
            self,
            maps=self.maps[chosen],
            proportions=self.proportions[chosen],
            consensus=None if parts is None else replace(parts, of_map=parts.of_map[:, chosen]),
        )

    def extended(
        self,
        labels: Sequence[str],
        maps: np.ndarray,
        proportions: np.ndarray,
        *,
        at: int | None = None,
        factors: np.ndarray | None = None,
        metadata: Mapping[str, np.ndarray] | None = None,
        vectors: np.ndarray | sparse.csr_array | None = None,
    ) -> Atlas:
        """The same atlas with new objects in it; the old ones stay where they are.

        Parameters
        ----------
        labels : sequence of str, length k
        maps : ndarray of shape (n_maps, k, n_components)
        proportions : ndarray of shape (n_maps, k)
        at : int, optional
            How many of the old objects stand before the new ones, all by default. Of two kinds the
            new ones are of the kind of the last of these, rows where there is none.
        factors : ndarray of shape (k,), optional
            Needed where the atlas has factors.
        metadata : mapping of str to ndarray of shape (k,), optional
            Columns of the new objects.
        vectors : ndarray or sparse array of shape (k, n_features), optional
            Without them the atlas loses its vectors.

        Returns
        -------
        Atlas
            Its column "inserted" says who was inserted ("inserted_1", ... where that is taken). A
            column that either side lacks is NaN or "" there. Without log Z; of the new objects no
            associations are known.

        Raises
        ------
        ParameterError
            Where factors are missing.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> longer = atlas.extended(["rope"], np.ones((1, 1, 2)), np.ones((1, 1)), at=1)
        >>> longer.labels, longer.metadata["inserted"].tolist()
        (('tie', 'rope', 'knot'), [False, True, False])
        """
        n, k = self.n_objects, len(labels)
        at = n if at is None else at
        if self.factors is not None and factors is None:
            raise ParameterError(
                "is missing: the objects of the atlas have factors", name="factors"
            )

        def between(old: Any, new: Any, axis: int = 0) -> np.ndarray:
            before, after = np.split(np.asarray(old), [at], axis=axis)
            return np.concatenate([before, np.asarray(new, before.dtype), after], axis=axis)

        columns: dict[str, np.ndarray] = {}
        given = metadata or {}
        for name in dict.fromkeys([*self.metadata, *given]):
            old = self.metadata.get(name)
            before, after = (None, None) if old is None else np.split(np.asarray(old), [at])
            columns[name] = end_to_end((before, at), (given.get(name), k), (after, n - at))
        told = self._insertion_column(given)
        columns[told] = between(self.metadata.get(told, np.zeros(n, bool)), np.ones(k, bool))
        kinds = None
        if self.kinds is not None:
            kinds = [*self.kinds[:at], *[self.kinds[max(at - 1, 0)]] * k, *self.kinds[at:]]
        return replace(
            self,
            labels=[*self.labels[:at], *labels, *self.labels[at:]],
            kinds=kinds,
            maps=between(self.maps, maps, axis=1),
            proportions=between(self.proportions, proportions, axis=1),
            factors=None if self.factors is None else between(self.factors, factors),
            metadata=columns,
            vectors=None
            if vectors is None or self.vectors is None
            else _stacked(self.vectors, vectors, at),
            log_normalizer=None,
            consensus=None if self.consensus is None else self.consensus.extended(k, at),
            associations=None if self.associations is None else _spread(self.associations, k, at),
        )

    def _insertion_column(self, given: Mapping[str, np.ndarray]) -> str:
        """Where it says who was inserted: "inserted", or the next name that nobody else uses."""
        ours = {name for name, old in self.metadata.items() if np.asarray(old).dtype == bool}
        taken = {*self.metadata, *given} - (ours - set(given))
        names = chain(["inserted"], (f"inserted_{number}" for number in count(1)))
        return next(name for name in names if name not in taken)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per object and map: label, map, proportion, x, y, ..., and the metadata.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame; by default the first of them that is installed.

        Returns
        -------
        A frame of that kind with n_objects * n_maps rows, the maps of one object together.
        Beyond three dimensions the coordinates are named x0, x1, ...

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> list(atlas.to_frame("pandas").columns)
        ['label', 'map', 'proportion', 'x', 'y']
        """
        columns = long_columns(self.labels, self.maps, self.proportions, self.columns)
        return as_frame(columns, backend)

    def save(self, path: str | os.PathLike[str], *, vectors: bool = True) -> None:
        """Write the atlas to a file, whole or not at all.

        Parameters
        ----------
        path : path
        vectors : bool
            Write the fitted vectors too. Without them the file is smaller, and new objects can be
            inserted only with the vectors at hand, or by their similarities.

        Raises
        ------
        OSError
            Where the place cannot be written; nothing is left behind.
        """
        save_atlas(self, path, vectors=vectors)


def _stacked(
    old: np.ndarray | sparse.csr_array, new: np.ndarray | sparse.csr_array, at: int
) -> np.ndarray | sparse.csr_array:
    """Vectors of old and new objects, in the old ones' precision unless these are whole numbers."""
    floating = np.issubdtype(old.dtype, np.floating)
    dtype = old.dtype if floating else np.result_type(old.dtype, new.dtype)
    if sparse.issparse(old):
        parts = [old[:at], sparse.csr_array(new), old[at:]]
        return sparse.csr_array(sparse.vstack([p for p in parts if p.shape[0]]), dtype=dtype)
    dense = np.asarray(new.toarray() if isinstance(new, sparse.sparray) else new)
    return np.concatenate([part.astype(dtype, copy=False) for part in (old[:at], dense, old[at:])])


def _spread(table: sparse.csr_array, k: int, at: int) -> sparse.csr_array:
    """The table of more objects, with k empty rows and columns before row and column `at`."""
    n = table.shape[0]
    indptr = np.insert(table.indptr, at, np.full(k, table.indptr[at]))
    columns = table.indices + k * (table.indices >= at)
    return sparse.csr_array((table.data, columns, indptr), shape=(n + k, n + k))
