"""What the generated C computes, however it is compiled, and that it touches nothing but its buffers.

Expected values come from outside: tflite-micro for int8, onnxruntime for float.
"""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from burnc.backends.model_inputs import random_inputs
from burnc.devices.compare import within_tolerance
from codegen.exported import INT8, MODELS, ROOT, build, driver, graph_of, run_driver, run_tool
from oracles.tflm import TfliteMicro
from requirements import requires, requires_package

pytestmark = requires("gcc")

RUNS = 3
SELF_TEST_FAILED = 2  # BURNC_STATUS_SELF_TEST_FAILED


def expected_int8(model, inputs):
    """What tflite-micro answers; arrays in the order of the model's outputs."""
    interpreter = TfliteMicro((ROOT / MODELS[model]).read_bytes())
    (value,) = graph_of(model).inputs
    return [interpreter.run(arrays[value.name])[0] for arrays in inputs]


def expected_float(model, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(ROOT / MODELS[model]), options, providers=["CPUExecutionProvider"])
    (value,) = session.get_inputs()
    return [session.run(None, {value.name: arrays[value.name]})[0] for arrays in inputs]


def first_output(results):
    return [next(iter(r.values())) for r in results]


SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@requires_package("tflite_micro")
@pytest.mark.parametrize("io", ["arena", "caller"])
@pytest.mark.parametrize("model", ["kws", "resnet", "ad", "hello"])
def test_int8_under_sanitizers(exported, model, io):
    inputs = random_inputs(graph_of(model), RUNS)
    program = build(exported(model, io), SANITIZE)
    got = first_output(run_driver(program, exported(model, io).program, inputs))
    for a, b in zip(got, expected_int8(model, inputs), strict=True):
        np.testing.assert_array_equal(a, b)


@requires_package("onnxruntime")
@pytest.mark.parametrize("io", ["arena", "caller"])
@pytest.mark.parametrize("model", ["mnist8", "magicwand", "atmega", "emx_kws"])
def test_float_under_sanitizers(exported, model, io):
    inputs = random_inputs(graph_of(model), RUNS)
    program = build(exported(model, io), [*SANITIZE, "-ffp-contract=off"])
    got = first_output(run_driver(program, exported(model, io).program, inputs))
    for a, b in zip(got, expected_float(model, inputs), strict=True):
        assert within_tolerance(a.reshape(b.shape), b).all()


@requires_package("tflite_micro")
@pytest.mark.parametrize("rendered", [False, True])
def test_int8_in_every_dialect(exported, rendered):
    """Optimization, signedness of char, fast float arithmetic: an int8 net answers the same bits."""
    model = exported("kws", rendered=rendered)
    inputs = random_inputs(graph_of("kws"), RUNS)
    expected = expected_int8("kws", inputs)
    levels = ["-O0", "-Os", "-O2", "-O3 -flto", "-O3 -ffast-math", "-O2 -funsigned-char", "-O2 -fsigned-char"]
    levels += ["-O2 -DKWS_NET_SHORT_MULTIPLY=1", "-O2 -DKWS_NET_FEW_REGISTERS=1"]
    for number, flags in enumerate(levels):
        program = build(model, flags.split(), name=f"dialect{number}")
        for a, b in zip(first_output(run_driver(program, model.program, inputs)), expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=flags)


@requires_package("onnxruntime")
def test_float_in_every_dialect(exported):
    model = exported("mnist8")
    inputs = random_inputs(graph_of("mnist8"), RUNS)
    answers = []
    for number, flags in enumerate(["-O0", "-Os", "-O3", "-O2 -funsigned-char"]):
        program = build(model, [*flags.split(), "-ffp-contract=off"], name=f"dialect{number}")
        answers.append(run_driver(program, model.program, inputs))
    for other in answers[1:]:
        for a, b in zip(first_output(other), first_output(answers[0]), strict=True):
            np.testing.assert_array_equal(a, b)


@requires("c++ compiler")
@requires_package("tflite_micro")
def test_as_cplusplus(exported):
    model = exported("kws", "caller")
    inputs = random_inputs(graph_of("kws"), RUNS)
    program = model.folder / "plusplus"
    main = model.folder / "main_plusplus.cpp"
    main.write_text(driver(model.program))
    flags = ["-std=c++11", "-x", "c++", f"-I{model.folder}", "-O1"]
    run_tool("g++", *flags, *model.sources, main, "-o", program)
    got = first_output(run_driver(program, model.program, inputs))
    for a, b in zip(got, expected_int8("kws", inputs), strict=True):
        np.testing.assert_array_equal(a, b)


# Two models in one program, and two arenas of one of them, advanced in turns through their layers: the profile hook
# of the first is where the other two run.
_INTERLEAVED = """\
#include <stdio.h>
#include "kws_net.h"
#include "mnist8_net.h"

static kws_net_arena first, second;
static mnist8_net_arena digits;
static int inner;

void kws_net_on_layer(uint32_t layer) {{
    if (!inner && layer == 4u) {{
        inner = 1;
        if (kws_net_run(&second) != BURNC_STATUS_OK || mnist8_net_run(&digits) != BURNC_STATUS_OK) {{
            inner = 2;
        }}
    }}
}}

int main(void) {{
    fread(kws_net_{kws_in}(&first), 1, KWS_NET_{KWS_IN}_SIZE, stdin);
    fread(kws_net_{kws_in}(&second), 1, KWS_NET_{KWS_IN}_SIZE, stdin);
    fread(mnist8_net_{mnist_in}(&digits), 4, MNIST8_NET_{MNIST_IN}_SIZE, stdin);
    if (kws_net_run(&first) != BURNC_STATUS_OK || inner != 1) {{
        return 1;
    }}
    fwrite(kws_net_{kws_out}(&first), 1, KWS_NET_{KWS_OUT}_SIZE, stdout);
    fwrite(kws_net_{kws_out}(&second), 1, KWS_NET_{KWS_OUT}_SIZE, stdout);
    fwrite(mnist8_net_{mnist_out}(&digits), 4, MNIST8_NET_{MNIST_OUT}_SIZE, stdout);
    return 0;
}}
"""


@requires_package("tflite_micro", "onnxruntime")
def test_two_models_and_two_arenas_interleaved(exported, tmp_path):
    kws, mnist = exported("kws"), exported("mnist8")
    symbols = {}
    for name, model in (("kws", kws), ("mnist", mnist)):
        for side, port in (("in", model.program.inputs[0]), ("out", model.program.outputs[0])):
            symbols[f"{name}_{side}"] = port.symbol
            symbols[f"{name}_{side}".upper()] = port.symbol.upper()
    main = tmp_path / "main.c"
    main.write_text(_INTERLEAVED.format(**symbols))
    program = tmp_path / "program"
    run_tool(
        "gcc", "-std=c99", "-O2", "-ffp-contract=off", "-DKWS_NET_PROFILE", f"-I{kws.folder}", f"-I{mnist.folder}",
        *kws.sources, *mnist.sources, main, "-o", program,
    )  # fmt: skip
    sounds = random_inputs(graph_of("kws"), 2, seed=1)
    digits = random_inputs(graph_of("mnist8"), 1, seed=2)
    raw = b"".join(a.tobytes() for arrays in [*sounds, *digits] for a in arrays.values())
    answer = run_tool(program, stdin=raw)
    expected = expected_int8("kws", sounds)
    np.testing.assert_array_equal(np.frombuffer(answer[:24], np.int8), np.concatenate(expected).reshape(-1))
    scores = np.frombuffer(answer[24:], np.float32)
    assert within_tolerance(scores, expected_float("mnist8", digits)[0].reshape(-1)).all()


@pytest.mark.parametrize("model", ["kws", "mnist8"])
def test_self_test_sees_a_flipped_weight(exported, tmp_path, model):
    """Each bias in turn gets another value: what the self-test is for."""
    found = exported(model)
    prefix = found.prefix
    main = tmp_path / "main.c"
    main.write_text(
        f'#include "{prefix}.h"\nstatic {prefix}_arena arena;\n'
        f"int main(void) {{ return (int){prefix}_self_test(&arena); }}\n"
    )
    weights = found.folder / f"{prefix}_weights.c"
    others = [s for s in found.sources if s != weights]
    flags = ["gcc", "-std=c99", "-O1", f"-I{found.folder}"]
    objects = tmp_path / "model.o"
    run_tool(*flags, "-r", "-nostdlib", *others, main, "-o", objects)
    text = weights.read_text()
    seen = 0
    arrays = [c for c in found.program.constants if c.name.endswith("_bias")]
    for array in arrays[:3]:
        at = text.index("{", text.index(f"{prefix}_{array.name}[{array.data.size}] = {{")) + 1
        end = text.index(",", at)
        flipped = tmp_path / "weights.c"
        flipped.write_text(f"{text[:at]} 99999{'.0f' if array.data.dtype.kind == 'f' else ''}{text[end:]}")
        program = tmp_path / "program"
        run_tool(*flags, objects, flipped, "-o", program)
        seen += subprocess.run([program], check=False).returncode == SELF_TEST_FAILED
    assert seen == len(arrays[:3])


def test_int8_models_are_int8():
    for model in INT8:
        assert {v.type.dtype.value for v in graph_of(model).inputs} == {"int8"}
