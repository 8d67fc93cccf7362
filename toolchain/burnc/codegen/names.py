"""C identifiers and comments from names that a model file brings: whatever those hold, the C stays whole."""

from __future__ import annotations

import re
import unicodedata

C_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
    _Imaginary alignas alignof asm atomic bool catch class complex constexpr const_cast delete dynamic_cast explicit
    export false friend generic imaginary mutable namespace new noexcept noreturn nullptr operator private protected
    public reinterpret_cast static_assert static_cast template this thread_local throw true try typeid typename using
    virtual wchar_t and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq main errno NULL EOF stdin stdout
    stderr""".split()
)


# Names that would shadow a header of the standard library or the runtime's own prefix.
RESERVED_MODEL_NAMES = frozenset(
    """assert complex ctype errno fenv float inttypes iso646 limits locale math memory setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar version wchar wctype
    new memory burnc linux unix""".split()
)


def identifier(name: str) -> str:
    """A lower-case C identifier that resembles ``name``: letters, digits and single underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    text = re.sub(r"[^0-9a-zA-Z]+", "_", plain).strip("_").lower()
    if not text:
        return "unnamed"
    if text[0].isdigit():
        text = "n" + text
    return text + "_" if text in C_KEYWORDS else text


def model_prefix(name: str) -> str:
    """The prefix of a model's files and symbols, from its file name or the user's choice."""
    text = identifier(name)[:40].strip("_")
    return f"{text}_model" if text in RESERVED_MODEL_NAMES or text in C_KEYWORDS else text


class UniqueNames:
    """Hands out identifiers, each once; a name that is taken gets a number behind."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = set(taken)

    def __call__(self, name: str) -> str:
        wanted = identifier(name)
        result, number = wanted, 1
        while result in self._taken:
            number += 1
            result = f"{wanted}_{number}"
        self._taken.add(result)
        return result


def comment_text(text: str, limit: int = 80) -> str:
    """Text that is safe inside a C comment: printable ASCII, no comment marks, no line ends, no trigraphs."""
    safe = text.encode("ascii", "replace").decode()
    safe = "".join(c if " " <= c <= "~" else "?" for c in safe)
    safe = safe.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/").replace("//", "/ /")
    return safe if len(safe) <= limit else safe[: limit - 3] + "..."


def string_literal(text: str) -> str:
    """A C string literal of the text, printable ASCII only."""
    safe = "".join(c if " " <= c <= "~" else "?" for c in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'
