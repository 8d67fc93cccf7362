"""The whole way from a float graph to an int8 graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import InputError, QuantizationError
from burnc.importers import import_model
from burnc.importers.onnx import import_onnx
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, print_graph
from burnc.numerics import dequantize
from burnc.numerics import quantize as quantize_values
from burnc.ops import operators
from burnc.ops.clip import ClipAttrs
from burnc.ops.concat import ConcatAttrs
from burnc.ops.conv2d import Conv2dAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.quant import QuantizeOptions, Range, calibrate, error_report, load_dataset, prepare, quantize
from burnc.quant.calibrate import runs
from quant.graphs import Net, one_input

ROOT = Path(__file__).resolve().parents[2]
MNIST, DIGITS = ROOT / "examples/mnist_pico/mnist8.onnx", ROOT / "examples/mnist_pico/digits.npz"
FLOAT_MODELS = [MNIST, *sorted((ROOT / "tests/models").glob("*.onnx"))]
RNG = np.random.default_rng(0)


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def quantized(graph, samples, **options):
    graph = prepare(graph)
    return graph, quantize(graph, calibrate(graph, samples), QuantizeOptions(**options))


def output_error(graph, result, samples):
    """The largest difference of any output, in steps of its int8 form."""
    worst = 0.0
    for i in range(len(next(iter(samples.values())))):
        real = {v.name: samples[v.name][i : i + 1].reshape(v.type.shape) for v in graph.inputs}
        integers = {v.name: quantize_values(real[v.name], v.type) for v in result.graph.inputs}
        wanted = NumpyReference().compile(graph).run(real)
        got = NumpyReference().compile(result.graph).run(integers)
        for value in result.graph.outputs:
            difference = dequantize(got[value.name], value.type).astype(np.float64) - wanted[value.name]
            worst = max(worst, float(np.abs(difference).max()) / value.type.scale)
    return worst


@pytest.mark.parametrize("path", FLOAT_MODELS, ids=lambda p: p.stem)
@pytest.mark.parametrize("io_type", ["int8", "float"])
@pytest.mark.parametrize("per_axis", [True, False])
def test_real_models_leave_nothing_in_float(path, io_type, per_axis):
    graph = prepare(import_model(path))
    samples = {v.name: normal(4, *v.type.shape[1:]) * 3 for v in graph.inputs}
    result = quantize(graph, calibrate(graph, samples), QuantizeOptions(per_axis, io_type, require_int8=True))
    assert result.left_in_float == []
    assert [v.name for v in result.graph.inputs] == [v.name for v in graph.inputs]
    assert [v.name for v in result.graph.outputs] == [v.name for v in graph.outputs]
    assert all((v.type.quant is None) == (io_type == "float") for v in result.graph.inputs + result.graph.outputs)
    assert all(row.sqnr_db > 20 for row in error_report(graph, result.graph, samples))


def test_mnist_accuracy():
    """The measure is a loss of at most 0.3 points over 9 800 digits; here on 2 000 of them."""
    graph = prepare(import_model(MNIST))
    calibration, rest = load_dataset(DIGITS, inputs=graph.inputs, scale=1 / 255).split(200)
    test = rest[:2000]
    result = quantize(graph, calibrate(graph, calibration.inputs), QuantizeOptions(require_int8=True))

    def accuracy(which, inputs):
        (output,) = which.outputs
        scores = [seen[output.name].reshape(-1, 10) for _, seen in runs(which, inputs, batch=100)]
        return 100 * float(np.mean(np.concatenate(scores).argmax(axis=1) == test.labels))

    (input_,) = result.graph.inputs
    float_accuracy = accuracy(graph, test.inputs)
    assert float_accuracy > 99
    assert (
        float_accuracy - accuracy(result.graph, {input_.name: quantize_values(test.inputs[input_.name], input_.type)})
        <= 0.3
    )


def test_names_survive_on_mnist():
    graph = prepare(import_model(MNIST))
    samples = {v.name: normal(2, *v.type.shape[1:]) for v in graph.inputs}
    result = quantize(graph, calibrate(graph, samples))
    assert [v.name for v in result.graph.values()] == [v.name for v in graph.values()]
    assert [n.name for n in result.graph.nodes] == [n.name for n in graph.nodes]


def test_graph_given_stays_as_it_is():
    graph = prepare(import_model(MNIST))
    before = print_graph(graph)
    quantize(graph, calibrate(graph, {v.name: normal(2, *v.type.shape[1:]) for v in graph.inputs}))
    assert print_graph(graph) == before


def test_values_that_are_joined_share_the_union():
    net = Net(a=(1, 4), b=(1, 4))
    joined = net.node("concat", *net.inputs, attrs=ConcatAttrs(1))
    graph = net.done(net.node("reshape", joined, attrs=ReshapeAttrs((8,))))
    samples = {"a": np.array([[0, 1, 2, 3.0]], np.float32), "b": np.array([[-7, 0, 0, 0.0]], np.float32)}
    _, result = quantized(graph, samples)
    scales = {v.type.quant for v in result.graph.values()}
    assert [q.scale[0] for q in scales] == [np.float32(10 / 255)]
    assert not [n for n in result.graph.nodes if n.op == "quantize"]


def test_fixed_parameters_flow_through_reshapes():
    graph = one_input((1, 6), lambda net, x: net.node("reshape", net.node("softmax", x), attrs=ReshapeAttrs((2, 3))))
    _, result = quantized(graph, {"x": normal(5, 6)})
    assert [v.type.quant for v in result.graph.outputs] == [QuantParams.per_tensor(1 / 256, -128)]
    assert [n.op for n in result.graph.nodes] == ["softmax", "reshape"]


def test_fixed_parameters_do_not_bind_what_they_are_joined_with():
    net = Net(x=(1, 6))
    (x,) = net.inputs
    graph = net.done(net.node("concat", net.node("softmax", x), x, attrs=ConcatAttrs(1)))
    samples = {"x": normal(5, 6) * 4}
    graph, result = quantized(graph, samples, require_int8=True)
    assert [n.op for n in result.graph.nodes] == ["softmax", "quantize", "concat"]
    assert output_error(graph, result, samples) <= 1.5


def test_constant_in_a_concat():
    constant = np.array([[-9.0, 9.0]], np.float32)
    graph = one_input((1, 2), lambda net, x: net.node("concat", x, constant, attrs=ConcatAttrs(1)))
    samples = {"x": normal(5, 2)}
    graph, result = quantized(graph, samples, require_int8=True)
    assert output_error(graph, result, samples) <= 0.51


@pytest.mark.parametrize("op", ["add", "mul"])
def test_constant_operands(op):
    graph = one_input((1, 3, 4), lambda net, x: net.node(op, x, normal(4)))
    samples = {"x": normal(8, 3, 4)}
    graph, result = quantized(graph, samples, require_int8=True)
    assert output_error(graph, result, samples) <= 2


def test_lonely_batch_norm_becomes_int8():
    parameters = [normal(3), normal(3), normal(3), np.array([0.5, 1, 2], np.float32)]
    graph = one_input((1, 4, 4, 3), lambda net, x: net.node("batch_norm", x, *parameters))
    samples = {"x": normal(8, 4, 4, 3)}
    graph, result = quantized(graph, samples, require_int8=True)
    assert [n.op for n in result.graph.nodes] == ["mul", "add"]
    assert output_error(graph, result, samples) <= 3


def test_zero_padding_and_relu_are_exact():
    weights = np.zeros((1, 3, 3, 1), np.float32)
    weights[0, 0, 0, 0] = 1.0  # with padding, the first row and column of the result come from the padding alone
    from burnc.ops.spatial import Padding

    attrs = Conv2dAttrs(pad=Padding(1, 1, 1, 1), activation_min=0.0)
    graph = one_input((1, 4, 4, 1), lambda net, x: net.node("conv2d", x, weights, None, attrs=attrs))
    samples = {"x": normal(8, 4, 4, 1) - 3}
    _, result = quantized(graph, samples)
    (x,), (y,) = result.graph.inputs, result.graph.outputs
    got = NumpyReference().compile(result.graph).run({"x": quantize_values(samples["x"][:1], x.type)})[y.name]
    assert (got[0, 0] == y.type.zero_point).all()
    assert (got >= y.type.zero_point).all()


def test_standalone_clip():
    graph = one_input((1, 8), lambda net, x: net.node("clip", x, attrs=ClipAttrs(-1.0, 1.0)))
    samples = {"x": normal(8, 8) * 3}
    graph, result = quantized(graph, samples, require_int8=True)
    assert output_error(graph, result, samples) <= 0.51 + 0.5 * result.graph.inputs[0].type.scale / (2 / 255)


def test_dead_channels_cannot_overflow():
    """All-zero results in calibration ask for a tiny output scale; what could arise must still fit int32."""
    graph = one_input((1, 4), lambda net, x: net.node("fully_connected", x, normal(2, 4) * 1e6, None))
    graph = prepare(graph)
    (y,) = graph.outputs
    result = quantize(graph, {"x": Range(-100.0, 100.0), y.name: Range(0.0, 1e-20)})
    assert result.graph.outputs[0].type.scale > 1e-20


def test_tiny_ranges_everywhere():
    tiny = np.float32(1e-37)
    graph = one_input((1, 4), lambda net, x: net.node("fully_connected", x, normal(2, 4) * tiny, normal(2) * tiny))
    quantized(graph, {"x": normal(3, 4) * tiny})


def test_shared_weights_stay_shared():
    net = Net(x=(1, 4))
    weights = net.builder.constant("w", normal(4, 4))
    first = net.node("fully_connected", net.inputs[0], weights, name="first")
    graph = net.done(net.node("fully_connected", first, weights, name="second"))
    _, result = quantized(graph, {"x": normal(3, 4)})
    assert len([v for v in result.graph.constants() if v.type.shape == (4, 4)]) == 1


def test_value_that_is_output_and_read_on():
    net = Net(x=(1, 4))
    first = net.node("fully_connected", net.inputs[0], normal(4, 4), name="first")
    second = net.node("fully_connected", first, normal(4, 4), name="second")
    _, result = quantized(net.done(first, second), {"x": normal(3, 4)}, require_int8=True)
    assert [v.name for v in result.graph.outputs] == ["first", "second"]
    assert all(v.type.quant is not None for v in result.graph.outputs)


def test_bad_weight_is_named():
    bad = normal(3, 4)
    bad[2, 1] = np.inf
    graph = prepare(one_input((1, 4), lambda net, x: net.node("fully_connected", x, bad, name="dense")))
    with pytest.raises(QuantizationError, match=r"'dense.1' holds inf at index \[2, 1\]"):
        quantize(graph, {})


def test_missing_range_is_named():
    graph = prepare(one_input((1, 4), lambda net, x: net.node("softmax", x)))
    with pytest.raises(QuantizationError, match="%x has no calibrated range"):
        quantize(graph, {})


def test_quantized_graph_is_refused():
    _, result = quantized(one_input((1, 4), lambda net, x: net.node("softmax", x)), {"x": normal(3, 4)})
    with pytest.raises(QuantizationError, match="already"):
        prepare(result.graph)


class TestCalibrate:
    def graph(self):
        return one_input((1, 4), lambda net, x: net.node("mul", x, np.array([1e30], np.float32), name="big"))

    def test_batches_give_the_same_ranges(self):
        graph, samples = prepare(import_model(MNIST)), normal(7, 1, 28, 28)
        one, three = (calibrate(graph, {"Input3": samples}, batch=n) for n in (1, 3))
        for name in one:
            assert one[name].low == pytest.approx(three[name].low, rel=1e-4, abs=1e-4)
            assert one[name].high == pytest.approx(three[name].high, rel=1e-4, abs=1e-4)

    def test_progress(self):
        seen = []
        calibrate(self.graph(), {"x": normal(7, 4)}, batch=3, progress=lambda done, total: seen.append((done, total)))
        assert seen == [(3, 7), (6, 7), (7, 7)]

    def test_value_that_overflows_is_named(self):
        with pytest.raises(QuantizationError, match="%big became NaN or infinite"):
            calibrate(self.graph(), {"x": np.full((1, 4), 1e30, np.float32)})

    @pytest.mark.parametrize(
        ("samples", "why"),
        [
            ({}, "no array for input 'x'"),
            ({"x": np.zeros((0, 4), np.float32)}, "no samples"),
            ({"x": np.zeros((2, 5), np.float32)}, r"shape \[2, 5\]"),
            ({"x": np.zeros((2, 4), np.float64)}, "float64"),
            ({"x": np.float32(0)}, "shape"),
        ],
    )
    def test_samples_that_do_not_fit(self, samples, why):
        with pytest.raises(InputError, match=why):
            calibrate(self.graph(), samples)


def test_state_is_quantized_with_what_is_written_to_it():
    """A delay line: its states become int8, and hold what the float ones hold, to the nearest step."""
    graph = Graph("delay")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (1, 3)))
    older, newer = (b.state(name, x.type) for name in ("older", "newer"))
    newer.write, older.write = x, newer.read
    graph.outputs = [b.node("add", [older.read, x], outputs=["y"])]
    rng = np.random.default_rng(1)
    samples = rng.uniform(-1, 1, (20, 1, 3)).astype(np.float32)
    prepared = prepare(graph)
    result = quantize(prepared, calibrate(prepared, {"x": samples}))
    assert result.left_in_float == []
    assert [state.read.type.dtype for state in result.graph.states] == [DType.INT8, DType.INT8]
    real, integer = (NumpyReference().compile(g) for g in (prepared, result.graph))
    (x8,), (y8,) = result.graph.inputs, result.graph.outputs
    for sample in samples:
        wanted = real.run({"x": sample})["y"]
        got = dequantize(integer.run({"x": quantize_values(sample, x8.type)})["y"], y8.type)
        np.testing.assert_allclose(got, wanted, atol=2 * y8.type.scale)


def test_nothing_is_computed_from_constants_alone():
    """A division by 255 of small numbers stays float (``headroom``); RNN's constant sequence is an activation."""
    text = """<ir_version: 9, opset_import: ["" : 17]> g (float[3, 5] x, float[1, 1, 2] h)
        => (uint8[3, 5] y, float scale, uint8 zero, float[1, 1, 2] last)
        <float[2, 1, 1] seq = {0.5, -1.0}, float[1, 2, 1] w = {0.3, -0.4}, float[1, 2, 2] r = {0.1, 0.2, -0.3, 0.4}> {
            y, scale, zero = DynamicQuantizeLinear(x)
            all, last = RNN<hidden_size = 2>(seq, w, r, , , h)
        }"""
    graph = import_onnx(onnx.parser.parse_model(text))
    _, result = quantized(graph, {"x": 0.1 * normal(4, 3, 5), "h": normal(4, 1, 1, 2)})
    constant = [n for n in result.graph.nodes if n.inputs and all(v.is_constant for v in n.present_inputs)]
    assert constant == []
    assert any(n.op == "rnn" and n.input(0).type.dtype is DType.INT8 for n in result.graph.nodes)
    assert any(n.op == "div" and n.input(1).type.dtype is DType.FLOAT32 for n in result.graph.nodes)
