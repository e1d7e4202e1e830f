"""Links from events of a dump to an ETRecord: handles, operators and reference outputs.

``Inspector._consume_etrecord`` in devtools/inspector/_inspector.py @ v1.4.1, which knows only the
method ``forward``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final, NamedTuple

from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.events import Event
from tvmdbg_widgets.analysis.executorch.handle_index import handles_of
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.etdump import UNSET_CHAIN
from tvmdbg_widgets.model.executorch.etrecord import (
    DelegateCall,
    ETRecord,
    ExportedProgram,
    HandlesByInstruction,
)
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_NAME,
    EXACT,
    HOW,
    NONE,
    UNMAPPED,
    WHOLE_INSTRUCTION,
)
from tvmdbg_widgets.model.executorch.scalar_types import TorchTensor

FORWARD: Final = "forward"
EDGE_GRAPH: Final = "edge_dialect_graph_module"
_OLD: Final = "ExecuTorch before 1.0 wrote none; the Inspector refuses the file"


def link_record(
    record: ETRecord,
    blocks: Sequence[EventBlock],
    *,
    method: str = FORWARD,
    graph_name: str = EDGE_GRAPH,
) -> list[str]:
    """Set handles, operators and reference outputs of the events, as far as the record has them."""
    notes = _missing(record, method)
    maps = HandleMaps(
        (record.debug_handle_map or {}).get(method, {}),
        (record.delegate_map or {}).get(method, {}),
        (record.num_outputs or {}).get(method, {}),
        compat=False,
    )
    events = [event for block in blocks for event in block.events]
    resolved = [event for event in events if maps.resolve(event)]
    framework = sum(event.chain_index == -1 for event in resolved)
    if framework:
        notes.append(
            f"{counted(framework, 'event')} of the framework {agree(framework, 'has')} no "
            f"handles; the Inspector gives {agree(framework, 'it', 'them')} those of instruction 0"
        )
    if others := len(resolved) - framework:
        notes.append(
            f"{counted(others, 'delegate event')} {agree(others, 'has')} the handles of "
            f"{agree(others, 'its')} own identifier or none; the Inspector takes those of any key "
            "that the identifier contains"
        )
    edge = graph_name == EDGE_GRAPH
    program = record.edge_programs.get(method) if edge else record.graph_map[graph_name]
    if program is not None:
        associate(events, program, compat=False)
    cases = (record.reference_outputs or {}).get(method, ())
    for block in blocks:
        if 0 <= block.bundled_input_index < len(cases):
            block.reference_output = _values(cases[block.bundled_input_index])
    without = sum(block.reference_output is None for block in blocks)
    if cases and without:
        notes.append(
            f"{counted(without, 'block')} without a bundled input {agree(without, 'has')} no "
            "reference output; the Inspector gives it the last one, whatever the input was"
        )
    return notes


def link_record_as_inspector(
    record: ETRecord, blocks: Sequence[EventBlock], *, graph_name: str = EDGE_GRAPH
) -> None:
    """Set handles, operators and reference outputs of the events as the Inspector does."""
    for block in blocks:
        maps = HandleMaps(
            _of_forward(record.debug_handle_map),
            {} if record.delegate_map is None else _of_forward(record.delegate_map),
            _of_forward(record.num_outputs),
            compat=True,
        )
        for event in block.events:
            maps.resolve(event)
    if len(record.edge_programs) > 1:
        raise AttributeError("'dict' object has no attribute 'graph_module'")
    graphs = {**record.graph_map, **dict.fromkeys([EDGE_GRAPH][: len(record.edge_programs)])}
    if graph_name not in graphs:
        raise KeyError(graph_name)
    program = graphs[graph_name] or next(iter(record.edge_programs.values()))
    associate((event for block in blocks for event in block.events), program, compat=True)
    if record.reference_outputs is not None:
        for block in blocks:
            cases = record.reference_outputs[FORWARD]
            block.reference_output = _values(list(cases)[block.bundled_input_index])


def _of_forward(by_method: Any) -> Any:
    if by_method is None:
        raise TypeError("'NoneType' object is not subscriptable")
    return by_method[FORWARD]


def chosen_method(record: ETRecord, method: str | None) -> str:
    """Return the method that the events belong to."""
    known = record.methods
    if method is not None and method not in known:
        raise ValueError(one_line(f"the ETRecord has no method {method!r}{meant(method, known)}"))
    if method is None and FORWARD not in known and len(known) > 1:
        named = one_line(", ".join(map(repr, known)))
        raise ValueError(f"which method was run? the ETRecord has {named}; give method=")
    return method or (known[0] if len(known) == 1 else FORWARD)


def _missing(record: ETRecord, method: str) -> list[str]:
    notes = []
    if record.debug_handle_map is None:
        notes.append(f"the ETRecord has no debug_handle_map, so no event has handles; {_OLD}")
    if record.num_outputs is None:
        notes.append(
            "the ETRecord has no instruction_id_to_num_outs_map, so every event has one output; "
            + _OLD
        )
    if method not in record.edge_programs:
        notes.append(
            "the ETRecord has no edge program, so no event has operators; the Inspector refuses it"
        )
    if len(record.methods) > 1:
        notes.append(
            f"the events are taken to be of {one_line(method)!r}, which the dump does not say; the "
            "Inspector refuses ETRecords with several methods"
        )
    return notes


def _values(outputs: Sequence[Any]) -> list[Any]:
    return [output.numpy() if isinstance(output, TorchTensor) else output for output in outputs]


_RESERVED: Final = ("Method::init", "Program::load_method", "Method::execute")


@dataclass(frozen=True, slots=True)
class _Resolution:
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
        """Set an event's handles, their trust, its outputs and its backend."""
        identifier = event.delegate_debug_identifier
        framework = event.chain_index == UNSET_CHAIN
        key = (event.instruction_id, event.name, type(identifier), framework)
        resolution = self._known.get(key)
        if resolution is None:
            resolution = self._known[key] = self._resolution(str(event.instruction_id), *key[1:])
        event.handle_trust = HOW[resolution.trust]
        event.debug_handles = resolution.handles
        event.num_outputs = resolution.num_outputs
        event.delegate_backend_name = resolution.backend
        return resolution.differs

    def _resolution(
        self, key: str, name: str, identifier: type[int | str | None], framework: bool
    ) -> _Resolution:
        if key not in self._handles:
            return _Resolution(NONE if framework else UNMAPPED)
        if framework and not self._compat:
            return _Resolution(NONE, differs=True)
        handles, outputs = self._handles[key], self._num_outputs.get(key, 1)
        whole = handles if isinstance(handles, int) else list(handles)
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
    if identifier is str and name in identifiers:
        return identifiers[name]
    matches = [handles for key, handles in identifiers.items() if key in name]
    return matches[-1] if matches else None


def associate(events: Iterable[Event], program: ExportedProgram, *, compat: bool) -> None:
    """Set operators, stack traces and modules of events from their handles, shared if equal."""
    known: dict[tuple[int, ...], _EdgeOperators] = {}
    for event in events:
        if compat and event.name in _RESERVED:
            continue
        handles = handles_of(event)
        if handles not in known:
            known[handles] = _operators(handles, program)
        event.op_types, event.stack_traces, event.module_hierarchy = known[handles]


class _EdgeOperators(NamedTuple):
    types: list[str]
    traces: dict[str, str | None]
    modules: dict[str, dict[str, tuple[str, str]] | None]


def _operators(handles: Iterable[int], program: ExportedProgram) -> _EdgeOperators:
    operators = _EdgeOperators([], {}, {})
    for handle in handles:
        for at in program.by_handle.get(handle, ()):
            node = program.nodes[at]
            name = f"{node.name}_"
            if name not in operators.traces:
                operators.traces[name] = node.stack_trace
                modules = {frame.key: (frame.path, frame.type) for frame in node.module_stack}
                operators.modules[name] = modules if "nn_module_stack" in node.metadata else None
            # The ``__name__`` of torch's own operators lacks the ``aten`` of edge's.
            of_torch = node.target.startswith("torch.ops.")
            operators.types.append(node.op_type.partition(".")[2] if of_torch else node.op_type)
    return operators
