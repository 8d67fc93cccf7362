"""Numbers in attributes are float32, as every model file has them, so that a graph means the same before and after."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np


def in_float32(attrs: Any) -> Any:
    """The attributes with every float, also those in tuples, rounded to float32."""
    changed = {f.name: float32(old) for f in fields(attrs) if (old := getattr(attrs, f.name)) != float32(old)}
    return replace(attrs, **changed) if changed else attrs


def float32(value: Any) -> Any:
    """A float, or a tuple of them, rounded to float32; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(float32(item) for item in value)
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if isinstance(value, float) else value
