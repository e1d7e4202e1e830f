"""A run in some lines of text, and what to say of parts that are missing."""

from __future__ import annotations

from tvmdbg_widgets.analysis.check import check
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.parts import RunParts

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


def missing(parts: RunParts) -> dict[str, str]:
    """For each part the run lacks: what to do about it."""
    have = {"graph": parts.graph, "tensors": parts.tensors, "timeline": parts.timeline}
    return {name: how_to_get(name, parts) for name, part in have.items() if part is None}


def summary(parts: RunParts) -> str:
    """Return what there is, the slowest operators, and issues."""
    lines = [f"{parts.title}: {parts.provenance.format}"]
    for name, part in (
        ("graph", parts.graph),
        ("tensors", parts.tensors),
        ("timeline", parts.timeline),
    ):
        lines.append(f"  {name}: " + ("missing" if part is None else repr(part).splitlines()[0]))
    lines += [f"  {repr(report).splitlines()[0]}" for report in parts.reports]
    if parts.executorch is not None and parts.executorch.delegation is not None:
        lines += [f"  {line}" for line in repr(parts.executorch.delegation).splitlines()]
    slowest = operators(parts, top=_TOP)
    if len(slowest):
        lines.append("  slowest:")
        lines += [f"    {one_line(row.name)} ({slowest.whose(row)}): {row.told}" for row in slowest]
    issues = check(parts)
    lines.append(f"  checks: {issues.summary()}")
    lines += [f"    {issue}" for issue in issues[:5]]
    if len(issues) > 5:
        lines.append(f"    … {len(issues) - 5} more in run.check()")
    return "\n".join(lines)
