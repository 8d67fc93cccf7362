"""The PyPI package tflite-micro as an oracle: the interpreter that people deploy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnc.ir import Array, DType, Graph
from oracles.tflite_writer import write_tflite


class RefusedError(Exception):
    """TFLite Micro does not take the model."""


class TfliteMicro:
    """A .tflite model in TFLite Micro's interpreter; arrays by position."""

    def __init__(self, model: bytes, arena_size: int = 1 << 20) -> None:
        from tflite_micro.python.tflite_micro import runtime

        try:
            self._interpreter = runtime.Interpreter.from_bytes(model, arena_size=arena_size)
        except RuntimeError as error:
            raise RefusedError(str(error)) from None

    def run(self, *inputs: Array, outputs: int = 1) -> list[Array]:
        for index, array in enumerate(inputs):
            self._interpreter.set_input(np.array(array, order="C"), index)
        self._interpreter.invoke()
        return [np.array(self._interpreter.get_output(i)) for i in range(outputs)]


class GraphInTfliteMicro:
    """An int8 IR graph, written as .tflite; inputs and results by name."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._model = TfliteMicro(write_tflite(graph))

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = [inputs[v.name] for v in self._graph.inputs]
        results = self._model.run(*arrays, outputs=len(self._graph.outputs))
        pairs = zip(self._graph.outputs, results, strict=True)
        # Indices are int64 in the IR, and int32 in TFLite Micro.
        wide = {DType.INT64: np.int64}
        return {v.name: r.reshape(v.type.shape).astype(wide.get(v.type.dtype, r.dtype)) for v, r in pairs}
