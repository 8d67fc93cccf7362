"""A GPU in figures: every model of the main job and every operator's case on it, compared with the numpy reference.

``python benchmarks/gpu_check.py [DEVICE] [--json]``, DEVICE cuda (the default), cuda:1 or webgpu. It needs a checkout
(the cases lie among the tests), a few minutes at most, and exits 1 when a figure misses its threshold. What differs is
printed to stderr, line by line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from figures import Figure, report

from burnc.backends import Backend, device
from burnc.backends.model_inputs import random_inputs
from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import BurncError
from burnc.ir import Array, Graph

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from conformance.check import differences
from conformance.single_node import float_inputs, float_subjects, int8_inputs, int8_subjects, int16_subjects
from gpu.nine_models import FLOAT, INT8, float_graph, int8_graph

INPUTS = 20
TIMED_RUNS = 50
# So that a driver that computes on the CPU, or compiles again at each run, is noticed.
MOST_COMPILE_SECONDS = 60.0
MOST_RUN_MILLISECONDS = 50.0


def main(arguments: Sequence[str]) -> int:
    names = [a for a in arguments if not a.startswith("-")]
    try:
        backend = device(names[0] if names else "cuda")
    except BurncError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_status
    return report(figures(backend), as_json="--json" in arguments)


def figures(backend: Backend) -> Iterator[Figure]:
    for path in (*INT8, *FLOAT):
        yield from model_figures(backend, int8_graph(path), f"{path.stem} int8")
    for path in FLOAT:
        yield from model_figures(backend, float_graph(path), f"{path.stem} float")
    yield from case_figures(backend)


def model_figures(backend: Backend, graph: Graph, name: str) -> Iterator[Figure]:
    started = time.perf_counter()
    executable = backend.compile(graph)
    inputs = random_inputs(graph, INPUTS)
    executable.run(inputs[0])
    yield Figure(f"{name}: compilation and first run", time.perf_counter() - started, MOST_COMPILE_SECONDS, "s")
    wrong = said(differences(executable, NumpyReference().compile(graph), inputs), name)
    yield Figure(f"{name}: results that differ, {INPUTS} inputs", wrong, 0)
    started = time.perf_counter()
    for i in range(TIMED_RUNS):
        executable.run(inputs[i % INPUTS])
    each = 1000 * (time.perf_counter() - started) / TIMED_RUNS
    yield Figure(f"{name}: a run, copies included", each, MOST_RUN_MILLISECONDS, "ms")


def case_figures(backend: Backend) -> Iterator[Figure]:
    """For each operator, the cases that the device refuses or computes otherwise."""
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    for subject in (*float_subjects(), *int8_subjects(), *int16_subjects()):
        graph = subject.graph()
        inputs = [float_inputs(graph, subject.case)] if subject.setting is None else list(int8_inputs(graph))
        name = subject.spec.name
        total[name] = total.get(name, 0) + 1
        wrong[name] = wrong.get(name, 0) + min(1, said(case_faults(backend, graph, inputs), subject.name))
    for name, count in total.items():
        yield Figure(f"{name}: of {count} cases differ", wrong[name], 0)


def case_faults(backend: Backend, graph: Graph, inputs: Sequence[Mapping[str, Array]]) -> list[str]:
    try:
        executable = backend.compile(graph)
    except BurncError as error:
        return [str(error)]
    return differences(executable, NumpyReference().compile(graph), inputs)


def said(lines: Sequence[str], name: str) -> int:
    """How many faults there are, each printed."""
    for line in lines:
        print(f"{name}: {line}", file=sys.stderr)
    return len(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
