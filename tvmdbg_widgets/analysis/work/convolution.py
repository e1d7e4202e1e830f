"""Operations of convolutions, from the shapes of output and weight.

Convention: 1 multiply–add = 2 operations, and every position of the kernel counts at every position
of the output, also where it lies in the padding. Each number of the weight is then used once for
each position of the output (batch and space), whatever strides, dilation and groups: operations =
2 × numbers in the weight × batch × positions of the output. A transposed convolution adds each
number of its input, times the weight, to its output: 2 × numbers in the weight × batch × positions
of the *input*, also where the result is cut off by padding. Packed weights and channels that were
filled up count as they are stored.

Neither strides nor padding are needed, which classic graphs do not tell. Needed is which axis is
which: layouts where the graph tells them (v0.8 and later), else every usual layout that the shapes
fit, which must all give the same number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Final

from tvmdbg_widgets.analysis.work.call import Operand, Shape, bare
from tvmdbg_widgets.model.tensors.layouts import Layout

_NAME: Final = re.compile(
    r"(?:contrib_|group_)?(?:depthwise_)?conv([123])d(_transpose)?"
    r"(?:_nc[dhw]*|_n[dhw]*c|_NCHWc)?(?:_int8)?"
)
_SPACE: Final = {1: "W", 2: "HW", 3: "DHW"}


def is_convolution(part: str) -> bool:
    """Whether there is a formula for an operator here."""
    return not part.startswith("qnn.") and _NAME.fullmatch(bare(part)) is not None


def convolution(
    part: str, operands: Sequence[Operand], out: Shape, attrs: Mapping[str, str]
) -> int | str:
    """Return the operations of a convolution, or why they are unknown."""
    named = _NAME.fullmatch(bare(part))
    if named is None:
        return f"no formula for {part}"
    space, transposed = _SPACE[int(named[1])], named[2] is not None
    found: dict[int, str] = {}
    for data, weight in pairwise(operands):
        if data.shape is None or weight.shape is None:
            continue
        for name, count in _fits((data.shape, weight.shape, out), attrs, space, transposed):
            found.setdefault(count, name)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        return f"{part}: its operands fit no layout it can have"
    return f"{part}: its shapes fit {' and '.join(found.values())}, which differ in operations"


def _fits(
    shapes: tuple[Shape, Shape, Shape],
    attrs: Mapping[str, str],
    space: str,
    transposed: bool,
) -> Iterator[tuple[str, int]]:
    """Yield a name and the operations of every way to read shapes: data, weight, output."""
    first, last = f"NC{space}", f"N{space}C"
    usual = ("OI", "IO") if transposed else ("OI",)
    pairs = {
        first: [letters + space for letters in usual],
        last: [space + "IO", space + "OI", *(letters + space for letters in usual)],
    }
    given = attrs.get("data_layout", "")
    for layout in [given] if given else [first, last]:
        wrote = attrs.get("out_layout", "") or layout
        kernel = attrs.get("kernel_layout", "") or attrs.get("weight_layout", "")
        kernels = [kernel] if kernel else pairs.get(layout, [])
        for one, other in product([layout], kernels):
            count = _count(shapes, (one, other, wrote), transposed)
            if count:
                yield f"{one} with {other}", count


def _count(
    shapes: tuple[Shape, Shape, Shape], texts: tuple[str, str, str], transposed: bool
) -> int:
    """Return the operations where the shapes fit some layouts, else 0."""
    try:
        layouts = [Layout.parse(text) for text in texts]
        read, kernel, written = (
            dict(zip(layout.letters, layout.logical_shape(shape), strict=True))
            for layout, shape in zip(layouts, shapes, strict=True)
        )
    except ValueError:
        return 0
    if not ({"N", "C"} <= read.keys() & written.keys() and {"O", "I"} <= kernel.keys()):
        return 0
    if read["N"] != written["N"] or not _channels(read["C"], kernel, written["C"], transposed):
        return 0
    through = read if transposed else written
    return 2 * math.prod(kernel.values()) * math.prod(through.values()) // through["C"]


def _channels(read: int, kernel: dict[str, int], written: int, transposed: bool) -> bool:
    """Whether channels read and written fit a kernel with O and I channels, in groups or not."""
    o, i = kernel["O"], kernel["I"]
    if 0 in (read, o, i, written):
        return False
    if transposed:
        # Releases differ in which of the two letters stands for the channels that are read.
        return any(
            read == a and written % b == 0 and a % (written // b) == 0 for a, b in ((i, o), (o, i))
        )
    if o == written:
        return read % i == 0 and written % (read // i) == 0
    # Depthwise in HWOI: O channels are read, and I are made of each.
    return o == read and o * i == written
