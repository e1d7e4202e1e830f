"""Any Chrome trace in JSON, as chrome://tracing, Perfetto and most profilers write it.

"Trace Event Format" (Google, 2016): an object with ``traceEvents``, or the bare list, whose closing
bracket may be missing. ``ts`` and ``dur`` are microseconds, also as text; ``displayTimeUnit`` is
for display only. The debugger's own trace is :mod:`tvmdbg_widgets.formats.tvm.trace`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.decimals import LARGEST_NS
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.timeline.builders import from_events
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.node_sets import TraceExtras
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, WALL, Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource

_OBJECT = re.compile(rb'\s*\{.*"traceEvents"\s*:\s*\[', re.DOTALL)
_ARRAY = re.compile(rb'\s*\[\s*\{[^\[{}]*"ph"\s*:\s*"[a-zA-Z(),]"')
_NESTED = re.compile(rb'\s*\[\s*\{.{0,4096}?"ph"\s*:\s*"[a-zA-Z(),]"', re.DOTALL)
_TIMED = re.compile(rb'"(?:ts|pid)"\s*:')


@dataclass(frozen=True, eq=False)
class ChromeTrace:
    """A Chrome trace: S intervals and instants on tracks, by start, outer before inner."""

    names: StringColumn
    start_ns: npt.NDArray[np.float64]
    duration_ns: npt.NDArray[np.float64]
    origin_ns: int
    track: npt.NDArray[np.int32]
    tracks: tuple[str, ...]
    runs: tuple[int, ...]
    devices: tuple[str, ...]
    threads: tuple[str, ...]
    observers: tuple[bool, ...]
    extras: TraceExtras
    top: dict[str, Any]
    truncated: bool
    issues: Issues
    file: str

    @property
    def synthetic(self) -> bool:
        """Whether the trace was exported from a synthetic timeline."""
        return _ours(self.top).get("synthetic") is True

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        cut = ", cut off" if self.truncated else ""
        return (
            f"ChromeTrace: {counted(len(self), 'slice')} on {counted(len(self.tracks), 'track')} "
            f"from {self.file}{cut}{issues}"
        )


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is a Chrome trace in JSON."""
    data = head.removeprefix(b"\xef\xbb\xbf")
    if _OBJECT.match(data):
        return True
    return bool(_ARRAY.match(data) or _NESTED.match(data)) and bool(_TIMED.search(data))


def read_chrome_trace(source: ByteSource) -> ChromeTrace:
    """Read a Chrome trace of any size; a missing end is allowed, other defects are issues."""
    from tvmdbg_widgets.formats.chrome.columns import ChromeColumns
    from tvmdbg_widgets.formats.chrome.event import EventFile
    from tvmdbg_widgets.formats.chrome.slices import ChromeSlices

    file = EventFile(source)
    columns = ChromeColumns()
    for block in file.blocks():
        columns.add(block)
        block.clear()  # before the next one is read
    if not file.form or (file.broken is not None and not columns.phases):
        raise FormatError(
            "the JSON is nested too deeply" if file.too_deep else "this is not a Chrome trace",
            file=source.name,
            offset=file.broken,
            expected='{"traceEvents": [{"ph": …}, …]} or [{"ph": …}, …]',
            found=repr(file.found[:60]),
            hint="The file may be empty or cut off: record it again.",
        )
    issues = []
    truncated = file.broken is not None or (file.form == "object" and not file.ended)
    events = sum(columns.phases.values())
    if truncated:
        place = source.size if file.broken is None else file.broken
        text = (
            f"the JSON breaks off at byte {place}; {counted(events, 'event')} before it "
            f"{agree(events, 'is')} read"
        )
        issues.append(Issue("trace-cut", IssueSeverity.ERROR, text, file=source.name))
    elif not file.ended:
        note = (
            "the list of events is not closed, which the format allows: the program may have "
            "stopped while it recorded"
        )
        issues.append(Issue("trace-not-closed", IssueSeverity.NOTE, note, file=source.name))
    slices = ChromeSlices(columns, source.name)
    value = _ours(file.top).get("origin_ns")
    return ChromeTrace(
        names=slices.names,
        start_ns=slices.start_ns,
        duration_ns=slices.duration_ns,
        origin_ns=slices.origin_ns
        + (value if type(value) is int and abs(value) < LARGEST_NS else 0),
        track=slices.track,
        tracks=slices.tracks.names,
        runs=slices.tracks.runs,
        devices=slices.tracks.devices,
        threads=slices.tracks.threads,
        observers=slices.tracks.observers,
        extras=slices.extras,
        top=file.top,
        truncated=truncated,
        issues=Issues((*issues, *slices.issues)),
        file=source.name,
    )


def _ours(top: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a trace that :mod:`tvmdbg_widgets.export.chrome_trace` wrote."""
    about = top.get("otherData")
    ours = about.get("tvmdbg") if isinstance(about, dict) else None
    return ours if isinstance(ours, dict) else {}


def chrome_timeline(trace: ChromeTrace, graph: Graph | None) -> Timeline:
    """Return the timeline of a Chrome trace; slices join the graph's operators by name."""
    timeline = from_events(
        trace.names,
        trace.start_ns,
        trace.duration_ns,
        trace.track,
        trace.tracks,
        graph=graph,
        source=trace.file,
        issues=trace.issues,
        extras=trace.extras,
    )
    observed = np.asarray(trace.observers, np.bool_)[trace.track]
    role = np.where(observed, SliceRole.OBSERVER, SliceRole.WORK).astype(np.uint8)
    return replace(
        timeline,
        slice_role=_known_roles(trace, role),
        executions=_executions(trace),
        whole=_execution_name(trace),
        origin_ns=trace.origin_ns,
        synthetic=trace.synthetic,
        clock=SYNTHETIC if trace.synthetic else WALL,
        track_run=np.asarray(trace.runs, np.int32),
        track_device=trace.devices,
        track_thread=trace.threads,
    )


def _known_roles(trace: ChromeTrace, roles: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Restore the roles of slices by name from an exported trace."""
    stored = _ours(trace.top).get("roles")
    for role in SliceRole:
        names = stored.get(role.name.lower()) if isinstance(stored, dict) else None
        if isinstance(names, list) and names:
            known = {name for name in names if isinstance(name, str)}
            own = np.array([name in known for name in trace.names.unique] or [False])
            roles = np.where(own[trace.names.codes], np.uint8(role), roles)
    return roles


def _execution_name(trace: ChromeTrace) -> str:
    name = _ours(trace.top).get("whole")
    return name if isinstance(name, str) and name in trace.names.unique else ""


def _executions(trace: ChromeTrace) -> int:
    count = _ours(trace.top).get("executions")
    name = _execution_name(trace)
    if not name or type(count) is not int:
        return 0
    return int(np.count_nonzero(trace.names.codes == trace.names.unique.index(name)))


KIND = Kind("chrome", "Chrome trace", sniff, read_chrome_trace, "trace", pasted=True)
