"""Debug handles of events, and the operators that the edge program has for them.

``_gen_resolve_debug_handles`` and ``_associate_with_op_graph_nodes`` in
devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final, NamedTuple

from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN
from tvmdbg_widgets.model.executorch.etrecord import DelegateCall, HandlesByInstruction
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_NAME,
    EXACT,
    HOW,
    NONE,
    UNMAPPED,
    WHOLE_INSTRUCTION,
)
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram, ProgramNode

_RESERVED: Final = ("Method::init", "Program::load_method", "Method::execute")


@dataclass(frozen=True, slots=True)
class _Resolution:
    """What the maps say of an event; events that they say it of share it."""

    trust: int
    handles: int | list[int] | None = None
    num_outputs: int = 1
    backend: str | None = None
    differs: bool = False


class HandleMaps:
    """The maps of an ETRecord for one method."""

    def __init__(
        self,
        handles: HandlesByInstruction,
        calls: Mapping[str, DelegateCall],
        num_outputs: Mapping[str, int],
        *,
        compat: bool,
    ) -> None:
        self._handles = handles
        self._calls = calls
        self._num_outputs = num_outputs
        self._compat = compat
        self._known: dict[Any, _Resolution] = {}

    def resolve(self, event: Event) -> bool:
        """Set an event's handles, how they were found, its outputs and its backend."""
        identifier = event.delegate_debug_identifier
        framework = event.chain_index == UNSET_CHAIN
        key = (event.instruction_id, event.name, type(identifier), framework)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._resolution(str(event.instruction_id), *key[1:])
        event.handle_trust = HOW[found.trust]
        event.debug_handles = found.handles
        event.num_outputs = found.num_outputs
        event.delegate_backend_name = found.backend
        return found.differs

    def _resolution(
        self, key: str, name: str, identifier: type[int | str | None], framework: bool
    ) -> _Resolution:
        if key not in self._handles:
            return _Resolution(NONE if framework else UNMAPPED)
        if framework and not self._compat:
            return _Resolution(NONE, differs=True)
        found, outputs = self._handles[key], self._num_outputs.get(key, 1)
        whole = found if isinstance(found, int) else list(found)
        call = self._calls.get(key)
        backend = None if call is None else call.name or ""
        if identifier is NoneType:
            trust = EXACT if isinstance(whole, int) else WHOLE_INSTRUCTION
            backend = backend if name == "DELEGATE_CALL" else None
            return _Resolution(NONE if framework else trust, whole, outputs, backend)
        if call is None:
            return _Resolution(WHOLE_INSTRUCTION, whole, outputs)
        identifiers = call.identifiers or {}
        exact = identifiers.get(name)
        contained = _contained(name, identifier, identifiers)
        chosen = contained if self._compat else exact
        differs = contained != exact
        if chosen is None:
            return _Resolution(UNMAPPED, None, outputs, backend, differs)
        trust = EXACT if chosen == exact else BY_NAME
        return _Resolution(trust, list(chosen), outputs, backend, differs)


def _contained(
    name: str, identifier: type[int | str | None], identifiers: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...] | None:
    """Return the handles of the last key that the identifier contains."""
    if identifier is str and name in identifiers:
        return identifiers[name]
    matches = [handles for key, handles in identifiers.items() if key in name]
    return matches[-1] if matches else None


def associate(events: Iterable[Event], program: ExportedProgram, *, compat: bool) -> None:
    """Set the operators, stack traces and modules of events from their handles.

    Events with the same handles share them.
    """
    known: dict[tuple[int, ...], _EdgeOperators] = {}
    for event in events:
        if compat and event.name in _RESERVED:
            continue
        handles = tuple(event.handles)
        if handles not in known:
            known[handles] = _operators(handles, program)
        event.op_types, event.stack_traces, event.module_hierarchy = known[handles]


class _EdgeOperators(NamedTuple):
    types: list[str]
    traces: dict[str, str | None]
    modules: dict[str, dict[str, tuple[str, str]] | None]


def _operators(handles: Iterable[int], program: ExportedProgram) -> _EdgeOperators:
    found = _EdgeOperators([], {}, {})
    for handle in handles:
        for at in program.by_handle.get(handle, ()):
            node = program.nodes[at]
            name = f"{node.name}_"
            if name not in found.traces:
                found.traces[name] = node.stack_trace
                found.modules[name] = _modules(node)
            found.types.append(_type(node))
    return found


def _type(node: ProgramNode) -> str:
    """Return the ``__name__`` of an operator: torch's own lack the ``aten`` that edge's have."""
    of_torch = node.target.startswith("torch.ops.")
    return node.op_type.partition(".")[2] if of_torch else node.op_type


def _modules(node: ProgramNode) -> dict[str, tuple[str, str]] | None:
    if "nn_module_stack" not in node.metadata:
        return None
    return {frame.key: (frame.path, frame.type) for frame in node.module_stack}
