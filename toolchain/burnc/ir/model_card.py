"""The model card: what a network was made for and how its numbers are meant; it travels in ``Graph.metadata``."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from burnc.ir.metadata import CARD
from burnc.ir.types import Array

KINDS = ("image", "audio", "motion", "table")


@dataclass(frozen=True)
class ModelCard:
    """Facts about a network and its data; None or empty where they are not known.

    Attributes:
        kind: what an input is: image, audio, motion or table.
        scale, mean, deviation: a stored number n (a pixel from 0 to 255, say) stands for
            (n * scale - mean) / deviation.
        labels: names of the classes, in the order of the scores.
        calibration: how activation ranges were drawn.
        accuracy: on samples that were not trained on, from 0 to 1. samples: how many those were.
        data: what was trained on.
    """

    kind: str = "table"
    scale: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0
    labels: tuple[str, ...] = ()
    calibration: str = ""
    accuracy: float | None = None
    samples: int | None = None
    data: str = ""

    @property
    def is_plain(self) -> bool:
        """Stored numbers are the real ones."""
        return (self.scale, self.mean, self.deviation) == (1.0, 0.0, 1.0)

    def real(self, stored: Array) -> Array:
        """The numbers that stored ones stand for, in float64."""
        return (stored.astype(np.float64) * self.scale - self.mean) / self.deviation

    def write(self, metadata: MutableMapping[str, str]) -> None:
        """Put the card into a graph's metadata."""
        metadata[CARD] = json.dumps({k: v for k, v in asdict(self).items() if v not in (None, "", ())}, sort_keys=True)

    def _scaling(self) -> str:
        text = f"stored number * {self.scale:.9g}"
        if (self.mean, self.deviation) == (0.0, 1.0):
            return text
        return f"({text} - {self.mean:.9g}) / {self.deviation:.9g}"

    def lines(self) -> list[str]:
        """The card as text for people, a fact a line."""
        shown = [f"input      {self.kind}"]
        if not self.is_plain:
            shown.append(f"scaling    {self._scaling()}")
        if self.labels:
            shown.append(f"labels     {', '.join(self.labels)}")
        if self.calibration:
            shown.append(f"calibrated {self.calibration}")
        if self.accuracy is not None:
            of = "" if self.samples is None else f" on {self.samples} samples that it was not trained on"
            shown.append(f"accuracy   {100 * self.accuracy:.2f} %{of}")
        if self.data:
            shown.append(f"data       {self.data}")
        return shown


def read_card(metadata: MutableMapping[str, str]) -> ModelCard | None:
    """The card in a graph's metadata; None where there is none that can be read."""
    try:
        held = json.loads(metadata[CARD])
        known: dict[str, Any] = {f.name: held[f.name] for f in fields(ModelCard) if f.name in {**held}}
        known["labels"] = tuple(str(label) for label in known.get("labels", ()))
        for name in ("scale", "mean", "deviation"):
            known[name] = float(known.get(name, 0.0 if name == "mean" else 1.0))
        card = ModelCard(**known)
    except (KeyError, ValueError, TypeError):
        return None
    return card if card.deviation and card.kind in KINDS else None
