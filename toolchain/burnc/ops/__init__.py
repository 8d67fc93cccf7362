"""Operators, one file each: found by scanning this folder, by entry points of other packages, and by ``register``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from burnc.errors import BurncError
from burnc.ir import Node
from burnc.ops.mapping import OnnxOp, TfliteOp
from burnc.ops.spec import OpSpec

GROUP = "burnc.operators"
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


@cache
def installed() -> Mapping[str, OpSpec]:
    """Operators of other packages, by their entry points in the group ``burnc.operators``.

    Raises:
        BurncError: one cannot be loaded, is no OpSpec, or has a name that is taken.
    """
    found: dict[str, OpSpec] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        where = f"entry point {entry.name} = {entry.value}, group {GROUP}"
        hint = "repair or uninstall the package that brings it"
        try:
            spec = entry.load()
        except (ImportError, AttributeError) as error:
            raise BurncError(f"an operator cannot be loaded: {error}", where=where, hint=hint) from error
        if not isinstance(spec, OpSpec):
            raise BurncError("an operator cannot be used: it is no OpSpec", where=where, hint=hint)
        if spec.name in _scan() or spec.name in found:
            raise BurncError(f"an operator named {spec.name!r} exists already", where=where, hint=hint)
        found[spec.name] = spec
    return found


def operators() -> Mapping[str, OpSpec]:
    """Every operator by its IR name."""
    return {**_scan(), **installed(), **_registered}


def spec_of(node: Node) -> OpSpec:
    """The full description of a node's operator."""
    assert isinstance(node.operator, OpSpec)
    return node.operator


def register(spec: OpSpec) -> None:
    """Add an operator to this process; a package that is installed has an entry point instead.

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


__all__ = ["GROUP", "OpSpec", "installed", "onnx_mappings", "operators", "register", "spec_of", "tflite_mappings"]
