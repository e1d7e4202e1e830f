"""What takes longest in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.numbers import time_share
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.timeline.account import Account
from tvmdbg_widgets.model.timeline.columns import TimelineColumns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Ranking:
    """Nodes, and calls of several nodes, by time, longest first."""

    nodes: npt.NDArray[np.int64]
    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    ns: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        lines = [f"Ranking: {len(self)} by time"]
        for node, name, ns, share in zip(
            self.nodes[:10], self.names, self.ns, self.share, strict=False
        ):
            called = f"node {node}" if node >= 0 else one_line(name)
            lines.append(f"  {called}: {time_share(float(ns), float(share), self.rounding_ns)}")
        if len(self) > 10:
            lines.append(f"  … {len(self) - 10} more")
        return "\n".join(lines)


def rank(account: Account, timeline: TimelineColumns, k: int | None = None) -> Ranking:
    """Rank what is timed in a timeline; keep the k longest, all by default."""
    if k is not None and k < 0:
        raise ValueError(f"k must not be negative, found {k}")
    sets = timeline.shared
    rows = account.ranked[:k]
    names, members = [], []
    for row in rows.tolist():
        node, call, name = (int(each[row]) for each in (account.node, account.call, account.name))
        first = int(account.first[row])
        if sets is not None and call >= 0:
            names.append(sets.names[call])
            members.append(sets.of(call))
        else:
            code = (
                name if name >= 0 else int(timeline.slice_names.codes[first]) if first >= 0 else -1
            )
            names.append(timeline.slice_names.unique[code] if code >= 0 else f"node {node}")
            members.append((node,) if node >= 0 else ())
    return Ranking(
        account.node[rows],
        tuple(names),
        tuple(members),
        account.ns[rows],
        account.share[rows],
        timeline.rounding_ns,
    )
