from __future__ import annotations

import numpy as np
import pytest

from burnc.ir import DType, QuantParams, TensorType
from burnc.passes import MatmulToFullyConnected
from passes.rewriting import changed, floats, ops_of, started

TO_FULLY_CONNECTED = MatmulToFullyConnected()


@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (2, 3, 4)])
def test_a_constant_matrix_makes_a_layer(shape: tuple[int, ...]) -> None:
    graph, b, x = started(*shape)
    y = b.node("matmul", [x, b.constant("w", floats(4, 5))], outputs=("y",))
    assert changed(TO_FULLY_CONNECTED, graph, [y]) == 1
    assert ops_of(graph) == ["fully_connected"]
    assert [v.name for v in graph.constants()] == ["w"]
    assert graph.outputs[0].name == "y"


def test_a_matrix_behind_dequantize_makes_one_too() -> None:
    graph, b, x = started(3, 4)
    w = b.constant("w", np.arange(20, dtype=np.int8).reshape(4, 5), QuantParams.per_axis((0.1, 0.2, 0.3, 0.4, 0.5), 1))
    assert changed(TO_FULLY_CONNECTED, graph, [b.node("matmul", [x, b.node("dequantize", [w])])]) == 1
    assert ops_of(graph) == ["dequantize", "transpose", "fully_connected"]


def test_a_shared_matrix_stays_for_its_other_reader() -> None:
    graph, b, x = started(4, 4)
    w = b.constant("w", floats(4, 4))
    assert changed(TO_FULLY_CONNECTED, graph, [b.node("matmul", [x, w]), b.node("add", [x, w])]) == 1


def test_computed_and_batched_matrices_and_vectors_stay() -> None:
    graph, b, x = started(2, 4)
    other = b.input("other", TensorType(DType.FLOAT32, (4, 3)))
    assert changed(TO_FULLY_CONNECTED, graph, [b.node("matmul", [x, other])]) == 0
    graph, b, x = started(2, 3, 4)
    assert changed(TO_FULLY_CONNECTED, graph, [b.node("matmul", [x, b.constant("w", floats(2, 4, 5))])]) == 0
