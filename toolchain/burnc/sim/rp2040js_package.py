"""Obtains the npm package rp2040js, pinned and verified, into the user's cache folder.

``python -m burnc.sim.rp2040js_package`` fills the cache and prints the folder.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from burnc.errors import BurncError, ToolMissingError
from burnc.resources import cache_folder
from burnc.sim.nodejs import find_npm

NAME = "rp2040js"
VERSION = "1.4.1"
SHA512 = "Yzr5xG7ZwbtA50IYAU1k/oSoSyDAhPtT5qC/Q2eFApoLuAYE8DQbPIMPs/0kh4Ietd4P0OpKk3CIkfNqjcr56g=="

_NPM_TIMEOUT_S = 180
_FILL_CACHE = "connect to the network once and run: python -m burnc.sim.rp2040js_package"


def cached_package() -> Path | None:
    """The unpacked package, if the cache has it."""
    folder = cache_folder() / f"{NAME}-{VERSION}"
    return folder if folder.is_dir() else None


def _say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def obtain_package(*, npm: Sequence[str] | None = None, report: Callable[[str], None] = _say) -> Path:
    """The unpacked package: from the cache, or fetched with npm, verified and put there.

    Args:
        npm: the command that starts npm; searched for when it is needed and not given.
        report: told in one line when something is fetched.

    Raises:
        ToolMissingError: the package is not cached, and npm is missing or cannot fetch it.
        BurncError: what was fetched is not the package that burnc was tested with.
    """
    cached = cached_package()
    if cached is not None:
        return cached
    command = tuple(npm) if npm is not None else find_npm()
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return _fetch_into(cache, command, report)
    except OSError as error:
        raise ToolMissingError(
            f"the emulator's npm package cannot be kept: {error.strerror}",
            where=str(cache),
            hint="set BURNC_CACHE to a folder that can be written to",
        ) from error


def _fetch_into(cache: Path, npm: Sequence[str], report: Callable[[str], None]) -> Path:
    report(f"fetching the npm package {NAME} {VERSION} into {cache}")
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as name:
        scratch = Path(name)
        tarball = _fetch(npm, scratch)
        verify(tarball.read_bytes())
        unpacked = scratch / "package"
        unpack(tarball, unpacked)
        target = cache / f"{NAME}-{VERSION}"
        try:
            unpacked.rename(target)  # appears whole or not at all
        except OSError:
            if not target.is_dir():  # another process was not quicker either
                raise
    return target


def verify(tarball: bytes) -> None:
    """Compares the tarball with the pinned SHA-512.

    Raises:
        BurncError: it is another.
    """
    digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    if digest != SHA512:
        raise BurncError(
            f"the npm package {NAME} {VERSION} that was fetched is not the one burnc was tested with; it was not used",
            where=f"expected sha512-{SHA512}, got sha512-{digest}",
            hint="check the registry or mirror that npm is set up to use",
        )


def unpack(tarball: Path, folder: Path) -> None:
    """Writes the regular files below ``package/`` of an npm tarball into ``folder``.

    Raises:
        BurncError: a member's path leads elsewhere.
    """
    with tarfile.open(tarball, "r:gz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if not member.isfile():
                continue
            if path.is_absolute() or ".." in path.parts or path.parts[0] != "package":
                raise BurncError(f"the npm package {NAME} {VERSION} holds a file outside its folder", where=member.name)
            source = archive.extractfile(member)
            assert source is not None  # a regular file has contents
            target = folder.joinpath(*path.parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read())


def _fetch(npm: Sequence[str], folder: Path) -> Path:
    command = [
        *npm,
        "pack",
        f"{NAME}@{VERSION}",
        "--ignore-scripts",
        "--loglevel=error",
        f"--pack-destination={folder}",
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_NPM_TIMEOUT_S,
            check=False,
        )
        complaint = done.stderr.strip()
    except subprocess.TimeoutExpired:
        complaint = f"npm took more than {_NPM_TIMEOUT_S} s"
    except OSError as error:
        complaint = str(error)
    tarball = folder / f"{NAME}-{VERSION}.tgz"
    if not tarball.is_file():
        raise ToolMissingError(
            f"the emulator needs the npm package {NAME} {VERSION}, and npm could not fetch it",
            where=complaint.splitlines()[0] if complaint else "npm gave no reason",
            hint=_FILL_CACHE,
        )
    return tarball


def main() -> int:
    """Fills the cache; 0 when the package is there."""
    try:
        sys.stdout.write(f"{obtain_package()}\n")
    except BurncError as error:
        _say(f"error: {error}")
        return error.exit_status
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
