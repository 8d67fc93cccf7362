"""Runs ONNX models through burnc: imported as they are, and again after the passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from burnc.backends.numpy_reference import NumpyReference
from burnc.importers.onnx import import_onnx
from burnc.ir import Array
from burnc.passes import canonical_passes, run_passes
from conformance.check import disagreement
from oracles.float_onnx import run_onnx, single_node_model


def run_model(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """Results in order; the passes must not change them."""
    graph = import_onnx(model)
    plain = NumpyReference().compile(graph).run(inputs)
    run_passes(graph, canonical_passes())
    rewritten = NumpyReference().compile(graph).run(inputs)
    for name, wanted in plain.items():
        assert disagreement(rewritten[name], wanted) == []
    return list(plain.values())


def run_node(
    op_type: str,
    inputs: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
    *,
    oracle: bool = True,
    **rest: Any,
) -> Any:
    """Result of a one-node model; ``oracle`` also compares it with onnxruntime."""
    arrays = {name: np.asarray(a) for name, a in inputs.items()}
    model = single_node_model(op_type, arrays, {n: np.asarray(c) for n, c in (constants or {}).items()}, **rest)
    (y,) = run_model(model, arrays)
    if oracle:
        (wanted,) = run_onnx(model, arrays)
        assert disagreement(y, wanted) == []
    return y
