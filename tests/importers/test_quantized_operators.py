"""QLinear operators and those on plain integers against onnxruntime, on numpy and as C."""

from __future__ import annotations

import numpy as np
import pytest

import burnc
from burnc.backends.registry import device
from burnc.ir import DType
from importers.quantized_operators import integer_operators, qlinear_operators
from oracles.float_onnx import run_onnx
from requirements import requires, requires_package

pytestmark = requires_package("onnxruntime")


def loaded(writer, folder):
    """The model as burnc loads it, and what onnxruntime computes by output name."""
    model = writer.model()
    (folder / "operators.onnx").write_bytes(model.SerializeToString())
    wanted = run_onnx(model, writer.inputs)
    return burnc.load(folder / "operators.onnx").graph, {
        o.name: y for o, y in zip(model.graph.output, wanted, strict=True)
    }


@requires("host compiler")
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_qlinear_operators_are_int8_and_within_one_step(dtype, tmp_path):
    writer = qlinear_operators(dtype)
    graph, wanted = loaded(writer, tmp_path)
    in_float = [n for n in graph.nodes if any(v.type.dtype is DType.FLOAT32 for v in n.outputs)]
    assert [n.op for n in in_float] == ["dequantize", "fully_connected"]
    assert in_float[1].output.name == "gemm_float"
    got = device("numpy").compile(graph).run(writer.inputs)
    assert {name: array.dtype for name, array in got.items()} == {name: array.dtype for name, array in wanted.items()}
    for name, expected in wanted.items():
        if name == "gemm_float":
            np.testing.assert_allclose(got[name], expected, rtol=1e-5, atol=1e-5)
            continue
        steps = np.abs(got[name].astype(int) - expected)
        assert steps.max() <= 1, name
        assert (steps > 0).mean() <= 0.5, name
    if dtype is np.uint8:
        in_c = device("c").compile(graph).run(writer.inputs)
        for name, array in got.items():
            np.testing.assert_allclose(in_c[name], array, rtol=0 if array.dtype == dtype else 1e-5, err_msg=name)


@requires("host compiler")
def test_operators_on_plain_integers_are_exact(tmp_path):
    writer = integer_operators()
    graph, wanted = loaded(writer, tmp_path)
    for name in ("numpy", "c"):
        got = device(name).compile(graph).run(writer.inputs)
        for output, expected in wanted.items():
            slack = 1e-5 if output.startswith(("to_float", "dynamic")) else 0
            np.testing.assert_allclose(got[output], expected, slack, slack, err_msg=f"{output} on {name}")
            assert got[output].dtype == expected.dtype
