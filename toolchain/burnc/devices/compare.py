"""Compares a device with the reference: bit for bit, and where they first part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from burnc.backends.protocol import Backend, Executable
from burnc.devices.served_model import ServedModel
from burnc.errors import BurncError, DoesNotFitError
from burnc.ir import Array, Graph, Value
from burnc.reports import FirstDifference, TargetVerdict

Inputs = Mapping[str, Array]


def compare_device(graph: Graph, reference: Backend, device: Backend, inputs: Sequence[Inputs]) -> TargetVerdict:
    """Run all inputs on both; where an output differs, find the first node whose result does.

    Returns:
        ``bit-exact``, ``within-tolerance`` (float outputs), ``differs``, or ``unavailable`` with the reason.
    """
    try:
        executable = device.compile(graph)
        expected = reference.compile(graph)
        mismatches, largest, exact, failing = 0, 0.0, True, None
        for number, arrays in enumerate(inputs):
            got, wanted = executable.run(arrays), expected.run(arrays)
            for value in graph.outputs:
                a, b = got[value.name], wanted[value.name]
                exact &= bool(np.array_equal(a, b))
                wrong = int(np.count_nonzero(differences(a, b)))
                mismatches += wrong
                largest = max(largest, _largest_difference(a, b))
                if wrong and failing is None:
                    failing = number
        _close(executable)
        speed = _speed(executable)
        if failing is None:
            verdict = "bit-exact" if exact else "within-tolerance"
            return TargetVerdict(device.name, verdict, len(inputs), 0, largest, latency_ms=speed[0], clock_hz=speed[1])
    except BurncError as error:
        return TargetVerdict(device.name, "unavailable", why=str(error))
    try:
        first = first_difference(graph, reference, device, inputs[: failing + 1])
        why = f"first at node {first.node!r}" if first else "the outputs differ, but no inner value does"
    except BurncError as error:
        first, why = None, f"the outputs differ; where they part cannot be told: {error}"
    return TargetVerdict(device.name, "differs", len(inputs), mismatches, largest, first, why, *speed)


def first_difference(
    graph: Graph, reference: Backend, device: Backend, inputs: Sequence[Inputs]
) -> FirstDifference | None:
    """The first node in order whose result differs, with the index of the first differing element.

    Args:
        inputs: the runs up to the one whose outputs differ; a graph without state needs that one alone.
    """
    values = [v for node in graph.nodes for v in node.outputs]
    return _first_among(graph, reference, device, inputs if graph.states else inputs[-1:], values)


def _first_among(
    graph: Graph, reference: Backend, device: Backend, inputs: Sequence[Inputs], values: Sequence[Value]
) -> FirstDifference | None:
    """Tap all the values at once, or, where that does not fit the device, one half after the other."""
    try:
        executable = device.compile(graph, keep=values)
    except DoesNotFitError:
        if len(values) == 1:
            return None
        half = len(values) // 2
        return _first_among(graph, reference, device, inputs, values[:half]) or _first_among(
            graph, reference, device, inputs, values[half:]
        )
    expected = reference.compile(graph, keep=values)
    try:
        for arrays in inputs:
            found = _parting(values, executable.run(arrays), expected.run(arrays))
            if found is not None:
                return found
    finally:
        _close(executable)
    return None


def _parting(values: Sequence[Value], got: Inputs, wanted: Inputs) -> FirstDifference | None:
    for value in values:
        wrong = differences(got[value.name], wanted[value.name])
        if wrong.any():
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            node = value.producer
            assert node is not None
            a, b = got[value.name][index], wanted[value.name][index]
            return FirstDifference(node.name, node.op, list(index), float(b), float(a))
    return None


def differences(a: Array, b: Array) -> Array:
    """Where two results differ: at all for integers, beyond DESIGN's tolerance for floats."""
    return np.asarray(a != b) if a.dtype.kind != "f" else ~within_tolerance(a, b)


def _largest_difference(a: Array, b: Array) -> float:
    with np.errstate(invalid="ignore"):
        distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
    finite = distance[np.isfinite(distance)]
    return float(finite.max()) if finite.size else 0.0


def _close(executable: Executable) -> None:
    close = getattr(executable, "close", None)
    if close is not None:
        close()


def _speed(executable: Executable) -> tuple[float | None, int | None]:
    """Milliseconds of the last run and the clock they were counted at, where the device is a board."""
    if not isinstance(executable, ServedModel) or executable.last_report is None:
        return None, None
    if executable.unit != "cycles":
        return None, None
    clock = executable.board.cpu.clock_hz
    return (executable.last_report.cycles / clock * 1e3 if clock else None), clock


def within_tolerance(a: Array, b: Array) -> Array:
    """Where |a - b| <= 1e-5 |b| + 1e-6 max|b|; equal infinities and NaNs count."""
    with np.errstate(invalid="ignore"):
        finite = np.abs(b[np.isfinite(b)])
        bound = 1e-5 * np.abs(b) + 1e-6 * (float(finite.max()) if finite.size else 0.0)
        close = np.abs(a - b) <= bound
    return np.asarray(close | (a == b) | (np.isnan(a) & np.isnan(b)))
