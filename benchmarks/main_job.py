"""The main job in figures: bit-exactness, accuracy, memory, flash and times of the nine models it must carry.

``python benchmarks/main_job.py [--json]`` takes a few minutes and exits 1 when a figure misses its threshold.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from figures import Figure, report

import burnc
from burnc.boards import load_board
from burnc.codegen.choose import small_arena
from burnc.codegen.lower import lower
from burnc.devices.compare import differences
from burnc.ir import Array
from burnc.model import Model
from burnc.pipeline import ExportOptions
from burnc.tflite_micro import tflite_micro_outputs

ROOT = Path(__file__).resolve().parents[1]
MNIST = ROOT / "examples/mnist_pico/mnist8.onnx"
DIGITS = ROOT / "examples/mnist_pico/digits.npz"
KWS = ROOT / "examples/kws_pico/mlperf_kws_dscnn_int8.tflite"
MODELS = ROOT / "tests/models"
FLOAT = [
    MNIST,
    MODELS / "nanguoyu_magicwand.onnx",
    MODELS / "onnx2c_atmega_mnist.onnx",
    MODELS / "emx_micro_kws_m_static_fp32.onnx",
]
TFLITE = [
    KWS,
    MODELS / "mlperf_ic_resnet8_int8.tflite",
    MODELS / "mlperf_vww_mbv1_int8.tflite",
    MODELS / "mlperf_ad_int8.tflite",
    MODELS / "tflm_hello_world_int8.tflite",
]
CALIBRATION_DIGITS = 200
TFLM_INPUTS = 20


def main(arguments: Sequence[str]) -> int:
    return report(figures(), as_json="--json" in arguments)


def figures() -> Iterator[Figure]:
    yield from command_times()
    mnist = burnc.load(MNIST)
    digits = mnist.dataset(DIGITS)
    int8_mnist = mnist.quantize(digits[:CALIBRATION_DIGITS])
    rest = digits[CALIBRATION_DIGITS:]
    loss = mnist.evaluate(rest).accuracy - int8_mnist.evaluate(rest, on="c").accuracy
    yield Figure("MNIST-8 accuracy lost by int8 over 9 800 digits", 100 * loss, 0.3, "points")
    yield mnist_flash(int8_mnist)
    for path in FLOAT:
        yield float_errors(path)
    quantized = {path: int8_mnist if path == MNIST else quantized_at_random(path) for path in FLOAT}
    for path, model in {**quantized, **{path: burnc.load(path) for path in TFLITE}}.items():
        yield from exactness(path.stem, model)
        yield arena_share(path.stem, model)
    for path in TFLITE:
        yield tflm_differences(path, on="numpy", count=TFLM_INPUTS)
        yield tflm_differences(path, on="c", count=TFLM_INPUTS)
    for path in (KWS, MODELS / "tflm_hello_world_int8.tflite"):
        yield tflm_differences(path, on="pico", count=TFLM_INPUTS)


def command_times() -> Iterator[Figure]:
    """Wall-clock of commands in processes of their own; the best of three, so that a busy machine counts less."""
    yield Figure("burnc --help", 1e3 * best_time(["--help"]), 150, "ms")
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out")
        export = ["export", str(MNIST), "--board", "pico", "-o", out, "--force", "--calibration", str(DIGITS)]
        export += ["--samples", str(CALIBRATION_DIGITS)]
        yield Figure("burnc export of MNIST-8, calibrated, not compiled", best_time(export), 2, "s")
    with tempfile.TemporaryDirectory() as folder:
        yield Figure("burnc demo", best_time(["demo", "--output", str(Path(folder) / "demo")], tries=1), 180, "s")


def best_time(arguments: list[str], tries: int = 3) -> float:
    command = [str(Path(sys.executable).with_name("burnc")), *arguments]
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
        times.append(time.perf_counter() - start)
    return min(times)


def mnist_flash(model: Model) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        options = ExportOptions(name="mnist", measure=True)
        exported = model.export("pico", Path(folder) / "out", options)
    return Figure("MNIST-8 int8 flash without harness, over the weights", exported.code_bytes, 12 * 1024, "bytes")


def quantized_at_random(path: Path) -> Model:
    """An int8 model calibrated on seeded noise: good enough to compare devices with each other."""
    model = burnc.load(path)
    rng = np.random.default_rng(0)
    noise = {v.name: rng.normal(0, 1, (16, *v.type.shape[1:])) for v in model.graph.inputs}
    return model.quantize({name: array.astype(np.float32) for name, array in noise.items()})


def float_errors(path: Path) -> Figure:
    """Elements of numpy's and C's float outputs that are out of tolerance of onnxruntime's."""
    import onnxruntime

    model = burnc.load(path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wrong = 0
    for inputs in model.inputs(5):
        (wanted,) = session.run(None, inputs)
        for device in ("numpy", "c"):
            (got,) = model.run(inputs, on=device).values()
            wrong += int(np.count_nonzero(differences(got, wanted)))
    return Figure(f"{path.stem}: float elements out of tolerance", wrong, 0)


def exactness(name: str, model: Model) -> Iterator[Figure]:
    """Devices that differ from the integer reference."""
    verdicts = [*model.validate(20, on=["c", "c:rendered"]).targets, *model.validate(2, on=["pico"]).targets]
    for target in verdicts:
        print(f"       {name} on {target.name}: {target.verdict} {target.why}", file=sys.stderr)
    yield Figure(f"{name}: devices not bit-exact", sum(t.verdict != "bit-exact" for t in verdicts), 0)


def arena_share(name: str, model: Model) -> Figure:
    """Against what must be alive at once; a small arena may grow for scratch that makes kernels faster."""
    board = load_board("pico")
    plan = lower(model.graph, board).plan
    limit = max(1.05 * plan.lower_bound + 64, small_arena(board, 1))
    return Figure(f"{name}: arena", plan.bytes, limit, "bytes")


def tflm_differences(path: Path, *, on: str, count: int) -> Figure:
    """Output elements that differ from the interpreter people deploy: random inputs, extremes, the golden one."""
    model = burnc.load(path)
    executable = burnc.device(on).compile(model.graph)
    (value,) = model.graph.inputs
    runs = [{value.name: array} for array in tflm_inputs(path, value.type.shape, count)]
    wrong = 0
    for arrays, wanted in zip(runs, tflite_micro_outputs(path, runs), strict=True):
        (got,) = executable.run(arrays).values()
        wrong += int(np.count_nonzero(got != wanted))
    return Figure(f"{path.stem} on {on}: elements that differ from tflite-micro", wrong, 0)


def tflm_inputs(path: Path, shape: tuple[int, ...], count: int) -> list[Array]:
    rng = np.random.default_rng(1)
    golden = np.load(MODELS / "golden" / f"{path.name}.npz")["s0_in0"].reshape(shape)
    fixed = [golden, np.full(shape, -128, np.int8), np.full(shape, 127, np.int8)]
    return [*fixed, *(rng.integers(-128, 128, shape, dtype=np.int8) for _ in range(count - len(fixed)))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
