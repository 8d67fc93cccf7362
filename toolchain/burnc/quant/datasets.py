"""Data sets from .npy, .npz, .csv and IDX files, matched to a model's inputs.

Nothing here unpickles: numpy arrays of objects are refused. Sources: numpy.lib.format; the MNIST database's description
of IDX.
"""

from __future__ import annotations

import csv
import gzip
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnc.errors import InputError
from burnc.ir import Array, Value
from burnc.ir.model_card import ModelCard

INPUT_NAMES = ("x", "images", "image", "inputs", "input", "data", "features", "x_test", "x_train")
LABEL_NAMES = ("y", "labels", "label", "targets", "target", "classes", "y_test", "y_train")
ACCEPTED = "burnc reads .npz, .npy, .csv and IDX files (also gzipped)"
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


@dataclass(frozen=True)
class Dataset:
    """Samples along the first axis of every array, in the element types and shapes that the model takes.

    Attributes:
        inputs: model input name -> [N, ...].
        labels: class numbers [N], other targets [N, ...], or None where the file has none.
    """

    inputs: dict[str, Array]
    labels: Array | None = None

    def __len__(self) -> int:
        return len(next(iter(self.inputs.values())))

    def __getitem__(self, part: slice) -> Dataset:
        """Some of the samples, as ``data[:200]``."""
        inputs = {name: array[part] for name, array in self.inputs.items()}
        return Dataset(inputs, None if self.labels is None else self.labels[part])

    def split(self, first: int) -> tuple[Dataset, Dataset]:
        """The first so many samples, to calibrate with, and the rest, to test with.

        Where the labels of the file are sorted, both parts take every class in turn: samples are dealt out with an even
        stride. Otherwise the order of the file is kept.

        Raises:
            InputError: a part would be empty.
        """
        if not 0 < first < len(self):
            raise InputError(f"{len(self)} samples cannot be split into {first} and the rest")
        labels = self.labels
        if labels is None or labels.ndim != 1 or bool((np.diff(labels.astype(np.float64)) < 0).any()):
            return self[:first], self[first:]
        chosen = np.zeros(len(self), bool)
        chosen[np.arange(first) * len(self) // first] = True
        return self._where(chosen), self._where(~chosen)

    def _where(self, chosen: Array) -> Dataset:
        inputs = {name: array[chosen] for name, array in self.inputs.items()}
        return Dataset(inputs, None if self.labels is None else self.labels[chosen])


def load_dataset(
    path: str | Path, *, inputs: Sequence[Value], scale: float | None = None, card: ModelCard | None = None
) -> Dataset:
    """Read a data set for a model with these inputs.

    An array belongs to the input of its name; else one with a usual name (x, images, input, data, ...) to the one input
    without; else the only array that is no label. A .csv file holds one sample a line; with a column more than the
    input has elements, the last column (or the one with a usual label name) is the label. Shapes are adapted where only
    axes of size 1 differ or where the samples come flat ([N,784] for [1,28,28]). Numbers keep their value unless
    ``scale`` multiplies them. For a quantized input, an array of its very element type holds quantized numbers; any
    other one holds real numbers (pixels from 0 to 255, say), which are quantized by the model's own parameters.

    Args:
        scale: factor for the values of all inputs, 1/255 say.
        card: says which real numbers stored integers stand for, pixels / 255 say. An array of floats holds real
            numbers already, one of a quantized input's own element type quantized ones.

    Raises:
        InputError: the file is missing, damaged, of another format or pickled, or does not fit the inputs.
    """
    path = Path(path)
    try:
        arrays = _read(path, inputs)
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from None
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise InputError(
                f"array {name!r} holds {array.dtype}, not numbers",
                where=str(path),
                hint="pickled objects are never loaded",
            )
    found, labels = _assigned(arrays, inputs, path)
    fitted = {value.name: _fitted(_real(found[value.name], value, card), value, scale, path) for value in inputs}
    counts = {name: len(array) for name, array in fitted.items()}
    if labels is not None:
        labels = labels.reshape(-1) if labels.ndim == 2 and labels.shape[1] == 1 else labels
        counts["labels"] = len(labels) if labels.ndim else 1
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise InputError(f"the numbers of samples differ: {listed}", where=str(path))
    if not all(counts.values()):
        raise InputError("the data set holds no samples", where=str(path))
    return Dataset(fitted, labels)


def _read(path: Path, inputs: Sequence[Value]) -> dict[str, Array]:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"\x93NUMPY") or path.suffix == ".npy":
        return {"data": _read_npy(path)}
    if head.startswith(b"PK") or path.suffix == ".npz":
        return _read_npz(path)
    if path.suffix == ".csv":
        return _read_csv(path, inputs)
    data = path.read_bytes()
    if head[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise InputError("the gzipped file is damaged or truncated", where=str(path)) from None
    if len(data) >= 4 and data[:2] == b"\0\0" and data[2] in IDX_TYPES:
        return {"data": _parse_idx(data, path)}
    raise InputError("the format of this data set is unknown", where=str(path), hint=ACCEPTED)


def _read_npy(path: Path) -> Array:
    try:
        with path.open("rb") as file:  # np.load leaves a file that it cannot read open
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise _unreadable(error, path) from None
    return np.asarray(array)


def _read_npz(path: Path) -> dict[str, Array]:
    name = ""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays: dict[str, Array] = {}
            for name in archive.files:
                arrays[name] = archive[name]
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
        raise _unreadable(error, path, name) from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InputError(f"member {name!r} is no array", where=str(path))
    return arrays


def _unreadable(error: Exception, path: Path, name: str = "") -> InputError:
    what = f"array {name!r}" if name else "the file"
    if "allow_pickle" in str(error) or "pickle" in str(error).lower():
        return InputError(
            f"{what} holds pickled objects, which are never loaded",
            where=str(path),
            hint="save plain numbers: np.savez(path, x=np.asarray(x, dtype=np.float32))",
        )
    return InputError(f"{what} is damaged or truncated", where=str(path), hint=ACCEPTED)


def _parse_idx(data: bytes, path: Path) -> Array:
    dtype, rank = np.dtype(IDX_TYPES[data[2]]), data[3]
    if len(data) < 4 + 4 * rank or not rank:
        raise InputError("the IDX header is truncated", where=str(path))
    shape = struct.unpack_from(f">{rank}I", data, 4)
    wanted, held = math.prod(shape) * dtype.itemsize, len(data) - 4 - 4 * rank
    if wanted != held:
        raise InputError(f"the IDX header promises {wanted} bytes for {list(shape)}, there are {held}", where=str(path))
    array = np.frombuffer(data, dtype, offset=4 + 4 * rank).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def _read_csv(path: Path, inputs: Sequence[Value]) -> dict[str, Array]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"the file is no CSV text: {error}", where=str(path)) from None
    if not rows:
        raise InputError("the data set holds no samples", where=str(path))
    header = None if _is_number(rows[0][0]) and all(map(_is_number, rows[0])) else [c.strip() for c in rows[0]]
    first = 0 if header is None else 1
    width = len(rows[0])
    table = np.empty((len(rows) - first, width), np.float64)
    for number, row in enumerate(rows[first:]):
        line = number + first + 1
        if len(row) != width:
            raise InputError(f"row {line} has {len(row)} columns, the first one has {width}", where=str(path))
        for column, text in enumerate(row):
            if not _is_number(text):
                raise InputError(f"row {line}, column {column + 1}: {text!r} is no number", where=str(path))
            table[number, column] = float(text)
    return _columns(table, header, inputs)


def _columns(table: Array, header: list[str] | None, inputs: Sequence[Value]) -> dict[str, Array]:
    lowered = [] if header is None else [name.lower() for name in header]
    label = next((lowered.index(name) for name in LABEL_NAMES if name in lowered), None)
    if label is None and len(inputs) == 1 and table.shape[1] == _elements(inputs[0]) + 1:
        label = table.shape[1] - 1
    if label is None:
        return {"data": table}
    targets = table[:, label]
    whole = np.rint(targets)
    return {
        "data": np.delete(table, label, axis=1),
        "labels": whole.astype(np.int64) if np.array_equal(whole, targets) else targets,
    }


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _assigned(
    arrays: Mapping[str, Array], inputs: Sequence[Value], path: Path
) -> tuple[dict[str, Array], Array | None]:
    """Which array feeds which input, and which one holds the labels."""
    names = {value.name for value in inputs}
    found = {name: array for name, array in arrays.items() if name in names}
    rest = {name: array for name, array in arrays.items() if name not in names}
    lowered = {name.lower(): name for name in rest}
    label = next((lowered[name] for name in LABEL_NAMES if name in lowered), None)
    labels = rest.pop(label) if label is not None and (len(rest) > 1 or found) else None
    missing = [value for value in inputs if value.name not in found]
    if len(missing) == 1:
        usual = [lowered[name] for name in INPUT_NAMES if name in lowered and lowered[name] in rest]
        chosen = usual[:1] or (list(rest) if len(rest) == 1 else [])
        if chosen:
            found[missing[0].name] = rest[chosen[0]]
            missing = []
    if missing:
        held = ", ".join(f"{name} {list(array.shape)}" for name, array in arrays.items()) or "nothing"
        wanted = ", ".join(f"{v.name!r} {list(v.type.shape)}" for v in missing)
        raise InputError(
            f"no array for input {wanted}",
            where=str(path),
            hint=f"the file holds {held}; name the arrays like the inputs",
        )
    return found, labels


def _elements(value: Value) -> int:
    return math.prod(_sample_shape(value))


def _sample_shape(value: Value) -> tuple[int, ...]:
    """One sample: the shape without a leading batch axis of 1."""
    shape = value.type.shape
    return shape[1:] if shape[:1] == (1,) else shape


def _real(array: Array, value: Value, card: ModelCard | None) -> Array:
    """Stored integers as the numbers that the model card says."""
    is_quantized = value.type.quant is not None and array.dtype == value.type.dtype.numpy
    if card is None or card.is_plain or array.dtype.kind not in "iu" or is_quantized:
        return array
    return card.real(array)


def _fitted(array: Array, value: Value, scale: float | None, path: Path) -> Array:
    shape = _sample_shape(value)
    where = f"{path}, input {value.name!r}"
    if array.ndim == 0:
        raise InputError("a single number is no data set", where=where)
    if array.shape == shape and array.shape[1:] != shape:
        array = array[None]  # one sample without its own axis
    given = array.shape[1:]
    squeezed = tuple(n for n in given if n != 1)
    wanted = tuple(n for n in shape if n != 1)
    flat = len(squeezed) <= 1 or len(wanted) <= 1
    if squeezed != wanted and not (flat and math.prod(given) == math.prod(shape)):
        raise InputError(
            f"samples have shape {list(given)}, the model takes {list(shape)}",
            where=where,
            hint="axes are never exchanged by guess; transpose the array as the model declares it",
        )
    array = array.reshape(len(array), *shape)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        index = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise InputError(f"the data hold {array[tuple(index)]} at index {index}", where=where)
    return _typed(array, value, scale, where)


def _typed(array: Array, value: Value, scale: float | None, where: str) -> Array:
    dtype = value.type.dtype
    if dtype.is_float:
        real = array.astype(np.float64) * scale if scale is not None else array
        with np.errstate(over="ignore"):
            typed = real.astype(dtype.numpy)
        if not np.isfinite(typed).all():
            raise InputError(f"the data hold numbers that {dtype.value} cannot hold", where=where)
        return typed
    if value.type.quant is not None and (array.dtype != dtype.numpy or scale is not None):
        from burnc.numerics import quantize

        return quantize(array.astype(np.float64) * (1.0 if scale is None else scale), value.type)
    if array.dtype.kind == "f" and not np.array_equal(array, np.rint(array)):
        raise InputError(f"the data are {array.dtype} with fractions, the model takes {dtype.value}", where=where)
    low, high = (0, 1) if dtype.value == "bool" else dtype.limits
    if array.size and (array.min() < low or array.max() > high):
        raise InputError(
            f"the data reach from {array.min()} to {array.max()}, the model takes {dtype.value}",
            where=where,
        )
    return array.astype(dtype.numpy)
