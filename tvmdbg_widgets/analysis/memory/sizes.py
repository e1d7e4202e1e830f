"""What each entry of a graph takes in memory, as the graph executor allocates it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.dtypes import DataType

UNKNOWN = -1
#: More than any memory, and little enough for the sum of a million entries to be exact.
_MOST = 2.0**43


def entry_sizes(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the bytes of each entry (int64 [E]), :data:`UNKNOWN` where the graph does not tell.

    Elements times ``(bits * lanes + 7) // 8``: types below a byte take one each
    (``GraphExecutor::SetupStorage``, ``src/runtime/graph_executor/graph_executor.cc`` @ v0.19.0,
    which refuses widths of neither whole bytes, nor 1, nor 4 bits). Unknown are entries without a
    usable shape or dtype, and those in textures, whose pitch is the device's.
    """
    widths = np.array([_bytes_of(text) for text in graph.dtypes.unique] or [UNKNOWN], np.float64)
    each = widths[graph.dtypes.codes] if graph.num_entries else np.zeros(0)
    sizes = _elements(graph) * each
    known = graph.shape_known & (each >= 0) & (sizes >= 0) & (sizes < _MOST)
    if graph.storage_scopes is not None:
        scopes = graph.storage_scopes
        known &= ~np.array(["texture" in text for text in scopes.unique] or [False])[scopes.codes]
    return np.where(known, sizes, UNKNOWN).astype(np.int64)


def known_sizes(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the same as float64 [E], NaN where the graph does not tell."""
    sizes = entry_sizes(graph)
    return np.where(sizes == UNKNOWN, np.nan, sizes)


def _elements(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the product of each shape; NaN where a size is negative."""
    starts, ends = graph.shape_offsets[:-1], graph.shape_offsets[1:]
    dims = graph.shape_dims.astype(np.float64)
    dims[dims < 0] = np.nan
    found = np.ones(graph.num_entries)
    some = np.flatnonzero(ends > starts)
    if len(some):
        with np.errstate(over="ignore", invalid="ignore"):
            found[some] = np.multiply.reduceat(dims, starts[some])
    return found


def _bytes_of(text: str) -> int:
    """Return the bytes of one element of a dtype."""
    try:
        dtype = DataType.parse(text)
    except ValueError:
        return UNKNOWN
    bits = (1 if dtype.is_bool else dtype.bits) * dtype.lanes
    if not text or bits <= 0 or (bits % 8 and bits not in (1, 4)):
        return UNKNOWN
    return (bits + 7) // 8
