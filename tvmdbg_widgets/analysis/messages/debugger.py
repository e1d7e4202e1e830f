"""What TVM's graph debugger says, up to v0.19: python/tvm/contrib/debugger."""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_SOURCE = "python/tvm/contrib/debugger/debug_result.py @ v0.8"

MESSAGES = (
    KnownMessage(
        "debugger-zero-times",
        "ZeroDivisionError: … division by zero",
        "ZeroDivisionError",
        r"ZeroDivisionError: (?:float )?division by zero",
        "v0.5 to v0.8",
        "In the debugger's table: all times were measured as 0, so that shares cannot be computed. "
        "In other code it says nothing about TVM.",
        "Look whether debug_result.py is in the traceback above it. v0.9 and later print nan.",
        ("run more repeats: run(number=100)",),
        _SOURCE,
    ),
    KnownMessage(
        "debugger-save-params",
        "AttributeError: module 'tvm.relay' has no attribute '_save_param_dict'",
        "_save_param_dict",
        r"_save_param_dict",
        "v0.5 to v0.19",
        "The debugger saves tensors with a function of the compiler: a build of the runtime alone "
        "does not have it.",
        "",
        ("use a whole build of TVM on the host, and RPC to the device",),
        _SOURCE,
    ),
)
