"""Many generated models in one translation unit and one program: run on inputs from files, each arena apart."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnc.codegen.emit_c import emit_c
from burnc.codegen.program import Port, Program
from burnc.ir import Array

FLAGS = ("-std=c99", "-O0", "-w", "-ffp-contract=off")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
GARBAGE = 0xA5
_RUN_SECONDS = 60


@dataclass(frozen=True)
class Job:
    """A model and the inputs of its runs, one after the other from one reset; then its self-test, if that is wanted."""

    program: Program
    inputs: Sequence[Mapping[str, Array]]
    self_test: bool = True

    @property
    def name(self) -> str:
        return self.program.prefix


def run_batch(jobs: Sequence[Job], folder: Path, *, sanitize: bool) -> dict[str, list[dict[str, Array]] | str]:
    """Compile all jobs at once and run them.

    Returns:
        For each job its outputs run by run, or how it failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources = [_write(job, folder) for job in jobs]
    main = [_PRELUDE, *(f'#include "{file}"' for files in sources for file in files), *map(_runner, jobs), _main(jobs)]
    (folder / "batch.c").write_text("\n".join(main), encoding="utf-8")
    command = ["gcc", *FLAGS, *(SANITIZERS if sanitize else ()), "batch.c", "-o", "batch"]
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if compiled.returncode != 0:
        return _one_by_one(jobs, folder, compiled.stderr, sanitize=sanitize)
    failed: dict[str, str] = {}
    first = 0
    while first < len(jobs):
        ran = subprocess.run(
            ["./batch", str(first)], cwd=folder, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False
        )
        if ran.returncode == 0:
            break
        at = int(ran.stdout.split()[-1])
        lines = [line for line in ran.stderr.splitlines() if "rror" in line] or [f"exit status {ran.returncode}"]
        failed[jobs[at].name] = f"the C crashed: {' '.join(lines)[:400]}"
        first = at + 1
    return {job.name: failed.get(job.name) or _read(job, folder) for job in jobs}


def _one_by_one(
    jobs: Sequence[Job], folder: Path, errors: str, *, sanitize: bool
) -> dict[str, list[dict[str, Array]] | str]:
    """Who is it that does not compile?"""
    if len(jobs) == 1:
        return {jobs[0].name: f"the C does not compile: {errors[:400]}"}
    results: dict[str, list[dict[str, Array]] | str] = {}
    for job in jobs:
        results |= run_batch([job], folder / job.name, sanitize=sanitize)
    return results


def _write(job: Job, folder: Path) -> list[str]:
    files = emit_c(job.program)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    ports = job.program.inputs
    data = b"".join(np.ascontiguousarray(arrays[p.value.name]).tobytes() for arrays in job.inputs for p in ports)
    (folder / f"{job.name}.in").write_bytes(data)
    return [name for name in files if name.endswith(".c")]


def _read(job: Job, folder: Path) -> list[dict[str, Array]]:
    data, at = (folder / f"{job.name}.out").read_bytes(), 0
    results: list[dict[str, Array]] = []
    for _ in job.inputs:
        outputs: dict[str, Array] = {}
        for port in job.program.outputs:
            type_ = port.value.type
            outputs[port.value.name] = np.frombuffer(data, type_.dtype.numpy, type_.size, at).reshape(type_.shape)
            at += type_.nbytes
        results.append(outputs)
    return results


_PRELUDE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>"""


def _runner(job: Job) -> str:
    """C function that runs one job; it returns what went wrong."""
    name, program = job.name, job.program
    state = bool(program.states)
    lines = [
        f"static int job_{name}(void) {{",
        f'    FILE *in = fopen("{name}.in", "rb"), *out = fopen("{name}.out", "wb");',
        f"    {name}_arena *arena = malloc(sizeof *arena);",
        f"    memset(arena, {GARBAGE}, sizeof *arena);",
    ]
    given = "arena"
    if state:
        lines += [f"    {name}_state *state = malloc(sizeof *state);", f"    {name}_reset(state);"]
        given = "arena, state"
    lines += [f"    for (int run = 0; run < {len(job.inputs)}; ++run) {{"]
    lines += [
        f"        if (fread({_pointer(name, p)}, 1, {p.value.type.nbytes}, in) != {p.value.type.nbytes}) return 2;"
        for p in program.inputs
    ]
    lines += [f"        if ({name}_run({given}) != 0) return 3;"]
    lines += [f"        fwrite({_pointer(name, p)}, 1, {p.value.type.nbytes}, out);" for p in program.outputs]
    lines += ["    }", f"    if ({name}_self_test({given}) != 0) return 4;" if job.self_test else ""]
    lines += [
        "    free(state);" if state else "",
        "    free(arena);",
        "    fclose(in);",
        "    return fclose(out);",
        "}",
    ]
    return "\n".join(lines)


def _pointer(name: str, port: Port) -> str:
    return f"{name}_{port.symbol}(arena)"


def _main(jobs: Sequence[Job]) -> str:
    table = ", ".join(f"job_{job.name}" for job in jobs)
    return f"""
int main(int argc, char **argv) {{
    static int (*const jobs[])(void) = {{{table}}};
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i < {len(jobs)}; ++i) {{
        printf("%d\\n", i);
        fflush(stdout);
        int status = jobs[i]();
        if (status != 0) {{
            static const char *const why[] = {{"", "", "error: input", "error: run failed", "error: self-test failed"}};
            fprintf(stderr, "%s\\n", why[status]);
            return 1;
        }}
    }}
    return 0;
}}
"""
