"""A kernel that is broken on purpose is found: the first differing layer by node and index, on every device."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from burnc.backends import Backend, Support, device
from burnc.backends.numpy_reference import NumpyExecutable, NumpyReference
from burnc.codegen.emit_c import emit_c
from burnc.codegen.launches import Launches
from burnc.codegen.program import Program
from burnc.devices.compare import compare_device, first_difference
from burnc.ir import Array, Builder, DType, Graph, Node, QuantParams, TensorType, Value, verify
from burnc.kernel.stages import Stage
from burnc.ops import OpSpec, operators
from burnc.ops.reshape import ReshapeAttrs
from requirements import requires, requires_package

QUANT = QuantParams.per_tensor(0.5)
TYPE = TensorType(DType.INT8, (1, 4), QUANT)
BROKEN, PLACE = "middle", (0, 2)


def chain() -> Graph:
    """Three layers; the middle one will be broken."""
    graph = Graph("chain")
    b = Builder(graph, operators())
    x = b.input("x", TYPE)
    w = b.constant("w", np.array([[3, 1, 0, -2], [0, 5, 1, 1], [1, 1, 1, 1], [2, 0, -4, 1]], np.int8), QUANT)
    first = b.node("fully_connected", [x, w], name="first", quant=QuantParams.per_tensor(1.0))
    middle = b.node("add", [first, x], name=BROKEN, quant=QUANT)
    turned = b.node("reshape", [middle], ReshapeAttrs((4,)), name="turned", quant=QUANT)
    graph.outputs = [b.node("add", [turned, turned], name="last", quant=QuantParams.per_tensor(1.0))]
    return graph


def stateful() -> Graph:
    """A running sum; what is broken shows once the sum is large enough, after some runs."""
    graph = Graph("stateful")
    b = Builder(graph, operators())
    x = b.input("x", TYPE)
    total = b.state("total", TYPE)
    total.write = b.node("add", [total.read, x], name=BROKEN, quant=QUANT)
    graph.outputs = [b.node("add", [total.write, x], name="last", quant=QUANT)]
    return graph


GRAPHS = {graph.name: graph for graph in (chain(), stateful())}
RUNS = [{"x": np.array([row], np.int8)} for row in ([9, 8, 7, 6], [10, 10, 10, 10], [5, 5, 40, 5], [-1, 2, -3, 4])]
LARGE = 50


def broken_c(program: Program) -> dict[str, str]:
    """The generated C, in which a layer makes large numbers at one place one too small."""
    files = emit_c(program)
    (value,) = next(node for node in program.graph.nodes if node.name == BROKEN).outputs
    block, offset = ("state", program.held[value]) if value in program.held else ("arena", program.offset(value))
    element = f"{block}->memory.s8[{offset + int(np.ravel_multi_index(PLACE, value.type.shape))}]"
    fault = f"    if ({element} > {LARGE}) {{\n        {element} -= 1;\n    }}\n"
    name = f"{program.prefix}.c"
    files[name], count = re.subn(
        rf"(/\* \d+: add {BROKEN}, .*\n(?:.*[^;]\n)*.*;\n)", lambda m: m[1] + fault, files[name]
    )
    assert count == 1
    return files


class BrokenNumpy(Backend):
    """The reference with the same fault."""

    name = "broken"
    keeps_state = True

    def supports(self, node: Node) -> Support:
        return NumpyReference().supports(node)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> NumpyExecutable:
        copy = graph.copy()
        for node in copy.nodes:
            if node.name == BROKEN:
                assert isinstance(node.operator, OpSpec)
                node.operator = dataclasses.replace(node.operator, integer=faulty(node.operator))
        return NumpyReference().compile(copy, [copy.value(v.name) for v in keep])


def faulty(spec: OpSpec) -> Callable[..., Array]:
    def integer(node: Node, *operands: Array) -> Array:
        assert spec.integer is not None
        result: Array = spec.integer(node, *operands).copy()
        result[PLACE] -= result[PLACE] > LARGE
        return result

    return integer


def check_verdict(graph: Graph, broken: Backend) -> None:
    verify(graph)
    verdict = compare_device(graph, device("numpy"), broken, RUNS)
    assert verdict.verdict == "differs"
    first = verdict.first_difference
    assert first is not None
    assert (first.node, first.op, tuple(first.index)) == (BROKEN, "add", PLACE)
    assert first.got == first.expected - 1


@pytest.mark.parametrize("name", GRAPHS)
def test_in_numpy(name: str):
    check_verdict(GRAPHS[name], BrokenNumpy())


@requires("host compiler")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("variant", ["c", "c:rendered"])
def test_in_c(name: str, variant: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burnc_host.c.emit_c", broken_c)
    check_verdict(GRAPHS[name], device(variant))


@requires("arm compiler", "node", "rp2040js")
@pytest.mark.parametrize("name", GRAPHS)
def test_on_the_emulated_pico(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burnc.devices.model_firmware.emit_c", broken_c)
    check_verdict(GRAPHS[name], device("pico"))


def break_wgsl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same fault in the shader of that layer alone; other layers may have equal kernels."""
    from burnc_host import webgpu

    plan_launches, render = webgpu.plan_launches, webgpu.render
    broken: list[object] = []

    def planned(graph: Graph) -> Launches:
        plan = plan_launches(graph)
        broken.extend(launch.stage for launch in plan.order if launch.node.name == BROKEN)
        return plan

    def rendered(stage: Stage) -> str:
        text = render(stage)
        if not any(stage is each for each in broken):
            return text
        place = int(np.ravel_multi_index(PLACE, TYPE.shape))
        fault = f"    if (i_ == {place} && y_[i_] > {LARGE}) {{ y_[i_] -= 1; }}\n"
        text, count = re.subn(r"(    y_\[i_\] = .*;\n)", lambda m: m[1] + fault, text)
        assert count == 1
        return text

    monkeypatch.setattr(webgpu, "plan_launches", planned)
    monkeypatch.setattr(webgpu, "render", rendered)


@requires_package("wgpu")
@requires("vulkan")
@pytest.mark.parametrize("name", GRAPHS)
def test_in_webgpu(name: str, monkeypatch: pytest.MonkeyPatch):
    break_wgsl(monkeypatch)
    check_verdict(GRAPHS[name], device("webgpu"))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_sound_device_has_no_difference(name: str):
    graph = GRAPHS[name]
    assert compare_device(graph, device("numpy"), NumpyReference(), RUNS).verdict == "bit-exact"
    assert first_difference(graph, device("numpy"), NumpyReference(), RUNS) is None
