"""A fixed part of the random graphs; hypothesis draws some more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import onnx.parser
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import burnc
from burnc.errors import UnsupportedError
from burnc.ir import QuantParams
from burnc.ops import onnx_mappings
from requirements import requires, requires_package
from suites.graph_judges import against_onnxruntime, against_reference, against_truth, all_values
from suites.onnx_graphs import truth_of
from suites.random_graphs import TooLongError, at_most, judge_batch
from suites.random_onnx import random_graph
from suites.recipe import RECIPES

pytestmark = [requires_package("onnxruntime"), requires("gcc")]


@pytest.mark.parametrize(("first", "count"), [(0, 8), (16, 16), (1217, 1)])
def test_fixed_part(first: int, count: int) -> None:
    assert [e for e in judge_batch(first, count) if e.verdict != "equal"] == []


def test_what_takes_too_long_is_said() -> None:
    with pytest.raises(TooLongError), at_most(0.05):
        endless()


def endless() -> None:
    while True:
        pass


@settings(
    max_examples=15,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # to shrink takes minutes; add Phase.shrink to look into a failure
)
@given(st.randoms(use_true_random=False))
def test_numpy_equals_onnxruntime(random: Random) -> None:
    graph = random_graph(random)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph.onnx"
        path.write_bytes(graph.model.SerializeToString())
        try:
            model = burnc.load(path)
        except UnsupportedError as error:
            if "align_corners leaves open" not in str(error):
                raise
            return
    truth = truth_of(graph.model, graph.sample)
    assert list(against_truth(model.graph, graph.sample, truth)) == []


def test_graph_of_a_number_is_always_the_same() -> None:
    one, other = (random_graph(Random(7)).model.SerializeToString() for _ in range(2))
    assert one == other


def test_judges_see_one_wrong_number(tmp_path: Path) -> None:
    graph = random_graph(Random(3))
    path = tmp_path / "graph.onnx"
    path.write_bytes(graph.model.SerializeToString())
    model = burnc.load(path)
    inputs = graph.inputs(0)
    truth = truth_of(graph.model, inputs)
    output = next(v for v in model.graph.outputs if v.type.dtype.is_float)
    truth[output.name] = truth[output.name] + np.float32(0.01)
    assert len(list(against_truth(model.graph, inputs, truth))) == 1
    small = model.quantize({name: array[None] for name, array in inputs.items()})
    values = all_values(small.graph, small.inputs([inputs])[0])
    value = next(n.output for n in small.graph.nodes if n.op not in ("quantize", "dequantize") and n.output.type.quant)
    assert list(against_onnxruntime(small.graph, values)) == []
    values[value.name] = np.where(values[value.name] < 100, values[value.name] + 2, values[value.name] - 2)
    assert len(list(against_onnxruntime(small.graph, values))) >= 1
    assert len(list(against_reference(small.graph, values))) >= 1


def _loaded(text: str, folder: Path) -> tuple[onnx.ModelProto, burnc.Model]:
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> g {text}')
    path = folder / "graph.onnx"
    path.write_bytes(model.SerializeToString())
    return model, burnc.load(path)


def test_small_sigmoids_are_judged_by_the_oracles_own_error(tmp_path: Path) -> None:
    model, ours = _loaded(
        "(float[500] x) => (float[1, 500] y) <int64[1] axes = {0}> { s = Sigmoid(x) y = Unsqueeze(s, axes) }", tmp_path
    )
    inputs = {"x": np.linspace(-30, -6, 500, dtype=np.float32)}
    truth = truth_of(model, inputs)
    assert list(against_truth(ours.graph, inputs, truth)) == []
    wrong = {name: array + np.float32(2**-19) for name, array in truth.items()}
    assert list(against_truth(ours.graph, inputs, wrong)) != []


def test_no_number_is_quantized_to_the_zero_point(tmp_path: Path) -> None:
    model, ours = _loaded(
        """(int8[3] x) => (float[6] y, int8[3] z) <float scale = {0.5}, int8 zero = {7}> {
            real = DequantizeLinear(x, scale, zero)
            quotient = Div(real, real)
            z = QuantizeLinear(quotient, scale, zero)
            back = DequantizeLinear(z, scale, zero)
            both = Concat<axis = 0>(real, back)
            q = QuantizeLinear(both, scale, zero)
            y = DequantizeLinear(q, scale, zero)
        }""",
        tmp_path,
    )
    inputs = {"x": np.array([7, 9, -20], np.int8)}
    truth = truth_of(model, inputs)
    assert truth["z"].tolist() == [7, 9, 9]
    assert truth["y"].tolist() == [0, 1, -13.5, 0, 1, 1]
    assert list(against_truth(ours.graph, inputs, truth)) == []


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_memory_that_saturates_is_judged_up_to_there(tmp_path: Path, direction: str) -> None:
    ways = 2 if direction == "bidirectional" else 1
    _, ours = _loaded(
        f"""(float[4, 1, 2] x) => (float[4, {ways}, 1, 2] y, float[{ways}, 1, 2] h)
        <float[{ways}, 2, 2] w = {{{", ".join(["0.9, 0.1, -0.2, 0.8"] * ways)}}},
         float[{ways}, 2, 2] r = {{{", ".join(["0.9, -0.3, 0.5, 0.9"] * ways)}}}> {{
            y, h = RNN<hidden_size = 2, direction = "{direction}">(x, w, r)
        }}""",
        tmp_path,
    )
    small = ours.quantize({"x": np.linspace(-1, 1, 40, dtype=np.float32).reshape(5, 4, 1, 2)})
    x = np.array([1, -0.5, -0.5, 1], np.float32)  # the state turns back, from another place than the float one
    inputs = small.inputs([{"x": np.stack([x, x], axis=-1)[:, None]}])[0]
    (node,) = (n for n in small.graph.nodes if n.op == "rnn")
    scale = 0.1 / 127  # 0.1 at most, which the first step leaves already
    for value in node.outputs:
        value.type = replace(value.type, quant=QuantParams.per_tensor(scale, 0))
    values = all_values(small.graph, inputs)
    assert list(against_onnxruntime(small.graph, values)) == []
    first = -1 if direction == "reverse" else 0
    values[node.outputs[0].name] = values[node.outputs[0].name].copy()
    values[node.outputs[0].name][first, 0] -= 20
    assert len(list(against_onnxruntime(small.graph, values))) == 1


STORED = "tensors of stored integers with parameters of their own: node tests, and models of onnxruntime's quantizer"
NOT_DRAWN = {
    "BitCast": "from opset 26 on, which onnxruntime does not run",
    "Col2Im": "onnxruntime's node tests",
    "CumProd": "from opset 26 on, which onnxruntime does not run",
    "DFT": "node tests",
    "DeformConv": "from opset 19 on without a kernel in onnxruntime",
    "DequantizeLinear": "in the QDQ graphs",
    "DynamicQuantizeMatMul": STORED,
    "MatMulIntegerToFloat": STORED,
    "MaxRoiPool": "its cases, against onnxruntime (tests/conformance)",
    "MaxUnpool": "node tests",
    "OptionalGetElement": "its operand has no tensor type",
    "QGemm": STORED,
    "QuantizeLinear": "in the QDQ graphs",
    "STFT": "node tests",
    "TensorScatter": "from opset 24 on",
}


def test_every_operator_is_drawn() -> None:
    drawn = {(recipe.domain, recipe.op) for recipe in RECIPES}
    mapped = {(domain, op) for domain, op in onnx_mappings() if not op.startswith("QLinear")}
    assert {op for domain, op in mapped - drawn if op not in NOT_DRAWN} == set()
    assert {op for op in NOT_DRAWN if op in {name for _, name in drawn - {("", "DequantizeLinear")}}} == set()
