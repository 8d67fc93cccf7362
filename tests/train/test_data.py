"""Batches, splits and the model card's scaling."""

from __future__ import annotations

import numpy as np
import pytest

from burnc.errors import InputError
from burnc.ir import DType, QuantParams, TensorType, Value
from burnc.ir.model_card import ModelCard, read_card
from burnc.quant import Dataset, load_dataset
from burnc.train.data import Batches, class_labels, split


def numbered(count, *shape):
    return np.arange(count, dtype=np.float32).reshape(count, *[1] * len(shape)) + np.zeros(shape, np.float32)


def test_an_epoch_is_the_same_whatever_was_drawn_before():
    batches = Batches(numbered(50, 3), np.arange(50), 8, seed=4)
    assert len(batches) == 6
    list(batches.epoch(0))
    again = [labels for _, labels in batches.epoch(2)]
    fresh = [labels for _, labels in Batches(numbered(50, 3), np.arange(50), 8, seed=4).epoch(2)]
    np.testing.assert_array_equal(again, fresh)
    assert len(np.unique(again)) == 48
    others = [
        [labels for _, labels in Batches(numbered(50, 3), np.arange(50), 8, s).epoch(e)] for s, e in ((4, 3), (5, 2))
    ]
    assert not any(np.array_equal(again, other) for other in others)
    for inputs, labels in batches.epoch(1):
        np.testing.assert_array_equal(inputs[:, 0], labels)


def test_shifted_images_keep_what_stays_inside():
    images = np.zeros((40, 5, 6, 1), np.float32)
    images[:, 2, 3] = 1
    places = set()
    for moved, _ in Batches(images, np.zeros(40, np.int64), 20, shift=2).epoch(0):
        assert moved.shape == (20, 5, 6, 1)
        assert moved.dtype == np.float32
        places |= {tuple(np.argwhere(image)[0][:2]) for image in moved}
    assert all(0 <= row <= 4 and 1 <= column <= 5 for row, column in places)
    assert len(places) > 10


def test_split_keeps_every_sample_once():
    dataset = Dataset({"x": numbered(30, 2)}, np.arange(30))
    rest, held = split(dataset, 7, seed=0)
    assert (len(rest), len(held)) == (23, 7)
    assert sorted([*rest.labels, *held.labels]) == list(range(30))
    np.testing.assert_array_equal(split(dataset, 7, seed=0)[1].labels, held.labels)
    with pytest.raises(InputError, match="held out"):
        split(dataset, 30, seed=0)


def test_labels_must_be_classes():
    inputs = {"x": numbered(3, 1)}
    assert class_labels(Dataset(inputs, np.array([0.0, 2.0, 1.0])), 3).dtype == np.int64
    for labels, message in ((None, "no labels"), ([0, 1, 3], "3 classes"), ([0, 0.5, 1], "whole number")):
        with pytest.raises(InputError, match=message):
            class_labels(Dataset(inputs, None if labels is None else np.array(labels)), 3)


CARD = ModelCard("image", 1 / 255, 0.5, 0.25, ("cat", "dog"), accuracy=0.9, samples=10)


def test_the_card_scales_stored_integers_alone(tmp_path):
    real = Value("image", TensorType(DType.FLOAT32, (1, 2, 2, 1)))
    small = Value("image", TensorType(DType.INT8, (1, 2, 2, 1), QuantParams.per_tensor(1 / 32)))
    pixels = np.array([[[0, 51], [102, 255]]], np.uint8)
    wanted = (pixels[..., None] / 255 - 0.5) / 0.25
    file = tmp_path / "d.npz"
    np.savez(file, x=pixels)
    np.testing.assert_allclose(load_dataset(file, inputs=[real], card=CARD).inputs["image"], wanted, rtol=1e-6)
    quantized = load_dataset(file, inputs=[small], card=CARD).inputs["image"]
    np.testing.assert_array_equal(quantized, np.clip(np.rint(wanted * 32), -128, 127))
    np.savez(file, x=wanted[..., 0])
    np.testing.assert_allclose(load_dataset(file, inputs=[real], card=CARD).inputs["image"], wanted, rtol=1e-6)
    np.savez(file, x=quantized[..., 0])
    np.testing.assert_array_equal(load_dataset(file, inputs=[small], card=CARD).inputs["image"], quantized)


def test_the_card_travels_as_text():
    metadata: dict[str, str] = {}
    CARD.write(metadata)
    assert read_card(metadata) == CARD
    text = "\n".join(CARD.lines())
    assert "cat, dog" in text
    assert "90.00 % on 10 samples" in text


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", '{"kind": "smell"}', '{"scale": "x"}', '{"deviation": 0}', '{"labels": 3}']
)
def test_a_card_that_cannot_be_read_is_none(text):
    assert read_card({"burnc.card": text}) is None
