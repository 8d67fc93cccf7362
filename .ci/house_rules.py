"""Rules about the repository's files that no other tool checks; `make lint` and tests/test_house_rules.py run them.

Each rule is a function that yields one line for each thing that is wrong.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FREE_FOLDERS = ("runtime_c/", "templates/", "boards/")
LONGEST_SOURCE = 500
SOURCE_SUFFIXES = {".py", ".c", ".h", ".S", ".js", ".mjs", ".ld", ".j2"}

# Package registries and paths of somebody's machine; written so that this file keeps its own rule.
FOREIGN = re.compile(
    r"pypi[.]org|files[.]pythonhosted|registry[.]npmjs|deb[.]debian[.]org"
    r"|(?<![\w.}])/(?:work|farm|root)/|/home/[a-z]|/tmp/bash[_]jobs"
)

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def tracked_files() -> list[Path]:
    """The files that git knows or would add, as absolute paths."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str | None:
    """The text of a file, or None where it is binary."""
    data = path.read_bytes()
    return None if b"\0" in data else data.decode(errors="replace")


def every_free_file_says_so() -> Iterator[str]:
    """What ends up in firmware (runtime_c, templates, boards) carries an SPDX line for 0BSD near its top."""
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(FREE_FOLDERS):
            head = (text_of(path) or "").split("\n")[:5]
            if not any("SPDX-License-Identifier: 0BSD" in line for line in head):
                yield f"{name}: no 'SPDX-License-Identifier: 0BSD' in its first five lines"


def no_file_names_a_machine() -> Iterator[str]:
    """No tracked file names a package registry's host or a path of somebody's machine."""
    for path in tracked_files():
        for number, line in enumerate((text_of(path) or "").split("\n"), 1):
            if found := FOREIGN.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: names {found[0]!r}"


def no_source_file_is_long() -> Iterator[str]:
    """A source file of more than 500 lines is several things in one place."""
    for path in tracked_files():
        if path.suffix in SOURCE_SUFFIXES:
            lines = (text_of(path) or "").count("\n")
            if lines > LONGEST_SOURCE:
                yield f"{path.relative_to(ROOT)}: {lines} lines, more than {LONGEST_SOURCE}"


def local_links(page: Path) -> Iterator[Path]:
    """Where the relative links of a Markdown page lead."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            yield (page.parent / target.split("#")[0]).resolve()


def every_page_is_reachable() -> Iterator[str]:
    """Every page under docs/ is found by following links from README.md, and every relative link leads somewhere."""
    reached, open_pages = set[Path](), [ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in local_links(page):
            if not target.exists():
                yield f"{page.relative_to(ROOT)}: the link to {target.relative_to(ROOT)} leads nowhere"
            elif target.suffix == ".md":
                open_pages.append(target)
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path not in reached:
            yield f"{path.relative_to(ROOT)}: no chain of links leads here from README.md"


RULES = [every_free_file_says_so, no_file_names_a_machine, no_source_file_is_long, every_page_is_reachable]


def main() -> int:
    """Print everything that is wrong; 1 where something is."""
    faults = [fault for rule in RULES for fault in rule()]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
