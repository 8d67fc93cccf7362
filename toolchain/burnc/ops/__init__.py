"""Operators, one file each; found by scanning this folder and by ``register`` for those from outside."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from burnc.errors import BurncError
from burnc.ir import Node
from burnc.ops.mapping import OnnxOp, TfliteOp
from burnc.ops.spec import OpSpec

_registered: dict[str, OpSpec] = {}


@cache
def _scan() -> dict[str, OpSpec]:
    found: dict[str, OpSpec] = {}
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for candidate in vars(module).values():
            if isinstance(candidate, OpSpec):
                found[candidate.name] = candidate
    return found


def operators() -> Mapping[str, OpSpec]:
    """Every operator by its IR name."""
    return {**_scan(), **_registered}


def spec_of(node: Node) -> OpSpec:
    """The full description of a node's operator."""
    assert isinstance(node.operator, OpSpec)
    return node.operator


def register(spec: OpSpec) -> None:
    """Add an operator from outside the package.

    Raises:
        BurncError: the name is taken.
    """
    if spec.name in operators():
        raise BurncError(f"an operator named {spec.name!r} exists already", where="burnc.ops.register")
    _registered[spec.name] = spec


def onnx_mappings() -> dict[tuple[str, str], tuple[OpSpec, OnnxOp]]:
    """(domain, ONNX operator) -> the operator and its mapping."""
    return {(m.domain, m.op_type): (spec, m) for spec in operators().values() for m in spec.onnx}


def tflite_mappings() -> dict[str, tuple[OpSpec, TfliteOp]]:
    """TFLite builtin name -> the operator and its mapping."""
    return {m.code: (spec, m) for spec in operators().values() for m in spec.tflite}


__all__ = ["OpSpec", "onnx_mappings", "operators", "register", "spec_of", "tflite_mappings"]
