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
    from tflite_micro.python.tflite_micro import runtime

    try:
        interpreter = runtime.Interpreter.from_bytes(path.read_bytes())
    except RuntimeError:
        return None
    (stacked,) = outputs.values()
    for arrays, got in zip(runs, np.asarray(stacked), strict=True):
        for index, array in enumerate(arrays.values()):
            interpreter.set_input(np.ascontiguousarray(array), index)
        interpreter.invoke()
        if not np.array_equal(interpreter.get_output(0), got):
            return False
    return True
