"""Run by test_plugins.py in a fresh interpreter that has the toy installed: everything burnc does, with its parts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import burnc
from burnc.backends.registry import installed
from burnc.ir import print_graph
from burnc.ops import operators

folder = Path(sys.argv[1])
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])
nodes = [
    helper.make_node("Relu", ["x"], ["r"], name="relu"),
    helper.make_node("Double", ["r"], ["y"], name="twice", domain="com.example"),
]
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
onnx.save(helper.make_model(helper.make_graph(nodes, "toy", [x], [y]), opset_imports=opsets), folder / "toy.onnx")

assert operators()["double"].name == "double"
assert "counting" in {found.name for found in installed() if found.ok}

model = burnc.load(folder / "toy.onnx")
result = model.run({"x": np.array([[-1, 0, 1, 2, 3, 4]], np.float32)})
assert result["y"].tolist() == [[0, 0, 2, 4, 6, 8]], result

model.save(folder / "again.onnx")
assert print_graph(burnc.load(folder / "again.onnx").graph) == print_graph(model.graph)

small = model.quantize({"x": np.linspace(-2, 2, 600, dtype=np.float32).reshape(100, 6)})
assert all(value.type.quant is not None for value in small.graph.values()), print_graph(small.graph)
counting = burnc.device("counting:5")
report = small.validate(inputs=3, on=[counting, "c"])
assert [target.verdict for target in report.targets] == ["bit-exact", "bit-exact"], report
assert vars(counting) == {"runs": 8}
sys.stdout.write("the toy works\n")
