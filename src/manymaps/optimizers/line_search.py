"""Optimizers with a line search, through SciPy.

    LBFGS               limited-memory quasi-Newton
    ConjugateGradient   Polak & Ribiere; the optimizer of Cook et al. 2007

A line search fails if forces are not the gradient of the cost, so these optimizers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from manymaps.optimizers.momentum import Optimizer


@dataclass(frozen=True)
class LBFGS(Optimizer):
    """Limited-memory BFGS.

    Parameters
    ----------
    memory : int, default=20
        Number of stored pairs of steps and gradients.

    See Also
    --------
    ConjugateGradient, Momentum

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import TSNE
    >>> from manymaps.optimizers import LBFGS
    >>> line = np.arange(40.0)[:, None]
    >>> fit = TSNE(1, perplexity=4, optimizer=LBFGS(), max_iter=100, random_state=0).fit(line)
    >>> bool(fit.kl_divergence_ < 1)
    True
    """

    memory: int = 20
    method = "L-BFGS-B"

    def _options(self, n_iter: int) -> dict[str, float]:
        """Options of `scipy.optimize.minimize`."""
        return {
            "maxiter": n_iter, "maxfun": 10 * n_iter + 100, "maxcor": self.memory,
            "ftol": 1e-9, "gtol": 1e-7,
        }  # fmt: skip


@dataclass(frozen=True)
class ConjugateGradient(Optimizer):
    """Nonlinear conjugate gradients (Polak & Ribiere).

    See Also
    --------
    Momentum, LBFGS, manymaps.AspectMaps

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import AspectMaps
    >>> from manymaps.optimizers import ConjugateGradient
    >>> similarities = np.kron(np.eye(3), np.ones((4, 4)))
    >>> few = ConjugateGradient()
    >>> fit = AspectMaps(3, affinity="precomputed", optimizer=few, max_iter=5, random_state=0)
    >>> fit.fit(similarities).n_iter_
    5
    """

    method = "CG"

    def _options(self, n_iter: int) -> dict[str, float]:
        """Options of `scipy.optimize.minimize`."""
        return {"maxiter": n_iter, "gtol": 1e-7}


LineSearch = LBFGS | ConjugateGradient
