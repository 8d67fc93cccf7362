"""TFLite operators that move, split and reduce, as files: burnc's import against what TFLite Micro computes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tflite

from burnc.backends.numpy_reference import NumpyReference
from burnc.importers.tflite import import_tflite
from burnc.ir import Array, DType, QuantParams, TensorType
from burnc.passes import canonical_passes, run_passes
from oracles.tflite_operator import OTHER, Constant, Operator, Q, int8, int32
from oracles.tflite_writer import _Writer
from oracles.tflm import TfliteMicro
from requirements import requires_package

SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID


def strided(
    shape: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int],
    y: Sequence[int],
    **masks: int,
) -> Operator:
    names = {name: masks.get(name, 0) for name in ("BeginMask", "EndMask", "ShrinkAxisMask", "EllipsisMask")}
    lists = [int32(*begin), int32(*end), int32(*strides)]
    return Operator("STRIDED_SLICE", [int8(*shape), *lists], [int8(*y)], "StridedSliceOptions", names)


def mean(shape: Sequence[int], axes: Sequence[int], y: Sequence[int], quant: QuantParams, *, keep: bool) -> Operator:
    inputs = [int8(*shape), int32(*axes)]
    return Operator("MEAN", inputs, [int8(*y, quant=quant)], "ReducerOptions", {"KeepDims": keep})


SPACE, NO_SPACE = int32((0, 1), (1, 2)), int32((0, 0), (0, 0))
OPERATORS = (
    strided((4, 5), (3, -1), (-9, 0), (-1, -2), (4, 2), EndMask=1),
    strided((4, 5), (1, 0), (2, 5), (1, 2), (3,), ShrinkAxisMask=1),
    strided((2, 3, 4), (-1, 0, 1), (0, 0, 2), (1, 1, 1), (3,), ShrinkAxisMask=5, EndMask=2),
    strided((6,), (0,), (2147483647,), (2,), (3,)),
    Operator("SLICE", [int8(3, 4), int32(1, 0), int32(-1, 2)], [int8(2, 2)]),
    Operator("SPLIT", [int32(1)[0], int8(2, 6)], [int8(2, 2)] * 3, "SplitOptions", {"NumSplits": 3}),
    Operator("SPLIT_V", [int8(2, 6), int32(1, -1, 2), int32(-1)[0]], [int8(2, n) for n in (1, 3, 2)], "SplitVOptions"),
    Operator("PACK", [int8(2, 3), int8(2, 3)], [int8(2, 2, 3)], "PackOptions", {"ValuesCount": 2, "Axis": 1}),
    Operator("UNPACK", [int8(2, 3)], [int8(2)] * 3, "UnpackOptions", {"Num": 3, "Axis": -1}),
    Operator("SQUEEZE", [int8(1, 3, 1)], [int8(3)], "SqueezeOptions"),
    Operator("EXPAND_DIMS", [int8(2, 3), int32(-1)], [int8(2, 3, 1)], "ExpandDimsOptions"),
    Operator("DEPTH_TO_SPACE", [int8(1, 2, 3, 8)], [int8(1, 4, 6, 2)], "DepthToSpaceOptions", {"BlockSize": 2}),
    Operator("SPACE_TO_DEPTH", [int8(1, 4, 6, 2)], [int8(1, 2, 3, 8)], "SpaceToDepthOptions", {"BlockSize": 2}),
    Operator("BATCH_TO_SPACE_ND", [int8(4, 2, 3, 2), int32(2, 2), SPACE], [int8(1, 3, 3, 2)]),
    Operator("SPACE_TO_BATCH_ND", [int8(1, 4, 6, 2), int32(2, 2), NO_SPACE], [int8(4, 2, 3, 2)]),
    Operator("MIRROR_PAD", [int8(3, 4), int32((1, 2), (3, 0))], [int8(6, 7)], "MirrorPadOptions", {"Mode": 0}),
    Operator("MIRROR_PAD", [int8(3, 4), int32((1, 2), (3, 4))], [int8(6, 11)], "MirrorPadOptions", {"Mode": 1}),
    mean((1, 5, 5, 3), (1, 2), (1, 1, 1, 3), Q, keep=True),
    mean((1, 5, 5, 3), (1, 2), (1, 3), Q, keep=False),
    mean((1, 4, 4, 30), (1, 2), (1, 1, 1, 30), Q, keep=True),
    mean((1, 4, 4, 30), (1, 2), (1, 30), Q, keep=False),
    mean((1, 5, 5, 3), (2, -3), (1, 3), OTHER, keep=False),
    mean((2, 3, 4), (-1,), (2, 3), OTHER, keep=False),
    Operator("REDUCE_MAX", [int8(2, 3, 4), int32(1)], [int8(2, 4)], "ReducerOptions"),
    *(
        Operator(
            "BATCH_MATMUL",
            [int8(2, *((3, 2) if adj_x else (2, 3))), int8(1, *((4, 3) if adj_y else (3, 4)), quant=OTHER)],
            [int8(2, 2, 4)],
            "BatchMatMulOptions",
            {"AdjX": adj_x, "AdjY": adj_y},
        )
        for adj_x in (False, True)
        for adj_y in (False, True)
    ),
)


def _random(type_: TensorType, rng: np.random.Generator) -> Array:
    return rng.integers(-128, 128, type_.shape).astype(type_.dtype.numpy)


@requires_package("tflite_micro")
@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_import_equals_tflite_micro(operator: Operator, tmp_path: Path):
    """U030: all four forms of BATCH_MATMUL; U057: MEAN rounds by one rule, with and without its axes kept."""
    data = operator.write()
    (tmp_path / "m.tflite").write_bytes(data)
    graph = import_tflite(tmp_path / "m.tflite")
    names = [v.name for v in graph.outputs]
    interpreter, rng = TfliteMicro(data), np.random.default_rng(3)
    for rewritten in (False, True):
        if rewritten:
            run_passes(graph, canonical_passes())
        feeds = {v.name: _random(v.type, rng) for v in graph.inputs}
        wanted = interpreter.run(*feeds.values(), outputs=len(operator.outputs))
        got = NumpyReference().compile(graph).run(feeds)
        for name, type_, array in zip(names, operator.outputs, wanted, strict=True):
            np.testing.assert_array_equal(got[name], array.reshape(type_.shape))


def test_shape_arithmetic_is_folded(tmp_path: Path):
    """SHAPE, STRIDED_SLICE and PACK of it, then RESHAPE, as a batch of any size is written by converters."""
    w = _Writer()
    x = w.new_tensor("x", int8(2, 3, 4))
    shape, first, wanted = (
        w.new_tensor(n, TensorType(DType.INT32, s)) for n, s in (("s", (3,)), ("f", ()), ("w", (2,)))
    )
    y = w.new_tensor("y", int8(2, 12))
    w.operator("SHAPE", [x], [shape], "ShapeOptions", OutType=tflite.TensorType.INT32)
    bounds = [w.constant(name, int32(n)) for name, n in (("b", 0), ("e", 1), ("t", 1))]
    w.operator("STRIDED_SLICE", [shape, *bounds], [first], "StridedSliceOptions", ShrinkAxisMask=1)
    w.operator("PACK", [first, w.constant("rest", np.array(12, np.int32))], [wanted], "PackOptions", ValuesCount=2)
    w.operator("RESHAPE", [x, wanted], [y], "ReshapeOptions")
    (tmp_path / "m.tflite").write_bytes(w.finish([x], [y]))
    graph = import_tflite(tmp_path / "m.tflite")
    run_passes(graph, canonical_passes())
    assert [n.op for n in graph.nodes] == ["reshape"]
    assert graph.outputs[0].type.shape == (2, 12)


def run_alone(operator: Operator, folder: Path, x: Array) -> Array:
    (folder / "m.tflite").write_bytes(operator.write())
    graph = import_tflite(folder / "m.tflite")
    return NumpyReference().compile(graph).run({graph.inputs[0].name: x})[graph.outputs[0].name]


def test_space_is_padded_with_the_zero_point(tmp_path: Path):
    """As TFLite defines it. TFLite Micro (2026-10) never sets the number that it pads with."""
    x = np.arange(18, dtype=np.int8).reshape(1, 3, 3, 2)
    there = Operator("SPACE_TO_BATCH_ND", [int8(1, 3, 3, 2), int32(2, 2), SPACE], [int8(4, 2, 3, 2)])
    back = Operator("BATCH_TO_SPACE_ND", [int8(4, 2, 3, 2), int32(2, 2), SPACE], [int8(1, 3, 3, 2)])
    blocks = run_alone(there, tmp_path, x)
    assert (blocks == Q.zero_point[0]).sum() == 48 - 18
    np.testing.assert_array_equal(run_alone(back, tmp_path, blocks), x)


def test_strided_slice_with_ellipsis_and_new_axis(tmp_path: Path):
    """What TFLite Micro refuses: x[1, ..., newaxis, ::-1] and entries for the first axes alone."""
    x = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    lists = [int32(1, 0, 0, -1), int32(2, 0, 0, -5), int32(1, 1, 1, -1)]
    masks = {"ShrinkAxisMask": 1, "EllipsisMask": 2, "NewAxisMask": 4}
    operator = Operator("STRIDED_SLICE", [int8(2, 3, 4), *lists], [int8(3, 1, 4)], "StridedSliceOptions", masks)
    np.testing.assert_array_equal(run_alone(operator, tmp_path, x), x[1, ..., None, ::-1])
    few = Operator("STRIDED_SLICE", [int8(2, 3, 4), int32(1), int32(2), int32(1)], [int8(1, 3, 4)])
    np.testing.assert_array_equal(run_alone(few, tmp_path, x), x[1:2])


def _transposed(padding: int, shape: Sequence[int], stride: int) -> Operator:
    """U187: the weights' scales go along axis 0, the output channels, whatever their number."""
    weights = np.random.default_rng(1).integers(-127, 128, (3, 3, 3, 2)).astype(np.int8)
    quant = QuantParams.per_axis([0.01, 0.2, 0.003], 0)
    fields = {"Padding": padding, "StrideH": stride, "StrideW": stride}
    inputs = [int32(*shape), Constant(weights, quant), int8(1, 4, 3, 2)]
    return Operator("TRANSPOSE_CONV", inputs, [int8(*shape, quant=OTHER)], "TransposeConvOptions", fields)


@requires_package("tflite_micro")
@pytest.mark.parametrize(
    ("padding", "shape", "stride"),
    [(SAME, (1, 8, 6, 3), 2), (SAME, (1, 7, 5, 3), 2), (VALID, (1, 9, 7, 3), 2), (SAME, (1, 4, 3, 3), 1)],
)
def test_transposed_convolution(padding: int, shape: Sequence[int], stride: int, tmp_path: Path):
    operator = _transposed(padding, shape, stride)
    x = np.random.default_rng(2).integers(-128, 128, (1, 4, 3, 2)).astype(np.int8)
    (wanted,) = TfliteMicro(operator.write()).run(x)
    np.testing.assert_array_equal(run_alone(operator, tmp_path, x), wanted)
