"""The files of one run of ExecuTorch, as they were read."""

from __future__ import annotations

from dataclasses import dataclass, field

from tvmdbg_widgets.model.executorch.delegation import DelegationInfo
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes
from tvmdbg_widgets.model.executorch.flat_tensor import FlatTensor
from tvmdbg_widgets.model.executorch.insides import Insides
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.sources.byte_source import ByteSource


@dataclass(frozen=True, eq=False)
class ExecuTorchFiles:
    """What a run was recorded as; any of it may be missing."""

    dump: ETDump | None = None
    record: ETRecord | None = None
    program: Program | None = None
    buffer: ByteSource | None = None
    method: str = "forward"
    event_nodes: EventNodes | None = None
    execution: int = -1
    program_source: ByteSource | None = None
    named_data: tuple[tuple[FlatTensor, ByteSource], ...] = ()
    insides: Insides = field(default_factory=Insides)
    delegation: DelegationInfo | None = None
