"""The error function in double precision, which numpy lacks. W. J. Cody, Math. Comp. 23 (1969); netlib's ``calerf``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Numerators and denominators, highest power first; the first denominators' leading 1 is said aloud.
_SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560, 113.864154151050156, 377.485237685302021, 3209.37758913846947),
    (1.0, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062),
)
_MIDDLE = (
    (
        2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295, 298.635138197400131,
        881.952221241769090, 1712.04761263407058, 2051.07837782607147, 1230.33935479799725,
    ),
    (
        1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
        3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942,
    ),
)  # fmt: skip
_LARGE = (
    (
        1.63153871373020978e-2, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip
_INVERSE_ROOT_OF_PI = 0.56418958354775628695


def _quotient(coefficients: tuple[Sequence[float], Sequence[float]], x: Any) -> Any:
    values = []
    for row in coefficients:
        value = row[0]
        for coefficient in row[1:]:
            value = value * x + coefficient
        values.append(value)
    return values[0] / values[1]


def erf(xp: Any, x: Any) -> Any:
    """The error function, within 2 units in the last place of a double; in the type of x. ``xp`` is numpy or cupy."""
    wide = xp.asarray(x, "float64")
    magnitude = xp.abs(wide)
    small = xp.minimum(magnitude, 0.46875)
    middle = xp.clip(magnitude, 0.46875, 4.0)
    large = xp.clip(magnitude, 4.0, 6.0)
    inverse = 1 / (large * large)
    tail = (_INVERSE_ROOT_OF_PI - inverse * _quotient(_LARGE, inverse)) / large
    result = xp.where(
        magnitude <= 0.46875,
        small * _quotient(_SMALL, small * small),
        xp.where(
            magnitude <= 4.0,
            1 - xp.exp(-middle * middle) * _quotient(_MIDDLE, middle),
            1 - xp.exp(-large * large) * tail,
        ),
    )
    return xp.copysign(xp.where(xp.isnan(wide), wide, result), wide).astype(x.dtype)
