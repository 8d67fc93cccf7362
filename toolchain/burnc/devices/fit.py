"""What a program takes of a board, estimated or measured; whether that fits, and what might help where it does not."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from burnc.boards import Board
from burnc.codegen.emit_c import arena_bytes
from burnc.codegen.estimate import estimate_size
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.max_ram import ram_bytes
from burnc.codegen.program import Program
from burnc.devices.model_firmware import build_minimal_firmware, build_serving_firmware
from burnc.errors import DoesNotFitError
from burnc.ir import Graph
from burnc.reports import BandsReport, ExportReport, LayerReport, PlacedReport

# Least stack that a run is given when it is decided whether a model fits; the linker scripts keep as much.
STACK_BYTES = 2048


def fits_ram(size: int, board: Board) -> bool:
    """Whether the board's RAM holds so many bytes and a stack."""
    return board.ram_bytes is None or size + STACK_BYTES <= board.ram_bytes


def require_fit(report: ExportReport, board: Board) -> None:
    """Raise where a report says that the model does not fit.

    Raises:
        DoesNotFitError: names the memory, what is needed and what there is.
    """
    if report.fits:
        return
    kind = "measured" if report.measured else "estimated"
    raise DoesNotFitError(
        f"{report.model} does not fit the {board.name}",
        where=f"{kind}: flash {report.flash_bytes} of {board.flash_bytes} bytes, "
        f"RAM {report.ram_bytes} + {STACK_BYTES} stack of {board.ram_bytes} bytes",
        hint="quantize the model, choose a smaller one, or a larger board (`burnc boards`)",
    )


def advised(error: DoesNotFitError, advice: str) -> DoesNotFitError:
    """The error with a further hint, before its own."""
    return DoesNotFitError(error.what, where=error.where, hint="; else ".join(filter(None, (advice, error.hint))))


def ram_advice(graph: Graph, program: Program, options: LowerOptions) -> str:
    """Where the board's RAM is too small and no limit was set, whether one would help."""
    board, size = program.board, estimate_size(program)
    if board.ram_bytes is None or options.max_ram is not None or fits_ram(size.ram, board):
        return ""
    limit = board.ram_bytes - STACK_BYTES - (size.ram - ram_bytes(program))
    if limit <= 0:
        return ""
    try:
        fitting = lower(graph, board, replace(options, max_ram=limit))
    except DoesNotFitError as error:
        return f"computing in bands (`--max-ram {limit}`) would not do: {error.where}"
    bands = bands_report(fitting)
    cost = f": {bands.count} bands, {bands.recomputed_percent:.1f} % more MACs" if bands else ""
    return f"`--max-ram {limit}` would do{cost}"


def bands_report(program: Program) -> BandsReport | None:
    """What a program computes in bands, if anything."""
    found = program.in_bands
    if found is None:
        return None
    percent = 100 * found.recomputed / max(1, found.macs)
    return BandsReport(found.count, list(found.nodes), found.recomputed, percent, found.arena_before)


def estimated(program: Program) -> ExportReport:
    """Sizes without a compiler."""
    size = estimate_size(program)
    return _export_report(program, size.code, size.flash, size.ram, measured=False)


def measured(program: Program, *, with_images: bool) -> tuple[ExportReport, dict[str, bytes]]:
    """Sizes of the smallest firmware; with the serving firmware's images, for a project that holds its sources."""
    images: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="burnc-export-") as folder:
        firmware = build_minimal_firmware(program, Path(folder) / "minimal")
        if with_images:
            serving = build_serving_firmware(program, Path(folder) / "serving", profile=False)
            for path in (serving.elf, serving.bin, serving.uf2):
                if path is not None:
                    images[f"firmware/{path.name}"] = path.read_bytes()
    code = firmware.flash_bytes - program.weights_bytes
    return _export_report(program, code, firmware.flash_bytes, firmware.ram_bytes, measured=True), images


def _export_report(program: Program, code: int, flash: int, ram: int, *, measured: bool) -> ExportReport:
    board = program.board
    return ExportReport(
        model=program.prefix,
        board=board.key,
        optimize=program.optimize,
        files=[],
        macs=program.macs,
        parameters=parameter_count(program.graph),
        arena_bytes=arena_bytes(program),
        state_bytes=program.state_bytes,
        weights_bytes=program.weights_bytes,
        code_bytes=code,
        flash_bytes=flash,
        ram_bytes=ram,
        fits=fits_ram(ram, board) and (board.flash_bytes is None or flash <= board.flash_bytes),
        measured=measured,
        layers=[
            LayerReport(s.node.name, s.node.op, s.macs, s.row, sum(v.type.nbytes for v in s.node.outputs))
            for s in program.steps
        ],
        in_ram_bytes=program.placed_bytes,
        in_ram=[PlacedReport(p.item.name, p.bytes, round(p.saves)) for p in program.placed],
        bands=bands_report(program),
    )


def parameter_count(graph: Graph) -> int:
    """Elements of all constants."""
    return sum(v.type.size for v in graph.constants())
