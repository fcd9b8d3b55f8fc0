"""The atlas: the maps of labelled objects, and everything that can be asked of them.

The fields are declared in `manymaps.atlas.data`, and the methods are carried out elsewhere:

    answers     similarities, neighbours, senses, paths
    captions    words that are typical of a map
    editing     subsets, further objects and columns, renumbered maps
    storage     the file `.atlas`

Maps are numbered from 0 everywhere: in Python, files, figures and commands.

Shapes: maps (n_maps, n_objects, n_components), proportions (n_maps, n_objects).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack, overload

import numpy as np
from scipy import sparse

from manymaps.atlas import answers, editing
from manymaps.atlas.answers import LEAST_RECALL, LEAST_SHARE, Neighbor, Sense, SenseOptions
from manymaps.atlas.captions import captions_of
from manymaps.atlas.consensus import ConsensusSense
from manymaps.atlas.data import AtlasData
from manymaps.atlas.paths import Step
from manymaps.atlas.representation import atlas_html, atlas_text, entry_text
from manymaps.atlas.sense_table import sense_table
from manymaps.atlas.storage import read_atlas, same_atlas, save_atlas
from manymaps.data.frames import Backend, as_frame, long_columns
from manymaps.labels import fold

__all__ = ["LEAST_RECALL", "LEAST_SHARE", "Atlas", "Entry", "Neighbor", "Sense", "load_atlas"]


@dataclass(frozen=True, eq=False, repr=False)
class Atlas(AtlasData):
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
        """The entry of an object, by its label or (label, kind); `UnknownLabel` where none is."""
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
        return answers.similarities(self, self.index(word, kind=kind))

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
        j = self.index(b, kind=answers.other_kind(self, i))
        sums = self.choices.shares(i).sum(axis=0) if self.kinds else answers.similarities(self, i)
        return float(sums[j])

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
        return answers.earned(self, self.index(word))

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
        return answers.explained(self, self.index(word))

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
        options = n_neighbors, min_share, min_recall, neighbor_kind
        if isinstance(word, str):
            return answers.senses(self, self.index(word, kind=kind), *options)
        return {one: answers.senses(self, self.index(one, kind=kind), *options) for one in word}

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
        options = n_neighbors, min_share, min_recall, neighbor_kind
        return sense_table(self, words, kind, *options)

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
        return answers.has_associations(self, self.index(word, kind=kind))

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
        return answers.neighbors(self, i, map, n_neighbors, neighbor_kind)

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
        return answers.path(self, self.index(start), self.index(end), n_neighbors, min_recall)

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
        return captions_of(self, n_words, min_proportion, maps)

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
        return editing.add_metadata(self, frame, on, name)

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
        return editing.subset(self, objects)

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
        return editing.extended(
            self, labels, maps, proportions,
            at=at, factors=factors, metadata=metadata, vectors=vectors,
        )  # fmt: skip

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


@dataclass(frozen=True, eq=False, repr=False)
class Entry:
    """One object of an atlas, as `atlas["tie"]` gives it.

    Parameters
    ----------
    atlas : Atlas
    index : int
        The number of the object.

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
        """The label as the atlas writes it."""
        return self.atlas.labels[self.index]

    @property
    def kind(self) -> str | None:
        """Of two kinds of object, that of this one."""
        return None if self.atlas.kinds is None else self.atlas.kinds[self.index]

    @property
    def points(self) -> np.ndarray:
        """Where it lies in each map, shape (n_maps, n_components)."""
        return self.atlas.maps[:, self.index]

    @property
    def proportions(self) -> np.ndarray:
        """Its mixing proportions, shape (n_maps,)."""
        return self.atlas.proportions[:, self.index]

    @property
    def metadata(self) -> dict[str, Any]:
        """Its values in the columns of the atlas."""
        return {name: values[self.index] for name, values in self.atlas.metadata.items()}

    @cached_property
    def senses(self) -> list[Sense]:
        """Its senses, as `Atlas.senses` lists them."""
        return self.atlas.senses(self.label, kind=self.kind)

    @cached_property
    def neighbors(self) -> tuple[Neighbor, ...]:
        """What is most similar to it over all maps, as `Atlas.neighbors` lists it."""
        return self.atlas.neighbors(self.label, kind=self.kind)

    @property
    def recalls(self) -> bool:
        """Whether its senses are groups of what it recalls (`Atlas.recalls`)."""
        return self.atlas.recalls(self.label, kind=self.kind)

    def __repr__(self) -> str:
        return entry_text(self.label, self.kind, self.senses, grouped=self.recalls)


def load_atlas(path: str | os.PathLike[str]) -> Atlas:
    """Read an atlas that `Atlas.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Atlas

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    DataError
        Where the file is no atlas, is damaged or cut short, or comes from a newer version.

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
