"""One graph as it is without what only changes how tensors are stored."""

from __future__ import annotations

from collections.abc import Iterator

from tvmdbg_widgets.analysis.matching.side import GraphSide


def plain_side(side: GraphSide, *, flow: bool = False) -> GraphSide:
    """Return the same graph without nodes that pass their operand through.

    Keys hold operators without casts, layouts and quantisation, and of a parameter how many numbers
    it holds. Where only the ``flow`` of what is computed counts, there are
    no parameters either: a quantised graph has others, and more of them.

    Only nodes that are not matched take part: what is told of them, and who reads them, is
    complete; of matched nodes it is what concerns those.
    """
    count, table = len(side.keys), side.table
    passes = _PassThroughNodes(side)
    reads, read_by, keys = list(side.reads), [list[tuple[int, int, int]]()] * count, list(side.keys)
    heads = list(side.heads)
    left = [node for node in side.unmatched() if not passes.through(node)]
    if flow:
        left = [node for node in left if side.tokens[node] or side.is_input[node]]
    told = set(left)
    for node in left:
        readers, given = passes.readers(node)
        told.update(readers)
        if given:
            heads[node] = sorted((*side.heads[node], *given))
    for node in sorted(told, key=side.place.__getitem__):
        if flow and not (side.tokens[node] or side.is_input[node]):
            continue
        reads[node] = tuple(passes.reads(node, flow))
        for position, (source, output) in enumerate(reads[node]):
            if source >= 0:
                if not read_by[source]:
                    read_by[source] = []
                read_by[source].append((node, position, output))
        size = "input" if side.is_input[node] else side.elements[node]
        key = ("plain", side.tokens[node] or size)
        keys[node] = table.setdefault(key, len(table))
    return GraphSide(
        keys=keys,
        reads=reads,
        read_by=read_by,
        heads=heads,
        order=left,
        place=side.place,
        anchor=side.anchor,
        tokens=side.tokens,
        is_input=side.is_input,
        elements=side.elements,
        table=table,
        cyclic=side.cyclic,
        whole=side,
    )


class _PassThroughNodes:
    """The nodes of a side that pass their operand through."""

    def __init__(self, side: GraphSide) -> None:
        self._side = side
        self._origin: dict[int, int] = {}

    def through(self, node: int) -> bool:
        side = self._side
        if side.tokens[node] or side.is_input[node] or not side.reads[node]:
            return False
        source = side.reads[node][0][0]
        return source >= 0 and side.place[source] < side.place[node]

    def origin(self, node: int) -> int:
        """Return what a node passes on; itself where it does not."""
        way, at = [], node
        while at not in self._origin and self.through(at):
            way.append(at)
            at = self._side.reads[at][0][0]
        found = self._origin.get(at, at)
        for each in way:
            self._origin[each] = found
        return found

    def reads(self, node: int, flow: bool) -> Iterator[tuple[int, int]]:
        """Yield what a node reads, past what only passes it on."""
        side = self._side
        for source, output in side.reads[node]:
            if source < 0:
                yield -1, 0
                continue
            origin = self.origin(source)
            if not flow or side.tokens[origin] or side.is_input[origin]:
                yield origin, output if origin == source else 0

    def readers(self, node: int) -> tuple[list[int], list[int]]:
        """Return who reads a node or what passes it on, and which outputs these give."""
        side = self._side
        found: list[int] = []
        given: list[int] = []
        waiting, seen = [node], {node}
        while waiting:
            at = waiting.pop()
            for reader, position, _output in side.read_by[at]:
                if not self.through(reader):
                    found.append(reader)
                elif position == 0 and reader not in seen:
                    seen.add(reader)
                    given += side.heads[reader]
                    waiting.append(reader)
        return found, given
