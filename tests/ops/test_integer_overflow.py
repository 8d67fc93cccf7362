"""Integers at their limits: the low bits are kept, and generated C does nothing that C leaves undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.importers.onnx import import_onnx
from burnc.passes import canonical_passes, run_passes
from requirements import requires
from suites.compiled_batch import Job, run_batch

TWO = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Pow")
ONE = ("Neg", "Abs", "Sign")
AXIS = np.array([0], np.int64)
LIMITS = {
    dtype: (np.array([low, high, low + 1, high - 1, 3, 2], dtype), np.array([low or 1, high, low, 3, low, high], dtype))
    for dtype in ("int8", "uint16", "int32", "int64")
    for low, high in [(np.iinfo(dtype).min, np.iinfo(dtype).max)]
}
MINUS_ONE = np.array([-1], np.int64)


def model(op: str, inputs: Sequence[Any], constants: Sequence[Any] = ()) -> onnx.ModelProto:
    element = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    named = [helper.make_tensor_value_info(f"x{i}", element, x.shape) for i, x in enumerate(inputs)]
    held = [numpy_helper.from_array(c, f"c{i}") for i, c in enumerate(constants)]
    node = helper.make_node(op, [v.name for v in (*named, *held)], ["y"])
    graph = helper.make_graph([node], op, named, [helper.make_tensor_value_info("y", element, None)], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def cases() -> dict[str, tuple[onnx.ModelProto, Sequence[Any]]]:
    found: dict[str, tuple[onnx.ModelProto, Sequence[Any]]] = {}
    for dtype, (a, b) in LIMITS.items():
        found |= {f"{op}_{dtype}".lower(): (model(op, [a, b]), [a, b]) for op in TWO}
        if dtype.startswith("int"):
            found |= {f"{op}_{dtype}".lower(): (model(op, [a]), [a]) for op in ONE}
        if dtype in ("int32", "int64"):
            found |= {f"{op}_{dtype}".lower(): (model(op, [a], [AXIS]), [a]) for op in ("ReduceSum", "ReduceProd")}
            found[f"cumsum_{dtype}"] = (model("CumSum", [a], [AXIS[0]]), [a])
            found[f"matmul_{dtype}"] = (model("MatMul", [a, b]), [a, b])
            found[f"constant_matmul_{dtype}"] = (model("MatMul", [a[None]], [b[:, None]]), [a[None]])
    return found


CASES = cases()


def numpys(op: str, arrays: Sequence[Any]) -> Any:
    """Where numpy itself defines what comes of it."""
    simple = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    simple |= {"neg": np.negative, "abs": np.abs}
    function = simple.get(op)
    with np.errstate(all="ignore"):
        return None if function is None else function(*arrays)


@pytest.fixture(scope="module")
def graphs():
    found = {name: import_onnx(proto) for name, (proto, _) in CASES.items()}
    for graph in found.values():
        run_passes(graph, canonical_passes())
    return found


def feeds(name: str) -> dict[str, Any]:
    return {f"x{i}": array for i, array in enumerate(CASES[name][1])}


def test_low_bits_are_kept(graphs):
    for name, graph in graphs.items():
        expected = numpys(name.split("_")[0], CASES[name][1])
        if expected is not None:
            np.testing.assert_array_equal(NumpyReference().compile(graph).run(feeds(name))["y"], expected, err_msg=name)


def test_quotients_go_toward_zero(graphs):
    for dtype, (a, b) in LIMITS.items():
        got = NumpyReference().compile(graphs[f"div_{dtype}"]).run(feeds(f"div_{dtype}"))["y"]
        exact = [
            0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        np.testing.assert_array_equal(got, np.array(exact).astype(dtype), err_msg=dtype)


@requires("gcc")
def test_c_has_the_same_and_nothing_undefined(graphs, tmp_path):
    board = load_board("host")
    jobs = [Job(lower(graph, board, LowerOptions(name=name)), [feeds(name)]) for name, graph in graphs.items()]
    results = run_batch(jobs, tmp_path, sanitize=True)
    for name, graph in graphs.items():
        assert not isinstance(results[name], str), f"{name}: {results[name]}"
        np.testing.assert_array_equal(
            results[name][0]["y"], NumpyReference().compile(graph).run(feeds(name))["y"], err_msg=name
        )
