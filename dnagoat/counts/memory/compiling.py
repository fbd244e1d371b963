"""How loops over single bases become machine code: numba, whose compiled code is kept between processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., object])
Int = int | np.int64  # of a loop variable or an array; compiled code does not tell them apart


def compiled(function: F) -> F:
    """The function compiled at its first call; other Python threads run while it does.

    The machine code is kept beside the source, or in the user's cache folder where that cannot be written; where
    neither can (a read-only image without a home), it is compiled anew in each process.
    """
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no place for its cache
        return cast(F, numba.njit(nogil=True)(function))
