"""Operators that are rendered from their KernelIR, beside a loop written by hand: cycles on the emulated RP2040.

``python benchmarks/long_tail.py [--json]`` builds each operator twice, as burnc writes it and with a body below in its
place. It checks that both give the same bytes, and exits 1 when the first takes more than twice the cycles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figure, report

import burnc
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.devices.board import BoardExecutable
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, verify
from burnc.ops import operators
from burnc.ops.average_pool2d import AveragePool2dAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.max_pool2d import MaxPool2dAttrs
from burnc.ops.pad import PadAttrs
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.ops.resize import ResizeAttrs
from burnc.ops.softmax import SoftmaxAttrs
from burnc.ops.svdf import SvdfAttrs
from burnc.ops.transpose import TransposeAttrs

ROOT = Path(__file__).resolve().parents[1]
MOST = 2.0
ALIKE = (0.1, 3)
PROBABILITIES = (1 / 256, -128)


@dataclass(frozen=True)
class Case:
    """An operator on int8 inputs, and the body of a C function that does the same."""

    name: str
    op: str
    attrs: Any
    shapes: tuple[tuple[int, ...], ...]
    body: str
    result: tuple[float, int] = ALIKE

    def graph(self) -> Graph:
        graph = Graph("m")
        b = Builder(graph, operators())
        types = [TensorType(DType.INT8, shape, QuantParams.per_tensor(*ALIKE)) for shape in self.shapes]
        y = b.node(self.op, [b.input(f"x{i}", t) for i, t in enumerate(types)], self.attrs)
        y.type = TensorType(DType.INT8, y.type.shape, QuantParams.per_tensor(*self.result))
        graph.outputs.append(y)
        verify(graph)
        return graph


@dataclass(frozen=True)
class Loops:
    """An operator of a graph, and its innermost loops by hand: what is rendered, and what takes its place."""

    name: str
    graph: Callable[[], Graph]
    loops: tuple[tuple[str, str], ...]


def svdf() -> Graph:
    """One step of 64 filters over 96 inputs and 8 steps of time."""
    rng = np.random.default_rng(4)
    graph = Graph("m")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (1, 96), QuantParams.per_tensor(0.05, -128)))
    before = b.input("before", TensorType(DType.INT16, (1, 64, 8), QuantParams.per_tensor(0.001, 0)))
    feature = b.constant("f", rng.integers(-127, 128, (64, 96), np.int8), QuantParams.per_tensor(0.004, 0))
    time = b.constant("t", rng.integers(-3000, 3000, (64, 8), np.int16), QuantParams.per_tensor(0.0001, 0))
    bias = b.constant("b", rng.integers(-9000, 9000, 64, np.int32), QuantParams.per_tensor(1e-7, 0))
    y, state = b.nodes("svdf", [x, feature, time, bias, before], SvdfAttrs())
    y.type = TensorType(DType.INT8, y.type.shape, QuantParams.per_tensor(0.02, 3))
    state.type = before.type
    graph.outputs += [y, state]
    verify(graph)
    return graph


def lstm() -> Graph:
    """A network for digits, nearly all of it an LSTM of 28 steps, 28 inputs and 20 units."""
    return burnc.load(ROOT / "tests/models/tflm_mnist_lstm_int8.tflite").graph


SVDF_LOOPS = (
    (
        """
        for (int32_t m = 0; m < 7; ++m) {
            y1[filter * 8 + m] = (int16_t)(int32_t)before[filter * 8 + m + 1];
        }
        int32_t acc = 0;
        for (int32_t i = 0; i < 96; ++i) {
            acc += ((int32_t)x[i] + 128) * (int32_t)w_feature[filter * 96 + i];
        }
""",
        """
        int16_t *held = y1 + filter * 8;
        const int16_t *old = before + filter * 8 + 1;
        for (int16_t *end = held + 7; held != end;) {
            *held++ = *old++;
        }
        int32_t acc = 0;
        const int8_t *a = x, *w = w_feature + filter * 96;
        for (const int8_t *end = a + 96; a != end;) {
            acc += (*a++ + 128) * *w++;
        }
""",
    ),
    (
        """
        for (int32_t m2 = 0; m2 < 8; ++m2) {
            acc2 = burnc_wrap_add(acc2, (int32_t)w_time[unit * 8 + m2] * (int32_t)y1[unit * 8 + m2]);
        }
""",
        """
        const int16_t *a = y1 + unit * 8, *w = w_time + unit * 8;
        for (const int16_t *end = a + 8; a != end;) {
            acc2 = burnc_wrap_add(acc2, *w++ * *a++);
        }
""",
    ),
)
LSTM_LOOPS = (
    (
        """
            for (int32_t i = 0; i < 28; ++i) {
                acc += ((int32_t)x[t * 28 + i] + 128) * (int32_t)weights[gate * 28 + i];
            }
""",
        """
            const int8_t *a = x + t * 28, *w = weights + gate * 28;
            for (const int8_t *end = a + 28; a != end;) {
                acc += (*a++ + 128) * *w++;
            }
""",
    ),
    (
        """
            for (int32_t j2 = 0; j2 < 20; ++j2) {
                acc2 += (int32_t)y1[j2] * (int32_t)r[gate * 20 + j2];
            }
""",
        """
            const int8_t *h = y1, *v = r + gate * 20;
            for (const int8_t *end = h + 20; h != end;) {
                acc2 += *h++ * *v++;
            }
""",
    ),
)

AVERAGE = """
    int32_t h, w, c;
    for (h = 0; h < 8; ++h) {
        for (w = 0; w < 8; ++w) {
            const int8_t *p = x + (h * 32 + w * 2) * 8;
            for (c = 0; c < 8; ++c) {
                const int32_t sum = p[0] + p[8] + p[128] + p[136];
                *y++ = (int8_t)((sum > 0 ? sum + 2 : sum - 2) / 4);
                ++p;
            }
        }
    }
"""

GLOBAL_AVERAGE = """
    int32_t c, i;
    for (c = 0; c < 64; ++c) {
        const int8_t *p = x + c;
        int32_t sum = 0;
        for (i = 0; i < 125; ++i) {
            sum += *p;
            p += 64;
        }
        y[c] = (int8_t)((sum > 0 ? sum + 62 : sum - 62) / 125);
    }
"""

MAXIMUM = """
    int32_t h, w, c;
    for (h = 0; h < 8; ++h) {
        for (w = 0; w < 8; ++w) {
            const int8_t *p = x + (h * 32 + w * 2) * 8;
            for (c = 0; c < 8; ++c) {
                const int32_t top = p[0] > p[8] ? p[0] : p[8];
                const int32_t bottom = p[128] > p[136] ? p[128] : p[136];
                *y++ = (int8_t)(top > bottom ? top : bottom);
                ++p;
            }
        }
    }
"""

MEAN = """
    int32_t c, i;
    for (c = 0; c < 8; ++c) {
        const int8_t *p = x + c;
        int32_t sum = 0;
        for (i = 0; i < 256; ++i) {
            sum += *p;
            p += 8;
        }
        y[c] = (int8_t)(burnc_requantize(sum - 256 * 3, 1073741824, -7) + 3);
    }
"""

# TFLM's: the exponents of the differences are a table for this scale, as what is rendered has them.
SOFTMAX = """
    int32_t row, i;
    for (row = 0; row < 8; ++row) {
        int32_t largest = -128, sum = 0, headroom, half, estimate, k;
        for (i = 0; i < 32; ++i) {
            largest = x[i] > largest ? x[i] : largest;
        }
        for (i = 0; i < 32; ++i) {
            sum += burnc_rounding_divide_by_pot(TABLE[largest - x[i]], 12);
        }
        headroom = burnc_clz((uint32_t)sum);
        half = (int32_t)((((uint32_t)sum << headroom) & 0x7fffffffu) / 2u + 0x40000000u);
        estimate = burnc_doubling_high_multiply(half, -1010580540) + 1515870810;
        for (k = 0; k < 3; ++k) {
            const int32_t error = (1 << 29) - burnc_doubling_high_multiply(half, estimate);
            estimate += burnc_doubling_high_multiply(estimate, error) * 4;
        }
        estimate = estimate >= 1073741824 ? INT32_MAX : estimate * 2;
        for (i = 0; i < 32; ++i) {
            const int32_t product = burnc_doubling_high_multiply(estimate, TABLE[largest - x[i]]);
            const int32_t result = burnc_rounding_divide_by_pot(product, 35 - headroom) - 128;
            y[i] = (int8_t)(result > 127 ? 127 : result);
        }
        x += 32;
        y += 32;
    }
"""

PAD = """
    int32_t h, i;
    for (h = 0; h < 16; ++h) {
        const int32_t columns = h > 0 && h < 15 ? 14 * 8 : 0;
        const int32_t border = columns == 0 ? 16 * 8 : 8;
        for (i = 0; i < border; ++i) {
            *y++ = 3;
        }
        for (i = 0; i < columns; ++i) {
            *y++ = *x++;
        }
        for (i = 0; i < (columns == 0 ? 0 : 8); ++i) {
            *y++ = 3;
        }
    }
"""

CONCAT = """
    int32_t pixel, c;
    for (pixel = 0; pixel < 144; ++pixel) {
        for (c = 0; c < 8; ++c) {
            *y++ = *x0++;
        }
        for (c = 0; c < 8; ++c) {
            *y++ = *x1++;
        }
    }
"""

NEAREST = """
    int32_t h, w, c;
    for (h = 0; h < 16; ++h) {
        for (w = 0; w < 16; ++w) {
            const int8_t *p = x + (h / 2 * 8 + w / 2) * 8;
            for (c = 0; c < 8; ++c) {
                *y++ = *p++;
            }
        }
    }
"""

# Halves of pixels: weights are 1/4 and 3/4, as 256 and 768 of 1024.
LINEAR = """
    int32_t h, w, c;
    for (h = 0; h < 16; ++h) {
        const int32_t above = h == 0 ? 0 : (h - 1) / 2, below = h == 15 ? 7 : (h + 1) / 2;
        const int32_t down = above == below ? 0 : h % 2 == 0 ? 768 : 256;
        for (w = 0; w < 16; ++w) {
            const int32_t left = w == 0 ? 0 : (w - 1) / 2, right = w == 15 ? 7 : (w + 1) / 2;
            const int32_t along = left == right ? 0 : w % 2 == 0 ? 768 : 256;
            const int8_t *const a = x + (above * 8 + left) * 8, *const b = x + (above * 8 + right) * 8;
            const int8_t *const d = x + (below * 8 + left) * 8, *const e = x + (below * 8 + right) * 8;
            const int32_t wa = (1024 - down) * (1024 - along), wb = (1024 - down) * along;
            const int32_t wd = down * (1024 - along), we = down * along;
            for (c = 0; c < 8; ++c) {
                *y++ = (int8_t)burnc_rounding_divide_by_pot(a[c] * wa + b[c] * wb + d[c] * wd + e[c] * we, 20);
            }
        }
    }
"""

TRANSPOSE = """
    int32_t c, i;
    for (c = 0; c < 8; ++c) {
        const int8_t *p = x + c;
        for (i = 0; i < 256; ++i) {
            *y++ = *p;
            p += 8;
        }
    }
"""

IMAGE = ((1, 16, 16, 8),)
SMALL = ((1, 8, 8, 8),)
PAIR = (2, 2)
NO_PAD, ONE = (0, 0), (1, 1)
CASES = (
    Case("average pool", "average_pool2d", AveragePool2dAttrs(PAIR, PAIR), IMAGE, AVERAGE),
    Case("global average pool", "average_pool2d", AveragePool2dAttrs((25, 5)), ((1, 25, 5, 64),), GLOBAL_AVERAGE),
    Case("max pool", "max_pool2d", MaxPool2dAttrs(PAIR, PAIR), IMAGE, MAXIMUM),
    Case("mean", "reduce_mean", ReduceAttrs((1, 2)), IMAGE, MEAN),
    Case("softmax", "softmax", SoftmaxAttrs(), ((8, 32),), SOFTMAX, PROBABILITIES),
    Case("pad", "pad", PadAttrs((NO_PAD, ONE, ONE, NO_PAD)), ((1, 14, 14, 8),), PAD),
    Case("concat", "concat", ConcatAttrs(3), ((1, 12, 12, 8),) * 2, CONCAT),
    Case("resize, nearest", "resize", ResizeAttrs((1, 16, 16, 8)), SMALL, NEAREST),
    Case("resize, linear", "resize", ResizeAttrs((1, 16, 16, 8), mode="linear"), SMALL, LINEAR),
    Case("transpose", "transpose", TransposeAttrs((0, 3, 1, 2)), IMAGE, TRANSPOSE),
)


STEPS_OF_TIME = (Loops("SVDF", svdf, SVDF_LOOPS), Loops("LSTM", lstm, LSTM_LOOPS))


def measured(case: Case | Loops, change: Callable[[str], str] | None = None) -> tuple[int, Array]:
    """Cycles and result of the operator, its C function changed first."""
    board = load_board("pico")
    graph = case.graph()
    program: Program = lower(graph, board, LowerOptions(name="m", ram_budget=0))
    if change is not None:
        changed = {name: change(text) for name, text in program.functions.items()}
        if changed == program.functions:
            raise ValueError(f"{case.name} is not rendered any more as it was")
        program.functions = changed
    executable = BoardExecutable(board, graph, program, True)
    rng = np.random.default_rng(3)
    inputs = {v.name: rng.integers(-128, 128, v.type.shape).astype(v.type.dtype.numpy) for v in graph.inputs}
    run = executable.measured_run(inputs)
    executable.close()
    return sum(run.report.layer_cycles), run.outputs[graph.outputs[0].name]


def by_hand(case: Case) -> Callable[[str], str]:
    """Puts the case's body into the rendered function; TABLE is its last parameter there."""

    def change(text: str) -> str:
        head = text[: text.index("{") + 1]
        table = head[: head.rindex(")")].split("*")[-1]
        return head + case.body.replace("TABLE", table) + "}\n"

    return change


def with_loops(case: Loops) -> Callable[[str], str]:
    """Puts the loops into the rendered function."""

    def change(text: str) -> str:
        for rendered, hand in case.loops:
            text = text.replace(rendered, hand)
        return text

    return change


def figures() -> Iterator[Figure]:
    for steps in STEPS_OF_TIME:
        rendered, result = measured(steps)
        hand, wanted = measured(steps, with_loops(steps))
        yield Figure(f"{steps.name}: {rendered:,} cycles, loops by hand 1", rendered / hand, MOST)
        yield Figure(f"{steps.name}: results that differ", float(not np.array_equal(result, wanted)), 0.0)
    for case in CASES:
        rendered, result = measured(case)
        hand, wanted = measured(case, by_hand(case))
        same = np.array_equal(result, wanted)
        elements = max(result.size, *(int(np.prod(shape)) for shape in case.shapes))
        yield Figure(f"{case.name}: {rendered / elements:.1f} cycles an element, by hand 1", rendered / hand, MOST)
        yield Figure(f"{case.name}: results that differ", float(not same), 0.0)


def main(arguments: Sequence[str]) -> int:
    return report(figures(), as_json="--json" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
