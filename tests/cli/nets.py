"""Small ONNX networks that the tests of the command line write to disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 1, 8, 8)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.3, shape).astype(np.float32)


def write_net(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, np.ndarray],
    *,
    graph: str = "tiny",
    inputs: dict[str, Sequence[int | str]] | None = None,
    outputs: Sequence[str] = ("scores",),
) -> Path:
    model = helper.make_model(
        helper.make_graph(
            nodes,
            graph,
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (inputs or {"image": SHAPE}).items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
            [numpy_helper.from_array(array, name) for name, array in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)],
        ir_version=8,
    )
    path.write_bytes(model.SerializeToString())
    return path


def classifier(
    path: Path, *, graph: str = "tiny", names: Sequence[str] = ("image", "conv", "relu", "flat", "scores")
) -> Path:
    """Convolution, ReLU and a dense layer: [1,1,8,8] -> [1,3]. ``names`` are those of the values."""
    x, conv, relu, flat, y = names
    nodes = [
        helper.make_node("Conv", [x, "w1", "b1"], [conv], name=conv, kernel_shape=[3, 3]),
        helper.make_node("Relu", [conv], [relu], name=relu),
        helper.make_node("Flatten", [relu], [flat], name=flat),
        helper.make_node("Gemm", [flat, "w2", "b2"], [y], name=y),
    ]
    constants = {"w1": normal(4, 1, 3, 3), "b1": normal(4), "w2": normal(144, 3), "b2": normal(3)}
    return write_net(path, nodes, constants, graph=graph, inputs={x: SHAPE}, outputs=[y])


def samples(path: Path, count: int = 16) -> Path:
    """A data set for the classifier, with labels."""
    labels = np.arange(count) % 3
    np.savez(path, x=normal(count, *SHAPE[1:], seed=1), y=labels.astype(np.int64))
    return path
