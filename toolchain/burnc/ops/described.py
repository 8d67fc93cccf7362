"""What each operator means in a line and which operators of model files it stands for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass

import burnc.ops
from burnc.ir import DType
from burnc.ops.spec import OpSpec


@dataclass(frozen=True)
class Described:
    """One operator; ``onnx`` names hold their domain where it is not the default one.

    ``…_cases`` count what the conformance suite holds of each kind: None where there is no such kind, 0 where it is
    tested elsewhere.
    """

    name: str
    meaning: str
    onnx: list[str]
    tflite: list[str]
    float_cases: int | None
    int8_cases: int | None
    int16_cases: int | None


def described_operators() -> list[Described]:
    """Every operator of the package and every registered one, by name."""
    meanings = dict(_meanings())
    return [
        Described(
            name=spec.name,
            meaning=meanings.get(spec.name, ""),
            onnx=[f"{op.domain}.{op.op_type}" if op.domain else op.op_type for op in spec.onnx],
            tflite=[op.code for op in spec.tflite],
            float_cases=_cases(spec, "float32"),
            int8_cases=_cases(spec, "int8") if spec.quant is not None else None,
            int16_cases=_cases(spec, "int16") if _takes_int16(spec) else None,
        )
        for spec in sorted(burnc.ops.operators().values(), key=lambda spec: spec.name)
    ]


def _cases(spec: OpSpec, kind: str) -> int:
    return sum(case.kinds.count(kind) for case in spec.cases)


def _takes_int16(spec: OpSpec) -> bool:
    """Whether activations may be int16; quantize and dequantize, which convert between types, take any."""
    if spec.quant is None:
        return False
    return DType.INT16 in spec.quant.dtypes or spec.name in ("quantize", "dequantize")


def _meanings() -> Iterator[tuple[str, str]]:
    """Operator name -> the first line of its module's docstring, without the name and the sources."""
    for info in pkgutil.iter_modules(burnc.ops.__path__):
        module = importlib.import_module(f"burnc.ops.{info.name}")
        line = (module.__doc__ or "").strip().split("\n")[0].split(" Sources:")[0]
        for spec in vars(module).values():
            if isinstance(spec, OpSpec):
                yield spec.name, line.removeprefix(f"{spec.name}: ").rstrip(".")
