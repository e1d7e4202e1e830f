"""Everything in a run that disagrees, is damaged or is uncertain."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.measured import TimeMeaning

_SHOWN = 20
_ORDER = {IssueSeverity.ERROR: 0, IssueSeverity.WARNING: 1, IssueSeverity.NOTE: 2}


def check(parts: RunParts) -> Issues:
    """Return the issues of a run, the gravest first.

    Beside what the readers and the joins found: what every dump of this kind leaves open.
    """
    found = [
        *parts.issues,
        *_without_events(parts),
        *_ambiguous_edges(parts),
        *_open_questions(parts),
        *_other_measurements(parts),
    ]
    found.sort(key=lambda issue: _ORDER[issue.severity])
    return Issues(found)


def _without_events(parts: RunParts) -> list[Issue]:
    """Say that a dump or trace was opened and holds nothing that has a time."""
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
    found = []
    timeline = parts.timeline
    if timeline is not None and timeline.num_slices and timeline.synthetic:
        found.append(
            Issue(
                "timeline-synthetic",
                IssueSeverity.NOTE,
                f"the timeline is synthetic: {_LAID[timeline.measured]} is not the model's latency",
            )
        )
    told = any(parts.issues.by_rule(rule) for rule in ("stale-tensors", "tables-disagree"))
    told |= parts.executorch is not None
    if parts.tensors is not None and parts.timeline is not None and not told:
        found.append(
            Issue(
                "run-count-unknown",
                IssueSeverity.NOTE,
                "if run() was called more than once on this module, tensors are from the "
                "first call and times from the last (every TVM release); these files "
                "cannot show it",
            )
        )
    return found


def _other_measurements(parts: RunParts) -> list[Issue]:
    """Say how a profiling report's times differ from the timeline's, which are another's."""
    timeline = parts.timeline
    found = []
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
        found.append(
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
    return found
