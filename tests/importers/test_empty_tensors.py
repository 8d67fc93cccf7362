"""Tensors without elements: a dimension of 0 is one, sums over nothing are known, and C has no array of no length."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.importers.onnx import import_onnx
from burnc.passes import canonical_passes, run_passes
from codegen.exported import STRICT, build, run_driver, write
from requirements import requires


def empty_model():
    """x [2, 0] goes out as it is and joined to z; its sum and its maximum are added to z."""
    nodes = [
        helper.make_node("Relu", ["x"], ["nothing"]),
        helper.make_node("Concat", ["nothing", "z"], ["joined"], axis=1),
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=1),
        helper.make_node("ReduceMax", ["x"], ["least"], keepdims=1),
        helper.make_node("Add", ["z", "sum"], ["same"]),
        helper.make_node("Max", ["z", "least"], ["same_again"]),
    ]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, size]) for n, size in (("x", 0), ("z", 3))]
    outputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("nothing", "joined", "same", "same_again")
    ]
    graph = helper.make_graph(nodes, "empty", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def loaded():
    graph = import_onnx(empty_model())
    run_passes(graph, canonical_passes())
    return graph


Z = np.arange(6, dtype=np.float32).reshape(2, 3)
INPUTS = {"x": np.zeros((2, 0), np.float32), "z": Z}


def test_zero_is_a_size_and_nothing_is_computed_of_it():
    graph = loaded()
    assert [v.type.shape for v in graph.inputs] == [(2, 0), (2, 3)]
    assert graph.outputs[0].type.shape == (2, 0)
    assert graph.metadata["import.notes"] == "input 'x' has no elements: the file gives its axis 1 the size 0"
    assert {node.op for node in graph.nodes} == {"concat", "add", "maximum"}
    results = NumpyReference().compile(graph).run(INPUTS)
    assert results["nothing"].shape == (2, 0)
    for name in ("joined", "same", "same_again"):
        np.testing.assert_array_equal(results[name], Z)


@requires("gcc")
def test_generated_c(tmp_path):
    program = lower(loaded(), load_board("host"), LowerOptions(name="empty"))
    assert [port.symbol for port in program.outputs] == ["nothing", "joined", "same", "same_again"]
    flags = [*STRICT, "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    (results,) = run_driver(build(write(program, tmp_path), flags), program, [INPUTS])
    for name in ("joined", "same", "same_again"):
        np.testing.assert_array_equal(results[name], Z)
