"""Random TFLite nets, loaded as a user loads them: the same bits as TFLite Micro."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burnc
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Array
from oracles.tflm import RefusedError, TfliteMicro
from requirements import requires_package
from suites.random_tflite import RandomNet

SEEDS = range(30)


def check(got: Array, wanted: Array, where: str) -> None:
    if wanted.dtype.kind == "f":
        bound = 1e-5 * np.max(np.abs(wanted), initial=1)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=bound, err_msg=where)
    else:
        np.testing.assert_array_equal(got, wanted, err_msg=where)


@requires_package("tflite_micro")
@pytest.mark.parametrize("kind", ["int8", "int16", "float32"])
def test_random_nets_equal_tflite_micro(kind: str, tmp_path: Path):
    path = tmp_path / "net.tflite"
    asked = 0
    for seed in SEEDS:
        net = RandomNet(seed, kind)
        path.write_bytes(net.write())
        feeds = [net.feed(t) for t in net.fed]
        try:
            wanted = TfliteMicro(path.read_bytes()).run(*feeds, outputs=len(net.outputs))
        except (RefusedError, RuntimeError):
            continue
        asked += 1
        graph = burnc.load(path).graph
        given = {v.name: array for v, array in zip(graph.inputs, feeds, strict=True)}
        got = NumpyReference().compile(graph).run(given)
        for value, array in zip(graph.outputs, wanted, strict=True):
            check(got[value.name], array.reshape(value.type.shape), f"seed {seed}: {net.log}")
    assert asked >= 0.9 * len(SEEDS)


@requires_package("tflite_micro")
def test_random_uint8_nets_mean_what_int8_ones_do(tmp_path: Path):
    path = tmp_path / "net.tflite"
    for seed in SEEDS:
        net = RandomNet(1000 + seed, "int8")
        signed = net.write()
        net = RandomNet(1000 + seed, "int8")
        path.write_bytes(net.write(unsigned=True))
        feeds = [net.feed(t) for t in net.fed]
        wanted = TfliteMicro(signed).run(*feeds, outputs=len(net.outputs))
        graph = burnc.load(path).graph
        raised = {v.name: x.view(np.uint8) ^ np.uint8(128) for v, x in zip(graph.inputs, feeds, strict=True)}
        got = NumpyReference().compile(graph).run(raised)
        for value, array in zip(graph.outputs, wanted, strict=True):
            lowered = (got[value.name] ^ np.uint8(128)).view(np.int8)
            check(lowered, array.reshape(value.type.shape), f"seed {seed}: {net.log}")
