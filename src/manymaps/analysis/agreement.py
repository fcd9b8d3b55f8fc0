"""Agreement of each judge with the other judges and with a fit to the average judgements.

    with others   the correlation between a judge and the mean of all others, over the judge's pairs
    with the fit  the correlation between a judge and the average predicted by the fit
    shares        the share of a judge's similarities that each map explains

A fit of maps yields association probabilities q, which are converted to the scale of the table from
which P was computed (`manymaps.model.target`). Let O_i be the judged pairs in row i of the average
s. Then

    fitted_ij = q_ij / sum_{O_i} q  *  sum_{O_i} s                             (conditional)
    fitted_ij = q_ij / sum_O q  *  2 |O| / (1 / mean_{O_i} s + 1 / mean_{O_j} s)     (joint)

Without the background, the fitted values are a sum over maps, fitted_ij = sum_m fitted_ij^m. Judges
may weight the common maps differently, as in weighted models of individual differences (INDSCAL,
Carroll & Chang 1970, Psychometrika 35, 283-319). The weights w_km >= 0 minimize the squared error
of s_ij^k ~ sum_m w_km fitted_ij^m. The share of map m is w_km times the sum of fitted^m over the
pairs of judge k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from manymaps.atlas.atlas import Atlas
from manymaps.clustering.additive import AdditiveClustering
from manymaps.data.judgements import Judgements
from manymaps.data.results import TabularResult
from manymaps.errors import DataError
from manymaps.labels import first_of, plural
from manymaps.metrics.measures import ratio


@dataclass(frozen=True, repr=False)
class Agreement(TabularResult):
    """Agreement between judges, and between each judge and a fit.

    Attributes
    ----------
    judges : tuple of str
        Names of the judges.
    n_pairs : ndarray of int, shape (n_judges,)
        Number of pairs that each judge judged.
    with_others : ndarray of shape (n_judges,)
        Correlation of each judge with the mean of the others, from -1 to 1. It is NaN if there are
        fewer than three common pairs or if all values are equal.
    with_fit : ndarray of shape (n_judges,), optional
        Correlation of each judge with the fit, from -1 to 1. The squared correlation is the share
        of the variance in the judge's similarities that the fit explains on the judge's own scale.
    shares : ndarray of shape (n_judges, n_maps), optional
        Share of each judge's similarities that each map explains, if the fit has several maps. Each
        row sums to 1, or is 0 if no map explains anything.
    fit_with_average : float, optional
        Correlation between the fit and the average, from -1 to 1.

    See Also
    --------
    judge_agreement

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Judgements, judge_agreement
    >>> one = np.array([[0, 5, 1, 2], [5, 0, 2, 1], [1, 2, 0, 4], [2, 1, 4, 0]])
    >>> other = np.array([[0, 4, 2, 1], [4, 0, 1, 2], [2, 1, 0, 5], [1, 2, 5, 0]])
    >>> agreement = judge_agreement(Judgements("abcd", [one, one + 1, other]))
    >>> agreement.with_others.round(2).tolist()
    [0.94, 0.94, 0.78]
    """

    judges: tuple[str, ...]
    n_pairs: np.ndarray
    with_others: np.ndarray
    with_fit: np.ndarray | None = None
    shares: np.ndarray | None = None
    fit_with_average: float | None = None

    def __repr__(self) -> str:
        correlations = ", ".join(f"{value:.2f}" for value in self.with_others)
        return f"<Agreement of {plural('judge', len(self.judges))} with the others: {correlations}>"

    def records(self) -> list[dict[str, Any]]:
        """Return one record per judge, as `fit --json` prints them.

        Returns
        -------
        list of dict
            The values of each judge by name.
        """
        names = ("n_pairs", "with_others", "with_fit", "shares")
        parts = {name: getattr(self, name) for name in names}
        return [
            {"judge": judge}
            | {name: None if part is None else part[k].tolist() for name, part in parts.items()}
            for k, judge in enumerate(self.judges)
        ]

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Return one row per judge, with the shares as columns "map 0", "map 1", ..."""
        columns = {
            "judge": np.array(self.judges, dtype=object),
            "n_pairs": self.n_pairs,
            "with_others": self.with_others,
        }
        if self.with_fit is not None:
            columns["with_fit"] = self.with_fit
        if self.shares is not None:
            columns |= {f"map {m}": share for m, share in enumerate(self.shares.T)}
        return columns


def judge_agreement(
    judgements: Judgements, fitted: Atlas | AdditiveClustering | np.ndarray | None = None
) -> Agreement:
    """Measure how each judge agrees with the others and with a fit to the average judgements.

    Parameters
    ----------
    judgements : Judgements
        Similarities of the same objects from several judges.
    fitted : Atlas, AdditiveClustering or array of shape (n, n), optional
        A fit to the average judgements. An array must contain the fitted similarities. By default,
        judges are compared only with each other.

        Returns
        -------
        Agreement
            The correlations of each judge and, with a fit, the shares of the maps.

    Raises
    ------
    DataError
        If the fit and the judgements contain different objects.

    See Also
    --------
    Agreement, read_judgements

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Judgements, judge_agreement
    >>> one = np.array([[0, 5, 1, 2], [5, 0, 2, 1], [1, 2, 0, 4], [2, 1, 4, 0]])
    >>> judged = Judgements("abcd", [one, one + 1, one.max() - one])
    >>> (judge_agreement(judged, one).with_fit + 0.0).round(2).tolist()
    [1.0, 1.0, -1.0]
    """
    parts = None if fitted is None else _fitted_parts(judgements, fitted)
    with_fit = shares = fit_with_average = None
    if parts is not None:
        whole = parts.sum(axis=0)
        with_fit = np.array([_correlation(one, whole) for one in judgements.values])
        fit_with_average = _correlation(judgements.average, whole)
        if len(parts) > 1:
            shares = np.array([_shares(one, parts) for one in judgements.values])
    return Agreement(
        judges=tuple(judgements.judges or ()),
        n_pairs=judgements.n_pairs,
        with_others=np.array([
            _correlation(one, judgements.average_without(k))
            for k, one in enumerate(judgements.values)
        ]),
        with_fit=with_fit,
        shares=shares,
        fit_with_average=fit_with_average,
    )  # fmt: skip


def _correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Return the correlation over the cells that are known in both tables."""
    both = ~(np.isnan(left) | np.isnan(right))
    a, b = left[both], right[both]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _shares(judged: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the weights of maps for a judge as shares that sum to 1, shape (n_maps,)."""
    known = ~np.isnan(judged) & ~np.isnan(parts[0])
    columns = parts[:, known].T
    weights, _ = nnls(columns, judged[known])
    explained = weights * columns.sum(axis=0)
    total = explained.sum()
    return explained / total if total > 0 else explained


def _fitted_parts(judgements: Judgements, fitted: Any) -> np.ndarray:
    """Return each part's fit to the average, (n_parts, n, n), with NaN on the diagonal."""
    n = judgements.n_objects
    if isinstance(fitted, AdditiveClustering):
        _check_labels(judgements, fitted.labels_names_)
        return _ordered(judgements, fitted.labels_names_, fitted.predict()[None])
    if not isinstance(fitted, Atlas):
        table = np.array(fitted, np.float64)
        if table.shape != (n, n):
            raise DataError(f"the fit has shape {table.shape}; expected {n} objects")
        np.fill_diagonal(table, np.nan)
        return table[None]
    _check_labels(judgements, fitted.labels)
    chosen = np.array([fitted.choices.shares(i) for i in range(n)]).transpose(1, 0, 2)
    chosen = _ordered(judgements, fitted.labels, chosen)
    scale = _scale(chosen.sum(axis=0), judgements.average, fitted.model.normalization)
    parts = chosen * scale
    parts[:, np.eye(n, dtype=bool)] = np.nan
    return parts


def _scale(chosen: np.ndarray, average: np.ndarray, normalization: str) -> np.ndarray:
    """Return the factors from probabilities to similarities, shape (n, 1) or (n, n)."""
    judged = ~np.isnan(average)
    sums = np.where(judged, average, 0.0).sum(axis=1, keepdims=True)
    explained = np.where(judged, chosen, 0.0).sum(axis=1, keepdims=True)
    if normalization == "conditional":
        return ratio(sums, explained, 0.0)
    counts = judged.sum(axis=1, keepdims=True)
    inverse = ratio(counts, sums, 0.0)
    return ratio(2 * counts.sum() / explained.sum(), inverse + inverse.T, 0.0)


def _check_labels(judgements: Judgements, labels: Any) -> None:
    lacking = sorted(set(judgements.labels) ^ set(labels))
    if lacking:
        raise DataError(
            f"the fit and the judgements differ in {len(lacking):,} objects, such as "
            f"{first_of(lacking)}; compare judgements with a fit of the same objects"
        )


def _ordered(judgements: Judgements, labels: Any, parts: np.ndarray) -> np.ndarray:
    """Return the tables with rows and columns in the order of the judgements."""
    place = {label: i for i, label in enumerate(labels)}
    order = [place[label] for label in judgements.labels]
    return parts[:, order][:, :, order]
