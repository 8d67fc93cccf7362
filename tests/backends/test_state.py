"""State: kept between runs and cleared by a reset, in numpy, in generated C, on a GPU and on the emulated Pico."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import burnc
from burnc import pipeline
from burnc.backends import Backend, device
from burnc.backends.protocol import Executable
from burnc.boards import load_board
from burnc.cli.main import cli
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import GraphError, InputError, UnsupportedError
from burnc.exporters.onnx import onnx_bytes
from burnc.ir import Array, Builder, DType, Graph, QuantParams, TensorType, print_graph, verify
from burnc.ops import operators
from burnc.ops.concat import ConcatAttrs
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.slice import SliceAttrs
from burnc.passes import RemoveDeadCode, run_passes
from requirements import requires, requires_package

VECTOR = TensorType(DType.FLOAT32, (3,))


def running_sum() -> Graph:
    """y = total = total + x; the sum may be made in the state's own place."""
    graph = Graph("running_sum")
    b = Builder(graph, operators())
    x = b.input("x", VECTOR)
    total = b.state("total", VECTOR, np.array([1, 2, 4], np.float32))
    total.write = b.node("add", [total.read, x], outputs=["next"])
    graph.outputs = [b.node("mul", [total.write, b.constant("two", np.array(2, np.float32))], outputs=["y"])]
    return graph


def delay_line(taps: int = 3) -> Graph:
    """Each state takes over what the one before it held."""
    graph = Graph("delay_line")
    b = Builder(graph, operators())
    x = b.input("x", VECTOR)
    states = [b.state(f"z{i}", VECTOR) for i in range(taps)]
    for state, newer in zip(states, [x, *(s.read for s in states)], strict=False):
        state.write = newer
    graph.outputs = [b.node("concat", [s.read for s in states], ConcatAttrs(0), outputs=["y"])]
    return graph


def swapping() -> Graph:
    """Two states change places, one of them seen through a reshape, and one is an output as it stands."""
    graph = Graph("swapping")
    b = Builder(graph, operators())
    x = b.input("x", VECTOR)
    left = b.state("left", VECTOR, np.array([1, 2, 3], np.float32))
    right = b.state("right", TensorType(DType.FLOAT32, (1, 3)))
    left.write = b.node("reshape", [right.read], ReshapeAttrs((3,)))
    right.write = b.node("reshape", [left.read], ReshapeAttrs((1, 3)))
    graph.outputs = [b.node("add", [left.read, x], outputs=["y"]), left.read, right.write]
    return graph


def windows() -> Graph:
    """A window moves on; other states hold a part of what it was, and a part of what is made of it."""
    graph = Graph("windows")
    b = Builder(graph, operators())
    x = b.input("x", VECTOR)
    window = b.state("window", TensorType(DType.FLOAT32, (9,)), np.arange(9, dtype=np.float32))
    oldest, middle = (b.state(name, TensorType(DType.FLOAT32, (1, 3))) for name in ("oldest", "middle"))
    graph.outputs = [b.node("mul", [oldest.read, middle.read], outputs=["y"])]
    window.write = b.node("concat", [b.node("slice", [window.read], SliceAttrs((3,), (6,))), x], ConcatAttrs(0))
    doubled = b.node("add", [window.write, window.write])
    for state, value, start in ((oldest, window.read, 0), (middle, doubled, 3)):
        state.write = b.node("reshape", [b.node("slice", [value], SliceAttrs((start,), (3,)))], ReshapeAttrs((1, 3)))
    return graph


GRAPHS = {graph.name: graph for graph in (running_sum(), delay_line(), swapping(), windows())}
INPUTS = [{"x": np.array(x, np.float32)} for x in ([1, 2, 3], [10, 20, 30], [-1, 0, 1], [5, 5, 5])]


def stream(executable: Executable) -> list[dict[str, Array]]:
    return [executable.run(arrays) for arrays in INPUTS]


def same(got: list[dict[str, Array]], wanted: list[dict[str, Array]]) -> bool:
    return all(np.array_equal(a[name], b[name]) for a, b in zip(got, wanted, strict=True) for name in b)


def test_reference_keeps_state_and_resets():
    executable = device("numpy").compile(running_sum())
    first = stream(executable)
    assert [run["y"].tolist() for run in first[:2]] == [[4, 8, 14], [24, 48, 74]]
    assert not same(stream(executable), first)
    executable.reset()
    assert same(stream(executable), first)


def test_delay_line_reads_before_it_writes():
    results = stream(device("numpy").compile(delay_line()))
    assert results[3]["y"].tolist() == [-1, 0, 1, 10, 20, 30, 1, 2, 3]


ON = [
    pytest.param("c", marks=requires("host compiler")),
    pytest.param("c:rendered", marks=requires("host compiler")),
    pytest.param("webgpu", marks=[requires_package("wgpu"), requires("vulkan")]),
    pytest.param("pico", marks=requires("arm compiler", "node", "rp2040js")),
]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("variant", ON)
def test_device_keeps_state_and_resets(name: str, variant: str):
    graph = GRAPHS[name]
    verify(graph)
    wanted = stream(device("numpy").compile(graph))
    executable = device(variant).compile(graph)
    assert same(stream(executable), wanted)
    executable.reset()
    assert same(stream(executable), wanted)


@requires("arm compiler", "node", "rp2040js")
def test_no_run_on_a_board_pays_for_the_reset(tmp_path: Path):
    """Copying takes the same time every run."""
    (tmp_path / "m.onnx").write_bytes(onnx_bytes(delay_line()))
    model = burnc.load(tmp_path / "m.onnx")
    first, third = (model.simulate("pico", inputs=count).cycles for count in (1, 3))
    assert first == third


def test_where_state_lies_in_c():
    """One state is written in place, the delay line is copied; where nothing is kept the C says nothing of state."""
    program = lower(running_sum(), load_board("host"), LowerOptions(name="m"))
    assert [step.node.op for step in program.steps] == ["add", "mul"]
    assert program.held[program.graph.value("next")] == 0
    header = emit_c(program)["m.h"]
    assert "#define M_STATE_BYTES 12u" in header
    assert "void m_reset(m_state *state);" in header
    assert "burnc_status m_run(m_arena *arena, m_state *state);" in header
    copied = lower(delay_line(), load_board("host"), LowerOptions(name="m"))
    # Once nothing reads z2 any more, what it takes over is copied straight into it.
    assert [step.node.name for step in copied.steps] == ["y", "z1.next", "z2.next", "z0.keep", "z1.keep"]
    plain = running_sum()
    plain.outputs, plain.states = [plain.value("next")], []
    plain.inputs.append(plain.value("total"))
    assert "state" not in emit_c(lower(plain, load_board("host"), LowerOptions(name="m")))["m.h"]


def test_self_test_with_state_in_caller_io(tmp_path: Path):
    program = lower(swapping(), load_board("host"), LowerOptions(name="m", io="caller"))
    assert "m_self_test(m_arena *arena, m_state *state, float *x, float *y," in emit_c(program)["m.h"]


def test_printed_form_and_copy():
    graph = running_sum()
    text = print_graph(graph)
    assert "  state  %total: float32[3] = sha256:" in text
    assert text.endswith("  output %y\n  keep   %total <- %next\n")
    copy = graph.copy()
    assert print_graph(copy) == text
    assert copy.states[0].write is copy.value("next")


def test_dead_code_keeps_what_is_written():
    graph = running_sum()
    graph.outputs = [graph.value("x")]
    run_passes(graph, [RemoveDeadCode()])
    assert [node.op for node in graph.nodes] == ["add"]


def test_verifier_checks_states():
    graph = running_sum()
    graph.states[0].initial = np.zeros(4, np.float32)
    with pytest.raises(GraphError, match="begins as"):
        verify(graph)
    graph = running_sum()
    graph.states[0].write = Builder(graph, operators()).constant("other", np.zeros(3, np.int8))
    with pytest.raises(GraphError, match="is written to it"):
        verify(graph)


def test_a_backend_without_state_says_so(monkeypatch: pytest.MonkeyPatch):
    backend: Backend = device("numpy")
    monkeypatch.setattr(type(backend), "keeps_state", False)
    with pytest.raises(UnsupportedError, match="keeps nothing between runs"):
        backend.compile(running_sum())


@pytest.mark.parametrize("name", GRAPHS)
def test_onnx_and_back(name: str, tmp_path: Path):
    graph = GRAPHS[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_bytes(graph))
    onnx.checker.check_model(str(path))
    again = pipeline.load(path, dims={}).graph
    assert print_graph(again) == print_graph(graph)
    assert onnx_bytes(again) == onnx_bytes(graph)


def test_int8_state_goes_to_qdq_and_back(tmp_path: Path):
    graph, quant = Graph("int8_sum"), QuantParams.per_tensor(0.5, -3)
    type_ = TensorType(DType.INT8, (3,), quant)
    b = Builder(graph, operators())
    x = b.input("x", type_)
    total = b.state("total", type_)
    total.write = b.node("add", [total.read, x], name="plus", outputs=["next"], quant=quant)
    graph.outputs = [b.node("clip", [total.write], name="clip", outputs=["y"], quant=quant)]
    assert total.initial.tolist() == [-3, -3, -3]
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_bytes(graph))
    assert print_graph(pipeline.load(path, dims={}).graph) == print_graph(graph)


def test_any_onnx_input_and_output_can_be_state(tmp_path: Path):
    """What PyTorch exports has its hidden state as inputs and outputs."""
    graph = running_sum()
    plain = running_sum()
    plain.outputs.append(plain.states.pop().write)
    plain.inputs.append(plain.value("total"))
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_bytes(plain))
    loaded = burnc.load(path, states={"total": "next"}).graph
    graph.states[0].initial = np.zeros(3, np.float32)
    assert same(stream(device("numpy").compile(loaded)), stream(device("numpy").compile(graph)))
    with pytest.raises(InputError, match="there is no output 'nxt'"):
        burnc.load(path, states={"total": "nxt"})


@requires("host compiler")
def test_state_on_the_command_line(tmp_path: Path):
    graph = running_sum()
    graph.outputs.append(graph.states.pop().write)
    graph.inputs.append(graph.value("total"))
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_bytes(graph))
    arguments = ["validate", str(path), "--state", "total=next", "--on", "c", "--count", "3", "--json"]
    answer = CliRunner().invoke(cli, arguments)
    assert answer.exit_code == 0, answer.output
    assert [target["verdict"] for target in json.loads(answer.stdout)["targets"]] == ["bit-exact"]
    refused = CliRunner().invoke(cli, ["validate", str(path), "--state", "total"])
    assert refused.exit_code == 2
    assert "INPUT=OUTPUT" in refused.output


@pytest.mark.parametrize(("flags", "correct"), [((), 1), (("--independent",), 3)])
def test_samples_are_a_stream_or_independent(flags: tuple[str, ...], correct: int, tmp_path: Path):
    """What the first sample leaves in the state outweighs all that follow."""
    graph = running_sum()
    graph.states[0].initial = np.zeros(3, np.float32)
    (tmp_path / "m.onnx").write_bytes(onnx_bytes(graph))
    samples = np.array([[9, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    np.savez(tmp_path / "d.npz", x=samples, labels=np.arange(3))
    arguments = ["evaluate", str(tmp_path / "m.onnx"), "--data", str(tmp_path / "d.npz"), "--json", *flags]
    answer = CliRunner().invoke(cli, arguments)
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["correct"] == correct
    assert ("taken as one stream" in answer.stderr) is (not flags)
