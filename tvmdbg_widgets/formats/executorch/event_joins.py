"""Events of a dump joined with the nodes of a graph, by debug handles or by instructions.

``devtools/inspector/_inspector.py`` @ v1.4.1 ties events to handles by instruction id alone; here
the kernel's name also counts if one handle has several nodes, and delegate debug identifiers match
exactly or not at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.base.text import Issue, IssueSeverity
from tvmdbg_widgets.model.executorch.etdump import CALL, ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram, maps_of
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_ORDER,
    EXACT,
    MATCHED,
    MATCHED_BY_ORDER,
    NONE,
    REORDERED,
    UNMAPPED,
    WHOLE_INSTRUCTION,
    EventNodes,
    ExecuTorchFiles,
    kernel_names,
    kernel_operator,
)
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    JumpFalseCall,
    KernelCall,
    UnknownCall,
)

#: Nodes of an instruction or of a delegate's event, and how they were matched.
NodeMatch = tuple[tuple[int, ...], int]
Instruction = tuple[int, int]

_SHOWN = 5
#: Budget of nodes per handle of a call and per node of the program:
#: a decomposed node's handle stands for several nodes and in many calls.
_LINKS = 200
#: Letters of a kernel's name that are compared with operators.
_LONGEST = 200
#: Kernels inserted by passes after the edge program, with their predecessor's handle or none
#: (``exir/passes/{insert_write_back_for_buffers,memory_format_ops}_pass.py`` @ v1.4.1).
_INSERTED = ("copy_", "_to_dim_order_copy", "_clone_dim_order")


def join_by_handles(
    dump: ETDump, record: ETRecord, method: str, program: ExportedProgram
) -> tuple[EventNodes, list[Issue]]:
    """Tie events to the operators of an edge-dialect program."""
    handles, delegates, _ = maps_of(record, method)
    kernels = kernel_names(dump.names, dump.chain_index, dump.instruction_id)
    of_kernel, issues = _kernel_nodes(handles, kernels, program, dump.file)
    taken = {n for nodes, how in of_kernel.values() if how != WHOLE_INSTRUCTION for n in nodes}

    listed = [value for value in handles.values() if not isinstance(value, int)]
    listed += [own for each in delegates.values() for own in (each.identifiers or {}).values()]
    most = 10_000 + _LINKS * (sum(map(len, listed)) + len(program.nodes))
    links = WorkBudget(most, record.file, "nodes for the handles of all calls")

    def of_handles(wanted: Sequence[int], field: str) -> tuple[int, ...]:
        held = [program.by_handle.get(handle, ()) for handle in wanted]
        links.spend(sum(map(len, held)), field)
        return tuple(sorted({node for nodes in held for node in nodes} - taken))

    lowered = {
        (0, at): _as_lowered(value, set(of_handles(value, "debug_handle_map")), program)
        for at, value in handles.items()
        if not isinstance(value, int)
    }
    calls = {at: tuple(sorted(nodes)) for at, nodes in lowered.items()}

    def of_event(at: Instruction, identifier: str) -> NodeMatch:
        if at in of_kernel:
            return of_kernel[at]
        if at not in calls:
            return (), NONE
        if not identifier:
            return calls[at], EXACT
        call = delegates.get(at[1])
        if call is None or not call.identifiers:
            return calls[at], WHOLE_INSTRUCTION
        if identifier not in call.identifiers:
            return (), UNMAPPED
        return of_handles(call.identifiers[identifier], "delegate_map"), EXACT

    names = {(0, at): each.name or "" for at, each in delegates.items()}
    return _joined(dump, of_event, calls, names, lowered), issues


def join_by_instruction(
    dump: ETDump,
    node_of: Mapping[Instruction, int],
    backends: Mapping[Instruction, str],
    opened: Mapping[Instruction, tuple[int, ...]],
) -> tuple[EventNodes, list[Issue]]:
    """Tie events to the instructions of a program file."""
    kernels = kernel_names(dump.names, dump.chain_index, dump.instruction_id)
    strangers = sorted(set(kernels) - set(node_of))
    issues = _strangers(strangers, "the program has no such instruction", dump.file)

    def of_event(at: Instruction, identifier: str) -> NodeMatch:
        if at not in node_of:
            return (), NONE
        nodes = opened.get(at, (node_of[at],))
        return nodes, WHOLE_INSTRUCTION if identifier else EXACT

    calls = {at: opened.get(at, (node_of[at],)) for at in backends if at in node_of}
    return _joined(dump, of_event, calls, backends, calls), issues


def calls_of(files: ExecuTorchFiles) -> list[tuple[int, str]]:
    """Return the instructions that call and the called names; empty if they may differ by run."""
    record, program, method = files.record, files.program, files.method
    if program is not None and method in program.methods:
        plan = program.plan(method)
        steps = plan.chains[0].instructions if len(plan.chains) == 1 else ()
        if any(isinstance(step, JumpFalseCall | UnknownCall) for step in steps):
            return []
        calls: list[tuple[int, str]] = []
        for at, step in enumerate(steps):
            if isinstance(step, KernelCall):
                known = 0 <= step.op_index < len(plan.operators)
                name = plan.operators[step.op_index].name if known else "?"
                calls.append((at, name.rpartition("::")[2]))
            elif isinstance(step, CallDelegate):
                calls.append((at, ""))
        return calls
    handles = maps_of(record, method).handles
    return [(at, "?" if isinstance(handles[at], int) else "") for at in sorted(handles)]


def with_instructions(dump: ETDump, made: Sequence[tuple[int, str]]) -> ETDump | None:
    """Return a table's dump with the instructions of its rows, or None if the calls differ."""
    called: dict[int, str] = {}
    for event in np.flatnonzero(dump.chain_index >= 0).tolist():
        at, name = int(dump.instruction_id[event]), dump.names[event]
        if name.startswith("native_call_"):
            called[at] = kernel_operator(name)
        else:
            called.setdefault(at, "" if name in ("", CALL) else "?")
    fits = len(called) == len(made) and all(
        (a == b) or ("?" in (a, b) and "" not in (a, b))
        for a, (_, b) in zip(called.values(), made, strict=True)
    )
    if not fits:
        return None
    number = dict(zip(called, (at for at, _ in made), strict=True))
    renumbered = np.array([number.get(row, 0) for row in dump.instruction_id.tolist()], np.int64)
    return replace(dump, instruction_id=renumbered, call_word="instruction")


def by_order(joined: EventNodes) -> EventNodes:
    """Return the same nodes, matched by the order of calls and not by ids."""
    how = np.where(joined.how == EXACT, np.uint8(BY_ORDER), joined.how)
    how = np.where(joined.how == MATCHED, np.uint8(MATCHED_BY_ORDER), how)
    return replace(joined, how=how, of_table=True)


def _kernel_nodes(
    handles: Mapping[int, int | Sequence[int]],
    kernels: Mapping[Instruction, str],
    program: ExportedProgram,
    file: str,
) -> tuple[dict[Instruction, NodeMatch], list[Issue]]:
    """Return the node of each kernel call by handle, then by the kernel's name, then by order."""
    by_handle: dict[int, list[Instruction]] = defaultdict(list)
    delegated: set[int] = set()
    for number, handle in handles.items():
        if isinstance(handle, int):
            by_handle[handle].append((0, number))
        else:
            delegated.update(handle)
    by_order = REORDERED if delegated else BY_ORDER
    matches: dict[Instruction, NodeMatch] = {}
    strangers = [
        at
        for at, kernel in sorted(kernels.items())
        if at[0] == 0 and at[1] not in handles and kernel_operator(kernel) not in _INSERTED
    ]
    for handle, instructions in by_handle.items():
        nodes = program.by_handle.get(handle, ())
        spellings = sorted({program.nodes[node].operator for node in nodes})
        called: dict[str, list[Instruction]] = defaultdict(list)
        for at in sorted(instructions):
            called[kernel_operator(kernels[at]) if at in kernels else ""].append(at)
        for operator, calls in called.items():
            named = [node for node in nodes if program.nodes[node].operator == operator]
            # Views that need no instruction are left out, never the one that is an output.
            for at, node in zip(calls, named[max(0, len(named) - len(calls)) :], strict=False):
                matches[at] = (node,), EXACT if len(named) == len(calls) == 1 else by_order
            for at in calls[len(named) :]:
                matches[at] = nodes, EXACT if len(nodes) == 1 else WHOLE_INSTRUCTION
                if handle in delegated:
                    # The operator runs in a delegate: a kernel besides is none of its own.
                    matches[at] = ((), UNMAPPED) if operator else (nodes, WHOLE_INSTRUCTION)
                known = not operator or operator in _INSERTED
                if not known and not _is_another_spelling(operator, spellings):
                    strangers.append(at)
    return matches, _strangers(strangers, "the ETRecord has another operator there, or none", file)


def _as_lowered(
    handles: Sequence[int], nodes: set[int], program: ExportedProgram
) -> tuple[int, ...]:
    """Order the nodes of a call as in its lowered subgraph, whose nodes have these handles."""
    positions: dict[int, list[int]] = defaultdict(list)
    for position, handle in enumerate(handles):
        positions[handle].append(position)
    order: list[tuple[int, int]] = []
    for handle, at in positions.items():
        own = [node for node in program.by_handle.get(handle, ()) if node in nodes]
        order += [(at[min(nth, len(at) - 1)], node) for nth, node in enumerate(own)]
    return tuple(dict.fromkeys(node for _, node in sorted(order)))


def _is_another_spelling(kernel: str, operators: Sequence[str]) -> bool:
    """Return whether a kernel may be one of sorted operators: ``view_copy`` of ``aten.view``."""

    def first_from(text: str) -> str:
        at = bisect_left(operators, text)
        return operators[at] if at < len(operators) else ""

    starts = (kernel[:end] for end in range(1, 1 + min(len(kernel), _LONGEST)))
    plain = kernel.removesuffix("_copy")
    return first_from(plain).startswith(plain) or any(
        first_from(spelling) == spelling for spelling in starts
    )


def _strangers(strangers: list[Instruction], why: str, file: str) -> list[Issue]:
    if not strangers:
        return []
    shown = ", ".join(str(at[1]) for at in strangers[:_SHOWN])
    more = f" and {len(strangers) - _SHOWN} more" if len(strangers) > _SHOWN else ""
    what = f"instruction {shown} of the dump does"
    if len(strangers) > 1:
        what = f"instructions {shown}{more} of the dump do"
    text = f"{what} not fit: {why}; are dump and program of the same export?"
    return [Issue("executorch-disagree", IssueSeverity.WARNING, text, file=file)]


def _joined(
    dump: ETDump,
    of_event: Callable[[Instruction, str], NodeMatch],
    calls: Mapping[Instruction, tuple[int, ...]],
    backends: Mapping[Instruction, str],
    lowered: Mapping[Instruction, tuple[int, ...]],
) -> EventNodes:
    rows = numbered(
        dump.chain_index, dump.instruction_id, dump.delegate_id_int, dump.delegate_id_str.codes
    )
    first = first_rows(rows)
    numbers: dict[tuple[int, ...], int] = {}
    set_of = np.full(len(first), -1, np.int32)
    how = np.full(len(first), NONE, np.uint8)
    for at, event in enumerate(first.tolist()):
        place, identifier = dump.place(event), dump.identifier(event)
        if place[0] < 0 and not identifier:
            continue
        nodes, how[at] = of_event(place, identifier)
        if nodes:
            set_of[at] = numbers.setdefault(nodes, len(numbers))
    of_calls = {at: numbers.setdefault(nodes, len(numbers)) for at, nodes in calls.items() if nodes}
    return EventNodes(
        set_of[rows], tuple(numbers), how[rows], of_calls, dict(backends), dict(lowered)
    )
