"""Dynamic dimensions get their values: the batch becomes 1, the others what the user says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from burnc.errors import InputError

Dimension = onnx.TensorShapeProto.Dimension


def bind_dimensions(graph: onnx.GraphProto, dims: Mapping[str, int], batch: int | None, where: str) -> list[str]:
    """Give every dimension of every input a value, in place; shapes of all other tensors are forgotten.

    The first dimension of an input is the batch where it is dynamic: ``batch``, or 1. Another one is named by the file
    (``dims["length"]``) or by its place (``dims["input:2"]``). A batch of 0 in the file that means no elements is told
    from an unknown one by the user (``dims["input:0"] = 0``).

    Returns:
        Notes for the user: dimensions that became 1 without being asked, inputs without elements.

    Raises:
        InputError: a dimension is unbound, a name in ``dims`` is no dimension of the model, or a value is not positive.
    """
    inputs = [value for value in graph.input if value.type.HasField("tensor_type")]
    declared_0 = {p for v in inputs for _, dim, p in _dynamic(v) if dim.HasField("dim_value") and dim.dim_value == 0}
    _check_values({name: size for name, size in dims.items() if size or name not in declared_0}, batch)
    known = {name for value in inputs for _, dim, place in _dynamic(value) for name in (dim.dim_param, place) if name}
    unknown = sorted(set(dims) - known)
    if unknown:
        raise InputError(
            f"the model has no dynamic dimension named {unknown[0]!r}",
            where=where,
            hint=f"its dynamic dimensions: {', '.join(sorted(known)) or 'none'}",
        )
    notes: list[str] = []
    bound = dict(dims)
    for value in inputs:
        _bind_batch(value, bound, batch, notes)
    _check_batch(inputs, batch, where)
    for value in inputs:
        for axis, dim, place in _dynamic(value):
            size = bound.get(place, bound.get(dim.dim_param))
            if size is None:
                name = dim.dim_param or place
                raise InputError(
                    f"dimension {name!r} (axis {axis}) of input {value.name!r} is dynamic and has no value",
                    where=where,
                    hint=f"give it one: --dim {name}=value",
                )
            dim.dim_value = size
    _forget_shapes(graph)
    return notes + [
        f"input {value.name!r} has no elements: the file gives its axis {axis} the size 0"
        for value in inputs
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
        if dim.dim_value == 0
    ]


def _check_values(dims: Mapping[str, int], batch: int | None) -> None:
    for name, size in [*dims.items(), ("batch", 1 if batch is None else batch)]:
        if not 1 <= size < 2**31:
            raise InputError(f"dimension {name!r} cannot be {size}", hint="give a positive number")


def _dynamic(value: onnx.ValueInfoProto) -> Iterator[tuple[int, Dimension, str]]:
    """(axis, dimension, "input:axis") of the dimensions without a value.

    A batch of 0 is one: exporters write it where they do not know. Elsewhere a 0 is a size.
    """
    dims = value.type.tensor_type.shape.dim
    for axis, dim in enumerate(dims):
        is_unknown_batch = axis == 0 and len(dims) > 1 and dim.dim_value == 0
        if not dim.HasField("dim_value") or dim.dim_value < 0 or is_unknown_batch:
            yield axis, dim, f"{value.name}:{axis}"


def _bind_batch(value: onnx.ValueInfoProto, bound: dict[str, int], batch: int | None, notes: list[str]) -> None:
    for axis, dim, place in _dynamic(value):
        if axis == 0 and place not in bound and dim.dim_param not in bound:
            name = dim.dim_param or place
            bound[name] = 1 if batch is None else batch
            if batch is None:
                notes.append(f"dimension {name!r} (the batch) of input {value.name!r} became 1")


def _check_batch(inputs: list[onnx.ValueInfoProto], batch: int | None, where: str) -> None:
    if batch is None or any(axis == 0 for value in inputs for axis, _, _ in _dynamic(value)):
        return
    sizes = {v.type.tensor_type.shape.dim[0].dim_value for v in inputs if v.type.tensor_type.shape.dim}
    if sizes != {batch}:
        raise InputError(
            f"a batch of {batch} was asked for, but the file fixes the first dimensions at {sorted(sizes)}",
            where=where,
            hint="export the model with a dynamic batch, or leave the batch as it is",
        )


def _forget_shapes(graph: onnx.GraphProto) -> None:
    """What the file says of inner shapes belongs to other dimensions, or is wrong; inference says it anew."""
    del graph.value_info[:]
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
