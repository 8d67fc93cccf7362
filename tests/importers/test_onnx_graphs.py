"""Functions, constants, names and everything unsupported at once."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from burnc.errors import BurncError, ModelFileError, UnsupportedError
from burnc.importers.onnx import import_onnx
from burnc.ir import DType
from importers.small_nets import FLOAT, import_and_run, model_of, weights


def _function(name, nodes, inputs=("a",), outputs=("b",), domains=()):
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_function("local", name, inputs, outputs, nodes, opsets)


def _call(function, x, y):
    return helper.make_node(function, [x], [y], domain="local")


def test_local_functions_are_inlined():
    inner = _function("Inner", [helper.make_node("Relu", ["a"], ["b"])])
    outer = _function(
        "Outer", [_call("Inner", "a", "t"), helper.make_node("Add", ["t", "t"], ["b"])], domains=["local"]
    )
    model = model_of(
        [_call("Outer", "x", "h"), _call("Outer", "h", "y")],
        {"x": [1, 3]},
        ["y"],
        domains=["local"],
        functions=[inner, outer],
    )
    x = np.array([[-1, 0, 2]], np.float32)
    np.testing.assert_array_equal(import_and_run(model, x=x)["y"], 4 * np.maximum(x, 0))


def test_function_that_calls_itself():
    loop = _function("Loop", [_call("Other", "a", "b")], domains=["local"])
    other = _function("Other", [_call("Loop", "a", "b")], domains=["local"])
    model = model_of([_call("Loop", "x", "y")], {"x": [1]}, ["y"], domains=["local"], functions=[loop, other])
    with pytest.raises(ModelFileError, match="calls itself"):
        import_onnx(model)


def test_functions_that_explode():
    """Thirty functions, each of which calls the one before twice, would be a billion nodes."""
    functions = [_function("F0", [helper.make_node("Relu", ["a"], ["b"])])]
    for i in range(1, 31):
        nodes = [_call(f"F{i - 1}", "a", "t"), _call(f"F{i - 1}", "t", "b")]
        functions.append(_function(f"F{i}", nodes, domains=["local"]))
    model = model_of([_call("F30", "x", "y")], {"x": [1]}, ["y"], domains=["local"], functions=functions)
    with pytest.raises(ModelFileError, match="inlining the local functions"):
        import_onnx(model)


def _unsupported(model) -> dict[str, tuple[str, str]]:
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(model)
    return {item.node: (item.op, item.why) for item in caught.value.items}


def test_everything_unsupported_is_listed_at_once():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "fine"),
        helper.make_node("Decode", ["a"], ["b"], "decoder", domain="com.acme"),
        helper.make_node("Relu", ["b"], ["c"], "after an unknown shape"),
        helper.make_node("NonZero", ["c"], ["d"], "finder"),
        helper.make_node("Conv", ["x", "w"], ["e"], "3-D convolution"),
        helper.make_node("Add", ["e", "e"], ["f"], "after a refused one"),
        helper.make_node("Unique", ["f"], ["g"], ""),
    ]
    model = model_of(nodes, {"x": [1, 1, 3, 3, 3]}, ["d", "g"], {"w": weights(1, 1, 2, 2, 2)}, domains=["com.acme"])
    found = _unsupported(model)
    assert list(found) == ["decoder", "finder", "3-D convolution", "g"]
    assert found["decoder"] == ("Decode", "domain com.acme is unknown; register it with burnc.ops")
    assert found["g"][0] == "Unique"


@pytest.mark.parametrize("op", ["NonZero", "Unique"])
def test_a_result_whose_shape_depends_on_data_is_refused_as_such(op: str):
    found = _unsupported(model_of([helper.make_node(op, ["x"], ["y"], "finder")], {"x": [1, 3]}, ["y"]))
    assert found["finder"] == (op, "the shape of its result is only known at run time")


def test_unsupported_nodes_that_nothing_needs_do_not_matter():
    nodes = [helper.make_node("NonZero", ["x"], ["unused"]), helper.make_node("Relu", ["x"], ["y"])]
    assert [n.op for n in import_onnx(model_of(nodes, {"x": [1, 3]}, ["y"])).nodes] == ["clip"]


def test_subgraphs_are_refused_by_name():
    body = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["z"])], "body", [], [helper.make_tensor_value_info("z", FLOAT, [1, 3])]
    )
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["condition"], to=onnx.TensorProto.BOOL),
        helper.make_node("If", ["condition"], ["y"], "branch", then_branch=body, else_branch=body),
    ]
    found = _unsupported(model_of(nodes, {"x": [1, 3]}, ["y"]))
    assert found["branch"] == ("If", "the condition ('condition') is computed at run time; it must be constant")


def test_graph_without_the_default_domain():
    nodes = [helper.make_node("Normalizer", ["x"], ["y"], "normalizer", domain="ai.onnx.ml")]
    model = model_of(nodes, {"x": [1, 3]}, ["y"], domains=["ai.onnx.ml"])
    del model.opset_import[0]
    assert _unsupported(model)["normalizer"][1] == "domain ai.onnx.ml is unknown; register it with burnc.ops"


def test_nodes_without_names_get_names_of_their_own():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"], "same"),
        helper.make_node("Relu", ["b"], ["y"], "same"),
    ]
    assert [n.name for n in import_onnx(model_of(nodes, {"x": [1, 3]}, ["y"])).nodes] == ["a", "same", "same_2"]


def test_random_constants_are_not_evaluated():
    nodes = [
        helper.make_node("RandomNormal", [], ["noise"], "noise", shape=[3]),
        helper.make_node("Add", ["x", "noise"], ["y"]),
    ]
    assert "noise" in _unsupported(model_of(nodes, {"x": [1, 3]}, ["y"]))


def test_quantization_of_constants_stays():
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["w"], "weights", axis=0),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    constants = {
        "q": np.array([[-30], [10]], np.int8),
        "scale": np.array([0.01, 0.02], np.float32),
        "zero": np.zeros(2, np.int8),
    }
    graph = import_onnx(model_of(nodes, {"x": [2, 1]}, ["y"], constants))
    assert [n.op for n in graph.nodes] == ["dequantize", "add"]
    assert graph.nodes[0].input(0).type.dtype is DType.INT8


def test_metadata_comes_along():
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [1]}, ["y"])
    helper.set_model_props(model, {"labels": "yes,no"})
    assert import_onnx(model).metadata["labels"] == "yes,no"


def test_element_types_of_inputs():
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [1]}, ["y"])
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.BFLOAT16
    with pytest.raises(BurncError, match="element type"):
        import_onnx(model)
