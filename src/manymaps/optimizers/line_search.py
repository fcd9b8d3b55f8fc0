"""Optimizers with a line search, through SciPy.

    LBFGS               limited-memory quasi-Newton
    ConjugateGradient   Polak & Ribiere; the optimizer of Cook et al. 2007

A line search fails if forces are not the gradient of the cost, so these optimizers are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from manymaps.model.parameters import Parameters
from manymaps.optimizers.momentum import Optimizer

# Status codes of SciPy.
_LIMIT_REACHED, _STOPPED = 1, 99
# If a line search gains less than this, it is limited by float32 rounding, and a restart would not
# help.
_NEXT_TO_NOTHING = 1e-6

Evaluate = Callable[[Parameters], tuple[float, Parameters]]


def search_lines(
    optimizer: LineSearch,
    evaluate: Evaluate,
    start: Parameters,
    max_iter: int,
    watch: Callable[[Parameters], bool],
    units: Parameters | None = None,
) -> bool:
    """Minimize a cost until it converges, and return whether it has.

    `watch` is called with the parameters after each iteration; a true result ends the search.
    `units` are the typical step lengths of the parameters (by default 1).
    """
    from manymaps.compute.threads import one_blas_thread

    scale = 1.0 if units is None else units.pack()
    at, cost, n_iter = start, np.nan, 0

    def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = evaluate(start.unpack(vector * scale))
        if not np.isfinite(value):
            return 1e300, np.zeros_like(vector)
        return value, gradient.pack() * scale

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal at, cost, n_iter
        at = start.unpack(np.asarray(intermediate_result.x) * scale)
        cost = float(intermediate_result.fun)
        n_iter += 1
        if watch(at):
            raise StopIteration

    while n_iter < max_iter:
        n_before, cost_before = n_iter, cost
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            result = minimize(
                function, at.pack() / scale, jac=True, method=optimizer.method,
                callback=after, options=optimizer._options(max_iter - n_iter),
            )  # fmt: skip
        if result.success:
            return True
        if result.status in (_LIMIT_REACHED, _STOPPED):
            return False
        # The line search is limited by rounding of the sums. Restart here, unless the last restart
        # gained almost nothing.
        if n_iter == n_before or cost_before - cost < _NEXT_TO_NOTHING * abs(cost_before):
            return True
    return False


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
        return {"maxiter": n_iter, "gtol": 1e-7}


LineSearch = LBFGS | ConjugateGradient
