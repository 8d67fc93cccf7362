"""The pointwise kernel for Cortex-M0 and M0+: the C twin on the host, the assembly on emulated chips."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from burnc.backends import device
from burnc.board_support import linker_script
from burnc.boards import Board, load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.rows.exact_scaling import fit_exact_scaling
from burnc.codegen.runtime_files import runtime_files
from burnc.compilers.compile import WARNING_FLAGS
from burnc.compilers.firmware import build_firmware
from burnc.devices.board import BoardBackend
from burnc.errors import SimulationError
from burnc.ir import Graph
from burnc.numerics import multiply_by_quantized_multiplier, quantize_multiplier
from burnc.sim.simulated_board import open_simulator
from burnc_host.c import CExecutable
from codegen.layer_nets import without_rows
from codegen.pointwise_nets import hard_inputs, many_pointwise, pointwise
from requirements import requires

ROW = "conv1x1_s8_m0"
CODE_ROW = "conv1x1_code_s8_m0"
M0 = LowerOptions(name="host_model", core="cortex-m0plus", optimize="speed")
HOST = load_board("host")
GUARD_BYTES = 4096

on_pico = pytest.param("pico", marks=requires("arm compiler", "node", "rp2040js"))
on_microbit = pytest.param("microbit", marks=requires("arm compiler", "host compiler", "qemu-system-arm"))


@pytest.fixture
def in_blocks(monkeypatch):
    without_rows(monkeypatch, CODE_ROW)


@pytest.fixture(params=[ROW, CODE_ROW])
def row(request, monkeypatch):
    """Each form of the weights; the other one is no choice."""
    without_rows(monkeypatch, *{ROW, CODE_ROW} - {request.param})
    return request.param


def rows(graph: Graph, options: LowerOptions = M0) -> list[str]:
    return [step.row for step in lower(graph, HOST, options).steps]


def assert_as_the_reference(graph: Graph, executable) -> None:
    reference = device("numpy").compile(graph)
    for arrays in hard_inputs(graph):
        got, wanted = executable.run(arrays), reference.run(arrays)
        for value in graph.outputs:
            np.testing.assert_array_equal(got[value.name], wanted[value.name])


def test_it_takes_all_but_a_few_layers_on_its_cores_and_none_elsewhere(row):
    graph = many_pointwise()
    assert rows(graph).count(row) > 0.9 * len(graph.nodes)
    one = pointwise((2, 2), 8, 6)
    assert rows(one) == [row]
    assert row not in rows(one, LowerOptions()) + rows(one, LowerOptions(core="cortex-m4"))


def test_instructions_take_the_place_of_weights_where_speed_is_worth_the_flash():
    graph = pointwise((12, 12), 64, 64)
    assert [rows(graph, replace(M0, optimize=o)) for o in ("speed", "balanced", "size")] == [[CODE_ROW], [ROW], [ROW]]


@requires("host compiler")
def test_the_twin(row):
    graph = many_pointwise()
    assert_as_the_reference(graph, CExecutable(graph, lower(graph, HOST, M0)))


@requires("gcc")
def test_the_twin_under_sanitizers(tmp_path):
    """Buffers of exact size: all of the arena is in use, and packing touches nothing behind an odd last pixel."""
    for name, text in emit_c(lower(pointwise((3, 3), 5, 7), HOST, replace(M0, name="net"))).items():
        (tmp_path / name).write_text(text)
    main = '#include "net.h"\n#include <stdlib.h>\nint main(void) {\n'
    main += "    net_arena *arena = malloc(sizeof *arena);\n"
    main += "    const int wrong = net_self_test(arena) != BURNC_STATUS_OK;\n"
    (tmp_path / "main.c").write_text(f"{main}    free(arena);\n    return wrong;\n}}\n")
    flags = ["-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *WARNING_FLAGS]
    command = ["gcc", *flags, *sorted(tmp_path.glob("*.[cS]")), "-o", tmp_path / "net"]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "net"], check=True)


@pytest.mark.parametrize("board", [on_pico, on_microbit])
def test_the_assembly_in_a_model(board, row):
    graph = many_pointwise() if board == "pico" else pointwise((3, 3), 34, 7)
    executable = BoardBackend(board, optimize="speed").compile(graph)
    assert row in [step.row for step in executable.program.steps]
    assert_as_the_reference(graph, executable)
    executable.close()


def guarded(board: Board) -> str:
    """The board's linker script, with the last bytes of its RAM left alone."""
    ram = board.first_memory("ram")
    assert ram is not None
    return linker_script(
        replace(
            board,
            memories=tuple(replace(m, size=m.size - GUARD_BYTES) if m is ram else m for m in board.memories),
        )
    )


@pytest.fixture(scope="module", params=[on_pico, on_microbit])
def assembly_and_twin(request, tmp_path_factory):
    """An emulated board with both, that answers letters with words."""
    board, folder = load_board(request.param), tmp_path_factory.mktemp("dot_pairs")
    ram = board.first_memory("ram")
    assert ram is not None
    for prefix in ("plain", "twin"):
        for name, text in runtime_files(prefix, ["burnc_dot_pairs_s8_m0", "burnc_pack_pairs_s8_m0"], []).items():
            (folder / name).write_text(text)
    script = folder / "guarded.ld"
    script.write_text(guarded(board))
    sources = [Path(__file__).parent / "firmware" / "dot_pairs.c", *sorted(folder.glob("*.[cS]"))]
    defines = ["TWIN_NO_ASSEMBLY=1", f"RAM_END=0x{ram.origin + ram.size:x}u"]
    elf = build_firmware(
        board, sources, out_dir=folder / "out", include_dirs=[folder], defines=defines, flags=WARNING_FLAGS,
        link_script=script,
    ).elf  # fmt: skip
    with open_simulator(board, elf) as simulator:

        def ask(letter: bytes) -> int:
            simulator.write(letter)
            data = b""
            while len(data) < 4:
                data += simulator.read(4 - len(data), 60.0)
            return int.from_bytes(data, "little")

        yield ask


def test_assembly_and_twin_give_the_same_bytes_and_no_others(assembly_and_twin):
    assert assembly_and_twin(b"c") == 0


def test_assembly_and_twin_pack_the_same_words(assembly_and_twin):
    assert assembly_and_twin(b"p") == 0


def test_the_assembly_keeps_the_registers_of_its_caller(assembly_and_twin):
    assert assembly_and_twin(b"r") == 0


def test_the_assembly_reads_nothing_behind_its_operands(assembly_and_twin):
    assert assembly_and_twin(b"e") == 1
    with pytest.raises(SimulationError, match="fault"):
        assembly_and_twin(b"x")


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (pointwise((2, 2), 8, 6, weights="lowest"), "two weights of -128"),
        (pointwise((2, 2), 1, 3, scale=1.5), "a scale above one"),
        (pointwise((2, 2), 64, 64, scale=0.00001), "steps too close to be told apart"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_it_leaves_to_others_what_it_cannot_do_exactly(graph, why, in_blocks):
    assert ROW not in rows(graph), why


@pytest.mark.parametrize("signed", [False, True])
def test_scaling_is_exact_for_every_accumulator(signed):
    """Not only at the steps, which the proof looks at: at all accumulators there are."""
    rng = np.random.default_rng(1)
    for factor in rng.uniform(0.003, 0.4, 12):
        multiplier, shift = quantize_multiplier(float(factor))
        zero_point = int(rng.integers(-100, 100)) if signed else -128
        bound = 3 * int(256 / factor)
        acc = np.arange(-bound, bound + 1)
        found = fit_exact_scaling(
            np.array([multiplier]), np.array([shift]), zero_point, -128, 127,
            np.array([-bound]), np.array([bound]), signed=signed,
        )  # fmt: skip
        assert found is not None
        t = np.clip(acc + found.offset, 0, found.limit)
        product = t * found.multiplier + ((t * found.fraction & 0xFFFFFFFF) >> found.places)
        bits = (product + found.rounding - np.where(t < found.zero, found.step, 0) & 0xFFFFFFFF) >> 24
        wanted = np.clip(multiply_by_quantized_multiplier(acc, multiplier, shift) + zero_point, -128, 127)
        np.testing.assert_array_equal(bits.astype(np.uint8).view(np.int8), wanted)


def test_scaling_that_cannot_be_exact_is_refused():
    multiplier, shift = quantize_multiplier(0.4)
    one = np.array([multiplier]), np.array([shift]), 3, -128, 127, np.array([-1000]), np.array([1000])
    assert fit_exact_scaling(*one, signed=False) is None  # TFLM rounds halves away from zero
    assert fit_exact_scaling(*one, signed=True) is not None


@pytest.mark.parametrize("outputs", [8, 12, 24])
def test_results_may_lie_over_the_input(outputs, row):
    """The overlap that the row declares is the least: a byte less and a run would overwrite what it has not read."""
    graph = pointwise((5, 5), 12, outputs)
    program = lower(graph, HOST, M0)
    x, y = graph.inputs[0].type.size, graph.outputs[0].type.size
    assert program.plan.bytes < x + y
    assert_as_the_reference(graph, CExecutable(graph, program))
    distance = program.offset(program.inputs[0].value) - program.offset(program.outputs[0].value)
    assert distance >= max(0, 2 * (outputs - 12) * 12)


@requires("arm compiler")
def test_projects_carry_the_assembly_under_the_models_name():
    files = emit_c(lower(pointwise((2, 2), 8, 6), load_board("pico"), LowerOptions(name="mine", optimize="speed")))
    assert ".globl  mine_dot_pairs_s8_m0\n" in files["mine_dot_pairs_s8_m0.S"]
    assert "burnc_dot" not in files["mine_dot_pairs_s8_m0.S"].split("*/", 2)[2]
    assert "MINE_NO_ASSEMBLY" in files["mine_dot_pairs_s8_m0.h"]
    code = files["mine_conv2d_code.S"]
    assert "burnc_" not in code
    assert "mine_conv2d_code:\n" in code
    assert "MINE_NO_ASSEMBLY" in code
