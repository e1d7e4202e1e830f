"""The distances a layout keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances in px, and bounds of the work; the same numbers as in the live view.

    Attributes
    ----------
    node_gap, line_gap, track_gap
        Free space between two boxes, a box and a line passing it, two parallel lines.
    layer_gap
        Height of the channel between two layers; it grows with the sideways reach of its edges.
    component_gap
        Free space between two components.
    sweeps
        Ordering sweeps per stretch of the graph.
    trunk_budget
        Bound of the trunk points, per node; edges beyond it become stubs.
    frame_header, frame_padding
        Height of a frame's header, and the free space inside its border.
    """

    node_gap: float = 24
    line_gap: float = 14
    track_gap: float = 10
    layer_gap: float = 36
    component_gap: float = 48
    sweeps: int = 8
    trunk_budget: float = 4
    frame_header: float = 24
    frame_padding: float = 12
