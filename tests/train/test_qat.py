"""Training under quantization: what is rounded while training is what int8 computes."""

from __future__ import annotations

import numpy as np
import pytest

from burnc import nn
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import QuantizationError
from burnc.ir import Builder, DType, Graph, TensorType, verify
from burnc.numerics import quantize
from burnc.ops import operators
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.train import Adam, QuantizationAware, TrainingStep, capture, softmax_cross_entropy

SHAPE = (8, 8, 2)


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).uniform(0, 1, (120, *SHAPE)).astype(np.float32)


def network():
    net = nn.Sequential(
        nn.Conv2d(2, 6, 3, padding="same", bias=False),
        nn.BatchNorm(6),
        nn.ReLU(),
        nn.MaxPool(2),
        nn.DepthwiseConv2d(6, 3, padding=1),
        nn.ReLU(6.0),
        nn.MaxPool(2),
        nn.Flatten(),
        nn.Linear(24, 4),
    )
    net.initialize(1)
    return net


@pytest.fixture
def aware(images):
    graph = capture(network(), {"x": TensorType(DType.FLOAT32, (1, *SHAPE))}, output="scores").graph
    return QuantizationAware(graph, {"x": images})


def scores(graph, images):
    executable = NumpyReference().compile(graph)
    (value,) = graph.inputs
    for image in images:
        array = image[None]
        if value.type.quant is not None:
            array = quantize(array, value.type)
        (result,) = executable.run({"x": array}).values()
        yield result[0]


def test_int8_equals_the_fake_quantized_network_within_its_grid(aware, images):
    int8, fake = aware.int8_graph(), aware.fake_quant_graph()
    verify(int8)
    verify(fake)
    assert all(v.type.dtype is not DType.FLOAT32 for v in int8.values())
    (output,) = int8.outputs
    assert output.name == "scores"
    quant = output.type
    integers = np.array(list(scores(int8, images))).astype(int) - quant.zero_point
    reals = np.array(list(scores(fake, images)))
    apart = np.abs(integers - np.rint(reals / np.float32(quant.scale)))
    # A sum near the border between two steps may be rounded to either side, here or in a layer before.
    assert apart.max() <= 1
    assert (apart != 0).mean() < 0.05


def test_int8_is_near_the_float_network(aware, images):
    (output,) = aware.int8_graph().outputs
    reals = np.array(list(scores(aware.float_graph(), images)))
    integers = np.array(list(scores(aware.int8_graph(), images))).astype(int) - output.type.zero_point
    assert np.abs(integers * output.type.scale - reals).max() < 0.1 * np.abs(reals).max()


def test_a_step_moves_the_parameters_that_int8_is_made_from(aware, images):
    captured = aware.captured(20)
    labels = TensorType(DType.INT64, (20,))
    step = TrainingStep(captured, labels, softmax_cross_entropy, Adam(), NumpyReference(), aware.arrays)
    step.operands = aware.scales()
    wanted = np.arange(120) * 7 % 4
    images = images * (0.25 + 0.25 * wanted[:, None, None, None]).astype(np.float32)  # brighter by class
    losses = [
        step.run({"x": images[i : i + 20]}, wanted[i : i + 20], 1 + 6 * epoch + i // 20, 0.01)
        for epoch in range(8)
        for i in range(0, 120, 20)
    ]
    assert np.mean(losses[-6:]) < 0.9 * np.mean(losses[:6])
    before = aware.int8_graph()
    aware.arrays = {name: step.state[name] for name in aware.arrays}
    after = aware.int8_graph()
    assert any(not np.array_equal(a.data, b.data) for a, b in zip(before.constants(), after.constants(), strict=True))


def test_an_operator_without_an_int8_form_is_refused_by_name(images):
    graph = Graph("multiplies")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, *SHAPE)))
    graph.outputs = [b.node("reduce_prod", [x], ReduceAttrs((3,), keepdims=True))]
    with pytest.raises(QuantizationError, match="no int8 form") as caught:
        QuantizationAware(graph, {"x": images})
    assert "(reduce_prod)" in caught.value.where
