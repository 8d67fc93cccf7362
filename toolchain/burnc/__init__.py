"""burnc: from a trained network to a microcontroller, bit for bit.

Names are loaded when they are first used (PEP 562), so that ``import burnc`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnc.version import VERSION

if TYPE_CHECKING:
    from burnc.backends import device as device
    from burnc.boards import all_boards as boards
    from burnc.errors import BurncError as BurncError
    from burnc.model import Model as Model
    from burnc.model import load as load

__version__ = VERSION

_LAZY = {
    "BurncError": ("burnc.errors", "BurncError"),
    "Model": ("burnc.model", "Model"),
    "boards": ("burnc.boards", "all_boards"),
    "device": ("burnc.backends", "device"),
    "load": ("burnc.model", "load"),
}

__all__ = ["BurncError", "Model", "__version__", "boards", "device", "load"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'burnc' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
