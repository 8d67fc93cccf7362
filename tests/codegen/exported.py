"""Models, their generated C in a folder, and C drivers around it that watch the memory beside every buffer."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Port, Program
from burnc.compilers.compile import WARNING_FLAGS
from burnc.importers import import_model
from burnc.ir import Array, Graph
from burnc.kernel.c99 import C_TYPES
from burnc.passes import canonical_passes, run_passes

ROOT = Path(__file__).resolve().parents[2]

MODELS = {
    "hello": "tests/models/tflm_hello_world_int8.tflite",
    "kws": "examples/kws_pico/mlperf_kws_dscnn_int8.tflite",
    "ad": "tests/models/mlperf_ad_int8.tflite",
    "resnet": "tests/models/mlperf_ic_resnet8_int8.tflite",
    "vww": "tests/models/mlperf_vww_mbv1_int8.tflite",
    "mnist8": "examples/mnist_pico/mnist8.onnx",
    "magicwand": "tests/models/nanguoyu_magicwand.onnx",
    "atmega": "tests/models/onnx2c_atmega_mnist.onnx",
    "emx_kws": "tests/models/emx_micro_kws_m_static_fp32.onnx",
}
INT8 = ("hello", "kws", "ad", "resnet", "vww")

# The compilers' own view of the contract; -Wstack-usage and -Wvla: large temporaries belong into the arena.
STRICT = (*WARNING_FLAGS, "-pedantic-errors", "-Wvla")


@cache
def graph_of(model: str) -> Graph:
    graph = import_model(ROOT / MODELS[model])
    run_passes(graph, canonical_passes())
    return graph


@cache
def program_of(model: str, io: str = "arena", *, rendered: bool = False) -> Program:
    options = LowerOptions(name=f"{model}_net", io=io, rendered_only=rendered)
    return lower(graph_of(model), load_board("host"), options)


@dataclass(frozen=True)
class Exported:
    """Generated C in a folder."""

    program: Program
    folder: Path

    @property
    def prefix(self) -> str:
        return self.program.prefix

    @property
    def sources(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self.prefix}*.c"))


def write(program: Program, folder: Path) -> Exported:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in emit_c(program).items():
        (folder / name).write_text(text, encoding="utf-8")
    return Exported(program, folder)


def run_tool(*command: str | Path, stdin: bytes = b"") -> bytes:
    """The standard output of a command; a failure shows what it said."""
    result = subprocess.run([str(c) for c in command], input=stdin, capture_output=True, check=False)
    said = (result.stderr + result.stdout[:4000]).decode(errors="replace")
    assert result.returncode == 0, f"{' '.join(map(str, command))}\nexit status {result.returncode}\n{said}"
    return result.stdout


GUARD = 64

_DRIVER = """\
#include <stdio.h>
#include <string.h>
#include "{prefix}.h"

enum {{ GUARD = {guard}, MARK = 0xa5 }};

{buffers}

static int guards_hold(const unsigned char *guard) {{
    int i;
    for (i = 0; i < GUARD; ++i) {{
        if (guard[i] != MARK) {{
            return 0;
        }}
    }}
    return 1;
}}

int main(void) {{
{start}
    if ({prefix}_self_test({test_arguments}) != BURNC_STATUS_OK) {{
        return 3;
    }}
    {reset}
    while ({fill}) {{
        {copies}
        if ({prefix}_run({arguments}) != BURNC_STATUS_OK) {{
            return 4;
        }}
        {unchanged}
        {results}
        if (!({guards})) {{
            return 6;
        }}
    }}
    return {prefix}_run({nulls}) == BURNC_STATUS_INVALID_ARGUMENT ? 0 : 7;
}}
"""


def driver(program: Program) -> str:
    """A main: raw inputs from stdin, raw outputs to stdout, as many runs as there are inputs; state is reset before.

    It exits with another status than 0 where the self-test fails, a byte beside a buffer is written, a handle lies
    outside the arena or an input of the caller's own is changed.
    """
    prefix, arena = program.prefix, program.io == "arena"
    ports = [*program.inputs, *program.outputs]
    memory = ["arena", *(["state"] if program.states else [])]
    names = memory + ([] if arena else [p.symbol for p in ports])
    types = {name: f"{prefix}_{name}" for name in memory} | {
        p.symbol: f"{C_TYPES[p.value.type.dtype]} {{}}[{p.value.type.size}]" for p in ports
    }
    buffers, start = [], []
    for name in names:
        declared = types[name].format("buffer") if "{}" in types[name] else f"{types[name]} buffer"
        buffers.append(
            f"static struct {{ unsigned char before[GUARD]; {declared}; unsigned char after[GUARD]; }} guarded_{name};"
        )
        start.append(f"    memset(&guarded_{name}, MARK, sizeof guarded_{name});")
    if not arena:
        buffers += [f"static unsigned char copy_of_{p.symbol}[{p.value.type.nbytes}];" for p in program.inputs]

    def pointer(port: Port) -> str:
        return f"{prefix}_{port.symbol}(&guarded_arena.buffer)" if arena else f"guarded_{port.symbol}.buffer"

    inside = [
        f"(const unsigned char *){pointer(p)} >= (const unsigned char *)&guarded_arena.buffer && "
        f"(const unsigned char *){pointer(p)} + {p.value.type.nbytes} <= guarded_arena.after"
        for p in ports
        if arena
    ]
    arguments = [f"&guarded_{name}.buffer" for name in memory] + ([] if arena else [pointer(p) for p in ports])
    own = [] if arena else program.inputs
    guards = [f"guards_hold(guarded_{n}.before) && guards_hold(guarded_{n}.after)" for n in names]

    def bytes_of(port: Port) -> str:
        return f"{pointer(port)}, {port.value.type.nbytes}"

    return _DRIVER.format(
        prefix=prefix,
        guard=GUARD,
        buffers="\n".join(buffers),
        start="\n".join(start),
        test_arguments=", ".join(arguments),
        reset=f"{prefix}_reset(&guarded_state.buffer);" if program.states else "",
        arguments=", ".join(arguments),
        nulls=", ".join(["NULL", *arguments[1:]]),
        fill=" && ".join(f"fread({bytes_of(p)}, 1, stdin) == 1" for p in program.inputs if p.value.type.size),
        copies=" ".join(f"memcpy(copy_of_{p.symbol}, {bytes_of(p)});" for p in own),
        unchanged=" ".join(f"if (memcmp(copy_of_{p.symbol}, {bytes_of(p)}) != 0) {{ return 5; }}" for p in own),
        results=" ".join(f"fwrite({bytes_of(p)}, 1, stdout);" for p in program.outputs),
        guards=" && ".join([*guards, *inside]),
    )


def build(model: Exported, flags: Sequence[str], *, compiler: str = "gcc", name: str = "driver") -> Path:
    """Compile the generated C with its driver."""
    main = model.folder / "main_driver.c"
    main.write_text(driver(model.program), encoding="utf-8")
    program = model.folder / name
    run_tool(compiler, "-std=c99", *flags, *model.sources, main, f"-I{model.folder}", "-o", program)
    return program


def run_driver(program: Path, model: Program, inputs: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
    """Outputs by name for each of the inputs."""
    raw = b"".join(np.ascontiguousarray(arrays[p.value.name]).tobytes() for arrays in inputs for p in model.inputs)
    answer = run_tool(program, stdin=raw)
    results: list[dict[str, Array]] = []
    position = 0
    for _ in inputs:
        found: dict[str, Array] = {}
        for port in model.outputs:
            type_ = port.value.type
            part = answer[position : position + type_.nbytes]
            found[port.value.name] = np.frombuffer(part, type_.dtype.numpy).reshape(type_.shape)
            position += type_.nbytes
        results.append(found)
    assert position == len(answer)
    return results
