"""Operators on doubles: refused, or as precise as doubles are; never float32's numbers in a double."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import BurncError
from burnc.importers.onnx import import_onnx
from burnc.ir import Array, Builder, DType, Graph, TensorType, Value
from burnc.ops import operators
from burnc.ops.case import Case
from conformance.single_node import merged
from requirements import requires
from suites.compiled_batch import Job, run_batch

CLOSE = 1e-12
# These cannot be computed in doubles today; each must say so.
REFUSED_AT_LEAST = {"tanh", "erf", "gelu", "sin", "lstm", "det"}


def graph_in_doubles(name: str, case: Case) -> tuple[Graph, dict[str, Array]]:
    """The case's node with float64 in place of float32, and its inputs.

    Raises:
        BurncError: the operator takes no doubles.
    """
    rng = np.random.default_rng(1)
    graph = Graph(name)
    b = Builder(graph, operators())
    values: list[Value | None] = []
    inputs: dict[str, Array] = {}
    for number, operand in enumerate(case.operands):
        if operand is None:
            values.append(None)
            continue
        data: Any = operand.sample(rng)
        data = data.astype(np.float64) if data.dtype == np.float32 else data
        if operand.constant:
            values.append(b.constant(f"x{number}", data))
        else:
            values.append(b.input(f"x{number}", TensorType(DType.of(data), data.shape)))
            inputs[f"x{number}"] = data
    graph.outputs = b.nodes(name, values, case.attrs, name="node", outputs=("y",))
    return graph, inputs


def first_cases() -> dict[str, Case]:
    found = {}
    for name, spec in operators().items():
        for case in spec.cases:
            is_float = any(operand is not None and operand.dtype == "float32" for operand in case.operands)
            if "float32" in case.kinds and is_float and name not in found:
                found[name] = case
    return found


@requires("gcc")
def test_they_are_refused_or_precise(tmp_path):
    backend, refused = device("c"), set[str]()
    graphs: dict[str, Graph] = {}
    inputs: dict[str, Array] = {}
    wanted: dict[str, Array] = {}
    for name, case in first_cases().items():
        try:
            graph, given = graph_in_doubles(name, case)
            backend.require_support(graph)
        except BurncError:
            refused.add(name)
            continue
        graphs[name] = graph
        inputs |= {f"{name}.{key}": array for key, array in given.items()}
        results = NumpyReference().compile(graph).run(given)
        wanted |= {f"{name}.{key}": array for key, array in results.items()}
    assert refused >= REFUSED_AT_LEAST
    assert len(graphs) > len(refused)
    program = lower(merged(graphs), load_board("host"), LowerOptions(name="doubles"))
    answer = run_batch([Job(program, [inputs], self_test=False)], tmp_path, sanitize=False)["doubles"]
    assert not isinstance(answer, str), answer
    (got,) = answer
    for key, expected in wanted.items():
        if expected.dtype.kind == "f":
            largest = np.max(np.abs(expected), initial=0, where=np.isfinite(expected))
            np.testing.assert_allclose(got[key], expected, CLOSE, CLOSE * largest, err_msg=key)
        else:
            np.testing.assert_array_equal(got[key], expected, err_msg=key)


def test_norms_of_doubles_that_float32_does_not_reach():
    x = np.array([[1e200, 1e200], [np.inf, 1.0], [3e-150, 4e-150]])
    largest, norm = (_composite(op, x, inputs) for op, inputs in (("ReduceLogSumExp", 2), ("LpNormalization", 1)))
    for backend in ("numpy", "c"):
        got = device(backend).compile(largest).run({"x": x})["y"]
        np.testing.assert_allclose(got[:2], [[1e200], [np.inf]])
        got = device(backend).compile(norm).run({"x": x})["y"]
        np.testing.assert_allclose(got[2], [0.6, 0.8])


def _composite(op: str, x: Array, inputs: int) -> Graph:
    axes = [numpy_helper.from_array(np.array([1]), "axes")][: inputs - 1]
    node = helper.make_node(op, ["x", "axes"][:inputs], ["y"])
    info = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, s) for n, s in (("x", x.shape), ("y", None))]
    graph = helper.make_graph([node], op, info[:1], info[1:], axes)
    return import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))
