"""What of the tools that burnc can use is on this machine, the emulator's among them."""

from __future__ import annotations

from burnc.compilers import doctor
from burnc.compilers.doctor import Finding, look_for
from burnc.errors import BurncError
from burnc.sim.nodejs import find_nodejs, find_npm
from burnc.sim.rp2040js_package import NAME, VERSION, cached_package


def diagnose() -> list[Finding]:
    """Look for every tool."""
    return doctor.diagnose([look_for("Node.js", "emulated boards", _nodejs, for_demo=True), _emulator()])


def _nodejs() -> str:
    nodejs = find_nodejs()
    return f"{'.'.join(map(str, nodejs.version))} ({nodejs.node})"


def _emulator() -> Finding:
    name, needed_for = f"npm package {NAME}", "the emulated pico"
    cached = cached_package()
    if cached is not None:
        return Finding(name, f"{VERSION} ({cached})", needed_for, "", for_demo=True)
    try:
        find_npm()
    except BurncError as error:
        return Finding(name, None, needed_for, error.hint or error.what, for_demo=True)
    return Finding(name, f"{VERSION} will be fetched when it is first needed", needed_for, "", for_demo=True)
