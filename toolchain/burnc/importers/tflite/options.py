"""The options table of an operator as a dictionary, whatever the operator: the schema's own getters are listed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import tflite

_NO_FIELD = re.compile(r"^(Init|GetRootAs.*|.*BufferHasIdentifier|.*(AsNumpy|IsNone|Length)|_.*)$")


def enum_names(enum: type) -> dict[int, str]:
    """Number -> name of a schema enumeration."""
    return {number: name for name, number in vars(enum).items() if isinstance(number, int)}


_ENUMS = {
    "padding": enum_names(tflite.Padding),
    "fused_activation_function": enum_names(tflite.ActivationFunctionType),
    "weights_format": enum_names(tflite.FullyConnectedOptionsWeightsFormat),
    "kernel_type": enum_names(tflite.LSTMKernelType),
    "mode": enum_names(tflite.MirrorPadMode),
    "in_data_type": enum_names(tflite.TensorType),
    "out_data_type": enum_names(tflite.TensorType),
    "output_type": enum_names(tflite.TensorType),
    "out_type": enum_names(tflite.TensorType),
}
_OPTION_TABLES = enum_names(tflite.BuiltinOptions)
_NAMES = {name.lower() for name in _OPTION_TABLES.values()}

# Tables that several operators share; the others are called as their operator is.
_SHARED = {
    "pool2doptions": ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"),
    "reduceroptions": ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"),
    "maximumminimumoptions": ("MAXIMUM", "MINIMUM"),
}
_SHARED_BY = {code: table for table, codes in _SHARED.items() for code in codes}


def foreign_options(operator: Any, code: str) -> str:
    """The name of the operator's options table where it is another operator's; '' where it is its own or none."""
    class_name = _OPTION_TABLES.get(operator.BuiltinOptionsType(), "")
    expected = _SHARED_BY.get(code, code.replace("_", "").lower() + "options")
    is_own = class_name in ("", "NONE") or expected not in _NAMES or class_name.lower() == expected
    return "" if is_own else class_name


def read_options(operator: Any, count: Callable[[int], int]) -> dict[str, Any]:
    """Every field of an operator's options table, in snake case; enumerations and text as ``str``, vectors as lists.

    Args:
        operator: a schema ``Operator``.
        count: checks the length of a vector.

    Returns:
        An empty dictionary where the operator has no options.
    """
    class_name = _OPTION_TABLES.get(operator.BuiltinOptionsType(), "")
    table = operator.BuiltinOptions()
    schema = getattr(tflite, class_name, None)
    if table is None or schema is None:
        return {}
    options = schema()
    options.Init(table.Bytes, table.Pos)
    fields: dict[str, Any] = {}
    for getter, is_vector in _getters(schema):
        name = _snake(getter)
        if is_vector:
            length = count(getattr(options, f"{getter}Length")())
            fields[name] = [getattr(options, getter)(i) for i in range(length)]
        else:
            fields[name] = _plain(name, getattr(options, getter)())
    return fields


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    names = _ENUMS.get(name)
    return value if names is None else names.get(value, f"{name} {value}")


@cache
def _getters(schema: type) -> tuple[tuple[str, bool], ...]:
    """(getter, whether it reads a vector) of an options table."""
    methods = {n: m for n, m in vars(schema).items() if inspect.isfunction(m) and not _NO_FIELD.match(n)}
    return tuple((name, f"{name}Length" in vars(schema)) for name in methods)


def _snake(camel: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", camel).lower()
