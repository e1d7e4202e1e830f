"""What an ETRecord adds to the events of a dump.

``Inspector._consume_etrecord`` in devtools/inspector/_inspector.py @ v1.4.1, which knows the
method ``forward`` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.event_handles import HandleMaps, associate
from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram
from tvmdbg_widgets.model.executorch.torch_tensor import TorchTensor

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
    """Set handles, operators and reference outputs of the events; what is missing is left out."""
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
    program = _program(record, method, graph_name)
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
    """Return the method that events are taken to be of."""
    known = record.methods
    if method is not None and method not in known:
        raise ValueError(one_line(f"the ETRecord has no method {method!r}{meant(method, known)}"))
    if method is None and FORWARD not in known and len(known) > 1:
        named = one_line(", ".join(map(repr, known)))
        raise ValueError(f"which method was run? the ETRecord has {named}; give method=")
    return method or (known[0] if len(known) == 1 else FORWARD)


def _program(record: ETRecord, method: str, graph_name: str) -> ExportedProgram | None:
    if graph_name == EDGE_GRAPH:
        return record.edge_programs.get(method)
    return record.graph_map[graph_name]


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
    return [each.numpy() if isinstance(each, TorchTensor) else each for each in outputs]
