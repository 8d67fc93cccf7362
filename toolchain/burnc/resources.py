"""Where the data folders lie: inside an installed package, or in the checkout next to it."""

from __future__ import annotations

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
