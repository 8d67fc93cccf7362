"""Dynamic dimensions: the batch becomes 1, every other one is asked for by name."""

from __future__ import annotations

import pytest
from onnx import helper

from burnc.errors import InputError, ModelFileError
from burnc.importers.onnx import import_onnx
from importers.small_nets import model_of


def _relu(**shapes):
    nodes = [helper.make_node("Relu", [name], [f"{name}_out"]) for name in shapes]
    return model_of(nodes, shapes, [f"{name}_out" for name in shapes])


def _shapes(graph):
    return [v.type.shape for v in graph.inputs]


def test_named_dimension():
    graph = import_onnx(_relu(x=["N", "length", 3]), dims={"length": 5})
    assert _shapes(graph) == [(1, 5, 3)]
    assert graph.outputs[0].type.shape == (1, 5, 3)
    assert graph.metadata["import.notes"] == "dimension 'N' (the batch) of input 'x' became 1"


def test_unbound_dimension_says_how_to_bind_it():
    with pytest.raises(InputError, match="dimension 'length' \\(axis 1\\) of input 'x'") as caught:
        import_onnx(_relu(x=["N", "length", 3]))
    assert caught.value.hint == "give it one: --dim length=value"


def test_dimension_without_a_name_goes_by_its_place():
    model = _relu(x=[1, None, 3])
    with pytest.raises(InputError, match="'x:1'"):
        import_onnx(model)
    assert _shapes(import_onnx(model, dims={"x:1": 7})) == [(1, 7, 3)]


def test_one_name_is_one_size_everywhere():
    graph = import_onnx(_relu(x=["N", 2], y=[4, "N"]))
    assert _shapes(graph) == [(1, 2), (4, 1)]


def test_batch():
    assert _shapes(import_onnx(_relu(x=["N", 2]), batch=8)) == [(8, 2)]
    assert "import.notes" not in import_onnx(_relu(x=["N", 2]), batch=8).metadata
    assert _shapes(import_onnx(_relu(x=["N", 2]), dims={"N": 3})) == [(3, 2)]
    assert _shapes(import_onnx(_relu(x=[4, 2]), batch=4)) == [(4, 2)]


def test_batch_that_the_file_fixes():
    with pytest.raises(InputError, match="fixes the first dimensions at \\[4\\]"):
        import_onnx(_relu(x=[4, 2]), batch=8)


def test_unknown_dimension_is_named():
    with pytest.raises(InputError, match="no dynamic dimension named 'lenght'") as caught:
        import_onnx(_relu(x=["N", "length"]), dims={"lenght": 5})
    assert "length" in caught.value.hint


@pytest.mark.parametrize("size", [0, -1, 2**31])
def test_impossible_size(size):
    with pytest.raises(InputError, match="cannot be"):
        import_onnx(_relu(x=["N", "length"]), dims={"length": size})


def test_input_without_a_shape():
    model = _relu(x=[1, 2])
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelFileError, match="input 'x' declares no shape"):
        import_onnx(model)


def test_shape_arithmetic_follows_the_bound_sizes():
    """Flatten by hand: Shape, Gather, Concat and Reshape leave one reshape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    import numpy as np

    constants = {"zero": np.array(0), "axis": np.array([0]), "rest": np.array([-1])}
    graph = import_onnx(model_of(nodes, {"x": ["N", 2, 3]}, ["y"], constants), batch=2)
    assert [n.op for n in graph.nodes] == ["reshape"]
    assert graph.outputs[0].type.shape == (2, 6)


def test_a_batch_of_0_is_unknown_unless_the_user_says_0():
    unknown = import_onnx(_relu(x=[0, 3]))
    assert unknown.inputs[0].type.shape == (1, 3)
    assert import_onnx(_relu(x=[0, 3]), dims={"x:0": 0}).inputs[0].type.shape == (0, 3)
