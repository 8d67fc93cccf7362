"""Random graphs with memory: an input of an ONNX graph is what an output was in the run before."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np
import onnx
from onnx import helper

from burnc.ir import Array, Graph
from suites.onnx_graphs import LARGEST_NUMBER, RandomGraph, RejectedError, run_model, typed, with_all_tensors


def with_memory(graph: RandomGraph, random: Random) -> tuple[RandomGraph, dict[str, str]]:
    """The graph with one more output, and which input it becomes in the next run.

    Raises:
        RejectedError: no input is float, no other input remains, or the numbers do not stay such.
    """
    floats = sorted(name for name, array in graph.sample.items() if array.dtype.name == "float32")
    if not floats or len(graph.makers) < 2:
        raise RejectedError
    name = random.choice(floats)
    fitting = [
        t.name for t in graph.tensors.values() if t.sample.shape == graph.sample[name].shape and t.dtype == "float32"
    ]
    model = onnx.ModelProto()
    model.CopyFrom(graph.model)
    source = random.choice(fitting) if fitting and random.random() < 0.8 else name
    op = random.choice(("Softsign", "Identity", "Abs") if source != name else ("Softsign", "Neg", "Cos"))
    model.graph.node.append(helper.make_node(op, [source], ["memory"], name="memory"))
    model.graph.output.append(typed("memory", graph.sample[name]))
    result = RandomGraph(model, graph.makers, graph.sample, graph.tensors)
    if not _is_calm(result, name):
        raise RejectedError
    return result, {name: "memory"}


def _is_calm(graph: RandomGraph, name: str) -> bool:
    """Whether every number stays one over a few runs that begin with zeros."""
    model, held = with_all_tensors(graph.model), np.zeros_like(graph.sample[name])
    for run in range(4):
        values = run_model(model, {**graph.inputs(run), name: held})
        floats = [array for array in values.values() if array.dtype.kind == "f"]
        if not all(bool((np.abs(array) < LARGEST_NUMBER).all()) for array in floats):
            return False
        held = values["memory"]
    return True


def first_states(graph: Graph) -> dict[str, Array]:
    """What the first run after a reset finds."""
    return {state.name: state.initial for state in graph.states}


def next_states(graph: Graph, values: Mapping[str, Array]) -> dict[str, Array]:
    """What the next run finds, from all values of this one."""
    return {s.name: values[s.write.name] if s.write.data is None else s.write.data for s in graph.states}
