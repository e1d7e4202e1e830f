"""Two timelines of one run as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.timeline.timeline import Timeline

_NODES_SHOWN = 20


def combine(trace: Timeline, table: Timeline, *, rounding_ns: float) -> Timeline:
    """Join the full precision of a trace with the repeats of a table of the same run.

    Slices and node times are the trace's; the table gives the repeats, and the times of nodes the
    trace does not know.
    """
    if trace.num_nodes != table.num_nodes:
        raise ValueError(
            f"the trace's timeline is for {counted(trace.num_nodes, 'node')}, the table's for "
            f"{table.num_nodes}"
        )
    slack = rounding_ns + 16 * float(np.spacing(max(trace.span_ns, 1.0)))
    with np.errstate(invalid="ignore"):
        apart = np.flatnonzero(np.abs(trace.node_ns - table.node_ns) > slack)
    found: list[Issue] = []
    if len(apart):
        first = int(apart[0])
        both = int(np.count_nonzero(np.isfinite(trace.node_ns) & np.isfinite(table.node_ns)))
        found.append(
            Issue(
                "times-disagree",
                IssueSeverity.WARNING,
                f"{len(apart)} of {counted(both, 'node time')} {agree(len(apart), 'differs')} by "
                f"more than the table's rounding: node {first} takes "
                f"{trace.node_ns[first] / 1e3:.9g} µs in {', '.join(trace.sources)} and "
                f"{table.node_ns[first] / 1e3:.9g} µs in {', '.join(table.sources)}; the files "
                "may come from different runs. The trace's times are shown",
                nodes=tuple(int(i) for i in apart[:_NODES_SHOWN]),
            )
        )
    unknown = np.isnan(trace.node_ns)
    return replace(
        trace,
        repeats_offsets=table.repeats_offsets,
        repeats_ns=table.repeats_ns,
        node_ns=np.where(unknown, table.node_ns, trace.node_ns),
        node_trust=np.where(unknown, table.node_trust, trace.node_trust),
        sources=trace.sources + table.sources,
        issues=Issues((*trace.issues, *table.issues, *found)),
    )
