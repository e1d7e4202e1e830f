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
        r"has no attribute '_save_param_dict'",
        "v0.5 to v0.19",
        "The debugger saves tensors with a function of the compiler: a build of the runtime alone "
        "does not have it.",
        "",
        ("use a whole build of TVM on the host, and RPC to the device",),
        _SOURCE,
    ),
    KnownMessage(
        "debugger-not-built",
        "Please set '(USE_PROFILER ON)' in config.cmake and rebuild TVM to enable debug mode",
        "rebuild TVM to enable debug mode",
        r"Please set '\((?P<option>USE_\w{1,40}) ON\)' in config\.cmake and rebuild TVM",
        "v0.5 to v0.19",
        "TVM's runtime was built without the graph debugger. With a remote device this is the "
        "runtime there, not the one on the host.",
        "The option is USE_GRAPH_RUNTIME_DEBUG up to v0.7, USE_GRAPH_EXECUTOR_DEBUG in between and "
        "USE_PROFILER from v0.8 on. Where it is set and the message stays, another libtvm.so is "
        "loaded.",
        (
            "set(USE_PROFILER ON) in config.cmake, and build anew",
            'print(tvm.support.libinfo()["USE_PROFILER"], tvm._ffi.libinfo.find_lib_path())',
        ),
        "python/tvm/contrib/debugger/debug_executor.py @ v0.8, debug_runtime.py @ v0.5",
    ),
    KnownMessage(
        "debugger-factory",
        "Don't know how to handle type <class '….GraphExecutorFactoryModule'>",
        "FactoryModule",
        r"(?:handle type <class '[\w.]{0,80}|')Graph(?:Executor|Runtime)FactoryModule'"
        r"(?:>| object (?:has no attribute '(?P<attribute>\w{1,80})'|is not \w{1,20}))",
        "v0.7 to v0.19",
        "What relay.build returns was passed where a runtime module is expected: it holds graph, "
        "library and parameters together.",
        "The debugger's create takes the graph, the library's own module and the device.",
        (
            'debug_executor.create(lib.get_graph_json(), lib.lib, dev, dump_root="/tmp/tvmdbg")',
            'graph_executor.GraphModule(lib["default"](dev))',
        ),
        "apache/tvm issue 11233; python/tvm/relay/backend/executor_factory.py @ v0.8",
    ),
)
