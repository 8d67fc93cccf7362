"""Modules become graphs."""

from __future__ import annotations

import numpy as np
import pytest

from burnc import nn
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import GraphError
from burnc.ir import DType, TensorType, print_graph, verify
from burnc.train import capture


def image(*shape: int) -> dict[str, TensorType]:
    return {"x": TensorType(DType.FLOAT32, shape)}


class Residual(nn.Module):
    """Two ways that meet again, and layers in a list."""

    def __init__(self):
        self.first = nn.Conv2d(3, 4, 1)
        self.ways = [nn.DepthwiseConv2d(4, 3, padding="same"), nn.BatchNorm(4)]
        self.head = nn.Linear(4, 2, bias=False)

    def forward(self, x):
        x = nn.ReLU(6.0)(self.first(x))
        y = x
        for module in self.ways:
            y = module(y)
        return self.head(nn.GlobalAveragePool()((x + y) * 0.5))


def test_a_module_of_ones_own():
    net = Residual()
    net.initialize(3)
    names = [v.name for v in net.variables()]
    assert names[:2] == ["first.weight", "first.bias"]
    assert {"ways0.weight", "ways1.gamma", "ways1.variance", "head.weight"} <= set(names)
    assert net.parameter_count() == (3 * 4 + 4) + (9 * 4 + 4) + 2 * 4 + 4 * 2
    captured = capture(net, image(1, 5, 6, 3), output="scores")
    verify(captured.graph)
    assert [str(v.type) for v in captured.graph.inputs] == ["float32[1,5,6,3]"]
    assert captured.output.name == "scores"
    assert captured.output.type.shape == (1, 2)
    assert not captured.parameters


def test_training_takes_parameters_and_state_as_inputs():
    net = Residual()
    net.initialize(0)
    captured = capture(net, image(4, 5, 6, 3), training=True)
    assert set(captured.buffers) == set(captured.updates) == {"ways1.mean", "ways1.variance"}
    assert set(captured.parameters) | set(captured.buffers) == {v.name for v in net.variables()}
    assert "batch_norm" not in {n.op for n in captured.graph.nodes}
    assert captured.graph.inputs[0].name == "x"


def test_batch_norm_in_training_is_numpys_formula():
    norm = nn.BatchNorm(3, momentum=0.25)
    norm.initialize(0)
    captured = capture(norm, image(6, 2, 2, 3), training=True)
    captured.graph.outputs += captured.updates.values()
    rng = np.random.default_rng(1)
    x = rng.normal(2, 3, (6, 2, 2, 3)).astype(np.float32)
    feeds = {v.name: v.data for v in norm.variables()} | {"x": x}
    result = NumpyReference().compile(captured.graph).run(feeds)
    flat = x.reshape(-1, 3).astype(np.float64)
    wanted = (flat - flat.mean(0)) / np.sqrt(flat.var(0) + 1e-5)
    np.testing.assert_allclose(result["output"].reshape(-1, 3), wanted, atol=1e-5)
    np.testing.assert_allclose(result[captured.updates["mean"].name], 0.25 * flat.mean(0), rtol=1e-5)
    np.testing.assert_allclose(result[captured.updates["variance"].name], 0.75 + 0.25 * flat.var(0, ddof=1), rtol=1e-5)


def test_the_same_seed_gives_the_same_numbers_whatever_stands_beside():
    one, two = nn.Sequential(nn.Linear(4, 8)), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    one.initialize(5)
    two.initialize(5)
    np.testing.assert_array_equal(one.variables()[0].data, two.variables()[0].data)
    assert one.variables()[0].data.std() == pytest.approx(np.sqrt(2 / 4), rel=0.4)
    first = print_graph(capture(two, image(1, 4)).graph)
    two.initialize(5)
    assert print_graph(capture(two, image(1, 4)).graph) == first
    two.initialize(6)
    assert print_graph(capture(two, image(1, 4)).graph) != first


@pytest.mark.parametrize(("size", "stride", "wanted"), [(28, 1, 28), (28, 2, 14), (7, 2, 4), (5, 3, 2)])
def test_same_padding(size, stride, wanted):
    net = nn.Conv2d(1, 2, 3, stride=stride, padding="same")
    assert capture(net, image(1, size, size, 1)).output.type.shape == (1, wanted, wanted, 2)


def test_layers_that_do_not_fit_are_named():
    net = nn.Sequential(nn.Flatten(), nn.Linear(10, 3))
    with pytest.raises(GraphError, match=r"input \[1, 12\]") as caught:
        capture(net, image(1, 3, 4))
    assert "linear1" in caught.value.where or "Linear" in caught.value.where


def test_a_branch_on_numbers_is_refused():
    class Branches(nn.Module):
        def forward(self, x):
            return x or x

    with pytest.raises(GraphError, match="truth value"):
        capture(Branches(), image(1, 3))


def test_a_parameter_that_no_module_holds_is_refused():
    stray = nn.Linear(3, 3)

    class Hidden(nn.Module):
        def forward(self, x):
            return stray(x)

    with pytest.raises(GraphError, match="belongs to no module"):
        capture(Hidden(), image(1, 3))


def test_values_of_another_network_are_refused():
    net = nn.Linear(3, 2)
    net.initialize(0)
    with pytest.raises(GraphError, match="'weight' must be"):
        net.load({"weight": np.zeros((2, 2), np.float32)})
