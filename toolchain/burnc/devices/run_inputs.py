"""Inputs for runs: from a data set's file, or random ones."""

from __future__ import annotations

from pathlib import Path

from burnc.backends.model_inputs import random_inputs
from burnc.ir import Array, Graph
from burnc.quant import Dataset, load_dataset


def run_inputs(graph: Graph, file: Path | None, count: int | None) -> list[dict[str, Array]]:
    """Arrays by input name for each run.

    Args:
        file: a data set; None for random inputs.
        count: how many runs at most; None for all of the file, or one random one.

    Raises:
        InputError: the data cannot be read or do not fit the inputs.
    """
    if file is None:
        return random_inputs(graph, count or 1)
    return samples_of(graph, load_dataset(file, inputs=graph.inputs), count)


def samples_of(graph: Graph, dataset: Dataset, count: int | None = None) -> list[dict[str, Array]]:
    """The samples of a data set, one a run; the first ``count`` of them."""
    return [
        {v.name: dataset.inputs[v.name][index].reshape(v.type.shape) for v in graph.inputs}
        for index in range(len(dataset) if count is None else min(count, len(dataset)))
    ]
