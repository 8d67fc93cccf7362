"""Generated C of the models, written once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.exported import Exported, program_of, write


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Exported]:
    """Make the generated C of a model of ``exported.MODELS``."""
    folder = tmp_path_factory.mktemp("generated")
    made: dict[str, Exported] = {}

    def export(model: str, io: str = "arena", *, rendered: bool = False) -> Exported:
        key = f"{model}-{io}{'-rendered' if rendered else ''}"
        if key not in made:
            made[key] = write(program_of(model, io, rendered=rendered), Path(folder) / key)
        return made[key]

    return export
