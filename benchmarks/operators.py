"""What burnc takes and whether it is right: real models, ONNX's node tests, random graphs, malformed files.

``python benchmarks/operators.py [--json] [SECTION …]`` prints how many cases of each suite ended how, every case that
is not right with its reason, and exits 1 when a figure misses its threshold. Sections: ``models`` (the folder of real
networks, ``$BURNC_MODELS`` or ``../shared/models``), ``node_tests``, ``random_graphs``, ``mutations``.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from figures import Figure

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

# section -> (module with `endings()`, its verdicts, (verdict, threshold, at most?) …)
SECTIONS: dict[str, tuple[str, tuple[str, ...], tuple[tuple[str, int, bool], ...]]] = {
    "models": (
        "suites.shared_models",
        ("exact", "within", "refused", "wrong"),
        (("refused", 4, True), ("wrong", 0, True)),
    ),
    "node_tests": (
        "suites.node_tests",
        ("passed", "refused", "wrong", "crashed"),
        (("passed", 1000, False), ("wrong", 0, True), ("crashed", 0, True)),
    ),
    "random_graphs": (
        "suites.random_graphs",
        ("equal", "refused", "wrong", "crashed"),
        (("equal", 2000, False), ("wrong", 0, True), ("crashed", 0, True)),
    ),
    "mutations": (
        "suites.mutations",
        ("refused", "right", "wrong", "crashed"),
        (("wrong", 0, True), ("crashed", 0, True)),
    ),
}


def main(arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    wanted = [name for name in arguments if name != "--json"] or list(SECTIONS)
    answer: dict[str, object] = {"schema": 1}
    fine = True
    for section in wanted:
        counts, figures = measure(section)
        fine &= all(figure.ok for figure in figures)
        answer[section] = counts
        answer[f"{section}_ok"] = all(figure.ok for figure in figures)
    if as_json:
        print(json.dumps(answer, indent=2))
    return 0 if fine else 1


def measure(section: str) -> tuple[dict[str, int], list[Figure]]:
    """Run a suite; progress and verdicts go to stderr."""
    from suites.tally import count

    module, verdicts, thresholds = SECTIONS[section]
    endings = []
    for ending in importlib.import_module(module).endings():
        endings.append(ending)
        if ending.why:
            print(f"       {section} {ending.verdict:8} {ending.name}: {ending.why}", file=sys.stderr, flush=True)
    counts = count(endings, verdicts)
    figures = [Figure(f"{section}: {verdict}", counts[verdict], limit, "", most) for verdict, limit, most in thresholds]
    print(f"{section}{{{', '.join(f'{verdict} {n}' for verdict, n in counts.items())}}}", file=sys.stderr)
    for figure in figures:
        sign = "<=" if figure.at_most else ">="
        verdict = "ok" if figure.ok else "MISSED"
        print(f"{verdict:6} {figure.name:40} {figure.value:8,.0f} {sign} {figure.limit:,.0f}", file=sys.stderr)
    return counts, figures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
