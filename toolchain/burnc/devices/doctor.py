"""What of the tools that burnc can use is on this machine, the emulator's among them."""

from __future__ import annotations

import functools

from burnc.boards import all_boards
from burnc.compilers import doctor
from burnc.compilers.doctor import Finding, look_for
from burnc.errors import BurncError
from burnc.sim.nodejs import find_nodejs, find_npm
from burnc.sim.qemu import find_qemu, read_machine
from burnc.sim.rp2040js_package import NAME, VERSION, cached_package


def diagnose() -> list[Finding]:
    """Look for every tool."""
    return doctor.diagnose(
        [look_for("Node.js", "the emulated pico", _nodejs, for_demo=True), _emulator(), *_qemu_programs()]
    )


def _qemu_programs() -> list[Finding]:
    """Each QEMU program, with the boards that need it."""
    boards: dict[str, list[str]] = {}
    for board in all_boards():
        if board.sim_engine == "qemu":
            program = read_machine(board.sim_options, f"board {board.key}").program
            boards.setdefault(program, []).append(board.key)
    return [
        look_for(program, f"emulated {', '.join(keys)}", functools.partial(_qemu, program), for_demo=False)
        for program, keys in boards.items()
    ]


def _qemu(program: str) -> str:
    return str(find_qemu(program))


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
