"""Fixed-point arithmetic: the one integer truth, element by element on numpy arrays."""

from burnc.numerics.activations import SIGMOID_TABLE, sigmoid_int16, tanh_int16, tanh_scaling
from burnc.numerics.fixed_point import (
    count_leading_zeros,
    exp_on_negative_values,
    fixed_point_tanh,
    inverse_square_root,
    logistic,
    multiply_by_quantized_multiplier,
    multiply_wide_by_quantized_multiplier,
    one_minus_x_over_one_plus_x,
    one_over_one_plus_x,
    reduced_multiplier,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
)
from burnc.numerics.quantize import (
    activation_range,
    dequantize,
    input_radius,
    quantize,
    quantize_multiplier,
    quantized_bounds,
    round_half_away,
)

__all__ = [
    "SIGMOID_TABLE",
    "activation_range",
    "count_leading_zeros",
    "dequantize",
    "exp_on_negative_values",
    "fixed_point_tanh",
    "input_radius",
    "inverse_square_root",
    "logistic",
    "multiply_by_quantized_multiplier",
    "multiply_wide_by_quantized_multiplier",
    "one_minus_x_over_one_plus_x",
    "one_over_one_plus_x",
    "quantize",
    "quantize_multiplier",
    "quantized_bounds",
    "reduced_multiplier",
    "round_half_away",
    "rounding_divide_by_pot",
    "rounding_doubling_high_mul",
    "sigmoid_int16",
    "tanh_int16",
    "tanh_scaling",
]
