"""The pass over floats compiled by numba, where that is installed."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Kernel: TypeAlias = Callable[[Array, Array, Array], tuple[int, int, float, float, float]]

_LOG = logging.getLogger(__name__)
#: Values that the processor's first cache holds beside the counts.
_BLOCK = 4096
_TYPES = ("float32", "float64")

_lock = threading.Lock()
_kernels: dict[str, Kernel] = {}
_compiling: threading.Thread | None = None


def kernel(dtype: np.dtype[Any], *, wait: bool = False) -> Kernel | None:
    """Return the compiled pass over pieces of a type, or None where there is none (yet).

    The first call compiles in a thread of its own, or takes the result from numba's cache; it ends
    with the interpreter. Until then numpy counts, as it does without numba.
    """
    global _compiling  # noqa: PLW0603 (one a process)
    with _lock:
        if _compiling is None and importlib.util.find_spec("numba") is not None:
            _compiling = threading.Thread(target=_compile, name="tvmdbg-compile", daemon=True)
            _compiling.start()
    if wait and _compiling is not None:
        _compiling.join()
    return _kernels.get(dtype.name)


def _compile() -> None:
    try:
        for name in _TYPES:
            made = _jitted(name)
            values = np.ones(1, name)
            made(values, values.view(f"i{values.itemsize}"), np.zeros(1 << 16, np.int64))
            _kernels[name] = made
    except Exception:  # noqa: BLE001 (whatever is wrong with numba, numpy does the same)
        _LOG.info("numba cannot compile the pass over floats", exc_info=True)


def _jitted(name: str) -> Kernel:
    import numba

    wide = name == "float64"
    shift, positive = (48, (1 << 63) - 1) if wide else (16, (1 << 31) - 1)
    bits = 63 if wide else 31
    integer: Any = np.int64 if wide else np.int32
    lowest, highest, magnitude = integer(-positive - 1), integer(positive), integer(positive)
    top, sign = integer(shift), integer(bits)

    # Sums may be added up in any order, which lets them use all lanes of the processor; NaN and
    # infinities keep their meaning.
    def counted(
        values: Array, words: Array, prefixes: Array
    ) -> tuple[int, int, float, float, float]:
        size = values.size
        step = max(1, size // _BLOCK)
        center = 0.0
        for i in range(0, size, step):
            center += np.float64(values[i])
        center /= (size + step - 1) // step
        low, high = highest, lowest
        rest = squares = 0.0
        for begin in range(0, size, _BLOCK):
            end = min(size, begin + _BLOCK)
            for i in range(begin, end):
                prefixes[(words[i] >> top) & 0xFFFF] += 1
            for i in range(begin, end):
                key = words[i] ^ ((words[i] >> sign) & magnitude)
                low = min(low, key)
                high = max(high, key)
            block_rest = block_squares = 0.0
            for i in range(begin, end):
                distance = np.float64(values[i]) - center
                block_rest += distance
                block_squares += distance * distance
            rest += block_rest
            squares += block_squares
        return low, high, center, rest, squares

    compiler: Any = numba.njit
    options = {"nogil": True, "fastmath": {"reassoc", "contract"}}
    try:
        made: Kernel = compiler(cache=True, **options)(counted)
    except RuntimeError:  # there is no folder to keep it in
        made = compiler(**options)(counted)
    return made
