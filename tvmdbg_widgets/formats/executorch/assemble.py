"""The files of one run of ExecuTorch to one run: what joins what."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.executorch import instruction_graph, program_graph
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBuffer
from tvmdbg_widgets.formats.executorch.event_joins import join_by_handles, join_by_instruction
from tvmdbg_widgets.formats.executorch.event_tensors import event_tensors
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.executorch.event_nodes import NONE, EventNodes
from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.parts import Provenance, RunFile, RunParts
from tvmdbg_widgets.model.tensors import Tensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.formats.executorch.instruction_graph import InstructionGraph
    from tvmdbg_widgets.formats.recording.recording import Recording
    from tvmdbg_widgets.formats.sources.file import Part
    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord
    from tvmdbg_widgets.model.executorch.program import BundledProgram, Program
    from tvmdbg_widgets.model.graph import Graph

#: Kinds of parts that this file joins.
KINDS = ("etdump", "etrecord", "program", "bundled", "named-data", "debug-buffer")
#: What a saved run has besides; its times are those of the ETDump.
_OF_RECORDINGS = ("recording", "recorded-times", "ir")
_FORWARD = "forward"


def assemble(
    parts: Sequence[Part],
    issues: Iterable[Issue],
    *,
    title: str,
    method: str | None = None,
    execution: int | None = None,
) -> RunParts:
    """Join the files of one run.

    Parameters
    ----------
    parts
    issues
        What was found while reading.
    title
        What to call the run.
    method
        Which method's graph to show; ``"forward"`` where there is one, else the only one.
    execution
        Which execution's values to show, counted from 0; the first that logged any.

    Raises
    ------
    FormatError
        There are several methods, or no such method or execution.
    """
    found = list(issues)
    recording: Recording | None = _only(parts, "recording", "recording", found)
    if recording is not None:
        title = recording.title
        method = method or recording.options.get("method")
        execution = recording.options.get("execution") if execution is None else execution
    dump: ETDump | None = _only(parts, "etdump", "ETDump", found)
    record: ETRecord | None = _only(parts, "etrecord", "ETRecord", found)
    program: Program | None = _only(parts, "program", "program", found)
    bundle: BundledProgram | None = _only(parts, "bundled", "bundled program", found)
    if program is None and bundle is not None:
        program = bundle.program
    buffer = _only(parts, "debug-buffer", "debug buffer", found)
    known = (*KINDS, *_OF_RECORDINGS)
    others = sorted({part.source.name for part in parts if part.kind not in known})
    if others:
        text = f"no files of ExecuTorch, left out: {', '.join(others)}"
        found.append(Issue("files-left-out", Severity.NOTE, text))
    for each in (dump, record):
        found += each.issues if each is not None else ()
    files = ExecuTorchFiles(dump, record, program, buffer, _method(record, program, method))
    files = replace(files, execution=_execution(dump, execution))
    graph, plan = _graph(files)
    if graph is not None:
        found += graph.issues
    timeline, tensors = None, None
    if dump is not None:
        nodes, problems = _joined(files, plan)
        found += problems
        files = replace(files, event_nodes=nodes)
        if graph is not None:
            graph = _with_delegates(graph, nodes)
        timeline = timeline_of(dump, nodes, graph)
        found += timeline.issues if timeline is not None else ()
        tensors, problems = _tensors(files, graph)
        found += problems
    if dump is not None and dump.values:
        text = (
            "this run logged values, which takes time within the measured calls: its times are "
            "longer than those of a run without a debug buffer"
        )
        found.append(Issue("times-inflated", Severity.NOTE, text, file=dump.file))
    if dump is not None and len((record.methods if record else ()) or _methods(program)) > 1:
        text = f"an ETDump does not tell which method ran; {files.method!r} is assumed"
        found.append(Issue("method-assumed", Severity.NOTE, text, file=dump.file))
    return RunParts(
        title,
        graph,
        tensors,
        timeline,
        Issues(found),
        Provenance("ExecuTorch", tuple(_evidence(files)), "", _told(parts)),
        files=tuple(_run_file(part) for part in parts if part.kind in KINDS),
        options={
            name: value
            for name, value in (("method", method), ("execution", execution))
            if value is not None
        },
        executorch=files,
    )


def with_execution(parts: RunParts, execution: int) -> RunParts:
    """Return a run with the values of another execution, counted from 0.

    Raises
    ------
    FormatError
        There is no such execution.
    """
    files = parts.executorch or ExecuTorchFiles()
    files = replace(files, execution=_execution(files.dump, execution))
    tensors, _ = _tensors(files, parts.graph)
    options = {**parts.options, "execution": execution}
    return replace(parts, tensors=tensors, executorch=files, options=options)


def _only(parts: Sequence[Part], kind: str, what: str, issues: list[Issue]) -> Any:
    values = [part.value for part in parts if part.kind == kind]
    if len(values) > 1:
        text = f"{len(values)} files are each a {what}; only the first is used"
        issues.append(Issue("more-than-one", Severity.WARNING, text))
    return values[0] if values else None


def _methods(program: Program | None) -> tuple[str, ...]:
    return program.methods if program is not None else ()


def _method(record: ETRecord | None, program: Program | None, wanted: str | None) -> str:
    known = dict.fromkeys((*(record.methods if record is not None else ()), *_methods(program)))
    if wanted is not None:
        if known and wanted not in known:
            raise _no_such("method", wanted, list(known), record, program)
        return wanted
    if not known or _FORWARD in known:
        return _FORWARD
    if len(known) > 1:
        raise _no_such("method", None, list(known), record, program)
    return next(iter(known))


def _no_such(
    what: str,
    wanted: object,
    known: list[str],
    record: ETRecord | None,
    program: Program | None,
) -> FormatError:
    file = record.file if record is not None else program.file if program is not None else ""
    return FormatError(
        f"several {what}s" if wanted is None else f"no {what} {wanted!r}",
        file=file,
        expected=f"one of {', '.join(map(repr, known))}",
        found="no choice" if wanted is None else None,
        hint=f"Choose one: open(…, {what}={known[0]!r}).",
    )


def _execution(dump: ETDump | None, wanted: int | None) -> int:
    """Return the position among the runs of the execution whose values are shown."""
    if dump is None:
        return -1
    executions = [run for run in range(dump.num_runs) if dump.run_names[run] != "Default"]
    if wanted is not None:
        if not 0 <= wanted < len(executions):
            raise FormatError(
                f"no execution {wanted}",
                file=dump.file,
                expected=f"0 to {len(executions) - 1}" if executions else "none",
                found=wanted,
                hint="open(…, execution=0) shows the values of the first.",
            )
        return executions[wanted]
    runs = np.searchsorted(dump.run_offsets, list(dump.values), "right") - 1
    logged = sorted({*runs.tolist()}.intersection(executions))
    return (logged or executions or [-1])[0]


def _graph(files: ExecuTorchFiles) -> tuple[Graph | None, InstructionGraph | None]:
    record, program, method = files.record, files.program, files.method
    edge = record.edge_programs.get(method) if record is not None else None
    if record is not None and edge is not None:
        return program_graph.graph_of(edge, file=record.file), None
    if program is not None and method in program.methods:
        outputs = (record.num_outputs or {}).get(method) if record is not None else None
        plan = instruction_graph.graph_of(
            program.plan(method), file=program.file, num_outputs=outputs
        )
        return plan.graph, plan
    return None, None


def _joined(
    files: ExecuTorchFiles, plan: InstructionGraph | None
) -> tuple[EventNodes, list[Issue]]:
    dump, record = files.dump, files.record
    assert dump is not None  # noqa: S101 (asked for where there is one)
    edge = record.edge_programs.get(files.method) if record is not None else None
    if record is not None and edge is not None:
        return join_by_handles(dump, record, files.method, edge)
    if plan is not None:
        attrs = plan.graph.attrs
        backends = {
            at: attrs[node]["backend"]
            for at, node in plan.node_of.items()
            if "backend" in attrs[node]
        }
        return join_by_instruction(dump, plan.node_of, backends)
    nothing = np.full(dump.num_events, -1, np.int32)
    return EventNodes(nothing, (), np.full(dump.num_events, NONE, np.uint8), {}, {}), []


def _with_delegates(graph: Graph, nodes: EventNodes) -> Graph:
    """Say of each operator which call of a delegate ran it."""
    said: dict[int, str] = {}
    for (_, instruction), number in nodes.calls.items():
        backend = nodes.backends.get((0, instruction)) or "delegate"
        for node in nodes.sets[number]:
            said[node] = f"{backend}, instruction {instruction}"
    if graph.form != "edge" or not said:
        return graph
    attrs = (
        MappingProxyType({**each, "delegate": said[at]}) if at in said else each
        for at, each in enumerate(graph.attrs)
    )
    return replace(graph, attrs=tuple(attrs))


def _tensors(files: ExecuTorchFiles, graph: Graph | None) -> tuple[Tensors | None, list[Issue]]:
    dump, record, nodes = files.dump, files.record, files.event_nodes
    if graph is None or dump is None or nodes is None or files.buffer is None:
        return None, []
    buffer = DebugBuffer(files.buffer)
    outputs: Mapping[str, int] = (
        (record.num_outputs or {}).get(files.method, {}) if record is not None else {}
    )
    tensors, issues = event_tensors(
        dump, nodes, graph, buffer, run=files.execution, num_outputs=outputs
    )
    return Tensors(tensors), [*buffer.issues(dump), *issues]


def _evidence(files: ExecuTorchFiles) -> Iterable[str]:
    if files.dump is not None:
        yield f"{files.dump.file} is an ETDump (ED00), version {files.dump.version}"
    if files.record is not None:
        yield f"{files.record.file} has a member ETRECORD_V0"
    if files.program is not None:
        yield f"{files.program.file} is a program (ET12)"
    if files.buffer is not None:
        yield f"{files.buffer.name} covers every offset of the dump, so it is its debug buffer"


def _told(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(f"{part.source.name} ({part.source.size:,} bytes)" for part in parts)


def _run_file(part: Part) -> RunFile:
    name = part.source.name.replace("\\", "/")
    bare = part.kind if name.startswith("<") else name.rpartition("/")[2]
    return RunFile(part.kind, name if part.folder is not None else bare, part.source)
