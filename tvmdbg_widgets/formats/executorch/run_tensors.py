"""All tensors of a run: logged values of its execution, and constants of its program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.delegates.graph import delegate_tensors
from tvmdbg_widgets.formats.executorch.program.tensors import program_tensors
from tvmdbg_widgets.formats.limits import named_bytes
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, ETDump, EventKind, is_of_delegate
from tvmdbg_widgets.model.executorch.etrecord import maps_of
from tvmdbg_widgets.model.executorch.event_nodes import BY_ORDER, EXACT, EventNodes, ExecuTorchFiles
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors


def run_tensors(files: ExecuTorchFiles, graph: Graph | None) -> tuple[Tensors | None, list[Issue]]:
    """Return the tensors of the nodes of a graph, or None."""
    tensors: list[Tensor] = []
    issues: list[Issue] = []
    program, source = files.program, files.program_source
    if graph is not None and graph.form == "program" and program is not None and source is not None:
        plan = program.plan(files.method)
        tensors, issues = program_tensors(program, plan, graph, source, files.named_data)
        own = files.insides.of(files.method).values()
        insides = {str(call.instruction): call.graph for call in own if call.graph is not None}
        inner, problems = delegate_tensors(graph, insides, program, source, files.named_data)
        tensors, issues = [*tensors, *inner], [*issues, *problems]
    dump, nodes = files.dump, files.event_nodes
    if graph is None or dump is None or nodes is None or files.buffer is None:
        return Tensors(tensors) if tensors else None, issues
    buffer = DebugBufferFile(files.buffer)
    outputs = maps_of(files.record, files.method).outputs
    logged, problems = event_tensors(
        dump, nodes, graph, buffer, run=files.execution, num_outputs=outputs
    )
    return Tensors([*tensors, *logged]), [*issues, *buffer.issues(dump), *problems]


Entry = tuple[int, int]
Instruction = tuple[int, int]


class _LoggedTensor(NamedTuple):
    entry: Entry
    tensor: DebugTensor
    event: int
    trust: Trust
    note: str = ""


def event_tensors(
    dump: ETDump,
    joined: EventNodes,
    graph: Graph,
    buffer: DebugBufferFile,
    *,
    run: int,
    num_outputs: Mapping[int, int],
) -> tuple[list[Tensor], list[Issue]]:
    """Return the tensors that one execution logged; a call's output before other values."""
    tensors: dict[Entry, Tensor] = {}
    issues: list[Issue] = []
    named = named_bytes(buffer.source)
    for logged in _logged(dump, joined, graph, run, num_outputs):
        if logged.entry in tensors and logged.trust > tensors[logged.entry].trust:
            continue
        try:
            record = buffer.record(logged.tensor, f"event {logged.event}")
            named.spend(record.nbytes)
        except FormatError as problem:
            node = logged.entry[0]
            text = f"the value of {graph.names[node]!r} cannot be read: {problem.problem}"
            issues.append(
                Issue("debug-value", IssueSeverity.ERROR, text, nodes=(node,), file=problem.file)
            )
            continue
        declared = graph.shape(*logged.entry)
        trust, notes = logged.trust, [logged.note] if logged.note else []
        if declared is not None and declared != record.shape:
            notes.append(f"logged with shape {list(record.shape)}, declared as {list(declared)}")
            trust = max(trust, Trust.AMBIGUOUS)
        tensors[logged.entry] = Tensor(
            record,
            *logged.entry,
            name=graph.names[logged.entry[0]],
            trust=trust,
            notes=notes,
            captured="node",
        )
    return list(tensors.values()), issues


def _logged(
    dump: ETDump, joined: EventNodes, graph: Graph, run: int, num_outputs: Mapping[int, int]
) -> Iterator[_LoggedTensor]:
    has_nodes, own = joined.set_of >= 0, dump.events_of(run)
    # A run of another method has no event with a node.
    if has_nodes.any() and not has_nodes[own.start : own.stop].any():
        return
    of_delegate = is_of_delegate(dump)
    logged: list[int] = []
    by_instruction: dict[Instruction, list[int]] = defaultdict(list)
    for event in own:
        if dump.kind[event] != EventKind.DEBUG or event not in dump.values:
            continue
        if of_delegate[event]:
            logged.append(event)
        elif dump.chain_index[event] >= 0:
            by_instruction[dump.place(event)].append(event)
    yield from _of_delegate(dump, joined, graph, logged)
    calls_of = Counter(node for nodes in joined.lowered.values() for node in nodes)
    for at, events in by_instruction.items():
        if at in joined.calls:
            nodes = joined.lowered[at]
            alone = all(calls_of[node] == 1 for node in nodes)
            count = num_outputs.get(at[1])
            yield from _of_call(_tensors(dump, events), graph, nodes, count, alone=alone)
        else:
            yield from _of_kernel(dump, joined, graph, events)
    yield from _of_program(dump, graph, run)


def _of_kernel(
    dump: ETDump, joined: EventNodes, graph: Graph, events: list[int]
) -> Iterator[_LoggedTensor]:
    nodes = joined.of(events[0])
    if not nodes:
        return
    how = int(joined.how[events[0]])
    trust = {EXACT: Trust.EXACT, BY_ORDER: Trust.BY_ORDER}.get(how, Trust.AMBIGUOUS)
    node = nodes[-1]
    entries = graph.entry_range(node)
    logged = _tensors(dump, events)
    # A kernel that runs again in a loop logs its outputs again: the last are kept.
    kept = logged[max(0, len(logged) - len(entries)) :]
    for output, (event, tensor) in enumerate(kept):
        yield _LoggedTensor((node, output), tensor, event, trust)


def _of_delegate(
    dump: ETDump, joined: EventNodes, graph: Graph, events: list[int]
) -> Iterator[_LoggedTensor]:
    """Give entries the values that a delegate logged, by the operators that its events cover."""
    values: dict[Entry, list[tuple[int, DebugTensor, int]]] = defaultdict(list)
    leaving: dict[tuple[int, ...], list[Entry]] = {}
    for event in events:
        nodes = joined.of(event)
        tensors = _tensors(dump, [event])
        if not nodes or not tensors or joined.how[event] != EXACT:
            continue
        if nodes not in leaving:
            leaving[nodes] = _leaving(graph, nodes)
        # A list is taken for the outputs only where there are as many, as single tensors are.
        if len(tensors) == len(leaving[nodes]):
            for entry, (_, tensor) in zip(leaving[nodes], tensors, strict=True):
                values[entry].append((event, tensor, len(nodes)))
    for entry, logged in values.items():
        event, tensor, covered = logged[-1]
        number = int(dump.delegate_id_int[event])
        name = str(number) if number != -1 else repr(dump.delegate_id_str[event])
        note = f"logged by the delegate as {name}"
        trust = Trust.EXACT if covered == 1 else Trust.BY_ORDER
        if covered > 1:
            note += f", which covers {counted(covered, 'operator')}: taken for what leaves them"
        if len(logged) > 1:
            trust = Trust.AMBIGUOUS
            note += (
                f", the last of {counted(len(logged), 'value')}: which one is the result is not "
                "known"
            )
        yield _LoggedTensor(entry, tensor, event, trust, note)


def _of_call(
    logged: list[tuple[int, DebugTensor]],
    graph: Graph,
    nodes: tuple[int, ...],
    count: int | None,
    *,
    alone: bool,
) -> Iterator[_LoggedTensor]:
    rank = {node: at for at, node in enumerate(nodes)}
    leaving = sorted(_leaving(graph, nodes), key=lambda entry: (rank[entry[0]], entry[1]))
    count = len(leaving) if count is None else count
    note = "an argument of the delegate's call: outputs come last"
    trust = Trust.BY_ORDER
    if not alone:
        trust = Trust.AMBIGUOUS
        note += ", and which operators this call took of a handle is not known"
    if count == len(leaving) and count <= len(logged):
        outputs = logged[len(logged) - count :]
        for entry, (event, tensor) in zip(leaving, outputs, strict=True):
            yield _LoggedTensor(entry, tensor, event, trust, note)


def _leaving(graph: Graph, nodes: tuple[int, ...]) -> list[Entry]:
    inside = np.zeros(graph.num_nodes + 1, np.bool_)
    inside[list(nodes)] = True
    leaves = inside[graph.edge_source] & ~inside[graph.edge_target]
    pairs = zip(graph.edge_source[leaves].tolist(), graph.edge_output[leaves].tolist(), strict=True)
    heads = {(node, output) for node, output in graph.heads.tolist() if inside[node]}
    return sorted({*pairs, *heads})


def _of_program(dump: ETDump, graph: Graph, run: int) -> Iterator[_LoggedTensor]:
    events = [
        event for event in dump.events_of(run) if event in dump.values and dump.values[event].output
    ]
    logged = _tensors(dump, events)
    note = "an output of the program"
    if len(logged) == len(graph.heads):
        for (node, output), (event, tensor) in zip(graph.heads.tolist(), logged, strict=True):
            yield _LoggedTensor((node, output), tensor, event, Trust.BY_ORDER, note)


def _tensors(dump: ETDump, events: list[int]) -> list[tuple[int, DebugTensor]]:
    """Return the tensors that events logged, with their events."""
    return [(event, tensor) for event in events for tensor in dump.values[event].tensors]
