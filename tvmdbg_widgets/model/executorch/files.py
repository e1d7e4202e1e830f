"""The files of one run of ExecuTorch, as they were read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.executorch.insides import Insides

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.delegation import DelegationInfo
    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.model.executorch.event_nodes import EventNodes
    from tvmdbg_widgets.model.executorch.flat_tensor import FlatTensor
    from tvmdbg_widgets.model.executorch.program import Program
    from tvmdbg_widgets.model.sources.byte_source import ByteSource


@dataclass(frozen=True, eq=False)
class ExecuTorchFiles:
    """What a run was recorded as; any of it may be missing.

    Attributes
    ----------
    dump : ETDump or None
    record : ETRecord or None
    program : Program or None
    buffer : ByteSource or None
        The debug buffer.
    method : str
        The method that graph and events are taken to be of.
    event_nodes : EventNodes or None
        Which nodes of the graph each event of the dump is of.
    execution : int
        Position, among the dump's runs, of the one whose values the tensors are; -1 where the
        dump holds none.
    program_source : ByteSource or None
        The bytes of the program.
    named_data : tuple of (FlatTensor, ByteSource)
        Files of named data, and their bytes.
    insides : Insides
        The delegates of the program from inside, and which of their operators each event is of.
    delegation : DelegationInfo or None
        How much of a program went to delegates, as ExecuTorch printed it.
    """

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
