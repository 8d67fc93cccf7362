"""Convolution and fully connected layers, int8, portable C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from burnc.codegen.program import Call, ConstantArray
from burnc.codegen.rows.row import Emitter, KernelRow, clamp_fields, folded_bias, is_int8, scale_arrays
from burnc.ir import Array, Match, Node, const, maybe, op
from burnc.ops import spec_of
from burnc.ops.spatial import Padding

CONV2D = op("conv2d", "x", const("w"), maybe(const("b")))


def window_fields(node: Node, kernel: tuple[int, int]) -> tuple[int, ...]:
    """The fields of ``burnc_window`` in order."""
    n, height, width, _ = node.input(0).type.shape
    _, out_height, out_width, _ = node.output.type.shape
    a = node.attrs
    dilation = getattr(a, "dilation", (1, 1))
    return (n, height, width, out_height, out_width, *kernel, *a.stride, *dilation, a.pad.top, a.pad.left)


def padded_row_fields(node: Node, columns: int) -> tuple[int, ...]:
    """The fields of ``burnc_pad_row_s8_params`` in order; ``columns`` of a line."""
    _, height, width, channels = node.input(0).type.shape
    return (height, width, node.attrs.pad.left, columns, channels, node.input(0).type.zero_point)


def columns_read(node: Node, axis: int = 1) -> int:
    """How many columns of the input, padding included, all windows read together; rows with ``axis`` 0."""
    a = node.attrs
    reach = (node.input(1).type.shape[1 + axis] - 1) * a.dilation[axis]
    return int((node.output.type.shape[1 + axis] - 1) * a.stride[axis] + reach + 1)


def _weights(node: Node) -> Array:
    data = node.input(1).data
    assert data is not None
    return data


def _arrays(node: Node, emitter: Emitter, weights: Array, *, scales: int | None = None) -> dict[str, ConstantArray]:
    """``scales``: how many multipliers and shifts; one for each output where it is None."""
    return {
        "weights": emitter.constant("weights", weights),
        "bias": emitter.constant("bias", folded_bias(node)),
        **scale_arrays(node, emitter, scales or node.output.type.shape[-1]),
    }


def is_pointwise(m: Match) -> bool:
    node = m.last
    a = node.attrs
    return (
        is_int8(node)
        and node.input(1).type.shape[1:3] == (1, 1)
        and (a.stride, a.pad, a.groups) == ((1, 1), Padding(), 1)
    )


def is_depthwise(m: Match) -> bool:
    node = m.last
    return is_int8(node) and node.attrs.groups == node.input(0).type.shape[3] and node.input(1).type.shape[3] == 1


def _lower_conv2d(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = _weights(node)
    params = emitter.struct(
        "burnc_conv2d_s8_params",
        window=window_fields(node, (w.shape[1], w.shape[2])),
        groups=node.attrs.groups,
        group_in_channels=w.shape[3],
        group_out_channels=w.shape[0] // node.attrs.groups,
        input_zero_point=node.input(0).type.zero_point,
        output_zero_point=node.output.type.zero_point,
        **clamp_fields(node),
        **_arrays(node, emitter, w),
    )
    return Call("burnc_conv2d_s8", (params, node.input(0), node.output))


def _lower_pointwise(m: Match, emitter: Emitter) -> Call:
    node = m.last
    n, height, width, channels = node.input(0).type.shape
    params = emitter.struct(
        "burnc_conv1x1_s8_params",
        pixels=n * height * width,
        in_channels=channels,
        out_channels=node.output.type.shape[3],
        output_zero_point=node.output.type.zero_point,
        **clamp_fields(node),
        **_arrays(node, emitter, _weights(node)),
    )
    return Call("burnc_conv1x1_s8", (params, node.input(0), node.output))


def _lower_depthwise(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = _weights(node)
    channels = node.input(0).type.shape[3]
    params = emitter.struct(
        "burnc_depthwise_conv2d_s8_params",
        window=window_fields(node, (w.shape[1], w.shape[2])),
        in_channels=channels,
        channel_multiplier=w.shape[0] // channels,
        input_zero_point=node.input(0).type.zero_point,
        output_zero_point=node.output.type.zero_point,
        **clamp_fields(node),
        **_arrays(node, emitter, np.ascontiguousarray(w[..., 0].transpose(1, 2, 0))),
    )
    return Call("burnc_depthwise_conv2d_s8", (params, node.input(0), node.output))


def _lower_fully_connected(m: Match, emitter: Emitter) -> Call:
    node = m.last
    w = _weights(node)
    quant = node.input(1).type.quant
    per_channel = quant is not None and quant.axis is not None
    params = emitter.struct(
        "burnc_fully_connected_s8_params",
        batch=node.input(0).type.size // w.shape[1],
        depth=w.shape[1],
        out_channels=w.shape[0],
        per_channel=int(per_channel),
        output_zero_point=node.output.type.zero_point,
        **clamp_fields(node),
        **_arrays(node, emitter, w, scales=None if per_channel else 1),
    )
    return Call("burnc_fully_connected_s8", (params, node.input(0), node.output))


def _per_output(macs: float, taps: float, fixed: float) -> Callable[[Match], float]:
    """Cycles for each output: so many a MAC, a row of taps and an output."""

    def cycles(m: Match) -> float:
        node = m.last
        outputs = node.output.type.size
        rows = node.input(1).type.shape[1] if node.op == "conv2d" else 1
        return macs * spec_of(node).macs(node) + (taps * rows + fixed) * outputs

    return cycles


def _depthwise_cycles(m: Match) -> float:
    """Four channels go together; a channel multiplier or less than four channels takes the slow way."""
    channels, filters = m.last.input(0).type.shape[3], m.last.output.type.shape[3]
    quick = channels == filters and channels >= 4
    return _per_output(18, 0, 170)(m) if quick else _per_output(55, 0, 200)(m)


ROWS = (
    KernelRow("conv1x1_s8", CONV2D, is_pointwise, _lower_pointwise, _per_output(6.1, 0, 160), 700),
    KernelRow("depthwise_conv2d_s8", CONV2D, is_depthwise, _lower_depthwise, _depthwise_cycles, 1200),
    KernelRow("conv2d_s8", CONV2D, lambda m: is_int8(m.last), _lower_conv2d, _per_output(6.1, 89, 160), 1000),
    KernelRow(
        "fully_connected_s8",
        op("fully_connected", "x", const("w"), maybe(const("b"))),
        lambda m: is_int8(m.last),
        _lower_fully_connected,
        _per_output(6.1, 0, 160),
        400,
    ),
)
