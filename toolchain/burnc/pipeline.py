"""The order of everything, readable top to bottom: load, quantize, export, simulate, validate, evaluate, inspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from burnc import quant
from burnc.backends.model_inputs import model_input
from burnc.backends.numpy_reference import NumpyReference
from burnc.backends.protocol import Backend, Executable
from burnc.boards import Board
from burnc.codegen.emit_c import arena_bytes, emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.placement import cache_of
from burnc.codegen.projects import BuildFlags, project_files
from burnc.compilers.compile import CODE_FLAGS, OPTIMIZE_FLAGS
from burnc.compilers.cores import core_flags
from burnc.devices.board import BoardBackend
from burnc.devices.compare import compare_device
from burnc.devices.exported_project import read_exported_project
from burnc.devices.fit import advised, bands_report, estimated, measured, parameter_count, ram_advice, require_fit
from burnc.devices.run_inputs import run_inputs
from burnc.devices.simulate import simulate as run_simulation
from burnc.errors import DoesNotFitError, GraphError, InputError, UnsupportedError
from burnc.exporters.onnx import onnx_bytes
from burnc.files import require_free, write_file, write_folder
from burnc.importers import import_model
from burnc.ir import Array, Graph, verify
from burnc.ir.metadata import NOTES, SOURCE
from burnc.ops import spec_of
from burnc.passes import (
    AbsorbEdges,
    AbsorbQdq,
    Change,
    FoldConstants,
    KeepState,
    RestoreNames,
    canonical_passes,
    merge_changes,
    run_passes,
)
from burnc.passes.rebatch import rebatch
from burnc.passes.rewrite import Pass
from burnc.quant import OBSERVERS, Dataset, calibrate, check_accumulators, error_report, prepare
from burnc.reports import (
    ChangeReport,
    EvaluateReport,
    ExportReport,
    InspectReport,
    NodeErrorReport,
    QuantizeReport,
    SimulateReport,
    TargetVerdict,
    TensorReport,
    ValidateReport,
)

Progress = Callable[[str, int, int], None]
NO_STATES: Mapping[str, str] = {}


def no_progress(what: str, done: int, total: int) -> None:
    """A progress callback that shows nothing."""


@dataclass(frozen=True)
class Loaded:
    """A canonical graph, and what happened on the way to it."""

    graph: Graph
    changes: list[Change]

    @property
    def notes(self) -> list[str]:
        return self.graph.metadata.get(NOTES, "").splitlines()


def load(
    path: Path,
    *,
    dims: Mapping[str, int],
    batch: int | None = None,
    float_edges: bool | None = None,
    states: Mapping[str, str] = NO_STATES,
    streaming: bool = False,
) -> Loaded:
    """Read a model file and bring it to canonical form; a QDQ file becomes an int8 graph.

    Args:
        float_edges: keep float inputs and outputs of a quantized graph; None for what the file means: TFLite declares
            them, QDQ always shows floats.
        states: inputs that become state, and the outputs that they hold in the next run.
        streaming: layers with memory keep it from run to run.

    Raises:
        ModelFileError, InputError, UnsupportedError: as the importers.
        QuantizationError: an accumulator of an int8 model could overflow.
    """
    graph = import_model(path, dims=dims, batch=batch, states=states)
    verify(graph)
    # Quantize and dequantize around a float operator say how it is quantized; in a TFLite file they mean what they are.
    is_tflite = graph.metadata.get(SOURCE + "format") == "tflite"
    absorb: list[Pass] = [] if is_tflite else [AbsorbQdq()]
    changes = run_passes(graph, [*canonical_passes(), *absorb])
    if not (is_tflite if float_edges is None else float_edges):
        changes += run_passes(graph, [AbsorbEdges(), *canonical_passes(), *absorb])
    changes += run_passes(graph, [FoldConstants(dequantized=True), *canonical_passes()])
    # A layer's memory has the type of its results, which are known by now.
    changes += run_passes(graph, [RestoreNames(), *([KeepState()] if streaming else [])])
    check_accumulators(graph)
    return Loaded(graph, merge_changes(changes))


@dataclass(frozen=True)
class QuantizeOptions:
    """How to quantize.

    Attributes:
        observer: ``min-max``, ``percentile`` or ``mse``: how ranges are drawn from what calibration saw.
        samples: calibrate on the first so many of the data; None for all.
        per_axis: one weight scale an output channel, else one a tensor.
        io_type: ``int8`` inputs and outputs, or ``float`` ones.
        require_int8: refuse where an operator would stay float.
        error_samples: measure the quantization noise of each node on so many samples; 0 for not at all.
    """

    observer: str = "min-max"
    samples: int | None = None
    per_axis: bool = True
    io_type: Literal["int8", "float"] = "int8"
    require_int8: bool = False
    error_samples: int = 0


def quantize(
    graph: Graph, dataset: Dataset, options: QuantizeOptions, progress: Progress = no_progress
) -> tuple[Loaded, QuantizeReport]:
    """Calibrate on the data and quantize; the graph itself stays as it is.

    Raises:
        InputError: the data do not fit, or the observer is unknown.
        QuantizationError: the graph is quantized already or cannot be.
    """
    if options.observer not in OBSERVERS:
        raise InputError(f"there is no observer {options.observer!r}", hint=f"known: {', '.join(OBSERVERS)}")
    samples = dataset.inputs if options.samples is None else dataset[: options.samples].inputs
    prepared = prepare(graph)
    ranges = calibrate(
        prepared,
        samples,
        observer=OBSERVERS[options.observer],
        progress=lambda done, total: progress("calibrating", done, total),
    )
    settings = quant.QuantizeOptions(options.per_axis, options.io_type, options.require_int8)
    result = quant.quantize(prepared, ranges, settings)
    rows = []
    if options.error_samples:
        few = {name: array[: options.error_samples] for name, array in samples.items()}
        rows = error_report(prepared, result.graph, few)
    activations = [v for v in result.graph.values() if not v.is_constant]
    report = QuantizeReport(
        model=graph.name,
        output=None,
        samples=len(next(iter(samples.values()))),
        int8_values=sum(v.type.quant is not None for v in activations),
        values=len(activations),
        left_in_float=[f"{item.node} ({item.op}): {item.why}" for item in result.left_in_float],
        warnings=result.warnings,
        nodes=[NodeErrorReport(r.node, r.op, r.value, r.sqnr_db, r.own_sqnr_db, r.flagged) for r in rows],
    )
    return Loaded(result.graph, []), report


def save(graph: Graph, path: Path, *, force: bool = False) -> None:
    """Write the graph as ONNX: float, or QDQ where it is quantized.

    Raises:
        InputError: the file is taken or its name does not end in .onnx, by which it would be known again.
        UnsupportedError: an operator has no ONNX form.
    """
    if path.suffix != ".onnx":
        raise InputError(f"{path.name} does not end in .onnx", hint="models are written as ONNX files")
    require_free(path, force=force)
    write_file(path, onnx_bytes(graph), force=force)


@dataclass(frozen=True)
class ExportOptions:
    """``project``: None for the C alone, else ``bare`` or ``cmake``. ``measure``: compile and read the ELF.

    ``ram_budget``: bytes of weights and code that may lie in RAM; None for what 55 % of the board's RAM leaves.
    ``cores``: how many may share a run. ``max_ram``: bytes that arena, state and what is placed in RAM may take.
    """

    name: str = ""
    io: str = "arena"
    optimize: str = "balanced"
    project: str | None = None
    measure: bool = False
    ram_budget: int | None = None
    cores: int = 1
    max_ram: int | None = None


def export(graph: Graph, board: Board, options: ExportOptions, out: Path, *, force: bool = False) -> ExportReport:
    """Write the generated C, or a project around it, into the folder ``out``.

    Raises:
        InputError: ``out`` is taken, or the options do not go together.
        DoesNotFitError: the board's flash or RAM is too small; nothing is written.
        ToolMissingError, CompileError: it was to be measured and could not be compiled.
    """
    require_free(out, force=force)
    if options.project == "bare" and options.io != "arena":
        raise InputError("a bare project keeps inputs and outputs in the arena", hint="leave out --io, or --project")
    settings = LowerOptions(
        options.name, options.io, options.optimize, ram_budget=options.ram_budget, cores=options.cores,
        max_ram=options.max_ram,
    )  # fmt: skip
    program = lower(graph, board, settings)
    model = emit_c(program)
    files = {name: text.encode() for name, text in model.items()}
    if options.project is not None:
        project = project_files(program, options.project, model, build_flags(board, options.optimize))
        files = {name: text.encode() for name, text in project.items()}
    try:
        if options.measure:
            report, images = measured(program, with_images=options.project == "bare")
            files |= images
        else:
            report = estimated(program)
        require_fit(report, board)
    except DoesNotFitError as error:
        raise advised(error, ram_advice(graph, program, settings)) from None
    report = replace(report, files=sorted(files))
    write_folder(out, files, force=force)
    return report


def build_flags(board: Board, optimize: str) -> BuildFlags:
    """How build files of a project for this board call a compiler."""
    if board.build is None:
        return BuildFlags(("cc",), (), CODE_FLAGS, "-O2")
    core = core_flags(board.cpu.core)
    level = {"size": OPTIMIZE_FLAGS["size"], "speed": OPTIMIZE_FLAGS["speed"]}.get(optimize, OPTIMIZE_FLAGS["balanced"])
    return BuildFlags((core.gcc, *core.gcc_flags), core.zig_flags, CODE_FLAGS, level)


def inspect(
    loaded: Loaded, board: Board | None = None, ram_budget: int | None = None, cores: int = 1,
    max_ram: int | None = None,
) -> InspectReport:  # fmt: skip
    """What a model holds and, with a board, whether it fits and how long a run will take by the cost model."""
    graph = loaded.graph
    report = InspectReport(
        model=graph.name,
        format=graph.metadata.get(SOURCE + "format", ""),
        inputs=[TensorReport(v.name, str(v.type)) for v in graph.inputs],
        states=[TensorReport(s.name, str(s.read.type)) for s in graph.states],
        outputs=[TensorReport(v.name, str(v.type)) for v in graph.outputs],
        operators=dict(Counter(n.op for n in graph.nodes).most_common()),
        macs=sum(spec_of(n).macs(n) for n in graph.nodes),
        parameters=parameter_count(graph),
        notes=loaded.notes,
        changes=[ChangeReport(c.name, c.count, list(c.nodes)) for c in loaded.changes],
        tensors=[TensorReport(v.name, str(v.type)) for v in graph.values()],
    )
    if board is None:
        return report
    options = LowerOptions(ram_budget=ram_budget, cores=cores, max_ram=max_ram)
    program = lower(graph, board, options)
    size = estimated(program)
    cycles, waits = int(program.cycles), int(program.waits)
    clock = board.cpu.clock_hz
    return replace(
        report,
        board=board.key,
        fits=size.fits,
        arena_bytes=size.arena_bytes,
        flash_bytes=size.flash_bytes,
        ram_bytes=size.ram_bytes,
        in_ram_bytes=size.in_ram_bytes,
        in_ram=size.in_ram,
        bands=size.bands,
        advice="" if size.fits else ram_advice(graph, program, options),
        cycles=cycles if clock else None,
        cycles_with_flash_cache=cycles + waits if clock and cache_of(board) else None,
        latency_ms=(cycles + waits) / clock * 1e3 if clock else None,
    )


def inspect_refused(path: Path, error: UnsupportedError) -> InspectReport:
    """The report on a model of which some operators are not supported: it lists them."""
    unsupported = [{"node": item.node, "op": item.op, "why": item.why} for item in error.items]
    return InspectReport(path.stem, path.suffix.lstrip("."), [], [], {}, 0, 0, unsupported)


def simulate(
    graph: Graph, board: Board, inputs: Sequence[Mapping[str, Array]], *, optimize: str = "balanced",
    ram_budget: int | None = None, cores: int = 1, max_ram: int | None = None, reference: Backend,
    progress: Progress = no_progress,
) -> SimulateReport:  # fmt: skip
    """Run firmware of the model on the emulated board and compare each output with the reference's."""
    expected = reference.compile(graph)
    executable = BoardBackend(board, optimize=optimize, ram_budget=ram_budget, cores=cores, max_ram=max_ram).compile(
        graph
    )
    program = executable.program
    layers = [(step.node.name, step.node.op, step.macs) for step in program.steps]
    report = run_simulation(executable, layers, arena_bytes(program), inputs, expected, progress, cores)
    return replace(report, bands=bands_report(program))


def simulate_project(
    folder: Path, board: Board | None, file: Path | None, count: int | None, progress: Progress = no_progress
) -> SimulateReport:
    """Build an exported ``bare`` project from the sources in its folder and run it; there is no reference.

    Args:
        board: refused where it is not the one that the project was exported for.
        file: a data set to run on; random inputs if None.
        count: how many runs at most; None for all of the file, or one random one.

    Raises:
        InputError: the folder is no such project, or the data do not fit it.
        BoardError, CompileError, ToolMissingError, SimulationError: it cannot be built or run.
    """
    project = read_exported_project(folder)
    if board is not None and board.key != project.board:
        raise InputError(f"the project was exported for the board {project.board}, not {board.key}", where=str(folder))
    inputs = run_inputs(project.signature, file, count)
    layers = [(layer.name, layer.op, layer.macs) for layer in project.layers]
    served = project.serve()
    return run_simulation(served, layers, project.arena_bytes, inputs, None, progress, project.cores)


def validate(
    graph: Graph,
    reference: Backend,
    devices: Sequence[Backend | TargetVerdict],
    inputs: Sequence[Mapping[str, Array]],
) -> ValidateReport:
    """Compare devices with the reference on the same inputs; a verdict that is known already stands as it is."""
    targets = [
        device if isinstance(device, TargetVerdict) else compare_device(graph, reference, device, inputs)
        for device in devices
    ]
    return ValidateReport(reference.name, targets)


EVALUATION_BATCH = 100


def evaluate(
    graph: Graph, dataset: Dataset, device: Backend, progress: Progress = no_progress, *, independent: bool = False
) -> EvaluateReport:
    """Accuracy: how often the largest score of the only output is the label's.

    Args:
        independent: state is cleared before each sample; otherwise the samples are one stream.

    Raises:
        InputError: the data have no labels that are classes of the model, or it has not one output of scores.
    """
    labels = _labels(graph, dataset)
    batched = _rebatched(graph, EVALUATION_BATCH) if isinstance(device, NumpyReference) else graph
    size = batched.inputs[0].type.shape[0] // max(1, graph.inputs[0].type.shape[0])
    executables = {size: device.compile(batched)}
    total, correct = len(dataset), 0
    for start in range(0, total, size):
        count = min(size, total - start)
        if count not in executables:  # the rest at the end
            executables[count] = device.compile(_rebatched(graph, count) if count > 1 else graph)
        if independent:
            executables[count].reset()
        scores = _scores(executables[count], graph, dataset, start, count)
        correct += int(np.count_nonzero(scores.argmax(axis=1) == labels[start : start + count]))
        progress("evaluating", start + count, total)
    return EvaluateReport(graph.name, device.name, total, correct, correct / total)


def _labels(graph: Graph, dataset: Dataset) -> Array:
    """The labels, once it is certain that each is the number of a class that the model scores."""
    labels = dataset.labels
    if labels is None:
        raise InputError("the data set has no labels to compare with", hint="name an array `labels` or `y`")
    if len(graph.outputs) != 1:
        raise InputError(f"accuracy needs one output, the model has {len(graph.outputs)}")
    shape = graph.outputs[0].type.shape
    if sum(size != 1 for size in shape) > 1:
        raise InputError(f"accuracy needs one row of scores, the model's output is {list(shape)}")
    if labels.ndim != 1:
        hint = "give class numbers: labels.argmax(axis=1) where they are one-hot"
        raise InputError(f"labels have shape {list(labels.shape)}, one number a sample is needed", hint=hint)
    classes = graph.outputs[0].type.size
    wrong = np.flatnonzero(~((labels >= 0) & (labels < classes) & (labels == np.floor(labels))))
    if len(wrong):
        first = wrong[0]
        raise InputError(f"label {labels[first]} of sample {first} is none of the {classes} classes of the model")
    return labels


def _rebatched(graph: Graph, count: int) -> Graph:
    try:
        return rebatch(graph, count)
    except GraphError:
        return graph


def _scores(executable: Executable, graph: Graph, dataset: Dataset, start: int, count: int) -> Array:
    arrays = {}
    for value in graph.inputs:
        part = dataset.inputs[value.name][start : start + count]
        arrays[value.name] = np.concatenate([model_input(value, sample) for sample in part])
    (scores,) = executable.run(arrays).values()
    return scores.reshape(count, -1)
