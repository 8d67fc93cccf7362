"""The main job on models that ship with burnc: what ``burnc demo`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnc.boards import load_board
from burnc.compilers.toolchains import find_compiler, find_host_compiler
from burnc.files import require_free
from burnc.ir import Array
from burnc.model import Model, load
from burnc.pipeline import ExportOptions, Progress, QuantizeOptions, no_progress
from burnc.quant import Dataset
from burnc.reports import ExportReport, Report, SimulateReport, TargetVerdict
from burnc.resources import data_folder
from burnc.sim.nodejs import find_nodejs
from burnc.sim.rp2040js_package import obtain_package
from burnc.tflite_micro import equals_tflite_micro

BOARD = "pico"
CALIBRATION_SAMPLES = 200
RUNS = 10

Say = Callable[[str, str], None]
"""Told what each step did: its name and one line."""


@dataclass(frozen=True)
class DemoReport(Report):
    """One model carried through. Accuracies are fractions of ``test_samples``, None where no data with labels ship.

    ``host`` compares the c backend with the numpy reference; ``simulate`` compares the board with it. ``oracle_equal``
    is None where the outside oracle is not installed, or has no say.
    """

    model: str
    folder: str
    float_accuracy: float | None
    int8_accuracy: float | None
    test_samples: int
    export: ExportReport
    simulate: SimulateReport
    host: TargetVerdict
    oracle: str | None
    oracle_equal: bool | None

    @property
    def ok(self) -> bool:
        """Whether everything that was compared is equal, bit for bit."""
        return (
            bool(self.simulate.matches_reference)
            and self.host.verdict == "bit-exact"
            and self.oracle_equal is not False
        )


def require_tools() -> None:
    """Look for all that the demo needs before it starts; the emulator is fetched where it is not there.

    Raises:
        ToolMissingError: a compiler, Node.js or the emulator is missing.
    """
    find_host_compiler()
    find_compiler(load_board(BOARD))
    find_nodejs()
    obtain_package()


def run_mnist(folder: Path, say: Say, *, force: bool = False, progress: Progress = no_progress) -> DemoReport:
    """Quantize the float ONNX network MNIST-8 on 200 digits and carry it to the emulated Pico.

    Raises:
        InputError: the folder is taken. ToolMissingError, SimulationError, ...: a step cannot be done here.
    """
    _require_free(folder, force=force)
    example = data_folder("examples") / "mnist_pico"
    model = load(example / "mnist8.onnx")
    say("read", f"mnist8.onnx, float: {_size(model)}")
    calibration, test = model.dataset(example / "digits.npz").split(CALIBRATION_SAMPLES)
    small = model.quantize(calibration, QuantizeOptions(require_int8=True), progress)
    assert small.quantize_report is not None
    report = small.quantize_report
    say("quantize", f"calibrated on {report.samples} digits: {report.int8_values} of {report.values} tensors are int8")
    before = model.evaluate(test, on="numpy", progress=progress)
    after = small.evaluate(_quantized(small, test), on="c", progress=progress)
    say(
        "accuracy",
        f"float {before.accuracy:.2%}, int8 {after.accuracy:.2%}, on the {_digits(after.samples)} digits that were not "
        "used before",
    )
    exported = _export(small, "mnist", folder, say, force=force)
    small.save(folder / "mnist_int8.onnx")
    runs = small.inputs(_quantized(small, test[:RUNS]))
    simulated, host = _run(small, runs, "digits", say, progress)
    return DemoReport(
        "mnist8", str(folder), before.accuracy, after.accuracy, after.samples, exported, simulated, host, None, None
    )


def run_kws(folder: Path, say: Say, *, force: bool = False, progress: Progress = no_progress) -> DemoReport:
    """Carry the int8 TFLite network of MLPerf Tiny's keyword spotting to the emulated Pico.

    Raises:
        InputError: the folder is taken. ToolMissingError, SimulationError, ...: a step cannot be done here.
    """
    _require_free(folder, force=force)
    path = data_folder("examples") / "kws_pico" / "mlperf_kws_dscnn_int8.tflite"
    model = load(path)
    say("read", f"{path.name}, int8: {_size(model)}")
    exported = _export(model, "kws", folder, say, force=force)
    runs = model.inputs(RUNS)
    simulated, host = _run(model, runs, "random inputs", say, progress)
    oracle_equal = equals_tflite_micro(path, runs, simulated.outputs)
    if oracle_equal is None:
        say(
            "oracle",
            "the Python package tflite-micro is not installed, so it was not asked",
        )
    else:
        say("oracle", f"TensorFlow Lite Micro gives {'the same bits' if oracle_equal else 'OTHER results'}")
    return DemoReport("mlperf_kws", str(folder), None, None, 0, exported, simulated, host, "tflite-micro", oracle_equal)


def _require_free(folder: Path, *, force: bool) -> None:
    if folder.absolute().parent.is_dir():  # else it is made once there is something to write
        require_free(folder, force=force)


def _size(model: Model) -> str:
    report = model.inspect()
    return f"{_digits(report.macs)} MACs, {_digits(report.parameters)} parameters"


def _digits(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _quantized(model: Model, data: Dataset) -> Dataset:
    """Samples for a float model as the int8 one takes them."""
    (name,) = data.inputs
    (value,) = model.graph.inputs
    return Dataset({value.name: _as_int8(model, data.inputs[name])}, data.labels)


def _as_int8(model: Model, array: Array) -> Array:
    from burnc.numerics import quantize

    return quantize(array, model.graph.inputs[0].type)


def _export(model: Model, name: str, folder: Path, say: Say, *, force: bool) -> ExportReport:
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    report = model.export(BOARD, folder, ExportOptions(name=name, project="bare", measure=True), force=force)
    images = ", ".join(Path(file).name for file in report.files if file.endswith((".elf", ".uf2")))
    say("export", f"{folder}: C, a firmware project and its images {images}")
    return report


def _run(
    model: Model, runs: Sequence[Mapping[str, Array]], what: str, say: Say, progress: Progress
) -> tuple[SimulateReport, TargetVerdict]:
    simulated = model.simulate(BOARD, runs, progress=progress)
    (host,) = model.validate(runs, on=["c"]).targets
    cores = f"{simulated.cores} cores at {simulated.clock_hz / 1e6:g} MHz"
    say("simulate", f"{len(runs)} {what} on an emulated {simulated.board} ({simulated.engine}, {cores})")
    equal = simulated.matches_reference and host.verdict == "bit-exact"
    say("compare", f"the board's outputs {'equal' if equal else 'DIFFER from'} the host's numpy and c, bit for bit")
    return simulated, host
