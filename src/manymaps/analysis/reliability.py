"""How far the place of each object can be trusted: what it explains, and what recurs.

A map always puts a point somewhere. Two questions tell whether to believe it, one of the data and
one of the fit.

What does the place *explain*? With p_ij what was fitted of object i, a distribution over others,
and q(j|i) = v_ij / sum_j' v_ij' what the maps make of it,

    explained_i = sum_j min(p_ij, q(j|i)) / sum_j p_ij          from 0 to 1

is the share of its P that the model gives as well: of a hundred responses, so many would the model
have given. Where all of P is known it is one minus the total variation distance of the two rows,
bounded and of the same meaning in every row, as KL(P_i || Q_i) is not (that grows with the number
of partners and is ruled by the few that the maps put far away).

Do its neighbours *recur*? With N_k(i) the k objects of largest v_ij in this fit, and N_k^f(i) those
in fit f, of another seed or of data drawn again,

    recurring_i = mean over f of |N_k(i) & N_k^f(i)| / k

of which k / (n - 1) is what chance gives. A place that explains little can recur (what was observed
is too much for the maps, always in the same way), and one that explains much need not (two hollows
as deep): they are two columns and no product.

Shapes: one value for each object, (n,).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from manymaps.analysis.object_order import in_order_of
from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_whole
from manymaps.data.results import TabularResult, label_columns
from manymaps.errors import DataError
from manymaps.model.target import conditional_target, joint_target

__all__ = ["EXPLAINED", "RECURRING", "Reliability", "reliability", "reliability_with", "scores_of"]

#: What the columns of metadata are called.
EXPLAINED, RECURRING = "share explained", "share recurring"


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(TabularResult):
    """How far the place of each object can be trusted; see the module docstring.

    Attributes
    ----------
    labels : tuple of str, length n
        In the order of the atlas.
    explained : ndarray of shape (n,)
        The share of its P that its place explains; NaN where its P is not known.
    recurring : ndarray of shape (n,) or None
        The share of its neighbours that recur in the other fits, on average; NaN for one without
        neighbours. None where there are no other fits.
    n_others : int
        How many other fits.
    n_neighbors : int
    kinds : tuple of str, length n, or None
        The kind of each object, where there are two.

    See Also
    --------
    reliability

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import Atlas, reliability
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> recalled = sparse.csr_array([[0, .9, .1], [1, 0, 0], [1, 0, 0]])
    >>> atlas = Atlas(atlas.labels, maps, half, atlas.model, associations=recalled)
    >>> reliability(atlas).explained.round(2).tolist()
    [0.6, 1.0, 1.0]
    """

    labels: tuple[str, ...]
    explained: np.ndarray
    recurring: np.ndarray | None
    n_others: int
    n_neighbors: int
    kinds: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"<Reliability of {len(self.labels):,} objects, beside {self.n_others} other fits>"

    @property
    def by_chance(self) -> float:
        """What would recur in maps drawn by lot, k / (n - 1)."""
        others = max(len(self.labels) - 1, 1)
        return min(self.n_neighbors, others) / others

    @property
    def metadata(self) -> dict[str, np.ndarray]:
        """What is known, as columns of an atlas: "share explained" and "share recurring".

        To three decimals, which is what a page or a table shows.
        """
        columns = {EXPLAINED: self.explained}
        if self.recurring is not None:
            columns[RECURRING] = self.recurring
        known = {name: values for name, values in columns.items() if np.isfinite(values).any()}
        return {name: values.round(3) for name, values in known.items()}

    def attach(self, atlas: Atlas) -> Atlas:
        """The atlas with the columns among its metadata, in place of earlier ones of their names.

        Parameters
        ----------
        atlas : Atlas
            Of the same objects in the same order.

        Returns
        -------
        Atlas
            A new one.

        Raises
        ------
        DataError
            Where it has other objects, or these in another order.
        """
        if tuple(atlas.labels) != self.labels:
            raise DataError(
                "the atlas has other objects than those whose reliability is known, or has them in "
                "another order"
            )
        return replace(atlas, metadata={**atlas.metadata, **self.metadata})

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table with one row per object: label, kind (if there are two), and `metadata`."""
        return label_columns(self.labels, self.kinds) | self.metadata


def reliability(atlas: Atlas, fits: Sequence[Atlas] = (), *, n_neighbors: int = 10) -> Reliability:
    """How far the place of each object can be trusted.

    Parameters
    ----------
    atlas : Atlas
    fits : sequence of Atlas
        Other fits of the same objects, in any order: from other seeds, or of data drawn again
        (`repeat_fits`). Without any only the share explained is known.
    n_neighbors : int
        Neighbours of which the share that recurs is told.

    Returns
    -------
    Reliability
        What is explained is known where the atlas knows what was fitted: associations, of which it
        keeps the strongest, or vectors, from which similarities are made once more. It is NaN for
        two kinds of object, and where vectors were left out of a file.

    Raises
    ------
    DataError
        For fits of other objects.
    ParameterError
        For a number of neighbours below 1.

    See Also
    --------
    Reliability, evaluate, repeat_fits

    Examples
    --------
    Of what *tie* recalls a map that holds it with *knot* alone explains half:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manymaps import Atlas, reliability
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> recalled = sparse.csr_array([[0, .5, .5], [1, 0, 0], [1, 0, 0]])
    >>> atlas = Atlas(["tie", "knot", "suit"], np.array([[[0.0], [0.1], [900.0]]]),
    ...               np.ones((1, 3)), MULTIPLE_MAPS_T_SNE, associations=recalled)
    >>> reliability(atlas).explained.round(2).tolist()
    [0.5, 1.0, 0.5]
    >>> reliability(atlas, [atlas], n_neighbors=1).recurring.tolist()
    [1.0, 1.0, 1.0]
    """
    check_whole("n_neighbors", n_neighbors)
    fits = list(fits) if isinstance(fits, Iterable) else [fits]
    for given in (atlas, *fits):
        if not isinstance(given, Atlas):
            raise DataError(
                f"an object of type {type(given).__name__} is no Atlas; give the atlas_ of a fit, "
                "and a list of those of others"
            )
    others = [in_order_of(atlas, other, k) for k, other in enumerate(fits, start=1)]
    return reliability_with(atlas, others, n_neighbors)


def scores_of(atlas: Atlas, i: int) -> tuple[float | None, float | None]:
    """The shares of object i that are explained and that recur; None of what is not known.

    From the columns of the atlas; without that of the share explained, from its associations.
    """
    explained, recurring = (_told(atlas, name, i) for name in (EXPLAINED, RECURRING))
    if explained is None and atlas.kinds is None:
        share = atlas.explained(atlas.labels[i])
        explained = share if np.isfinite(share) else None
    return explained, recurring


def _told(atlas: Atlas, name: str, i: int) -> float | None:
    column = atlas.metadata.get(name)
    if column is None or np.asarray(column).dtype.kind not in "iuf" or not np.isfinite(column[i]):
        return None
    return float(column[i])


def reliability_with(atlas: Atlas, others: Sequence[Atlas], n_neighbors: int) -> Reliability:
    """`reliability` beside fits that have their objects in the order of the atlas."""
    return Reliability(
        labels=tuple(atlas.labels),
        explained=_explained(atlas),
        recurring=_recurring(atlas, others, n_neighbors) if others else None,
        n_others=len(others),
        n_neighbors=n_neighbors,
        kinds=None if atlas.kinds is None else tuple(atlas.kinds),
    )


def _explained(atlas: Atlas) -> np.ndarray:
    """sum_j min(p_ij, q(j|i)) / sum_j p_ij, shape (n,)."""
    n, fitted = atlas.n_objects, _fitted(atlas)
    if fitted is None:
        return np.full(n, np.nan)
    rows = np.repeat(np.arange(n), np.diff(fitted.indptr))
    p = fitted.data.astype(np.float64)
    common = np.minimum(p, atlas.choices.row_shares(rows, fitted.indices))
    whole = np.bincount(rows, p, n)
    shares = np.bincount(rows, common, n)
    return np.divide(shares, whole, out=np.full(n, np.nan), where=whole > 0)


def _fitted(atlas: Atlas) -> sparse.csr_array | None:
    """What was fitted as rows that sum to 1, or to less where only a part is kept; if known."""
    if atlas.kinds is not None:
        return None
    if atlas.associations is not None:
        return atlas.associations
    metric = atlas.settings.metric
    if atlas.vectors is None or metric is None or metric == "precomputed":
        return None
    try:
        affinity = atlas.settings.similarities_by()
    except DataError:
        # An affinity of the user's own making.
        return None
    similarities = affinity.similarities(atlas.vectors, metric=metric)
    if atlas.model.normalization == "joint":
        similarities = joint_target(similarities, average=not affinity.joint).values
    return conditional_target(similarities).values


def _recurring(atlas: Atlas, others: Sequence[Atlas], n_neighbors: int) -> np.ndarray:
    """The mean share of the nearest that are so in the others too, shape (n,)."""
    n = atlas.n_objects
    near = _nearest(atlas, n_neighbors)
    common = sum(near.multiply(_nearest(other, n_neighbors)).sum(axis=1) for other in others)
    whole = len(others) * np.asarray(near.sum(axis=1))
    return np.divide(common, whole, out=np.full(n, np.nan), where=whole > 0)


def _nearest(atlas: Atlas, count: int) -> sparse.csr_array:
    """1 for each of the objects of largest v_ij, (n, n)."""
    n = atlas.n_objects
    neighbors = atlas.choices.strongest(np.arange(n), min(count, max(n - 1, 1)))
    rows, ranks = np.nonzero(neighbors >= 0)
    return sparse.csr_array((np.ones(len(rows)), (rows, neighbors[rows, ranks])), shape=(n, n))
