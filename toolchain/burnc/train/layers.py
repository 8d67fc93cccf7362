"""The layers of a configuration as modules: input sizes are found, so that only what is new at a layer is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from burnc.errors import GraphError, InputError
from burnc.ir import DType, TensorType
from burnc.train import modules as nn
from burnc.train.capture import capture

Shape = tuple[int, ...]


def _conv2d(shape: Shape, *, filters: int, kernel: Any, **rest: Any) -> nn.Module:
    return nn.Conv2d(shape[-1], filters, _size(kernel), **rest)


def _depthwise(shape: Shape, *, kernel: Any, **rest: Any) -> nn.Module:
    return nn.DepthwiseConv2d(shape[-1], _size(kernel), **rest)


def _linear(shape: Shape, *, outputs: int, bias: bool = True) -> nn.Module:
    return nn.Linear(shape[-1], outputs, bias=bias)


def _batch_norm(shape: Shape, *, momentum: float = 0.1, epsilon: float = 1e-5) -> nn.Module:
    return nn.BatchNorm(shape[-1], momentum=momentum, epsilon=epsilon)


def _relu(shape: Shape, *, limit: float = float("inf")) -> nn.Module:
    return nn.ReLU(limit)


def _max_pool(shape: Shape, *, kernel: Any, **rest: Any) -> nn.Module:
    return nn.MaxPool(_size(kernel), **rest)


def _average_pool(shape: Shape, *, kernel: Any, **rest: Any) -> nn.Module:
    return nn.AveragePool(_size(kernel), **rest)


KINDS: dict[str, Callable[..., nn.Module]] = {
    "conv2d": _conv2d,
    "depthwise_conv2d": _depthwise,
    "linear": _linear,
    "batch_norm": _batch_norm,
    "relu": _relu,
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": lambda shape: nn.GlobalAveragePool(),
    "flatten": lambda shape: nn.Flatten(),
}


def _size(kernel: Any) -> Any:
    return tuple(kernel) if isinstance(kernel, list) else kernel


def build_layers(tables: Sequence[Mapping[str, Any]], shape: Shape, path: Path) -> nn.Sequential:
    """The network for samples of that shape.

    Raises:
        InputError: a kind or argument is unknown or missing, or a layer does not take what comes before it.
    """
    made: list[nn.Module] = []
    now: Shape = (1, *shape)
    for number, table in enumerate(tables, 1):
        kind = table.get("kind")
        where = f"{path}, layer {number} ({kind})"
        if kind not in KINDS:
            raise InputError(f"layer kind {kind!r} is unknown", where=where, hint=f"known: {', '.join(KINDS)}")
        arguments = {k: _size(v) for k, v in table.items() if k != "kind"}
        made.append(_build(KINDS[kind], now, arguments, where))
        try:
            graph = capture(nn.Sequential(*made), {"x": TensorType(DType.FLOAT32, (1, *shape))}).graph
        except (GraphError, IndexError) as error:
            raise InputError(getattr(error, "what", "it does not take this input"), where=where) from None
        now = graph.outputs[0].type.shape
    return nn.Sequential(*made)


def _build(constructor: Callable[..., nn.Module], shape: Shape, arguments: dict[str, Any], where: str) -> nn.Module:
    known = [n for n, p in inspect.signature(constructor).parameters.items() if p.kind is p.KEYWORD_ONLY]
    try:
        return constructor(shape, **arguments)
    except TypeError as error:
        text = str(error).partition("() ")[2] or str(error)
        raise InputError(text, where=where, hint=f"its arguments: {', '.join(known) or 'none'}") from None
    except (ValueError, ZeroDivisionError, IndexError):
        raise InputError(f"arguments {arguments} do not go with an input of shape {list(shape)}", where=where) from None
