"""TFLite files with variables and several subgraphs, against what TFLite Micro keeps from run to run."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import burnc
from burnc.backends import device
from burnc.errors import UnsupportedError
from burnc.importers.tflite import import_tflite
from burnc.ir import Array, DType, Graph, QuantParams, TensorType
from burnc.ir.metadata import NOTES
from importers.small_nets import ROOT, import_calmly
from oracles.tflite_writer import _Writer
from oracles.tflm import TfliteMicro
from requirements import requires, requires_package

Q = QuantParams.per_tensor(0.5, -3)
FRAME, WINDOW, KEPT = (TensorType(DType.INT8, (1, n, 2), Q) for n in (1, 4, 3))
FLOATS = TensorType(DType.FLOAT32, (3,))
NUMBER = TensorType(DType.INT32, ())
BOOL = TensorType(DType.BOOL, (1,))


def int32(*values: int) -> Array:
    return np.array(values, np.int32)


def assigned_once(w: _Writer, **initial: tuple[Array, QuantParams | None]) -> None:
    """CALL_ONCE of a subgraph that assigns constants."""
    once = w.subgraph()
    for name, (data, quant) in initial.items():
        once.operator("ASSIGN_VARIABLE", [once.handle(name), once.constant(f"{name}_0", data, quant)], [])
    w.operator("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=once.index)


def read(w: _Writer, handle: int, type_: TensorType, name: str = "held") -> int:
    made = w.new_tensor(name, type_)
    w.operator("READ_VARIABLE", [handle], [made])
    return made


def binary(w: _Writer, code: str, a: int, b: int, type_: TensorType, name: str) -> int:
    made = w.new_tensor(name, type_)
    w.operator(code, [a, b], [made], f"{code.title()}Options")
    return made


def window(initial: Array | None) -> bytes:
    """y = the last four frames; a variable keeps three of them."""
    w = _Writer()
    x, y, rest = w.new_tensor("x", FRAME), w.new_tensor("y", WINDOW), w.new_tensor("rest", KEPT)
    if initial is not None:
        assigned_once(w, ring=(initial, Q))
    handle = w.handle("ring")
    w.operator("CONCATENATION", [read(w, handle, KEPT), x], [y], "ConcatenationOptions", Axis=1)
    lists = [w.constant(n, int32(*v)) for n, v in (("b", (0, 1, 0)), ("e", (0, 0, 0)), ("s", (1, 1, 1)))]
    w.operator("STRIDED_SLICE", [y, *lists], [rest], "StridedSliceOptions", BeginMask=5, EndMask=7)
    w.operator("ASSIGN_VARIABLE", [handle, rest], [])
    return w.finish([x], [y])


def accumulated() -> bytes:
    """Two variables: each run adds to one twice, once through another handle, and they change places at its end."""
    w = _Writer()
    x = w.new_tensor("x", FLOATS)
    assigned_once(w, a=(np.array([1, 2, 3], np.float32), None))
    a, b = w.handle("a"), w.handle("b")
    first = read(w, a, FLOATS, "a_0")
    w.operator("ASSIGN_VARIABLE", [a, binary(w, "ADD", first, x, FLOATS, "a_1")], [])
    again = w.handle("a")
    second = read(w, again, FLOATS, "a_2")
    y = binary(w, "ADD", second, read(w, b, FLOATS, "b_0"), FLOATS, "y")
    w.operator("ASSIGN_VARIABLE", [b, second], [])
    w.operator("ASSIGN_VARIABLE", [again, y], [])
    return w.finish([x], [y])


MODELS = {
    "ring": window(np.arange(6, dtype=np.int8).reshape(1, 3, 2)),
    "ring without initial value": window(None),
    "accumulated": accumulated(),
    "microWakeWord's voice activity": (ROOT / "tests/models/mww_vad_v2.tflite").read_bytes(),
}


def load(data: bytes, folder: Path) -> Graph:
    (folder / "m.tflite").write_bytes(data)
    return burnc.load(folder / "m.tflite").graph


def inputs_of(graph: Graph, count: int) -> list[Array]:
    rng = np.random.default_rng(5)
    (x,) = graph.inputs
    reach = 128 if x.type.dtype is DType.INT8 else 9
    return [rng.integers(-reach, reach, x.type.shape).astype(x.type.dtype.numpy) for _ in range(count)]


@requires_package("tflite_micro")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("on", ["numpy", pytest.param("c", marks=requires("host compiler"))])
def test_variables_are_kept_as_tflite_micro_keeps_them(name: str, on: str, tmp_path: Path):
    check_runs(name, on, tmp_path)


@requires_package("tflite_micro")
@requires("arm compiler", "node", "rp2040js")
def test_variables_on_the_emulated_pico(tmp_path: Path):
    check_runs("microWakeWord's voice activity", "pico", tmp_path)


def check_runs(name: str, on: str, tmp_path: Path) -> None:
    """Five runs, a reset, and the same again, as TFLite Micro gives them."""
    graph = load(MODELS[name], tmp_path)
    oracle, executable = TfliteMicro(MODELS[name]), device(on).compile(graph)
    (x,), (y,) = graph.inputs, graph.outputs
    runs = inputs_of(graph, 5)
    wanted = [oracle.run(array)[0].tolist() for array in runs]
    for _ in range(2):
        assert [executable.run({x.name: array})[y.name].tolist() for array in runs] == wanted
        executable.reset()


def test_inspect_lists_the_states(tmp_path: Path):
    (tmp_path / "m.tflite").write_bytes(MODELS["ring"])
    report = burnc.load(tmp_path / "m.tflite").inspect().to_json()
    assert report["states"] == [{"name": "ring", "type": "int8[1,3,2] q(scale=0.5, zero_point=-3)"}]


def test_only_what_a_run_leaves_is_state(tmp_path: Path):
    """A variable that no run assigns is a constant, one that is assigned before it is read is a value."""
    w = _Writer()
    x = w.new_tensor("x", FLOATS)
    assigned_once(w, weight=(np.array([1, 2, 3], np.float32), None), local=(np.zeros(3, np.float32), None))
    weight, local = w.handle("weight"), w.handle("local")
    w.operator("ASSIGN_VARIABLE", [local, x], [])
    y = binary(w, "ADD", read(w, local, FLOATS, "l"), read(w, weight, FLOATS, "w"), FLOATS, "y")
    graph = load(w.finish([x], [y]), tmp_path)
    assert graph.states == []
    assert [node.op for node in graph.nodes] == ["add"]
    assert device("numpy").compile(graph).run({"x": np.ones(3, np.float32)})["y"].tolist() == [2, 3, 4]


def test_containers_keep_variables_of_one_name_apart(tmp_path: Path):
    w = _Writer()
    x = w.new_tensor("x", FLOATS)
    p, q = (w.handle("v", container) for container in "pq")
    y = binary(w, "ADD", read(w, p, FLOATS), x, FLOATS, "y")
    w.operator("ASSIGN_VARIABLE", [q, y], [])
    w.operator("ASSIGN_VARIABLE", [p, x], [])
    graph = load(w.finish([x], [y]), tmp_path)
    executable = device("numpy").compile(graph)
    assert [executable.run({"x": np.full(3, n, np.float32)})["y"].tolist() for n in (1, 5)] == [[1] * 3, [6] * 3]


def wrong_type(w: _Writer, x: int) -> None:
    handle = w.handle("v")
    w.operator("ASSIGN_VARIABLE", [handle, x], [])
    read(w, handle, TensorType(DType.FLOAT32, (1, 3)))


def not_a_handle(w: _Writer, x: int) -> None:
    read(w, x, FLOATS)


def read_as_a_handle(w: _Writer, x: int) -> None:
    w.operator("READ_VARIABLE", [w.handle("v")], [w.handle("other")])


def nothing_assigns_it(w: _Writer, x: int) -> None:
    w.operator("ASSIGN_VARIABLE", [w.handle("v", "elsewhere"), x], [])
    read(w, w.handle("v"), FLOATS)


def used_before_it_begins(w: _Writer, x: int) -> None:
    w.operator("ASSIGN_VARIABLE", [w.handle("v"), x], [])
    assigned_once(w, v=(np.zeros(3, np.float32), None))


def begins_as_another_type(w: _Writer, x: int) -> None:
    assigned_once(w, v=(np.zeros(3, np.int8), Q))
    read(w, w.handle("v"), FLOATS)
    w.operator("ASSIGN_VARIABLE", [w.handle("v"), x], [])


def no_such_subgraph(w: _Writer, x: int) -> None:
    w.operator("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=7)


def calls_itself(w: _Writer, x: int) -> None:
    other = w.subgraph()
    other.operator("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=other.index)
    w.operator("CALL_ONCE", [], [], "CallOnceOptions", InitSubgraphIndex=other.index)


def condition_at_run_time(w: _Writer, x: int) -> None:
    flag = w.new_tensor("flag", TensorType(DType.BOOL, (3,)))
    w.operator("GREATER", [x, x], [flag])
    branch(w, flag, x)


def endless(w: _Writer, x: int) -> None:
    condition, body = w.subgraph(), w.subgraph()
    condition.inputs, body.inputs = ([s.new_tensor("i", FLOATS)] for s in (condition, body))
    condition.outputs, body.outputs = [condition.constant("yes", np.array([True]))], body.inputs
    made = w.new_tensor("z", FLOATS)
    w.operator("WHILE", [x], [made], "WhileOptions", CondSubgraphIndex=condition.index, BodySubgraphIndex=body.index)


def branch(w: _Writer, condition: int, x: int) -> int:
    """IF: twice x, or x squared."""
    subgraphs = []
    for code in ("ADD", "MUL"):
        inner = w.subgraph()
        given = inner.new_tensor("x", FLOATS)
        inner.inputs, inner.outputs = [given], [binary(inner, code, given, given, FLOATS, "y")]
        subgraphs.append(inner.index)
    made = w.new_tensor("y", FLOATS)
    then, other = subgraphs
    w.operator("IF", [condition, x], [made], "IfOptions", ThenSubgraphIndex=then, ElseSubgraphIndex=other)
    return made


REFUSED: dict[Callable[[_Writer, int], object], tuple[str, str]] = {
    wrong_type: ("READ_VARIABLE", "'v' holds float32\\[3\\], but float32\\[1,3\\] is wanted"),
    not_a_handle: ("READ_VARIABLE", "'x' is no handle"),
    read_as_a_handle: ("READ_VARIABLE", "is RESOURCE"),
    nothing_assigns_it: ("READ_VARIABLE", "'v' is read, but nothing assigns it"),
    used_before_it_begins: ("CALL_ONCE|ASSIGN_VARIABLE", "used before it is initialized"),
    begins_as_another_type: ("READ_VARIABLE", "holds int8\\[3\\]"),
    no_such_subgraph: ("CALL_ONCE", "calls subgraph 7, but the file has 1"),
    calls_itself: ("CALL_ONCE", "deep, or in a circle"),
    condition_at_run_time: ("IF", "computed at run time"),
    endless: ("WHILE", "more than 5000 operators"),
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_what_is_refused(make: Callable[[_Writer, int], object], tmp_path: Path):
    w = _Writer()
    x, y = w.new_tensor("x", FLOATS), w.new_tensor("y", FLOATS)
    make(w, x)
    w.operator("ABS", [x], [y])
    operator, why = REFUSED[make]
    with pytest.raises(UnsupportedError, match=why) as caught:
        load(w.finish([x], [y]), tmp_path)
    assert caught.value.items[0].op in operator.split("|")


def test_a_handle_is_no_output(tmp_path: Path):
    w = _Writer()
    x = w.new_tensor("x", FLOATS)
    with pytest.raises(UnsupportedError, match="is RESOURCE") as caught:
        load(w.finish([x], [w.handle("v")]), tmp_path)
    assert [item.op for item in caught.value.items] == ["output"]


@requires_package("tflite_micro")
@pytest.mark.parametrize("condition", [True, False])
def test_a_constant_branch_is_taken(condition: bool, tmp_path: Path):
    w = _Writer()
    x = w.new_tensor("x", FLOATS)
    data = w.finish([x], [branch(w, w.constant("flag", np.array([condition])), x)])
    graph, given = load(data, tmp_path), np.array([1, -2, 5], np.float32)
    assert [node.op for node in graph.nodes] == ["add" if condition else "mul"]
    got = device("numpy").compile(graph).run({"x": given})
    assert got["y"].tolist() == TfliteMicro(data).run(given)[0].tolist()


def counted(turns: int) -> bytes:
    """i = 0; while i < turns: x = x + x + v, i = i + 1, where v is a variable that each turn replaces by x."""
    w = _Writer()
    condition, body = w.subgraph(), w.subgraph()
    i, _ = condition.inputs = [condition.new_tensor("i", NUMBER), condition.new_tensor("x", FLOATS)]
    condition.outputs = [condition.new_tensor("less", TensorType(DType.BOOL, ()))]
    condition.operator("LESS", [i, condition.constant("n", np.array(turns, np.int32))], condition.outputs)
    i, x = body.inputs = [body.new_tensor("i", NUMBER), body.new_tensor("x", FLOATS)]
    handle = body.handle("v")
    sum_ = binary(body, "ADD", x, read(body, handle, FLOATS, "v"), FLOATS, "sum")
    body.operator("ASSIGN_VARIABLE", [handle, x], [])
    more = binary(body, "ADD", i, body.constant("one", np.array(1, np.int32)), NUMBER, "i_next")
    body.outputs = [more, binary(body, "ADD", x, sum_, FLOATS, "x_next")]
    x, start = w.new_tensor("x", FLOATS), w.constant("zero", np.array(0, np.int32))
    results = [w.new_tensor("i", NUMBER), w.new_tensor("y", FLOATS)]
    options = {"CondSubgraphIndex": condition.index, "BodySubgraphIndex": body.index}
    w.operator("WHILE", [start, x], results, "WhileOptions", **options)
    return w.finish([x], results[1:])


@requires_package("tflite_micro")
@pytest.mark.parametrize("turns", [0, 1, 4])
def test_a_loop_that_counts_is_unrolled(turns: int, tmp_path: Path):
    data = counted(turns)
    graph, oracle = load(data, tmp_path), TfliteMicro(data)
    assert len(graph.nodes) == (2 * turns or 1)
    executable = device("numpy").compile(graph)
    for given in inputs_of(graph, 3):
        got = executable.run({"x": given})["y"]
        assert got.tolist() == oracle.run(given)[0].tolist()


def test_a_subgraph_that_nothing_calls_is_left_out(tmp_path: Path):
    w = _Writer()
    w.subgraph().operator("FLOOR_MOD", [], [])
    x, y = w.new_tensor("x", FLOATS), w.new_tensor("y", FLOATS)
    w.operator("ABS", [x], [y])
    (tmp_path / "m.tflite").write_bytes(w.finish([x], [y]))
    graph = import_tflite(tmp_path / "m.tflite")
    assert graph.metadata[NOTES] == "subgraph 'subgraph_1' is not called and was left out"


def test_names_of_tensors(tmp_path: Path):
    """Fused names with ';' and ':', repeated and empty ones; each value keeps one of its own."""
    w = _Writer()
    names = ["a;b:0", "", "a;b:0", "", "x/y;z"]
    x, *others = [w.new_tensor(n, FLOATS) for n in names]
    for before, after in zip([x, *others], others, strict=False):
        w.operator("ABS", [before], [after])
    graph = load(w.finish([x], others[-1:]), tmp_path)
    assert [v.name for v in graph.values()] == ["a;b:0", "tensor_1", "a;b:0_2", "tensor_3", "x/y;z"]


@pytest.mark.parametrize("data", [MODELS["ring"], MODELS["accumulated"], counted(2)], ids=["ring", "sums", "loop"])
def test_random_damage(data: bytes, tmp_path: Path):
    rng = random.Random(1)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            damaged[rng.randrange(len(data))] = rng.choice([0, 1, 2, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "m.tflite").write_bytes(damaged)
        import_calmly(tmp_path / "m.tflite")


def random_program(seed: int) -> bytes:
    """Reads, sums and assignments of three variables in any order, some begun by CALL_ONCE, some through a branch."""
    rng, w = random.Random(seed), _Writer()
    values = [w.new_tensor("x", FLOATS)]
    begun = {f"v{i}": (np.full(3, i + 1, np.float32), None) for i in range(3) if rng.random() < 0.6}
    if begun:
        assigned_once(w, **begun)
    handles = [w.handle(f"v{i}") for i in range(3)]
    for step in range(rng.randrange(3, 9)):
        kind, handle = rng.choice(["read", "read", "assign", "add", "branch"]), rng.choice(handles)
        if kind == "read":
            values.append(read(w, handle, FLOATS, f"r{step}"))
        elif kind == "assign":
            w.operator("ASSIGN_VARIABLE", [handle, rng.choice(values)], [])
        elif kind == "add":
            values.append(binary(w, "ADD", *rng.choices(values, k=2), FLOATS, f"s{step}"))
        else:
            values.append(branch(w, w.constant(f"f{step}", np.array([rng.random() < 0.5])), rng.choice(values)))
    return w.finish(values[:1], [binary(w, "ADD", values[-1], values[len(values) // 2], FLOATS, "y")])


@requires_package("tflite_micro")
def test_random_programs_equal_tflite_micro(tmp_path: Path):
    compared, refused = 0, set()
    for seed in range(60):
        data = random_program(seed)
        try:
            graph = load(data, tmp_path)
        except UnsupportedError as error:
            refused |= {item.why.split("' ")[1] for item in error.items}
            continue
        compared, oracle = compared + 1, TfliteMicro(data)
        executable = device("numpy").compile(graph)
        for given in [np.array([1, n, 2], np.float32) for n in range(4)]:
            (got,) = executable.run({"x": given}).values()
            assert got.tolist() == oracle.run(given)[0].tolist(), f"seed {seed}"
    assert compared > 30
    assert refused == {"is read, but nothing assigns it"}  # TFLite Micro reads anything there
