"""Writing results: a file or folder appears whole or not at all, and nothing is replaced unasked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from burnc.errors import InputError

# What a plain open() or mkdir() would give under the usual umask; temporary ones are for their owner alone.
FILE_MODE = 0o644
FOLDER_MODE = 0o755


def require_free(path: Path, *, force: bool) -> None:
    """Check before long work that a result may be written there.

    Raises:
        InputError: something is there and ``force`` is not set, or the folder above is missing.
    """
    if not path.absolute().parent.is_dir():
        raise InputError("the folder to write into does not exist", where=str(path.absolute().parent))
    is_empty_folder = path.is_dir() and not any(path.iterdir())
    if path.exists() and not force and not is_empty_folder:
        raise InputError(f"{path} exists already", hint="choose another name, or give --force to replace it")


def write_file(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file in one step.

    Raises:
        InputError: as ``require_free``, or the disk refuses.
    """
    require_free(path, force=force)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(FILE_MODE)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"the file cannot be written: {error.strerror or error}", where=str(path)) from error


def write_folder(path: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write a folder of files (relative path -> content) in one step; one that is there is replaced whole.

    Raises:
        InputError: as ``require_free``, or the disk refuses.
    """
    require_free(path, force=force)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, not a folder")
    path = path.absolute()
    new = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        for name, data in files.items():
            target = new / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        new.chmod(FOLDER_MODE)
        if path.exists():
            old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.")) / "old"
            path.replace(old)
            new.replace(path)
            shutil.rmtree(old.parent)
        else:
            new.replace(path)
    except OSError as error:
        raise InputError(f"the folder cannot be written: {error.strerror or error}", where=str(path)) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
