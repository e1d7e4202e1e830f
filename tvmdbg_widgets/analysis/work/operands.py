"""Whether a function can read the operands that the graph gives it.

Graphs that were cut, edited or written by other tools have operators that read too much, too little
or what does not fit. A number from such operands would be invented. Fewer operands than an operator
takes are no mistake as long as there is one: scalar constants are written into the function, and
one operand may be read twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tvmdbg_widgets.analysis.work.call import OperatorCall, Shape, bare
from tvmdbg_widgets.analysis.work.convolution import is_convolution
from tvmdbg_widgets.analysis.work.elementwise import elementwise
from tvmdbg_widgets.analysis.work.matmul import is_matmul
from tvmdbg_widgets.analysis.work.movement import moves
from tvmdbg_widgets.analysis.work.reductions import is_softmax
from tvmdbg_widgets.model.base.numbers import counted

_CREATING: Final = frozenset({"zeros", "ones", "full", "arange"})
#: Operators that read one number a channel, of whichever axis the graph does not tell.
_BY_CHANNEL: Final = frozenset({"bias_add", "prelu"})


def lacks_operands(parts: Sequence[str], count: int) -> bool:
    """Whether a function reads nothing though it has to."""
    return not count and not any(bare(part) in _CREATING for part in parts)


def misfit(call: OperatorCall, out: Shape) -> str:
    """Return why a function cannot read its operands, else ``""``; its operators are all known."""
    parts, count = call.parts, len(call.operands)
    if lacks_operands(parts, count):
        return "it reads nothing"
    most = sum(map(_operands, parts)) - (len(parts) - 1)
    if count > most:
        return f"it reads {counted(count, 'operand')}, and its operators take {most:.0f} at most"
    shapes = [each.shape for each in call.operands if each.shape is not None]
    if all(elementwise(part) or is_softmax(part) for part in parts):
        whole = len(shapes) == count and not any(map(_sets_shape, parts))
        if not broadcast_to(shapes, out, parts) or (whole and not _spans(shapes, out, parts)):
            return "the shapes of its operands do not lead to that of its output"
    return ""


def broadcast_to(shapes: Sequence[Shape], out: Shape, parts: Sequence[str]) -> bool:
    """Whether operators that go element by element to an output can read operands."""
    return all(
        len(shape) <= len(out)
        and all(one in (1, other) for one, other in zip(shape[::-1], out[::-1], strict=False))
        for shape in _without_channels(shapes, out, parts)
    )


def _without_channels(shapes: Sequence[Shape], out: Shape, parts: Sequence[str]) -> list[Shape]:
    """Leave out what is read by channel."""
    if not any(bare(part) in _BY_CHANNEL or _has_weight(part) for part in parts):
        return list(shapes)
    return [shape for shape in shapes if len(shape) != 1 or shape[0] not in out]


def _spans(shapes: Sequence[Shape], out: Shape, parts: Sequence[str]) -> bool:
    """Whether operands together are as large as the output, to which each is broadcast."""
    wide = _without_channels(shapes, out, parts)
    return shapes == [out] or all(
        any(len(shape) >= at and shape[-at] == out[-at] for shape in wide)
        for at in range(1, len(out) + 1)
    )


def _operands(part: str) -> float:
    """Return how many operands an operator takes at most."""
    each = elementwise(part)
    if each is not None:
        return each.operands + part.endswith("_like")
    if moves(part):
        return 1 if part in ("__nop", "__copy") else math.inf
    return 3 if _has_weight(part) else 1  # NNVM's have a bias, too


def _has_weight(part: str) -> bool:
    return is_convolution(part) or is_matmul(part)


def _sets_shape(part: str) -> bool:
    return bare(part) in _CREATING or part.endswith("_like")
