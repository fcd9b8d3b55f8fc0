"""The settings of a fit that insertion and evaluation need later.

An atlas stores all settings of its fit as plain values (`Atlas.parameters`), so that they can be
written to a file. Only this module reads some of these settings back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.errors import DataError

if TYPE_CHECKING:
    from manymaps.affinity.affinities import Affinity

_USUAL_PERPLEXITY = 30.0


@dataclass(frozen=True)
class FitSettings:
    """The settings of a fit that insertion and evaluation need.

    Attributes
    ----------
    penalty : float
        The size penalty. It is 0 if none is stored.
    metric : str or None
        The metric by which vectors were compared. It is None if no vectors were fitted.
    perplexity : tuple of float
        One or several perplexities. The value is 30 if none is stored.
    affinity : str
        The affinity that converted vectors to similarities, as Python code. The default is "auto".

    Examples
    --------
    >>> FitSettings.of({"penalty": 0.01, "perplexity": [5, 50]})
    FitSettings(penalty=0.01, metric=None, perplexity=(5.0, 50.0), affinity='auto')
    """

    penalty: float = 0.0
    metric: str | None = None
    perplexity: tuple[float, ...] = (_USUAL_PERPLEXITY,)
    affinity: str = "auto"

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> FitSettings:
        """Read the settings from the parameters of an atlas.

        Parameters
        ----------
        parameters : mapping of str to Any
            The parameters of an atlas.

        Returns
        -------
        FitSettings
            The settings. Missing settings have their default values.

        Raises
        ------
        DataError
            If a penalty or a perplexity is not a number.
        """
        metric = parameters.get("metric")
        return cls(
            penalty=_number(parameters, "penalty", 0.0),
            metric=None if metric is None else str(metric),
            perplexity=_numbers(parameters, "perplexity", _USUAL_PERPLEXITY),
            affinity=str(parameters.get("affinity", "auto")),
        )

    def similarities_by(self) -> Affinity:
        """Return the affinity of the fit.

        Returns
        -------
        Affinity
            The affinity that converts vectors to similarities.

        Raises
        ------
        DataError
            If the stored affinity is unknown.
        """
        # This module is imported only when needed, because it loads scikit-learn, which is not
        # needed to read an atlas.
        from manymaps.affinity.affinities import GaussianAffinity, affinity_from

        if "(" not in self.affinity:
            stored = self.perplexity
            return GaussianAffinity(stored if len(stored) > 1 else stored[0])
        found = affinity_from(self.affinity)
        if found is None:
            raise DataError(
                f"the atlas was fitted with {self.affinity}, which this version does not know; its "
                "KL divergence cannot be computed from the vectors"
            )
        return found


def _number(parameters: Mapping[str, Any], name: str, usual: float) -> float:
    numbers = _numbers(parameters, name, usual)
    if len(numbers) > 1:
        raise DataError(f"the atlas stores {name}={parameters[name]!r}; expected one number")
    return numbers[0]


def _numbers(parameters: Mapping[str, Any], name: str, usual: float) -> tuple[float, ...]:
    stored = parameters.get(name)
    try:
        numbers = np.atleast_1d(np.asarray(usual if stored is None else stored, np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"the atlas stores {name}={stored!r}; expected numbers") from error
    if numbers.ndim != 1 or not numbers.size:
        raise DataError(f"the atlas stores {name}={stored!r}; expected numbers")
    return tuple(numbers.tolist())
