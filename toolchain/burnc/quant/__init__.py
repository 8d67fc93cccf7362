"""Quantization after training: calibrate, choose parameters, make the int8 graph, and say where accuracy is lost."""

from burnc.quant.accumulators import check_accumulators
from burnc.quant.calibrate import calibrate
from burnc.quant.datasets import Dataset, load_dataset
from burnc.quant.error_report import ErrorRow, error_report
from burnc.quant.observers import OBSERVERS, MeanSquaredError, MinMax, Observer, Percentile, Range
from burnc.quant.quantize import QuantizedResult, QuantizeOptions, prepare, quantize

__all__ = [
    "OBSERVERS",
    "Dataset",
    "ErrorRow",
    "MeanSquaredError",
    "MinMax",
    "Observer",
    "Percentile",
    "QuantizeOptions",
    "QuantizedResult",
    "Range",
    "calibrate",
    "check_accumulators",
    "error_report",
    "load_dataset",
    "prepare",
    "quantize",
]
