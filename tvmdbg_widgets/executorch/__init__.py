"""ExecuTorch's developer tools by their own names, without ExecuTorch or torch.

::

    from tvmdbg_widgets.executorch import DelegateMappingBuilder, EventTracer, Inspector

A name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import lazily

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.executorch.event_block import EventBlock as EventBlock
    from tvmdbg_widgets.analysis.executorch.events import Event as Event
    from tvmdbg_widgets.analysis.executorch.time_scale import PerfData as PerfData
    from tvmdbg_widgets.analysis.executorch.time_scale import TimeScale as TimeScale
    from tvmdbg_widgets.model.executorch.etrecord import ETRecord as ETRecord
    from tvmdbg_widgets.recorders.event_tracer import (
        DelegateMappingBuilder as DelegateMappingBuilder,
    )
    from tvmdbg_widgets.recorders.event_tracer import EventTracer as EventTracer
    from tvmdbg_widgets.recorders.event_tracer import PreprocessResult as PreprocessResult
    from tvmdbg_widgets.run.executorch.handle_map import DebugHandleMap as DebugHandleMap
    from tvmdbg_widgets.run.executorch.inspector import Inspector as Inspector

_HOMES = {
    "DebugHandleMap": "run.executorch.handle_map",
    "DelegateMappingBuilder": "recorders.event_tracer",
    "ETRecord": "model.executorch.etrecord",
    "Event": "analysis.executorch.events",
    "EventBlock": "analysis.executorch.event_block",
    "EventTracer": "recorders.event_tracer",
    "Inspector": "run.executorch.inspector",
    "PerfData": "analysis.executorch.time_scale",
    "PreprocessResult": "recorders.event_tracer",
    "TimeScale": "analysis.executorch.time_scale",
}

__all__ = [
    "DebugHandleMap",
    "DelegateMappingBuilder",
    "ETRecord",
    "Event",
    "EventBlock",
    "EventTracer",
    "Inspector",
    "PerfData",
    "PreprocessResult",
    "TimeScale",
]


__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
