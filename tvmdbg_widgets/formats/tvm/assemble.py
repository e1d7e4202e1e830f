"""The files of one TVM debugger dump joined to one run, with the damages by TVM itself."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tvmdbg_widgets.formats.family import (
    Family,
    JoinOptions,
    Part,
    collector_paused,
    file_texts,
    of_kind,
    only,
    run_file,
)
from tvmdbg_widgets.formats.json_fields import merged
from tvmdbg_widgets.formats.recording import Recording
from tvmdbg_widgets.formats.tvm import cache, versions
from tvmdbg_widgets.formats.tvm.graph.graph_json import KIND as GRAPH
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.formats.tvm.model_library import KIND as LIBRARY
from tvmdbg_widgets.formats.tvm.params.file import KIND as PARAMS
from tvmdbg_widgets.formats.tvm.params.file import ParamsFile
from tvmdbg_widgets.formats.tvm.params.record import OutputKey, parse_key
from tvmdbg_widgets.formats.tvm.params.survey import KINDS, note_issues
from tvmdbg_widgets.formats.tvm.report.report import KIND as REPORT
from tvmdbg_widgets.formats.tvm.report.report import printed_reports
from tvmdbg_widgets.formats.tvm.table import KIND as TABLE
from tvmdbg_widgets.formats.tvm.table import DebuggerTable, bare_table, read_tables
from tvmdbg_widgets.formats.tvm.times import beside_chrome, choose_table, fits, join_timeline
from tvmdbg_widgets.formats.tvm.times_text import KIND as TIMES
from tvmdbg_widgets.formats.tvm.trace import KIND as TRACE
from tvmdbg_widgets.formats.tvm.trace import Trace
from tvmdbg_widgets.formats.tvm.versions import join_reports, read_vm_tables, report_evidence
from tvmdbg_widgets.formats.tvm.versions import sniff as sniff_vm_table
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import (
    Issue,
    Issues,
    IssueSeverity,
    is_url,
    one_line,
    without_secrets,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import MODULE
from tvmdbg_widgets.model.parameters import join_parameters, join_tensors
from tvmdbg_widgets.model.parts import Provenance, RunFile, RunParts
from tvmdbg_widgets.model.placement import KeyedArray, join_report
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord, of_byte_memory
from tvmdbg_widgets.model.tensors.tensors import Captured, Tensors
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.sources.byte_source import BytesSource


@collector_paused()
def assemble(parts: Sequence[Part], issues: Iterable[Issue], options: JoinOptions) -> RunParts:
    """Join the parts of one dump."""
    libraries = of_kind(parts, "library")
    all_issues = [*issues, *(issue for one in libraries for issue in one.issues)]
    recording = only(of_kind(parts, "recording"), "recording", all_issues)
    if recording is not None:
        parts = sorted(parts, key=lambda part: recording.place(run_file(part)))
    outputs, parameters = _params(parts, all_issues)
    trace = only(of_kind(parts, "trace"), "trace", all_issues)
    graph = _graph(parts, all_issues)
    logs = of_kind(parts, "table")
    table, problems = choose_table(logs, trace, graph, with_tensors=outputs is not None)
    all_issues += problems
    names = {record.key for one in parameters for record in one.records}
    if graph is not None and names:
        graph = graph.with_parameters(names)
    reports, problems = join_reports(graph, of_kind(parts, "report"))
    all_issues += problems
    times = of_kind(parts, "times")
    chrome = only(of_kind(parts, "chrome"), "Chrome trace", all_issues)
    evidence = (*evidence_of(parts, graph, outputs, trace, table), *report_evidence(reports))
    produced = versions.releases(evidence)
    when = _captured(produced) if outputs is not None else "unknown"
    reused = produced is not None and when != "node"
    tensors = _tensors(graph, outputs, parameters, all_issues, reused=reused, when=when)
    device = _device(parts)
    timeline = _recorded_timeline(parts, graph, all_issues)
    if timeline is None:
        timeline = join_timeline(
            graph, trace, table, device or "execution", times=times, chrome=chrome, reports=reports
        )
    if chrome is not None and timeline is not None:
        timeline, problems = beside_chrome(timeline, chrome)
        all_issues += problems
    all_issues += _reported(graph, outputs, parameters, tensors, timeline)
    if produced is None:
        facts = "; ".join(f"{item.fact} (v0.{item.first} to v0.{item.last})" for item in evidence)
        text = f"no TVM release writes all of this: {facts}. The files may be of different runs"
        all_issues.append(Issue("versions-contradict", IssueSeverity.WARNING, text))
    provenance = Provenance(
        versions.in_words(produced) if {p.kind for p in parts} != {"chrome"} else "Chrome trace",
        tuple(one.fact for one in evidence),
        device,
        file_texts(parts),
    )
    run = RunParts(
        options.title,
        graph,
        tensors,
        timeline,
        Issues(all_issues),
        provenance,
        files=tuple(run_file(part) for part in parts),
        options=dict(options.params),
        reports=reports,
        printed="" if table is None else bare_table(table),
        ir={name: text for part in parts if part.kind == "ir" for name, text in part.value.items()},
    )
    return run if recording is None else _as_recorded(run, recording)


def _recorded_timeline(
    parts: Sequence[Part], graph: Graph | None, issues: list[Issue]
) -> Timeline | None:
    """Take the joined times that were recorded for this graph."""
    times = only(of_kind(parts, "recorded-times"), "file of recorded times", issues)
    if times is None or times.fits(graph):
        return None if times is None else times.timeline
    text = (
        f"times of {counted(times.timeline.num_nodes, 'node')} "
        f"{agree(times.timeline.num_nodes, 'was')} recorded, which do not fit the graph; the "
        "recorded times are not used"
    )
    issues.append(Issue("recorded-times-disagree", IssueSeverity.WARNING, text, file=times.file))
    return None


def _as_recorded(run: RunParts, recording: Recording) -> RunParts:
    changed = recording.changes(run.files)
    return replace(
        run,
        title=recording.title,
        provenance=replace(recording.provenance, files=run.provenance.files),
        issues=Issues([*merged(recording.issues, run.issues), *([changed] if changed else [])]),
        options={**recording.options, **run.options},
    )


def _reported(
    graph: Graph | None,
    outputs: Outputs | None,
    parameters: list[ParamsFile],
    tensors: Tensors | None,
    timeline: Timeline | None,
) -> list[Issue]:
    """Return the issues of the parts, with notes on arrays after their join to the graph."""
    files = [*([outputs.file] if outputs else []), *parameters]
    issues = list(graph.issues if graph is not None else ())
    issues += [issue for params in files for issue in params.issues if issue.rule not in KINDS]
    noted: dict[str, list[tuple[ArrayRecord, tuple[int, int] | None]]] = defaultdict(list)
    for entry, tensor in (tensors or {}).items():
        if tensor.record.notes:
            noted[tensor.file].append((tensor.record, entry if graph is not None else None))
    for file, records in noted.items():
        issues += note_issues(records, file)
    return [*issues, *(timeline.issues if timeline is not None else ())]


def _params(parts: Sequence[Part], issues: list[Issue]) -> tuple[Outputs | None, list[ParamsFile]]:
    """Tell the dump's tensors from a model's parameters by their keys."""
    outputs: list[Outputs] = []
    parameters: list[ParamsFile] = []
    for part in parts:
        if part.kind not in ("params", "cache"):
            continue
        own = Outputs.of(part.value)
        if own is not None:
            outputs.append(own)
        else:
            parameters.append(part.value)
    return only(outputs, "file of output tensors", issues), parameters


def _graph(parts: Sequence[Part], issues: list[Issue]) -> Graph | None:
    """Return the dump's graph, its edges resolved by the raw graph, if given."""
    graphs = [part for part in parts if part.kind == "graph"]
    raw = [part.value for part in graphs if part.value.form != "mutated"]
    mutated = [part for part in graphs if part.value.form == "mutated"]
    if not mutated:
        raw.sort(key=lambda graph: graph.form != "string")
        return _matching(raw, issues)
    graph = _matching([part.value for part in mutated], issues)
    for raw_graph in raw:
        if graph is not None and raw_graph.names == graph.names:
            return read_graph(mutated[0].source, raw=raw_graph)
    if raw:
        return read_graph(mutated[0].source, raw=raw[0])
    return graph


def _matching(graphs: list[Graph], issues: list[Issue]) -> Graph | None:
    others = [graph for graph in graphs[1:] if graph.names != graphs[0].names]
    return only([*graphs[:1], *others], "graph of another network", issues)


def _tensors(
    graph: Graph | None,
    outputs: Outputs | None,
    parameters: list[ParamsFile],
    issues: list[Issue],
    *,
    reused: bool,
    when: Captured,
) -> Tensors | None:
    joined: list[Tensors] = []
    if parameters and (graph is not None or outputs is None):
        own, problems = join_parameters(graph, [r for file in parameters for r in file.records])
        joined.append(own)
        issues.extend(problems)
    if outputs is not None:
        arrays = [
            KeyedArray(record, key.name, key.node, key.output)
            for record, key in zip(outputs.file.records, outputs.keys, strict=True)
        ]
        own, problems = join_tensors(
            graph, arrays, file=outputs.file.file, reused=reused, captured=when
        )
        joined.append(own)
        issues.extend(problems)
    if len(joined) < 2:
        return joined[0] if joined else None
    return Tensors(tensor for file in joined for tensor in file.values())


def _device(parts: Sequence[Part]) -> str:
    """Return the device in the dump folder's name: ``_tvmdbg_device_CUDA_0`` is ``CUDA:0``."""
    for part in parts:
        for prefix in ("_tvmdbg_device_", "_tvmdbg_ctx_"):
            if part.folder is not None and part.folder.name.startswith(prefix):
                name, _, number = part.folder.name.removeprefix(prefix).rpartition("_")
                return f"{name}:{number}" if name else number
    return ""


def title_of(sources: Iterable[object]) -> str:
    """Name a run after the first folder or file that it was opened from."""
    for source in sources:
        if isinstance(source, str) and is_url(source):
            shown = without_secrets(source)
            return shown.partition("::")[0].rstrip("/").rpartition("/")[2] or shown
        if isinstance(source, str | os.PathLike):
            path = Path(os.fsdecode(source)).absolute()
            return one_line(path.name or os.fspath(path))
    return "run"


def runs_of_tables(parts: RunParts) -> tuple[RunParts, ...]:
    """Return a run per printed table, with its times alone, and the graph of its nodes."""
    tables = [part for file in parts.files for part in _tables_of(file)]
    return tuple(_run_of(parts, table, number) for number, table in enumerate(tables))


def _tables_of(file: RunFile) -> list[Part]:
    if file.part == "table":
        texts = [(item, bare_table(item)) for item in read_tables(file.source)]
        sources = [BytesSource(text.encode(errors="replace"), item.file) for item, text in texts]
        return [Part("table", read_tables(source), source, None) for source in sources]
    if file.part != "report":
        return []
    is_vm = sniff_vm_table(file.source.read(0, file.source.size))
    reports = (read_vm_tables if is_vm else printed_reports)(file.source)
    return [Part("report", item, file.source, None) for item in reports]


def _run_of(parts: RunParts, table: Part, number: int) -> RunParts:
    own_parts = [table]
    graph = next((file.source for file in parts.files if file.part == "graph"), None)
    if parts.graph is not None and graph is not None:
        if table.kind == "report":
            has_nodes = bool((join_report(parts.graph, table.value)[0].nodes >= 0).any())
        else:
            has_nodes = fits(table.value[0], parts.graph)
        if has_nodes:
            own_parts.append(Part("graph", parts.graph, graph, None))
    return assemble(own_parts, (), JoinOptions(f"{parts.title}, tables[{number}]"))


def evidence_of(
    parts: Sequence[Part],
    graph: Graph | None,
    outputs: Outputs | None,
    trace: Trace | None,
    table: DebuggerTable | None,
) -> tuple[versions.VersionEvidence, ...]:
    """Return evidence of the release that wrote the parts."""
    evidence: list[versions.VersionEvidence | None] = []
    # Model Library Format is what v0.8 to v0.18 write.
    facts = (fact for library in of_kind(parts, "library") for fact in library.facts)
    evidence += [versions.VersionEvidence(fact, 8, 18) for fact in facts]
    folders = {part.folder for part in parts if part.folder is not None}
    evidence += [versions.of_folder(folder.name) for folder in sorted(folders)]
    if graph is not None:
        if any(name.startswith(MODULE) for name in graph.func_names.unique):
            evidence.append(versions.VersionEvidence(f"function names start with {MODULE}", 8, 19))
        if graph.storage_scopes is not None:
            evidence.append(versions.VersionEvidence("the graph has a storage_scope list", 10, 19))
    if outputs is not None:
        style = outputs.keys[0].style
        evidence.append(versions.OF_KEYS[style])
        if style == "v0.5":
            evidence.append(_of_first_time(graph, outputs))
    if trace is not None:
        evidence.append(versions.VersionEvidence("there is an execution trace", 6, 19))
    if table is not None:
        evidence.append(versions.OF_TABLES[table.style])
    release = tuple(item for item in evidence if item is not None)
    form = None if graph is None else versions.OF_GRAPHS.get(graph.form)
    if graph is None or form is None:
        return release
    # Whoever saves lib.get_graph_json() as JSON writes a string too, with any release.
    agrees = versions.releases((*release, form)) is not None
    return (*release, form) if agrees or graph.form != "string" else release


def _of_first_time(graph: Graph | None, outputs: Outputs) -> versions.VersionEvidence | None:
    """v0.5 adds a measured time for parameters too, v0.6 and v0.7 add zero."""
    key = outputs.keys[0]
    if graph is None or not graph.num_nodes or graph.kinds[0] > NodeKind.PARAMETER:
        return None
    if key.order:
        return versions.VersionEvidence("the key of the first parameter has a time", 5, 5)
    return versions.VersionEvidence("the key of the first parameter has time zero", 6, 7)


def _captured(produced: tuple[int, int] | None) -> Captured:
    """Return when the tensors were read: after their node, or after the run (v0.6, v0.7)."""
    first, last = produced or (versions.FIRST, versions.LAST)
    if first >= 8 or last == 5:
        return "node"
    return "later" if first >= 6 and last <= 7 else "unknown"


@dataclass(frozen=True)
class Outputs:
    """An ``output_tensors.params``: its records with their parsed keys."""

    file: ParamsFile
    keys: tuple[OutputKey, ...]

    @classmethod
    def of(cls, file: ParamsFile) -> Outputs | None:
        """Return the file as a dump's tensors, or None by its keys."""
        keys = tuple(key for record in file.records if (key := parse_key(record.key)) is not None)
        if not keys or len(keys) != len(file.records):
            return None
        return cls(replace(file, records=tuple(map(of_byte_memory, file.records))), keys)


FAMILY = Family(
    "tvm",
    (cache.KIND, LIBRARY, PARAMS, TRACE, REPORT, versions.KIND, TIMES, GRAPH, TABLE),
    assemble,
    dumps=(frozenset({"trace"}), frozenset({"graph", "params"})),
)
