"""Recipes of elementwise operators and reductions."""

from __future__ import annotations

from suites.onnx_graphs import MICROSOFT, GraphMaker, Shape, Tensor
from suites.recipe import INTEGERS, recipe


@recipe("Abs", "Neg", "Sign")
def _signed_unary(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick(*(("float32", *INTEGERS) if g.chance(0.2) else ()))])


@recipe("Ceil", "Floor", "Round", "Sin", "Cos", "Exp", "Erf", "Softplus", "Softsign", "Reciprocal")
@recipe("Sigmoid", "Tanh", "Relu", weight=2)
@recipe("HardSwish", since=14)
@recipe("Mish", since=18)
def _unary(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()])


@recipe("Log", "Sqrt")
def _of_positive(g: GraphMaker, op: str) -> None:
    (positive,) = g.emit("Abs", [g.pick()])
    if op == "Log":
        (positive,) = g.emit("Add", [positive, g.constant(0.01, "float32")])
    g.emit(op, [positive])


@recipe("LeakyRelu", "Elu", "Celu")
def _with_alpha(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()], alpha=g.random.choice((None, 0.1, 0.25, 1.5)))


@recipe("Selu")
def _selu(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()], alpha=g.random.choice((None, 1.2)), gamma=g.random.choice((None, 0.7)))


@recipe("HardSigmoid")
def _hard_sigmoid(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()], alpha=g.random.choice((None, 0.3)), beta=g.random.choice((None, 0.4)))


@recipe("Gelu", since=20)
def _gelu(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()], approximate=g.random.choice((None, "none", "tanh")))


@recipe("Gelu", domain=MICROSOFT)
def _microsoft_gelu(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick()], domain=MICROSOFT)


@recipe("FastGelu", domain=MICROSOFT)
def _fast_gelu(g: GraphMaker, op: str) -> None:
    x = g.pick()
    bias = g.weights(x.shape[-1]) if x.rank and g.chance(0.4) else None
    g.emit(op, [x, bias], domain=MICROSOFT)


@recipe("Identity")
def _identity(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick("float32", *INTEGERS, "bool")])


@recipe("Dropout")
def _dropout(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick(), g.constant(0.3, "float32") if g.chance(0.5) else None])


@recipe("Clip", weight=1.5)
def _clip(g: GraphMaker, op: str) -> None:
    low, high = sorted(g.rng.uniform(-2, 6, 2).tolist())
    limits = [g.constant(v, "float32") if g.chance(0.7) else None for v in g.random.choice([(low, high), (0, 6)])]
    g.emit(op, [g.pick(), *limits])


@recipe("PRelu")
def _prelu(g: GraphMaker, op: str) -> None:
    x = g.pick()
    g.emit(op, [x, g.uniform(_one_way(g, x.shape), -0.5, 0.9)])


@recipe("Softmax", "LogSoftmax")
def _softmax(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda shape: len(shape) > 0)
    g.emit(op, [x], axis=g.axis(x.rank) if g.chance(0.7) else None)


def _partner(g: GraphMaker, x: Tensor) -> Tensor:
    """A second operand that broadcasts with the first."""
    return g.pick(x.dtype, fits=lambda s: _broadcasts(s, x.shape), shape=lambda: _one_way(g, x.shape), new=0.35)


def _broadcasts(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _one_way(g: GraphMaker, shape: Shape) -> Shape:
    """A shape that broadcasts to another one."""
    kept = shape[g.random.randint(0, len(shape)) if g.chance(0.5) else 0 :]
    return tuple(1 if g.chance(0.3) else n for n in kept)


def _pair(g: GraphMaker, x: Tensor, y: Tensor) -> list[Tensor]:
    return [x, y] if g.chance(0.6) else [y, x]


@recipe("Add", weight=5)
@recipe("Mul", weight=3)
@recipe("Sub", weight=2)
def _binary(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if g.chance(0.15) else ()))
    g.emit(op, _pair(g, x, _partner(g, x)))


@recipe("Div")
def _div(g: GraphMaker, op: str) -> object:
    if g.chance(0.2):
        x = g.pick(*INTEGERS)
        return g.emit(op, [x, g.constant(g.rng.choice([-3, -1, 1, 2, 7], _one_way(g, x.shape)), x.dtype)])
    x = g.pick()
    return g.emit(op, _pair(g, x, _partner(g, x)))


@recipe("Mod")
def _mod(g: GraphMaker, op: str) -> None:
    x = g.pick(*INTEGERS, new=0.5)
    divisor = g.constant(g.rng.choice([-3, 2, 5], _one_way(g, x.shape)), x.dtype)
    g.emit(op, [x, divisor], fmod=g.random.choice((None, 0, 1)))


@recipe("Pow")
def _pow(g: GraphMaker, op: str) -> object:
    if g.chance(0.6):
        return g.emit(op, [g.pick(), g.constant(g.random.choice((2.0, 3.0, 1.0, 0.0, -1.0)), "float32")])
    (positive,) = g.emit("Abs", [g.pick()])
    exponent = g.constant(g.random.choice((0.5, -0.5, 1.5)), "float32") if g.chance(0.6) else _partner(g, positive)
    return g.emit(op, [positive, exponent])


@recipe("Max", "Min", "Sum", "Mean")
def _variadic(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if op in ("Max", "Min") and g.chance(0.2) else ()))
    operands = [x, *(_partner(g, x) for _ in range(g.random.choice((0, 1, 1, 1, 2))))]
    g.random.shuffle(operands)
    g.emit(op, operands)


@recipe("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", since=16)
def _compare(g: GraphMaker, op: str) -> None:
    x = g.pick("float32", *INTEGERS)
    g.emit(op, _pair(g, x, _partner(g, x)))


@recipe("And", "Or", "Xor")
def _logical(g: GraphMaker, op: str) -> None:
    x = g.pick("bool")
    g.emit(op, _pair(g, x, _partner(g, x)))


@recipe("Not")
def _not(g: GraphMaker, op: str) -> None:
    g.emit(op, [g.pick("bool")])


@recipe("Where", since=16, weight=1.5)
def _where(g: GraphMaker, op: str) -> None:
    condition = g.pick("bool", new=0.4)
    x = g.pick(*(("float32", *INTEGERS) if g.chance(0.2) else ()), fits=lambda s: _broadcasts(s, condition.shape))
    y = _partner(g, x)
    g.emit(op, [condition, *_pair(g, x, y)])


@recipe("Cast")
def _cast(g: GraphMaker, op: str) -> None:
    kinds = {"float32": 1, "int32": 6, "int64": 7, "bool": 9, "uint8": 2, "int8": 3}
    x = g.pick("float32", *INTEGERS, "bool", "uint8")
    to = g.random.choice(("float32", "float32", "int32", "int64", "bool", "uint8", "int8"))
    if x.dtype == "float32" and to in ("uint8", "int8"):
        (x,) = g.emit("Clip", [x, g.constant(0.0, "float32"), g.constant(100.0, "float32")])
    g.emit(op, [x], to=kinds[to])


def _axes(g: GraphMaker, rank: int) -> list[int]:
    axes = g.random.sample(range(rank), g.random.randint(1, max(1, rank - 1))) if rank else []
    return [a - rank if g.chance(0.3) else a for a in axes]


@recipe("ReduceMean", weight=2)
@recipe("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum")
@recipe("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum", weight=0.6)
def _reduce(g: GraphMaker, op: str) -> None:
    x = g.pick(*(("float32", *INTEGERS) if op in ("ReduceMax", "ReduceSum") and g.chance(0.15) else ()))
    if op == "ReduceLogSum":
        (x,) = g.emit("Exp", [x])
    axes: list[int] | None = _axes(g, x.rank) if g.chance(0.85) else None
    keep = g.random.choice((None, 0, 1))
    if op == "ReduceSum" or g.opset >= 18:
        g.emit(op, [x, g.constant(axes, "int64") if axes else None], keepdims=keep)
    else:
        g.emit(op, [x], axes=axes or None, keepdims=keep)


@recipe("ArgMax", "ArgMin")
def _arg_max(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    g.emit(
        op, [x], axis=g.axis(x.rank), keepdims=g.random.choice((0, 1)), select_last_index=g.random.choice((None, 0, 1))
    )


@recipe("TopK")
def _top_k(g: GraphMaker, op: str) -> None:
    x = g.pick(fits=lambda s: len(s) > 0)
    axis = g.axis(x.rank)
    k = g.constant([g.random.randint(1, x.shape[axis])], "int64")
    g.emit(op, [x, k], 2, axis=axis, largest=g.random.choice((0, 1)), sorted=1)


@recipe("CumSum")
def _cum_sum(g: GraphMaker, op: str) -> None:
    x = g.pick("float32", *INTEGERS, fits=lambda s: len(s) > 0)
    axis = g.constant(g.axis(x.rank), "int64")
    g.emit(op, [x, axis], exclusive=g.random.choice((0, 1)), reverse=g.random.choice((0, 1)))
