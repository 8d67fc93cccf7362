"""Exported projects build with their own build files, by every compiler, and give the right results."""

from __future__ import annotations

import shlex
import sys

import numpy as np
import pytest

from burnc.backends.model_inputs import random_inputs
from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.estimate import estimate_size
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.projects import project_files
from burnc.compilers.elf import read_elf
from burnc.compilers.firmware import build_firmware
from burnc.compilers.toolchains import find_cross_compiler
from burnc.devices.model_firmware import build_minimal_firmware, build_serving_firmware
from burnc.errors import InputError
from burnc.pipeline import build_flags
from burnc.sim.simulated_board import open_simulator
from codegen.exported import MODELS, ROOT, driver, graph_of, run_driver, run_tool
from oracles.tflm import TfliteMicro
from requirements import requires, requires_package

PICO = load_board("pico")


def project(folder, model, kind, board=PICO, io="arena"):
    program = lower(graph_of(model), board, LowerOptions(name=f"{model}_net", io=io))
    for name, text in project_files(program, kind, emit_c(program), build_flags(board, "balanced")).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return program


def make(folder, *arguments):
    run_tool("make", "-C", folder, *arguments)
    (elf,) = (folder / "firmware").glob("*.elf")
    return elf


def firmware_answers(elf, model, count=2):
    """What the firmware computes on the emulated board, beside tflite-micro's answers."""
    inputs = random_inputs(graph_of(model), count, seed=5)
    interpreter = TfliteMicro((ROOT / MODELS[model]).read_bytes())
    with open_simulator(PICO, elf) as board:
        client = board.client()
        for arrays in inputs:
            (array,) = arrays.values()
            client.write_input(0, array.tobytes())
            assert client.run().status == 0
            got = np.frombuffer(client.read_output(0), np.int8)
            yield got, interpreter.run(array)[0].reshape(-1)


@pytest.mark.parametrize(
    "compiler",
    [pytest.param("gcc", marks=requires("arm-none-eabi-gcc")), pytest.param("zig", marks=requires("ziglang"))],
)
@requires("node", "rp2040js")
@requires_package("tflite_micro")
def test_bare(tmp_path, compiler, monkeypatch):
    program = project(tmp_path, "hello", "bare")
    arguments = []
    if compiler == "zig":
        for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
            monkeypatch.setenv(name, str(tmp_path / "zig"))
        hint = next(line for line in (tmp_path / "Makefile").read_text().splitlines() if "zig cc" in line)
        words = shlex.split(hint.rpartition("or: make")[2])
        arguments = [word.replace("zig cc", f"{sys.executable} -m ziglang cc") for word in words]
    elf = make(tmp_path, *arguments)
    assert elf.name == f"{program.prefix}.elf"
    for got, expected in firmware_answers(elf, "hello"):
        np.testing.assert_array_equal(got, expected)


@requires("arm-none-eabi-gcc")
def test_makefile_builds_what_burnc_builds(tmp_path, monkeypatch):
    """Same sources, same flags: the sizes that burnc reports are those of the user's own build."""
    monkeypatch.delenv("BURNC_CC_ARM", raising=False)
    assert find_cross_compiler(PICO.cpu.core).kind == "gcc"
    program = project(tmp_path / "project", "hello", "bare")
    ours = build_serving_firmware(program, tmp_path / "ours", profile=False)
    theirs = read_elf(make(tmp_path / "project"))
    assert (theirs.flash_bytes, theirs.ram_bytes) == (ours.flash_bytes, ours.ram_bytes)


@requires("arm compiler", "node", "rp2040js")
def test_self_test_passes_on_the_emulated_board(tmp_path):
    """A main of the user's own, without the harness: the self-test's status comes over the port."""
    program = lower(graph_of("kws"), PICO, LowerOptions(name="kws_net"))
    for name, text in emit_c(program).items():
        (tmp_path / name).write_text(text)
    main = tmp_path / "main.c"
    main.write_text(
        '#include "burnc_port.h"\n#include "kws_net.h"\nstatic kws_net_arena arena;\n'
        "int main(void) {\n    burnc_port_init();\n"
        "    burnc_port_putc((uint8_t)('A' + (int)kws_net_self_test(&arena)));\n"
        "    burnc_port_flush();\n    for (;;) {\n    }\n}\n"
    )
    sources = sorted(tmp_path.glob("*.[cS]"))
    elf = build_firmware(PICO, sources, out_dir=tmp_path / "build", include_dirs=[tmp_path]).elf
    with open_simulator(PICO, elf) as board:
        assert board.read(1, 60.0) == b"A"


@requires("cmake", "gcc", "c++ compiler")
def test_cmake(tmp_path):
    """The library in a C and in a C++ program."""
    host = load_board("host")
    program = project(tmp_path / "model", "hello", "cmake", host)
    text = driver(program)
    (tmp_path / "main.c").write_text(text)
    (tmp_path / "main.cpp").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C CXX)\nadd_subdirectory(model)\n"
        + "".join(
            f"add_executable({n} main.{e})\ntarget_link_libraries({n} PRIVATE {program.prefix})\n"
            for n, e in (("plain", "c"), ("plus", "cpp"))
        )
    )
    run_tool("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run_tool("cmake", "--build", tmp_path / "build")
    inputs = random_inputs(graph_of("hello"), 2)
    first, second = (run_driver(tmp_path / "build" / n, program, inputs) for n in ("plain", "plus"))
    assert [a.tolist() for r in first for a in r.values()] == [a.tolist() for r in second for a in r.values()]


@requires("arm compiler")
@pytest.mark.parametrize("io", ["arena", "caller"])
def test_ram_counts_inputs_and_outputs_wherever_they_lie(tmp_path, io):
    program = lower(graph_of("kws"), PICO, LowerOptions(io=io))
    measured = build_minimal_firmware(program, tmp_path).ram_bytes
    # The input and the output take 502 bytes, more than the estimate may be wrong by.
    assert abs(measured - estimate_size(program).ram) <= 100


def test_bare_needs_the_buffers_in_the_arena(tmp_path):
    with pytest.raises(InputError, match="inside the arena"):
        project(tmp_path, "hello", "bare", io="caller")
