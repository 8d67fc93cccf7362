from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from burnc.ir import DType, Graph, QuantParams, TensorType, constant, print_graph
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.quantize import QuantizeAttrs
from burnc.ops.spatial import Padding
from passes.rewriting import floats, started


def graph() -> Graph:
    g, b, x = started(1, 4, 4, 2)
    w = b.constant("w", floats(3, 3, 3, 2))
    y = b.node("conv2d", [x, w, None], Conv2dAttrs(pad=Padding(1, 1, 1, 1), activation_min=0.0), name="conv")
    q = b.node("quantize", [y], name="q", quant=QuantParams.per_tensor(0.1, 3), rounding="half_even")
    shape = b.node("reshape", [q], b.operators["reshape"].attrs((48,)), quant=q.type.quant)
    g.outputs = [shape, b.constant("k", np.array([1, -2], np.int32)), y]
    return g


def attrs(**changes: object) -> Callable[[Graph], None]:
    def change(g: Graph) -> None:
        g.nodes[0].attrs = replace(g.nodes[0].attrs, **changes)

    return change


def retyped(which: int, type_of: Callable[[TensorType], TensorType]) -> Callable[[Graph], None]:
    def change(g: Graph) -> None:
        value = g.nodes[which].output
        value.type = type_of(value.type)

    return change


def flip_a_bit(g: Graph) -> None:
    w = g.nodes[0].input(1)
    data = floats(3, 3, 3, 2)
    data.view(np.uint8).reshape(-1)[100] ^= 1
    w.data = data


def negative_zero(g: Graph) -> None:
    g.nodes[0].input(1).data = np.full((3, 3, 3, 2), -0.0, np.float32)


def other_integer(g: Graph) -> None:
    g.outputs[1].data = np.array([1, -3], np.int32)


def other_integer_type(g: Graph) -> None:
    g.outputs[1] = constant("k", np.array([1, -2], np.int64))


CHANGES: dict[str, Callable[[Graph], None]] = {
    "graph name": lambda g: setattr(g, "name", "other"),
    "input name": lambda g: setattr(g.inputs[0], "name", "other"),
    "input type": lambda g: setattr(g.inputs[0], "type", g.inputs[0].type.with_shape((1, 4, 4, 3))),
    "node name": lambda g: setattr(g.nodes[0], "name", "other"),
    "operator": lambda g: setattr(g.nodes[1], "operator", g.nodes[2].operator),
    "rounding": lambda g: setattr(g.nodes[1], "rounding", "half_away"),
    "default rounding": lambda g: setattr(g.nodes[1], "rounding", "tflm"),
    "stride": attrs(stride=(1, 2)),
    "dilation": attrs(dilation=(2, 1)),
    "padding": attrs(pad=Padding(1, 1, 1, 0)),
    "groups": attrs(groups=2),
    "range": attrs(activation_min=-np.inf),
    "sign of zero": attrs(activation_min=-0.0),
    "upper end": attrs(activation_max=6.0),
    "text attribute": lambda g: setattr(g.nodes[1], "attrs", QuantizeAttrs("uint8")),
    "operand": lambda g: g.nodes[0].inputs.pop(),
    "order of outputs": lambda g: g.outputs.reverse(),
    "one output less": lambda g: g.outputs.pop(),
    "element type": retyped(0, lambda t: t.with_dtype(DType.FLOAT64)),
    "shape": retyped(2, lambda t: t.with_shape((4, 12))),
    "scale": retyped(1, lambda t: t.with_quant(QuantParams.per_tensor(float(np.nextafter(np.float32(0.1), 1)), 3))),
    "zero point": retyped(1, lambda t: t.with_quant(QuantParams.per_tensor(0.1, 4))),
    "no parameters": retyped(1, lambda t: t.with_quant(None)),
    "parameters along an axis": retyped(1, lambda t: t.with_quant(QuantParams((0.1, 0.1), (3, 3), 0))),
    "one bit of a weight": flip_a_bit,
    "signed zeros": negative_zero,
    "one integer": other_integer,
    "type of an integer constant": other_integer_type,
}


def test_equal_graphs_print_alike() -> None:
    assert print_graph(graph()) == print_graph(graph()) == print_graph(graph().copy())


@pytest.mark.parametrize("what", CHANGES)
def test_every_difference_shows(what: str) -> None:
    changed = graph()
    CHANGES[what](changed)
    assert print_graph(changed) != print_graph(graph())


def test_per_axis_zero_points_and_axes_show() -> None:
    types = [
        TensorType(DType.INT8, (2, 2), QuantParams((0.1, 0.2), zeros, axis))
        for zeros in ((0, 0), (0, 1), (1, 0))
        for axis in (0, 1)
    ]
    assert len({str(t) for t in types}) == len(types)


def test_the_form() -> None:
    g, b, x = started(2)
    g.outputs = [b.node("add", [x, b.constant("c", np.array([1.0, -0.0], np.float32))], outputs=("y",))]
    assert print_graph(g).splitlines() == [
        "graph net",
        "  input  %x: float32[2]",
        "  const  %c: float32[2] = sha256:0cd40d287b3669a9",
        "  %y = add(%x, %c): float32[2]  # y",
        "  output %y",
    ]
