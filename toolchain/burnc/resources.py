"""Where the data folders lie (inside an installed package, or in the checkout next to it), and where the cache is."""

from __future__ import annotations

import os
from pathlib import Path

from burnc.errors import BurncError

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder ``runtime_c``, ``templates``, ``boards`` or ``examples`` of this installation.

    A wheel carries them under ``burnc/_data``; an editable install reads the checkout itself.

    Raises:
        BurncError: the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parents[1] / name):
        if candidate.is_dir():
            return candidate
    raise BurncError(
        f"the data folder {name!r} is missing from this installation",
        where=str(_PACKAGE),
        hint="install burnc again",
    )


def cache_folder() -> Path:
    """The folder ``$BURNC_CACHE``, else ``burnc`` in the user's cache folder; it need not exist yet."""
    own = os.environ.get("BURNC_CACHE")
    if own:
        return Path(own)
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "burnc" if base else Path.home() / "AppData" / "Local" / "burnc"
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "burnc" if base else Path.home() / ".cache" / "burnc"
