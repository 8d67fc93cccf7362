"""The nine models of the main job: those in float, and all of them in int8."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import burnc
from burnc.ir import Graph

ROOT = Path(__file__).resolve().parents[2]
FLOAT = (
    ROOT / "examples/mnist_pico/mnist8.onnx",
    ROOT / "tests/models/nanguoyu_magicwand.onnx",
    ROOT / "tests/models/onnx2c_atmega_mnist.onnx",
    ROOT / "tests/models/emx_micro_kws_m_static_fp32.onnx",
)
INT8 = (
    ROOT / "examples/kws_pico/mlperf_kws_dscnn_int8.tflite",
    ROOT / "tests/models/mlperf_ic_resnet8_int8.tflite",
    ROOT / "tests/models/mlperf_vww_mbv1_int8.tflite",
    ROOT / "tests/models/mlperf_ad_int8.tflite",
    ROOT / "tests/models/tflm_hello_world_int8.tflite",
)


@cache
def int8_graph(path: Path) -> Graph:
    """The int8 form; a float model is calibrated on seeded noise, good enough to compare devices with each other."""
    model = burnc.load(path)
    if path in INT8:
        return model.graph
    rng = np.random.default_rng(0)
    noise = {v.name: rng.normal(0, 1, (4, *v.type.shape[1:])).astype(np.float32) for v in model.graph.inputs}
    return model.quantize(noise).graph


@cache
def float_graph(path: Path) -> Graph:
    return burnc.load(path).graph
