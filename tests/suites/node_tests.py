"""ONNX's own tests of its operators, as the ``onnx`` package brings them (``load_model_tests(kind="node")``).

Taken are those whose inputs and outputs are tensors of bool, integers or floats of 8 to 64 bits (``ELEMENTS``), in the
standard's own domain and without a subgraph; left out are the expanded twins of functions, strings, sequences,
optionals, training and preview operators, and floats and integers narrower than a byte or foreign to C.

Each is imported, lowered to C, compiled by the host's compiler under the sanitizers, run, and compared with the
outputs that it brings: shapes, element types and integers exactly, floats within the tolerances that it states. The
self-test that the C carries must hold too. *refused* means a BurncError, *wrong* another result, *crashed* any other
exception or a fault of the C.

An input that says how the kernel is made (``STATIC``: a shape, axes, limits, quantization parameters) is bound to the
value that the case has for it, as burnc compiles kernels for known shapes. Nothing else is changed.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from burnc import pipeline
from burnc.backends.numpy_reference import NumpyReference
from burnc.backends.registry import device
from burnc.boards import load_board
from burnc.codegen.lower import LowerOptions, lower
from burnc.errors import BurncError
from burnc.importers.onnx import import_onnx
from burnc.ir import Array, Graph
from burnc.passes import WidenFloat16, run_passes
from suites.compiled_batch import Job, run_batch
from suites.tally import Ending

PASSING = Path(__file__).with_name("node_tests_passing.txt")
"""Names of the cases that pass; the list may only grow."""

ELEMENTS = frozenset(
    getattr(TensorProto, name)
    for name in (
        *("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
        *("FLOAT16", "FLOAT", "DOUBLE"),
    )
)

# Operator -> inputs that say how its kernel is made.
STATIC: Mapping[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Col2Im": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "ConvInteger": (2, 3),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "DequantizeLinear": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "MatMulInteger": (2, 3),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "OneHot": (1,),
    "Pad": (1, 2, 3),
    "QLinearConv": (1, 2, 3, 4, 5, 6, 7, 8),
    "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "QuantizeLinear": (1, 2),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}

ROUNDING = 1e-7
"""Of a result's largest element: a float32 holds no more of it, so sums of such elements are no closer to 0."""

CHUNK = 40


@dataclass(frozen=True)
class Case:
    """A model of the suite with one set of inputs and expected outputs, in the model's order."""

    name: str
    model: onnx.ModelProto
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    rtol: float
    atol: float

    def fed(self) -> dict[str, Array]:
        """Arrays by name for the inputs that are left."""
        return dict(zip([v.name for v in self.model.graph.input], self.inputs, strict=True))


def cases() -> list[Case]:
    """Every case of the suite, static inputs bound."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the makers of the cases divide by zero on purpose
        found = load_model_tests(kind="node")
    return [_case(test) for test in found if _is_taken(test)]


def _is_taken(test: Any) -> bool:
    graph = test.model.graph
    types = [value.type for value in (*graph.input, *graph.output)]
    return (
        not test.name.endswith("_expanded")
        and "_expanded_ver" not in test.name
        and all(type_.HasField("tensor_type") and type_.tensor_type.elem_type in ELEMENTS for type_ in types)
        and all(opset.domain == "" for opset in test.model.opset_import)
        and not any(attribute.HasField("g") for node in graph.node for attribute in node.attribute)
    )


def _case(test: Any) -> Case:
    ((inputs, outputs),) = test.data_sets
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    given = dict(zip([v.name for v in model.graph.input], map(_array, inputs), strict=True))
    static = {node.input[i] for node in model.graph.node for i in STATIC.get(node.op_type, ()) if i < len(node.input)}
    kept = [value for value in model.graph.input if value.name not in static]
    for name in given.keys() & static:
        model.graph.initializer.append(numpy_helper.from_array(given[name], name))
    del model.graph.input[:]
    model.graph.input.extend(kept)
    arrays = [given[value.name] for value in kept]
    return Case(test.name, model, arrays, [_array(y) for y in outputs], test.rtol, test.atol)


def _array(data: Any) -> Array:
    return numpy_helper.to_array(data) if isinstance(data, TensorProto) else np.asarray(data)


def endings() -> Iterator[Ending]:
    """How every case ends through generated C."""
    taken = cases()
    chunks = [taken[i : i + CHUNK] for i in range(0, len(taken), CHUNK)]
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(in_c, chunks):
            yield from found


def load(case: Case, folder: Path) -> Graph:
    """The case's graph in canonical form; edges keep the types that the file declares."""
    path = folder / f"{case.name}.onnx"
    path.write_bytes(case.model.SerializeToString())
    return pipeline.load(path, dims=empty_batches(case.model), float_edges=True).graph


def empty_batches(model: onnx.ModelProto) -> dict[str, int]:
    """What a user has to say of inputs whose first size is 0, as it may stand for an unknown batch, too."""
    shapes = {value.name: value.type.tensor_type.shape.dim for value in model.graph.input}
    return {f"{name}:0": 0 for name, dims in shapes.items() if len(dims) > 1 and dims[0].dim_value == 0}


def in_c(chunk: Sequence[Case]) -> list[Ending]:
    """Endings of cases whose C is compiled together."""
    backend, board = device("c"), load_board("host")
    found: dict[str, Ending] = {}
    jobs: dict[str, Job] = {}
    with tempfile.TemporaryDirectory(prefix="burnc-node-tests-") as name:
        folder = Path(name)
        for number, case in enumerate(chunk):
            try:
                graph = load(case, folder)
                backend.require_support(graph)
                jobs[case.name] = Job(lower(graph, board, LowerOptions(name=f"case{number}")), [case.fed()])
            except Exception as error:  # noqa: BLE001 - what it is, is the answer
                found[case.name] = _failure(case, error)
        results = run_batch(list(jobs.values()), folder / "c", sanitize=True) if jobs else {}
    for case in chunk:
        if case.name in jobs:
            found[case.name] = _judged(case, results[jobs[case.name].name])
    return [found[case.name] for case in chunk]


def in_numpy(case: Case) -> Ending:
    """How a case ends by the operators' own definitions, nearly as imported: quicker than through C."""
    try:
        graph = import_onnx(case.model, dims=empty_batches(case.model))
        run_passes(graph, [WidenFloat16()])
        return _judged(case, [NumpyReference().compile(graph).run(case.fed())])
    except Exception as error:  # noqa: BLE001 - what it is, is the answer
        return _failure(case, error)


def with_constants(case: Case) -> Case:
    """The same numbers, all known when the file is read; what is fed does not matter."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    named = [value.name for value in model.graph.input]
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in zip(named, case.inputs, strict=True))
    del model.graph.input[:]
    model.graph.input.append(onnx.helper.make_tensor_value_info("beside", TensorProto.FLOAT, [1]))
    return replace(case, model=model, inputs=[np.zeros(1, np.float32)])


def _failure(case: Case, error: Exception) -> Ending:
    if isinstance(error, BurncError):
        return Ending(case.name, "refused", " ".join(str(error).split())[:300])
    return Ending(case.name, "crashed", f"{type(error).__name__}: {error}"[:300])


def _judged(case: Case, results: list[dict[str, Array]] | str) -> Ending:
    if isinstance(results, str):
        return Ending(case.name, "crashed", results)
    got = list(results[0].values())
    if len(got) != len(case.outputs):
        return Ending(case.name, "wrong", f"{len(got)} outputs, expected {len(case.outputs)}")
    for name, a, b in zip(results[0], got, case.outputs, strict=True):
        why = disagreement(case, a, b)
        if why:
            return Ending(case.name, "wrong", f"{name}: {why}")
    return Ending(case.name, "passed")


def disagreement(case: Case, got: Array, wanted: Array) -> str:
    """What is wrong with one output; '' where nothing is."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind == "f":
        # Where a transform's sums cancel, what is expected is the rounding of the one who made the case.
        largest = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
        close = np.isclose(got, wanted, case.rtol, max(case.atol, ROUNDING * float(largest)), equal_nan=True)
    else:
        close = got == wanted
    if close.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{int((~close).sum())} of {close.size} differ, first at {list(at)}: {got[at]}, expected {wanted[at]}"
