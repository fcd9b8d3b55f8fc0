"""The atlas, which contains the maps of labelled objects and answers questions about them.

The fields are declared in `manymaps.atlas.data`. The methods are implemented in other modules:

    answers     similarities, neighbours, associates, senses
    captions    words that are typical of a map
    editing     subsets, further objects and columns, renumbered maps
    storage     the file `.atlas`

Maps are numbered from 0 in Python, files, figures and commands.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manymaps.atlas import answers, editing
from manymaps.atlas.answers import Neighbor, Sense
from manymaps.atlas.captions import captions_of
from manymaps.atlas.context import MapInContext, disambiguate
from manymaps.atlas.data import AtlasData
from manymaps.atlas.representation import atlas_html, atlas_text, entry_text
from manymaps.atlas.storage import read_atlas, same_atlas, save_atlas
from manymaps.data.frames import as_frame, long_columns
from manymaps.labels import fold

if TYPE_CHECKING:
    import pandas as pd

    from manymaps.data.associations import Associations


@dataclass(frozen=True, eq=False, repr=False)
class Atlas(AtlasData):
    """The maps of labelled objects, with the model that defines their similarities.

    `atlas["tie"]` returns the entry of an object (`manymaps.atlas.atlas.Entry`), and `"tie" in
    atlas` checks whether the object exists. Both match labels regardless of case. `len` counts the
    labels, and iteration yields them. Two atlases are equal if `save` writes the same content for
    both.

    Parameters
    ----------
    labels : sequence of str, length n
        The name of each object.
    maps : ndarray of shape (n_maps, n, n_components)
        The position of each object in each map.
    proportions : ndarray of shape (n_maps, n)
        Mixing proportions, at least 0. The proportions of each object sum to 1 over the maps.
    model : ChoiceModel
        The kernel and the normalization that turn coordinates into similarities.
    method : str
        The name of the method, as in the option `--method`.
    parameters : mapping
        All settings of the fit as plain values. `settings` contains the settings that later steps
        need.
    history : mapping of str to ndarray
        The columns "iteration" and "cost", and further records of the fit.
    log_normalizer : float, optional
        log Z of a joint model. If it is not provided, `log_whole` computes it.
    metadata : mapping of str to ndarray
        Further columns, with one value per object.
    vectors : ndarray or sparse array of shape (n, n_features), optional
        The fitted vectors, with which new objects are compared.
    kinds : sequence of str, length n, optional
        The kind of each object in a bipartite atlas, with all rows before all columns. Rows are of
        one kind, and columns of another.
    factors : ndarray of shape (n,), optional
        The fixed positive factors of the objects in the model's choices
        (`manymaps.atlas.probabilities`). The default is 1.
    associations : sparse array of shape (n, n), optional
        The fitted similarities of each object, if similarities were fitted. Row i contains
        p_ij / sum_j p_ij.
    covered : ndarray of shape (n,), optional
        The part of the responses to each object that are objects of the atlas, in [0, 1], or NaN if
        it is unknown. The associations are shares of this part.

    Raises
    ------
    DataError
        If shapes are inconsistent, an array contains a non-finite value, or the proportions of an
        object do not sum to 1. If `kinds` does not contain two kinds, or if the objects of a kind
        are not consecutive.

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
    <tie on 2 maps
     .50 on map 0: knot
     .50 on map 1: tuxedo>
    """

    def __repr__(self) -> str:
        return atlas_text(self)

    def _repr_html_(self) -> str:
        return atlas_html(self)

    def __len__(self) -> int:
        return self.n_objects

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, word: object) -> bool:
        label, kind = word if isinstance(word, tuple) and len(word) == 2 else (word, None)
        if not isinstance(label, str) or self._index_of(label) is None:
            return False
        kinds = zip(self.labels, self.kinds or (), strict=self.kinds is not None)
        return kind is None or any(k == kind and fold(x) == fold(label) for x, k in kinds)

    def __getitem__(self, word: str | tuple[str, str]) -> Entry:
        """Return the entry of a label or (label, kind); raise `UnknownLabelError` if unknown."""
        label, kind = word if isinstance(word, tuple) and len(word) == 2 else (word, None)
        if not isinstance(label, str):
            raise TypeError(
                f"an atlas is indexed by label, as in atlas['tie'], not by {label!r}; positions "
                "and proportions by index are atlas.maps[:, i] and atlas.proportions[:, i]"
            )
        return Entry(self, self.index(label, kind=kind))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Atlas):
            return NotImplemented
        return self is other or same_atlas(self, other)

    def shares(self, word: str) -> np.ndarray:
        """Compute the contribution of each map to the similarities of a word.

        Parameters
        ----------
        word : str
            The label, in upper or lower case.

        Returns
        -------
        ndarray of shape (n_maps, n_objects), float64
            The contributions q_ij^m for word i, without the background. The column of the word
            itself is 0. Under a conditional model, the values for one word sum to 1. Under a joint
            model, the values for all words sum to 1. In a bipartite atlas, the contributions are
            those to q(j|i) for the objects j of the other kind, or to q(i, j) under a joint model
            (`manymaps.atlas.probabilities`).
        """
        return self.choices.shares(self.index(word))

    @property
    def log_whole(self) -> float:
        """Return log Z of a joint model, the log of the sum of v_ij over all ordered pairs.

        If `log_normalizer` is known, it is returned. Otherwise the sum is computed once, map by
        map, without a table of all pairs. The value is -inf if no two objects have weight in the
        same map.
        """
        return self.choices.log_whole

    def similarities(self, word: str, *, kind: str | None = None) -> np.ndarray:
        """Compute the model's similarity q_ij of a word to every object.

        Parameters
        ----------
        word : str
            The label, in upper or lower case.
        kind : str, optional
            The kind of the object, in case both kinds contain the label.

        Returns
        -------
        ndarray of shape (n_objects,)
            Similarities, including the uniform background. The similarity of the word to itself is
            0.

        Raises
        ------
        UnknownLabelError
            If the word is unknown. The message suggests similar labels.
        """
        return answers.similarities(self, self.index(word, kind=kind))

    def similarity(self, a: str, b: str) -> float:
        """Compute the model's similarity q_ab of `b` to `a`.

        The similarity is asymmetric under a conditional model. In a bipartite atlas, `a` and `b`
        must be of different kinds.

        Parameters
        ----------
        a, b : str
            The labels, in upper or lower case.

        Returns
        -------
        float
            The similarity, at least 0. The similarity of an object to itself is 0.

        Raises
        ------
        UnknownLabelError
            If a word is unknown. The message suggests similar labels.
        """
        i = self.index(a)
        j = self.index(b, kind=answers.other_kind(self, i))
        sums = self.choices.shares(i).sum(axis=0) if self.kinds else answers.similarities(self, i)
        return float(sums[j])

    @property
    def map_weights(self) -> np.ndarray:
        """Compute the share of each object's similarities in each map, shape (n_maps, n_objects).

            sum_j q_ij^m / sum_jm q_ij^m

        The weight measures how important a map is for an object. Mixing proportions do not measure
        this importance, because a map with a small proportion can contain all neighbours of an
        object. The weights of an object sum to 1. If an object has no map in common with any other
        object, its weights equal its proportions. In a bipartite atlas, the weights of a chosen
        object are computed from the probabilities with which it is chosen.
        """
        return self.choices.map_weights

    def associates(self, label: str, *, associations: Associations | None = None) -> pd.DataFrame:
        """List the observed associates of an object, each with the map that explains most of it.

        Parameters
        ----------
        label : str
            The label, in upper or lower case.
        associations : Associations, optional
            Other observed associations, whose labels are matched with the labels of the atlas. By
            default, the fitted associations are used.

        Returns
        -------
        DataFrame
            One row per associate, the strongest first. It has no rows if no associations of the
            object are known. The columns are

            - `label`: the associate.
            - `strength`: its share of the object's associations. The shares sum to 1.
            - `similarity`: the model's similarity q_ij, with the background.
            - `map`: the map with the largest part of v_ij, or -1 if no map contains both objects.
            - `close`: whether v_ij^m on this map is at least 5 % of the object's largest one.

        Raises
        ------
        UnknownLabelError
            If the object is unknown. The message suggests similar labels.
        DataError
            If no label of `associations` is in the atlas.

        See Also
        --------
        senses

        Examples
        --------
        >>> import numpy as np
        >>> from scipy import sparse
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> table = sparse.csr_array([[0, .6, .4], [1, 0, 0], [1, 0, 0]])
        >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE,
        ...               associations=table)
        >>> print(atlas.associates("tie").round(2).to_string(index=False))
         label  strength  similarity  map  close
          knot       0.6         0.5    0   True
        tuxedo       0.4         0.5    1   True
        """
        import pandas as pd

        found, similar = answers.associates(self, self.index(label), associations)
        return pd.DataFrame(
            {
                "label": [self.labels[j] for j in found.members.tolist()],
                "strength": found.strengths,
                "similarity": similar[found.members],
                "map": found.maps,
                "close": found.close,
            }
        )

    def senses(
        self,
        label: str,
        *,
        associations: Associations | None = None,
        n_neighbors: int = 8,
        kind: str | None = None,
        neighbor_kind: str | None = None,
    ) -> list[Sense]:
        """List the senses of an object: the maps that explain its associations.

        Each observed associate belongs to the map that explains most of its similarity to the
        object (`associates`). A map is a sense if its associates have at least 5 % of the strength
        and at least one of them is close to the object on the map. The close associates are the
        members of the sense.

        If no associations of the object are known, as in fits to vectors or counts, its senses are
        the maps that contribute at least 10 % to its similarities in the model. Their members are
        the most similar objects on the map.

        Parameters
        ----------
        label : str
            The label, in upper or lower case.
        associations : Associations, optional
            Other observed associations, whose labels are matched with the labels of the atlas.
            Their strengths are then divided among the maps. By default, the fitted associations are
            used.
        n_neighbors : int
            Maximum number of members to list per sense.
        kind, neighbor_kind : str, optional
            The kind of the object, and the kind of its neighbours, as in `neighbors`.

        Returns
        -------
        list of Sense
            The senses, in descending order of their share or, without observed associations, of
            their contribution to the similarities.

        Raises
        ------
        UnknownLabelError
            If the object is unknown. The message suggests similar labels.
        ParameterError
            If a kind is unknown.
        DataError
            If the associations have no response to the object, or no label in common with the
            atlas.

        See Also
        --------
        associates

        Examples
        --------
        >>> import numpy as np
        >>> from scipy import sparse
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> table = sparse.csr_array([[0, .6, .4], [1, 0, 0], [1, 0, 0]])
        >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE,
        ...               associations=table)
        >>> [(sense.name, sense.map, round(sense.share, 2)) for sense in atlas.senses("tie")]
        [(('knot',), 0, 0.6), (('tuxedo',), 1, 0.4)]
        """
        i = self.index(label, kind=kind)
        return answers.senses(self, i, n_neighbors, neighbor_kind, associations)

    def neighbors(
        self,
        word: str,
        map: int | None = None,
        *,
        n_neighbors: int = 10,
        kind: str | None = None,
        neighbor_kind: str | None = None,
    ) -> tuple[Neighbor, ...]:
        """List the objects most similar to a word, in one map or in all maps together.

        In a bipartite atlas, the neighbours are objects of the other kind by default, or of
        `neighbor_kind`. They are ranked by their share of sum_j v_ij, without the fixed factors. If
        the factors were included, the most frequent objects would be the first neighbours of every
        word.

        Parameters
        ----------
        word : str
            The label, in upper or lower case.
        map : int, optional
            The number of the map. By default, all maps are used together.
        n_neighbors : int
            Maximum number of neighbours.
        kind : str, optional
            The kind of the object, in case both kinds contain the label.
        neighbor_kind : str, optional
            The kind of the neighbours. By default, it is the kind to which the word does not
            belong.

        Returns
        -------
        tuple of Neighbor
            The neighbours, in descending order of similarity.

        Raises
        ------
        UnknownLabelError
            If the word is unknown. The message suggests similar labels.
        """
        i = self.index(word, kind=kind)
        return answers.neighbors(self, i, map, n_neighbors, neighbor_kind)

    def disambiguate(self, word: str, context: Sequence[str] = ()) -> list[MapInContext]:
        """Compute the probabilities of the maps of a word in a context.

        The probability of a map m is p(m) prod_c p(c | m), up to a constant. A context word c is
        probable if it is an associate on the map, or if the model chooses it from the associates on
        the map (`manymaps.atlas.context`). Without context, the probabilities are the priors: the
        part of the word's associations that each map explains.

        Parameters
        ----------
        word : str
            The label, in upper or lower case.
        context : sequence of str
            Context words, in any order. The word itself is ignored, and repeated words count once.

        Returns
        -------
        list of MapInContext
            All maps, sorted by probability. The probabilities sum to 1.

        Raises
        ------
        UnknownLabelError
            If the word, or every word of the context, is unknown. The message suggests similar
            labels.
        ParameterError
            If the context is a string.
        DataError
            If the atlas is bipartite.

        Warns
        -----
        DataWarning
            If some context words are not in the atlas. They are ignored.

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
        >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
        >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
        >>> atlas = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)
        >>> for one in atlas.disambiguate("tie", ["tuxedo"]):
        ...     print(one.map, round(one.prior, 2), round(one.probability, 2))
        1 0.5 0.95
        0 0.5 0.05
        """
        return disambiguate(self, word, context)

    def captions(self, n_words: int = 4) -> list[tuple[str, ...]]:
        """Choose words that are typical of each map and represent different groups of objects.

        Parameters
        ----------
        n_words : int
            Maximum number of words per map. They are chosen from the objects with a mixing
            proportion of at least 0.1, if there are any.

        Returns
        -------
        list of tuple of str
            The words of each map, sorted by how much of the map they represent
            (`manymaps.atlas.captions`). In a bipartite atlas, the words are labels of columns. If
            there are more than 40 objects and their labels are only numbers, the words are
            categories from the metadata.

        Raises
        ------
        ParameterError
            If a value is out of its range.

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
        return captions_of(self, n_words)

    def add_metadata(self, frame: Any, on: str | None = None, *, name: str | None = None) -> Atlas:
        """Add columns of metadata by label, or a single column in the order of the objects.

        Parameters
        ----------
        frame : frame, mapping of str to sequence, or a column by itself
            A table (pandas, polars, pyarrow, ... or plain columns) with one row per label. Labels
            are matched exactly, or case-insensitively if there is no exact match. A table without
            labels has one row per object, in their order, and is only accepted if the objects are
            numbered from 0. A single column (list, array, series) has one value per object, in the
            order of the objects. A pandas series is joined by its index if that contains labels.
        on : str, optional
            The column of labels. By default, the pandas index is used if it contains labels of the
            atlas. Otherwise, it is a column "label", "word" or "id", or a first column of words.
            Integers are labels only if they comprise all objects or are all objects.
        name : str, optional
            The name of a single column. By default, the name of the series is used.

        Returns
        -------
        Atlas
            A new atlas with the columns in `metadata`. The values of objects without a row are NaN
            or "".

        Raises
        ------
        DataError
            If a label is repeated in the table, no label matches, or a single column does not have
            one value per object.
        ParameterError
            If a single column has no name, or `name` is passed with a table.

        Warns
        -----
        DataWarning
            If some rows do not match any object, or if rows without labels are used in their order.

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
        return editing.add_metadata(self, frame, on, name)

    def subset(self, objects: np.ndarray | Sequence[int] | Sequence[str] | str) -> Atlas:
        """Select some of the objects, with unchanged coordinates.

        Parameters
        ----------
        objects : array of int or str, str, or array of bool with shape (n_objects,)
            Indices or labels of the objects in their new order, one label, or a mask. Labels are
            matched regardless of case. In a bipartite atlas, all rows must come before all columns.
            If objects of only one kind remain, the atlas has a single kind.

        Returns
        -------
        Atlas
            A new atlas. It does not contain the normalizer, which describes all objects.

        Raises
        ------
        UnknownLabelError
            If a label is unknown. The message suggests similar labels.
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
        return editing.subset(self, objects)

    def renumbered(self, order: np.ndarray | Sequence[int]) -> Atlas:
        """Reorder the maps.

        Parameters
        ----------
        order : array of int, shape (n_maps,)
            The current number of each map of the new atlas. Every map must occur exactly once.

        Returns
        -------
        Atlas
            A new atlas with the maps in the new order.

        Raises
        ------
        ParameterError
            If a map is missing or repeated.

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
        return editing.renumbered(self, order)

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
        """Add new objects without changing the coordinates of the existing objects.

        Parameters
        ----------
        labels : sequence of str, length k
            The name of each new object.
        maps : ndarray of shape (n_maps, k, n_components)
            The position of each new object in each map.
        proportions : ndarray of shape (n_maps, k)
            Mixing proportions, at least 0. The proportions of each object sum to 1 over the maps.
        at : int, optional
            Number of existing objects that precede the new ones. By default, the new objects follow
            all existing objects. In a bipartite atlas, the new objects have the same kind as the
            object before them. If `at` is 0, the new objects are rows.
        factors : ndarray of shape (k,), optional
            The fixed factors of the new objects, if the atlas has factors. By default, the median
            of the existing factors is used. In a bipartite atlas, there is no default.
        metadata : mapping of str to ndarray of shape (k,), optional
            Metadata columns of the new objects.
        vectors : ndarray or sparse array of shape (k, n_features), optional
            The vectors of the new objects. If they are omitted, the new atlas has no vectors.

        Returns
        -------
        Atlas
            A new atlas whose column "inserted" marks the new objects ("inserted_1", ... if that
            name is taken). If only the existing or only the new objects have a column, the missing
            values are NaN or "". The new atlas contains neither log Z nor associations of the new
            objects.

        Raises
        ------
        ParameterError
            If the atlas is bipartite and has factors, and the new factors are missing.

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
        return editing.extended(
            self, labels, maps, proportions,
            at=at, factors=factors, metadata=metadata, vectors=vectors,
        )  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Convert the atlas to a data frame with one row per object and map.

        Returns
        -------
        DataFrame
            The columns label, map, proportion, x, y, ... and the metadata. The n_objects * n_maps
            rows are grouped by object. If there are more than three dimensions, the coordinates are
            named x0, x1, ...

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> list(atlas.to_frame().columns)
        ['label', 'map', 'proportion', 'x', 'y']
        """
        columns = long_columns(self.labels, self.maps, self.proportions, self.columns)
        return as_frame(columns)

    def save(self, path: str | os.PathLike[str], *, vectors: bool = True) -> None:
        """Write the atlas to a file; a partial file is never left behind.

        Parameters
        ----------
        path : path
            The file.
        vectors : bool
            Whether to store the fitted vectors. A file without vectors is smaller. New objects can
            then be inserted only by similarities, or if the fitted vectors are passed again.

        Raises
        ------
        OSError
            If the file cannot be written. No incomplete file remains.
        """
        save_atlas(self, path, vectors=vectors)


@dataclass(frozen=True, eq=False, repr=False)
class Entry:
    """An object of an atlas, returned by `atlas["tie"]`.

    Parameters
    ----------
    atlas : Atlas
        The atlas that contains the object.
    index : int
        The index of the object.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> entry = Atlas(["tie", "knot", "tuxedo"], maps, half, MULTIPLE_MAPS_T_SNE)["TIE"]
    >>> entry.label, entry.proportions.tolist(), entry.points.tolist()
    ('tie', [0.5, 0.5], [[0.0], [0.0]])
    >>> [sense.neighbors[0].label for sense in entry.senses]
    ['knot', 'tuxedo']
    """

    atlas: Atlas
    index: int

    @property
    def label(self) -> str:
        """The label as it is stored in the atlas."""
        return self.atlas.labels[self.index]

    @property
    def kind(self) -> str | None:
        """The kind of the object; None unless the atlas is bipartite."""
        return None if self.atlas.kinds is None else self.atlas.kinds[self.index]

    @property
    def points(self) -> np.ndarray:
        """The position of the object in each map, shape (n_maps, n_components)."""
        return self.atlas.maps[:, self.index]

    @property
    def proportions(self) -> np.ndarray:
        """The mixing proportions of the object, shape (n_maps,)."""
        return self.atlas.proportions[:, self.index]

    @property
    def metadata(self) -> dict[str, Any]:
        """The object's values in the metadata columns."""
        return {name: values[self.index] for name, values in self.atlas.metadata.items()}

    @cached_property
    def senses(self) -> list[Sense]:
        """The senses of the object, as `Atlas.senses` lists them."""
        return self.atlas.senses(self.label, kind=self.kind)

    @cached_property
    def neighbors(self) -> tuple[Neighbor, ...]:
        """The most similar objects over all maps, as `Atlas.neighbors` lists them."""
        return self.atlas.neighbors(self.label, kind=self.kind)

    def __repr__(self) -> str:
        return entry_text(self.label, self.kind, self.senses)


def load_atlas(path: str | os.PathLike[str]) -> Atlas:
    """Read an atlas that `Atlas.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Atlas
        The stored atlas.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    DataError
        If the file is not an atlas, is damaged or truncated, or comes from a newer version.

    See Also
    --------
    Atlas

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from manymaps import Atlas, load_atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atlas.save(pathlib.Path(folder, "ties.atlas"))
    ...     load_atlas(pathlib.Path(folder, "ties.atlas")).labels
    ('tie', 'knot', 'suit')
    """
    return read_atlas(path, Atlas)
