"""Where burnc keeps files that can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path


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
