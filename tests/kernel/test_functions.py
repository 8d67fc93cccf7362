"""Functions made of KernelIR's arithmetic, as C, against numpy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnc.backends import device
from burnc.ir import Builder, DType, Graph, TensorType
from burnc.ops import operators

COUNT = 20_000
# Function of numpy, smallest and largest argument, units in the last place.
BOUNDS = {
    "sin": (np.sin, -3.2, 3.2, 2),
    "tan": (np.tan, -1.57, 1.57, 4),
    "asin": (np.arcsin, -1, 1, 3),
    "acos": (np.arccos, -1, 1, 2),
    "atan": (np.arctan, -50, 50, 3),
    "sinh": (np.sinh, -89.4, 89.4, 5),
    "cosh": (np.cosh, -89.4, 89.4, 5),
    "asinh": (np.arcsinh, -1e4, 1e4, 4),
    "acosh": (np.arccosh, 1, 1e4, 4),
    "atanh": (np.arctanh, -1, 1, 4),
}


def arguments(name: str) -> Any:
    """Half of them even, half closer and closer to the point where the function begins."""
    _, low, high, _ = BOUNDS[name]
    rng = np.random.default_rng(1)
    even = rng.uniform(low, high, COUNT // 2)
    base = 1.0 if name == "acosh" else 0.0
    near = base + (high - base) * np.exp2(-rng.uniform(0, 40, COUNT // 2))
    return np.concatenate([even, near]).astype(np.float32)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    graph = Graph("functions")
    b = Builder(graph, operators())
    for name in BOUNDS:
        x = b.input(f"{name}_of", TensorType(DType.FLOAT32, (COUNT,)))
        graph.outputs.append(b.node(name, [x], outputs=[name]))
    return device("c").compile(graph).run({f"{name}_of": arguments(name) for name in BOUNDS})


@pytest.mark.parametrize("name", BOUNDS)
def test_error_in_units_of_the_last_place(name: str, results: dict[str, Any]):
    function, _, _, bound = BOUNDS[name]
    x = arguments(name)
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64))
        inside = np.isfinite(wanted.astype(np.float32))
        units = np.abs(results[name] - wanted)[inside] / np.spacing(np.abs(wanted[inside]).astype(np.float32))
    worst = int(np.argmax(units))
    assert units[worst] <= bound, (units[worst], x[inside][worst])
