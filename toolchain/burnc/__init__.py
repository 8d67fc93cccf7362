"""burnc: from a trained network to a microcontroller, bit for bit.

Names are loaded when they are first used (PEP 562), so that ``import burnc`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnc.version import VERSION

if TYPE_CHECKING:
    from burnc import train as train
    from burnc.backends import device as device
    from burnc.boards import all_boards as boards
    from burnc.errors import BurncError as BurncError
    from burnc.model import Model as Model
    from burnc.model import load as load
    from burnc.train import modules as nn

__version__ = VERSION

# Name -> module and attribute; no attribute: the module itself.
_LAZY = {
    "BurncError": ("burnc.errors", "BurncError"),
    "Model": ("burnc.model", "Model"),
    "boards": ("burnc.boards", "all_boards"),
    "device": ("burnc.backends", "device"),
    "load": ("burnc.model", "load"),
    "nn": ("burnc.train.modules", ""),
    "train": ("burnc.train", ""),
}

__all__ = ["BurncError", "Model", "__version__", "boards", "device", "load", "nn", "train"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'burnc' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def __dir__() -> list[str]:
    return __all__
