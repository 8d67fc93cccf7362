"""Model files as graphs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burnc.errors import InputError, ModelFileError
from burnc.ir import Graph

_NO_DIMS: Mapping[str, int] = {}
_NO_STATES: Mapping[str, str] = {}


def import_model(
    path: str | Path,
    *,
    dims: Mapping[str, int] = _NO_DIMS,
    batch: int | None = None,
    states: Mapping[str, str] = _NO_STATES,
) -> Graph:
    """Read a model file: TFLite by its identifier, ONNX by its suffix.

    Args:
        dims: values of dynamic dimensions by name (ONNX).
        batch: the first dimension of inputs where the file leaves it open.
        states: inputs that become state, and the outputs that they hold in the next run (ONNX).

    Raises:
        ModelFileError: the file is missing, damaged or of another format.
        InputError: a dimension has no value, or cannot have the value given.
        UnsupportedError: lists every operator that burnc cannot carry.
    """
    path = Path(path)
    if path.is_dir():
        raise ModelFileError("this is a folder, not a model file", where=str(path), hint=_ACCEPTED)
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from error
    if head[4:] == b"TFL3" or path.suffix == ".tflite":
        from burnc.importers.tflite import import_tflite

        if dims:
            raise InputError("dimensions by name are an ONNX matter; a TFLite file has none", where=str(path))
        if states:
            raise InputError("a TFLite file says itself what is state", where=str(path))
        return import_tflite(path, batch=batch)
    if path.suffix == ".onnx":
        from burnc.importers.onnx import import_onnx

        return import_onnx(path, dims=dims, batch=batch, states=states)
    raise ModelFileError("the format of this file is unknown", where=str(path), hint=_ACCEPTED)


_ACCEPTED = "burnc reads .onnx and .tflite"
