"""Every form of an operator that TFLite Micro takes is read, and computes the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnc.backends.numpy_reference import NumpyReference
from burnc.errors import UnsupportedError
from burnc.importers.tflite import import_tflite
from burnc.ir import DType, QuantParams, TensorType
from burnc.passes import canonical_passes, run_passes
from conformance.check import disagreement
from importers.tflite_forms import Forms
from oracles.tflite_operator import Operator
from oracles.tflm import RefusedError, TfliteMicro
from requirements import requires_package

# What TFLite Micro takes of these forms. A number that falls means that it was not asked.
COMPARED = {"float32": 291, "int8": 261, "int16": 168, "int32": 97, "int64": 48, "bool": 36}
# Forms of it that burnc refuses. An ADD of int32 with an activation is one that TFLite Micro computes without.
REFUSED = {"int8": {"ADD_N", "CUMSUM"}, "int32": {"ADD"}}


@requires_package("tflite_micro")
@pytest.mark.parametrize("dtype", COMPARED)
def test_forms_equal_tflite_micro(dtype: str, tmp_path: Path):
    forms = Forms(dtype)
    compared: Counter[str] = Counter()
    refused, wrong = set(), []
    for operator in forms.all():
        try:
            verdict = difference(operator, forms, tmp_path / "m.tflite")
        except RefusedError:
            continue
        except UnsupportedError:
            refused.add(operator.code)
            continue
        compared[operator.code] += 1
        wrong += [f"{operator}: {line}" for line in verdict]
    assert wrong == []
    assert refused == REFUSED.get(dtype, set())
    assert compared.total() == COMPARED[dtype]


def difference(operator: Operator, forms: Forms, path: Path) -> list[str]:
    """As the file is and after the passes; raises RefusedError where TFLite Micro does not take the operator."""
    data = operator.write()
    feeds = [forms.feed(t) for t in operator.fed]
    try:
        wanted = TfliteMicro(data).run(*feeds, outputs=len(operator.outputs))
    except RuntimeError as error:
        raise RefusedError(str(error)) from None
    path.write_bytes(data)
    graph = import_tflite(path)
    lines: list[str] = []
    for passes in ((), canonical_passes()):
        run_passes(graph, passes)
        given = {v.name: array for v, array in zip(graph.inputs, feeds, strict=True)}
        got = NumpyReference().compile(graph).run(given)
        for value, array in zip(graph.outputs, wanted, strict=True):
            lines += disagreement(got[value.name], np.asarray(array).reshape(value.type.shape))
    return lines


@pytest.mark.parametrize(
    ("code", "dtype", "why"),
    [
        ("EXP", "int32", "real numbers are needed"),
        ("LOGISTIC", "int64", "real numbers are needed"),
        ("SOFTMAX", "int32", "real numbers are needed"),
        ("ABS", "bool", "numbers are needed"),
        ("ADD", "bool", "numbers are needed"),
        ("MAXIMUM", "bool", "numbers are needed"),
    ],
)
def test_types_without_a_meaning_are_refused(code: str, dtype: str, why: str, tmp_path: Path):
    x = TensorType(DType(dtype), (2, 3))
    operands = [x, x] if code in ("ADD", "MAXIMUM") else [x]
    options = {"SOFTMAX": ("SoftmaxOptions", {"Beta": 1.0})}.get(code, ("", {}))
    (tmp_path / "m.tflite").write_bytes(Operator(code, operands, [x], *options).write())
    with pytest.raises(UnsupportedError, match=why):
        import_tflite(tmp_path / "m.tflite")


@requires_package("tflite_micro")
@pytest.mark.parametrize(("scale", "step"), [(3e-4, 0.01), (0.01, 3e-4), (2.0**-12, 2.0**-10)])
def test_the_inverse_root_of_every_int16(scale: float, step: float, tmp_path: Path):
    """TFLite Micro stops at what is negative."""
    x, y = (TensorType(DType.INT16, (32767,), QuantParams.per_tensor(s)) for s in (scale, step))
    numbers = np.arange(1, 32768, dtype=np.int16)
    data = Operator("RSQRT", [x], [y]).write()
    (tmp_path / "m.tflite").write_bytes(data)
    graph = import_tflite(tmp_path / "m.tflite")
    got = NumpyReference().compile(graph).run({graph.inputs[0].name: numbers})
    np.testing.assert_array_equal(got[graph.outputs[0].name], TfliteMicro(data).run(numbers)[0])


@pytest.mark.parametrize(("code", "wanted"), [("REDUCE_ANY", np.any), ("REDUCE_ALL", np.all)])
def test_flags_along_axes(code: str, wanted: Callable[..., Any], tmp_path: Path):
    """TFLite Micro has no REDUCE_ANY; other numbers than flags are refused."""
    flags = np.random.default_rng(1).integers(0, 2, (2, 3, 4)).astype(bool)
    for dtype in (DType.BOOL, DType.INT32):
        x, y = TensorType(dtype, (2, 3, 4)), TensorType(dtype, (2, 4))
        operator = Operator(code, [x, np.array([1], np.int32)], [y], "ReducerOptions")
        (tmp_path / "m.tflite").write_bytes(operator.write())
        if dtype is DType.INT32:
            with pytest.raises(UnsupportedError, match="bool is needed"):
                import_tflite(tmp_path / "m.tflite")
            continue
        graph = import_tflite(tmp_path / "m.tflite")
        got = NumpyReference().compile(graph).run({graph.inputs[0].name: flags})
        np.testing.assert_array_equal(got[graph.outputs[0].name], wanted(flags, axis=1))


@requires_package("tflite_micro")
@pytest.mark.parametrize(("scale", "step"), [(0.1, 0.2), (0.05, 0.1), (0.03, 0.06), (0.017, 0.0043)])
def test_elu_of_every_int8(scale: float, step: float, tmp_path: Path):
    """Half steps fall where single precision puts them."""
    x, y = (TensorType(DType.INT8, (256,), QuantParams.per_tensor(s, z)) for s, z in ((scale, -7), (step, 12)))
    numbers = np.arange(-128, 128).astype(np.int8)
    data = Operator("ELU", [x], [y]).write()
    (tmp_path / "m.tflite").write_bytes(data)
    graph = import_tflite(tmp_path / "m.tflite")
    got = NumpyReference().compile(graph).run({graph.inputs[0].name: numbers})
    np.testing.assert_array_equal(got[graph.outputs[0].name], TfliteMicro(data).run(numbers)[0])
