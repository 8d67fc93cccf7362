"""ONNX operators that gradients and losses brought along: read from a file, they compute what onnxruntime does."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.importers.onnx import import_onnx
from burnc.ir import verify
from oracles.float_onnx import run_onnx, single_node_model

X = np.random.default_rng(0).uniform(0.5, 2, (2, 3, 4)).astype(np.float32)
Y = np.random.default_rng(1).uniform(0.5, 2, (3, 1)).astype(np.float32)


def integers(*numbers):
    return np.array(numbers, np.int64)


CASES = {
    "Sub": ({"x": X, "z": Y}, {}, {}),
    "Div": ({"x": X, "z": Y}, {}, {}),
    "Sqrt": ({"x": X}, {}, {}),
    "Expand": ({"x": Y}, {"shape": integers(2, 1, 4)}, {}),
    "ReduceSum": ({"x": X}, {"axes": integers(-1, 0)}, {"keepdims": 0}),
    "ReduceSum all": ({"x": X}, {}, {}),
    "ReduceSum none": ({"x": X}, {"axes": np.zeros(0, np.int64)}, {"noop_with_empty_axes": 1}),
    "ReduceMean": ({"x": X}, {"axes": integers(1)}, {"keepdims": 1}),
    "Slice": ({"x": X}, {"starts": integers(-2, 1), "ends": integers(9, -1), "axes": integers(1, 2)}, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_onnxruntime(name):
    inputs, constants, attributes = CASES[name]
    model = single_node_model(name.split()[0], inputs, constants, **attributes)
    (wanted,) = run_onnx(model, inputs)
    graph = import_onnx(model)
    verify(graph)
    (got,) = NumpyReference().compile(graph).run(inputs).values()
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_an_axis_that_is_not_there_is_refused():
    with pytest.raises(UnsupportedError, match="out of range"):
        import_onnx(single_node_model("ReduceSum", {"x": X}, {"axes": integers(5)}))
