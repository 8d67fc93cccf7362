"""Runs that two cores share: the same bits with a helper, without one, and with one that comes and goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from burnc.backends import device
from burnc.backends.model_inputs import random_inputs
from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.placement import ASSEMBLY_BYTES
from burnc.codegen.program import Slice
from burnc.compilers.cores import core_flags
from burnc.devices.board import BoardBackend
from burnc.errors import BoardError
from burnc.ir import Graph
from codegen.exported import ROOT, STRICT, Exported, graph_of, run_driver, run_tool, write
from codegen.layer_nets import RELU, Layers, hard_inputs
from requirements import requires

PICO = load_board("pico")
THUMB = core_flags("cortex-m0plus").gcc_flags

# The helper is a thread. It is always there, or comes late and stays away now and then, or there is none.
_DRIVER = """\
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "{prefix}.h"

static {prefix}_arena arena;
static int comes_and_goes;

static void *help(void *unused) {{
    unsigned random = 1u;
    (void)unused;
    for (;;) {{
        random = random * 1664525u + 1013904223u;
        if (comes_and_goes && (random >> 29) != 0u) {{
            usleep((random >> 20) & 511u);
        }}
        {prefix}_help(&arena);
    }}
    return NULL;
}}

int main(int count, char **arguments) {{
    pthread_t thread;
    {buffers}
    comes_and_goes = count > 1 && strcmp(arguments[1], "sometimes") == 0;
    if ((count == 1 || comes_and_goes) && pthread_create(&thread, NULL, help, NULL) != 0) {{
        return 2;
    }}
    while ({fill}) {{
        if ({prefix}_run(&arena{arguments}) != BURNC_STATUS_OK) {{
            return 4;
        }}
        {results}
    }}
    return {prefix}_help(NULL) == BURNC_STATUS_INVALID_ARGUMENT ? 0 : 5;
}}
"""


def build(model: Exported, name: str, flags: Sequence[str]) -> Path:
    program, prefix = model.program, model.prefix
    ports = [*program.inputs, *program.outputs] if program.io == "caller" else []
    pointers = {p: p.symbol if ports else f"{prefix}_{p.symbol}(&arena)" for p in (*program.inputs, *program.outputs)}
    text = _DRIVER.format(
        prefix=prefix,
        buffers=" ".join(f"static signed char {p.symbol}[{p.value.type.nbytes}];" for p in ports),
        fill=" && ".join(f"fread({pointers[p]}, {p.value.type.nbytes}, 1, stdin) == 1" for p in program.inputs),
        arguments="".join(f", {p.symbol}" for p in ports),
        results=" ".join(f"fwrite({pointers[p]}, {p.value.type.nbytes}, 1, stdout);" for p in program.outputs),
    )
    main = model.folder / "two_cores.c"
    main.write_text(text)
    made = model.folder / name
    yields = ["-include", "sched.h", f"-D{prefix.upper()}_CORES_WAIT()=(void)sched_yield()"]
    run_tool("gcc", "-std=gnu99", "-pthread", *yields, *flags, *model.sources, main, f"-I{model.folder}", "-o", made)
    return made


def layers() -> Graph:
    """What can be divided, in all shapes: windows, strides, paddings, odd numbers, pixels, channels, elements."""
    net = Layers()
    net.conv((1, 9, 8, 4), 8, (3, 3), pad=(1, 1, 1, 1), zero_points=(-128, -128), activation=RELU)
    net.conv((1, 12, 8, 3), 6, (5, 3), pad=(2, 1, 2, 1), stride=(2, 2), kind="sparse")
    net.conv((1, 13, 4, 4), 4, (3, 2), dilation=(2, 1), stride=(3, 1), pad=(1, 0, 0, 1), zero_points=(127, 9))
    net.conv((1, 5, 7, 12), 16, (1, 1), kind="signs")
    net.conv((1, 10, 6, 8), 8, (3, 3), pad=(1, 1, 1, 1), depthwise=True, zero_points=(-128, -128), activation=RELU)
    net.conv((1, 9, 8, 8), 8, (3, 3), pad=(0, 0, 1, 1), stride=(2, 2), depthwise=True)
    net.conv((1, 3, 3, 8), 20, (3, 3))
    net.fully_connected(1, 96, 40, kind="small")
    net.fully_connected(1, 50, 10)
    net.conv((3, 5, 5, 4), 8, (3, 3), pad=(1, 1, 1, 1))
    net.fully_connected(3, 50, 12)
    net.pair("add", (1, 7, 7, 9), (0.04, 0.1, 0.05), (-128, 4, -128))
    net.pair("mul", (1, 600), (0.0213, 0.0317, 0.0443), (3, -7, 11))
    return net.finished()


def shared(graph: Graph, name: str, folder: Path, **options: str) -> Exported:
    return write(lower(graph, PICO, LowerOptions(name, cores=2, **options)), folder / name)


def assert_equal_in_all_company(graph: Graph, model: Exported, program: Path, inputs, company) -> None:
    reference = device("numpy").compile(graph)
    expected = [reference.run(arrays) for arrays in inputs]
    for words in company:
        call = model.folder / f"run{'_'.join(words)}"
        call.write_text(f'#!/bin/sh\nexec "{program}" {" ".join(words)}\n')
        call.chmod(0o755)
        for got, wanted in zip(run_driver(call, model.program, inputs), expected, strict=True):
            for value in graph.outputs:
                np.testing.assert_array_equal(got[value.name], wanted[value.name], err_msg=f"{words} {value.name}")


ALWAYS, SOMETIMES, NEVER = [], ["sometimes"], ["alone"]


@requires("gcc")
def test_parts_of_layers_do_not_meet(tmp_path):
    """The thread sanitizer sees any byte that one part writes and the other touches."""
    graph = layers()
    model = shared(graph, "net", tmp_path)
    assert sum(step.second is not None for step in model.program.steps) == len(graph.nodes)
    program = build(model, "threads", ["-O1", "-g", "-fsanitize=thread"])
    inputs = list(hard_inputs(graph))
    assert_equal_in_all_company(graph, model, program, inputs, [ALWAYS, SOMETIMES])
    program = build(model, "bounds", ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
    assert_equal_in_all_company(graph, model, program, inputs, [ALWAYS, NEVER])


@requires("gcc")
@pytest.mark.parametrize(("name", "io"), [("ad", "caller"), ("kws", "arena")])
def test_networks_with_a_helper_that_comes_and_goes(tmp_path, name, io):
    graph = graph_of(name)
    model = shared(graph, f"{name}_net", tmp_path, io=io)
    program = build(model, "threads", ["-O1", "-g", "-fsanitize=thread"])
    inputs = random_inputs(graph, 3)
    assert_equal_in_all_company(graph, model, program, inputs, [SOMETIMES, ALWAYS])
    # As for a core without atomic loads.
    plain = build(model, "plain", ["-O2", f"-D{model.prefix.upper()}_CORES_BARRIER()=__sync_synchronize()"])
    assert_equal_in_all_company(graph, model, plain, 3 * inputs, [SOMETIMES, ALWAYS, NEVER])


def test_parts_make_the_whole():
    """The slices of each output lie side by side, without a gap; constants are stored once."""
    for name in ("ad", "kws"):
        one, two = (lower(graph_of(name), PICO, LowerOptions("m", cores=n)) for n in (1, 2))
        assert two.weights_bytes <= one.weights_bytes + 64
        assert sum(c.bytes for c in two.codes) == sum(c.bytes for c in one.codes)
        divided = [step for step in two.steps if step.second]
        assert sum(step.cycles for step in two.steps) <= 0.55 * sum(step.cycles for step in one.steps)
        for step in divided:
            first, second = ([a for a in c.arguments if isinstance(a, Slice)][-1] for c in step.calls)
            assert first.offset == 0
            assert first.value is second.value is step.node.output
            assert 0 < second.offset < step.node.output.type.nbytes


@requires("gcc", "c++ compiler")
@pytest.mark.parametrize(("name", "io"), [("ad", "caller"), ("hello", "arena"), ("mnist8", "caller"), ("kws", "arena")])
def test_no_warnings(tmp_path, name, io):
    """Where all layers are divided, some, or none."""
    model = shared(graph_of(name), f"{name}_net", tmp_path, io=io)
    run_tool("gcc", "-std=c99", *STRICT, "-fsyntax-only", *model.sources)
    run_tool("g++", "-std=c++11", "-x", "c++", *STRICT, "-fsyntax-only", *model.sources)


def test_kernels_of_two_cores_lie_in_ram():
    """Where both would fetch them through the flash's one cache; unless there is no RAM for that."""
    for cores, budget, section in ((2, None, ".time_critical."), (2, 0, ".text."), (1, None, ".text.")):
        program = lower(graph_of("kws"), PICO, LowerOptions("m", cores=cores, ram_budget=budget))
        assert f".section {section}m_dot_pairs_s8_m0," in emit_c(program)["m_dot_pairs_s8_m0.S"]


@requires("arm-none-eabi-gcc")
def test_sizes_of_functions_in_assembly(tmp_path):
    """As reports say that they take RAM; those without a size are for other cores."""
    for source in sorted((ROOT / "runtime_c/src").glob("*.S")):
        made = tmp_path / f"{source.stem}.o"
        run_tool("arm-none-eabi-gcc", *THUMB, "-c", source, f"-I{ROOT}/runtime_c/include", "-o", made)
        size = int(run_tool("arm-none-eabi-size", made).split()[6])
        assert size == ASSEMBLY_BYTES.get(source.stem, 0), source.name


@requires("arm compiler", "node", "rp2040js")
def test_on_the_emulated_board():
    graph = layers()
    executable = BoardBackend("pico", cores=2).compile(graph)
    reference = device("numpy").compile(graph)
    for arrays in hard_inputs(graph):
        got, wanted = executable.run(arrays), reference.run(arrays)
        for value in graph.outputs:
            np.testing.assert_array_equal(got[value.name], wanted[value.name], err_msg=value.name)
    executable.close()


def test_cores_that_a_board_has_not():
    with pytest.raises(BoardError, match="has one core, not 2"):
        lower(graph_of("hello"), replace(PICO, cpu=replace(PICO.cpu, count=1)), LowerOptions(cores=2))
