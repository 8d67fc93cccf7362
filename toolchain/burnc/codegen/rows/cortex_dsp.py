"""The kernels for Cortex-M cores with the DSP extension."""

from __future__ import annotations

from burnc.codegen.rows import convolution_dsp, depthwise_dsp, fully_connected_dsp
from burnc.codegen.rows.row import KernelRow

ROWS: tuple[KernelRow, ...] = (*convolution_dsp.ROWS, *depthwise_dsp.ROWS, *fully_connected_dsp.ROWS)
