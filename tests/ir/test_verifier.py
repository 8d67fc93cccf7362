"""One broken graph for each rule that the verifier promises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Graph, Node, QuantParams, TensorType, Value, constant, verify
from burnc.ops import operators
from burnc.ops.add import AddAttrs
from burnc.ops.clip import ClipAttrs
from passes.rewriting import floats, started

QUANT = QuantParams.per_tensor(0.1, 3)
INT8 = TensorType(DType.INT8, (2, 3), QUANT)


def sound() -> tuple[Graph, Builder]:
    """x -> first = x + c -> second = first * first -> output."""
    graph, b, x = started(2, 3)
    first = b.node("add", [x, b.constant("c", floats(3))], name="first", outputs=("a",))
    graph.outputs = [b.node("mul", [first, first], name="second", outputs=("y",))]
    return graph, b


def quantized() -> tuple[Graph, Node]:
    graph, b, x = started(2, 3, quant=QUANT)
    w = b.constant("w", np.ones((4, 3), np.int8), QuantParams.per_axis((0.1, 0.2, 0.3, 0.4), 0))
    scales = tuple(float(np.float32(0.1)) * s for s in (0.1, 0.2, 0.3, 0.4))
    bias = b.constant("b", np.ones(4, np.int32), QuantParams(scales, (0,) * 4, 0))
    y = b.node("fully_connected", [x, w, bias], quant=QUANT)
    graph.outputs = [b.node("reshape", [y], operators()["reshape"].attrs((8,)), quant=QUANT)]
    assert y.producer is not None
    return graph, y.producer


def test_sound_graphs_pass() -> None:
    verify(sound()[0])
    verify(quantized()[0])


def input_twice(g: Graph) -> None:
    g.inputs.append(g.inputs[0])


def constant_input(g: Graph) -> None:
    g.inputs.append(constant("k", floats(2)))


def computed_input(g: Graph) -> None:
    g.inputs.append(g.nodes[1].output)


def same_node_name(g: Graph) -> None:
    g.nodes[1].name = "first"


def same_value_name(g: Graph) -> None:
    g.nodes[1].output.name = "x"


def wrong_order(g: Graph) -> None:
    g.nodes.reverse()


def foreign_value(g: Graph) -> None:
    g.nodes[1].inputs[0] = Value("foreign", g.inputs[0].type)


def assigned_twice(g: Graph) -> None:
    first = g.nodes[0]
    g.nodes.append(Node(first.operator, AddAttrs(), first.inputs, first.outputs, "again"))
    first.output.producer = first


def one_result_twice(g: Graph) -> None:
    g.nodes[1].outputs *= 2


def assigned_input(g: Graph) -> None:
    g.nodes[1].outputs = [g.inputs[0]]


def assigned_constant(g: Graph) -> None:
    g.nodes[1].outputs = [constant("k", floats(2, 3))]


def foreign_producer(g: Graph) -> None:
    g.nodes[0].output.producer = g.nodes[1]


def unknown_rounding(g: Graph) -> None:
    g.nodes[0].rounding = "up"


def attributes_of_another(g: Graph) -> None:
    g.nodes[0].attrs = ClipAttrs()


def wrong_shape(g: Graph) -> None:
    g.nodes[0].output.type = g.nodes[0].output.type.with_shape((3, 2))


def wrong_element_type(g: Graph) -> None:
    g.nodes[1].output.type = g.nodes[1].output.type.with_dtype(DType.FLOAT16)


def inputs_that_do_not_fit(g: Graph) -> None:
    g.inputs[0].type = g.inputs[0].type.with_shape((2, 4))


def output_never_computed(g: Graph) -> None:
    g.outputs.append(Value("nowhere", g.inputs[0].type))


def data_of_another_shape(g: Graph) -> None:
    g.constants()[0].data = floats(4)


def data_of_another_type(g: Graph) -> None:
    g.constants()[0].data = floats(3).astype(np.float64)


def quantized_float(g: Graph) -> None:
    g.inputs[0].type = TensorType(DType.FLOAT32, (2, 3), QUANT)


def unread(type: TensorType) -> Callable[[Graph], None]:
    def change(g: Graph) -> None:
        g.inputs.append(Value("unread", type))

    return change


BREAKS = {
    "listed twice": input_twice,
    "%k is (a )?constant or computed": constant_input,
    "%y is (a )?constant or computed": computed_input,
    "two nodes share a name": same_node_name,
    "two values share a name": same_value_name,
    "before it is computed": wrong_order,
    "reads %foreign before": foreign_value,
    "%a is assigned twice": assigned_twice,
    "%y is assigned twice": one_result_twice,
    "%x is assigned twice": assigned_input,
    "%k is assigned twice": assigned_constant,
    "names another producer": foreign_producer,
    "rounding 'up' is unknown": unknown_rounding,
    "attributes are of another operator": attributes_of_another,
    r"outputs are .*\(3, 2\)": wrong_shape,
    "outputs are .*FLOAT16": wrong_element_type,
    "do not broadcast": inputs_that_do_not_fit,
    "output %nowhere is never computed": output_never_computed,
    r"data is float32\[4\]": data_of_another_shape,
    "data is float64": data_of_another_type,
    "holds quantization parameters|no quantized form|must be int8": quantized_float,
    "float16 tensor holds": unread(TensorType(DType.FLOAT16, (2,), QUANT)),
    "bool tensor holds": unread(TensorType(DType.BOOL, (2,), QUANT)),
    "axis 1 does not go with": unread(TensorType(DType.INT8, (2,), QuantParams.per_axis((1, 2), 1))),
    "axis 0 does not go with": unread(TensorType(DType.INT8, (3,), QuantParams.per_axis((1, 2), 0))),
    "zero point lies outside int8": unread(TensorType(DType.INT8, (2,), QuantParams.per_tensor(1, 128))),
    "zero point lies outside uint8": unread(TensorType(DType.UINT8, (2,), QuantParams.per_tensor(1, -1))),
}


@pytest.mark.parametrize("message", BREAKS)
def test_each_broken_rule_is_named(message: str) -> None:
    graph, _ = sound()
    BREAKS[message](graph)
    with pytest.raises(GraphError, match=message):
        verify(graph)


QUANTIZED_BREAKS: dict[str, Callable[[Graph, Node], None]] = {
    "weights %w must be quantized int8": lambda g, n: _retype(n, 1, None),
    "weights are quantized along axis 1": lambda g, n: _retype(n, 1, QuantParams.per_axis((0.1,) * 3, 1)),
    "scale is not input scale": lambda g, n: _retype(n, 2, QuantParams((1.0,), (0,))),
    "must be quantized int32": lambda g, n: _retype(n, 2, None),
    "must be int8 or int16 with one scale": lambda g, n: _retype(n, 0, None),
    "%x must be int8 or int16 with one scale": lambda g, n: _retype(n, 0, QuantParams.per_axis((0.1, 0.2), 0)),
    "must have the parameters of": lambda g, n: setattr(
        g.outputs[0], "type", g.outputs[0].type.with_quant(QuantParams.per_tensor(9))
    ),
}


def _retype(node: Node, index: int, quant: QuantParams | None) -> None:
    value = node.input(index)
    value.type = value.type.with_quant(quant)


@pytest.mark.parametrize("message", QUANTIZED_BREAKS)
def test_each_broken_rule_of_quantization_is_named(message: str) -> None:
    graph, node = quantized()
    QUANTIZED_BREAKS[message](graph, node)
    with pytest.raises(GraphError, match=message):
        verify(graph)


@pytest.mark.parametrize(
    ("scale", "zero_point", "axis"),
    [((0.0,), (0,), None), ((-1.0,), (0,), None), ((np.nan,), (0,), None), ((np.inf,), (0,), None),
     ((1.0, 2.0), (0,), 0), ((1.0, 2.0), (0, 0), None), ((1e-50,), (0,), None)],
)  # fmt: skip
def test_impossible_parameters_cannot_be_made(
    scale: tuple[float, ...], zero_point: tuple[int, ...], axis: int | None
) -> None:
    with pytest.raises(GraphError):
        QuantParams(scale, zero_point, axis)
