"""Where the arrays of a params file lie, guessed from the graph, for files behind a network.

A params list has no table of offsets: each header tells where the next one starts, so that n
arrays cost n round trips. The graph knows the size of each entry; the headers are fetched where
they should be, many at once, and read by the same walk as ever, which asks elsewhere as soon as
one lies elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.formats.tvm.output_keys import parse_key
from tvmdbg_widgets.formats.tvm.params.record import header_struct
from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.readahead import ReadAhead

_FIRST, _MOST = 32, 512
_MISSES = 8
_SPARE = 64


class PredictedAhead(ReadAhead):
    """A read-ahead that fetches headers where the graph says they are."""

    def __init__(self, source: ByteSource, graph: Graph) -> None:
        super().__init__(source)
        self._graph = graph
        self._far = source
        self._sizes: list[tuple[int, int]] = []
        self._pieces: dict[int, bytes] = {}
        self._batch = _FIRST
        self._misses = 0

    def expect(self, keys: Sequence[str], layout: DTypeLayout) -> None:
        """Guess the size of each array's header and record from the graph."""
        self._sizes = _sizes(keys, self._graph, header_struct(layout).size)

    def arrive(self, index: int, offset: int) -> None:
        """Make ready for the header of array ``index``, which lies at ``offset``."""
        piece = self._pieces.pop(offset, None)
        if piece is None:
            if self._pieces:
                self._misses += 1
                self._batch = 1 if self._misses >= _MISSES else max(1, self._batch // 4)
            self._fetch(index, offset)
            piece = self._pieces.pop(offset, None)
        if piece is not None:
            self.buffer, self._start = piece, offset

    def _fetch(self, index: int, offset: int) -> None:
        self._pieces.clear()
        count = self._batch
        self._batch = min(self._batch * 2, _MOST) if self._misses < _MISSES else 1
        ranges = []
        for header, record in self._sizes[index : index + count]:
            if offset >= self.size:
                break
            ranges.append((offset, min(header + _SPARE, self.size - offset)))
            offset += record
        if len(ranges) > 1:
            found = self._far.read_ranges(ranges)
            self._pieces = {at: piece for (at, _), piece in zip(ranges, found, strict=True)}


def _sizes(keys: Sequence[str], graph: Graph, header: int) -> list[tuple[int, int]]:
    """Bytes of header, and of header and values, of each array; (header, header) if unknown."""
    positions: dict[str, int] = {}
    for position, name in enumerate(graph.names):
        positions.setdefault(name, position)
    itemsizes = [_itemsize(text) for text in graph.dtypes.unique]
    codes = graph.dtypes.codes
    lengths = np.diff(graph.shape_offsets)
    sizes = []
    for key in keys:
        parsed = parse_key(key)
        node = positions.get(key)
        output = 0
        if parsed is not None and node is None:
            node = positions.get(parsed.name) if parsed.node is None else parsed.node
            output = parsed.output
        if node is None or node >= graph.num_nodes or output >= len(graph.entry_range(node)):
            sizes.append((header + 8, header + 8))
            continue
        entry = int(graph.entry_offsets[node]) + output
        first = int(graph.shape_offsets[entry])
        ndim = int(lengths[entry])
        count = math.prod(graph.shape_dims[first : first + ndim].tolist())
        whole = header + 8 * (ndim + 1)
        sizes.append((whole, whole + count * itemsizes[codes[entry]]))
    return sizes


def _itemsize(text: str) -> int:
    try:
        return DataType.parse(text).itemsize
    except ValueError:
        return 0
