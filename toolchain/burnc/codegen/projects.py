"""Projects around the generated C: a complete firmware (``bare``), a CMake library (``cmake``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnc.board_support import board_defines, build_of, linker_script
from burnc.codegen.emit_c import MEMBERS, arena_bytes, environment
from burnc.codegen.names import string_literal
from burnc.codegen.program import Port, Program
from burnc.errors import InputError
from burnc.ir.metadata import SOURCE
from burnc.kernel.c99 import C_TYPES
from burnc.version import VERSION

PROJECTS = ("bare", "cmake")
MANIFEST = "burnc.json"


@dataclass(frozen=True)
class BuildFlags:
    """How a project's build file calls a compiler; ``gcc`` is its command and the flags for the core."""

    gcc: Sequence[str]
    zig: Sequence[str]
    code: Sequence[str]
    optimize: str


def harness_model(program: Program) -> str:
    """The C file that hands the model to the harness; needs inputs and outputs inside the arena."""
    return _render(
        "harness_model.c.jinja",
        program,
        name=string_literal(program.graph.name[:64]),
        sha256=program.graph.metadata.get(SOURCE + "sha256", ""),
        board=program.board.key,
        inputs=[_tensor(program, p) for p in program.inputs],
        outputs=[_tensor(program, p) for p in program.outputs],
    )


def self_test_main(program: Program) -> str:
    """The smallest main that runs the model once: what the model costs without the harness."""
    ports = [*program.inputs, *program.outputs] if program.io == "caller" else []
    buffers = [{"ctype": C_TYPES[p.value.type.dtype], "symbol": p.symbol, "size": p.value.type.size} for p in ports]
    return _render("self_test_main.c.jinja", program, buffers=buffers)


def project_files(program: Program, project: str, model: Mapping[str, str], flags: BuildFlags) -> dict[str, str]:
    """All files of a project, path -> text, the generated C (``model``) among them.

    Raises:
        InputError: there is no such kind of project, or the inputs and outputs of a bare one are the caller's.
        BoardError: the board does not say how firmware for it is built.
    """
    if project == "cmake":
        sources = sorted(name for name in model if name.endswith((".c", ".S")))
        languages = "C ASM" if any(name.endswith(".S") for name in sources) else "C"
        build_file = _render("cmake/CMakeLists.txt.jinja", program, sources=sources, languages=languages)
        return {**model, "CMakeLists.txt": build_file}
    if project == "bare":
        if program.io == "caller":
            raise InputError(
                "a bare project's harness writes inputs and reads outputs inside the arena",
                hint="leave out --io caller, or export the C alone",
            )
        return {**model, **_bare(program, model, flags)}
    raise InputError(f"there is no project of the kind {project!r}", hint=f"kinds: {', '.join(PROJECTS)}")


def _bare(program: Program, model: Mapping[str, str], flags: BuildFlags) -> dict[str, str]:
    board = program.board
    build = build_of(board)
    root = build.support.parent
    files = {"harness_model.c": harness_model(program), "board.ld": linker_script(board)}
    for folder in (build.support, root, root / "common"):
        for path in sorted(folder.iterdir()):
            if path.suffix in (".c", ".h", ".S"):
                files[f"support/{path.relative_to(root).as_posix()}"] = path.read_text(encoding="utf-8")
    sources = sorted(name for name in [*model, *files] if name.endswith((".c", ".S")))
    files["Makefile"] = _render(
        "bare/Makefile.jinja",
        program,
        board=board.name,
        support=f"support/{build.support.name}",
        sources=sources,
        small=[s for s in sources if s.startswith("support/") and not s.startswith("support/common/")],
        gcc=" ".join(flags.gcc),
        gcc_command=flags.gcc[0],
        zig_flags=" ".join(flags.zig),
        code_flags=" ".join([*flags.code, *build.flags]),
        optimize_flag=flags.optimize,
        defines=" ".join(f"-D{d}" for d in board_defines(board)),
    )
    files[MANIFEST] = json.dumps(_manifest(program), indent=2) + "\n"
    return files


def _manifest(program: Program) -> dict[str, Any]:
    """What a host must know of the firmware to speak to it."""
    return {
        "schema": 1,
        "model": program.graph.name,
        "prefix": program.prefix,
        "board": program.board.key,
        "optimize": program.optimize,
        "cores": program.cores,
        "arena_bytes": arena_bytes(program),
        "state_bytes": program.state_bytes,
        "inputs": [_described(p) for p in program.inputs],
        "outputs": [_described(p) for p in program.outputs],
        "layers": [{"name": s.node.name, "op": s.node.op, "kernel": s.row, "macs": s.macs} for s in program.steps],
    }


def _described(port: Port) -> dict[str, Any]:
    type_ = port.value.type
    quant = None
    if type_.quant is not None and type_.quant.axis is None:
        quant = {"scale": type_.scale, "zero_point": type_.zero_point}
    return {"name": port.value.name, "dtype": type_.dtype.value, "shape": list(type_.shape), "quant": quant}


def _tensor(program: Program, port: Port) -> dict[str, Any]:
    type_ = port.value.type
    return {
        "name": string_literal(port.value.name[:64]),
        "member": MEMBERS[type_.dtype],
        "index": program.offset(port.value) // type_.dtype.bytes,
        "bytes": type_.nbytes,
    }


def _render(template: str, program: Program, **context: Any) -> str:
    prefix = program.prefix
    shared = {
        "version": VERSION,
        "prefix": prefix,
        "PREFIX": prefix.upper(),
        "has_state": bool(program.states),
        "cores": program.cores,
    }
    return environment().get_template(template).render({**shared, **context})
