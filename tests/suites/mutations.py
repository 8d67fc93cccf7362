"""Damaged model files: each is refused with a clear error, or means what other tools say that it means.

Every file is loaded, inspected and, where it is small, run and lowered to C, in a process of its own that may take 10
seconds and 2 GB. Where it loads, onnxruntime or TFLite Micro says whether its numbers are right; where those do not
take the file, generated C and numpy must agree.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx

import burnc
from burnc import Model
from burnc.backends import device
from burnc.boards import load_board
from burnc.codegen.emit_c import emit_c
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import BurncError
from burnc.ir import Array
from conformance.check import disagreement
from oracles.tflm import RefusedError, TfliteMicro
from suites.compiled_batch import Job, run_batch
from suites.guarded import Answer, Say, guarded
from suites.mutated_bytes import BYTES
from suites.mutated_onnx import MEANINGS, NothingToDamageError, damaged_onnx
from suites.mutated_tflite import KINDS, damaged_tflite
from suites.onnx_graphs import run_model
from suites.tally import Ending

ROOT = Path(__file__).resolve().parents[2]
WANTED = 2000
CHUNK = 25
SECONDS = 10.0
MEGABYTES = 2048
LARGEST_FILE = 120_000
SMALL_MACS = 300_000
COMPILED_SHARE = 6
"""One file in so many is also run as C; it takes most of the time."""
CLOSE = 1e-3
"""Of the largest number of an output: a whole float network, with weights that nobody trained."""


@dataclass(frozen=True)
class Mutation:
    """Which file is damaged how."""

    number: int
    source: Path
    kind: str

    @property
    def name(self) -> str:
        return f"{self.number} {self.source.name}: {self.kind}"


def endings() -> Iterator[Ending]:
    """2000 damaged files in the order of their numbers."""
    with ProcessPoolExecutor(os.cpu_count() or 2) as pool:
        for found in pool.map(judge_chunk, range(0, WANTED, CHUNK)):
            yield from found


def judge_chunk(first: int, count: int = CHUNK) -> list[Ending]:
    """The mutations ``first`` to ``first + count - 1``."""
    _warm()
    return [_judged(number) for number in range(first, first + count)]


@cache
def sources() -> tuple[Path, ...]:
    """Real files, those of the folder of real networks among them where it is there."""
    folders = [ROOT / "tests/models", *sorted((ROOT / "examples").iterdir())]
    folders.append(Path(os.environ.get("BURNC_MODELS", ROOT.parent / "shared/models")))
    files = {f.name: f for d in folders if d.is_dir() for f in d.iterdir() if f.suffix in (".onnx", ".tflite")}
    return tuple(f for _, f in sorted(files.items()) if f.stat().st_size <= LARGEST_FILE)


def damaged(number: int) -> tuple[Mutation, bytes]:
    """Mutation number N: always the same while the files are."""
    random = Random(number)
    while True:
        source = random.choice(sources())
        data = source.read_bytes()
        meanings = list(MEANINGS) if source.suffix == ".onnx" else list(KINDS)
        kind = random.choice(random.choice((list(BYTES), meanings, meanings)))
        try:
            if kind in BYTES:
                return Mutation(number, source, kind), BYTES[kind](data, random)
            change = damaged_onnx if source.suffix == ".onnx" else damaged_tflite
            return Mutation(number, source, kind), change(data, kind, random)
        except NothingToDamageError:
            continue


@cache
def _warm() -> None:
    """Import what is imported on the way, once and not in each child. Oracles wait: threads do not survive a fork."""
    for path in (ROOT / "tests/models/tflm_hello_world_int8.tflite", ROOT / "tests/models/onnx2c_atmega_mnist.onnx"):
        model = burnc.load(path)
        model.inspect()
        model.run(model.inputs(1)[0])
        emit_c(lower(model.graph, load_board("host"), LowerOptions(name="m")))


def _judged(number: int) -> Ending:
    mutation, data = damaged(number)
    with tempfile.TemporaryDirectory(prefix="burnc-mutation-") as folder:
        path = Path(folder) / f"model{mutation.source.suffix}"
        path.write_bytes(data)
        answers = guarded(lambda say: _loaded(path, say), SECONDS, MEGABYTES)
        if not answers or answers[0][0] != "loaded":
            return _ending(mutation, answers[0] if answers else ("died", "no answer"))
        failed = [a for a in answers[1:] if a[0] in ("crashed", "hung", "died", "memory")]
        if failed:
            return _ending(mutation, failed[0])
        compiled = number % COMPILED_SHARE == 0
        verdicts = guarded(lambda say: _compared(path, answers[0][1], compiled, say), 3 * SECONDS, 2 * MEGABYTES)
    is_said = bool(verdicts) and verdicts[0][0] == "wrong"  # an oracle that dies says nothing
    return _ending(mutation, verdicts[0] if is_said else ("right", ""))


def _ending(mutation: Mutation, answer: Answer) -> Ending:
    verdict, why = answer
    if verdict in ("hung", "died", "memory"):
        return Ending(mutation.name, "crashed", f"{verdict}: {why}")
    return Ending(mutation.name, verdict, "" if verdict in ("refused", "right") else str(why))


def _loaded(path: Path, say: Say) -> None:
    """What burnc makes of the file: an error, or the results of a run (None where the model is not small)."""
    try:
        model = burnc.load(path)
        report = model.inspect()
        inputs = model.inputs(2)
        is_small = report.macs <= SMALL_MACS and sum(v.type.nbytes for v in model.graph.values()) < 2**22
        results = None
        if is_small:
            reference = device("numpy").compile(model.graph)
            results = [reference.run(arrays) for arrays in inputs]
            lower(model.graph, load_board("host"), LowerOptions(name="m"))
        say(("loaded", results))
    except BurncError as error:
        say(("refused", str(error)) if str(error).strip() else ("wrong", "an error without a message"))
    except MemoryError:
        say(("crashed", "MemoryError"))
    except BaseException:  # noqa: BLE001 - whatever it is, it is what the suite looks for
        say(("crashed", traceback.format_exc(limit=-4)))


def _compared(path: Path, results: list[dict[str, Array]] | None, compiled: bool, say: Say) -> None:
    """Whether those who know the format say the same; a crash of theirs says nothing about burnc."""
    if results is None:
        return
    model = burnc.load(path)
    inputs = model.inputs(2)
    if compiled:
        ran = run_batch(
            [Job(lower(model.graph, load_board("host"), LowerOptions(name="m")), inputs, False)],
            path.parent / "c",
            sanitize=False,
        )["m"]
        if isinstance(ran, str):
            say(("wrong", ran))
            return
        for got, wanted in zip(ran, results, strict=True):
            for name in wanted:
                lines = disagreement(got[name], wanted[name])
                if lines and not (wanted[name].dtype.kind == "f" and _is_wild(wanted[name])):
                    say(("wrong", f"C, {name}: {lines[0]}"))
                    return
    oracle = _tflite_micro if path.suffix == ".tflite" else _onnxruntime
    if model.graph.states:
        return
    for line in oracle(path, model, inputs, results):
        say(("wrong", line))
        return


def _onnxruntime(
    path: Path, model: Model, inputs: list[dict[str, Array]], results: list[dict[str, Array]]
) -> Iterator[str]:
    if any(v.type.quant is not None for v in model.graph.values()):
        return  # equal inputs of each node are the random graphs' business
    try:
        file = onnx.load(path)
        truth = [run_model(file, dict(arrays)) for arrays in inputs]
    except Exception:  # noqa: BLE001 - it does not take the file
        return
    for got, wanted in zip(results, truth, strict=True):
        yield from _differences(got, wanted)


def _tflite_micro(
    path: Path, model: Model, inputs: list[dict[str, Array]], results: list[dict[str, Array]]
) -> Iterator[str]:
    try:
        micro = TfliteMicro(path.read_bytes())
        names = list(results[0])
        truth = [micro.run(*(arrays[v.name] for v in model.graph.inputs), outputs=len(names)) for arrays in inputs]
    except (RefusedError, RuntimeError, ValueError):
        return
    for got, wanted in zip(results, truth, strict=True):
        yield from _differences(got, dict(zip(names, wanted, strict=True)))


def _differences(got: Mapping[str, Array], wanted: Mapping[str, Array]) -> Iterator[str]:
    for name, array in wanted.items():
        result = got.get(name)
        if result is None or result.size != array.size:
            yield f"{name}: {None if result is None else result.shape}, expected {array.shape}"
        elif array.dtype.kind == "f":
            if not _is_wild(array) and np.max(np.abs(result.reshape(array.shape) - array)) > CLOSE * np.max(
                np.abs(array)
            ):
                yield f"{name}: {result.reshape(-1)[:4]}, expected {array.reshape(-1)[:4]}"
        elif not np.array_equal(result.reshape(array.shape), array):
            yield f"{name}: {result.reshape(-1)[:8]}, expected {array.reshape(-1)[:8]}"


def _is_wild(array: Any) -> bool:
    """Numbers that no network means; roundings decide what becomes of them."""
    return not np.isfinite(array).all() or bool(np.abs(array).max(initial=0) > 1e6)
