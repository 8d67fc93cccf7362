"""How nodes that move, select or reduce are written as TFLite; ``tflite_writer`` asks here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tflite

from burnc.ir import DType, Node
from burnc.ops.spatial import Padding
from oracles.tflite_writer import NotExpressibleError, _activation, _Writer, check_bias


def _slice(w: _Writer, node: Node) -> None:
    a = node.attrs
    ends = [s + n * step for s, n, step in zip(a.starts, a.sizes, a.every_step, strict=True)]
    # An end before the first element has no number of its own: the mask says "to the end".
    mask = sum(1 << i for i, end in enumerate(ends) if end < 0)
    lists = (("begin", a.starts), ("end", [max(e, 0) for e in ends]), ("strides", a.every_step))
    inputs = [w.constant(f"{node.name}_{hint}", np.array(v, np.int32)) for hint, v in lists]
    options = "StridedSliceOptions"
    w.operator("STRIDED_SLICE", [w.tensor(node.input(0)), *inputs], [w.tensor(node.output)], options, EndMask=mask)


def _expand(w: _Writer, node: Node) -> None:
    shape = w.constant(f"{node.name}_shape", np.array(node.attrs.shape, np.int32))
    w.operator("BROADCAST_TO", [w.tensor(node.input(0)), shape], [w.tensor(node.output)])


def _reduce(code: str) -> Callable[[_Writer, Node], None]:
    def write(w: _Writer, node: Node) -> None:
        if not node.attrs.axes or node.output.type.rank == 0:
            raise NotExpressibleError("TFLite Micro reduces at least one axis, and keeps one")
        axes = w.constant(f"{node.name}_axes", np.array(node.attrs.axes, np.int32))
        inputs = [w.tensor(node.input(0)), axes]
        w.operator(code, inputs, [w.tensor(node.output)], "ReducerOptions", KeepDims=node.attrs.keepdims)

    return write


def _arg_max(w: _Writer, node: Node) -> None:
    a = node.attrs
    if a.keepdims or a.last or node.input(0).type.rank == 1:
        raise NotExpressibleError("TFLite drops the axis, takes the first of equals, and keeps an axis")
    code, options = ("ARG_MAX", "ArgMaxOptions") if a.largest else ("ARG_MIN", "ArgMinOptions")
    # TFLite Micro gives int32; the oracle widens it.
    w.of_value[node.output] = w.new_tensor(f"{node.name}_int32", node.output.type.with_dtype(DType.INT32))
    inputs = [w.tensor(node.input(0)), w.constant(f"{node.name}_axis", np.array(a.axis, np.int32))]
    w.operator(code, inputs, [w.tensor(node.output)], options, OutputType=tflite.TensorType.INT32)


def _gather_nd(w: _Writer, node: Node) -> None:
    if node.input(1).type.dtype is not DType.INT32 or node.attrs.batch_dims:
        raise NotExpressibleError("TFLite Micro gathers at int32 indices, without batches")
    w.operator("GATHER_ND", [w.tensor(v) for v in node.present_inputs], [w.tensor(node.output)], "GatherNdOptions")


def _conv_transpose2d(w: _Writer, node: Node) -> None:
    a, x, weights = node.attrs, node.input(0), node.input(1)
    if a.groups != 1 or a.dilation != (1, 1) or a.pad != Padding() or any(a.extra):
        raise NotExpressibleError("TFLite's transposed convolution has no groups, dilation or explicit padding")
    check_bias(node)
    shape = w.constant(f"{node.name}_shape", np.array(node.output.type.shape, np.int32))
    inputs = [shape, w.tensor(weights), w.tensor(x)]
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        inputs.append(w.tensor(node.inputs[2]))
    w.operator(
        "TRANSPOSE_CONV",
        inputs,
        [w.tensor(node.output)],
        "TransposeConvOptions",
        Padding=tflite.Padding.VALID,
        StrideH=a.stride[0],
        StrideW=a.stride[1],
        FusedActivationFunction=_activation(node),
    )


MOVEMENT: dict[str, Callable[[_Writer, Node], None]] = {
    "arg_max": _arg_max,
    "conv_transpose2d": _conv_transpose2d,
    "expand": _expand,
    "gather_nd": _gather_nd,
    "reduce_max": _reduce("REDUCE_MAX"),
    "reduce_mean": _reduce("MEAN"),
    "reduce_min": _reduce("REDUCE_MIN"),
    "reduce_sum": _reduce("SUM"),
    "slice": _slice,
}
