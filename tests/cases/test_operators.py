"""Faults that other projects had, as tests of operators and of how files map to them; named by the case's id."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnc.errors import BurncError
from cases.run_model import run_model, run_node
from oracles.float_onnx import OPSET, run_onnx, single_node_model

F32 = np.float32


def counting(*shape: int) -> Any:
    """1, 2, 3, ... in row-major order."""
    return np.arange(1, np.prod(shape) + 1, dtype=F32).reshape(shape)


def ones(*shape: int) -> Any:
    return np.ones(shape, F32)


def small_model(nodes: list[onnx.NodeProto], x: Any, constants: dict[str, Any], outputs: list[str]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    inferred: onnx.ModelProto = onnx.shape_inference.infer_shapes(model)
    return inferred


@pytest.mark.parametrize(("mode", "wanted"), [("SAME_UPPER", [54, 45, 72, 54]), ("SAME_LOWER", [14, 30, 57, 99])])
def test_u002_odd_total_padding(mode: str, wanted: list[int]):
    y = run_node("Conv", {"x": counting(1, 1, 4, 4)}, {"w": ones(1, 1, 3, 3)}, strides=[2, 2], auto_pad=mode)
    assert y.ravel().tolist() == wanted
    for op_type in ("MaxPool", "AveragePool"):
        run_node(op_type, {"x": counting(1, 1, 4, 4)}, kernel_shape=[3, 3], strides=[2, 2], auto_pad=mode)
        run_node(op_type, {"x": counting(1, 2, 4)}, kernel_shape=[3], strides=[2], auto_pad=mode)


def test_u007_bias_belongs_to_the_channel():
    y = run_node("Conv", {"x": np.zeros((1, 1, 3, 3), F32)}, {"w": ones(2, 1, 1, 1), "b": np.array([1, 2], F32)})
    assert (y[0, 0] == 1).all()
    assert (y[0, 1] == 2).all()


def test_u010_conv_without_attributes():
    y = run_node("Conv", {"x": counting(1, 1, 4, 4)}, {"w": ones(1, 1, 3, 3)}, kernel_shape=[3, 3])
    assert y.shape == (1, 1, 2, 2)


def test_u010_strides_too_short():
    with pytest.raises(BurncError, match="node"):
        run_node("Conv", {"x": counting(1, 1, 4, 4)}, {"w": ones(1, 1, 3, 3)}, oracle=False, strides=[2])


@pytest.mark.parametrize("padding", [{"auto_pad": "SAME_UPPER"}, {"pads": [2, 2, 2, 2]}])
def test_u011_dilation_with_same_padding(padding: dict[str, Any]):
    oracle = "pads" in padding
    x, w = counting(1, 1, 7, 7), ones(1, 1, 3, 3)
    y = run_node("Conv", {"x": x}, {"w": w}, oracle=oracle, dilations=[2, 2], **padding)
    assert y.shape == (1, 1, 7, 7)
    assert y[0, 0, 0].tolist() == [36, 40, 60, 66, 72, 48, 52]


def test_u011_causal_1d():
    y = run_node("Conv", {"x": counting(1, 1, 12)}, {"w": ones(1, 1, 3)}, dilations=[4], pads=[8, 0])
    assert y.shape == (1, 1, 12)
    assert y[0, 0, 0] == 1


def test_u013_size_no_multiple_of_the_stride():
    y = run_node("MaxPool", {"x": counting(1, 1, 5, 5)}, kernel_shape=[2, 2], strides=[2, 2])
    assert y.ravel().tolist() == [7, 9, 17, 19]


def test_u016_ceil_mode_divides_by_what_is_there():
    y = run_node("AveragePool", {"x": counting(1, 1, 4, 4)}, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    assert y.ravel().tolist() == [6, 7.5, 12, 13.5]


@pytest.mark.parametrize("included", [0, 1])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 1]])
@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_ceil_mode_and_padding_together(size: int, pads: list[int], included: int):
    run_node(
        "AveragePool",
        {"x": counting(1, 1, size, size)},
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=pads,
        ceil_mode=1,
        count_include_pad=included,
    )
    run_node("MaxPool", {"x": counting(1, 1, size, size)}, kernel_shape=[3, 3], strides=[2, 2], pads=pads, ceil_mode=1)


def test_u019_ceil_mode_is_no_ornament():
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w"], ["y"]),
    ]
    x = counting(1, 1, 6, 6)
    model = small_model(nodes, x, {"w": counting(9, 2)}, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, run_onnx(model, {"x": x})[0], rtol=1e-5)


def test_u027_gemm_bias_of_wrong_shape():
    with pytest.raises(BurncError) as caught:
        run_node("Gemm", {"x": ones(2, 3)}, {"b": ones(3, 1), "c": ones(1, 4)}, oracle=False)
    assert "node" in str(caught.value)
    assert "[1, 4]" in str(caught.value)


@pytest.mark.parametrize("bias", [(), (1,), (4,), (1, 4), (2, 1), (2, 4)])
@pytest.mark.parametrize(("trans_a", "trans_b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("constant", [True, False])
def test_gemm_forms(constant: bool, trans_a: int, trans_b: int, bias: tuple[int, ...]):
    a = counting(3, 2) if trans_a else counting(2, 3)
    b = counting(4, 3) if trans_b else counting(3, 4)
    inputs, constants = {"a": a}, {"c": counting(*bias) if bias else np.array(2, F32)}
    (constants if constant else inputs)["b"] = b
    run_node("Gemm", inputs, constants, order=["a", "b", "c"], transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)


def test_u029_matmul_broadcasts_batches():
    y = run_node("MatMul", {"x": counting(2, 1, 2, 3)}, {"w": counting(2, 3, 2)})
    assert y.shape == (2, 2, 2, 2)
    assert y.ravel().tolist() == [22, 28, 49, 64, 58, 64, 139, 154, 76, 100, 103, 136, 220, 244, 301, 334]


@pytest.mark.parametrize("op_type", ["Add", "Mul"])
@pytest.mark.parametrize(("a", "b"), [((2, 3), (3,)), ((2, 1, 3), (2, 1)), ((2, 3), ()), ((1,), (2, 3))])
def test_u031_ranks_are_aligned(op_type: str, a: tuple[int, ...], b: tuple[int, ...]):
    run_node(op_type, {"a": np.full(a, 2, F32), "b": np.full(b, 3, F32)})


def test_u033_reshape_zero_and_minus_one():
    x = counting(2, 3, 4)
    y = run_node("Reshape", {"x": x}, {"shape": np.array([0, -1], np.int64)})
    assert y.shape == (2, 12)
    model = single_node_model("Reshape", {"x": x}, opset=1, shape=[0, -1])
    (y,) = run_model(model, {"x": x})
    assert y.shape == (2, 12)
    constant = helper.make_node("Constant", [], ["s"], value=numpy_helper.from_array(np.array([0, -1], np.int64)))
    (y,) = run_model(small_model([constant, helper.make_node("Reshape", ["x", "s"], ["y"])], x, {}, ["y"]), {"x": x})
    assert y.shape == (2, 12)


def test_u033_allowzero_on_a_tensor_that_is_not_empty():
    with pytest.raises(BurncError, match="do not fill"):
        run_node("Reshape", {"x": counting(2, 3)}, {"shape": np.array([0, 3], np.int64)}, oracle=False, allowzero=1)


def test_u035_flatten_keeps_the_channel_order():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1, 2, 3, 3)).astype(F32)
    constants = {
        "w": rng.normal(size=(3, 2, 3, 3)).astype(F32),
        "g": (np.arange(27)[:, None] * 31 + np.arange(4)).astype(F32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "g"], ["y"]),
    ]
    model = small_model(nodes, x, constants, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, run_onnx(model, {"x": x})[0], rtol=1e-5)


def test_u040_concat_axes():
    a, b = counting(1, 2, 3), -counting(1, 2, 3)
    run_node("Concat", {"a": a, "b": b}, axis=-1)
    run_node("Concat", {"a": a, "b": b, "c": a * 2}, axis=1)
    run_node("Concat", {"a": a}, axis=0)


def test_u041_concat_beside_the_channels():
    run_node("Concat", {"a": counting(1, 2, 3, 4), "b": -counting(1, 2, 1, 4)}, axis=2)
    w = counting(2, 5, 1, 1)
    x = counting(1, 2, 3, 4)
    nodes = [
        helper.make_node("Concat", ["x", "k"], ["c"], axis=1),
        helper.make_node("Conv", ["c", "w"], ["y"]),
    ]
    model = small_model(nodes, x, {"k": -counting(1, 3, 3, 4), "w": w}, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, run_onnx(model, {"x": x})[0], rtol=1e-5)


PADS = np.array([0, 1, 0, 2], np.int64)


@pytest.mark.parametrize(
    ("constants", "order", "wanted"),
    [
        ({"p": PADS}, ["x", "p"], 0),
        ({"p": PADS}, ["x", "p", ""], 0),
        ({"p": PADS, "v": np.array(5, F32)}, ["x", "p", "v"], 5),
    ],
)
def test_u049_pad_value_is_optional(constants: dict[str, Any], order: list[str], wanted: float):
    y = run_node("Pad", {"x": counting(1, 3)}, constants, order=order)
    assert y.tolist() == [[wanted, 1, 2, 3, wanted, wanted]]


def test_u049_pad_value_with_an_axis():
    x, constants = counting(1, 3), {"p": PADS, "v": np.array([5], F32)}
    y = run_node("Pad", {"x": x}, constants, oracle=False)
    assert y.tolist() == [[5, 1, 2, 3, 5, 5]]


def test_pad_by_axes():
    constants = {"p": np.array([1, 2], np.int64), "v": np.array(0, F32), "a": np.array([-1], np.int64)}
    assert run_node("Pad", {"x": counting(2, 2)}, constants).shape == (2, 5)


@pytest.mark.parametrize(("mode", "wanted"), [("reflect", [3, 2, 1, 2, 3, 4, 3]), ("edge", [1, 1, 1, 2, 3, 4, 4])])
def test_u051_pad_modes(mode: str, wanted: list[float]):
    y = run_node("Pad", {"x": counting(1, 4)}, {"p": np.array([0, 2, 0, 1], np.int64)}, mode=mode)
    assert y.ravel().tolist() == wanted


def test_u061_cast_truncates():
    x = np.array([-1.7, 1.7], F32)
    assert run_node("Cast", {"x": x}, to=TensorProto.INT32).tolist() == [-1, 1]
    assert run_node("Cast", {"x": np.array([3, -4], np.int64)}, to=TensorProto.FLOAT).tolist() == [3.0, -4.0]
    mask = np.array([True, False])
    nodes = [
        helper.make_node("Cast", ["x"], ["m"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["m", "k"], ["y"]),
    ]
    model = small_model(nodes, mask, {"k": np.array([2.5, 2.5], F32)}, ["y"])
    (y,) = run_model(model, {"x": mask})
    assert y.tolist() == [2.5, 0.0]


def test_cast_of_what_is_out_of_range():
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520.0], F32)
    y = run_node("Cast", {"x": x}, oracle=False, to=TensorProto.INT32)
    assert y.tolist() == [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 2147483520]


def test_u062_clip_forms():
    x = np.array([-9, 0, 5, 9], F32)
    low, high = np.array(0, F32), np.array(6, F32)
    assert run_node("Clip", {"x": x}, {"h": high}, order=["x", "", "h"]).tolist() == [-9, 0, 5, 6]
    assert run_node("Clip", {"x": x}, {"l": low}).tolist() == [0, 0, 5, 9]
    assert run_node("Clip", {"x": x}, {"l": low, "h": high}).tolist() == [0, 0, 5, 6]


def test_u066_batch_norm_parameter_behind_an_identity():
    x = counting(1, 2, 3)
    nodes = [
        helper.make_node("Identity", ["g"], ["gamma"]),
        helper.make_node("BatchNormalization", ["x", "gamma", "b", "m", "v"], ["y"]),
    ]
    constants = {n: np.array(v, F32) for n, v in (("g", [1, 2]), ("b", [0, 1]), ("m", [1, 4]), ("v", [1, 4]))}
    model = small_model(nodes, x, constants, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, run_onnx(model, {"x": x})[0], rtol=1e-5)


def test_u066_batch_norm_parameter_that_is_computed():
    x = counting(1, 2, 3)
    constants = {n: np.array(v, F32) for n, v in (("b", [0, 1]), ("m", [1, 4]), ("v", [1, 4]))}
    run_node("BatchNormalization", {"x": x, "g": np.array([1, 2], F32)}, constants)


def test_u073_scalar_scale_and_zero_point():
    x = np.array([[1, 2], [3, 4]], F32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = small_model(nodes, x, {"s": np.array(0.5, F32), "z": np.array(3, np.int8)}, ["y"])
    (y,) = run_model(model, {"x": x})
    assert y.tolist() == [[1, 2], [3, 4]]


def test_u095_quantize_saturates_and_rounds_half_to_even():
    x = np.array([-129, -128, -127.5, 0.5, 1.5, 2.5, 128], F32)
    y = run_node("QuantizeLinear", {"x": x}, {"s": np.array(1, F32), "z": np.array(0, np.int8)})
    assert y.tolist() == [-128, -128, -128, 0, 2, 2, 127]


def test_u105_per_axis_constant_is_dequantized_as_int8():
    constants = {"q": np.array([[-30], [10]], np.int8), "s": np.array([0.01, 0.02], F32)}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["d"], axis=0),
        helper.make_node("Reshape", ["d", "shape"], ["r"]),
        helper.make_node("Add", ["x", "r"], ["y"]),
    ]
    x = np.zeros((1, 2), F32)
    model = small_model(nodes, x, {**constants, "shape": np.array([1, 2], np.int64)}, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, [[-0.3, 0.2]], rtol=1e-6)


def test_one_tensor_dequantized_twice_with_other_parameters():
    constants = {"q": np.array([10, 20], np.int8), "s": np.array(0.5, F32), "t": np.array(2.0, F32)}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["a"]),
        helper.make_node("DequantizeLinear", ["q", "t"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("Add", ["c", "x"], ["y"]),
    ]
    x = np.zeros(2, F32)
    (y,) = run_model(small_model(nodes, x, constants, ["y"]), {"x": x})
    assert y.tolist() == [25.0, 50.0]


@pytest.mark.parametrize(
    ("op_type", "inputs", "rest", "why"),
    [
        ("MaxPool", {"x": ones(1, 1, 4)}, {"kernel_shape": [2], "pads": [-1, 0]}, "negative pads"),
        ("BatchNormalization", {n: ones(2) for n in "xgbmv"}, {}, "2 to 4 axes"),
        ("Cast", {"x": ones(2)}, {"to": TensorProto.STRING}, "not supported"),
        ("Pad", {"x": ones(2), "p": np.array([1, 1], np.int64)}, {}, "must be constant"),
    ],
)
def test_what_is_refused_says_why(op_type: str, inputs: dict[str, Any], rest: dict[str, Any], why: str):
    with pytest.raises(BurncError) as caught:
        run_node(op_type, inputs, oracle=False, **rest)
    assert why in str(caught.value)
    assert "'node'" in str(caught.value)
