"""What is laid out: boxes and frames, each in the level it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.acyclic import make_acyclic
from tvmdbg_widgets.figures.layout.adjacency import group_by
from tvmdbg_widgets.figures.layout.trunks import find_trunks

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.acyclic import Acyclic

ENTRY = 1
EXIT = 2


@dataclass(slots=True)
class Levels:
    """Boxes, frames as boxes, and the ports where tensors come into frames and leave them.

    Level 0 is outside of all frames, level f + 1 the inside of frame f; no edge leads from one to
    another. Items and edges are sorted by level; an edge between boxes of different levels is a
    chain of edges that meet at ports.
    """

    count: int
    item_start: list[int]
    edge_start: list[int]
    level_of: list[int]
    box: list[int]
    frame: list[int]
    port: list[int]
    item_of_frame: list[int]
    source: list[int]
    target: list[int]
    slot: list[int] | None
    flipped: list[bool]
    out_port: list[int]
    in_port: list[int]
    chains: list[list[int]]


def one_level(count: int, acyclic: Acyclic, slot: list[int] | None) -> Levels:
    """Return a graph without frames."""
    edges = len(acyclic.source)
    none = [-1] * edges
    return Levels(
        count=count,
        item_start=[0, count],
        edge_start=[0, edges],
        level_of=[0] * count,
        box=list(range(count)),
        frame=[-1] * count,
        port=[0] * count,
        item_of_frame=[],
        source=acyclic.source,
        target=acyclic.target,
        slot=slot,
        flipped=acyclic.flipped,
        out_port=none,
        in_port=none,
        chains=[[e] for e in range(edges)],
    )


@dataclass(slots=True)
class _Parts:
    """Items and edges as they are found."""

    level: list[int]
    port: list[int]
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    tensor: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    out_port: list[int] = field(default_factory=list)
    in_port: list[int] = field(default_factory=list)

    def add_port(self, level: int, kind: int) -> int:
        self.level.append(level)
        self.port.append(kind)
        return len(self.port) - 1

    def link(self, tensor: int, edge: int, ends: tuple[int, int], ports: tuple[int, int]) -> int:
        self.source.append(ends[0])
        self.target.append(ends[1])
        self.tensor.append(tensor)
        self.began.append(edge)
        self.out_port.append(ports[0])
        self.in_port.append(ports[1])
        return len(self.source) - 1


def _find_parts(
    acyclic: Acyclic, slot: list[int] | None, frame_of: list[int], parent: list[int]
) -> tuple[_Parts, list[list[int]]]:
    boxes = len(acyclic.node_of)
    depth: list[int] = []
    for up in parent:
        depth.append(1 if up < 0 else depth[up] + 1)
    parts = _Parts([f + 1 for f in [*frame_of, *parent]], [0] * (boxes + len(parent)))
    trunks = find_trunks(acyclic.source, group_by(boxes, acyclic.source), slot, acyclic.flipped)
    chains: list[list[int]] = [[] for _ in acyclic.source]
    for k in range(trunks.count):
        left: dict[int, int] = {}
        entered: dict[int, int] = {}
        for e in trunks.edges.item[trunks.edges.start[k] : trunks.edges.start[k + 1]]:
            at, t = trunks.source[k], acyclic.target[e]
            up, down = frame_of[at], frame_of[t]
            out = -1
            way: list[int] = []
            while up != down:
                if down < 0 or (up >= 0 and depth[up] >= depth[down]):
                    if up not in left:
                        port = parts.add_port(up + 1, EXIT)
                        left[up] = parts.link(k, e, (at, port), (out, -1))
                    chains[e].append(left[up])
                    at = boxes + up
                    out = parts.target[left[up]]
                    up = parent[up]
                else:
                    way.append(down)
                    down = parent[down]
            for f in reversed(way):
                if f not in entered:
                    port = parts.add_port(f + 1, ENTRY)
                    entered[f] = parts.link(k, e, (at, boxes + f), (out, port))
                chains[e].append(entered[f])
                at = parts.in_port[entered[f]]
                out = -1
            chains[e].append(parts.link(k, e, (at, t), (out, -1)))
    return parts, chains


def _first_boxes(frame_of: list[int], parent: list[int]) -> list[int]:
    """Return the first box in each frame."""
    first = [len(frame_of)] * len(parent)
    for v in range(len(frame_of) - 1, -1, -1):
        if frame_of[v] >= 0:
            first[frame_of[v]] = v
    for f in range(len(parent) - 1, -1, -1):
        if parent[f] >= 0:
            first[parent[f]] = min(first[parent[f]], first[f])
    return first


def part_levels(
    acyclic: Acyclic, slot: list[int] | None, frame_of: list[int], parent: list[int]
) -> Levels:
    """Part a graph whose edges run forward into levels."""
    boxes, frames = len(acyclic.node_of), len(parent)
    frame_of = [frame_of[v] for v in acyclic.node_of]
    first = _first_boxes(frame_of, parent)
    parts, chains = _find_parts(acyclic, slot, frame_of, parent)

    count = len(parts.level)
    place = [
        0 if kind == ENTRY else boxes + 1 if kind == EXIT else 1 + [*range(boxes), *first][v]
        for v, kind in enumerate(parts.port)
    ]
    in_order = sorted(range(count), key=lambda v: (parts.level[v], place[v]))
    name = [0] * count
    for i, v in enumerate(in_order):
        name[v] = i
    level_of = [parts.level[v] for v in in_order]
    again = make_acyclic(
        count, [name[v] for v in parts.source], [name[v] for v in parts.target], level_of
    )
    renamed = [0] * count
    for i, v in enumerate(again.node_of):
        renamed[v] = i
    name = [renamed[v] for v in name]

    links = sorted(
        range(len(parts.source)), key=lambda e: (parts.level[parts.source[e]], parts.began[e])
    )
    link_name = [0] * len(links)
    for i, e in enumerate(links):
        link_name[e] = i
    box, frame, port = [-1] * count, [-1] * count, [0] * count
    for v in range(count):
        if v < boxes:
            box[name[v]] = v
        elif v < boxes + frames:
            frame[name[v]] = v - boxes
        port[name[v]] = parts.port[v]
    return Levels(
        count=count,
        item_start=group_by(frames + 1, level_of).start,
        edge_start=group_by(frames + 1, [parts.level[parts.source[e]] for e in links]).start,
        level_of=level_of,
        box=box,
        frame=frame,
        port=port,
        item_of_frame=name[boxes : boxes + frames],
        source=[again.source[e] for e in links],
        target=[again.target[e] for e in links],
        slot=[parts.tensor[e] for e in links],
        flipped=[again.flipped[e] for e in links],
        out_port=[name[v] if v >= 0 else -1 for v in (parts.out_port[e] for e in links)],
        in_port=[name[v] if v >= 0 else -1 for v in (parts.in_port[e] for e in links)],
        chains=[[link_name[each] for each in chain] for chain in chains],
    )
