from __future__ import annotations

import numpy as np

from burnc.ir import Graph, QuantParams, Value, verify
from burnc.ops.conv2d import Conv2dAttrs
from burnc.passes import AbsorbEdges, AbsorbQdq, run_passes
from burnc.passes.fake_quant import ConvertFakeQuant, Inserted, insert_fake_quant
from passes.rewriting import floats, ops_of, run, started

IMAGE, HIDDEN, RESULT = (QuantParams.per_tensor(s, z) for s, z in ((2 / 255, 0), (0.05, -128), (0.05, -128)))


def rounded_net() -> tuple[Graph, Inserted]:
    """x -> conv2d with ReLU -> reshape, all of it fake-quantized."""
    graph, b, x = started(1, 4, 4, 2)
    w, bias = b.constant("w", floats(3, 3, 3, 2, seed=1)), b.constant("bias", floats(3, seed=2))
    y = b.node("conv2d", [x, w, bias], Conv2dAttrs(activation_min=0.0), outputs=("hidden",))
    z = b.node("reshape", [y], b.operators["reshape"].attrs((1, 12)), outputs=("result",))
    graph.outputs = [z]
    found = insert_fake_quant(graph, {x: IMAGE, y: HIDDEN, z: RESULT}, list(graph.nodes))
    data = w.data
    assert data is not None
    found.weights["w"].data = (np.abs(data).max(axis=(1, 2, 3), keepdims=True) / 127).astype(np.float32)
    return graph, found


def readers_of(graph: Graph, value: Value) -> list[str]:
    return [n.op for n in graph.nodes if value in n.present_inputs]


def test_every_reader_sees_the_rounded_value() -> None:
    graph, found = rounded_net()
    verify(graph)
    assert ops_of(graph).count("fake_quant") == 4
    assert set(found.activations) == {"x", "hidden", "result"}
    assert found.weights["w"].type.shape == (3, 1, 1, 1)
    assert readers_of(graph, graph.inputs[0]) == ["fake_quant"]
    assert graph.outputs[0].name == "result"


def test_int8_computes_what_was_rounded() -> None:
    graph, _ = rounded_net()
    x = floats(1, 4, 4, 2, seed=5)
    (before,) = run(graph, {"x": x}).values()
    assert ConvertFakeQuant().run(graph) == 4
    verify(graph)
    (between,) = run(graph, {"x": x}).values()
    np.testing.assert_allclose(between, before, atol=1e-6)
    run_passes(graph, [AbsorbQdq(), AbsorbEdges()])
    assert ops_of(graph) == ["conv2d", "reshape"]
    assert [v.name for v in graph.nodes[0].outputs] == ["hidden"]
    assert graph.outputs[0].name == "result"
    stored = np.clip(np.rint(x / np.float32(2 / 255)), -128, 127).astype(np.int8)
    (integers,) = run(graph, {"x": stored}).values()
    off = np.abs((integers.astype(np.float32) + 128) * np.float32(0.05) - before)
    assert off.max() <= 0.05 + 1e-6
    assert (off > 0.01).mean() < 0.2


def test_operands_that_are_no_constants_stay() -> None:
    graph, found = rounded_net()
    scale = found.weights["w"]
    scale.data = None
    graph.inputs.append(scale)
    assert ConvertFakeQuant().run(graph) == 3
    assert ops_of(graph).count("fake_quant") == 1
