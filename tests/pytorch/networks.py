"""Small networks of PyTorch, seeded, and what they are fed with: each is exported by both of PyTorch's exporters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Network:
    """A module and its inputs.

    Attributes:
        dynamic: the axis of every input that is exported without a size.
    """

    module: nn.Module
    inputs: tuple[Tensor, ...]
    dynamic: int | None = None


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs)


class Last(nn.Module):
    """A recurrent layer and a classifier on its last step."""

    def __init__(self, layer: nn.RNNBase, classes: int = 3) -> None:
        super().__init__()
        self.layer = layer
        directions = 2 if layer.bidirectional else 1
        self.head = nn.Linear(directions * layer.hidden_size, classes)
        self.batch_first = layer.batch_first

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.layer(x)
        return self.head(y[:, -1] if self.batch_first else y[-1])


class WithState(nn.Module):
    """A recurrent layer that is given its state and gives it back: what streams are made of."""

    def __init__(self, layer: nn.RNNBase) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        y, after = self.layer(x, state if len(state) > 1 else state[0])
        return (y, *after) if isinstance(after, tuple) else (y, after)


class Attention(nn.Module):
    """Self-attention."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layer(x, x, x, need_weights=False)[0]
        return result


class Embedded(nn.Module):
    """Tokens, the mean of their vectors, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        result: Tensor = self.head(self.table(tokens).mean(1))
        return result


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def sliced(x: Tensor) -> Tensor:
    """Halves of the channels, every second column, an end from behind."""
    left, right = x.chunk(2, dim=1)
    return torch.cat([left[..., ::2], right[..., 1::2], x[:, -2:, :, :4]], dim=1)


def reshaped(x: Tensor) -> Tensor:
    """Shape arithmetic as people write it: sizes are asked for at run time."""
    n, c, h, w = x.shape
    return x.view(n, c // 2, 2, h * w).permute(0, 3, 1, 2).reshape(n, h * w, -1).unsqueeze(1).squeeze(1)


def masked(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, x.abs().clamp(min=0.1)).masked_fill(x > 1, 0.5) + torch.zeros_like(x)


def reduced(x: Tensor) -> Tensor:
    return torch.cat([x.mean((2, 3)), x.amax((2, 3)), x.std((2, 3), unbiased=False), x.norm(dim=1).flatten(1)], dim=1)


def padded(x: Tensor) -> Tensor:
    return functional.pad(functional.pad(x, (1, 2, 0, 1), mode="reflect"), (1, 1), value=0.5)


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU6(),
        nn.Conv2d(4, 6, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(6, 3),
        nn.LogSoftmax(dim=1),
    )


def activations(x: Tensor) -> Tensor:
    functions = [
        functional.gelu,
        lambda v: functional.gelu(v, approximate="tanh"),
        functional.hardswish,
        functional.hardsigmoid,
        functional.hardtanh,
        functional.silu,
        functional.mish,
        functional.softplus,
        functional.selu,
        functional.celu,
        functional.leaky_relu,
        functional.softsign,
        functional.logsigmoid,
    ]
    return torch.cat([f(x) for f in functions], dim=1)


def image(channels: int = 1, size: int = 8, batch: int = 1) -> tuple[Tensor, ...]:
    return (torch.randn(batch, channels, size, size),)


def sequence(batch_first: bool = False, batch: int = 1) -> tuple[Tensor, ...]:
    """Five steps of three features."""
    return (torch.randn(batch, 5, 3) if batch_first else torch.randn(5, batch, 3),)


def network(module: nn.Module | Callable[..., Tensor], *inputs: Tensor, dynamic: int | None = None) -> Network:
    return Network(module if isinstance(module, nn.Module) else Function(module), inputs, dynamic)


def networks() -> dict[str, Callable[[], Network]]:
    """By name: how each is made. Weights come from the seed that the caller sets."""
    return {**layers(), **recurrent(), **attention(), **functions()}


def layers() -> dict[str, Callable[[], Network]]:
    return {
        "cnn": lambda: network(convolutional(), *image(batch=2), dynamic=0),
        "mlp": lambda: network(
            nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)), torch.randn(2, 4), dynamic=0
        ),
        "conv1d": lambda: network(
            nn.Sequential(nn.Conv1d(3, 4, 3, dilation=2), nn.ELU(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(16, 2)),
            torch.randn(1, 3, 12),
        ),
        "any_length": lambda: network(nn.Conv1d(3, 2, 3, padding=1), torch.randn(1, 3, 7), dynamic=2),
        "adaptive_pool": lambda: network(nn.AdaptiveAvgPool2d((2, 4)), *image(2)),
        "adaptive_max": lambda: network(nn.AdaptiveMaxPool2d(2), *image(2)),
        "conv_transpose": lambda: network(
            nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1), *image(2, 4)
        ),
        "nearest": lambda: network(nn.Upsample(scale_factor=2), *image(2, 4, batch=2), dynamic=0),
        "bilinear": lambda: network(nn.Upsample(size=(7, 9), mode="bilinear"), *image(2, 4)),
        "corners": lambda: network(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), *image(2, 4)),
        "pixel_shuffle": lambda: network(nn.Sequential(nn.Conv2d(1, 4, 1), nn.PixelShuffle(2)), *image()),
        "pixel_unshuffle": lambda: network(nn.PixelUnshuffle(2), *image()),
        "group_norm": lambda: network(nn.GroupNorm(2, 4), *image(4, 4, batch=2), dynamic=0),
        "instance_norm": lambda: network(nn.InstanceNorm2d(3, affine=True), *image(3, 4)),
        "layer_norm": lambda: network(nn.LayerNorm(6), torch.randn(2, 5, 6), dynamic=0),
        "rms_norm": lambda: network(nn.RMSNorm(6), torch.randn(1, 5, 6)),
        "prelu": lambda: network(nn.PReLU(3), *image(3, 4)),
        "embedding": lambda: network(Embedded(), torch.randint(0, 11, (2, 6)), dynamic=0),
    }


def recurrent() -> dict[str, Callable[[], Network]]:
    return {
        "rnn": lambda: network(Last(nn.RNN(3, 4, nonlinearity="relu", batch_first=True)), *sequence(True)),
        "gru": lambda: network(Last(nn.GRU(3, 4, batch_first=True)), *sequence(True, batch=2), dynamic=0),
        "gru_two_layers": lambda: network(Last(nn.GRU(3, 4, num_layers=2, bidirectional=True)), *sequence()),
        "gru_with_state": lambda: network(WithState(nn.GRU(3, 4)), *sequence(), torch.randn(1, 1, 4)),
        "gru_any_length": lambda: network(Last(nn.GRU(3, 4, batch_first=True)), *sequence(True), dynamic=1),
        "lstm_any_length": lambda: network(Last(nn.LSTM(3, 4, bidirectional=True)), *sequence(), dynamic=0),
        "lstm": lambda: network(Last(nn.LSTM(3, 4)), *sequence()),
        "lstm_both_ways": lambda: network(Last(nn.LSTM(3, 4, batch_first=True, bidirectional=True)), *sequence(True)),
        "lstm_two_layers": lambda: network(
            Last(nn.LSTM(3, 4, num_layers=2, batch_first=True)), *sequence(True, batch=2), dynamic=0
        ),
        "lstm_no_bias": lambda: network(Last(nn.LSTM(3, 4, bias=False)), *sequence()),
        "lstm_with_state": lambda: network(
            WithState(nn.LSTM(3, 4)), *sequence(), torch.randn(1, 1, 4), torch.randn(1, 1, 4)
        ),
    }


def attention() -> dict[str, Callable[[], Network]]:
    return {
        "attention": lambda: network(Attention(), torch.randn(1, 5, 8)),
        "causal_attention": lambda: network(causal_attention, *(torch.randn(1, 2, 5, 4) for _ in range(3))),
        "encoder": lambda: network(nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), torch.randn(1, 5, 8)),
        "encoder_gelu": lambda: network(
            nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", norm_first=True), torch.randn(5, 1, 8)
        ),
    }


def functions() -> dict[str, Callable[[], Network]]:
    return {
        "einsum": lambda: network(
            lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b), torch.randn(1, 2, 3, 4), torch.randn(1, 2, 5, 4)
        ),
        "activations": lambda: network(activations, torch.randn(1, 7) * 3),
        "slicing": lambda: network(sliced, *image(4, batch=2), dynamic=0),
        "shapes": lambda: network(reshaped, *image(4, 4, batch=2), dynamic=0),
        "masks": lambda: network(masked, *image(2, 4)),
        "reductions": lambda: network(reduced, *image(4, 4)),
        "padding": lambda: network(padded, *image(2, 4)),
    }
