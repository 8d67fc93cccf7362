"""The ``cuda`` backend: KernelIR as CUDA C++, compiled by NVRTC, run by CuPy on an NVIDIA GPU."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from burnc.backends.protocol import Backend, Executable, Support, check_inputs
from burnc.codegen.cuda_source import cuda_source
from burnc.codegen.launches import Launch, Storage, plan_launches, renders
from burnc.errors import BurncError, ToolMissingError
from burnc.ir import Array, Graph, Node, Value, with_outputs
from burnc.kernel.cuda import BLOCK, render
from burnc_host.nvrtc import compile_cubin


class CudaBackend(Backend):
    """An NVIDIA GPU through CuPy; ``cuda:1`` is the second one.

    Raises:
        ToolMissingError: this computer has no such GPU, or no driver for it.
    """

    name = "cuda"
    keeps_state = True

    def __init__(self, argument: str = "") -> None:
        if argument and not argument.isdecimal():
            raise BurncError(f"{argument!r} is no number of a GPU", hint="write cuda, or cuda:1 for the second GPU")
        number = int(argument or 0)
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise ToolMissingError(f"CUDA finds no GPU: {error}", hint="an NVIDIA GPU and its driver") from None
        if number >= count:
            raise ToolMissingError(f"there is no GPU {number}, CUDA finds {count}")
        self._device = cupy.cuda.Device(number)

    def supports(self, node: Node) -> Support:
        return renders(node, render)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> Executable:
        """Compile the kernels and upload the constants.

        Raises:
            UnsupportedError: an operator has no kernel.
        """
        self.require_support(graph)
        return CudaExecutable(self._device, with_outputs(graph, keep))


class CudaExecutable:
    """Device arrays and launches, in a stream of their own."""

    def __init__(self, device: Any, graph: Graph) -> None:
        self._device = device
        self._graph = graph
        plan = plan_launches(graph)
        self._storage = plan.storage
        self._arrays: dict[Storage, Any] = {}
        source, names = cuda_source(plan.order)
        with device:
            self._stream = cupy.cuda.Stream(non_blocking=True)
            with self._stream:
                module = self._load(compile_cubin(source, f"sm_{device.compute_capability}"))
                self._launches = [
                    self._launch(module.get_function(name), launch)
                    for name, launch in zip(names, plan.order, strict=True)
                    if launch.stage.threads
                ]

    def _load(self, cubin: bytes) -> Any:
        # CuPy may read the file again, so it stays as long as this object.
        folder = Path(tempfile.mkdtemp(prefix="burnc-cuda-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = folder / "kernels.cubin"
        path.write_bytes(cubin)
        return cupy.RawModule(path=str(path))

    def _launch(self, function: Any, launch: Launch) -> tuple[Any, int, tuple[Any, ...]]:
        arguments = [self._array(storage) for storage in launch.arguments]
        return function, -(-launch.stage.threads // BLOCK), (*arguments, *map(np.int32, launch.at))

    def _array(self, storage: Storage) -> Any:
        if storage not in self._arrays:
            data = storage.data if storage.data is not None else np.zeros(storage.size, storage.dtype.numpy)
            self._arrays[storage] = cupy.asarray(np.ascontiguousarray(data.reshape(-1)))
        return self._arrays[storage]

    def reset(self) -> None:
        with self._device, self._stream:
            for state in self._graph.states:
                self._write(state.read, state.initial)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name."""
        arrays = check_inputs(self._graph, inputs)
        with self._device, self._stream:
            for value in self._graph.inputs:
                self._write(value, arrays[value.name])
            for function, blocks, arguments in self._launches:
                function((blocks,), (BLOCK,), arguments)
            found = {value.name: self._read(value) for value in self._graph.outputs}
            # Copies first: one state may become what another was.
            written = [self._of(state.write).copy() for state in self._graph.states]
            for state, array in zip(self._graph.states, written, strict=True):
                self._of(state.read)[...] = array
        return found

    def _of(self, value: Value) -> Any:
        return self._array(self._storage[value])

    def _write(self, value: Value, array: Array) -> None:
        self._of(value)[...] = cupy.asarray(np.ascontiguousarray(array.reshape(-1)))

    def _read(self, value: Value) -> Array:
        found: Array = cupy.asnumpy(self._of(value)).reshape(value.type.shape)
        return found
