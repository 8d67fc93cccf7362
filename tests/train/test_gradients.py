"""Every operator with a gradient, every float case of it: autodiff against central finite differences in float64."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import Array, Builder, DType, Graph, TensorType, Value, verify
from burnc.ops import OpSpec, operators
from burnc.ops.case import Case
from burnc.ops.reduce_sum import ReduceAttrs
from burnc.passes.autodiff import differentiate
from conformance.single_node import Subject, float_subjects, seed_of

STEP = 1e-6
# Their derivative is 0 almost everywhere, or they only stand in gradients.
STRAIGHT_THROUGH = {"fake_quant"}
WITHOUT = {
    "clip_gradient", "conv2d_input_gradient", "conv2d_weight_gradient", "dequantize", "fake_quant_gradient",
    "max_pool2d_gradient", "one_hot", "quantize",
}  # fmt: skip


def has_gradient(subject: Subject) -> bool:
    """Whether all operands that are no labels are floats, and so is the result."""
    spec, case = subject.spec, subject.case
    if spec.gradient is None or spec.name in STRAIGHT_THROUGH:
        return False
    integers = sum(o is not None and not o.dtype.startswith("float") for o in case.operands)
    return integers == (spec.name == "softmax_cross_entropy") and getattr(case.attrs, "to", "float32") == "float32"


SUBJECTS = [subject for subject in float_subjects() if has_gradient(subject)]


def test_who_has_no_gradient():
    own = {name for name, spec in operators().items() if spec.gradient is None}
    assert own & WITHOUT == WITHOUT


def weighted(spec: OpSpec, case: Case) -> tuple[Graph, dict[str, Array], Value]:
    """The operator in float64, and the sum of its results times fixed random numbers."""
    graph = Graph(spec.name)
    b = Builder(graph, operators())
    rng = np.random.default_rng(seed_of(case))
    inputs: dict[str, Array] = {}
    values: list[Value | None] = []
    for index, operand in enumerate(case.operands):
        if operand is None:
            values.append(None)
            continue
        data = operand.sample(rng)
        if data.dtype.kind == "f":
            # Differences can be taken of moderate numbers only.
            data = np.where(np.abs(data) < 10, data, 0.3).astype(np.float64)
        inputs[f"x{index}"] = data
        values.append(b.input(f"x{index}", TensorType(DType.of(data), data.shape)))
    y = b.node(spec.name, values, case.attrs, outputs=("y",))
    weights = b.constant("weights", rng.uniform(0.5, 1.5, y.type.shape))
    loss = b.node("reduce_sum", [b.node("mul", [y, weights])], ReduceAttrs(tuple(range(y.type.rank))))
    graph.outputs = [loss]
    (total,) = NumpyReference().compile(graph).run(inputs).values()
    if not np.isfinite(total):  # a logarithm or root met what is not positive
        inputs = {name: np.abs(data) + 0.1 if data.dtype.kind == "f" else data for name, data in inputs.items()}
    return graph, inputs, loss


def differences(graph: Graph, inputs: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    """Central differences, and where the function is smooth: the one-sided ones agree."""
    executable = NumpyReference().compile(graph)

    def loss(data: Array) -> float:
        (value,) = executable.run({**inputs, name: data}).values()
        return float(value)

    data = inputs[name]
    central, smooth = np.zeros(data.shape), np.zeros(data.shape, bool)
    here = loss(data)
    for index in np.ndindex(data.shape):
        moved = [data.copy(), data.copy()]
        step = STEP * max(1.0, abs(float(data[index])))
        moved[0][index] -= step
        moved[1][index] += step
        before, after = map(loss, moved)
        central[index] = (after - before) / (2 * step)
        one_sided = (here - before) / step, (after - here) / step
        smooth[index] = np.isclose(*one_sided, rtol=1e-3, atol=1e-4)
    return central, smooth


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_gradient_equals_finite_differences(subject):
    floats = [i for i, o in enumerate(subject.case.operands) if o is not None and o.dtype == "float32"]
    graph, inputs, loss = weighted(subject.spec, subject.case)
    names = [f"x{i}" for i in floats]
    forward = graph.copy()
    graph.outputs = differentiate(graph, loss, [graph.value(name) for name in names])
    verify(graph)
    with np.errstate(all="ignore"):
        found = NumpyReference().compile(graph).run(inputs)
        for name, value in zip(names, graph.outputs, strict=True):
            gradient = found[value.name]
            wanted, smooth = differences(forward, inputs, name)
            assert smooth.mean() > 0.4
            np.testing.assert_allclose(gradient[smooth], wanted[smooth], rtol=1e-5, atol=1e-6)


def test_straight_through():
    spec = operators()["fake_quant"]
    graph = Graph("g")
    b = Builder(graph, operators())
    x = b.input("x", TensorType(DType.FLOAT32, (5,)))
    scale, zero = b.constant("scale", np.float32(0.1)), b.constant("zero", np.float32(28))
    y = b.node(spec.name, [x, scale, zero])
    loss = b.node("reduce_sum", [b.node("mul", [y, y])], ReduceAttrs((0,)))
    graph.outputs = [y, *differentiate(graph, loss, [x])]
    result = NumpyReference().compile(graph).run({"x": np.array([-99, -15.6, 0.14, 9.9, 10.1], np.float32)})
    rounded, gradient = result.values()
    np.testing.assert_allclose(rounded, [-15.6, -15.6, 0.1, 9.9, 9.9], rtol=1e-6)
    np.testing.assert_allclose(gradient, [0, -31.2, 0.2, 19.8, 0], rtol=1e-5)
