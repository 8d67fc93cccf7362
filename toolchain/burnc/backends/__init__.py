"""Backends: where graphs run. ``device(name)`` finds one."""

from burnc.backends.protocol import SUPPORTED, Backend, Executable, Support
from burnc.backends.registry import device

__all__ = ["SUPPORTED", "Backend", "Executable", "Support", "device"]
