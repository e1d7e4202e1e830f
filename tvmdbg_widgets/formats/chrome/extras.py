"""Counters and flows of a Chrome trace."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.columns import FLOWS, ChromeColumns
from tvmdbg_widgets.formats.chrome.tracks import TrackNames
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import paired
from tvmdbg_widgets.model.timeline.trace_extras import Counters, FlowEnds, TraceExtras


def extras(
    columns: ChromeColumns,
    origin_ns: int,
    place: npt.NDArray[np.int32],
    at: npt.NDArray[np.int32],
    names: TrackNames,
) -> TraceExtras:
    """Return what a trace holds beside its slices."""
    phase = np.frombuffer(columns.phase, np.uint8)
    return TraceExtras(
        counters=_counters(columns, phase, origin_ns, names),
        flow_ends=_flow_ends(columns, phase, origin_ns, place, at),
        counts=dict(columns.phases),
    )


def _counters(
    columns: ChromeColumns, phase: npt.NDArray[np.uint8], origin_ns: int, names: TrackNames
) -> Counters:
    """Series by process, name and id; of one moment the value that stands last in the file."""
    row = np.frombuffer(columns.counter_row, np.int64)
    of = np.frombuffer(columns.counter_series, np.int32)
    value = np.frombuffer(columns.counter_value, np.float64)
    used = phase[row] > 0
    row, of, value = row[used], of[used], value[used]
    order = columns.by_time(row)
    order = order[np.argsort(of[order], kind="stable")]
    offsets = np.searchsorted(of[order], np.arange(len(columns.series) + 1))
    keys = list(columns.series)
    return Counters(
        names=tuple(paired(f"{name} {own}".rstrip()) for _, name, own, _ in keys),
        series=tuple(paired(key) for *_, key in keys),
        devices=tuple(names.process(pid) for pid, *_ in keys),
        offsets=offsets.astype(np.int64),
        ns=columns.since(row[order], origin_ns),
        values=value[order],
    )


def _flow_ends(
    columns: ChromeColumns,
    phase: npt.NDArray[np.uint8],
    origin_ns: int,
    place: npt.NDArray[np.int32],
    at: npt.NDArray[np.int32],
) -> FlowEnds:
    own = np.flatnonzero(np.isin(phase, [ord(each) for each in FLOWS]))
    told = [columns.flow[row] for row in own.tolist()]
    bound = np.frombuffer(columns.bound_row, np.int64)
    there = at[bound] >= 0
    bound = bound[there]
    rows = np.concatenate((own, bound))
    order = columns.by_time(rows)
    flow = np.concatenate(
        (
            np.asarray([number for number, _ in told], np.int32),
            np.frombuffer(columns.bound_flow, np.int32)[there],
        )
    )
    phases = np.concatenate((phase[own], np.frombuffer(columns.bound_phase, np.uint8)[there]))
    around = np.asarray([each for _, each in told], np.bool_)
    encloses = np.concatenate((around, np.ones(len(bound), np.bool_)))
    slices = np.concatenate((np.full(len(own), -1, np.int32), at[bound]))
    rows = rows[order]
    track = np.frombuffer(columns.track, np.int32)[rows]
    codes = np.frombuffer(columns.name, np.int32)[rows]
    return FlowEnds(
        flow=flow[order],
        phase=phases[order],
        ns=columns.since(rows, origin_ns),
        track=place[track],
        encloses=encloses[order],
        names=StringColumn(tuple(map(paired, columns.names)), codes),
        slices=slices[order],
    )
