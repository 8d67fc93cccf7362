"""Operators in every form that an opset gave them, against onnxruntime, which reads each opset as it was meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from burnc.errors import BurncError, UnsupportedError
from burnc.importers.onnx import import_onnx
from cases.run_model import run_model
from conformance.check import disagreement
from oracles.float_onnx import run_onnx, single_node_model

F32 = np.float32
OLDEST = 7
RNG = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(F32)


def floats(*values: float) -> Any:
    return np.array(values, F32)


def whole(*values: int) -> Any:
    return np.array(values, np.int64)


ROWS, IMAGE, FOUR = normal(2, 3, 4), normal(1, 4, 6, 6), np.abs(normal(4)) + F32(0.5)
CLASSES = np.array([[0, 1, 2, 0], [1, 1, 0, 2]])


@dataclass(frozen=True)
class Form:
    """One way to write an operator, since opset ``first``: conversion from there passes by all that came later."""

    op: str
    inputs: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    first: int = OLDEST


X, Y = {"x": ROWS}, {"x": IMAGE}
FORMS = [
    *(Form(op, X, attributes=a) for op in ("Softmax", "LogSoftmax", "Hardmax") for a in ({}, {"axis": 0})),
    *(Form(op, X, first=13) for op in ("Softmax", "LogSoftmax", "Hardmax")),
    Form("Clip", X, {}, {"min": -0.5, "max": 0.5}),
    Form("Clip", X, {"a": F32(-0.5), "b": F32(0.5)}, first=11),
    *(Form("Pad", X, {}, {"pads": [0, 1, 0, 0, 0, 2], **a}) for a in ({"value": 1.5}, {"mode": "reflect"})),
    Form("Pad", X, {"p": whole(0, 1, 0, 0, 0, 2)}, first=11),
    Form("Slice", X, {}, {"starts": [0, -2], "ends": [1, 100], "axes": [0, 2]}),
    Form("Slice", X, {"s": whole(1), "e": whole(3), "a": whole(2)}, first=10),
    *(Form("Upsample", Y, {}, {"scales": [1.0, 1.0, 2.0, 2.0], "mode": m}) for m in ("nearest", "linear")),
    Form("Upsample", Y, {"s": floats(1, 1, 1.5, 1.5)}, first=9),
    Form("Upsample", Y, {"s": floats(1, 1, 2, 2)}, {"mode": "linear"}, first=9),
    *(Form("Resize", Y, {"s": floats(1, 1, 2, 2)}, {"mode": m}, first=10) for m in ("nearest", "linear")),
    Form("Resize", Y, {"r": floats(), "s": floats(1, 1, 0.6, 0.6)}, first=11),
    *(Form("Squeeze", Y, {}, a) for a in ({}, {"axes": [0]})),
    Form("Unsqueeze", Y, {}, {"axes": [0, 3]}),
    Form("ReduceSum", X, {}, {"axes": [1], "keepdims": 0}),
    *(Form(f"Reduce{r}", X, {}, {"axes": [0, 2]}) for r in ("Mean", "Max", "Prod", "L1", "L2", "LogSumExp")),
    Form("ReduceMean", X, {"a": whole(1)}, first=18),
    *(Form(op, X, {}, {"axis": 1}) for op in ("ArgMax", "ArgMin")),
    Form("BatchNormalization", Y, {"s": FOUR, "b": FOUR, "m": FOUR, "v": FOUR}),
    Form("OneHot", {"x": whole(0, 2, 1)}, {"d": whole(3), "w": floats(0, 1)}, first=9),
    Form("CumSum", X, {"a": np.array(1, np.int32)}, first=11),
    Form("Gemm", {"a": ROWS[0], "b": ROWS[1].T.copy()}, {"c": floats(1)}, {"alpha": 0.5, "beta": 2.0}),
    Form("PRelu", X, {"s": floats(0.1)}),
    *(Form(op, {"a": ROWS, "b": ROWS[:1] * 2}, first=8) for op in ("Max", "Sum", "Mean")),
    Form("Max", {"a": ROWS, "b": -ROWS}),
    Form("AveragePool", Y, {}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    Form("AveragePool", Y, {}, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, first=10),
    *(Form(f"{op}Pool", Y, {}, {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER"}) for op in ("Average", "Max", "Lp")),
    Form("ConvTranspose", Y, {"w": normal(4, 2, 3, 3)}, {"strides": [2, 2]}),
    Form("LayerNormalization", X, {"s": FOUR}, first=17),
    Form("MeanVarianceNormalization", Y, first=9),
    Form("Cast", X, {}, {"to": 6}),
    Form("Flatten", X, {}, {"axis": 1}),
    Form("GridSample", {**Y, "g": normal(1, 3, 3, 2)}, {}, {"mode": "bicubic", "padding_mode": "reflection"}, 16),
    Form(
        "RoiAlign",
        {**Y, "r": floats(0, 0, 4, 4).reshape(1, 4), "b": whole(0)},
        {},
        {"output_height": 2, "output_width": 2, "sampling_ratio": 2},
        first=10,
    ),
    Form("NegativeLogLikelihoodLoss", {"x": ROWS, "t": CLASSES}, first=12),
    Form("SoftmaxCrossEntropyLoss", {"x": ROWS, "t": CLASSES}, first=12),
    *(Form(op, X, first=first) for op, first in (("HardSwish", 14), ("IsInf", 10), ("IsNaN", 9))),
    Form("GatherND", {**X, "i": whole(0, 1).reshape(1, 2)}, first=11),
    *(Form(op, {**X, "i": np.zeros((1, 3, 4), np.int64), "u": ROWS[:1]}, first=f) for op, f, n in (
        ("Scatter", 9, 10), ("ScatterElements", 11, 21)
    )),
    Form("ScatterND", {**X, "i": whole(1).reshape(1, 1), "u": ROWS[:1]}, first=11),
    *(Form(op, Y, {}, {"blocksize": 2}) for op in ("DepthToSpace", "SpaceToDepth")),
    *(Form("DFT", {"x": ROWS[..., None].copy()}, {}, a, first=17) for a in ({}, {"axis": 2})),
    Form("DFT", {"x": ROWS[..., None].copy()}, {"n": np.array(4), "a": np.array(1)}, first=20),
    Form("QuantizeLinear", X, {"s": F32(0.1), "z": np.array(3, np.int8)}, first=10),
    Form("DequantizeLinear", {"x": (ROWS * 10).astype(np.int8)}, {"s": F32(0.1), "z": np.array(3, np.int8)}, first=10),
    Form("RNN", X, {"w": normal(1, 5, 4), "r": normal(1, 5, 5)}, {"hidden_size": 5}),
    *(Form("Dropout", X, {}, a, first) for a, first in (({"ratio": 0.3}, 7), ({}, 12))),
    Form("Compress", X, {"c": np.array([True, False, True])}, {"axis": 1}, first=9),
    Form("Reshape", X, {"s": whole(0, -1)}),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.op)
def test_a_form_means_what_it_meant(form: Form):
    constants = {name: np.asarray(data) for name, data in form.constants.items()}
    model = single_node_model(form.op, form.inputs, constants, opset=form.first, **form.attributes)
    (got, *_), (wanted, *_) = run_model(model, form.inputs), run_onnx(model, form.inputs)
    assert disagreement(got, wanted) == []


def test_batch_norm_over_everything_but_the_batch_is_refused():
    per_element = {name: np.ones((4, 6, 6), F32) for name in "sbmv"}
    model = single_node_model("BatchNormalization", Y, per_element, opset=7, spatial=0)
    with pytest.raises(BurncError, match="gamma"):
        run_model(model, Y)


def test_an_image_that_shrinks_by_the_nearest_point_was_never_defined():
    model = single_node_model("Resize", Y, {"s": floats(1, 1, 0.6, 0.6)}, opset=10)
    with pytest.raises(BurncError, match="before opset 11"):
        run_model(model, Y)


@pytest.mark.parametrize("opset", range(22, onnx.defs.onnx_opset_version() + 1))
def test_opsets_after_the_mapped_one(opset: int):
    """Those that only onnx's reference knows yet are compared by the node tests; here, that they are read."""
    model = single_node_model("Softmax", X, opset=opset, axis=1)
    np.testing.assert_allclose(run_model(model, X)[0].sum(axis=1), 1, rtol=1e-5)


def test_operators_that_the_standard_lacks_are_listed_together():
    model = single_node_model("Relu", Y)
    del model.graph.node[:]
    model.graph.node.extend(helper.make_node(op, ["x"], [f"{op}_y"], f"n{op}") for op in ("Foo", "Relu", "Bar"))
    model.graph.output[0].name = "Relu_y"
    with pytest.raises(UnsupportedError, match=r"2 operators(.|\n)*'nFoo'(.|\n)*'nBar'"):
        import_onnx(model)
