"""Convolutions, fully connected layers and sums for Cortex-M0 and M0+: twins here, assembly on an emulated chip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from burnc.backends import device
from burnc.boards import load_board
from burnc.codegen import arena
from burnc.codegen import lower as lowering
from burnc.codegen.arena import scratch_request
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rows.linear_sums_s8 import fit_linear_form
from burnc.devices.board import BoardBackend, BoardExecutable
from burnc.errors import SimulationError
from burnc.ir import Graph
from burnc.memory import ArenaPlan, Request
from burnc_host.c import CExecutable
from codegen.layer_nets import RELU, Layers, hard_inputs, without_rows
from requirements import requires

HOST = load_board("host")
GAP = 64
M0 = LowerOptions(name="host_model", core="cortex-m0plus", optimize="speed")


def convolutions() -> Graph:
    """First layers, narrow and wide ones, all paddings, strides, a dilation, batches, odd numbers of everything."""
    net = Layers()
    net.conv((1, 6, 5, 3), 8, (3, 3), pad=(1, 1, 1, 1), zero_points=(-128, -128), activation=RELU)
    net.conv((1, 11, 6, 1), 7, (10, 4), stride=(2, 2), pad=(4, 1, 5, 1), zero_points=(83, -128), activation=RELU)
    net.conv((2, 5, 5, 4), 5, (3, 3), pad=(0, 1, 1, 0), kind="signs")
    net.conv((1, 4, 7, 16), 16, (3, 3), pad=(1, 1, 1, 1), stride=(2, 2), zero_points=(127, 127))
    net.conv((1, 5, 5, 6), 4, (1, 1), stride=(2, 2), kind="sparse")
    net.conv((1, 7, 7, 5), 3, (2, 3), dilation=(1, 2), pad=(1, 2, 0, 2), zero_points=(-128, 40))
    net.conv((1, 3, 3, 8), 1, (3, 3), kind="small")
    net.conv((1, 3, 3, 8), 2, (3, 3), pad=(1, 1, 1, 1), kind="signs", activation=RELU, zero_points=(5, -128))
    net.conv((1, 4, 4, 8), 16, (3, 3), kind="sparse", activation=RELU, zero_points=(5, -128))
    return net.finished()


def depthwise() -> Graph:
    net = Layers()
    relu = {"zero_points": (-128, -128), "activation": RELU, "depthwise": True}
    net.conv((1, 6, 5, 8), 8, (3, 3), pad=(1, 1, 1, 1), **relu)
    net.conv((1, 7, 8, 3), 3, (3, 3), pad=(0, 0, 1, 1), stride=(2, 2), kind="signs", **relu)
    net.conv((2, 4, 4, 5), 5, (3, 3), pad=(1, 1, 1, 1), stride=(2, 2), kind="sparse", **relu)
    net.conv((1, 5, 4, 2), 2, (3, 3), kind="lowest", **relu)
    net.conv((1, 9, 2, 6), 6, (3, 3), pad=(2, 1, 0, 1), **{**relu, "zero_points": (17, -128)})
    net.conv((1, 3, 3, 300), 300, (3, 3), pad=(1, 1, 1, 1), kind="small", **relu)
    return net.finished()


def depthwise_pairs() -> Graph:
    """Rows and columns as runs, of even and odd length, with and without padding; blocks of three taps and of two."""
    net = Layers()
    relu = {"zero_points": (-128, -128), "activation": RELU, "depthwise": True}
    net.conv((1, 9, 4, 8), 8, (3, 3), pad=(1, 1, 1, 1), **relu)
    net.conv((2, 4, 7, 9), 9, (3, 3), pad=(1, 1, 1, 1), kind="signs", **{**relu, "zero_points": (17, -128)})
    net.conv((1, 6, 5, 12), 12, (3, 3), kind="small", **relu)
    net.conv((2, 5, 5, 8), 8, (3, 3), pad=(0, 1, 1, 0), kind="sparse", **relu)
    net.conv((1, 3, 2, 8), 8, (3, 3), pad=(1, 0, 1, 1), **relu)
    net.conv((1, 3, 4, 10), 10, (3, 3), pad=(1, 0, 0, 0), kind="small", **relu)
    net.conv((1, 1, 3, 40), 40, (3, 3), pad=(1, 1, 1, 1), **relu)
    return net.finished()


def fully_connected() -> Graph:
    net = Layers()
    net.fully_connected(1, 64, 8, kind="small", activation=RELU, zero_points=(-128, -128))
    net.fully_connected(1, 128, 8)
    net.fully_connected(3, 8, 7, kind="signs")
    net.fully_connected(2, 37, 6, kind="sparse", zero_points=(127, -128))
    net.fully_connected(1, 40, 4, kind="lowest")
    net.fully_connected(1, 96, 5, kind="small")
    return net.finished()


def sums() -> Graph:
    net = Layers()
    net.pair("add", (1, 3, 3, 3), (0.04, 0.1, 0.05), (-128, 4, -128))
    net.pair("add", (1, 10), (0.0213, 0.0317, 0.0443), (3, -7, 11))
    net.pair("sub", (7,), (0.02, 0.013, 0.011), (127, -128, 0))
    return net.finished()


NETS = {
    "conv2d_s8_m0": convolutions,
    "conv2d_code_s8_m0": convolutions,
    "depthwise3x3_s8_m0": depthwise,
    "depthwise3x3_pairs_s8_m0": depthwise_pairs,
    "fully_connected_s8_m0": fully_connected,
    "fully_connected_wide_s8_m0": fully_connected,
    "add_linear_s8": sums,
}
OTHER_FORM = {"conv2d_s8_m0": "conv2d_code_s8_m0", "conv2d_code_s8_m0": "conv2d_s8_m0"}
OTHER_FORM |= {
    "depthwise3x3_s8_m0": "depthwise3x3_pairs_s8_m0",
    "fully_connected_s8_m0": "fully_connected_wide_s8_m0",
    "fully_connected_wide_s8_m0": "fully_connected_s8_m0",
}
each = pytest.mark.parametrize("row", NETS)


@pytest.fixture
def net(row, monkeypatch):
    """The layers of a row, which no other row of its core competes for."""
    without_rows(monkeypatch, OTHER_FORM.get(row, ""))
    return NETS[row]()


def assert_as_the_reference(graph: Graph, executable) -> None:
    reference = device("numpy").compile(graph)
    for arrays in hard_inputs(graph):
        got, wanted = executable.run(arrays), reference.run(arrays)
        for value in graph.outputs:
            np.testing.assert_array_equal(got[value.name], wanted[value.name], err_msg=value.name)


@each
def test_rows_take_their_layers(row, net):
    chosen = [step.row for step in lower(net, HOST, M0).steps]
    assert chosen.count(row) >= 2


@each
@requires("host compiler")
def test_the_twin(net):
    assert_as_the_reference(net, CExecutable(net, lower(net, HOST, M0)))


@each
@requires("arm compiler", "node", "rp2040js")
def test_the_assembly(net):
    executable = BoardBackend("pico", optimize="speed").compile(net)
    assert_as_the_reference(net, executable)
    executable.close()


def apart(requests: Sequence[Request], overlaps: object) -> ArenaPlan:
    """Nothing shares a byte, and a gap follows whatever it is that is placed."""
    del overlaps
    offsets, end = {}, 0
    for request in requests:
        offsets[request.name] = end
        end += -(-request.bytes // 8) * 8 + GAP
    return ArenaPlan(offsets, end, end)


def guards_of(executable: BoardExecutable) -> list[tuple[int, int]]:
    """The addresses of the gaps."""
    plan = executable.program.plan
    with executable.firmware.elf.open("rb") as file:
        (symbol,) = ELFFile(file).get_section_by_name(".symtab").get_symbol_by_name("arena")
    begin = symbol["st_value"]
    sizes = {executable.program.storage[v]: v.type.nbytes for v in executable.program.storage}
    sizes |= {scratch_request(i): step.scratch_bytes for i, step in enumerate(executable.program.steps)}
    ends = [*sorted(plan.offsets.values())[1:], plan.bytes]
    places = sorted((at, at + sizes[name]) for name, at in plan.offsets.items())
    return [(begin + last, begin + following) for (_, last), following in zip(places, ends, strict=True)]


@each
@requires("arm compiler", "node", "rp2040js")
def test_the_assembly_stays_within_its_buffers(net, monkeypatch):
    monkeypatch.setattr(arena, "plan_arena", apart)
    monkeypatch.setattr(lowering, "widest_gap", lambda *_, **__: (0, 0))
    executable = BoardBackend("pico", optimize="speed").compile(net)
    executable.guards = guards_of(executable)
    assert len(executable.guards) > 3
    assert_as_the_reference(net, executable)
    executable.close()


@requires("arm compiler", "node", "rp2040js")
def test_a_guard_is_seen(monkeypatch):
    monkeypatch.setattr(arena, "plan_arena", apart)
    executable = BoardBackend("pico", optimize="speed").compile(sums())
    executable.guards = [(first - 1, end) for first, end in guards_of(executable)]
    with pytest.raises(SimulationError, match="guarded-memory"):
        executable.run(next(iter(hard_inputs(executable.graph))))


def test_a_linear_form_is_found_only_where_it_is_exact():
    values, factors = np.arange(-128.0, 128.0), (0.7731, 2.0452)
    parts = [values[:, None] * factors[0], values * factors[1]]
    once = np.clip(np.floor(parts[0] + parts[1] + 0.5), -128, 127)
    twice = np.clip(np.floor(parts[0] + 0.5) + np.floor(parts[1] + 0.5), -128, 127)
    found = fit_linear_form(once.astype(np.int64), *factors, -128, 127)
    assert found is not None
    sums = np.arange(-128, 128)[:, None] * found.left + np.arange(-128, 128) * found.right + found.constant
    np.testing.assert_array_equal(np.clip(sums >> found.shift, -128, 127), once)
    assert fit_linear_form(twice.astype(np.int64), *factors, -128, 127) is None


@requires("host compiler")
def test_an_input_may_die_under_a_convolution():
    """In place, but for the rows that later windows need."""
    graph = Layers().conv((1, 12, 12, 8), 8, (3, 3), pad=(1, 1, 1, 1)).finished()
    assert 0 < lead_of_the_input(graph) <= 8 * (12 + 2)
    assert_as_the_reference(graph, device("c:cortex-m0plus").compile(graph))


@requires("host compiler")
@pytest.mark.parametrize("pad", [(1, 1, 1, 1), (0, 0, 0, 0)])
def test_an_input_may_die_under_a_depthwise_layer(pad):
    relu = {"zero_points": (-128, -128), "activation": RELU, "depthwise": True}
    graph = Layers().conv((1, 7, 8, 8), 8, (3, 3), pad=pad, **relu).finished()
    assert lead_of_the_input(graph) == 0
    assert_as_the_reference(graph, device("c:cortex-m0plus").compile(graph))


def lead_of_the_input(graph: Graph) -> int:
    program = lower(graph, HOST, M0)
    return program.offset(program.inputs[0].value) - program.offset(program.outputs[0].value)
