"""How an ONNX operator is added to a random graph: the register that recipes are in, and what several of them pick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from suites.onnx_graphs import GraphMaker, Shape, Tensor

Add = Callable[[GraphMaker, str], object]
INTEGERS = ("int32", "int64")


@dataclass(frozen=True)
class Recipe:
    """``since``: the first opset that has the operator as it is made here; ``weight``: how often it is drawn."""

    op: str
    add: Add
    since: int
    weight: float
    domain: str = ""


RECIPES: list[Recipe] = []


def recipe(*ops: str, since: int = 13, weight: float = 1.0, domain: str = "") -> Callable[[Add], Add]:
    def register(add: Add) -> Add:
        RECIPES.extend(Recipe(op, add, since, weight, domain) for op in ops)
        return add

    return register


def image(g: GraphMaker, *ranks: int) -> Tensor:
    """NCH or NCHW."""

    def shape() -> Shape:
        spatial = g.random.choice(ranks)
        return (g.random.choice((1, 1, 2)), g.random.randint(1, 6), *(g.random.randint(1, 7) for _ in range(spatial)))

    return g.pick(fits=lambda s: len(s) - 2 in ranks, shape=shape)
