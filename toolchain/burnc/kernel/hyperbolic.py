"""Hyperbolic functions and their inverses in KernelIR's float arithmetic; after Cephes' single precision."""

from __future__ import annotations

import math

from burnc.kernel.builder import FLOAT32, KernelBuilder
from burnc.kernel.expr import Expr, lift
from burnc.kernel.trigonometry import magnitude, polynomial, signed, single

LN_2 = math.log(2)

# exp overflows soon after; the hyperbolic functions are half as large.
_LARGE = 88.0


def _half_exp(k: KernelBuilder, size: Expr) -> Expr:
    """exp(size) / 2 without an overflow before its own."""
    is_large = size > _LARGE
    grown = k.let("grown", k.call("exp", k.select(is_large, size * 0.5, size)))
    return k.let("half", k.select(is_large, (0.5 * grown) * grown, 0.5 * grown))


def hyperbolic_sine(k: KernelBuilder, x: Expr) -> Expr:
    """sinh(x), within 5 ulp."""
    size = k.let("size", magnitude(k, x))
    half = _half_exp(k, size)
    z = k.let("z", size * size)
    near = size + size * (z * polynomial(z, 1.66667160211e-1, 8.33028376239e-3, 2.03721912945e-4))
    return signed(k, k.select(size < 1.0, near, half - 0.25 / half), x)


def hyperbolic_cosine(k: KernelBuilder, x: Expr) -> Expr:
    """cosh(x), within 5 ulp."""
    half = _half_exp(k, k.let("size", magnitude(k, x)))
    return half + 0.25 / half


def inverse_hyperbolic_sine(k: KernelBuilder, x: Expr) -> Expr:
    """asinh(x), within 4 ulp."""
    size = k.let("size", magnitude(k, x))
    z = k.let("z", size * size)
    tail = polynomial(z, -1.6666288134e-1, 7.4847586088e-2, -4.2699340972e-2, 2.0122003309e-2)
    middle = k.call("log", size + k.call("sqrt", z + 1.0))
    far = k.call("log", size) + LN_2
    return signed(k, k.select(size < 0.5, size + size * (z * tail), k.select(size > 1500.0, far, middle)), x)


def inverse_hyperbolic_cosine(k: KernelBuilder, x: Expr) -> Expr:
    """acosh(x), within 4 ulp; NaN below 1."""
    single(x)
    z = k.let("z", x - 1.0)
    inside = k.maximum(z, 0.0)  # the square roots are of nothing negative
    coefficients = (1.4142135263, -1.1784741703e-1, 2.6454905019e-2, -7.5272886713e-3, 1.7596881071e-3)
    near = polynomial(z, *coefficients) * k.call("sqrt", inside)
    middle = k.call("log", x + k.call("sqrt", inside * (x + 1.0)))
    far = k.call("log", x) + LN_2
    found = k.select(z < 0.5, near, k.select(x > 1500.0, far, middle))
    return k.select(x < 1.0, lift(math.nan, FLOAT32), found)


def inverse_hyperbolic_tangent(k: KernelBuilder, x: Expr) -> Expr:
    """atanh(x), within 4 ulp; infinite at 1, NaN beyond."""
    size = k.let("size", magnitude(k, x))
    z = k.let("z", size * size)
    coefficients = (3.33337300303e-1, 1.99782164500e-1, 1.46691431730e-1, 8.24370301058e-2, 1.81740078349e-1)
    near = size + size * (z * polynomial(z, *coefficients))
    far = 0.5 * k.call("log", (1.0 + size) / (1.0 - size))
    return signed(k, k.select(size < 0.5, near, far), x)
