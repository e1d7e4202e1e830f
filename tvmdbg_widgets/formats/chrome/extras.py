"""Counters and flows of a Chrome trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.columns import FLOWS, Columns
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.model.text import paired
from tvmdbg_widgets.model.trace_extras import Counters, FlowEnds, TraceExtras

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.chrome.tracks import TrackNames


def extras(
    columns: Columns,
    phase: npt.NDArray[np.uint8],
    origin_ns: int,
    place: npt.NDArray[np.int32],
    names: TrackNames,
) -> TraceExtras:
    """Return what a trace holds beside its slices.

    Parameters
    ----------
    columns : Columns
    phase : uint8[E]
    origin_ns : int
        Times are counted from here.
    place : int32[K]
        Where each of the first K tracks of the columns is shown; -1 where it is not.
    names : TrackNames
    """
    return TraceExtras(
        counters=_counters(columns, phase, origin_ns, names),
        flow_ends=_flow_ends(columns, phase, origin_ns, place),
        counts=dict(columns.phases),
    )


def _counters(
    columns: Columns, phase: npt.NDArray[np.uint8], origin_ns: int, names: TrackNames
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
    columns: Columns, phase: npt.NDArray[np.uint8], origin_ns: int, place: npt.NDArray[np.int32]
) -> FlowEnds:
    rows = np.flatnonzero(np.isin(phase, [ord(each) for each in FLOWS]))
    rows = rows[columns.by_time(rows)]
    flow = [columns.flow[row] for row in rows.tolist()]
    track = np.frombuffer(columns.track, np.int32)[rows]
    codes = np.frombuffer(columns.name, np.int32)[rows]
    return FlowEnds(
        flow=np.asarray([number for number, _ in flow], np.int32),
        phase=phase[rows],
        ns=columns.since(rows, origin_ns),
        track=place[track],
        encloses=np.asarray([around for _, around in flow], np.bool_),
        names=StringColumn(tuple(map(paired, columns.names)), codes),
    )
