"""Batches of a data set, in an order that a seed and the epoch's number fix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from burnc.errors import InputError
from burnc.ir import Array
from burnc.quant.datasets import Dataset


@dataclass(frozen=True)
class Batches:
    """Samples and labels in batches of one size.

    Attributes:
        inputs: [N, ...] float32. labels: [N] int64.
        shift: images [N, H, W, C] are moved by up to so many pixels in either direction, zeros moving in.
    """

    inputs: Array
    labels: Array
    size: int
    seed: int = 0
    shift: int = 0

    def __len__(self) -> int:
        """Batches in an epoch; what does not fill the last one waits for another epoch's order."""
        return len(self.inputs) // self.size

    def epoch(self, number: int) -> Iterator[tuple[Array, Array]]:
        """The batches of epoch 0, 1, ...: the same for the same seed and number, whatever was drawn before."""
        rng = np.random.default_rng([self.seed, number])
        order = rng.permutation(len(self.inputs))
        for batch in range(len(self)):
            chosen = order[batch * self.size : (batch + 1) * self.size]
            images = self.inputs[chosen]
            yield (_shifted(images, self.shift, rng) if self.shift else images), self.labels[chosen]


def _shifted(images: Array, shift: int, rng: np.random.Generator) -> Array:
    count, height, width = images.shape[:3]
    padded = np.pad(images, ((0, 0), (shift, shift), (shift, shift), (0, 0)))
    views = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(1, 2))
    rows, columns = rng.integers(0, 2 * shift + 1, (2, count))
    return np.ascontiguousarray(views[np.arange(count), rows, columns].transpose(0, 2, 3, 1))


def class_labels(dataset: Dataset, classes: int) -> Array:
    """The labels of a data set as int64 class numbers.

    Raises:
        InputError: there are none, or they are not whole numbers from 0 to classes - 1.
    """
    labels = dataset.labels
    if labels is None:
        raise InputError("the data set has no labels to train with", hint="name an array `labels` or `y`")
    if labels.ndim != 1 or not np.array_equal(labels, np.rint(labels)):
        raise InputError(f"labels {labels.dtype}{list(labels.shape)} are not one whole number a sample")
    if labels.min() < 0 or labels.max() >= classes:
        raise InputError(f"labels reach from {labels.min()} to {labels.max()}, the network has {classes} classes")
    return labels.astype(np.int64)


def split(dataset: Dataset, held_out: int, seed: int) -> tuple[Dataset, Dataset]:
    """What to train on, and ``held_out`` samples apart: drawn by the seed, whatever the order of the file.

    Raises:
        InputError: a part would be empty.
    """
    count = len(dataset)
    if not 0 < held_out < count:
        raise InputError(f"{held_out} of {count} samples cannot be held out", where="key data.held_out")
    order = np.random.default_rng(seed).permutation(count)
    return _chosen(dataset, np.sort(order[held_out:])), _chosen(dataset, np.sort(order[:held_out]))


def _chosen(dataset: Dataset, indices: Array) -> Dataset:
    inputs = {name: array[indices] for name, array in dataset.inputs.items()}
    return Dataset(inputs, None if dataset.labels is None else dataset.labels[indices])
