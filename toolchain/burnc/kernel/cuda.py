"""Renders stages of KernelIR as CUDA C++: C's statements, with the grid's loops as threads.

The runtime's own headers do the arithmetic, so that a GPU and a chip share one text. To keep the bits, compile without
contraction and with exact division (``OPTIONS``).
"""

from __future__ import annotations

from burnc.ir import DType
from burnc.kernel.buffer import Buffer, Role
from burnc.kernel.c99 import C99, C_TYPES
from burnc.kernel.expr import Variable
from burnc.kernel.stages import Stage

BLOCK = 128
"""Threads of a block."""

# The runtime's functions carry no __device__: they are C.
OPTIONS = (
    "-default-device",
    "-std=c++17",
    "-fmad=false",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-ftz=false",
    "-diag-suppress=177",  # a runtime function that no kernel calls
)

_THREAD = Variable("thread", DType.INT32)


def render(stage: Stage, name: str = "kernel") -> str:
    """A kernel. Parameters: the stage's buffers in order, then the indices of the sequential loops around it."""
    parameters = [_parameter(b) for b in stage.buffers]
    parameters += [f"int32_t {loop.variable.name}" for loop in stage.turned]
    language = C99()
    lines = [
        f'extern "C" __global__ void {name}({", ".join(parameters)}) {{',
        "    const int32_t thread = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);",
        f"    if (thread >= {stage.threads}) {{",
        "        return;",
        "    }",
        *language.block([*stage.indices(_THREAD), *stage.kernel.body], 1),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _parameter(buffer: Buffer) -> str:
    constant = "const " if buffer.role in (Role.INPUT, Role.TABLE) else ""
    return f"{constant}{C_TYPES[buffer.dtype]} *__restrict__ {buffer.name}"
