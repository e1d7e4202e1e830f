"""A compute DAG as far as schedules need it (``ComputeDAG``, src/auto_scheduler/compute_dag.cc)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.expressions import Expression


class DagSource(enum.StrEnum):
    """How a DAG is known; the last one is an assumption."""

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
