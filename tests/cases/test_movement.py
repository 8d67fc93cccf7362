"""Faults that other projects had with what moves, reduces and convolves back; named by the case's id."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnc.backends import device
from burnc.errors import UnsupportedError
from burnc.importers.onnx import import_onnx
from burnc.passes import canonical_passes, run_passes
from burnc.quant import calibrate, prepare, quantize
from cases.run_model import run_model, run_node
from cases.test_operators import counting, ones, small_model
from oracles.float_onnx import run_onnx, single_node_model
from requirements import requires

F32 = np.float32


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(F32)


def test_u005_output_padding():
    y = run_node(
        "ConvTranspose",
        {"x": counting(1, 1, 2, 2)},
        {"w": ones(1, 1, 3, 3)},
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        output_padding=[1, 1],
    )
    assert y.shape == (1, 1, 4, 4)
    assert y.ravel().tolist() == [1, 3, 2, 2, 4, 10, 6, 6, 3, 7, 4, 4, 3, 7, 4, 4]


@pytest.mark.parametrize(
    "attributes",
    [
        {"pads": [1, 0, 1, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [3, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [3, 2]},
        {"output_shape": [8, 9], "strides": [3, 2]},
        {"dilations": [2, 1], "strides": [1, 2]},
    ],
)
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_convolutions(groups: int, attributes: dict[str, Any]):
    x, w = normal(2, 4, 3, 4), normal(4, 3, 3, 2)
    run_node("ConvTranspose", {"x": x}, {"w": w, "b": normal(3 * groups)}, group=groups, **attributes)


@pytest.mark.parametrize(("shape", "groups", "channels"), [((2, 3, 2, 2), 1, 3), ((4, 2, 3, 3), 2, 4)])
def test_u067_batch_norm_behind_a_transposed_convolution(shape: tuple[int, ...], groups: int, channels: int):
    norm = {name: normal(channels) for name in ("s", "b", "m")} | {"v": np.linspace(0.1, 9, channels).astype(F32)}
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w"], ["c"], group=groups, strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"]),
    ]
    x = normal(1, shape[0], 3, 3)
    model = small_model(nodes, x, {"w": normal(*shape), **norm}, ["y"])
    (y,) = run_model(model, {"x": x})
    np.testing.assert_allclose(y, run_onnx(model, {"x": x})[0], rtol=1e-5, atol=1e-5)
    graph = import_onnx(model)
    run_passes(graph, canonical_passes())
    assert "batch_norm" not in {node.op for node in graph.nodes}


def test_u187_scales_of_a_transposed_convolution_go_along_its_output_channels():
    w = normal(2, 3, 2, 2) * np.array([1, 30, 1000], F32).reshape(1, 3, 1, 1)
    graph = prepare(import_onnx(single_node_model("ConvTranspose", {"x": normal(1, 2, 3, 3)}, {"w": w})))
    result = quantize(graph, calibrate(graph, {"x": normal(8, 2, 3, 3)}))
    (node,) = [n for n in result.graph.nodes if n.op == "conv_transpose2d"]
    quant = node.input(1).type.quant
    assert quant is not None
    assert quant.axis == 0
    np.testing.assert_allclose(quant.scale, np.abs(w).max(axis=(0, 2, 3)) / 127, rtol=1e-5)


def test_u044_split_num_outputs():
    x = counting(1, 6, 2, 2)
    model = small_model([helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2)], x, {}, ["a", "b"])
    first, second = run_model(model, {"x": x})
    np.testing.assert_array_equal(first, x[:, :3])
    np.testing.assert_array_equal(second, x[:, 3:])


def test_split_into_unequal_parts():
    x = counting(2, 7)
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b", "c"], axis=1, num_outputs=3),
        helper.make_node("Split", ["x", "sizes"], ["d", "e"], axis=-1),
    ]
    model = small_model(nodes, x, {"sizes": np.array([2, 5])}, list("abcde"))
    assert [y.shape for y in run_model(model, {"x": x})] == [(2, 3), (2, 3), (2, 1), (2, 2), (2, 5)]


@requires("host compiler")
def test_u122_an_unused_part_is_not_written():
    nodes = [
        helper.make_node("Split", ["x"], ["a", "unused", "c"], axis=1, num_outputs=3),
        helper.make_node("Add", ["a", "c"], ["s"]),
        helper.make_node("Concat", ["s", "a"], ["y"], axis=1),
    ]
    x = normal(1, 6, 5)
    model = small_model(nodes, x, {}, ["y"])
    graph = import_onnx(model)
    run_passes(graph, canonical_passes())
    y = device("c").compile(graph).run({"x": x})["y"]
    np.testing.assert_array_equal(y, run_onnx(model, {"x": x})[0])


@pytest.mark.parametrize(
    ("start", "end", "step", "wanted"),
    [
        (9, 0, -1, [9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (-1, -(2**63), -1, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        (9, 2, -3, [9, 6, 3]),
        (-100, 2**63 - 1, 4, [0, 4, 8]),
    ],
)
def test_u045_slice_steps(start: int, end: int, step: int, wanted: list[int]):
    bounds = {"s": np.array([start]), "e": np.array([end]), "a": np.array([0]), "t": np.array([step])}
    assert run_node("Slice", {"x": np.arange(10, dtype=F32)}, bounds).tolist() == wanted


@pytest.mark.parametrize(("start", "end"), [(0, 5), (-1, 2**31 - 1), (-1, 2**63 - 1)])
def test_u054_a_slice_that_holds_nothing_is_refused(start: int, end: int):
    """ONNX's text and its reference say that it is empty, onnxruntime that it is reversed."""
    bounds = {"s": np.array([start]), "e": np.array([end]), "a": np.array([0]), "t": np.array([-1])}
    with pytest.raises(UnsupportedError, match="holds nothing"):
        import_onnx(single_node_model("Slice", {"x": np.arange(10, dtype=F32)}, bounds))


def test_u056_forms_of_reduce_mean():
    x, last = counting(1, 2, 2), {"axes": np.array([-1])}
    nothing = {"axes": np.array([], np.int64)}
    assert run_node("ReduceMean", {"x": x}, nothing, keepdims=0, noop_with_empty_axes=1).shape == (1, 2, 2)
    assert run_node("ReduceMean", {"x": x}, keepdims=0) == 2.5
    as_input = run_node("ReduceMean", {"x": x}, last, keepdims=0)
    as_attribute = run_node("ReduceMean", {"x": x}, keepdims=0, axes=[-1], opset=13)
    assert as_input.tolist() == as_attribute.tolist() == [[1.5, 3.5]]


@pytest.mark.parametrize(
    ("op_type", "shapes", "attributes"),
    [
        ("LayerNormalization", [(2, 3, 4), (4,), (4,)], {"axis": -1}),
        ("LayerNormalization", [(2, 3, 4), (3, 4)], {"axis": 1, "epsilon": 0.1}),
        ("GroupNormalization", [(2, 4, 3, 3), (4,), (4,)], {"num_groups": 2}),
        ("InstanceNormalization", [(2, 4, 3, 3), (4,), (4,)], {}),
        ("LpNormalization", [(2, 4, 3)], {"axis": 1}),
        ("LpNormalization", [(2, 4, 3)], {"p": 1}),
        ("DepthToSpace", [(2, 8, 2, 3)], {"blocksize": 2}),
        ("DepthToSpace", [(2, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}),
        ("SpaceToDepth", [(1, 3, 4, 2)], {"blocksize": 2}),
        *((f"Reduce{norm}", [(2, 3, 4)], {}) for norm in ("L1", "L2", "SumSquare", "LogSumExp")),
        ("Einsum", [(2, 3, 4), (2, 4, 5)], {"equation": "bij,bjk->bik"}),
        ("Einsum", [(2, 3, 4), (5, 4)], {"equation": "...i,ji"}),
        ("Einsum", [(3, 3, 2)], {"equation": "iij->ji"}),
        ("Einsum", [(2, 3), (3, 4), (4,)], {"equation": "ij, jk, k -> i"}),
        ("Einsum", [(2, 1, 3), (1, 4, 3)], {"equation": "...a,...a->..."}),
    ],
)
def test_composed_operators(op_type: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]):
    x, *rest = (normal(*shape) for shape in shapes)
    run_node(op_type, {"x": x}, {f"c{i}": array for i, array in enumerate(rest)}, **attributes)


@pytest.mark.parametrize("scales", [[1, 1, 2, 2], [1, 1, 1.5, 2.5]])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_old_upsample(mode: str, scales: list[float]):
    """It takes places as they are; onnx's converter makes a Resize that takes centres."""
    x = counting(1, 1, 2, 4)
    run_node("Upsample", {"x": x}, {"scales": np.array(scales, F32)}, opset=9, mode=mode)
    if mode == "linear":
        run_node("Resize", {"x": x}, {"scales": np.array(scales, F32)}, opset=10, mode=mode)


def test_log_sum_exp_does_not_overflow():
    x = np.array([[1000, 1001], [-1000, -1001], [-np.inf, 3]], F32)
    y = run_node("ReduceLogSumExp", {"x": x}, {"axes": np.array([1])}, oracle=False, keepdims=0)
    np.testing.assert_allclose(y, [1001.313262, -999.686738, 3], rtol=1e-6)


def test_a_fault_inside_a_standard_body_is_told_of_the_node_in_the_file():
    node = helper.make_node("SequenceMap", ["s"], ["t"], name="mapped")
    body = helper.make_graph(
        [helper.make_node("Identity", ["a"], ["b"])],
        "body",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT, [2])],
    )
    node.attribute.append(helper.make_attribute("body", body))
    nodes = [
        helper.make_node("SequenceConstruct", ["x"], ["s"], name="made"),
        node,
        helper.make_node("SequenceAt", ["t", "zero"], ["y"], name="read"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.array(0), "zero")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model)
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(model)
    assert {item.node for item in caught.value.items} <= {"made", "mapped", "read"}


def test_arg_max_takes_the_index_that_is_asked_for():
    x = np.array([[2, 5, 5, 1]], F32)
    for last, wanted in ((0, 1), (1, 2)):
        y = run_node("ArgMax", {"x": x}, axis=1, keepdims=0, select_last_index=last)
        assert (y.dtype, y.tolist()) == (np.int64, [wanted])
