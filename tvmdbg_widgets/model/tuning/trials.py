"""The trials of a tuning log as columns."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Field:
    """One field of trials: column, units of a query, and label in the view."""

    name: str
    dtype: str
    text: str
    unit: Literal["", "s"] = ""
    query: Literal["", "run time", "wall time", "number"] = ""
    label: str = ""


_FAILED, _UNTOLD = "NaN where the trial failed", "NaN where the tuner writes none"
_FIELDS: Final = (
    Field("task", "int32", "index of the task"),
    Field("cost", "float64", f"mean of the measured costs; {_FAILED}", "s", "run time"),
    Field("run_costs", "float64", "every cost as recorded; nothing for a failed trial", "s"),
    Field("run_offsets", "int64", "row `i` has `run_costs[run_offsets[i]:run_offsets[i + 1]]`"),
    Field("error", "int8", "number of the `MeasureError`, 0 for none"),
    Field(
        "all_cost",
        "float64",
        f"what building and running took; {_UNTOLD}",
        "s",
        "wall time",
        "build and run",
    ),
    Field("timestamp", "float64", f"Unix time of the end of the run; {_UNTOLD}", "s", "number"),
    Field("version", "StringColumn", "of the record (`v0.6`, `0.2`), empty where it has none"),
    Field("unroll", "int32", "largest `auto_unroll_max_step`; -1 where no step sets one"),
    Field("schedule", "int64", "equal for records of one log with the same task and schedule"),
    Field("source", "int16", "which file of the log, `parts.sources[i]`"),
    Field("offset", "int64", "where the line of the record begins in its file, bytes"),
    Field("length", "int32", "bytes of that line without its end"),
    Field("line", "int32", "number of that line, from 1"),
)
FIELDS: Final = {each.name: each for each in _FIELDS}
"""By name, in the order of :class:`Trials`."""


@dataclass(frozen=True, eq=False)
class Trials:
    """N records of a log as columns, in the order of its files; row = trial number."""

    task: Ints
    cost: Floats
    run_costs: Floats
    run_offsets: Longs
    error: npt.NDArray[np.int8]
    all_cost: Floats
    timestamp: Floats
    version: StringColumn
    unroll: Ints
    schedule: Longs
    source: npt.NDArray[np.int16]
    offset: Longs
    length: Ints
    line: Ints

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return f"Trials: {len(self):,}, {int(np.count_nonzero(self.failed)):,} of them failed"

    @cached_property
    def failed(self) -> Bools:
        """Whether a trial has no cost (bool [N])."""
        return np.asarray(self.error != 0)

    @cached_property
    def number(self) -> Ints:
        """Number of a trial within its task, from 0 (int32 [N])."""
        order, ends = self.by_task
        numbers = np.empty(len(self), np.int32)
        numbers[order] = np.arange(len(self)) - np.repeat(ends[:-1], np.diff(ends))
        return numbers

    def of_task(self, task: int) -> npt.NDArray[np.intp]:
        """Return the rows of one task, ascending."""
        order, ends = self.by_task
        return order[ends[task] : ends[task + 1]] if 0 <= task < len(ends) - 1 else order[:0]

    @cached_property
    def by_task(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows in the order of their tasks, and the ends of the tasks among them."""
        order = np.argsort(self.task, kind="stable")
        order.flags.writeable = False
        return order, np.concatenate([[0], np.cumsum(np.bincount(self.task))]).astype(np.intp)

    def take(self, rows: npt.ArrayLike) -> Self:
        """Return some rows as trials of their own."""
        at = np.asarray(rows, np.intp)
        counts = np.diff(self.run_offsets)[at]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        moved = self.run_offsets[:-1][at] - offsets[:-1]
        costs = self.run_costs[np.arange(offsets[-1]) + np.repeat(moved, counts)]
        columns = {
            name: getattr(self, name)[at]
            for name in FIELDS
            if name not in ("run_costs", "run_offsets", "version")
        }
        version = type(self.version)(self.version.unique, self.version.codes[at])
        return type(self)(**columns, run_costs=costs, run_offsets=offsets, version=version)


Trials.__doc__ = "\n    ".join(
    [
        f"{Trials.__doc__}\n\n    Attributes\n    ----------",
        *(
            f"{each.name} : {each.dtype} [N]\n        {each.text[:1].upper()}{each.text[1:]}"
            f"{', seconds' * bool(each.unit)}.".replace("`", "``")
            for each in _FIELDS
        ),
    ]
)


class DagSource(enum.StrEnum):
    """The origin of a DAG; the last one is an assumption."""

    TEXT = "DAG text whose md5 is the key's"
    DUMP = "file of dump_workload_to_dag_log"
    GIVEN = "given by the caller"
    ASSUMED = "assumed: a workload of TVM's tutorials and tests of this name"
    NONE = "not known"

    @property
    def is_assumption(self) -> bool:
        """Whether another function of the same name would give other loops."""
        return self is DagSource.ASSUMED


@dataclass(frozen=True)
class Axis:
    """One axis of an operation.

    Attributes
    ----------
    name : str
    extent : int or None
        None where unknown, or where it is no number.
    symbol : str
        The extent as TVM prints it where it is an expression, as for sparse operations.
    """

    name: str
    extent: int | None
    symbol: str = ""

    def __str__(self) -> str:
        known = self.symbol if self.extent is None else f"{self.extent:,}"
        return f"{self.name} {known or '?'}"


@dataclass(frozen=True)
class Operation:
    """One operation, in the topological order of the DAG.

    Attributes
    ----------
    name : str
        As TVM prints it, not cleaned.
    kind : str
        ``"placeholder"`` or ``"compute"``.
    axes, reduce_axes : tuple of Axis
        Empty for a placeholder.
    outputs : int
    shape : tuple of int or None
        Of a placeholder; an unknown size is None.
    bodies : tuple of Expression
        One an output; empty where only names and extents are known.
    dtype : str
        Of its elements; empty where the text that it is from does not tell.
    """

    name: str
    kind: Literal["placeholder", "compute"]
    axes: tuple[Axis, ...] = ()
    reduce_axes: tuple[Axis, ...] = ()
    outputs: int = 1
    shape: tuple[int | None, ...] = ()
    bodies: tuple[Expression, ...] = ()
    dtype: str = ""

    @property
    def is_placeholder(self) -> bool:
        """Whether it is an input."""
        return self.kind == "placeholder"

    def __str__(self) -> str:
        if self.is_placeholder:
            sizes = "×".join("?" if size is None else str(size) for size in self.shape)
            return one_line(f"{self.name}: placeholder {self.dtype} {sizes}".replace("  ", " "))
        loops = ", ".join(map(str, self.axes))
        reduced = ", ".join(map(str, self.reduce_axes))
        return one_line(f"{self.name}: {loops}" + (f"; reduces {reduced}" if reduced else ""))


@dataclass(frozen=True, repr=False)
class ComputeDag:
    """Operations in the order of ``dag.ops``: stage ``i`` of the initial state is operation ``i``.

    Attributes
    ----------
    operations : tuple of Operation
    source : DagSource
    text : str
        ``str(task.compute_dag)``, empty where it is not known.
    """

    operations: tuple[Operation, ...]
    source: DagSource
    text: str = ""

    def __repr__(self) -> str:
        count = counted(len(self.operations), "operation")
        lines = [f"ComputeDag: {count}, {self.source.value}"]
        return "\n  ".join([*lines, *map(str, self.operations)])


#: Signs of binary operations; floordiv, floormod, max and min are printed as calls.
ARITHMETIC = ("+", "-", "*", "/", "%", "floordiv", "floormod", "max", "min")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LOGICAL = ("&&", "||")


@dataclass(frozen=True)
class Expression:
    """Any expression; `inner` names the fields with its parts."""

    inner: ClassVar[tuple[str, ...]] = ()

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The direct parts."""
        values = [getattr(self, name) for name in self.inner]
        return values[0] if values and isinstance(values[0], tuple) else tuple(values)


@dataclass(frozen=True)
class Number(Expression):
    """A constant."""

    value: float
    dtype: str = "int32"


@dataclass(frozen=True)
class Text(Expression):
    """A string constant, an argument of external calls."""

    value: str


@dataclass(frozen=True)
class Variable(Expression):
    """An axis by its name, or another scalar."""

    name: str


@dataclass(frozen=True)
class TensorRead(Expression):
    """A tensor's element."""

    inner = ("indices",)
    name: str
    indices: tuple[Expression, ...]
    output: int = 0
    operation: int = -1


@dataclass(frozen=True)
class BinaryExpr(Expression):
    """``a op b``; `op` is one of ``ARITHMETIC``, ``COMPARISONS``, ``LOGICAL``."""

    inner = ("a", "b")
    op: str
    a: Expression
    b: Expression


@dataclass(frozen=True)
class Not(Expression):
    """``!a``."""

    inner = ("a",)
    a: Expression


@dataclass(frozen=True)
class Cast(Expression):
    """A conversion: ``float32(a)``."""

    inner = ("a",)
    dtype: str
    a: Expression


@dataclass(frozen=True)
class Select(Expression):
    """``select(condition, a, b)``: both values are computed."""

    inner = ("condition", "a", "b")
    condition: Expression
    a: Expression
    b: Expression


@dataclass(frozen=True)
class CallExpr(Expression):
    """A call: ``tir.exp(a)``, ``tir.if_then_else(condition, a, b)``."""

    inner = ("arguments",)
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Reduction(Expression):
    """A reduction over the operation's reduce axes."""

    inner = ("sources",)
    combiner: str
    sources: tuple[Expression, ...]


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts, operands first."""
    for part in expression.parts:
        yield from walk(part)
    yield expression


def reads(expression: Expression) -> tuple[TensorRead, ...]:
    """Return all reads of tensors, also within indices, inner ones first."""
    return tuple(part for part in walk(expression) if isinstance(part, TensorRead))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression of changed parts; `change` is called with the direct parts."""
    parts = tuple(map(change, expression.parts))
    is_list = isinstance(expression, TensorRead | CallExpr | Reduction)
    fields = zip(expression.inner, (parts,) if is_list else parts, strict=True)
    return replace(expression, **dict(fields)) if parts else expression
