"""Who waits for whom: the calls of a conversation as slices in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.analysis.rpc.conversation import RpcConversation
from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.timeline import WALL, Timeline

_TRACKS = {
    "client": "client waits for the server",
    "server": "server waits for the client",
}


def waiting_times(
    talk: RpcConversation, directions: Sequence[str], labels: Sequence[str], source: str
) -> Timeline | None:
    """Return a slice for each request, from its first byte to the first byte of the answer."""
    if talk.times is None:
        return None
    asked = np.flatnonzero(talk.replies >= 0)
    start, end = talk.times[asked], talk.times[talk.replies[asked]]
    known = (start >= 0) & (end >= start)
    asked, start, end = asked[known], start[known], end[known]
    if not len(asked):
        return None
    first = int(start.min())
    sides = talk.sides[asked]
    used = np.unique(sides).tolist()
    count = len(asked)
    return Timeline(
        slice_node=np.full(count, -1, np.int32),
        slice_start_ns=(start - first).astype(np.float64),
        slice_duration_ns=(end - start).astype(np.float64),
        slice_track=np.searchsorted(used, sides).astype(np.int32),
        slice_names=StringColumn.from_strings([labels[row] for row in asked.tolist()]),
        slice_trust=np.full(count, Trust.ABSENT, np.uint8),
        slice_occurrence=np.arange(count, dtype=np.int32),
        tracks=tuple(_TRACKS[directions[side]] for side in used),
        repeats_offsets=np.zeros(1, np.int64),
        repeats_ns=np.zeros(0),
        node_ns=np.zeros(0),
        node_trust=np.zeros(0, np.uint8),
        synthetic=False,
        clock=WALL,
        sources=(source,),
        issues=Issues(),
        origin_ns=first,
    )
