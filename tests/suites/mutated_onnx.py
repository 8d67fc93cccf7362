"""Damage to the meaning of ONNX models: what a wrong exporter, or a hostile hand, writes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

T = TypeVar("T")

HUGE = (2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)
ODD_NUMBERS = (0, -1, -2, 1, 2, 3, 7, 1000, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63))


class NothingToDamageError(Exception):
    """The model has no place for this damage."""


def _pick(random: Random, items: list[T]) -> T:
    if not items:
        raise NothingToDamageError
    return random.choice(items)


def cycle(model: onnx.ModelProto, random: Random) -> None:
    """A node reads what is computed after it, or its own result."""
    nodes = [n for n in model.graph.node if n.input and n.output]
    first = _pick(random, nodes)
    later = nodes[random.randrange(nodes.index(first), len(nodes))]
    first.input[random.randrange(len(first.input))] = later.output[0]


def huge_dims(model: onnx.ModelProto, random: Random) -> None:
    """One dimension, or several whose product overflows, of a tensor or an input."""
    count = random.choice((1, 1, 2, 4))
    if random.random() < 0.5:
        tensor = _pick(random, [t for t in model.graph.initializer if t.dims])
        for _ in range(count):
            tensor.dims[random.randrange(len(tensor.dims))] = random.choice(HUGE)
    else:
        value = _pick(random, [v for v in model.graph.input if v.type.tensor_type.shape.dim])
        for dim in random.choices(list(value.type.tensor_type.shape.dim), k=count):
            dim.dim_value = random.choice(HUGE)


def odd_dims(model: onnx.ModelProto, random: Random) -> None:
    """Negative, zero or simply other dimensions."""
    if random.random() < 0.6:
        tensor = _pick(random, [t for t in model.graph.initializer if t.dims])
        tensor.dims[random.randrange(len(tensor.dims))] = random.choice(ODD_NUMBERS)
    else:
        value = _pick(random, [v for v in model.graph.input if v.type.tensor_type.shape.dim])
        random.choice(list(value.type.tensor_type.shape.dim)).dim_value = random.choice(ODD_NUMBERS)


def missing_initializer(model: onnx.ModelProto, random: Random) -> None:
    tensors = model.graph.initializer
    tensors.remove(_pick(random, list(tensors)))


def duplicated_name(model: onnx.ModelProto, random: Random) -> None:
    nodes = [n for n in model.graph.node if n.output]
    one, other = _pick(random, nodes), _pick(random, nodes)
    kind = random.randrange(4)
    if kind == 0:
        one.output[0] = other.output[0]
    elif kind == 1:
        one.name = other.name
    elif kind == 2:
        one.output[0] = model.graph.input[0].name
    else:
        model.graph.initializer.append(_pick(random, list(model.graph.initializer)))


def swapped_names(model: onnx.ModelProto, random: Random) -> None:
    """A node reads any other tensor of the model."""
    names = [t.name for t in model.graph.initializer] + [o for n in model.graph.node for o in n.output]
    node = _pick(random, [n for n in model.graph.node if n.input])
    node.input[random.randrange(len(node.input))] = random.choice([*names, ""])


def deep_nesting(model: onnx.ModelProto, random: Random) -> None:
    depth = random.choice((3, 40, 120))
    inner = onnx.GraphProto(name="innermost")
    inner.output.append(helper.make_tensor_value_info("deep", onnx.TensorProto.FLOAT, [1]))
    for level in range(depth):
        outer = onnx.GraphProto(name=f"level {level}")
        outer.node.append(helper.make_node("If", ["condition"], ["deep"], then_branch=inner, else_branch=inner))
        if outer.ByteSize() > 2**18:
            break
        inner = outer
    model.graph.node.extend(inner.node)


def element_type(model: onnx.ModelProto, random: Random) -> None:
    code = random.choice((0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 16, 17, 21, 99, -1))
    if random.random() < 0.6:
        _pick(random, list(model.graph.initializer)).data_type = code
    else:
        _pick(random, [*model.graph.input, *model.graph.output]).type.tensor_type.elem_type = code


def odd_floats(model: onnx.ModelProto, random: Random) -> None:
    """NaN, infinite, zero or negative numbers: as scales they mean nothing."""
    scalars = [t for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT]
    tensor = _pick(random, [t for t in scalars if t.name.endswith("scale")] or scalars)
    array = numpy_helper.to_array(tensor).copy()
    if not array.size:
        raise NothingToDamageError
    array.reshape(-1)[random.randrange(array.size)] = random.choice((np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-45, 3e38))
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def odd_data(model: onnx.ModelProto, random: Random) -> None:
    """Data that are too few, too many, none, or in the wrong field."""
    tensor = _pick(random, list(model.graph.initializer))
    kind = random.randrange(4)
    if kind == 0:
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
    elif kind == 1:
        tensor.raw_data = tensor.raw_data[: len(tensor.raw_data) // 2]
    elif kind == 2:
        tensor.raw_data = tensor.raw_data + b"\0" * 4
    else:
        tensor.float_data.append(1.0)


def external_data(model: onnx.ModelProto, random: Random) -> None:
    """Data that lie outside the model's folder, or nowhere."""
    tensor = _pick(random, list(model.graph.initializer))
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    paths = ("../../etc/passwd", "/etc/passwd", "/dev/zero", ".", "", "missing.bin", "a\0b", "../" * 50 + "dev/zero")
    entries = {"location": random.choice(paths), "offset": random.choice(("0", "-1", "x", str(2**63)))}
    entries["length"] = random.choice(("4", "-4", str(2**40), "x"))
    for key in random.sample(sorted(entries), random.randint(1, 3)):
        tensor.external_data.add(key=key, value=entries[key])


def odd_attribute(model: onnx.ModelProto, random: Random) -> None:
    """Another number, another length, another type."""
    attribute = _pick(random, [a for n in model.graph.node for a in n.attribute])
    kind = random.randrange(4)
    if kind == 0 and attribute.ints:
        attribute.ints[random.randrange(len(attribute.ints))] = random.choice(ODD_NUMBERS)
    elif kind == 1 and attribute.ints:
        del attribute.ints[random.randrange(len(attribute.ints)) :]
    elif kind == 2:
        attribute.type = random.choice((0, 1, 2, 3, 4, 5, 6, 7, 8))
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = random.choice(ODD_NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = random.choice((np.nan, np.inf, -1.0, 0.0, 1e30))
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = random.choice((b"", b"SAME_UPPER", b"\xff\xfe", b"linear", b"x" * 1000))
    else:
        attribute.ints.extend(random.choices(ODD_NUMBERS, k=2))


def odd_operator(model: onnx.ModelProto, random: Random) -> None:
    node = _pick(random, list(model.graph.node))
    ops = ("Relu", "Add", "MatMul", "Reshape", "Loop", "Conv", "Softmax", "TopK", "Split", "NonZero", "", "Nonsense")
    kind = random.randrange(5)
    if kind == 0:
        node.op_type = random.choice(ops)
    elif kind == 1:
        node.domain = random.choice(("com.microsoft", "ai.onnx.ml", "x"))
    elif kind == 2 and len(node.input):
        del node.input[random.randrange(len(node.input))]
    elif kind == 3:
        node.input.append(random.choice([*node.input, "nothing", ""]))
    else:
        node.output.append("one more")


def odd_shape_constant(model: onnx.ModelProto, random: Random) -> None:
    """The numbers that Reshape, Slice, Pad and the like go by."""
    tensor = _pick(random, [t for t in model.graph.initializer if t.data_type == onnx.TensorProto.INT64 and t.dims])
    array = numpy_helper.to_array(tensor).copy()
    if not array.size:
        raise NothingToDamageError
    array.reshape(-1)[random.randrange(array.size)] = random.choice(ODD_NUMBERS)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def odd_version(model: onnx.ModelProto, random: Random) -> None:
    kind = random.randrange(4)
    if kind == 0:
        model.opset_import[0].version = random.choice((0, 1, 5, 6, 8, 11, 12, 14, 18, 21, 99, 2**62, -1))
    elif kind == 1:
        del model.opset_import[:]
    elif kind == 2:
        model.ir_version = random.choice((0, 1, 3, 99, 2**62))
    else:
        model.opset_import.add(domain="", version=random.choice((7, 13, 21)))


def lost_part(model: onnx.ModelProto, random: Random) -> None:
    part = random.choice((model.graph.node, model.graph.output, model.graph.input, model.graph.value_info))
    if not part:
        raise NothingToDamageError
    del part[random.randrange(len(part))]


MEANINGS: dict[str, Callable[[onnx.ModelProto, Random], None]] = {
    "a cycle": cycle,
    "huge dimensions": huge_dims,
    "odd dimensions": odd_dims,
    "a missing initializer": missing_initializer,
    "a name twice": duplicated_name,
    "another tensor's name": swapped_names,
    "deep nesting": deep_nesting,
    "another element type": element_type,
    "odd floats": odd_floats,
    "odd data": odd_data,
    "external data": external_data,
    "an odd attribute": odd_attribute,
    "an odd operator": odd_operator,
    "an odd shape constant": odd_shape_constant,
    "an odd version": odd_version,
    "a lost part": lost_part,
}


def damaged_onnx(data: bytes, kind: str, random: Random) -> bytes:
    """The model with one such damage.

    Raises:
        NothingToDamageError: it has no place for it.
    """
    model = onnx.ModelProto.FromString(data)
    MEANINGS[kind](model, random)
    result: bytes = model.SerializeToString()
    return result
