"""Exports the networks of networks.py with both of PyTorch's exporters, and writes what PyTorch computes.

``python tests/pytorch/export_models.py FOLDER [--all]`` needs torch and onnxscript. Without ``--all`` each network is
exported once by each exporter, at opsets that take turns; that is what ``models/`` holds. With it, at every opset.

``FOLDER/NAME.npz`` holds the inputs (``x0``, …), PyTorch's results (``y0``, …), and ``dynamic``: the axis without a
size, or -1. ``FOLDER/NAME.EXPORTERopset.onnx`` is as PyTorch wrote it, but for the folders in its stack traces.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from networks import Network, networks

TORCHSCRIPT, DYNAMO = (11, 13, 17, 20), (18, 20, 23)
FIRST_TORCHSCRIPT = {"activations": 13, "attention": 17, "causal_attention": 17, "einsum": 13}
"""The first opset at which PyTorch's torchscript exporter takes a network."""
ONLY_DYNAMO = ("encoder", "encoder_gelu", "rms_norm")
"""What the torchscript exporter of PyTorch 2.13 takes at no opset."""


def main(arguments: list[str]) -> int:
    folder, everything = Path(arguments[0]), "--all" in arguments
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for number, (name, make) in enumerate(networks().items()):
        forms = list(exports(name))
        if not everything:
            forms = [chosen(forms, exporter, number) for exporter in ("torchscript", "dynamo")]
        for form in forms:
            if form is not None:
                export(seeded(make), folder, name, *form)
        write_results(seeded(make), folder / f"{name}.npz")
    return 0


def exports(name: str) -> Iterator[tuple[str, int]]:
    """(exporter, opset) that PyTorch can export a network with."""
    for opset in TORCHSCRIPT:
        if name not in ONLY_DYNAMO and opset >= FIRST_TORCHSCRIPT.get(name, 0):
            yield "torchscript", opset
    yield from (("dynamo", opset) for opset in DYNAMO)


def chosen(forms: list[tuple[str, int]], exporter: str, number: int) -> tuple[str, int] | None:
    own = [form for form in forms if form[0] == exporter]
    return own[number % len(own)] if own else None


def seeded(make: object) -> Network:
    torch.manual_seed(1)
    assert callable(make)
    network: Network = make()
    network.module.eval()
    return network


def export(network: Network, folder: Path, name: str, exporter: str, opset: int) -> None:
    path = folder / f"{name}.{exporter}{opset}.onnx"
    names = [f"x{i}" for i in range(len(network.inputs))]
    options: dict[str, object] = {"opset_version": opset, "dynamo": exporter == "dynamo", "input_names": names}
    if network.dynamic is not None and exporter == "dynamo":
        size = torch.export.Dim("size", min=1, max=64)
        inputs = tuple({network.dynamic: size} for _ in names)
        options["dynamic_shapes"] = inputs if len(variadic(network)) == 0 else (inputs,)
    elif network.dynamic is not None:
        options["dynamic_axes"] = {n: {network.dynamic: "size"} for n in names}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(network.module, network.inputs, str(path), **options)
    without_folders(path)


def variadic(network: Network) -> list[str]:
    """The module's parameters of the kind ``*inputs``, which torch.export describes as one."""
    names = network.module.forward.__code__
    return [names.co_varnames[names.co_argcount]] if names.co_flags & 0x04 else []


def without_folders(path: Path) -> None:
    """Stack traces name this machine's folders; they keep the names of files alone."""
    model = onnx.load(path, load_external_data=False)
    waiting = [model.graph, *model.functions]
    for graph in waiting:
        for entry in [*graph.metadata_props, *(e for node in graph.node for e in node.metadata_props)]:
            entry.value = re.sub(r'(?<=File ")[^"]*/', "", entry.value)
        for node in graph.node:
            node.doc_string = re.sub(r"\S*/(?=[\w.]+\.py)", "", node.doc_string)
    onnx.save(model, path)


def write_results(network: Network, path: Path) -> None:
    with torch.no_grad():
        results = network.module(*network.inputs)
    arrays = {f"x{i}": v.numpy() for i, v in enumerate(network.inputs)}
    arrays |= {f"y{i}": v.numpy() for i, v in enumerate(results if isinstance(results, tuple) else (results,))}
    np.savez_compressed(path, dynamic=np.array(-1 if network.dynamic is None else network.dynamic), **arrays)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
