"""Variables of the environment on a map, as arrows and centroids (the function `envfit` of vegan).

Let X (n, d) be the positions of the sites in one map, z a numeric variable and w the weights of the
sites. Bars are weighted means, and b minimizes the weighted sum of squared errors of

    z - z_bar = (X - x_bar) b         direction b / |b|       r2 = 1 - residual / total

A factor divides the sites into levels. Its centroids c_l are the weighted means of X, and

    r2 = sum_l W_l |c_l - x_bar|^2 / sum_i w_i |x_i - x_bar|^2      W_l = sum of w in level l

The p-value is (1 + the number of permutations with at least this r2) / (1 + n_permutations), where
a permutation assigns the rows of the table to the sites at random. If all weights are equal, r2 and
p are those of vegan. With unequal weights, vegan computes the r2 of a variable as an unweighted
correlation of weighted values, whereas r2 here is the share of the weighted variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import orth

from manymaps.atlas.atlas import Atlas
from manymaps.checks import check_index, check_whole
from manymaps.data.frames import as_frame, axis_names, join_columns
from manymaps.errors import DataError, ParameterError
from manymaps.labels import listed, natural_order, plural
from manymaps.metrics.measures import ratio
from manymaps.progress import work
from manymaps.seeds import RandomState, drawn_seed

if TYPE_CHECKING:
    import pandas as pd

# As in vegan, a permuted r2 that is smaller than the observed r2 by less than this is equal.
_ROUNDING = float(np.sqrt(np.finfo(float).eps))
# Share of the space between the origin and the edge that the longest arrow fills, as in vegan.
FILL = 0.75
# If the origin is closer to an edge than this share of the panel, an arrow towards the edge has at
# most 0.075 of the panel (FILL times this value), and all other arrows shrink in proportion.
NEAR_EDGE = 0.1
# With two sites, every variable has an r2 of 1.
_FEWEST_SITES = 3


@dataclass(frozen=True, eq=False, repr=False)
class FittedVectors:
    """Directions of numeric variables on a map, and centroids of the levels of factors.

    Attributes
    ----------
    map : int
        Number of the map.
    origin : ndarray of shape (n_components,)
        Weighted mean position of the sites in map units, where arrows start.
    arrows : DataFrame
        One row per numeric variable, with the columns "variable", "x" and "y" (unit vector in which
        the variable increases most, or NaN for a constant variable), "r2" (share of the weighted
        variance of the variable that the map explains, from 0 to 1) and "p" (permutation p-value of
        r2). The lengths of drawn arrows are proportional to sqrt(r2).
    centroids : DataFrame
        One row per level of a factor, with the columns "variable", "level", "x" and "y" (weighted
        mean position of the sites of the level, in map units), "r2" (share of the weighted variance
        of the positions between the levels of the factor, from 0 to 1) and "p" (of the factor).

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas, fit_vectors
    >>> from manymaps.model import T_SNE
    >>> points = np.array([[[0.0, 0.0], [0.9, 1.2], [1.8, 2.4], [2.7, 3.6], [3.6, 4.8]]])
    >>> atlas = Atlas(list("abcde"), points, np.ones((1, 5)), T_SNE)
    >>> table = {"site": list("abcde"), "pH": [4.0, 5, 6, 7, 8], "soil": [*"ccppp"]}
    >>> found = fit_vectors(atlas, table)
    >>> found
    <FittedVectors of 1 variable and 2 levels of factors on map 0>
    >>> found.arrows[["x", "y", "r2"]].round(3).values.tolist()
    [[0.6, 0.8, 1.0]]
    >>> found.centroids[["level", "x", "y"]].round(3).values.tolist()
    [['c', 0.45, 0.6], ['p', 2.7, 3.6]]
    """

    map: int
    origin: np.ndarray
    arrows: pd.DataFrame
    centroids: pd.DataFrame

    def __repr__(self) -> str:
        variables = plural("variable", len(self.arrows))
        levels = plural("level", len(self.centroids))
        return f"<FittedVectors of {variables} and {levels} of factors on map {self.map}>"

    def significant(self, p_max: float = 0.05) -> FittedVectors:
        """Select the variables and factors whose p-value is at most `p_max`.

        Parameters
        ----------
        p_max : float, default=0.05
            The largest p-value, from 0 to 1. The p-values are not corrected for the number of
            variables.

        Returns
        -------
        FittedVectors
            The selection, with unchanged values.
        """
        arrows, centroids = (table[table["p"] <= p_max] for table in (self.arrows, self.centroids))
        return replace(self, arrows=arrows, centroids=centroids)

    def ends(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the common start (2,) and the tips (n_variables, 2) of arrows in a panel.

        Arrows start at the origin. If the origin is outside the panel or near its edge, which
        leaves no space for arrows, they start in the middle of the panel, because arrows are
        directions, not positions.

        Parameters
        ----------
        low, high : ndarray of shape (2,)
            The lower left and upper right corners of the panel, in map units.

        Returns
        -------
        start, tips : ndarray
            Positions in map units. The tip of a constant variable is NaN.

        Raises
        ------
        ParameterError
            If the map has another number of dimensions than two.
        """
        if len(self.origin) != 2:
            raise ParameterError(
                f"vectors are drawn on maps of two dimensions; this map has {len(self.origin)}"
            )
        inside = np.minimum(self.origin - low, high - self.origin) >= NEAR_EDGE * (high - low)
        start = self.origin if inside.all() else (low + high) / 2
        reach = self.arrows[["x", "y"]].to_numpy() * np.sqrt(self.arrows[["r2"]].to_numpy())
        room = np.where(reach > 0, high - start, start - low)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.nanmin(room / np.abs(reach), initial=np.inf)
        return start, start + FILL * scale * reach


def fit_vectors(
    atlas: Atlas,
    frame: Any,
    *,
    map: int = 0,
    kind: str | None = None,
    n_permutations: int = 999,
    random_state: RandomState = 0,
) -> FittedVectors:
    """Fit variables of the environment to the positions of the sites on a map.

    Parameters
    ----------
    atlas : Atlas
        The atlas. In a bipartite atlas, such as one of sites and species, the variables describe
        the objects of one kind.
    frame : frame, or mapping of str to sequence
        A table with one row per site. Rows are joined by label as in `Atlas.add_metadata`. Numeric
        columns are variables with a direction. Columns of text, of truth values and of pandas
        categories are factors.
    map : int, default=0
        Number of the map.
    kind : str, optional
        In a bipartite atlas, the kind of the objects that the table describes. The default is the
        kind of the rows of the table of counts.
    n_permutations : int, default=999
        Number of permutations.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.

    Returns
    -------
    FittedVectors
        Directions, centroids, r2 and p-values.

    Raises
    ------
    DataError
        If sites have no row, rows match no site, or values are missing or infinite. If there are
        fewer than three sites, or if a column of texts or dates has a different value for each.
    ParameterError
        If the map or the kind does not exist.

    See Also
    --------
    plot_map, Atlas.add_metadata

    Notes
    -----
    The function corresponds to `envfit` of the R package vegan. Each site is weighted by its weight
    in the map (`Atlas.map_weights`), which is 1 if the atlas has a single map. With equal weights,
    directions, centroids and r2 are the same as in vegan for the same positions.

    References
    ----------
    .. [1] Oksanen, J., et al. "vegan: Community Ecology Package". R package.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import CODE, Counts, fit_vectors
    >>> visits = Counts(np.array([[9, 5, 1], [6, 9, 2], [1, 2, 9], [0, 1, 8]]),
    ...                 ["oak", "ash", "reed", "pond"], ["jay", "tit", "coot"],
    ...                 kinds=("site", "bird"))
    >>> atlas = CODE(random_state=0).fit(visits).atlas_
    >>> table = {"site": ["oak", "ash", "reed", "pond"], "water": [0.1, 0.2, 0.9, 1.0],
    ...          "forest": ["yes", "yes", "no", "no"]}
    >>> found = fit_vectors(atlas, table, n_permutations=99)
    >>> found.arrows[["variable", "r2"]].round(1).values.tolist()
    [['water', 1.0]]
    >>> found.centroids["level"].tolist()
    ['no', 'yes']
    """
    check_index("map", map, atlas.n_maps)
    check_whole("n_permutations", n_permutations)
    rows = np.arange(atlas.n_objects)
    if atlas.kinds is not None or kind is not None:
        rows = np.flatnonzero(atlas.of_kind(kind or next(iter(atlas.kinds or ()), "")))
    weights = atlas.map_weights[map, rows]
    if np.count_nonzero(weights) < _FEWEST_SITES:
        raise DataError(
            f"{plural('site', len(rows))} with {np.count_nonzero(weights)} weights above 0; "
            f"expected at least {_FEWEST_SITES}"
        )
    table = _read_table([atlas.labels[i] for i in rows.tolist()], frame)
    categories = set(frame.select_dtypes("category")) if hasattr(frame, "select_dtypes") else set()
    factors = [
        name for name, x in table.items() if name in categories or x.dtype.kind in ("U", "b")
    ]
    variables = [name for name in table if name not in factors]
    coded = [_coded(name, table[name]) for name in factors]
    levels = [level for of_factor, _ in coded for level in of_factor]
    factor_of = np.repeat(np.arange(len(coded)), [len(of_factor) for of_factor, _ in coded])
    none = np.zeros((0, len(rows)))
    members = np.concatenate(
        [none, *(np.arange(len(names))[:, None] == codes for names, codes in coded)]
    )
    points = atlas.maps[map, rows].astype(np.float64)
    origin = np.average(points, axis=0, weights=weights)
    X, root = points - origin, np.sqrt(weights)[:, None]
    values = np.column_stack([none.T, *(table[name] for name in variables)])
    Z = values - np.average(values, axis=0, weights=weights)
    slopes = np.linalg.lstsq(root * X, root * Z, rcond=None)[0].T
    # A constant variable has only rounding errors as its variance.
    varies = weights @ Z**2 > _ROUNDING**2 * (weights @ values**2)
    basis, spread = orth(root * X), float(weights @ (X**2).sum(axis=1))

    def shares(order: np.ndarray) -> np.ndarray:
        """Return r2 of all variables, then of all factors, for rows assigned in this order."""
        z = values[order] - np.average(values[order], axis=0, weights=weights)
        explained = np.where(varies, ((basis.T @ (root * z)) ** 2).sum(axis=0), 0.0)
        squares = ((members[:, order] @ (root**2 * X)) ** 2).sum(axis=1)
        between = ratio(squares, members[:, order] @ weights, 0.0)
        of_factors = np.bincount(factor_of, between, len(factors))
        parts = ratio(explained, weights @ z**2, 0.0), ratio(of_factors, spread, 0.0)
        return np.clip(np.concatenate(parts), 0.0, 1.0)

    rng, r2 = np.random.default_rng(drawn_seed(random_state)), shares(np.arange(len(rows)))
    reached = np.ones(len(r2))
    with work("permutation", total=n_permutations) as at:
        for k in range(n_permutations):
            at(k)
            reached += shares(rng.permutation(len(rows))) >= r2 - _ROUNDING
    p = reached / (n_permutations + 1)
    directions = ratio(slopes, np.linalg.norm(slopes, axis=1, keepdims=True))
    directions[~varies] = np.nan
    middles = ratio(members @ (root**2 * points), (members @ weights)[:, None])
    axes, of_factors = axis_names(atlas.n_components), len(variables) + factor_of
    arrows = {"variable": np.array(variables, object), **dict(zip(axes, directions.T, strict=True))}
    arrows |= {"r2": r2[: len(variables)], "p": p[: len(variables)]}
    centroids = {
        "variable": np.array([factors[k] for k in factor_of], object),
        "level": np.array(levels, object),
        **dict(zip(axes, middles.T, strict=True)),
        **{"r2": r2[of_factors], "p": p[of_factors]},
    }
    return FittedVectors(map, origin, as_frame(arrows), as_frame(centroids))


def _read_table(labels: Sequence[str], frame: Any) -> dict[str, np.ndarray]:
    """Return the columns in the order of the sites, of which none may lack a value."""
    table, unmatched, without = join_columns(labels, frame)
    if not table:
        raise DataError("the table has labels only; expected at least one variable")
    faults = [
        (without, "sites have no row in the table"),
        (unmatched, "rows of the table match no site"),
    ]
    for name, x in table.items():
        missing = x == "" if x.dtype.kind == "U" else ~np.isfinite(x)
        cells = [label for label, k in zip(labels, missing, strict=True) if k]
        faults.append((cells, f"sites have no finite value in the column {name!r}"))
    for names, fault in faults:
        if names:
            raise DataError(f"{len(names):,} {fault}: {listed(names)}; add or remove them")
    return table


def _coded(name: str, column: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the levels of a factor in natural order, and the level number of each site."""
    texts = [f"{x:g}" if isinstance(x, float) else str(x) for x in column.tolist()]
    levels = sorted(set(texts), key=natural_order)
    if len(levels) == len(texts):
        raise DataError(
            f"the column {name!r} has a different value for each site ({listed(levels, 3)}); "
            "convert it to numbers or to fewer groups, or omit it"
        )
    return levels, np.array([levels.index(text) for text in texts], dtype=np.int64)
