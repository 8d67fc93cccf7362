"""Whole int8 models on the boards that QEMU emulates: the reference's bits, and exact instruction counts."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

import burnc
from burnc.boards import all_boards
from burnc.model import Model
from burnc.resources import data_folder
from requirements import requires

MODELS = Path(__file__).parents[1] / "models"
BOARDS = [board.key for board in all_boards() if board.sim_engine == "qemu"]
WITH_ROOM = [key for key in BOARDS if key != "microbit"]  # which has 16 KB of RAM

pytestmark = requires("host compiler", "qemu-system-arm", "qemu-system-riscv32", "arm compiler", "ziglang")


@functools.cache
def mnist8() -> Model:
    folder = data_folder("examples") / "mnist_pico"
    model = burnc.load(folder / "mnist8.onnx")
    return model.quantize(model.dataset(folder / "digits.npz")[:20])


@functools.cache
def tflite(name: str) -> Model:
    return burnc.load(MODELS / f"{name}.tflite")


def assert_bit_exact(model: Model, board: str, count: int) -> None:
    reports = [model.simulate(board, model.inputs(count)) for _ in range(2)]
    for report in reports:
        assert report.matches_reference
        assert (report.engine, report.unit, report.latency_ms) == ("qemu", "instructions", None)
        assert sum(layer.cycles for layer in report.layers) == report.cycles
    assert reports[0].layers == reports[1].layers  # to the instruction
    assert all(layer.cycles > layer.macs / 16 for layer in reports[0].layers)  # the widest instruction there is


@pytest.mark.parametrize("board", BOARDS)
def test_hello_world(board):
    assert_bit_exact(tflite("tflm_hello_world_int8"), board, 10)


@pytest.mark.parametrize("board", WITH_ROOM)
def test_mnist8(board):
    assert_bit_exact(mnist8(), board, 3)


@pytest.mark.parametrize("board", WITH_ROOM)
def test_validate(board):
    model = burnc.load(data_folder("examples") / "kws_pico" / "mlperf_kws_dscnn_int8.tflite")
    (verdict,) = model.validate(model.inputs(1), on=[board]).targets
    assert (verdict.verdict, verdict.latency_ms) == ("bit-exact", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "board"),
    [
        *[("mlperf_ad_int8", board) for board in WITH_ROOM],
        ("mlperf_ic_resnet8_int8", "cortex-m55"),
        ("mlperf_vww_mbv1_int8", "cortex-m4"),
    ],
)
def test_larger_models(name, board):
    assert tflite(name).simulate(board, tflite(name).inputs(1)).matches_reference
