"""A node's results by its operator's own definition, float or integer, in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnc.ir import Array, DType, Node


def evaluate(node: Node, operands: Sequence[Array | None]) -> list[Array]:
    """The results: the integer meaning where a tensor holds quantization parameters, else the float one.

    What is stored as float16 is computed in float32 and rounded once at the end, as kernels do it.
    """
    spec: Any = node.operator
    is_quantized = any(v.type.quant is not None for v in (*node.present_inputs, *node.outputs))
    # Overflow and NaN are values like others here; numpy need not warn.
    with np.errstate(all="ignore"):
        if is_quantized and spec.integer is not None:
            results = spec.integer(node, *operands)
        else:
            results = spec.forward(np, node.attrs, *(_widened(operand) for operand in operands))
        arrays = [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]
        return [_stored(a, v.type.dtype) for a, v in zip(arrays, node.outputs, strict=True)]


def _widened(array: Array | None) -> Array | None:
    return array.astype(np.float32) if array is not None and array.dtype == np.float16 else array


def _stored(array: Array, dtype: DType) -> Array:
    return array.astype(np.float16) if dtype is DType.FLOAT16 and array.dtype == np.float32 else array
