"""Ansor's transform steps: one class each, fields as TVM names them.

Codes and order of fields: ``src/auto_scheduler/transform_step.cc``. Ids are 0-based and refer to
the state at that point of the replay.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias


class Annotation(enum.IntEnum):
    """What a loop is bound to (``IteratorAnnotation``); 6 is threadIdx.x, 7 is blockIdx.y."""

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
        """The word ``print(state)`` begins a loop with: ``"for"``, ``"blockIdx.x"``."""
        return _WORDS[self]


_WORDS = (
    *("for", "unroll", "vectorize", "parallel", "vthread", "blockIdx.x", "threadIdx.x"),
    *("blockIdx.y", "threadIdx.y", "blockIdx.z", "threadIdx.z", "tensorize"),
)


class Step:
    """What all steps have: a code, and the stage they change."""

    code: ClassVar[str]
    stage_id: int

    def encode(self) -> list[Any]:
        """Return the step as the log has it: ``["SP", 2, 0, 64, [2, 2, 8], 1]``."""
        values = [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]
        plain = [list(each) if isinstance(each, tuple) else each for each in values]
        return [self.code, *(int(each) if isinstance(each, int) else each for each in plain)]


@dataclass(frozen=True)
class AnnotationStep(Step):
    """Set the annotation of an iterator, which must have none."""

    code: ClassVar[str] = "AN"
    stage_id: int
    iter_id: int
    annotation: Annotation


@dataclass(frozen=True)
class FuseStep(Step):
    """Fuse consecutive iterators; none gives the stage of a 0-d tensor a loop of extent 1."""

    code: ClassVar[str] = "FU"
    stage_id: int
    fused_ids: tuple[int, ...]


@dataclass(frozen=True)
class PragmaStep(Step):
    """``auto_unroll_max_step$N`` or ``debug_skip_region``."""

    code: ClassVar[str] = "PR"
    stage_id: int
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
    stage_id: int
    after_ids: tuple[int, ...]


@dataclass(frozen=True)
class SplitStep(Step):
    """Split an iterator in ``len(lengths) + 1``; ``extent`` is as recorded, 0 unknown."""

    code: ClassVar[str] = "SP"
    stage_id: int
    iter_id: int
    extent: int
    lengths: tuple[int, ...]
    inner_to_outer: bool


@dataclass(frozen=True)
class FollowSplitStep(Step):
    """Split by the factors of a SP."""

    code: ClassVar[str] = "FSP"
    stage_id: int
    iter_id: int
    src_step_id: int
    n_split: int


@dataclass(frozen=True)
class FollowFusedSplitStep(Step):
    """Split in two by the product of one level of some SPs."""

    code: ClassVar[str] = "FFSP"
    stage_id: int
    iter_id: int
    src_step_ids: tuple[int, ...]
    level: int
    factor_or_nparts: bool


@dataclass(frozen=True)
class StorageAlignStep(Step):
    """Align the storage of an axis; only ``offset`` stays in the state."""

    code: ClassVar[str] = "SA"
    stage_id: int
    iter_id: int
    factor: int
    offset: int


@dataclass(frozen=True)
class ComputeAtStep(Step):
    """Attach a stage to an iterator of another; its extents become unknown."""

    code: ClassVar[str] = "CA"
    stage_id: int
    target_stage_id: int
    target_iter_id: int


@dataclass(frozen=True)
class ComputeInlineStep(Step):
    """Inline a stage."""

    code: ClassVar[str] = "CI"
    stage_id: int


@dataclass(frozen=True)
class ComputeRootStep(Step):
    """Detach a stage; its extents become unknown."""

    code: ClassVar[str] = "CR"
    stage_id: int


@dataclass(frozen=True)
class CacheReadStep(Step):
    """Add a stage behind this one, from which the readers read."""

    code: ClassVar[str] = "CHR"
    stage_id: int
    scope_name: str
    reader_stage_ids: tuple[int, ...]


@dataclass(frozen=True)
class CacheWriteStep(Step):
    """Add a stage before this one, which computes what this one then copies."""

    code: ClassVar[str] = "CHW"
    stage_id: int
    scope_name: str


@dataclass(frozen=True)
class RfactorStep(Step):
    """Factor a reduction out into a stage of its own before this one."""

    code: ClassVar[str] = "RF"
    stage_id: int
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

#: The class of each code.
STEPS: dict[str, type[AnyStep]] = {
    each.code: each
    for each in (
        *(AnnotationStep, FuseStep, PragmaStep, ReorderStep, SplitStep, FollowSplitStep),
        *(FollowFusedSplitStep, StorageAlignStep, ComputeAtStep, ComputeInlineStep),
        *(ComputeRootStep, CacheReadStep, CacheWriteStep, RfactorStep),
    )
}
