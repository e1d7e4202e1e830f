"""Everything in a run that disagrees, is damaged or is uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from tvmdbg_widgets.model.parts import RunParts

_SHOWN = 20
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def check(parts: RunParts) -> Issues:
    """Return the issues of a run, the gravest first.

    Beside what the readers and the joins found: what every dump of this kind leaves open.
    """
    found = [
        *parts.issues,
        *_ambiguous_edges(parts),
        *_open_questions(parts),
    ]
    found.sort(key=lambda issue: _ORDER[issue.severity])
    return Issues(found)


def _ambiguous_edges(parts: RunParts) -> list[Issue]:
    if parts.graph is None:
        return []
    unsure = np.flatnonzero(parts.graph.edge_trust == Trust.AMBIGUOUS)
    if not len(unsure) or parts.graph.issues.by_rule("edge-ambiguous"):
        return []
    targets = parts.graph.edge_target[unsure].tolist()
    return [
        Issue(
            "edge-ambiguous",
            Severity.WARNING,
            f"{len(unsure)} edges cannot be known from the debugger's dump, which names producers "
            "only; they are drawn dashed. Give the graph that TVM was given "
            "(open(…, graph=lib.get_graph_json())) to settle them",
            nodes=tuple(dict.fromkeys(targets))[:_SHOWN],
            file=parts.graph.file,
        )
    ]


def _open_questions(parts: RunParts) -> list[Issue]:
    found = []
    if parts.timeline is not None and parts.timeline.synthetic:
        found.append(
            Issue(
                "timeline-synthetic",
                Severity.NOTE,
                "the timeline is synthetic: nodes are laid end to end with their mean times; "
                "the sum of nodes is not the latency of the model",
            )
        )
    told = any(parts.issues.by_rule(rule) for rule in ("stale-tensors", "tables-disagree"))
    if parts.tensors is not None and parts.timeline is not None and not told:
        found.append(
            Issue(
                "run-count-unknown",
                Severity.NOTE,
                "if run() was called more than once on this module, the tensors are those of the "
                "first call and the times those of the last (every TVM release); these files "
                "cannot show it",
            )
        )
    return found
