"""The columns of a timeline, and whether they fit each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Element type of every array column.
COLUMNS: dict[str, npt.DTypeLike] = {
    "slice_node": np.int32,
    "slice_start_ns": np.float64,
    "slice_duration_ns": np.float64,
    "slice_track": np.int32,
    "slice_trust": np.uint8,
    "slice_occurrence": np.int32,
    "track_run": np.int32,
    "repeats_offsets": np.int64,
    "repeats_ns": np.float64,
    "node_ns": np.float64,
    "node_trust": np.uint8,
}


def checked(timeline: Timeline) -> dict[str, Any]:
    """Return the columns of a timeline with their element types, read-only.

    Of tracks that only have names, these are the threads.

    Raises
    ------
    ValueError
        Columns of unequal length, or ids out of range.
    """
    tracks = len(timeline.tracks)
    found: dict[str, Any] = {
        "track_device": tuple(timeline.track_device) or ("",) * tracks,
        "track_thread": tuple(timeline.track_thread) or tuple(timeline.tracks),
    }
    for name, dtype in COLUMNS.items():
        column = np.asarray(getattr(timeline, name), dtype=dtype).view()
        if column.ndim != 1:
            raise ValueError(f"{name} must have one dimension, found {column.ndim}")
        if name == "track_run" and not len(column):
            column = np.zeros(tracks, np.int32)
        column.flags.writeable = False
        found[name] = column
    _slices(found, timeline)
    _nodes(found)
    for name, column in found.items():
        if name.startswith("track_") and len(column) != tracks:
            raise ValueError(f"{name} has {len(column)} items for {tracks} tracks")
    return found


def _slices(found: dict[str, Any], timeline: Timeline) -> None:
    slices, nodes, tracks = len(found["slice_node"]), len(found["node_ns"]), len(timeline.tracks)
    for name in COLUMNS:
        if name.startswith("slice_") and len(found[name]) != slices:
            raise ValueError(f"{name} has {len(found[name])} items, slice_node has {slices}")
    if len(timeline.slice_names) != slices:
        raise ValueError(f"slice_names has {len(timeline.slice_names)} items for {slices} slices")
    for name, column in (
        ("slice_about", timeline.slice_about),
        ("shared", timeline.shared and timeline.shared.slice_set),
    ):
        if column is not None and len(column) != slices:
            raise ValueError(f"{name} has {len(column)} items for {slices} slices")
    node, track = found["slice_node"], found["slice_track"]
    if slices and (node.min() < -1 or node.max() >= nodes):
        raise ValueError(f"slice_node must lie in -1 … {nodes - 1}")
    if slices and not 0 <= track.min() <= track.max() < tracks:
        raise ValueError(f"slice_track must lie in 0 … {tracks - 1}")


def _nodes(found: dict[str, Any]) -> None:
    nodes, offsets = len(found["node_ns"]), found["repeats_offsets"]
    if len(found["node_trust"]) != nodes or len(offsets) != nodes + 1:
        raise ValueError(
            f"node_trust ({len(found['node_trust'])}) and repeats_offsets "
            f"({len(offsets)}) do not fit {nodes} nodes"
        )
    repeats = len(found["repeats_ns"])
    if offsets[0] != 0 or offsets[-1] != repeats or np.any(np.diff(offsets) < 0):
        raise ValueError(f"repeats_offsets must rise from 0 to {repeats}")
