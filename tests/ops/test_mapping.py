"""What mappings may ask of a file's node."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.ir import Builder, DType, Graph, QuantParams, TensorType
from burnc.ops import operators
from burnc.ops.mapping import known_data
from burnc.ops.quantize import QuantizeAttrs


@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_known_is_found_in_one_walk(is_known):
    b = Builder(Graph("net"), operators())
    value = b.constant("c", np.array([1], np.int32)) if is_known else b.input("x", TensorType(DType.INT32, (1,)))
    for step in range(1200):  # two ways to the operand at each step, and deeper than Python's stack
        value = b.node("maximum", [value, value], name=f"step{step}")
    found = known_data(value)
    assert (found is not None and found.tolist() == [1]) if is_known else found is None


def test_constants_behind_quantize_and_dequantize_are_known():
    b = Builder(Graph("net"), operators())
    quant = QuantParams.per_tensor(0.5, 3)
    real = b.constant("c", np.array([1.3, -900.0], np.float32))
    q = b.node("quantize", [real], QuantizeAttrs("int8"), quant=quant, rounding="half_even")
    data = [known_data(value) for value in (q, b.node("dequantize", [q], quant=None))]
    assert [None if array is None else array.tolist() for array in data] == [[6, -128], [1.5, -65.5]]
