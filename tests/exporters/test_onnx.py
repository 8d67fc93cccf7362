"""What burnc writes, other tools read: onnx's checker, onnxruntime, and burnc itself."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.exporters.onnx import export_onnx, onnx_bytes
from burnc.importers import import_model
from burnc.importers.onnx import import_onnx
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, Value, constant, print_graph, verify
from burnc.numerics import dequantize
from burnc.ops import operators
from burnc.ops.spatial import Padding
from burnc.passes import AbsorbEdges, AbsorbQdq, RestoreNames, canonical_passes, run_passes
from importers.small_nets import FLOAT_MODELS, INT8_MODELS, assert_close, run_numpy, run_onnxruntime
from requirements import requires_package

ALL = [*FLOAT_MODELS, *INT8_MODELS]


def _canonical(graph: Graph) -> Graph:
    run_passes(graph, canonical_passes())
    return graph


def _read_back(data: bytes) -> Graph:
    graph = import_onnx(onnx.ModelProto.FromString(data))
    run_passes(graph, [*canonical_passes(), AbsorbQdq(), AbsorbEdges(), *canonical_passes(), RestoreNames()])
    verify(graph)
    return graph


def _random_inputs(graph: Graph, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = {}
    for value in graph.inputs:
        if value.type.quant is None:
            inputs[value.name] = rng.uniform(-1, 1, value.type.shape).astype(np.float32)
        else:
            inputs[value.name] = rng.integers(-128, 128, value.type.shape).astype(np.int8)
    return inputs


def _real(values: dict[str, np.ndarray], edges: list[Value]) -> dict[str, np.ndarray]:
    """Quantized arrays as the real numbers that the file's float edges carry."""
    return {v.name: values[v.name] if v.type.quant is None else dequantize(values[v.name], v.type) for v in edges}


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
@pytest.mark.parametrize("canonical", [False, True], ids=["as imported", "canonical"])
def test_checker_passes_in_full(path, canonical):
    graph = import_model(path)
    onnx.checker.check_model(export_onnx(_canonical(graph) if canonical else graph), full_check=True)


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_reading_back_gives_the_same_graph(path):
    graph = _canonical(import_model(path))
    data = onnx_bytes(graph)
    again = _read_back(data)
    assert print_graph(again) == print_graph(graph)
    assert onnx_bytes(again) == data


@pytest.mark.parametrize("path", ALL[:2], ids=lambda p: p.stem)
def test_bytes_are_the_same_every_time(path):
    assert onnx_bytes(import_model(path)) == onnx_bytes(import_model(path))


@requires_package("onnxruntime")
@pytest.mark.parametrize("path", FLOAT_MODELS, ids=lambda p: p.stem)
def test_float_model_in_onnxruntime(path):
    graph = _canonical(import_model(path))
    inputs = _random_inputs(graph)
    expected = run_numpy(graph, **inputs)
    got = run_onnxruntime(export_onnx(graph), **inputs)
    assert list(got) == list(expected)
    for name in expected:
        assert_close(got[name], expected[name])


@requires_package("onnxruntime")
@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_int8_model_in_onnxruntime(path):
    """onnxruntime computes in float or by other roundings, so a deep network may differ by a step here and there."""
    graph = _canonical(import_model(path))
    model = export_onnx(graph)
    differences = []
    for seed in range(4):
        inputs = _random_inputs(graph, seed)
        expected = _real(run_numpy(graph, **inputs), graph.outputs)
        got = run_onnxruntime(model, **_real(inputs, graph.inputs))
        assert list(got) == [v.name for v in graph.outputs]
        for value in graph.outputs:
            steps = np.rint((got[value.name] - expected[value.name]) / np.float32(value.type.scale))
            differences.append(np.abs(steps).ravel())
    steps = np.concatenate(differences)
    assert np.mean(steps > 1) <= 0.1
    assert np.median(steps) == 0


@requires_package("onnxruntime")
@pytest.mark.parametrize("path", INT8_MODELS, ids=lambda p: p.stem)
def test_each_int8_node_in_onnxruntime(path):
    """One node at a time, on the values that really reach it: within one step, mostly equal."""
    graph = _canonical(import_model(path))
    inner = [node.output for node in graph.nodes]
    held = NumpyReference().compile(graph, keep=inner).run(_random_inputs(graph))
    held |= _random_inputs(graph)
    equal = total = 0
    for node in graph.nodes:
        single = _single(graph, node.name)
        inputs = {v.name: held[v.name] for v in single.inputs}
        got = run_onnxruntime(export_onnx(single), **_real(inputs, single.inputs))[node.output.name]
        steps = np.abs(
            np.rint((got - _real(held, [node.output])[node.output.name]) / np.float32(node.output.type.scale))
        )
        assert steps.max() <= 1, node
        equal += np.sum(steps == 0)
        total += steps.size
    assert equal / total > 0.95


def _single(graph: Graph, name: str) -> Graph:
    """A copy that keeps one node."""
    copy = graph.copy()
    (node,) = [n for n in copy.nodes if n.name == name]
    copy.nodes = [node]
    copy.inputs = list(dict.fromkeys(v for v in node.present_inputs if not v.is_constant))
    copy.outputs = [node.output]
    return copy


INT8 = TensorType(DType.INT8, (1, 4), QuantParams.per_tensor(0.5, 3))


def _edges(float_in: bool, float_out: bool) -> Graph:
    """A quantized clip whose edges are float where asked."""
    graph = Graph("edges")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 4)) if float_in else INT8)
    if float_in:
        x = b.node("quantize", [x], outputs=["q"], quant=INT8.quant, rounding="half_away")
    y = b.node("clip", [x], operators()["clip"].attrs(0.0), outputs=["h" if float_out else "y"], quant=INT8.quant)
    if float_out:
        y = b.node("dequantize", [y], outputs=["y"])
    graph.outputs = [y]
    verify(graph)
    return graph


@pytest.mark.parametrize("float_in", [False, True])
@pytest.mark.parametrize("float_out", [False, True])
def test_edges_stay_what_they_are(float_in, float_out):
    graph = _edges(float_in, float_out)
    model = export_onnx(graph)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    expected = {name for name, is_float in (("x", float_in), ("y", float_out)) if not is_float}
    assert set(json.loads(facts["burnc.io"])) == expected
    assert print_graph(_read_back(onnx_bytes(graph))) == print_graph(graph)


def test_rounding_comes_back():
    graph = _edges(float_in=True, float_out=False)
    graph.nodes[1].rounding = "single"
    assert [n.rounding for n in _read_back(onnx_bytes(graph)).nodes] == ["half_away", "single"]


@pytest.mark.parametrize("op", ["sigmoid", "tanh", "softmax"])
def test_bounded_functions_of_int16_stay_so_in_a_file_of_ours_alone(op):
    """In anyone else's they are float: what integers make of them lies many steps beside that."""
    graph = Graph("wide")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT16, (2, 9), QuantParams.per_tensor(2.0**-10)))
    graph.outputs = [b.node(op, [x], name="n", outputs=("y",), quant=QuantParams.per_tensor(2.0**-15))]
    model = export_onnx(graph)
    assert print_graph(_read_back(model.SerializeToString())) == print_graph(graph)
    for entry in list(model.metadata_props):
        if entry.key == "burnc.names":
            model.metadata_props.remove(entry)
    assert "dequantize" in {node.op for node in _read_back(model.SerializeToString()).nodes}


def test_names_of_a_changed_file_are_its_own():
    model = export_onnx(_canonical(import_model(INT8_MODELS[-1])))
    facts = {entry.key: entry.value for entry in model.metadata_props}
    record = json.loads(facts["burnc.names"])
    record["nodes"][0][0] = "conv2d"
    for text in (json.dumps(record), "", "[]", "{", '{"constants": 1, "nodes": 2}', "[" * 100_000):
        facts["burnc.names"] = text
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        onnx.helper.set_model_props(changed, facts)
        assert [n.op for n in _read_back(changed.SerializeToString()).nodes] == ["fully_connected"] * 3


def test_facts_about_the_source_stay_behind_and_others_come_along():
    graph = import_model(INT8_MODELS[-1])
    graph.metadata["labels"] = "yes,no"
    keys = {entry.key for entry in export_onnx(graph).metadata_props}
    assert "labels" in keys
    assert not {key for key in keys if key.startswith(("source.", "import."))}


def test_outputs_that_are_inputs_constants_or_listed_twice():
    graph = Graph("odd")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (2,)))
    y = b.node("clip", [x], operators()["clip"].attrs(0.0), outputs=["y"])
    c = constant("c", np.array([1, 2], np.float32))
    graph.outputs = [y, x, c, y]
    model = export_onnx(graph)
    onnx.checker.check_model(model, full_check=True)
    assert [o.name for o in model.graph.output] == ["y", "x", "c", "y_2"]


def test_int8_outputs_that_are_copies_stay_int8():
    quant = QuantParams.per_tensor(0.1, 3)
    graph = Graph("copies")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (2,), quant))
    y = b.node("clip", [x], operators()["clip"].attrs(0.0), outputs=["y"], quant=quant)
    copies = [b.node("identity", [value], outputs=[name], quant=quant) for value, name in ((x, "of_x"), (y, "of_y"))]
    graph.outputs = [*copies, y]
    again = _read_back(onnx_bytes(graph))
    assert [(v.name, v.type) for v in again.outputs] == [(v.name, v.type) for v in graph.outputs]
    inputs = _random_inputs(graph)
    expected, found = (NumpyReference().compile(g).run(inputs) for g in (graph, again))
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def test_an_int8_state_that_outputs_copy_stays_int8():
    """Also where what is written to it is an output."""
    quant = QuantParams.per_tensor(0.1, 3)
    graph = Graph("memory")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (2,), quant))
    state = b.state("held", x.type)
    copy = b.node("identity", [state.read], outputs=["copy"], quant=quant)
    state.write = b.node("add", [state.read, x], outputs=["y"], quant=quant)
    graph.outputs = [copy, state.write]
    again = _read_back(onnx_bytes(graph))
    assert print_graph(again).splitlines() == print_graph(graph).splitlines()


@pytest.mark.parametrize("axis", [0, -1])
def test_one_hot_of_one_number_comes_back(axis):
    graph = Graph("number")
    b = Builder(graph, operators())
    number = b.input("number", TensorType(DType.INT64, ()))
    row = b.node("one_hot", [number], operators()["one_hot"].attrs(depth=4, axis=axis, wraps=True))
    graph.outputs = [b.node("neg", [row], outputs=["y"])]
    assert print_graph(_read_back(onnx_bytes(graph))) == print_graph(graph)


@pytest.mark.parametrize("ending", ["scale", "zero_point", "real", "quantized", "dequantized"])
def test_names_that_the_file_needs_may_be_taken(ending):
    quant = QuantParams.per_tensor(0.1, 3)
    graph = Graph("taken")
    b = Builder(graph, operators())
    taken = b.input(f"y.{ending}", TensorType(DType.INT8, (2,), quant))
    term = b.constant(f"z.{ending}", np.array([5, -7], np.int8), QuantParams.per_tensor(0.2, 1))
    y = b.node("add", [taken, term], outputs=["y"], quant=quant)
    graph.outputs = [b.node("mul", [y, term], outputs=["z"], quant=QuantParams.per_tensor(0.3, -4))]
    onnx.checker.check_model(export_onnx(graph), full_check=True)
    assert print_graph(_read_back(onnx_bytes(graph))) == print_graph(graph)


def test_one_weight_in_two_layouts():
    graph = Graph("shared")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 2, 2, 2)))
    w = b.constant("w", np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2))
    y = b.node("conv2d", [x, w], outputs=["y"])
    z = b.node("add", [x, w], outputs=["z"])
    graph.outputs = [y, z]
    inputs = _random_inputs(graph)
    got = run_onnxruntime(export_onnx(graph), **inputs)
    for name, expected in run_numpy(graph, **inputs).items():
        assert_close(got[name], expected)


def test_operators_without_an_onnx_form_are_named(monkeypatch):
    graph = import_model(INT8_MODELS[-1])
    monkeypatch.setattr("burnc.exporters.onnx.operators", dict)
    with pytest.raises(UnsupportedError) as caught:
        export_onnx(graph)
    assert [item.op for item in caught.value.items] == ["fully_connected"] * 3


def test_a_float_value_that_is_quantized_and_read_as_it_is_keeps_its_name():
    graph = Graph("net")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (3,)))
    real = b.node("cos", [x], outputs=["real"])
    stored = b.node("quantize", [real], outputs=["stored"], quant=QuantParams.per_tensor(0.01, 3), rounding="half_even")
    graph.outputs = [b.node("abs", [stored], outputs=["y"], quant=QuantParams.per_tensor(0.02)), real]
    model = export_onnx(graph)
    onnx.checker.check_model(model, full_check=True)
    assert print_graph(_read_back(model.SerializeToString())) == print_graph(graph)


def test_quantized_constants_may_be_outputs_and_read_by_nodes():
    graph = Graph("net")
    b = Builder(graph, operators())
    quant = QuantParams.per_tensor(0.01, 3)
    x = b.input("x", TensorType(DType.INT8, (3,), quant))
    held = b.constant("c", np.array([1, -128, 127], np.int8), quant)
    graph.outputs = [held, b.node("add", [x, held], outputs=["y"], quant=QuantParams.per_tensor(0.02))]
    model = export_onnx(graph)
    onnx.checker.check_model(model, full_check=True)
    assert print_graph(_read_back(model.SerializeToString())) == print_graph(graph)


def test_floats_between_integers_stay_floats_in_a_file_of_ours_alone():
    """In anyone else's the quantize behind an operator says how that is quantized."""
    graph = Graph("mixed")
    b = Builder(graph, operators())
    sides = [
        b.input(name, TensorType(DType.INT8, (3, 40), QuantParams.per_tensor(scale, zero)))
        for name, scale, zero in (("x", 0.1, -7), ("z", 0.037, 11))
    ]
    largest = b.node("maximum", [b.node("dequantize", [v]) for v in sides], name="largest")
    y = b.node("quantize", [largest], outputs=("y",), quant=QuantParams.per_tensor(0.137, 3), rounding="half_away")
    graph.outputs = [y]
    model = export_onnx(graph)
    assert print_graph(_read_back(model.SerializeToString())) == print_graph(graph)
    for entry in list(model.metadata_props):
        if entry.key == "burnc.floats":
            model.metadata_props.remove(entry)
    assert "dequantize" not in {node.op for node in _read_back(model.SerializeToString()).nodes}


def test_integers_that_onnx_has_no_quantized_form_of_are_refused():
    graph = Graph("wide")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (3,), QuantParams.per_tensor(0.1)))
    attrs = operators()["quantize"].attrs("int32")
    graph.outputs = [b.node("quantize", [x], attrs, outputs=("y",), quant=QuantParams.per_tensor(0.01))]
    with pytest.raises(UnsupportedError, match="has no quantized int32 there"):
        export_onnx(graph)
    graph = Graph("wider")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT8, (1, 3), QuantParams.per_tensor(0.1)))
    attrs = operators()["softmax"].attrs(to="int16")
    graph.outputs = [b.node("softmax", [x], attrs, quant=QuantParams.per_tensor(2.0**-16, -(2**15)))]
    with pytest.raises(UnsupportedError, match="no form of it from int8 to int16"):
        export_onnx(graph)
    graph = Graph("wide sums")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.INT16, (1, 2), QuantParams.per_tensor(0.5)))
    weights = b.constant("w", np.ones((1, 2), np.int8), QuantParams.per_tensor(0.5))
    bias = b.constant("b", np.array([7], np.int64), QuantParams.per_tensor(0.25))
    graph.outputs = [b.node("fully_connected", [x, weights, bias], outputs=("y",), quant=QuantParams.per_tensor(0.5))]
    with pytest.raises(UnsupportedError, match="has no quantized int64 there"):
        export_onnx(graph)


@requires_package("onnxruntime")
@pytest.mark.parametrize(
    ("op", "shape", "attrs"),
    [
        (
            "max_pool2d",
            (1, 1, 3, 2),
            {"kernel": (1, 4), "stride": (1, 3), "dilation": (1, 2), "pad": Padding(0, 2, 0, 4)},
        ),
        (
            "max_pool2d",
            (1, 4, 3, 2),
            {"kernel": (2, 4), "stride": (2, 3), "dilation": (1, 2), "pad": Padding(0, 2, 1, 4)},
        ),
        ("one_hot", (), {"depth": 4, "wraps": True}),
    ],
    ids=["padding as wide as the kernel", "and an axis that is not used up", "one number"],
)
def test_what_onnxruntime_takes_in_other_forms_alone(op, shape, attrs):
    graph = Graph("net")
    b = Builder(graph, operators())
    dtype = DType.INT64 if op == "one_hot" else DType.FLOAT32
    x = b.input("x", TensorType(dtype, shape))
    graph.outputs = [b.node(op, [x], operators()[op].attrs(**attrs), outputs=["y"])]
    array = np.arange(max(1, x.type.size)).reshape(shape).astype(dtype.numpy)
    (wanted,) = run_onnxruntime(export_onnx(graph), x=array).values()
    np.testing.assert_array_equal(NumpyReference().compile(graph).run({"x": array})["y"], wanted)
