"""Damage to TFLite files where it means something: each number of the schema has a place, found through its tables."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import tflite

from suites.mutated_onnx import NothingToDamageError

ODD = (0, 1, 2, 3, 5, 7, 100, 1000, -1, -2, 2**31 - 1, -(2**31), 2**16, 2**24)
ODD_FLOATS = (float("nan"), float("inf"), 0.0, -1.0, 1e-45, 3e38, 1e-3)


@dataclass(frozen=True)
class Site:
    """A number in the file: where, how it is packed, and what it is."""

    at: int
    format: str
    kind: str


def damaged_tflite(data: bytes, kind: str, random: Random) -> bytes:
    """The file with another number at one site of that kind.

    Raises:
        NothingToDamageError: it has none.
    """
    found = [site for site in sites(data) if site.kind == kind]
    if not found:
        raise NothingToDamageError
    damaged = bytearray(data)
    for site in random.sample(found, min(len(found), random.choice((1, 1, 1, 2)))):
        old = struct.unpack_from(site.format, damaged, site.at)[0]
        low, high = _limits(site.format)
        numbers = [v for v in (*ODD, old + 1, old - 1, old * 2) if low <= v <= high]
        values = ODD_FLOATS if site.format == "<f" else numbers
        struct.pack_into(site.format, damaged, site.at, random.choice(values))
    return bytes(damaged)


KINDS = (
    "shape", "element type", "buffer", "scale", "zero point", "quantized dimension", "operator", "operand", "option",
    "option kind", "edge", "code", "vector length", "offset", "buffer length", "data",
)  # fmt: skip


def sites(data: bytes) -> Iterator[Site]:
    """Every number that the schema names."""
    model = tflite.Model.GetRootAs(data, 0)
    yield from _vector(model, 6, "offset")
    yield from _vector(model, 8, "offset")
    yield from _vector(model, 12, "offset")
    for i in range(model.OperatorCodesLength()):
        code = model.OperatorCodes(i)
        yield from _scalar(code, 4, "<b", "code")
        yield from _scalar(code, 10, "<i", "code")
    for i in range(model.BuffersLength()):
        buffer = model.Buffers(i)
        yield from (Site(s.at, s.format, "buffer length") for s in _vector(buffer, 4, "data", "<b") if s.kind != "data")
        yield from [s for s in _vector(buffer, 4, "data", "<b") if s.kind == "data"][:8]
    for i in range(model.SubgraphsLength()):
        yield from _subgraph(model.Subgraphs(i))


def _subgraph(graph: Any) -> Iterator[Site]:
    for slot in (6, 8):
        yield from _vector(graph, slot, "edge")
    for i in range(graph.TensorsLength()):
        tensor = graph.Tensors(i)
        yield from _vector(tensor, 4, "shape")
        yield from _scalar(tensor, 6, "<b", "element type")
        yield from _scalar(tensor, 8, "<I", "buffer")
        quantization = tensor.Quantization()
        if quantization is not None:
            yield from _vector(quantization, 8, "scale", "<f")
            yield from _vector(quantization, 10, "zero point", "<q")
            yield from _scalar(quantization, 16, "<i", "quantized dimension")
    for i in range(graph.OperatorsLength()):
        operator = graph.Operators(i)
        yield from _scalar(operator, 4, "<I", "operator")
        yield from _vector(operator, 6, "operand")
        yield from _vector(operator, 8, "operand")
        yield from _scalar(operator, 10, "<B", "option kind")
        options = operator.BuiltinOptions()
        if options is not None:
            start = options.Pos
            table = start - struct.unpack_from("<i", options.Bytes, start)[0]
            size = struct.unpack_from("<H", options.Bytes, table)[0]
            for slot in range(4, size, 2):
                offset = struct.unpack_from("<H", options.Bytes, table + slot)[0]
                if offset:
                    yield Site(start + offset, "<i" if offset % 4 == 0 else "<b", "option")


def _scalar(table: Any, slot: int, format: str, kind: str) -> Iterator[Site]:
    place = table._tab  # noqa: SLF001 - the accessors show no positions
    offset = place.Offset(slot)
    if offset:
        yield Site(place.Pos + offset, format, kind)


def _vector(table: Any, slot: int, kind: str, format: str = "<i") -> Iterator[Site]:
    """The elements, the length before them, and the offset that leads there."""
    place = table._tab  # noqa: SLF001 - as above
    offset = place.Offset(slot)
    if not offset:
        return
    start, length = place.Vector(offset), place.VectorLen(offset)
    yield Site(place.Pos + offset, "<I", "offset")
    yield Site(start - 4, "<I", "vector length")
    for i in range(length):
        yield Site(start + i * struct.calcsize(format), format, kind)


def _limits(format: str) -> tuple[float, float]:
    bits = 8 * struct.calcsize(format)
    return (0, 2**bits - 1) if format[1].isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
