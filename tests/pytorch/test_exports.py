"""What PyTorch's exporters write imports as it comes and computes what PyTorch computed.

``make pytorch`` exports afresh, at every opset, and names that folder in BURNC_PYTORCH_MODELS.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import burnc
from burnc.backends import Backend, device
from burnc.errors import InputError
from burnc.exporters.onnx import onnx_bytes
from burnc.ir import Array, Graph, print_graph
from burnc.numerics import dequantize
from burnc.numerics import quantize as quantize_values
from burnc.quant import QuantizeOptions, calibrate, prepare, quantize
from conformance.single_node import merged
from requirements import requires

FOLDER = Path(os.environ.get("BURNC_PYTORCH_MODELS") or Path(__file__).parent / "models")
FILES = sorted(FOLDER.glob("*.onnx"))
RELATIVE = 1e-5
"""Of the largest magnitude of a result."""


def load(path: Path) -> tuple[Graph, list[Array], list[Array]]:
    """The graph at the size that the inputs have, the inputs and PyTorch's results."""
    arrays = np.load(path.with_name(path.name.partition(".")[0] + ".npz"))
    xs, ys = ([arrays[name] for name in arrays.files if name[0] == kind] for kind in "xy")
    axis = int(arrays["dynamic"])
    batch = len(xs[0]) if axis == 0 else None
    dims = {f"x{i}:{axis}": x.shape[axis] for i, x in enumerate(xs)} if axis > 0 else {}
    return burnc.load(path, dims=dims, batch=batch).graph, xs, ys


def check(backend: Backend, paths: Iterable[Path]) -> None:
    """All networks side by side, as compilers take their time."""
    loaded = {path.name: load(path) for path in paths}
    whole = merged({name: graph for name, (graph, _, _) in loaded.items()})
    feeds = {f"{name}.{v.name}": x for name, (g, xs, _) in loaded.items() for v, x in zip(g.inputs, xs, strict=True)}
    found = backend.compile(whole).run(feeds)
    wrong = []
    for name, (graph, _, ys) in loaded.items():
        for value, y in zip(graph.outputs, ys, strict=True):
            got = found[f"{name}.{value.name}"]
            assert (got.shape, got.dtype) == (y.shape, y.dtype), name
            if np.abs(got - y).max() > RELATIVE * np.abs(y).max():
                wrong.append((name, float(np.abs(got - y).max())))
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_numpy(path: Path):
    check(device("numpy"), [path])


@requires("host compiler")
@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_c(exporter: str):
    check(device("c"), [path for path in FILES if f".{exporter}" in path.name])


def test_every_opset_has_its_turn():
    forms = {path.name.split(".")[1] for path in FILES}
    assert forms == {*(f"torchscript{n}" for n in (11, 13, 17, 20)), *(f"dynamo{n}" for n in (18, 20, 23))}


@pytest.mark.parametrize("name", ["cnn", "gru", "embedding"])
def test_an_open_batch_is_one(name: str):
    """What stands first in the batch does not depend on its size."""
    for path in FOLDER.glob(f"{name}.*.onnx"):
        _, (x,), (y,) = load(path)
        model = burnc.load(path)
        (found,) = model.run({model.graph.inputs[0].name: x[:1]}).values()
        np.testing.assert_allclose(found, y[:1], rtol=1e-4, atol=1e-6)


def test_an_open_length_is_named():
    for path in FOLDER.glob("any_length.*.onnx"):
        with pytest.raises(InputError, match=r"\(axis 2\) of input 'x0' is dynamic"):
            burnc.load(path)


QUANTIZED = (
    "cnn",
    "attention",
    "causal_attention",
    "encoder",
    "gru_two_layers",
    "lstm_with_state",
    "slicing",
    "embedding",
    "group_norm",
)


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_it_is_the_same_from_a_file(name: str, tmp_path: Path):
    """All of it in int8, near to PyTorch, and saved and loaded the same graph."""
    path = min(FOLDER.glob(f"{name}.dynamo*.onnx"))
    graph, xs, ys = load(path)
    rng = np.random.default_rng(4)
    spread = [rng.permutation(np.stack([x] * 8).reshape(-1)).reshape(8, *x.shape) for x in xs]
    data = {v.name: np.concatenate([s, x[None]]) for v, s, x in zip(graph.inputs, spread, xs, strict=True)}
    prepared = prepare(graph)
    small = quantize(prepared, calibrate(prepared, data), QuantizeOptions(require_int8=True)).graph
    (tmp_path / "small.onnx").write_bytes(onnx_bytes(small))
    assert print_graph(burnc.load(tmp_path / "small.onnx").graph) == print_graph(small)
    feeds = {
        v.name: x if v.type.quant is None else quantize_values(x, v.type, "half_even")
        for v, x in zip(small.inputs, xs, strict=True)
    }
    found = device("numpy").compile(small).run(feeds)
    for value, y in zip(small.outputs, ys, strict=True):
        np.testing.assert_allclose(dequantize(found[value.name], value.type), y, rtol=0, atol=0.08 * np.abs(y).max())
