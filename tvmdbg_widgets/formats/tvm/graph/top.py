"""The keys at the top of a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.model.base.issues import Severity

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog

REQUIRED: Final = ("nodes", "arg_nodes", "node_row_ptr", "heads", "attrs")
# Bits of the mask in GraphExecutor::Load (src/runtime/graph_executor/graph_executor.h @ v0.19.0).
_MASK: Final = "Check failed: bitmask == 1|2|4|8|16: invalid format"


#: Keys that NNVM's ``LoadJSON`` can do without (nnvm/src/pass/saveload_json.cc @ v0.6.0).
_OPTIONAL: Final = ("node_row_ptr", "attrs")


def check_top(top: dict[str, Any], log: GraphLog, *, symbol: bool = False) -> None:
    """Check that the keys are those of a graph, and that none hides behind ``metadata``."""
    for key in REQUIRED:
        if key not in top and not (symbol and key in _OPTIONAL):
            log.add(
                "top-key-missing",
                key,
                expected="this key at the top of the graph",
                found="nothing",
                loader=_MASK,
            )
    for key, value in top.items():
        if key not in REQUIRED and key != "metadata":
            name = shown(key)[1:-1]
            log.add(
                "top-key-unknown",
                name,
                expected=f"{', '.join(REQUIRED)} and metadata",
                found=f"a key with value {shown(value)}",
                done="It is ignored",
                loader=f"key {name} is not supported",
                severity=Severity.WARNING,
            )
    if "metadata" in top:
        keys = list(top)
        hidden = [key for key in keys[keys.index("metadata") + 1 :] if key in REQUIRED]
        if hidden:
            log.add(
                "metadata-not-last",
                "metadata",
                expected="every other key before it",
                found=f"{', '.join(hidden)} behind it",
                done="They are read here; TVM stops reading at metadata",
                loader=_MASK,
                severity=Severity.WARNING,
            )
