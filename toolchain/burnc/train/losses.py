"""Losses: from a network's result and what was wanted to one number."""

from __future__ import annotations

from collections.abc import Callable

from burnc.ops.reduce_sum import ReduceAttrs
from burnc.train.capture import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]


def softmax_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean of -log(softmax(logits)[label]). Logits [N, C] float, labels [N] int64 -> []."""
    return logits.op("softmax_cross_entropy", labels)


def mean_squared_error(results: Tensor, targets: Tensor) -> Tensor:
    """Mean of (results - targets)^2 over all elements; both float, of one shape -> []."""
    difference = results - targets
    return (difference * difference).op("reduce_mean", attrs=ReduceAttrs(tuple(range(len(results.shape)))))
