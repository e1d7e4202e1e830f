"""All messages that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.messages import (
    assertions,
    compiler,
    debugger,
    executorch_runtime,
    graph_loader,
    inspector,
    mismatches,
    params_loader,
    rpc,
    tuner,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.messages.message import KnownMessage

#: Messages by who prints them.
GROUPS: dict[str, tuple[KnownMessage, ...]] = {
    "Compiled functions, up to v0.23": assertions.MESSAGES,
    "Compiled functions, v0.24 and later": mismatches.MESSAGES,
    "Compiling": compiler.MESSAGES,
    "Graphs": graph_loader.MESSAGES,
    "Parameter files": params_loader.MESSAGES,
    "RPC": rpc.MESSAGES,
    "ExecuTorch's runtime": executorch_runtime.MESSAGES,
    "ExecuTorch's Inspector": inspector.MESSAGES,
    "Tuners": tuner.MESSAGES,
    "The debugger": debugger.MESSAGES,
}
MESSAGES = tuple(each for group in GROUPS.values() for each in group)
