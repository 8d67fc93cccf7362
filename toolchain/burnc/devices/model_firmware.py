"""Firmware that serves one model: generated C, harness and board support, compiled and linked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burnc.board_support import build_of, harness_sources, linker_script
from burnc.codegen.emit_c import emit_c
from burnc.codegen.program import Program
from burnc.codegen.projects import harness_model, self_test_main
from burnc.compilers.compile import Optimize
from burnc.compilers.firmware import Firmware, build_firmware


def build_serving_firmware(program: Program, out_dir: Path, *, profile: bool, flash_offset: int = 0) -> Firmware:
    """Firmware that runs the model for a host (docs/protocol.md).

    Args:
        profile: count the cycles of each layer.
        flash_offset: bytes at the start of flash that are left to a bootloader.

    Raises:
        BoardError, CompileError, DoesNotFitError, ToolMissingError: as ``build_firmware``.
    """
    support = build_of(program.board).support.parent
    defines = [f"{program.prefix.upper()}_PROFILE=1"] if profile else []
    files = {**emit_c(program), "harness_model.c": harness_model(program)}
    sources = [*_write(files, out_dir), *harness_sources(program.board)]
    script = out_dir / "behind_bootloader.ld" if flash_offset else None
    if script is not None:
        script.write_text(linker_script(program.board, flash_offset=flash_offset), encoding="utf-8", newline="\n")
    return _build(program, sources, out_dir, [support / "common"], defines, script)


def build_minimal_firmware(program: Program, out_dir: Path) -> Firmware:
    """Firmware that runs the model and nothing else: what the model itself costs.

    Raises:
        BoardError, CompileError, DoesNotFitError, ToolMissingError: as ``build_firmware``.
    """
    files = {**emit_c(program), "main.c": self_test_main(program)}
    return _build(program, _write(files, out_dir), out_dir, [], [])


def _build(
    program: Program,
    sources: list[Path],
    out_dir: Path,
    include_dirs: list[Path],
    defines: list[str],
    link_script: Path | None = None,
) -> Firmware:
    optimize: Optimize = (
        "size" if program.optimize == "size" else "speed" if program.optimize == "speed" else "balanced"
    )
    return build_firmware(
        program.board,
        sources,
        out_dir=out_dir,
        name=program.prefix,
        include_dirs=[out_dir, *include_dirs],
        optimize=optimize,
        defines=defines,
        link_script=link_script,
    )


def _write(files: Mapping[str, str], out_dir: Path) -> list[Path]:
    out_dir.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out_dir / name).write_text(text, encoding="utf-8")
    return [out_dir / name for name in sorted(files) if name.endswith((".c", ".S"))]
