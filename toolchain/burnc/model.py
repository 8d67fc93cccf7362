"""The Python API: ``burnc.load(path)`` gives a ``Model``; everything the command line does is a method of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from burnc import pipeline
from burnc.backends import device
from burnc.backends.model_inputs import model_inputs, random_inputs
from burnc.backends.protocol import Backend
from burnc.boards import load_board
from burnc.devices.run_inputs import samples_of
from burnc.errors import ToolMissingError
from burnc.ir import Array, Graph, print_graph
from burnc.ir.model_card import ModelCard, read_card
from burnc.pipeline import ExportOptions, Loaded, Progress, QuantizeOptions, no_progress
from burnc.quant.datasets import Dataset, load_dataset
from burnc.reports import (
    EvaluateReport,
    ExportReport,
    InspectReport,
    QuantizeReport,
    SimulateReport,
    TargetVerdict,
    ValidateReport,
)

Arrays = Mapping[str, Array]
Device = str | Backend
Inputs = Sequence[Arrays] | int | str | Path | Dataset

_NO_DIMS: Mapping[str, int] = {}
_QUANTIZE = QuantizeOptions()
_EXPORT = ExportOptions()


class Model:
    """A network in burnc's canonical form. Methods do not change it; ``quantize`` returns a new one.

    Attributes:
        graph: the IR.
        quantize_report: how the model was quantized; None for one that was loaded.
        name: of the file it came from, without the suffix; what its C is called unless the user says otherwise.
    """

    def __init__(self, loaded: Loaded, quantize_report: QuantizeReport | None = None, name: str = "") -> None:
        self._loaded = loaded
        self.quantize_report = quantize_report
        self.name = name or loaded.graph.name

    @property
    def graph(self) -> Graph:
        return self._loaded.graph

    @property
    def card(self) -> ModelCard | None:
        """What the inputs are, how they are scaled, labels and accuracy, where the file says so."""
        return read_card(self.graph.metadata)

    @property
    def notes(self) -> list[str]:
        """What the importer chose and the user should know."""
        return self._loaded.notes

    def __str__(self) -> str:
        return print_graph(self.graph)

    def inspect(
        self, board: str | None = None, *, ram_budget: int | None = None, cores: int = 1, max_ram: int | None = None
    ) -> InspectReport:
        """Operators, MACs, parameters and, with a board, fit and predicted latency of a run that ``cores`` share.

        Args:
            ram_budget: bytes of weights and code that may lie in RAM; None for what 55 % of the board's RAM leaves.
            max_ram: bytes that arena, state and what is placed in RAM may take; None for no limit.

        Raises:
            BoardError: the board is unknown. DoesNotFitError: no plan was found within ``max_ram``.
        """
        return pipeline.inspect(self._loaded, load_board(board) if board else None, ram_budget, cores, max_ram)

    def quantize(
        self,
        data: str | Path | Dataset | Arrays,
        options: QuantizeOptions = _QUANTIZE,
        progress: Progress = no_progress,
    ) -> Model:
        """An int8 model, calibrated on the data.

        Args:
            data: a data set, its file, or arrays by input name with the samples along the first axis.

        Raises:
            InputError: the data do not fit the model. QuantizationError: the model cannot be quantized.
        """
        dataset = data if isinstance(data, Dataset) else self.dataset(data)
        loaded, report = pipeline.quantize(self.graph, dataset, options, progress)
        return Model(loaded, report, self.name)

    def run(self, inputs: Arrays, on: Device = "numpy") -> dict[str, Array]:
        """One inference; floats for a quantized input are quantized by the model's own parameters.

        Raises:
            InputError: the inputs do not fit. BurncError: the device cannot run the model.
        """
        return _device(on).compile(self.graph).run(model_inputs(self.graph, inputs))

    def evaluate(
        self,
        data: str | Path | Dataset,
        on: Device = "numpy",
        progress: Progress = no_progress,
        *,
        independent: bool = False,
    ) -> EvaluateReport:
        """Accuracy over a data set with labels.

        Args:
            independent: state, where the model has any, is cleared before each sample; otherwise they are one stream.

        Raises:
            InputError: the data do not fit the model or have no labels.
        """
        backend = _device(on)
        dataset = data if isinstance(data, Dataset) else self.dataset(data)
        return pipeline.evaluate(self.graph, dataset, backend, progress, independent=independent)

    def validate(self, inputs: Inputs = 10, on: Sequence[Device] = ("c",)) -> ValidateReport:
        """Compare devices with the numpy reference, bit for bit in int8.

        Args:
            inputs: arrays by input name for each run, a data set or its file, or how many random ones to make.
        """
        devices = [_device_or_verdict(d) for d in on]
        return pipeline.validate(self.graph, _device("numpy"), devices, self.inputs(inputs))

    def simulate(
        self,
        board: str,
        inputs: Inputs = 1,
        *,
        optimize: str = "balanced",
        ram_budget: int | None = None,
        cores: int = 1,
        max_ram: int | None = None,
        progress: Progress = no_progress,
    ) -> SimulateReport:
        """Run firmware of the model on an emulated board; other arguments as for ``inspect``.

        Raises:
            BoardError, ToolMissingError, DoesNotFitError, SimulationError: it cannot be built or run.
        """
        runs = self.inputs(inputs)
        return pipeline.simulate(
            self.graph,
            load_board(board),
            runs,
            optimize=optimize,
            ram_budget=ram_budget,
            cores=cores,
            max_ram=max_ram,
            reference=_device("numpy"),
            progress=progress,
        )

    def export(
        self, board: str, to: str | Path, options: ExportOptions = _EXPORT, *, force: bool = False
    ) -> ExportReport:
        """Write the generated C, or a project around it, into a folder.

        Raises:
            InputError: the folder is taken. DoesNotFitError: the board is too small.
        """
        options = replace(options, name=options.name or self.name)
        return pipeline.export(self.graph, load_board(board), options, Path(to), force=force)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model as ONNX: float, or QDQ where it is quantized.

        Raises:
            InputError: the file is taken.
        """
        pipeline.save(self.graph, Path(path), force=force)

    def dataset(self, data: str | Path | Arrays) -> Dataset:
        """A data set for this model's inputs; stored integers are scaled as the model card says.

        Raises:
            InputError: it cannot be read or does not fit.
        """
        if isinstance(data, Mapping):
            return Dataset({name: np.asarray(array) for name, array in data.items()}, None)
        return load_dataset(Path(data), inputs=self.graph.inputs, card=read_card(self.graph.metadata))

    def inputs(self, inputs: Inputs) -> list[dict[str, Array]]:
        """Inputs as the model takes them; a number asks for so many random ones.

        Raises:
            InputError: they do not fit the model.
        """
        if isinstance(inputs, int):
            return random_inputs(self.graph, inputs)
        if isinstance(inputs, Dataset):
            return samples_of(self.graph, inputs)
        if isinstance(inputs, str | Path):
            return samples_of(self.graph, self.dataset(inputs))
        return [model_inputs(self.graph, arrays) for arrays in inputs]


def load(
    path: str | Path,
    dims: Mapping[str, int] = _NO_DIMS,
    *,
    batch: int | None = None,
    float_edges: bool | None = None,
    states: Mapping[str, str] = pipeline.NO_STATES,
    streaming: bool = False,
) -> Model:
    """Read an ``.onnx`` or ``.tflite`` file.

    Args:
        dims: values of dynamic dimensions by name.
        batch: the batch size where the file leaves it open; 1 by default.
        float_edges: whether float inputs and outputs of a quantized model stay; by default TFLite files keep the types
            that they declare, and ONNX files, which always show floats, become int8 outside too.
        states: inputs of an ONNX file that become state, and the outputs that they hold in the next run.
        streaming: layers with memory (RNN, GRU, LSTM) keep it from run to run: a long stream can be fed in pieces.

    Raises:
        ModelFileError: the file is damaged or foreign. UnsupportedError: lists every operator burnc cannot carry.
    """
    file = Path(path)
    loaded = pipeline.load(file, dims=dims, batch=batch, float_edges=float_edges, states=states, streaming=streaming)
    return Model(loaded, name=file.stem)


def _device_or_verdict(on: Device) -> Backend | TargetVerdict:
    """The device, or why it cannot be had here; a name that means nothing is an error all the same."""
    try:
        return _device(on)
    except ToolMissingError as error:
        return TargetVerdict(str(on), "unavailable", why=str(error))


def _device(on: Device) -> Backend:
    return device(on) if isinstance(on, str) else on
