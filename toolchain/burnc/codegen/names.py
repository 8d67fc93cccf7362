"""C identifiers and comments from names that a model file brings: whatever those hold, the C stays whole."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from burnc.resources import data_folder

C_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
    _Imaginary alignas alignof asm atomic bool catch class complex constexpr const_cast delete dynamic_cast explicit
    export false friend generic imaginary mutable namespace new noexcept noreturn nullptr operator private protected
    public reinterpret_cast static_assert static_cast template this thread_local throw true try typeid typename using
    virtual wchar_t and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq main errno NULL EOF stdin stdout
    stderr decltype concept requires typeof
    linux unix near far huge interrupt pascal cdecl""".split()  # noqa: SIM905 - the last line: macros of some compilers
)


# Names whose header would shadow one of C, POSIX or the project's own files, and the runtime's own prefix.
RESERVED_MODEL_NAMES = frozenset(
    """aio alloca argz ar assert byteswap complex cpio crypt ctype dirent dlfcn elf endian err errno error
    execinfo fcntl features fenv float fmtmsg fnmatch fstab fts ftw gconv getopt glob grp gshadow iconv ieee754
    ifaddrs inttypes iso646 langinfo lastlog libgen libintl limits link locale malloc math mcheck memory mntent
    monetary mqueue netdb nss obstack paths poll printf proc_service pthread pty pwd re_comp regex regexp resolv
    rpc sched search semaphore setjmp sgtty shadow signal spawn stab stdalign stdarg stdatomic stdbit stdbool
    stdckdint stddef stdint stdio stdlib stdnoreturn string strings stropts syscall sysexits syslog tar termio
    termios tgmath thread_db threads time ttyent uchar ucontext ulimit unistd unwind utime utmp utmpx values
    version wait wchar wctype wordexp new burnc harness_model self_test_main board""".split()  # noqa: SIM905
)

LONGEST_PREFIX = 40
LONGEST_NAME = 32


def identifier(name: str) -> str:
    """A lower-case C identifier that resembles ``name``: letters, digits and single underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    text = re.sub(r"[^0-9a-zA-Z]+", "_", plain).strip("_").lower()
    if not text:
        return "unnamed"
    if text[0].isdigit():
        text = "n" + text
    # burnc_ is the runtime's, _t belongs to types.
    text = f"my_{text}" if text.startswith("burnc") else text
    return text + "_" if text in C_KEYWORDS or text.endswith("_t") else text


def short_identifier(name: str) -> str:
    """``identifier``, cut to a length that reads well."""
    text = identifier(name)
    return text if len(text) <= LONGEST_NAME else identifier(text[:LONGEST_NAME])


def model_prefix(name: str) -> str:
    """The prefix of a model's files and symbols, from its file name or the user's choice."""
    text = identifier(name)[:LONGEST_PREFIX].strip("_")
    return f"{text}_model" if text in RESERVED_MODEL_NAMES or text in C_KEYWORDS or text.endswith("_t") else text


class UniqueNames:
    """Hands out identifiers, each once; a name that is taken gets a number behind.

    Args:
        taken: names that are never handed out.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def __call__(self, name: str, suffixes: Iterable[str] = ()) -> str:
        """A new name; ``name + suffix`` is taken with it for each of ``suffixes``."""
        wanted = identifier(name)
        result, number = wanted, 1
        while not self._taken.isdisjoint({result, *(result + suffix for suffix in suffixes)}):
            number += 1
            result = f"{wanted}_{number}"
        self._taken |= {result, *(result + suffix for suffix in suffixes)}
        return result


@cache
def runtime_names() -> frozenset[str]:
    """Every name of the runtime without its prefix; the generated C holds them behind the model's."""
    names: set[str] = set()
    for pattern in ("include/burnc/*.h", "src/*.c"):
        for path in sorted(data_folder("runtime_c").glob(pattern)):
            names.update(re.findall(r"\bburnc_(\w+)", path.read_text(encoding="utf-8")))
    return frozenset(names)


# What the generated C itself calls things: functions, types, parameters and local variables.
OWN_NAMES = frozenset(
    """run reset self_test arena state status on_layer i byte want error bound layer layers random_byte seed
    has_no_weights help second_part memory phase given""".split()  # noqa: SIM905
)


def program_names() -> UniqueNames:
    """Names for one model's C: none of them is one that the runtime or the generator uses."""
    return UniqueNames(OWN_NAMES | runtime_names())


def comment_text(text: str, limit: int = 80) -> str:
    """Text that is safe inside a C comment: printable ASCII, no comment marks, no line ends, no trigraphs."""
    safe = "".join(c if " " <= c <= "~" else "?" for c in text).replace("\\", "/")
    for mark, harmless in (("*/", "* /"), ("/*", "/ *"), ("//", "/ /"), ("??", "? ?")):
        while mark in safe:
            safe = safe.replace(mark, harmless)
    return safe if len(safe) <= limit else safe[: limit - 3] + "..."


def string_literal(text: str) -> str:
    """A C string literal of the text, printable ASCII only."""
    safe = "".join(c if " " <= c <= "~" else "?" for c in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'
