"""What rnn, gru and lstm share: attributes, operands, the way through a sequence, and how ONNX writes them.

Operands are ONNX's, D = 2 for a bidirectional layer, else 1, G the number of gates: x [T,N,I], w [D,GH,I], r [D,GH,H],
b [D,2GH] (first those of w, then those of r), lengths [N] (int32: how many steps of each sequence count), then what
each operator remembers [D,N,H] (zeros where absent). Results: y [T,D,N,H] and what is remembered at last [D,N,H]. y is
zero behind the end of a sequence; a reversed sequence begins at its own end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import FLOAT32, KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Case, Operand, case, weights
from burnc.ops.mapping import Build, FileNode
from burnc.ops.recurrent_activations import ACTIVATIONS, ONNX_NAMES, Mathematics, listed_factors, with_factors
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import OnnxWriter, required
from burnc.ops.transpose import TransposeAttrs

DIRECTIONS = ("forward", "reverse", "bidirectional")
X, W, R, B, LENGTHS, FIRST_STATE = range(6)


@dataclass(frozen=True)
class RecurrentAttrs:
    """Attributes.

    Attributes:
        direction: forward, reverse or bidirectional.
        activations: names in lower case, those of the first direction first; none for the operator's own.
        alphas, betas: a number for each activation; 0 where it has no such factor.
        clip: bound on the magnitude of gates before their activations; 0 for none.
    """

    direction: str = "forward"
    activations: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    clip: float = 0.0

    @property
    def backward(self) -> tuple[bool, ...]:
        """For each direction, whether it goes from the end of the sequence to its beginning."""
        return {"forward": (False,), "reverse": (True,)}.get(self.direction, (False, True))


@dataclass(frozen=True)
class Form:
    """One of the three operators.

    Attributes:
        gates: G above.
        states: names of what is remembered.
        activations: the operator's own, for one direction: first those of gates, then those of what is remembered.
        gate_activations: how many those of gates are.
        after_states: names of further operands, each [D, n*H]; they have no int8 form.
    """

    gates: int
    states: tuple[str, ...]
    activations: tuple[str, ...]
    gate_activations: int
    after_states: tuple[tuple[str, int], ...] = ()

    @property
    def operands(self) -> int:
        return FIRST_STATE + len(self.states) + len(self.after_states)

    def infer(self, a: RecurrentAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
        if a.direction not in DIRECTIONS:
            raise GraphError(f"direction {a.direction!r} is none of {', '.join(DIRECTIONS)}")
        if len(inputs) != self.operands:
            raise GraphError(f"{len(inputs)} operands; it takes {self.operands}, absent ones included")
        x, w, r = (required(inputs, i) for i in (X, W, R))
        if (x.rank, w.rank, r.rank) != (3, 3, 3) or r.shape[1] != self.gates * r.shape[2]:
            g = self.gates
            raise GraphError(f"x {x.shape}, w {w.shape}, r {r.shape} are not [T,N,I], [D,{g}H,I], [D,{g}H,H]")
        (length, batch, size), (directions, rows, hidden) = x.shape, r.shape
        wanted = {W: (directions, rows, size), B: (directions, 2 * rows), LENGTHS: (batch,)}
        wanted |= dict.fromkeys(self._state_places, (directions, batch, hidden))
        for place, (_, count) in enumerate(self.after_states, start=FIRST_STATE + len(self.states)):
            wanted[place] = (directions, count * hidden)
        for index, shape in wanted.items():
            type_ = inputs[index]
            if type_ is not None and type_.shape != shape:
                raise GraphError(f"input {index} is {list(type_.shape)}, it must be {list(shape)}")
        if directions != len(a.backward):
            raise GraphError(f"weights for {directions} directions do not go with direction {a.direction!r}")
        self._check_activations(a)
        kinds = self._kinds(x.dtype)
        if any(t is not None and t.dtype is not kind for t, kind in zip(inputs, kinds, strict=True)):
            raise GraphError(f"operands must be {', '.join(kind.value for kind in kinds)}")
        states = [TensorType(kinds[i], (directions, batch, hidden)) for i in self._state_places]
        return [states[0].with_shape((length, *states[0].shape)), *states]

    @property
    def _state_places(self) -> range:
        return range(FIRST_STATE, FIRST_STATE + len(self.states))

    @property
    def recurrent(self) -> tuple[tuple[int, int], ...]:
        """``OpSpec.recurrent``."""
        return tuple((place, number) for number, place in enumerate(self._state_places, start=1))

    def _kinds(self, x: DType) -> tuple[DType, ...]:
        """Element types of the operands; beside int16 the bias is int64, and c is int16 in any case."""
        if x not in (DType.INT8, DType.INT16):
            return tuple(DType.INT32 if i == LENGTHS else FLOAT32 for i in range(self.operands))
        bias = DType.INT64 if x is DType.INT16 else DType.INT32
        states = (x, DType.INT16)[: len(self.states)]
        return (x, DType.INT8, DType.INT8, bias, DType.INT32, *states, *[DType.INT8] * len(self.after_states))

    def _check_activations(self, a: RecurrentAttrs) -> None:
        count = len(self.activations) * len(a.backward)
        if a.activations and {len(a.activations), len(a.alphas), len(a.betas)} != {count}:
            raise GraphError(f"{len(a.activations)} activations; {count} are needed, each with alpha and beta")
        unknown = sorted(set(a.activations) - set(ACTIVATIONS))
        if unknown:
            raise GraphError(f"activation {unknown[0]!r} is none of {', '.join(ACTIVATIONS)}")

    def functions(self, m: Mathematics, a: RecurrentAttrs, d: int) -> list[Callable[[Any], Any]]:
        """The activations of a direction, those of gates behind the clip (as onnxruntime does)."""
        count = len(self.activations)
        names = (a.activations or self.activations * len(a.backward))[d * count : (d + 1) * count]
        alphas, betas = ((f or (0.0,) * count * len(a.backward))[d * count :] for f in (a.alphas, a.betas))

        def function(place: int) -> Callable[[Any], Any]:
            real, bound = ACTIVATIONS[names[place]].real, a.clip if place < self.gate_activations else 0.0
            return lambda x: real(m, alphas[place], betas[place], m.let("sum", clipped(m, x, bound)))

        return [function(place) for place in range(count)]

    def begin(self, xp: Any, x: Any, r: Any, *given: Any) -> list[Any]:
        """What is remembered at first, as arrays that may be changed."""
        shape = (len(r), x.shape[1], r.shape[2])
        return [xp.zeros(shape, x.dtype) if v is None else v.copy() for v in given]

    def sums(self, xp: Any, d: int, x: Any, h: Any, w: Any, r: Any, b: Any) -> Any:
        """All gates of a step before their activations, as an array [N,GH]."""
        bias = 0 if b is None else b[d, : w.shape[1]] + b[d, w.shape[1] :]
        return xp.matmul(x, w[d].T) + xp.matmul(h, r[d].T) + bias

    def macs(self, node: Node) -> int:
        length, batch, size = node.input(X).type.shape
        directions, rows, hidden = node.input(R).type.shape
        return length * batch * directions * rows * (size + hidden)

    def from_onnx(self, op: str, **further: Any) -> Build:
        """The mapping; ``further`` are attributes of the operator alone with their defaults, under ONNX's names."""

        def build(node: FileNode) -> list[Value]:
            chosen = [str(name).lower() for name in node.attribute("activations", ())]
            given = {name: type(value)(node.attribute(name, value)) for name, value in further.items()}
            attrs = node.builder.operators[op].attrs(
                direction=node.attribute("direction", "forward"),
                **self._activation_attrs(node, chosen),
                clip=_bound(node),
                **given,
            )
            hidden = node.input(R).type.shape[-1]
            if node.attribute("hidden_size", hidden) != hidden:
                node.refuse(f"hidden_size = {node.attribute('hidden_size')} does not go with R {node.input(R).type}")
            operands = [node.inputs[i] if node.has_input(i) else None for i in range(self.operands)]
            for i in self._state_places:
                operands[i] = None if _is_zero(operands[i]) else operands[i]
            is_batch_first = bool(node.attribute("layout", 0))
            if is_batch_first:
                for i in (X, *self._state_places):
                    value = operands[i]
                    operands[i] = None if value is None else swapped(node, value, f"input{i}")
            operands[LENGTHS] = _lengths(node, operands[X])
            wanted = [*node.output_names, *[""] * len(self.states)]
            roles = ("y", *self.states)
            names = [f"{node.name}.{r}" if is_batch_first or not n else n for n, r in zip(wanted, roles, strict=False)]
            made = node.builder.nodes(op, operands, attrs, name=node.name, outputs=names)
            return self._batch_first(node, made) if is_batch_first else made

        return build

    def _activation_attrs(self, node: FileNode, chosen: list[str]) -> dict[str, tuple[Any, ...]]:
        unknown = [name for name in chosen if name not in ACTIVATIONS]
        if unknown:
            node.refuse(f"activations {chosen} are not supported: {unknown[0]} is none of {', '.join(ACTIVATIONS)}")
        if tuple(chosen) == self.activations * (len(chosen) // len(self.activations)):
            return {}
        alphas, betas = with_factors(chosen, *(node.attribute(f"activation_{name}", ()) for name in ("alpha", "beta")))
        return {"activations": tuple(chosen), "alphas": tuple(alphas), "betas": tuple(betas)}

    def _batch_first(self, node: FileNode, made: Sequence[Value]) -> list[Value]:
        """Results with the batch in front: y [N,T,D,H], states [N,D,H]."""
        permutations = ((2, 0, 1, 3), *[(1, 0, 2)] * len(self.states))
        names = [*node.output_names, *[""] * len(self.states)]
        return [
            node.emit("transpose", [value], TransposeAttrs(order), last=False, **({"outputs": (name,)} if name else {}))
            if name
            else value
            for value, order, name in zip(made, permutations, names, strict=False)
        ]

    def to_onnx(self, op_type: str, **further: str) -> Callable[[OnnxWriter, Node], None]:
        """``further``: ONNX's name -> ours of the operator's own attributes."""

        def write(w: OnnxWriter, node: Node) -> None:
            a = node.attrs
            names = [w.input(node, i) for i in range(self.operands)]
            while not names[-1]:
                names.pop()
            given = {theirs: getattr(a, ours) for theirs, ours in further.items() if getattr(a, ours)}
            if a.activations:
                alphas, betas = listed_factors(a.activations, a.alphas, a.betas)
                given["activations"] = [ONNX_NAMES[name] for name in a.activations]
                given |= {"activation_alpha": alphas or None, "activation_beta": betas or None}
            results = [w.output(node, i) for i in range(1 + len(self.states))]
            hidden = node.input(R).type.shape[2]
            clip = a.clip or None
            w.emit(op_type, names, results, hidden_size=hidden, direction=a.direction, clip=clip, **given)

        return write

    def case(
        self,
        a: RecurrentAttrs,
        x: tuple[int, int, int],
        hidden: int,
        *rest: Operand | tuple[int, ...] | None,
        reach: float = 1.0,
        p: Operand | None = None,
    ) -> Case:
        """A case of the conformance suite; ``rest`` are the operands behind r, ``p`` is the last one."""
        d, rows = len(a.backward), self.gates * hidden
        operands = [Operand(x, low=-reach, high=reach), weights(d, rows, x[2]), weights(d, rows, hidden), *rest]
        operands += [None] * (self.operands - len(operands))
        if p is not None:
            operands[-1] = p
        return case(*operands, attrs=a, kinds=("float32",))

    def activation_cases(self, attrs: type[Any], **further: Any) -> list[Case]:
        """Every activation, in two directions at a time."""
        count, found = len(self.activations), []
        for first in range(0, len(ACTIVATIONS), 2 * count):
            names = [list(ACTIVATIONS)[(first + i) % len(ACTIVATIONS)] for i in range(2 * count)]
            alphas, betas = with_factors(names, (0.3,) * len(names), (0.4,) * len(names))
            a = attrs("bidirectional", tuple(names), tuple(alphas), tuple(betas), **further)
            found.append(self.case(a, (2, 2, 3), 2, weights(2, 4 * self.gates), reach=3))
        return found

    def length_cases(self, attrs: type[Any], **further: Any) -> list[Case]:
        """Sequences that end before the others, in each direction."""
        ends = Operand((3,), dtype="int32", values=(2, 4, 1))
        given = [None, ends, *[(2, 3, 2)] * len(self.states)]
        return [
            self.case(attrs("forward", **further), (4, 3, 2), 2, None, ends),
            self.case(attrs("bidirectional", **further), (4, 3, 2), 2, *given),
        ]


def _is_zero(value: Value | None) -> bool:
    """What an absent operand means anyway."""
    return value is not None and value.data is not None and not value.data.any()


def _bound(node: FileNode) -> float:
    """The attribute clip; infinity bounds nothing."""
    clip = float(node.attribute("clip", 0.0))
    if not clip >= 0:
        node.refuse(f"clip = {clip} is no bound")
    return 0.0 if math.isinf(clip) else clip


def _lengths(node: FileNode, x: Value | None) -> Value | None:
    """sequence_lens, unless every sequence has the full length."""
    if not node.has_input(LENGTHS) or x is None:
        return None
    given = node.input(LENGTHS)
    if given.data is None:
        return given
    steps = x.type.shape[0]
    if (given.data < 0).any() or (given.data > steps).any():
        node.refuse(f"sequence_lens {given.data.tolist()} are not between 0 and {steps}")
    return None if (given.data == steps).all() else given


def swapped(node: FileNode, value: Value, role: str, *, last: bool = False) -> Value:
    """The first two axes exchanged: one sequence is its own bytes."""
    first, second, *rest = value.type.shape
    one = 1 in (first, second)
    op, attrs = ("reshape", ReshapeAttrs((second, first, *rest))) if one else ("transpose", TransposeAttrs((1, 0, 2)))
    name = {"name": f"{node.name}.{role}"} if role else {}
    return node.emit(op, [value], attrs, last=last, quant=value.type.quant, **name)


def clipped(m: Mathematics, x: Any, bound: float) -> Any:
    """Held between -bound and bound; 0 is no bound."""
    return m.maximum(m.minimum(x, bound), -bound) if bound else x


class Step:
    """One step of one direction in a kernel."""

    def __init__(
        self, k: KernelBuilder, d: int, number: Expr, backward: bool, operands: Sequence[Any], results: Sequence[Tensor]
    ) -> None:
        self.k, self.d, self.number, self.backward = k, d, number, backward
        self.x, self.w, self.r, self.b = operands[:LENGTHS]
        self.lengths: Tensor | None = operands[LENGTHS]
        self.y, *self.states = results
        self.length: int = self.x.shape[0]
        self.size: int = self.x.shape[2]
        self.hidden = self.r.shape[2]

    def _place(self, n: Expr) -> Expr:
        """Where in the sequence the step is; some place where that is beyond its end."""
        if not self.backward:
            return self.number
        if self.lengths is None:
            return self.length - 1 - self.number
        return self.k.maximum(self._steps(n) - 1 - self.number, 0)

    def _steps(self, n: Expr) -> Expr:
        assert self.lengths is not None
        return self.k.minimum(self.lengths.raw(n), self.length)

    def from_input(self, n: Expr, row: Expr) -> Any:
        """The sum of a row of w with the operand of this step, and its bias, as an accumulator."""
        acc = self.k.accumulator(self.b[self.d, row] if self.b else 0)
        t = self.k.let("t", self._place(n)) if self.lengths is not None else self._place(n)
        for (i,) in self.k.reduce((self.size,), "i"):
            acc += self.x[t, n, i] * self.w[self.d, row, i]
        return acc

    def recurrent_bias(self, row: Expr) -> Expr | float:
        return self.b[self.d, row + self.r.shape[1]] if self.b else 0

    def add_recurrent(self, acc: Any, n: Expr, row: Expr, h: Callable[[Expr, Expr], Expr] | None = None) -> Any:
        """Plus the sum of a row of r with what is remembered (or with ``h``)."""
        for (j,) in self.k.reduce((self.hidden,), "j"):
            acc += (self.states[0][self.d, n, j] if h is None else h(n, j)) * self.r[self.d, row, j]
        return acc

    def sums(self, gates: Tensor, rows: int, both: int, batch: int) -> None:
        """A stage: sums of the first ``both`` rows with the recurrent part, of the others from the operand alone."""
        for n, row in self.k.grid((batch, both), "n gate"):
            acc = self.from_input(n, row)
            acc += self.recurrent_bias(row)
            gates[n, row] = self.add_recurrent(acc, n, row).value
        if rows > both:
            for n, row in self.k.grid((batch, rows - both), "n gate"):
                gates[n, row + both] = self.from_input(n, row + both).value

    def store(self, n: Expr, j: Expr, *states: Expr) -> None:
        """What is remembered from now on, h first, which is the step's result, too."""
        k, d = self.k, self.d

        def keep() -> None:
            for tensor, value in zip(self.states, states, strict=True):
                tensor[d, n, j] = value
            self.y[self._place(n), d, n, j] = states[0]

        if self.lengths is None:
            keep()
            return
        with k.when(self.number < self._steps(n)):
            keep()
        with k.when(self.number >= self._steps(n)):
            self.y[self.number, d, n, j] = zero_of(self.y)


def zero_of(tensor: Tensor) -> float | int:
    """What is stored for 0."""
    return 0.0 if tensor.type.dtype.is_float else 0 if tensor.type.quant is None else tensor.type.zero_point


def steps(
    k: KernelBuilder, a: RecurrentAttrs, operands: Sequence[Tensor | None], results: Sequence[Tensor]
) -> Iterator[Step]:
    """The loops of a kernel: what is remembered begins, then step by step, a barrier after each."""
    x, r = operands[X], operands[R]
    assert x is not None
    assert r is not None
    batch, hidden = x.shape[1], r.shape[2]
    for d, backward in enumerate(a.backward):
        for n, j in k.grid((batch, hidden), "n j"):
            for given, state in zip(operands[FIRST_STATE:], results[1:], strict=False):
                state[d, n, j] = given.raw(d, n, j) if given else zero_of(state)
        k.barrier()
        for (number,) in k.reduce((x.shape[0],), "t"):
            yield Step(k, d, number, backward, operands, results)
            k.barrier()


def through(
    xp: Any,
    a: RecurrentAttrs,
    x: Any,
    lengths: Any,
    states: Sequence[Any],
    step: Callable[..., Sequence[Any]],
    zero: int = 0,
) -> tuple[Any, ...]:
    """The same way on arrays: ``step(d, x of the step, *states)`` gives the next states. ``states`` are changed.

    Args:
        zero: what y holds behind the end of a sequence.
    """
    length, batch = x.shape[:2]
    y = xp.full((length, *states[0].shape), zero, states[0].dtype)
    ends = xp.full(batch, length) if lengths is None else xp.clip(lengths, 0, length)
    everyone = xp.arange(batch)
    for d, backward in enumerate(a.backward):
        for number in range(length):
            places = xp.maximum(ends - 1 - number, 0) if backward else xp.full(batch, number)
            running = number < ends
            found = step(d, x[places, everyone], *(state[d] for state in states))
            for state, value in zip(states, found, strict=True):
                state[d] = xp.where(running[:, None], value, state[d])
            y[places[running], d, everyone[running]] = states[0][d][running]
    return (y, *states)
