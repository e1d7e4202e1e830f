"""Where the entries of each node lie: ``node_row_ptr`` of a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.formats.tvm.graph.values import plain_ints
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
    from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable


def entry_offsets(
    row_ptr: Any, table: NodeTable, limit: int, log: GraphLog
) -> npt.NDArray[np.int64]:
    """Return ``node_row_ptr`` where it can be used, else offsets from ``num_outputs``."""
    count = len(table.names)
    values = plain_ints(row_ptr) if isinstance(row_ptr, list) else None
    if row_ptr is None and table.symbol:
        return _counted(table, limit, log)
    if row_ptr is None:
        rule, expected, found = "node-row-ptr-missing", "a list of offsets", "nothing"
    elif values is None:
        rule, expected, found = "node-row-ptr-type", "a list of 64-bit integers", shown(row_ptr)
    elif len(values) != count + 1:
        rule = "node-row-ptr-length"
        expected, found = f"{counted(count + 1, 'item')}, one more than nodes", f"{len(values)}"
    elif values[0] != 0:
        rule, expected, found = "node-row-ptr-start", "0 first", f"{values[0]}"
    elif (values[1:] < values[:-1]).any():
        at = int(np.argmax(values[1:] < values[:-1])) + 1
        rule = "node-row-ptr-not-monotonic"
        expected = f"node_row_ptr[{at}] >= {values[at - 1]}"
        found = f"{values[at]}"
    elif values[-1] > limit:
        rule = "node-row-ptr-too-large"
        expected, found = (
            f"at most {counted(limit, 'entry')} in a file this long",
            f"{values[-1]:,}",
        )
    else:
        return values
    log.add(
        rule,
        "node_row_ptr",
        expected=expected,
        found=found,
        done="Entries are counted from num_outputs instead",
    )
    return _counted(table, limit, log)


def check_owned(offsets: npt.NDArray[np.int64], table: NodeTable, log: GraphLog) -> None:
    """Tell where the offsets give a node another number of outputs than it says it has."""
    owned = np.diff(offsets)
    said = np.array(table.num_outputs, dtype=np.int64)
    null = table.is_null()
    for nid in np.flatnonzero((said >= 0) & (owned != said)).tolist():
        log.add(
            "null-node-outputs" if null[nid] else "num-outputs-disagrees",
            f"node_row_ptr[{nid + 1}] - node_row_ptr[{nid}]",
            expected=f"{said[nid]}, "
            + ("as of every input or parameter" if null[nid] else "the node's num_outputs"),
            found=f"{owned[nid]}",
            done="node_row_ptr is believed",
            nodes=(nid,),
        )


def _counted(table: NodeTable, limit: int, log: GraphLog) -> npt.NDArray[np.int64]:
    owned = np.array(table.num_outputs, dtype=np.int64)
    owned[owned < 0] = 1
    if owned.sum() > limit:
        log.add(
            "num-outputs-too-large",
            "nodes[*].attrs.num_outputs",
            expected=f"at most {limit:,} in all in a file this long",
            found=f"{owned.sum():,}",
            done="Every node is taken to have one output",
        )
        owned[:] = 1
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(owned)])
