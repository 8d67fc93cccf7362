"""Corners of single ONNX operators, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.errors import UnsupportedError
from burnc.importers.onnx import import_onnx
from burnc.ir import Array
from conformance.check import disagreement
from importers.small_nets import import_and_run, weights
from oracles.float_onnx import run_onnx, single_node_model
from requirements import requires_package

X = {"x": weights(2, 3, 5, 6)}


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


CORNERS: dict[str, tuple[str, dict[str, Array], dict[str, Array], dict[str, Any]]] = {
    "a norm of constants": ("LpNormalization", {}, {"x": weights(3, 4)}, {"p": 1, "axis": 1}),
    "pads that crop": ("Pad", X, {"pads": ints(0, -1, 2, -3, 1, 0, -4, -2)}, {}),
    "pads that crop, with a value": (
        "Pad", X, {"pads": ints(0, -1, 2, -3, 1, 0, -4, 0), "value": np.array(1.5, np.float32)}, {},
    ),
    "a value that the mode does not use": (
        "Pad", X, {"pads": ints(0, 0, 1, 1, 0, 0, 2, 1), "value": np.array(1.5, np.float32)}, {"mode": "edge"},
    ),
    "SAME with a kernel narrower than its stride": (
        "ConvTranspose", X, {"w": weights(3, 2, 1, 2)}, {"auto_pad": "SAME_UPPER", "strides": [3, 2]},
    ),
    "SAME_LOWER with a kernel narrower than its stride": (
        "ConvTranspose", X, {"w": weights(3, 2, 2, 1)}, {"auto_pad": "SAME_LOWER", "strides": [3, 3]},
    ),
}  # fmt: skip


@requires_package("onnxruntime")
@pytest.mark.parametrize("name", CORNERS)
def test_corner(name: str) -> None:
    op, inputs, constants, attributes = CORNERS[name]
    model = single_node_model(op, inputs, constants, **attributes)
    (wanted,) = run_onnx(model, inputs)
    (got,) = import_and_run(model, **inputs).values()
    assert disagreement(got, wanted) == []


@pytest.mark.parametrize("op", ["AveragePool", "Conv", "MaxPool"])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_that_skip_are_padded_where_tools_agree_and_refused_where_not(op: str, mode: str) -> None:
    constants = {"w": weights(2, 1, 1)} if op == "Conv" else {}
    attributes: dict[str, Any] = {} if op == "Conv" else {"kernel_shape": [1]}
    for size in range(2, 13):
        inputs = {"x": weights(1, 1, size)}
        model = single_node_model(op, inputs, constants, auto_pad=mode, strides=[3], **attributes)
        if -(-size // 3) * 3 - 2 < size - 1:
            with pytest.raises(UnsupportedError) as caught:
                import_onnx(model)
            assert "would have to crop" in caught.value.items[0].why
        elif op == "Conv" or size % 3 == 1:
            (wanted,) = run_onnx(model, inputs)
            (got,) = import_and_run(model, **inputs).values()
            assert disagreement(got, wanted) == []


@pytest.mark.parametrize("shape", [(1, 6, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("op", ["GlobalMaxPool", "GlobalAveragePool"])
def test_pools_of_constants(op: str, shape: tuple[int, ...]) -> None:
    """onnx's reference implementation, which evaluates constants, makes other shapes of some."""
    model = single_node_model(op, X, {"c": weights(*shape)}, order=["c"])
    (wanted,) = run_onnx(model, X)
    (got,) = import_and_run(model, **X).values()
    assert disagreement(got, wanted) == []
