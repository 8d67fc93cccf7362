"""Random graphs of all ONNX operators: the numpy reference, generated C and onnxruntime on equal inputs, node by node.

Of each eight graphs three are float, two are quantized by burnc, two are QDQ files as other tools write them, and one
keeps a state over several runs, float or quantized. Float
results agree within the conformance suite's tolerance, times the number of nodes between two tensors that both tools
know; C equals numpy in every int8 tensor; a quantized node is within 1 LSB of onnxruntime. A saved graph is loaded
again as it was.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import burnc
from burnc import Model
from burnc.backends import device
from burnc.boards import Board, load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import BurncError, UnsupportedError
from burnc.ir import Array, DType, Graph, Node, with_outputs
from burnc.pipeline import QuantizeOptions
from conformance.check import disagreement
from suites.compiled_batch import Job, run_batch
from suites.graph_judges import against_onnxruntime, against_reference, against_tflite_micro, against_truth, all_values
from suites.memories import first_states, next_states, with_memory
from suites.onnx_graphs import RandomGraph, RejectedError, truth_of
from suites.qdq_styles import quantized_model
from suites.random_onnx import random_graph
from suites.recipe import RECIPES
from suites.tally import Ending

WANTED = 2000
BATCH = 25
SANITIZED_SHARE = 4
"""One batch in so many is compiled with sanitizers."""
RUNS = 2
UNWRITTEN = ("ONNX convolves integers of 8 bits alone",)
"""What ONNX cannot say is refused when the graph is saved; it runs all the same."""
STEPS = 4
"""Runs of a graph with memory."""
KINDS = ("float", "float", "quantized", "qdq", "memory", "float", "quantized", "qdq")


SECONDS = 60
"""Of computing for one graph, C apart."""


class TooLongError(Exception):
    """Something does not come to an end."""


@dataclass
class Subject:
    """A random graph on its way through burnc."""

    number: int
    kind: str
    graph: RandomGraph
    states: dict[str, str]
    model: Model | None = None
    inputs: list[dict[str, Array]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.number}"

    @property
    def is_quantized(self) -> bool:
        """By burnc."""
        return self.kind == "quantized" or (self.kind == "memory" and self.number // len(KINDS) % 2 == 1)


def endings() -> Iterator[Ending]:
    """Graphs in the order of their numbers until 2000 are compared."""
    compared = 0
    with ProcessPoolExecutor(os.cpu_count() or 2) as pool:
        for first in itertools.count(0, 4 * BATCH):
            starts = range(first, first + 4 * BATCH, BATCH)
            for found in pool.map(judge_batch, starts):
                for ending in found:
                    compared += ending.verdict != "refused"
                    yield ending
            if compared >= WANTED:
                return


def judge_batch(first: int, count: int = BATCH) -> list[Ending]:
    """The graphs ``first`` to ``first + count - 1``."""
    folder = Path(tempfile.mkdtemp(prefix="burnc-graphs-"))
    try:
        subjects = [_draw(number) for number in range(first, first + count)]
        verdicts = {s.name: _verdict(s, folder) for s in subjects}
        alive = [s for s in subjects if verdicts[s.name].verdict == "equal"]
        sanitize = first // count % SANITIZED_SHARE == 0
        for name, why in _compiled(alive, folder / "c", sanitize=sanitize).items():
            verdicts[name] = Ending(name, "crashed" if "crashed" in why else "wrong", why)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return list(verdicts.values())


def _draw(number: int) -> Subject:
    """Every operator is asked for in turn, so that the rare ones come, too."""
    random = Random(number)
    kind = KINDS[number % len(KINDS)]
    graph = random_graph(random, RECIPES[number // len(KINDS) % len(RECIPES)].op)
    states: dict[str, str] = {}
    while kind == "memory" and not states:
        try:
            graph, states = with_memory(graph, random)
        except RejectedError:
            graph = random_graph(random)
    if kind == "qdq":
        graph = RandomGraph(quantized_model(graph, random), graph.makers, graph.sample)
    return Subject(number, kind, graph, states)


def _verdict(subject: Subject, folder: Path) -> Ending:
    """Load, quantize, compare numpy with onnxruntime, save and load again."""
    try:
        with at_most(SECONDS):
            for line in _faults(subject, folder):
                return Ending(subject.name, "wrong", line)
    except BurncError as error:
        return Ending(subject.name, "refused", why(error))
    except Exception:  # noqa: BLE001 - whatever it is, it is what the suite looks for
        return Ending(subject.name, "crashed", traceback.format_exc(limit=-3))
    return Ending(subject.name, "equal")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLongError in what takes more seconds of computing; in the main thread alone."""

    def stop(*_: object) -> None:
        raise TooLongError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def why(error: BurncError) -> str:
    """An error's whole message on one line."""
    if isinstance(error, UnsupportedError):
        return "; ".join(f"{item.op}: {item.why}" for item in error.items)
    return f"{type(error).__name__}: {error!s}".replace("\n", " ")


def _faults(subject: Subject, folder: Path) -> Iterator[str]:
    path = folder / f"{subject.name}.onnx"
    path.write_bytes(subject.graph.model.SerializeToString())
    model = burnc.load(path, states=subject.states)
    inputs = [subject.graph.inputs(seed) for seed in range(STEPS if subject.states else RUNS)]
    if subject.is_quantized:
        model = _quantized(model, subject)
    quantized = any(v.type.quant is not None for v in model.graph.values())
    subject.model, subject.inputs = model, [_taken(model, arrays) for arrays in inputs]
    held = first_states(model.graph)
    executable = device("numpy").compile(model.graph)
    for arrays, taken in zip(inputs, subject.inputs, strict=True):
        values = all_values(model.graph, {**taken, **held})
        for name, array in executable.run(taken).items():
            yield from (f"output {name}: {line}" for line in disagreement(array, values.get(name, array)))
        if not subject.is_quantized:
            truth = truth_of(subject.graph.model, {**arrays, **held})
            yield from against_truth(model.graph, {**taken, **held}, truth)
        held = next_states(model.graph, values)
        if quantized:
            yield from against_onnxruntime(model.graph, values)
            yield from against_tflite_micro(model.graph, values)
    yield from _saved_and_loaded(model, folder / f"{subject.name}.saved.onnx")


def _quantized(model: Model, subject: Subject) -> Model:
    random = Random(subject.number)
    count = random.choice((1, 4, 10))
    samples = [subject.graph.inputs(200 + i) for i in range(count)]
    names = set(subject.graph.makers) - set(subject.states)
    data = {name: np.stack([arrays[name] for arrays in samples]) for name in names}
    options = QuantizeOptions(
        observer=random.choice(("min-max", "min-max", "percentile", "mse")),
        per_axis=random.random() < 0.7,
        io_type=random.choice(("int8", "int8", "float")),
    )
    return model.quantize(data, options)


def _taken(model: Model, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return model.inputs([arrays])[0]


def _saved_and_loaded(model: Model, path: Path) -> Iterator[str]:
    try:
        model.save(path)
    except UnsupportedError as error:
        if any(item.why not in UNWRITTEN for item in error.items):
            raise
        return
    again = str(burnc.load(path))
    if any(_has_wide_factors(node) for node in model.graph.nodes):
        return
    pairs = itertools.zip_longest(str(model).splitlines(), again.splitlines())
    differing = [f"{left!r} became {right!r}" for left, right in pairs if left != right]
    if differing:
        yield f"saved and loaded: {differing[0]}"


def _has_wide_factors(node: Node) -> bool:
    """ONNX multiplies no integers of 16 bits, so the file has wider ones."""
    return node.op == "matmul" and any(
        v.type.dtype is DType.INT16 and v.type.quant is None for v in node.present_inputs
    )


def _compiled(subjects: Sequence[Subject], folder: Path, *, sanitize: bool) -> dict[str, str]:
    """What is wrong with the C of those whose C is wrong: as it is, and with every tensor returned."""
    jobs: list[Job] = []
    wrong: dict[str, str] = {}
    for subject in subjects:
        assert subject.model is not None
        graph = subject.model.graph
        tapped = with_outputs(graph, [v for node in graph.nodes for v in node.outputs])
        try:
            jobs += [
                _job(graph, f"g{subject.number}", subject.inputs),
                _job(tapped, f"t{subject.number}", subject.inputs),
            ]
        except Exception:  # noqa: BLE001
            wrong[subject.name] = "lowering crashed: " + traceback.format_exc(limit=-3)
    results = run_batch(jobs, folder, sanitize=sanitize)
    for subject in subjects:
        if subject.name not in wrong:
            lines = _differences(subject, results[f"g{subject.number}"], results[f"t{subject.number}"])
            wrong.update((subject.name, line) for line in itertools.islice(lines, 1))
    return wrong


def _job(graph: Graph, name: str, inputs: list[dict[str, Array]]) -> Job:
    quantized = all(v.type.quant is not None for node in graph.nodes for v in node.outputs)
    return Job(lower(graph, _host(), LowerOptions(name=name)), inputs, quantized)


@cache
def _host() -> Board:
    return load_board("host")


def _differences(
    subject: Subject, plain: list[dict[str, Array]] | str, tapped: list[dict[str, Array]] | str
) -> Iterator[str]:
    for ran in (plain, tapped):
        if isinstance(ran, str):
            yield ran
            return
    assert not isinstance(plain, str)
    assert not isinstance(tapped, str)
    assert subject.model is not None
    graph = subject.model.graph
    held = first_states(graph)
    for arrays, outputs, values in zip(subject.inputs, plain, tapped, strict=True):
        yield from (f"C: {line}" for line in against_reference(graph, {**arrays, **held, **values}))
        held = next_states(graph, {**arrays, **held, **values})
        for name, array in outputs.items():
            yield from (f"C, output {name} without taps: {line}" for line in disagreement(array, values[name]))
