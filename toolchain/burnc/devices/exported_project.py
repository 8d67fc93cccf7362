"""An exported ``bare`` project as something that runs: its own sources and support code, compiled as they lie there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burnc.board_support import build_of, harness_sources, move_in_flash
from burnc.boards import Board, load_board
from burnc.codegen.projects import MANIFEST
from burnc.compilers.compile import Optimize
from burnc.compilers.firmware import Firmware, build_firmware
from burnc.devices.emulated_model import EmulatedModel
from burnc.errors import GraphError, InputError
from burnc.ir import DType, Graph, QuantParams, TensorType, Value

_OPTIMIZE: dict[str, Optimize] = {"size": "size", "balanced": "balanced", "speed": "speed"}


@dataclass(frozen=True)
class Layer:
    """What the manifest says of one step of the model."""

    name: str
    op: str
    macs: int


@dataclass(frozen=True)
class ExportedProject:
    """A project folder and its manifest. ``signature`` has the model's inputs and outputs and no nodes."""

    folder: Path
    prefix: str
    board: str
    optimize: Optimize
    arena_bytes: int
    signature: Graph
    layers: list[Layer]
    cores: int = 1

    def serve(self) -> EmulatedModel:
        """Compile the project; it runs on the emulated board it was exported for.

        Raises:
            BoardError, CompileError, DoesNotFitError, ToolMissingError: it cannot be built.
        """
        board = _with_support_in(self.folder, load_board(self.board))
        return EmulatedModel(board, self.signature, len(self.layers), self.build)

    def build(self, out_dir: Path, flash_offset: int = 0) -> Firmware:
        """Compile the project as it lies there.

        Args:
            flash_offset: bytes at the start of flash that are left to a bootloader.

        Raises:
            BoardError, CompileError, DoesNotFitError, ToolMissingError: it cannot be built.
        """
        board = _with_support_in(self.folder, load_board(self.board))
        script = self.folder / "board.ld"
        if flash_offset:
            moved = move_in_flash(script.read_text(encoding="utf-8"), board, flash_offset)
            script = out_dir / "behind_bootloader.ld"
            script.write_text(moved, encoding="utf-8", newline="\n")
        return build_firmware(
            board,
            [*sorted(self.folder.glob("*.[cS]")), *harness_sources(board)],
            out_dir=out_dir,
            name=self.prefix,
            include_dirs=[self.folder, build_of(board).support.parent / "common"],
            optimize=self.optimize,
            defines=[f"{self.prefix.upper()}_PROFILE=1"],
            link_script=script,
        )


def is_exported_project(path: Path) -> bool:
    """Whether a path is a folder that ``burnc export --project bare`` wrote."""
    return (path / MANIFEST).is_file()


def read_exported_project(folder: Path) -> ExportedProject:
    """Read a project's manifest.

    Raises:
        InputError: it is damaged, or parts of the project are missing.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        optimize = _OPTIMIZE[content["optimize"]]
        prefix = content["prefix"]
        if content["schema"] != 1 or not (isinstance(prefix, str) and prefix.isidentifier() and prefix.isascii()):
            raise ValueError("schema or prefix")  # noqa: TRY301  the one place that reports it
        signature = Graph(str(content["model"]))
        signature.inputs = [_value(item) for item in content["inputs"]]
        signature.outputs = [_value(item) for item in content["outputs"]]
        layers = [Layer(str(item["name"]), str(item["op"]), int(item["macs"])) for item in content["layers"]]
        arena_bytes = int(content["arena_bytes"])
        board, cores = str(content["board"]), int(content.get("cores", 1))
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from error
    except (ValueError, KeyError, TypeError, GraphError) as error:
        raise InputError(
            f"this is not a project that this burnc exported: {error}", where=str(path), hint="export the model again"
        ) from error
    return ExportedProject(folder, prefix, board, optimize, arena_bytes, signature, layers, cores)


def _value(item: Mapping[str, Any]) -> Value:
    quant = item["quant"]
    params = None if quant is None else QuantParams.per_tensor(float(quant["scale"]), int(quant["zero_point"]))
    return Value(str(item["name"]), TensorType(DType(item["dtype"]), tuple(int(n) for n in item["shape"]), params))


def _with_support_in(folder: Path, board: Board) -> Board:
    """The board, built from the project's own copy of its support code."""
    support = folder / "support" / build_of(board).support.name
    script = folder / "board.ld"
    for part in (support, script):
        if not part.exists():
            raise InputError("a part of the project is missing", where=str(part), hint="export the model again")
    return replace(board, build=replace(build_of(board), support=support, link_script=script))
