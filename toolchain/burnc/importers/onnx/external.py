"""Tensors whose data lies in files beside the model. A model must not reach outside its own folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import onnx

from burnc.errors import ModelFileError


def load_external_data(tensors: Iterable[onnx.TensorProto], folder: Path | None, where: str) -> None:
    """Bring external data into the tensors, in place.

    Args:
        folder: the model's folder; None where the model has none.

    Raises:
        ModelFileError: a path leaves the folder, a file is missing or too short.
    """
    for tensor in tensors:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            _load(tensor, folder, f"{where}, tensor {tensor.name!r}")


def _load(tensor: onnx.TensorProto, folder: Path | None, place: str) -> None:
    facts = {entry.key: entry.value for entry in tensor.external_data}
    location = facts.get("location", "")
    if folder is None:
        raise ModelFileError(
            f"the data lies in the file {location!r}, but a model in memory has no folder",
            where=place,
            hint="load the model from its file",
        )
    path = _inside(folder, location, place)
    offset = _number(facts, "offset", 0, place)
    size = path.stat().st_size
    length = _number(facts, "length", max(0, size - offset), place)
    if offset + length > size:
        raise ModelFileError(f"{location!r} has {size} bytes, the tensor needs {offset} + {length}", where=place)
    with path.open("rb") as file:
        file.seek(offset)
        tensor.raw_data = file.read(length)
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]


def _inside(folder: Path, location: str, place: str) -> Path:
    """The file's path, once it is certain that it lies in the folder, links resolved."""
    relative = Path(location)
    escapes = not location or "\0" in location or relative.is_absolute() or ".." in relative.parts or "\\" in location
    if not escapes:
        path = (folder / relative).resolve()
        escapes = not path.is_relative_to(folder.resolve())
    if escapes:
        raise ModelFileError(
            f"external data {location!r} lies outside the model's folder",
            where=place,
            hint="data files must lie beside the model, given by a relative path without '..'",
        )
    if not path.is_file():
        raise ModelFileError(
            f"the external data file {location!r} is missing", where=place, hint=f"put it into {folder}"
        )
    return path


def _number(facts: dict[str, str], key: str, default: int, place: str) -> int:
    text = facts.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ModelFileError(f"external data has {key} {text!r}", where=place)
    return int(text)
