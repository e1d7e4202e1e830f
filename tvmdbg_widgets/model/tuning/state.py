"""A schedule's state: stages, their loops, and what is attached where (loop_state.h)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.steps import Annotation, AnyStep


class IteratorKind(enum.IntEnum):
    """Kind of a loop (``IteratorKind``); MIXED: fused of both, SPECIAL: fused of nothing."""

    SPATIAL = 0
    REDUCTION = 1
    MIXED = 2
    SPECIAL = 3


class ComputeAt(enum.IntEnum):
    """Where a stage is computed (``ComputeAtKind``)."""

    ROOT = 0
    INLINED = 1
    ITER = 2


@dataclass(frozen=True)
class Iterator:
    """One loop of a stage.

    Attributes
    ----------
    name : str
    extent : int or None
        None where TVM itself does not know it: it prints ``(None)``.
    kind : IteratorKind
    annotation : Annotation
    made_by, annotated_by : int
        Index of the step that made the loop, and that annotated it; -1 for none.
    factor : int or None
        The split factor that made it, known also where `extent` is not; None for an outermost
        part, a fused or an original loop.
    min : str
        As printed; ``"0"`` before bounds are inferred.
    symbol : str
        The extent as printed where it is an expression, `extent` being None: the loop is printed
        with it; empty otherwise.
    steps : tuple of int
        Every step that split, fused or annotated the loop or what it was made from, ascending.
    parts : tuple of (int, int)
        The axes and split parts that the loop is, or is made from: the step that made each (-1 for
        an operation's own axis), and which of that step's it is.
    product : tuple of (int, int), or None
        Factors whose product its length is, whatever `extent` is: the SP step of each, and which
        of its factors it is. None where steps alone do not tell the length.
    """

    name: str
    extent: int | None
    kind: IteratorKind
    annotation: Annotation = Annotation.NONE
    made_by: int = -1
    annotated_by: int = -1
    factor: int | None = None
    min: str = "0"
    symbol: str = ""
    steps: tuple[int, ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    product: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    name : str
        As printed: ``"C.local"``, ``"C.repl"``.
    operation : int
        The DAG's operation that it comes from (cache and rfactor stages: that of their original).
    is_placeholder : bool
    iterators : tuple of Iterator
    compute_at : ComputeAt
    auto_unroll, storage_offset : int
        0 for none.
    made_by : int
        Index of the step that made the stage; -1 for an operation's own.
    role : str
        ``""``, ``"cache read"``, ``"cache write"``, ``"rfactor"``.
    scope : str
        Of a cache stage: ``"shared"``, ``"local"``.
    placed_by, unrolled_by, aligned_by : int
        Index of the step that last set `compute_at`, `auto_unroll` and `storage_offset`; -1 for
        none.
    steps : tuple of int
        Every step that made, placed, reordered or marked the stage as a whole, ascending.
    is_open : bool
        Whether more loops may follow: how many there are is not always known without a DAG.
    """

    name: str
    operation: int
    is_placeholder: bool
    iterators: tuple[Iterator, ...]
    compute_at: ComputeAt = ComputeAt.ROOT
    auto_unroll: int = 0
    storage_offset: int = 0
    made_by: int = -1
    role: str = ""
    scope: str = ""
    placed_by: int = -1
    unrolled_by: int = -1
    aligned_by: int = -1
    steps: tuple[int, ...] = ()
    is_open: bool = False

    @property
    def is_printed(self) -> bool:
        """Whether ``print(state)`` shows it at the outermost level.

        Without a DAG, a stage of which no loop is known may be a placeholder.
        """
        unknown = self.is_open and not self.iterators
        return not self.is_placeholder and self.compute_at is ComputeAt.ROOT and not unknown


@dataclass(frozen=True)
class State:
    """A schedule after its steps.

    Attributes
    ----------
    dag : ComputeDag
    steps : tuple of steps
    stages : tuple of Stage
    attached : mapping of (stage, iterator) to tuple of stages
        In the order in which they were attached.
    attached_to : mapping of stage to (stage, iterator)

    Where no DAG is known, ``dag.source`` is ``DagSource.NONE``: names are made up from numbers,
    stages and loops are those that the steps tell of.
    """

    dag: ComputeDag
    steps: tuple[AnyStep, ...]
    stages: tuple[Stage, ...]
    attached: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    attached_to: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class NestLine:
    """One line of the printed loop nest.

    Attributes
    ----------
    kind : str
        ``"placeholders"``, ``"attribute"``, ``"loop"`` or ``"compute"``; ``"note"`` for what is
        not known without a DAG.
    indent : int
        Spaces before it, two a loop.
    text : str
        The line without its indent, as ``print(state)`` shows it.
    stage, iterator : int
        -1 where there is none.
    annotation : Annotation
    extent, factor : int or None
        Of a loop; see :class:`Iterator`.
    step : int
        The step that made the line, or last annotated it; -1 for none.
    steps : tuple of int
        Every step that had a hand in the line: a loop's own, and those of the whole stage for the
        line that computes it.
    """

    kind: str
    indent: int
    text: str
    stage: int = -1
    iterator: int = -1
    annotation: Annotation = Annotation.NONE
    extent: int | None = None
    factor: int | None = None
    step: int = -1
    steps: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " " * self.indent + self.text
