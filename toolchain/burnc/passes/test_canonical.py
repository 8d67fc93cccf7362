"""Whole ONNX networks in canonical form: what onnxruntime makes of the file, and no layout changes inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from burnc.ir import Array, Graph
from passes.rewriting import canonical, counted, floats, onnx_model, ops_of

pytest.importorskip("onnxruntime")
SPATIAL = ("conv2d", "max_pool2d", "average_pool2d", "concat", "add", "mul", "clip", "softmax", "pad")


class Net:
    """Writes an ONNX network node by node; each method returns the name of its result."""

    def __init__(self, *shape: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.input = list(shape)

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def weights(self, *shape: int) -> str:
        return self.constant(floats(*shape, seed=len(self.constants)))

    def limits(self, *values: float) -> list[str]:
        return [self.constant(np.array(v, np.float32)) for v in values]

    def conv(self, x: str, channels: int, filters: int, *kernel: int, **attributes: Any) -> str:
        group = attributes.get("group", 1)
        pads = [k // 2 for k in kernel] * 2
        w, bias = self.weights(filters, channels // group, *kernel), self.weights(filters)
        return self.node("Conv", x, w, bias, kernel_shape=kernel, **{"pads": pads} | attributes)

    def norm(self, x: str, channels: int) -> str:
        parameters = [self.weights(channels) for _ in range(3)]
        var = self.constant(floats(channels, low=0.3, high=2.0))
        return self.node("BatchNormalization", x, *parameters, var)

    def canonical(self, *outputs: str) -> Graph:
        graph = canonical(onnx_model(self.nodes, {"x": self.input}, outputs, self.constants))
        assert [v.name for v in graph.outputs] == list(outputs)
        return graph


def inner_movers(graph: Graph) -> list[str]:
    """Transposes and reshapes between two spatial operators."""
    consumers = graph.consumers()
    found = []
    for node in graph.nodes:
        source = node.present_inputs[0].producer
        readers = consumers.get(node.output, [])
        if node.op in ("transpose", "reshape") and source is not None and source.op in SPATIAL:
            found += [node.name for r in readers if r.op in SPATIAL]
    return found


def test_conv_norm_relu_pool_chain() -> None:
    net = Net(1, 3, 12, 12)
    x = "x"
    for channels, filters in ((3, 8), (8, 4)):
        x = net.node("Relu", net.norm(net.conv(x, channels, filters, 3, 3), filters))
        x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    graph = net.canonical(x)
    assert ops_of(graph) == ["transpose", "conv2d", "max_pool2d", "conv2d", "max_pool2d", "transpose"]
    assert [n.output.name for n in graph.nodes[1:4]] == ["relu2_out", "maxpool3_out", "relu6_out"]


def test_residual_blocks() -> None:
    net = Net(1, 4, 6, 6)
    x = net.node("Relu", net.conv("x", 4, 4, 3, 3))
    for _ in range(2):
        inner = net.norm(net.conv(net.node("Relu", net.conv(x, 4, 4, 3, 3)), 4, 4, 3, 3), 4)
        x = net.node("Relu", net.node("Add", inner, x))
    graph = net.canonical(x)
    assert counted(graph) == {"transpose": 2, "conv2d": 5, "add": 2}


def test_a_residual_block_at_the_input() -> None:
    net = Net(1, 4, 6, 6)
    x = net.node("Add", "x", net.conv("x", 4, 4, 3, 3))
    graph = net.canonical(net.conv(x, 4, 2, 1, 1))
    assert counted(graph) == {"transpose": 2, "conv2d": 2, "add": 1}


@pytest.mark.parametrize("axis", [1, -3])
def test_concat_branches(axis: int) -> None:
    net = Net(1, 4, 6, 6)
    branches = [net.conv("x", 4, 3, 1, 1), net.conv("x", 4, 2, 3, 3), net.node("AveragePool", "x", kernel_shape=[1, 1])]
    graph = net.canonical(net.conv(net.node("Concat", *branches, axis=axis), 9, 4, 1, 1))
    assert counted(graph) == {"transpose": 2, "conv2d": 3, "average_pool2d": 1, "concat": 1}


def test_one_dimensional_chain() -> None:
    net = Net(2, 3, 20)
    x = "x"
    for channels, filters in ((3, 8), (8, 4)):
        x = net.node("Relu", net.norm(net.conv(x, channels, filters, 5), filters))
        x = net.node("Mul", x, net.weights(filters, 1))
        x = net.node("MaxPool", x, kernel_shape=[2], strides=[2])
    graph = net.canonical(x)
    assert inner_movers(graph) == []
    assert counted(graph) == {"reshape": 2, "transpose": 2, "conv2d": 2, "mul": 2, "max_pool2d": 2}


def test_one_dimensional_residual_block() -> None:
    net = Net(1, 4, 20)
    x = net.conv("x", 4, 4, 3)
    graph = net.canonical(net.conv(net.node("Add", x, net.conv(x, 4, 4, 3)), 4, 2, 3))
    assert inner_movers(graph) == []


def test_flatten_and_gemm() -> None:
    net = Net(1, 3, 6, 6)
    x = net.node("Relu", net.conv("x", 3, 4, 3, 3))
    x = net.node("Flatten", net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = net.node("Relu", net.node("Gemm", x, net.weights(5, 36), net.weights(5), transB=1))
    graph = net.canonical(net.node("Softmax", net.node("MatMul", x, net.weights(5, 3)), axis=-1))
    assert ops_of(graph)[1:] == ["conv2d", "max_pool2d", "reshape", "fully_connected", "fully_connected", "softmax"]


@pytest.mark.parametrize(
    ("columns", "shape"),
    [*((n, shape) for n in (1, 3) for shape in ((), (1,), (1, 1), (2, 1))), (3, (3,)), (3, (1, 3)), (3, (2, 3))],
)
def test_every_form_of_bias_that_gemm_takes(columns: int, shape: tuple[int, ...]) -> None:
    net = Net(2, 4)
    net.canonical(net.node("Gemm", "x", net.weights(4, columns), net.weights(*shape)))


@pytest.mark.parametrize("flatten", ["Flatten", "Squeeze", "Reshape"])
def test_global_average_pool_and_gemm(flatten: str) -> None:
    net = Net(1, 3, 6, 6)
    x = net.node("GlobalAveragePool", net.node("Relu", net.conv("x", 3, 4, 3, 3)))
    operand = {"Flatten": (), "Squeeze": (np.array([2, 3]),), "Reshape": (np.array([0, -1]),)}[flatten]
    x = net.node(flatten, x, *(net.constant(o) for o in operand))
    graph = net.canonical(net.node("Gemm", x, net.weights(4, 5), net.weights(5)))
    assert ops_of(graph)[1:] == ["conv2d", "average_pool2d", "reshape", "fully_connected"]


def test_depthwise_separable() -> None:
    net = Net(1, 4, 8, 8)
    x = "x"
    for _ in range(2):
        x = net.node("Relu", net.norm(net.conv(x, 4, 4, 3, 3, group=4), 4))
        x = net.node("Clip", net.norm(net.conv(x, 4, 4, 1, 1), 4), *net.limits(0.0, 6.0))
    assert counted(net.canonical(x)) == {"transpose": 2, "conv2d": 4}


def test_a_bias_of_its_own_is_folded() -> None:
    net = Net(1, 3, 6, 6)
    w = net.weights(8, 3, 3, 3)
    x = net.node("Add", net.node("Conv", "x", w), net.weights(8, 1, 1))
    x = net.node("Add", net.weights(1, 8, 1, 1), x)
    assert counted(net.canonical(x)) == {"transpose": 2, "conv2d": 1}


def test_scaling_by_a_pooled_value() -> None:
    net = Net(1, 3, 6, 6)
    x = net.conv("x", 3, 4, 3, 3)
    scale = net.node("Relu", net.conv(net.node("GlobalAveragePool", x), 4, 4, 1, 1))
    graph = net.canonical(net.conv(net.node("Mul", x, scale), 4, 2, 1, 1))
    assert inner_movers(graph) == []


@st.composite
def networks(draw: st.DrawFn) -> tuple[Net, list[str]]:
    """A small network of any of these operators, 1-D or 2-D, with skips and several outputs."""
    rank = draw(st.sampled_from((1, 2)))
    batch, channels = draw(st.sampled_from((1, 2))), draw(st.integers(1, 3))
    size = tuple(draw(st.integers(1, 5)) for _ in range(rank))
    net = Net(batch, channels, *size)
    known = [("x", channels, size)]
    for _ in range(draw(st.integers(1, 7))):
        x, c, size = draw(st.sampled_from(known))
        like = [k for k in known if k[2] == size]
        op = draw(st.sampled_from(("conv", "relu", "norm", "pool", "skip", "concat", "term", "pad", "softmax", "turn")))
        if op == "conv":
            filters = draw(st.integers(1, 3))
            known.append((net.conv(x, c, filters, *(3,) * rank), filters, size))
        elif op == "relu":
            known.append((net.node("Relu", x), c, size))
        elif op == "norm":
            known.append((net.norm(x, c), c, size))
        elif op == "pool" and min(size) >= 2:
            x = net.node("MaxPool", x, kernel_shape=(2,) * rank, strides=(1,) * rank)
            known.append((x, c, tuple(n - 1 for n in size)))
        elif op == "skip":
            other = draw(st.sampled_from([k for k in like if k[1] == c]))
            known.append((net.node(draw(st.sampled_from(("Add", "Mul"))), x, other[0]), c, size))
        elif op == "concat":
            other = draw(st.sampled_from(like))
            known.append((net.node("Concat", x, other[0], axis=1), c + other[1], size))
        elif op == "term":
            shape = draw(st.sampled_from([(c, *(1,) * rank), (1, c, *(1,) * rank), size[-1:], (1,), ()]))
            operands = [x, net.weights(*shape)]
            known.append((net.node("Add", *operands[:: draw(st.sampled_from((1, -1)))]), c, size))
        elif op == "pad":
            ends = [0, 0, *(1,) * rank]
            known.append((net.node("Pad", x, net.constant(np.array(ends * 2))), c, tuple(n + 2 for n in size)))
        elif op == "softmax":
            known.append((net.node("Softmax", x, axis=draw(st.integers(0, rank + 1))), c, size))
        elif op == "turn" and rank == 2:
            known.append((net.node("Transpose", x, perm=(0, 1, 3, 2)), c, size[::-1]))
    results = [name for name, _, _ in known[1:]] or [net.node("Relu", "x")]
    outputs = draw(st.lists(st.sampled_from(results), max_size=2, unique=True)) or results[-1:]
    if draw(st.booleans()):
        outputs.append(net.node("Flatten", results[-1]))
    return net, outputs


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(networks())
def test_any_small_network_keeps_its_meaning(drawn: tuple[Net, list[str]]) -> None:
    net, outputs = drawn
    net.canonical(*outputs)
