"""The table of kernels: hand-written ones as rows, everything else through its rendered KernelIR."""

from __future__ import annotations

from burnc.codegen.rows import (
    convolution_rv32,
    convolution_s8,
    cortex_dsp,
    cortex_m0,
    cortex_mve,
    depthwise_rv32,
    elementwise_s8,
    linear_sums_s8,
    many_registers,
)
from burnc.codegen.rows.row import Emitter, KernelRow

ROWS: tuple[KernelRow, ...] = (
    *convolution_s8.ROWS,
    *cortex_m0.ROWS,
    *cortex_dsp.ROWS,
    *cortex_mve.ROWS,
    *many_registers.ROWS,
    *convolution_rv32.ROWS,
    *depthwise_rv32.ROWS,
    *elementwise_s8.ROWS,
    *linear_sums_s8.ROWS,
)

__all__ = ["ROWS", "Emitter", "KernelRow"]
