"""One operator as a TFLite file, written field by field: what no graph of burnc says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burnc.ir import Array, DType, QuantParams, TensorType
from oracles.tflite_writer import _Writer

Q = QuantParams.per_tensor(0.1, -7)
OTHER = QuantParams.per_tensor(0.13, 12)


def int8(*shape: int, quant: QuantParams = Q) -> TensorType:
    return TensorType(DType.INT8, shape, quant)


def int32(*values: Any) -> Array:
    return np.array(values, np.int32)


def real(*shape: int) -> TensorType:
    return TensorType(DType.FLOAT32, shape)


@dataclass(frozen=True)
class Constant:
    """A quantized constant."""

    data: Array
    quant: QuantParams | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


@dataclass(frozen=True)
class Operator:
    """One operator; inputs that are arrays are constants, None an absent one."""

    code: str
    inputs: Sequence[TensorType | Array | Constant | None]
    outputs: Sequence[TensorType]
    options: str = ""
    fields: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = [list(v.shape) for v in self.inputs if isinstance(v, TensorType)]
        return f"{self.code}{shapes}{sorted(self.fields.items())}".replace(" ", "")

    @property
    def fed(self) -> list[TensorType]:
        """Types of what is no constant."""
        return [v for v in self.inputs if isinstance(v, TensorType)]

    def write(self) -> bytes:
        w = _Writer()
        fed, operands = [], []
        for i, given in enumerate(self.inputs):
            if given is None:
                operands.append(-1)
            elif isinstance(given, TensorType):
                fed.append(w.new_tensor(f"x{i}", given))
                operands.append(fed[-1])
            elif isinstance(given, Constant):
                operands.append(w.constant(f"c{i}", given.data, given.quant))
            else:
                operands.append(w.constant(f"c{i}", given))
        results = [w.new_tensor(f"y{i}", t) for i, t in enumerate(self.outputs)]
        w.operator(self.code, operands, results, self.options, **self.fields)
        return w.finish(fed, results)
