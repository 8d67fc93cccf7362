"""RNN, GRU and LSTM with attributes and operands drawn at random: the numpy reference against onnxruntime."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnc.backends.numpy_reference import NumpyReference
from burnc.importers.onnx import import_onnx
from burnc.ir import Array
from burnc.ops.recurrent_activations import ACTIVATIONS, ONNX_NAMES
from conformance.check import disagreement
from importers.small_nets import run_onnxruntime

FORMS = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}
"""Gates, activations."""


def attributes(op: str, directions: int, pick: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"direction": "bidirectional" if directions == 2 else pick.choice(["forward", "reverse"])}
    if pick.random() < 0.5:
        names = [pick.choice(list(ACTIVATIONS)) for _ in range(FORMS[op][1] * directions)]
        found["activations"] = [ONNX_NAMES[name] for name in names]
        for factor in ("alpha", "beta"):
            count = sum(getattr(ACTIVATIONS[name], factor) is not None for name in names)
            if count:
                found[f"activation_{factor}"] = [pick.uniform(0.1, 0.9) for _ in range(count)]
    if pick.random() < 0.3:
        found["clip"] = pick.choice([0.3, 2.0])
    if op == "GRU":
        found["linear_before_reset"] = pick.choice([0, 1])
    if op == "LSTM":
        found["input_forget"] = pick.choice([0, 1])
    return found


def drawn(seed: int) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one layer, and what it is fed."""
    pick, rng = random.Random(seed), np.random.default_rng(seed)
    op = pick.choice(list(FORMS))
    gates, directions = FORMS[op][0], pick.choice([1, 2])
    steps, batch, size, hidden = (pick.choice(sizes) for sizes in ([1, 2, 5], [1, 2, 3], [1, 3], [1, 2, 4]))

    def numbers(*shape: int) -> Array:
        return rng.normal(0, 0.5, shape).astype(np.float32)

    rows = gates * hidden
    optional: dict[str, Array] = {
        "b": numbers(directions, 2 * rows),
        "ends": rng.integers(1, steps + 1, batch).astype(np.int32),
        "h0": numbers(directions, batch, hidden),
    }
    if op == "LSTM":
        optional |= {"c0": numbers(directions, batch, hidden), "p": numbers(directions, 3 * hidden)}
    present = [name for name in optional if pick.random() < 0.5]
    held = {"w": numbers(directions, rows, size), "r": numbers(directions, rows, hidden)}
    feeds = {"x": numbers(steps, batch, size)}
    for name in present:
        is_fed = name in ("ends", "h0", "c0") and pick.random() < 0.5
        (feeds if is_fed else held)[name] = optional[name]
    results = [name if pick.random() < 0.7 else "" for name in ("y", "h", "c")[: 3 if op == "LSTM" else 2]]
    results = results if any(results) else ["y"]
    operands = ["x", "w", "r", *(name if name in present else "" for name in optional)]
    while not operands[-1]:
        operands.pop()
    node = helper.make_node(op, operands, results, hidden_size=hidden, **attributes(op, directions, pick))
    edges = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in results if name]
    weights = [numpy_helper.from_array(array, name) for name, array in held.items()]
    graph = helper.make_graph([node], "drawn", edges, outputs, weights)
    opset = helper.make_opsetid("", pick.choice([7, 14, 21]))
    return helper.make_model(graph, opset_imports=[opset], ir_version=9), feeds


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_equals_onnxruntime(first: int):
    for seed in range(first, first + 20):
        model, feeds = drawn(seed)
        found = NumpyReference().compile(import_onnx(model)).run(feeds)
        for name, wanted in run_onnxruntime(model, **feeds).items():
            assert disagreement(found[name], wanted) == [], (seed, model.graph.node[0])
