"""The rows for Cortex-M0 and M0+."""

from __future__ import annotations

from burnc.codegen.rows import convolution_m0, depthwise_m0, depthwise_pairs_m0, fully_connected_m0, pointwise_m0
from burnc.codegen.rows.row import KernelRow

ROWS: tuple[KernelRow, ...] = (
    *pointwise_m0.ROWS,
    *convolution_m0.ROWS,
    *depthwise_m0.ROWS,
    *depthwise_pairs_m0.ROWS,
    *fully_connected_m0.ROWS,
)
