"""The installed backends that run on this computer: what a plug-in registers is tested like the built-in ones."""

from __future__ import annotations

import shutil

from burnc.backends import Backend, device
from burnc.backends.registry import available
from burnc.errors import ToolMissingError
from requirements import REQUIRE_ALL

# Backends of another machine, and the reference itself.
ELSEWHERE = {"board", "serial", "numpy"}
# Backends of hardware that no test may ask for; where it is there, they are tested.
HARDWARE = {"cuda"}
COMMANDS = {"c": ("cc", "gcc", "clang")}
# A tenth of a second a kernel on a software Vulkan: they may leave out what differs in numbers alone.
COMPILES_SLOWLY = {"webgpu"}
# The hand-written kernels, and the rendered KernelIR of every node.
VARIANTS = {"c": ("", "rendered")}


def host_backends() -> list[Backend]:
    """Every registered host backend that this machine has the tools for; with BURNC_REQUIRE_ALL=1 all of them."""
    found: list[Backend] = []
    for name in sorted(set(available()) - ELSEWHERE):
        commands = COMMANDS.get(name, ())
        if commands and not REQUIRE_ALL and not any(map(shutil.which, commands)):
            continue
        try:
            found += [device(f"{name}:{variant}" if variant else name) for variant in VARIANTS.get(name, ("",))]
        except ToolMissingError:
            if REQUIRE_ALL and name not in HARDWARE:
                raise
    return found


def backend_id(backend: Backend) -> str:
    """The backend's name, with its variant."""
    variant = getattr(backend, "variant", "")
    return f"{backend.name}-{variant}" if variant else backend.name
