"""Priors on the memberships of additive clusters.

Objects belong to a cluster independently of one another, with log odds that may depend on the
cluster's weight:

    log p(F | w) = sum_k (size_k a_k - n log(1 + exp(a_k))),   a_k = share_odds + tie (1 - w_k / w)

with w the mean weight. Tenenbaum (1996, sec. 2) takes all memberships as equally likely and names
the two others: a favoured size, and a size that falls as the weight grows (Shepard & Arabie 1979
observe it in their solutions).

Shapes: weights (K,), log odds (K,).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.checks import check_number

__all__ = ["Prior", "SizePrior", "TiedSizePrior", "UniformPrior"]


@dataclass(frozen=True)
class UniformPrior:
    """All memberships equally likely.

    >>> import numpy as np
    >>> UniformPrior().log_odds(np.array([0.5, 0.1])).tolist()
    [0.0, 0.0]
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        """The log odds at the mean weight, and how far they fall at twice that."""
        return 0.0, 0.0

    def log_odds(self, weights: np.ndarray) -> np.ndarray:
        """Log odds of belonging to each cluster, before any data."""
        return np.zeros(len(weights))


@dataclass(frozen=True)
class SizePrior:
    """Clusters of a favoured size.

    Parameters
    ----------
    share : float
        The share of the objects that a cluster is expected to hold, between 0 and 1 without the
        ends; 0.5 is the uniform prior.

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
        """The log odds at the mean weight, and how far they fall at twice that."""
        return float(np.log(self.share / (1 - self.share))), 0.0

    def log_odds(self, weights: np.ndarray) -> np.ndarray:
        """Log odds of belonging to each cluster, before any data."""
        return np.full(len(weights), self.coefficients[0])


@dataclass(frozen=True)
class TiedSizePrior:
    """Heavy clusters are small, light ones large.

    The weights are still fitted to the similarities alone; the prior follows them.

    Parameters
    ----------
    share : float
        The share of the objects that a cluster of mean weight is expected to hold, between 0 and 1
        without the ends.
    tie : float
        How far the log odds of belonging fall from the mean weight to twice that, at least 0.

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
        """The log odds at the mean weight, and how far they fall at twice that."""
        return float(np.log(self.share / (1 - self.share))), float(self.tie)

    def log_odds(self, weights: np.ndarray) -> np.ndarray:
        """Log odds of belonging to each cluster, before any data."""
        base, tie = self.coefficients
        mean = weights.mean() if len(weights) else 0.0
        return base + tie * (1 - weights / mean) if mean > 0 else np.full(len(weights), base)


Prior = UniformPrior | SizePrior | TiedSizePrior
