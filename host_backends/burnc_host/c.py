"""The ``c`` backend: the very C that is exported, compiled by the host's compiler and called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from burnc.backends.protocol import Backend, Executable, Support, check_inputs
from burnc.boards import load_board
from burnc.codegen.emit_c import arena_bytes, emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.codegen.program import Program
from burnc.codegen.rendered import has_kernel
from burnc.compilers.compile import CODE_FLAGS, OPTIMIZE_FLAGS, compile_objects, link_shared_library
from burnc.compilers.cores import core_names
from burnc.compilers.toolchains import find_host_compiler
from burnc.errors import BurncError
from burnc.ir import Array, Graph, Node, Value, with_outputs

PREFIX = "host_model"


class CBackend(Backend):
    """Compiles graphs with the host's C compiler.

    Args:
        variant: ``rendered`` leaves the hand-written kernels out and runs the KernelIR of every node; a core's name
            chooses kernels as for that core, and runs the C twins of those in assembly.
    """

    name = "c"
    keeps_state = True

    def __init__(self, variant: str = "") -> None:
        if variant not in ("", "rendered", *core_names()):
            raise BurncError(f"the c backend has no variant {variant!r}", hint="use c, c:rendered or c:CORE")
        if variant:
            self.name = f"c:{variant}"
        rendered = variant == "rendered"
        self._options = LowerOptions(name=PREFIX, rendered_only=rendered, core="" if rendered else variant)

    def supports(self, node: Node) -> Support:
        return has_kernel(node)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> Executable:
        """Lower, compile and load.

        Raises:
            UnsupportedError: an operator has no kernel.
            CompileError, ToolMissingError: the compiler failed or is missing.
        """
        self.require_support(graph)
        tapped = with_outputs(graph, keep)
        program = lower(tapped, load_board("host"), self._options)
        return CExecutable(tapped, program)


class CExecutable:
    """A loaded shared library; its folder is removed when this is collected."""

    def __init__(self, graph: Graph, program: Program) -> None:
        self._graph = graph
        self._program = program
        folder = Path(tempfile.mkdtemp(prefix="burnc-c-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        files = emit_c(program)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        # In one piece: a compiler's start and its reading of headers cost more than a small kernel.
        whole = folder / "all_sources.c"
        whole.write_text("".join(f'#include "{name}"\n' for name in sorted(files) if name.endswith(".c")))
        compiler = find_host_compiler()
        flags = [*CODE_FLAGS, OPTIMIZE_FLAGS["balanced"], "-fPIC"]
        objects = compile_objects(compiler, [whole], out_dir=folder / "objects", flags=flags)
        library = link_shared_library(compiler, objects, output=folder / "model.so")
        self._library = ctypes.CDLL(str(library))
        self._run = self._library[f"{PREFIX}_run"]
        self._run.argtypes = [ctypes.c_void_p] * (2 if program.states else 1)
        self._memory = np.zeros(arena_bytes(program, ctypes.sizeof(ctypes.c_void_p)) // 8 + 1, np.uint64)
        self._state = np.zeros(program.state_bytes // 8 + 1, np.uint64)
        self.reset()

    def reset(self) -> None:
        """Call the generated reset, where there is state."""
        if self._program.states:
            function = self._library[f"{PREFIX}_reset"]
            function.argtypes, function.restype = [ctypes.c_void_p], None
            function(self._state.ctypes.data)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name."""
        arrays = check_inputs(self._graph, inputs)
        for name, value in ((p.value.name, p.value) for p in self._program.inputs):
            self._view(value)[...] = arrays[name]
        blocks = [self._memory, self._state] if self._program.states else [self._memory]
        status = self._run(*(block.ctypes.data for block in blocks))
        if status != 0:
            raise BurncError(f"the generated code returned status {status}", where=f"graph {self._graph.name!r}")
        names = [v.name for v in self._graph.outputs]
        return {n: self._view(p.value).copy() for n, p in zip(names, self._program.outputs, strict=True)}

    def _view(self, value: Value) -> Array:
        start = self._program.offset(value)
        raw = self._memory.view(np.uint8)[start : start + value.type.nbytes]
        return raw.view(value.type.dtype.numpy).reshape(value.type.shape)
