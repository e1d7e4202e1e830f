"""What varies along the timeline, as the flamechart takes it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.timeline.counters import Counter
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.model.base.strings import StringColumn

Floats = npt.NDArray[np.float64]

#: Values of all counters together that are sent as they are: 16 bytes each, a megabyte.
_MOST: Final = 60_000
_COUNTERS: Final = 200


def counters(context: Context, _question: Question) -> Reply:
    """Answer the counters of a run; None without times.

    Of more values than fit a message each counter keeps, of every stretch of time, the first, the
    least, the most and the last; ``info.thinned`` tells how many values there are.
    """
    if context.run.timeline is None:
        return Reply(None)
    found = context.run.counters()
    shown = found[:_COUNTERS]
    whole = sum(map(len, shown))
    most = _MOST // max(1, len(shown))
    kept = [_thinned(each, most) if whole > _MOST else (each.ns, each.values) for each in shown]
    nothing = np.zeros(0)
    columns: dict[str, Any] = {
        "names": StringColumn.from_strings(each.name for each in shown),
        "units": StringColumn.from_strings(each.unit for each in shown),
        "said": StringColumn.from_strings(each.said for each in shown),
        "offsets": np.cumsum([0, *(len(ns) for ns, _ in kept)]).astype(np.int32),
        "ns": np.concatenate([nothing, *(ns for ns, _ in kept)]),
        "value": np.concatenate([nothing, *(values for _, values in kept)]),
    }
    info = {
        "missing": found.missing,
        "thinned": whole if whole > _MOST else 0,
        "leftOut": len(found) - len(shown),
    }
    return Reply.of("counters", columns, info)


def _thinned(counter: Counter, most: int) -> tuple[Floats, Floats]:
    """At most about so many values: the ends and the extremes of stretches of equal length."""
    ns, values = counter.ns, counter.values
    if len(ns) <= most:
        return ns, values
    span = max(float(ns[-1] - ns[0]), 1.0)
    stretches = max(1, most // 4)
    of = np.minimum(((ns - ns[0]) * (stretches / span)).astype(np.int64), stretches - 1)
    first = np.flatnonzero(np.diff(of, prepend=-1))
    last = np.append(first[1:], len(of)) - 1
    ordered = np.lexsort((values, of))
    kept = np.unique(np.concatenate((first, last, ordered[first], ordered[last])))
    return ns[kept], values[kept]
