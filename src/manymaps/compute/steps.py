"""Make one step of gradient descent with momentum and a gain per parameter (Jacobs 1988).

    gain  <- gain + 0.2  where the last step went down the gradient
             0.8 gain    where it went up;  never below 0.01
    step  <- momentum step - rate gain gradient
    x     <- x + step

All arrays are flat float32 and change in place. In a ragged batch, x, step and gain have rows for
all objects, but only rows with a gradient change.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import compiled

__all__ = ["momentum_step", "momentum_step_of"]

_INCREASE = np.float32(0.2)
_DECREASE = np.float32(0.8)
_LEAST = np.float32(0.01)
_ZERO = np.float32(0.0)


@compiled
def momentum_step(first, last, x, gradient, step, gains, rate, momentum):
    """Move x by one step, without changing a gain if the previous step or gradient is 0."""
    for k in range(first, last):
        g, s = gradient[k], step[k]
        if g * s < _ZERO:
            gains[k] += _INCREASE
        elif g * s > _ZERO:
            gains[k] = max(gains[k] * _DECREASE, _LEAST)
        step[k] = momentum * s - rate * gains[k] * g
        x[k] += step[k]


@compiled
def momentum_step_of(rows, x, gradient, step, gains, rate, momentum):
    """Move some rows of x by one step, with x, step, gains (n, d) and gradient (n_rows, d)."""
    for e in range(rows.size):
        for k in range(x.shape[1]):
            g, s = gradient[e, k], step[rows[e], k]
            gain = gains[rows[e], k]
            if g * s < _ZERO:
                gain += _INCREASE
            elif g * s > _ZERO:
                gain = max(gain * _DECREASE, _LEAST)
            gains[rows[e], k] = gain
            s = momentum * s - rate * gain * g
            step[rows[e], k] = s
            x[rows[e], k] += s
