"""The ``webgpu`` backend: KernelIR as WGSL, on whatever GPU Vulkan, Metal or Direct3D 12 finds.

A software Vulkan (Mesa's lavapipe) will do. Arrays lie on the device from compilation on; a run uploads inputs, submits
all launches at once, and reads back outputs and kept values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native.extras import set_instance_extras

from burnc.backends.protocol import Backend, Executable, Support, check_inputs
from burnc.codegen.launches import Launch, Storage, plan_launches, renders
from burnc.errors import BurncError, GraphError, ToolMissingError
from burnc.ir import Array, DType, Graph, Node, Value, with_outputs
from burnc.kernel.stages import Stage
from burnc.kernel.wgsl import WIDE, WORKGROUP, render


class WebGpuBackend(Backend):
    """A GPU through WebGPU: Vulkan, Metal or Direct3D 12.

    Raises:
        ToolMissingError: this computer has no adapter.
    """

    name = "webgpu"
    keeps_state = True

    def __init__(self, argument: str = "") -> None:
        if argument:
            raise BurncError(f"the webgpu backend takes no argument, not {argument!r}", hint="write just webgpu")
        self._gpu = _gpu()

    @property
    def adapter(self) -> str:
        """What computes, in words."""
        info = self._gpu.adapter.info
        return f"{info['device']}, {info['description']} ({info['backend_type']})"

    def supports(self, node: Node) -> Support:
        return renders(node, self._text)

    def _text(self, stage: Stage) -> str:
        most = int(self._gpu.limits["max-storage-buffers-per-shader-stage"])
        if len(stage.buffers) > most:
            raise GraphError(f"a kernel takes {len(stage.buffers)} arrays, this GPU binds {most} at once")
        return render(stage)

    def compile(self, graph: Graph, keep: Sequence[Value] = ()) -> Executable:
        """Compile the shaders and upload the constants.

        Raises:
            UnsupportedError: an operator has no kernel, or none in WGSL.
        """
        self.require_support(graph)
        return WebGpuExecutable(self._gpu, with_outputs(graph, keep))


@cache
def _gpu() -> Any:
    """The device of this process; the one with the largest limits that the adapter has."""
    adapter: Any = None
    with suppress(RuntimeError):  # where somebody else has asked for a device before
        set_instance_extras(backends=["Primary"])  # without OpenGL, which computes with less
    with suppress(RuntimeError):  # how wgpu says that there is none
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    if adapter is None:
        raise ToolMissingError(
            "WebGPU finds no graphics adapter on this computer",
            hint="a driver for Vulkan, Metal or Direct3D 12; on Debian mesa-vulkan-drivers computes on the CPU",
        )
    wanted = ("max-storage-buffers-per-shader-stage", "max-storage-buffer-binding-size", "max-buffer-size")
    return adapter.request_device_sync(required_limits={name: adapter.limits[name] for name in wanted})


@cache
def _pipeline(text: str) -> Any:
    """The compiled shader; equal kernels share one."""
    module = _gpu().create_shader_module(code=text)
    return _gpu().create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})


class WebGpuExecutable:
    """Device arrays, and one bind group for each launch."""

    def __init__(self, gpu: Any, graph: Graph) -> None:
        self._gpu = gpu
        self._graph = graph
        plan = plan_launches(graph)
        self._storage = plan.storage
        self._buffers: dict[Storage, Any] = {}
        self._dispatches = [self._dispatch(launch) for launch in plan.order]
        self._carried = [
            (self._buffer(plan.storage[s.write]), self._empty(s.read), self._buffer(plan.storage[s.read]))
            for s in graph.states
        ]
        for value in graph.outputs:
            self._buffer(plan.storage[value])

    def reset(self) -> None:
        for state in self._graph.states:
            self._write(state.read, state.initial)

    def _dispatch(self, launch: Launch) -> tuple[Any, Any, tuple[int, int]]:
        pipeline = _pipeline(render(launch.stage))
        bound = [self._buffer(storage) for storage in launch.arguments]
        if launch.at:
            at = np.array([*launch.at, 0, 0, 0, 0][:4], np.int32)
            bound.append(self._gpu.create_buffer_with_data(data=at, usage=wgpu.BufferUsage.UNIFORM))
        entries = [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}} for i, b in enumerate(bound)]
        group = self._gpu.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        return pipeline, group, _workgroups(launch.stage.threads, self._gpu.limits)

    def _buffer(self, storage: Storage) -> Any:
        if storage not in self._buffers:
            data = storage.data if storage.data is not None else np.zeros(storage.size, storage.dtype.numpy)
            usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
            words = _to_device(data, storage.dtype)
            self._buffers[storage] = self._gpu.create_buffer_with_data(data=words, usage=usage)
        return self._buffers[storage]

    def _empty(self, value: Value) -> Any:
        size = _to_device(np.zeros(value.type.size), value.type.dtype).nbytes
        return self._gpu.create_buffer(size=size, usage=wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST)

    def _write(self, value: Value, array: Array) -> None:
        words = _to_device(array, value.type.dtype)
        self._gpu.queue.write_buffer(self._buffer(self._storage[value]), 0, words)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One inference; outputs and kept values by name."""
        arrays = check_inputs(self._graph, inputs)
        for value in self._graph.inputs:
            self._write(value, arrays[value.name])
        encoder = self._gpu.create_command_encoder()
        work = encoder.begin_compute_pass()
        for pipeline, group, (across, down) in self._dispatches:
            work.set_pipeline(pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(across, down)
        work.end()
        self._gpu.queue.submit([encoder.finish()])
        found = {value.name: self._read(value) for value in self._graph.outputs}
        self._carry()
        return found

    def _carry(self) -> None:
        """What was written to the states becomes what the next run reads."""
        if not self._carried:
            return
        encoder = self._gpu.create_command_encoder()
        # By way of spare arrays: one state may become what another was.
        for written, spare, _ in self._carried:
            encoder.copy_buffer_to_buffer(written, 0, spare, 0, spare.size)
        for _, spare, read in self._carried:
            encoder.copy_buffer_to_buffer(spare, 0, read, 0, spare.size)
        self._gpu.queue.submit([encoder.finish()])

    def _read(self, value: Value) -> Array:
        raw = self._gpu.queue.read_buffer(self._buffer(self._storage[value]))
        return _from_device(np.frombuffer(raw, np.uint8), value)


def _workgroups(threads: int, limits: Mapping[str, Any]) -> tuple[int, int]:
    """Workgroups across and down, as one dimension alone is limited."""
    groups, most = -(-threads // WORKGROUP), int(limits["max-compute-workgroups-per-dimension"])
    return min(groups, most), -(-groups // most)


def _device_type(dtype: DType) -> np.dtype[Any]:
    """Numpy's name for what an element is on the device: 32 bits, or two limbs."""
    return dtype.numpy if dtype.is_float or dtype in WIDE or dtype is DType.UINT32 else np.dtype(np.int32)


def _to_device(array: Array, dtype: DType) -> Array:
    words = np.ascontiguousarray(array.reshape(-1), _device_type(dtype))
    return words if words.size else np.zeros(1, _device_type(dtype))


def _from_device(raw: Array, value: Value) -> Array:
    type_ = value.type
    words = raw.view(_device_type(type_.dtype))[: type_.size]
    return words.astype(type_.dtype.numpy).reshape(type_.shape)
