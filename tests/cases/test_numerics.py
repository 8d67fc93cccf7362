"""Faults of comparable tools in quantizing and requantizing, as cases here."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from burnc.compilers.compile import CODE_FLAGS, compile_objects, link_shared_library
from burnc.compilers.toolchains import find_host_compiler
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.numerics import multiply_by_quantized_multiplier, quantize, quantize_multiplier
from burnc.ops import operators
from burnc.resources import data_folder
from numerics import big_integers as big
from passes.rewriting import run

ACCUMULATORS = [0, 1, -1, -100, 2**30, 2**31 - 1, -(2**31)]
MULTIPLIERS = [2**30, 1518500250, 2**31 - 1]
SOURCE = """
#include "burnc/fixed_point.h"
int32_t twice(int32_t acc, int32_t multiplier, int32_t shift) { return burnc_requantize(acc, multiplier, shift); }
int32_t once(int32_t acc, int32_t multiplier, int32_t shift) { return burnc_requantize_single(acc, multiplier, shift); }
"""


@pytest.fixture(scope="module", params=[0, 1], ids=["wide_multiply", "short_multiply"])
def compiled(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("requantize")
    source = folder / "requantize.c"
    source.write_text(f"#define BURNC_SHORT_MULTIPLY {request.param}\n{SOURCE}")
    compiler = find_host_compiler()
    flags = [*CODE_FLAGS, "-fPIC", "-Wno-missing-prototypes", f"-I{data_folder('runtime_c') / 'include'}"]
    checks = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    objects = compile_objects(compiler, [source], out_dir=folder / "objects", flags=[*flags, *checks])
    return ctypes.CDLL(str(link_shared_library(compiler, objects, output=folder / "requantize.so")))


def test_u095_quantize_linear_reaches_minus_128_and_rounds_half_to_even():
    type_ = TensorType(DType.INT8, (7,), QuantParams.per_tensor(1.0))
    x = np.array([-129, -128, -127.5, 0.5, 1.5, 2.5, 128], np.float32)
    expected = [-128, -128, -128, 0, 2, 2, 127]
    assert quantize(x, type_).tolist() == expected
    graph = Graph("net")
    b = Builder(graph, operators())
    graph.outputs = [
        b.node("quantize", [b.input("x", TensorType(DType.FLOAT32, (7,)))], quant=type_.quant, rounding="half_even")
    ]
    assert run(graph, {"x": x})[graph.outputs[0].name].tolist() == expected


def test_u109_the_intermediate_of_requantize_needs_33_bits(compiled):
    top = 2**31 - 1
    assert int(multiply_by_quantized_multiplier(top, top, 0)) == top - 1
    assert compiled.twice(top, top, 0) == top - 1
    assert compiled.once(top, top, 0) == top - 1


@pytest.mark.parametrize("rounding", ["tflm", "single"])
def test_u110_every_right_shift_and_sign_under_the_sanitizer(compiled, rounding):
    function = compiled.twice if rounding == "tflm" else compiled.once
    model = big.requantized if rounding == "tflm" else big.requantized_once
    for shift in range(-31, 31):
        for multiplier in MULTIPLIERS:
            for acc in ACCUMULATORS:
                expected = model(acc, multiplier, shift)
                assert int(multiply_by_quantized_multiplier(acc, multiplier, shift, rounding)) == expected
                assert function(acc, multiplier, shift) == expected


def test_u111_a_factor_above_1_saturates():
    multiplier, shift = quantize_multiplier(25.0)
    assert shift == 5
    half = QuantParams.per_tensor(0.5)
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (6,), half))
    z = b.input("z", TensorType(DType.INT8, (6,), half))
    graph.outputs = [b.node("mul", [x, z], quant=QuantParams.per_tensor(0.01))]
    left, right = np.array([1, -1, 5, 127, -128, -128], np.int8), np.array([1, 3, 1, 127, 127, -128], np.int8)
    got = run(graph, {"x": left, "z": right})[graph.outputs[0].name]
    assert got.tolist() == [25, -75, 125, 127, -128, 127]
    assert multiplier == 25 * 2**26
