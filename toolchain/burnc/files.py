"""Writing results: a file or folder appears whole or not at all, and nothing is replaced unasked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from burnc.errors import InputError

# How a folder is known that burnc wrote: a generated text says so in its first lines; a saved model names its producer.
TEXT_MARK = b"enerated by burnc "
MODEL_MARK = b"\x12\x05burnc"
MARK_WITHIN = 256

# What a plain open() or mkdir() would give under the usual umask; temporary ones are for their owner alone.
FILE_MODE = 0o644
FOLDER_MODE = 0o755

PREFIX = ".burnc."
"""Of temporary files and folders, which lie beside the result: moving them there is one step then."""


def require_free(path: Path, *, force: bool) -> None:
    """Check before long work that a result may be written there.

    With ``force`` what is there may be replaced; but a folder only where burnc has written it, and never the one that
    the user works in: a slip as in ``-o . --force`` must not cost anybody's files.

    Raises:
        InputError: something is there and must stay, or the folder above is missing or not to be written.
    """
    try:
        if not path.absolute().parent.is_dir():
            raise InputError("the folder to write into does not exist", where=str(path.absolute().parent))
        if not path.exists():
            return
        is_empty_folder = path.is_dir() and not any(path.iterdir())
        if not force and not is_empty_folder:
            raise InputError(
                f"{path} exists already", hint="choose another name, or replace it: --force, in Python force=True"
            )
        if path.is_dir():
            _require_replaceable(path)
    except OSError as error:  # a name too long, say, or a folder that may not be read
        raise InputError(f"nothing can be written there: {_reason(error)}", where=str(path)[:200]) from error


def _require_replaceable(folder: Path) -> None:
    for kept, what in ((Path.cwd(), "the folder you are in"), (_home(), "your home folder")):
        if kept is not None and kept.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{folder} is or holds {what}, which is never replaced", hint="name a folder of its own")
    heads = [_head(file) for file in folder.iterdir()]
    if heads and not (any(TEXT_MARK in head for head in heads) or all(MODEL_MARK in head for head in heads)):
        raise InputError(
            f"{folder} holds files that burnc has not written, and is not replaced",
            hint="choose another name, or remove the folder yourself",
        )


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # there is none
        return None


def _head(file: Path) -> bytes:
    if not file.is_file():
        return b""
    with file.open("rb") as opened:
        return opened.read(MARK_WITHIN)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def write_file(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file in one step.

    Raises:
        InputError: as ``require_free``, or the disk refuses.
    """
    require_free(path, force=force)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=PREFIX)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(FILE_MODE)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise InputError(f"the file cannot be written: {_reason(error)}", where=str(path)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_folder(path: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write a folder of files (relative path -> content) in one step; one that is there is replaced whole.

    Raises:
        InputError: as ``require_free``, or the disk refuses.
    """
    require_free(path, force=force)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, not a folder")
    path = path.absolute()
    new: Path | None = None
    try:
        new = Path(tempfile.mkdtemp(dir=path.parent, prefix=PREFIX))
        for name, data in files.items():
            target = new / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        new.chmod(FOLDER_MODE)
        if path.exists():
            _exchange(path, new)
        else:
            new.replace(path)
    except OSError as error:
        raise InputError(f"the folder cannot be written: {_reason(error)}", where=str(path)) from error
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)


def _exchange(path: Path, new: Path) -> None:
    """Put the new folder in the place of the old one, which goes; it comes back where that fails."""
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=PREFIX))
    old = aside / "old"
    try:
        path.replace(old)
        try:
            new.replace(path)
        except OSError:
            old.replace(path)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
