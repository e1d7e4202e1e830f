"""Debug handles of events, and the operators that the edge program has for them.

``_gen_resolve_debug_handles`` and ``_associate_with_op_graph_nodes`` in
devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_NAME,
    EXACT,
    HOW,
    NONE,
    UNMAPPED,
    WHOLE_INSTRUCTION,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tvmdbg_widgets.analysis.executorch.events import Event
    from tvmdbg_widgets.model.executorch.etrecord import DelegateCall, HandlesByInstruction
    from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram, ProgramNode

_RESERVED: Final = ("Method::init", "Program::load_method", "Method::execute")


@dataclass(frozen=True)
class HandleMaps:
    """The maps of an ETRecord for one method.

    Attributes
    ----------
    handles : Mapping of str to int or sequence of int
        By instruction.
    calls : Mapping of str to DelegateCall
        By instruction.
    num_outputs : Mapping of str to int
        By instruction.
    """

    handles: HandlesByInstruction
    calls: Mapping[str, DelegateCall]
    num_outputs: Mapping[str, int]

    def resolve(self, event: Event, *, compat: bool) -> bool:
        """Set an event's handles, how they were found, its outputs and its backend.

        Parameters
        ----------
        event
        compat
            Answer as the Inspector does: events of the framework get what instruction 0 has, and
            an identifier is looked for in all keys that it contains.

        Returns
        -------
        bool
            Whether the Inspector's handles are others than these.
        """
        key = str(event.instruction_id)
        framework = event.chain_index == UNSET_CHAIN
        event.handle_trust = HOW[NONE if framework else UNMAPPED]
        if key not in self.handles:
            return False
        if framework and not compat:
            return True
        event.num_outputs = self.num_outputs.get(key, 1)
        found = self.handles[key]
        whole = found if isinstance(found, int) else list(found)
        call = self.calls.get(key)
        if event.delegate_debug_identifier is None:
            event.debug_handles = whole
            if not framework:
                event.handle_trust = HOW[EXACT if isinstance(whole, int) else WHOLE_INSTRUCTION]
            if event.name == "DELEGATE_CALL" and call is not None:
                event.delegate_backend_name = call.name or ""
            return False
        if call is None:
            event.debug_handles = whole
            event.handle_trust = HOW[WHOLE_INSTRUCTION]
            return False
        event.delegate_backend_name = call.name or ""
        identifiers = call.identifiers or {}
        exact = identifiers.get(event.name)
        contained = _contained(event, identifiers)
        chosen = contained if compat else exact
        if chosen is not None:
            event.debug_handles = list(chosen)
            event.handle_trust = HOW[EXACT if chosen == exact else BY_NAME]
        return contained != exact


def _contained(event: Event, identifiers: Mapping[str, tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the handles of the last key that the identifier contains."""
    exact = identifiers.get(event.name)
    if exact is not None and isinstance(event.delegate_debug_identifier, str):
        return exact
    matches = [handles for key, handles in identifiers.items() if key in event.name]
    return matches[-1] if matches else None


def associate(events: Iterable[Event], program: ExportedProgram, *, compat: bool) -> None:
    """Set the operators, stack traces and modules of events from their handles.

    Parameters
    ----------
    events
    program
        Whose nodes the handles are of.
    compat
        Tell events of the framework by their names alone, as the Inspector does; there the rest
        have operators where they have handles.
    """
    stacks = {node.name: _modules(node) for node in program.nodes}
    for event in events:
        if compat and event.name in _RESERVED:
            continue
        for handle in event.handles:
            for at in program.by_handle.get(handle, ()):
                node = program.nodes[at]
                name = f"{node.name}_"
                if name not in event.stack_traces:
                    event.stack_traces[name] = node.stack_trace
                    event.module_hierarchy[name] = stacks[node.name]
                event.op_types.append(node.op_type)


def _modules(node: ProgramNode) -> dict[str, tuple[str, str]] | None:
    if "nn_module_stack" not in node.metadata:
        return None
    return {frame.key: (frame.path, frame.type) for frame in node.module_stack}
