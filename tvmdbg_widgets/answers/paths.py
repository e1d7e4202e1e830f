"""Critical path and roofline of a run, as the flamechart takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.analysis.timeline.roofline import CONVENTION
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.model.base.strings import StringColumn


def critical(context: Context, _question: Question) -> Reply:
    """Answer the critical path and the slack of each node, or why there is none."""
    why = why_not(context.run.parts)
    if why:
        return Reply({"missing": why})
    path = context.run.critical_path()
    columns: dict[str, Any] = {"path": path.nodes, "slack": path.slack_ns}
    info = {
        "said": list(path.said),
        "length": path.length_ns,
        "total": path.total_ns,
        "sequential": path.sequential,
    }
    return Reply.of("critical", columns, info)


def roofline(context: Context, _question: Question) -> Reply:
    """Answer operations and bytes of each operator, or why they cannot be counted."""
    why = why_not(context.run.parts).replace("critical path", "roofline")
    if why:
        return Reply({"missing": why})
    work = context.run.work()
    nodes = work.operators
    columns: dict[str, Any] = {
        "node": nodes.astype(np.int32),
        "flops": work.flops[nodes],
        "bytes": work.bytes[nodes],
        "exact": work.exact[nodes],
        "dtypes": StringColumn.from_strings(work.dtypes[node] for node in nodes.tolist()),
        "why": StringColumn.from_strings(
            "; ".join(work.why.get(node, ())) for node in nodes.tolist()
        ),
    }
    return Reply.of("roofline", columns, {"convention": CONVENTION})


PATH_ANSWERS = {"critical": critical, "roofline": roofline}
