"""Faults that other projects had in Resize, recurrent layers, wide sums and unused outputs; named by the case's id."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.exporters.onnx import export_onnx
from burnc.importers.onnx import import_onnx
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, print_graph, verify
from burnc.memory import ArenaPlan, Request, plan_arena
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.quant import check_accumulators
from cases.run_model import run_model, run_node
from cases.test_operators import F32, counting
from conformance.check import disagreement
from oracles.float_onnx import OPSET, run_onnx, single_node_model
from oracles.tflm import GraphInTfliteMicro
from requirements import requires, requires_package


@pytest.mark.parametrize(
    ("coordinates", "rounding", "wanted"),
    [
        ("half_pixel", "floor", [1, 1, 1, 2, 2, 3, 3, 4]),
        ("asymmetric", "floor", [1, 1, 2, 2, 3, 3, 4, 4]),
        ("half_pixel", "ceil", [1, 2, 2, 3, 3, 4, 4, 4]),
    ],
)
def test_u020_nearest_has_modes(coordinates: str, rounding: str, wanted: list[int]):
    y = run_node(
        "Resize",
        {"x": counting(1, 1, 1, 4)},
        {"scales": np.array([1, 1, 1, 2], F32)},
        order=["x", "", "scales"],
        mode="nearest",
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
    )
    assert y.ravel().tolist() == wanted


def test_u022_exact_ties():
    y = run_node(
        "Resize",
        {"x": np.arange(20, dtype=F32)},
        {"sizes": np.array([6])},
        order=["x", "", "", "sizes"],
        mode="nearest",
        nearest_mode="round_prefer_ceil",
    )
    assert y.tolist() == [1, 5, 8, 11, 15, 18]


def test_u024_scales_or_sizes_and_empty_inputs():
    scales, sizes = np.array([1, 1, 2, 2], F32), np.array([1, 1, 6, 8])
    forms: list[tuple[dict[str, Any], list[str]]] = [
        ({"s": scales}, ["x", "", "s"]),
        ({"s": sizes}, ["x", "", "", "s"]),
        ({"roi": np.array([], F32), "s": scales}, ["x", "roi", "s"]),
    ]
    x = counting(1, 1, 3, 4)
    printed = set()
    for constants, order in forms:
        model = single_node_model("Resize", {"x": x}, constants, order=order, mode="linear")
        printed.add(print_graph(import_onnx(model)))
        (y,), (wanted,) = run_model(model, {"x": x}), run_onnx(model, {"x": x})
        assert disagreement(y, wanted) == []
    assert len(printed) == 1


def recurrent_model(
    op_type: str, gates: int, directions: int, outputs: list[str], **attributes: Any
) -> onnx.ModelProto:
    rng = np.random.default_rng(5)
    shapes = {"w": (directions, gates * 3, 2), "r": (directions, gates * 3, 3), "b": (directions, 2 * gates * 3)}
    node = helper.make_node(op_type, ["x", *shapes], outputs, name="layer", hidden_size=3, **attributes)
    graph = helper.make_graph(
        [node],
        "recurrent",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 2, 2])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name],
        [numpy_helper.from_array(rng.normal(size=s).astype(F32), name) for name, s in shapes.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    inferred: onnx.ModelProto = onnx.shape_inference.infer_shapes(model)
    return inferred


SEQUENCE = {"x": np.random.default_rng(6).normal(size=(5, 2, 2)).astype(F32)}


def same_as_onnx(model: onnx.ModelProto, feeds: dict[str, Array] = SEQUENCE) -> list[Array]:
    results, wanted = run_model(model, feeds), run_onnx(model, feeds)
    assert [disagreement(a, b) for a, b in zip(results, wanted, strict=True)] == [[]] * len(wanted)
    return results


@pytest.mark.parametrize("linear_before_reset", [0, 1])
def test_u082_gru_of_both_forms(linear_before_reset: int):
    model = recurrent_model("GRU", 3, 1, ["y", "h"], linear_before_reset=linear_before_reset)
    same_as_onnx(model)
    other = recurrent_model("GRU", 3, 1, ["y", "h"], linear_before_reset=1 - linear_before_reset)
    assert not np.allclose(run_model(model, SEQUENCE)[0], run_model(other, SEQUENCE)[0], atol=1e-3)


@pytest.mark.parametrize(("direction", "directions"), [("forward", 1), ("reverse", 1), ("bidirectional", 2)])
def test_u088_lstm_directions(direction: str, directions: int):
    results = same_as_onnx(recurrent_model("LSTM", 4, directions, ["y", "h", "c"], direction=direction))
    assert results[0].shape == (5, directions, 2, 3)


@pytest.mark.parametrize(
    "attributes",
    [
        {"activations": ["Relu", "Tanh", "Tanh"]},
        {"activations": ["LeakyRelu", "Tanh", "Elu"], "activation_alpha": [0.4]},
        {"clip": 0.4},
        {"input_forget": 1},
    ],
)
def test_u088_lstm_attributes(attributes: dict[str, Any]):
    same_as_onnx(recurrent_model("LSTM", 4, 1, ["y", "h", "c"], **attributes))


def test_u088_lstm_peepholes():
    model = recurrent_model("LSTM", 4, 1, ["y"])
    model.graph.node[0].input.extend(["", "", "", "p"])
    model.graph.initializer.append(numpy_helper.from_array(np.linspace(-1, 1, 9, dtype=F32)[None], "p"))
    same_as_onnx(model)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"activations": ["Swish", "Tanh", "Tanh"]}, "swish is none of"),
        ({"activations": ["Sigmoid", "ScaledTanh", "Tanh"]}, "ScaledTanh needs its activation_alpha"),
        ({"activations": ["Sigmoid", "Tanh"]}, "2 activations; 3 are needed"),
        ({"direction": "bidirectional"}, "weights for 1 directions"),
        ({"hidden_size": 4}, "hidden_size = 4"),
        ({"clip": -1.0}, "clip = -1.0 is no bound"),
        ({"clip": math.nan}, "clip = nan is no bound"),
    ],
)
def test_u088_what_no_lstm_is_is_refused_by_name(attributes: dict[str, Any], why: str):
    model = recurrent_model("LSTM", 4, 1, ["y"])
    del model.graph.node[0].attribute[:]
    model.graph.node[0].attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    with pytest.raises(UnsupportedError, match=rf"'layer'\s+LSTM\s+.*{why}"):
        import_onnx(model)


RECURRENT = [("RNN", 1), ("GRU", 3), ("LSTM", 4)]


@pytest.mark.parametrize(("op_type", "gates"), RECURRENT)
@pytest.mark.parametrize("as_input", [False, True])
def test_lengths_of_sequences(op_type: str, gates: int, as_input: bool):
    model = recurrent_model(op_type, gates, 2, ["y", "h"], direction="bidirectional")
    model.graph.node[0].input.append("ends")
    ends, feeds = np.array([2, 5], np.int32), dict(SEQUENCE)
    if as_input:
        model.graph.input.append(helper.make_tensor_value_info("ends", TensorProto.INT32, [2]))
        feeds["ends"] = ends
    else:
        model.graph.initializer.append(numpy_helper.from_array(ends, "ends"))
    same_as_onnx(model, feeds)


@pytest.mark.parametrize(("op_type", "gates"), RECURRENT)
def test_batch_first(op_type: str, gates: int):
    """onnxruntime refuses layout 1, so the oracle is what it gives with the axes exchanged."""
    model = recurrent_model(op_type, gates, 1, ["y", "h"])
    wanted = run_onnx(model, SEQUENCE)
    model.graph.node[0].attribute.append(helper.make_attribute("layout", 1))
    del model.graph.value_info[:]
    for value in (*model.graph.output, *model.graph.input):
        sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
        order = {"x": (1, 0, 2), "y": (2, 0, 1, 3), "h": (1, 0, 2)}[value.name]
        value.CopyFrom(helper.make_tensor_value_info(value.name, TensorProto.FLOAT, [sizes[i] for i in order]))
    y, h = run_model(model, {"x": SEQUENCE["x"].transpose(1, 0, 2)})
    assert disagreement(y, wanted[0].transpose(2, 0, 1, 3)) == []
    assert disagreement(h, wanted[1].transpose(1, 0, 2)) == []


def wide_layer(columns: int, with_bias: bool) -> Graph:
    graph = Graph("wide")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT16, (1, columns), QuantParams.per_tensor(2**-10)))
    w = b.constant("w", np.array([[127], [-127]], np.int8).repeat(columns, 1), QuantParams.per_tensor(2**-8))
    operands = [x, w]
    if with_bias:
        operands.append(b.constant("b", np.array([2**40, 7], np.int64), QuantParams.per_tensor(2**-18)))
    quant = QuantParams.per_tensor(4.0)
    graph.outputs = [b.node("fully_connected", operands, outputs=["y"], quant=quant)]
    verify(graph)
    check_accumulators(graph)
    return graph


@requires("host compiler")
@requires_package("tflite_micro")
@pytest.mark.parametrize("with_bias", [False, True])
def test_u093_int16_sums_have_64_bits(with_bias: bool):
    graph = wide_layer(4096, with_bias)
    oracle = GraphInTfliteMicro(graph)
    for number in (32767, -32768):
        inputs = {"x": np.full((1, 4096), number, np.int16)}
        wanted = oracle.run(inputs)["y"]
        for name in ("numpy", "c"):
            np.testing.assert_array_equal(device(name).compile(graph).run(inputs)["y"], wanted)
    if not with_bias:  # 4096 * 32768 * 127 / 2**18 / 4
        assert wanted.tolist() == [[-16256, 16256]]


def top_k_graph() -> Graph:
    """The values are never used; the indices are, and what comes behind wants memory."""
    graph = Graph("unused")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2, 9)))
    _, indices = b.nodes("top_k", [x], operators()["top_k"].attrs(3), name="top")
    second = b.node("clip", [b.node("mul", [x, x])], ClipAttrs(0.25, 2.0))
    graph.outputs = [b.node("identity", [indices], outputs=["y"]), second]
    return graph


def lstm_graph() -> Graph:
    """Y and c are never used."""
    return import_onnx(recurrent_model("LSTM", 4, 1, ["", "h"]))


def planned_apart(requests: list[Request], overlaps: object) -> ArenaPlan:
    """A plan in which nothing shares memory."""
    return plan_arena([replace(request, first=0, last=99, pieces=()) for request in requests])


@requires("host compiler")
@pytest.mark.parametrize("graph", [top_k_graph(), lstm_graph()], ids=lambda g: g.name)
def test_u122_an_unused_output_has_memory_of_its_own(graph: Graph, monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(9)
    inputs: dict[str, Array] = {v.name: rng.normal(size=v.type.shape).astype(F32) for v in graph.inputs}
    wanted = NumpyReference().compile(graph).run(inputs)
    shared = device("c").compile(graph).run(inputs)
    monkeypatch.setattr("burnc.codegen.arena.plan_arena", planned_apart)
    apart = device("c").compile(graph).run(inputs)
    for name, array in wanted.items():
        assert disagreement(shared[name], array) == []
        np.testing.assert_array_equal(shared[name], apart[name])


def test_u122_unused_outputs_survive_a_round_trip():
    graph = lstm_graph()
    assert [list(node.outputs[0].type.shape) for node in graph.nodes] == [[5, 1, 2, 3]]
    assert print_graph(import_onnx(export_onnx(graph))).count("lstm(") == 1
