"""Operation counts of fused functions: sums over their operators where shapes are certain.

A graph has a function's inputs and outputs, and its name lists the operators in visiting order;
the operands of operators are not recorded. Fusion rules of Relay and Relax
(``src/relay/analysis/graph_partitioner.cc`` @ v0.19.0, ``RunFuse``) leave few possibilities:

* only element-wise operators that keep its shape are fused behind a convolution, product, pooling
  or softmax, so its output has the function's shape;
* nothing is fused behind a reduction, which is the last operator.

All assignments of operands to the element-wise operators are tried: every operand and result must
be read, and the last result has the output's shape. Operators that read only parameters are ignored
unless nothing else fits, since constants are folded before fusion (``FoldConstant``, from
``opt_level=2``). Where assignments differ in operations, the result is a range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.operator_formulas import (
    REDUCTIONS,
    Bounds,
    Operand,
    OperatorCall,
    Shape,
    bare,
    convolution,
    elementwise,
    is_convolution,
    is_matmul,
    is_pooling,
    is_softmax,
    matmul,
    pooling,
    reduces_to,
    softmax,
)
from tvmdbg_widgets.model.base.numbers import counted

#: Names are cut at 80 characters, and a hash stands for the rest
#: (``src/relay/backend/te_compiler_cache.cc`` @ v0.19.0).
_CUT: Final = re.compile(r"_[0-9]{12,}_")
_MOST_VALUES: Final = 12


def operations(call: OperatorCall, func_name: str) -> Bounds:
    """Return the operations of one call of a function, or why they are unknown."""
    parts = call.parts
    if _CUT.search(func_name):
        return Bounds.unknown("the name of the function is cut: not all operators are in it")
    strange = next((part for part in parts if not _known(part)), None)
    if strange is not None or not parts:
        return Bounds.unknown(f"no formula for {strange or 'it'}")
    if all(moves(part) or _is_free(part) for part in parts):
        return Bounds(0, 0)
    if len(call.outputs) != 1:
        return Bounds.unknown("several outputs of one function: which operator writes which?")
    out = call.outputs[0]
    if out is None:
        return Bounds.unknown("the shape of its output is not in the graph")
    why = misfit(call, out)
    if why:
        return Bounds.unknown(why)
    heads = [at for at, part in enumerate(parts) if _is_head(part)]
    if len(heads) > 1:
        names = " and ".join(parts[at] for at in heads)
        return Bounds.unknown(f"{names} in one function: what passes between them is not known")
    head = heads[0] if heads else None
    if head is None or bare(parts[head]) in REDUCTIONS:
        return _reduction_operations(call, out, head)
    return _sum(_head_operations(call, out, head), _reduction_operations(call, out, head))


def _known(part: str) -> bool:
    return moves(part) or elementwise(part) is not None or _is_head(part)


def _is_free(part: str) -> bool:
    each = elementwise(part)
    return each is not None and each.operations == 0


def _is_head(part: str) -> bool:
    formulas = (is_convolution, is_matmul, is_pooling, is_softmax)
    return bare(part) in REDUCTIONS or any(fits(part) for fits in formulas)


def _sum(one: Bounds, other: Bounds) -> Bounds:
    # Integers of any size are summed; a float, as for an unknown one, could not hold them.
    unknown = next((bounds for bounds in (one, other) if bounds.why), None)
    return unknown or Bounds(one.least + other.least, one.most + other.most)


def _head_operations(call: OperatorCall, out: Shape, at: int) -> Bounds:
    part, parts = call.parts[at], call.parts
    behind = next((part for part in parts[at + 1 :] if elementwise(part) is None), None)
    if behind is not None:
        return Bounds.unknown(f"{part}: {behind} behind it hides the shape of its output")
    before = next((part for part in parts[:at] if elementwise(part) is None), None)
    if before is not None:
        return Bounds.unknown(f"{part}: {before} before it hides what it reads")
    if is_softmax(part):
        return softmax(part, out, call.attrs)
    if _has_weight(part):
        bounds = _with_weight(call, part, call.operands, out)
    else:
        read = call.operands[0].shape if len(call.operands) == 1 or at == 0 else None
        bounds = pooling(part, read, out, call.attrs)
    if isinstance(bounds, str):
        return Bounds.unknown(bounds)
    left = _operands_beside_head(call, out, at, _values(call)) if at == 0 else []
    if not broadcast_to([operand.shape for operand in left], out, parts):
        return Bounds.unknown("the shapes of its operands do not lead to that of its output")
    return Bounds(bounds, bounds)


def _with_weight(
    call: OperatorCall, part: str, operands: tuple[Operand, ...], out: Shape
) -> int | str:
    if is_convolution(part):
        return convolution(part, operands, out, call.attrs)
    return matmul(part, operands, out)


def _reduction_operations(call: OperatorCall, out: Shape, head: int | None) -> Bounds:
    parts = call.parts
    reduces = head is not None and bare(parts[head]) in REDUCTIONS
    if reduces and not all(_is_free(part) for part in parts[(head or 0) + 1 :]):
        return Bounds.unknown(f"{parts[head or 0]}: its result is not an output of the function")
    sure = 0 if reduces else _first_full_size(call, out)
    counted = [at for at, part in enumerate(parts) if (each := elementwise(part)) and each[0]]
    total = math.prod(out)
    if not reduces and all(at >= sure for at in counted):
        each_element = (elementwise(parts[at]) for at in counted)
        known = sum(formula.operations * total for formula in each_element if formula is not None)
        return Bounds(known, known)
    moving = next((part for part in parts if moves(part) and part != "__copy"), None)
    if moving is not None:
        return Bounds.unknown(f"{moving} hides the shapes that {parts[counted[0]]} works on"
                              if counted else f"{moving} hides what is reduced")  # fmt: skip
    if any(operand.shape is None for operand in call.operands):
        return Bounds.unknown("the shape of an operand is not in the graph")
    return _bounds_of_assignments(call, out, head)


def _first_full_size(call: OperatorCall, out: Shape) -> int:
    parts = call.parts
    filled = all(
        operand.shape is None or math.prod(operand.shape) != math.prod(out)
        for operand in call.operands
    )
    at = len(parts) - 1
    while at > 0 and _keeps_count(parts[at]) and not (filled and parts[at] == "layout_transform"):
        at -= 1
    return at


def _keeps_count(part: str) -> bool:
    each = elementwise(part)
    return keeps(part) or (each is not None and each.operands == 1)


def _bounds_of_assignments(call: OperatorCall, out: Shape, head: int | None) -> Bounds:
    values = _values(call)
    if head is not None and bare(call.parts[head]) not in REDUCTIONS:
        values = _operands_beside_head(call, out, head, values)
    if len(values) > _MOST_VALUES:
        return Bounds.unknown(f"{counted(len(values), 'operand')}: too many ways to share them out")
    try:
        for fold in (True, False):
            bounds = Ways(call.parts, out, head, fold).of(0, tuple(sorted(values)), ())
            if bounds is not None:
                return Bounds(*bounds)
    except TooManyError:
        return Bounds.unknown("too many ways to share out its operands among its operators")
    return Bounds.unknown("the shapes of its operands do not lead to that of its output")


def _values(call: OperatorCall) -> list[OperandValue]:
    return [OperandValue(operand.shape or (), operand.constant) for operand in call.operands]


def _operands_beside_head(
    call: OperatorCall, out: Shape, head: int, values: list[OperandValue]
) -> list[OperandValue]:
    part = call.parts[head]
    if _has_weight(part):
        for at in range(len(values) - 1):
            pair = call.operands[at : at + 2]
            if isinstance(_with_weight(call, part, pair, out), int):
                return values[:at] + values[at + 2 :]
        return values
    if is_softmax(part) and head > 0:
        return values
    return values[1:]


_CREATING: Final = frozenset({"zeros", "ones", "full", "arange"})
#: Operators that read one number per channel, on an axis that the graph does not record.
_BY_CHANNEL: Final = frozenset({"bias_add", "prelu"})


def lacks_operands(parts: Sequence[str], count: int) -> bool:
    """Return whether a function reads nothing although its operators need operands."""
    return not count and not any(bare(part) in _CREATING for part in parts)


def misfit(call: OperatorCall, out: Shape) -> str:
    """Return why a function cannot read its operands, else ``""``; all its operators are known."""
    parts, count = call.parts, len(call.operands)
    if lacks_operands(parts, count):
        return "it reads nothing"
    most = sum(map(_most_operands, parts)) - (len(parts) - 1)
    if count > most:
        return f"it reads {counted(count, 'operand')}, and its operators take {most:.0f} at most"
    shapes = [operand.shape for operand in call.operands if operand.shape is not None]
    if all(elementwise(part) or is_softmax(part) for part in parts):
        whole = len(shapes) == count and not any(
            bare(part) in _CREATING or part.endswith("_like") for part in parts
        )
        if not broadcast_to(shapes, out, parts) or (
            whole and not _broadcast_spans(shapes, out, parts)
        ):
            return "the shapes of its operands do not lead to that of its output"
    return ""


def broadcast_to(shapes: Sequence[Shape], out: Shape, parts: Sequence[str]) -> bool:
    """Return whether element-wise operators can read operands of these shapes for an output."""
    return all(
        len(shape) <= len(out)
        and all(one in (1, other) for one, other in zip(shape[::-1], out[::-1], strict=False))
        for shape in _without_channel_operands(shapes, out, parts)
    )


def _without_channel_operands(
    shapes: Sequence[Shape], out: Shape, parts: Sequence[str]
) -> list[Shape]:
    if not any(bare(part) in _BY_CHANNEL or _has_weight(part) for part in parts):
        return list(shapes)
    return [shape for shape in shapes if len(shape) != 1 or shape[0] not in out]


def _broadcast_spans(shapes: Sequence[Shape], out: Shape, parts: Sequence[str]) -> bool:
    wide = _without_channel_operands(shapes, out, parts)
    return shapes == [out] or all(
        any(len(shape) >= at and shape[-at] == out[-at] for shape in wide)
        for at in range(1, len(out) + 1)
    )


def _most_operands(part: str) -> float:
    each = elementwise(part)
    if each is not None:
        return each.operands + part.endswith("_like")
    if moves(part):
        return 1 if part in ("__nop", "__copy") else math.inf
    return 3 if _has_weight(part) else 1  # NNVM's have a bias, too


def _has_weight(part: str) -> bool:
    return is_convolution(part) or is_matmul(part)


_MOST_STATES: Final = 4000


class OperandValue(NamedTuple):
    """A result or an operand within a function."""

    shape: Shape
    constant: bool


class TooManyError(Exception):
    """Raised where there are too many assignments to try."""


class Ways:
    """Search over all evaluations of a sequence of operators."""

    def __init__(self, parts: tuple[str, ...], out: Shape, head: int | None, fold: bool) -> None:
        self._parts, self._out, self._head, self._fold = parts, out, head, fold
        self._known: dict[object, tuple[int, int] | None] = {}

    def of(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> tuple[int, int] | None:
        """Return minimum and maximum operations from an operator on; None where nothing fits."""
        key = (at, waiting, read)
        if key not in self._known:
            if len(self._known) >= _MOST_STATES:
                raise TooManyError
            self._known[key] = None
            self._known[key] = self._best(at, waiting, read)
        return self._known[key]

    def _best(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> tuple[int, int] | None:
        if at == len(self._parts):
            return (0, 0) if [value.shape for value in waiting] == [self._out] else None
        options: list[tuple[int, int]] = []
        for result, own, used in self._possible_results(at, waiting, read):
            left = list(waiting)
            for operand in used:
                if operand in left:
                    left.remove(operand)
            rest = self.of(at + 1, tuple(sorted([*left, result])), tuple(sorted({*read, *used})))
            if rest is not None:
                options.append((own + rest[0], own + rest[1]))
        if not options:
            return None
        return min(bounds[0] for bounds in options), max(bounds[1] for bounds in options)

    def _possible_results(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> Iterator[tuple[OperandValue, int, tuple[OperandValue, ...]]]:
        part = self._parts[at]
        each = elementwise(part)
        if each is None and bare(part) not in REDUCTIONS:
            yield OperandValue(self._out, False), 0, ()
            return
        choices = sorted({*waiting, *read})
        if each is None:
            for value in choices:
                if reduces_to(value.shape, self._out):
                    whole = math.prod(self._out)
                    count = math.prod(value.shape) + REDUCTIONS[bare(part)] * whole
                    yield OperandValue(self._out, False), count, (value,)
            return
        for number in range(1, each.operands + 1):
            for used in combinations_with_replacement(choices, number):
                constant = all(value.constant for value in used)
                shape = _broadcast(tuple(value.shape for value in used))
                if shape is not None and not (constant and self._fold):
                    yield OperandValue(shape, constant), each.operations * math.prod(shape), used


@cache
def _broadcast(shapes: tuple[Shape, ...]) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


_KEEP = """
    __nop reshape reshape_like contrib_reverse_reshape expand_dims squeeze flatten batch_flatten
    view transpose permute_dims swapaxes reverse flip roll layout_transform __copy
    space_to_depth depth_to_space reverse_sequence
"""
_OTHER = """
    take gather gather_nd gather_elements embedding split slice strided_slice slice_like
    concatenate concat stack unstack strided_set index_select tile repeat broadcast_to
    broadcast_to_like pad constant_pad mirror_pad dilate expand_like space_to_batch_nd
    batch_to_space_nd meshgrid arange
"""
#: Operators that may read only part of their first operand.
_READ_PART = "take gather gather_nd gather_elements embedding slice strided_slice slice_like"

KEEPING: Final = frozenset(_KEEP.split())
"""Operators that write every element they read once (``layout_transform`` may pad)."""
MOVING: Final = KEEPING | frozenset(_OTHER.split())
READING_PART: Final = frozenset([*_READ_PART.split(), "index_select"])


def moves(part: str) -> bool:
    """Return whether an operator only moves elements."""
    return part in MOVING or (bare(part) in MOVING and not part.startswith(("qnn.", "dyn.")))


def keeps(part: str) -> bool:
    """Return whether an operator writes as many elements as it reads."""
    return moves(part) and bare(part) in KEEPING


def reads_part(part: str) -> bool:
    """Return whether an operator may leave part of its first operand unread."""
    return moves(part) and bare(part) in READING_PART
