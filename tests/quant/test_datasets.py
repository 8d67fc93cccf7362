"""Data sets: every format, matching to inputs, and one clear message for each fault."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from burnc.errors import InputError
from burnc.ir import DType, QuantParams, TensorType, Value
from burnc.quant import Dataset, load_dataset

DIGITS = Path(__file__).resolve().parents[2] / "examples/mnist_pico/digits.npz"
IMAGE = Value("image", TensorType(DType.FLOAT32, (1, 1, 2, 3)))
PIXELS = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)


def saved(folder, name="data.npz", **arrays):
    path = folder / name
    np.savez(path, **arrays)
    return path


def idx(array, code=0x08):
    return bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def check_pixels(dataset):
    array = dataset.inputs["image"]
    assert array.dtype == np.float32
    assert array.shape == (4, 1, 2, 3)
    np.testing.assert_array_equal(array[:, 0], PIXELS)


@pytest.mark.parametrize("name", ["image", "x", "images", "X", "whatever"])
@pytest.mark.parametrize("label", ["y", "labels", "target"])
def test_npz_names(tmp_path, name, label):
    dataset = load_dataset(saved(tmp_path, **{name: PIXELS, label: np.arange(4)}), inputs=[IMAGE])
    check_pixels(dataset)
    np.testing.assert_array_equal(dataset.labels, np.arange(4))
    assert len(dataset) == 4


def test_an_input_may_bear_a_labels_name(tmp_path):
    value = Value("y", IMAGE.type)
    dataset = load_dataset(saved(tmp_path, y=PIXELS), inputs=[value])
    assert dataset.inputs["y"].shape == (4, 1, 2, 3)
    assert dataset.labels is None


@pytest.mark.parametrize("shape", [(4, 2, 3), (4, 1, 2, 3), (4, 2, 3, 1), (4, 6), (4, 1, 6)])
def test_npy_shapes(tmp_path, shape):
    path = tmp_path / "data.npy"
    np.save(path, PIXELS.reshape(shape))
    check_pixels(load_dataset(path, inputs=[IMAGE]))


def test_one_sample_without_its_axis(tmp_path):
    assert len(load_dataset(saved(tmp_path, x=np.zeros((1, 2, 3))), inputs=[IMAGE])) == 1


@pytest.mark.parametrize("shape", [(4, 3, 2), (4, 7), (4, 2, 3, 2), (4,)])
def test_shapes_that_do_not_fit(tmp_path, shape):
    with pytest.raises(InputError, match="samples have shape"):
        load_dataset(saved(tmp_path, x=np.zeros(shape)), inputs=[IMAGE])


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx(tmp_path, suffix):
    path = tmp_path / f"images-idx3-ubyte{suffix}"
    path.write_bytes(gzip.compress(idx(PIXELS)) if suffix else idx(PIXELS))
    check_pixels(load_dataset(path, inputs=[IMAGE]))


def test_idx_float(tmp_path):
    path = tmp_path / "images.idx"
    path.write_bytes(idx(PIXELS.astype(">f4"), 0x0D))
    check_pixels(load_dataset(path, inputs=[IMAGE]))


@pytest.mark.parametrize("header", ["", "a,b,c,d,e,f,kind\n", "a,b,c,d,e,f,label\n"])
def test_csv_with_labels(tmp_path, header):
    path = tmp_path / "table.csv"
    lines = [",".join(map(str, [*row.reshape(-1), number])) for number, row in enumerate(PIXELS)]
    path.write_text(header + "\n".join(lines) + "\n")
    dataset = load_dataset(path, inputs=[IMAGE])
    check_pixels(dataset)
    assert dataset.labels is not None
    assert dataset.labels.dtype == np.int64
    np.testing.assert_array_equal(dataset.labels, np.arange(4))


def test_csv_with_a_label_column_in_front(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Label,p0,p1\n1,5,6\n0,7,8\n")
    dataset = load_dataset(path, inputs=[Value("p", TensorType(DType.FLOAT32, (1, 2)))])
    np.testing.assert_array_equal(dataset.inputs["p"], [[5, 6], [7, 8]])
    np.testing.assert_array_equal(dataset.labels, [1, 0])


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "no samples"), ("1,2\n3\n", "row 2 has 1 columns"), ("a,b\n1,x\n", "row 2, column 2: 'x'")],
)
def test_csv_faults(tmp_path, text, why):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        load_dataset(path, inputs=[IMAGE])


def test_scale(tmp_path):
    dataset = load_dataset(saved(tmp_path, x=PIXELS), inputs=[IMAGE], scale=1 / 255)
    np.testing.assert_allclose(dataset.inputs["image"][:, 0], PIXELS / 255, rtol=1e-6)


def test_integer_inputs(tmp_path):
    quantized = Value("image", TensorType(DType.INT8, (1, 1, 2, 3), QuantParams.per_tensor(0.5, -10)))
    taken = load_dataset(saved(tmp_path, x=PIXELS.astype(np.int8)), inputs=[quantized])
    np.testing.assert_array_equal(taken.inputs["image"][:, 0], PIXELS)
    for dtype in (np.float32, np.uint8, np.int32):
        real = load_dataset(saved(tmp_path, x=PIXELS.astype(dtype)), inputs=[quantized])
        np.testing.assert_array_equal(real.inputs["image"][:, 0].astype(int), PIXELS.astype(int) * 2 - 10)
    plain = Value("image", TensorType(DType.INT8, (1, 1, 2, 3)))
    with pytest.raises(InputError, match="from 0 to 200"):
        load_dataset(saved(tmp_path, x=PIXELS.astype(np.int16) * 200 // 23), inputs=[plain])
    with pytest.raises(InputError, match="fractions"):
        load_dataset(saved(tmp_path, x=PIXELS / 2), inputs=[plain])


def test_several_inputs(tmp_path):
    other = Value("other", TensorType(DType.FLOAT32, (1, 2)))
    path = saved(tmp_path, image=PIXELS, other=np.zeros((4, 2)), labels=np.zeros(4))
    assert set(load_dataset(path, inputs=[IMAGE, other]).inputs) == {"image", "other"}
    with pytest.raises(InputError, match=r"no array for input 'image'.*'other'"):
        load_dataset(saved(tmp_path, a=PIXELS, b=np.zeros((4, 2))), inputs=[IMAGE, other])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity(tmp_path, bad):
    data = PIXELS.astype(np.float32)
    data[3, 1, 2] = bad
    with pytest.raises(InputError, match=r"at index \[3, 0, 1, 2\]"):
        load_dataset(saved(tmp_path, x=data), inputs=[IMAGE])


def test_pickles_are_refused(tmp_path):
    for name in ("data.npz", "data.npy"):
        path = tmp_path / name
        objects = np.array([{"a": 1}], dtype=object)
        np.savez(path, x=objects) if name.endswith("z") else np.save(path, objects, allow_pickle=True)
        with pytest.raises(InputError, match="pickled objects"):
            load_dataset(path, inputs=[IMAGE])
    path.write_bytes(b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94.")  # a bare pickle
    with pytest.raises(InputError):
        load_dataset(path, inputs=[IMAGE])


def test_text_arrays_are_refused(tmp_path):
    with pytest.raises(InputError, match="not numbers"):
        load_dataset(saved(tmp_path, x=np.array(["a", "b"])), inputs=[IMAGE])


@pytest.mark.parametrize("kind", ["npz", "npy", "gz", "idx"])
@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.99])
def test_truncated_files(tmp_path, kind, kept):
    path = tmp_path / f"data.{kind}"
    if kind == "npz":
        np.savez_compressed(path, x=np.random.default_rng(0).normal(size=(4, 2, 3)))
    elif kind == "npy":
        np.save(path, PIXELS)
    else:
        path.write_bytes(gzip.compress(idx(PIXELS)) if kind == "gz" else idx(PIXELS))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(InputError) as caught:
        load_dataset(path, inputs=[IMAGE])
    assert str(path) in str(caught.value)


def test_damaged_zip_member(tmp_path):
    path = saved(tmp_path, x=PIXELS)
    data = bytearray(path.read_bytes())
    data[150] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError):
        load_dataset(path, inputs=[IMAGE])


@pytest.mark.parametrize("name", ["missing.npz", "."])
def test_unreadable_files(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read"):
        load_dataset(tmp_path / name, inputs=[IMAGE])


def test_foreign_file(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"hello, world")
    with pytest.raises(InputError, match="format"):
        load_dataset(path, inputs=[IMAGE])


def test_counts_must_agree(tmp_path):
    with pytest.raises(InputError, match="image 4, labels 3"):
        load_dataset(saved(tmp_path, x=PIXELS, y=np.arange(3)), inputs=[IMAGE])


def test_no_samples(tmp_path):
    with pytest.raises(InputError, match="no samples"):
        load_dataset(saved(tmp_path, x=PIXELS[:0]), inputs=[IMAGE])


def test_split_keeps_an_unsorted_order():
    dataset = Dataset({"x": np.arange(10)}, np.array([3, 1, 2, 0, 1, 2, 3, 0, 1, 2]))
    first, rest = dataset.split(4)
    np.testing.assert_array_equal(first.inputs["x"], [0, 1, 2, 3])
    np.testing.assert_array_equal(rest.inputs["x"], [4, 5, 6, 7, 8, 9])


def test_split_mixes_sorted_classes():
    first, rest = Dataset({"x": np.arange(100)}, np.repeat(np.arange(10), 10)).split(20)
    assert np.bincount(first.labels).tolist() == [2] * 10
    assert sorted([*first.inputs["x"], *rest.inputs["x"]]) == list(range(100))


@pytest.mark.parametrize("count", [0, 10, 11])
def test_split_needs_two_parts(count):
    with pytest.raises(InputError):
        Dataset({"x": np.arange(10)}).split(count)


def test_digits_of_the_demo():
    """MNIST-8 was trained on pixels / 255: 99.40 % of the 9 800 are right then, 99.32 % with pixels as they are."""
    value = Value("Input3", TensorType(DType.FLOAT32, (1, 1, 28, 28)))
    calibration, test = load_dataset(DIGITS, inputs=[value], scale=1 / 255).split(200)
    assert (len(calibration), len(test)) == (200, 9800)
    assert calibration.inputs["Input3"].max() == 1
    assert calibration.labels is not None
    assert np.bincount(calibration.labels, minlength=10).min() >= 10
