"""The files of one TVM debugger dump to one run: what joins what, and what TVM itself damaged."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm import versions
from tvmdbg_widgets.formats.tvm.graph_json import read_graph
from tvmdbg_widgets.formats.tvm.output_keys import OutputKey, parse_key
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.join_tensors import KeyedArray, join_parameters, join_tensors
from tvmdbg_widgets.model.join_times import (
    KnownTimes,
    NodeJoin,
    by_device,
    join_pairs,
    join_rows,
    shapes_with_rows,
)
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.parts import Provenance, RunParts
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.model.tensors import Tensors
from tvmdbg_widgets.model.timeline_builders import combine, from_table, from_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tvmdbg_widgets.formats.gather import Part
    from tvmdbg_widgets.formats.tvm.params import ParamsFile
    from tvmdbg_widgets.formats.tvm.table import Table
    from tvmdbg_widgets.formats.tvm.trace import Trace
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.timeline import Timeline

T = TypeVar("T")


@dataclass(frozen=True)
class _Outputs:
    """An ``output_tensors.params``: its records with their parsed keys."""

    file: ParamsFile
    keys: tuple[OutputKey, ...]


def assemble(parts: Sequence[Part], issues: Iterable[Issue], *, title: str) -> RunParts:
    """Join the parts of one dump.

    Parameters
    ----------
    parts : sequence of Part
        As :func:`~tvmdbg_widgets.formats.gather.gather` returns them.
    issues : iterable of Issue
        What was found while reading.
    title : str
        What to call the run.
    """
    found = list(issues)
    outputs, parameters = _params(parts, found)
    trace = _only([part.value for part in parts if part.kind == "trace"], "trace", found)
    table = _table([part.value for part in parts if part.kind == "table"], found)
    graph = _graph(parts, found)
    if graph is not None and parameters:
        graph = graph.with_parameters(
            {record.key for each in parameters for record in each.records}
        )
    evidence = _evidence(parts, graph, outputs, trace, table)
    tensors = _tensors(graph, outputs, parameters, _read_after_run(evidence, outputs, graph), found)
    device = _device(parts)
    timeline = _timeline(graph, trace, table, device or "execution")
    for each in (graph, outputs.file if outputs else None, *parameters, timeline):
        found.extend(each.issues if each is not None else ())
    produced = versions.releases(evidence)
    if produced is None:
        found.append(_contradiction(evidence))
    provenance = Provenance(
        versions.in_words(produced),
        tuple(each.fact for each in evidence),
        device,
        tuple(f"{part.source.name} ({part.source.size:,} bytes)" for part in parts),
    )
    return RunParts(title, graph, tensors, timeline, Issues(found), provenance)


def _params(parts: Sequence[Part], issues: list[Issue]) -> tuple[_Outputs | None, list[ParamsFile]]:
    """Tell the dump's tensors from a model's parameters by their keys."""
    outputs: list[_Outputs] = []
    parameters: list[ParamsFile] = []
    for part in parts:
        if part.kind != "params":
            continue
        keys = [parse_key(record.key) for record in part.value.records]
        if keys and all(key is not None for key in keys):
            outputs.append(_Outputs(part.value, tuple(key for key in keys if key is not None)))
        else:
            parameters.append(part.value)
    return _only(outputs, "file of output tensors", issues), parameters


def _only(values: list[T], what: str, issues: list[Issue]) -> T | None:
    if len(values) > 1:
        issues.append(
            Issue(
                "more-than-one",
                Severity.WARNING,
                f"{len(values)} files are each a {what}; only the first is used",
            )
        )
    return values[0] if values else None


def _table(found: list[tuple[Table, ...]], issues: list[Issue]) -> Table | None:
    """Take one table; one in node order joins exactly, so it goes first."""
    tables = [tables[-1] for tables in found if tables]
    several = [tables for tables in found if len(tables) > 1]
    if several:
        issues.append(
            Issue(
                "stale-tensors",
                Severity.WARNING,
                f"the log holds {len(several[0])} tables, so run() was called more than once: TVM "
                "keeps the tensors of the first call and the times of the last",
                file=several[0][0].file,
            )
        )
    tables.sort(key=lambda table: table.total_us is not None)
    return tables[0] if tables else None


def _graph(parts: Sequence[Part], issues: list[Issue]) -> Graph | None:
    """Take the dump's graph, its edges resolved by the raw graph where that is given too."""
    graphs = [part for part in parts if part.kind == "graph"]
    raw = [part.value for part in graphs if part.value.form != "mutated"]
    mutated = [part for part in graphs if part.value.form == "mutated"]
    if not mutated:
        raw.sort(key=lambda graph: graph.form != "string")
        return _matching(raw, issues)
    graph: Graph = mutated[0].value
    for each in raw:
        if each.names == graph.names:
            return read_graph(mutated[0].source, raw=each)
    if raw:
        return read_graph(mutated[0].source, raw=raw[0])
    return graph


def _matching(graphs: list[Graph], issues: list[Issue]) -> Graph | None:
    if len(graphs) > 1 and graphs[0].names != graphs[1].names:
        return _only(graphs, "graph of another network", issues)
    return graphs[0] if graphs else None


def _evidence(
    parts: Sequence[Part],
    graph: Graph | None,
    outputs: _Outputs | None,
    trace: Trace | None,
    table: Table | None,
) -> tuple[versions.Evidence, ...]:
    found: list[versions.Evidence | None] = []
    folders = {part.folder for part in parts if part.folder is not None}
    found += [versions.of_folder(folder.name) for folder in sorted(folders)]
    if graph is not None:
        found.append(versions.of_graph_form(graph.form))
        if any(name.startswith("tvmgen_default_") for name in graph.func_names.unique):
            found.append(versions.Evidence("function names start with tvmgen_default_", 8, 19))
        if graph.storage_scopes is not None:
            found.append(versions.Evidence("the graph has a storage_scope list", 10, 19))
    if outputs is not None and outputs.keys:
        style = outputs.keys[0].style
        found.append(versions.of_key_style(style))
        if style == "v0.5":
            found.append(_of_first_time(graph, outputs))
    if trace is not None:
        found.append(versions.Evidence("there is an execution trace", 6, 19))
    if table is not None:
        found.append(versions.of_table_style(table.style))
    return tuple(each for each in found if each is not None)


def _of_first_time(graph: Graph | None, outputs: _Outputs) -> versions.Evidence | None:
    """v0.5 adds a measured time for parameters too, v0.6 and v0.7 add zero."""
    key = outputs.keys[0]
    if graph is None or graph.kinds[0] not in (NodeKind.INPUT, NodeKind.PARAMETER):
        return None
    if key.order:
        return versions.Evidence("the key of the first parameter has a time", 5, 5)
    return versions.Evidence("the key of the first parameter has time zero", 6, 7)


def _read_after_run(
    evidence: tuple[versions.Evidence, ...], outputs: _Outputs | None, graph: Graph | None
) -> bool:
    """Whether the tensors were read when the whole run was over (v0.6, v0.7)."""
    produced = versions.releases(evidence)
    if graph is None or outputs is None or not outputs.keys or produced is None:
        return False
    return outputs.keys[0].style == "v0.5" and produced[1] >= 6


def _tensors(
    graph: Graph | None,
    outputs: _Outputs | None,
    parameters: list[ParamsFile],
    reused: bool,
    issues: list[Issue],
) -> Tensors | None:
    joined: list[Tensors] = []
    if parameters and (graph is not None or outputs is None):
        for each in parameters:
            found, problems = join_parameters(graph, each.records)
            joined.append(found)
            issues.extend(problems)
    if outputs is not None:
        arrays = [
            KeyedArray(record, key.name, key.node, key.output)
            for record, key in zip(outputs.file.records, outputs.keys, strict=True)
        ]
        found, problems = join_tensors(graph, arrays, file=outputs.file.file, reused=reused)
        joined.append(found)
        issues.extend(problems)
    return Tensors(tensor for each in joined for tensor in each.values()) if joined else None


def _device(parts: Sequence[Part]) -> str:
    """The device that the dump folder is named after: ``_tvmdbg_device_CUDA_0`` is ``CUDA:0``."""
    for part in parts:
        for prefix in ("_tvmdbg_device_", "_tvmdbg_ctx_"):
            if part.folder is not None and part.folder.name.startswith(prefix):
                name, _, number = part.folder.name.removeprefix(prefix).rpartition("_")
                return f"{name}:{number}" if name else number
    return ""


def _timeline(
    graph: Graph | None, trace: Trace | None, table: Table | None, device: str
) -> Timeline | None:
    if trace is None and table is None:
        return None
    names = _node_names(graph, trace, table)
    from_pairs = _trace_timeline(names, trace) if trace is not None else None
    from_rows = _table_timeline(graph, names, table, from_pairs) if table is not None else None
    if from_pairs is not None and from_rows is not None and table is not None:
        timeline: Timeline | None = combine(from_pairs, from_rows, rounding_ns=table.rounding_ns)
    else:
        timeline = from_rows if from_pairs is None else from_pairs
    if timeline is None or graph is None:
        return timeline
    return by_device(timeline, graph, device)


def _node_names(graph: Graph | None, trace: Trace | None, table: Table | None) -> StringColumn:
    if graph is not None:
        return graph.names
    if trace is not None:
        return trace.names
    rows = table.rows if table is not None else ()
    return StringColumn.from_strings(row.name for row in rows if row.output == 0)


def _trace_timeline(names: StringColumn, trace: Trace) -> Timeline:
    join = join_pairs(names, trace.names, file=trace.file)
    return from_trace(
        trace.names,
        trace.start_us,
        trace.end_us,
        nodes=join.nodes,
        trust=join.trust,
        num_nodes=len(names),
        source=trace.file,
        issues=(*trace.issues, *join.issues),
    )


def _table_timeline(
    graph: Graph | None, names: StringColumn, table: Table, trace: Timeline | None
) -> Timeline:
    shapes: Sequence[Sequence[tuple[int, ...] | None]]
    if graph is not None:
        shapes = shapes_with_rows(graph)
    elif trace is not None:
        shapes = [[None]] * len(names)
    else:
        calls = np.cumsum([row.output == 0 for row in table.rows])
        grouped: list[list[tuple[int, ...] | None]] = [[] for _ in range(len(names))]
        for row, call in zip(table.rows, calls, strict=True):
            grouped[call - 1].append(row.shape)
        shapes = grouped
    alone = graph is None and trace is None
    join = join_rows(
        names,
        shapes,
        [row.name for row in table.rows],
        [row.shape for row in table.rows],
        in_node_order=alone or table.total_us is None,
        times=None
        if trace is None
        else KnownTimes(trace.node_ns, table.time_ns, table.rounding_ns),
        file=table.file,
    )
    table, nodes, trust = _one_row_where_unknown(table, join)
    offsets, repeats = table.repeats()
    timeline = from_table(
        table.names,
        table.time_ns,
        offsets,
        repeats,
        nodes=nodes,
        trust=trust,
        num_nodes=len(names),
        source=table.file,
        start_ns=table.start_ns,
        end_ns=table.end_ns,
        issues=(*table.issues, *join.issues),
    )
    if alone and table.total_us is not None:
        note = Issue(
            "order-unknown",
            Severity.NOTE,
            "the table is sorted by time and no graph is given: nodes are numbered by row, not by "
            "their place in the graph",
            file=table.file,
        )
        timeline = replace(timeline, issues=Issues((*timeline.issues, note)))
    return timeline


def _one_row_where_unknown(
    table: Table, join: NodeJoin
) -> tuple[Table, npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Leave out the further rows of a call whose node is not known: they are one slice."""
    kept = [i for i, row in enumerate(table.rows) if join.nodes[i] >= 0 or row.output == 0]
    starts, ends = table.start_ns, table.end_ns
    shorter = replace(
        table,
        rows=tuple(table.rows[i] for i in kept),
        start_ns=None if starts is None else starts[kept],
        end_ns=None if ends is None else ends[kept],
    )
    return shorter, join.nodes[kept], join.trust[kept]


def _contradiction(evidence: tuple[versions.Evidence, ...]) -> Issue:
    facts = "; ".join(f"{each.fact} (v0.{each.first} to v0.{each.last})" for each in evidence)
    return Issue(
        "versions-contradict",
        Severity.WARNING,
        f"no TVM release writes all of this: {facts}. The files may be of different runs",
    )


def title_of(sources: Iterable[object]) -> str:
    """Name a run after the first folder or file that it was opened from."""
    for source in sources:
        if isinstance(source, str | os.PathLike):
            path = Path(source).absolute()
            return path.name or os.fspath(path)
    return "run"
