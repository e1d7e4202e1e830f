"""Names the debugger gives to tensors in `output_tensors.params`.

python/tvm/contrib/debugger/debug_result.py @ v0.5 to v0.19.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Style: TypeAlias = Literal["v0.5", "v0.8", "v0.9"]

# Node ids are int32 here and in TVM: nine digits are enough, and more would overflow.
_V09 = re.compile(r"(.*)____topo-index:([0-9]{1,9})____output-num:([0-9]{1,9})", re.DOTALL)
_V08 = re.compile(r"(.*)____([0-9]{1,9})", re.DOTALL)
_V05 = re.compile(r"(.*)_([0-9]{1,9})__([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|inf|nan)", re.DOTALL)


class OutputKey(NamedTuple):
    """One parsed key."""

    name: str
    node: int | None
    output: int
    order: float | None
    style: Style


def parse_key(key: str) -> OutputKey | None:
    """Parse a key from its end; None if it is no key of the debugger."""
    if match := _V09.fullmatch(key):
        return OutputKey(match[1], int(match[2]), int(match[3]), None, "v0.9")
    if match := _V08.fullmatch(key):
        return OutputKey(match[1], None, int(match[2]), None, "v0.8")
    if match := _V05.fullmatch(key):
        return OutputKey(match[1], None, int(match[2]), float(match[3]), "v0.5")
    return None
