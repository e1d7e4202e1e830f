"""What the slices of a flamechart are colored by, so that colors tell something."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.times.keys import row_kinds
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.timeline import Timeline

ColorBy = Literal["kind", "block", "share"]

#: Share of the time from which one op kind leaves nothing to tell apart by color.
_ONE_KIND = 0.9
#: Share of the time that blocks hold where they are worth a color.
_IN_BLOCKS = 0.5
_LEAST_BLOCKS = 2


@dataclass(frozen=True)
class SliceColors:
    """What slices are colored by where nobody has chosen."""

    by: ColorBy
    kind: str
    block: npt.NDArray[np.int32]
    titles: dict[int, str]

    def chosen(self, by: str) -> SliceColors:
        """Return the same by what was chosen; ``"auto"``, and what is not there, by what tells."""
        known = by in ("kind", "share") or (by == "block" and self.titles)
        return replace(self, by=cast("ColorBy", by)) if known else self

    def to_json(self) -> dict[str, Any]:
        """Return what a page is told beside the blocks of nodes."""
        return {"by": self.by, "kind": self.kind, "blocks": sorted(self.titles.items())}


def slice_colors(timeline: Timeline, graph: Graph | None, groups: Groups | None) -> SliceColors:
    """Choose what the slices of a timeline are colored by."""
    none = np.zeros(0, np.int32)
    if graph is None or groups is None:
        kind = _one_kind(timeline, graph)
        return SliceColors("share" if kind else "kind", kind, none, {})
    ns = np.nan_to_num(timeline.node_ns[: graph.num_nodes])
    kind = _one_kind(timeline, graph)
    block, titles = _blocks(groups)
    by: ColorBy = "kind"
    if kind:
        inside = block[: len(ns)] >= 0
        of_kind = np.bincount(block[: len(ns)][inside], ns[inside], minlength=_LEAST_BLOCKS)
        several = int((of_kind > 0).sum()) >= _LEAST_BLOCKS
        by = "block" if several and of_kind.sum() >= _IN_BLOCKS * ns.sum() else "share"
    return SliceColors(by, kind, block, titles)


def _one_kind(timeline: Timeline, graph: Graph | None) -> str:
    """Return the kind that leaves nothing to tell apart by color; empty where there is none."""
    sums: dict[str, float] = defaultdict(float)
    account = timeline.account
    for kind, share in zip(row_kinds(timeline, graph), account.share.tolist(), strict=True):
        if share > 0:
            sums[kind] += share
    most = max(sums, key=lambda kind: sums[kind], default="")
    return most if sums[most] >= _ONE_KIND * sum(sums.values()) > 0 else ""


def _blocks(groups: Groups) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    outermost: list[int] = []
    for group, around in enumerate(groups.parent.tolist()):
        outermost.append(outermost[around] if around >= 0 else group)
    kinds, titles = groups.kinds, dict[int, str]()
    for group in np.flatnonzero(groups.parent < 0).tolist():
        titles.setdefault(kinds[group], f"{groups.tag(group)} {groups.names[group]}")
    of_group = np.array([kinds[each] for each in outermost] + [-1], np.int32)
    return of_group[groups.node_group], titles
