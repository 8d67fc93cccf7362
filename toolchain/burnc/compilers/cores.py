"""Compiler flags by CPU core. A board names its core; a new board with a known core needs nothing here."""

from __future__ import annotations

from dataclasses import dataclass

from burnc.errors import BoardError

HOST = "host"


@dataclass(frozen=True)
class Core:
    """How compilers are told of a core.

    ``architecture`` names the environment variable ``BURNC_CC_<ARCHITECTURE>``; ``gcc`` is the bare-metal compiler's
    command; ``gcc_flags`` also serve clang, which needs ``clang_target`` besides.
    """

    architecture: str
    gcc: str
    gcc_flags: tuple[str, ...]
    clang_target: str
    zig_target: str
    zig_cpu: str

    @property
    def zig_flags(self) -> tuple[str, ...]:
        return ("-target", self.zig_target, f"-mcpu={self.zig_cpu}")

    @property
    def clang_flags(self) -> tuple[str, ...]:
        return (f"--target={self.clang_target}", *self.gcc_flags)


def _arm(name: str, zig_cpu: str, *fpu: str) -> Core:
    return Core(
        architecture="arm",
        gcc="arm-none-eabi-gcc",
        gcc_flags=(f"-mcpu={name}", "-mthumb", *(fpu or ("-mfloat-abi=soft",))),
        clang_target="arm-none-eabi",
        zig_target="thumb-freestanding-eabihf" if fpu else "thumb-freestanding-eabi",
        zig_cpu=zig_cpu,
    )


# zig leaves out the DSP and MVE extensions of the later cores unless they are named.
_CORES: dict[str, Core] = {
    "cortex-m0": _arm("cortex-m0", "cortex_m0"),
    "cortex-m0plus": _arm("cortex-m0plus", "cortex_m0plus"),
    "cortex-m3": _arm("cortex-m3", "cortex_m3"),
    "cortex-m4": _arm("cortex-m4", "cortex_m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "cortex-m7": _arm("cortex-m7", "cortex_m7", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    "cortex-m33": _arm("cortex-m33", "cortex_m33+dsp", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    "cortex-m55": _arm("cortex-m55", "cortex_m55+mve", "-mfloat-abi=hard"),
    "rv32imc": Core(
        architecture="riscv",
        gcc="riscv64-unknown-elf-gcc",
        gcc_flags=("-march=rv32imc", "-mabi=ilp32"),
        clang_target="riscv32-unknown-elf",
        zig_target="riscv32-freestanding-none",
        zig_cpu="generic_rv32+m+c",
    ),
}


def core_flags(name: str) -> Core:
    """The flags for a core.

    Raises:
        BoardError: no flags are known for the core.
    """
    try:
        return _CORES[name]
    except KeyError:
        raise BoardError(
            f"no compiler flags are known for the core {name!r}", hint=f"known cores: {', '.join(_CORES)}"
        ) from None


def core_names() -> list[str]:
    """Every core that flags are known for, the host aside."""
    return list(_CORES)
