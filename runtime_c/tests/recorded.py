# SPDX-License-Identifier: 0BSD
"""A recorded case, the driver's file format, and running a driver over a list of cases."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OPERATIONS = (
    "fixed_point",
    "float_math",
    "conv2d",
    "conv1x1",
    "depthwise_conv2d",
    "fully_connected",
    "add",
    "mul",
    "requantize",
)


def int8s(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}b", *values)


def int32s(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


@dataclass(frozen=True)
class Case:
    """One call of a kernel; `params` are the leading int32 fields of its struct."""

    name: str
    operation: str
    params: Sequence[int]
    arrays: Sequence[bytes]
    expected: bytes

    def encode(self) -> bytes:
        head = int32s([OPERATIONS.index(self.operation), len(self.params), *self.params, len(self.arrays)])
        body = b"".join(int32s([len(array)]) + array for array in self.arrays)
        return head + body + int32s([len(self.expected)])


def run(driver: Path, cases: Sequence[Case]) -> list[bytes]:
    """The driver's output for each case."""
    done = subprocess.run([driver], input=b"".join(case.encode() for case in cases), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:4000]
    outputs, at = [], 0
    for case in cases:
        outputs.append(done.stdout[at : at + len(case.expected)])
        at += len(case.expected)
    assert at == len(done.stdout)
    return outputs


def differences(driver: Path, cases: Sequence[Case]) -> list[str]:
    """One line for each case whose bytes are not the expected ones."""
    lines = []
    for case, got in zip(cases, run(driver, cases), strict=True):
        if got != case.expected:
            at = next(i for i, (a, b) in enumerate(zip(got, case.expected, strict=True)) if a != b)
            lines.append(f"{case.name}: byte {at} is {got[at]}, expected {case.expected[at]}; {case.params}")
    return lines
