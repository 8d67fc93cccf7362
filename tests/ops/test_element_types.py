"""Every element type through numpy and generated C: conversions between all of them, moves, arithmetic, comparison."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.importers.onnx import import_onnx
from burnc.ir import Builder, DType, Graph, QuantParams, TensorType, verify
from burnc.ops import operators
from burnc.ops.quantize import QuantizeAttrs
from codegen.exported import STRICT, build, run_driver, write
from conformance.single_node import merged
from requirements import requires
from suites.compiled_batch import Job, run_batch

pytestmark = requires("gcc")

TYPES = [dtype.value for dtype in DType]
SPECIAL = (0.0, -1.5, 3.75, 1e9, -1e9, np.nan, np.inf, -np.inf, 65519.0, 65520.0, 6e-8, 1e-9)


def numbers(dtype: str):
    """Limits and what lies between them; floats that an integer type cannot hold, and halves that overflow."""
    with np.errstate(all="ignore"):
        if dtype == "bool":
            return np.array([False, True] * 6)
        if np.dtype(dtype).kind == "f":
            return np.array(SPECIAL, dtype)
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, 100, info.max // 2 + 1, info.max // 3, 2, 3, 4, 5, 6], dtype)


def model(op: str, inputs: dict[str, str], result: str, **attributes: int) -> onnx.ModelProto:
    def info(name: str, dtype: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [12])

    node = helper.make_node(op, list(inputs), ["y"], **attributes)
    graph = helper.make_graph([node], op, [info(n, t) for n, t in inputs.items()], [info("y", result)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def cast(source: str, to: str) -> onnx.ModelProto:
    return model("Cast", {"x": source}, to, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


CASTS = {f"{a}-{b}": cast(a, b) for a, b in itertools.product(TYPES, TYPES)}
OTHERS = {f"where-{t}": model("Where", {"c": "bool", "x": t, "z": t}, t) for t in TYPES}
OTHERS |= {f"max-{t}": model("Max", {"x": t, "z": t}, t) for t in TYPES if t != "bool"}
OTHERS |= {f"less-{t}": model("Less", {"x": t, "z": t}, "bool") for t in TYPES if t != "bool"}


def arrays(name: str):
    first, second = name.split("-")
    dtype = second if name in OTHERS else first
    return {"x": numbers(dtype), "z": numbers(dtype)[::-1].copy(), "c": np.arange(12) % 3 == 0}


def run_all(models: dict[str, onnx.ModelProto], folder: Path):
    """Results by name: numpy's and, from one compilation, generated C's."""
    graphs = {name: import_onnx(proto) for name, proto in models.items()}
    inputs = {name: {v.name: arrays(name)[v.name] for v in graph.inputs} for name, graph in graphs.items()}
    merged_inputs = {f"{name}.{key}": array for name, held in inputs.items() for key, array in held.items()}
    program = lower(merged(graphs), load_board("host"), LowerOptions(name="types"))
    answer = run_batch([Job(program, [merged_inputs], self_test=False)], folder, sanitize=False)["types"]
    assert not isinstance(answer, str), answer
    (in_c,) = answer
    return {
        name: (NumpyReference().compile(graph).run(inputs[name])["y"], in_c[f"{name}.y"])
        for name, graph in graphs.items()
    }


@pytest.fixture(scope="module")
def casts(tmp_path_factory):
    return run_all(CASTS, tmp_path_factory.mktemp("casts"))


def test_casts_are_the_same_in_c(casts):
    for name, (reference, in_c) in casts.items():
        np.testing.assert_array_equal(in_c, reference, err_msg=name)


def test_casts_that_onnx_defines_are_its_own(casts):
    """Floats out of an integer type's range are open there; burnc saturates them."""
    for name, (reference, _) in casts.items():
        x, to = arrays(name)["x"], reference.dtype
        defined = np.ones(x.shape, bool)
        if x.dtype.kind == "f" and to.kind in "iu":
            wide = x.astype(np.float64)
            defined = (wide >= float(np.iinfo(to).min)) & (wide < float(np.iinfo(to).max))
        with np.errstate(all="ignore"):
            (wanted,) = ReferenceEvaluator(CASTS[name]).run(None, {"x": x})
        np.testing.assert_array_equal(reference[defined], wanted[defined], err_msg=name)


def test_moves_and_comparisons(tmp_path):
    for name, (reference, in_c) in run_all(OTHERS, tmp_path).items():
        feeds = {v.name: arrays(name)[v.name] for v in OTHERS[name].graph.input}
        (wanted,) = ReferenceEvaluator(OTHERS[name]).run(None, feeds)
        np.testing.assert_array_equal(reference, wanted, err_msg=name)
        np.testing.assert_array_equal(in_c, wanted, err_msg=name)


def test_generated_c_of_every_type_is_strict_and_tests_itself(tmp_path):
    """Typed handles, literals and the self-test, under all warnings and the sanitizers."""
    graph = merged({t: import_onnx(cast(t, {"float32": "float16"}.get(t, "float32"))) for t in TYPES})
    program = lower(graph, load_board("host"), LowerOptions(name="types"))
    exported = write(program, tmp_path)
    flags = [*STRICT, "-ffp-contract=off", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    inputs = {f"{t}.x": numbers(t) for t in TYPES}
    (got,) = run_driver(build(exported, flags), program, [inputs])
    wanted = NumpyReference().compile(graph).run(inputs)
    for name, array in wanted.items():
        np.testing.assert_array_equal(got[name], array, err_msg=name)


@pytest.mark.parametrize("to", ["int8", "uint8"])
def test_quantized_uint8_is_int8_with_the_sign_bit_turned(to):
    """Between equal scales with zero points 128 apart, quantize is ``x ^ 0x80``."""
    source = {"int8": "uint8", "uint8": "int8"}[to]
    zero = {"int8": -28, "uint8": 100}
    graph = Graph("signed")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType(source), (256,), QuantParams.per_tensor(0.25, zero[source])))
    quant = QuantParams.per_tensor(0.25, zero[to])
    graph.outputs = [b.node("quantize", [x], QuantizeAttrs(to), quant=quant, outputs=["y"])]
    verify(graph)
    every = np.arange(256, dtype=np.uint8)
    for backend in ("numpy", "c"):
        got = device(backend).compile(graph).run({"x": every.view(source)})["y"]
        np.testing.assert_array_equal(got.view(np.uint8), every ^ 0x80)
