"""Training: modules captured into graphs, one graph a step, quantization-aware, from Python or from ``train.toml``."""

from burnc.train.capture import Captured, Tensor, capture
from burnc.train.config import (
    DataConfig,
    GoalConfig,
    QuantizationConfig,
    TrainConfig,
    TrainingConfig,
    read_config,
)
from burnc.train.data import Batches
from burnc.train.loop import accuracy, train
from burnc.train.losses import mean_squared_error, softmax_cross_entropy
from burnc.train.optimizers import Adam, Optimizer, Sgd
from burnc.train.qat import QuantizationAware
from burnc.train.run import TrainedNetwork, TrainReport, train_file, train_network
from burnc.train.step import TrainingStep

__all__ = [
    "Adam",
    "Batches",
    "Captured",
    "DataConfig",
    "GoalConfig",
    "Optimizer",
    "QuantizationAware",
    "QuantizationConfig",
    "Sgd",
    "Tensor",
    "TrainConfig",
    "TrainReport",
    "TrainedNetwork",
    "TrainingConfig",
    "TrainingStep",
    "accuracy",
    "capture",
    "mean_squared_error",
    "read_config",
    "softmax_cross_entropy",
    "train",
    "train_file",
    "train_network",
]
