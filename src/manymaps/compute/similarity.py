"""Kernels K(d2) of a similarity, their slopes, and exp and log for float32 loops.

    code  kernel    K(d2)         -K'(d2)
    0     Gaussian  exp(-d2)      K
    1     Cauchy    1 / (1 + d2)  K^2

d2 is a squared distance. A compiled loop receives the kernel as its code, which is constant
throughout the loop, so the compiler moves the branch out of the loop. The code is a plain number,
because numba takes 12 microseconds to recognize the member of an enumeration. Loops receive charges
as logarithms for the Gaussian kernel, whose terms underflow, and as they are for the Cauchy kernel.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from manymaps.compute.jit import inlined
from manymaps.errors import ParameterError

__all__ = [
    "CAUCHY", "GAUSSIAN", "Kernel", "charges_of", "decay", "exp32", "greater", "kernel_code",
    "log32", "term_and_slope",
]  # fmt: skip


class Kernel(IntEnum):
    """Kernels by the codes that compiled loops receive."""

    GAUSSIAN = 0
    CAUCHY = 1


GAUSSIAN, CAUCHY = (kernel.value for kernel in Kernel)

_LOG2_E = np.float32(1.4426950408889634)
_LN_2_HIGH = np.float32(0.693359375)
_LN_2_LOW = np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)
_HIGHEST = np.float32(88.0)
_C2, _C3, _C4, _C5, _C6 = (
    np.float32(c) for c in (0.5, 0.16666658, 0.041665795, 0.0083345, 0.0013981999)
)
_L3, _L4, _L5, _L6, _L7, _L8, _L9, _L10, _L11 = (
    np.float32(c)
    for c in (
        3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1,
        -1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2,
    )
)  # fmt: skip
_SQRT_2 = np.float32(1.4142135623730951)
_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)
_HALF = np.float32(0.5)


def kernel_code(kernel: str | float) -> int:
    """Return the code of a kernel: "gaussian" or "cauchy".

    >>> kernel_code("gaussian"), kernel_code("cauchy")
    (0, 1)
    """
    for known in Kernel:
        if kernel == known.name.lower():
            return known.value
    raise ParameterError(
        f"kernel {kernel!r} can only be read from a file; fit the data again with one of "
        "'gaussian' and 'cauchy'"
    )


def charges_of(log_charges: np.ndarray, kind: int) -> np.ndarray:
    """Return charges in the form that loops receive: as logarithms for the Gaussian kernel."""
    return log_charges if Kernel(kind) is Kernel.GAUSSIAN else np.exp(log_charges)


@intrinsic
def _power_of_two(typing_context: Any, exponent: Any) -> Any:
    """Return 2 ** exponent for a whole float32 from its bits (`math.ldexp` has no SIMD form)."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        int32 = ir.IntType(32)
        whole = builder.fptosi(arguments[0], int32)
        biased = builder.add(whole, ir.Constant(int32, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(int32, 23)), ir.FloatType())

    return types.float32(types.float32), build


@intrinsic
def _exponent(typing_context: Any, number: Any) -> Any:
    """Return the exponent of a normal float32 as a float32 (`math.frexp` has no SIMD form)."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        int32 = ir.IntType(32)
        bits = builder.bitcast(arguments[0], int32)
        biased = builder.lshr(bits, ir.Constant(int32, 23))
        return builder.sitofp(builder.sub(biased, ir.Constant(int32, 127)), ir.FloatType())

    return types.float32(types.float32), build


@intrinsic
def greater(typing_context: Any, left: Any, right: Any) -> Any:
    """Return the greater of two numbers that are not NaN (`max` over a line has no SIMD form)."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ("nnan", "nsz")
        is_left = builder.fcmp_ordered(">", *arguments, flags=flags)
        return builder.select(is_left, *arguments, flags=flags)

    return left(left, right), build


@inlined
def exp32(x):
    """Return exp(x) in float32 to 5e-7 (relative), with 0 below -87 and exp(88) above 88.

    With x = k ln 2 + r and |r| <= ln 2 / 2, the result is a polynomial in r (Cephes' coefficients)
    times 2^k. The scalar libm call that numba would generate is not vectorized.
    """
    clipped = min(max(x, _LOWEST), _HIGHEST)
    k = np.floor(clipped * _LOG2_E + _HALF)
    r = (clipped - k * _LN_2_HIGH) - k * _LN_2_LOW
    tail = (((_C6 * r + _C5) * r + _C4) * r + _C3) * r + _C2
    value = ((tail * r * r + r) + _ONE) * _power_of_two(k)
    return value if x >= _LOWEST else _ZERO


@inlined
def log32(x):
    """Return log(x) of a normal float32 below 2^126 with a relative error of at most 2e-7.

    With x = 2^k (1 + f) and f from sqrt(1/2) - 1 to sqrt(2) - 1, the result is a polynomial in f
    (Cephes' coefficients) plus k ln 2.
    """
    k = _exponent(x)
    m = x * _power_of_two(-k)
    large = m > _SQRT_2
    f = (_HALF * m if large else m) - _ONE
    k += _ONE if large else _ZERO
    tail = _L11
    tail = tail * f + _L10
    tail = tail * f + _L9
    tail = tail * f + _L8
    tail = tail * f + _L7
    tail = tail * f + _L6
    tail = tail * f + _L5
    tail = tail * f + _L4
    tail = tail * f + _L3
    square = f * f
    value = tail * f * square + k * _LN_2_LOW - _HALF * square + f
    return value + k * _LN_2_HIGH


@inlined
def decay(d2, kind):
    """Return -log K(d2) in float64."""
    return d2 if kind == GAUSSIAN else np.log1p(d2)


@inlined
def term_and_slope(d2, charge, kind):
    """Return charge * K(d2) and charge * (-K'(d2)).

    For a Gaussian kernel, `charge` is the logarithm of the charge, so that neither factor
    underflows separately.
    """
    if kind == GAUSSIAN:
        term = exp32(charge - d2)
        return term, term
    inverse = _ONE / (_ONE + d2)
    term = charge * inverse
    return term, term * inverse
