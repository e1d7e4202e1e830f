"""The files of one ExecuTorch run joined to one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tvmdbg_widgets.formats.executorch import exported_program
from tvmdbg_widgets.formats.executorch.delegates.families import opened_insides, with_events
from tvmdbg_widgets.formats.executorch.delegates.graph import graph_of as delegate_graph_of
from tvmdbg_widgets.formats.executorch.delegates.matches import (
    placed_in_program,
    placed_on_edges,
    with_attrs,
    with_delegate_nodes,
    with_matches,
)
from tvmdbg_widgets.formats.executorch.etdump import KIND as ETDUMP
from tvmdbg_widgets.formats.executorch.etrecord import KIND as ETRECORD
from tvmdbg_widgets.formats.executorch.event_joins import (
    by_order,
    calls_of,
    join_by_handles,
    join_by_instruction,
    with_instructions,
)
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.formats.executorch.file_notes import (
    evidence,
    execution_of,
    left_out,
    method_of,
    notes,
    runs_left_out,
)
from tvmdbg_widgets.formats.executorch.inspector_events import KIND as INSPECTOR_TEXT
from tvmdbg_widgets.formats.executorch.inspector_events import (
    InspectorText,
    PrintedEventTable,
    read_inspector_text,
    with_table,
)
from tvmdbg_widgets.formats.executorch.program import instruction_graph
from tvmdbg_widgets.formats.executorch.program.instruction_graph import InstructionGraph
from tvmdbg_widgets.formats.executorch.program.instruction_sources import KIND as BUNDLED
from tvmdbg_widgets.formats.executorch.program.instruction_steps import KIND as NAMED_DATA
from tvmdbg_widgets.formats.executorch.program.program_file import KIND as PROGRAM
from tvmdbg_widgets.formats.executorch.run_tensors import run_tensors
from tvmdbg_widgets.formats.family import (
    Family,
    JoinOptions,
    Part,
    file_texts,
    of_kind,
    only,
    run_file,
)
from tvmdbg_widgets.formats.recording import Recording
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, listed
from tvmdbg_widgets.model.executorch.delegate_graph import Insides
from tvmdbg_widgets.model.executorch.etdump import CALL, UNSET_CHAIN, ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, maps_of
from tvmdbg_widgets.model.executorch.event_nodes import (
    NONE,
    EventNodes,
    ExecuTorchFiles,
    kernel_operator,
    recorded_titles,
)
from tvmdbg_widgets.model.executorch.program import BundledProgram, Program
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource, PartSource


def assemble(parts: Sequence[Part], issues: Iterable[Issue], options: JoinOptions) -> RunParts:
    """Join the files of one run."""
    all_issues = list(issues)
    title, method, execution = options.title, options.method, options.execution
    recording: Recording | None = only(of_kind(parts, "recording"), "recording", all_issues)
    if recording is not None:
        title = recording.title
        method = method or recording.options.get("method")
        execution = recording.options.get("execution") if execution is None else execution
    dump: ETDump | None = only(of_kind(parts, "etdump"), "ETDump", all_issues)
    record: ETRecord | None = only(of_kind(parts, "etrecord"), "ETRecord", all_issues)
    program: Program | None = only(of_kind(parts, "program"), "program", all_issues)
    bundle: BundledProgram | None = only(of_kind(parts, "bundled"), "bundled program", all_issues)
    if program is None and bundle is not None:
        program = bundle.program
    buffer = only(of_kind(parts, "debug-buffer"), "debug buffer", all_issues)
    text = _text(parts)
    table = _table(text, dump, all_issues)
    dump = table.dump if table is not None else dump
    all_issues += left_out(part for part in parts if not _is_own(part))
    all_issues += [issue for item in (dump, record) if item is not None for issue in item.issues]
    shown = method_of(record, program, method)
    source = _program_source(parts)
    insides, problems = opened_insides(program, source, None if table else dump, method)
    all_issues += problems
    foreign = insides.runs_of_others(shown)
    foreign |= frozenset() if dump is None else runs_of_others(dump, record, shown)
    files = ExecuTorchFiles(
        dump,
        record,
        program,
        buffer,
        shown,
        execution=execution_of(dump, execution, foreign),
        program_source=source,
        insides=insides,
        named_data=tuple((p.value, p.source) for p in parts if p.kind == "named-data"),
        delegation=text.delegation,
    )
    graph, plan = _graph(files)
    files = replace(files, insides=_placed(files, plan))
    if graph is not None:
        all_issues += graph.issues
        if plan is not None and plan.uncertain:
            graph, problem = _with_doubts(plan)
            all_issues.append(problem)
    timeline = None
    if dump is not None:
        if table is None:
            own = replace(files, dump=without_runs(dump, foreign))
            nodes, problems = _joined(own, plan)
            files = replace(files, event_nodes=nodes)
        else:
            files, problems = _of_table(table, files, plan)
        all_issues += [*problems, *runs_left_out(foreign, dump, shown)]
        graph, timeline = _timed(files, graph, table)
        all_issues += timeline.issues if timeline is not None else ()
    if graph is not None:
        graph = with_delegate_nodes(graph, files.insides, shown, files.dump)
    tensors, problems = run_tensors(files, graph)
    all_issues += [*problems, *notes(files)]
    chosen = ("method", method), ("execution", execution)
    return RunParts(
        title,
        graph,
        tensors,
        timeline,
        Issues(all_issues),
        Provenance("ExecuTorch", tuple(evidence(files)), "", file_texts(parts)),
        files=tuple(run_file(part) for part in parts if _is_own(part)),
        options={name: value for name, value in chosen if value is not None},
        executorch=files,
    )


def _is_own(part: Part) -> bool:
    return part.kind == "debug-buffer" or part.kind in FAMILY


def _placed(files: ExecuTorchFiles, plan: InstructionGraph | None) -> Insides:
    record, method = files.record, files.method
    edge = record.edge_programs.get(method) if record is not None else None
    if record is not None and edge is not None:
        return placed_on_edges(files.insides, record, method, edge)
    if plan is not None:
        return placed_in_program(files.insides, method, plan.opened)
    return files.insides


def _text(parts: Sequence[Part]) -> InspectorText:
    texts: list[InspectorText] = of_kind(parts, "inspector-text")
    infos = [text.delegation for text in texts if text.delegation is not None]
    return InspectorText(
        tuple(table for text in texts for table in text.tables),
        infos[-1] if infos else None,
        Issues(issue for text in texts for issue in text.issues),
    )


def _table(
    text: InspectorText, dump: ETDump | None, issues: list[Issue]
) -> PrintedEventTable | None:
    """Return the shown table: the last, if there is no ETDump."""
    issues += text.issues
    if dump is not None and text.tables:
        note = "the Inspector's table is left out: the ETDump has its times, and more"
        issues.append(Issue("files-left-out", IssueSeverity.NOTE, note, file=dump.file))
        return None
    if len(text.tables) > 1:
        note = f"{len(text.tables)} tables of the Inspector are in the text; the last is shown, "
        note += "run.tables has each"
        issues.append(
            Issue("more-than-one", IssueSeverity.NOTE, note, file=text.tables[0].dump.file)
        )
    return text.tables[-1] if text.tables else None


def runs_of_tables(parts: RunParts) -> tuple[RunParts, ...]:
    """Return a run for each of the Inspector's tables among the files."""
    runs: list[RunParts] = []
    for file in parts.files:
        text = read_inspector_text(file.source) if file.part == "inspector-text" else None
        for number, table in enumerate(text.tables if text is not None else ()):
            one = Part(file.part, InspectorText((table,), None, Issues()), file.source, None)
            runs.append(assemble([one], (), JoinOptions(f"{parts.title}, tables[{number}]")))
    return tuple(runs)


def with_execution(parts: RunParts, execution: int) -> RunParts:
    """Return a run with the values of another execution, counted from 0."""
    files = parts.executorch or ExecuTorchFiles()
    files = replace(files, execution=execution_of(files.dump, execution))
    tensors, _ = run_tensors(files, parts.graph)
    options = {**parts.options, "execution": execution}
    return replace(parts, tensors=tensors, executorch=files, options=options)


def _graph(files: ExecuTorchFiles) -> tuple[Graph | None, InstructionGraph | None]:
    record, program, method = files.record, files.program, files.method
    edge = record.edge_programs.get(method) if record is not None else None
    if record is not None and edge is not None:
        return exported_program.graph_of(edge, file=record.file), None
    if program is not None and method in program.methods:
        own = files.insides.of(method)
        graphs = {call.index: call.graph for call in own.values() if call.graph is not None}
        insides = {index: delegate_graph_of(graph) for index, graph in graphs.items()}
        plan = instruction_graph.graph_of(
            program.plan(method),
            file=program.file,
            num_outputs=maps_of(record, method).outputs,
            externals={index: graph.externals for index, graph in graphs.items()},
            insides={at: insides[call.index] for at, call in own.items() if call.graph is not None},
        )
        return plan.graph, plan
    return None, None


def _with_doubts(plan: InstructionGraph) -> tuple[Graph, Issue]:
    """Add the doubts of nodes as attributes, and one issue for the graph."""
    doubts = plan.uncertain
    texts = listed(dict.fromkeys(doubts.values()))
    text = f"a program does not tell everything: {texts}; such nodes have an attribute 'uncertain'"
    nodes = tuple(doubts)[:20]
    issue = Issue("program-uncertain", IssueSeverity.NOTE, text, nodes=nodes, file=plan.graph.file)
    return with_attrs(plan.graph, {at: {"uncertain": doubt} for at, doubt in doubts.items()}), issue


def _joined(
    files: ExecuTorchFiles, plan: InstructionGraph | None
) -> tuple[EventNodes, list[Issue]]:
    dump, record = files.dump, files.record
    assert dump is not None  # noqa: S101 (asked for where there is one)
    edge = record.edge_programs.get(files.method) if record is not None else None
    if record is not None and edge is not None:
        nodes, issues = join_by_handles(dump, record, files.method, edge)
    elif plan is not None:
        attrs = plan.graph.attrs
        backends = {
            at: attrs[node]["backend"]
            for at, node in plan.node_of.items()
            if "backend" in attrs[node]
        }
        nodes, issues = join_by_instruction(dump, plan.node_of, backends, plan.opened)
    else:
        return _unjoined(dump, {}), []
    return with_matches(nodes, dump, files.insides, files.method), issues


def _of_table(
    table: PrintedEventTable, files: ExecuTorchFiles, plan: InstructionGraph | None
) -> tuple[ExecuTorchFiles, list[Issue]]:
    alone = _unjoined(table.dump, table.backends)
    files = replace(files, dump=table.dump, event_nodes=alone)
    made = calls_of(files)
    if not made:
        return files, []
    dump = with_instructions(table.dump, made)
    if dump is not None:
        insides, problems = files.insides, list[Issue]()
        if files.program is not None:
            insides, problems = with_events(insides, dump, files.program, files.method)
        joined_files = replace(files, dump=dump, insides=insides)
        nodes, others = _joined(joined_files, plan)
        if not problems and not others:
            text = "the table's rows are tied to instructions by their order: its calls are those "
            text += f"of {files.method!r}"
            issue = Issue("table-by-order", IssueSeverity.NOTE, text, file=dump.file)
            return replace(joined_files, event_nodes=by_order(nodes)), [issue]
    text = f"the table's calls are not those of {files.method!r}: its times are of no operator here"
    return files, [Issue("executorch-disagree", IssueSeverity.WARNING, text, file=table.dump.file)]


def _timed(
    files: ExecuTorchFiles, graph: Graph | None, table: PrintedEventTable | None
) -> tuple[Graph | None, Timeline | None]:
    dump, nodes = files.dump, files.event_nodes
    if dump is None or nodes is None:
        return graph, None
    if graph is not None:
        graph = _with_delegates(graph, dump, nodes)
    return graph, with_table(timeline_of(dump, nodes, graph), table)


def _unjoined(dump: ETDump, backends: Mapping[tuple[int, int], str]) -> EventNodes:
    nothing = np.full(dump.num_events, -1, np.int32)
    return EventNodes(nothing, (), np.full(dump.num_events, NONE, np.uint8), {}, backends)


def _with_delegates(graph: Graph, dump: ETDump, nodes: EventNodes) -> Graph:
    if graph.form != "edge":
        return graph
    calls: dict[int, dict[str, str]] = {}
    titles = recorded_titles(dump, nodes)
    for at, number in nodes.calls.items():
        calls |= {node: {"delegate": titles[at]} for node in nodes.sets[number]}
    return with_attrs(graph, calls)


def _program_source(parts: Sequence[Part]) -> ByteSource | None:
    first = {part.kind: part for part in reversed(parts)}
    if "program" in first:
        return first["program"].source
    if (part := first.get("bundled")) is None:
        return None
    size = part.value.program.file_size
    return PartSource(part.source, part.value.offset, size, part.source.name)


def runs_of_others(dump: ETDump, record: ETRecord | None, method: str) -> frozenset[int]:
    """Return the runs whose kernels and delegate calls fit another method better than this one."""
    if record is None or len(record.edge_programs) < 2:
        return frozenset()
    methods = {name: _operators(record, name) for name in record.edge_programs}
    foreign = set()
    for run in range(dump.num_runs):
        ran = _ran(dump, run)
        differ = {
            name: len(expected)
            + sum((ran[at] not in expected.get(at, ())) - (at in expected) for at in ran)
            for name, expected in methods.items()
        }
        if ran and min(differ.values()) < differ.get(method, 0):
            foreign.add(run)
    return frozenset(foreign)


def without_runs(dump: ETDump, runs: frozenset[int]) -> ETDump:
    """Return a dump in which the events of some runs have no instruction."""
    if not runs:
        return dump
    chain = dump.chain_index.copy()
    for run in runs:
        events = dump.events_of(run)
        chain[events.start : events.stop] = UNSET_CHAIN
    return replace(dump, chain_index=chain)


def _operators(record: ETRecord, method: str) -> dict[int, frozenset[str]]:
    nodes, by_handle = record.edge_programs[method].nodes, record.edge_programs[method].by_handle
    called = {}
    for at, handle in maps_of(record, method).handles.items():
        own = by_handle.get(handle, ()) if isinstance(handle, int) else ()
        names = {nodes[node].operator for node in own}
        called[at] = frozenset(names if isinstance(handle, int) else {CALL})
    return called


def _ran(dump: ETDump, run: int) -> dict[int, str]:
    """Return the kernel's operator, or the delegate call, of each instruction of a run."""
    called = {}
    events = np.array(dump.events_of(run), np.int64)
    for event in events[dump.chain_index[events] == 0].tolist():
        name = dump.names[event]
        if name == CALL or name.startswith("native_call_"):
            called[int(dump.instruction_id[event])] = kernel_operator(name)
    return called


FAMILY = Family(
    "executorch", (ETDUMP, ETRECORD, PROGRAM, BUNDLED, NAMED_DATA, INSPECTOR_TEXT), assemble
)
