"""What the Inspector takes as the runtime's value for a set of debug handles.

``_get_runtime_intermediate_outputs_and_op_names`` of devtools/inspector/_inspector.py and
``merge_runtime_overlapping_debug_handles`` of devtools/inspector/_inspector_utils.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tvmdbg_widgets.analysis.executorch.gap.handle_index import Handles

#: Logs what the kernel inside it logs as well.
OPERATOR_CALL: Final = "OPERATOR_CALL"
DELEGATE_CALL: Final = "DELEGATE_CALL"


@dataclass(frozen=True, slots=True)
class RuntimeOutput:
    """The values of one event."""

    instruction: int
    values: list[Any]
    num_outputs: int


def handles_of(event: Any) -> Handles:
    """Return the debug handles of an event in their order, repeats kept."""
    handles = event.debug_handles
    if handles is None:
        return ()
    return (handles,) if isinstance(handles, int) else tuple(handles)


def instruction_of(event: Any) -> int:
    """Return the instruction of an event, -1 where it has none."""
    name = "_instruction_id" if hasattr(event, "_instruction_id") else "instruction_id"
    instruction = getattr(event, name, None)
    return -1 if instruction is None else int(instruction)


def operator_events(blocks: Iterable[Any]) -> Iterator[Any]:
    """Yield the events that stand for operators, each kernel once."""
    for block in blocks:
        for event in block.events:
            if event.op_types and event.name != OPERATOR_CALL:
                yield event


def runtime_outputs(
    blocks: Iterable[Any],
) -> tuple[dict[Handles, RuntimeOutput], dict[Handles, list[str]]]:
    """Return the Inspector's runtime values, and the names of the events they are of.

    Of events with the same handles the one with the largest instruction counts, of equal ones the
    first. Handles that overlap are merged, those of the largest instruction last.
    """
    events = list(operator_events(blocks))
    inner: dict[str | None, set[int]] = {}
    for event in events:
        if event.is_delegated_op and event.debug_data and event.debug_handles is not None:
            inner.setdefault(event.delegate_backend_name, set()).update(handles_of(event))
    found: dict[Handles, RuntimeOutput] = {}
    names: dict[Handles, list[str]] = {}
    for event in events:
        handles = handles_of(event)
        covered = inner.get(event.delegate_backend_name, set())
        if event.name == DELEGATE_CALL and not covered.isdisjoint(handles):
            continue
        instruction = instruction_of(event)
        if instruction > (found[handles].instruction if handles in found else -1):
            found[handles] = RuntimeOutput(instruction, event.debug_data, event.num_outputs)
            names[handles] = [event.name]
    return _merged(found), names


def _merged(outputs: dict[Handles, RuntimeOutput]) -> dict[Handles, RuntimeOutput]:
    merged: dict[Handles, RuntimeOutput] = {}
    born: dict[Handles, int] = {}
    owner: dict[int, Handles] = {}
    for at, (own, output) in enumerate(outputs.items()):
        handles, last = own, output
        overlapping = {owner[handle] for handle in own if handle in owner}
        for other in sorted(overlapping, key=born.__getitem__):
            value = merged.pop(other)
            if value.instruction < output.instruction:
                handles = _joined(other, handles)
            else:
                handles, last = _joined(handles, other), value
        merged[handles], born[handles] = last, at
        owner |= dict.fromkeys(handles, handles)
    return merged


def _joined(first: Handles, last: Handles) -> Handles:
    """Join handles: each of ``last`` once and behind those that only ``first`` has."""
    ordered = dict.fromkeys(last)
    return (*(each for each in first if each not in ordered), *ordered)
