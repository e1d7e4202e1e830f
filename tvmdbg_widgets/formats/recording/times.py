"""Our own file of times, ``tvmdbg_times.json``; ``docs/recording.md`` specifies it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.json_fields import Fields
from tvmdbg_widgets.formats.recording.issues import issues_document, read_issues
from tvmdbg_widgets.formats.recording.version import require_version
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.columns import COLUMNS
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, WALL, Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.sources.byte_source import ByteSource

FORMAT, VERSION = "tvmdbg-times", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-times"')
_ROLE = "slice_role"
_SLICE_COLUMNS = tuple(name for name in COLUMNS if name.startswith("slice_") and name != _ROLE)
_NODE_COLUMNS = tuple(name for name in COLUMNS if name.startswith("node_"))


@dataclass(frozen=True)
class RecordedTimes:
    """A timeline as it was saved, and the names of the nodes it was made for, where known."""

    timeline: Timeline
    names: StringColumn | None
    file: str

    def fits(self, graph: Graph | None) -> bool:
        """Whether the times are of this graph; without graph or names there is nothing to say."""
        if graph is None:
            return True
        if self.timeline.num_nodes != graph.num_nodes:
            return False
        return self.names is None or self.names == graph.names


def sniff(head: bytes) -> bool:
    """Tell whether a file is one of recorded times: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def times_document(
    timeline: Timeline, names: StringColumn | None, files: Mapping[str, str]
) -> dict[str, Any]:
    """Return a timeline as the JSON value of a file."""
    offsets = timeline.repeats_offsets.tolist()
    repeats = _plain(timeline.repeats_ns)
    slices = {
        name.removeprefix("slice_"): _plain(_column(timeline, name)) for name in _SLICE_COLUMNS
    }
    if timeline.slice_role.any():
        slices["role"] = timeline.slice_role.tolist()
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": "ns",
        "clock": timeline.clock,
        "synthetic": timeline.synthetic,
        "sources": [files.get(each, each) for each in timeline.sources],
        "origin_ns": timeline.origin_ns,
        "executions": timeline.executions,
        "whole": timeline.whole,
        "rounding_ns": round(timeline.rounding_ns),
        "tracks": list(timeline.tracks),
        "track_run": timeline.track_run.tolist(),
        "track_device": list(timeline.track_device),
        "track_thread": list(timeline.track_thread),
        "node_names": None if names is None else list(names),
        **{name: _plain(_column(timeline, name)) for name in _NODE_COLUMNS},
        "repeats_ns": [repeats[a:b] for a, b in pairwise(offsets)],
        "slice_names": list(timeline.slice_names.unique),
        "slices": {"name": timeline.slice_names.codes.tolist(), **slices},
        "issues": issues_document(timeline.issues, files),
    }


def read_recorded_times(source: ByteSource) -> RecordedTimes:
    """Read a file of recorded times."""
    top = Fields.of(source)
    require_version(top, FORMAT, VERSION)
    if top.text("unit") != "ns":
        raise _wrong(source, "unit", '"ns"', top.text("unit"))
    clock = top.text("clock")
    if clock not in (SYNTHETIC, WALL):
        raise _wrong(source, "clock", f'"{SYNTHETIC}" or "{WALL}"', clock)
    slices = top.inner("slices")
    offsets, repeats = top.ragged("repeats_ns", np.float64)
    columns: dict[str, Any] = {name: top.numbers(name, COLUMNS[name]) for name in _NODE_COLUMNS}
    for name in _SLICE_COLUMNS:
        columns[name] = slices.numbers(name.removeprefix("slice_"), COLUMNS[name])
    columns |= _executions(top, slices)
    for name in ("slice_trust", "node_trust"):
        if len(columns[name]) and columns[name].max() > max(Trust):
            raise _wrong(source, name, f"0 to {max(Trust)}", columns[name].max())
    if top.has("track_run"):  # not in files of earlier releases
        columns["track_run"] = top.numbers("track_run", COLUMNS["track_run"])
        columns["track_device"] = tuple(top.texts("track_device"))
        columns["track_thread"] = tuple(top.texts("track_thread"))
    try:
        timeline = Timeline(
            **columns,
            origin_ns=top.integer("origin_ns", negative=True) if top.has("origin_ns") else 0,
            extras=None,
            repeats_offsets=offsets,
            repeats_ns=repeats,
            slice_names=StringColumn(top.texts("slice_names"), slices.numbers("name", np.int32)),
            tracks=tuple(top.texts("tracks")),
            synthetic=top.boolean("synthetic"),
            clock=clock,
            sources=tuple(top.texts("sources")),
            issues=Issues(read_issues(top, "issues")),
        )
    except FormatError:
        raise
    except ValueError as problem:
        raise FormatError(
            "the columns do not fit each other", file=source.name, found=problem
        ) from None
    names = StringColumn.from_strings(top.texts("node_names")) if top.has("node_names") else None
    return RecordedTimes(timeline, names, source.name)


def _column(timeline: Timeline, name: str) -> np.ndarray[Any, Any]:
    column: np.ndarray[Any, Any] = getattr(timeline, name)
    return column


def _plain(column: np.ndarray[Any, Any]) -> list[Any]:
    """As JSON has it: NaN is null."""
    values: list[Any] = column.tolist()
    if column.dtype.kind != "f":
        return values
    return [None if math.isnan(value) else value for value in values]


def _executions(top: Fields, slices: Fields) -> dict[str, Any]:
    """Return what files of earlier releases do not have."""
    found: dict[str, Any] = {}
    if slices.has("role"):
        found[_ROLE] = slices.numbers("role", COLUMNS[_ROLE])
    if top.has("executions"):
        found |= {"executions": top.integer("executions"), "whole": top.text("whole")}
    if top.has("rounding_ns"):
        found["rounding_ns"] = float(top.integer("rounding_ns"))
    return found


def _wrong(source: ByteSource, field: str, expected: str, found: object) -> FormatError:
    return FormatError(
        "this field makes no sense", file=source.name, field=field, expected=expected, found=found
    )
