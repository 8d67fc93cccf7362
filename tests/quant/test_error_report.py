"""The error report says where accuracy is lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burnc.errors import InputError
from burnc.quant import QuantizeOptions, Range, calibrate, error_report, prepare, quantize
from burnc.quant.error_report import twins
from quant.graphs import Net, one_input


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def two_layers():
    net = Net(x=(1, 8))
    first = net.node("fully_connected", net.inputs[0], normal(8, 8), name="first")
    return prepare(net.done(net.node("fully_connected", first, normal(4, 8), name="second")))


def test_every_value_has_a_twin_for_either_edge():
    graph, samples = two_layers(), {"x": normal(20, 8)}
    for io_type, names in (("int8", ["x", "first", "second"]), ("float", ["x.quantized", "first", "second.quantized"])):
        result = quantize(graph, calibrate(graph, samples), QuantizeOptions(io_type=io_type))
        rows = error_report(graph, result.graph, samples)
        assert [row.value for row in rows] == names
        assert all(30 < row.sqnr_db < 60 for row in rows)


def test_sqnr_against_its_definition():
    graph, samples = two_layers(), {"x": normal(20, 8)}
    result = quantize(graph, calibrate(graph, samples))
    (x,) = result.graph.inputs
    approximate = np.float64(x.type.scale) * np.rint(samples["x"] / np.float32(x.type.scale))
    wanted = 10 * math.log10(np.sum(samples["x"] ** 2.0) / np.sum((samples["x"] - approximate) ** 2))
    assert error_report(graph, result.graph, samples)[0].sqnr_db == pytest.approx(wanted, abs=0.2)


def test_own_error_is_apart_from_what_is_inherited():
    graph, samples = two_layers(), {"x": normal(20, 8)}
    ranges = calibrate(graph, samples)
    ranges["first"] = Range(-1000.0, 1000.0)  # ruins the first result, and with it the second
    first, second = error_report(graph, quantize(graph, ranges).graph, samples)[1:]
    assert first.sqnr_db == pytest.approx(first.own_sqnr_db, abs=1)
    assert first.flagged
    # Alone, the second node still reads its input in the first one's coarse steps.
    assert second.flagged
    assert second.weights_sqnr_db > 30


def test_all_zero_signal():
    graph = one_input((1, 4), lambda net, x: net.node("fully_connected", x, normal(2, 4), name="dense"))
    graph = prepare(graph)
    samples = {"x": np.zeros((3, 4), np.float32)}
    rows = error_report(graph, quantize(graph, calibrate(graph, samples)).graph, samples)
    assert [row.sqnr_db for row in rows] == [math.inf, math.inf]


def test_no_samples():
    graph, samples = two_layers(), {"x": normal(20, 8)}
    result = quantize(graph, calibrate(graph, samples))
    with pytest.raises(InputError, match="no samples"):
        error_report(graph, result.graph, {"x": samples["x"][:0]})


def test_twins_have_equal_shapes():
    graph, samples = two_layers(), {"x": normal(20, 8)}
    result = quantize(graph, calibrate(graph, samples))
    pairs = twins(graph, result.graph)
    assert [v.name for v in pairs] == ["x", "first", "second"]
    assert all(v.type.shape == twin.type.shape for v, twin in pairs.items())
