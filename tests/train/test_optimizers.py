"""Optimizers and whole steps against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from burnc import nn
from burnc.backends import device
from burnc.backends.numpy_reference import NumpyReference
from burnc.ir import DType, TensorType
from burnc.train import Adam, Sgd, TrainingStep, capture, mean_squared_error, softmax_cross_entropy
from burnc.train.loop import cosine_rate

BATCH = 8


def linear_step(optimizer):
    net = nn.Linear(3, 2)
    net.initialize(7)
    captured = capture(net, {"x": TensorType(DType.FLOAT32, (BATCH, 3))}, training=True)
    initial = {v.name: v.data for v in net.variables()}
    targets = TensorType(DType.FLOAT32, (BATCH, 2))
    return TrainingStep(captured, targets, mean_squared_error, optimizer, NumpyReference(), initial)


def batches(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield rng.normal(size=(BATCH, 3)).astype(np.float32), rng.normal(size=(BATCH, 2)).astype(np.float32)


def reference(optimizer, steps, rate):
    """The same in float64, from the textbook."""
    net = nn.Linear(3, 2)
    net.initialize(7)
    p = {v.name: v.data.astype(np.float64) for v in net.variables()}
    kept = {name: [np.zeros_like(v), np.zeros_like(v)] for name, v in p.items()}
    losses = []
    for t, (x, y) in enumerate(batches(steps), 1):
        error = x @ p["weight"].T + p["bias"] - y
        losses.append((error**2).mean())
        dy = 2 * error / error.size
        gradients = {"weight": dy.T @ x, "bias": dy.sum(0)}
        for name, g in gradients.items():
            a, b = kept[name]
            if isinstance(optimizer, Sgd):
                a[:] = optimizer.momentum * a + g
                change = a
            else:
                a[:] = optimizer.beta1 * a + (1 - optimizer.beta1) * g
                b[:] = optimizer.beta2 * b + (1 - optimizer.beta2) * g * g
                corrected = b / (1 - optimizer.beta2**t)
                change = a / (1 - optimizer.beta1**t) / (np.sqrt(corrected) + optimizer.epsilon)
            p[name] = p[name] - rate * (change + optimizer.decay * p[name])
    return p, losses


@pytest.mark.parametrize("optimizer", [Sgd(0.9), Sgd(0.0, 0.1), Adam(), Adam(0.8, 0.99, decay=0.05)], ids=str)
def test_steps_equal_the_formulas(optimizer):
    step = linear_step(optimizer)
    losses = [step.run({"x": x}, y, t, 0.05) for t, (x, y) in enumerate(batches(12), 1)]
    wanted, wanted_losses = reference(optimizer, 12, 0.05)
    np.testing.assert_allclose(losses, wanted_losses, rtol=1e-4)
    for name, array in wanted.items():
        np.testing.assert_allclose(step.state[name], array, rtol=1e-4, atol=1e-5)


def test_the_step_is_one_graph_of_inputs_and_outputs():
    step = linear_step(Adam())
    assert set(step.state) == {f"{p}{s}" for p in ("weight", "bias") for s in ("", ".mean", ".square")}
    assert len(step.graph.outputs) == 1 + len(step.state)


def test_a_step_on_the_c_backend_equals_numpy():
    # Without a bias before the norm: its gradient is rounding noise, which Adam would make as large as any other.
    conv = nn.Conv2d(1, 2, 3, bias=False)
    net = nn.Sequential(conv, nn.BatchNorm(2), nn.ReLU(), nn.MaxPool(2), nn.Flatten(), nn.Linear(8, 3))
    net.initialize(1)
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 6, 6, 1)).astype(np.float32), rng.integers(0, 3, 4)
    states = []
    for name in ("numpy", "c"):
        captured = capture(net, {"x": TensorType(DType.FLOAT32, (4, 6, 6, 1))}, training=True)
        initial = {v.name: v.data for v in net.variables()}
        labels = TensorType(DType.INT64, (4,))
        step = TrainingStep(captured, labels, softmax_cross_entropy, Adam(), device(name), initial)
        for number in (1, 2, 3):
            loss = step.run({"x": x}, y, number, 0.01)
        states.append((loss, step.state))
    assert states[1][0] == pytest.approx(states[0][0], rel=1e-4)
    for key, array in states[0][1].items():
        np.testing.assert_allclose(states[1][1][key], array, rtol=1e-3, atol=1e-4)


def test_cosine_rate():
    rate = cosine_rate(0.1, warm_up=0.2)
    assert rate(0.1) == pytest.approx(0.05)
    assert rate(0.2) == pytest.approx(0.1)
    assert rate(0.6) == pytest.approx(0.05)
    assert rate(1.0) == pytest.approx(0.0)
