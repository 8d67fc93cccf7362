"""TensorFlow Lite Micro as an outside oracle, where its Python package is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from burnc.ir import Array


def equals_tflite_micro(
    path: Path, runs: Sequence[Mapping[str, Array]], outputs: Mapping[str, Array | str]
) -> bool | None:
    """Whether TensorFlow Lite Micro gives the same outputs; None where it is missing or refuses the model."""
    if importlib.util.find_spec("tflite_micro") is None:
        return None
    try:
        wanted = tflite_micro_outputs(path, runs)
    except RuntimeError:
        return None
    (stacked,) = outputs.values()
    return all(np.array_equal(*pair) for pair in zip(wanted, np.asarray(stacked), strict=True))


def tflite_micro_outputs(path: Path, runs: Sequence[Mapping[str, Array]]) -> list[Array]:
    """The first output of each run, one after the other from a reset; inputs in the order of the file.

    Raises:
        ImportError: the package is not installed. RuntimeError: it refuses the model.
    """
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(path.read_bytes())
    outputs = []
    for arrays in runs:
        for index, array in enumerate(arrays.values()):
            interpreter.set_input(np.ascontiguousarray(array), index)
        interpreter.invoke()
        outputs.append(np.array(interpreter.get_output(0)))
    return outputs
