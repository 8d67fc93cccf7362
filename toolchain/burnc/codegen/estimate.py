"""What a program will take of a board, estimated without a compiler (reports call it ``measured: false``)."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.codegen.emit_c import arena_bytes
from burnc.codegen.program import Program
from burnc.codegen.rendered import rendered_bytes
from burnc.codegen.rows import ROWS

# Read off builds for the Cortex-M0+: startup and port, fixed-point functions, each call with its parameter struct.
SUPPORT_BYTES = 3000
CALL_BYTES = 100
STATIC_RAM_BYTES = 64


@dataclass(frozen=True)
class Size:
    """Bytes of flash and RAM (stack not included); ``code`` is the part of the flash that is no weights."""

    code: int
    flash: int
    ram: int


def estimate_size(program: Program) -> Size:
    """Estimated bytes of the smallest firmware that runs the program."""
    rows = {row.name: row.code_bytes for row in ROWS}
    used = {step.row for step in program.steps}
    code = SUPPORT_BYTES + CALL_BYTES * len(program.steps) + sum(rows.get(name, 0) for name in used)
    code += sum(c.bytes for c in program.codes)
    code += sum(map(rendered_bytes, program.functions.values()))
    ram = arena_bytes(program) + program.state_bytes + program.buffer_bytes + program.placed_bytes + STATIC_RAM_BYTES
    return Size(code, code + program.weights_bytes, ram)
