from __future__ import annotations

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, Value
from burnc.ops import operators
from burnc.passes.join_tables import JoinTables
from passes.rewriting import changed, ops_of, started

EVERY = np.arange(-128, 128, dtype=np.int8)
PARAMS = QuantParams.per_tensor(0.05, 3)
SIGMOID = QuantParams.per_tensor(1 / 256, -128)


def int8_chain(*names: str) -> tuple[Graph, list[Value]]:
    graph = Graph("chain")
    b = Builder(graph, operators())
    values = [b.input("x", TensorType(DType.INT8, (256,), PARAMS))]
    for name in names:
        quant = SIGMOID if name == "sigmoid" else QuantParams.per_tensor(0.07, -9)
        values.append(b.node(name, values[-1:], quant=quant))
    graph.outputs = values[-1:]
    return graph, values


@pytest.mark.parametrize("names", [("hard_swish", "sigmoid"), ("sigmoid", "leaky_relu", "exp", "neg")])
def test_a_chain_becomes_one_table_of_the_same_results(names: tuple[str, ...]) -> None:
    graph, _ = int8_chain(*names)
    (wanted,) = NumpyReference().compile(graph).run({"x": EVERY}).values()
    output, type_ = graph.outputs[0].name, graph.outputs[0].type
    assert changed(JoinTables(), graph, graph.outputs) == len(names) - 1
    assert ops_of(graph) == ["lookup"]
    assert (graph.outputs[0].name, graph.outputs[0].type) == (output, type_)
    (got,) = NumpyReference().compile(graph).run({"x": EVERY}).values()
    np.testing.assert_array_equal(got, wanted)


def test_what_is_read_elsewhere_or_returned_stays() -> None:
    graph, values = int8_chain("hard_swish", "sigmoid")
    assert changed(JoinTables(), graph, values[1:]) == 0
    graph, values = int8_chain("hard_swish", "sigmoid")
    both = Builder(graph, operators()).node("mul", values[1:], quant=PARAMS)
    assert changed(JoinTables(), graph, [both]) == 0


def test_floats_and_other_operators_stay() -> None:
    graph, b, x = started(8)
    assert changed(JoinTables(), graph, [b.node("tanh", [b.node("exp", [x])])]) == 0
    graph, values = int8_chain("hard_swish")
    joined = Builder(graph, operators()).node("add", [values[1], values[1]], quant=PARAMS)
    assert changed(JoinTables(), graph, [joined]) == 0
