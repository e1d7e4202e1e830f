"""Tensors, and the DAG of those that a function returns."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tuning.dags.printing import print_expression, print_operations
from tvmdbg_widgets.formats.tuning.te.scalars import NotUnderstoodError, Scalar, scalar
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.dag import Axis, ComputeDag, DagSource, Operation
from tvmdbg_widgets.model.tuning.expressions import (
    Expression,
    Read,
    Reduction,
    Variable,
    reads,
    rebuilt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Numbers of tensors and axes, and sizes, stay far below in anything that is tuned.
_MOST_TENSORS, _MOST_AXES, _LARGEST_SIZE = 500, 32, 2**31 - 1


@dataclass(frozen=True, eq=False)
class ReduceAxis:
    """``te.reduce_axis``; its extent may be an expression."""

    name: str
    extent: Scalar

    @property
    def axis(self) -> Axis:
        """The axis of the operation."""
        number = self.extent.number
        if number is not None:
            return Axis(self.name, int(number))
        return Axis(self.name, None, print_expression(self.extent.expression))

    @property
    def value(self) -> Scalar:
        """Its variable."""
        return Scalar(Variable(self.name), "int32")


@dataclass(frozen=True)
class Reduced:
    """``te.sum(source, axis)``; `combiner` is ``"+"``, ``"max"`` or ``"min"``."""

    combiner: str
    source: Scalar
    axes: tuple[ReduceAxis, ...]


@dataclass(frozen=True, eq=False)
class Tensor:
    """The output of an operation; reads in its body name tensors by their `index`."""

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...] = ()
    body: Expression | None = None
    reduce_axes: tuple[ReduceAxis, ...] = ()

    def at(self, indices: Sequence[object]) -> Scalar:
        """Return an element."""
        if len(indices) != len(self.shape):
            raise NotUnderstoodError(
                f"{counted(len(indices), 'index')} into {self.name!r}, which has "
                f"{counted(len(self.shape), 'dimension')}"
            )
        places = [each.value if isinstance(each, ReduceAxis) else scalar(each) for each in indices]
        read = Read(self.name, tuple(each.expression for each in places), 0, self.index)
        return Scalar.of(read, self.dtype, *places)

    @property
    def inputs(self) -> list[int]:
        """The tensors it reads in TVM's order: extents of reduce axes first, then the body."""
        bodies = [axis.extent.expression for axis in self.reduce_axes]
        bodies += [] if self.body is None else [self.body]
        return list(dict.fromkeys(read.operation for body in bodies for read in reads(body)))


class Program:
    """The tensors that a function makes, in the order in which it does."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def placeholder(self, shape: Sequence[object], name: str, dtype: str) -> Tensor:
        """Return an input (``te.placeholder``)."""
        return self._add(Tensor(len(self.tensors), name, _shape(shape), dtype))

    def compute(
        self,
        shape: Sequence[object],
        axes: Sequence[str],
        body: Callable[..., object],
        name: str = "compute",
    ) -> Tensor:
        """Return a computed tensor (``te.compute``); `body` is called with the axes' variables."""
        sizes = _shape(shape)
        if len(axes) != len(sizes):
            raise NotUnderstoodError(
                f"{name!r} has {counted(len(sizes), 'dimension')}, its function "
                f"{counted(len(axes), 'argument')}"
            )
        value = body(*(Scalar(Variable(axis), "int32") for axis in axes))
        reduced: tuple[ReduceAxis, ...] = ()
        if isinstance(value, Reduced):
            expression: Expression = Reduction(value.combiner, (value.source.expression,))
            dtype, reduced = value.source.dtype, value.axes
        else:
            plain = scalar(value)
            expression, dtype = plain.expression, plain.dtype
        index = len(self.tensors)
        return self._add(Tensor(index, name, sizes, dtype, tuple(axes), expression, reduced))

    def _add(self, tensor: Tensor) -> Tensor:
        if len(self.tensors) >= _MOST_TENSORS:
            raise NotUnderstoodError(f"more than {_MOST_TENSORS} tensors")
        check_name(tensor.name)
        check_name(tensor.dtype)
        self.tensors.append(tensor)
        return tensor

    def dag(self, returned: Sequence[Tensor], source: DagSource) -> ComputeDag:
        """Return the DAG of the tensors that a function returns.

        Its operations stand as the stages of ``te.create_schedule`` of its outputs do: inputs of
        an operation before it, in the order in which it reads them.
        """
        order: list[int] = []
        waiting = [(index, False) for index in reversed(self._outputs(returned))]
        done: set[int] = set()
        while waiting:
            index, is_ready = waiting.pop()
            if is_ready:
                order.append(index)
            elif index not in done:
                done.add(index)
                waiting.append((index, True))
                waiting += [(each, False) for each in reversed(self.tensors[index].inputs)]
        numbers = {index: number for number, index in enumerate(order)}
        operations = tuple(_operation(self.tensors[index], numbers) for index in order)
        return ComputeDag(operations, source, print_operations(operations))

    def _outputs(self, returned: Sequence[Tensor]) -> list[int]:
        """Return what is not read, in the order of ``TopoSortOps``."""
        stack, visited = [each.index for each in returned], dict[int, int]()
        readers: dict[int, list[int]] = {}
        missing: dict[int, int] = {}
        while stack:
            index = stack.pop()
            if index in visited:
                continue
            visited[index] = len(visited)
            inputs = self.tensors[index].inputs
            missing[index] = len(inputs)
            for each in inputs:
                readers.setdefault(each, []).append(index)
                stack.append(each)
        ready = [(-visited[index], index) for index, count in missing.items() if not count]
        heapq.heapify(ready)
        outputs = []
        while ready:
            _, index = heapq.heappop(ready)
            if index not in readers:
                outputs.append(index)
            for reader in readers.get(index, ()):
                missing[reader] -= 1
                if not missing[reader]:
                    heapq.heappush(ready, (-visited[reader], reader))
        return [index for index in outputs if self.tensors[index].body is not None]


def _operation(tensor: Tensor, numbers: dict[int, int]) -> Operation:
    if tensor.body is None:
        return Operation(tensor.name, "placeholder", shape=tensor.shape, dtype=tensor.dtype)

    def renumbered(expression: Expression) -> Expression:
        whole = rebuilt(expression, renumbered)
        if isinstance(whole, Read):
            return Read(whole.name, whole.indices, whole.output, numbers[whole.operation])
        return whole

    named = zip(tensor.axes, tensor.shape, strict=True)
    return Operation(
        tensor.name,
        "compute",
        tuple(Axis(name, size) for name, size in named),
        tuple(each.axis for each in tensor.reduce_axes),
        bodies=(renumbered(tensor.body),),
        dtype=tensor.dtype,
    )


def check_name(name: object) -> None:
    """Refuse what is no name of a tensor, an axis or a type."""
    if not isinstance(name, str) or not name.isprintable():
        raise NotUnderstoodError("a name that is no text of printable characters")


def _shape(sizes: Sequence[object]) -> tuple[int, ...]:
    if len(sizes) > _MOST_AXES:
        raise NotUnderstoodError(f"more than {_MOST_AXES} dimensions")
    for size in sizes:
        if not isinstance(size, int) or not 0 < size <= _LARGEST_SIZE:
            raise NotUnderstoodError("a size that is no number from 1 to 2147483647")
    return tuple(int(size) for size in sizes)  # type: ignore[call-overload]
