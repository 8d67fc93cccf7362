"""Runs a float graph over samples and observes every activation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from burnc.backends import Backend
from burnc.errors import GraphError, InputError, QuantizationError
from burnc.ir import Array, DType, Graph, Value
from burnc.passes.rebatch import rebatch
from burnc.quant.observers import MinMax, Observer, Range

Progress = Callable[[int, int], None]
BATCH = 32


def calibrate(
    graph: Graph,
    samples: Mapping[str, Array],
    *,
    observer: Callable[[], Observer] = MinMax,
    backend: Backend | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> dict[str, Range]:
    """The range of every float activation, inputs and outputs included, by name.

    Args:
        graph: a float graph as ``prepare`` returns it.
        samples: for each graph input an array with the samples along a new leading axis, [N, *shape], or in place of a
            leading axis of 1, [N, *shape[1:]].
        observer: makes an observer for each value.
        backend: where to run; the numpy reference by default.
        batch: how many samples to run at once where the graph allows it.
        progress: called with the samples done and their number.

    Raises:
        InputError: there are no samples, or they do not fit the graph.
        QuantizationError: an activation became NaN or infinite.
    """
    values = activations(graph)
    observers = {value.name: observer() for value in values}

    total = count_samples(graph, samples)
    for done, results in runs(graph, samples, keep=values, backend=backend, batch=batch):
        for name, seen in observers.items():
            try:
                seen.observe(results[name])
            except QuantizationError:
                raise QuantizationError(
                    f"%{name} became NaN or infinite while calibrating",
                    where=f"graph {graph.name!r}, value %{name}{_producer(graph, name)}",
                    hint="look at the calibration data and the weights that lead there",
                ) from None
        if progress is not None:
            progress(done, total)
    return {name: seen.range() for name, seen in observers.items()}


def _producer(graph: Graph, name: str) -> str:
    node = graph.value(name).producer
    return "" if node is None else f", node {node.name!r}, operator {node.op}"


def activations(graph: Graph) -> list[Value]:
    """The float32 values that are computed or given, in order."""
    return [v for v in graph.values() if not v.is_constant and v.type.dtype is DType.FLOAT32]


def runs(
    graph: Graph,
    samples: Mapping[str, Array],
    *,
    keep: Sequence[Value] = (),
    backend: Backend | None = None,
    batch: int = BATCH,
) -> Iterator[tuple[int, Mapping[str, Array]]]:
    """Run a graph over samples; yields how many are done, and the values of the last run by name, inputs included.

    Raises:
        InputError: there are no samples, or they do not fit the graph.
    """
    if backend is None:
        from burnc.backends.numpy_reference import NumpyReference

        backend = NumpyReference()
    arrays, total = _checked(graph, samples)
    inner = [v for v in keep if v not in graph.inputs and v not in graph.outputs]
    size = max(1, min(batch, total))
    wide = _widened(graph, size) if size > 1 else None
    done = 0
    for part, count in ((wide, size), (graph, 1)):
        if part is None or done == total:
            continue
        executable = backend.compile(part, [part.value(v.name) for v in inner])
        while done + count <= total:
            inputs = {v.name: _sample(arrays[v.name], v, done, done + count) for v in part.inputs}
            done += count
            yield done, {**inputs, **executable.run(inputs)}


def count_samples(graph: Graph, samples: Mapping[str, Array]) -> int:
    """How many samples there are.

    Raises:
        InputError: there are none, or they do not fit the graph.
    """
    return _checked(graph, samples)[1]


def _widened(graph: Graph, size: int) -> Graph | None:
    try:
        return rebatch(graph, size)
    except GraphError:
        return None


def _sample(array: Array, value: Value, first: int, last: int) -> Array:
    return np.ascontiguousarray(array[first:last]).reshape(value.type.shape)


def _checked(graph: Graph, samples: Mapping[str, Array]) -> tuple[dict[str, Array], int]:
    where = f"graph {graph.name!r}"
    counts: dict[str, int] = {}
    arrays: dict[str, Array] = {}
    for value in graph.inputs:
        if value.name not in samples:
            raise InputError(f"there is no array for input {value.name!r}", where=where)
        array, shape = np.asarray(samples[value.name]), value.type.shape
        fits = array.ndim > 0 and (array.shape[1:] == shape or (shape[:1] == (1,) and array.shape[1:] == shape[1:]))
        if not fits:
            raise InputError(
                f"samples for input {value.name!r} have shape {list(array.shape)}, they must be [N, "
                f"{', '.join(map(str, shape[1:] if shape[:1] == (1,) else shape))}]",
                where=where,
            )
        if array.dtype != value.type.dtype.numpy:
            raise InputError(
                f"samples for input {value.name!r} are {array.dtype}, they must be {value.type.dtype.value}",
                where=where,
            )
        counts[value.name], arrays[value.name] = array.shape[0], array
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name!r} {count}" for name, count in counts.items())
        raise InputError(f"inputs have different numbers of samples: {listed}", where=where)
    total = next(iter(counts.values()), 0)
    if not total:
        raise InputError("there are no samples", where=where, hint="give at least one; a few hundred are usual")
    return arrays, total
