"""Attributes that ONNX has no place for, which burnc writes into a file's metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

Attributes = Mapping[str, Mapping[str, float]]


def attributes_beyond(text: str) -> Attributes:
    """Node name -> attribute -> number; nothing where the text has not that form, as anybody may have written it."""
    try:
        read: Any = json.loads(text or "{}")
        result = {str(node): {str(key): float(n) for key, n in found.items()} for node, found in read.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return {}
    is_finite = all(math.isfinite(number) for found in result.values() for number in found.values())
    return result if is_finite else {}
