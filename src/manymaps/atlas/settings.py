"""What fitted an atlas, as far as what is done with it later depends on that.

An atlas keeps all settings of its fit as plain values (`Atlas.parameters`), as a file can hold
them. This is the one place that reads some of them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from manymaps.errors import DataError

if TYPE_CHECKING:
    from manymaps.affinity.affinities import Affinity

__all__ = ["FitSettings"]

_USUAL_PERPLEXITY = 30.0


@dataclass(frozen=True)
class FitSettings:
    """What insertion and evaluation must know of a fit.

    Attributes
    ----------
    penalty : float
        The size penalty; 0 where none is stored.
    metric : str or None
        How vectors were compared; None where no vectors were fitted.
    perplexity : tuple of float
        One or several; 30 where none is stored.
    affinity : str
        How similarities arose from vectors, as Python writes it; "auto" for the usual one.

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
        """Those among the parameters of an atlas.

        Raises
        ------
        DataError
            For a penalty or a perplexity that is no number.
        """
        metric = parameters.get("metric")
        return cls(
            penalty=_number(parameters, "penalty", 0.0),
            metric=None if metric is None else str(metric),
            perplexity=_numbers(parameters, "perplexity", _USUAL_PERPLEXITY),
            affinity=str(parameters.get("affinity", "auto")),
        )

    def similarities_by(self, perplexity: float | tuple[float, ...] | None = None) -> Affinity:
        """How the similarities of the fit arose from vectors, with another perplexity on demand.

        Raises
        ------
        DataError
            Where they arose in a way that is not known here.
        """
        # Reading an atlas does not wait for scikit-learn, which this import loads.
        from manymaps.affinity.affinities import GaussianAffinity, affinity_from

        stored = self.perplexity if len(self.perplexity) > 1 else self.perplexity[0]
        if "(" not in self.affinity:
            return GaussianAffinity(stored if perplexity is None else perplexity)
        changes: dict[str, Any] = {} if perplexity is None else {"perplexity": perplexity}
        found = affinity_from(self.affinity, **changes)
        if found is None:
            raise DataError(
                f"the atlas was fitted with {self.affinity}, which is not known here; its KL "
                "divergence cannot be computed from the vectors"
            )
        return found


def _number(parameters: Mapping[str, Any], name: str, usual: float) -> float:
    numbers = _numbers(parameters, name, usual)
    if len(numbers) > 1:
        raise DataError(f"the atlas says that its fit had {name}={parameters[name]!r}, no number")
    return numbers[0]


def _numbers(parameters: Mapping[str, Any], name: str, usual: float) -> tuple[float, ...]:
    stored = parameters.get(name)
    try:
        numbers = np.atleast_1d(np.asarray(usual if stored is None else stored, np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"the atlas says that its fit had {name}={stored!r}, no number") from error
    if numbers.ndim != 1 or not numbers.size:
        raise DataError(f"the atlas says that its fit had {name}={stored!r}, no number")
    return tuple(numbers.tolist())
