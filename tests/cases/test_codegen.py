"""Cases that concern the generated C as a whole; most of its contract is tested in tests/codegen (index.toml)."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import burnc


def conv_ended(path):
    weights = np.random.default_rng(0).normal(size=(3, 2, 3, 3)).astype(np.float32)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 4, 4])
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="last", pads=[1, 1, 1, 1])
    graph = helper.make_graph([node], "ends", [x], [y], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_u037_output_layout_of_a_conv_ended_model(tmp_path):
    path = conv_ended(tmp_path / "ends.onnx")
    model = burnc.load(path)
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    wanted = onnxruntime.InferenceSession(str(path)).run(None, {"x": x})[0]
    for device in ("numpy", "c"):
        np.testing.assert_allclose(model.run({"x": x}, on=device)["y"], wanted, rtol=1e-5, atol=1e-4)
    model.export("host", tmp_path / "out")
    header = (tmp_path / "out" / "ends.h").read_text()
    assert header.count("axes in the order that the file declares, for images NCHW") == 2
    assert [line for line in header.splitlines() if line.startswith("#define ENDS_Y_DIM")] == [
        f"#define ENDS_Y_DIM{axis} {extent}" for axis, extent in enumerate((1, 3, 4, 4))
    ]


def test_u120_floats_in_and_out_of_an_int8_model(tmp_path):
    model = burnc.load(conv_ended(tmp_path / "ends.onnx"))
    x = np.random.default_rng(1).normal(size=(1, 2, 4, 4)).astype(np.float32)
    small = model.quantize({"x": np.concatenate([x] * 4)})
    (value,) = small.graph.outputs
    codes = small.run({"x": x}, on="c")["y"]
    real = (codes.astype(np.int32) - value.type.zero_point) * np.float32(value.type.scale)
    wanted = model.run({"x": x})["y"]
    assert np.abs(real - wanted).max() < 4 * value.type.scale
