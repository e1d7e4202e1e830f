"""Names that XNNPACK gives its operators in profiles, by family.

``Fully Connected (NC, F32) GEMM #1``: operator, layout and types, kernel, number
(``src/operator-utils.c`` and ``src/xnnpack/operator-type-defs.inc`` of google/XNNPACK).
"""

from __future__ import annotations

import re
from typing import Final

_FAMILIES: Final = {
    "convolution": "Convolution, Deconvolution",
    "matmul": "Fully Connected, Dynamic Fully Connected, Batch Matrix Multiply",
    "normalization": "Softmax, Normalize, Reciprocal Square Root",
    "pooling/reduction": "Average Pooling, Max Pooling, Argmax Pooling, Global Average Pooling, "
    "Mean, Sum, Reduce",
    "activation": "Clamp, ELU, GELU, HardSwish, Leaky ReLU, PReLU, Sigmoid, Tanh, Truncation",
    "cast/quantize": "Convert",
    "elementwise": "Add, Subtract, Multiply, Divide, Maximum, Minimum, Negate, Abs, Square, "
    "Square Root, Squared Difference, Exp, Log, Floor, Ceiling, Copysign, Bankers Rounding",
    "gather/split": "Slice, Split, Concatenate",
    "layout/copy": "Transpose, Copy, Constant Pad, Depth To Space, Space To Depth",
}
_FAMILY_OF: Final = {
    name: family for family, names in _FAMILIES.items() for name in names.split(", ")
}
_SPELLED: Final = re.compile(r"([A-Za-z ]+) \([A-Z0-9]+(?:, [A-Z0-9]+)*\)(?: [\w ]+)? #\d+")


def xnnpack_family(name: str) -> str | None:
    """Return the family of an operator in a profile of XNNPACK, None where it is none."""
    found = _SPELLED.fullmatch(name)
    return _FAMILY_OF.get(found[1]) if found else None
