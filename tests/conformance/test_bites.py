"""The suite bites: one rounding, one zero point, one border, wrong in a copy of an operator, and it reports it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Graph, QuantParams
from burnc.ops import OpSpec, operators
from burnc.ops.spatial import Padding
from conformance.check import differences
from conformance.single_node import Subject, float_inputs, int8_inputs, int8_subjects

Integer = Callable[..., Any]


def with_integer(spec: OpSpec, integer: Integer) -> Callable[[Graph], None]:
    """Give the nodes of a graph a copy of their operator with another integer meaning."""

    def sabotage(graph: Graph) -> None:
        for node in graph.nodes:
            node.operator = dataclasses.replace(spec, integer=integer)

    return sabotage


def reported(op: str, change: Callable[[Integer], Integer], setting_names: Collection[str] = ()) -> list[str]:
    """The suite's subjects that show the fault when an operator's integer meaning is changed."""
    spec = operators()[op]
    assert spec.integer is not None
    found = []
    for subject in int8_subjects():
        assert subject.setting is not None
        if subject.spec is not spec or (setting_names and subject.setting.name not in setting_names):
            continue
        sound, broken = subject.graph(), subject.graph()
        with_integer(spec, change(spec.integer))(broken)
        if differences(NumpyReference().compile(broken), NumpyReference().compile(sound), int8_inputs(sound)):
            found.append(subject.name)
    return found


def rounding_once(integer: Integer) -> Integer:
    """The node's arithmetic with one rounding in place of two."""

    def changed(node: Any, *arrays: Any) -> Any:
        node.rounding = "single"
        return integer(node, *arrays)

    return changed


def zero_point_off_by_one(integer: Integer) -> Integer:
    """The input's numbers as if its zero point were one higher."""

    def changed(node: Any, x: Any, *arrays: Any) -> Any:
        return integer(node, np.clip(x.astype(np.int32) - 1, -128, 127).astype(np.int8), *arrays)

    return changed


def border_of_zeros(integer: Integer) -> Integer:
    """Padding filled with the stored 0 in place of the zero point."""

    def changed(node: Any, x: Any, *arrays: Any) -> Any:
        pad = node.attrs.pad
        widths = ((0, 0), (pad.top, pad.bottom), (pad.left, pad.right), (0, 0))
        unpadded = dataclasses.replace(node.attrs, pad=Padding())
        attrs, node.attrs = node.attrs, unpadded
        try:
            return integer(node, np.pad(x, widths), *arrays)
        finally:
            node.attrs = attrs

    return changed


@pytest.mark.parametrize("op", ["conv2d", "fully_connected", "matmul", "add", "mul", "clip", "quantize"])
def test_one_rounding(op: str):
    assert reported(op, rounding_once)


@pytest.mark.parametrize("op", ["conv2d", "fully_connected", "matmul", "add", "mul", "average_pool2d", "max_pool2d"])
def test_one_zero_point(op: str):
    # In most cases, not just in one; a clamped result may hide it.
    assert len(reported(op, zero_point_off_by_one, ["typical"])) > len(operators()[op].cases) // 2


def test_one_border():
    padded = [i for i, case in enumerate(operators()["conv2d"].cases) if case.attrs and case.attrs.pad != Padding()]
    assert reported("conv2d", border_of_zeros, ["typical"]) == [f"conv2d-{i}-typical" for i in padded]


def test_mean_rounded_as_the_centred_one():
    def changed(integer: Integer) -> Integer:
        def centred(node: Any, x: Any) -> Any:
            # Two parameters that are almost equal: the mean goes the way of unequal ones.
            (output,) = node.outputs
            shared = output.type.quant
            output.type = output.type.with_quant(
                QuantParams.per_tensor(shared.scale[0] * (1 + 1e-6), shared.zero_point[0])
            )
            try:
                return integer(node, x)
            finally:
                output.type = output.type.with_quant(shared)

        return centred

    assert reported("average_pool2d", changed, ["same"])


def test_a_float_border_is_caught():
    spec = operators()["average_pool2d"]
    case = spec.cases[1]
    graph = Subject("average_pool2d", spec, case).graph()
    broken = graph.copy()
    for node in broken.nodes:
        node.attrs = dataclasses.replace(node.attrs, counted=node.attrs.pad)
    inputs = [float_inputs(graph, case)]
    assert differences(NumpyReference().compile(broken), NumpyReference().compile(graph), inputs)
