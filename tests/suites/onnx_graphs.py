"""Small random ONNX graphs, made node by node: onnxruntime runs each node on sample inputs and so says what is valid.

A graph is a function of the ``Random`` that is drawn from: a seeded one makes graph number N the same for ever, and
hypothesis's (``strategies.randoms``) shrinks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from burnc.ir import Array

onnxruntime.set_default_logger_severity(4)  # warnings of its kernels are not the suite's

MICROSOFT = "com.microsoft"
OPSETS = (13, 15, 17, 18, 19, 20, 21)
LARGEST_TENSOR = 600
"""Elements."""
LARGEST_NUMBER = 1e4
"""Beyond it a float tells little: what follows saturates or loses all its places."""

Shape = tuple[int, ...]


class RejectedError(Exception):
    """The node that was drawn is not valid, or what it computes is of no use."""


@dataclass(frozen=True)
class Tensor:
    """A tensor of the graph and what it holds for the sample inputs."""

    name: str
    sample: Array
    is_constant: bool = False

    @property
    def shape(self) -> Shape:
        return self.sample.shape

    @property
    def rank(self) -> int:
        return self.sample.ndim

    @property
    def dtype(self) -> str:
        return self.sample.dtype.name


@dataclass
class RandomGraph:
    """A graph, and how to make inputs for it.

    Attributes:
        makers: input name -> a function of a numpy generator that makes one array for it.
        tensors: every tensor that a node computes, with what onnxruntime said for the sample inputs.
    """

    model: onnx.ModelProto
    makers: dict[str, Callable[[np.random.Generator], Array]]
    sample: dict[str, Array]
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Another set of inputs."""
        rng = np.random.default_rng(seed)
        return {name: np.asarray(make(rng)) for name, make in self.makers.items()}


class GraphMaker:
    """Holds what is made so far; recipes pick tensors from it and add nodes to it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.opset = random.choice(OPSETS)
        self.rng = np.random.default_rng(random.getrandbits(32))
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, Array] = {}
        self.makers: dict[str, Callable[[np.random.Generator], Array]] = {}
        self.samples: dict[str, Array] = {}
        self.pool: list[Tensor] = []
        self.count = 0
        self.may_be_wild = random.random() < 0.03

    # What recipes draw.

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def size(self) -> int:
        return self.random.choice((1, 2, 3, 3, 4, 5, 6))

    def shape(self, *ranks: int) -> Shape:
        """A random shape; of one of the ranks, if any are given."""
        rank = self.random.choice(ranks or (1, 2, 2, 3, 3, 4, 4, 5))
        sizes = tuple(self.size() for _ in range(rank))
        while math.prod(sizes) > LARGEST_TENSOR // 2:
            sizes = tuple(max(1, n - 1) for n in sizes)
        return sizes

    def axis(self, rank: int) -> int:
        """Any axis, counted from either end."""
        return self.random.randrange(-rank, rank)

    def pick(
        self,
        *dtypes: str,
        fits: Callable[[Shape], bool] = lambda shape: True,
        shape: Callable[[], Shape] | None = None,
        new: float = 0.15,
    ) -> Tensor:
        """A tensor that is there already, or a new input or constant.

        Args:
            dtypes: wanted element types; float32 unless given.
            fits: whether a shape will do.
            shape: makes one that does; any shape unless given.
            new: how likely a new one is where there are others.
        """
        wanted = dtypes or ("float32",)
        found = [t for t in self.pool if t.dtype in wanted and fits(t.shape)]
        if found and not self.chance(new):
            return self.random.choice(found[-4:] if self.chance(0.6) else found)
        made = (shape or self.shape)()
        if not fits(made):
            raise RejectedError
        dtype = self.random.choice(wanted)
        if len(self.makers) < 4 and (not self.makers or self.chance(0.7)):
            return self.input(dtype, made)
        return self.constant(self.numbers(dtype, made)(self.rng), dtype)

    def numbers(self, dtype: str, shape: Shape) -> Callable[[np.random.Generator], Array]:
        """A maker of arrays."""
        if dtype == "bool":
            return lambda rng: rng.random(shape) < 0.5
        if dtype != "float32":
            low = 0 if dtype.startswith("u") else -9
            return lambda rng: rng.integers(low, 10, shape).astype(dtype)
        scale = self.random.choice((0.5, 1.0, 1.0, 4.0))
        if self.chance(0.08):  # exact halves: ties and equal numbers
            return lambda rng: (rng.integers(-6, 7, shape) / 2).astype(np.float32)
        return lambda rng: np.asarray(scale * rng.standard_normal(shape), np.float32)

    def input(self, dtype: str, shape: Shape, make: Callable[[np.random.Generator], Array] | None = None) -> Tensor:
        make = make or self.numbers(dtype, shape)
        name = self._name("in")
        self.makers[name] = make
        self.samples[name] = np.asarray(make(self.rng))
        tensor = Tensor(name, self.samples[name])
        self.pool.append(tensor)
        return tensor

    def constant(self, data: Any, dtype: str | None = None) -> Tensor:
        array = np.asarray(data, dtype)
        name = self._name("const")
        self.initializers[name] = array
        return Tensor(name, array, is_constant=True)

    def weights(self, *shape: int, spread: float = 1.0) -> Tensor:
        """Constant floats, as those of trained layers."""
        fan_in = max(1, math.prod(shape[1:]))
        return self.constant(spread * self.rng.standard_normal(shape) / math.sqrt(fan_in), "float32")

    def uniform(self, shape: Shape, low: float, high: float) -> Tensor:
        return self.constant(self.rng.uniform(low, high, shape), "float32")

    def indices(self, shape: Shape, below: int, *, negative: bool = True) -> Tensor:
        """Places along an axis: a constant or an input."""
        low = -below if negative and self.chance(0.3) else 0
        dtype = self.random.choice(("int64", "int32"))

        def make(rng: np.random.Generator) -> Array:
            return rng.integers(low, below, shape).astype(dtype)

        return self.input(dtype, shape, make) if self.chance(0.5) else self.constant(make(self.rng))

    # Nodes.

    def emit(
        self, op: str, inputs: Sequence[Tensor | None], outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[Tensor]:
        """Add a node.

        Raises:
            RejectedError: onnxruntime does not take it, or its results are of no use.
        """
        names = [self._name(op.lower()) for _ in range(outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        operands = ["" if t is None else t.name for t in inputs]
        while operands and not operands[-1]:
            operands.pop()
        node = helper.make_node(op, operands, names, name=self._name("node"), domain=domain, **given)
        results = self._run(node, [t for t in inputs if t is not None])
        if not all(self._is_useful(array) for array in results):
            raise RejectedError
        self.nodes.append(node)
        tensors = [Tensor(name, array) for name, array in zip(names, results, strict=True)]
        self.pool += tensors
        return tensors

    def _is_useful(self, array: Array) -> bool:
        if not 0 < array.size <= LARGEST_TENSOR or array.ndim > 6:
            return False
        is_calm = array.dtype.kind != "f" or bool((np.abs(array) < LARGEST_NUMBER).all())
        return is_calm or self.may_be_wild

    def _run(self, node: onnx.NodeProto, operands: Sequence[Tensor]) -> list[Array]:
        held = {t.name: t.sample for t in operands if t.is_constant}
        feeds = {t.name: t.sample for t in operands if not t.is_constant}
        graph = helper.make_graph(
            [node],
            "node",
            [typed(name, array) for name, array in feeds.items()],
            [onnx.ValueInfoProto(name=name) for name in node.output],
            [numpy_helper.from_array(array, name) for name, array in held.items()],
        )
        try:
            return list(run_model(self._model(graph), feeds).values())
        except Exception as error:  # onnxruntime's exceptions have no common base
            raise RejectedError(str(error)) from error

    def _model(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _name(self, hint: str) -> str:
        self.count += 1
        return f"{hint}_{self.count}"

    # Taking back what a rejected recipe has added.

    def mark(self) -> tuple[int, int, list[str], list[str]]:
        return len(self.nodes), len(self.pool), list(self.makers), list(self.initializers)

    def return_to(self, mark: tuple[int, int, list[str], list[str]]) -> None:
        nodes, pool, inputs, constants = mark
        del self.nodes[nodes:], self.pool[pool:]
        self.makers = {name: self.makers[name] for name in inputs}
        self.samples = {name: self.samples[name] for name in inputs}
        self.initializers = {name: self.initializers[name] for name in constants}

    def finish(self) -> RandomGraph:
        """The graph: what nothing reads is an output, and now and then an inner tensor is, too."""
        read = {name for node in self.nodes for name in node.input}
        made = {name for node in self.nodes for name in node.output}
        computed = [t for t in self.pool if t.name in made]
        outputs = [t for t in computed if t.name not in read or self.chance(0.05)]
        self.random.shuffle(outputs)
        graph = helper.make_graph(
            self.nodes,
            "random",
            [typed(name, array) for name, array in self.samples.items() if name in read],
            [typed(t.name, t.sample) for t in outputs],
            [numpy_helper.from_array(array, name) for name, array in self.initializers.items() if name in read],
        )
        makers = {name: make for name, make in self.makers.items() if name in read}
        sample = {name: self.samples[name] for name in makers}
        return RandomGraph(self._model(graph), makers, sample, {t.name: t for t in computed})


def typed(name: str, array: Array) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def run_model(model: onnx.ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes, without its own rewrites."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    held = {name: np.asarray(array) for name, array in feeds.items()}
    return dict(zip(names, (np.asarray(y) for y in session.run(names, held)), strict=True))


def with_all_tensors(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model that returns every tensor that a node computes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    declared = {value.name for value in copy.graph.output}
    for node in copy.graph.node:
        copy.graph.output.extend(onnx.ValueInfoProto(name=n) for n in node.output if n and n not in declared)
    return copy


def truth_of(model: onnx.ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """Every tensor that a node computes, by onnxruntime, with the zero point where a NaN is quantized.

    ONNX leaves that integer open. onnxruntime's is whatever the processor converts NaN to (-128 on x86), and what is
    computed from it is as arbitrary.
    """
    truth = run_model(with_all_tensors(model), feeds)
    undefined = {
        node.input[0]
        for node in model.graph.node
        if node.op_type == "QuantizeLinear" and node.input[0] in truth and np.isnan(truth[node.input[0]]).any()
    }
    if not undefined:
        return truth
    return run_model(with_all_tensors(_with_zero_for_nan(model, {n: truth[n].dtype for n in undefined})), feeds)


def _with_zero_for_nan(model: onnx.ModelProto, names: dict[str, Any]) -> onnx.ModelProto:
    """The model whose QuantizeLinear nodes read 0 where those tensors are NaN; element types by name."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.node[:]
    for node in model.graph.node:
        name = node.input[0] if node.input else ""
        if node.op_type != "QuantizeLinear" or name not in names:
            copy.graph.node.append(node)
            continue
        zero, is_nan, number = (f"{node.output[0]}.{part}" for part in ("zero", "is_nan", "number"))
        copy.graph.initializer.append(numpy_helper.from_array(np.zeros((), names[name]), zero))
        copy.graph.node.append(helper.make_node("IsNaN", [name], [is_nan], name=is_nan))
        copy.graph.node.append(helper.make_node("Where", [is_nan, zero, name], [number], name=number))
        copy.graph.node.append(node)
        copy.graph.node[-1].input[0] = number
    return copy
