"""The header's quantize and dequantize helpers, bit for bit those of numpy, at every corner."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.boards import load_board
from burnc.codegen.lower import lower
from burnc.ir import DType, Graph, QuantParams, TensorType
from burnc.ir.builder import Builder
from burnc.kernel.c99 import C_TYPES
from burnc.numerics import dequantize, quantize
from burnc.ops import operators
from burnc.ops.reshape import ReshapeAttrs
from codegen.exported import run_tool, write
from requirements import requires

PARAMS = [
    (DType.INT8, 0.5847029, 83),
    (DType.INT8, 1 / 255, -128),
    (DType.INT8, 0.25, 0),
    (DType.INT8, 3.0e-38, 127),
    (DType.UINT8, 0.0078125, 128),
    (DType.INT16, 0.000030518, 0),
    (DType.UINT16, 1.7e30, 65535),
]


def corner_values(scale):
    """Ties and their neighbours, both ends, infinities, NaN, denormals."""
    steps = np.arange(-300, 300, dtype=np.float64) * 0.5
    steps = np.concatenate([steps, np.array([-65536.5, -32768.5, -32767.5, 32766.5, 32767.5, 65534.5, 65535.5])])
    with np.errstate(over="ignore"):
        ties = (steps * np.float64(np.float32(scale))).astype(np.float32)
        around = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38], np.float32)
    random = np.random.default_rng(3).uniform(-200, 200, 2000).astype(np.float32) * np.float32(scale)
    return np.concatenate([special, around, random, np.float32(scale) * special[5:]])


@requires("gcc")
@pytest.mark.parametrize(("dtype", "scale", "zero_point"), PARAMS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_helpers_equal_numpy(tmp_path, dtype, scale, zero_point, level):
    type_ = TensorType(dtype, (1, 4), QuantParams((float(np.float32(scale)),), (zero_point,)))
    graph = Graph("edge")
    builder = Builder(graph, operators())
    x = builder.input("x", type_)
    y = builder.node("reshape", [x], ReshapeAttrs((4,)), name="y")
    y.type = TensorType(dtype, (4,), type_.quant)
    graph.outputs.append(y)
    found = write(lower(graph, load_board("host")), tmp_path)
    ctype = C_TYPES[dtype]
    main = tmp_path / "main.c"
    main.write_text(
        '#include <stdio.h>\n#include "edge.h"\n'
        "int main(void) {\n    float real;\n"
        f"    while (fread(&real, 4, 1, stdin) == 1) {{\n        const {ctype} q = edge_x_quantize(real);\n"
        "        real = edge_y_dequantize(q);\n        fwrite(&q, sizeof q, 1, stdout);\n"
        "        fwrite(&real, 4, 1, stdout);\n    }\n    return 0;\n}\n"
    )
    program = tmp_path / "program"
    flags = ["-std=c99", level, "-ffp-contract=off", "-Wall", "-Werror", "-fsanitize=undefined,float-cast-overflow"]
    run_tool("gcc", *flags, "-fno-sanitize-recover=all", *found.sources, main, "-o", program)
    values = corner_values(scale)
    record = np.dtype([("q", dtype.numpy), ("real", np.float32)])
    got = np.frombuffer(run_tool(program, stdin=values.tobytes()), record)
    expected = quantize(values, type_.__class__(dtype, values.shape, type_.quant))
    np.testing.assert_array_equal(got["q"], expected)
    back = dequantize(expected, type_.__class__(dtype, values.shape, type_.quant))
    np.testing.assert_array_equal(got["real"].view(np.int32), back.view(np.int32))
