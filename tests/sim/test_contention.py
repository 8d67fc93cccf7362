"""What one core of the emulated RP2040 has to wait for because of the other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import burnc.sim
from burnc.sim.nodejs import find_nodejs
from requirements import requires

RP2040 = Path(burnc.sim.__file__).parent / "rp2040"


def waits(module: str, name: str, arguments: str, calls: list[str]) -> list[int]:
    """What each of the calls, made in turn on one object, returns."""
    program = f"import {{ {name} }} from '{(RP2040 / module).as_uri()}'; const it = new {name}({arguments});"
    program += f"console.log(JSON.stringify([{', '.join(f'it.{call}' for call in calls)}]));"
    command = [find_nodejs().node, "--input-type=module", "-e", program]
    found: list[int] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


@requires("node")
def test_a_port_serves_one_core_in_a_cycle():
    calls = {
        "ram(0, 10, 0)": 0,
        "ram(16, 10, 1)": 1,  # the same bank, four words on
        "ram(32, 11, 0)": 1,  # which core 1 had to wait for
        "ram(4, 10, 1)": 0,  # another bank
        "ram(4, 10, 1)  ": 0,  # its own
        "ram(256 * 1024, 20, 0)": 0,
        "ram(256 * 1024 + 4, 20, 1)": 1,  # a small bank is not striped
        "ram(260 * 1024, 20, 1)": 0,
        "flash(20, 0)": 0,
        "flash(20, 1)": 1,
    }
    assert waits("ports.mjs", "Ports", "", list(calls)) == list(calls.values())


@requires("node")
def test_a_line_is_fetched_for_one_core_at_a_time():
    geometry = "{ size: 16384, ways: 2, line: 8, miss_cycles: 56 }"
    calls = {
        "access(0, 100)": 56,
        "access(4, 110)": 46,  # the other core wants the same line
        "access(8, 120)": 36 + 56,  # another line: after the first
        "access(0, 130)": 82,  # what is there cannot be read meanwhile
        "access(0, 212)": 0,
    }
    assert waits("flash_cache.mjs", "FlashCache", geometry, list(calls)) == list(calls.values())
