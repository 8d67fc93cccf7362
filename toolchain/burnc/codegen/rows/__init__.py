"""The table of kernels: hand-written ones as rows, everything else through its rendered KernelIR."""

from __future__ import annotations

from burnc.codegen.rows import convolution_m0, convolution_s8, elementwise_s8, pointwise_m0, pooling_s8
from burnc.codegen.rows.row import Emitter, KernelRow

ROWS: tuple[KernelRow, ...] = (
    *convolution_s8.ROWS,
    *pointwise_m0.ROWS,
    *convolution_m0.ROWS,
    *pooling_s8.ROWS,
    *elementwise_s8.ROWS,
)

__all__ = ["ROWS", "Emitter", "KernelRow"]
