"""Summary and issues of a run, and how to get missing parts."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, duration_text
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, one_line
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.measured import TimeMeaning

_TOP = 3

#: Why a part may be missing, and how to get it.
HOW_TO_GET = {
    "graph": "This run has no graph. The debugger writes it to _tvmdbg_graph_dump.json when the "
    "module is created; or pass the graph itself: open(…, graph=lib.get_graph_json()).",
    "tensors": "This run has no tensors. GraphModuleDebug.run() writes them to "
    "output_tensors.params in the dump folder; open that folder, or add the file: "
    "open(…, 'output_tensors.params').",
    "timeline": "This dump has no trace: GraphModuleDebug.run() writes "
    "_tvmdbg_execution_trace.json from TVM v0.6 on. The table that run() prints works too: "
    "save it to a file and open(…, table='run.txt'). It also has every repeat, and so does "
    "time_list (open(…, times='time_list.json')). A profiling report (profile().json()) or "
    "any Chrome trace gives a timeline too: open(…, report='report.json'), open(…, "
    "trace='trace.json').",
}
#: The same for ExecuTorch.
OF_EXECUTORCH = {
    "graph": "This run has no graph. ETRecord and program have one: open(…, 'etrecord.bin') or "
    "open(…, 'model.pte').",
    "tensors": "This run has no tensors. ExecuTorch logs them when it is given a debug buffer "
    "(debug_buffer_size= in Python): open(…, 'debug_buffer.bin').",
    "timeline": "This run has no times. ExecuTorch's event tracer writes them to an ETDump: "
    "open(…, 'etdump.etdp').",
}


def how_to_get(part: str, parts: RunParts) -> str:
    """Return why a run lacks its ``"graph"``, ``"tensors"`` or ``"timeline"``, and what to do."""
    return (HOW_TO_GET if parts.executorch is None else OF_EXECUTORCH)[part]


def no_graph(parts: RunParts, why: str) -> str:
    """Return why something needs the graph, and how to get it."""
    where = "the dump folder with its _tvmdbg_graph_dump.json"
    how = f"open {where}, or open(…, graph=lib.get_graph_json())"
    return f"{why}: {how if parts.executorch is None else how_to_get('graph', parts)}"


def missing(parts: RunParts) -> dict[str, str]:
    """Return how to get the parts that the run lacks."""
    return {name: how_to_get(name, parts) for name in HOW_TO_GET if getattr(parts, name) is None}


def summary(parts: RunParts) -> str:
    """Return the run in some lines: parts, times, doubts."""
    lines = [f"{parts.title}: {parts.provenance.format}"]
    for name in HOW_TO_GET:
        part = getattr(parts, name)
        lines.append(f"  {name}: " + ("missing" if part is None else repr(part).splitlines()[0]))
    lines += [f"  {repr(report).splitlines()[0]}" for report in parts.reports]
    if parts.executorch is not None and parts.executorch.delegation is not None:
        lines += [f"  {line}" for line in repr(parts.executorch.delegation).splitlines()]
    slowest = operators(parts, top=_TOP)
    if len(slowest):
        lines.append("  slowest:")
        lines += [f"    {row.title}{row.owner}: {row.told}" for row in slowest]
    issues = check(parts)
    lines.append(f"  checks: {issues.summary()}")
    lines += [f"    {issue}" for issue in issues[:5]]
    if len(issues) > 5:
        lines.append(f"    … {len(issues) - 5} more in run.check()")
    return "\n".join(lines)


_SHOWN = 20
_ORDER = {IssueSeverity.ERROR: 0, IssueSeverity.WARNING: 1, IssueSeverity.NOTE: 2}


def check(parts: RunParts) -> Issues:
    """Return the issues of a run and what its kind of dump leaves open, the gravest first."""
    issues = [
        *parts.issues,
        *_nothing_timed(parts),
        *_ambiguous_edges(parts),
        *_open_questions(parts),
        *_other_measurements(parts),
    ]
    issues.sort(key=lambda issue: _ORDER[issue.severity])
    return Issues(issues)


def _nothing_timed(parts: RunParts) -> list[Issue]:
    dump = parts.executorch.dump if parts.executorch is not None else None
    timeline = None if parts.reports else parts.timeline
    if dump is not None and not dump.num_events:
        kept = f"{counted(dump.num_runs, 'run')} and no events"
        next_step = "run the method between create_debug_block and the dump, with an event tracer"
        text, file = f"the ETDump holds {kept}: {next_step}", dump.file
    elif timeline is not None and not timeline.num_slices and not timeline.issues:
        text = "the file of times holds no events with a duration: record it again while it runs"
        file = ", ".join(timeline.sources)
    else:
        return []
    return [Issue("no-events", IssueSeverity.WARNING, text, file=file)]


def _ambiguous_edges(parts: RunParts) -> list[Issue]:
    if parts.graph is None:
        return []
    unsure = np.flatnonzero(parts.graph.edge_trust == Trust.AMBIGUOUS)
    if not len(unsure) or parts.graph.issues.by_rule("edge-ambiguous"):
        return []
    targets = parts.graph.edge_target[unsure].tolist()
    why = (
        "in the debugger's dump, which names producers only; they are drawn dashed. Open the dump "
        "with the graph given to TVM (open(…, graph=lib.get_graph_json())) to resolve them"
    )
    if parts.executorch is not None:
        why = "because the program branches: what was written last is not known; they are dashed"
    return [
        Issue(
            "edge-ambiguous",
            IssueSeverity.WARNING,
            f"{counted(len(unsure), 'edge')} {agree(len(unsure), 'is')} ambiguous {why}",
            nodes=tuple(dict.fromkeys(targets))[:_SHOWN],
            file=parts.graph.file,
        )
    ]


_LAID = {
    TimeMeaning.MEAN: "mean node times back to back; the total",
    TimeMeaning.CALL: "call times of one pass back to back; the total",
    TimeMeaning.SUM: "rows back to back, each a sum over calls; the total",
}


def _open_questions(parts: RunParts) -> list[Issue]:
    issues = []
    timeline = parts.timeline
    if timeline is not None and timeline.num_slices and timeline.synthetic:
        issues.append(
            Issue(
                "timeline-synthetic",
                IssueSeverity.NOTE,
                f"the timeline is synthetic: {_LAID[timeline.measured]} is not the model's latency",
            )
        )
    is_known = any(parts.issues.by_rule(rule) for rule in ("stale-tensors", "tables-disagree"))
    is_known |= parts.executorch is not None
    if parts.tensors is not None and parts.timeline is not None and not is_known:
        issues.append(
            Issue(
                "run-count-unknown",
                IssueSeverity.NOTE,
                "if run() was called more than once on this module, tensors are from the "
                "first call and times from the last (every TVM release); these files "
                "cannot show it",
            )
        )
    return issues


def _other_measurements(parts: RunParts) -> list[Issue]:
    timeline = parts.timeline
    issues = []
    for report in parts.reports:
        if timeline is None or report.file in timeline.sources or report.num_nodes == 0:
            continue
        both = np.isfinite(report.node_ns) & np.isfinite(timeline.node_ns)
        if not both.any():
            continue
        ours, theirs = float(timeline.node_ns[both].sum()), float(report.node_ns[both].sum())
        ratio = f" ({theirs / ours:.2f} of it)" if ours > 0 else ""
        overall = ", ".join(
            f"{one_line(name)} {duration_text(ns)}" for name, ns in report.device_ns.items()
        )
        issues.append(
            Issue(
                "report-differs",
                IssueSeverity.NOTE,
                f"{counted(int(both.sum()), 'node')} {agree(int(both.sum()), 'takes')} "
                f"{duration_text(ours)} in the timeline and {duration_text(theirs)} in the "
                f"profiling report{ratio}: run() times each kernel in isolation in a hot loop, "
                "profile() times one pass with a timer around each call"
                + (f"; whole passes by device: {overall}" if overall else "")
                + ". They are different measurements; see run.reports",
                file=report.file,
            )
        )
    return issues
