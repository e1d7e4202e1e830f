"""Ansor's transform steps: one class each, fields as TVM names them.

Codes and order of fields: ``src/auto_scheduler/transform_step.cc``. Ids are 0-based and refer to
the state at that point of the replay.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, get_args

from tvmdbg_widgets.model.tuning.trials import ComputeDag


class Annotation(enum.IntEnum):
    """The binding of a loop (``IteratorAnnotation``); 6 is threadIdx.x, 7 is blockIdx.y."""

    NONE = 0
    UNROLL = 1
    VECTORIZE = 2
    PARALLEL = 3
    VTHREAD = 4
    BLOCK_X = 5
    THREAD_X = 6
    BLOCK_Y = 7
    THREAD_Y = 8
    BLOCK_Z = 9
    THREAD_Z = 10
    TENSORIZE = 11

    @property
    def word(self) -> str:
        """The first word of a loop in ``print(state)``: ``"for"``, ``"blockIdx.x"``."""
        return _WORDS[self]


_WORDS = (
    *("for", "unroll", "vectorize", "parallel", "vthread", "blockIdx.x", "threadIdx.x"),
    *("blockIdx.y", "threadIdx.y", "blockIdx.z", "threadIdx.z", "tensorize"),
)


@dataclass(frozen=True)
class Step:
    """Common fields of steps: a code, and the changed stage."""

    code: ClassVar[str]
    stage_id: int

    def encode(self) -> list[Any]:
        """Return the step as the log has it: ``["SP", 2, 0, 64, [2, 2, 8], 1]``."""
        plain = [list(each) if isinstance(each, tuple) else each for each in vars(self).values()]
        return [self.code, *(int(value) if isinstance(value, int) else value for value in plain)]


@dataclass(frozen=True)
class AnnotationStep(Step):
    """Set the annotation of an iterator, which must have none."""

    code: ClassVar[str] = "AN"
    iter_id: int
    annotation: Annotation


@dataclass(frozen=True)
class FuseStep(Step):
    """Fuse consecutive iterators; none gives the stage of a 0-d tensor a loop of extent 1."""

    code: ClassVar[str] = "FU"
    fused_ids: tuple[int, ...]


@dataclass(frozen=True)
class PragmaStep(Step):
    """``auto_unroll_max_step$N`` or ``debug_skip_region``."""

    code: ClassVar[str] = "PR"
    iter_id: int
    pragma_type: str

    @property
    def auto_unroll(self) -> int | None:
        """N of ``auto_unroll_max_step$N``, None for another pragma."""
        name, _, number = self.pragma_type.partition("$")
        return int(number) if name == "auto_unroll_max_step" and number.isdecimal() else None


@dataclass(frozen=True)
class ReorderStep(Step):
    """New list of iterators = the old one in this order."""

    code: ClassVar[str] = "RE"
    after_ids: tuple[int, ...]


@dataclass(frozen=True)
class SplitStep(Step):
    """Split an iterator in ``len(lengths) + 1``; ``extent`` is as recorded, 0 unknown."""

    code: ClassVar[str] = "SP"
    iter_id: int
    extent: int
    lengths: tuple[int, ...]
    inner_to_outer: bool


@dataclass(frozen=True)
class FollowSplitStep(Step):
    """Split by the factors of a SP."""

    code: ClassVar[str] = "FSP"
    iter_id: int
    src_step_id: int
    n_split: int


@dataclass(frozen=True)
class FollowFusedSplitStep(Step):
    """Split in two by the product of one level of some SPs."""

    code: ClassVar[str] = "FFSP"
    iter_id: int
    src_step_ids: tuple[int, ...]
    level: int
    factor_or_nparts: bool


@dataclass(frozen=True)
class StorageAlignStep(Step):
    """Align the storage of an axis; only ``offset`` stays in the state."""

    code: ClassVar[str] = "SA"
    iter_id: int
    factor: int
    offset: int


@dataclass(frozen=True)
class ComputeAtStep(Step):
    """Attach a stage to an iterator of another; its extents become unknown."""

    code: ClassVar[str] = "CA"
    target_stage_id: int
    target_iter_id: int


@dataclass(frozen=True)
class ComputeInlineStep(Step):
    """Inline a stage."""

    code: ClassVar[str] = "CI"


@dataclass(frozen=True)
class ComputeRootStep(Step):
    """Detach a stage; its extents become unknown."""

    code: ClassVar[str] = "CR"


@dataclass(frozen=True)
class CacheReadStep(Step):
    """Add a stage behind this one for its readers."""

    code: ClassVar[str] = "CHR"
    scope_name: str
    reader_stage_ids: tuple[int, ...]


@dataclass(frozen=True)
class CacheWriteStep(Step):
    """Add a computing stage before this one, which then copies."""

    code: ClassVar[str] = "CHW"
    scope_name: str


@dataclass(frozen=True)
class RfactorStep(Step):
    """Factor a reduction out into a stage of its own before this one."""

    code: ClassVar[str] = "RF"
    iter_id: int
    factor_iter_id: int


AnyStep: TypeAlias = (
    AnnotationStep
    | FuseStep
    | PragmaStep
    | ReorderStep
    | SplitStep
    | FollowSplitStep
    | FollowFusedSplitStep
    | StorageAlignStep
    | ComputeAtStep
    | ComputeInlineStep
    | ComputeRootStep
    | CacheReadStep
    | CacheWriteStep
    | RfactorStep
)

STEPS: dict[str, type[AnyStep]] = {each.code: each for each in get_args(AnyStep)}


class IteratorKind(enum.IntEnum):
    """Kind of a loop (``IteratorKind``); MIXED: fused of both, SPECIAL: fused of nothing."""

    SPATIAL = 0
    REDUCTION = 1
    MIXED = 2
    SPECIAL = 3


class ComputeAt(enum.IntEnum):
    """The place of a stage (``ComputeAtKind``)."""

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
        Every step that split, fused or annotated the loop or its origins, ascending.
    parts : tuple of (int, int)
        The axes and split parts that the loop is, or is made from: the step that made each (-1 for
        an operation's own axis), and the part of that step.
    product : tuple of (int, int), or None
        Factors whose product its length is, whatever `extent` is: the SP step of each, and which
        of its factors it is. None if steps alone do not determine the length.
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
        Every step that made, placed, reordered or marked the stage, ascending.
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
        """Whether ``print(state)`` has it at the outermost level; placeholders are left out."""
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
