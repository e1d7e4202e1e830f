"""What an ETRecord holds: the programs of a model, and what ties run-time ids to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram

_SHOWN = 20

#: Instruction id (as text) to its handle, or to those of all nodes of a lowered subgraph.
HandlesByInstruction: TypeAlias = Mapping[str, int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class DelegateCall:
    """One item of the ``delegate_map``: what a backend said of one of its calls.

    Attributes
    ----------
    name : str or None
        Id of the backend.
    identifiers : Mapping of str to tuple of int, or None
        Debug handles by delegate debug identifier. Int identifiers have become text in the file.
        Empty where the backend gave an empty map, None where it gave none.
    """

    name: str | None
    identifiers: Mapping[str, tuple[int, ...]] | None


@dataclass(frozen=True, eq=False)
class ETRecord:
    """An ETRecord as read; every member but the identifier may be missing.

    Attributes
    ----------
    file : str
    edge_programs : Mapping of str to ExportedProgram
        Edge-dialect programs by method. A file up to 1.1 names none: ``"forward"``.
    exported_program : ExportedProgram or None
        The ATen program of ``torch.export``.
    graph_map : Mapping of str to ExportedProgram
        Further programs by the full name of their member.
    export_graph_id : int or None
    debug_handle_map : Mapping of str to HandlesByInstruction, or None
        By method.
    delegate_map : Mapping of str to Mapping of str to DelegateCall, or None
        By method and instruction id.
    num_outputs : Mapping of str to Mapping of str to int, or None
        ``instruction_id_to_num_outs_map``: outputs of delegate calls, by method and instruction.
    reference_outputs : Mapping of str to sequence of sequences of arrays, or None
        By method, case of the bundle, output. Arrays are ``TorchTensor``; scalars stay as they are.
    representative_inputs : sequence or None
    unread : Mapping of str to str
        Members that were not read, and why.
    issues : Issues
    """

    file: str
    edge_programs: Mapping[str, ExportedProgram] = field(default_factory=dict)
    exported_program: ExportedProgram | None = None
    graph_map: Mapping[str, ExportedProgram] = field(default_factory=dict)
    export_graph_id: int | None = None
    debug_handle_map: Mapping[str, HandlesByInstruction] | None = None
    delegate_map: Mapping[str, Mapping[str, DelegateCall]] | None = None
    num_outputs: Mapping[str, Mapping[str, int]] | None = None
    reference_outputs: Mapping[str, Sequence[Sequence[Any]]] | None = None
    representative_inputs: Sequence[Any] | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    issues: Issues = field(default_factory=Issues)

    @property
    def methods(self) -> tuple[str, ...]:
        """Every method that any member names."""
        named = [self.edge_programs, self.debug_handle_map or {}, self.delegate_map or {}]
        return tuple(dict.fromkeys(method for each in named for method in each))

    def __repr__(self) -> str:
        lines = [f"ETRecord({self.file!r}, methods {listed(self.methods) or 'none'})"]
        shown = list(self.edge_programs.values())[:_SHOWN]
        lines += [f"  {program!r}" for program in shown]
        if len(self.edge_programs) > _SHOWN:
            lines.append(f"  … and {len(self.edge_programs) - _SHOWN:,} more")
        return "\n".join(lines)
