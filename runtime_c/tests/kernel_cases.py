# SPDX-License-Identifier: 0BSD
"""Recorded cases for every kernel: random data and the extremes, and every corner of the geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace
from functools import cache
from itertools import product
from random import Random

import reference
from recorded import Case, int8s, int32s
from reference import Channels, Quantization, Window

FILLS = ("random", "low", "high")


def fill(rng: Random, kind: str, size: int) -> list[int]:
    if kind == "random":
        return [rng.randint(-128, 127) for _ in range(size)]
    return [-128 if kind == "low" else 127] * size


def channels(rng: Random, kind: str, outputs: int, taps: int, shift: int = -8) -> Channels:
    multiplier = [rng.randint(2**30, 2**31 - 1) for _ in range(outputs)]
    shifts = [shift - rng.randint(0, 3) for _ in range(outputs)]
    bias = [rng.randint(-5000, 5000) for _ in range(outputs)]
    return Channels(fill(rng, kind, outputs * taps), bias, multiplier, shifts)


def quantization(rng: Random) -> Quantization:
    return Quantization(
        input_zero_point=rng.choice((-128, 127, 0, rng.randint(-128, 127))),
        output_zero_point=rng.choice((-128, 127, rng.randint(-128, 127))),
        activation_min=rng.choice((-128, -128, -20)),
        activation_max=rng.choice((127, 127, 50)),
    )


def weighted(c: Channels, q: Quantization, depthwise: bool = False) -> list[bytes]:
    """weights, bias, multiplier and shift as the header asks for them: the zero point folded into the bias."""
    outputs = len(c.bias)
    taps = len(c.weights) // outputs
    bias = []
    for o in range(outputs):
        own = c.weights[o::outputs] if depthwise else c.weights[o * taps : (o + 1) * taps]
        bias.append(reference.wrap(c.bias[o] - q.input_zero_point * sum(own)))
    return [int8s(c.weights), int32s(bias), int32s(c.multiplier), int8s(c.shift)]


def sized(v: Window, bottom: int = 0, right: int = 0) -> Window:
    """The window with the output size that its padding gives (top and left, plus `bottom` and `right`)."""
    reach_h, reach_w = (v.kernel_h - 1) * v.dilation_h + 1, (v.kernel_w - 1) * v.dilation_w + 1
    out_h = (v.in_h + v.pad_top + bottom - reach_h) // v.stride_h + 1
    out_w = (v.in_w + v.pad_left + right - reach_w) // v.stride_w + 1
    return replace(v, out_h=out_h, out_w=out_w)


def windows() -> Iterator[Window]:
    """Strides, dilations, paddings (also uneven ones and a crop), batches, 1-D shapes and every width from 1 to 9."""
    for stride, dilation, (top, left, bottom, right) in product(
        ((1, 1), (2, 1), (2, 3)), ((1, 1), (2, 1), (1, 2)), ((0, 0, 0, 0), (1, 1, 1, 1), (0, 2, 1, 0), (2, 0, 2, 3))
    ):
        v = Window(1, 6, 7, 0, 0, 3, 3, *stride, *dilation, top, left)
        yield sized(v, bottom, right)
    for width in range(1, 10):
        yield sized(Window(1, 1, width, 0, 0, 1, 5, pad_top=0, pad_left=2), 0, 2)
        yield sized(Window(1, 3, width, 0, 0, 3, 1, pad_top=1, pad_left=0), 1, 0)
    yield sized(Window(3, 4, 5, 0, 0, 2, 3, 1, 2, pad_top=0, pad_left=1), 1, 1)
    yield sized(Window(1, 3, 3, 0, 0, 1, 1, 2, 2, pad_top=0, pad_left=0))
    yield sized(Window(1, 5, 5, 0, 0, 2, 2, pad_top=-1, pad_left=-2))
    yield sized(Window(1, 2, 2, 0, 0, 2, 2, 1, 1, 4, 4, 3, 3), 3, 3)  # gaps wider than the input
    yield sized(Window(1, 2, 2, 0, 0, 3, 3, pad_top=4, pad_left=4), 4, 4)  # windows wholly outside


@cache
def conv2d_cases() -> list[Case]:
    rng = Random(1)
    cases = []
    shapes = ((1, 1, 1), (1, 3, 4), (1, 4, 3), (1, 5, 2), (2, 2, 3), (3, 1, 2), (4, 1, 1))
    for number, v in enumerate(windows()):
        for fill_x, shape in zip(FILLS, rng.sample(shapes, 3), strict=True):
            groups, group_in, group_out = shape
            x = fill(rng, fill_x, v.batch * v.in_h * v.in_w * groups * group_in)
            c = channels(rng, rng.choice(FILLS), groups * group_out, v.kernel_h * v.kernel_w * group_in)
            q = quantization(rng)
            expected = reference.conv2d(v, x, c, q, *shape)
            params = [*astuple(v), *shape, *astuple(q)]
            name = f"conv2d {number} {shape} {fill_x}"
            cases.append(Case(name, "conv2d", params, [int8s(x), *weighted(c, q)], int8s(expected)))
    return cases


@cache
def depthwise_conv2d_cases() -> list[Case]:
    rng = Random(2)
    cases = []
    shapes = ((1, 1), (1, 8), (3, 1), (2, 3), (4, 1), (5, 1), (7, 1), (8, 1), (4, 2))
    for number, v in enumerate(windows()):
        for fill_x, shape in zip(FILLS, rng.sample(shapes, 3), strict=True):
            x = fill(rng, fill_x, v.batch * v.in_h * v.in_w * shape[0])
            c = channels(rng, rng.choice(FILLS), shape[0] * shape[1], v.kernel_h * v.kernel_w)
            q = quantization(rng)
            expected = reference.depthwise_conv2d(v, x, c, q, *shape)
            params = [*astuple(v), *shape, *astuple(q)]
            arrays = [int8s(x), *weighted(c, q, depthwise=True)]
            name = f"depthwise {number} {shape} {fill_x}"
            cases.append(Case(name, "depthwise_conv2d", params, arrays, int8s(expected)))
    return cases


@cache
def conv1x1_cases() -> list[Case]:
    """Also the same numbers through conv2d: the fast path and the general one must agree."""
    rng = Random(3)
    cases = []
    for depth, outputs, width in product((1, 2, 3, 4, 5, 8, 17), (1, 2, 3, 6), (1, 9)):
        for kind in FILLS:
            x, c, q = fill(rng, kind, width * depth), channels(rng, kind, outputs, depth), quantization(rng)
            expected = int8s(reference.rows_times_weights(width, depth, x, c, q))
            rest = astuple(q)[1:]
            arrays = [int8s(x), *weighted(c, q)]
            cases.append(
                Case(f"conv1x1 {depth} {outputs}", "conv1x1", [width, depth, outputs, *rest], arrays, expected)
            )
            v = Window(1, 1, width, 1, width, 1, 1, pad_top=0, pad_left=0)
            general = [*astuple(v), 1, depth, outputs, *astuple(q)]
            cases.append(Case(f"conv2d as 1x1 {depth} {outputs}", "conv2d", general, arrays, expected))
    return cases


@cache
def fully_connected_cases() -> list[Case]:
    rng = Random(4)
    cases = []
    for depth, outputs, batch, per_channel in product((1, 4, 7, 64, 257), (1, 2, 5), (1, 3), (0, 1)):
        for kind in FILLS:
            x, q = fill(rng, kind, batch * depth), quantization(rng)
            c = channels(rng, rng.choice(FILLS), outputs, depth, shift=rng.choice((-12, -6, 0, 3)))
            arrays = [int8s(x), *weighted(c, q)]
            if not per_channel:
                c = replace(c, multiplier=c.multiplier[:1] * outputs, shift=c.shift[:1] * outputs)
                arrays[3:] = [int32s(c.multiplier[:1]), int8s(c.shift[:1])]
            expected = int8s(reference.rows_times_weights(batch, depth, x, c, q))
            params = [batch, depth, outputs, per_channel, *astuple(q)[1:]]
            name = f"fully connected {depth} {outputs} {batch} {kind}"
            cases.append(Case(name, "fully_connected", params, arrays, expected))
    return cases


def quantized_multiplier(value: float) -> tuple[int, int]:
    """Multiplier and shift of a positive real number, with round to nearest."""
    shift = 0
    while value >= 1:
        value, shift = value / 2, shift + 1
    while value < 0.5:
        value, shift = value * 2, shift - 1
    multiplier = round(value * 2**31)
    return (2**30, shift + 1) if multiplier == 2**31 else (multiplier, shift)


ALL = list(range(-128, 128))


def every_pair() -> tuple[list[int], list[int]]:
    return [a for a in ALL for _ in ALL], [b for _ in ALL for b in ALL]


@cache
def add_cases() -> list[Case]:
    x1, x2 = every_pair()
    cases = []
    for scale1, scale2, scale_out, zp1, zp2, zp_out, low, high in (
        (0.5, 0.25, 0.5, -128, 127, 0, -128, 127),
        (0.0123, 0.0456, 0.031, 5, -7, 3, -128, 127),
        (0.02, 0.01, 0.02, 0, 0, -128, -128, 127),
        (1.0, 0.001, 0.004, 127, -128, 127, -30, 90),
    ):
        twice = 2 * max(scale1, scale2)
        m1, m2 = quantized_multiplier(scale1 / twice), quantized_multiplier(scale2 / twice)
        m3 = quantized_multiplier(twice / (2**20 * scale_out))
        expected = []
        for a, b in zip(x1, x2, strict=True):
            total = reference.requantize((a - zp1) << 20, *m1) + reference.requantize((b - zp2) << 20, *m2)
            expected.append(reference.output(total, *m3, zp_out, low, high))
        params = [len(x1), 20, zp1, *m1, zp2, *m2, zp_out, *m3, low, high]
        cases.append(Case(f"add {scale1} {scale2}", "add", params, [int8s(x1), int8s(x2)], int8s(expected)))
    return cases


@cache
def mul_cases() -> list[Case]:
    """Effective scales below and above one; 25 (scales 0.5 and 0.5 into 0.01) saturates at both ends."""
    x1, x2 = every_pair()
    cases = []
    for scale, zp1, zp2, zp_out in ((25.0, 0, 0, 0), (0.003, -128, 127, -128), (0.7, 4, -9, 127), (1.0, 0, 0, 1)):
        m = quantized_multiplier(scale)
        pairs = zip(x1, x2, strict=True)
        expected = int8s([reference.output((a - zp1) * (b - zp2), *m, zp_out, -128, 127) for a, b in pairs])
        params = [len(x1), zp1, zp2, zp_out, *m, -128, 127]
        cases.append(Case(f"mul {scale}", "mul", params, [int8s(x1), int8s(x2)], expected))
    return cases


@cache
def requantize_cases() -> list[Case]:
    cases = []
    for scale, zp_in, zp_out in product((0.01, 0.5, 1.0, 1.9, 300.0), (-128, 0, 127), (-128, 3, 127)):
        m = quantized_multiplier(scale)
        expected = int8s([reference.output(a - zp_in, *m, zp_out, -128, 120) for a in ALL])
        params = [len(ALL), zp_in, zp_out, *m, -128, 120]
        cases.append(Case(f"requantize {scale} {zp_in} {zp_out}", "requantize", params, [int8s(ALL)], expected))
    return cases


def all_kernel_cases() -> list[Case]:
    return [
        *conv2d_cases(),
        *depthwise_conv2d_cases(),
        *conv1x1_cases(),
        *fully_connected_cases(),
        *add_cases(),
        *mul_cases(),
        *requantize_cases(),
    ]
