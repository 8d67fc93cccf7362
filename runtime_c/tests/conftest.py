# SPDX-License-Identifier: 0BSD
"""Drivers built in every way that must not change a bit, each built once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))  # the helper modules beside the tests

RUNTIME = TESTS.parent
BASE = ["-std=c99", "-ffp-contract=off"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# What a Cortex-M0+ chooses by itself.
SMALL_CORE = ["-DBURNC_SHORT_MULTIPLY=1", "-DBURNC_FEW_REGISTERS=1"]

# Each way to build the driver has a name, a compiler and flags.
VARIANTS: dict[str, list[str]] = {
    "gcc-O2": ["gcc", *BASE, "-O2"],
    "gcc-O0": ["gcc", *BASE, "-O0"],
    "gcc-Os": ["gcc", *BASE, "-Os"],
    "gcc-O3-unsigned-char": ["gcc", *BASE, "-O3", "-funsigned-char"],
    "gcc-signed-char": ["gcc", *BASE, "-O2", "-fsigned-char"],
    "gcc-small-core": ["gcc", *BASE, "-O2", *SMALL_CORE],
    "gcc-sanitized": ["gcc", *BASE, *SANITIZE],
    "gcc-sanitized-small-core": ["gcc", *BASE, *SANITIZE, *SMALL_CORE],
    "g++": ["g++", "-x", "c++", "-std=c++11", "-ffp-contract=off", "-O2"],
    "clang-O2": ["clang", *BASE, "-O2"],
    "clang-sanitized": ["clang", *BASE, *SANITIZE],
    "zig-O2": [sys.executable, "-m", "ziglang", "cc", *BASE, "-O2"],
}


@pytest.fixture(scope="session")
def build_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    built: dict[str, Path] = {}

    def build(variant: str) -> Path:
        if variant not in built:
            command = VARIANTS[variant]
            if shutil.which(command[0]) is None:
                pytest.skip(f"no {command[0]} here")
            driver = tmp_path_factory.mktemp("driver") / variant.replace("+", "p")
            sources = [TESTS / "driver.c", *sorted((RUNTIME / "src").glob("*.c"))]
            subprocess.run([*command, f"-I{RUNTIME / 'include'}", *sources, "-o", driver], check=True)
            built[variant] = driver
        return built[variant]

    return build


@pytest.fixture(params=list(VARIANTS))
def driver(request: pytest.FixtureRequest, build_driver: Callable[[str], Path]) -> Path:
    """The test driver, built in each way in turn."""
    return build_driver(str(request.param))
