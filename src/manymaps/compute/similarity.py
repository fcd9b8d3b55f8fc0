"""Kernels K(d2) of a similarity, their slopes, and exp and log for float32 loops.

    code          kernel                            K(d2)                -K'(d2)
    0             Gaussian                          exp(-d2)             K
    1             Cauchy                            1 / (1 + d2)         K^2
    1.5, float64  Student, 2 degrees of freedom     (1 + d2 / 1.5)^-1.5  K / (1 + d2 / 1.5)
    a, float32    Student, 2 a - 1 degrees of       (1 + d2 / a)^-a      K / (1 + d2 / a)
                  freedom (Kobak et al. 2019)

d2 is a squared distance. The Student kernel is the density of Student's t distribution with nu
degrees of freedom, up to a factor. It is scaled so that all kernels have the same curvature at 0.
Its limits are therefore exactly the Cauchy kernel at a = 1 and the Gaussian kernel at a = infinity.

A compiled loop receives the kernel as its code. An integer code is constant throughout the loop, so
the compiler moves the branch out of the loop, and the loop remains cached. The exponent of a
Student kernel has another type, for which the loop is compiled separately (`chosen_by_type`). The
loops of the other two kernels do not contain the Student kernel, which therefore affects neither
their compilation time nor their results. The exponent 1.5 has a separate type, because its power
requires only a division and a square root. These take a third of the time of a logarithm and an
exponential.

References
----------
D. Kobak, G. Linderman, S. Steinerberger, Y. Kluger and P. Berens, Heavy-tailed kernels reveal a
finer cluster structure in t-SNE visualisations, ECML PKDD 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from manymaps.compute.jit import chosen_by_type, inlined

__all__ = [
    "CAUCHY", "GAUSSIAN", "TWO_DEGREES", "KernelCode", "charges_of", "decay", "exp32", "greater",
    "in_logs", "is_gaussian", "kernel_code", "log32", "power", "spread", "term_and_slope",
]  # fmt: skip

KernelCode = int | float | np.float32

GAUSSIAN = 0
CAUCHY = 1
#: The exponent of the kernel with 2 degrees of freedom, as a float64.
TWO_DEGREES = 1.5

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
_EXPONENT = np.float32(TWO_DEGREES)
_SMALL = np.float32(0.41421356)
# `log32` is accurate below 2^126 = 8.5e37. At this squared distance, the exp of every kernel's
# logarithm is 0 in float32: log(8e37) = 87.3, and `exp32` is 0 below -87.
_FARTHEST = np.float32(8e37)


def kernel_code(kernel: Any) -> KernelCode:
    """Return the code of a kernel: "gaussian", "cauchy" or degrees of freedom.

    >>> kernel_code("cauchy"), kernel_code(1.0), kernel_code(2.0), float(kernel_code(4.0))
    (1, 1, 1.5, 2.5)
    """
    codes: dict[Any, KernelCode] = {
        "gaussian": GAUSSIAN, np.inf: GAUSSIAN, "cauchy": CAUCHY, 1.0: CAUCHY, 2.0: TWO_DEGREES
    }  # fmt: skip
    return codes[kernel] if kernel in codes else np.float32((kernel + 1) / 2)


def charges_of(log_charges: np.ndarray, kind: KernelCode) -> np.ndarray:
    """Return charges in the form that loops receive: as logarithms if `in_logs` is true."""
    return np.exp(log_charges) if kind in (CAUCHY, TWO_DEGREES) else log_charges


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
def _log_by_parts(k, f):
    """Return log(2^k (1 + f)) of f from sqrt(1/2) - 1 to sqrt(2) - 1 by a polynomial (Cephes)."""
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
def _parts(x):
    """Return k and f of a positive normal number x = 2^k (1 + f)."""
    k = _exponent(x)
    m = x * _power_of_two(-k)
    large = m > _SQRT_2
    f = (_HALF * m if large else m) - _ONE
    k += _ONE if large else _ZERO
    return k, f


@inlined
def log32(x):
    """Return log(x) of a normal float32 below 2^126 with a relative error of at most 2e-7."""
    k, f = _parts(x)
    return _log_by_parts(k, f)


@inlined
def log1p32(x):
    """Return log(1 + x) of a float32 from 0 to below 2^126, with a relative error of at most 3e-7.

    If x is small, 1 + x would lose the digits of x, so f is x itself.
    """
    k, f = _parts(_ONE + x)
    return _log_by_parts(k, x if x < _SMALL else f)


@chosen_by_type
def is_gaussian(kind):
    """Return whether a code represents the Gaussian kernel."""
    if isinstance(kind, types.Float):
        return lambda kind: False
    return lambda kind: kind == GAUSSIAN


@chosen_by_type
def in_logs(kind):
    """Return whether loops receive log charges, and similarities need exponentials."""
    if isinstance(kind, types.Float):
        needed = kind != types.float64
        return lambda kind: needed
    return lambda kind: kind == GAUSSIAN


@chosen_by_type
def decay(d2, kind):
    """Return -log K(d2)."""
    if not isinstance(kind, types.Float):
        if d2 == types.float32:
            return lambda d2, kind: d2 if kind == GAUSSIAN else log32(_ONE + d2)
        return lambda d2, kind: d2 if kind == GAUSSIAN else np.log1p(d2)
    if kind == types.float64:
        if d2 == types.float32:
            return lambda d2, kind: _EXPONENT * log1p32(min(d2, _FARTHEST) / _EXPONENT)
        return lambda d2, kind: TWO_DEGREES * np.log1p(d2 / TWO_DEGREES)
    if d2 == types.float32:
        return lambda d2, kind: kind * log1p32(min(d2, _FARTHEST) / kind)
    return lambda d2, kind: kind * np.log1p(d2 / kind)


@chosen_by_type
def spread(d2, kind):
    """Return -1 / (d log K / d d2) of a non-Gaussian kernel."""
    if kind == types.float64:
        return lambda d2, kind: _ONE + d2 / _EXPONENT
    if isinstance(kind, types.Float):
        return lambda d2, kind: _ONE + d2 / kind
    return lambda d2, kind: _ONE + d2


@chosen_by_type
def power(inverse, kind):
    """Return K from 1 / `spread` for a kernel without logarithms (`in_logs` is false)."""
    if kind == types.float64:
        return lambda inverse, kind: inverse * np.sqrt(inverse)
    return lambda inverse, kind: inverse


@inlined
def term_and_slope(d2, charge, kind):
    """Return charge * K(d2) and charge * (-K'(d2)).

    If `in_logs` is true, `charge` is the logarithm of the charge, so that neither factor underflows
    separately.
    """
    if in_logs(kind):
        term = exp32(charge - decay(d2, kind))
        return term, term if is_gaussian(kind) else term / spread(d2, kind)
    inverse = _ONE / spread(d2, kind)
    term = charge * power(inverse, kind)
    return term, term * inverse
