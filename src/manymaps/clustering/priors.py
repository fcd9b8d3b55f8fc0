"""Priors on the memberships of additive clusters.

The memberships of different objects are independent. The log odds of membership may depend on the
weight of the cluster:

    log p(F | w) = sum_k (size_k a_k - n log(1 + exp(a_k))),   a_k = share_odds + tie (1 - w_k / w)

Here, w is the mean weight. Tenenbaum (1996, sec. 2) assumes that all memberships are equally
likely. He also mentions two alternatives, which this module implements: a favoured size, and a size
that decreases as the weight increases. Shepard & Arabie (1979) observed such a decrease in their
solutions.

Shapes: weights (K,), log odds (K,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from manymaps.checks import check_number


class Prior(ABC):
    """Prior on memberships, whose log odds are a linear function of the weight."""

    @property
    @abstractmethod
    def coefficients(self) -> tuple[float, float]:
        """Log odds at the mean weight, and their decrease from there to twice the mean weight."""

    def log_odds(self, weights: np.ndarray) -> np.ndarray:
        """Return the prior log odds of membership in each cluster."""
        base, tie = self.coefficients
        mean = weights.mean() if len(weights) else 0.0
        return base + tie * (1 - weights / mean) if mean > 0 else np.full(len(weights), base)


@dataclass(frozen=True)
class UniformPrior(Prior):
    """Uniform prior, under which all memberships are equally likely.

    >>> import numpy as np
    >>> UniformPrior().log_odds(np.array([0.5, 0.1])).tolist()
    [0.0, 0.0]
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        """Log odds at the mean weight, and their decrease from there to twice the mean weight."""
        return 0.0, 0.0


@dataclass(frozen=True)
class SizePrior(Prior):
    """Prior that favours clusters of a given size.

    Parameters
    ----------
    share : float, default 0.25
        Expected proportion of objects in a cluster, strictly between 0 and 1. A value of 0.5 is
        equivalent to the uniform prior.

    Examples
    --------
    >>> import numpy as np
    >>> SizePrior(share=0.2).log_odds(np.array([0.5, 0.1])).round(3).tolist()
    [-1.386, -1.386]
    """

    share: float = 0.25

    def __post_init__(self) -> None:
        check_number("share", self.share, above=0, below=1)

    @property
    def coefficients(self) -> tuple[float, float]:
        """Log odds at the mean weight, and their decrease from there to twice the mean weight."""
        return float(np.log(self.share / (1 - self.share))), 0.0


@dataclass(frozen=True)
class TiedSizePrior(Prior):
    """Prior under which heavier clusters are expected to be smaller.

    The weights are fitted only to the similarities, and the prior depends on the fitted weights.

    Parameters
    ----------
    share : float, default 0.25
        Expected proportion of objects in a cluster of mean weight, strictly between 0 and 1.
    tie : float, default 1.0
        Decrease in the log odds of membership when the cluster weight doubles from its mean. It
        must be at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> TiedSizePrior(share=0.5, tie=2.0).log_odds(np.array([0.75, 0.25])).tolist()
    [-1.0, 1.0]
    """

    share: float = 0.25
    tie: float = 1.0

    def __post_init__(self) -> None:
        check_number("share", self.share, above=0, below=1)
        check_number("tie", self.tie, least=0)

    @property
    def coefficients(self) -> tuple[float, float]:
        """Log odds at the mean weight, and their decrease from there to twice the mean weight."""
        return float(np.log(self.share / (1 - self.share))), float(self.tie)
